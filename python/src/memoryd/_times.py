"""Times in answers."""

from __future__ import annotations

from datetime import datetime


def parse_time(text: str) -> datetime:
    """A time of an answer, such as 2026-03-02T07:30:00.000000Z, in UTC."""
    return datetime.fromisoformat(text.replace("Z", "+00:00"))
