"""An agent of OpenAI's SDK whose sessions are in memoryd, and that searches earlier ones."""

import asyncio
import sys

from agents import Agent, Runner

from memoryd.openai_agents import MemorydSession, memory_tools


async def main(session: str, said: str) -> None:
    agent = Agent(
        name="assistant",
        model="gpt-5-mini",
        instructions="Search memory for what the user told you before.",
        tools=await memory_tools("demo", "ann"),
    )
    result = await Runner.run(agent, said, session=MemorydSession("demo", "ann", session))
    print(result.final_output)


asyncio.run(main(*sys.argv[1:]))
