"""The memoryd that the tests call: that of MEMORYD_URL with MEMORYD_KEY, an admin's of all
apps."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator

import pytest

import memoryd


@pytest.fixture(scope="session")
def url() -> str:
    return os.environ["MEMORYD_URL"]


@pytest.fixture
def client() -> Iterator[memoryd.Client]:
    with memoryd.Client() as made:
        yield made


@pytest.fixture
def app() -> str:
    """An app that no other test has."""
    return f"app-{uuid.uuid4().hex}"
