"""A grid too small to fill the device."""

from __future__ import annotations

from collections.abc import Iterator

from optimizer import counters
from optimizer.bound import Bound
from optimizer.evidence import Evidence, detector, gain, severity
from optimizer.model import Finding, Kernel

# Less than half of the resident threads a device can hold; ncu's own rule asks for one wave.
WAVES = 0.5
BUSY = 0.60


@detector("small-grid", Bound.LATENCY, Bound.LAUNCH, Bound.MEMORY)
def small_grid(seen: Evidence, kernel: Kernel) -> Iterator[Finding]:
    """Find launches that leave multiprocessors without blocks or with few warps."""
    blocks, sms, waves = (seen.of(m) for m in (counters.GRID_BLOCKS, counters.SMS, counters.WAVES))
    if not seen.profiled or not blocks or not sms:
        return
    dram = seen.fraction(counters.DRAM_PCT)
    if not (blocks < sms or waves < WAVES) or max(seen.issuing, dram) >= BUSY:
        return
    idle = max(0.0, 1.0 - blocks / sms)
    few = 1.0 - min(1.0, waves / WAVES)
    expected = gain(max(idle, few * 0.7))
    function = seen.function(kernel)
    yield Finding(
        "",
        f"{blocks:.0f} blocks of {seen.of(counters.BLOCK_THREADS):.0f} threads on {sms:.0f} "
        f"multiprocessors: {waves:.2f} waves",
        line=function.line if function is not None else None,
        severity=severity(expected),
        counters={counters.GRID_BLOCKS: blocks, counters.SMS: sms, counters.WAVES: waves},
        advice="split each thread's loop over more threads or blocks and combine at the end (a "
        "warp for a row, a second grid dimension for parts of a sum), or use smaller blocks",
        remedies=("split-loop", "warp-per-row", "block-size", "more-blocks", "scan-loop"),
        expected=expected,
        confidence=0.7,
    )
