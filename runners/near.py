"""The worst of many errors, found without working out the budget of each.

Nearly all results of a right candidate are far within their budget, and what decides is the one
that comes nearest to its own. A bound that is cheap, and never above the budget, tells which may be
that one; for those alone the budget is asked. What is found is what asking for all would find. One
pass over memory in C++ tells; where no library can be had, all are asked for.
"""

from __future__ import annotations

import ctypes
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from runners.cuda_types import Scalar
from runners.fault import Fault
from runners.images import own_folder, scanning

Floats = npt.NDArray[np.float64]
Native = npt.NDArray[Any]
Flags = npt.NDArray[np.bool_]

# What single precision may add to or take from a quotient, at the least numbers too: there four and
# a half of the smallest step are five.
SLACK = 1.12
# Quotients with the size of typical results are good to this.
FINE = 1e-5
# Where more than this share may be the worst one, all are asked for.
MOST_ASKED = 0.25
# Sizes of typical results that single precision adds to others.
_LEAST_SCALE, _MOST_SCALE = 1e-30, 1e37


@dataclass(frozen=True, slots=True)
class Terms:
    """What a budget is made of, for sizes of every exponent.

    Of a size s with binary exponent e (as frexp counts) nothing below the least of
    `noise[e + lowest] + slope * s + few` and the larger of `rtol * s + atol` and
    `share * noise[e + lowest]` is beyond the budget, and nothing below `ground`.
    """

    noise: Floats
    lowest: int
    slope: float
    few: float
    share: float
    rtol: float
    atol: float
    ground: float


@dataclass(slots=True)
class Worst:
    """The largest quotient of error and budget with what it is of, and that of error and size."""

    error: float = 0.0
    bound: float = 0.0
    ratio: float = -1.0
    scaled: float = 0.0


@dataclass(frozen=True, slots=True)
class Ruler:
    """What errors of scalars are measured with.

    `budget` returns the largest error accepted of wanted values, `terms` tell what it is not below.
    `scale` is the size of typical results.
    """

    scalar: Scalar
    terms: Terms
    budget: Callable[[Floats], Floats]
    scale: float


def _made(number: type[ctypes._SimpleCData[float]]) -> type[ctypes.Structure]:
    names = ("slope", "few", "share", "rtol", "atol", "ground", "least", "scale")
    fields = [("noise", ctypes.c_void_p), *((name, number) for name in names)]
    return type("Terms", (ctypes.Structure,), {"_fields_": fields})


@dataclass(frozen=True, slots=True)
class _Scanner:
    """The library's functions for one type of number, and how its bits are laid out."""

    block: int
    bits: type[np.unsignedinteger[Any]]
    terms: type[ctypes.Structure]
    bias: int
    scan: Any
    pick: Any

    def table(self, terms: Terms) -> Native:
        """Return noise by the exponents of the type, rounded down; of zero the least there is."""
        kind = np.dtype(f"f{np.dtype(self.bits).itemsize}")
        exponents = np.arange(2 * self.bias + 2) - (self.bias - 1) - terms.lowest
        known = terms.noise[np.clip(exponents, 0, len(terms.noise) - 1)]
        # Zero has an exponent of zero for frexp, and what is denormal has several here.
        known[0] = min(known[0], terms.noise[: exponents[1]].min(), terms.noise[-terms.lowest])
        top = np.finfo(kind).max
        found: Native = np.nextafter(np.minimum(known, top).astype(kind), kind.type(0))
        return found


def ready() -> bool:
    """Load the library, or build it, before strangers' code runs; tell whether it is there."""
    return bool(_scanners())


def _library() -> ctypes.CDLL:
    folder = own_folder()
    if folder is not None:
        return ctypes.CDLL(str(scanning(folder)))
    with tempfile.TemporaryDirectory() as scratch:
        return ctypes.CDLL(str(scanning(Path(scratch))))


@lru_cache(maxsize=1)
def _scanners() -> dict[str, _Scanner]:
    try:
        library = _library()
    except (Fault, OSError, subprocess.SubprocessError):
        return {}
    library.near_block.restype = ctypes.c_size_t
    found = {}
    arrays, count = [ctypes.c_void_p] * 3, ctypes.c_size_t
    for name, number, word, bits, bias in (
        ("float", ctypes.c_float, ctypes.c_uint32, np.uint32, 127),
        ("double", ctypes.c_double, ctypes.c_uint64, np.uint64, 1023),
    ):
        scan = getattr(library, f"near_scan_{name}")
        scan.argtypes = [*arrays, count, *[ctypes.c_void_p] * 3]
        scan.restype = None
        pick = getattr(library, f"near_pick_{name}")
        more = [ctypes.c_void_p, ctypes.c_int, word, *[ctypes.c_void_p] * 2, count]
        pick.argtypes = [*arrays, count, *more]
        pick.restype = count
        block = int(library.near_block())
        size = 8 * np.dtype(bits).itemsize
        found[f"float{size}"] = _Scanner(block, bits, _made(number), bias, scan, pick)
    return found


