"""How far from the wanted values a result may be, earned by the original's own errors."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from runners import perturbation
from runners.compare import BUDGET, SMALLEST, Budget, few_ulp, noise_by_exponent, same_bytes, within
from runners.cuda_types import Field, Storage, from_float, to_float
from runners.expectation import Floats, as_json, near_zero, typical
from runners.gathered import Marks
from runners.sizes import TIMES_LONGER
from runners.spec import Json, Work

SAMPLE = 1 << 20
# Of a tolerance, for doubles that nothing but the original tells the wanted values of; what errs by
# less, as a share of typical results, was worked out in doubles.
DOUBLE_SHARE, DOUBLES = 1e-4, 2.0**-36
# So many times the few units that any float may be off are right at most, of longer sums.
MOST_UNITS = 8.0
UNDECLARED = 3.0  # what noise counts for on structured inputs, where errors may go one way
# Where the original takes doubles to work out floats, these are for what moved inputs change: of
# that no more counts than so many times its own errors.
MOST_MOVED = 256.0
# As much again within the tolerance, for results of the roundoff of a float or less: on inputs that
# nobody declared, and on any where halves go in. Their products are exact, and tensor cores add
# them up in floats, but cut off where others round: errors go one way, and of a thousand products
# they are ten times those of a sum in order and more. What adds up in halves errs a thousand times
# as much.
STRETCH, STRETCH_OF_HALVES, FINE = 4.0, 16.0, 2.0**-24
# What a chain of `perturbation.CHAIN` products may lose, of its sum: sixteen are added at a time,
# and each time up to the last place of a float is cut off.
CUT = perturbation.CHAIN / 16 * 2 * FINE


@dataclass(frozen=True, slots=True)
class Terms:
    """What is known of a combination of which errors are told.

    `mask` marks what the original leaves alone, where it does; `unordered`: its elements come in
    any order; `integers`: inputs are whole numbers that floats hold exactly; `declared`: they are
    those that were declared; `twin`: wanted values are those of the original in double precision.
    `longer`: how many times the declared a size is; the original's errors go either way and
    grow with its root, those of tensor cores, which cut off what does not fit, with itself.
    `usual`: so many times as large results are on the inputs that were declared; `typical`: or as
    large as this, where they are smaller on these. `share`: what
    counts for doubles of what moved inputs change (`runners.perturbation.share`); `times`: how many
    times the original's own errors of that count at most for floats, on declared inputs.
    `halves`: what counts of what moved halves change, where nothing tells the original's errors
    better; zero where more than halves moved (`runners.perturbation.share_of_halves`).
    `beside`: results of halves that moved alone, where more than these may move and nothing tells
    the errors of sums of them; what that changes `counts` so much. `chains` times as much where
    sums are long (`runners.perturbation.chains`). `loose`: the declared tolerance is allowed, since
    no moved inputs tell the original's errors.
    """

    mask: Marks | None
    unordered: bool
    integers: bool
    declared: bool
    twin: bool
    longer: float = 1.0
    usual: float = 1.0
    typical: float = 0.0
    share: float = 1.0
    times: float = math.inf
    halves: float = 0.0
    beside: npt.NDArray[Any] | None = None
    counts: float = 0.0
    chains: float = 1.0
    loose: bool = False


def earned(
    work: Work,
    one: Field,
    data: list[npt.NDArray[Any]],
    moved: list[tuple[npt.NDArray[Any], Floats | None]],
    want: Floats | None,
    terms: Terms,
) -> tuple[npt.NDArray[Any], Json | None]:
    """Return wanted values of a field and the budget earned by the original's own errors.

    Of large outputs a sample of the elements tells the noise, all of them its own error.
    """
    if one.scalar.kind != "f":
        exact = data[0] if want is None else np.asarray(want).astype(one.scalar.dtype)
        return exact, None
    mask, unordered, declared = terms.mask, terms.unordered, terms.declared
    kept = slice(None) if mask is None else ~mask
    step = max(1, len(data[0]) // SAMPLE) | 1

    def taken(raw: npt.NDArray[Any]) -> Floats:
        if not unordered and mask is None:
            return to_float(raw[::step], one.scalar)
        wide = to_float(raw, one.scalar)[kept]
        return np.asarray(np.sort(wide) if unordered else wide)[::step]

    whole_first = to_float(data[0], one.scalar)[kept]
    whole_goal = whole_first if want is None else shown(np.asarray(want, np.float64), one)[kept]
    first = taken(data[0])
    goal = first if want is None else whole_goal[::step]
    with np.errstate(all="ignore"):
        errors = [np.abs(taken(other) - goal) for other in data]
        for raw, truth in moved:
            other = taken(raw)
            counts = terms.share if one.scalar.name == "double" else 1.0
            if terms.halves and not declared:
                # Where there are better answers these tell how far the original is from them.
                counts = terms.chains * terms.halves if want is None else 0.0
            errors.append(counts * np.abs(other - first))
            if truth is not None and not unordered:
                errors.append(np.abs(other - np.asarray(truth, np.float64)[kept][::step]))
        if terms.beside is not None:
            errors.append(terms.chains * terms.counts * np.abs(taken(terms.beside) - first))
        size = np.where(np.isfinite(goal), np.abs(goal), 0)
        if terms.beside is not None or (terms.halves and not declared and want is None):
            # Of sums that do not cancel moved halves tell less than is cut off.
            errors.append(CUT / BUDGET * terms.chains * size)
        errors = [np.nan_to_num(e, nan=0, posinf=0) for e in errors]
        allowed = work.atol + work.rtol * size
        keeps = all(bool((2 * error <= allowed).all()) for error in errors[: len(data)])
        integral = bool((first == np.rint(first)).all() and (size < 2**24).all())
    stable = all(same_bytes(_raw(data[0]), _raw(other)) for other in data[1:])

    def same() -> bool:
        return want is not None and np.array_equal(whole_first, whole_goal, equal_nan=True)

    strict = work.atol == 0 == work.rtol
    # Where all is worked out in doubles, a twin in doubles has no better answers: it tells nothing.
    told = want is not None
    if told and terms.twin and one.scalar.name == "double":
        least = DOUBLES * (size + typical(size))
        told = any(bool((error > least).any()) for error in errors[: len(data)])
    # A tolerance that fits floats would let floats pass for doubles.
    share = DOUBLE_SHARE if one.scalar.name == "double" and not told else 1.0
    longer = min(terms.longer, TIMES_LONGER)
    root = math.sqrt(longer)
    # What is cut off each time goes one way, and adds up to so many units more.
    units = min(max(1.0, longer), MOST_UNITS) if one.scalar.roundoff == FINE else 1.0
    grown = root if declared else max(root, UNDECLARED)
    # With the root, which the noise has, that is the length itself.
    grows = root if declared and one.scalar.roundoff == FINE else 1.0
    noise = noise_by_exponent(np.maximum.reduce(errors), goal)
    if declared and want is not None and one.scalar.roundoff == FINE and terms.times < math.inf:
        own = np.maximum.reduce(errors[: len(data)])
        most = np.maximum(noise_by_exponent(own, goal), typical(own))
        noise = np.minimum(noise, terms.times * most)
    budget = Budget(
        noise * grown,
        one.scalar.roundoff,
        units * few_ulp(one.scalar.name),
        share * work.rtol,
        share * work.atol,
        # The tolerance was declared for the inputs and lengths that were declared.
        capped=told and keeps and declared and terms.longer == 1 and not work.loose,
        floor=not told or work.loose or terms.loose,
        exact=stable and not unordered and (strict or (terms.integers and integral and same())),
        # Zeros add up without error in one order of steps and not in another, which is as good.
        stretch=_stretch(work, one, declared=declared),
        # What is one less another number errs by the rounding of these.
        # It is that of usual results also where these are smaller, as is the tolerance.
        ground=near_zero(
            share * work.atol, one.scalar.roundoff, np.maximum(terms.usual * size, terms.typical)
        ),
        grows=grows,
    )
    if step > 1 and want is not None and not within(whole_first, whole_goal, budget):
        with np.errstate(all="ignore"):
            own = np.nan_to_num(np.abs(whole_first - whole_goal), nan=0, posinf=0)
        noise = np.maximum(budget.noise, noise_by_exponent(own, whole_goal))
        budget = replace(budget, noise=noise, capped=False)
    # Where equality is asked the original's own results are right, whatever comes nearer: a sum of
    # random bits that is cut off is another where it is worked out in doubles.
    if unordered or want is None or (strict and budget.exact):
        return data[0], as_json(budget)
    return from_float(want, one.scalar), as_json(budget)


def _stretch(work: Work, one: Field, *, declared: bool) -> float:
    if one.scalar.roundoff > FINE:
        return 1.0
    if of_halves(work):
        return STRETCH_OF_HALVES
    return 1.0 if declared else STRETCH


def of_halves(work: Work) -> bool:
    """Tell whether numbers of fewer digits than a float has go in."""
    return any(
        one.scalar.kind == "f" and one.scalar.roundoff > FINE
        for argument in work.arguments
        if argument.type.pointer and argument.role != "output"
        for one in argument.type.fields
    )


def shown(exact: Floats, one: Field) -> Floats:
    """Return better answers with zero for what a field's type rounds to zero.

    They are compared as that type shows them, and an error is forgiven by the size of what it is
    an error of.
    """
    least = SMALLEST.get(one.scalar.roundoff, 0.0)
    with np.errstate(all="ignore"):
        return np.where(np.abs(exact) <= least / 2, 0.0, exact)


def _raw(data: npt.NDArray[Any]) -> Storage:
    return np.ascontiguousarray(data).view(np.uint8).reshape(-1)
