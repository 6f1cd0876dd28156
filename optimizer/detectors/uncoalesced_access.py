"""Global accesses that move more sectors than their bytes need."""

from __future__ import annotations

from collections.abc import Iterator

from optimizer import counters
from optimizer.bound import Bound
from optimizer.evidence import Evidence, detector, gain, severity
from optimizer.functions import Function
from optimizer.model import Finding, Kernel, Severity

# KernelPro (arXiv 2606.26453): 1.2 times the ideal number of 32-byte sectors.
EXCESS = 1.2
# Where memory neither is busy nor makes warps wait, the excess costs nothing.
MATTERS = 0.3
# Without counters: a lane that skips two elements of three moves three times the sectors.
FAR = 2
_ALONG = (
    "warp-per-row", "swap-axes", "stage-transpose", "tile-halo", "vectorize", "interleave",
    "scan-loop",
)  # fmt: skip
_ACROSS = ("stage-transpose", "swap-axes", "warp-per-row", "tile-halo", "vectorize", "interleave")


@detector("uncoalesced-access", Bound.MEMORY, Bound.LATENCY, Bound.COMPUTE)
def uncoalesced_access(seen: Evidence, kernel: Kernel) -> Iterator[Finding]:
    """Find warps whose lanes touch sectors of their own."""
    if not seen.profiled:
        yield from _by_source(seen.function(kernel))
        return
    excess = seen.sector_excess
    weight = max(seen.memory_busy, seen.memory_stall)
    if excess < EXCESS or weight < MATTERS:
        return
    wasted = 1.0 - 1.0 / excess
    dram = seen.fraction(counters.DRAM_PCT)
    # With the same bytes from DRAM the kernel ends at DRAM's speed.
    expected = gain(wasted * weight, 1.0 / dram if dram > 0.1 else 8.0)
    along = _walks_along_rows(seen.function(kernel))
    advice = (
        "each lane walks along a row of its own: give a row to a warp, so that neighbouring lanes "
        "read neighbouring elements, and combine with shuffles"
        if along
        else "let neighbouring lanes touch neighbouring addresses: swap the roles of the indices, "
        "or stage a tile through shared memory so that both sides are contiguous"
    )
    yield Finding(
        "",
        f"global accesses move {excess:.1f} times the sectors they need ({wasted:.0%} wasted)",
        line=seen.line(kernel, "excess_sectors"),
        severity=severity(expected),
        counters={
            counters.GLOBAL_SECTORS: seen.of(counters.GLOBAL_SECTORS),
            counters.GLOBAL_SECTORS_IDEAL: seen.of(counters.GLOBAL_SECTORS_IDEAL),
        },
        advice=advice,
        remedies=_ALONG if along else _ACROSS,
        expected=expected,
        confidence=0.9,
    )


def _by_source(function: Function | None) -> Iterator[Finding]:
    """Judge by the index: neighbours in threadIdx.x that lie further apart than one element."""
    for access in function.accesses if function is not None else ():
        if access.space != "global" or access.index is None:
            continue
        apart = access.index.coefficient("threadIdx.x")
        if apart is None or not (apart.symbols or abs(apart.constant or 0) > FAR):
            continue
        along = _walks_along_rows(function)
        yield Finding(
            "",
            f"neighbouring threads access {access.name} at a distance, by its index",
            line=access.line,
            severity=Severity.WARNING,
            advice="let neighbouring lanes touch neighbouring addresses: a warp for a row, or a "
            "tile staged through shared memory",
            remedies=_ALONG if along else _ACROSS,
            expected=1.5,
            confidence=0.4,
        )
        return


def _walks_along_rows(function: Function | None) -> bool:
    """Return whether a thread's loop runs over consecutive elements that its neighbour does not."""
    for access in function.accesses if function is not None else ():
        if access.space != "global" or not access.loops:
            continue
        loop = access.loops[-1]
        step = access.loop_stride(loop) if loop.step == 1 else None
        if step is not None and step.constant == 1 and access.thread_stride() != 1:
            return True
    return False
