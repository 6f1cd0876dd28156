"""Shares that are all of one size, and whole numbers that are all at one end of their range.

The significand of a share that is drawn is one and a half by the mean: of 1536 of them the product
is a double, since those near two and those near one make up for each other. Where all are nearly
one, or all just below a half, each is nearly two. And where whole numbers choose between a share
and what it leaves of one, those are at one end, and at the other. So all shares of an array are in
a narrow band below one, below a half, or above it, with all that they were drawn by in their last
digits: equal numbers would err all in one direction, as sums of declared ones do not. No band holds
a multiple of a twentieth or a power of two, where bins begin.

Asked are originals that take logarithms: a product of shares is what a candidate may have in place
of their sum. In rows that are sixteen times as long as declared, where such are asked anyway.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from runners import asked as text
from runners import full_counts, sizes
from runners.cuda_types import from_float, to_float, values
from runners.families import SHARE_BANDS, captured_work, ended
from runners.inputs import Arrays, interleave
from runners.spec import Argument, Work
from runners.whole_families import at_ends
from runners.whole_numbers import row_lengths

# Where a band begins, and how wide it is: below one, below a half, above a half.
BANDS = ((0.984375, 0.0125), (0.484375, 0.0125), (0.50390625, 0.0125))
# Rows are so long at least; cases that are asked.
LEAST_ROW, MOST_CASES = 64, 2

Case = Mapping[str, float]


def asked(work: Work) -> Iterator[tuple[Case, str]]:
    """Yield cases and families: each band, with whole numbers at either end if there are some."""
    shares = [*_shares(work)]
    if not shares or text.LOGARITHM not in work.calls or captured_work(work) or work.loose:
        return
    declared = max(_row(shares, case.values) for case in work.cases)
    lines = [line[-1] for line in full_counts.cases(work)]
    long = [case for case in lines if _row(shares, case) > max(declared, LEAST_ROW)]
    for case in long[:MOST_CASES]:
        for band in range(len(BANDS)):
            for end in ("low", "high") if ended(work) else ("",):
                yield case, f"{SHARE_BANDS} {band} {end}".rstrip()


def _row(shares: list[Argument], case: Case) -> int:
    """Return how long the rows of shares are; of one size alone all of an array is one."""
    return max(
        next(iter(row_lengths(one.shape or "1", case)), sizes.buffer(one, case)) for one in shares
    )


def _shares(work: Work) -> Iterator[Argument]:
    for argument in work.arguments:
        only = argument.type.scalar
        share = argument.type.pointer and argument.role == "input" and argument.init == "uniform"
        if share and only is not None and only.name in {"float", "double"}:
            yield argument


def applied(family: str, work: Work, arrays: Arrays, seed: int, case: Case) -> Arrays:
    """Return arrays whose shares are all in a band; the words behind a family's name say which."""
    del seed, case
    _, band, *ends = family.split()
    begin, width = BANDS[int(band)]
    # By turns of an even or odd number all arrays are at one end or the other, the first first.
    out = dict(at_ends(work, arrays, ends == ["high"])) if ends else dict(arrays)
    for argument in _shares(work):
        if argument.name not in arrays:
            continue
        kind, one = argument.type, argument.type.fields[0]
        wide = to_float(values(arrays[argument.name], kind, one), one.scalar)
        made = from_float(np.asarray(begin + width * np.clip(wide, 0, 1)), one.scalar)
        out[argument.name] = interleave([made], kind, len(wide) // one.lanes)
    return out
