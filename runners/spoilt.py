"""Which arrays of floats are given a NaN or an infinity: long ones, in which few are odd."""

from __future__ import annotations

from runners.inputs import Arrays
from runners.spec import Work
from runners.whole_families import LEAST_WIDE

# Elements of a table that whole numbers choose from.
LEAST_CHOSEN = 1024


def least(work: Work, arrays: Arrays) -> int:
    """Return how many elements an array of floats has that is given a NaN or an infinity.

    Short ones are coefficients: right code multiplies them by the zeros it pads a tile with, or
    leaves those products out, and a NaN would tell one from the other. What whole numbers choose
    from is no coefficient.
    """
    counts = [
        len(arrays[a.name]) // a.type.size
        for a in work.arguments
        if a.name in arrays and any(one.scalar.kind == "f" for one in a.type.fields)
    ]
    chosen = any(
        one.scalar.kind in "iu" and one.scalar.size >= LEAST_WIDE
        for a in work.arguments
        if a.name in arrays and a.role == "input"
        for one in a.type.fields
    )
    found = max(counts, default=0) // 8
    return min(found, LEAST_CHOSEN) if chosen else found
