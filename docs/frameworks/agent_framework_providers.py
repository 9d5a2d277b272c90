"""An agent of Microsoft's framework whose history is in memoryd, with what earlier sessions told."""

import asyncio
import sys
from typing import Any

from agent_framework import Agent, AgentSession
from agent_framework.openai import OpenAIChatCompletionClient

from memoryd.agent_framework import MemorydContextProvider, MemorydHistoryProvider


async def main(session: str, said: str) -> None:
    agent: Agent[Any] = Agent(
        OpenAIChatCompletionClient(model="gpt-5-mini"),
        context_providers=[MemorydHistoryProvider("demo", "ann"), MemorydContextProvider("demo", "ann")],
    )
    result = await agent.run(said, session=AgentSession(session_id=session))
    print(result.text)


asyncio.run(main(*sys.argv[1:]))
