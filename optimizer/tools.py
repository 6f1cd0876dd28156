"""What a search is given, and what it tells whoever watches."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from optimizer.boundary import violations
from optimizer.dialogue import Usage
from optimizer.judge import Judge, rule_judge
from optimizer.reward import Headroom, no_headroom

if TYPE_CHECKING:
    from optimizer.interfaces import Detector, Evaluator, ProposalPolicy, RewardFunction
    from optimizer.model import Edit, Finding, Kernel


def no_constants(kernel: Kernel, findings: Sequence[Finding]) -> Iterable[Edit]:
    """Offer no constant to tune."""
    del kernel, findings
    return ()


def no_boundary(original: str, candidate: str, *, allow_host: bool) -> Sequence[str]:
    """Let every edit through."""
    del original, candidate, allow_host
    return ()


def nothing() -> None:
    """Do nothing."""


@dataclass(frozen=True, slots=True)
class Tools:
    """What a search is given.

    `reward` None means `CompositeReward` under the workload's acceptance. `tune` yields edits of
    constants, `boundary` the reasons why a source may not be run
    (`boundary.violations`), `headroom` the factor by which a verdict could still be faster.
    `profile` tells that the evaluator can read counters, `profile_seconds` about how long that
    takes the first time. `width` is how many candidates it works
    on at once: when that is more than the batch, the next in line are evaluated ahead, which
    changes the time and never the tree. `used` returns what a model has taken so far, `broke`
    tells that its budget is used up; a policy that needs no model goes on all the same. `done` is
    called once no more will be proposed, so that nothing is asked that nobody waits for.
    """

    policy: ProposalPolicy
    evaluator: Evaluator
    detectors: Sequence[Detector] = ()
    reward: RewardFunction | None = None
    judge: Judge = rule_judge
    tune: Callable[[Kernel, Sequence[Finding]], Iterable[Edit]] = no_constants
    boundary: Callable[..., Sequence[str]] = violations
    headroom: Headroom = no_headroom
    profile: bool = False
    profile_seconds: float = 0.0
    width: int | Callable[[], int] = 1
    clock: Callable[[], float] = time.monotonic
    used: Callable[[], Usage] = Usage
    broke: Callable[[], bool] = bool
    done: Callable[[], None] = nothing


class Stage(StrEnum):
    """What a search is doing."""

    BASELINE = "measuring the baseline"
    PROFILING = "profiling"
    SEARCHING = "searching"
    TUNING = "tuning constants"
    RACING = "racing the best"
    SHORTENING = "leaving out edits that brought nothing"
    CONFIRMING = "confirming in a fresh process"
    WEIGHING = "reading the energy counter"


@dataclass(frozen=True, slots=True)
class Event:
    """A stage has begun, for the steps named; `left` evaluations remain of the budget."""

    stage: Stage
    steps: tuple[int, ...] = ()
    left: int = 0


def ignore(_: object) -> None:
    """Watch without a word."""
