"""What the search asks of the world. Each is a Protocol: implement the methods, inherit nothing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

from optimizer.model import Edit, Effort, Finding, Kernel, Proposal, Step, Verdict, Workload


class ProposalPolicy(Protocol):
    """Suggests edits of a candidate, best first."""

    def propose(self, step: Step, findings: Sequence[Finding], limit: int) -> Sequence[Proposal]:
        """Return at most `limit` proposals not returned before for this step; none when done."""
        ...


class Evaluator(Protocol):
    """Compiles, checks, times and profiles kernels, wherever that happens."""

    def evaluate(
        self, kernels: Sequence[Kernel], workload: Workload, effort: Effort = Effort.SCREEN
    ) -> Sequence[Verdict]:
        """Return one verdict per kernel, in order. Raise only when no verdict can be had."""
        ...


class Detector(Protocol):
    """Looks at a kernel; one micro-profiling tool."""

    def __call__(self, kernel: Kernel, verdict: Verdict | None) -> Iterable[Finding]:
        """Yield what it sees; `verdict` is None before running, when blocking spares the GPU."""
        ...


class RewriteRule(Protocol):
    """A built-in or third-party rewrite, for `RulePolicy`."""

    def __call__(self, kernel: Kernel, findings: Sequence[Finding]) -> Iterable[Edit]:
        """Yield edits that keep the kernel's meaning, best first; none where it is not legal."""
        ...


class RewardFunction(Protocol):
    """Turns a verdict into one number: 0 for the baseline, higher for better."""

    def __call__(self, verdict: Verdict, baseline: Verdict) -> float:
        """Return the worth of a candidate."""
        ...
