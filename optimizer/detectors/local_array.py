"""An array of a thread that lives in memory because its index is not known at compile time."""

from __future__ import annotations

from collections.abc import Iterator

from optimizer import counters
from optimizer.evidence import Evidence, detector, gain, severity
from optimizer.model import Finding, Kernel

# The slow path of sinf has a stack frame and local accesses too, but hardly runs: `slow_math` in
# tests/data/ncu moves under 1 % of its sectors for it.
TRAFFIC = 0.10


@detector("local-array")
def local_array(seen: Evidence, kernel: Kernel) -> Iterator[Finding]:
    """Find local-memory traffic that is no spilling."""
    if seen.resources is None or not seen.resources.stack_bytes or seen.resources.spill_bytes:
        return
    if not seen.count("LDL", "STL"):
        return
    function = seen.function(kernel)
    arrays = [v for v in function.local_arrays if v.is_array] if function is not None else []
    local = seen.of(counters.LOCAL_LOAD_SECTORS) + seen.of(counters.LOCAL_STORE_SECTORS)
    every = local + seen.of(counters.LOAD_SECTORS) + seen.of(counters.STORE_SECTORS)
    share = local / every if every else 0.0
    if (seen.profiled and share < TRAFFIC) or (not seen.profiled and not arrays):
        return
    weight = max(seen.memory_busy, seen.memory_stall) if seen.profiled else 0.4
    expected = gain((share if seen.profiled else 0.5) * weight)
    names = ", ".join(v.name for v in arrays[:3])
    yield Finding(
        "",
        f"the array {names or 'of each thread'} lives in local memory"
        + (f": {share:.0%} of all sectors" if seen.profiled else ""),
        line=seen.line(kernel),
        severity=severity(expected),
        counters={
            counters.LOCAL_LOAD_SECTORS: seen.of(counters.LOCAL_LOAD_SECTORS),
            counters.LOCAL_STORE_SECTORS: seen.of(counters.LOCAL_STORE_SECTORS),
        }
        if seen.profiled
        else {},
        advice="unroll the loops that index it so that it fits in registers, move a table that all "
        "threads share to __constant__, or keep it in shared memory with a column a thread",
        remedies=("local-array", "unroll", "specialize"),
        expected=expected,
        confidence=0.8 if seen.profiled else 0.5,
    )
