"""memoryd for LangChain: the history of a chat, and a retriever over what is remembered.

from memoryd.langchain import MemorydChatMessageHistory

history = MemorydChatMessageHistory("shop", "ann", "s1")
history.add_user_message("I moved to Porto.")
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.callbacks import (
    AsyncCallbackManagerForRetrieverRun,
    CallbackManagerForRetrieverRun,
)
from langchain_core.chat_history import BaseChatMessageHistory
from langchain_core.documents import Document
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    ChatMessage,
    ToolMessage,
    message_to_dict,
    messages_from_dict,
)
from langchain_core.retrievers import BaseRetriever
from pydantic import PrivateAttr

from ._client import AsyncClient, Client
from ._core import question
from ._history import History
from ._steps import Call, Caller, Steps

__all__ = ["MemorydChatMessageHistory", "MemorydRetriever"]

FIELD = "langchain"  # of an event: the message, as LangChain writes it
ROLES = {"human": "user", "ai": "model", "tool": "tool", "function": "tool"}
CHAT_ROLES = {"user": "user", "human": "user", "assistant": "model", "ai": "model"}


class MemorydChatMessageHistory(BaseChatMessageHistory):
    """The messages of a session, sync and async. Messages come back as they were added.

    clear deletes the session, and the memories made of it stay.

    Args:
        app: The app.
        user: The user whose session it is.
        session: The id of the session. It is made with its first message.
        client: For the sync methods.
        async_client: For the async methods. Without either client both follow from MEMORYD_URL
            and MEMORYD_KEY.
        remember: Whether memories are made of the messages.
    """

    def __init__(
        self,
        app: str,
        user: str,
        session: str,
        *,
        client: Client | None = None,
        async_client: AsyncClient | None = None,
        remember: bool = True,
    ) -> None:
        self._caller = Caller(app, client, async_client)
        self._history = History(user, session, FIELD, remember=remember)

    @property
    def messages(self) -> list[BaseMessage]:
        """All messages, oldest first."""
        return messages_from_dict(self._caller.run(self._history.read()))

    @messages.setter
    def messages(  # pyright: ignore[reportIncompatibleVariableOverride]
        self, messages: list[BaseMessage]
    ) -> None:
        self.clear()
        self.add_messages(messages)

    async def aget_messages(self) -> list[BaseMessage]:
        return messages_from_dict(await self._caller.arun(self._history.read()))

    def add_messages(self, messages: Sequence[BaseMessage]) -> None:
        self._caller.run(self._history.add([(message_to_dict(m), _read(m)) for m in messages]))

    async def aadd_messages(self, messages: Sequence[BaseMessage]) -> None:
        items = [(message_to_dict(m), _read(m)) for m in messages]
        await self._caller.arun(self._history.add(items))

    def clear(self) -> None:
        self._caller.run(self._history.clear())

    async def aclear(self) -> None:
        await self._caller.arun(self._history.clear())


class MemorydRetriever(BaseRetriever):
    """What is remembered of a user and fits a query, best first, sync and async.

    A document is a memory as one line for a model, without characters that a person cannot see.
    Its metadata are the memory and its score.

    Args:
        app: The app.
        user: The user.
        client: For the sync methods.
        async_client: For the async methods. Without either client both follow from MEMORYD_URL
            and MEMORYD_KEY.
        search: More arguments of the search, such as top_k, kinds, filter or shared.
    """

    _caller: Caller = PrivateAttr()
    _user: str = PrivateAttr()
    _search: dict[str, Any] = PrivateAttr()

    def __init__(
        self,
        app: str,
        user: str,
        *,
        client: Client | None = None,
        async_client: AsyncClient | None = None,
        search: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__()
        self._caller = Caller(app, client, async_client)
        self._user = user
        self._search = {**(search or {}), "lines": True}

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun
    ) -> list[Document]:
        return self._caller.run(self._documents(query))

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun
    ) -> list[Document]:
        return await self._caller.arun(self._documents(query))

    def _documents(self, query: str) -> Steps[list[Document]]:
        found = yield Call("search", (question(query),), self._search, self._user)
        return [
            Document(
                id=match["memory"]["id"],
                page_content=match["line"],
                metadata={**match["memory"], "score": match["score"]},
            )
            for match in found
        ]


def _read(message: BaseMessage) -> dict[str, Any]:
    """The fields of an event that memoryd reads: who spoke, the text, and calls of tools."""
    role = ROLES.get(message.type.removesuffix("MessageChunk").lower(), "system")
    if isinstance(message, ChatMessage):
        role = CHAT_ROLES.get(message.role.lower(), "system")
    text = str(message.text)
    parts: list[dict[str, Any]] = []
    if isinstance(message, ToolMessage):
        answer = {
            "id": message.tool_call_id,
            "name": message.name or "",
            "response": {"result": text},
        }
        parts.append({"functionResponse": answer})
    elif text:
        parts.append({"text": text})
    if isinstance(message, AIMessage):
        for call in message.tool_calls:
            named = {"id": call["id"], "name": call["name"], "args": call["args"]}
            parts.append({"functionCall": named})
    return {"content": {"role": role, "parts": parts}}
