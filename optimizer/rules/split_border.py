"""Take bounds tests out of the inside of a domain: tighter loops, and a path without clamps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from optimizer.model import Edit, Finding, Kernel
from optimizer.rules.interior import without_clamps
from optimizer.rules.loop_bounds import tightened
from optimizer.source import Source

_NAME = "split-border"


def split_border(kernel: Kernel, findings: Sequence[Finding]) -> Iterator[Edit]:
    """Replace tests in a loop by bounds of the loop, or give the interior a path without clamps.

    `if (x + k >= 0 && x + k < w)` in a loop over `k` holds for a stretch of `k`: the loop then
    starts at `max(-r, -x)` and needs no test. An index that is clamped, mirrored or wrapped at the
    border is itself where no border is near: one test in front of the loops tells.
    """
    del findings
    source = Source(kernel.source)
    for fn in source.functions:
        if not fn.is_kernel and "__device__" not in fn.qualifiers:
            continue
        if fn.broken or fn.has_asm or fn.has_goto or fn.conditional:
            continue
        for loop in fn.loops:
            edits = tightened(source, fn, loop)
            if edits:
                yield Edit(
                    f"bound the loop of `{fn.name}` instead of testing in it",
                    source.replace(sorted(edits)),
                    f"rule:{_NAME}",
                    f"The test in the loop of line {loop.line} is true for one stretch of"
                    f" `{loop.name}`: start and end there, and test nothing inside.",
                    _NAME,
                    1.3,
                )
            fast = without_clamps(source, fn, loop)
            if fast is not None:
                yield Edit(
                    f"walk the interior in `{fn.name}` without clamping",
                    source.replace([fast]),
                    f"rule:{_NAME}",
                    f"The indices in the loop of line {loop.line} are bent at the border only; a"
                    " thread far from it can use them as they are.",
                    _NAME,
                    1.4,
                )
