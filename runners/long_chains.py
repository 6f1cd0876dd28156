"""Whole numbers that lead from place to place along all there are, as far as a size may be.

Links that are drawn at random come to a cycle within some square root of their number, and chains
elsewhere are a thousand places long (`runners.chains`, `runners.shaped_numbers`): who doubles steps
sixteen times for any number of places, or counts them in 16 bits, is right for all of these, since
nothing leads on for more than 65,536 steps. Here each place leads to the one before, to the one
behind, or round through all of them, at sizes up to those that a candidate has to be right for.

An original may follow such a way from each of its places, which takes a time that grows with the
square. So the shortest is asked first, and the next where it is likely to be quick, of the original
and of a candidate (`runners.led_along`).

What leads on are the numbers of a range that ends with a size (`runners.following`), in an array of
as many elements or of rows or columns of as many. All else of a declared range that is only read is
zero, and once one: on the way it is added up, and may end it. Of originals that make whole numbers
of whole numbers alone.

Where other arrays say from where ways begin, as questions to a tree do, those from zero may lead
nowhere. Of these the first elements are at the two ends by turns, the others as they were drawn.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from runners import following, piles, sizes
from runners.axes import farthest, plane
from runners.cuda_types import values
from runners.edge_paths import MOST_LONG
from runners.expressions import names
from runners.families import LONG_CHAINS
from runners.following import Followed
from runners.inputs import Arrays, filled, interleave
from runners.spec import Work
from runners.whole_families import exact

BEFORE, AFTER, ROUND = "before", "after", "round"
# How the places lead on, and what number all else is; the last only where there is anything else.
WAYS = ((BEFORE, 0), (AFTER, 1), (ROUND, 1), (BEFORE, 1), (AFTER, 0))
ALONE = 3
# The number of all else where what is asked begins anywhere; how many begin at the ends of a way.
STARTS, AT_ENDS = 2, 4
# Elements of all buffers, sizes that are tried, from one length to the next, and how many lengths.
MOST_ELEMENTS, MOST_NAMES, STEP, MOST_LENGTHS = 1 << 22, 1, 4, 5

Case = Mapping[str, float]
Places = npt.NDArray[np.int64]


def places(one: Followed, case: Case) -> Places | None:
    """Return which place each element of an array is; None where its numbers are no places of it.

    A row of them, or a column, or all it has.
    """
    if not names(one.size) & names(one.argument.shape or "1"):
        return None
    at = np.arange(sizes.buffer(one.argument, case), dtype=np.int64)
    many = one.last_at(case) - max(one.low, 0) + 1
    row, along = plane(one.argument, case)
    if row == many:
        return at % many
    return at // row % many if along == many else None


def links(work: Work) -> list[Followed]:
    """Return the arrays that may lead from each of their places to another one."""
    top = max((case.values for case in work.cases), key=work.elements)
    every = [one for one in following.followed(work) if one.places and one.low in {-1, 0}]
    return [one for one in every if places(one, top) is not None]


def starts(work: Work) -> list[Followed]:
    """Return the arrays that say where ways begin: places of those that lead on, and only read."""
    found = links(work) if exact(work) else []
    linked = {one.argument.name for one in found}
    return [
        one
        for one in following.followed(work)
        if one.places and one.argument.name not in linked and not one.argument.written
        if any(names(one.size) & names(link.size) for link in found)
    ]


def lines(work: Work) -> Iterator[list[tuple[Case, str]]]:
    """Yield cases and families for each way that places may lead on, the shortest first."""
    found = links(work) if exact(work) else []
    sides = [name for name in sizes.sizing(work) if any(name in names(one.size) for one in found)]
    linked = {one.argument.name for one in found}
    others = any(one[0].name not in linked for one in piles.read(work) if one[2] > one[1])
    for name in sorted(sides, key=lambda name: -sizes.largest(work, name))[:MOST_NAMES]:
        lengths = _lengths(work, found, name)
        anywhere = [(kind, STARTS) for kind, _ in WAYS[:ALONE]] if starts(work) else []
        for kind, fill in (*anywhere, *(WAYS if others else WAYS[:ALONE])):
            if lengths:
                yield [(case, f"{LONG_CHAINS} {kind} {fill}") for case in lengths]


def _lengths(work: Work, found: Sequence[Followed], name: str) -> list[Case]:
    """Return cases in which a size is ever longer: beyond where chains are asked anyway."""
    top = int(sizes.TIMES_LONGER * sizes.largest(work, name))
    high, others = farthest(work, name, top, MOST_ELEMENTS)
    every: list[Case] = []
    while high > MOST_LONG and len(every) < MOST_LENGTHS:
        case = {**others, name: float((high - 1) | 1)}  # no whole blocks, nor powers of two
        if any(places(one, case) is not None for one in found):
            every.append(case)
        high //= STEP
    return every[::-1]


def applied(family: str, work: Work, arrays: Arrays, seed: int, case: Case) -> Arrays:
    """Return arrays whose places lead on in the way that a family names, all else one number."""
    del seed
    _, kind, fill = family.split(" ")
    out = dict(arrays)
    led = {one.argument.name for one in links(work)}
    for one in links(work):
        at = places(one, case)
        if at is not None:
            out[one.argument.name] = filled(arrays, one.argument, _led(one, kind, at, case))
    begun = starts(work) if int(fill) == STARTS else []
    for turn, one in enumerate(begun):
        out[one.argument.name] = _begun(arrays, one, turn, case)
    left = {*led, *(one.argument.name for one in begun)}
    for argument, low, high in piles.read(work):
        if argument.name not in left:
            number = np.asarray(piles.within(int(fill) % STARTS, low, high))
            out[argument.name] = filled(arrays, argument, number)
    return out


def _begun(arrays: Arrays, one: Followed, turn: int, case: Case) -> npt.NDArray[np.uint8]:
    """Return an array as drawn, the first of it at both ends of a way, other ones in turn."""
    kind = one.argument.type
    parts = []
    for field in kind.fields:
        data = values(arrays[one.argument.name], kind, field).copy()
        for at in range(min(AT_ENDS * field.lanes, len(data))):
            ends = (one.last_at(case), max(one.low, 0))
            data[at] = ends[(at // field.lanes // (turn + 1) + turn) % 2]
        parts.append(data)
    return interleave(parts, kind, len(arrays[one.argument.name]) // kind.size)


def _led(one: Followed, kind: str, at: Places, case: Case) -> Places:
    last = one.last_at(case)
    first = max(one.low, 0)
    if kind == ROUND:
        return first + (at + 1) % (last - first + 1)
    made: Places = np.clip(first + at + (1 if kind == AFTER else -1), one.low, last)
    return made
