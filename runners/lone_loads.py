"""What ptxas reads beside a program's own loads is no race: racecheck looks where each is alone.

An optimizer may read what the program does not: of the last loads of a row from shared memory, each
behind a condition of its own, ptxas made one of 16 bytes ahead of them all, which reached into what
other threads were writing behind the row. What it read there was used by nobody, and racecheck
reported a race.

Where it blames a candidate whose PTX has plain loads from shared memory, these are written as
volatile ones, which are neither joined nor moved ahead of a condition (PTX ISA 9.0, "ld"), and
racecheck looks again, on all the same combinations. All accesses that the PTX asks for are there,
and all its barriers: what races in the program races in this build as well, since racecheck tells
no volatile access from a plain one (`tests/gpu/test_plainer.py`). Nothing is optimized less but
these loads: without any optimization (`runners.plainer`) warps are synchronized more often.

Loads by generic addresses stay as they are. A build that cannot be made, or on which racecheck does
not come to its end, excuses nothing.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable

from runners.fault import Fault
from runners.plainer import LEAST_SECONDS, Look
from runners.ptx_lines import blanked
from runners.sanitizer import Finding
from runners.spec import Json

TOOL = "racecheck"
ALONE = "alone"
_LOAD = re.compile(r"(?<![\w.$%])ld(?:\.weak)?(?=\.shared(?:::\w+)?\.[\w.]+\s)")


def as_volatile(ptx: str) -> str | None:
    """Return PTX in which plain loads from shared memory are volatile; None where it has none.

    >>> as_volatile("@%p1 ld.shared.v2.f32 {%f1, %f2}, [%r1]; ld.global.f32 %f3, [%rd1];")
    '@%p1 ld.volatile.shared.v2.f32 {%f1, %f2}, [%r1]; ld.global.f32 %f3, [%rd1];'
    >>> as_volatile("ld.volatile.shared.u32 %r1, [%r2]; // ld.shared.u32 %r1, [%r2];") is None
    True
    """
    seen = blanked(ptx)
    parts: list[str] = []
    at = 0
    for found in _LOAD.finditer(seen):
        parts += [ptx[at : found.start()], "ld.volatile"]
        at = found.end()
    return "".join([*parts, ptx[at:]]) if parts else None


def excuse(found: Finding, build: Callable[[str], Json | None], look: Look, seconds: float) -> str:
    """Return why a race that is held against a candidate is none; empty where it may be one.

    `build` makes the candidate with its loads alone; None where it has none to be changed.
    """
    if not found.errors or found.tool != TOOL:
        return ""
    end = time.monotonic() + seconds
    try:
        made = build(ALONE)
    except Fault:
        return ""
    left = end - time.monotonic()
    again = look(made, found.tool, left) if made is not None and left >= LEAST_SECONDS else None
    if again is None or again.errors != 0:
        return ""
    many = f"{found.errors} error" + ("" if found.errors == 1 else "s")
    return (
        f"found {many}, and none where no loads from shared memory are joined, which is "
        f"not held against it: {found.words[:120]}"
    )
