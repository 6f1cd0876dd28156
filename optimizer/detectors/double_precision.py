"""Double-precision arithmetic that slipped into single-precision code."""

from __future__ import annotations

from collections.abc import Iterator

from optimizer import counters
from optimizer.evidence import Evidence, detector, gain, severity
from optimizer.model import Finding, Kernel

_DOUBLE = ("DADD", "DMUL", "DFMA", "DSETP")


@detector("double-precision")
def double_precision(seen: Evidence, kernel: Kernel) -> Iterator[Finding]:
    """Find float values converted to double, computed on, and converted back."""
    doubles = seen.count(*_DOUBLE)
    up = seen.count("F2F", part="F64") and _converts(seen, "F64", "F32")
    down = _converts(seen, "F32", "F64")
    if not doubles or not up or not down:
        return
    busy = max(seen.fraction(counters.FP64_PCT), seen.fraction(counters.XU_PCT))
    if seen.profiled and busy < 0.05:
        return
    expected = gain(busy * 0.9 if seen.profiled else 0.4)
    function = seen.function(kernel)
    literals = function.double_literals if function is not None else ()
    line = function.file.syntax.line(literals[0]) if function is not None and literals else None
    yield Finding(
        "",
        f"{doubles} double-precision instructions work on values that are float before and after",
        line=line or seen.line(kernel),
        severity=severity(expected),
        counters={
            counters.FP64_PCT: seen.of(counters.FP64_PCT),
            counters.XU_PCT: seen.of(counters.XU_PCT),
        }
        if seen.profiled
        else {},
        advice="write literals with f (0.5f) and call the float functions (sqrtf, fabsf); the "
        "conversions alone cost a slot of the special-function pipe each",
        remedies=("float-literals", "reciprocal", "hoist"),
        expected=expected,
        confidence=0.9 if seen.profiled else 0.6,
    )


def _converts(seen: Evidence, to: str, of: str) -> bool:
    return any(
        opcode.startswith("F2F") and opcode.split(".")[1:3] == [to, of]
        for opcode in seen.instructions
    )
