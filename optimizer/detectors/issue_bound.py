"""Schedulers that issue in nearly every cycle: only fewer instructions help."""

from __future__ import annotations

from collections.abc import Iterator

from optimizer import counters
from optimizer.bound import Bound
from optimizer.evidence import Evidence, detector
from optimizer.model import Finding, Kernel, Severity

# ncu's IssueSlotUtilization and CPIStall rules take 80 % as well used.
USED = 0.80


@detector("issue-bound", Bound.COMPUTE)
def issue_bound(seen: Evidence, kernel: Kernel) -> Iterator[Finding]:
    """Say that latency is hidden and the number of instructions decides."""
    if seen.issuing <= USED:
        return
    yield Finding(
        "",
        f"the schedulers issue in {seen.issuing:.0%} of all cycles: only fewer instructions help",
        line=seen.line(kernel, "selected"),
        severity=Severity.INFO,
        counters={counters.ISSUE_ELAPSED_PCT: seen.issuing * 100},
        advice="cut instructions for each result: wider loads, fused multiply-add, constants known "
        "at compile time, hoisted invariants, half2 where precision allows",
        remedies=("hoist", "unroll", "specialize", "vectorize", "fast-math", "coarsen"),
        expected=1.1,
        confidence=0.6,
    )
