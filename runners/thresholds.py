"""Sizes at which a candidate may change its way, or run out of room, read off its own text.

A buffer of 1024, a gate at 3000, parts of a thousand blocks: numbers that the original's text has
not, and no list of usual sizes. What is right on both sides of each is right; which side is meant
for what, this does not ask.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence

from runners import (
    capacities,
    divisors,
    equal_parts,
    far_and_full,
    far_scalars,
    full_grids,
    one_place,
    outgrown,
    outsized,
    products,
    relations,
    saturated,
    sizes,
    whole_parts,
    whole_scalars,
)
from runners.contents import Combination
from runners.expressions import ExpressionError, names
from runners.families import MOSTLY, PLAIN, THROUGHOUT, captured_work, tallied
from runners.gpu import LaunchError
from runners.launch_limits import SHARED_BYTES, fails
from runners.launchable import geometry
from runners.named import numbers
from runners.sizes import TIMES_LONGER
from runners.spec import Argument, JobSpec, Launch, Source, Work

# Cases by numbers, by far ones, by a buffer's size, by what comes of two numbers, by a launch, by
# scalars of 64 bits, and by what a launch or a room of its own does not suffice for; elements.
MOST_BESIDE, MOST_FAR, MOST_BUFFERS, MOST_ENDS, MOST_GRIDS, MOST_WIDE = 8, 2, 4, 2, 1, 2
MOST_OUTGROWN = 3
MOST_ELEMENTS = 1 << 23
# So many times as many elements are little more.
LITTLE_LARGER = 1.25
# Elements of a case by a product that is asked about with other contents, too.
MOST_MIXED = 1 << 22
# A size within this of one that is tried anyway needs none of its own.
NEAR = 1.1
# Cases in which one value is in a row a little oftener than a number, and the least such number.
MOST_COUNTS, LEAST_COUNT = 2, 255
# So many times the largest declared a number may be where a launch is known not to fail there, and
# with fewer elements: what is wrong and not refused is no limit.
FARTHEST, FURTHER, FEWER_ELEMENTS = 256, 1029, 1 << 20
# The least number of bytes or elements that is taken for a buffer's size.
LEAST_ROOM, LEAST_GATE, WIDE = 1024, 64, 1 << 32
LEAST, MOST, MOST_NUMBERS = 2, 1 << 24, 24

Case = Mapping[str, float]


def compared(
    job: JobSpec, wanted: Sequence[Combination], codes: tuple[str, str] = ("", "")
) -> list[Combination]:
    """Return combinations beside a candidate's own numbers that `wanted` has nothing near.

    `codes` is the candidate's PTX and its original's: where the first alone makes floats of whole
    numbers of some type, one case has more elements than those can count.
    """
    if captured_work(job.work) or job.kernel == job.baseline:
        return []
    # Of nothing but infinities a size that is asked says nothing.
    known = [dict(one.case) for one in wanted if one.family not in THROUGHOUT]
    found: list[dict[str, float]] = []
    named, ended = [*_far(job)], [*saturated.cases(job, FARTHEST, FEWER_ELEMENTS)]
    for cases, most, near in (
        (_beside(job), MOST_BESIDE, 1.0),
        (named, MOST_FAR, NEAR),
        (ended, MOST_FAR, NEAR),
        (_buffers(job), MOST_BUFFERS, 1.0),
        (_wide(job), MOST_WIDE, 1.0),
        (_ends(job), MOST_ENDS, NEAR),
        (_grids(job), MOST_GRIDS, NEAR),
        (outsized.beyond_floats(job.work, codes), 1, NEAR),
    ):
        limit = len(found) + most
        for case in cases:
            if len(found) == limit:
                break
            if not any(_near(case, other, near) for other in (*known, *found)):
                found.append(case)
    # Where a product of sizes is beyond a number; once with other contents, too.
    grown = products.beyond(job, [*known, *found])
    # Where a condition of sizes and scalars is what it is in no other case.
    related = relations.unmet(job, [*known, *found, *grown])
    found += [*related, *grown]
    ends = outgrown.cases(job, [*known, *found])
    found += itertools.islice((case for case in ends if case not in found), MOST_OUTGROWN)
    # Where blocks that stay come to their second piece of work, and delays and tools may look.
    fit = [dict(one.case) for one in wanted if one.family in full_grids.FAMILIES]
    found += [one for one in full_grids.cases(job, [*fit, *found]) if one not in found]
    # Where what a text takes apart is whole, of an odd number of parts.
    found += whole_parts.cases(job, [*known, *found])
    # Where blocks that share an output have as much to do as each other.
    found += equal_parts.cases(job, [*fit, *found])
    mixed = [
        case for case in (*grown[:1], *related[:1]) if sizes.elements(job.work, case) <= MOST_MIXED
    ]
    counted = [dict(one.case) for one in wanted if one.family == MOSTLY]
    for case in _counts(job):
        if not any(_near(case, o, NEAR) or _near(o, case, NEAR) for o in counted):
            counted.append(case)
    since = len([one for one in wanted if one.family == MOSTLY])
    # Far out what is random has no stretches, and what holds a stretch's beginning is not full.
    far = [*named, *ended]
    return [
        *(Combination(case, PLAIN, job.seed) for case in found),
        *(Combination(case, "mixed", job.seed) for case in found if case in far or case in mixed),
        *(Combination(case, MOSTLY, job.seed) for case in counted[since:][:MOST_COUNTS]),
        *divisors.combinations(job),
        *far_scalars.combinations(job),
        *(one for one in far_and_full.combinations(job) if dict(one.case) not in known),
        *one_place.combinations(job),
    ]


def own(job: JobSpec) -> list[int]:
    """Return the numbers of a candidate that its original has not, in ascending order.

    Those of its launch among them.
    """
    return _some(_numbers(job.kernel, job.work) - _numbers(job.baseline, job.work))


def _some(found: Iterable[int]) -> list[int]:
    return sorted(one for one in found if LEAST <= one <= MOST)[:MOST_NUMBERS]


def _numbers(source: Source, work: Work) -> frozenset[int]:
    launch = source.launch or work.launch
    words = () if launch is None else (*launch.grid, *launch.block, launch.shared)
    return numbers("\n".join((source.source, *words)))


def turns(job: JobSpec) -> Iterator[tuple[int, str]]:
    """Yield each number with each variable that may be as large, nearest to what is declared.

    Small numbers come last: they are blocks and warps, and small sizes are tried anyway.
    """
    known = [(name, sizes.largest(job.work, name)) for name in sizes.changing(job.work)]
    pairs = [
        (number < LEAST_GATE, abs(math.log(number / most)), number, name)
        for number in own(job)
        for name, most in known
        if number <= TIMES_LONGER * most
    ]
    return ((number, name) for _, _, number, name in sorted(pairs))


def _beside(job: JobSpec) -> Iterator[dict[str, float]]:
    """Yield cases with one variable as large as a number, and one beyond.

    What has room for so many elements and needs one more is off by that one there only.
    """
    for number, name in turns(job):
        yield from _one(job.work, name, number)
        if number < TIMES_LONGER * sizes.largest(job.work, name):
            yield from _one(job.work, name, number + 1)


def _far(job: JobSpec) -> Iterator[dict[str, float]]:
    """Yield cases beyond numbers that are far beyond what is declared, by whole warps.

    Where a launch is known not to fail there: what is wrong and not refused is no limit.
    """
    launch = job.kernel.launch or job.work.launch
    if launch is None:
        return
    # A radius is no size: what fills a block's threads or a table is not counted by it.
    for name in sizes.sizing(job.work):
        most = sizes.largest(job.work, name)
        # What is full at fewer is full there, too.
        farthest = FARTHEST * most
        largest = max((one for one in own(job) if one + FURTHER <= farthest), default=0)
        for case in _one(job.work, name, largest + FURTHER, FEWER_ELEMENTS):
            if largest > TIMES_LONGER * most and not fails(launch, case, SHARED_BYTES):
                yield case


def _counts(job: JobSpec) -> Iterator[dict[str, float]]:
    """Yield cases with rows in which one value may be a little oftener than a number.

    The largest first. What counts in so many bits runs over, and another is then counted oftener.
    """
    if not tallied(job.work):
        return
    for name in capacities.lengthening(job.work):
        most = TIMES_LONGER * sizes.largest(job.work, name)
        for number in reversed([one for one in own(job) if one >= LEAST_COUNT]):
            length = capacities.room_for(number)
            case = capacities.longest_others(job.work, name, length) if length <= most else None
            if case is not None:
                yield case


def _buffers(job: JobSpec) -> Iterator[dict[str, float]]:
    """Yield cases in which a buffer is just larger than a number says, and just as large.

    In elements or bytes, the largest numbers first: room for a table of so many bytes, whatever
    its two sides are.
    """
    tables = [a for a in job.work.arguments if a.type.pointer and len(names(a.shape or "1")) > 1]
    for number in reversed([one for one in own(job) if one >= LEAST_ROOM]):
        for argument in tables:
            for unit in dict.fromkeys((argument.type.size, 1)):
                yield from _full(job.work, argument, unit, number)


def _full(work: Work, argument: Argument, unit: int, number: int) -> Iterator[dict[str, float]]:
    """Yield small cases in which a buffer's elements, of so many bytes, are about a number."""
    smallest = min(work.cases, key=lambda case: sizes.elements(work, case.values)).values
    for name in sizes.sizing(work):
        low, high = 1, int(TIMES_LONGER * sizes.largest(work, name))

        def room(size: int, name: str = name) -> int:
            return sizes.buffer(argument, {**smallest, name: float(size)}) * unit

        if not room(low) <= number < room(high):
            continue
        beyond = sizes.least_above(low, high, lambda size: room(size) > number)
        for size in (beyond, beyond - 1):
            case = {**smallest, name: float(size)}
            if 0 < sizes.elements(work, case) <= MOST_ELEMENTS:
                yield case


