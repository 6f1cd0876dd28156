"""The small constants of a candidate, and inputs that are smaller than these.

`fmaxf(scale, 1e-12f)` is `scale` for every number of ordinary size. Constants that are in the
device code of a candidate and not in its original's have inputs put behind them, and behind their
roots, since what is compared may be squared.
"""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Iterator, Sequence

from runners.contents import Combination
from runners.families import DECLARED, captured_work, chosen
from runners.small_floats import OF_DOUBLES, named
from runners.spec import MOVED, JobSpec

# Behind a constant by so many powers of two, since few numbers are over four; of doubles no further
# than floats go.
BEHIND, MOST_POWERS = 6, 110
# Constants that are small, and how many of them are asked about; none less than a float's least.
LEAST, SMALL, MOST_CONSTANTS = 2.0**-126, 2.0**-12, 3
MOST_ELEMENTS = 1 << 20
# Cases of no more than so many elements have few of what they have.
FEW = 256
_CONSTANT = re.compile(r"\b0(?:[fF]([0-9a-fA-F]{8})|[dD]([0-9a-fA-F]{16}))\b")


def constants(ptx: str) -> frozenset[float]:
    """Return the magnitudes of the floats that a PTX text has as they are.

    >>> sorted(constants("max.f32 %f1, %f2, 0f2B8CBCCC; add.f64 %d1, %d2, 0d3EB0C6F7A0B5ED8D;"))
    [9.999999960041972e-13, 1e-06]
    """
    found = set()
    for narrow, wide in _CONSTANT.findall(ptx):
        kind, text = (">f", narrow) if narrow else (">d", wide)
        found.add(abs(float(struct.unpack(kind, bytes.fromhex(text))[0])))
    return frozenset(found)


def beside(
    job: JobSpec, wanted: Sequence[Combination], codes: tuple[str, str]
) -> list[Combination]:
    """Return what is asked beside the small constants of a candidate's PTX; `codes` has its first.

    None where the original's text is not known: all of its constants would be the candidate's own.
    """
    mine, theirs = codes
    if not (mine and theirs) or captured_work(job.work) or not chosen(job.work):
        return []
    base = smallest(job, wanted)
    own = sorted(c for c in constants(mine) - constants(theirs) if LEAST <= c <= SMALL)
    if base is None:
        return []
    steps = dict.fromkeys(step for one in own[:MOST_CONSTANTS] for step in _steps(one))
    return [Combination(base.case, named(step), job.seed) for step in steps]


def _steps(constant: float) -> Iterator[int]:
    """Yield how many powers of two are behind a constant, and behind its root."""
    for size in (constant, math.sqrt(constant)):
        step = min(MOST_POWERS, BEHIND - math.frexp(size)[1])
        yield step + (step in OF_DOUBLES)  # there results as small count


def smallest(job: JobSpec, wanted: Sequence[Combination]) -> Combination | None:
    """Return the declared inputs of the smallest case that is declared and of over 256 elements."""
    declared = [dict(case.values) for case in job.work.cases]
    fit = [
        one
        for one in wanted
        if one.family == DECLARED and MOVED not in one.case and dict(one.case) in declared
    ]
    fit = [one for one in fit if job.work.elements(one.case) <= MOST_ELEMENTS]

    def rank(one: Combination) -> tuple[bool, int]:
        elements = job.work.elements(one.case)
        return elements <= FEW, elements

    return min(fit, key=rank, default=None)
