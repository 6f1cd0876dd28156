"""Three arrays of which one is what two others come to, or next to it.

A triangle whose longest side is as long as the two others together, a square root of b b - 4 a c
that is nothing, a point that is just on a circle, a due amount that is just paid: there one
comparison decides, and a rounding more or less goes the other way. Chance draws three numbers so
once in ten million. So of three arrays of one shape, or three columns of one that has rows of a few
numbers, one is the sum, the difference, the product, the mean, twice the root of the product or the
root of the sum of squares of two others, but for some steps of a rounding, or one where they are
whole. It is run original and candidate side by side (`runners.small_runs`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from runners import lone_powers
from runners.cuda_types import Field, from_float, to_float, values
from runners.families import free
from runners.inputs import Arrays, interleave, stream
from runners.spec import Argument, Work
from runners.whole_families import WIDEST
from runners.whole_numbers import factors, row_lengths

WORD = "related"
# Numbers of a row that are columns; how often numbers are all of one size, and only some related.
MOST_COLUMNS, SCALED, SOME = 8, 0.5, 0.3
# By how many steps of a rounding it is off; how often by any part of it, up to a power of ten.
STEPS, PART, MOST_OFF = (0, 0, 1, -1, 2, -2, 4, -4), 0.3, -2.0
# Powers of ten that all are larger by, and that one of two is smaller by; of halves.
SIZES, SMALLER, SIZES_HALF, SMALLER_HALF = (-4.0, 3.0), (-8.0, 0.0), (-1.0, 1.0), (-2.0, 0.0)

Case = Mapping[str, float]
Values = npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class _Column:
    """Numbers of an array: all of a field, or every so many from one on."""

    argument: Argument
    field: int
    first: int
    every: int
    ends: tuple[int, int] | None  # of whole numbers

    @property
    def like(self) -> tuple[str, int, bool]:
        """What columns have in common that may be related."""
        return self.argument.shape or "", self.every, self.ends is None


def usable(work: Work, case: Case) -> bool:
    """Tell whether there are three such columns at a case."""
    return bool(_groups(work, case))


def _groups(work: Work, case: Case) -> list[list[_Column]]:
    found: dict[tuple[str, int, bool], list[_Column]] = {}
    for column in _columns(work, case):
        found.setdefault(column.like, []).append(column)
    return [those for those in found.values() if len(those) > 2]


def _columns(work: Work, case: Case) -> Iterator[_Column]:
    ends = lone_powers.ends(work, case)
    for argument in work.arguments:
        whole = ends.get(argument.name)
        if not argument.type.pointer or argument.role == "output":
            continue
        if whole is None and not free(argument):
            continue
        several = len(factors(argument.shape or "1")) > 1
        rows = row_lengths(argument.shape or "1", case) if several else []
        for at, field in enumerate(argument.type.fields):
            few = rows[0] * field.lanes if rows else field.lanes
            for every in {1, few if 3 <= few <= MOST_COLUMNS else 1}:
                for first in range(every):
                    yield _Column(argument, at, first, every, whole)


def applied(work: Work, arrays: Arrays, seed: int, turn: int, case: Case) -> Arrays:
    """Return arrays of which three are related; all else as it is."""
    rng = stream(seed, WORD, turn)
    groups = _groups(work, case)
    out = dict(arrays)
    if not groups:
        return out
    those = groups[int(rng.integers(len(groups)))]
    a, b, c = (those[int(at)] for at in rng.choice(len(those), 3, replace=False))
    if any(one.argument.name not in arrays for one in (a, b, c)):
        return out
    parts = {
        one.argument.name: [
            values(arrays[one.argument.name], one.argument.type, field).copy()
            for field in one.argument.type.fields
        ]
        for one in (a, b, c)
    }
    if not (_whole if a.ends else _floats)(parts, (a, b, c), rng):
        return out
    for argument in {one.argument.name: one.argument for one in (a, b, c)}.values():
        count = len(arrays[argument.name]) // argument.type.size
        out[argument.name] = interleave(parts[argument.name], argument.type, count)
    return out


def _of(parts: dict[str, list[Values]], one: _Column) -> Values:
    return parts[one.argument.name][one.field][one.first :: one.every]


def _chosen(count: int, rng: np.random.Generator) -> npt.NDArray[np.bool_]:
    """Return which are related: all of them, or some."""
    return rng.random(count) < (rng.random() if rng.random() < SOME else 1.0)


def _floats(
    parts: dict[str, list[Values]], columns: tuple[_Column, ...], rng: np.random.Generator
) -> bool:
    """Relate columns of floats in their place; return whether they are of one length."""
    fields: list[Field] = [one.argument.type.fields[one.field] for one in columns]
    a, b, c = (
        to_float(_of(parts, one), field.scalar) for one, field in zip(columns, fields, strict=True)
    )
    if not len(a) == len(b) == len(c):
        return False
    # Shares stay between zero and one, and what they are related to with them.
    share = any(one.argument.init == "uniform" for one in columns)
    narrow = any(field.scalar.name == "half" for field in fields)
    larger, smaller = (SIZES_HALF, SMALLER_HALF) if narrow else (SIZES, SMALLER)
    scale = 10.0 ** rng.uniform(*larger) if rng.random() < SCALED and not share else 1.0
    if rng.random() < SCALED:
        # Mostly lengths and weights: none below zero.
        a, b = np.abs(a), np.abs(b)
    if share:
        a, b = a / 2, b / 2
    if rng.random() < SCALED:
        b = b * 10.0 ** rng.uniform(*smaller)
    a, b = a * scale, b * scale
    ways: list[Callable[[], Values]] = [
        lambda: a + b,
        lambda: a - b,
        lambda: a + b,
        lambda: a * b,
        lambda: (a + b) / 2,
        lambda: 2 * np.sqrt(np.abs(a * b)),
        lambda: np.hypot(a, b),
    ]
    with np.errstate(all="ignore"):
        a, b = (
            to_float(from_float(one, field.scalar), field.scalar)
            for one, field in zip((a, b), fields, strict=False)
        )
        made = ways[int(rng.integers(len(ways)))]()
    roundoff = fields[2].scalar.roundoff
    off = 2 * roundoff * rng.choice(STEPS, len(made))
    if rng.random() < PART:
        off = rng.choice((-1.0, 1.0), len(made)) * 10.0 ** rng.uniform(np.log10(roundoff), MOST_OFF)
    made = np.where(_chosen(len(made), rng), made * (1 + off), c)
    for one, field, new in zip(columns, fields, (a, b, made), strict=True):
        most = 1.0 - field.scalar.roundoff * 2
        kept = np.clip(np.abs(new), 0.0, most) if share else new
        _of(parts, one)[:] = from_float(kept, field.scalar)
    return True


def _whole(
    parts: dict[str, list[Values]], columns: tuple[_Column, ...], rng: np.random.Generator
) -> bool:
    """Relate columns of whole numbers in their place, as `_floats` does."""
    a, b, c = (_of(parts, one).astype(np.int64) for one in columns)
    low, high = columns[2].ends or (0, 0)
    if not len(a) == len(b) == len(c):
        return False
    ways: list[Callable[[], Values]] = [
        lambda: a + b,
        lambda: a - b,
        lambda: np.abs(a - b),
        lambda: np.where(np.abs(a.astype(float) * b) < WIDEST, a * b, low - 1),
        lambda: (a + b) // 2,
    ]
    made = ways[int(rng.integers(len(ways)))]() + rng.choice((0, 0, 1, -1), len(a))
    fits = (made >= low) & (made <= high) & _chosen(len(a), rng)
    target = _of(parts, columns[2])
    target[:] = np.where(fits, made, c).astype(target.dtype)
    return True
