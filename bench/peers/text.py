"""Texts of memories and queries: the same for every peer, the same in every run."""

import itertools
import random

_LETTERS = "bcdfghjklmnprstvw"
_VOCABULARY = 30_000
# Words are as unevenly used as in speech (Zipf), like those of memoryd bench -scenario search.
_WEIGHTS = list(itertools.accumulate((20 + n) ** -1.1 for n in range(_VOCABULARY)))


def _word(n: int) -> str:
    """Writes a number as a word."""
    out = _LETTERS[n % len(_LETTERS)]
    while n := n // len(_LETTERS):
        out += _LETTERS[n % len(_LETTERS)]
    return out + "ao"


def _talk(seed: str, words: int) -> str:
    chosen = random.Random(seed).choices(range(_VOCABULARY), cum_weights=_WEIGHTS, k=words)
    return " ".join(_word(n) for n in chosen)


def memory(user: str, number: int) -> str:
    """A memory of 20 words, and of one that no other memory has."""
    return f"{_talk(f'{user} {number}', 20)} zq{user}q{number}"


def query(seed: str) -> str:
    """A query of 6 words."""
    return _talk(f"query {seed}", 6)
