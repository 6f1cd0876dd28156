"""PTX that marks which of its blocks have run, and the lines of source that they were made of.

A block is what runs from a label or a conditional branch to the next: each gets a store of one byte
at its beginning, behind which nothing changes. A line has run as soon as any block that has an
instruction of it has: a loop that was unrolled in fours has its line in the rest as well. What a
compiler made without a branch, as the choice of one of two values, is one block.

Instructions: PTX ISA 9.0, ".loc", ".file", "bra", "st".
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

NAME = "optiml_ran"
# With more blocks than that nothing is marked: what is as large is told too little by lines.
MOST_MARKS = 4096

_BODY = re.compile(r"^\s*(?:\.\w+\s+)*\.(?:entry|func)\b")
_LABEL = re.compile(r"^\s*[$%_A-Za-z][$\w]*\s*:\s*$")
_BRANCH = re.compile(r"^\s*@!?%\w+\s+(?:bra|brx|ret|exit)\b")
_LOC = re.compile(r"^\s*\.loc\s+(\d+)\s+(\d+)\s")
_FILE = re.compile(r'^\s*\.file\s+(\d+)\s+"((?:[^"\\]|\\.)*)"', re.MULTILINE)
_INSTRUCTION = re.compile(r"^\s*(?:@!?%\w+\s+)?[a-z][\w.:]*(?:\s[^;]*)?;")


@dataclass(frozen=True, slots=True)
class Marked:
    """PTX with marks, and for each of them the lines of the source file in its block."""

    ptx: str
    lines: tuple[frozenset[int], ...]


def marked(ptx: str, file: str) -> Marked | None:
    """Return PTX whose blocks mark that they ran; None where nothing tells lines of `file`.

    `file` is the name of the source file, without folders.
    """
    mine = {int(at) for at, path in _FILE.findall(ptx) if path.rpartition("/")[2] == file}
    if not mine:
        return None
    out: list[str] = []
    blocks: list[set[int]] = []
    place = depth = at = 0
    heading = inside = begins = False
    for line in ptx.splitlines():
        stripped = line.strip()
        if begins and stripped and not stripped.startswith((".", "//")):
            # Behind what belongs to a label, as that its loop stays as it is.
            out.append(f"st.global.u8 [{NAME}+{len(blocks)}], 1;")
            blocks.append(set())
            begins = False
        out.append(line)
        if not place:
            if line.startswith(".address_size"):
                place = len(out)
                out.append("")  # how many there are is known in the end
            continue
        heading = (heading or _BODY.match(line) is not None) and not stripped.endswith(";")
        opens = line.count("{") - line.count("}")
        if heading and not depth and opens > 0:
            inside, begins, heading = True, True, False
        depth += opens
        inside &= depth > 0
        if inside:
            loc = _LOC.match(line)
            if loc:
                at = int(loc[2]) if int(loc[1]) in mine else 0
            elif _LABEL.match(line):
                begins = True
            elif _INSTRUCTION.match(line) and blocks:
                blocks[-1] |= {at} if at else set()
                begins = _BRANCH.match(line) is not None
    if not place or not blocks or len(blocks) > MOST_MARKS:
        return None
    out[place] = f".visible .global .align 4 .b8 {NAME}[{len(blocks)}];"
    return Marked("\n".join(out) + "\n", tuple(map(frozenset, blocks)))


def unseen(lines: Sequence[Sequence[int]], ran: Sequence[int]) -> list[int]:
    """Return the lines no block of which has run, in order; `ran` has a byte for each block."""
    every = {line for block in lines for line in block}
    done = {line for block, one in zip(lines, ran, strict=True) if one for line in block}
    return sorted(every - done)
