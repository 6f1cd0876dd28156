"""A reduction through shared memory with a barrier at every level."""

from __future__ import annotations

from collections.abc import Iterator

from optimizer.evidence import Evidence, detector, gain, severity
from optimizer.functions import Function
from optimizer.loops import Loop
from optimizer.model import Finding, Kernel
from optimizer.syntax import contains

# Below this share of the time at issue, barriers and shared memory the tree is not the problem.
MATTERS = 0.15


@detector("tree-reduction")
def tree_reduction(seen: Evidence, kernel: Kernel) -> Iterator[Finding]:
    """Find loops that double or halve a stride, with a barrier and shared memory in them."""
    function = seen.function(kernel)
    loop = _tree(function) if function is not None else None
    if loop is None:
        return
    waits = seen.stall("barrier", "mio_throttle", "short_scoreboard", "branch_resolving")
    weight = max(waits, seen.issuing * 0.7) if seen.profiled else 0.3
    if weight < MATTERS:
        return
    expected = gain(weight * 0.8)
    yield Finding(
        "",
        "a reduction goes through shared memory and a barrier at each of its levels",
        line=loop.line,
        severity=severity(expected),
        advice="add up several elements a thread first, reduce within the warp by __shfl_down_sync "
        "and keep one value a warp in shared memory: one barrier instead of ten",
        remedies=("shuffle-reduce", "coarsen", "shuffle-scan", "shuffle-tree"),
        expected=expected,
        confidence=0.7 if seen.profiled else 0.5,
    )


def _tree(function: Function) -> Loop | None:
    for loop in function.loops:
        shared = any(a.space == "shared" and a.writes for a in function.accesses_in(loop.body))
        if loop.scaling and shared and any(contains(loop.body, b.node) for b in function.barriers):
            return loop
    return None
