"""Products on tensor cores, which cut off what does not fit where all else rounds.

A float that is taken apart into two or three of TF32 or bfloat16 has all its digits, and so have
the products. What tensor cores add up of them is cut off behind the last place each time, and that
goes one way: six rounds of such products of 384 terms err by 2.1 times what twelve times the
original's own error allows, by a hundredth of what one product of TF32 errs by. So where a
candidate multiplies there and its original does not, noise counts three times, within the
tolerance.
PTX ISA 9.0: "Warp Level Matrix Multiply-Accumulate Instructions", "Asynchronous Warpgroup ...".
"""

from __future__ import annotations

import re
from dataclasses import replace

from runners.compare import Answer

TIMES = 3.0
_BEGINS = r"^[ \t]*\{?[ \t]*(?:@!?%\w+[ \t]+)?"
# Those that add up in floats; in halves or doubles is something else.
_MULTIPLIES = re.compile(
    _BEGINS + r"(?:mma\.sync|wmma\.mma\.sync|wgmma\.mma_async)\.[\w.:]*\.f32\b", re.MULTILINE
)


def named(mine: str, theirs: str) -> bool:
    """Tell whether a candidate's source may use tensor cores where its original's does not.

    >>> named("wmma::mma_sync(c, a, b, c);", "c += a * b;"), named("c += a * b;", "c += a * b;")
    (True, False)
    """
    return "mma" in mine and "mma" not in theirs


def more(mine: str, theirs: str) -> bool:
    r"""Tell whether a candidate's PTX multiplies on tensor cores, and its original's does not.

    Nothing is said where the PTX of either is not known.

    >>> three = "\tmma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%f1}, {%r2}, {%r3}, {%f4};"
    >>> more(three, "fma.rn.f32 %f1, %f2, %f3, %f4;"), more(three, three), more(three, "")
    (True, False, False)
    >>> more("// mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", "ret;")
    False
    """
    found = [_MULTIPLIES.search(ptx) is not None for ptx in (mine, theirs)]
    return bool(mine and theirs) and found == [True, False]


def allowed(answer: Answer) -> Answer:
    """Return an answer whose floats may err by so many times the noise, within the tolerance."""
    budgets = (one and replace(one, grows=one.grows * TIMES) for one in answer.budgets)
    return replace(answer, budgets=tuple(budgets))
