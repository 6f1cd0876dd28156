"""Contents that are the declared ones but for a single element of a single array, or for one array.

What is kept for contents is found again by some part of them, or by a number that is made of them:
the first word of a nonce, a sum, a key without its lowest bit. Where contents differ in many places
at once, some of these are always in what is looked at. Here each element of a short array is
another one by itself, all else the same: in its lowest bit, in its highest, and by a lot. So is
each array, as a whole. And an array may be all zeros, as is what is kept before it was ever filled.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Any

import numpy as np
import numpy.typing as npt

from runners import captured, inputs
from runners.cuda_types import Field, Scalar, Storage, from_float, to_float, values
from runners.inputs import Arrays, interleave, rotatable, shuffled, stream
from runners.spec import Argument, Work

# So many such contents of a workload, each behind the declared ones; and arrays that are zero.
MOST, MOST_ZERO = 48, 6
# Arrays of so many numbers have each of them changed; longer ones the first, the middle, the last.
SHORT = 16
# What a number is changed by; two elements that change places; and all of an array, twice.
LOW, HIGH, OTHER, SWAP, NEW, ZERO = "low", "high", "other", "swap", "new", "zero"
# Whole numbers that nothing was said of are drawn from these.
UNSAID = (0, 100)
# Beyond nearly all that is drawn, and no number that only stress has.
FAR_OUT = 4.0
# Seeds of arrays that are new are so far from all others.
APART = 15_485_863
_WORD = "only"
_FAMILY = re.compile(rf"{_WORD} (\w+)\[(\d*)\] (\w+)")
Values = npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class Change:
    """Which array is another, at which of its numbers (one field behind the other), and how."""

    name: str
    at: int
    way: str

    @property
    def family(self) -> str:
        """Name the family of inputs that have this change alone.

        >>> Change("nonce", 1, LOW).family
        'only nonce[1] low'
        """
        return f"{_WORD} {self.name}[{'' if self.way in {NEW, ZERO} else self.at}] {self.way}"


def change(family: str) -> Change | None:
    """Return the change that a family has; None for any other family.

    >>> change("only nonce[1] low"), change("declared")
    (Change(name='nonce', at=1, way='low'), None)
    """
    found = _FAMILY.fullmatch(family)
    return Change(found[1], int(found[2] or 0), found[3]) if found else None


def changes(work: Work, case: Mapping[str, float]) -> list[Change]:
    """Return what to change, one at a time, by turns of all arrays that may have other contents.

    First each array as a whole; then the ways go round, so that each number is changed once before
    any is changed twice.
    """
    lines = [list(_of(a, a.elements(case))) for a in work.arguments if _usable(a)]
    turns = (one for turn in zip_longest(*lines) for one in turn if one is not None)
    return list(turns)[:MOST]


def zeroed(work: Work, case: Mapping[str, float]) -> list[Change]:
    """Return the arrays that may be all zeros as they are declared, one each, short ones first.

    Not what has an order or a source of its own, and nothing whose range has no zero, or no more.
    """
    fit = [a for a in work.arguments if _usable(a) and a.elements(case) > 0 and _holds_zero(a)]
    fit.sort(key=lambda argument: argument.elements(case))
    return [Change(argument.name, 0, ZERO) for argument in fit[:MOST_ZERO]]


def _holds_zero(argument: Argument) -> bool:
    if not rotatable(argument) or argument.init.partition(":")[0] == "permutation":
        return False
    whole = [one.scalar for one in argument.type.fields if _whole(argument, one.scalar)]
    spans = [_range(argument, scalar) for scalar in whole]
    return all(low <= 0 < high and high - low > 1 for low, high in spans)


def _usable(argument: Argument) -> bool:
    return argument.type.pointer and argument.role != "output" and argument.name.isidentifier()


def _of(argument: Argument, count: int) -> Iterator[Change]:
    """Yield the changes of one array; none of what has a meaning as it is."""
    word = argument.init.partition(":")[0]
    free, name = rotatable(argument) or shuffled(argument), argument.name
    if not count or not (free or word == "sorted"):
        return
    yield Change(name, 0, NEW)
    if not free:
        return
    if word == "permutation":
        places = range(count - 1) if count <= SHORT else (0, count // 2, count - 2)
        yield from (Change(name, at, SWAP) for at in dict.fromkeys(places))
        return
    listed = [(at, ways) for at, ways in _numbers(argument, count) if ways]
    most = max((len(ways) for _, ways in listed), default=0)
    for turn in range(most):
        for place, (at, ways) in enumerate(listed):
            if turn < len(ways):
                yield Change(name, at, ways[(turn + place) % len(ways)])
        if turn == 0 and count > 1:
            yield Change(name, 0, SWAP)


def _numbers(argument: Argument, count: int) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Yield which numbers of an array are changed, and how each can be."""
    fields = argument.type.fields
    short = count * sum(field.lanes for field in fields) <= SHORT
    begin = 0
    for field in fields:
        length = count * field.lanes
        few = (0, count // 2 * field.lanes + field.lanes // 2, length - 1)
        ways = _ways(argument, field.scalar)
        yield from ((begin + at, ways) for at in (range(length) if short else dict.fromkeys(few)))
        begin += length


def _ways(argument: Argument, scalar: Scalar) -> tuple[str, ...]:
    if argument.init.partition(":")[0] == captured.WORD:
        return (OTHER, HIGH, LOW) if scalar.kind == "f" else (OTHER,)
    if not _whole(argument, scalar):
        return (OTHER, HIGH, LOW)
    low, high = _range(argument, scalar)
    several = {0: (), 1: (), 2: (LOW,), 3: (LOW, HIGH), 4: (LOW, HIGH)}
    return several.get(max(0, high - low), (LOW, HIGH, OTHER))


def _whole(argument: Argument, scalar: Scalar) -> bool:
    return scalar.kind != "f" or argument.init.partition(":")[0] == "randint"


def _range(argument: Argument, scalar: Scalar) -> tuple[int, int]:
    """Return the range that whole numbers are drawn from, its end behind the last."""
    word, _, bounds = argument.init.partition(":")
    low, high = UNSAID
    if word == "randint":
        try:
            low, high = (int(part) for part in bounds.split(":"))
        except ValueError:  # who makes the inputs says what is wrong there
            return 0, 0
    if scalar.kind == "b":
        return max(low, 0), min(high, 2)
    if scalar.kind == "f":
        return low, high
    holds = np.iinfo(scalar.dtype)
    return max(low, int(holds.min)), min(high, int(holds.max) + 1)


def applied(
    one: Change, work: Work, arrays: Arrays, case: Mapping[str, float], seed: int
) -> Arrays:
    """Return arrays with one change; as they were where there is nothing else to be had."""
    argument = next(a for a in work.arguments if a.name == one.name)
    data = arrays[one.name]
    if one.way == ZERO:
        made = np.zeros_like(data)
    elif one.way == NEW:
        made = _new(argument, work, data, case, seed)
    elif one.way == SWAP:
        made = _swapped(data.reshape(-1, argument.type.size), one.at)
    else:
        made = _changed(argument, data, one)
    return {**arrays, one.name: made}


def _new(
    argument: Argument, work: Work, data: Storage, case: Mapping[str, float], seed: int
) -> Storage:
    """Draw an array once more; real values come in another order."""
    if shuffled(argument):
        rows = data.reshape(-1, argument.type.size)
        return np.asarray(stream(seed, _WORD, argument.name).permutation(rows)).reshape(-1)
    alone = replace(work, arguments=(argument,))
    return inputs.generate(alone, case, seed + APART)[argument.name]


def _swapped(rows: Storage, at: int) -> Storage:
    """Let an element and the first behind it that is another one change places."""
    others = np.flatnonzero((rows[at + 1 :] != rows[at]).any(axis=1))
    made = rows.copy()
    if len(others):
        there = at + 1 + int(others[0])
        made[[at, there]] = rows[[there, at]]
    return made.reshape(-1)


def _changed(argument: Argument, data: Storage, one: Change) -> Storage:
    kind = argument.type
    parts, at = [values(data, kind, field) for field in kind.fields], one.at
    for number, (field, part) in enumerate(zip(kind.fields, parts, strict=True)):
        if at < len(part):
            parts[number] = part.copy()
            parts[number][at] = _other(argument, field, part, at, one.way)
            break
        at -= len(part)
    return interleave(parts, kind, len(data) // kind.size)


def _other(argument: Argument, field: Field, part: Values, at: int, way: str) -> Any:
    """Return another number for the one at a place, within what such numbers may be."""
    scalar, word = field.scalar, argument.init.partition(":")[0]
    if word == captured.WORD and (scalar.kind != "f" or way == OTHER):
        others = part[part != part[at]]
        return others[len(others) // 2] if len(others) else part[at]
    if _whole(argument, scalar):
        span = _range(argument, scalar)
        if scalar.kind != "f":
            return _whole_number(int(part[at]), span, 8 * scalar.size, way)
        number = _whole_number(int(to_float(part[at : at + 1], scalar)[0]), span, 63, way)
        return from_float(np.array([number]), scalar)[0]
    below = word == "normal" or (word == captured.WORD and bool((to_float(part, scalar) < 0).any()))
    return _float(part[at : at + 1], scalar, way, below=below)


def _whole_number(before: int, span: tuple[int, int], bits: int, way: str) -> int:
    """Return a whole number with one bit turned, or about five eighths of its range further on.

    Where its lowest bit leaves the range it is one more or less; its highest is the highest that
    does not leave it.
    """
    low, high = span
    if not low <= before < high:
        return before
    if way == OTHER:
        return low + (before - low + max(1, (high - low) * 5 // 8)) % (high - low)
    order = range(bits - 1, -1, -1) if way == HIGH else (0,)
    for bit in order:
        turned = (before ^ (1 << bit)) & ((1 << bits) - 1)
        signed = turned - (1 << bits) if low < 0 and turned >> (bits - 1) else turned
        if low <= signed < high:
            return signed
    near = (before - 1, before + 1)
    return next((other for other in near if low <= other < high), before)


def _float(one: Values, scalar: Scalar, way: str, *, below: bool) -> Any:
    """Return a float with its last bit turned, its sign turned (or half of it), or far from it.

    Those that are nowhere below zero stay so, and what is drawn between zero and one stays there.
    """
    before = float(to_float(one, scalar)[0])
    if not np.isfinite(before) or (way == LOW and before == 0):  # no NaN and no denormals of these
        return one[0]
    if way == LOW:
        words = one.copy().view(f"u{scalar.size}")
        words ^= words.dtype.type(1)
        return words.view(one.dtype)[0]
    if way == HIGH:
        after = -before if below else before / 2
    elif below:
        after = -FAR_OUT if before >= 0 else FAR_OUT
    else:
        after = (before + 0.5) % 1.0
    return from_float(np.array([after]), scalar)[0]
