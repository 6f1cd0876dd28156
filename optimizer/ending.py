"""What the end of a search takes, known from what the unedited kernel took at its beginning.

A whole program is run again and again, in processes of its own: what its runs take is known from
the first ones. Of a kernel the parts of its first verdict are known.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from optimizer.model import Kind

if TYPE_CHECKING:
    from optimizer.model import Verdict

# Runs of a program, original and candidate together: four pairs and what checks the candidate
# (race, or the original against itself), and five pairs, more checks and learning of the original
# under a fresh seed. Ratios settle within the fewest pairs where the GPU is ours alone.
RACE_RUNS, CONFIRM_RUNS = 9.0, 13.0
# The first look at a program runs its original four times, the first one on a cold GPU.
LEARNING_RUNS = 5.0
# A candidate that is being judged when the time is over, and its compiler.
LAST_RUNS = 4.0
# For what is held against a candidate beyond its results: sanitizers, and warps that are delayed.
BEYOND_SECONDS = 3.0
# What a kernel's races and confirmations cost, in trials and in whole first verdicts: 1.6 to 3.2
# and 0.8 to 1.7 on three workloads (recordings of an H200). Rounded up, since running over the
# minutes is worse.
RACE_TRIALS, CONFIRM_VERDICTS = 3.0, 2.0


@dataclass(frozen=True, slots=True)
class Ending:
    """Seconds of the stages behind a search.

    `compare` is the original against itself, where that waits for a winner; `race` is of one
    contender, `confirm` of one candidate. `last` is what the search takes to come to its end.
    """

    compare: float
    race: float
    confirm: float
    last: float

    @property
    def reserve(self) -> float:
        """Return what has to be kept back so that a candidate can be confirmed in full."""
        return self.last + self.compare + self.confirm


def ending(first: Verdict, kind: Kind) -> Ending:
    """Return what the stages behind a search take, judged by the first verdict of its original."""
    spent = first.seconds
    timed = spent.get("time", 0.0)
    if kind is Kind.PROGRAM:
        run = max(timed, spent.get("profile original", 0.0) / LEARNING_RUNS)
        race, confirm = RACE_RUNS * run, CONFIRM_RUNS * run + BEYOND_SECONDS
        return Ending(race, race, confirm, spent.get("compile", 0.0) + LAST_RUNS * run)
    anew = sum(spent.values()) - spent.get("profile", 0.0)
    trial = spent.get("verify", 0.0) + timed
    return Ending(0.0, RACE_TRIALS * trial, CONFIRM_VERDICTS * anew, trial)
