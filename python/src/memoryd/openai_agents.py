"""memoryd for OpenAI's Agents SDK: sessions, and the tools of memoryd.

from memoryd.openai_agents import MemorydSession

session = MemorydSession("shop", "ann", "s1")
await Runner.run(agent, "I moved to Porto.", session=session)
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, cast

from agents import FunctionTool, RunContextWrapper, SessionSettings, Tool, TResponseInputItem

from ._client import AsyncClient
from ._history import History, arguments
from ._steps import Caller
from ._tools import NAMES, answer, declarations

__all__ = ["MemorydSession", "memory_tools"]

FIELD = "openaiAgents"  # of an event: the item
ROLES = {"user": "user", "assistant": "model"}


class MemorydSession:
    """A Session of the Agents SDK. Items come back as they were added.

    pop_item takes the last item back, with the memories made of it. clear_session deletes the
    session, and the memories made of it stay.

    Args:
        app: The app.
        user: The user whose session it is.
        session_id: The id of the session. It is made with its first item.
        client: Without one it follows from MEMORYD_URL and MEMORYD_KEY.
        remember: Whether memories are made of the items.
        session_settings: limit is how many items get_items returns unless it is told.
    """

    def __init__(
        self,
        app: str,
        user: str,
        session_id: str,
        *,
        client: AsyncClient | None = None,
        remember: bool = True,
        session_settings: SessionSettings | None = None,
    ) -> None:
        self.session_id = session_id
        self.session_settings = session_settings
        self._caller = Caller(app, None, client or AsyncClient())
        self._history = History(user, session_id, FIELD, remember=remember)

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """The items, oldest first: the last ones if there is a limit."""
        if limit is None and self.session_settings is not None:
            limit = self.session_settings.limit
        if limit is not None and limit <= 0:
            return []
        return await self._caller.arun(self._history.read(limit))

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        await self._caller.arun(self._history.add([(item, _read(item)) for item in items]))

    async def pop_item(self) -> TResponseInputItem | None:
        """The last item, which is taken back."""
        return cast("TResponseInputItem | None", await self._caller.arun(self._history.pop()))

    async def clear_session(self) -> None:
        await self._caller.arun(self._history.clear())


async def memory_tools(
    app: str,
    user: str,
    *,
    client: AsyncClient | None = None,
    names: Sequence[str] = NAMES,
) -> list[Tool]:
    """Tools of memoryd for an agent, with the descriptions that memoryd gives models.

    Your code names the user here, and the model never does.

    Args:
        app: The app.
        user: The user whose memory the tools read and write.
        client: Without one it follows from MEMORYD_URL and MEMORYD_KEY.
        names: Some of load_memory, search_memory, remember and forget.
    """
    client = client or AsyncClient()
    of = client.user(app, user)

    def tool(declared: Any) -> Tool:
        name: str = declared["name"]

        async def invoke(context: RunContextWrapper[Any], text: str) -> str:
            try:
                args = json.loads(text or "{}")
            except (ValueError, RecursionError) as error:  # which the model may mend
                return json.dumps({"error": str(error)})
            return await answer(of, name, args)

        return FunctionTool(
            name=name,
            description=declared["description"],
            params_json_schema=declared["parameters"],
            on_invoke_tool=invoke,
            strict_json_schema=False,  # optional arguments may be left out
        )

    return [tool(declared) for declared in await declarations(client, names)]


def _read(item: Any) -> dict[str, Any]:
    """The fields of an event that memoryd reads: who spoke, the text, and calls of tools."""
    kind = item.get("type", "message")
    if kind == "message":
        role = ROLES.get(item.get("role", ""), "system")
        return {"content": {"role": role, "parts": [{"text": t} for t in _texts(item)]}}
    if kind == "function_call":
        call = {"id": item["call_id"], "name": item["name"], "args": arguments(item["arguments"])}
        return {"content": {"role": "model", "parts": [{"functionCall": call}]}}
    if kind == "function_call_output":
        answer = {"id": item["call_id"], "name": "", "response": {"result": item["output"]}}
        return {"content": {"role": "tool", "parts": [{"functionResponse": answer}]}}
    return {"content": {"role": "model", "parts": []}}  # reasoning, and calls of hosted tools


def _texts(message: Any) -> list[str]:
    content = message.get("content")
    if isinstance(content, str):
        return [content]
    return [part["text"] for part in content or [] if isinstance(part.get("text"), str)]
