"""Find stores that the memory model lets a thread do behind an atomic that follows them.

A block that leaves its share in global memory and then counts itself needs a fence between. Without
one, who sees the count may not see the share yet, though today's hardware nearly always shows both
in the order of the program. Here are the pairs of such a store and such an atomic that stand in one
straight-line piece of a kernel's PTX, with nothing between that orders them or that touches memory
the store could mean. Whether their addresses differ is for the kernel itself to tell, as it runs.

PTX ISA 9.0, "Memory Consistency Model": a store without a qualifier is weak, an atomic without one
is relaxed, and without a fence neither is ordered with what else the thread does elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

_INSTRUCTION = re.compile(
    r"^(?:@(?P<guard>!?%p\w+)\s+)?(?P<opcode>[a-z]\w*(?:(?:\.|::)\w+)*)(?P<rest>[\s{\[][^;]*)?;$"
)
_ADDRESS = re.compile(r"\[\s*(?P<base>%?[A-Za-z_$][\w$]*)\s*(?:\+\s*(?P<plus>-?\d+)\s*)?\]")
_REGISTER = re.compile(r"%\w+")
_TYPE = re.compile(r"(?:[busf]|bf)(?P<bits>8|16|32|64|128)(?P<pair>x2)?")
_VECTOR = {"v2": 2, "v4": 4, "v8": 8}
# What touches registers alone.
_ARITHMETIC = re.compile(
    r"mov|add|sub|mul|mad|fma|div|rem|abs|neg|min|max|sad|setp?|selp|slct|cvta?|and|or|xor|c?not"
    r"|lop3|sh[lrf]|prmt|bf[ei]|bfind|popc|clz|brev|m(?:ul|ad)24|dp[24]a|rcp|r?sqrt|sin|cos|lg2"
    r"|ex2|tanh|copysign|testp"
)
# What makes a load or store more than one of the thread's own, or anything else than one.
_STRONG = re.compile(r"volatile|relaxed|acquire|release|acq_rel|sc|mmio|async|bulk|multimem")
_ELSEWHERE = frozenset(("shared", "shared::cta", "local"))


@dataclass(frozen=True, slots=True)
class Place:
    """An address as PTX writes it, and how many bytes are touched there.

    A generic one may turn out to be of another space than the global one.
    """

    base: str
    plus: int
    size: int
    generic: bool


@dataclass(frozen=True, slots=True)
class Swap:
    """A store and an atomic behind it, by the numbers of their lines."""

    store: int
    atomic: int
    stored: Place
    counted: Place


@dataclass(frozen=True, slots=True)
class _Held:
    line: int
    place: Place
    registers: frozenset[str]


def swaps(lines: Sequence[str]) -> list[Swap]:
    """Return the pairs that may change places; no line belongs to two of them."""
    found: list[Swap] = []
    held: _Held | None = None
    for number, line in enumerate(lines):
        text = line.partition("//")[0].strip()
        if not text or text.startswith((".loc", ".file")):
            continue
        match = _INSTRUCTION.match(text)
        if match is None:
            held = None
            continue
        opcode = match["opcode"].split(".")
        rest = (match["rest"] or "").strip()
        if held is not None and held.registers & _written(rest):
            held = None
        if opcode[0] in ("atom", "red"):
            counted = _place(opcode, rest) if _plain(opcode) else None
            if held is not None and counted is not None:
                found.append(Swap(held.line, number, held.place, counted))
            held = None
        elif opcode[0] == "st" and _plain(opcode) and not _ELSEWHERE & set(opcode):
            held = _begun(number, match["guard"], opcode, rest)
        elif held is not None and not _passed(opcode, generic=held.place.generic):
            held = None
    return found


def _begun(number: int, guard: str | None, opcode: list[str], rest: str) -> _Held | None:
    place = _place(opcode, rest)
    if place is None:
        return None
    registers = set(_REGISTER.findall(rest))
    if guard:
        registers.add(guard.lstrip("!"))
    return _Held(number, place, frozenset(registers))


def _plain(opcode: Sequence[str]) -> bool:
    """Tell whether an access orders nothing. An atomic is no more than relaxed, if it says so."""
    atomic = opcode[0] in ("atom", "red")
    return not any(
        _STRONG.fullmatch(part) for part in opcode[1:] if not (atomic and part == "relaxed")
    )


def _passed(opcode: Sequence[str], *, generic: bool) -> bool:
    """Tell whether a store may as well be done behind an instruction."""
    name, parts = opcode[0], set(opcode)
    if _ARITHMETIC.fullmatch(name):
        return True
    if name not in ("ld", "st") or not _plain(opcode):
        return False
    if name == "ld" and (parts & {"const", "param"} or {"global", "nc"} <= parts):
        return True
    return bool(_ELSEWHERE & parts) and not generic


def _written(rest: str) -> set[str]:
    """Return the registers of an instruction's first operand, if that is not an address."""
    if rest.startswith("["):
        return set()
    first = rest.partition("}")[0] if rest.startswith("{") else rest.partition(",")[0]
    return set(_REGISTER.findall(first))


def _place(opcode: Sequence[str], rest: str) -> Place | None:
    """Return what an access touches; None where that is not global memory, or cannot be read."""
    spaces = [part for part in opcode if part.partition("::")[0] in ("global", "shared", "local")]
    address, kind = _ADDRESS.search(rest), _TYPE.fullmatch(opcode[-1])
    if address is None or kind is None or rest.count("[") != 1 or spaces not in ([], ["global"]):
        return None
    if not spaces and not address["base"].startswith("%"):
        return None
    size = int(kind["bits"]) // 8 * (2 if kind["pair"] else 1)
    for part in opcode:
        size *= _VECTOR.get(part, 1)
    return Place(address["base"], int(address["plus"] or 0), size, not spaces)
