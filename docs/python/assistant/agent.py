"""An assistant that remembers earlier sessions."""

from google.adk.agents import LlmAgent
from google.adk.agents.callback_context import CallbackContext
from google.adk.tools.load_memory_tool import load_memory_tool


async def remember(callback_context: CallbackContext) -> None:
    await callback_context.add_session_to_memory()


root_agent = LlmAgent(
    name="assistant",
    model="gemini-2.5-flash",
    instruction="Answer in a sentence or two. What the user told you in earlier sessions is in your memory.",
    tools=[load_memory_tool],
    after_agent_callback=remember,
)
