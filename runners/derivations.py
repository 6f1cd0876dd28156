"""Arrays that lead on from each other, one step a round: what follows from little, and slowly.

Rules "a and b give h", edges, transitions: drawn at random, they reach all that they ever reach
within a few rounds, and of a start that is drawn, too, half is there before. Who counts rounds out
in advance, sweeps in both directions so often, keeps sixteen of what waits, or ends where the sum
of what is new is zero, is right for all of that. Paths elsewhere have two ends an edge, wide ranges
and one order (`runners.edge_paths`), or lead from place to place (`runners.chains`).

So of two and more arrays that are declared alike, and only read, one leads on from what all others
hold: element by element they are (i, i, i + 1), the last of them ahead, and in every other turn the
first. Each row has another way of `WAYS`: the path in an order in which a sweep of either direction
finds one step, in any order, or in its own; one place that leads to many others at once, and these
on; and one link many times over, from the first place to the last and on from there. What is left
of a row repeats its last link. Other whole numbers with a range, as what there is at the start, are
their least, one more or two more in most rows, since that is where paths begin.

Rows should hold as many links as there are numbers in the range, as far as there are: it is asked
in the smallest declared case and, where rows are shorter than that twice, in one with longer rows.
Of an array without rows all is one, in a declared case that is as long as that or the longest, with
no more of it than is needed. Records of a few numbers are like as many arrays. Where there are few
rows, several turns are asked. Ranges are of eight numbers and more, and no wider than those of
indices. Which originals are asked is in `runners.unlikely`: where one link is there many times,
sums of floats are rounded as often.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from runners import piles, sizes
from runners.axes import length
from runners.cuda_types import values
from runners.edge_paths import MOST_LONG
from runners.expressions import names
from runners.families import DERIVATIONS
from runners.inputs import Arrays, interleave, stream
from runners.piles import Range
from runners.spec import Argument, Work
from runners.whole_families import MOST_INDEXED, alike
from runners.whole_numbers import factors

# Numbers of a range, and places of a row, at least; rows where these are longer than declared.
LEAST, MOST_ROWS, MOST_ELEMENTS = 8, 64, 1 << 20
# Numbers of a record at most where it is no type of its own, but a factor of a shape.
WIDEST_RECORD = 4
# How links follow: which, and in which order. Where there are few rows the first ones matter most.
PATH, MANY = "path", "many"
FANS = {"half": (1, 2), "wide": (2, 3), "widest": (7, 8)}
OWN, REVERSED, BOTH_ENDS, SHUFFLED = "own", "reversed", "both ends", "shuffled"
WAYS = (
    (PATH, REVERSED),
    (PATH, BOTH_ENDS),
    ("wide", OWN),
    (PATH, SHUFFLED),
    (MANY, OWN),
    ("half", SHUFFLED),
    ("widest", REVERSED),
    (PATH, OWN),
)
MOST_TURNS = 4
# What else there is in a row, above the least number of its range, or what is drawn.
DRAWN = -1
STARTS = (1, 0, 1, 2, 0, DRAWN)
# How often one link is there, two of `STARTS` each; after so many rows of a way all is as before.
TIMES, VARIANTS = (16, 32, 64, 128), 8

Case = Mapping[str, float]
Places = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Group:
    """Arrays that may lead on from each other; or one of records, of so many numbers each."""

    every: tuple[Argument, ...]
    low: int
    high: int
    lanes: int = 1
    # Numbers of a record that a shape has as its last factor: `m*3`.
    factor: int = 1

    @property
    def first(self) -> Argument:
        """Return the array whose shape is that of all of them."""
        return self.every[0]

    def rows(self, case: Case) -> tuple[int, int]:
        """Return how many rows there are, and how many records each has."""
        records = sizes.buffer(self.first, case) // self.factor
        row = length(self.first, case, int(self.factor > 1))
        return (records // row, row) if row else (0, 0)

    def lined(self, case: Case) -> bool:
        """Tell whether there is more than one row."""
        return self.rows(case)[0] > 1

    def last_at(self, case: Case) -> int:
        """Return the last number of the range in a case."""
        return piles.last((self.first, self.low, self.high), case)


def groups(work: Work) -> list[Group]:
    """Return arrays that are declared alike and only read, several of a kind, or of records."""
    together: dict[tuple[str, ...], list[Range]] = {}
    every: list[Group] = []
    for argument, low, high in piles.read(work):
        only, shape = argument.type.scalar, "".join((argument.shape or "").split())
        if only is None or not names(shape or "1") or not LEAST <= high - low + 1 <= MOST_INDEXED:
            continue
        lanes, last = argument.type.fields[0].lanes, factors(shape)[-1]
        factor = int(last) if last.isdecimal() and 1 < int(last) <= WIDEST_RECORD else 1
        if lanes * factor > 1:
            every.append(Group((argument,), low, high, lanes, factor))
        else:
            key = (only.name, shape, argument.init, argument.end)
            together.setdefault(key, []).append((argument, low, high))
    for those in together.values():
        if len(those) > 1:
            _, low, high = those[0]
            every.append(Group(tuple(argument for argument, _, _ in those), low, high))
    return every


def asked(work: Work) -> Iterator[tuple[Case, str]]:
    """Yield the cases and the families that are asked where arrays may lead on from each other."""
    every = groups(work)
    for case in _cases(work, every) if every else ():
        rows = max(one.rows(case)[0] for one in every)
        for turn in range(2 * min(MOST_TURNS, -(-len(WAYS) // max(1, rows)))):
            yield case, f"{DERIVATIONS} {turn}"


def _cases(work: Work, every: list[Group]) -> Iterator[Case]:
    """Yield the smallest declared case with rows, and one in which all numbers have room twice."""
    longest = max((case.values for case in work.cases), key=work.elements)
    lined = [one for one in every if one.lined(longest)]
    flat = {name for one in every if one not in lined for name in names(one.first.shape or "1")}
    most = float(2 * MOST_LONG + 1)

    def room(case: Case) -> int:
        return max(one.rows(case)[1] for one in every)

    declared = [
        {name: min(value, most) if name in flat else value for name, value in case.values.items()}
        for case in sorted(work.cases, key=lambda case: work.elements(case.values))
    ]
    light = [case for case in declared if 0 < sizes.elements(work, case) <= MOST_ELEMENTS]
    fit = [case for case in light if room(case) >= LEAST]
    enough = LEAST if lined else min([MOST_LONG, *(one.high - one.low for one in every)])
    # The first, and so the smallest, of those with the longest rows up to what is enough.
    first = sorted(fit, key=lambda case: -min(room(case), enough))[:1]
    yield from first
    wanted = 2 * min(MOST_LONG, max((one.high - one.low + 1 for one in lined), default=0)) + 1
    known = max(map(room, first), default=LEAST - 1)
    if not lined or known >= wanted:
        return
    base = declared[0]
    few = {name: min(value, float(MOST_ROWS)) for name, value in base.items()}
    for name in sizes.sizing(work):
        long = min(sizes.TIMES_LONGER * sizes.largest(work, name), float(wanted))
        for case in ({**few, name: long}, {**base, name: long}):
            if room(case) > known and 0 < sizes.elements(work, case) <= MOST_ELEMENTS:
                yield case
                return


def applied(family: str, work: Work, arrays: Arrays, seed: int, case: Case) -> Arrays:
    """Return arrays that lead on from each other, and all others at the low ends of their ranges.

    The number behind a family's name says whose row is the first one's, and who leads.
    """
    turn = int(family.split()[1])
    out, led, rows = dict(arrays), set[str](), 0
    for one in groups(work):
        many, row = one.rows(case)
        if row < LEAST or one.last_at(case) <= one.low:
            continue
        rows = max(rows, many)
        begin, to = (part.reshape(-1) for part in _rows(one, many, row, turn, seed, case))
        width = one.lanes * one.factor
        ahead = 0 if turn % 2 else max(width, len(one.every)) - 1
        for at, argument in enumerate(one.every):
            numbers = [to if place == ahead else begin for place in range(at, at + width)]
            made = np.stack(numbers, axis=1).reshape(-1)
            known = np.ones(len(made), bool)
            out[argument.name] = _written(arrays, (argument, one.low, one.high), made, known)
            led.add(argument.name)
    others = [one for one in piles.read(work) if one[0].name not in led and one[2] > one[1]]
    for number, other in enumerate(others if rows else ()):
        argument, low, high = other
        count = len(arrays[argument.name]) // argument.type.size
        line = np.arange(count, dtype=np.int64) * rows // max(1, count)
        which = (line // len(WAYS) * (number + 1) + turn % 2) % len(STARTS)
        start = np.asarray(STARTS)[which].repeat(argument.type.fields[0].lanes)
        made = np.minimum(low + start, high)
        out[argument.name] = _written(arrays, other, made, start != DRAWN)
    return out


def _rows(
    one: Group, many: int, row: int, turn: int, seed: int, case: Case
) -> tuple[Places, Places]:
    """Return where links begin, and where they lead to, for each record of each row."""
    most = min(one.last_at(case) - one.low, row, MOST_LONG)
    rng = stream(seed, DERIVATIONS, one.first.shape or "", one.first.init)
    number = np.arange(many) + turn // 2
    way, variant = number % len(WAYS), number // len(WAYS) % VARIANTS
    made = np.zeros((2, len(WAYS), VARIANTS, row), np.int64)
    for at, (kind, order) in enumerate(WAYS):
        for other in range(VARIANTS if many > len(WAYS) else 1):
            both = _links(kind, most, row, TIMES[other // 2 % len(TIMES)])
            end = np.repeat(both[:, -1:], row - both.shape[1], axis=1)
            both = both[:, _order(order, both.shape[1], rng)]
            made[:, at, other] = one.low + np.concatenate([both, end], axis=1)
    begin, to = made[:, way, variant]
    return begin, to


def _links(kind: str, most: int, row: int, times: int) -> Places:
    """Return where links begin and lead to: no more than a row has places, numbers up to `most`.

    >>> _links("path", 4, 9, 1).tolist()
    [[0, 1, 2, 3], [1, 2, 3, 4]]
    >>> _links("half", 4, 9, 1).tolist()
    [[0, 0, 1, 2], [1, 2, 3, 4]]
    >>> _links("many", 4, 9, 3).tolist()
    [[0, 0, 0, 4, 1, 2], [4, 4, 4, 1, 2, 3]]
    """
    path = np.arange(most + 1, dtype=np.int64)
    if kind in FANS:
        part, of = FANS[kind]
        first = max(1, most * part // of)
        begin = np.concatenate([np.zeros(first, np.int64), path[1 : most - first + 1]])
        return np.stack([begin, path[1:]])
    if kind == MANY:
        path = np.concatenate([path[:1], path[-1:], path[1:-1]])
        first = min(times, max(1, row // 2))
        both = np.stack([path[:-1], path[1:]])
        return np.concatenate([np.repeat(both[:, :1], first, axis=1), both[:, 1:]], axis=1)[:, :row]
    return np.stack([path[:-1], path[1:]])


def _order(order: str, count: int, rng: np.random.Generator) -> Places:
    """Return which link is at which place.

    >>> _order("both ends", 5, np.random.default_rng(1)).tolist()
    [1, 3, 4, 2, 0]
    """
    own = np.arange(count, dtype=np.int64)
    if order == BOTH_ENDS:
        return np.concatenate([own[1::2], own[::2][::-1]])
    if order == SHUFFLED:
        return rng.permutation(own)
    return own[::-1] if order == REVERSED else own


def _written(
    arrays: Arrays, one: Range, numbers: Places, there: npt.NDArray[np.bool_]
) -> npt.NDArray[np.uint8]:
    """Return an array of these numbers where they are; of what may be indices the first ones."""
    argument, low, high = one
    parts: list[npt.NDArray[Any]] = []
    for field in argument.type.fields:
        data = values(arrays[argument.name], argument.type, field).copy()
        most = min(len(numbers), alike(field, low, high, len(data)))
        kept = data[:most]
        data[:most] = np.where(there[:most], numbers[:most].astype(data.dtype), kept)
        parts.append(data)
    return interleave(parts, argument.type, len(arrays[argument.name]) // argument.type.size)
