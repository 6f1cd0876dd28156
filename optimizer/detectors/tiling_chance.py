"""Global data that a block reads again and again through the cache instead of shared memory."""

from __future__ import annotations

from collections.abc import Iterator

from optimizer import counters
from optimizer.bound import Bound
from optimizer.detectors.tensor_chance import has_inner_product
from optimizer.evidence import Evidence, detector, gain, severity
from optimizer.model import Finding, Kernel

# Bytes that go through L1 for each byte of DRAM traffic, beyond what bad access patterns add. The
# streaming kernels of tests/data/ncu have 1 to 2, a 7×7 filter 45, a naive matrix product 640.
REREAD = 8.0
# L1 must be what is waited for.
BUSY = 0.50


@detector("tiling-chance", Bound.MEMORY, Bound.LATENCY)
def tiling_chance(seen: Evidence, kernel: Kernel) -> Iterator[Finding]:
    """Find re-read global data in kernels without shared memory."""
    if not seen.profiled or not seen.dram_bytes:
        return
    if seen.resources is not None and seen.resources.shared_bytes > 0:
        return
    read = seen.of(counters.LOAD_SECTORS) * 32 / seen.sector_excess
    reread = read / max(seen.of(counters.DRAM_READ_BYTES), 1.0)
    busy = max(seen.fraction(counters.L1_PCT), seen.fraction(counters.LSU_PCT))
    pressed = busy > BUSY or seen.stall("lg_throttle") > 0.3
    if reread < REREAD or not pressed:
        return
    function = seen.function(kernel)
    product = function is not None and has_inner_product(function)
    expected = gain(0.7 * max(busy, seen.stall("lg_throttle", "long_scoreboard")))
    yield Finding(
        "",
        f"each byte from DRAM is read {reread:.0f} times through L1, which is {busy:.0%} busy",
        line=seen.line(kernel, "stall"),
        severity=severity(expected),
        counters={
            counters.LOAD_SECTORS: seen.of(counters.LOAD_SECTORS),
            counters.DRAM_READ_BYTES: seen.of(counters.DRAM_READ_BYTES),
            counters.L1_PCT: seen.of(counters.L1_PCT),
        },
        advice="load a tile into shared memory once and let each thread compute several outputs "
        "from registers, so that a value loaded serves more than one operation",
        remedies=("tile-matmul", "coarsen", "tile-halo")
        if product
        else ("tile-halo", "coarsen", "unroll", "vectorize", "rotate-planes"),
        expected=expected,
        confidence=0.7,
    )
