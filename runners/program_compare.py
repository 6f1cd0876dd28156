"""Compare what a candidate's run computed with what the original's runs computed.

The original is run several times first: under several poisons, and twice under the same one. From
those runs each record (a copy to the host, a buffer at its end) learns which of its words are
determined, which hold the poison still, which were computed from it, and how far floats wander
from run to run. A candidate's record is then compared word by word within those bounds.

Floats have no oracle here, so that a candidate that sums in a better order than the original has to
be let through: 32-bit floats get ten times the workload's `rtol` (a sum of n terms in another order
moves by about sqrt(n) * 6e-8, 6e-5 for a million; Higham, Accuracy and Stability, section 4.2),
relative to the larger of the element and the root mean square of its array.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

Bytes = npt.NDArray[np.uint8]
Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

# Allowed distance in units of what runs of the original were apart.
NOISE_FACTOR = 4.0
# Runs that are further apart than this share of the scale are no measure of rounding.
CHAOTIC = 0.01
# Share of elements that may be off by more than their own size allows, within the array's scale:
# results near zero of sums that cancel.
CANCELLED_SHARE = 0.1
SUM_FACTOR = 10.0
DOUBLE_FACTOR = 1e-4
HALF_RTOL, BFLOAT_RTOL = 4e-3, 3e-2

ITEM = {"f4": 4, "f8": 8, "f2": 2, "b2": 2, "int": 4}
_FLOAT_TYPES = {
    "float": "f4", "float1": "f4", "float2": "f4", "float3": "f4", "float4": "f4",
    "double": "f8", "double1": "f8", "double2": "f8", "double3": "f8", "double4": "f8",
    "__half": "f2", "__half2": "f2", "half": "f2", "half2": "f2",
    "__nv_bfloat16": "b2", "__nv_bfloat162": "b2",
    "std::complex<float>": "f4", "thrust::complex<float>": "f4",
    "std::complex<double>": "f8", "thrust::complex<double>": "f8",
}  # fmt: skip
_INTEGER = re.compile(
    r"(unsigned |signed )?(char|short|int|long|long long|bool|unsigned|__int128)\d?"
    r"|u?(char|short|int|long|longlong)[1-4]|u?int(8|16|32|64)_t|bool"
)


@dataclass(frozen=True, slots=True)
class Bounds:
    """Relative and absolute distance that the workload allows."""

    rtol: float = 1e-5
    atol: float = 1e-6

    def of(self, kind: str) -> float:
        """Return the relative bound for a kind of float: f4, f8, f2, b2.

        >>> Bounds(1e-5).of("f2")
        0.004
        """
        return {
            "f4": self.rtol * SUM_FACTOR,
            "f8": self.rtol * DOUBLE_FACTOR,
            "f2": max(self.rtol, HALF_RTOL),
            "b2": max(self.rtol, BFLOAT_RTOL),
        }[kind]


@dataclass(frozen=True, slots=True)
class Expectation:
    """What runs of the original taught about one record.

    `kinds` are the readings under which a word may be right. `excluded` marks words (4 bytes)
    whose value depends on memory that nothing wrote; `untouched` those that nothing wrote at all.
    `noise` is the largest distance between runs, for each kind of float. `unordered` tells that
    runs hold the same words in another order; `unstable` that they hold other words.
    """

    kinds: tuple[str, ...]
    excluded: Mask | None = None
    untouched: Mask | None = None
    noise: dict[str, float] = field(default_factory=dict)
    unordered: bool = False
    unstable: bool = False


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a candidate's record compares: largest error as a share of its bound, and what is off."""

    passed: bool
    error: float = 0.0
    bound: float = 0.0
    why: str = ""


def kinds_of(types: frozenset[str], sample: Bytes) -> tuple[str, ...]:
    """Return the readings of a buffer, from the kernels' parameter types or from its values.

    >>> kinds_of(frozenset({"float const"}), np.zeros(4, np.uint8))
    ('f4',)
    """
    found: set[str] = set()
    for text in types:
        name = " ".join(w for w in text.split() if w not in {"const", "volatile", "__restrict__"})
        if name in _FLOAT_TYPES:
            found.add(_FLOAT_TYPES[name])
        elif _INTEGER.fullmatch(name):
            found.add("int")
        else:
            found.add("?")
    if found and "?" not in found:
        return tuple(sorted(found))
    return tuple(sorted((found - {"?"}) | set(guess(sample))))


