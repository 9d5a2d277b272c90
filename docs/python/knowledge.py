"""An agent with two memory services: what the user said, and what the shop's manual says."""

import asyncio
from collections.abc import AsyncGenerator

import memoryd
from google.adk.agents import LlmAgent
from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.adk.runners import Runner
from google.adk.tools.load_memory_tool import load_memory_tool
from google.adk.tools.tool_context import ToolContext
from google.genai.types import Content, Part

from memoryd.adk import MemoryService, SessionService, SharedMemoryService

manual = SharedMemoryService()


async def search_manual(query: str, tool_context: ToolContext) -> list[str]:
    """Search the manual of the shop: returns, prices and opening hours."""
    session = tool_context.session
    found = await manual.search_memory(app_name=session.app_name, user_id=session.user_id, query=query)
    return [part.text for m in found.memories for part in m.content.parts or [] if part.text]


class Script(BaseLlm):
    """A scripted model: it asks both memories, and repeats the first match of each."""

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        parts = llm_request.contents[-1].parts or []
        results = [(p.function_response.response or {})["result"] for p in parts if p.function_response]
        if results:
            said, known = results[0].memories[0].content.parts[0].text, results[1][0]
            answers = [Part(text=f"You said: {said} The manual says: {known}")]
        else:
            args = {"query": parts[0].text}
            names = ("load_memory", "search_manual")
            answers = [Part.from_function_call(name=name, args=args) for name in names]
        yield LlmResponse(content=Content(role="model", parts=answers))


agent = LlmAgent(
    name="clerk",
    model=Script(model="script"),  # a name such as "gemini-2.5-flash" asks that model
    instruction="You work in a shop. What the customer told you is in your memory, and the rules are in the manual.",
    tools=[load_memory_tool, search_manual],
)


async def main() -> None:
    async with memoryd.AsyncClient() as client:  # with a key of an admin: customers write no manual
        text = "# Returns\n\nShoes can be returned within 60 days if they were worn indoors only."
        await client.app("clerk").put_document(text, id="returns", title="Manual")
        ann = client.user("clerk", "ann")
        await ann.ingest("s1", [{"id": "e1", "author": "user", "content": "I bought red shoes in May."}], wait=True)

    sessions = SessionService()
    runner = Runner(app_name="clerk", agent=agent, session_service=sessions, memory_service=MemoryService())
    session = await sessions.create_session(app_name="clerk", user_id="ann")
    message = Content(role="user", parts=[Part(text="Can I return my shoes?")])
    async for event in runner.run_async(user_id="ann", session_id=session.id, new_message=message):
        if event.is_final_response() and event.content and event.content.parts:
            print(event.content.parts[0].text)


asyncio.run(main())
