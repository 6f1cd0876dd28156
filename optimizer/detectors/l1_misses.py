"""Loads that miss the L1 cache although what they bring is wanted again."""

from __future__ import annotations

from collections.abc import Iterator

from optimizer import counters
from optimizer.bound import Bound
from optimizer.evidence import Evidence, detector, gain, severity
from optimizer.model import Finding, Kernel

# KernelPro: L1 hit rate under 30 % and memory stalls over 40 %. A kernel that streams each byte
# once looks the same, so that waste (sectors) or repetition (L2 against DRAM) is asked for too:
# the streaming kernels of tests/data/ncu have ratios of 1.0 to 1.2.
HIT = 0.30
STALLED = 0.40
REPEATED = 1.5


@detector("l1-misses", Bound.MEMORY, Bound.LATENCY)
def l1_misses(seen: Evidence, kernel: Kernel) -> Iterator[Finding]:
    """Find scattered or repeated reads that L1 does not hold."""
    if not seen.profiled or seen.of(counters.LOAD_REQUESTS) == 0:
        return
    hit, stalled = seen.fraction(counters.L1_HIT_PCT), seen.memory_stall
    atomic = seen.of(counters.ATOMIC_REQUESTS) + seen.of(counters.REDUCTION_REQUESTS)
    if hit >= HIT or stalled <= STALLED or atomic > 0.1 * seen.of(counters.LOAD_REQUESTS):
        return
    dram = seen.dram_bytes
    repeated = seen.of(counters.L2_SECTORS) * 32 / dram if dram else 1.0
    if max(repeated, seen.sector_excess) < REPEATED:
        return
    expected = gain(0.5 * stalled * (1.0 - 1.0 / max(repeated, seen.sector_excess)))
    yield Finding(
        "",
        f"{1 - hit:.0%} of the sectors miss L1; warps wait {stalled:.0%} of their time for memory",
        line=seen.line(kernel, "long_scoreboard"),
        severity=severity(expected),
        counters={
            counters.L1_HIT_PCT: hit * 100,
            counters.L2_SECTORS: seen.of(counters.L2_SECTORS),
        },
        advice="keep what is read again in shared memory or registers; where the order of reads "
        "is free (indices, neighbours), visit them so that a block stays in one region",
        remedies=("tile-halo", "tile-matmul", "warp-per-row", "read-only-cache", "coarsen"),
        expected=expected,
        confidence=0.5,
    )