def guess(sample: Bytes) -> tuple[str, ...]:
    """Tell from its values what a buffer holds: floats have exponents near that of one.

    Small integers read as floats are denormal, hashes and packed bytes spread over all exponents.
    """
    readings = []
    for kind, real, shift, ones, centre, reach in (
        ("f4", np.uint32, 23, 0xFF, 127, 40),
        ("f8", np.uint64, 52, 0x7FF, 1023, 120),
    ):
        words = sample[: sample.size // ITEM[kind] * ITEM[kind]].view(real)
        words = words[words != 0][:65536]
        if words.size == 0:
            continue
        exponent = ((words >> real(shift)) & real(ones)).astype(np.int64)
        fine = (np.abs(exponent - centre) <= reach) | (exponent == ones)
        if fine.mean() >= 0.98 and (exponent != ones).any():
            readings.append(kind)
    if readings == ["f4", "f8"]:
        # A pair of floats reads as a double too; whole numbers in doubles have empty low words.
        words = sample[: sample.size // 8 * 8].view(np.uint32)[::2]
        readings = ["f4", "f8"] if (words == 0).mean() > 0.5 else ["f4"]
    return tuple(readings) or ("int",)


def learn(runs: Sequence[Bytes], twice: Bytes | None, types: frozenset[str]) -> Expectation:
    """Learn what a record holds from runs under zero, random and NaN poison, in this order.

    `twice` is a second run under the random poison. `runs` may hold one array when the program is
    only ever run with zeroed memory; every array has the same size.
    """
    kinds = kinds_of(types, runs[0])
    usable = runs[0].size // 4 * 4
    words = [run[:usable].view(np.uint32) for run in runs]
    excluded = untouched = None
    if len(words) == 3 and usable:
        differs = (words[0] != words[1]) | (words[0] != words[2])
        untouched = (words[0] == 0) & (words[2] == 0xFFFFFFFF) & differs
        excluded = differs & ~untouched
    again = words[min(1, len(words) - 1)]
    second = twice[:usable].view(np.uint32) if twice is not None else again
    moves = again != second
    if not moves.any() and (excluded is None or not excluded.any()):
        return Expectation(kinds, None, _some(untouched))
    # A sum by atomics may agree in two runs and differ in the third: what stays within a hundredth
    # under every poison is rounding, what was computed from poison is far off or no number.
    judged = np.ones(usable // 4, bool) if untouched is None else ~untouched
    noise = _wander(kinds, words[0], [*words[1:], second], judged)
    if noise:
        return Expectation(kinds, None, _some(untouched), noise)
    if not moves.any():
        return Expectation(kinds, _some(excluded), _some(untouched))
    same_words = bool((np.sort(again) == np.sort(second)).all())
    return Expectation(kinds, None, _some(untouched), unordered=same_words, unstable=not same_words)


def _wander(
    kinds: Sequence[str],
    first: npt.NDArray[np.uint32],
    others: Sequence[npt.NDArray[np.uint32]],
    judged: Mask,
) -> dict[str, float]:
    """Return how far runs are apart in each kind of float; empty when that is no rounding."""
    noise: dict[str, float] = {}
    for kind in kinds:
        if kind == "int":
            continue
        a, at = _values(kind, first), _spread(kind, judged)
        apart = 0.0
        for other in others:
            b = _values(kind, other)
            if not np.array_equal(np.isfinite(a) | ~at[: a.size], np.isfinite(b) | ~at[: b.size]):
                return {}
            both = at[: a.size] & np.isfinite(a) & np.isfinite(b)
            if both.any():
                with np.errstate(all="ignore"):
                    apart = max(apart, float(np.abs(a[both] - b[both]).max()))
        if apart > CHAOTIC * _scale(kind, first[judged]):
            return {}
        noise[kind] = apart
    return noise


def loosen(expected: Expectation, one: Bytes | None, two: Bytes | None) -> Expectation:
    """Allow what another rounding of the original changes, up to a hundredth of the scale.

    Beyond that the computation is chaotic and its rounding no measure of anything.
    """
    if one is None or two is None or one.size != two.size or np.array_equal(one, two):
        return expected
    usable = one.size // 4 * 4
    a, b = one[:usable].view(np.uint32), two[:usable].view(np.uint32)
    noise = dict(expected.noise)
    for kind in expected.kinds:
        if kind == "int":
            continue
        apart = _distance(kind, a, b)
        if apart <= CHAOTIC * _scale(kind, a):
            noise[kind] = max(apart, noise.get(kind, 0.0))
    return replace(expected, noise=noise)


def compare(want: Bytes, got: Bytes, expected: Expectation, bounds: Bounds) -> Outcome:
    """Compare a candidate's record with the original's under the same poison."""
    if want.size != got.size:
        return Outcome(passed=False, why=f"{got.size} bytes instead of {want.size}")
    if expected.unstable or np.array_equal(want, got):
        return Outcome(passed=True)
    usable = want.size // 4 * 4
    if not np.array_equal(want[usable:], got[usable:]):
        return Outcome(passed=False, why="the last bytes differ")
    wanted, found = want[:usable].view(np.uint32), got[:usable].view(np.uint32)
    if expected.unordered:
        wanted, found = np.sort(wanted), np.sort(found)
        same = bool((wanted == found).all())
        return Outcome(
            passed=same, why="" if same else "other values than the original's, in any order"
        )
    judged = wanted != found
    if expected.untouched is not None and (judged & expected.untouched).any():
        return Outcome(passed=False, why="writes where the original writes nothing")
    if expected.excluded is not None:
        judged &= ~expected.excluded
    if not judged.any():
        return Outcome(passed=True)
    outcomes = [
        _floats(kind, wanted, found, judged, expected.noise.get(kind, 0.0), bounds)
        for kind in expected.kinds
        if kind != "int"
    ]
    if not outcomes:
        at = int(np.flatnonzero(judged)[0])
        count = int(judged.sum())
        text = f"{count} of {judged.size} words differ, first {wanted[at]} became {found[at]}"
        return Outcome(passed=False, error=1.0, why=text)
    return min(outcomes, key=lambda o: (not o.passed, o.error))


def _some(mask: Mask | None) -> Mask | None:
    return mask if mask is not None and mask.any() else None


def _values(kind: str, words: npt.NDArray[np.uint32]) -> Floats:
    if kind == "f8":
        return words[: words.size // 2 * 2].view(np.float64)
    with np.errstate(all="ignore"):
        if kind == "b2":
            return (words.view(np.uint16).astype(np.uint32) << 16).view(np.float32).astype(float)
        return words.view(np.float16 if kind == "f2" else np.float32).astype(np.float64)


def _spread(kind: str, mask: Mask) -> Mask:
    """Turn a mask over words into one over elements."""
    if kind == "f8":
        return np.asarray(mask[: mask.size // 2 * 2].reshape(-1, 2).any(axis=1), np.bool_)
    return np.repeat(mask, 2) if kind in {"f2", "b2"} else mask


def _scale(kind: str, words: npt.NDArray[np.uint32]) -> float:
    values = _values(kind, words)
    finite = values[np.isfinite(values)]
    with np.errstate(all="ignore"):
        return float(np.sqrt(np.mean(finite * finite))) if finite.size else 0.0


def _distance(kind: str, one: npt.NDArray[np.uint32], two: npt.NDArray[np.uint32]) -> float:
    a, b = _values(kind, one), _values(kind, two)
    both = np.isfinite(a) & np.isfinite(b)
    with np.errstate(all="ignore"):
        return float(np.abs(a[both] - b[both]).max()) if both.any() else 0.0


def _floats(
    kind: str,
    wanted: npt.NDArray[np.uint32],
    found: npt.NDArray[np.uint32],
    judged: Mask,
    noise: float,
    bounds: Bounds,
) -> Outcome:
    a, b = _values(kind, wanted), _values(kind, found)
    at = _spread(kind, judged)
    a, b = a[at[: a.size]], b[at[: b.size]]
    total = max(1, at.size)
    nan = np.isnan(a) != np.isnan(b)
    if nan.any():
        what = "NaN where the original has a number" if np.isnan(b[nan]).any() else "lost a NaN"
        return Outcome(passed=False, error=float("inf"), why=f"{what} ({int(nan.sum())} elements)")
    number = ~np.isnan(a)
    a, b = a[number], b[number]
    infinite = np.isinf(a) | np.isinf(b)
    if (a[infinite] != b[infinite]).any():
        return Outcome(
            passed=False, error=float("inf"), why="overflows otherwise than the original"
        )
    a, b = a[~infinite], b[~infinite]
    if a.size == 0:
        return Outcome(passed=True)
    rtol, scale = bounds.of(kind), _scale(kind, wanted)
    with np.errstate(all="ignore"):
        error = np.abs(a - b)
        slack = NOISE_FACTOR * noise + min(bounds.atol, rtol * scale)
        own = rtol * np.abs(a) + slack
        wide = rtol * np.maximum(np.abs(a), scale) + slack
        worst = int(np.argmax(error / np.maximum(wide, 1e-300)))
        share = float(error[worst] / max(wide[worst], 1e-300))
        cancelled = float((error > own).sum()) / total
    if share > 1:
        text = (
            f"{a[worst]:.9g} became {b[worst]:.9g} ({kind}, {int((error > wide).sum())} elements)"
        )
        return Outcome(passed=False, error=share, bound=1.0, why=text)
    if cancelled > CANCELLED_SHARE:
        text = f"{cancelled:.0%} of the elements are off by more than their own size allows"
        return Outcome(passed=False, error=share, bound=1.0, why=text)
    return Outcome(passed=True, error=share, bound=1.0)
