"""Whole numbers on a program's command lines, and the lines with others in their place.

What a word means nobody says: a size, a mode, a seed. It is left alone where it names a file of the
project or the device to run on; what is said to be a seed is tried last.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

# Numbers that are tried, and how many times the largest declared one they get to be.
MOST_PLACES, TIMES = 4, 16
# What is less is as likely a mode, a device or a repeat as a size.
LEAST_SIZE = 4
# Up to here a number may be the logarithm of a size: one more tells.
MAY_BE_POWER = 64
# A share of what is declared, below which the largest prime is tried.
BELOW = 0.7
_WORD = re.compile(r"(-{0,2}[A-Za-z_][\w.-]*=|-[A-Za-z])?(0|[1-9][0-9]{0,17})", re.ASCII)
_OPTION = re.compile(r"--?[A-Za-z][\w-]*", re.ASCII)
_DEVICE = re.compile(
    r"(?:d|dev(?:ices?)?|gpus?|cuda)(?:[-_]?(?:id|index|no|num|number|ordinal))?", re.IGNORECASE
)
_SEED = re.compile(r"seed|rand|rng", re.IGNORECASE)
_INT, _LONG = 2**31 - 1, 2**63 - 1

Arguments = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Place:
    """A whole number on a declared line: which run, which word, and the `largest` of its kind.

    `before` is what stands in front of it in the same word.
    """

    run: int
    word: int
    value: int
    largest: int
    before: str = ""
    seed: bool = False

    @property
    def size(self) -> bool:
        """Tell whether it may be a size at all."""
        return not self.seed and self.largest >= LEAST_SIZE

    @property
    def power(self) -> bool:
        """Tell whether it may be the logarithm of a size, or what work grows steeply with."""
        return self.size and self.largest < MAY_BE_POWER

    def far(self, times: int) -> tuple[int, ...]:
        """Return numbers up to so many times the largest declared one: no multiple, a multiple."""
        return self._fit((times * self.largest - 1, times * self.largest))

    def larger(self) -> tuple[int, ...]:
        """Return two and a half times the largest declared number, and what stands in for it.

        >>> Place(0, 0, 64, 64).larger()
        (161, 128, 65)
        """
        top = self.largest
        return self._fit((5 * top // 2 | 1, 2 * top, top + 1))

    def more(self, by: int) -> int:
        """Return what is more than the largest declared number by so many."""
        return self.largest + by

    def below(self) -> int | None:
        """Return a prime that is less than what is declared; None where that is too small.

        >>> Place(0, 0, 1000, 1000).below()
        691
        """
        if self.value < LEAST_SIZE:
            return None
        return next((n for n in range(int(BELOW * self.value), 1, -1) if _prime(n)), None)

    def _fit(self, numbers: Iterable[int]) -> tuple[int, ...]:
        most = _INT if self.largest <= _INT else _LONG
        return tuple(dict.fromkeys(n for n in numbers if self.value != n and 0 <= n <= most))


@dataclass(frozen=True, slots=True)
class Line:
    """A command line that nobody declared: the run it is made from, and what changed where."""

    run: int
    arguments: Arguments
    changed: tuple[tuple[Place, int], ...]

    @property
    def times(self) -> float:
        """Return how many times the declared number the largest change is, one at least."""
        return max([1.0, *(number / max(place.value, 1) for place, number in self.changed)])


def places(runs: Sequence[Sequence[str]], root: Path) -> tuple[Place, ...]:
    """Return the numbers to try, in the order they are tried; a few of a program.

    Of runs that differ in numbers alone those of the largest. Larger numbers come first, being
    sizes more often, and seeds last; kinds of runs take turns.

    >>> [(one.run, one.value) for one in places([["100", "7"], ["20", "9"]], Path("nowhere"))]
    [(0, 100), (0, 7)]
    """
    found: list[list[Place]] = []
    for alike in kinds(runs, root):
        top = max(alike, key=lambda number: _weight(runs[number], root))
        mine = [place(runs, top, word, alike, root) for word in range(len(runs[top]))]
        each = [one for one in mine if one is not None]
        found.append(sorted(each, key=lambda one: (one.seed, -one.largest)))
    turns = [(rank, one) for each in found for rank, one in enumerate(each)]
    ordered = sorted(turns, key=lambda turn: (turn[1].seed, turn[0]))
    return tuple(one for _, one in ordered)[:MOST_PLACES]


def kinds(runs: Sequence[Sequence[str]], root: Path) -> tuple[tuple[int, ...], ...]:
    """Return which runs differ in numbers alone, kind by kind.

    >>> kinds([["100", "7"], ["--fast"], ["20", "9"]], Path("nowhere"))
    ((0, 2), (1,))
    """
    found: dict[Arguments, list[int]] = {}
    for number, run in enumerate(runs):
        found.setdefault(_skeleton(run, root), []).append(number)
    return tuple(tuple(alike) for alike in found.values())


def least(runs: Sequence[Sequence[str]], one: Place, root: Path) -> int:
    """Return the smallest number of a place, of all runs that differ in numbers alone.

    >>> one, _ = places([["100", "7"], ["20", "9"]], Path("nowhere"))
    >>> least([["100", "7"], ["20", "9"], ["3"]], one, Path("nowhere"))
    20
    """
    (alike,) = (alike for alike in kinds(runs, root) if one.run in alike)
    found = [value(runs[run], one.word, root) for run in alike]
    return min(number for number in found if number is not None)


def line(runs: Sequence[Sequence[str]], changes: Sequence[tuple[Place, int]]) -> Line | None:
    """Return a line with other numbers, which are of one run; None where it is declared."""
    run = changes[0][0].run
    words = list(runs[run])
    for one, number in changes:
        words[one.word] = f"{one.before}{number}"
    declared = any(list(known) == words for known in runs)
    return None if declared else Line(run, tuple(words), tuple(changes))


def place(
    runs: Sequence[Sequence[str]], run: int, word: int, alike: Sequence[int], root: Path
) -> Place | None:
    """Return the number that a word of a run is, among runs of its kind; None where it is none."""
    found = _number(runs[run], word, root)
    if found is None:
        return None
    before, number = found
    others = [_number(runs[other], word, root) for other in alike]
    largest = max(number, *(one[1] for one in others if one is not None))
    name = before or (runs[run][word - 1] if word else "")
    named = bool(before) or _OPTION.fullmatch(name) is not None
    return Place(run, word, number, largest, before, named and bool(_SEED.search(name)))


def value(words: Sequence[str], at: int, root: Path) -> int | None:
    """Return the number that a word is; None where it is none."""
    found = _number(words, at, root)
    return None if found is None else found[1]


def _number(words: Sequence[str], at: int, root: Path) -> tuple[str, int] | None:
    """Return a word's number and what stands before it; None where it is none, or names a thing."""
    match = _WORD.fullmatch(words[at])
    if match is None:
        return None
    before, digits = match[1] or "", match[2]
    option = before or (words[at - 1] if at and _OPTION.fullmatch(words[at - 1]) else "")
    if option and _DEVICE.fullmatch(option.strip("-=")):
        return None
    if any(os.path.lexists(root / name) for name in {words[at], digits}):
        return None
    return before, int(digits)


def _skeleton(words: Sequence[str], root: Path) -> Arguments:
    """Return a line without its numbers."""
    found = [_number(words, at, root) for at in range(len(words))]
    pairs = zip(words, found, strict=True)
    return tuple(word if one is None else f"{one[0]}\0" for word, one in pairs)


def _weight(words: Sequence[str], root: Path) -> float:
    found = [_number(words, at, root) for at in range(len(words))]
    return sum(math.log(max(one[1], 1)) for one in found if one is not None)


def _prime(number: int) -> bool:
    """Tell whether a number is prime, by the first witnesses of Miller and Rabin.

    They are enough below 3.3e24 (Sorenson and Webster, 2015).
    """
    small = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41)
    if number < 2 or any(number % p == 0 for p in small):
        return number in small
    odd, twos = number - 1, 0
    while odd % 2 == 0:
        odd, twos = odd // 2, twos + 1
    for base in small:
        x = pow(base, odd, number)
        if x in {1, number - 1}:
            continue
        for _ in range(twos - 1):
            x = x * x % number
            if x == number - 1:
                break
        else:
            return False
    return True
