"""The types of memoryd's JSON, as /openapi.json names them."""

from ._types import *  # noqa: F403
