"""Warps that wait for the others of their block."""

from __future__ import annotations

from collections.abc import Iterator

from optimizer import counters
from optimizer.bound import Bound
from optimizer.evidence import Evidence, detector, gain, severity
from optimizer.model import Finding, Kernel

# KernelPro: over 30 % of the warps' time.
STALLED = 0.30


@detector("barrier-stall", Bound.LATENCY, Bound.COMPUTE, Bound.MEMORY)
def barrier_stall(seen: Evidence, kernel: Kernel) -> Iterator[Finding]:
    """Find blocks that meet too often or arrive unevenly."""
    share = seen.stall("barrier")
    if share <= STALLED:
        return
    expected = gain(share * 0.6 * (1.0 - seen.memory_busy * 0.5))
    yield Finding(
        "",
        f"warps spend {share:.0%} of their time at __syncthreads()",
        line=seen.line(kernel, "barrier"),
        severity=severity(expected),
        counters={counters.stall("barrier"): seen.of(counters.stall("barrier"))},
        advice="exchange within a warp by shuffles instead of shared memory and barriers, do more "
        "work between two barriers, use smaller blocks so that others fill the gap",
        remedies=("shuffle-reduce", "block-size", "coarsen", "unroll", "shuffle-scan"),
        expected=expected,
        confidence=0.7,
    )
