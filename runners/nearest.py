"""PTX that keeps how near each of its comparisons came to turning out the other way.

What a run has to have for a rare branch to be taken is not known: which numbers a candidate
compares is. Behind each comparison of whole numbers, or of floats, the distance of the two is kept,
the least of all threads: once of those for which it was true, and once of those for which it was
not. Who changes inputs so that the distance shrinks comes to the other side of it in the end
(`runners.guided`). A value of which a narrower type, a shift or a mask keeps a part is compared
with the largest of which they keep all.

Instructions: PTX ISA 9.0, "setp", "red", "cvt", "Scoping".
"""

from __future__ import annotations

import re
from dataclasses import dataclass

NAME, TELLS = "optiml_nearest", "optiml_nearest_told"
# What no thread has come to, and the farthest that is told; comparisons that are kept at most.
NEVER, FARTHEST, MOST_SITES = (1 << 32) - 1, (1 << 32) - 2, 512
# Shifts and masks that may be parts of a word: others are places of elements and lanes.
LEAST_SHIFT, LEAST_MASK = 8, 127

# What stands behind the text of host code in such a build: it tells what kernels kept, and has them
# begin anew.
HOSTED = f"""
__device__ unsigned int {NAME}[{2 * MOST_SITES}];
extern "C" __attribute__((visibility("default"))) int {TELLS}(unsigned int* told) {{
    static unsigned int nothing[{2 * MOST_SITES}];
    for (unsigned int& one : nothing) one = {NEVER}u;
    int failed = static_cast<int>(cudaMemcpyFromSymbol(told, {NAME}, sizeof nothing));
    return failed ? failed : static_cast<int>(cudaMemcpyToSymbol({NAME}, nothing, sizeof nothing));
}}
"""

