"""Which other values a whole number that is passed by value may have, and how a case says so.

One that a workload gives as a literal is declared, and code made for it is right. Others are tried
only to say so (`runners.other_values`). They are few and near: what is smaller fits what the
declared one does, and of another parity, or no power of two, it takes another way in code that
holds for one alone. Of 64 bits one has, too, what 32 of them hold as a fraction.
"""

from __future__ import annotations

import re
import zlib

import numpy as np

from runners.cuda_types import Scalar

# What a case holds in `spec.MOVED` for one of them: which scalar, and which of its other values.
BEGIN, EACH, MOST = 1 << 25, 1 << 23, 4
END = BEGIN + MOST * EACH
# The golden ratio's part of 32 bits: a fraction that is no short one.
FRACTION = 0x9E3779B9
_LITERAL = re.compile(r"-?\d+")


def declared(text: str, scalar: Scalar | None) -> int | None:
    """Return the whole number that a value's text is; None where it depends on the case.

    >>> from runners.cuda_types import SCALARS
    >>> declared("7", SCALARS["int32"]), declared("n", SCALARS["int32"])
    (7, None)
    """
    word = text.strip()
    if scalar is None or scalar.kind not in "iub" or not _LITERAL.fullmatch(word):
        return None
    return int(word)


def others(text: str, scalar: Scalar | None) -> tuple[int, ...]:
    """Return other values, the safest first; none of what is no literal whole number.

    >>> from runners.cuda_types import SCALARS
    >>> others("1000003", SCALARS["uint32"])
    (1000002, 666668, 1000004)
    >>> others("0", SCALARS["uint64"]), others("true", SCALARS["bool"])
    ((1, 2654435769), ())
    """
    number = declared(text, scalar)
    if number is None or scalar is None:
        return ()
    if scalar.kind == "b":
        return (1 - number,) if number in {0, 1} else ()
    wide = (number + FRACTION,) if scalar.size == np.dtype(np.int64).itemsize else ()
    sign, size = (-1 if number < 0 else 1), abs(number)
    if size < 2:
        found = (number + sign, *wide, 0)
    else:
        part = 2 * size // 3
        part += (1 if part + 1 < size else -1) if part % 2 == size % 2 else 0
        found = (number - sign, sign * part, *wide, number + sign)
    bounds = np.iinfo(scalar.dtype)
    fit = (one for one in found if bounds.min <= one <= bounds.max and one != number)
    return tuple(dict.fromkeys(fit))[:MOST]


def bounds(source: str, name: str) -> bool:
    """Tell whether a text compares a scalar by size: it may be how often something is done.

    >>> bounds("while (i < n) f(m);", "n"), bounds("while (i < n) f(m);", "m")
    (True, False)
    """
    given = re.escape(name)
    return re.search(rf"[<>]=?\s*{given}\b|\b{given}\s*[<>]", source) is not None


def code(name: str, at: int) -> int:
    """Return what a case holds where the scalar of that name has its other value at a place."""
    return BEGIN + at * EACH + zlib.crc32(name.encode()) % EACH


def another(name: str, text: str, scalar: Scalar | None, many: int) -> int | None:
    """Return the value that a case gives a scalar instead of its declared one; None where none."""
    found = others(text, scalar) if BEGIN <= many < END else ()
    return next((value for at, value in enumerate(found) if many == code(name, at)), None)


def moved(many: float) -> bool:
    """Tell whether it is a whole number that a case gives another value."""
    return BEGIN <= many < END


def alike(many: float, other: float) -> bool:
    """Tell whether two cases give the same scalar other values."""
    return moved(many) and moved(other) and many % EACH == other % EACH
