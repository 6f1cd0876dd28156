"""The largest of each line, or the smallest, at places that are equally far from each other.

Threads share a line by turns: of 256 each looks at every 256th element, and who keeps the three
best of its own may miss one of the four best of all only where these are a thread's, which of
numbers that are drawn happens once in sixteen million lines. Who looks at every so manieth for a
sample knows the others by it, unless it is these that are unlike all others. Neighbours that are
alike, rows that rise, and turns of two (`families.ALTERNATING`) share what is large among threads
as evenly as chance does.

So each line keeps its numbers and changes their order: those at one place of every 256, 32, 128,
... are the largest that there are, or the smallest. And so that there are 32, 64, ... of them in a
line, or that many at an odd distance. Lines have these distances by turns; where there are few
lines, there are a few combinations. All arrays that are drawn have the same places.

Nothing is there that was not drawn, so that each original that is asked about declared contents
may be asked about these: in the largest declared case that is no large one, along rows and across
them, and where rows are as long as a candidate has to be right for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from runners import sizes
from runners.axes import axes, length, lengthening, lengths
from runners.cuda_types import to_float, values
from runners.families import AT_STRIDES, captured_work
from runners.inputs import Arrays, rotatable, stream
from runners.spec import Argument, Work

# Threads that share a line, the usual ones first, and looks that are a share of a line apart.
THREADS, LOOKS = (256, 32, 128, 1024, 64, 512), (32, 64, 128, 256, 512, 1024)
# Elements at such places at least, fewer are shared by chance; and how far looks are apart.
LEAST_THERE, LEAST_APART = 4, 4
# Where such places begin: at the first, in the middle of what is between two, and anywhere.
STARTS = 3
# Sizes that make lines long, combinations of a case, and elements of all of its buffers.
MOST_LONG, TURNS = 2, 3
MOST_ELEMENTS, MOST_LONG_ELEMENTS = 1 << 22, 1 << 20

Case = Mapping[str, float]
Values = npt.NDArray[Any]


class Way(NamedTuple):
    """Places of a line: so far apart, or so many that are a share of the line apart."""

    step: int
    many: int
    largest: bool

    def places(self, line: int, start: int) -> Values:
        """Return them, the first at a start."""
        if self.step:
            return np.arange(start, line, self.step)
        return np.arange(self.many) * line // self.many + start

    def apart(self, line: int) -> int:
        """Return how far apart neighbours are at least."""
        return self.step or line // self.many


def ways(line: int) -> list[Way]:
    """Return the ways of a line of so many elements, each for the largest and the smallest.

    >>> ways(100), [(way.step, way.many) for way in ways(300) if way.largest]
    ([], [(32, 0), (64, 0), (0, 32), (0, 64), (9, 0), (5, 0)])
    >>> [way.step or -way.many for way in ways(2000) if way.largest]
    [256, 32, 128, 64, -32, -64, -128, -256, 63, 31, 15, 7]
    """
    shares = [many for many in LOOKS if line // many >= LEAST_APART]
    odd = (line // many | 1 for many in shares)
    steps = dict.fromkeys((*THREADS, *odd))
    fit = [step for step in steps if step * LEAST_THERE <= line]
    known = [(step, 0) for step in fit if step in THREADS]
    known += [(0, many) for many in shares if line % many or line // many not in fit]
    known += [(step, 0) for step in fit if step not in THREADS]
    return [Way(*one, largest) for one in known for largest in (True, False)]


def asked(work: Work) -> Iterator[tuple[Case, str]]:
    """Yield cases and families: the largest declared one that is not large, and long lines.

    As long as the largest declared ones, and as a candidate has to be right for, the others few:
    what a shorter one took tells what the original will take.
    """
    arrays = [*_drawn(work)]
    if not arrays or captured_work(work):
        return
    declared = (dict(one.values) for one in work.cases)
    fit = [case for case in declared if sizes.elements(work, case) <= MOST_ELEMENTS]
    largest = max(fit, key=lambda case: sizes.elements(work, case), default=None)
    if largest is not None:
        yield from _turns(arrays, largest, 0, TURNS)
        yield from _turns(arrays, largest, 1, 1)
    for axis, name in lengthening(work, arrays, 1)[:MOST_LONG]:
        # Of the shorter one its first turn is enough.
        every = lengths(work, name, MOST_LONG_ELEMENTS)
        for many, case in zip((1, TURNS)[-len(every) :], every, strict=False):
            if case != largest:
                yield from _turns(arrays, case, axis, many)


def _turns(arrays: list[Argument], case: Case, axis: int, limit: int) -> Iterator[tuple[Case, str]]:
    """Yield what is asked along an axis: more than once where there are fewer lines than ways."""
    most = 0
    for argument in arrays:
        line = length(argument, case, axis)
        many = sizes.buffer(argument, case) // max(1, line)
        most = max(most, -(-len(ways(line)) // max(1, many)))
    yield from ((case, f"{AT_STRIDES} {axis} {turn}") for turn in range(min(most, limit)))


def _drawn(work: Work) -> Iterator[Argument]:
    """Yield arrays of plain numbers whose elements may be in any order."""
    for argument in work.arguments:
        if argument.type.pointer and argument.type.scalar is not None and rotatable(argument):
            yield argument


def applied(family: str, work: Work, arrays: Arrays, seed: int, case: Case) -> Arrays:
    """Return arrays whose lines along an axis have their largest at places of equal distances."""
    _, axis, turn = family.split(" ")
    out = dict(arrays)
    for argument in _drawn(work):
        every = axes(argument, case)
        if argument.name not in arrays or int(axis) >= len(every):
            continue
        line, apart = every[int(axis)]
        kind = argument.type
        data = values(arrays[argument.name], kind, kind.fields[0]).copy()
        if not ways(line) or len(data) % (line * apart):
            continue
        lines = np.moveaxis(data.reshape(-1, line, apart), 1, 2).reshape(-1, line)
        keys = (
            to_float(lines, kind.fields[0].scalar) if kind.fields[0].scalar.kind == "f" else lines
        )
        made = _moved(lines, keys, int(turn), seed)
        back = np.moveaxis(made.reshape(-1, apart, line), 1, 2)
        out[argument.name] = np.ascontiguousarray(back).view(np.uint8).reshape(-1)
    return out


def _moved(lines: Values, keys: Values, turn: int, seed: int) -> Values:
    """Return lines, some of them by a way each, and each with the numbers that it has."""
    many, line = lines.shape
    every, out = ways(line), lines.copy()
    few = min(many, STARTS * len(every))
    numbers = np.arange(few) + turn * few
    for number, way in enumerate(every):
        for again in range(STARTS):
            own = np.flatnonzero(numbers % (STARTS * len(every)) == again * len(every) + number)
            if len(own):
                rng = stream(seed, AT_STRIDES, number, again)
                start = (0, way.apart(line) // 2, int(rng.integers(way.apart(line))))[again]
                which = own * many // few
                there = np.zeros(line, np.bool_)
                there[way.places(line, start)] = True
                order = np.argsort(keys[which], axis=1, kind="stable")
                out[which] = _placed(lines[which], order, there, way, rng)
    return out


def _placed(
    lines: Values, order: Values, there: Values, way: Way, rng: np.random.Generator
) -> Values:
    count, out = int(np.count_nonzero(there)), np.empty_like(lines)
    ranks = order if way.largest else order[:, ::-1]
    others, those = np.split(ranks, [len(there) - count], axis=1)
    for part, where in ((those, there), (others, ~there)):
        shuffled = part[:, rng.permutation(part.shape[1])]
        out[:, where] = np.take_along_axis(lines, shuffled, axis=1)
    return out
