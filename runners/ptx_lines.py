"""PTX as functions of instructions: opcodes in parts, and the registers that each reads and writes.

For what follows numbers through registers. PTX ISA 9.0: "Instruction Statements".
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_BODY = re.compile(r"^\s*(?:\.\w+\s+)*\.(?:entry|func)\b")
_INSTRUCTION = re.compile(r"^(?:@!?%p\w+\s+)?(?P<opcode>[a-z]\w*(?:(?:\.|::)\w+)*)\s+(?P<rest>.*)$")
_REGISTER = re.compile(r"%\w+")
_UNREAD = re.compile(r'//[^\n]*|/\*.*?(?:\*/|\Z)|"(?:[^"\\\n]|\\.)*"', re.DOTALL)


def blanked(ptx: str) -> str:
    """Return PTX with blanks for its comments and strings: as long, and with the same lines.

    >>> blanked('ld; // st;') == 'ld;       '
    True
    """
    return _UNREAD.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), ptx)


@dataclass(frozen=True, slots=True)
class Line:
    """An instruction: its opcode in parts, the registers written and read, and its operands."""

    parts: tuple[str, ...]
    written: frozenset[str]
    read: frozenset[str]
    rest: str


def functions(ptx: str) -> Iterator[list[Line]]:
    """Yield each function's instructions: registers are its own."""
    lines: list[Line] = []
    for text in ptx.splitlines():
        if _BODY.match(text):
            yield lines
            lines = []
        for one in text.partition("//")[0].strip(" \t{}").split(";"):
            match = _INSTRUCTION.match(one.strip(" \t{}"))
            if match is not None:
                lines.append(_line(match["opcode"], match["rest"]))
    yield lines


def _line(opcode: str, rest: str) -> Line:
    parts = tuple(opcode.split("."))
    if parts[0] in ("st", "red", "bra", "bar"):
        return Line(parts, frozenset(), frozenset(_REGISTER.findall(rest)), rest)
    first, _, others = rest.partition("}" if rest.startswith("{") else ",")
    names = frozenset(_REGISTER.findall(first)), frozenset(_REGISTER.findall(others))
    return Line(parts, *names, rest)
