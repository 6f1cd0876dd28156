"""Every array by a family of its own: one makes a chain, the next is at its end, a third all alike.

Families were each made for a fault that somebody has seen, and change all arrays in their way. What
shows only where one array is like that and another like this (all of them fire, all of it goes to
one place, and takes as much away as it may) is met by none of them, and by recipes
(`runners.recipes`), which know fewer shapes, hardly ever. Here chance gives each array a family and
a seed, as if it were the only one, so that each is at an end of its own; now and then two have the
same ones, and in some turns nearly all of them are one number throughout. Only families that keep
to what was declared, in which originals define what they do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from runners import variation
from runners.families import (
    AFTER,
    ALTERNATING,
    BEFORE,
    BESIDE_ENDS,
    BIT_MASKS,
    BITMAPS,
    CHAINS,
    CLUSTERED,
    CYCLES,
    DENSITIES,
    ENDS,
    EQUAL,
    FALLING,
    GOING_ROUND,
    HALF_STEPS,
    HALVES,
    LATE,
    MAZE,
    MIRRORED,
    MOSTLY,
    NEARLY_ENDS,
    NESTED,
    ONE_LESS,
    PILED,
    PILED_FIRST,
    PILED_LAST,
    ROUND_ACROSS,
    SWINGS,
    THOUSANDTH,
    UNITS,
)
from runners.inputs import FREE, Arrays, stream
from runners.spec import Argument, Work

WORD = "crossed"
# How often an array stays as it was declared, and has what another one has.
DECLARED_OF, TOGETHER = 0.1, 0.2
# How many of a turn's arrays are all one number, or nearly: what others do shows beside these.
PLAIN = (0.2, 0.5, 0.9)
_ALIKE = (ENDS, ENDS, ENDS, NEARLY_ENDS, PILED, PILED_FIRST, PILED_LAST, EQUAL)
_SHAPED = (
    *(BESIDE_ENDS, ONE_LESS, HALVES, MOSTLY, DENSITIES, CLUSTERED, ALTERNATING, FALLING, "sorted"),
    *(BEFORE, AFTER, LATE, MAZE, NESTED, CYCLES, MIRRORED, f"{CHAINS} 0 all", "one-hot", "edges"),
    *(GOING_ROUND, GOING_ROUND, ROUND_ACROSS, ROUND_ACROSS, BITMAPS, BIT_MASKS, UNITS),
    *(f"{SWINGS} 0 0", f"{SWINGS} 1 0", f"{SWINGS} 0 1"),
)
# Of floats those of which little cancels: chance has whole numbers lead to that often enough, and
# what is left is rounding. Shares stay shares.
_FLOATS = (
    *("times-10", "one-hot", "edges", "sorted", "integers", "mixed"),
    *(HALF_STEPS, EQUAL, EQUAL, ALTERNATING, FALLING, THOUSANDTH),
)
_SHARES = ("sorted", FALLING, THOUSANDTH)
# What is left of an order, and of sorted keys.
_ORDERED = {"permutation": ("sorted", "mixed"), "sorted": ("integers", EQUAL, "mixed")}


def applied(work: Work, arrays: Arrays, seed: int, turn: int, case: Mapping[str, float]) -> Arrays:
    """Return arrays each of which has a family of its own; what has a meaning stays as it is."""
    out = dict(arrays)
    common = stream(seed, WORD, turn)
    shared, plain = int(common.integers(1 << 31)), float(common.choice(PLAIN))
    for argument in work.arguments:
        word = argument.init.partition(":")[0]
        usable = word in {*FREE, "randint", *_ORDERED} and argument.role != "output"
        if argument.name not in arrays or not usable:
            continue
        own = stream(seed, WORD, turn, argument.name)
        if own.random() < DECLARED_OF:
            continue
        rng = np.random.default_rng(shared) if own.random() < TOGETHER else own
        family, number = _family(argument, plain, rng), int(rng.integers(1 << 31))
        alone = replace(work, arguments=(argument,))
        one = {argument.name: arrays[argument.name]}
        out[argument.name] = variation.apply(family, alone, one, number, case)[argument.name]
    return out


def _family(argument: Argument, plain: float, rng: np.random.Generator) -> str:
    floats = any(field.scalar.kind == "f" for field in argument.type.fields)
    alike, at = rng.random() < plain, float(rng.random())
    word = argument.init.partition(":")[0]
    numbers = _ALIKE if alike else _SHAPED
    of_floats = _SHARES if word == "uniform" else _FLOATS
    those: Sequence[str] = _ORDERED.get(word, of_floats if floats else numbers)
    return those[int(at * len(those))]
