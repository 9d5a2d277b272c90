"""Two sessions: the agent recalls in the second a fact from the first."""

import asyncio
from collections.abc import AsyncGenerator

from assistant.agent import root_agent
from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.adk.runners import Runner
from google.genai.types import Content, Part

from memoryd.adk import MemoryService, SessionService


class Script(BaseLlm):
    """A scripted model: it searches memory for each question and repeats the user's first match."""

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        part = (llm_request.contents[-1].parts or [])[0]
        if part.function_response and part.function_response.response:
            found = part.function_response.response["result"].memories
            told = [m.content.parts[0].text for m in found if m.author == "user"]
            answer = Part(text=f"You told me: {told[0]}" if told else "I don't know.")
        elif part.text and part.text.endswith("?"):
            answer = Part.from_function_call(name="load_memory", args={"query": part.text})
        else:
            answer = Part(text="I'll keep that in mind.")
        yield LlmResponse(content=Content(role="model", parts=[answer]))


async def main() -> None:
    root_agent.model = Script(model="script")  # leave this out to ask Gemini
    sessions, memory = SessionService(), MemoryService(wait=True)  # of MEMORYD_URL
    runner = Runner(app_name="assistant", agent=root_agent, session_service=sessions, memory_service=memory)
    for text in ("My daughter Ines is allergic to peanuts.", "What is Ines allergic to?"):
        session = await sessions.create_session(app_name="assistant", user_id="maya@example.com")
        print("user:", text)
        message = Content(role="user", parts=[Part(text=text)])
        async for event in runner.run_async(user_id=session.user_id, session_id=session.id, new_message=message):
            for call in event.get_function_calls():
                print(f"{event.author} looks up:", (call.args or {})["query"])
            if event.is_final_response() and event.content and event.content.parts:
                print(f"{event.author}:", event.content.parts[0].text)


asyncio.run(main())
