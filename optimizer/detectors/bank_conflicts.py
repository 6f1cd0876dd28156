"""Shared-memory accesses that take more than one pass because lanes hit the same bank."""

from __future__ import annotations

from collections.abc import Iterator

from optimizer import counters
from optimizer.bound import Bound
from optimizer.evidence import Evidence, detector, gain, severity
from optimizer.model import Finding, Kernel, Severity

# ncu's own rule speaks at 10 % of the wavefronts; 20 % more than ideal leaves out what a
# different order of the same accesses changes from run to run.
EXCESS = 1.2
MATTERS = 0.10
BANKS = 32
_WORDS = ("float", "int", "unsigned", "unsigned int", "half2", "__half2", "uint32_t", "int32_t")


@detector("bank-conflicts", Bound.MEMORY, Bound.LATENCY, Bound.COMPUTE)
def bank_conflicts(seen: Evidence, kernel: Kernel) -> Iterator[Finding]:
    """Compare wavefronts with the ideal number."""
    if not seen.profiled:
        yield from _by_source(seen, kernel)
        return
    ideal = seen.of(counters.SHARED_WAVEFRONTS_IDEAL)
    excess = seen.of(counters.SHARED_WAVEFRONTS) / ideal if ideal else 1.0
    waits = seen.stall("mio_throttle", "short_scoreboard")
    weight = max(seen.fraction(counters.L1_DATA_PCT), waits)
    if excess < EXCESS or weight < MATTERS:
        return
    expected = gain((1.0 - 1.0 / excess) * weight)
    yield Finding(
        "",
        f"shared-memory accesses take {excess:.1f} passes where one would do: bank conflicts",
        line=seen.line(kernel, "excess_wavefronts"),
        severity=severity(expected),
        counters={
            counters.SHARED_WAVEFRONTS: seen.of(counters.SHARED_WAVEFRONTS),
            counters.SHARED_WAVEFRONTS_IDEAL: ideal,
        },
        advice="pad the rows of the shared array by one element (or swizzle the column with the "
        "row), so that lanes that walk down a column meet 32 different banks",
        remedies=("pad-shared", "shuffle-reduce", "stage-transpose"),
        expected=expected,
        confidence=0.9,
    )


def _by_source(seen: Evidence, kernel: Kernel) -> Iterator[Finding]:
    """Judge by the index: lanes a multiple of 32 words apart meet in one bank."""
    function = seen.function(kernel)
    for access in function.accesses if function is not None else ():
        apart = access.thread_stride() if access.space == "shared" else None
        if apart and apart % BANKS == 0 and access.element in _WORDS:
            yield Finding(
                "",
                f"lanes access {access.name} {apart} words apart: one bank, 32 passes",
                line=access.line,
                severity=Severity.WARNING,
                advice="pad the rows of the shared array by one element",
                remedies=("pad-shared",),
                expected=1.3,
                confidence=0.6,
            )
            return
