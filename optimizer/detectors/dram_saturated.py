"""A kernel that already moves bytes as fast as the memory can."""

from __future__ import annotations

from collections.abc import Iterator

from optimizer import counters
from optimizer.bound import Bound
from optimizer.evidence import Evidence, detector
from optimizer.model import Finding, Kernel, Severity

# KernelPro: 80 % of the theoretical rate. A plain copy reaches 90 % of it on an H200
# (`saxpy_vector` in tests/data/ncu), so that at 80 % at most an eighth is left.
SATURATED = 0.80
REACHABLE = 0.92


@detector("dram-saturated", Bound.MEMORY)
def dram_saturated(seen: Evidence, kernel: Kernel) -> Iterator[Finding]:
    """Say that only fewer bytes help."""
    dram = seen.fraction(counters.DRAM_PCT)
    if dram <= SATURATED:
        return
    gbs = seen.dram_bytes / max(seen.of(counters.TIME_NS), 1.0)
    yield Finding(
        "",
        f"DRAM is {dram:.0%} busy ({gbs:.0f} GB/s): only moving fewer bytes makes it faster",
        line=seen.line(kernel, "long_scoreboard"),
        severity=Severity.INFO,
        counters={counters.DRAM_PCT: dram * 100, counters.DRAM_READ_BYTES: seen.dram_bytes},
        advice="drop passes over the data: fuse with the kernel before or behind, keep partial "
        "results in registers, do not read what is overwritten; narrower types where they suffice",
        remedies=("fuse-launches", "register-accumulator", "tile-halo"),
        expected=max(1.0, REACHABLE / dram),
        confidence=0.9,
    )
