"""What each sibling is told to look at: a finding and one of its remedies, or a general idea.

Advice is weighed by what the finding costs and by what came of the same advice before in this
search: advice that keeps failing here loses weight, whatever its detector promises.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from optimizer.model import Finding, Severity

SEVERITY = {Severity.INFO: 0.3, Severity.WARNING: 0.6, Severity.CRITICAL: 1.0}
# A finding's second remedy is worth this much of its first.
REMEDY_DECAY = 0.8
# A finding that another sibling was told of already; so that siblings differ in finding first.
TOLD_ALREADY = 0.3
# Advice was good when its edit gained this log speedup; less counts in proportion.
FULL_SUCCESS = math.log(1.1)
# General ideas stand behind any finding of some weight.
IDEA_WEIGHT = 0.02
# Imaginary edits of a typical gain that kept half of their promise.
PSEUDO_GAIN = math.log(1.3)
PSEUDO_KEPT = 0.5

IDEAS: tuple[tuple[str, str], ...] = (
    (
        "idea/bytes",
        (
            "Count the bytes the kernel has to move at least and those it moves. Remove the "
            "difference: reuse in registers or shared memory, wider accesses, fewer passes, "
            "accesses in the order memory is laid out."
        ),
    ),
    (
        "idea/latency",
        (
            "Look for what waits: chains of dependent operations, barriers, too few "
            "independent loads in flight, too few or badly shaped blocks. Give each thread "
            "more independent work, or the GPU more threads."
        ),
    ),
    (
        "idea/work",
        (
            "Look for work that need not be done: values computed again in each iteration "
            "or by each thread, expensive operations with a cheaper equal, index "
            "arithmetic, branches that could be taken once outside of a loop."
        ),
    ),
    (
        "idea/algorithm",
        (
            "Think of another algorithm for the same result: one pass instead of two, a "
            "hierarchical reduction, another distribution of the work over threads, warps "
            "and blocks."
        ),
    ),
    (
        "idea/shape",
        (
            "Fit the kernel to the timed sizes: a specialised path for them with a general "
            "one beside it, unrolling where trip counts are known, block and tile sizes "
            "that leave no tail."
        ),
    ),
)


@dataclass(frozen=True, slots=True)
class Advice:
    """What one sibling is told. `key` identifies it across steps, `kind` is the remedy's."""

    key: str
    words: str
    kind: str = ""
    finding: Finding | None = None


@dataclass(slots=True)
class Record:
    """What came of one advice: edits measured, how far they succeeded, log gains."""

    tries: int = 0
    successes: float = 0.0
    predicted: float = 0.0
    achieved: float = 0.0


@dataclass(slots=True)
class AdviceLedger:
    """Remembers what came of advice in this search, and how much predictions are worth."""

    records: dict[str, Record] = field(default_factory=dict)
    promised: float = 0.0
    kept: float = 0.0

    def note(self, key: str, predicted: float | None, gain: float | None) -> None:
        """Remember an edit made on advice: predicted speedup, log gain measured; None: it failed.

        What never came to be tried is a failure, too: advice no answer could be made of.
        """
        record = self.records.setdefault(key, Record())
        record.tries += 1
        achieved = gain or 0.0
        record.achieved += achieved
        record.successes += max(0.0, min(1.0, achieved / FULL_SUCCESS))
        if predicted is not None and predicted > 1.0:
            record.predicted += math.log(predicted)
            self.promised += math.log(predicted)
            self.kept += max(0.0, achieved)

    def weight(self, key: str) -> float:
        """Return what advice is worth by what came of it, from 0 to 1; 1 when it was never given.

        >>> ledger = AdviceLedger()
        >>> ledger.note("a", 2.0, None)
        >>> ledger.weight("a"), ledger.weight("b")
        (0.5, 1.0)
        """
        record = self.records.get(key, _UNTRIED)
        return (1.0 + record.successes) / (1.0 + record.tries)

    @property
    def calibration(self) -> float:
        """Return the share of a predicted log gain that came true so far, from 0 to 1."""
        share = (self.kept + PSEUDO_KEPT * PSEUDO_GAIN) / (self.promised + PSEUDO_GAIN)
        return max(0.0, min(1.0, share))


_UNTRIED = Record()


def advices(
    findings: Sequence[Finding],
    ledger: AdviceLedger,
    shares: Mapping[str, float],
    prefer: Callable[[str], float] = lambda _: 1.0,
) -> Iterator[Advice]:
    """Yield advice, each different, the most promising first.

    `shares` is each kernel's share of the time, `prefer` a factor for an edit kind (search
    memory).
    """
    left = list(_named(findings, shares, ledger, prefer)) + list(_general(ledger))
    told: dict[int, int] = {}
    while left:
        best = max(
            range(len(left)),
            key=lambda at: (left[at][0] * TOLD_ALREADY ** told.get(left[at][1], 0), -at),
        )
        _, finding, advice = left.pop(best)
        told[finding] = told.get(finding, 0) + 1
        yield advice


def _named(
    findings: Sequence[Finding],
    shares: Mapping[str, float],
    ledger: AdviceLedger,
    prefer: Callable[[str], float],
) -> Iterator[tuple[float, int, Advice]]:
    for number, finding in enumerate(findings):
        share = shares.get(finding.subject, 1.0) if finding.subject else 1.0
        gain = 0.5
        if finding.expected is not None and finding.expected > 0.0:
            gain = math.log(1.0 / (1.0 - share + share / max(finding.expected, 1.0)))
        worth = SEVERITY[finding.severity] * max(0.0, min(1.0, finding.confidence)) * gain
        for rank, kind in enumerate(finding.remedies or ("",)):
            key = f"{finding.detector}/{kind}"
            weight = worth * REMEDY_DECAY**rank * ledger.weight(key) * (prefer(kind) if kind else 1)
            yield weight, number, Advice(key, _words(finding, number + 1, kind), kind, finding)


def _general(ledger: AdviceLedger) -> Iterator[tuple[float, int, Advice]]:
    for rank, (key, words) in enumerate(IDEAS):
        yield IDEA_WEIGHT * 0.9**rank * ledger.weight(key), -1 - rank, Advice(key, words)


def _words(finding: Finding, number: int, kind: str) -> str:
    where = f" in {finding.subject}" if finding.subject else ""
    words = f"Address finding {number} ({finding.detector}{where})"
    return f"{words} by an edit of the kind `{kind}`." if kind else f"{words} as you see fit."
