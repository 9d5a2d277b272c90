"""ADK's session service over memoryd."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from google.adk.errors.already_exists_error import AlreadyExistsError
from google.adk.errors.session_not_found_error import SessionNotFoundError
from google.adk.events.event import Event
from google.adk.sessions.base_session_service import (
    BaseSessionService,
    GetSessionConfig,
    ListSessionsResponse,
)
from google.adk.sessions.session import Session
from google.adk.sessions.state import State
from pydantic_core import to_jsonable_python

from .._client import AsyncClient
from .._core import segment
from .._errors import AlreadyExists, InvalidArgument, NotFound
from .._times import parse_time
from ._service import Service


class SessionService(Service, BaseSessionService):
    """ADK's sessions, their events and their state in memoryd.

    Appends to one session happen one after another in memoryd, whatever the age of the
    session object: none is refused as stale, and none is lost.

    Args:
        uri: Where memoryd is: memoryd://HOST:PORT, memoryds:// for TLS, or http(s)://. Without
            one it is MEMORYD_URL, or memoryd://127.0.0.1:8080. The key is that of MEMORYD_KEY.
        client: A client to call memoryd with, in place of one that follows from uri. It stays
            open.
    """

    def __init__(self, uri: str | None = None, *, client: AsyncClient | None = None) -> None:
        super().__init__(uri, client)

    async def create_session(
        self,
        *,
        app_name: str,
        user_id: str,
        state: dict[str, Any] | None = None,
        session_id: str | None = None,
    ) -> Session:
        """Create a session. An id that is in use is ADK's AlreadyExistsError."""
        id = (session_id or "").strip() or None
        user = self._client.user(app_name, user_id)
        try:
            return _session(await user.create_session(id, state=to_jsonable_python(state or {})))
        except AlreadyExists as error:
            raise AlreadyExistsError(f"Session with id {id} already exists: {error}") from error

    async def get_session(
        self,
        *,
        app_name: str,
        user_id: str,
        session_id: str,
        config: GetSessionConfig | None = None,
    ) -> Session | None:
        """A session with the events that config chooses, or None."""
        choice = config or GetSessionConfig()
        user, id = self._client.user(app_name, user_id), session_id.strip()
        try:
            segment("session", id)
        except InvalidArgument:
            return None  # no session can have this id
        try:
            return _session(
                await user.get_session(
                    id,
                    num_recent_events=choice.num_recent_events,
                    after=choice.after_timestamp,
                )
            )
        except NotFound:
            return None

    async def list_sessions(
        self, *, app_name: str, user_id: str | None = None
    ) -> ListSessionsResponse:
        """The sessions of a user, or of all users of an app, which takes a key of an admin. They
        have their state and no events. The one that changed last is the last one."""
        app = self._client.app(app_name)
        if user_id is None:
            listed = app.list_app_sessions(page_size=1000)
        else:
            listed = app.user(user_id).list_sessions(page_size=1000)
        sessions = [_session(s) async for s in listed]
        sessions.sort(key=lambda s: (s.last_update_time, s.user_id, s.id))
        return ListSessionsResponse(sessions=sessions)

    async def delete_session(self, *, app_name: str, user_id: str, session_id: str) -> None:
        """Delete a session. The state of user and app stays, and the memories do."""
        await self._client.user(app_name, user_id).delete_session(session_id.strip())

    async def get_user_state(self, *, app_name: str, user_id: str) -> dict[str, Any]:
        """The state of a user, with keys as they are without "user:"."""
        found = await self._client.user(app_name, user_id).get_state()
        return {
            key.removeprefix(State.USER_PREFIX): value
            for key, value in found["state"].items()
            if key.startswith(State.USER_PREFIX)
        }

    async def append_event(self, session: Session, event: Event) -> Event:
        """Append an event. Its timestamp becomes that which memoryd keeps, in microseconds.

        An event whose id the session has is not stored again, nor is its state applied.
        """
        if event.partial:
            return event
        user = self._client.user(session.app_name, session.user_id)
        try:
            stored = await user.append_events(session.id, _persistent(event))
        except NotFound as error:
            raise SessionNotFoundError(f"Session {session.id} not found: {error}") from error
        kept = stored["events"][0]
        event.timestamp = _seconds(kept.get("timestamp", stored["lastUpdateTime"]))
        session.last_update_time = _seconds(stored["lastUpdateTime"])
        if any(known.id == event.id for known in session.events):
            return event
        return await super().append_event(session, event)  # state of temp: is kept in session


def _persistent(event: Event) -> dict[str, Any]:
    """The JSON of an event without state of temp:, of which values may have no JSON."""
    delta = event.actions.state_delta
    if any(key.startswith(State.TEMP_PREFIX) for key in delta):
        kept = {k: v for k, v in delta.items() if not k.startswith(State.TEMP_PREFIX)}
        actions = event.actions.model_copy(update={"state_delta": kept})
        event = event.model_copy(update={"actions": actions})
    return event.model_dump(mode="json", by_alias=True, exclude_none=True)


def _seconds(time: str) -> float:
    return parse_time(time).timestamp()


def _session(body: Mapping[str, Any]) -> Session:
    """A session of an answer, as ADK has it. The answer has more fields, which ADK refuses."""
    events = [{**e, "timestamp": _seconds(e["timestamp"])} for e in body.get("events") or []]
    return Session(
        id=body["id"],
        app_name=body["appName"],
        user_id=body["userId"],
        state=body.get("state") or {},
        events=[Event.model_validate(e) for e in events],
        last_update_time=_seconds(body["lastUpdateTime"]),
    )
