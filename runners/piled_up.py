"""Does a candidate count and add up what all meets in one place? Refused where it does not.

`runners.piles` has what it is run on. Right code may take a time there that grows with the square
of what meets, as threads do that exchange a word until it holds, and its original's may not. So it
is not asked with all else: the lowest pile is no higher than what all families have, each is run
twice, and the next only where it is likely to be quick by what the second run took. What does not
come to an end in spite of that is noted, and held against nobody; what breaks is.

What an original adds up in words of its own may not fit into them either, and then nothing is
promised. A count is told by two piles that are low, and a sum of numbers that are all the same by
two of them that are small. A higher pile, or an end, is asked only where that holds, or a result is
no larger than the number itself or what was there before, as the largest is, in all results: in one
that overflows there may be others packed, by its candidates.

Along a size there may be more of some results, as each name's code stands beside how many have it:
something is gathered there as long as there are others that are no more. Where all are, nothing
says that anything meets. And where other sizes as declared leave no room for a pile as high as
promised, there is a second one beside few of all else: what is counted in 16 bits by each of 16
blocks runs over at a million names, which have no room as long as they are 24 letters each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from runners import climbing, piles, sizes
from runners.answers import Answers
from runners.axes import fitting
from runners.checks import Report
from runners.climbing import STEP
from runners.compare import Answer
from runners.contents import Combination
from runners.cuda_types import values
from runners.families import PILED, PILED_FIRST, PILED_LAST, PILED_LESS, PILED_MORE, captured_work
from runners.inputs import generate
from runners.session import Session
from runners.spec import Argument, JobSpec, Work

LAYER = "piled up"
# What a run may be likely to take, and what all of them may.
EXPECTED, SECONDS = 0.5, 6.0
# Elements of all buffers, the variables along which there are piles, and the amounts.
MOST_ELEMENTS, MOST_NAMES, MOST_AMOUNTS = 1 << 24, 2, 2
# How many times the largest declared the highest pile is at least; of how many there are ends, and
# how many are below what meets in all other families.
LEAST_TIMES, WITH_ENDS, LOWER = 2, 2, 2

Case = dict[str, float]
Numbers = npt.NDArray[np.int64]
ZERO: Numbers = np.zeros((), np.int64)


@dataclass(frozen=True, slots=True)
class End:
    """An amount at an end of its range: its numbers, and what belongs to each of them."""

    near: int
    beside: int
    end: int
    combinations: tuple[Combination, Combination, Combination]


@dataclass(frozen=True, slots=True)
class Pile:
    """What all meets in one place, and of it what has an amount at the ends of its range."""

    plain: Combination
    ends: tuple[End, ...]

    @property
    def combinations(self) -> list[Combination]:
        """All that the original is asked."""
        every = [self.plain, *(one for end in self.ends for one in end.combinations)]
        return list({one.key: one for one in every}.values())


def lines(work: Work, seed: int) -> Iterator[list[Pile]]:
    """Yield piles along each size by which not all results are more, the lowest first.

    Sizes by which there are no more results at all come before all others.
    """
    if captured_work(work) or not piles.whole_results(work):
        return
    longer = {
        name: sum(gets_longer(one, work, name) for one in piles.written(work))
        for name in sizes.sizing(work)
    }
    found = 0
    for name in sorted(longer, key=lambda name: (longer[name] > 0, -sizes.largest(work, name))):
        if found == MOST_NAMES or longer[name] == len(piles.written(work)):
            continue
        every = _heights(work, name)
        found += bool(every)
        for heights in every:
            yield [
                _pile(work, case, seed, ends=number < WITH_ENDS)
                for number, case in enumerate(heights)
            ][::-1]


def _pile(work: Work, case: Case, seed: int, *, ends: bool) -> Pile:
    amounts = piles.amounts(work)
    found = []
    for turn in range(min(MOST_AMOUNTS, len(amounts)) if ends else 0):
        own = seed + turn
        _, low, high = amounts[own % len(amounts)]
        near = piles.within(0, low, high)
        for end, by, less, most in (
            (high, 1, PILED_MORE, PILED_LAST),
            (low, -1, PILED_LESS, PILED_FIRST),
        ):
            if abs(end - near) > 1:
                kinds = (PILED, less, most)
                first, second, last = (Combination(case, family, own) for family in kinds)
                found.append(End(near, near + by, end, (first, second, last)))
    return Pile(Combination(case, PILED, seed), tuple(found))


def _heights(work: Work, name: str) -> list[list[Case]]:
    """Return lines of cases along a size, the highest first: as high as it may be, and ever less.

    The others are as in the largest declared case, small where that is too much; and small as well
    where that alone is far higher.
    """
    most = int(sizes.largest(work, name))
    top = sizes.TIMES_LONGER * most
    declared = max(work.cases, key=lambda case: sizes.elements(work, case.values))
    tried = [
        (fitting(work, others, name, top, MOST_ELEMENTS), others)
        for others in (declared.values, *sizes.few_others(work, name))
    ]
    fit = [one for one in tried if one[0] >= min(top, LEAST_TIMES * most)]
    best = max(fit, key=lambda one: one[0], default=None)
    if best is None:
        return []
    chosen = [fit[0], *([best] if best[0] >= LEAST_TIMES * fit[0][0] else [])]
    lines_ = (down_from(work, others, name, high) for high, others in chosen)
    return [line for line in lines_ if line]


def down_from(work: Work, others: Mapping[str, float], name: str, high: int) -> list[Case]:
    """Return cases from a height down to below what meets in all other families; none below it."""
    found = [{**others, name: float(high)}]
    while _many(work, name, found[-1]):
        found.append({**others, name: float(int(found[-1][name]) // STEP)})
    if len(found) == 1:
        return []
    for _ in range(LOWER):
        found.append({**others, name: float(max(1, int(found[-1][name]) // STEP))})
    return found


def _many(work: Work, name: str, case: Case) -> bool:
    """Tell whether more meet along a size than in all other families."""
    growing = [one for one in piles.read(work) if gets_longer(one[0], work, name)]
    return case[name] >= STEP and any(piles.meet(work, one, case) for one in growing)


def gets_longer(argument: Argument, work: Work, name: str) -> bool:
    """Tell whether an array has more elements by a size."""
    first = max(work.cases, key=lambda case: sizes.elements(work, case.values)).values
    more = {**first, name: first[name] + 1}
    return sizes.buffer(argument, more) > sizes.buffer(argument, first)


def check(
    load: Callable[[], Session],
    answers: Answers,
    job: JobSpec,
    deadline: float,
    report: Report,
) -> tuple[list[str], bool]:
    """Run a candidate on piles, the lowest first; raise `Wrong` and the errors of `runners.gpu`.

    Return a note where one did not come to an end, and whether the device is lost.
    """
    every = [*lines(job.work, job.seed)]
    asked = [one for line in every for pile in line for one in pile.combinations]

    def told() -> climbing.Lines:
        known = [[pile for pile in line if _ordered(answers, pile.plain)] for line in every]
        return [rungs(job.work, answers, line) for line in known if line]

    limits = climbing.Limits(LAYER, EXPECTED, SECONDS)
    return climbing.check(load, answers, job, asked, told, (deadline, report), limits)


def rungs(work: Work, answers: Answers, line: Sequence[Pile]) -> Iterator[list[Combination]]:
    """Yield what is run of each pile of a line, as far as the original's results tell of them."""
    for pile in line:
        if pile not in line[:2] and not evenly(work, answers, [*line[:2], pile]):
            return
        fit = (end.combinations[-1] for end in pile.ends if fits(answers, end))
        yield [pile.plain, *fit]


