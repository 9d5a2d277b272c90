"""Two sessions: the agent recalls in the second a fact from the first."""

import asyncio
import os

from assistant.agent import root_agent
from google.adk.models import BaseLlm, LlmResponse
from google.adk.runners import Runner
from google.genai.types import Content, Part
from memoryd_adk import MemorydMemoryService, MemorydSessionService


class Script(BaseLlm):
    """A scripted model: it searches memory for each question and repeats the user's first match."""

    model: str = "script"

    async def generate_content_async(self, llm_request, stream=False):
        part = llm_request.contents[-1].parts[0]
        if part.function_response:
            found = [m for m in part.function_response.response["result"].memories if m.author == "user"]
            answer = Part(text=f"You told me: {found[0].content.parts[0].text}" if found else "I don't know.")
        elif part.text.endswith("?"):
            answer = Part.from_function_call(name="load_memory", args={"query": part.text})
        else:
            answer = Part(text="I'll keep that in mind.")
        yield LlmResponse(content=Content(role="model", parts=[answer]))


async def main():
    root_agent.model = Script(model="script")  # leave this out to ask Gemini
    url = os.environ.get("MEMORYD_URL", "http://127.0.0.1:8080")
    sessions = MemorydSessionService(url)
    memory = MemorydMemoryService(url, wait=True)
    runner = Runner(app_name="assistant", agent=root_agent, session_service=sessions, memory_service=memory)
    for text in ("My daughter Ines is allergic to peanuts.", "What is Ines allergic to?"):
        session = await sessions.create_session(app_name="assistant", user_id="maya@example.com")
        print("user:", text)
        message = Content(role="user", parts=[Part(text=text)])
        async for event in runner.run_async(user_id=session.user_id, session_id=session.id, new_message=message):
            for call in event.get_function_calls():
                print(f"{event.author} looks up:", call.args["query"])
            if event.is_final_response() and event.content:
                print(f"{event.author}:", event.content.parts[0].text)


asyncio.run(main())
