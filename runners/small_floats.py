"""Floats near zero: what is added against a division by zero, or set there, is all of it then.

Inputs are made smaller by a power of two, so that what a kernel computes from them scales without
an error. Which power is asked about beside a candidate's own constants is in
`runners.small_constants`; those of which squares are no floats are in `runners.other_powers`.
"""

from __future__ import annotations

import re

import numpy as np
import numpy.typing as npt

from runners.cuda_types import Scalar

# Fourth powers of numbers this small are no denormals, which some ways of computing lose.
USUAL = 30
# By how much floats are smaller whose squares are zero, and larger (below zero) whose squares are
# infinite, and those of halves are not.
OF_DOUBLES = (80, -66)
# And floats that are no normal ones, nor are sums of thousands: their reciprocals are infinite.
OF_FLOATS = (140,)
SAID_ALONE = frozenset({*OF_DOUBLES, *OF_FLOATS})
# A half has no smaller numbers with all of their bits, and few larger ones.
LEAST_OF_HALVES, OF_HALVES = -8, 10
_WORD = "times 2^"
_FAMILY = re.compile(re.escape(_WORD) + r"(-?\d{1,3})(?: in (\w+))?")


def named(powers: int, only: str = "") -> str:
    """Return the family of inputs that are smaller by so many powers of two, or of `only` one.

    >>> named(30), powers(named(30)), powers(named(-66)), powers("declared")
    ('times 2^-30', 30, -66, None)
    >>> named(-66, "grad"), powers(named(-66, "grad"))
    ('times 2^66 in grad', -66)
    """
    return f"{_WORD}{-powers}" + (f" in {only}" if only else "")


def alone(family: str) -> str:
    """Return the one array that a family makes smaller or larger; nothing where it is every one.

    >>> alone(named(-66, "grad")), alone(named(-66)), alone("declared")
    ('grad', '', '')
    """
    found = _FAMILY.fullmatch(family)
    return (found[2] or "") if found else ""


def powers(family: str) -> int | None:
    """Return by how many powers of two a family's floats are smaller; None for any other family."""
    found = _FAMILY.fullmatch(family)
    return -int(found[1]) if found else None


def scaled(data: npt.NDArray[np.floating], scalar: Scalar, by: int) -> npt.NDArray[np.floating]:
    """Return floats that are smaller by so many powers of two, as far as their type has them."""
    if scalar.name == "half":
        by = max(LEAST_OF_HALVES, min(by, OF_HALVES))
    return np.asarray(np.ldexp(data, -by))
