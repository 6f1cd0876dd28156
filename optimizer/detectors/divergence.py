"""Warps in which only some lanes work."""

from __future__ import annotations

from collections.abc import Iterator

from optimizer import counters
from optimizer.bound import Bound
from optimizer.evidence import Evidence, detector, gain, severity
from optimizer.model import Finding, Kernel

# ncu's ThreadDivergence rule: under 24 of 32 lanes active, with or without predication.
LANES = 24.0


@detector("divergence", Bound.COMPUTE, Bound.LATENCY)
def divergence(seen: Evidence, kernel: Kernel) -> Iterator[Finding]:
    """Compare the lanes that work with the 32 that could."""
    if not seen.has(counters.THREADS_USED):
        return
    used = seen.of(counters.THREADS_USED)
    if used >= LANES or used <= 0:
        return
    block = seen.of(counters.BLOCK_THREADS)
    if 0 < block < 32:
        return  # the block is smaller than a warp: `block-shape` says so
    expected = gain((1.0 - used / 32.0) * max(seen.issuing, 0.3))
    yield Finding(
        "",
        f"on average {used:.0f} of a warp's 32 lanes work",
        line=seen.line(kernel),
        severity=severity(expected),
        counters={
            counters.THREADS_USED: used,
            counters.THREADS_ACTIVE: seen.of(counters.THREADS_ACTIVE),
        },
        advice="let lanes of a warp take the same way: sort or group work by length, split border "
        "from interior, turn short branches into selects, spread a lane's long loop over the warp",
        remedies=("warp-per-row", "split-border", "split-loop", "shuffle-reduce", "hoist"),
        expected=expected,
        confidence=0.7,
    )
