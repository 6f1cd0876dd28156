"""Instructions that compute addresses and indices rather than results."""

from __future__ import annotations

from collections.abc import Iterator

from optimizer import counters
from optimizer.evidence import Evidence, detector, gain, severity
from optimizer.model import Finding, Kernel

# Integer instructions among the executed ones, and how busy issue or the integer pipe must be for
# them to be what is waited for. In tests/data/ncu arithmetic kernels have 4 to 40 % integers, the
# two that take indices apart 64 and 82 %.
INTEGERS = 0.55
BUSY = 0.50
_INTEGER = (
    "IMAD", "IADD3", "IADD", "LEA", "SHF", "LOP3", "ISETP", "SEL", "VIADD", "IABS", "IMNMX",
    "VIADDMNMX", "PRMT", "SGXT", "BFE", "ISCADD",
)  # fmt: skip


@detector("index-arithmetic")
def index_arithmetic(seen: Evidence, kernel: Kernel) -> Iterator[Finding]:
    """Measure the integer share, and whether it is done in 64 bits."""
    integers = _share(seen)
    if seen.profiled:
        pressed = max(seen.issuing, seen.fraction(counters.ALU_PCT)) > BUSY
        if integers < INTEGERS or not pressed:
            return
    elif integers < INTEGERS + 0.1 or seen.instruction_count < 64:
        return
    wide = seen.count("IADD3", "ISETP", "LEA", "IMAD", part="X")
    wide += seen.count("ISETP", part="EX")
    long = wide > 0.08 * max(seen.instruction_count, 1)
    weight = max(seen.issuing, seen.fraction(counters.ALU_PCT)) if seen.profiled else 0.3
    expected = gain((integers - 0.25) * weight)
    remedies: tuple[str, ...] = (
        "carry-digits", "hoist", "fast-division", "split-border", "unroll", "narrow-index",
    )  # fmt: skip
    if not long:
        remedies = ("hoist", "fast-division", "split-border", "coarsen", "unroll", "vectorize")
    yield Finding(
        "",
        f"{integers:.0%} of the instructions are integer arithmetic"
        + (", much of it in 64 bits" if long else ""),
        line=seen.line(kernel),
        severity=severity(expected),
        counters={
            counters.INTEGER_THREAD_INSTRUCTIONS: seen.of(counters.INTEGER_THREAD_INSTRUCTIONS),
            counters.ALU_PCT: seen.of(counters.ALU_PCT),
        }
        if seen.profiled
        else {},
        advice="keep a running pointer or index instead of recomputing it, hoist row offsets and "
        "bounds tests out of the inner loop"
        + (", use 32-bit indices where the extents allow it" if long else "")
        + ", let a thread do several neighbours with one address",
        remedies=remedies,
        expected=expected,
        confidence=0.6 if seen.profiled else 0.25,
    )


def _share(seen: Evidence) -> float:
    if seen.profiled and seen.of(counters.THREAD_INSTRUCTIONS):
        return seen.of(counters.INTEGER_THREAD_INSTRUCTIONS) / seen.of(counters.THREAD_INSTRUCTIONS)
    # IMAD.MOV and MOV are the compiler's copies, not arithmetic.
    copies = seen.count("IMAD", part="MOV")
    return (seen.count(*_INTEGER) - copies) / max(seen.instruction_count, 1)
