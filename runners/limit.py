"""Notes of a measurement that are limits: where a candidate fails and its original does not.

Whoever takes the candidate has to know of them, before all else that was noted.
"""

from __future__ import annotations

from collections.abc import Iterable

_LIMIT = "limit: "


def said(words: str) -> str:
    """Return the note that says a limit.

    >>> said("its launch fails from n=70,000 on")
    'limit: its launch fails from n=70,000 on'
    """
    return _LIMIT + words


def apart(notes: Iterable[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the limits among notes, in words, and the other notes.

    >>> apart(["n=7: timed again", "limit: x must begin at a multiple of 8 bytes"])
    (('x must begin at a multiple of 8 bytes',), ('n=7: timed again',))
    """
    every = tuple(notes)
    limits = tuple(one.removeprefix(_LIMIT) for one in every if one.startswith(_LIMIT))
    return limits, tuple(one for one in every if not one.startswith(_LIMIT))
