"""All sizes of a program at one, two and three, while its counts of steps are not at their least.

What stands still for one kind of step may move in the next one, and a state may come to rest and
go on: that takes a few cells and more than one step. On a plane of declared size something always
moves, and with a single step, or a single row beside 33 others, nothing comes to rest or all of it.
So pairs of sizes from the least on that the original's text takes are asked, with a few steps and
with as many as declared. Seeds stay as declared: another one is no more than other contents.
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from runners.program_arguments import Place
from runners.program_growth import SHARE, Work
from runners.program_jointly import Changes
from runners.program_smallest import OTHERS, Smallest, ends, in_turn, turning

# How much more than their least sizes are, by turns; and is it with as many steps as declared.
PAIRS = (
    ((1, 0), True),
    ((0, 1), False),
    ((1, 1), True),
    ((0, 2), True),
    ((2, 0), False),
    ((1, 2), False),
    ((2, 1), True),
    ((2, 2), False),
    ((1, 1), False),
    ((0, 1), True),
)
ALONE = (((1,), True), ((2,), False), ((3,), True), ((4,), False), ((1,), False), ((2,), True))
# Steps where there are few: no even number of them, as what goes to and fro is back after these.
FEW, MANY = 9, 4096
# Runs of the original, and seconds behind which no line is begun.
TRIED, TINY_SECONDS = 14, 15.0
_FLOATS = re.compile(r"\b(?:float|double|half|__half|__nv_bfloat16)[234]?\b")


def counted(less: Work, more: Work, times: float) -> bool:
    """Tell whether a number so many times as large is more steps, and no more of anything.

    It is more launches, or nothing that is seen; what an original keeps of each step is little.

    >>> one, two, wide = (
    ...     Work(1.0, 0.0, 0, {"bytes": size, "launches": n})
    ...     for size, n in ((4000.0, 2.0), (4100.0, 34.0), (130000.0, 34.0))
    ... )
    >>> counted(one, two, 33), counted(one, wide, 33), counted(one, one, 33)
    (True, False, True)
    """
    if more.bytes >= (1 + (times - 1) / SHARE) * less.bytes:
        return False
    again = more.parts.get("launches", 0.0) >= 2 * less.parts.get("launches", 0.0)
    return again or more.bytes == less.bytes


def tiny(source: str, known: Mapping[Place, int], counts: Sequence[Place]) -> tuple[Changes, ...]:
    """Return the numbers that are tried, by the least of each; periods are no turns and stay there.

    Floats of which each is made of the last one are off by more the more steps there are, and who
    adds up otherwise may be, too: of these few steps alone.

    >>> one = Place(0, 0, 300, 300)
    >>> [number for ((_, number),) in tiny("int main() {}", {one: 1}, ())]
    [2, 3, 4, 5]
    """
    sizes = [one for one in known if one not in counts]
    floats = _FLOATS.search(source) is not None
    found = []
    for more, declared in (ALONE if len(sizes) == 1 else PAIRS) if sizes else ():
        most = MANY if declared and not floats else FEW
        by = dict(zip(sizes, more * len(sizes), strict=False))
        numbers = {
            one: max(end, min(most, one.value)) if one in counts else min(end + by[one], one.value)
            for one, end in known.items()
        }
        found.append(tuple(numbers.items()))
    return tuple(dict.fromkeys(found))


@dataclass(slots=True)
class Tiny(Smallest):
    """Asks small sizes of the largest run of each kind, all of them together."""

    def _tiny(self) -> None:
        """Compare with small sizes, where the original's text says what it takes."""
        until = time.monotonic() + TINY_SECONDS
        with self._more(len(PAIRS), TRIED):
            for run in dict.fromkeys(place.run for place in self.places):
                self._tiny_run(run, until)

    def _tiny_run(self, run: int, until: float) -> None:
        source, words = self.variants.source, self._words(run)
        known = ends(source, words, [place for place in self.places if place.run == run])
        turns = turning(source, words, known)
        if turns:
            counts = self._counts(known, turns)
            fixed = tuple((one, end) for one, end in known.items() if one not in turns)
            found = tiny(source, {one: known[one] for one in turns}, counts)
            self._each(run, [(*changes, *fixed) for changes in found], until)

    def _counts(self, known: Mapping[Place, int], turns: Sequence[Place]) -> list[Place]:
        """Return which numbers repeat the work: each at its least beside all at some more."""
        more = self._ran(in_turn(known, turns, None)) if len(turns) > 1 else None
        found = []
        for one in turns if more else ():
            line = self._line(in_turn(known, turns, one))
            seen = line and self._seen(line)
            times = max(known[one], min(OTHERS, one.value)) / known[one]
            if more and seen and counted(seen.work, more, times):
                found.append(one)
        return found
