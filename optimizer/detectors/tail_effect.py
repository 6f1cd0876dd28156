"""A last wave of blocks that leaves most multiprocessors idle."""

from __future__ import annotations

import math
from collections.abc import Iterator

from optimizer import counters
from optimizer.bound import Bound
from optimizer.evidence import Evidence, detector, gain, severity
from optimizer.model import Finding, Kernel

# ncu's LaunchStatistics rule speaks of a tail when a partial wave follows a whole one and costs
# 20 % or more; with more than four waves it cannot.
FULL = 0.80
MOST_WAVES = 5.0


@detector("tail-effect", Bound.LATENCY, Bound.COMPUTE, Bound.MEMORY)
def tail_effect(seen: Evidence, kernel: Kernel) -> Iterator[Finding]:
    """Compare the waves needed with those paid for, and check that multiprocessors did idle."""
    waves = seen.of(counters.WAVES)
    if not 1.0 < waves < MOST_WAVES:
        return
    filled = waves / math.ceil(waves)
    elapsed = seen.of(counters.CYCLES_ELAPSED)
    busy = seen.of(counters.CYCLES_ACTIVE) / elapsed if elapsed else 1.0
    if filled > FULL or busy > FULL + 0.05:
        return
    expected = gain(1.0 - max(filled, busy))
    function = seen.function(kernel)
    yield Finding(
        "",
        f"{waves:.2f} waves of blocks: the last one leaves multiprocessors idle ({busy:.0%} busy)",
        line=function.line if function is not None else None,
        severity=severity(expected),
        counters={counters.WAVES: waves, counters.GRID_BLOCKS: seen.of(counters.GRID_BLOCKS)},
        advice="choose block size or work a thread so that the grid fills whole waves, or a grid "
        "of exactly the resident blocks that strides over the data",
        remedies=("block-size", "coarsen", "split-loop"),
        expected=expected,
        confidence=0.8,
    )