def worst(got: Native, want: Native, ruler: Ruler, kept: Flags | None = None) -> Worst | None:
    """Return the worst of results that are all finite and within budget; None where some are not.

    `got` and `want` hold scalars of the ruler's; `kept` tells which of them count. None says only
    that each has to be looked at.
    """
    if not _LEAST_SCALE < ruler.scale < _MOST_SCALE:
        return None
    with np.errstate(all="ignore"):
        both = _native(got, ruler.scalar), _native(want, ruler.scalar)
        scanner = _scanners().get(both[0].dtype.name)
        # The library trusts what it is told of its arrays.
        alike = both[0].dtype == both[1].dtype and 0 < len(got) == len(want)
        if scanner is None or not alike or (kept is not None and len(kept) != len(got)):
            return None
        return _Pass(both, kept, scanner, ruler).worst()


class _Pass:
    """Two arrays and the library that goes over them."""

    def __init__(
        self, both: tuple[Native, Native], kept: Flags | None, scanner: _Scanner, ruler: Ruler
    ) -> None:
        self._both, self._scanner, self._ruler = both, scanner, ruler
        self._kept = None if kept is None else np.ascontiguousarray(kept, np.bool_)
        flags = None if self._kept is None else self._kept.ctypes.data
        self._arrays = (both[0].ctypes.data, both[1].ctypes.data, flags, len(both[0]))
        blocks = -(-len(both[0]) // scanner.block)
        self._far, self._share = (np.empty(blocks, scanner.bits) for _ in range(2))
        own = ruler.terms
        self._noise = scanner.table(own)
        few, atol, ground = (_down(one, both[0].dtype) for one in (own.few, own.atol, own.ground))
        some = (own.slope, few, own.share, own.rtol, atol, ground)
        least = float(np.finfo(both[0].dtype).smallest_subnormal)
        self._terms = scanner.terms(self._noise.ctypes.data, *some, least, ruler.scale)

    def worst(self) -> Worst | None:
        kind, terms = self._both[0].dtype, ctypes.addressof(self._terms)
        self._scanner.scan(*self._arrays, terms, self._far.ctypes.data, self._share.ctypes.data)
        far, share = (data.max(keepdims=True).view(kind)[0] for data in (self._far, self._share))
        if not (np.isfinite(far) and np.isfinite(share)):
            return None
        found = Worst(ratio=0.0)
        if far == 0:  # nothing differs
            first = self._both[1][:1].astype(np.float64)
            found.bound = float(self._ruler.budget(first)[0])
            return found
        # That of the largest quotient tells which others need not be asked for.
        top = self._picked(float(far) * (1 - FINE))
        least = np.inf if top is None else self._asked(top, found)
        picked = self._picked(least / SLACK) if least <= 1 else None
        if picked is None or self._asked(picked, found) > 1:
            return None
        scaled = self._picked(float(share) * (1 - FINE), shares=True)
        if scaled is None:
            return None
        errors, wanted = self._errors(scaled)
        found.scaled = float((errors / (np.abs(wanted) + self._ruler.scale + 1e-300)).max())
        return found

    def _picked(self, least: float, *, shares: bool = False) -> npt.NDArray[np.int64] | None:
        """Return where quotients are no less; None where that is nearly everywhere."""
        at = np.empty(max(64, int(MOST_ASKED * self._arrays[3])), np.int64)
        bits = int(np.array([least], self._both[0].dtype).view(self._scanner.bits)[0])
        blocks = self._share if shares else self._far
        terms = (ctypes.addressof(self._terms), int(shares), bits)
        room = (blocks.ctypes.data, at.ctypes.data, len(at))
        found = int(self._scanner.pick(*self._arrays, *terms, *room))
        return at[:found] if 0 < found <= len(at) else None

    def _errors(self, at: npt.NDArray[np.int64]) -> tuple[Floats, Floats]:
        mine, goal = self._both
        wanted = goal[at].astype(np.float64)
        return np.abs(mine[at].astype(np.float64) - wanted), wanted

    def _asked(self, at: npt.NDArray[np.int64], found: Worst) -> float:
        """Note the worst of some; return its quotient, more than one where any is not within."""
        errors, wanted = self._errors(at)
        bounds = self._ruler.budget(wanted)
        if not bool((errors <= bounds).all()):
            return np.inf
        ratios = np.where(errors > 0, errors / np.maximum(bounds, 1e-300), 0.0)
        place = int(np.argmax(ratios))
        found.error, found.bound = float(errors[place]), float(bounds[place])
        found.ratio = float(ratios[place])
        return found.ratio


def _down(value: float, kind: np.dtype[Any]) -> float:
    """Return the largest number of a type that is no larger."""
    near = kind.type(min(value, float(np.finfo(kind).max)))
    return float(near if near <= value else np.nextafter(near, kind.type(0)))


def _native(data: Native, scalar: Scalar) -> Native:
    """Return scalars in the least precision in which differences of theirs are as good as exact."""
    if scalar.name == "bfloat16":
        return np.asarray((data.astype(np.uint32) << 16).view(np.float32))
    return data.astype(np.float32) if data.dtype == np.float16 else np.ascontiguousarray(data)
