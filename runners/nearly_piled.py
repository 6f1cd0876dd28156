"""Is a candidate right where nearly all is one number beside few others? Else refused.

`runners.near_piles` has what it is run on. It is asked in piles as high as promised, of twice as
many elements as others, since it takes a single answer there. The lowest come first, and the next
only where it is likely to be quick, as `runners.piled_up` has it.

Results may be floats, as long as nothing that is read is one: a mean and a variance are made of
counts. Where two low piles do not tell what comes of a higher one, along a line, by a power of how
many there are or as it is in both, an original's own words may have run over, and nothing is asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from runners import climbing, longest, near_piles, piled_up, piles, sizes
from runners.answers import Answers
from runners.axes import fitting
from runners.checks import Report
from runners.compare import Answer
from runners.contents import Combination
from runners.cuda_types import Field, to_float, values
from runners.families import NEARLY_PILED, NEARLY_PILED_LOW, captured_work
from runners.inputs import generate
from runners.piled_up import LEAST_TIMES, LOWER, MOST_NAMES
from runners.session import Session
from runners.spec import JobSpec, Work

LAYER = "nearly piled up"
# Elements of all buffers and their bytes; and how high piles are of which floats are made.
MOST_ELEMENTS, MOST_BYTES, MOST_INEXACT = 1 << 25, 1 << 28, 1 << 22
# Of fewer what is drawn decides how many of them are alike.
LEAST = 64
# What a run may be likely to take, and what all of them may.
EXPECTED, SECONDS = 1.0, 3.0
# How many times as large or as small as what two others tell a result may be: what is left of a
# count that ran over is less than a half of it. By what part it may differ where it stays as it is,
# or by how much; and of so many small ones one may.
APART, NEAR, LITTLE, FEW = 1.5, 0.2, 1e-3, 16

# What an original's own rounding may come to, as a part of a result.
ROUNDED = 1e-4

Wide = npt.NDArray[np.float64]


def asks(work: Work) -> bool:
    """Tell whether results are whole numbers, or are made of nothing but these."""
    if captured_work(work) or not piles.read(work):
        return False
    given = [one for one in work.arguments if one.role != "output"]
    whole = all(field.scalar.kind != "f" for one in given for field in one.type.fields)
    return bool(piles.written(work)) and (whole or piles.whole_results(work))


def lines(work: Work, seed: int) -> Iterator[list[Combination]]:
    """Yield piles along each size by which not all results are more, the lowest first."""
    if not asks(work):
        return
    every = piles.written(work)
    more = {
        name: sum(piled_up.gets_longer(one, work, name) for one in every)
        for name in sizes.sizing(work)
    }
    flags = any(high - low == 1 for _, low, high in piles.read(work))
    families = (NEARLY_PILED, NEARLY_PILED_LOW) if flags else (NEARLY_PILED,)
    found = 0
    for name in sorted(more, key=lambda name: (more[name] > 0, -sizes.largest(work, name))):
        line = _heights(work, name) if more[name] < len(every) and found < MOST_NAMES else []
        found += bool(line)
        for family in families if line else ():
            yield [Combination(case, family, seed) for case in line]


def _heights(work: Work, name: str) -> list[dict[str, float]]:
    """Return cases along a size as high as it may be, the lowest first; none where few meet."""
    declared = max(work.cases, key=lambda case: sizes.elements(work, case.values)).values
    top = sizes.TIMES_LONGER * int(sizes.largest(work, name))
    least = min(top, LEAST_TIMES * int(sizes.largest(work, name)))
    if not piles.whole_results(work):
        top = min(top, MOST_INEXACT)
    for others in (declared, *sizes.few_others(work, name)):
        high = fitting(work, others, name, top, MOST_ELEMENTS)
        while high > 1 and longest.total_bytes(work, {**others, name: float(high)}) > MOST_BYTES:
            high //= 2
        down = piled_up.down_from(work, others, name, high) if high >= least else []
        line = [case for case in down if case[name] >= LEAST]
        if len(line) > LOWER:
            return line[::-1]
    return []


def check(
    load: Callable[[], Session],
    answers: Answers,
    job: JobSpec,
    deadline: float,
    report: Report,
) -> tuple[list[str], bool]:
    """Run a candidate on such piles, the lowest first; raise `Wrong` and the errors of the device.

    Return a note where one did not come to an end, and whether the device is lost.
    """
    every = [*lines(job.work, job.seed)]
    asked = [one for line in every for one in line]

    def known() -> climbing.Lines:
        each = (told(job.work, answers, line) for line in every)
        return [[[one] for one in line] for line in each if line]

    limits = climbing.Limits(LAYER, EXPECTED, SECONDS)
    return climbing.check(load, answers, job, asked, known, (deadline, report), limits)


def told(work: Work, answers: Answers, line: Sequence[Combination]) -> list[Combination]:
    """Return what is asked of a line: as far as an original's answers are what two low ones tell.

    None where it has no answers there, or in another order each time.
    """
    found: list[Combination] = []
    for one in line:
        answer = answers.of(one)
        if answer is None or not all(_decides(part) for part in answer.values()):
            break
        # What ran over may be on a line with the lowest, and is then on none with the last ones.
        pairs = (found[:LOWER], found[-LOWER:]) if len(found) > LOWER else (found[:LOWER],)
        known = [pair for pair in pairs if len(pair) == LOWER]
        if not all(_alike(work, answers, [*pair, one]) for pair in known):
            break
        found.append(one)
    return found if len(found) > LOWER else []


def _decides(answer: Answer) -> bool:
    """Tell whether results come in an order, and floats are made of counts, not added up as floats.

    Of these the original itself loses much where nearly all of them meet in one place.
    """
    if answer.unordered:
        return False
    for field, budget in zip(answer.type.fields, answer.budgets, strict=True):
        if field.scalar.kind == "f" and budget is not None:
            want = to_float(values(answer.want, answer.type, field), field.scalar)
            with np.errstate(all="ignore"):
                if (budget.bound(want) > ROUNDED * (np.abs(want) + 1)).any():
                    return False
    return True


def _alike(work: Work, answers: Answers, three: Sequence[Combination]) -> bool:
    """Tell whether an original's results in a third case are what two tell, or small."""
    cases = [one.case for one in three]  # of whose sizes one alone differs
    (name,) = [name for name in cases[0] if cases[0][name] != cases[-1][name]]
    high = [case[name] for case in cases]
    steps = high[1] - high[0], high[2] - high[1]
    times = high[1] / high[0], high[2] / high[1]
    every = [answers.of(one) for one in three]
    held = tuple(one for one in piles.written(work) if one.role == "inout")
    before = [generate(replace(work, arguments=held), one.case, one.seed) for one in three]
    near = [near_piles.numbers(work, one) for one in piles.read(work)]
    most = max(abs(end) for ends in near for end in ends)
    for argument in piles.written(work):
        name, kind = argument.name, argument.type
        for field in kind.fields:
            results = [
                _wide(values(one[name].want, kind, field), field)
                - (_wide(values(was[name], kind, field), field) if name in was else 0.0)
                for one, was in zip(every, before, strict=True)
                if one
            ]
            found = follows(_comparable(results), steps, times)
            # Of many small ones a few may be decided by what is drawn.
            small = np.abs(_comparable(results)[-1]) <= most
            if not found[~small].all() or (~found).sum() > len(found) // FEW:
                return False
    return True


