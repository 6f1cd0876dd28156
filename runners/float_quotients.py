"""Quotients of whole numbers that a candidate compares as floats, and its original as products.

Whether a/b is more than c/d is told exactly by the products ad and cb, in 64 bits. As floats two
quotients that differ by less than a part in 2²³ may be the same, or come out in another order.
Contents that come so near are not found by chance, and most who use it never meet them: a limit,
said of a finalist from its PTX, not refused.

Said only where the original compares two products of whole numbers and no floats at all, so that it
decides everything by whole numbers, and where the candidate compares floats that it divided from
whole numbers. Those are followed through registers, and through memory as floats alone: which
array is read is not asked. Doubles tell all quotients of 26 bits apart, and nothing is said of
them.

PTX ISA 9.0: "Floating Point Instructions: div, rcp", "Comparison and Selection Instructions".
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from runners import ptx_lines
from runners.limit import said
from runners.ptx_lines import Line

# What such a note is known by.
DECIDE = "floats decide what the original decides by whole numbers"
# Zeros, the least normal float and infinities: what a value is compared with to see of which sort
# it is, as divisions, roots and logarithms do.
_SORTS = re.compile(r"0f(?:[08]0000000|[08]0800000|[7f]f800000|[7f]f7fffff)\b", re.IGNORECASE)
_WHOLE = re.compile(r"[sub](?:32|64)")
_FLOAT = re.compile(r"b?f16(?:x2)?|tf32|f32|f64")
_COMPARES = frozenset({"setp", "set", "min", "max"})
_MAKES = re.compile(r"cvt\.r[nzmp](?:\.ftz)?(?:\.sat)?\.f32\.[us](?:32|64)")

# Loops bring back what is worked out at their ends: so often a function is gone through.
_MOST_TURNS = 16


def notes(mine: str, theirs: str) -> list[str]:
    """Return the note that it is a limit of a candidate's PTX beside its original's, if it is one.

    Nothing is said where the PTX of either is not known.
    """
    if not (mine and theirs) or not by_products(theirs) or not by_quotients(mine):
        return []
    return [
        said(
            f"{DECIDE}: quotients that differ by less than a part in 2^23 may come out in another"
            " order, or as equal"
        )
    ]


def by_products(ptx: str) -> bool:
    r"""Tell whether PTX compares products of whole numbers with each other, and no floats.

    >>> products = "mul.lo.s64 %rd1, %rd5, %rd6;\nmul.wide.s32 %rd2, %r1, %r2;\n"
    >>> by_products(products + "setp.lt.s64 %p1, %rd1, %rd2;")
    True
    >>> by_products(products + "setp.lt.s64 %p1, %rd1, %rd2;\nsetp.lt.f32 %p2, %f1, %f2;")
    False
    >>> by_products(products + "setp.lt.s64 %p1, %rd1, %rd7;")
    False
    """
    found = False
    for lines in ptx_lines.functions(ptx):
        products = {
            register
            for line in lines
            if line.parts[0] in ("mul", "mad") and not _FLOAT.fullmatch(line.parts[-1])
            for register in line.written
        }
        for line in lines:
            if line.parts[0] not in _COMPARES and not _ordering(line):
                continue
            if any(map(_FLOAT.fullmatch, line.parts[1:])):
                return False
            both = len(line.read) == 2 and line.read <= products
            found = found or (line.parts[0] == "setp" and both)
    return found


def by_quotients(ptx: str) -> bool:
    r"""Tell whether PTX compares floats that it divided from whole numbers.

    >>> made = "cvt.rn.f32.s32 %f1, %r1;\ncvt.rn.f32.s32 %f2, %r2;\ndiv.rn.f32 %f3, %f1, %f2;\n"
    >>> by_quotients(made + "setp.lt.f32 %p1, %f3, %f4;")
    True
    >>> by_quotients(made + "st.global.f32 [%rd1], %f3;")
    False
    >>> by_quotients(made + "cvt.rzi.s32.f32 %r3, %f3;\nsetp.lt.s32 %p1, %r3, %r4;")
    False
    """
    functions = list(ptx_lines.functions(ptx))
    stored = False
    while True:
        known = [_quotients(lines, stored=stored) for lines in functions]
        each = list(zip(functions, known, strict=True))
        if any(_compared(line, found) for lines, found in each for line in lines):
            return True
        if stored or not any(
            line.parts[0] == "st" and _wide(line) and line.read & found
            for lines, found in each
            for line in lines
        ):
            return _keyed(functions)
        stored = True


def _quotients(lines: Sequence[Line], *, stored: bool) -> set[str]:
    """Return the registers with quotients of whole numbers, or what was made of them.

    And, where such may lie in memory, with any float that is loaded.
    """
    whole, found = set[str](), set[str]()
    before = (-1, -1)
    for _ in range(_MOST_TURNS):
        if before == (len(whole), len(found)):
            break
        before = len(whole), len(found)
        for line in lines:
            name = line.parts[0]
            if _MAKES.fullmatch(".".join(line.parts)):
                whole |= line.written
            elif name in ("div", "rcp") and "f32" in line.parts:
                both = bool(line.read) and line.read <= whole | found
                found |= line.written if both else set()
            elif name == "ld":
                loaded = stored and _wide(line) and "param" not in line.parts
                found |= line.written if loaded else set()
            elif name not in ("setp", "atom") and not _to_whole(line):
                found |= line.written if line.read & found else set()
                whole |= line.written if line.read & whole else set()
    return found


def _wide(line: Line) -> bool:
    """Tell whether a load or store is of floats."""
    return line.parts[-1] == "f32"


def _to_whole(line: Line) -> bool:
    """Tell whether a float is made a whole number: what decides then is that."""
    return line.parts[0] == "cvt" and any(one.endswith("i") for one in line.parts[1:2])


def _compared(line: Line, found: set[str]) -> bool:
    """Tell whether a quotient is compared as a float, with more than what tells its sort.

    The lesser of a quotient and a number keeps it in a range, and decides nothing.
    """
    if line.parts[0] not in _COMPARES or "f32" not in line.parts[1:] or not line.read & found:
        return False
    number = re.search(r"\b0f[0-9a-f]{8}\b", line.rest, re.IGNORECASE)
    return number is None or (line.parts[0] == "setp" and _SORTS.search(line.rest) is None)


def _keyed(functions: Sequence[Sequence[Line]]) -> bool:
    """Tell whether the bits of a quotient are ordered as a whole number's, as by `atomicMax`."""
    for lines in functions:
        found = _quotients(lines, stored=False)
        for line in lines:
            whole = _WHOLE.fullmatch(line.parts[-1]) is not None
            if whole and (line.parts[0] in _COMPARES or _ordering(line)) and line.read & found:
                return True
    return False


def _ordering(line: Line) -> bool:
    return line.parts[0] in ("atom", "red") and bool({"min", "max"} & set(line.parts))
