"""What overflows so far beyond what is promised is an index, or a number that has grown.

Who multiplies a sum of a million counts by a million in 64 bits is right at sixteen times as many,
and wrong at two thousand times: that is a limit (docs/decisions/0008-limits.md), and no index.
Addresses do not depend on contents. So what is wrong there is run once more with the whole numbers
of the arrays that have grown near zero: of declared ranges, a few values by chance, so that an
element of another place is seen. What is wrong there as well is an index, or taken for one.

What is right there is a number that has grown. It has to fit where that is promised: as many
elements as at sixteen times the declared sizes, all at one end of their range. Nobody else asks for
both at once. Who is wrong there is refused, and else the limit is said.

Numbers that may be places of something are no numbers to be made small: their array stays as it
was. So do words of 32 and 64 bits of which each is used, which hold several things.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np

from runners.expressions import ExpressionError
from runners.families import ranges
from runners.inputs import Arrays, interleave
from runners.may_be_places import may_be_places
from runners.sizes import TIMES_LONGER
from runners.spec import Argument, Work

# Numbers beyond are kept: a word of 32 bits is full.
MOST = 2**31 - 1
# How many numbers near zero are taken.
LEAST, MOST_VALUES = 3, 256
# What a case that is wrong is said to be, until more is known of it.
SAID = "an index overflows"
# Says what is wrong at a case with contents: nothing, or None where that cannot be told.
Run = Callable[[Mapping[str, float], Arrays], str | None]


@dataclass(frozen=True, slots=True)
class Grown:
    """An array that has grown beyond what is promised, and the first and last of its numbers."""

    argument: Argument
    low: int
    last: int

    def small(self, share: float = 0.0) -> list[int]:
        """Return numbers of the range that are nearest to zero, three or a share of its length."""
        many = max(LEAST, min(MOST_VALUES, int(max(abs(self.low), abs(self.last)) * share) + 1))
        middle = max(self.low, min(0, self.last))
        around = range(max(self.low, middle - many), min(self.last, middle + many) + 1)
        return sorted(around, key=lambda value: (abs(value), -value))[:many]

    @property
    def ends(self) -> list[int]:
        """Return the ends of the range, the larger one first."""
        return sorted({self.low, self.last}, key=abs, reverse=True)[: 2 if self.low < 0 else 1]


def grown(work: Work, base: Mapping[str, float], changed: Mapping[str, float]) -> list[Grown]:
    """Return the arrays whose numbers may be made small; none where a case is promised.

    `changed` is `base` with one larger variable.
    """
    (name,) = (k for k, value in changed.items() if value != base[k])
    declared = max(one.values.get(name, 0.0) for one in work.cases)
    if changed[name] <= TIMES_LONGER * declared:
        return []
    return [
        one
        for one in (Grown(*each) for each in ranges(work))
        if one.argument.elements(changed) > TIMES_LONGER * one.argument.elements(base)
        and max(map(abs, one.small())) < max(abs(one.low), abs(one.last)) <= MOST
        and not may_be_places(work, one.last + 1)
    ]


def made(arrays: Arrays, every: list[Grown], numbers: Callable[[Grown], list[int]]) -> Arrays:
    """Return contents in which some arrays hold numbers of a few, by chance."""
    rng, out = np.random.default_rng(len(every)), dict(arrays)
    for one in every:
        kind, chosen = one.argument.type, numbers(one)
        count = len(arrays[one.argument.name]) // kind.size
        parts = [
            np.array(chosen, field.scalar.dtype)[rng.integers(0, len(chosen), count * field.lanes)]
            for field in kind.fields
        ]
        out[one.argument.name] = interleave(parts, kind, count)
    return out


def promised(
    work: Work, base: Mapping[str, float], changed: Mapping[str, float], every: list[Grown]
) -> Mapping[str, float] | None:
    """Return a case in which arrays have as many elements as are promised; None if it is larger.

    The one variable that was made larger is larger here as well, for what all of them make.
    """
    (name,) = (k for k, value in changed.items() if value != base[k])
    most = {
        k: TIMES_LONGER * max(one.values.get(k, 0.0) for one in work.cases)
        if k in work.variables
        else value
        for k, value in base.items()
    }

    def enough(value: float) -> bool:
        case = {**base, name: value}
        return all(one.argument.elements(case) >= one.argument.elements(most) for one in every)

    try:
        value = most[name]
        while not enough(value):
            value *= 2
            if value >= changed[name]:
                return None
    except ExpressionError:
        return None
    return {**base, name: value} if value > base[name] else None


def _end(which: int, one: Grown) -> list[int]:
    return one.ends[which:][:1] or one.ends[-1:]


def judged(
    wrong: str,
    work: Work,
    cases: tuple[Mapping[str, float], Mapping[str, float]],
    arrays: Arrays,
    run: Run,
) -> tuple[str, str]:
    """Return what is wrong with a candidate that is wrong far out, or which limit it has.

    `wrong` says what was found there, with `arrays` as contents; `cases` are the declared case and
    the one far out.
    """
    base, changed = cases
    every = grown(work, base, changed)
    near = promised(work, base, changed, every) if every else None
    if near is None:
        return wrong, ""
    # Of as many elements, a sum times their number is then no larger than it may be.
    share = min(near[name] / value for name, value in changed.items() if value != base[name])
    if run(changed, made(arrays, every, lambda one: one.small(share**2))) != "":
        return wrong, ""
    names = ", ".join(one.argument.name for one in every)
    for which in range(max(len(one.ends) for one in every)):
        found = run(near, made(arrays, every, partial(_end, which)))
        if found is None:
            return wrong, ""
        if found:
            words = f"a number overflows where all of {names} are at an end of their range"
            return found.replace(SAID, words), ""
    return "", (
        f"right for {TIMES_LONGER} times the declared sizes; far beyond a number overflows, where "
        f"those of {names} are not small: {wrong.replace(f'{SAID}: ', '')}"
    )
