"""Contents that nobody thought of: each array by a recipe that chance puts together.

Every other family was made for a fault that somebody has seen. Here a number decides what values an
array has (few or many, beside an end of their range, of one sign, of one size or of all, such as
cancel) and where they are (in runs, in turns, by rows or columns, nearly all alike, rising), for
each array by itself or for all of them in the same places. What nobody has listed is met so now and
then: rows that are negative throughout, keys that are all alike beside values at their ends, one
element that is larger by one than all others.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from runners import (
    captured,
    come_again,
    crossed,
    each_once,
    equal_sums,
    kindred,
    lone_powers,
    near_ends,
    nearly_alike,
    nearly_one,
    one_apart,
    quarters,
    related,
    residues,
    scaled_numbers,
    seams,
    two_numbers,
    whole_numbers,
    wrapped_pairs,
)
from runners.cuda_types import Field, Scalar, from_float, to_float, values
from runners.families import AT_STRIDES, GUIDED, SWINGS, ranges
from runners.inputs import FREE, Arrays, interleave, stream
from runners.spec import MOVED, Argument, Work

# Recipes of a confirmation; elements of the cases they are asked in, of every other one fewer, and
# of one in so many more: what is carried along millions of elements is small along thousands.
COUNT, MOST_ELEMENTS, FEW_ELEMENTS = 96, 1 << 16, 1 << 12
MANY_ELEMENTS, ONE_OF = 1 << 23, 16
WORD = "recipe"
# From here on they are those of many small runs (`runners.fuzzing`), and arrays akin in most; and
# from there on each array has a family of its own (`runners.crossed`).
FUZZED, PLAIN_OF, ALONE_OF, CROSSED = 1 << 20, 4, 8, 1 << 21
# And from there on it is nearly all one number (`runners.nearly_one`).
NEARLY_ONE = 1 << 22
# From there on all of it (`nearly_one.at_ends`).
AT_ENDS = 3 << 21
# From there on it has two numbers and little else (`runners.two_numbers`).
TWO_NUMBERS = AT_ENDS + 8
# And from there on whole numbers are parts of a circle (`runners.quarters`).
QUARTERS = 1 << 23
# And from there on each element is a power of two in one array alone (`runners.lone_powers`).
LONE_POWERS = 1 << 24
# And from there on most of each array is near an end of its range (`runners.near_ends`).
NEAR_ENDS = 1 << 25
# And from there on neighbours are pairs with one word, which runs over (`runners.wrapped_pairs`).
WRAPPED = 1 << 26
# And from there on rows have each number of a range once (`runners.each_once`).
EACH_ONCE = 1 << 27
# And from there on one of three arrays is what two others come to (`runners.related`).
RELATED = 1 << 28
# And from there on rows are the same but for a place each (`runners.one_apart`).
ONE_APART = 1 << 29
# And from there on stretches end where words and tiles do (`runners.seams`).
SEAMS = 1 << 30
# And from there on rows come again (`runners.come_again`).
COME_AGAIN = 1 << 31
# And from there on two arrays are nearly the same (`runners.nearly_alike`).
NEARLY_ALIKE = 1 << 32
# And from there on all numbers are next to multiples of the text's (`runners.residues`).
RESIDUES = 1 << 33
# And from there on different numbers have equal sums (`runners.equal_sums`).
EQUAL_SUMS = 1 << 34
_FAMILY = re.compile(rf"{WORD} (\d+)")
# How often arrays have what they have in the same places as others, or the same values.
TOGETHER, BY_ITSELF = 0.4, 0.25
# Sizes of floats, as powers of ten. Smaller or larger ones than that are a limit, and said
# (docs/decisions/0008-limits.md); so far apart are those that cancel, of what a type tells apart.
POWERS, POWERS_HALF = (-6.0, 6.0), (-2.0, 2.0)
APART = {"half": 2.0, "bfloat16": 1.5, "float": 5.0, "double": 13.0}
# By which powers of two parts of one differ that are nearly alike, and by how much crumbs are less.
LITTLE, CRUMB = (15.0, 23.0), 4096
# What an array that nobody said more of may hold below zero, how often.
BELOW_ZERO = 0.35
# Numbers beyond these are left to `runners.brinks`.
WIDEST = 1 << 61
# One palette of so many is of small numbers times a large factor.
SCALED_OF = 16
# What places times steps within are numbers of 64 bits.
NARROW = 1 << 31
# Lengths of runs, and of turns.
RUNS, TURNS = (2, 3, 7, 32, 33, 64, 100, 256, 500, 1000), (2, 3, 4, 8, 16, 32, 64, 128, 256, 512)
Values = npt.NDArray[Any]
Places = npt.NDArray[np.int64]
Made = Callable[[Work, Arrays, int, int, Mapping[str, float]], Arrays]


def number(family: str) -> int | None:
    """Return the number of a recipe; None for any other family.

    >>> number("recipe 12"), number("recipe 12+j"), number("mixed")
    (12, None, None)
    """
    found = _FAMILY.fullmatch(family)
    return int(found[1]) if found else None


def kind(family: str) -> str:
    """Return what families are counted by, where one of each kind is enough: recipes are one.

    So are swings, along whatever axis, what is at strides, and what a search came to.

    >>> kind("recipe 12"), kind("swings 1 0"), kind("mixed")
    ('recipe', 'swings', 'mixed')
    """
    first = family.partition(" ")[0]
    of_one_kind = first in {SWINGS, AT_STRIDES, GUIDED} or number(family) is not None
    return first if of_one_kind else family


def asked(
    work: Work, seed: int, cases: Sequence[Mapping[str, float]]
) -> Iterator[tuple[Mapping[str, float], str]]:
    """Yield cases and recipes, each case one of those that are asked anyway; no case, no recipe."""
    if not usable(work):
        return
    plain = {tuple(sorted(case.items())): case for case in cases if MOVED not in case}
    light = [case for case in plain.values() if 0 < work.elements(case) <= MOST_ELEMENTS]
    few = [case for case in light if work.elements(case) <= FEW_ELEMENTS] or light
    heavy = [case.values for case in work.cases if MOVED not in case.values]
    heavy = [case for case in heavy if MOST_ELEMENTS < work.elements(case) <= MANY_ELEMENTS]
    rng = stream(seed, WORD)
    for turn in range(COUNT if light else 0):
        those = light if turn % 2 else few
        if heavy and turn % ONE_OF == ONE_OF - 1:
            those = heavy
        yield those[int(rng.integers(len(those)))], f"{WORD} {turn}"


def usable(work: Work) -> bool:
    """Tell whether a recipe changes any array."""
    return any(_usable(argument) for argument in work.arguments)


def _usable(argument: Argument) -> bool:
    word = argument.init.partition(":")[0]
    known = word in {*FREE, "randint", "sorted", "permutation"}
    return argument.type.pointer and argument.role != "output" and known


def applied(
    family: str, work: Work, arrays: Arrays, seed: int, case: Mapping[str, float]
) -> Arrays:
    """Return arrays of a recipe; those whose values carry a meaning stay as they are."""
    turn = number(family) or 0
    if turn < FUZZED:
        return _by_recipe(turn, work, arrays, seed, case)
    for first, made in _KINDS:
        if turn >= first:
            return made(work, arrays, seed, turn, case)
    out = arrays if turn % PLAIN_OF == 0 else _by_recipe(turn, work, arrays, seed, case)
    return out if turn % ALONE_OF == ALONE_OF - 1 else kindred.applied(work, out, seed, turn, case)


def _at_ends(
    work: Work, arrays: Arrays, _seed: int, turn: int, case: Mapping[str, float]
) -> Arrays:
    return nearly_one.at_ends(work, arrays, turn - AT_ENDS, case)


def _of_two(work: Work, arrays: Arrays, _seed: int, turn: int, case: Mapping[str, float]) -> Arrays:
    return two_numbers.applied(work, arrays, turn - TWO_NUMBERS, case)


# What the recipes from a number on are made by, the last ones first.
_KINDS: tuple[tuple[int, Made], ...] = (
    (EQUAL_SUMS, equal_sums.applied),
    (RESIDUES, residues.applied),
    (NEARLY_ALIKE, nearly_alike.applied),
    (COME_AGAIN, come_again.applied),
    (SEAMS, seams.applied),
    (ONE_APART, one_apart.applied),
    (RELATED, related.applied),
    (EACH_ONCE, each_once.applied),
    (WRAPPED, wrapped_pairs.applied),
    (NEAR_ENDS, near_ends.applied),
    (LONE_POWERS, lone_powers.applied),
    (QUARTERS, quarters.applied),
    (TWO_NUMBERS, _of_two),
    (AT_ENDS, _at_ends),
    (NEARLY_ONE, nearly_one.applied),
    (CROSSED, crossed.applied),
)


def _by_recipe(
    turn: int, work: Work, arrays: Arrays, seed: int, case: Mapping[str, float]
) -> Arrays:
    out = dict(arrays)
    bounds = {argument.name: (low, high) for argument, low, high in ranges(work)}
    common = stream(seed, WORD, turn)
    places, palette = int(common.integers(1 << 32)), int(common.integers(1 << 32))
    for argument in work.arguments:
        if argument.name not in arrays or not _usable(argument):
            continue
        own = stream(seed, WORD, turn, argument.name)
        if common.random() < BY_ITSELF:
            continue  # as it was declared, beside others
        where = places if common.random() < TOGETHER else int(own.integers(1 << 32))
        what = palette if common.random() < TOGETHER else int(own.integers(1 << 32))
        lengths = whole_numbers.row_lengths(argument.shape or "1", case)
        parts = []
        for field in argument.type.fields:
            data = values(arrays[argument.name], argument.type, field)
            rows = [length * field.lanes for length in lengths]
            made = _field(argument, field, data, bounds.get(argument.name), rows, (where, what))
            parts.append(made)
        count = len(arrays[argument.name]) // argument.type.size
        out[argument.name] = interleave(parts, argument.type, count)
    return out


def _field(
    argument: Argument,
    field: Field,
    data: Values,
    bounds: tuple[int, int] | None,
    rows: Sequence[int],
    seeds: tuple[int, int],
) -> Values:
    word, scalar = argument.init.partition(":")[0], field.scalar
    rngs = np.random.default_rng(seeds[0]), np.random.default_rng(seeds[1])
    if not len(data) or word == captured.WORD:
        return data
    if word == "permutation":
        return _order(data, rngs[0])
    if scalar.kind == "f" and word != "randint":
        wide = _floats(to_float(data, scalar), scalar, rows, rngs, shares=word == "uniform")
        return from_float(np.sort(wide) if word == "sorted" else wide, scalar)
    if bounds is None or scalar.kind == "f":
        wide = to_float(data, scalar) if scalar.kind == "f" else data
        low, high = int(wide.min()), int(wide.max())
    else:
        low, high = bounds
    if low > WIDEST or high < -WIDEST:
        return data
    if seeds[1] % SCALED_OF:
        found = _whole(len(data), low, high, rows, rngs)
    else:
        few = scaled_numbers.few(max(low, -WIDEST), min(high, WIDEST), rngs[1])
        found = few[_places(len(data), len(few), rows, rngs[0])]
    if word == "sorted":
        found = np.sort(found)
    return from_float(found, scalar) if scalar.kind == "f" else found.astype(data.dtype)


def _order(data: Values, rng: np.random.Generator) -> Values:
    """Return a permutation that is none by chance: in order, the other way round, or moved on."""
    ways: list[Callable[[], Values]] = [
        lambda: np.sort(data),
        lambda: np.flip(np.sort(data)),
        lambda: np.roll(np.sort(data), int(rng.integers(len(data)))),
        lambda: np.roll(data, 1),
    ]
    return np.asarray(ways[int(rng.integers(len(ways)))]())


def _places(count: int, kinds: int, rows: Sequence[int], rng: np.random.Generator) -> Places:
    """Return which of some kinds each element is; the first kind is that of most, where one is."""
    at = np.arange(count)
    row = int(rows[int(rng.integers(len(rows)))]) if rows else max(1, count)
    seldom = np.zeros(count, np.int64)
    some = rng.integers(0, count, int(rng.choice([1, 1, 2, 3, max(1, count // 100)])))
    seldom[some] = rng.integers(1, max(2, kinds), len(some)) % kinds
    lengths = rng.choice(RUNS, count // min(RUNS) + 1)
    lengths = lengths[: int(np.searchsorted(np.cumsum(lengths), count)) + 1]  # as many as there are
    once = int(rng.choice(RUNS))
    ways: list[Callable[[], Any]] = [
        lambda: rng.integers(0, kinds, count),
        lambda: seldom,
        lambda: seldom,
        lambda: np.repeat(rng.integers(0, kinds, len(lengths)), lengths)[:count],
        lambda: at // once % kinds,
        lambda: at % int(rng.choice(TURNS)) % kinds,
        lambda: (at >= int(rng.integers(count + 1))).astype(np.int64) % kinds,
        lambda: (at % row >= int(rng.integers(row + 1))).astype(np.int64) % kinds,
        lambda: at // row % kinds,
        lambda: rng.integers(0, kinds, count // row + 1)[at // row],
        lambda: at % row % kinds,
        lambda: at * kinds // count,
    ]
    found: Places = np.asarray(ways[int(rng.integers(len(ways)))](), np.int64)
    return found


def _whole(
    count: int,
    low: int,
    high: int,
    rows: Sequence[int],
    rngs: tuple[np.random.Generator, np.random.Generator],
) -> Places:
    """Return whole numbers of a range, its last number among it."""
    where, what = rngs
    low, high = max(low, -WIDEST), min(high, WIDEST)
    if what.random() < BY_ITSELF:
        return _line(count, low, high, rows, what)
    near = int(what.integers(low, high, endpoint=True))
    few = [
        [low],
        [high],
        [high, low],
        [low, high],
        [high - 1, high, high - 2],
        [low + 1, low, low + 2],
        [near],
        [near, near + 1, near - 1],
        [near, *(near + way for way in nearly_one.alike_below(low, high, what))],
        [near, low, high],
        [0, 1, -1],
        [0, high],
        [1 << int(what.integers(max(1, high.bit_length()))), 0, high],
        what.integers(low, high, 5, endpoint=True).tolist(),
        what.integers(low, high, 64, endpoint=True).tolist(),
        [],
    ][int(what.integers(16))]
    if not few:
        # Close by each other, each as often: what makes triplets, runs and pairs.
        wide = int(what.integers(4, 13))
        return np.clip(near + where.integers(0, wide, count), low, high)
    palette = np.asarray([min(high, max(low, int(one))) for one in few], np.int64)
    return palette[_places(count, len(palette), rows, where)]


def _line(count: int, low: int, high: int, rows: Sequence[int], rng: np.random.Generator) -> Places:
    """Return whole numbers that go up or down by steps, in each row or in all, from any on."""
    span = high - low + 1
    # Round by nearly a half at a time, either way, it goes as far as differences of two can.
    half = max(1, (span - 1) // 2)
    step = [1, 1, 1, 2, 3, 16, half, span - half, max(1, span // 3)][int(rng.integers(9))]
    shift = int(rng.integers(-2, 3)) if span < count else int(rng.integers(span))
    row = int(rows[0]) if rows and rng.random() < TOGETHER else count
    most = max(1, min(row, count, MOST_ELEMENTS if span > NARROW else count))
    if span > NARROW:
        line = np.asarray([(n + shift) * step % span for n in range(most)], np.int64)
    else:
        line = (np.arange(most) + shift) * step % span
    line = line[np.arange(count) % most] if most < count else line
    line = low + line if rng.random() < TOGETHER + BY_ITSELF else high - line
    # By one number for each row, what is added to the row's own leads to one place (`meeting`).
    return line[np.arange(count) // rows[0]] if rows and rng.random() < BY_ITSELF else line


def _floats(
    data: Values,
    scalar: Scalar,
    rows: Sequence[int],
    rngs: tuple[np.random.Generator, np.random.Generator],
    *,
    shares: bool,
) -> Values:
    """Return floats; `shares` are those that were drawn between zero and one."""
    where, what = rngs
    count = len(data)
    size = 10.0 ** what.uniform(*(POWERS_HALF if scalar.name == "half" else POWERS))
    size = 1.0 if what.random() < TOGETHER else size
    below = what.random() < BELOW_ZERO if shares else True
    far = size * 10.0 ** what.uniform(1.0, APART.get(scalar.name, 5.0))
    if scalar.name == "half":
        far = min(far, 1e3)
    one, other = what.normal(size=2) * size
    spread = np.abs(data) if what.random() < BY_ITSELF else data
    step = 2 * scalar.roundoff * abs(one)
    ways: list[Callable[[], Values]] = [
        lambda: data * size,
        lambda: -np.abs(data) * size,
        lambda: np.abs(data) * size,
        lambda: _some(where, rows, [0.0, one, other], count),
        lambda: _some(where, rows, [one], count),
        lambda: _some(where, rows, [one, other, -one], count),
        lambda: _some(where, rows, [one, one + step, one - step], count),
        lambda: _some(where, rows, [one, far, -far], count),
        lambda: _some(where, rows, [0.0, far], count),
        lambda: spread * size * 10.0 ** what.uniform(-3, 3, count),
        lambda: np.sort(data) * size,
        lambda: np.sort(data)[::-1] * size,
        lambda: data * size * _places(count, 2, rows, where),
        lambda: np.where(_places(count, 2, rows, where) > 0, data * far, data * size),
        lambda: np.where(_places(count, 2, rows, where) > 0, -spread, spread) * size,
        lambda: np.rint(data * 8),
        # Fractions of one, whose sums are one, or beside it by rounding.
        lambda: _fractions(where, rows, int(what.integers(3, 13)), count),
    ]
    if shares:  # beside the end of what they are drawn from, all of them or some
        ways += [
            lambda: 1.0 - scalar.roundoff * (1 + _places(count, 3, rows, where)),
            lambda: np.where(_places(count, 2, rows, where) > 0, 1.0 - scalar.roundoff, data),
        ]
    made = np.asarray(ways[int(what.integers(len(ways)))](), np.float64)
    if scalar.name == "half":
        made = np.clip(made, -3e4, 3e4)
    return made if below else np.abs(made)


def _fractions(where: np.random.Generator, rows: Sequence[int], parts: int, count: int) -> Values:
    """Return parts of one, mostly a single one, or what is left of it.

    Some a little larger or smaller than others, as they are alike in a few of their bits; or among
    crumbs, which a sum that is one already takes in by rounding.
    """
    few = [1 / parts, 1 - 1 / parts, 2 / parts]
    made = _some(where, rows, few[: int(where.integers(1, 4))], count)
    little = 2.0 ** -where.uniform(*LITTLE)
    match int(where.integers(3)):
        case 0:
            return made
        case 1:
            return np.asarray(made + little * (_places(count, 3, rows, where) - 1))
        case _:
            made[_places(count, 2, rows, where) == 0] = little / CRUMB
            return made


def _some(
    where: np.random.Generator, rows: Sequence[int], few: Sequence[float], count: int
) -> Values:
    return np.asarray(few)[_places(count, len(few), rows, where)]