def _wide(job: JobSpec) -> Iterator[dict[str, float]]:
    """Yield cases in which a scalar of 64 bits needs more than 32: a seed, a first place.

    Not where the original's text compares it by size: so many turns of a loop would not end.
    """
    smallest = min(job.work.cases, key=lambda case: sizes.elements(job.work, case.values)).values
    for argument in job.work.arguments:
        scalar, value = argument.type.scalar, argument.value or ""
        if argument.type.pointer or value not in smallest or scalar is None:
            continue
        case = {**smallest, value: smallest[value] + WIDE + 1}
        same = sizes.elements(job.work, case) == sizes.elements(job.work, smallest)
        wide = scalar.size == 8 and scalar.kind in "iu" and same
        if wide and not whole_scalars.bounds(job.baseline.source, argument.name):
            yield case


def _ends(job: JobSpec) -> Iterator[dict[str, float]]:
    """Yield cases far beyond the declared where two numbers end: so many parts of so many each.

    What ends at fewer has ended there, too, so the largest come first, and twice as far: what is
    off by the last few elements there is off by half of them.
    """
    every = _some(_numbers(job.kernel, job.work))
    ends = sorted({one * other for one in own(job) for other in every}, reverse=True)
    for name in sizes.sizing(job.work):
        most = sizes.largest(job.work, name)
        for end in ends:
            if most < end <= TIMES_LONGER * most:
                yield from _seen(job.work, name, min(2 * end + 1, int(TIMES_LONGER * most)))
                yield from _seen(job.work, name, min(end + 1, int(TIMES_LONGER * most)))


