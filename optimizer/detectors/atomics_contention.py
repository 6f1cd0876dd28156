"""Atomics that queue up at few addresses."""

from __future__ import annotations

from collections.abc import Iterator

from optimizer import counters
from optimizer.bound import Bound
from optimizer.evidence import Evidence, detector, gain, severity
from optimizer.functions import Function
from optimizer.model import Finding, Kernel

# One atomic for twenty loads and stores is a tally at the end of a block, not a hot spot:
# `histogram_private` in tests/data/ncu has 1 in 500, `histogram_global` 1 in 2.
FREQUENT = 0.05
STALLED = 0.40
IDLE = 0.60
# Shared-memory atomics: conflicts are passes beyond the first; one more for each is twofold.
CONFLICTS = 0.5


@detector("atomics-contention", Bound.LATENCY, Bound.MEMORY)
def atomics_contention(seen: Evidence, kernel: Kernel) -> Iterator[Finding]:
    """Find atomics behind which warps wait while the memory system idles."""
    function = seen.function(kernel)
    if not seen.profiled:
        yield from _unprofiled(seen, function)
        return
    atomic = seen.of(counters.ATOMIC_REQUESTS) + seen.of(counters.REDUCTION_REQUESTS)
    plain = seen.of(counters.LOAD_REQUESTS) + seen.of(counters.STORE_REQUESTS)
    waits = seen.stall(
        "long_scoreboard", "lg_throttle", "drain", "short_scoreboard", "mio_throttle"
    )
    dram_idle = max(seen.fraction(counters.DRAM_PCT), seen.fraction(counters.L1_PCT)) < IDLE
    shared = seen.of(counters.SHARED_ATOMIC_WAVEFRONTS)
    conflicts = seen.of(counters.SHARED_ATOMIC_CONFLICTS) / shared if shared else 0.0
    if atomic > FREQUENT * max(atomic + plain, 1.0) and waits > STALLED and dram_idle:
        where, share = "global memory", waits * (1.0 - seen.memory_busy) * 0.9
    elif conflicts > CONFLICTS and seen.stall("short_scoreboard", "mio_throttle") > 0.2:
        where, share = "shared memory", seen.stall("short_scoreboard", "mio_throttle") * conflicts
    else:
        return
    expected = gain(share)
    yield Finding(
        "",
        f"atomics in {where} serialize: warps wait {waits:.0%} of their time",
        line=_line(function) or seen.line(kernel),
        severity=severity(expected),
        counters={
            counters.ATOMIC_REQUESTS: seen.of(counters.ATOMIC_REQUESTS),
            counters.REDUCTION_REQUESTS: seen.of(counters.REDUCTION_REQUESTS),
            counters.SHARED_ATOMIC_CONFLICTS: seen.of(counters.SHARED_ATOMIC_CONFLICTS),
        },
        advice="count in copies private to a block or warp in shared memory and add those up once; "
        "sum within the warp before one lane's atomic",
        remedies=("privatize-atomics", "shuffle-reduce", "split-loop"),
        expected=expected,
        confidence=0.8,
    )


def _unprofiled(seen: Evidence, function: Function | None) -> Iterator[Finding]:
    """Say without counters that atomics to global memory for every element may queue."""
    if function is None or not seen.count("RED", "REDG", "ATOM", "ATOMG"):
        return
    if function.shared or not function.atomics:
        return
    yield Finding(
        "",
        "every thread does atomics to global memory; at few addresses they queue",
        line=_line(function),
        severity=severity(1.1),
        advice="count in copies private to a block in shared memory and add those up once",
        remedies=("privatize-atomics", "shuffle-reduce"),
        expected=1.2,
        confidence=0.25,
    )


def _line(function: Function | None) -> int | None:
    return function.atomics[0].line if function is not None and function.atomics else None