_BODY = re.compile(r"^\s*(?:\.\w+\s+)*\.(?:entry|func)\b")
_OPERAND = r"-?[%\w]+"
_COMPARE = re.compile(
    r"^\s*setp\.(?P<op>eq|ne|lt|le|gt|ge|lo|ls|hi|hs|equ|neu|ltu|leu|gtu|geu)(?:\.(?:and|or|xor))?"
    r"(?:\.ftz)?\.(?P<kind>[subf])(?P<bits>16|32|64)\s+%\w+(?:\|%\w+)?,\s*"
    rf"(?P<a>{_OPERAND}),\s*(?P<b>{_OPERAND})\s*(?:,[^;]*)?;"
)
_NARROWED = re.compile(
    r"^\s*cvt\.[us](?P<to>8|16|32)\.[us](?P<bits>16|32|64)\s+%\w+,\s*(?P<a>%\w+)\s*;"
)
_MASKED = re.compile(r"^\s*and\.b(?P<bits>32)\s+%\w+,\s*(?P<a>%\w+),\s*(?P<mask>\d+)\s*;")
_SHIFTED = re.compile(r"^\s*shl\.b(?P<bits>32)\s+%\w+,\s*(?P<a>%\w+),\s*(?P<by>\d+)\s*;")
_DECLARED = re.compile(rf"^\.(?:visible \.)?global [^\n]*\b{NAME}\[", re.MULTILINE)
_SIGNED = {"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}


@dataclass(frozen=True, slots=True)
class Watched:
    """PTX that keeps distances, and of how many comparisons: two words of 32 bits for each."""

    ptx: str
    sites: int


def watched(ptx: str) -> Watched | None:
    """Return PTX that keeps how near comparisons came to the other outcome; None without any.

    Where they are kept is declared, if it is not already (`HOSTED`).
    """
    out: list[str] = []
    place = depth = sites = 0
    heading = inside = False
    for line in ptx.splitlines():
        out.append(line)
        if not place:
            if line.startswith(".address_size"):
                place = len(out)
                out.append("")  # how many there are is known in the end
            continue
        heading = (heading or _BODY.match(line) is not None) and not line.rstrip().endswith(";")
        opens = line.count("{") - line.count("}")
        if heading and not depth and opens > 0:
            inside, heading = True, False
        depth += opens
        inside &= depth > 0
        told = _kept(line, sites) if inside and sites < MOST_SITES else None
        if told is not None:
            out += told
            sites += 1
    if not place or not sites:
        return None
    if not _DECLARED.search(ptx):
        out[place] = f".visible .global .align 4 .b8 {NAME}[{8 * sites}];"
    return Watched("\n".join(out) + "\n", sites)


def _kept(line: str, site: int) -> list[str] | None:
    """Return what keeps a comparison's distance; None for a line that is none."""
    compare = _COMPARE.match(line)
    if compare is not None:
        bits, kind, op = int(compare["bits"]), compare["kind"], compare["op"]
        if kind == "f":
            return _floats(compare["a"], compare["b"], op, site) if bits == 32 else None
        if len(op) > 2:
            return None
        pair = [_wide(f"%optiml_g{at}", compare[at], kind, bits) for at in "ab"]
        if None in pair:
            return None
        # Numbers of up to 32 bits are what they are in 64, with their sign; of 64 as they stand.
        unsigned = kind == "u" and bits == 64
        named = op if unsigned else _SIGNED.get(op, op)
        order = f"{named}.{'u' if unsigned else 's'}64"
        return _scope([*(one for one in pair if one), *_apart(order)], site)
    part = _part(line)
    if part is None:
        return None
    value, bits, most = part
    wide = _wide("%optiml_ga", value, "u", bits)
    return _scope([wide or "", f"mov.b64 %optiml_gb, {most};", *_apart("gt.u64")], site)


def _part(line: str) -> tuple[str, int, int] | None:
    """Return of what a part is kept, its bits, and the largest that is kept whole; None for none.

    >>> _part("cvt.u16.u32 %rs1, %r7;"), _part("shl.b32 %r1, %r2, 16;")
    (('%r7', 32, 65535), ('%r2', 32, 65535))
    >>> _part("and.b32 %r1, %r2, 1023;"), _part("shl.b32 %r1, %r2, 2;")
    (('%r2', 32, 1023), None)
    """
    for pattern in (_NARROWED, _MASKED, _SHIFTED):
        found = pattern.match(line)
        if found is None:
            continue
        bits = int(found["bits"])
        if pattern is _NARROWED:
            most = (1 << int(found["to"])) - 1
        elif pattern is _MASKED:
            most = int(found["mask"])
            if most & (most + 1) or most < LEAST_MASK:
                return None
        else:
            if not LEAST_SHIFT <= int(found["by"]) < bits:
                return None
            most = (1 << (bits - int(found["by"]))) - 1
        return (found["a"], bits, most) if most < (1 << bits) - 1 else None
    return None


def _wide(to: str, operand: str, kind: str, bits: int) -> str | None:
    """Return what leaves an operand in a register of 64 bits; None where it is no number."""
    if operand.startswith("%"):
        if bits == 64:
            return f"mov.b64 {to}, {operand};"
        letter = "u" if kind == "u" else "s"
        return f"cvt.{letter}64.{letter}{bits} {to}, {operand};"
    if re.fullmatch(r"-?\d+", operand) is None:
        return None
    number = int(operand)
    if kind == "u" and number < 0:
        number += 1 << bits
    if kind != "u" and number >= 1 << (bits - 1):
        number -= 1 << bits
    return f"mov.b64 {to}, {number};"


def _apart(order: str) -> list[str]:
    """Return what leaves in %optiml_gp if they are in order, and in %optiml_gd how far apart."""
    return [
        f"setp.{order} %optiml_gp, %optiml_ga, %optiml_gb;",
        "sub.s64 %optiml_ga, %optiml_ga, %optiml_gb;",
        "abs.s64 %optiml_ga, %optiml_ga;",
        f"min.u64 %optiml_ga, %optiml_ga, {FARTHEST};",
        "cvt.u32.u64 %optiml_gd, %optiml_ga;",
    ]


def _floats(a: str, b: str, op: str, site: int) -> list[str] | None:
    """Return the same of floats: so far apart as there are floats between them."""
    if not all(one.startswith(("%", "0f")) for one in (a, b)):
        return None
    lines = [".reg .f32 %optiml_gx, %optiml_gy;", ".reg .pred %optiml_gn;"]
    for name, operand, wide in (("x", a, "a"), ("y", b, "b")):
        lines += [
            f"mov.f32 %optiml_g{name}, {operand};",
            f"mov.b32 %optiml_gd, %optiml_g{name};",
            f"cvt.s64.s32 %optiml_g{wide}, %optiml_gd;",
            # Below zero they count down from there, as far as their other bits say.
            f"setp.lt.s64 %optiml_gn, %optiml_g{wide}, 0;",
            f"@%optiml_gn sub.s64 %optiml_g{wide}, -2147483648, %optiml_g{wide};",
        ]
    apart = _apart("eq.s64")
    return _scope([*lines, f"setp.{op}.f32 %optiml_gp, {a}, {b};", *apart[1:]], site)


def _scope(lines: list[str], site: int) -> list[str]:
    """Return lines with registers of their own, behind which the least distance is kept."""
    return [
        "{",
        ".reg .pred %optiml_gp, %optiml_gq;",
        ".reg .b32 %optiml_gd, %optiml_gv;",
        ".reg .b64 %optiml_ga, %optiml_gb;",
        *lines,
        f"selp.b64 %optiml_ga, {8 * site + 4}, {8 * site}, %optiml_gp;",
        f"mov.u64 %optiml_gb, {NAME};",
        "add.s64 %optiml_gb, %optiml_gb, %optiml_ga;",
        "ld.volatile.global.u32 %optiml_gv, [%optiml_gb];",
        "setp.lt.u32 %optiml_gq, %optiml_gd, %optiml_gv;",
        "@%optiml_gq red.global.min.u32 [%optiml_gb], %optiml_gd;",
        "}",
    ]
