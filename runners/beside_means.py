"""Floats beside what whole numbers average, or sum up to: their difference is what is left.

An original that takes a level from a mean of counts in doubles is right to the last place of what
is left. In floats, the mean has lost some of that where the counts are large and the level is as
large, and nobody sees it of numbers that are drawn, which are far apart.

So all arrays of whole numbers of one range are one number of its upper part, a seventh of them one
more, and one array of floats is near that number: odd multiples of its last place above and below,
half a step away at most, or a few last places where these are larger than that. Odd, so that hardly
any is a mean itself. Everything else is as declared. Or the floats are near that number times the
elements that there are for one of theirs, in a case in which such a sum is beyond what floats can
count to; there arrays of floats may be what is summed up, too.

Asked are originals whose text works something out in doubles and takes no exponentials. They are
run with another number, by which the floats are lower, too. Only where that changes nothing, and
nothing is lost (`runners.no_loss`), has a candidate to keep to the tolerance: a difference of
squares in doubles loses some of it, and something else with another number.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from runners import common_offset, sizes
from runners.cuda_types import from_float, values
from runners.families import BESIDE_MEANS, BESIDE_SUMS, ranges
from runners.inputs import Arrays, interleave, stream
from runners.spec import Argument, Work
from runners.whole_families import alike

# Ranges and arrays of floats that take turns; how wide a range is at least, and how far it may go.
# One in so many numbers is one more.
MOST_LEVELS, MOST_FLOATS, LEAST_RANGE, EXACT, ONE_IN = 2, 3, 64, 1 << 53, 7
ELSEWHERE = ":elsewhere"
FAMILIES = frozenset(
    f"{kind} {level} {number}"
    for kind in (BESIDE_MEANS, BESIDE_SUMS)
    for level in range(MOST_LEVELS + 1)
    for number in range(MOST_FLOATS)
)
# Elements of a case, and of floats beside sums: fewer are coefficients. Last places to either side
# where half a step has fewer; digits of a float.
MOST_ELEMENTS, FEWEST, MOST_PLACES, DIGITS = 1 << 20, 16, 7, 24
# What floats hold that are summed up, and how much less elsewhere: a number of 21 bits.
OF_FLOATS = (1234567, 1 << 17)

Case = Mapping[str, float]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Level:
    """What arrays hold: a number, or one more; and how much less elsewhere.

    `limits` are the ends of a declared range of whole numbers.
    """

    arrays: tuple[Argument, ...]
    number: int
    less: int
    limits: tuple[int, int] | None = None


def levels(work: Work, own: Argument) -> list[Level]:
    """Return what may be averaged beside an array of floats: each range, and all other floats."""
    found: dict[tuple[int, int], list[Argument]] = {}
    for argument, low, high in ranges(work):
        if high - low >= LEAST_RANGE and max(abs(low), abs(high)) <= EXACT:
            found.setdefault((low, high), []).append(argument)
    every = [
        # Elsewhere they are in the upper half as well.
        Level(tuple(arrays), high - wide * 3 // 8, 1 << (wide // 8).bit_length() - 1, (low, high))
        for (low, high), arrays in [*found.items()][:MOST_LEVELS]
        for wide in (high - low,)
    ]
    others = tuple(one for one in common_offset.usable(work) if one is not own)
    return [*every, Level(others, *OF_FLOATS)] if others else every


def cases(work: Work, middle: Case) -> Iterator[tuple[Case, str]]:
    """Yield what is asked: means in one case, and sums in one in which they are long."""
    if not (work.precise and common_offset.alone(work)):
        return
    every = [dict(middle), *(dict(one.values) for one in work.cases)]
    every += [dict(one.values) for one in sizes.undeclared(work, limit=10, large=11, between=2)]
    fit = [case for case in every if 0 < sizes.elements(work, case) <= MOST_ELEMENTS]
    for number, own in enumerate([*common_offset.usable(work)][:MOST_FLOATS]):
        for place, level in enumerate(levels(work, own)):
            if level.limits is not None and middle in fit:
                yield middle, f"{BESIDE_MEANS} {place} {number}"
            if longer := _long(work, fit, level, own):
                yield longer, f"{BESIDE_SUMS} {place} {number}"


def _long(work: Work, every: Sequence[Case], level: Level, own: Argument) -> Case | None:
    """Return the lightest case with sums that are beyond what floats count to, if there is one."""
    least = min(abs(level.number), abs(level.number - level.less))
    fit = (
        case
        for case in every
        if sizes.buffer(own, case) >= FEWEST and summed(level, own, case) * least >= 1 << DIGITS
    )
    return min(fit, key=lambda case: sizes.elements(work, case), default=None)


def summed(level: Level, own: Argument, case: Case) -> int:
    """Return how many elements there are for each of an array; zero where these do not go up."""
    count = sizes.buffer(own, case)
    for argument in level.arrays:
        many, rest = divmod(sizes.buffer(argument, case), max(1, count))
        if many > 1 and not rest:
            return many
    return 0


def applied(family: str, work: Work, arrays: Arrays, seed: int, case: Case) -> Arrays:
    """Return arrays of which some are one number or one more, and floats beside what that makes."""
    family, lower, _ = family.partition(ELSEWHERE)
    kind, place, number = family.split(" ")
    floats = [*common_offset.usable(work)]
    if int(number) >= len(floats):
        return arrays
    own = floats[int(number)]
    every = levels(work, own)
    if int(place) >= len(every) or own.name not in arrays:
        return arrays
    level = every[int(place)]
    many = summed(level, own, case) if kind == BESIDE_SUMS else 1
    if not many:
        return arrays
    out, less = dict(arrays), level.less if lower else 0
    for argument in level.arrays:
        # Of floats only what is as long as the sums: ranges hold the same number wherever they are.
        long = argument.name in arrays and _count(argument, arrays) == many * _count(own, arrays)
        if long or (level.limits is not None and argument.name in arrays):
            rng = stream(seed, family, argument.name)
            out[argument.name] = _stepped(argument, arrays, level, level.number - less, rng)
    middle = many * level.number + (many // ONE_IN if many > 1 else 0)
    near = _beside(middle, many * level.less, _scalars(own, arrays), stream(seed, family, own.name))
    made = from_float(near - many * less, own.type.fields[0].scalar)
    out[own.name] = interleave([made], own.type, _count(own, arrays))
    return out


def _count(argument: Argument, arrays: Arrays) -> int:
    return len(arrays[argument.name]) // argument.type.size


def _scalars(argument: Argument, arrays: Arrays) -> int:
    return _count(argument, arrays) * argument.type.fields[0].lanes


def _stepped(
    argument: Argument, arrays: Arrays, level: Level, number: int, rng: np.random.Generator
) -> npt.NDArray[np.uint8]:
    """Return an array of one number of which a part is one more, as far as they may be alike."""
    parts: list[npt.NDArray[Any]] = []
    for field in argument.type.fields:
        data = values(arrays[argument.name], argument.type, field).copy()
        made = number + (rng.integers(ONE_IN, size=len(data)) == 0)
        if level.limits is None:
            data = from_float(made.astype(np.float64), field.scalar)
        else:
            most = alike(field, *level.limits, len(data))
            data[:most] = made[:most].astype(data.dtype)
        parts.append(data)
    return interleave(parts, argument.type, _count(argument, arrays))


def _beside(middle: int, apart: int, count: int, rng: np.random.Generator) -> Floats:
    """Return floats near a number, so that they are floats as well when that is less by `apart`."""
    largest = max(abs(middle), abs(middle - apart)) + 1
    last = 2.0 ** (largest.bit_length() - DIGITS)
    places = max(MOST_PLACES, int(0.5 / last))
    steps = 2 * rng.integers(-(places + 1) // 2, (places + 1) // 2, count) + 1
    return np.asarray(last * (np.rint(middle / last) + steps))
