"""Give a thread several outputs, and let it ask for all their operands before it uses any."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from optimizer.functions import Function
from optimizer.geometry import Geometry, reblock, regrid
from optimizer.model import Edit, Finding, Kernel
from optimizer.rules.coarsen_plan import Plan, planned
from optimizer.rules.coarsen_text import rewritten
from optimizer.rules.outputs import fewer
from optimizer.source import Source

_NAME = "coarsen"
_MOST_LOADED = 32
# Of outputs side by side many read the same elements, which the compiler loads once.
_MOST_SHARED = 72


def coarsen(kernel: Kernel, findings: Sequence[Finding]) -> Iterator[Edit]:
    """Let each thread compute 2, 4 or 8 outputs that lie a block apart; fewer blocks do the work.

    Legal because a block then only does what several blocks did, one after the other: the kernel
    knows its block only by the number of its output, that number is tested against an extent, and
    threads do not talk to each other. Where it is not tested blocks keep their outputs and shrink.
    Where operands can be read ahead they are, for all outputs.
    """
    del findings
    source = Source(kernel.source)
    for fn in source.kernels:
        plan = planned(source, fn)
        if plan is None:
            continue
        for count in (4, 2, 8) if plan.rows else ():
            geometry = regrid(kernel, source, fn, {plan.output.axis: fewer(count)})
            if geometry is not None and len(plan.loads) * count <= _MOST_SHARED:
                yield _edit(source, fn, plan, count, geometry, ahead=True, rows=True)
        for count, ahead in ((4, True), (2, True), (8, True), (4, False), (2, False)):
            if ahead and not 0 < len(plan.loads) * count <= _MOST_LOADED:
                continue
            if plan.guard is None:
                geometry = reblock(kernel, source, fn, plan.output.axis, count)
            else:
                geometry = regrid(kernel, source, fn, {plan.output.axis: fewer(count)})
            if geometry is not None:
                yield _edit(source, fn, plan, count, geometry, ahead=ahead)


def _edit(
    source: Source,
    fn: Function,
    plan: Plan,
    count: int,
    geometry: Geometry,
    *,
    ahead: bool,
    rows: bool = False,
) -> Edit:
    loads = plan.loads if ahead else ()
    edits = [*rewritten(source, fn, plan, count, loads, rows), *geometry.edits]
    if rows:
        return Edit(
            f"compute {count} neighbours along {plan.output.axis} per thread in `{fn.name}`",
            source.replace(sorted(edits, key=lambda e: (e[0], e[1]))),
            f"rule:{_NAME}",
            f"Outputs of line {fn.line} that are neighbours along {plan.output.axis} read some of"
            f" the same elements; a thread with {count} of them reads those once.",
            _NAME,
            1.2 if plan.output.axis == "y" else 1.05,
            geometry.launch,
        )
    first = ", their operands read first" if ahead else ""
    return Edit(
        f"compute {count} outputs per thread in `{fn.name}`{first}",
        source.replace(sorted(edits, key=lambda e: (e[0], e[1]))),
        f"rule:{_NAME}",
        f"A thread of line {fn.line} has one output and waits for its own loads; {count} outputs"
        " share the index arithmetic and keep more loads in flight.",
        _NAME,
        1.12 if ahead else 1.04,
        geometry.launch,
    )
