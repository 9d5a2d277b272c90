"""Sessions and memory of ADK agents in memoryd."""

import os
import re
from datetime import datetime
from urllib.parse import quote

import httpx
from google.adk.errors.already_exists_error import AlreadyExistsError
from google.adk.events import Event
from google.adk.memory.base_memory_service import BaseMemoryService, SearchMemoryResponse
from google.adk.memory.memory_entry import MemoryEntry
from google.adk.sessions import BaseSessionService, Session
from google.adk.sessions.base_session_service import ListSessionsResponse
from google.genai.types import Content, Part


class _Memoryd:
    """Calls of memoryd's HTTP API. uri is memoryd://HOST:PORT, memoryds:// for TLS, or http(s)://.

    The key of a memoryd that wants one is in the environment, as MEMORYD_KEY.
    """

    def __init__(self, uri, **_):
        key = os.environ.get("MEMORYD_KEY")
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        # Runner.run uses a new event loop for each call, so no connection may outlive its call.
        limits = httpx.Limits(max_keepalive_connections=0)
        url = re.sub("^memoryd", "http", uri)
        self._http = httpx.AsyncClient(base_url=url, headers=headers, limits=limits, timeout=40)

    async def _call(self, method, path, body=None, **params):
        response = await self._http.request(method, path, json=body, params=params)
        if response.is_error:  # the body names the error
            raise httpx.HTTPStatusError(response.text, request=response.request, response=response)
        return response.json() if response.content else None


def _path(*ids):
    """The path of a scope, or of a session in it."""
    for id in ids:
        if id in ("", ".", ".."):  # it would name another path
            raise ValueError(f"{id!r} cannot be an id")
    return "/v1" + "".join(f"/{kind}/{quote(id, safe='')}" for kind, id in zip(("apps", "users", "sessions"), ids))


def _seconds(time):
    return datetime.fromisoformat(time.replace("Z", "+00:00")).timestamp()


def _event(event, **left_out):
    return event.model_dump(mode="json", by_alias=True, exclude_none=True, **left_out)


def _session(body):
    for e in body.get("events", []):
        e.pop("utcOffset", None)  # ADK has no field for it
    events = [Event.model_validate({**e, "timestamp": _seconds(e["timestamp"])}) for e in body.get("events", [])]
    known = {k: body[k] for k in ("id", "appName", "userId", "state") if k in body}  # ADK refuses other fields
    return Session.model_validate({**known, "events": events, "lastUpdateTime": _seconds(body["lastUpdateTime"])})


class MemorydSessionService(_Memoryd, BaseSessionService):
    async def create_session(self, *, app_name, user_id, state=None, session_id=None):
        try:
            body = {"id": session_id, "state": state}
            return _session(await self._call("POST", _path(app_name, user_id) + "/sessions", body))
        except httpx.HTTPStatusError as error:
            if error.response.status_code == 409:
                raise AlreadyExistsError(str(error)) from error
            raise

    async def get_session(self, *, app_name, user_id, session_id, config=None):
        params = {}
        if config and config.num_recent_events is not None:
            params["numRecentEvents"] = config.num_recent_events
        if config and config.after_timestamp is not None:
            params["after"] = config.after_timestamp
        try:
            return _session(await self._call("GET", _path(app_name, user_id, session_id), **params))
        except httpx.HTTPStatusError as error:
            if error.response.status_code == 404:
                return None
            raise

    async def list_sessions(self, *, app_name, user_id=None):
        path = _path(*(id for id in (app_name, user_id) if id is not None)) + "/sessions"
        page = await self._call("GET", path)
        sessions = page["sessions"]
        while token := page.get("nextPageToken"):
            page = await self._call("GET", path, pageToken=token)
            sessions += page["sessions"]
        in_order = sorted(map(_session, sessions), key=lambda s: (s.last_update_time, s.user_id, s.id))  # as in ADK
        return ListSessionsResponse(sessions=in_order)

    async def delete_session(self, *, app_name, user_id, session_id):
        await self._call("DELETE", _path(app_name, user_id, session_id))

    async def append_event(self, session, event):
        if event.partial:
            return event
        path = _path(session.app_name, session.user_id, session.id) + "/events"
        stored = await self._call("POST", path, _event(event))
        event.timestamp = _seconds(stored["events"][0]["timestamp"])  # rounded to the microsecond, as get_session returns it
        session.last_update_time = _seconds(stored["lastUpdateTime"])
        return await super().append_event(session, event)  # temp: state stays in this session object


class MemorydMemoryService(_Memoryd, BaseMemoryService):
    def __init__(self, uri, wait=False, **_):
        """wait: adding waits for facts too. Without it turns can be found at once, and facts follow."""
        super().__init__(uri)
        self._wait = str(wait).lower()

    async def add_session_to_memory(self, session):
        await self.add_events_to_memory(
            app_name=session.app_name, user_id=session.user_id, session_id=session.id, events=session.events
        )

    async def add_events_to_memory(self, *, app_name, user_id, events, session_id=None, custom_metadata=None):
        path = _path(app_name, user_id) + "/memories/ingest"
        pictures = {"content": {"parts": {"__all__": {"inline_data"}}}}  # and sound: only text is remembered
        for i in range(0, len(events), 1000):  # a request takes 10,000 events and 32 MiB
            some = [_event(e, exclude=pictures) for e in events[i : i + 1000]]
            await self._call("POST", path, {"sessionId": session_id or "unknown", "events": some}, wait=self._wait)

    async def add_memory(self, *, app_name, user_id, memories, custom_metadata=None):
        for m in memories:
            fact = " ".join(p.text for p in m.content.parts or [] if p.text)
            body = {"fact": fact, "metadata": {**(custom_metadata or {}), **m.custom_metadata}}
            await self._call("POST", _path(app_name, user_id) + "/memories", body)

    async def delete_memory(self, *, app_name, user_id, memory_id=None):
        if not memory_id:
            return
        try:
            await self._call("DELETE", _path(app_name, user_id) + f"/memories/{quote(memory_id, safe='')}")
        except httpx.HTTPStatusError as error:
            if error.response.status_code != 404:  # it is gone already
                raise

    async def search_memory(self, *, app_name, user_id, query):
        if not query.strip():
            return SearchMemoryResponse()
        # A tool's answer has no characters that a model could read and no person see.
        args = {"args": {"query": query[:4000]}}
        result = (await self._call("POST", _path(app_name, user_id) + "/tools/load_memory", args))["result"]
        if "error" in result:
            raise ConnectionError(result["error"])
        return SearchMemoryResponse(memories=[_entry(m) for m in result["memories"]])


def _entry(m):
    # ADK's preload_memory puts texts between such tags, and begins each with a line "author: text".
    text = re.sub("(?i)<(?=\\s*/?\\s*PAST_CONVERSATIONS)", "&lt;", m["content"]["parts"][0]["text"])
    text = text.replace("\n", "\n  ")
    content = Content(role=m["content"]["role"], parts=[Part(text=text)])
    return MemoryEntry(
        id=m["id"],
        content=content,
        author=m.get("author"),
        timestamp=m["timestamp"],
        custom_metadata=m.get("customMetadata", {}),
    )
