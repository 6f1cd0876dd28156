"""Registers that spill to memory, or so many that warps do not fit."""

from __future__ import annotations

from collections.abc import Iterator

from optimizer import counters
from optimizer.bound import Bound
from optimizer.evidence import Evidence, detector, gain, severity
from optimizer.model import Finding, Kernel

# KernelPro: over 96 registers a thread. With 65,536 registers a multiprocessor, more than 96 is
# at most 20 of 64 warps.
MANY = 96
CROWDED = 0.50


@detector("register-pressure", Bound.LATENCY, Bound.MEMORY, Bound.COMPUTE)
def register_pressure(seen: Evidence, kernel: Kernel) -> Iterator[Finding]:
    """Find spills first; then register counts that cost occupancy where nothing is busy."""
    if seen.resources is None:
        return
    if seen.resources.spill_bytes > 0:
        yield _spills(seen, kernel)
    elif seen.resources.registers > MANY:
        yield from _crowded(seen, kernel)


def _spills(seen: Evidence, kernel: Kernel) -> Finding:
    local = seen.of(counters.LOCAL_LOAD_SECTORS) + seen.of(counters.LOCAL_STORE_SECTORS)
    every = local + seen.of(counters.LOAD_SECTORS) + seen.of(counters.STORE_SECTORS)
    share = local / every if every else 0.2
    weight = max(seen.memory_busy, seen.memory_stall) if seen.profiled else 0.5
    expected = gain(share * weight * 0.8)
    spilled = seen.resources.spill_bytes if seen.resources is not None else 0
    return Finding(
        "",
        f"registers spill to local memory ({spilled} bytes a thread, {share:.0%} of the sectors)",
        line=seen.line(kernel),
        severity=severity(expected),
        counters={
            counters.LOCAL_LOAD_SECTORS: seen.of(counters.LOCAL_LOAD_SECTORS),
            counters.LOCAL_STORE_SECTORS: seen.of(counters.LOCAL_STORE_SECTORS),
        },
        advice="raise the register limit (smaller __launch_bounds__ or -maxrregcount), or hold "
        "less at a time: smaller tiles, less unrolling, shorter live ranges",
        remedies=("launch-bounds", "block-size", "tune", "local-array"),
        expected=expected,
        confidence=0.8 if seen.profiled else 0.4,
    )


def _crowded(seen: Evidence, kernel: Kernel) -> Iterator[Finding]:
    registers = seen.resources.registers if seen.resources is not None else 0
    occupancy = seen.fraction(counters.OCCUPANCY_LIMIT_PCT) if seen.profiled else 0.3
    if occupancy >= CROWDED or seen.issuing >= 0.8 or seen.memory_busy >= 0.8:
        return
    waiting = 1.0 - seen.stall("selected", "not_selected") if seen.profiled else 0.3
    expected = gain(waiting * (1.0 - occupancy) * 0.4)
    yield Finding(
        "",
        f"{registers} registers a thread leave room for {occupancy:.0%} of the warps",
        line=seen.line(kernel),
        severity=severity(expected),
        counters={counters.REGISTERS: float(registers)},
        advice="compute fewer outputs a thread, unroll less, recompute instead of keeping, or "
        "state the block size in __launch_bounds__ so that the compiler weighs it",
        remedies=("launch-bounds", "block-size", "tune"),
        expected=expected,
        confidence=0.4,
    )
