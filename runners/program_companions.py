"""Which numbers of a command line are changed beside a size: what sizes hang on, and repeats.

A road holds no more cars than it has cells, and a number of cells is no more work by itself. So a
number that is none may have to grow with a size, and what a count sums up may be as large as both
together. What only repeats the same work, steps of a simulation, may be as few as in any declared
run, so that what is large ends soon.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from runners import program_arguments, program_modes
from runners.program_arguments import TIMES, Arguments, Place
from runners.program_growth import Work
from runners.program_jointly import Changes, Size
from runners.program_products import MOST, products
from runners.program_variables import variables

# Every whole number up to here is a float.
LARGEST = 1 << 24
_SEED = re.compile(r"seed|rand|rng", re.IGNORECASE)


@dataclass(slots=True)
class Known:
    """What is known of a number: is it a size, and how much work it is at how many times.

    `steep` where one more of it multiplies the work; `multiple` where it is taken as a multiple
    alone, `tied` where the original took it larger with its companions alone; `repeats` where more
    of it is more of the same launches.
    """

    size: bool | None = None
    more: tuple[Work, float] | None = None
    steep: Work | None = None
    multiple: bool = False
    tied: bool = False
    repeats: bool = False


@dataclass(frozen=True, slots=True)
class Numbers:
    """The numbers of an original's declared runs, what is known of them, and its text."""

    source: str
    runs: Sequence[Arguments]
    root: Path
    known: Mapping[Place, Known]

    def end(self, place: Place) -> int | None:
        """Return what the original's text names as the last number there may be, if it is near."""
        words, most = self.runs[place.run], TIMES * place.largest
        return program_modes.end(self.source, words, place.word, place.largest, most)

    def sizes(self, run: int) -> list[Size]:
        """Return the sizes of a run that were taken so much larger that it tells of more."""
        return [
            Size(place, *known.more, known.multiple, self.end(place) or MOST)
            for place, known in self.known.items()
            if place.run == run and known.size and known.more and known.steep is None
            if known.more[1] > 1.5 * place.largest / max(place.value, 1)
        ]

    def companions(self, run: int) -> list[Size]:
        """Return the numbers of a run that the original takes larger, and that are no work.

        No seeds, by their names; no modes and no logarithms, by what they are declared as.
        """
        return [
            Size(place, *known.more, known.multiple, min(self.end(place) or MOST, LARGEST))
            for place, known in self.known.items()
            if place.run == run and known.size is False and known.more
            if place.size and not place.power and place.largest < LARGEST
            if not self._seed(place)
        ]

    def spared(self, run: int, besides: Place | None = None) -> Changes:
        """Return what only repeats the work of a run, as few as in any declared run."""
        mine = [one for one, known in self.known.items() if one.run == run and known.repeats]
        least = {one: program_arguments.least(self.runs, one, self.root) for one in mine}
        return tuple((one, n) for one, n in least.items() if one != besides and n != one.value)

    def defined(self, changes: Changes) -> bool:
        """Tell whether the original's text says what it does with such numbers of a run."""
        run = changes[0][0].run
        words = self.runs[run]
        known = {at: int(word) for at, word in enumerate(words) if word.isdecimal()}
        known |= {one.word: one.value for one in self.known if one.run == run}
        numbers = known | {place.word: number for place, number in changes}
        return products(self.source, tuple(words)).defined(numbers, known)

    def _seed(self, place: Place) -> bool:
        return any(map(_SEED.search, variables(self.source, self.runs[place.run], place.word)))


def beside(companions: Sequence[Size], times: int) -> Changes:
    """Return companions so many times as large."""
    return tuple((one.place, one.number(times, near=False)) for one in companions)
