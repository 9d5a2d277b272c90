"""memoryd for Microsoft's Agent Framework: the history of sessions, what is remembered of a user
as context, and the tools of memoryd.

from memoryd.agent_framework import MemorydContextProvider, MemorydHistoryProvider

providers = [MemorydHistoryProvider("shop", "ann"), MemorydContextProvider("shop", "ann")]
agent = Agent(client, context_providers=providers)
await agent.run("I moved to Porto.", session=AgentSession(session_id="s1"))
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from agent_framework import (
    AgentSession,
    ContextProvider,
    FunctionTool,
    HistoryProvider,
    Message,
    SessionContext,
    SupportsAgentRun,
)

from ._client import AsyncClient
from ._core import question
from ._history import History, arguments
from ._steps import Caller
from ._tools import NAMES, answer, declarations

__all__ = ["MemorydContextProvider", "MemorydHistoryProvider", "memory_tools"]

FIELD = "agentFramework"  # of an event: the message, as the framework writes it
ROLES = {"user": "user", "assistant": "model", "tool": "tool"}


class MemorydHistoryProvider(HistoryProvider):
    """The messages of each session of the framework, in the session of memoryd with its id.

    Messages come back as the framework writes them. Those of a save are stored all or none. If
    they begin with the end of the history, as a transcript does, that part is not stored again.

    Args:
        app: The app.
        user: The user whose sessions these are.
        source_id: Names the provider among those of an agent.
        client: Without one it follows from MEMORYD_URL and MEMORYD_KEY.
        remember: Whether memories are made of the messages.
        options: What HistoryProvider takes: load_messages, store_inputs, store_outputs,
            store_context_messages and store_context_from.
    """

    def __init__(
        self,
        app: str,
        user: str,
        *,
        source_id: str = "memoryd_history",
        client: AsyncClient | None = None,
        remember: bool = True,
        **options: Any,
    ) -> None:
        super().__init__(source_id, **options)
        client = client or AsyncClient()
        client.user(app, user)  # refuses what cannot be an id
        self._caller = Caller(app, None, client)
        self._user, self._remember = user, remember

    async def get_messages(
        self, session_id: str | None, *, state: dict[str, Any] | None = None, **kwargs: Any
    ) -> list[Message]:
        """The messages, oldest first."""
        items = await self._caller.arun(self._history(session_id).read())
        return [Message.from_dict(item) for item in items]

    async def save_messages(
        self,
        session_id: str | None,
        messages: Sequence[Message],
        *,
        state: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        """Append the messages that are new."""
        if not messages:
            return
        history = self._history(session_id)
        items = [message.to_dict() for message in messages]
        known = _replayed(await self._caller.arun(history.read(len(items))), items)
        await self._caller.arun(history.add([(item, _read(item)) for item in items[known:]]))

    def _history(self, session_id: str | None) -> History:
        session: Any = session_id  # the framework has one for each run
        return History(self._user, session, FIELD, remember=self._remember)


class MemorydContextProvider(ContextProvider):
    """What is remembered of a user and fits what the user says, as a message before it.

    The message is a user's and no instruction, as memories have words of users. memoryd makes no
    memories of it. A search that takes too long or fails in memoryd leaves it out.

    Args:
        app: The app.
        user: The user.
        source_id: Names the provider among those of an agent.
        client: Without one it follows from MEMORYD_URL and MEMORYD_KEY.
    """

    def __init__(
        self,
        app: str,
        user: str,
        *,
        source_id: str = "memoryd_context",
        client: AsyncClient | None = None,
    ) -> None:
        super().__init__(source_id)
        self._of = (client or AsyncClient()).user(app, user)

    async def before_run(
        self,
        *,
        agent: SupportsAgentRun,
        session: AgentSession,
        context: SessionContext,
        state: dict[str, Any],
    ) -> None:
        said = [question(m.text) for m in context.input_messages if m.role == "user"]
        if not said or not said[-1]:
            return
        found = await self._of.call_tool("preload_memory", {"query": said[-1]})
        if text := found.get("text"):
            context.extend_messages(self, [Message("user", [text])])


async def memory_tools(
    app: str,
    user: str,
    *,
    client: AsyncClient | None = None,
    names: Sequence[str] = NAMES,
) -> list[FunctionTool]:
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

    def tool(declared: dict[str, Any]) -> FunctionTool:
        name: str = declared["name"]

        async def invoke(**args: Any) -> str:
            return await answer(of, name, args)

        return FunctionTool(
            name=name,
            description=declared["description"],
            input_model=declared["parameters"],
            func=invoke,
        )

    return [tool(declared) for declared in await declarations(client, names)]


def _replayed(stored: Sequence[Any], items: Sequence[Any]) -> int:
    """How many of the items, from the first on, are the end of the history.

    A caller may hand in a transcript again, and a middleware may save a run twice. But users
    repeat themselves, and so do models: an overlap counts if its messages have an id, or if it is
    longer than one message of a user and something new follows it.
    """
    before, given = [_same(item) for item in stored], [_same(item) for item in items]
    for n in range(min(len(before), len(given)), 0, -1):
        if before[-n:] != given[:n]:
            continue
        named = any(item.get("message_id") for item in items[:n])
        if named or (n < len(items) and not (n == 1 and items[0]["role"] == "user")):
            return n
    return 0


def _same(item: Any) -> str:
    """The part of a message that is the same each time it is handed in."""
    part = [item.get("message_id"), item["role"], item["contents"]]
    return json.dumps(part, sort_keys=True, default=str)


def _read(item: Any) -> dict[str, Any]:
    """The fields of an event that memoryd reads: who spoke, the text, and calls of tools."""
    parts = [part for content in item["contents"] if (part := _part(content))]
    return {"content": {"role": ROLES.get(item["role"], "system"), "parts": parts}}


def _part(content: Any) -> dict[str, Any] | None:
    """A content as a part of an event. Files, reasoning and calls of hosted tools are none."""
    kind = content["type"]
    if kind == "text" and content.get("text"):
        return {"text": content["text"]}
    if kind == "function_call":
        args = content.get("arguments") or ""
        args = arguments(args) if isinstance(args, str) else args
        return {"functionCall": {"id": content["call_id"], "name": content["name"], "args": args}}
    if kind == "function_result":
        response = {"result": content.get("result")}
        return {"functionResponse": {"id": content["call_id"], "name": "", "response": response}}
    return None
