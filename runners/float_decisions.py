"""Floats that a candidate makes of whole numbers and decides by, where its original makes none.

A comparison of sums of whole numbers is exact in 64 bits. Who makes floats of both sides is right
for nearly all contents, and wrong where they are equal, or nearly so, and no floats hold them.
Such contents are not drawn: `runners.scaled_numbers` makes ties that are beyond floats, and beyond
doubles where the declared range goes so far. How many places a tie takes depends on what is
compared: more than two and a half deviations from the mean is one of 29 places in four. So they are
made in short lines of each length, and in the longest declared ones.

It is asked where a candidate's PTX compares floats that were made of whole numbers, or what was
worked out of them, and its original's compares none (or doubles, where no result is a float): it
is rounded itself then. Not where they are quotients, whose near ties are a limit, which is said
(`runners.float_quotients`). That a float was stored in between is not followed.

PTX ISA 9.0: "Data Movement and Conversion Instructions: cvt", "Comparison and Selection
Instructions".
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from runners import float_quotients, sizes
from runners.contents import Combination
from runners.families import captured_work
from runners.ptx_lines import Line, functions
from runners.scaled_numbers import axis, family, wide
from runners.spec import JobSpec, Work

_MAKES = re.compile(
    r"cvt\.r[nzmp](?:\.ftz)?(?:\.sat)?\.(?P<float>b?f16|f32|f64)\.[us](?:8|16|32|64)"
)
_FLOAT = re.compile(r"b?f16(?:x2)?|f32|f64")
_COMPARES = frozenset({"setp", "set", "min", "max"})
# What stores, exchanges or decides hands no float on.
_KEEPS = frozenset({*_COMPARES, "st", "ld", "atom", "red"}) - {"min", "max"}
# A constant, and zeros, least normal numbers and infinities: what tells of which sort a float is.
_NUMBER = re.compile(r"\b0[fd][0-9a-f]{8,16}\b", re.IGNORECASE)
_SORTS = re.compile(
    r"\b0(?:f[08](?:0|08)0{5,6}|f[7f]f[87](?:0{5}|f{5})|d[08]0{15}|d[7f]ff0{13}|d[7f]fef{13})\b",
    re.IGNORECASE,
)
# Loops bring back what is worked out at their ends: so often a function is gone through.
_MOST_TURNS = 16

# The lengths of short lines, elements of their cases, and of one with the longest declared lines;
# how many variables lines are made along.
LENGTHS, MOST_ELEMENTS, MOST_LONG_ELEMENTS, MOST_NAMES = range(7, 33), 1 << 15, 1 << 20, 2


def beside(job: JobSpec, codes: tuple[str, str]) -> list[Combination]:
    """Return what is asked of decisions by floats; `codes` has the candidate's PTX first.

    None where the PTX of one of both is not known.
    """
    if captured_work(job.work) or not wide(job.work) or not decides(job, codes):
        return []
    found = [
        Combination(case, family(name), job.seed)
        for name in _names(job.work)
        for case in _cases(job.work, name)
    ]
    return list({one.key: one for one in found}.values())


def decides(job: JobSpec, codes: tuple[str, str]) -> bool:
    """Tell whether a candidate alone decides by floats that were made of whole numbers."""
    mine, theirs = codes
    if not (mine and theirs):
        return False
    made, known = compared(mine), compared(theirs)
    floats = any(
        f.scalar.kind == "f" for a in job.work.arguments if a.written for f in a.type.fields
    )
    rounded = any(floats or kind != "f64" for kind in known)
    return bool(made - known) and not rounded and not float_quotients.by_quotients(mine)


def compared(ptx: str) -> frozenset[str]:
    r"""Return the types of floats that PTX compares and has made of whole numbers.

    >>> made = "cvt.rn.f32.s64 %f1, %rd1;\nmul.f32 %f2, %f1, %f1;\n"
    >>> sorted(compared(made + "setp.le.f32 %p1, %f2, %f9;"))
    ['f32']
    >>> sorted(compared(made + "setp.le.f32 %p1, %f8, %f9;\nsetp.eq.f32 %p1, %f2, 0f00000000;"))
    []
    """
    found: set[str] = set()
    for lines in functions(ptx):
        registers = _made(lines)
        for line in lines:
            kinds = [one for one in line.parts[1:] if _FLOAT.fullmatch(one)]
            if kinds and line.parts[0] in _COMPARES and line.read & registers and _tells(line):
                found.add(kinds[-1])
    return frozenset(found)


def _made(lines: Sequence[Line]) -> set[str]:
    """Return the registers with floats that were made of whole numbers, or of such floats."""
    found = set[str]()
    before = -1
    for _ in range(_MOST_TURNS):
        if before == len(found):
            break
        before = len(found)
        for line in lines:
            back = line.parts[0] == "cvt" and any(one.endswith("i") for one in line.parts[1:2])
            kept = line.parts[0] in _KEEPS or back
            if _MAKES.fullmatch(".".join(line.parts)) or (line.read & found and not kept):
                found |= line.written
    return found


def _tells(line: Line) -> bool:
    """Tell whether a comparison does more than tell of which sort a float is, or limit it."""
    if line.parts[0] in ("setp", "set"):
        return _SORTS.search(line.rest) is None
    return _NUMBER.search(line.rest) is None


def _names(work: Work) -> list[str]:
    """Return the variables that arrays of a wide range have lines along, longer ranges first."""
    top = max(work.cases, key=lambda case: sizes.elements(work, case.values)).values
    found: list[str] = []
    for argument, _, _ in sorted(wide(work), key=lambda one: one[1] - one[2]):
        for name in sizes.sizing(work):
            longer = {**top, name: top[name] + 1}
            shape = argument.shape or "1"
            if name not in found and axis(shape, name, longer) != axis(shape, name, top):
                found.append(name)
    return found[:MOST_NAMES]


def _cases(work: Work, name: str) -> Iterator[Mapping[str, float]]:
    """Yield cases whose lines along a variable are short, and one in which they are as declared."""
    most = sizes.TIMES_LONGER * sizes.largest(work, name)
    least = min(work.cases, key=lambda case: sizes.elements(work, case.values)).values
    top = max(work.cases, key=lambda case: sizes.elements(work, case.values)).values
    flat = sizes.sizing(work) == [name]
    for length in () if flat else LENGTHS:
        if length <= most:
            yield from _filled(work, {**least, name: float(length)}, name, MOST_ELEMENTS)
    yield from _filled(work, dict(top), "" if flat else name, MOST_LONG_ELEMENTS)


def _filled(
    work: Work, case: dict[str, float], name: str, elements: int
) -> Iterator[Mapping[str, float]]:
    """Yield a case with so many elements, by the longest of its other variables."""
    others = [one for one in sizes.sizing(work) if one != name]
    other = max(others, key=lambda one: sizes.largest(work, one))
    most = int(sizes.TIMES_LONGER * sizes.largest(work, other))

    def exceeds(size: int) -> bool:
        return sizes.elements(work, {**case, other: float(size)}) > elements

    filled = {**case, other: float(sizes.least_above(0, most + 1, exceeds) - 1)}
    if 0 < sizes.elements(work, filled) <= elements:
        yield filled
