"""Rows of floats that creep: neighbours are a few of their last places apart.

A track of positions in degrees, time stamps, a level that is read each second: of such the original
takes differences. Where it turns floats into doubles first, these are right to the last place, and
so is what it sums up of them. Who scales, converts or shifts each float in floats first has rounded
away a tenth of a step by then, or all of it, and of numbers that are drawn nobody sees that.

Each row begins near one number (1, 45 or 1000), another row a little further on, and goes on by up
to three of its last places at a time, back and forth: what is summed up of steps in one direction
comes out right whatever is lost of each. Asked are originals whose text works something out in
doubles and takes no exponentials. What they lose themselves is told by the original in double
precision, and by that once more with inputs that are moved by one rounding error of a double: who
takes squares of such numbers from each other has nothing left then, and any other order of steps
has something else. Nothing is asked of such (`runners.no_loss`).
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from runners import common_offset, spoilt
from runners.cuda_types import from_float, values
from runners.families import CREEPING
from runners.inputs import Arrays, interleave, stream
from runners.spec import Work

# Where rows begin, how many last places further on at most, and steps of these to either side.
BEGINS = {f"{CREEPING} {at}": float(at) for at in (1, 45, 1000)}
MOST_APART, MOST_STEPS = 1 << 10, 3
# The same where doubles are moved by one rounding error of theirs.
MOVED = ":moved"
FAMILIES = frozenset(family + end for family in BEGINS for end in ("", MOVED))
DOUBLE = 2.0**-52


def cases(work: Work, middle: Mapping[str, float]) -> list[tuple[dict[str, float], str]]:
    """Return what is asked: one case, beside three numbers."""
    usable = any(True for _ in common_offset.usable(work))
    if not (work.precise and work.loops and usable and common_offset.alone(work)):
        return []
    return [(dict(middle), family) for family in BEGINS]


def applied(
    family: str, work: Work, arrays: Arrays, seed: int, case: Mapping[str, float]
) -> Arrays:
    """Return arrays of floats of which each row is a walk by few last places."""
    family = family.removesuffix(MOVED)
    out, begin = dict(arrays), np.float32(BEGINS[family]).view(np.int32)
    for argument in common_offset.usable(work):
        name = argument.name
        if name not in arrays:
            continue
        kind, one = argument.type, argument.type.fields[0]
        rng = stream(seed, family, name)
        count = len(values(arrays[name], kind, one))
        steps = rng.integers(-MOST_STEPS, MOST_STEPS + 1, count)
        rows = spoilt.rows(argument, steps, case)
        rows[:, :1] = rng.integers(0, MOST_APART + 1, (len(rows), 1))
        # Bits of floats above zero are in their order, one number for each place.
        places = np.cumsum(rows, axis=1, dtype=np.int64).reshape(-1) + int(begin)
        made = places.astype(np.int32).view(np.float32).astype(np.float64)
        out[name] = interleave([from_float(made, one.scalar)], kind, count // one.lanes)
    return out


def moved(family: str, work: Work, doubles: Arrays, seed: int) -> Arrays:
    """Return what a twin in double precision is run on: moved by a rounding error, if asked."""
    if not (family in FAMILIES and family.endswith(MOVED)):
        return doubles
    out = dict(doubles)
    for argument in common_offset.usable(work):
        if argument.name in doubles:
            data = doubles[argument.name].view(np.float64)
            signs = stream(seed, family, argument.name).integers(0, 2, len(data)) * 2 - 1
            out[argument.name] = (data * (1 + DOUBLE * signs)).view(np.uint8)
    return out
