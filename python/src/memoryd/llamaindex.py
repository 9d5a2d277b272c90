"""memoryd for LlamaIndex: a block of an agent's memory.

    from llama_index.core.memory import Memory
    from memoryd.llamaindex import MemorydBlock

    memory = Memory.from_defaults(session_id="s1", memory_blocks=[MemorydBlock("shop", "ann")])
"""

from __future__ import annotations

from typing import Any

from llama_index.core.base.llms.types import ChatMessage, MessageRole
from llama_index.core.memory import BaseMemoryBlock
from pydantic import PrivateAttr

from ._client import AsyncClient
from ._core import new_id, question

__all__ = ["MemorydBlock"]

ROLES = {MessageRole.USER: "user", MessageRole.ASSISTANT: "model", MessageRole.CHATBOT: "model"}


class MemorydBlock(BaseMemoryBlock[str]):
    """What is remembered of a user and fits the last thing that the user said.

    LlamaIndex puts the text into the prompt, and gives the block the messages that its short-term
    memory has no room for: memoryd makes memories of what user and assistant said in them.

    Args:
        app: The app.
        user: The user.
        client: Without one it follows from MEMORYD_URL and MEMORYD_KEY.
        max_tokens: The budget of the text, in tokens as memoryd estimates them.
        more: Other fields of a block, such as priority.
    """

    name: str = "memoryd"
    _client: AsyncClient = PrivateAttr()
    _app: str = PrivateAttr()
    _user: str = PrivateAttr()
    _max_tokens: int = PrivateAttr()

    def __init__(
        self,
        app: str,
        user: str,
        *,
        client: AsyncClient | None = None,
        max_tokens: int = 1024,
        **more: Any,
    ) -> None:
        super().__init__(**more)
        self._client = client or AsyncClient()
        self._client.user(app, user)  # refuses what cannot be an id
        self._app, self._user, self._max_tokens = app, user, max_tokens

    async def _aget(self, messages: list[ChatMessage] | None = None, **block_kwargs: Any) -> str:
        users = [m.content or "" for m in messages or [] if m.role == MessageRole.USER]
        asked = [text for content in users if (text := question(content))]
        if not asked:
            return ""
        user = self._client.user(self._app, self._user)
        found = await user.context(asked[-1], max_tokens=self._max_tokens)
        return found["text"]

    async def _aput(self, messages: list[ChatMessage]) -> None:
        # LlamaIndex notes the session in each message.
        sessions: dict[str, list[dict[str, Any]]] = {}
        for m in messages:
            role = ROLES.get(m.role)
            if role is None or not m.content:
                continue
            parts = [{"text": m.content}]
            session = str(m.additional_kwargs.get("session_id") or "unknown")
            event = {"id": new_id(), "content": {"role": role, "parts": parts}}
            sessions.setdefault(session, []).append(event)
        for session, events in sessions.items():
            await self._client.user(self._app, self._user).ingest(session, events)
