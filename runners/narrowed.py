"""What a candidate makes floats of and its original does not: doubles that are no floats.

A root that begins with that of a float is right to the last place, as long as there is such a
float. So where only a candidate's PTX makes floats of doubles, those that go in are beyond all
floats, of either sign, and nearer to zero than any (`runners.no_floats`). Where the original's does
so as well nothing is asked: it may have infinities there.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from runners.contents import Combination
from runners.families import captured_work
from runners.no_floats import POWERS, doubles
from runners.small_constants import smallest
from runners.spec import JobSpec

_NARROWS = re.compile(r"\bcvt\.\w+(?:\.\w+)*\.(?:f32|f16|bf16)\.f64\b", re.ASCII)


def narrows(ptx: str) -> bool:
    """Tell whether a PTX text makes floats of doubles.

    >>> narrows("cvt.rn.f32.f64 %r1, %rd1;"), narrows("cvt.rn.ftz.f32.f64 %f1, %fd1;")
    (True, True)
    >>> narrows("cvt.f64.f32 %rd1, %r1;"), narrows("cvt.rni.s32.f64 %r1, %rd1;")
    (False, False)
    """
    return bool(_NARROWS.search(ptx))


def beside(
    job: JobSpec, wanted: Sequence[Combination], codes: tuple[str, str]
) -> list[Combination]:
    """Return what is asked of a candidate that narrows; `codes` has its PTX first."""
    mine, theirs = codes
    known = bool(mine and theirs) and not captured_work(job.work)
    if not known or not any(True for _ in doubles(job.work)):
        return []
    base = smallest(job, wanted)
    if base is None or not narrows(mine) or narrows(theirs):
        return []
    return [Combination(base.case, family, job.seed) for family in POWERS]
