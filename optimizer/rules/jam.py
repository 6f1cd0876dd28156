"""Let a thread walk a loop once for several outputs, so that they share what it reads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from optimizer.functions import Function
from optimizer.geometry import Geometry, reblock, regrid
from optimizer.model import Edit, Finding, Kernel
from optimizer.rules.jam_plan import Plan, planned
from optimizer.rules.jam_text import rewritten
from optimizer.rules.outputs import fewer
from optimizer.source import Source

_NAME = "jam"
# Numbers of outputs a thread, by axis: more than this runs out of registers or blocks.
_COUNTS = {"x": (4, 2, 8), "y": (4, 2, 8)}
_MOST_KEPT = 96  # scalars that all outputs of a thread keep together


def jam(kernel: Kernel, findings: Sequence[Finding]) -> Iterator[Edit]:
    """Give a thread 4, 2 or 8 outputs and put their loop inside the loops they have in common.

    What a loop reads alike for all outputs is then read once for several of them, and their sums
    do not wait for each other. Outputs lie a block apart along x and side by side along y. Legal
    where `coarsen` is: the kernel knows its block only by the number of its output, which is
    tested against an extent, and threads do not talk to each other.
    """
    del findings
    source = Source(kernel.source)
    for fn in source.kernels:
        for axis in ("y", "x"):
            plan = planned(source, fn, axis)
            if plan is None:
                continue
            for count in _COUNTS[axis]:
                geometry = _geometry(kernel, source, fn, plan, count)
                if geometry is None or len(plan.own) * count > _MOST_KEPT:
                    continue
                edits = [*rewritten(source, fn, plan, count), *geometry.edits]
                lines = ", ".join(str(loop.line) for loop in plan.loops)
                yield Edit(
                    f"walk the loop of `{fn.name}` once for {count} outputs along {axis}",
                    source.replace(sorted(edits, key=lambda e: (e[0], e[1]))),
                    f"rule:{_NAME}",
                    f"Line {lines}: every output reads the same again; {count} outputs a thread"
                    " read it once, and their sums do not wait for each other.",
                    _NAME,
                    1.4 if count == 4 else 1.3,
                    geometry.launch,
                )


def _geometry(
    kernel: Kernel, source: Source, fn: Function, plan: Plan, count: int
) -> Geometry | None:
    if plan.guard is None:
        return reblock(kernel, source, fn, plan.output.axis, count)
    return regrid(kernel, source, fn, {plan.output.axis: fewer(count)})
