"""Contents that were changed a little, again and again: what a search comes to that goes by steps.

A family of these says where it began, a recipe's number or -1 for contents as they were declared,
and then its changes, one behind the other: `guided 1048581 0:17:3.1:4:99`. Each has the number of
an array, a place there, and a number that all else is drawn from, so that the same family is the
same contents in any process: one element, or a run of them, a row or every so many, that become an
end of the range, another number, one more or less, by a bit or a power of two, what stands
elsewhere, or a line that rises. Numbers stay in their ranges, and what has an order is left alone.
A change may also make a part of an array one number: what is as near without it counts elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from runners import piles, recipes, sizes
from runners.cuda_types import from_float, to_float, values
from runners.families import GUIDED, ranges
from runners.inputs import FREE, Arrays, fitted, interleave, stream
from runners.spec import Argument, Work
from runners.whole_families import WIDEST
from runners.whole_numbers import row_lengths

# Where contents begin that are as they were declared.
DECLARED = -1
# How many more places one change is at, how often these are more than one element, and how many.
MORE_PLACES, SEVERAL, WIDTHS = (0, 0, 0, 0, 1, 3), 0.25, (2, 3, 4, 8, 16, 32)
# Numbers to draw from are below; those from here on say how many elements become one number, which
# is drawn anew: of others as many as before would be as near by chance.
ANEW = 1 << 24
# Of so few numbers every other change draws one of them: each is as likely to be the one.
FEW_NUMBERS = 64
_FAMILY = re.compile(rf"{GUIDED} (-?\d+) ((?:\d+:\d+:\d+(?:\.|$))*)")

Case = Mapping[str, float]
Values = npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class Change:
    """A change: the number of an array of `changed`, a place in it, and what else is drawn from.

    >>> Change(0, 17, 3).anew, Change(0, 17, ANEW + 40).anew
    (0, 40)
    """

    array: int
    place: int
    draw: int

    @property
    def anew(self) -> int:
        """How many elements from its place on become one number; none by any other change."""
        return max(0, self.draw - ANEW)


def named(base: int, changes: Sequence[Change]) -> str:
    """Return the family that begins with a recipe, or as declared, and has these changes.

    >>> named(7, [Change(0, 17, 3), Change(1, 4, 99)]), named(DECLARED, [])
    ('guided 7 0:17:3.1:4:99', 'guided -1 ')
    """
    return f"{GUIDED} {base} {'.'.join(f'{c.array}:{c.place}:{c.draw}' for c in changes)}"


def read(family: str) -> tuple[int, list[Change]] | None:
    """Return where a family begins, and its changes; None where it is none of these.

    >>> read("guided 7 0:17:3.1:4:99")
    (7, [Change(array=0, place=17, draw=3), Change(array=1, place=4, draw=99)])
    >>> read("guided -1 "), read("recipe 7"), read("guided 7 0:1:2+j"), read("guided 7 3")
    ((-1, []), None, None, None)
    """
    found = _FAMILY.fullmatch(family)
    if found is None:
        return None
    each = (one.split(":") for one in found[2].split(".") if one)
    return int(found[1]), [Change(*(int(part) for part in one)) for one in each]


def shown(family: str) -> str:
    """Return how a family is named to people: changes are many, and say nothing to them.

    >>> shown("guided 7 0:17:3.1:4:99"), shown("mixed")
    ('guided 7 (2 changes)', 'mixed')
    """
    found = read(family)
    return family if found is None else f"{GUIDED} {found[0]} ({len(found[1])} changes)"


def lengths(work: Work, case: Case) -> list[int]:
    """Return how many elements the arrays have that may be changed."""
    return [sizes.buffer(argument, case) for argument, _ in changed(work)]


def changed(work: Work) -> list[tuple[Argument, tuple[int, int] | None]]:
    """Return the arrays that are changed, whole numbers with their ranges: no keys, no orders."""
    bounds = {one.name: (low, high) for one, low, high in ranges(work)}
    found: list[tuple[Argument, tuple[int, int] | None]] = []
    for argument in work.arguments:
        if not argument.type.pointer or argument.role == "output":
            continue
        if argument.name in bounds:
            low, high = bounds[argument.name]
            if -WIDEST < low < high < WIDEST:
                found.append((argument, (low, high)))
        elif argument.init.partition(":")[0] in FREE:
            found.append((argument, None))
    return found


def row(work: Work, array: int, case: Case) -> int:
    """Return how many elements are from one row of an array to the next; one where it has none."""
    rows = row_lengths(changed(work)[array][0].shape or "1", case)
    return max(1, int(rows[0])) if rows else 1


def applied(family: str, work: Work, arrays: Arrays, seed: int, case: Case) -> Arrays:
    """Return contents with the changes of a family, one after the other."""
    base, changes = read(family) or (DECLARED, [])
    out = arrays
    if base != DECLARED:
        out = recipes.applied(f"{recipes.WORD} {base}", work, arrays, seed, case)
        # As those are that changes are made of where what was before is kept.
        out = fitted(work, out, case)
    for change in changes:
        out = further(work, out, seed, change, case)
    return out


def before(family: str) -> tuple[str, Change] | None:
    """Return the family that one change less has, and that change; None where there is none.

    >>> before("guided 7 0:17:3.1:4:99")
    ('guided 7 0:17:3', Change(array=1, place=4, draw=99))
    >>> before("guided 7 "), before("mixed")
    (None, None)
    """
    found = read(family)
    if found is None or not found[1]:
        return None
    return named(found[0], found[1][:-1]), found[1][-1]


def further(work: Work, arrays: Arrays, seed: int, change: Change, case: Case) -> Arrays:
    """Return contents with one change more."""
    those = changed(work)
    out = dict(arrays)
    if not those:
        return out
    if change.anew:
        return _anew(work, out, seed, change, case)
    rng = stream(seed, GUIDED, change.draw)
    more = MORE_PLACES[int(rng.integers(len(MORE_PLACES)))]
    turns = [(change.array % len(those), change.place)]
    turns += [(int(rng.integers(len(those))), int(rng.integers(1 << 40))) for _ in range(more)]
    parts: dict[str, list[Values]] = {}
    for number, place in turns:
        argument, ends = those[number]
        kind = argument.type
        if argument.name not in arrays:
            continue
        if argument.name not in parts:
            data = out[argument.name]
            parts[argument.name] = [values(data, kind, field).copy() for field in kind.fields]
        fields = parts[argument.name]
        which = int(rng.integers(len(fields)))
        field = kind.fields[which]
        if not len(fields[which]):
            continue
        rows = row_lengths(argument.shape or "1", case)
        row = int(rows[int(rng.integers(len(rows)))]) * field.lanes if rows else 0
        count = len(fields[which])
        at = (place * field.lanes + int(rng.integers(field.lanes))) % count
        where = _where(at, count, row, rng)
        if ends is None:
            wide = to_float(fields[which], field.scalar)
            _floats(wide, where, rng)
            fields[which] = from_float(wide, field.scalar)
        else:
            last = piles.last((argument, *ends), case)
            _whole(fields[which], where, (ends[0], last), rng)
    for argument, _ in those:
        if argument.name in parts:
            count = len(arrays[argument.name]) // argument.type.size
            out[argument.name] = interleave(parts[argument.name], argument.type, count)
    return out


def _anew(work: Work, arrays: Arrays, seed: int, change: Change, case: Case) -> Arrays:
    """Return contents of which so many elements of an array are one number, drawn anew."""
    those = changed(work)
    argument, ends = those[change.array % len(those)]
    if argument.name not in arrays:
        return arrays
    rng = stream(seed, GUIDED, change.place, change.draw)
    kind, data = argument.type, arrays[argument.name]
    parts = [values(data, kind, field).copy() for field in kind.fields]
    for at, field in enumerate(kind.fields):
        part = parts[at][change.place * field.lanes : (change.place + change.anew) * field.lanes]
        if ends is None:
            wide = to_float(parts[at], field.scalar)
            drawn = rng.random(1) if _shares(wide) else rng.standard_normal(1)
            part[:] = from_float(drawn, field.scalar)
        else:
            last = piles.last((argument, *ends), case)
            part[:] = rng.integers(ends[0], last, endpoint=True).astype(part.dtype)
    made = interleave(parts, kind, len(data) // kind.size)
    return {**arrays, argument.name: made}


def _where(at: int, count: int, row: int, rng: np.random.Generator) -> slice:
    """Return where a change is: an element, a run, a row from there on, or a column."""
    if rng.random() >= SEVERAL:
        return slice(at, at + 1)
    if 1 < row < count and rng.random() < SEVERAL:
        # A column, or all of a row behind the element.
        return slice(at % row, count, row) if rng.random() < 0.5 else slice(at, at - at % row + row)
    return slice(at, min(count, at + WIDTHS[int(rng.integers(len(WIDTHS)))]))


def _whole(data: Values, where: slice, ends: tuple[int, int], rng: np.random.Generator) -> None:
    """Change whole numbers of a range in their place."""
    low, high = ends
    count = len(data)
    old = data[where].astype(np.int64)
    many = len(old)
    bit = 1 << int(rng.integers(max(1, (high - low).bit_length())))
    way = 1 - 2 * int(rng.integers(2))
    near = int(data[(where.start + way) % count])
    other = int(rng.integers(count - many + 1))
    ways: list[Callable[[], Any]] = [
        lambda: rng.integers(low, high, many, endpoint=True),
        lambda: int(rng.integers(low, high, endpoint=True)),
        lambda: int(rng.choice((low, high, low + 1, high - 1, 0, 1))),
        lambda: old + way,
        lambda: old + way,
        lambda: old + way * bit,
        lambda: old ^ bit,
        lambda: data[other : other + many].astype(np.int64),
        lambda: near + int(rng.integers(-1, 2)),
        lambda: old[::-1],
        lambda: low + int(rng.integers(1, 17)),
        lambda: near + way * np.arange(1, many + 1),
    ]
    few = high - low < FEW_NUMBERS and rng.random() < 0.5
    made = ways[0 if few else int(rng.integers(len(ways)))]()
    data[where] = np.clip(made, low, high).astype(data.dtype)


def _floats(data: Values, where: slice, rng: np.random.Generator) -> None:
    """Change floats in their place; those between zero and one stay there if all of them are."""
    count = len(data)
    old = data[where].copy()
    many, way = len(old), 1.0 - 2.0 * float(rng.integers(2))
    other = int(rng.integers(count - many + 1))
    near = float(data[(where.start + int(way)) % count])
    power = 2.0 ** int(rng.integers(-24, 1))
    ways: list[Callable[[], Any]] = [
        lambda: rng.standard_normal(many),
        lambda: float(rng.choice((0.0, 1.0, -1.0, 0.5))),
        lambda: near,
        lambda: near * (1.0 + way * power),
        lambda: old * (1.0 + way * power),
        lambda: old * 2.0**way,
        lambda: -old,
        lambda: old + way * power,
        lambda: np.array(data[other : other + many]),
        lambda: old[::-1],
    ]
    made = np.asarray(ways[int(rng.integers(len(ways)))](), np.float64)
    most = np.nextafter(np.float32(1), np.float32(0))
    data[where] = np.clip(made, 0.0, most) if _shares(data) else made


def _shares(data: Values) -> bool:
    """Return whether all floats are between zero and one."""
    return bool((data >= 0).all() and (data < 1).all())
