"""Contents of which nearly everything cancels: what is left shows in no more than twice the digits.

An original that keeps the rounding errors of its sums and products, and adds them in the end, is
exact where all else is lost. Moving its inputs by one rounding error says that anything is right
there, since so much of a sum that cancels is the rounding of its terms. So nothing is moved. The
same problem is posed twice: with pairs of large numbers in each row of an array that differ by a
few last places, and with that difference alone in the place of a pair. Who is right in both gives
the same twice. Whoever rounds each sum to its type, or each product, does not.

The pairs have other numbers between them, so that no order of steps lets them meet by themselves,
and all other arrays are one number with all of its digits, so that products with them are rounded.
Once more each pair is without its other half: where a result does not show that, it says nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from runners import spoilt
from runners.cuda_types import CudaType, Scalar, from_float, to_float, values
from runners.inputs import FREE, Arrays, interleave, stream
from runners.run import Run
from runners.spec import Argument, BaselineFailure, Work

# So many arrays, each by itself, with pairs along its rows, or along its columns.
MOST_ARRAYS = 3
ALONG, ACROSS = "cancelling along array", "cancelling across array"
FAMILIES = tuple(f"{way} {number}" for number in range(MOST_ARRAYS) for way in (ALONG, ACROSS))
# What is asked of the original beside it: the differences alone, and no other half.
APART, HALF = ":apart", ":half"
BESIDE = (APART, HALF)
# Digits of a type; in its last place large numbers have 2^LAST. Smaller ones go up to SMALL.
DIGITS, LAST, SMALL, MOST_APART = {"float": 24, "double": 53}, 8, 8, 3
# Rows are no shorter. Pairs in one: one of so many elements, no fewer and no more.
LEAST_ROW, ONE_PAIR, FEWEST_PAIRS, MOST_PAIRS = 64, 64, 2, 4
# All else, as large as one. A share stays between zero and one.
FACTOR, SHARE = float(np.sqrt(2.0)), float(np.sqrt(0.5))
# By what part of typical results two of the original may differ. What is lost without twice the
# digits is a hundredth; what is rounded with these is a thousandth of this.
LINE = {"float": 2.0**-11, "double": 2.0**-22}

Floats = npt.NDArray[np.float64]


def usable(work: Work) -> Iterator[Argument]:
    """Yield the arrays of floats or doubles that are only read and may be anything."""
    for argument in work.arguments:
        only = argument.type.scalar
        free = argument.role == "input" and argument.init == "normal"
        if argument.type.pointer and free and only is not None and only.name in DIGITS:
            yield argument


def cancels(family: str) -> bool:
    """Tell whether a family is one of these, or what is asked beside it.

    >>> cancels("cancelling along array 0:half"), cancels("declared")
    (True, False)
    """
    return family.partition(":")[0] in FAMILIES


def applied(
    family: str, work: Work, arrays: Arrays, seed: int, case: Mapping[str, float]
) -> Arrays:
    """Return arrays of which one has pairs that cancel, and all others are one number."""
    named, _, beside = family.partition(":")
    way, _, number = named.rpartition(" ")
    every, out = [*usable(work)], dict(arrays)
    if int(number) >= len(every):
        return out
    own = every[int(number)]
    for argument in work.arguments:
        only, name = argument.type.scalar, argument.name
        if name not in arrays or only is None or only.name not in DIGITS:
            continue
        if argument.init not in FREE:
            continue
        kind, one = argument.type, argument.type.fields[0]
        wide = to_float(values(arrays[name], kind, one), only)
        if argument is own:
            rows = spoilt.rows(argument, np.zeros(len(wide)), case)
            rng = stream(seed, way, name)
            made = _paired(rows if way == ALONG else rows.T, only, f":{beside}", rng)
            made = np.ravel(made if way == ALONG else made.T)
        else:
            share = argument.init == "uniform"
            made = np.full(len(wide), SHARE if share else FACTOR)
        out[name] = interleave([from_float(made, only)], kind, len(wide) // one.lanes)
    return out


def _paired(rows: Floats, scalar: Scalar, beside: str, rng: np.random.Generator) -> Floats:
    """Return rows of small whole numbers, with pairs of large ones at any places.

    The same numbers are drawn whatever is asked beside it.
    """
    count, length = rows.shape
    made: Floats = rng.integers(1, SMALL + 1, rows.shape) * rng.choice([-1.0, 1.0], rows.shape)
    if length < LEAST_ROW:
        return made
    pairs = min(MOST_PAIRS, max(FEWEST_PAIRS, length // ONE_PAIR))
    places = np.argsort(rng.random(rows.shape), axis=1)[:, : 2 * pairs]
    step = 2.0**LAST
    # Odd ones have all the digits that there are.
    low, high = 1 << DIGITS[scalar.name] - 1, 1 << DIGITS[scalar.name]
    large = (rng.integers(low + SMALL, high - SMALL, (count, pairs)) | 1) * step
    large *= rng.choice([-1.0, 1.0], large.shape)
    apart = rng.integers(1, MOST_APART + 1, large.shape) * step
    at = np.arange(count)[:, None]
    first, second = places[:, :pairs], places[:, pairs:]
    made[at, first] = apart if beside == APART else large
    made[at, second] = 0.0 if beside in BESIDE else apart - large
    return made


def defined(work: Work, first: Run, beside: Sequence[Run]) -> None:
    """Raise `BaselineFailure` where the original does not do as if nothing cancelled."""
    if len(beside) != len(BESIDE):
        raise BaselineFailure("nothing tells what the original makes of sums that cancel")
    for argument in work.arguments:
        if not argument.written:
            continue
        only = argument.type.scalar
        if only is None or only.name not in DIGITS:
            raise BaselineFailure(f"{argument.name} is no float: nothing tells how exact it is")
        mine, apart, half = (
            _numbers(run.outputs[argument.name], argument.type, only) for run in (first, *beside)
        )
        if not (np.isfinite(mine).all() and np.isfinite(apart).all()) or not len(mine):
            raise BaselineFailure(f"{argument.name} is not finite with numbers that cancel")
        if beyond(mine, apart, LINE[only.name]).any():
            raise BaselineFailure(f"{argument.name} loses what is left of sums that cancel")
        if not beyond(half, mine, 1.0).all():
            raise BaselineFailure(f"{argument.name} does not depend on all that cancels")


def beyond(got: Floats, want: Floats, share: float) -> npt.NDArray[np.bool_]:
    """Mark what differs by more than a share of it and of typical results; and what is NaN."""
    typical = float(np.sqrt(np.mean(want**2))) if len(want) else 0.0
    with np.errstate(invalid="ignore"):
        near = np.abs(got - want) <= share * (np.abs(want) + typical)
    return np.asarray(~near)


def _numbers(data: npt.NDArray[Any], kind: CudaType, only: Scalar) -> Floats:
    return to_float(values(data, kind, kind.fields[0]), only).astype(np.float64)
