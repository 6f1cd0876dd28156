"""When a search stops, and what it is told to do."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum

from optimizer.model import Objective

# Of the minutes, never more than this is kept back for racing and confirming; and of a whole
# program's, where it is known what that takes: what was found in half of them can be confirmed.
LARGEST_RESERVE, LARGEST_KNOWN_RESERVE = 0.25, 0.5
# A winner without counters leaves half of the report empty, and costs seconds to profile.
OVERDUE = 1.2
# A confirmation is a fresh process (0.6 s), more input families and the full stop rule: it took
# about this many times what the first evaluation of the same kernel took.
CONFIRMATION_COST = 4.0
# One evaluation in this many is kept for making the winner shorter, up to as many as most
# winners have edits.
SHORTENING_SHARE = 16
SHORTENING_MOST = 5


@dataclass(frozen=True, slots=True)
class Budget:
    """How much may be spent: candidates sent to the runner, minutes, US dollars for a model."""

    evaluations: int = 80
    minutes: float = math.inf
    usd: float = math.inf

    @property
    def limits(self) -> dict[str, float]:
        """Return the limits that are set, by name."""
        limits = {"evaluations": self.evaluations, "minutes": self.minutes, "usd": self.usd}
        return {name: float(value) for name, value in limits.items() if math.isfinite(value)}


class Stopped(StrEnum):
    """Which rule ended a search."""

    EVALUATIONS = "evaluations"
    MINUTES = "minutes"
    MONEY = "the budget for the model"
    HEADROOM = "headroom"
    EXHAUSTED = "nothing left to try"
    INTERRUPTED = "interrupted"
    RUNNER = "runner failed"


@dataclass(slots=True)
class Meter:
    """Counts what was spent. `clock` returns seconds and is read for the minutes rule alone."""

    budget: Budget
    clock: Callable[[], float] = time.monotonic
    spent: Callable[[], float] = float
    evaluations: int = 0
    reserve_seconds: float = 0.0
    reserve_evaluations: int = 0
    # Whether there is something to confirm: until then nothing is kept back for it.
    hopeful: bool = False
    started: float = field(init=False)
    already_usd: float = field(init=False)

    def __post_init__(self) -> None:
        self.started = self.clock()
        self.already_usd = self.spent()

    @property
    def seconds(self) -> float:
        """Return the seconds since the search began."""
        return self.clock() - self.started

    @property
    def usd(self) -> float:
        """Return the money this search has cost."""
        return self.spent() - self.already_usd

    @property
    def left(self) -> int:
        """Return how many candidates may still be evaluated."""
        return max(0, self.budget.evaluations - self.evaluations - self.reserve_evaluations)

    @property
    def share_left(self) -> float:
        """Return the share of evaluations or minutes that is left, whichever is scarcer.

        Of the minutes, what is not kept back is the whole.
        """
        share = self.left / max(1, self.budget.evaluations)
        whole = 60.0 * self.budget.minutes - self.kept_seconds
        return min(share, self.seconds_left / max(whole, 1e-9)) if math.isfinite(whole) else share

    def keep_for_confirming(self, evaluation_seconds: float) -> None:
        """Keep back time for confirming, judged by how long the first evaluation took."""
        most = LARGEST_RESERVE * 60.0 * self.budget.minutes
        self.reserve_seconds = min(most, CONFIRMATION_COST * evaluation_seconds)

    def keep(self, seconds: float) -> None:
        """Keep back time for stages of which it is known what they take."""
        most = LARGEST_KNOWN_RESERVE * 60.0 * self.budget.minutes
        self.reserve_seconds = min(most, seconds)

    def keep_for_weighing(self, cases: int) -> None:
        """Keep back time for reading the energy counter: 40 s a case, of a winner and a rival."""
        most = LARGEST_RESERVE * 60.0 * self.budget.minutes
        self.reserve_seconds += min(most, 2 * 40.0 * cases)

    def keep_for_shortening(self) -> None:
        """Keep back evaluations to try the winner without some of its edits."""
        self.reserve_evaluations = min(SHORTENING_MOST, self.budget.evaluations // SHORTENING_SHARE)

    def exceeded(self) -> Stopped | None:
        """Return the rule that says stop, if one does."""
        if self.left == 0:
            return Stopped.EVALUATIONS
        if self.usd > self.budget.usd:
            return Stopped.MONEY
        return Stopped.MINUTES if self.late else None

    @property
    def late(self) -> bool:
        """Tell whether no more than what is kept back is left of the minutes."""
        return math.isfinite(self.budget.minutes) and self.seconds_left <= 0.0

    @property
    def seconds_left(self) -> float:
        """Return the seconds left before the minutes rule says stop."""
        return max(0.0, self.all_seconds_left - self.kept_seconds)

    @property
    def kept_seconds(self) -> float:
        """Return what is kept back now: nothing as long as there is nothing to confirm."""
        return self.reserve_seconds if self.hopeful else 0.0

    @property
    def seconds_spare(self) -> float:
        """Return the seconds left beside the reserve, whether or not there is use for it yet."""
        return max(0.0, self.all_seconds_left - self.reserve_seconds)

    @property
    def all_seconds_left(self) -> float:
        """Return the seconds left of the minutes, the reserve included."""
        return max(0.0, 60.0 * self.budget.minutes - self.seconds)

    @property
    def until_overdue(self) -> float:
        """Return the seconds left for what only explains a result."""
        return max(0.0, OVERDUE * 60.0 * self.budget.minutes - self.seconds)

    @property
    def overtime(self) -> bool:
        """Tell whether the minutes are over, the reserve included."""
        return self.seconds >= 60.0 * self.budget.minutes


class Strategy(StrEnum):
    """How the next candidate to build on is chosen."""

    MCTS = "mcts"
    GREEDY = "greedy"
    RANDOM = "random"


@dataclass(frozen=True, slots=True)
class SearchSettings:
    """Constants of the search; the switches exist for ablation. docs/search.md has their effect.

    `batch` candidates are chosen before the first of them is known, and alone decide the tree:
    `Tools.width` only says how many the machines take at once. With a `window` they are chosen one
    by one instead, so many always under evaluation, and that decides the tree. The first `exploit`
    of a batch edit the best candidate until `chase` tries brought nothing, then the first `hold`.
    The others follow PUCT: `exploration` (raised by `stall_boost` from then on), `best_weight` (a
    subtree's best against its mean), and progressive widening to `widen` x visits^`alpha` children,
    less by `depth_decay` a level, more by `payoff` below kinds that paid. `openings` lets the
    first candidate at which a promising kind of edit becomes possible go before all these.
    `transfer` is how much gains seen anywhere change priors. `patience` tries without progress
    close a subtree. `tune_share` of the budget is kept for constants, which get `tune_prior` and
    before wait until the policy has no more to say. A candidate is profiled when it is
    `profile_step` times as fast as the last one that was, `profiles` times at most. `shorten`
    tries the winner without the edits that brought nothing. `objective` is what the winner is
    chosen by.
    """

    strategy: Strategy = Strategy.MCTS
    seed: int = 0
    batch: int = 4
    window: int = 0
    limit: int = 64
    exploit: int = 3
    chase: int = 28
    hold: int = 1
    stall_boost: float = 2.0
    exploration: float = 0.3
    best_weight: float = 0.9
    widen: float = 4.0
    alpha: float = 0.5
    depth_decay: float = 0.97
    payoff: float = 0.5
    openings: bool = True
    jitter: float = 0.05
    transfer: float = 1.5
    patience: int = 20
    prune: bool = True
    transpositions: bool = True
    tune: bool = True
    tune_share: float = 0.12
    tune_prior: float = 0.1
    profile: bool = True
    profiles: int = 5
    profile_step: float = 1.25
    finalists: int = 4
    confirmations: int = 3
    shorten: bool = True
    least_headroom: float = 1.03
    objective: Objective = Objective.TIME


def window_for(machines: int, evaluations: int) -> int:
    """Return the window that keeps machines busy and costs little at equal evaluations.

    Two candidates a machine, since one is compiled while another is judged; on two and three
    machines six, where that is seen to cost nothing. More than eight only as a tenth of the
    evaluations: who chooses more than that blind finds less. A third a machine, with which none
    waits for a compiler, up to a sixteenth of them. One machine is as busy with batches. Figures:
    docs/scaling.md.

    >>> [window_for(machines, 80) for machines in (1, 2, 4, 64)], window_for(64, 400)
    ([0, 6, 8, 8], 40)
    >>> [window_for(4, evaluations) for evaluations in (120, 160, 200, 400)]
    [8, 10, 12, 12]
    """
    if machines <= 1:
        return 0
    third = min(3 * machines, evaluations // 16)
    return max(min(max(6, 2 * machines), max(8, evaluations // 10)), third)


DEFAULT_BUDGET = Budget()
DEFAULT_SETTINGS = SearchSettings()
