"""memoryd's tools for the agents of frameworks, in the words that memoryd gives models."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from ._async import AsyncUser
from ._client import AsyncClient
from ._errors import InvalidArgument, MemorydError

# The tools that an agent gets unless it names others.
NAMES: Sequence[str] = ("search_memory",)


async def declarations(client: AsyncClient, names: Sequence[str]) -> list[dict[str, Any]]:
    """The tools of these names: name, description, and parameters as a JSON schema."""
    listed = await client.list_tools()
    known: dict[str, Any] = {t["function"]["name"]: t["function"] for t in listed["tools"]}
    unknown = [name for name in names if name not in known]
    if unknown:
        raise InvalidArgument(f"memoryd has no tools {unknown}: want some of {sorted(known)}")
    return [known[name] for name in names]


async def answer(of: AsyncUser, name: str, args: Mapping[str, Any]) -> str:
    """The answer of a tool for a model, as JSON. An error is one, which the model may mend."""
    try:
        found = await of.call_tool(name, args)
    except MemorydError as error:
        return json.dumps({"error": str(error)})
    return json.dumps(found, ensure_ascii=False)
