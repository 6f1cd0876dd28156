"""What is said to a language model and what it answers, as values that touch no network."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

_FENCED = re.compile(r"```(?:json)?[ \t]*\r?\n(.*?)```", re.DOTALL)


class Speaker(StrEnum):
    """Who says something; the values are those of chat completions."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a dialogue."""

    speaker: Speaker
    text: str


@dataclass(frozen=True, slots=True)
class Schema:
    """The shape an answer should have, as JSON Schema; servers cache it by `name`.

    Servers that hold answers to it want every property required and no others allowed, so
    something optional is a property that may be null.
    """

    name: str
    body: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Usage:
    """What one or more calls took: tokens sent (`cached` of them known to the server), received.

    `usd` is 0 for an answer that was kept from an earlier run, which `kept` counts. `calls` counts
    requests that were answered, `seconds` how long they took one after the other.
    """

    sent: int = 0
    cached: int = 0
    received: int = 0
    usd: float = 0.0
    seconds: float = 0.0
    calls: int = 0
    kept: int = 0

    @property
    def tokens(self) -> int:
        """Return all tokens, sent and received."""
        return self.sent + self.received

    def __add__(self, other: Usage) -> Usage:
        """Return the sum.

        >>> (Usage(10, 2, 5, 0.1) + Usage(1, 0, 1, 0.1)).tokens
        17
        """
        return Usage(
            self.sent + other.sent,
            self.cached + other.cached,
            self.received + other.received,
            self.usd + other.usd,
            self.seconds + other.seconds,
            self.calls + other.calls,
            self.kept + other.kept,
        )


NOTHING_USED = Usage()


@dataclass(frozen=True, slots=True)
class Answer:
    """What a model said. `author` is who the server says answered.

    `refusal` holds its words when the model declined to answer; `cut` tells that the answer ended
    at the limit on its length. `digest` identifies question and answer in the exchange log.
    """

    text: str
    author: str = ""
    usage: Usage = NOTHING_USED
    refusal: str = ""
    cut: bool = False
    digest: str = ""


def json_in(text: str) -> dict[str, Any] | None:
    """Return the JSON object in an answer, bare, fenced or with words around; None without one.

    >>> json_in('Sure: {"a": 1} - done')
    {'a': 1}
    >>> json_in("no") is None
    True
    """
    for part in (text, *_FENCED.findall(text)):
        found = _decoded(part.strip())
        if found is not None:
            return found
    decoder = json.JSONDecoder()
    for at in [match.start() for match in re.finditer(r"\{", text)][:20]:
        try:
            value, _ = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict):
            return value
    return None


def _decoded(text: str) -> dict[str, Any] | None:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