def _grids(job: JobSpec) -> Iterator[dict[str, float]]:
    """Yield cases beyond the declared where a launch has more blocks than a number, largest first.

    Of those of the original, too: a block of 1024 threads, and room for 1024 parts.
    """
    launch = job.kernel.launch
    if launch is None:
        return
    for name in sizes.sizing(job.work):
        for number in reversed(_some(_numbers(job.kernel, job.work))):
            size = _grid_beyond(job.work, launch, name, number)
            if size is not None:
                yield from _one(job.work, name, size)


def _one(
    work: Work, name: str, size: int, most_elements: int = MOST_ELEMENTS
) -> Iterator[dict[str, float]]:
    """Yield the case with that size that has the most elements, of those that are not too large."""
    tried = [{**others, name: float(size)} for others in sizes.few_others(work, name)]
    fit = [one for one in tried if 0 < sizes.elements(work, one) <= most_elements]
    if fit:
        yield max(fit, key=lambda one: sizes.elements(work, one))


def _seen(work: Work, name: str, size: int) -> Iterator[dict[str, float]]:
    """Yield that case, or one whose others are as in the smallest declared one.

    Where that makes it little larger, as it does a table that grows by itself: of nine who look
    there none may look at its end.
    """
    smallest = min(work.cases, key=lambda case: sizes.elements(work, case.values)).values
    for few in _one(work, name, size):
        more = {**smallest, name: float(size)}
        least, most = (sizes.elements(work, case) for case in (few, more))
        yield more if least < most <= min(MOST_ELEMENTS, LITTLE_LARGER * least) else few


def _grid_beyond(work: Work, launch: Launch, name: str, blocks: int) -> int | None:
    """Return the least size beyond the declared with more than so many blocks one way; or None."""
    others = next(iter(sizes.few_others(work, name)))
    most = int(sizes.largest(work, name))

    def exceeds(size: int) -> bool:
        try:
            grid = geometry(launch, {**others, name: float(size)})[0]
        except (ExpressionError, LaunchError, ValueError):
            return False
        return bool(max(grid) > blocks)

    low, high = most, TIMES_LONGER * most
    if exceeds(low) or not exceeds(high):
        return None
    return sizes.least_above(low, high, exceeds)


def _near(case: Case, other: Case, times: float) -> bool:
    """Tell whether another case is the same, or has one variable a bit longer."""
    if case.keys() != other.keys():
        return False
    apart = [name for name in case if case[name] != other[name]]
    return not apart or (
        len(apart) == 1 and case[apart[0]] < other[apart[0]] < times * case[apart[0]]
    )
