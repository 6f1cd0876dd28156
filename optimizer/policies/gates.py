"""What compiling a candidate has shown to be pointless to try on it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from optimizer.source import Source

if TYPE_CHECKING:
    from optimizer.model import Edit, Verdict

# With fewer registers a multiprocessor holds as many threads as it ever does (65,536 registers for
# 2048 threads), and the compiler was not holding back: of 78 launch bounds tried there on an H200
# 63 gave the same machine code, and none was faster by over 1 %.
_HELD_BACK = 31
_LOADS = ("LDG", "LD.", "LDS")
_FACTOR = re.compile(r" by (\d+)$")


GATED = frozenset({"launch-bounds", "unroll"})


def pointless(edit: Edit, kernel: str, source: str, verdict: Verdict) -> bool:
    """Return whether resources or SASS of a candidate show that an edit of it changes nothing.

    `kernel` is the `__global__` function edited, `source` the candidate's text.
    """
    if edit.kind == "launch-bounds":
        used = verdict.resources.get(kernel)
        return used is not None and 0 < used.registers < _HELD_BACK
    if edit.kind == "unroll":
        return _unrolled(edit, kernel, source, verdict)
    return False


def _unrolled(edit: Edit, kernel: str, source: str, verdict: Verdict) -> bool:
    """Return whether the one load of a kernel stands in its SASS as often as is asked for."""
    asked = _FACTOR.search(edit.title)
    function = Source(source).function(kernel)
    if asked is None or function is None or function.broken:
        return False
    loads = [access for access in function.accesses if access.reads]
    if len(loads) != 1 or not loads[0].loops:
        return False
    counted = sum(
        count
        for opcode, count in verdict.instructions.items()
        if opcode.startswith(tuple(f"{kernel}/{load}" for load in _LOADS))
    )
    return counted == int(asked.group(1))
