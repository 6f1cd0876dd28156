"""Two changes of one text put together, where they do not touch the same words.

Lines are compared first; where both changes meet in a line, its words are. What results has to be
verified like any other candidate: a clean merge is no proof that the program still makes sense.
"""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, fields

from optimizer.model import Launch

_WORD = re.compile(r"\w+|\s+|[^\w\s]")


@dataclass(frozen=True, slots=True)
class _Change:
    """Pieces `start` to `end` of the base (end excluded) become `new`."""

    start: int
    end: int
    new: tuple[str, ...]


def merge(base: str, ours: str, theirs: str) -> str | None:
    r"""Return `base` with both changes made, or None when they change the same words.

    >>> merge("a\nb\nc\n", "a\nB\nc\n", "a\nb\nC\n")
    'a\nB\nC\n'
    >>> merge("f(a, b);\n", "f(x, b);\n", "f(a, y);\n")
    'f(x, y);\n'
    >>> merge("a\n", "b\n", "c\n") is None
    True
    """
    old, mine, other = (text.splitlines(keepends=True) for text in (base, ours, theirs))
    return _merge_pieces(old, mine, other, by_words=True)


def merge_launches(
    base: Launch | None, ours: Launch | None, theirs: Launch | None
) -> Launch | None:
    """Return a launch with both changes made. Raise `ValueError` when they change one field."""
    if theirs in {base, ours}:
        return ours
    if ours == base:
        return theirs
    if base is None or ours is None or theirs is None:
        raise ValueError("one side has no launch")
    found = {}
    for name in (field.name for field in fields(Launch)):
        before, mine, other = (getattr(one, name) for one in (base, ours, theirs))
        if mine not in (before, other) and other != before:
            raise ValueError(f"both sides change {name}")
        found[name] = mine if other == before else other
    return Launch(**found)


def _merge_pieces(
    base: Sequence[str], ours: Sequence[str], theirs: Sequence[str], *, by_words: bool
) -> str | None:
    mine, other = _changes(base, ours), _changes(base, theirs)
    out: list[str] = []
    at = 0
    while mine or other:
        here, there = _next_group(mine, other)
        mine, other = mine[len(here) :], other[len(there) :]
        start = min(change.start for change in here + there)
        end = max(change.end for change in here + there)
        pieces = [_applied(base, side, start, end) for side in (here, there)]
        if not here or not there or pieces[0] == pieces[1]:
            text: str | None = "".join(pieces[0] if here else pieces[1])
        elif by_words:
            old, *new = (_WORD.findall("".join(part)) for part in (base[start:end], *pieces))
            text = _merge_pieces(old, new[0], new[1], by_words=False)
        else:
            text = None
        if text is None:
            return None
        out += [*base[at:start], text]
        at = end
    return "".join([*out, *base[at:]])


def _changes(base: Sequence[str], new: Sequence[str]) -> list[_Change]:
    matcher = difflib.SequenceMatcher(None, base, new, autojunk=False)
    return [
        _Change(i1, i2, tuple(new[j1:j2]))
        for tag, i1, i2, j1, j2 in matcher.get_opcodes()
        if tag != "equal"
    ]


def _next_group(
    mine: Sequence[_Change], other: Sequence[_Change]
) -> tuple[list[_Change], list[_Change]]:
    """Return the first changes of both sides that meet, directly or through one another."""
    queues = (list(mine), list(other))
    taken: tuple[list[_Change], list[_Change]] = ([], [])
    side = min((0, 1), key=lambda one: _order(queues[one]))
    taken[side].append(queues[side].pop(0))
    while True:
        for one in (0, 1):
            if queues[one] and any(_meet(queues[one][0], held) for held in taken[1 - one]):
                taken[one].append(queues[one].pop(0))
                break
        else:
            return taken


def _order(queue: Sequence[_Change]) -> tuple[float, float]:
    return (queue[0].start, queue[0].end) if queue else (math.inf, math.inf)


def _meet(a: _Change, b: _Change) -> bool:
    """Tell whether two changes overlap, or stand so that their order would be a guess."""
    if a.start < b.end and b.start < a.end:
        return True
    inserts = a.start == a.end or b.start == b.end
    touch = a.start <= b.end and b.start <= a.end
    return inserts and touch and bool(a.new) and bool(b.new)


def _applied(base: Sequence[str], side: Sequence[_Change], start: int, end: int) -> list[str]:
    out: list[str] = []
    at = start
    for change in side:
        out += [*base[at : change.start], *change.new]
        at = change.end
    return [*out, *base[at:end]]
