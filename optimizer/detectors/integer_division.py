"""Integer division and remainder by numbers the compiler does not know."""

from __future__ import annotations

from collections.abc import Iterator

from optimizer import counters
from optimizer.evidence import Evidence, detector, gain, severity
from optimizer.model import Finding, Kernel

# The GPU has no such instruction: about 20 for 32 bits, near 100 (a call) for 64. Seen in SASS as
# a reciprocal in floating point (I2F…RP, MUFU.RCP, F2I…TRUNC) followed by two IMAD.HI.U32.
INSTRUCTIONS = 20.0
MATTERS = 0.08


@detector("integer-division")
def integer_division(seen: Evidence, kernel: Kernel) -> Iterator[Finding]:
    """Estimate which share of the instructions are divisions."""
    reciprocals = seen.count("I2F", part="RP")
    if not reciprocals or not seen.count("MUFU", part="RCP"):
        return
    divisions = max(reciprocals, seen.count("IMAD", part="HI") // 2)
    share = min(divisions * INSTRUCTIONS / max(seen.instruction_count, 1), 0.8)
    weight = max(seen.issuing, seen.fraction(counters.ALU_PCT)) if seen.profiled else 0.4
    if share * weight < MATTERS:
        return
    expected = gain(share * weight)
    function = seen.function(kernel)
    nodes = function.divisions if function is not None else ()
    line = function.file.syntax.line(nodes[0]) if function is not None and nodes else None
    yield Finding(
        "",
        f"about {divisions} integer divisions or remainders are {share:.0%} of the instructions",
        line=line or seen.line(kernel),
        severity=severity(expected),
        counters={counters.ALU_PCT: seen.of(counters.ALU_PCT)} if seen.profiled else {},
        advice="use a 2-D or 3-D grid instead of taking an index apart, compute quotient and "
        "remainder once, 32 bits instead of 64, a precomputed multiplier, or a constant divisor",
        remedies=("carry-digits", "fast-division", "hoist", "specialize", "narrow-index"),
        expected=expected,
        confidence=0.7 if seen.profiled else 0.4,
    )