def _ordered(answers: Answers, one: Combination) -> bool:
    """Tell whether the original has an answer, and in an order of its own."""
    found = answers.of(one)
    return found is not None and not any(answer.unordered for answer in found.values())


def evenly(work: Work, answers: Answers, three: Sequence[Pile]) -> bool:
    """Tell whether an original's results at a third pile are what two tell, or small."""
    sized = [sum(one.plain.case.values()) for one in three]  # of which one alone differs
    every = [answers.of(one.plain) for one in three]
    held = tuple(one for one in piles.written(work) if one.role == "inout")
    before = [generate(replace(work, arguments=held), p.plain.case, p.plain.seed) for p in three]
    for argument in piles.written(work):
        name, kind = argument.name, argument.type
        for field in kind.fields:
            results = [values(one[name].want, kind, field).astype(np.int64) for one in every if one]
            if len(results) < len(three):
                return False
            was = [
                values(one[name], kind, field).astype(np.int64) if name in one else ZERO
                for one in before
            ]
            steps = int(sized[1] - sized[0]), int(sized[2] - sized[0])
            for part in both_ends([len(one) for one in results]):
                now = [one[where] for one, where in zip(results, part, strict=True)]
                then = [
                    one[where] if one.ndim else one for one, where in zip(was, part, strict=True)
                ]
                if not _straight(now, then, steps, _largest(work)):
                    return False
    return True


