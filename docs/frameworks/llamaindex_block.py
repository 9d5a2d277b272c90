"""A chat with a memory of LlamaIndex, in which a block has what earlier sessions told."""

import asyncio
import sys
from typing import Any

from llama_index.core.base.llms.types import ChatMessage, MessageRole
from llama_index.core.memory import Memory
from openai import AsyncOpenAI

from memoryd.llamaindex import MemorydBlock


async def main(session: str, said: str) -> None:
    block = MemorydBlock("demo", "ann")
    memory = Memory.from_defaults(session_id=session, memory_blocks=[block])
    await memory.aput(ChatMessage(said, role=MessageRole.USER))
    prompt: list[Any] = [{"role": m.role.value, "content": m.content} for m in await memory.aget()]
    answer = await AsyncOpenAI().chat.completions.create(model="gpt-5-mini", messages=prompt)
    text = answer.choices[0].message.content
    await memory.aput(ChatMessage(text, role=MessageRole.ASSISTANT))
    print(text)
    # A block gets what the short-term memory has no room for; here it gets all, at the end.
    await block.aput(await memory.aget_all(), session_id=session)


asyncio.run(main(*sys.argv[1:]))
