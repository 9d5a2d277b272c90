"""Registers memoryd:// and memoryds:// with the commands of ADK when it is imported.

ADK imports a file services.py in the directory of the agents, or of the one agent of
`adk run`. The line `import memoryd.adk.services` in it is enough.
"""

from __future__ import annotations

from typing import Any

from google.adk.cli.service_registry import get_service_registry

from . import MemoryService, SessionService


def _sessions(uri: str, **_: Any) -> SessionService:
    """ADK says more about itself than a service needs, such as the directory of the agents."""
    return SessionService(uri)


def _memory(uri: str, **_: Any) -> MemoryService:
    return MemoryService(uri)


for _scheme in ("memoryd", "memoryds"):
    get_service_registry().register_session_service(_scheme, _sessions)
    get_service_registry().register_memory_service(_scheme, _memory)
