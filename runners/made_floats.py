"""Floats that a candidate makes of whole numbers and its original does not.

A float that holds every whole number of its size is no fault, and most numbers are small: what is
compared, or squared, as a float is wrong beyond 2²⁴ alone. So where a candidate's PTX makes floats
of whole numbers that have more digits, and its original's makes none, both are asked about numbers
that such a float does not tell apart, and about one element alone in a row whose places have larger
squares (`runners.close_numbers`). Where the original does all in whole numbers, so that it is the
same whatever the order, nothing is asked that a rounding could make another.

Indices of more elements than a float counts are asked about by `runners.outsized`.
PTX ISA 9.0: "Data Movement and Conversion Instructions: cvt".
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from runners import sizes
from runners.close_numbers import LONES, close, reaching
from runners.contents import Combination
from runners.families import DECLARED, captured_work, ended
from runners.sizes import TIMES_LONGER
from runners.spec import MOVED, JobSpec, Work

# The digits of each float.
DIGITS = {"bf16": 8, "f16": 11, "f32": 24, "f64": 53}
_MAKES = re.compile(
    r"\bcvt\.r[nzmp](?:\.ftz)?(?:\.sat)?\.(?P<float>b?f16|f32|f64)\.[us](?P<bits>8|16|32|64)\b"
)
# Elements of a case of close numbers, and of one with long rows; arrays that are close by
# themselves, and variables by which rows get long.
MOST_ELEMENTS, MOST_LONG_ELEMENTS = 1 << 18, 1 << 20
MOST_ALONE, MOST_NAMES = 4, 2
# So many elements more than the root of the first number that is none, and so many times as many:
# sums of places, which are half their squares, and sums of two squares.
MORE, TIMES = 69, 3
# Cases of no more than so many elements have few of what they have.
FEW = 256


def made(ptx: str) -> frozenset[tuple[str, int]]:
    """Return which floats PTX makes of whole numbers of how many bits.

    >>> sorted(made("cvt.rn.f32.s32 %f1, %r1; cvt.rn.f64.s32 %fd1, %r1; cvt.s64.s32 %rd1, %r1;"))
    [('f32', 32), ('f64', 32)]
    """
    return frozenset((one["float"], int(one["bits"])) for one in _MAKES.finditer(ptx))


def digits(job: JobSpec, codes: tuple[str, str]) -> list[int]:
    """Return the digits of floats that the candidate's PTX alone makes of longer whole numbers.

    None where its original's makes floats of whole numbers: it may be rounded itself. Doubles, in
    which it may do without, if nothing of what it gives is a float.
    """
    if not all(codes):
        return []
    mine, theirs = map(made, codes)
    floats = any(
        f.scalar.kind == "f" for a in job.work.arguments if a.written for f in a.type.fields
    )
    if any(floats or kind != "f64" for kind, _ in theirs):
        return []
    shorter = {DIGITS[kind] for kind, bits in mine - theirs if bits > DIGITS[kind]}
    return sorted(shorter)


def beside(
    job: JobSpec, wanted: Sequence[Combination], codes: tuple[str, str]
) -> list[Combination]:
    """Return what is asked of floats made of whole numbers; `codes` has the candidate's PTX first.

    None where the PTX of one of both is not known.
    """
    if captured_work(job.work) or not ended(job.work):
        return []
    found: list[Combination] = []
    for bits in digits(job, codes):
        found += _close(job, wanted, bits)
        found += _lone(job, bits)
    return list({one.key: one for one in found}.values())


def _close(job: JobSpec, wanted: Sequence[Combination], bits: int) -> Iterator[Combination]:
    """Yield one case with all arrays close, as far as they may be, and with each by itself."""
    names = [argument.name for argument, _ in reaching(job.work, bits)]
    case = _base(job, wanted)
    if not names or case is None:
        return
    alone = names[:MOST_ALONE] if len(names) > 1 else []
    yield from (Combination(case, close(bits, name), job.seed) for name in ("", *alone))


def _base(job: JobSpec, wanted: Sequence[Combination]) -> dict[str, float] | None:
    """Return the smallest declared case of over 256 elements, if it is light."""
    declared = [dict(case.values) for case in job.work.cases]
    known = [dict(one.case) for one in wanted if one.family == DECLARED and MOVED not in one.case]
    fit = [c for c in declared if c in known and job.work.elements(c) <= MOST_ELEMENTS]

    def rank(case: dict[str, float]) -> tuple[bool, int]:
        return job.work.elements(case) <= FEW, job.work.elements(case)

    return min(fit, key=rank, default=None)


def _lone(job: JobSpec, bits: int) -> Iterator[Combination]:
    """Yield rows with one element alone, whose places have squares that are no such floats."""
    for case in _long(job.work, bits):
        yield from (Combination(case, family, job.seed) for family in LONES)


def _long(work: Work, bits: int) -> Iterator[dict[str, float]]:
    root = int(2 ** (bits / 2)) + MORE
    found = 0
    for name in sizes.sizing(work):
        most = int(TIMES_LONGER * sizes.largest(work, name))
        if root > most or found == MOST_NAMES:
            continue
        fit = False
        for length in dict.fromkeys((root | 1, min(TIMES * root, most))):
            tried = [{**few, name: float(length)} for few in sizes.few_others(work, name)]
            light = [c for c in tried if 0 < sizes.elements(work, c) <= MOST_LONG_ELEMENTS]
            if light:
                fit = True
                yield max(light, key=lambda one: sizes.elements(work, one))
        found += fit
