"""Is an output right? Errors against a budget that the original itself has earned.

The line is `error(candidate) <= c * error(original) + a few ulp`, and never past the declared
tolerance where the original keeps to it. The original's error is known by magnitude of the
result: against an answer in higher precision where there is one, from moving every input by one
rounding error, and from repeating the run. A half, bfloat16 or TF32 computation in place of a
float one is four orders of magnitude past that line.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from runners import coincidence, near
from runners.cuda_types import CudaType, Field, Storage, to_float, values
from runners.near import Terms

LOWEST, HIGHEST = -1080, 1030  # exponents of doubles, as frexp counts them
BUDGET = 12.0  # the largest of 10^7 Gaussian errors is 5.4 times their rms, twice over
# Beyond the tolerance: what moving every input by one rounding error does, a few times over.
CONDITION = 4.0
ENOUGH = 64  # results of a magnitude that tell how large errors are there
_FEW_ULP = {"half": 2.0, "bfloat16": 2.0}
# The smallest number of a type above zero, by its roundoff: half, bfloat16, float, double.
SMALLEST = {2.0**-11: 2.0**-24, 2.0**-8: 2.0**-133, 2.0**-24: 2.0**-149, 2.0**-53: 2.0**-1074}
# The largest number of a type, by the same.
LARGEST = {2.0**-11: 65504.0, 2.0**-8: 3.39e38, 2.0**-24: 3.4028234e38, 2.0**-53: 1.7976931e308}
CHUNK = 1 << 18
# What one thread compares shortly: more of them get into each other's way.
SPAN = 1 << 21
_POOL = ThreadPoolExecutor(8, thread_name_prefix="compare")  # starts no thread before its time

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Budget:
    """How far a float may be from the wanted value, by magnitude of that value.

    `noise[e]` is the original's rms error among results of binary exponent e + LOWEST. `capped`:
    the declared tolerance bounds it; `exact`: nothing but equality will do. `stretch` is so many
    times the earned error, as far as the tolerance, where few results tell what errors there are,
    and where tensor cores may do the work, which cut off what does not fit.
    `ground` is an error that is none: of the rounding of typical results, in those near zero.
    `grows`: so many times the noise within the tolerance, where sums are longer than declared.
    """

    noise: Floats
    roundoff: float
    few: float
    rtol: float
    atol: float
    capped: bool = True
    floor: bool = False
    exact: bool = False
    stretch: float = 1.0
    ground: float = 0.0
    grows: float = 1.0

    def bound(self, want: Floats) -> Floats:
        """Return the largest accepted error for each wanted value."""
        if self.exact:
            return np.zeros(len(want))
        return np.maximum(self._line(want), self.ground)

    def _line(self, want: Floats) -> Floats:
        with np.errstate(all="ignore"):
            size = np.abs(np.where(np.isfinite(want), want, 0.0))
            noise = self.noise[np.clip(np.frexp(size)[1], LOWEST, HIGHEST) - LOWEST]
            earned = BUDGET * noise + 2 * self.few * self.roundoff * size
            # Below the smallest normal number one rounding error is that of the smallest one.
            earned += self.few * SMALLEST.get(self.roundoff, 0.0)
            allowed = self.atol + self.rtol * size
            earned = np.maximum(earned, self.stretch * np.minimum(earned, allowed))
            if self.grows > 1:
                more = earned + (self.grows - 1) * BUDGET * noise
                earned = np.maximum(earned, np.minimum(more, allowed))
            if self.capped:
                # A sum that cancels cannot be asked to be exact to its own size.
                return np.asarray(np.minimum(earned, np.maximum(allowed, CONDITION * noise)))
            return np.asarray(np.maximum(earned, allowed) if self.floor else earned)

    def terms(self) -> Terms:
        """Return what the bound is not below, by which `runners.near` finds the worst of many."""
        few = self.few * SMALLEST.get(self.roundoff, 0.0)
        declared = (self.rtol, self.atol) if self.capped else (0.0, math.inf)
        shares = (BUDGET * self.noise, LOWEST, 2 * self.few * self.roundoff, few)
        return Terms(*shares, CONDITION / BUDGET, *declared, self.ground)

    def widened(self, factor: float) -> Budget:
        """Return a budget for the difference of two runs that may each err."""
        return Budget(
            self.noise * factor,
            self.roundoff,
            self.few * factor,
            self.rtol * factor,
            self.atol * factor,
            self.capped,
            self.floor,
            self.exact,
            self.stretch,
            self.ground * factor,
            self.grows,
        )


def within(got: Floats, want: Floats, budget: Budget) -> bool:
    """Tell whether all finite values are within a budget, in stretches on several threads."""

    def stretch(start: int) -> bool:
        part = slice(start, start + CHUNK)
        with np.errstate(all="ignore"):
            gap = np.abs(got[part] - want[part])
            return not bool((gap > budget.bound(want[part])).any())

    return all(_POOL.map(stretch, range(0, len(got), CHUNK)))


def few_ulp(name: str) -> float:
    """Return how many ulp are forgiven in a type."""
    return _FEW_ULP.get(name, 16.0)


def noise_by_exponent(gaps: Floats, want: Floats) -> Floats:
    """Return the size of errors for results of like magnitude, smoothed over neighbours.

    That is their rms, or a quarter of their largest where that is more: where rows differ in
    scale, results of one magnitude differ in accuracy. Exponents that no result has get the
    value of the nearest that one has.
    """
    good = np.isfinite(gaps) & np.isfinite(want)
    exponent = np.clip(np.frexp(np.abs(want[good]))[1], LOWEST, HIGHEST) - LOWEST
    length = HIGHEST - LOWEST + 1
    errors = gaps[good]
    squares = np.bincount(exponent, errors**2, length)
    largest = np.zeros(length + 2)
    np.maximum.at(largest, exponent + 1, errors)
    largest = np.maximum.reduce([largest[:-2], largest[1:-1], largest[2:]])
    counts = np.bincount(exponent, minlength=length).astype(np.float64)
    window = np.ones(3)
    total, counts = np.convolve(squares, window, "same"), np.convolve(counts, window, "same")
    with np.errstate(all="ignore"):
        rms = np.maximum(np.sqrt(total / counts), largest / 4)
    known = np.flatnonzero(counts > 0)
    if not len(known):
        return np.zeros(length)
    # Few results of a magnitude tell little of its errors, and where small ones come of terms that
    # cancel, their errors are those of larger ones.
    above = 0.0
    for at in known[::-1]:
        if counts[at] >= ENOUGH:
            above = rms[at]
        else:
            rms[at] = max(rms[at], above)
    nearest = known[np.clip(np.searchsorted(known, np.arange(length)), 0, len(known) - 1)]
    return np.asarray(rms[nearest])


def sparse(noise: Floats) -> list[list[float]]:
    """Return a noise table as runs of equal values for JSON."""
    edges = [0, *(np.flatnonzero(np.diff(noise)) + 1).tolist()]
    return [[int(at), float(noise[at])] for at in edges]


def dense(runs: Iterable[list[float]]) -> Floats:
    """Return the noise table from its runs."""
    out = np.zeros(HIGHEST - LOWEST + 1)
    for at, value in runs:
        out[int(at) :] = value
    return out


@dataclass(frozen=True, slots=True)
class Answer:
    """What one output of one combination must hold.

    `want` are bytes in the output's type. `untouched` marks elements the original leaves as they
    were. `budgets` has one entry a field, None where bits must agree. `unordered`: two runs of
    the original gave the same values in another order. `lenient`: inputs were special, and where
    the original gives NaN or infinity anything goes but new NaN elsewhere. `spreads`: of a single
    NaN among the inputs; where it spreads to, no number may be. `odd` marks scalars that depend on
    an infinity or a denormal among the inputs: NaN and infinity are no fault there (a compensated
    sum takes infinities from infinities, a reciprocal overflows), another number is; of whole
    numbers, that depend on a NaN at an end and are not asked. `joined` names
    the outputs, this one among them, whose elements belong together where their order is free.
    `infinite`: what is wanted to be NaN is infinite in the original, and may be either. `empty`: a
    size is zero that nobody declared as zero; where the original gives NaN anything goes there, and
    what was there before, too. `rounding`: so large a share of the original's halves are others
    than the right rounding of better answers, where that is known (`runners.rounded`).
    """

    name: str
    type: CudaType
    want: Storage
    budgets: tuple[Budget | None, ...]
    untouched: npt.NDArray[np.bool_] | None = None
    unordered: bool = False
    lenient: bool = False
    spreads: bool = False
    odd: npt.NDArray[np.bool_] | None = None
    joined: tuple[str, ...] = ()
    infinite: bool = False
    empty: bool = False
    rounding: float | None = None
    _scales: dict[tuple[int, int], float] = field(
        init=False, default_factory=dict, compare=False, repr=False
    )

    def scale(self, one: Field, wanted: npt.NDArray[np.generic]) -> float:
        """Return the size of typical values of a field, which are the same whenever it is asked."""
        key = one.offset, len(wanted)
        if key not in self._scales:
            self._scales[key] = _rms(wanted, one)
        return self._scales[key]


@dataclass(frozen=True, slots=True)
class Comparison:
    """The outcome for one output: worst error with its bound, and the first element at fault."""

    passed: bool
    error: float = 0.0
    bound: float = 0.0
    scaled: float = 0.0
    why: str = ""


@dataclass(slots=True)
class _Tally:
    """Comparison of a stretch of one field."""

    error: float = 0.0
    bound: float = 0.0
    ratio: float = -1.0
    scaled: float = 0.0
    first: int = -1
    why: str = ""


def nothing_asked(answer: Answer) -> bool:
    """Tell whether an output may stay as it was: nothing is wanted but NaN of a size of nothing."""
    for one in answer.type.fields:
        data = values(answer.want, answer.type, one)
        kept = np.ones(len(data), np.bool_)
        if answer.untouched is not None:
            kept = ~np.repeat(answer.untouched, one.lanes)
        if answer.empty and one.scalar.kind == "f":
            kept &= ~np.isnan(to_float(data, one.scalar))
        if kept.any():
            return False
    return True


def same_bytes(left: Storage, right: Storage) -> bool:
    """Tell whether two byte arrays are equal, eight bytes at a time, up to where they differ."""
    if left.nbytes != right.nbytes:
        return False
    whole = left.nbytes // 8 * 8
    mine, other = left[:whole].view(np.uint64), right[:whole].view(np.uint64)
    parts = (slice(at, at + CHUNK) for at in range(0, len(mine), CHUNK))
    head = all(np.array_equal(mine[part], other[part]) for part in parts)
    return head and np.array_equal(left[whole:], right[whole:])


def compare(got: Storage, answer: Answer, poison: Storage | None = None) -> Comparison:
    """Judge one output. `poison` is what it held before, where untouched elements must stay."""
    if answer.untouched is None and same_bytes(got, answer.want):
        return Comparison(passed=True)
    size = answer.type.size
    touched: npt.NDArray[np.bool_] | None = None
    want = answer.want
    if answer.untouched is not None and poison is not None:
        if answer.unordered:
            got, want, why = entries(got, answer, poison)
            if why:
                return Comparison(passed=False, error=math.inf, why=why)
        else:
            rows, before = got.reshape(-1, size), poison.reshape(-1, size)
            stray = np.flatnonzero(answer.untouched & ~(rows == before).all(axis=1))
            if len(stray):
                why = f"{answer.name}[{stray[0]}] was written; the original leaves it alone"
                return Comparison(passed=False, error=math.inf, why=why)
            touched = ~answer.untouched
    elif answer.untouched is not None:
        touched = ~answer.untouched
    worst = Comparison(passed=True)
    for one, budget in zip(answer.type.fields, answer.budgets, strict=True):
        outcome = _compare_field(got, want, answer, one, budget, touched)
        if not outcome.passed:
            return outcome
        if outcome.scaled >= worst.scaled:
            worst = outcome
    return worst


def entries(got: Storage, answer: Answer, poison: Storage | None) -> tuple[Storage, Storage, str]:
    """Return what was written and what was wanted, in whatever order, and why that is not possible.

    Where nothing else was written than in the original, its elements are compared: what happens to
    equal the poison was written all the same.
    """
    if answer.untouched is None or poison is None:
        return got, answer.want, ""
    size = answer.type.size
    rows = got.reshape(-1, size)
    left = (rows == poison.reshape(-1, size)).all(axis=1)
    why = ""
    if not bool((answer.untouched & ~left).any()):
        left = answer.untouched
    elif int(left.sum()) != int(answer.untouched.sum()):
        want = answer.want.reshape(-1, size)[~answer.untouched]
        left = ~coincidence.written(rows, poison.reshape(-1, size), want)
        if int(left.sum()) != int(answer.untouched.sum()):
            why = _counts(answer, left)
    return (
        rows[~left].reshape(-1),
        answer.want.reshape(-1, size)[~answer.untouched].reshape(-1),
        why,
    )


def _counts(answer: Answer, left: npt.NDArray[np.bool_]) -> str:
    wrote = len(left) - int(left.sum())
    wanted = 0 if answer.untouched is None else int((~answer.untouched).sum())
    return f"{answer.name}: {wrote} elements were written, {wanted} were wanted"


def _compare_field(
    got: Storage,
    want: Storage,
    answer: Answer,
    one: Field,
    budget: Budget | None,
    touched: npt.NDArray[np.bool_] | None,
) -> Comparison:
    """Compare one field of all elements, in stretches on several threads."""
    g, w = values(got, answer.type, one), values(want, answer.type, one)
    if answer.unordered:
        g, w = np.sort(g), np.sort(w)
    kept = None if touched is None else np.repeat(touched, one.lanes)
    scale = answer.scale(one, w)

    short = _shortly(g, w, one, budget, kept, scale)
    if short is not None:
        return short

    def stretch(start: int) -> _Tally:
        end = start + CHUNK
        mask = None if kept is None else kept[start:end]
        odd = None if answer.odd is None else answer.odd[start:end]
        return _stretch(g[start:end], w[start:end], one, budget, (mask, odd), (answer, scale))

    starts = range(0, len(g), CHUNK)
    tallies = list(map(stretch, starts) if len(starts) < 3 else _POOL.map(stretch, starts))
    worst = _Tally()
    for start, tally in zip(starts, tallies, strict=True):
        worst.scaled = max(worst.scaled, tally.scaled)
        if tally.first >= 0:
            at = (start + tally.first) // one.lanes
            label = f".{one.name}" if one.name else ""
            why = f"{answer.name}[{at}]{label}: {tally.why}"
            return Comparison(
                passed=False, error=tally.error, bound=tally.bound, scaled=tally.scaled, why=why
            )
        if tally.ratio > worst.ratio:
            worst.error, worst.bound, worst.ratio = tally.error, tally.bound, tally.ratio
    return Comparison(passed=True, error=worst.error, bound=worst.bound, scaled=worst.scaled)


def _shortly(
    g: npt.NDArray[np.generic],
    w: npt.NDArray[np.generic],
    one: Field,
    budget: Budget | None,
    kept: npt.NDArray[np.bool_] | None,
    scale: float,
) -> Comparison | None:
    """Compare floats that are all finite and within budget; None where that does not do."""
    if budget is None or one.scalar.kind != "f" or budget.exact:
        return None
    ruler = near.Ruler(one.scalar, budget.terms(), budget.bound, scale)

    def span(start: int) -> near.Worst | None:
        part = slice(start, start + SPAN)
        return near.worst(g[part], w[part], ruler, None if kept is None else kept[part])

    starts = range(0, len(g), SPAN)
    worst = near.Worst()
    for found in map(span, starts) if len(starts) < 2 else _POOL.map(span, starts):
        if found is None:
            return None
        worst.scaled = max(worst.scaled, found.scaled)
        if found.ratio > worst.ratio:
            worst.error, worst.bound, worst.ratio = found.error, found.bound, found.ratio
    return Comparison(passed=True, error=worst.error, bound=worst.bound, scaled=worst.scaled)


def _rms(data: npt.NDArray[np.generic], one: Field) -> float:
    """Return the size of typical values, from at most a million of them."""
    step = max(1, len(data) // 1_000_000)
    wide = to_float(data[::step], one.scalar)
    finite = wide[np.isfinite(wide)]
    return float(np.sqrt(np.mean(finite**2))) if len(finite) else 0.0


def _stretch(
    g: npt.NDArray[np.generic],
    w: npt.NDArray[np.generic],
    one: Field,
    budget: Budget | None,
    marks: tuple[npt.NDArray[np.bool_] | None, npt.NDArray[np.bool_] | None],
    terms: tuple[Answer, float],
) -> _Tally:
    answer, scale = terms
    mask, undefined = marks
    if budget is None or one.scalar.kind != "f":
        differ = g != w if mask is None else (g != w) & mask
        if undefined is not None:
            differ &= ~undefined
        at = int(np.argmax(differ)) if differ.any() else -1
        why = f"got {g[at]}, want {w[at]}" if at >= 0 else ""
        error = math.inf if at >= 0 else 0.0
        return _Tally(error, 0.0, error, error, at, why)
    got, want = to_float(g, one.scalar), to_float(w, one.scalar)
    with np.errstate(all="ignore"):
        bound = budget.bound(want)
        gap = np.abs(got - want)
        gap[got == want] = 0.0
        odd = ~np.isfinite(gap)
        if odd.any():
            both = np.isnan(got) & np.isnan(want)
            gap[both] = 0.0
            gap[odd & ~both] = np.inf
            if answer.lenient:
                gap[~np.isfinite(want)] = 0.0
            if undefined is not None:
                gap[undefined & ~np.isfinite(got)] = 0.0
            if answer.spreads:
                gap[np.isnan(want) & np.isfinite(got)] = np.inf
            if answer.empty:
                gap[np.isnan(want)] = 0.0
            # Who may err by more than there are numbers may have none, and differences of such.
            beyond = bound >= LARGEST.get(one.scalar.roundoff, math.inf)
            gap[beyond & np.isfinite(want) & ~np.isfinite(got)] = 0.0
            if budget.exact and answer.infinite:
                # Where equality is asked an infinity is one, and what is NaN for it anything.
                gap[np.isnan(want)] = 0.0
                gap[np.isinf(want) & (got != want)] = np.inf
        if mask is not None:
            gap[~mask] = 0.0
        bad = gap > bound
        ratio = np.where(gap > 0, gap / np.maximum(bound, 1e-300), 0.0)
        scaled = gap / (np.abs(np.where(np.isfinite(want), want, 0)) + scale + 1e-300)
    worst = int(np.argmax(ratio)) if len(ratio) else 0
    tally = _Tally(scaled=float(scaled.max(initial=0.0)))
    if bad.any():
        at = int(np.argmax(bad))
        tally.first, tally.error, tally.bound = at, float(gap[at]), float(bound[at])
        wanted = "an infinity" if answer.infinite and np.isnan(want[at]) else f"{want[at]:.9g}"
        tally.why = (
            f"got {got[at]:.9g}, want {wanted}, error {gap[at]:.3g} > {bound[at]:.3g}"
            f" ({int(bad.sum())} of {len(bad)} elements here)"
        )
    elif len(ratio):
        tally.error, tally.bound = float(gap[worst]), float(bound[worst])
        tally.ratio = float(ratio[worst])
    return tally
