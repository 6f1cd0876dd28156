"""What nvcc and its stages say, as places in the edited source. Stdlib only."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

MOST = 8
LONGEST = 6000
# cudafe++ and cicc: FILE(LINE): error #N-D: TEXT; gcc: FILE:LINE:COLUMN: error: TEXT
_TEXT = r"(?P<text>.+)$"
_EDG = re.compile(
    r"^(?P<file>[^\s(][^(\n]*)\((?P<line>\d+)\): (?:catastrophic )?error(?: #[\w-]+)?: " + _TEXT
)
_GCC = re.compile(
    r"^(?P<file>[^\s:][^:\n]*):(?P<line>\d+):(?:(?P<column>\d+):)? (?:fatal )?error: " + _TEXT
)
_STAGE = re.compile(
    r"^(?:ptxas|nvlink|nvcc|cicc|cudafe\+\+|fatbinary)\b[^:\n]*?(?:error|fatal)\s*: " + _TEXT
)
_PTX = re.compile(r"^ptxas [^,\n]+, line \d+; error\s*: (?P<text>.+)$")
_LINKER = re.compile(
    r"(?P<text>undefined reference to .+|cannot find -l.+|multiple definition of .+)$"
)
_CRASH = re.compile(r"(?P<text>.*(?:died due to signal|Internal error|internal compiler error).*)$")


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One error: where in which file (line and column from 1, 0 when unknown) and what."""

    message: str
    file: str = ""
    line: int = 0
    column: int = 0


def parse(printed: str) -> tuple[Diagnostic, ...]:
    """Return the errors in what a compiler printed, in order, each once; warnings are left out.

    >>> parse('k.cu(3): error: identifier "y" is undefined')[0].line
    3
    """
    found: dict[Diagnostic, None] = {}
    for line in printed.splitlines():
        diagnostic = _one(line.rstrip())
        if diagnostic is not None:
            found.setdefault(diagnostic)
    return tuple(found)


def render(found: Sequence[Diagnostic], source: str, name: str, printed: str) -> str:
    """Return a short log: each error with the line of the edited source it is about.

    `name` is the source's file name as the compiler saw it. What fits no pattern is quoted from
    the end of what was printed.
    """
    if not found:
        return printed.strip()[-2000:] or "the compiler failed without a word"
    lines = source.splitlines()
    parts = []
    for diagnostic in found[:MOST]:
        place = f"{diagnostic.file}:{diagnostic.line}: " if diagnostic.line else ""
        parts.append(f"{place}error: {diagnostic.message}")
        if diagnostic.file == name and 0 < diagnostic.line <= len(lines):
            parts.append(f"{diagnostic.line:>6} | {lines[diagnostic.line - 1].rstrip()[:160]}")
    if len(found) > MOST:
        parts.append(f"and {len(found) - MOST} more errors")
    return "\n".join(parts)[:LONGEST]


def _one(line: str) -> Diagnostic | None:
    if len(line) > 4000:
        line = line[:4000]
    for pattern in (_EDG, _GCC):
        found = pattern.match(line)
        if found is not None:
            column = found.groupdict().get("column")
            file = found["file"].rpartition("/")[2]
            return Diagnostic(found["text"].strip(), file, int(found["line"]), int(column or 0))
    for pattern in (_PTX, _STAGE, _LINKER, _CRASH):
        found = pattern.search(line)
        if found is not None:
            return Diagnostic(found["text"].strip())
    return None
