"""Infinities in one array of floats, and zeros in a third of the places of all others.

Zero times infinity is NaN: who leaves products with zero out loses it. That is only said
(`runners.zero_products`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from runners.cuda_types import from_float, to_float, values
from runners.inputs import FREE, Arrays, interleave, stream
from runners.spec import Argument, Work

# One of so many, so that most sums of a short row have none; and a share of all others.
ONE_INFINITE, ZEROS = 64, 1 / 3
_WORD = "zeros beside infinities in"
_FAMILY = re.compile(rf"{_WORD} (\w+)")


def named(name: str) -> str:
    """Return the family in which an array has infinities.

    >>> infinite(named("k")), infinite("declared")
    ('k', '')
    """
    return f"{_WORD} {name}"


def infinite(family: str) -> str:
    """Return which array of a family has infinities; nothing for any other family."""
    found = _FAMILY.fullmatch(family)
    return found[1] if found else ""


def usable(work: Work) -> Iterator[Argument]:
    """Yield the arrays of floats that are only read and have no meaning of their own."""
    for argument in work.arguments:
        floats = all(one.scalar.kind == "f" for one in argument.type.fields)
        if argument.type.pointer and argument.role == "input" and argument.init in FREE and floats:
            yield argument


def applied(name: str, work: Work, arrays: Arrays, seed: int) -> Arrays:
    """Return arrays of which one has a few infinities of one sign, and all others zeros."""
    out = dict(arrays)
    for argument in usable(work):
        rng = stream(seed, named(name), argument.name)
        kind, own = argument.type, argument.name == name
        parts = []
        for one in kind.fields:
            wide = to_float(values(arrays[argument.name], kind, one), one.scalar)
            made = wide.copy()
            if own and len(wide):
                made[rng.integers(0, len(wide), max(1, len(wide) // ONE_INFINITE))] = np.inf
            elif not own:
                made[rng.random(len(wide)) < ZEROS] = 0.0
            parts.append(from_float(made, one.scalar))
        out[argument.name] = interleave(parts, kind, len(arrays[argument.name]) // kind.size)
    return out
