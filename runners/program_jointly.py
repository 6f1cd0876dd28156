"""How far several sizes of a program's command line may be taken together.

A product of two of them may pass 2^32 where neither is large by itself: `i * steps` of a walker's
number. All sizes are tried as far together as the original goes in time and memory, as told from
all of them a few times as large; where that is not far enough for a product that would pass so many
bits, the two by themselves, all others as declared.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from runners import program_growth
from runners.program_arguments import TIMES, Arguments, Place
from runners.program_growth import Work
from runners.program_products import MOST, products

# How many times the largest declared numbers are tried, and what tells of that.
STEPS, NEAR = (TIMES, 12, 8, 6, 4), (4, 2)
# Seconds beyond the run's own and bytes that what tells of it may take, as told from each number by
# itself. A process takes as long for nothing as a busy host lets it.
LIKELY = 4.0, float(4 << 30)
WORDS = (2**32, 2**31)

Changes = tuple[tuple[Place, int], ...]


@dataclass(frozen=True, slots=True)
class Size:
    """A size by itself: its work at how many times, is it taken as a multiple alone, its end."""

    place: Place
    work: Work
    times: float
    multiple: bool = False
    end: int = MOST

    def number(self, times: int, *, near: bool) -> int:
        """Return so many times the largest declared number; no multiple, where it may be none."""
        return min(times * self.place.largest - (not near and not self.multiple), self.end)


@dataclass(frozen=True, slots=True)
class Near:
    """Sizes that are run together to learn how far they go, and how many times the declared.

    `beside` are the numbers of others, which are the same however far they go.
    """

    sizes: tuple[Size, ...]
    times: int
    beside: Changes = ()

    @property
    def grows(self) -> Changes:
        """Return the numbers that are larger."""
        return tuple((one.place, one.number(self.times, near=True)) for one in self.sizes)

    @property
    def changes(self) -> Changes:
        """Return the numbers to run."""
        return (*self.grows, *self.beside)

    @property
    def grown(self) -> float:
        """Return how many times the run's own numbers these are, all in all."""
        each = [number / max(place.value, 1) for place, number in self.grows]
        return max(math.prod(each) ** (1 / len(each)), 1.1)


@dataclass(frozen=True, slots=True)
class Plan:
    """The sizes of a run of an original, its text, the run's work, and what is changed beside."""

    source: str
    words: Arguments
    sizes: tuple[Size, ...]
    work: Work
    beside: Changes = ()

    def near(self, done: Mapping[int, int]) -> Iterator[Near]:
        """Yield what to run first: all sizes together, and then the two that pass a word.

        These not where it was passed by then, by the numbers of the words that were compared.
        """
        if len(self.sizes) > 1:
            yield from self._likely(self.sizes)
        if len(self.sizes) > 2:
            for bits, pair in self._pairs():
                if math.prod(done.get(one.place.word, 1) for one in pair) <= bits:
                    yield from self._likely(pair)
                break

    def far(self, near: Near, more: Work, bounds: tuple[float, float]) -> tuple[Changes, ...]:
        """Return what to compare, as far as it goes in seconds and bytes, the farthest first."""
        found: list[Changes] = []
        for step in STEPS:
            changes = tuple((one.place, one.number(step, near=False)) for one in near.sizes)
            far = max(near.grown * step / near.times, near.grown)
            seconds, size = program_growth.together(self._shorter, more, near.grown, far)
            within = seconds <= bounds[0] + self.work.seconds and size <= bounds[1]
            changes = (*changes, *near.beside)
            if within and self._defined(changes):
                found.append(changes)
        return tuple(found[:1] + found[-1:][: len(found) - 1])

    def _likely(self, sizes: Sequence[Size]) -> Iterator[Near]:
        """Yield how many times as large sizes are run first, if that is not too much."""
        for times in NEAR:
            chosen = Near(tuple(sizes), times, self.beside)
            each = [(one.work, one.times) for one in sizes]
            found = program_growth.likely(self.work, each, chosen.grown)
            within = found[0] <= LIKELY[0] + self.work.seconds and found[1] <= LIKELY[1]
            if within and self._defined(chosen.changes):
                yield chosen
                return

    @property
    def _shorter(self) -> Work:
        """Return the run's work where what is beside is not as often: in kernels as little."""
        each = [number / max(place.value, 1) for place, number in self.beside]
        return replace(self.work, kernel_us=self.work.kernel_us * math.prod(each))

    def _pairs(self) -> Iterator[tuple[int, tuple[Size, Size]]]:
        """Yield two sizes of which a product passes a word, where it does not as declared."""
        pairs = list(itertools.combinations(self.sizes, 2))
        pairs.sort(key=lambda pair: -pair[0].place.largest * pair[1].place.largest)
        for bits in WORDS:
            for one, other in pairs:
                far = [(each.place, each.number(TIMES, near=True)) for each in (one, other)]
                declared = one.place.largest * other.place.largest
                if declared <= bits < far[0][1] * far[1][1] and self._defined(far):
                    yield bits, (one, other)

    def _defined(self, changes: Sequence[tuple[Place, int]]) -> bool:
        """Tell whether the original's text says what it does with such numbers."""
        known = {at: int(word) for at, word in enumerate(self.words) if word.isdecimal()}
        known |= {one.place.word: one.place.value for one in self.sizes}
        numbers = known | {place.word: number for place, number in changes}
        return products(self.source, self.words).defined(numbers, known)
