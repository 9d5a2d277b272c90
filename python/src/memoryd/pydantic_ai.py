"""memoryd for Pydantic AI: the messages of a conversation, and the tools of memoryd.

from memoryd.pydantic_ai import MemorydMessageHistory, MemorydToolset

history = MemorydMessageHistory("shop", "ann", "s1")
result = await agent.run(
    "I moved to Porto.",
    message_history=await history.messages(),
    toolsets=[MemorydToolset("shop", "ann")],
)
await history.add(result.new_messages())
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic_ai import AbstractToolset, RunContext, ToolDefinition
from pydantic_ai.messages import ModelMessage, ModelMessagesTypeAdapter
from pydantic_ai.toolsets import ToolsetTool
from pydantic_core import SchemaValidator, core_schema

from ._client import AsyncClient
from ._errors import InvalidArgument
from ._history import History, arguments
from ._steps import Caller
from ._tools import NAMES, answer, declarations

__all__ = ["MemorydMessageHistory", "MemorydToolset"]

FIELD = "pydanticAI"  # of an event: the message, as Pydantic AI writes it
ARGS = SchemaValidator(core_schema.dict_schema(core_schema.str_schema()))


class MemorydMessageHistory:
    """The messages of a session, for a run's message_history. They come back as they were added.

    A message that is added again is stored once, as its ids and times are the same: an add can be
    repeated, and may have messages of earlier runs.

    Args:
        app: The app.
        user: The user whose session it is.
        session: The session. It is made with its first message.
        client: Without one it follows from MEMORYD_URL and MEMORYD_KEY.
        remember: Whether memories are made of the messages.
    """

    def __init__(
        self,
        app: str,
        user: str,
        session: str,
        *,
        client: AsyncClient | None = None,
        remember: bool = True,
    ) -> None:
        self._caller = Caller(app, None, client or AsyncClient())
        self._history = History(user, session, FIELD, remember=remember)

    async def messages(self, limit: int | None = None) -> list[ModelMessage]:
        """The messages, oldest first: the last ones if there is a limit, so many at most.

        With a limit they begin with a prompt of the user, as models refuse the answer of a tool
        without its call. None if there is no prompt among them.
        """
        items = await self._caller.arun(self._history.read(limit))
        if limit is not None:
            items = items[next((i for i, item in enumerate(items) if _begins(item)), len(items)) :]
        return ModelMessagesTypeAdapter.validate_json(json.dumps(items))

    async def add(self, messages: Sequence[ModelMessage]) -> None:
        """Append messages, such as the new ones of a run, all or none."""
        try:
            items = json.loads(ModelMessagesTypeAdapter.dump_json(list(messages)))
        except ValueError as error:
            raise InvalidArgument(f"the messages cannot be written as JSON: {error}") from error
        await self._caller.arun(self._history.add([(item, _read(item)) for item in items]))

    async def clear(self) -> None:
        """Delete the session. The memories made of it stay."""
        await self._caller.arun(self._history.clear())


class MemorydToolset(AbstractToolset[Any]):
    """Tools of memoryd for an agent, with the descriptions that memoryd gives models.

    Your code names the user here, and the model never does: give each run the toolset of its user.

    Args:
        app: The app.
        user: The user whose memory the tools read and write.
        client: Without one it follows from MEMORYD_URL and MEMORYD_KEY.
        names: Some of load_memory, search_memory, remember and forget.
        id: Names the toolset among those of an agent.
    """

    def __init__(
        self,
        app: str,
        user: str,
        *,
        client: AsyncClient | None = None,
        names: Sequence[str] = NAMES,
        id: str = "memoryd",
    ) -> None:
        self._client = client or AsyncClient()
        self._of = self._client.user(app, user)
        self._names, self._id = names, id
        self._tools: dict[str, ToolsetTool[Any]] = {}

    @property
    def id(self) -> str:
        return self._id

    async def get_tools(self, ctx: RunContext[Any]) -> dict[str, ToolsetTool[Any]]:
        if not self._tools:
            for declared in await declarations(self._client, self._names):
                definition = ToolDefinition(
                    name=declared["name"],
                    description=declared["description"],
                    parameters_json_schema=declared["parameters"],
                )
                # Arguments that are no object go back to the model once.
                # memoryd tells it of others.
                self._tools[definition.name] = ToolsetTool(
                    toolset=self, tool_def=definition, max_retries=1, args_validator=ARGS
                )
        return dict(self._tools)

    async def call_tool(
        self, name: str, tool_args: dict[str, Any], ctx: RunContext[Any], tool: ToolsetTool[Any]
    ) -> str:
        return await answer(self._of, name, tool_args)


def _begins(item: Mapping[str, Any]) -> bool:
    """Whether a message has a prompt of the user and no answer of a tool."""
    kinds = {part["part_kind"] for part in item["parts"]}
    return "user-prompt" in kinds and not kinds & {"tool-return", "retry-prompt"}


def _read(item: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of an event that memoryd reads: an id, who spoke, the text, and calls of tools."""
    # Messages have no ids of their own, but times, ids of their runs and of calls.
    text = json.dumps(item, sort_keys=True)
    id = "pydantic-ai-" + hashlib.sha256(text.encode()).hexdigest()
    parts = [read for part in item["parts"] for read in _parts(part)]
    said = [part for part in parts if "text" in part]
    if item["kind"] == "response":
        role = "model"
    elif said:
        # Beside answers of tools the words of the user would be no turn of the user.
        role, parts = "user", said
    else:
        role = "tool" if parts else "system"
    return {"id": id, "invocationId": id, "content": {"role": role, "parts": parts}}


def _parts(part: Mapping[str, Any]) -> list[dict[str, Any]]:
    """A part of a message as those of an event. Instructions, files, thinking and calls of a
    provider's own tools are none."""
    kind, content = part["part_kind"], part.get("content")
    if kind == "text" and content:
        return [{"text": content}]
    if kind == "user-prompt":
        said = [content] if isinstance(content, str) else content or []
        texts = [c if isinstance(c, str) else _text(c) for c in said]
        return [{"text": text} for text in texts if text]
    if kind == "tool-call":
        args = part.get("args") or ""
        args = arguments(args) if isinstance(args, str) else args
        call = {"id": part["tool_call_id"], "name": part["tool_name"], "args": args}
        return [{"functionCall": call}]
    if kind in ("tool-return", "retry-prompt") and part.get("tool_name"):
        outcome = "result" if part.get("outcome") == "success" else "error"
        response = {"name": part["tool_name"], "response": {outcome: content}}
        return [{"functionResponse": {"id": part["tool_call_id"], **response}}]
    return []


def _text(content: Mapping[str, Any]) -> str:
    """The text of a content of a prompt: none of a picture, a file or a point of a cache."""
    return content["content"] if content.get("kind") == "text-content" else ""
