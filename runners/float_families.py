"""What floats are like in each input family.

Each transform takes declared values of one field, as wide as a float at least, and returns others
of the same count. Who stores them narrows them (`runners.variation`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from runners.cuda_types import Scalar
from runners.families import (
    ALIKE,
    ALL_NAN,
    ALTERNATING,
    EQUAL,
    FALLING,
    FAR,
    HALF_STEPS,
    INFINITIES,
    NAN_BEHIND,
    NEARLY,
    SIGNED_ZEROS,
    THOUSANDTH,
    TOPS,
    VAST,
)
from runners.places import aside, boundary

TIMES_FAR, TIMES_FAR_HALF = 2e6, 100.0
TIMES_VAST, TIMES_VAST_HALF = 4e30, 4500.0
LONGEST_SORT = 1 << 19
# An eighth of the largest number of a type, as a power of two; so many of one sign side by side.
FLOAT_POWERS, TOP_POWERS, STRETCH = 125, {"half": 13, "double": 1021}, 64
# What is infinite, and of how many one is NaN behind that.
ONE_INFINITE, ONE_NAN_IN = 0.25, 1500
PARTS = 1024  # a power of two: what is computed scales without an error

Values = npt.NDArray[Any]
Transform = Callable[[Values, Scalar, np.random.Generator], Values]


def _times_ten(data: Values, _scalar: Scalar, _rng: np.random.Generator) -> Values:
    return data * 10


def _thousandth(data: Values, _scalar: Scalar, _rng: np.random.Generator) -> Values:
    return data / PARTS


def _shifted(data: Values, _scalar: Scalar, _rng: np.random.Generator) -> Values:
    return data + 3


def _offset(data: Values, scalar: Scalar, _rng: np.random.Generator) -> Values:
    """Far from zero for its spread: differences of squares lose everything."""
    return data + (20 if scalar.name == "half" else 100)


def _alternating(data: Values, scalar: Scalar, rng: np.random.Generator) -> Values:
    """Every second one far above all others."""
    out = data.copy()
    out[1::2] = _offset(data[1::2], scalar, rng)
    return out


def _one_hot(data: Values, _scalar: Scalar, rng: np.random.Generator) -> Values:
    """Zero but for a few spikes, one of them at an end."""
    spikes = np.zeros_like(data)
    if len(data):
        where = rng.integers(0, len(data), max(1, len(data) // 1000))
        spikes[where] = data[where] + 5
        spikes[rng.choice([0, len(data) - 1])] = 7
    return spikes


def _edges(data: Values, _scalar: Scalar, rng: np.random.Generator) -> Values:
    """The largest beside the smallest, where a block of threads ends and the next one begins.

    What looks at all elements but those that two blocks share finds another maximum in no other
    way: it is one pair of hundreds.
    """
    out = data.copy()
    at = boundary(len(out), rng)
    if at:
        out[at - 1], out[at] = 50, -50 if data.min() < 0 else 0
    return out


def _nearly(data: Values, _scalar: Scalar, rng: np.random.Generator) -> Values:
    """All the same but for one, as large as the largest of `edges`."""
    out = data.copy()
    at = aside(len(out), rng)
    if at:
        out[at] = 50
    return out


def _half_steps(data: Values, _scalar: Scalar, rng: np.random.Generator) -> Values:
    """Whole numbers and halves between them up to 127, which comes again and again.

    How a half is rounded shows nowhere else but by chance: scaled by their largest, as bytes are,
    these stay what they are. Some are halfway between two numbers of 8 bits, as bfloat16 has, and
    some between two of 11, as halves and TF32 have.
    """
    count = len(data)
    out = np.asarray(rng.integers(-254, 255, count) / 2.0)
    for part, bits in ((1, 8), (2, 11)):
        some = slice(part, None, 4)
        odd = rng.integers(1 << bits - 1, 1 << bits, len(out[some])) * 2 + 1
        signs = rng.integers(0, 2, len(odd)) * 2 - 1
        out[some] = signs * np.ldexp(odd, rng.integers(-3, 7, len(odd)) - bits - 1)
    out[:: 1 << 4] = 127
    return out


def _equal(data: Values, _scalar: Scalar, rng: np.random.Generator) -> Values:
    """One number of four bits, whose sums are exact in any order.

    Errors of a sum of equal numbers all go the same way, and what is left of their spread is
    nothing but those errors: no order of summation could be called right.
    """
    if not len(data):
        return data
    part, exponent = np.frexp(np.float64(data[rng.integers(len(data))]))
    return np.full_like(data, np.ldexp(np.rint(part * 16) / 16, exponent))


def _alike(data: Values, _scalar: Scalar, rng: np.random.Generator) -> Values:
    """One power of two, whose sums and sums of squares are exact as long as a float's part is.

    Of four bits, as `equal` ones have, two millions are too many: then an order of summation errs
    where another one does not. What is counted in few bits, or in shared memory, runs over where
    most meet in one place.
    """
    if not len(data):
        return data
    one = np.float64(data[rng.integers(len(data))])
    return np.full_like(data, np.copysign(np.ldexp(0.5, np.frexp(one)[1]), one) if one else 0)


def _few(data: Values, scalar: Scalar, rng: np.random.Generator) -> Values:
    """Three numbers of four bits in turns: a row that is partly equal errs in one direction."""
    three = [_equal(data, scalar, rng)[:1] for _ in range(3)]
    return np.concatenate(three)[rng.integers(0, 3, len(data))] if len(data) else data


def _sorted(data: Values, _scalar: Scalar, _rng: np.random.Generator) -> Values:
    return np.asarray(np.sort(data))


def _falling(data: Values, _scalar: Scalar, _rng: np.random.Generator) -> Values:
    return np.asarray(np.sort(data)[::-1])


def _large(data: Values, scalar: Scalar, _rng: np.random.Generator) -> Values:
    """Magnitudes beyond the range of a half, unless the type is one."""
    factor = 300.0 if scalar.name == "half" else 1e5
    return np.asarray(data * factor)


def _far(data: Values, scalar: Scalar, rng: np.random.Generator) -> Values:
    """All far below zero, then all far above: a largest or smallest that begins at some number."""
    return _apart(data, TIMES_FAR_HALF if scalar.name == "half" else TIMES_FAR, rng)


def _vast(data: Values, scalar: Scalar, rng: np.random.Generator) -> Values:
    return _apart(data, TIMES_VAST_HALF if scalar.name == "half" else TIMES_VAST, rng)


def _apart(data: Values, times: float, rng: np.random.Generator) -> Values:
    size = (np.abs(data) + 1) * times
    turn = int(rng.integers(len(data) // 3, 2 * len(data) // 3 + 1))
    return np.asarray(np.where(np.arange(len(data)) < turn, -size, size))


def _integers(_data: Values, _scalar: Scalar, rng: np.random.Generator) -> Values:
    """Small whole numbers, whose sums a float holds exactly in any order."""
    return np.asarray(rng.integers(-8, 9, len(_data)).astype(np.float64))


def _special(data: Values, _scalar: Scalar, rng: np.random.Generator) -> Values:
    """A few NaN, infinities and denormals among ordinary numbers; the first one is infinite.

    What stands for no element is read at the first place, and then multiplied by zero.
    """
    out = data.copy()
    if len(out):
        for value in (np.nan, np.inf, -np.inf, 1e-40, -0.0):
            out[rng.integers(0, len(out), max(1, len(out) // 5000))] = value
        out[0] = np.inf
    return out


def _nan(data: Values, _scalar: Scalar, rng: np.random.Generator) -> Values:
    """One NaN, not at the start of anything: there comparisons with it may depend on the order."""
    out = data.copy()
    if len(out) > 3:
        out[int(rng.integers(len(out) // 3, len(out) - 1)) | 1] = np.nan
    return out


def _all_nan(data: Values, _scalar: Scalar, _rng: np.random.Generator) -> Values:
    """Nothing but NaN: no order of comparisons starts from another element than the next one's.

    A stretch of them begins within some row, whose largest is then decided by what comes first.
    """
    return np.full_like(data, np.nan)


def _infinities(data: Values, _scalar: Scalar, rng: np.random.Generator) -> Values:
    """A few infinities of one sign, and nothing else that is odd.

    With both a sum would be NaN, which is promised to nobody; a NaN beside them would decide
    comparisons by their order, and of a denormal's reciprocal some ways make an infinity.
    """
    out = data.copy()
    if len(out):
        sign = float(rng.choice((1, -1)))
        out[rng.integers(0, len(out), max(1, len(out) // 2000))] = sign * np.inf
    return out


def _nan_behind(data: Values, _scalar: Scalar, rng: np.random.Generator) -> Values:
    """A quarter infinite, of either sign, and one NaN of so many; none in the first third."""
    out = data.copy()
    infinite = rng.random(len(out)) < ONE_INFINITE
    out[infinite] = np.where(rng.random(int(infinite.sum())) < 0.5, np.inf, -np.inf)
    # Of a long array the first third is rows of their own.
    first = len(out) // 3 if len(out) <= ONE_NAN_IN else 0
    if len(out) > 3:
        out[rng.integers(first, len(out), max(1, len(out) // ONE_NAN_IN))] = np.nan
    return out


def _mixed(data: Values, scalar: Scalar, rng: np.random.Generator) -> Values:
    """Stretches of unlike structure inside one input."""
    out = data.copy()
    kinds = (_times_ten, _one_hot, _few, _sorted, _integers)
    edges = np.sort(rng.integers(0, len(out) + 1, 6))
    for start, end, transform in zip(edges[:-1], edges[1:], kinds, strict=True):
        # Sorting millions would take longer than all the rest together.
        last = min(end, start + LONGEST_SORT) if transform is _sorted else end
        out[start:last] = transform(out[start:last], scalar, rng)
    return out


def _signed_zeros(data: Values, _scalar: Scalar, rng: np.random.Generator) -> Values:
    """A third of each zero, the rest as they were."""
    out = data.copy()
    what = rng.integers(0, 3, len(out))
    out[what == 1], out[what == 2] = 0.0, -0.0
    return out


def _tops(data: Values, scalar: Scalar, rng: np.random.Generator) -> Values:
    """An eighth of the largest number, or a quarter, and more, in stretches of one sign."""
    power = TOP_POWERS.get(scalar.name, FLOAT_POWERS) + int(rng.integers(0, 2))
    ones = np.ldexp(rng.uniform(1.0, 1.9, len(data)), power)
    signs = rng.integers(0, 2, len(data) // STRETCH + 1) * 2 - 1
    return np.asarray(ones * np.repeat(signs, STRETCH)[: len(data)])


TRANSFORMS: dict[str, Transform] = {
    "times-10": _times_ten,
    THOUSANDTH: _thousandth,
    "shifted": _shifted,
    "offset": _offset,
    "one-hot": _one_hot,
    "edges": _edges,
    NEARLY: _nearly,
    HALF_STEPS: _half_steps,
    EQUAL: _equal,
    "sorted": _sorted,
    FALLING: _falling,
    "large": _large,
    FAR: _far,
    VAST: _vast,
    "integers": _integers,
    "special": _special,
    "nan": _nan,
    "mixed": _mixed,
    ALIKE: _alike,
    ALTERNATING: _alternating,
    ALL_NAN: _all_nan,
    INFINITIES: _infinities,
    NAN_BEHIND: _nan_behind,
    SIGNED_ZEROS: _signed_zeros,
    TOPS: _tops,
}
