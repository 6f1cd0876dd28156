"""Ties that begin late: the first of the largest belongs to a block whose results are folded last.

Which of several equal ones an original names is its contract. Blocks have one each, and whoever
folds these compares two at a time: of blocks and of pieces of work that follow each other around
the grid the first is kept by chance where ties begin at the first element, and where there are two
somewhere the wrong pair of blocks seldom has them. So all is smaller up to a place, and equal and
larger from there on: once the place is where the last block begins, once where the one before is,
once behind the middle, and once near the end; and the other way round, for a smallest.

It is asked of originals that name places: few whole numbers are made of many floats.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from runners import sizes
from runners.cuda_types import from_float, to_float, values
from runners.expressions import ExpressionError
from runners.families import LATE_TIES, captured_work, chosen
from runners.gpu import LaunchError
from runners.inputs import FREE, Arrays, interleave
from runners.launchable import geometry
from runners.spec import Work

# Places, results at most, elements of all buffers at least and at most.
PLACES, MOST_RESULTS, LEAST, MOST = 4, 64, 1 << 10, 1 << 22
# What is equal, and what all else is multiplied by to be smaller. Shares stay between 0 and 1.
HIGH, LOW, HALF, TENTH = 64.0, 0.25, 0.5, 0.1
FAMILIES = frozenset(f"{LATE_TIES} {at}{end}" for at in range(PLACES) for end in ("", " below"))


def asked(work: Work) -> Iterator[tuple[dict[str, float], str]]:
    """Yield the case and the families that are asked: of few, and of one case of these."""
    case = _case(work)
    if case is None or captured_work(work) or not chosen(work):
        return
    for at in range(len(places(work, case))):
        yield from ((case, f"{LATE_TIES} {at}{end}") for end in ("", " below"))


def _case(work: Work) -> dict[str, float] | None:
    """Return the lightest declared case in which blocks go round, else the heaviest."""
    fit = [dict(c.values) for c in work.cases if LEAST <= sizes.elements(work, c.values) <= MOST]
    fit = [case for case in fit if _names_places(work, case)]
    fit.sort(key=lambda case: sizes.elements(work, case))
    round_ = [case for case in fit if 0 < _threads(work, case)[1] < max(case.values())]
    return next(iter(round_ or fit[::-1]), None)


def _names_places(work: Work, case: Mapping[str, float]) -> bool:
    written = [a for a in work.arguments if a.written]
    many = sum(a.elements(case) for a in written)
    whole = any(one.scalar.kind in "iu" for a in written for one in a.type.fields)
    return whole and 0 < many <= MOST_RESULTS


def _threads(work: Work, case: Mapping[str, float]) -> tuple[int, int]:
    """Return the threads of a block and of the grid; zeros where that is not known."""
    if work.launch is None:
        return 0, 0
    try:
        grid, block, _ = geometry(work.launch, case)
    except (LaunchError, ExpressionError):
        return 0, 0
    own = int(np.prod(block))
    return own, own * int(np.prod(grid))


def places(work: Work, case: Mapping[str, float]) -> list[int]:
    """Return where ties begin, as numbers along the longest size of a case."""
    length = int(max(case.values(), default=0.0))
    block, every = _threads(work, case)
    found = [every - block, every - 2 * block + 1] if 2 * block < every else []
    found += [length // 2 + 1, length - length // 8]
    return [at for at in dict.fromkeys(found) if 0 < at < length - 1][:PLACES]


def applied(
    family: str, work: Work, arrays: Arrays, seed: int, case: Mapping[str, float]
) -> Arrays:
    """Return arrays that are one number from a place on, and further from zero or nearer before."""
    del seed
    out = dict(arrays)
    number, _, end = family.removeprefix(f"{LATE_TIES} ").partition(" ")
    found, length = places(work, case), max(case.values(), default=0.0)
    if int(number) >= len(found):
        return out
    for argument in work.arguments:
        only, name = argument.type.scalar, argument.name
        floats = only is not None and only.kind == "f" and argument.init in FREE
        if not floats or name not in arrays:
            continue
        kind, one = argument.type, argument.type.fields[0]
        wide = to_float(values(arrays[name], kind, one), one.scalar)
        if not len(wide) or len(wide) % length:
            continue
        begin = found[int(number)] * int(len(wide) // length)
        share = argument.init == "uniform"
        above = HALF + HALF * wide if share else HIGH + np.abs(wide)
        most = HALF if share else HIGH
        before, behind = (above, LOW) if end else (TENTH * wide, most)
        made = np.where(np.arange(len(wide)) < begin, before, behind)
        out[name] = interleave([from_float(made, one.scalar)], kind, len(wide) // one.lanes)
    return out
