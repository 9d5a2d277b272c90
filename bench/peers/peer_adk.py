"""ADK's own services, by the library in the client's process: adk (InMemoryMemoryService) and adk-sessions
(DatabaseSessionService over SQLite)."""

import asyncio
import importlib.metadata
import threading
from collections.abc import Coroutine
from typing import Any

from peer import TOP, Peer, Place

KILLED = "worker"


def stores(place: Place) -> list[Any]:
    return []


def server(place: Place) -> None:
    return None


def connect(place: Place) -> Peer:
    return Sessions(place) if "sessions" in place.name else Memories()


class _Loop:
    """Runs coroutines on one event loop, as ADK's runners do."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        threading.Thread(target=self._loop.run_forever, daemon=True).start()

    def _run(self, work: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    def versions(self) -> str:
        return f"google-adk {importlib.metadata.version('google-adk')}"


def _event(text: str) -> Any:
    from google.adk.events import Event
    from google.genai.types import Content, Part

    return Event(author="user", content=Content(role="user", parts=[Part(text=text)]))


def _text(item: Any) -> str:
    return item.content.parts[0].text


class Memories(_Loop):
    """InMemoryMemoryService compares words, and answers with all that have one of the query's, unordered."""

    def __init__(self) -> None:
        super().__init__()
        from google.adk.memory import InMemoryMemoryService

        self._service = InMemoryMemoryService()

    def add(self, user: str, text: str) -> None:
        self._run(self._service.add_events_to_memory(
            app_name="peers", user_id=user, events=[_event(text)], session_id="s"))

    def _all(self, user: str, query: str) -> list[str]:
        answer = self._run(self._service.search_memory(app_name="peers", user_id=user, query=query))
        return [_text(m) for m in answer.memories]

    def search(self, user: str, query: str) -> list[str]:
        return self._all(user, query)[:TOP]

    def texts(self, user: str) -> list[str]:
        """It has no list, so this reads what it holds."""
        return [t for events in self._service._session_events.get(("peers", user), {}).values()
                for t in map(_text, events)]


class Sessions(_Loop):
    def __init__(self, place: Place) -> None:
        super().__init__()
        from google.adk.sessions import DatabaseSessionService

        self._service = DatabaseSessionService(db_url=f"sqlite+aiosqlite:///{place.folder}/sessions.db")
        self._held: dict[str, Any] = {}  # an append takes the session that the last one left

    def add(self, user: str, text: str) -> None:
        if user not in self._held:
            self._held[user] = self._run(self._service.create_session(
                app_name="peers", user_id=user, session_id="s"))
        self._run(self._service.append_event(self._held[user], _event(text)))

    def search(self, user: str, query: str) -> list[str]:
        return self.texts(user)

    def texts(self, user: str) -> list[str]:
        session = self._run(self._service.get_session(app_name="peers", user_id=user, session_id="s"))
        return [] if session is None else [_text(e) for e in session.events]