def _comparable(results: Sequence[Wide]) -> list[Wide]:
    """Return results that are as many in all cases; of unlike many, the means of both ends."""
    parts = piled_up.both_ends([len(one) for one in results])
    if len({len(one) for one in results}) == 1:
        return [*results]
    with np.errstate(all="ignore"):
        return [
            np.array([one[part[at]].mean() for part in parts]) for at, one in enumerate(results)
        ]


def _wide(data: npt.NDArray[Any], field: Field) -> Wide:
    floats = to_float(data, field.scalar) if field.scalar.kind == "f" else data
    return np.array(floats, np.float64)


def follows(
    results: Sequence[Wide], steps: tuple[float, float], times: tuple[float, float]
) -> npt.NDArray[np.bool_]:
    """Mark results that are what they were, on a line with two others, or grow by the same power.

    About so: few of what is drawn are a little more or less than their share.

    >>> three = [9.0, 9, 9, 0.3], [36.0, 144, 36, 0.29], [144.0, 2304, -7, 0.3]
    >>> follows([np.array(one) for one in three], (300.0, 1200.0), (4.0, 4.0)).tolist()
    [True, True, False, True]
    """
    first, second, third = results
    with np.errstate(all="ignore"):
        straight = second + (second - first) * (steps[1] / steps[0])
        power = np.log(second / first) / np.log(times[0])
        grown = second * times[1] ** power
        fine = (np.isnan(third) & np.isnan(second) & np.isnan(first)) | (third == second)
        near = np.maximum(NEAR * np.abs(second), LITTLE)
        fine |= (np.abs(third - second) <= near) & (np.abs(second - first) <= near)
        for one in (straight, grown):
            share = third / one
            fine |= np.isfinite(third) & (share >= 1 / APART) & (share <= APART)
    return np.asarray(fine)
