"""Infinities in one array of floats, and zeros in a third of the places of all others.

Zero times infinity is NaN: who leaves products with zero out loses it. That is only said
(`runners.zero_products`). Who leaves out tiles of nothing but zeros finds none among these, as
large as they may be; so there are infinities beside other arrays of zeros alone, too.
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
# Between the names of arrays: no array can have this name in C++.
_AND = " and "
_FAMILY = re.compile(rf"{_WORD} (\w+)(?:, all of (\w+(?:{_AND}\w+)*))?")


def named(name: str, *blank: str) -> str:
    """Return the family in which an array has infinities, and those of `blank` nothing but zeros.

    >>> infinite(named("k")), infinite(named("k", "q", "v")), infinite("declared")
    ('k', 'k', '')
    """
    return f"{_WORD} {name}" + (f", all of {_AND.join(blank)}" if blank else "")


def infinite(family: str) -> str:
    """Return which array of a family has infinities; nothing for any other family."""
    found = _FAMILY.fullmatch(family)
    return found[1] if found else ""


def blank(family: str) -> str:
    """Say which arrays of a family are all zeros; nothing where a third of all others is.

    >>> blank(named("k", "q")), blank(named("k", "q", "v")), blank(named("k"))
    ('q', 'q and v', '')
    """
    found = _FAMILY.fullmatch(family)
    return (found[2] or "") if found else ""


def usable(work: Work) -> Iterator[Argument]:
    """Yield the arrays of floats that are only read and have no meaning of their own."""
    for argument in work.arguments:
        free = argument.role == "input" and argument.init in FREE
        if argument.type.pointer and free and floats(argument):
            yield argument


def floats(argument: Argument) -> bool:
    """Tell whether an argument is of floats and nothing else."""
    return all(one.scalar.kind == "f" for one in argument.type.fields)


def applied(family: str, work: Work, arrays: Arrays, seed: int) -> Arrays:
    """Return arrays of which one has a few infinities of one sign, and others zeros."""
    name, empty, out = infinite(family), blank(family).split(_AND), dict(arrays)
    for argument in usable(work):
        rng = stream(seed, named(name), argument.name)
        kind, own = argument.type, argument.name == name
        parts = []
        for one in kind.fields:
            wide = to_float(values(arrays[argument.name], kind, one), one.scalar)
            made = wide.copy()
            if own and len(wide):
                made[rng.integers(0, len(wide), max(1, len(wide) // ONE_INFINITE))] = np.inf
            elif argument.name in empty:
                made[:] = 0.0
            elif not own and not any(empty):
                made[rng.random(len(wide)) < ZEROS] = 0.0
            parts.append(from_float(made, one.scalar))
        out[argument.name] = interleave(parts, kind, len(arrays[argument.name]) // kind.size)
    return out
