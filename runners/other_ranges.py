"""Is a candidate right for the declared range of whole numbers alone? A limit, said, not refused.

`counts: randint:0:60` is part of what a workload declares: products of counts that fit into 32
bits, a table of as many places, fields of as many bits are right. Whoever passes other numbers has
to know. So a finalist is run on the small case of `runners.other_values` with one array at a time
drawn from wider ranges (`runners.wider`), as far as its original is quick there, does the same
each time and stays within its buffers. Where it does not, nothing is said of that range and of
those beyond: such numbers may be places, lengths or letters, and mean nothing there. Lengths, whose
range ends beside a declared size (`runners.following`), are drawn up to that size where it is
larger, too: rows of the small case hold none that are longer. What stands in them is as declared,
and then all alike, since how long they are may only count while something is found in them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile, zip_longest

from runners import following, limit, wider
from runners.answers import Answers
from runners.checks import Report
from runners.contents import Combination
from runners.families import ranges
from runners.may_be_places import may_be_places
from runners.other_values import MOST_SECONDS, RIGHT, base, compared, stable
from runners.session import Session
from runners.spec import JobSpec, Work
from runners.wider import Wider

LAYER = "other ranges"
MOST_ARRAYS, MOST_LONGER = 4, 2


@dataclass(frozen=True, slots=True)
class Range:
    """An array of whole numbers up to another one than declared, which is `low` to `last`."""

    name: str
    low: int
    last: int
    to: int
    combination: Combination
    room: str = ""

    @property
    def shown(self) -> str:
        """Say which."""
        return f"{self.name} up to {self.to:,}{self.room}"

    def said(self, words: str) -> str:
        """Return the note that it is a limit."""
        declared = f"{RIGHT} values of {self.name} ({self.low:,} to {self.last:,})"
        first = wider.first(self.low, self.last, self.to)
        below = f"{first:,} to" if first < 0 else "up to"
        return limit.said(f"{declared}; with {below} {self.to:,}{self.room} {words}")


def others(job: JobSpec, plain: Combination) -> list[list[Range]]:
    """Return the ranges that are tried of each array, the narrowest first."""
    found = []
    for argument, low, last in ranges(job.work):
        usable = argument.name.isidentifier() and argument.elements(plain.case)
        # What may be below zero is no place.
        usable = usable and last > 0 and (low < 0 or not may_be_places(job.work, last + 1))
        # What ends with a size is a place, and beyond it there is nothing.
        usable = usable and not argument.end
        each = [
            Range(
                argument.name, low, last, to, replace(plain, family=Wider(argument.name, to).family)
            )
            for to in (wider.tried(argument, low, last) if usable else ())
        ]
        found += [each] if each else []
    return [*found[:MOST_ARRAYS], *_longer(job.work, plain)]


def _longer(work: Work, plain: Combination) -> list[list[Range]]:
    """Return the ranges of lengths with room for longer ones than are declared."""
    found = []
    for one, case in following.longer(work)[:MOST_LONGER]:
        name, to = one.argument.name, one.end_at(case)
        if name.isidentifier():
            room = f" at {', '.join(f'{size}={value:,.0f}' for size, value in case.items())}"
            each = []
            for alike in (False, True) if _others(work, name) else (False,):
                family = Wider(name, to, alike).family
                there = replace(plain, case=case, family=family)
                each.append(Range(name, one.low, one.last, to, there, room))
            found.append(each)
    return found


def _others(work: Work, name: str) -> bool:
    """Tell whether other arrays of whole numbers are only read: they may all be alike."""
    return any(a.name != name and not a.written for a, *_ in ranges(work))


def check(
    load: Callable[[], Session],
    answers: Answers,
    job: JobSpec,
    wanted: Sequence[Combination],
    deadline: float,
    report: Report,
) -> tuple[list[str], bool]:
    """Run a right candidate with wider ranges; return what to say, and if the device is lost.

    `load` returns the loaded pair and is called only where there is something to run.
    """
    plain = base(job, answers, wanted)
    every = [] if plain is None else others(job, plain)
    if plain is None or not every:
        return [], False

    def does(one: Range) -> bool:
        quick = answers.seconds(one.combination) <= MOST_SECONDS
        return quick and stable(answers, plain, one.combination)

    # Of all arrays the narrowest first: time may be over before the widest.
    turns = [one for turn in zip_longest(*every) for one in turn if one]
    asked = (every, turns, lambda line: list(takewhile(does, line)))
    return compared(load, answers, job, asked, deadline, report, LAYER)
