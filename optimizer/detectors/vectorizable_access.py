"""Contiguous accesses by narrow instructions where 16 bytes would fit in one."""

from __future__ import annotations

from collections.abc import Iterator

from optimizer import counters
from optimizer.bound import Bound
from optimizer.evidence import Evidence, detector, gain, severity
from optimizer.model import Finding, Kernel

# At this share of DRAM's rate wide accesses change nothing: KernelPro's line for "saturated".
SATURATED = 0.80
COALESCED = 1.2


@detector("vectorizable-access", Bound.MEMORY, Bound.LATENCY)
def vectorizable_access(seen: Evidence, kernel: Kernel) -> Iterator[Finding]:
    """Find unit-stride accesses whose SASS moves at most 4 bytes a lane."""
    narrow, wide = _widths(seen)
    if narrow == 0 or wide >= narrow:
        return
    if seen.profiled:
        pressed = max(seen.memory_busy, seen.memory_stall, seen.fraction(counters.LSU_PCT)) > 0.4
        saturated = seen.fraction(counters.DRAM_PCT) > SATURATED
        if saturated or not pressed or seen.sector_excess >= COALESCED:
            return
    line = _contiguous(seen, kernel)
    if line is None:
        return
    bytes_wide = seen.count("LDG", "STG", part="U8") + seen.count("LDG", "STG", part="S8") > 0
    slack = 1.0 - seen.memory_busy if seen.profiled else 0.2
    waits = seen.memory_stall if seen.profiled else 0.5
    expected = gain(slack * waits * (0.6 if bytes_wide else 0.4))
    yield Finding(
        "",
        f"{narrow} of {narrow + wide} global memory instructions move at most 4 bytes a lane",
        line=line,
        severity=severity(expected),
        counters={counters.DRAM_PCT: seen.of(counters.DRAM_PCT)} if seen.profiled else {},
        advice="let a thread take 16 contiguous bytes (float4, uchar16 as uint4, half2 ×4) behind "
        "a test of alignment, with a scalar tail: fewer instructions and more bytes in flight",
        remedies=("vectorize", "coarsen"),
        expected=expected,
        confidence=0.6 if seen.profiled else 0.3,
    )


def _widths(seen: Evidence) -> tuple[int, int]:
    every = seen.count("LDG", "STG")
    wide = sum(seen.count("LDG", "STG", part=width) for width in ("64", "128"))
    return every - wide, wide


def _contiguous(seen: Evidence, kernel: Kernel) -> int | None:
    """Return the line of a global access whose neighbours in a warp are neighbours in memory."""
    function = seen.function(kernel)
    for access in function.accesses if function is not None else ():
        if access.space == "global" and access.thread_stride() == 1:
            return access.line
    return None
