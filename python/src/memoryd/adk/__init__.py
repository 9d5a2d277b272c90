"""ADK's sessions and memory in memoryd.

    from google.adk.runners import Runner
    from memoryd.adk import MemoryService, SessionService

    runner = Runner(
        app_name="shop",
        agent=agent,
        session_service=SessionService("memoryd://127.0.0.1:8080"),
        memory_service=MemoryService("memoryd://127.0.0.1:8080"),
    )

`pip install memoryd[adk]` brings ADK. For `adk web` and the other commands of ADK a file
services.py in the directory of the agents has the line `import memoryd.adk.services`.
"""

try:
    import google.adk  # noqa: F401
except ImportError as error:
    raise ImportError("memoryd.adk needs ADK 2.13 or later: pip install 'memoryd[adk]'") from error

from ._memory import MemoryService, SharedMemoryService
from ._sessions import SessionService

__all__ = ["MemoryService", "SessionService", "SharedMemoryService"]
