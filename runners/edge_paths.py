"""Edges that make one long path, with priorities that rise or fall along it.

A graph that is drawn at random is a few steps wide, and what is settled in rounds, of which each
waits for the one before, is settled there within some more rounds than its size has bits. Who
counts rounds out in advance is right for such graphs alone. So the end points of edge i are i and
i + 1, and all that is drawn besides is in order, upwards or downwards: what the first decides then
reaches the last one place at a time, or the other way round.

End points are two arrays that are declared alike, or one of pairs. Where they are something else,
as two arrays of keys are, such numbers are within their ranges as well.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from runners import sizes
from runners.expressions import names
from runners.families import captured_work, ranges
from runners.inputs import Arrays, interleave
from runners.spec import Argument, Work
from runners.whole_families import LEAST_WIDE

# Priorities are sorted along the path, upwards or downwards; families of which they get that.
RISING, FALLEN = "path-rising", "path-falling"
ORDERS = {RISING: "sorted", FALLEN: "falling"}
# Sizes are no larger there: each step may be a round of launches that host code waits for.
MOST_LONG = 1 << 10
# Shorter ranges, and buffers, are no places of a graph: flags, counts, a few sums.
LEAST_LONG = 128
# The ends of an edge.
ENDS = 2


def asked(work: Work, middle: Mapping[str, float]) -> Iterator[tuple[dict[str, float], str]]:
    """Yield the case and the families that are asked where whole numbers may be ends of edges.

    That is the middle case, with sizes that are no larger than a path may be long.
    """
    if captured_work(work):
        return
    long = {name: min(middle[name], float(MOST_LONG)) for name in sizes.sizing(work)}
    case = {**middle, **long}
    if sizes.elements(work, case) > 0 and length(work, case):
        yield from ((case, family) for family in ORDERS)


def _ends(work: Work) -> list[tuple[list[Argument], int, int]]:
    """Return arrays that may hold both ends of edges, two each or one of pairs, and their range."""
    alike: dict[tuple[str, str, int, int], list[Argument]] = {}
    found: list[tuple[list[Argument], int, int]] = []
    for argument, low, last in ranges(work):
        only = argument.type.scalar
        if only is None or only.size < LEAST_WIDE or not names(argument.shape or "1"):
            continue
        lanes = argument.type.fields[0].lanes
        if lanes == ENDS:
            found.append(([argument], low, last))
        elif lanes == 1:
            shape = "".join((argument.shape or "").split())
            alike.setdefault((only.name, shape, low, last), []).append(argument)
    pairs = [(every[:ENDS], low, last) for (_, _, low, last), every in alike.items()]
    return [*found, *(one for one in pairs if len(one[0]) == ENDS)]


def length(work: Work, case: Mapping[str, float]) -> int:
    """Return how many places the path of a case has; 0 where there are no edges, or few places.

    No more than any buffer or size has elements, since one of them is the number of vertices.
    """
    every = _ends(work)
    if not every:
        return 0
    counts = [sizes.buffer(one, case) for one in work.arguments if one.type.pointer]
    counts += [int(case[name]) for name in sizes.sizing(work) if name in case]
    counts = [one for one in counts if one >= LEAST_LONG]
    spans = [last - low + 1 for _, low, last in every]
    long = min([*counts, *spans], default=0)
    edges = max(sizes.buffer(one, case) for arrays, _, _ in every for one in arrays)
    return long if counts and long >= LEAST_LONG and edges >= LEAST_LONG else 0


def applied(work: Work, arrays: Arrays, ordered: Arrays, case: Mapping[str, float]) -> Arrays:
    """Return arrays of which the ends of edges make a path, and all others are those in order.

    Edges beyond its end begin it again.
    """
    long = length(work, case)
    if not long:
        return arrays
    out = dict(ordered)
    for every, low, _ in _ends(work):
        for turn, argument in enumerate(every):
            kind, only = argument.type, argument.type.fields[0]
            count = len(arrays[argument.name]) // kind.size
            first = np.arange(count, dtype=np.int64) % (long - 1)
            ends = [first, first + 1][turn : turn + 1] if only.lanes == 1 else [first, first + 1]
            made: npt.NDArray[Any] = low + np.stack(ends, axis=1).reshape(-1)
            out[argument.name] = interleave([made.astype(only.scalar.dtype)], kind, count)
    return out
