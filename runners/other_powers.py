"""Is a candidate right for floats of ordinary size alone? A limit, said, not refused.

An original that sums squares up in doubles is right for gradients of 1e-24 and of 1e20, whose
squares are no floats. Who sums them up in floats, compensated or not, is right for nearly all who
use it. So a finalist of such an original is run on the small case of `runners.other_values` with
its floats so much smaller, and larger (`runners.small_floats`), as far as its original is quick
there and does the same each time. And with one array at a time so much larger: where all are, a
factor that was lost as an infinite sum is lost in the rounding of all else.

One that works in floats is right for quotients by sums as small as floats are. Who multiplies by
the reciprocal instead is right as long as that is a float. So its finalists are run with floats
below the normal ones, whose sums are such, too.

Where a variable counts rounds (`runners.one_round`) what is not seen behind all of them is looked
for behind the first: layers that are scaled and added to come to the same end without it
(`nacre/float_square` of the red team).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from runners import limit, one_round, small_floats
from runners.contents import Combination
from runners.families import chosen
from runners.inputs import FREE
from runners.other_values import RIGHT, checking
from runners.spec import JobSpec, Work

LAYER = "other powers"
# By how many powers of two one array is larger, as a number below zero, and how many are so made.
LARGER, MOST_ARRAYS = small_floats.OF_DOUBLES[1], 3


@dataclass(frozen=True, slots=True)
class Power:
    """Floats by so many powers of two smaller than declared, or larger, where it is below zero."""

    name: str
    powers: int
    combination: Combination
    room: str = ""

    @property
    def shown(self) -> str:
        """Say which."""
        return f"{self.name} times 2^{-self.powers}{self.room}"

    def said(self, words: str) -> str:
        """Return the note that it is a limit."""
        size = "small" if self.powers > 0 else "large"
        numbers = f"numbers {2.0 ** abs(self.powers):.0e} times as {size}{self.room}"
        return limit.said(f"{RIGHT} size of {self.name}; with {numbers} {words}")


def others(job: JobSpec, plain: Combination) -> list[list[Power]]:
    """Return what is tried: of originals that work everything out in floats one size more.

    Not of them where fast maths is allowed, which takes such floats for zero, nor of other types: a
    half has none as small, and a double's reciprocal is a double.
    """
    work, names = job.work, _of_floats(job.work)
    if not chosen(work) or (not work.precise and (work.loose or not names)):
        return []
    every = small_floats.OF_DOUBLES if work.precise else small_floats.OF_FLOATS
    alone = names[:MOST_ARRAYS] if work.precise and len(names) > 1 else []
    made = [Power("floats", n, replace(plain, family=small_floats.named(n))) for n in every]
    made += [
        Power(name, LARGER, replace(plain, family=small_floats.named(LARGER, name)))
        for name in alone
    ]
    once = one_round.once(work, plain)
    if once is None:
        return [[one] for one in made]
    # Behind what it says of the declared case nobody has to know of another.
    room = one_round.said(once, plain)
    return [
        [one, replace(one, combination=replace(one.combination, case=once.case), room=room)]
        for one in made
    ]


def _of_floats(work: Work) -> list[str]:
    """Return the arrays of floats of 32 bits without a range that go in, those only read first."""
    found = [
        argument
        for argument in work.arguments
        if argument.type.pointer and argument.role != "output" and argument.init in FREE
        if any(one.scalar.name == "float" for one in argument.type.fields)
    ]
    return [one.name for one in sorted(found, key=lambda one: one.role != "input")]


check = checking(others, LAYER)