def both_ends(counts: Sequence[int]) -> list[list[slice]]:
    """Return which elements of results belong together: all, or of unlike many both ends.

    >>> both_ends([3, 3, 3])
    [[slice(0, 3, None), slice(0, 3, None), slice(0, 3, None)]]
    >>> both_ends([1, 2])
    [[slice(0, 1, None), slice(0, 1, None)], [slice(0, 1, None), slice(1, 2, None)]]
    """
    few = min(counts)
    ends = [slice(0, few) for _ in counts], [slice(count - few, count) for count in counts]
    return [*ends] if few < max(counts) else [ends[0]]


def _straight(
    results: Sequence[Numbers], was: Sequence[Numbers], steps: tuple[int, int], most: int
) -> bool:
    """Tell whether three results are on a line, with so many steps to each, or the last is small.

    What was there before is no part of them.
    """
    first, second, third = (
        (now - then).view(np.uint64) for now, then in zip(results, was, strict=True)
    )
    with np.errstate(over="ignore"):
        left = (third - first) * np.uint64(steps[0])
        right = (second - first) * np.uint64(steps[1])
    small = np.abs(results[2]) <= np.maximum(most, np.abs(was[2]))
    return bool(((left == right) | small).all())


def _largest(work: Work) -> int:
    """Return the largest number that is in a pile without an end, or near to it."""
    return max((abs(piles.within(1, low, high)) for _, low, high in piles.read(work)), default=1)


def fits(answers: Answers, end: End) -> bool:
    """Tell whether an original's results at an end are what two small numbers tell, or small.

    Small is what is no larger than the number at the end, or than what the result is without it.
    """
    every = [answers.of(one) for one in end.combinations]
    plain, beside, there = every
    if plain is None or beside is None or there is None:
        return False
    return all(
        _told(plain[name], beside[name], there[name], end) and not there[name].unordered
        for name in there
    )


def _told(plain: Answer, beside: Answer, there: Answer, end: End) -> bool:
    steps = (end.end - end.near) // (end.beside - end.near)
    for field in there.type.fields:
        results = [values(one.want, one.type, field) for one in (plain, beside, there)]
        # Modulo 2^64, so that 64 bits are as exact as 32, whose overflow shows.
        first, second, last = (one.astype(np.int64).view(np.uint64) for one in results)
        with np.errstate(over="ignore"):
            sums = last - first == (second - first) * np.uint64(steps)
        if not bool((sums | _small(results[0], results[2], abs(end.end))).all()):
            return False
    return True


def _small(plain: npt.NDArray[np.generic], there: npt.NDArray[np.generic], most: int) -> Any:
    wide = there.astype(np.float64)
    return np.abs(wide) <= np.maximum(float(most), np.abs(plain.astype(np.float64)))
