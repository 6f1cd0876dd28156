"""Too few warps fit on a multiprocessor to hide latency; names what they run out of."""

from __future__ import annotations

from collections.abc import Iterator

from optimizer import counters
from optimizer.bound import Bound
from optimizer.evidence import Evidence, detector, gain, severity
from optimizer.model import Finding, Kernel

# KernelPro: under 50 % theoretical occupancy.
LOW = 0.50
# Few warps do no harm when instructions are issued all the same (ncu: 80 % for its advice; 60 %
# is where its Speed-of-Light rule begins to speak of latency).
BUSY = 0.60
_LIMITS = (
    (
        counters.LIMIT_REGISTERS,
        "registers",
        ("launch-bounds", "block-size", "register-accumulator"),
    ),
    (counters.LIMIT_SHARED, "shared memory", ("block-size", "tune", "local-array")),
    (counters.LIMIT_WARPS, "warps in a block", ("block-size", "tune")),
    (counters.LIMIT_BLOCKS, "blocks", ("block-size", "tune")),
)


@detector("occupancy-limiter", Bound.LATENCY, Bound.MEMORY, Bound.COMPUTE)
def occupancy_limiter(seen: Evidence, kernel: Kernel) -> Iterator[Finding]:
    """Name the resource that keeps warps away."""
    occupancy = _theoretical(seen)
    if occupancy is None or occupancy >= LOW or occupancy == 0:
        return
    if seen.profiled and (seen.issuing >= BUSY or seen.memory_busy >= 0.8):
        return
    limit, remedies = _limiter(seen)
    waiting = 1.0 - seen.stall("selected", "not_selected") if seen.profiled else 0.5
    expected = gain((1.0 - occupancy) * waiting * 0.7)
    yield Finding(
        "",
        f"{limit} allow only {occupancy:.0%} of the warps a multiprocessor can hold",
        line=_definition(seen, kernel),
        severity=severity(expected),
        counters={
            counters.OCCUPANCY_LIMIT_PCT: occupancy * 100,
            counters.REGISTERS: seen.of(counters.REGISTERS),
            counters.SHARED_BLOCK_BYTES: seen.of(counters.SHARED_BLOCK_BYTES),
        },
        advice=f"lower the use of {limit} for a thread (smaller tiles, __launch_bounds__, another "
        "block size), or keep more independent loads in flight in the warps there are",
        remedies=remedies,
        expected=expected,
        confidence=0.7 if seen.profiled else 0.3,
    )


def _theoretical(seen: Evidence) -> float | None:
    if seen.has(counters.OCCUPANCY_LIMIT_PCT):
        return seen.fraction(counters.OCCUPANCY_LIMIT_PCT)
    return seen.resources.occupancy if seen.resources is not None else None


def _limiter(seen: Evidence) -> tuple[str, tuple[str, ...]]:
    known = [(seen.of(m), words, rest) for m, words, rest in _LIMITS if seen.has(m)]
    if known:
        _, words, remedies = min(known, key=lambda entry: entry[0])
        return words, remedies
    shared = seen.resources is not None and seen.resources.shared_bytes > 32_768
    return ("shared memory", _LIMITS[1][2]) if shared else ("registers", _LIMITS[0][2])


def _definition(seen: Evidence, kernel: Kernel) -> int | None:
    function = seen.function(kernel)
    return function.line if function is not None else None
