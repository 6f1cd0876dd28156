"""Results in halves or bfloat16 that are rounded more often than the original's.

A product of a float and a half that is worked out in halves is off by up to a unit of the last
place, where the right rounding of a float is off by half of one: no bound tells the two apart, and
both are within any tolerance that halves can have. How many results are off does. Floats have 13 or
16 bits more than what is stored, so that their own errors change few results, in any order of sums,
and one rounding in between a quarter and more. So where the original itself is the right rounding
of what it is in double precision nearly everywhere, a candidate has to be that for most.

It is asked where the candidate's PTX has arithmetic in 16 bits, accumulators of halves, operands
cut to TF32, or floats made of what was rounded to 16 bits just before, and its original's has
nothing of that: which is no fault by itself. `__hadd` of two halves is the right rounding of their
sum, a difference that is exact loses nothing, and the largest of two halves is no arithmetic.
PTX ISA 9.0: "Half Precision Floating Point Instructions", "Warp Level Matrix Instructions", "cvt".
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from runners.compare import Answer
from runners.cuda_types import Field, Storage, to_float, values
from runners.expectation import Floats

# Of an original's results so many may be others than its better answer's: of a candidate's, whose
# errors may be some times as large, so many.
OWN, MOST = 1 / 512, 1 / 16
# Results that tell, at least; so many that are others must be unlike each other, since where all
# are one number it may lie halfway between two.
LEAST, UNLIKE = 256, 16
FEW_DIGITS = 2.0**-11  # roundoff of a half

_BEGINS = r"^[ \t]*\{?[ \t]*(?:@!?%\w+[ \t]+)?"
_ARITHMETIC = re.compile(
    _BEGINS
    + r"(?:(?:add|sub|mul|fma|ex2|tanh)(?:\.(?!f32)\w+)*?\.b?f16(?:x2)?\b"
    + r"|mma\.sync\.aligned\.\w+\.row\.col(?:\.satfinite)?\.f16\."
    + r"|wmma\.mma\.sync\.aligned\.\w+\.\w+\.m\w+\.f16\."
    + r"|wgmma\.mma_async(?:\.sp)?\.sync\.aligned\.m\w+\.f16\."
    + r"|w?g?mma\.[\w.:]+\.tf32\b|cvt\.rn[az]?(?:\.\w+)*\.tf32\.f32\b)",
    re.MULTILINE,
)
_BODY = re.compile(r"^\s*(?:\.\w+\s+)*\.(?:entry|func)\b")
_NARROWED = re.compile(_BEGINS + r"cvt\.rn(?:\.\w+)*\.b?f16(?:x2)?\.f32[ \t]+(%\w+)")
_WIDENED = re.compile(_BEGINS + r"cvt(?:\.ftz)?\.f32\.b?f16[ \t]+%\w+,[ \t]*(%\w+)")
# What puts halves together, takes them apart, or makes a float of a bfloat16 by its place.
_PASSED = re.compile(
    _BEGINS + r"(?:mov|shl|shr|prmt|and|or|cvt\.u\d\d)\.\w+(?:\.\w+)?[ \t]+([^;]*?)[ \t]*;"
)
_REGISTER = re.compile(r"%\w+")


def more(mine: str, theirs: str) -> bool:
    """Tell whether a candidate's PTX works in fewer digits than floats, and its original's not.

    Nothing is said where the PTX of either is not known.
    """
    return bool(mine and theirs) and narrow(mine) and not narrow(theirs)


def narrow(ptx: str) -> bool:
    r"""Tell whether PTX works anything out in 16 bits, or goes on with what was rounded to them.

    >>> narrow("{ mul.bf16 %rs1,%rs2,%rs3; }"), narrow("\tmax.f16x2 %r1, %r2, %r3;")
    (True, False)
    >>> narrow("cvt.rn.f16.f32 %rs1, %f1;\nmov.b32 %r1, {%rs1, %rs2};\nst.global.b32 [%rd1], %r1;")
    False
    >>> narrow("{  cvt.rn.f16.f32 %rs1, %f1;}\n{  cvt.f32.f16 %f2, %rs1;}")
    True
    """
    return _ARITHMETIC.search(ptx) is not None or _returns(ptx)


def _returns(ptx: str) -> bool:
    """Tell whether a float is made of what was rounded to 16 bits, in registers."""
    rounded = set[str]()
    for line in ptx.splitlines():
        if _BODY.match(line):
            rounded = set()
        elif (made := _NARROWED.match(line)) is not None:
            rounded.add(made[1])
        elif not rounded:
            continue
        elif (read := _WIDENED.match(line)) is not None:
            if read[1] in rounded:
                return True
        elif (passed := _PASSED.match(line)) is not None:
            into, from_ = _sides(passed[1])
            if rounded.intersection(from_):
                if any(name.startswith("%f") for name in into):
                    return True
                rounded.update(into)
    return False


def _sides(operands: str) -> tuple[list[str], list[str]]:
    """Return the registers that are written and those that are read.

    >>> _sides("{%rs1, %rs2}, %r1"), _sides("%r1, %r2, 16")
    ((['%rs1', '%rs2'], ['%r1']), (['%r1'], ['%r2']))
    """
    end = operands.find("}") if operands.startswith("{") else operands.find(",")
    end = len(operands) if end < 0 else end
    return _REGISTER.findall(operands[:end]), _REGISTER.findall(operands[end:])


def own(
    data: Sequence[npt.NDArray[Any]],
    want: Floats,
    one: Field,
    mask: npt.NDArray[np.bool_] | None,
) -> float | None:
    """Return which share of the original's results are not the right rounding of better answers.

    None where results have the digits of floats, differ from run to run, or too few tell.
    """
    first, *others = data
    if one.scalar.kind != "f" or one.scalar.roundoff < FEW_DIGITS or len(want) != len(first):
        return None
    if not all(np.array_equal(first.view(np.uint16), other.view(np.uint16)) for other in others):
        return None
    mine = to_float(first, one.scalar)
    tells = _telling(want) if mask is None else _telling(want) & ~mask
    count = int(tells.sum())
    return float((mine != want)[tells].sum()) / count if count >= LEAST else None


def fault(got: Storage, answer: Answer) -> str:
    """Say how many results are others than the original's; empty where they may be."""
    one = answer.type.fields[0]
    if answer.rounding is None or answer.rounding > OWN or answer.unordered:
        return ""
    mine, right = (values(data, answer.type, one) for data in (got, answer.want))
    tells = _telling(to_float(right, one.scalar))
    if answer.untouched is not None:
        tells &= ~np.repeat(answer.untouched, one.lanes)
    off = tells & (mine != right)
    count, others = int(tells.sum()), int(off.sum())
    if count < LEAST or others <= MOST * count or len(np.unique(right[off])) < UNLIKE:
        return ""
    return (
        f"{answer.name}: {others} of {count} results are others than those of floats, which are"
        f" rounded once: it works in fewer digits than its original (PTX)"
    )


def _telling(want: Floats) -> npt.NDArray[np.bool_]:
    with np.errstate(all="ignore"):
        return np.asarray(np.isfinite(want) & (want != 0))
