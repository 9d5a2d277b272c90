"""An agent of Pydantic AI whose conversations are in memoryd, and that searches earlier ones."""

import asyncio
import sys

from pydantic_ai import Agent

from memoryd.pydantic_ai import MemorydMessageHistory, MemorydToolset

agent = Agent("openai:gpt-5-mini", instructions="Search memory for what the user told you before.")


async def main(session: str, said: str) -> None:
    history = MemorydMessageHistory("demo", "ann", session)
    result = await agent.run(
        said,
        message_history=await history.messages(),
        toolsets=[MemorydToolset("demo", "ann")],
    )
    await history.add(result.new_messages())
    print(result.output)


asyncio.run(main(*sys.argv[1:]))
