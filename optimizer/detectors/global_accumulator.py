"""A loop that adds to the same element of global memory in each round."""

from __future__ import annotations

from collections.abc import Iterator

from optimizer.evidence import Evidence, detector, gain, severity
from optimizer.model import Finding, Kernel

MATTERS = 0.2


@detector("global-accumulator")
def global_accumulator(seen: Evidence, kernel: Kernel) -> Iterator[Finding]:
    """Find `A[i] op= …` whose index the innermost loop does not move."""
    function = seen.function(kernel)
    for access in function.accesses if function is not None else ():
        if access.kind != "update" or access.space != "global" or not access.loops:
            continue
        step = access.loop_stride(access.loops[-1])
        if step is None or step.constant != 0 or step.symbols:
            continue
        weight = max(seen.memory_busy, seen.memory_stall) if seen.profiled else 0.5
        if weight < MATTERS:
            return
        expected = gain(weight * 0.5)
        yield Finding(
            "",
            f"{access.name}[…] is loaded and stored in every round of the loop",
            line=access.line,
            severity=severity(expected),
            advice="accumulate in a register and store once behind the loop; the compiler may not "
            "while another pointer could be the same array",
            remedies=("register-accumulator", "restrict"),
            expected=expected,
            confidence=0.7 if seen.profiled else 0.5,
        )
        return
