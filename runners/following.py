"""Ranges of whole numbers that follow a size: labels below the number of classes, lengths of rows.

A range is declared in numbers and is the same at all sizes. Where labels are drawn below 64, since
there are 64 symbols, none of 4165 symbols has a larger label than 63, and what keeps a label in
eight bits is right. So where the end of a range is a declared size, it is one at other sizes, too:
such numbers are places, and a table is longer for them to be used.

A range that ends one before or behind a size is of lengths or counts, which rows may all be shorter
than: it follows a size that is less, and where that is more the declared end stays the promise that
it is. What a candidate does beyond is said (`runners.other_ranges`), and decides nothing.

That is a guess: a number may be a size by chance. None is needed where a range's end is declared as
an expression (`randint: [0, n]`). The original is asked first, and last of all it
is asked; what it does not define there is asked of nobody. Nothing here raises.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from runners import sizes
from runners.cuda_types import values
from runners.expressions import ExpressionError, count, names
from runners.families import FOLLOWING, captured_work, ranges
from runners.inputs import Arrays, interleave, stream
from runners.spec import Argument, Work

# The least size that is followed: below are flags, letters of DNA and the channels of a colour.
LEAST_SIZE = 8
# What is no place may be far below zero; minus one is no place at all.
LEAST_LOW = -1
# Ends of ranges that are those of a type: an array's own side may be as large by chance. So it may
# be where it is not passed.
OF_TYPES = frozenset({1 << 7, 1 << 8, 1 << 15, 1 << 16})
# How far the end of a range, behind its last number, may be from a size.
APART = (0, 1, -1)
# Cases with one size far beyond, elements there, and where all are larger together.
MOST_FAR, MOST_ELEMENTS, MOST_TOGETHER = 2, 1 << 20, 1 << 21
# Sizes that are larger together are so many times the least declared, and more than 8 bits hold;
# what belongs to them as often as this, the largest that fits.
TIMES, BEYOND_BYTES, TIMES_COMPANIONS = 4, 256 + 64, (16, 12, 8, 6, 4)
# Of so many elements one is the largest, half are in the upper quarter, and a third is anywhere.
OF, HIGH, MOST_LAST = 6, 4, 4096
# Numbers beyond this are drawn for no size.
WIDEST = 1 << 62
_WORD = re.compile(r"[^\W\d]\w*")

Case = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Followed:
    """An argument whose numbers end with a size, or `apart` from it; `last` is the declared end."""

    argument: Argument
    low: int
    last: int
    size: str
    apart: int

    @property
    def places(self) -> bool:
        """Tell whether its numbers are places, which are more where the size is larger."""
        return self.apart == 0

    def end_at(self, case: Case) -> int:
        """Return the number that a size sets at a case, as far as the type holds it."""
        holds = (int(np.iinfo(f.scalar.dtype).max) for f in self.argument.type.fields)
        try:
            found = count(self.size, case) + self.apart - 1
        except ExpressionError:
            found = self.last
        return max(self.low, min(found, *holds, WIDEST))

    def last_at(self, case: Case) -> int:
        """Return the last number of the range at a case: of lengths none beyond the declared."""
        end = self.end_at(case)
        return end if self.places else min(end, max(self.low, self.last))

    def grows(self, case: Case) -> bool:
        """Tell whether the size sets an end beyond the declared one at a case."""
        return self.end_at(case) > self.last


def followed(work: Work) -> tuple[Followed, ...]:
    """Return the ranges that follow a size; none of captured launches."""
    if captured_work(work):
        return ()
    said = [
        Followed(argument, low, last, argument.end, 0)
        for argument, low, last in ranges(work)
        if argument.end
    ]
    guessed = [
        Followed(argument, low, last, *found)
        for argument, low, last in ranges(work)
        if not argument.end
        if LEAST_LOW <= low <= last // 2 and (found := _size(work, argument, last + 1)) is not None
    ]
    return (*said, *guessed)


def _size(work: Work, argument: Argument, end: int) -> tuple[str, int] | None:
    """Return which size a range's end is, and how far it is from it; None for none.

    That of the largest declared case, or the least declared one where the range holds for all.
    Where several are as large, it is the least of them: other sizes tell them apart no better.
    """
    if end < LEAST_SIZE:
        return None
    top = max(work.cases, key=lambda case: sizes.elements(work, case.values)).values
    plain = sizes.changing(work)
    passed = set(_WORD.findall(" ".join(a.value or "" for a in work.arguments)))
    own = names(argument.shape or "1")
    # Links from element to element end with the number of these, which the original is told.
    linked = own & passed if end not in OF_TYPES else frozenset()
    shapes = [a.shape for a in work.arguments if a.type.pointer and a.shape and names(a.shape)]
    texts = [one for one in dict.fromkeys(shapes) if one not in plain and names(one) <= {*plain}]
    least = {name: min(case.values.get(name, 0.0) for case in work.cases) for name in plain}
    for known, sized, apart in (
        (top, plain, 0),
        (top, texts, 0),
        (top, plain, 1),
        (top, plain, -1),
        (least, plain, 0),
        (least, texts, 0),
    ):
        fit = [one for one in sized if _is(one, known, end - apart)]
        others = [one for one in fit if not names(one) & own]
        fit = others or [one for one in fit if names(one) & own <= linked]
        if fit:
            return (fit[0] if len(fit) == 1 else f"min({', '.join(fit)})"), apart
    return None


def _is(size: str, case: Case, number: int) -> bool:
    try:
        return count(size, case) == number
    except ExpressionError:
        return False


def cases(work: Work, *, full: bool) -> list[dict[str, float]]:
    """Return cases in which ranges that follow a size have numbers beyond the declared ones.

    For each of up to two sizes one in which it is far beyond; `full`: and one in which all of them
    are larger, and what else makes the same arrays larger: there are more than 256 letters only
    where there is room for them, and steps.
    """
    every = [one for one in followed(work) if one.places]
    found: list[dict[str, float]] = []
    known: set[str] = set()
    # Of wide ranges many bits are used as it is.
    for one in sorted(every, key=lambda one: one.last):
        if one.size in known or len(found) == MOST_FAR:
            continue
        known.add(one.size)
        best = _furthest(work, one)
        found += [best] if best is not None and best not in found else []
    if full:
        found += [case for case in _together(work, every) if case not in found]
    return found


def longer(work: Work) -> list[tuple[Followed, dict[str, float]]]:
    """Return the ranges of lengths with a case each in which there is room for longer ones."""
    every = [(one, _furthest(work, one)) for one in followed(work) if not one.places]
    return [(one, case) for one, case in every if case is not None]


def _furthest(work: Work, one: Followed) -> dict[str, float] | None:
    """Return the case with the largest end of a range; None where none is beyond the declared."""
    fit = [case for case in _far(work, one) if one.grows(case)]
    ends = ((one.end_at(case), sizes.elements(work, case)) for case in fit)
    return max(zip(ends, fit, strict=True), key=lambda pair: pair[0])[1] if fit else None


def _far(work: Work, one: Followed) -> Iterator[dict[str, float]]:
    """Yield cases in which a size is as long as sizes are tried, the others as declared or few."""
    sides = [name for name in sizes.changing(work) if name in names(one.size)]
    least = min(work.cases, key=lambda case: sizes.elements(work, case.values)).values
    for name in sides:
        value = int(sizes.largest(work, name))
        for length in {*map(int, sizes.far_beyond(value)), *sizes.capacities(value)}:
            for others in (dict(least), *sizes.few_others(work, name)):
                for longer in ((name,), sides):
                    case = {**others, **dict.fromkeys(longer, float(length))}
                    if 0 < sizes.elements(work, case) <= MOST_ELEMENTS:
                        yield case


def _together(work: Work, every: Sequence[Followed]) -> Iterator[dict[str, float]]:
    """Yield one case in which all sizes that are followed are larger; none where that is one."""
    least = min(work.cases, key=lambda case: sizes.elements(work, case.values)).values
    sides = [n for n in sizes.changing(work) if any(n in names(one.size) for one in every)]
    larger = {
        name: float(min(max(TIMES * least[name], BEYOND_BYTES), sizes.TIMES_LONGER * most))
        for name in sides
        if (most := sizes.largest(work, name)) > 0
    }
    companions, repeated = _beside(work, sides)
    if len(larger) + len(companions) < 2:
        return
    for few in (sizes.FEW, 2.0):
        others = {**least, **{name: min(least[name], few) for name in repeated}}
        for times in TIMES_COMPANIONS:
            case = {**others, **larger, **{name: times * least[name] for name in companions}}
            fits = 0 < sizes.elements(work, case) <= MOST_TOGETHER
            if fits and any(one.grows(case) for one in every):
                yield case
                return


def _beside(work: Work, sides: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return which sizes belong to arrays of some sizes, and which belong to all arrays there are.

    The latter are how many there are of everything, and each is worked on by itself.
    """
    shapes = [names(a.shape or "1") for a in work.arguments if a.type.pointer]
    other = [name for name in sizes.sizing(work) if name not in sides]
    other = [name for name in other if sizes.largest(work, name) > sizes.SMALL]
    repeated = [name for name in other if all(name in shape for shape in shapes)]
    beside = [name for name in other if any(name in one and one & {*sides} for one in shapes)]
    return [name for name in beside if name not in repeated], repeated


def applied(work: Work, arrays: Arrays, seed: int, case: Case) -> Arrays:
    """Return arrays whose whole numbers go as far as their size does at a case, many up there."""
    out = dict(arrays)
    for one in followed(work):
        kind, name = one.argument.type, one.argument.name
        rng = stream(seed, FOLLOWING, name)
        parts = []
        for field in kind.fields:
            before = values(arrays[name], kind, field)
            parts.append(_drawn(one.low, one.last_at(case), len(before), rng).astype(before.dtype))
        out[name] = interleave(parts, kind, len(arrays[name]) // kind.size)
    return out


def _drawn(low: int, last: int, length: int, rng: np.random.Generator) -> npt.NDArray[Any]:
    """Draw numbers of a range, the largest at least once."""
    kind = rng.permutation(length) % OF
    anywhere = rng.integers(low, last, length, endpoint=True)
    above = rng.integers(last - (last - low) // HIGH, last, length, endpoint=True)
    out = np.where(kind <= OF // 2, above, anywhere)
    out[np.flatnonzero(kind == 0)[:MOST_LAST]] = last
    return out
