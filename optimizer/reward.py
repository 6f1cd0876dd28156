"""What a verdict is worth: calibrated log speedup, hardware proxies, guardrails, judge.

The speedup dominates. The other terms together stay below one tenth of a unit, so that they order
candidates of equal time and never argue with the clock (OptiML, arXiv 2602.12305, weights its
proxies the same way and does not publish the constants).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from optimizer.energy import saving
from optimizer.model import Acceptance, Kernel, Objective, Status, Verdict
from optimizer.significance import speedup

Headroom = Callable[[Verdict], float | None]

# A failed candidate. One halving of the time below the baseline: strategies.py on the simulated
# landscapes gave the same result from -0.5 to -2 because failures are backed up no lower than
# their parent stands (see tree.py).
FAILED = -1.0
# What one unit of reward is where the distance to the roofline is not known: a factor of two.
UNKNOWN_HEADROOM = 2.0
# A kernel closer to its roofline than this would make noise look like reward: 1.05 is the interval
# width of a screened candidate (4 to 8 blocks, simulated in tests/optimizer/test_significance.py).
LEAST_HEADROOM = 1.05
# Largest sum of proxy terms. A proxy is worth at most what a 2 % change of the time would be.
PROXY_WEIGHT = 0.02
# ncu metrics whose fall means less work; a metric counts once, summed over kernels.
FALLING = (
    "dram__bytes.sum",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    "smsp__inst_executed.sum",
    "l1tex__data_bank_conflicts_pipe_lsu.sum",
)
# Guardrails, in units of reward. Spills that do not cost time today cost it on the next GPU; a case
# that gets slower is a refusal later (significance.decide), so it must not look like progress now.
SPILL_PENALTY = 0.02
REGISTER_PENALTY = 0.2
SLOWER_CASE_PENALTY = 0.1
# Lines of diff that cost as much as one percent of a unit: a reviewer reads about 40 lines a minute
# and would not read 400 for 10 %.
LINES_PER_PERCENT = 40
DIFF_LIMIT = 0.05
# The judge moves a score of 0.5 nowhere, 0 and 1 by half of this.
JUDGE_WEIGHT = 0.04


def no_headroom(verdict: Verdict) -> float | None:
    """Say that the distance to the roofline is not known."""
    del verdict
    return None


@dataclass(frozen=True, slots=True)
class CompositeReward:
    """The reward of search.md: 0 for the baseline, 1 for what the roofline allows.

    `headroom` returns the factor by which a verdict could still be faster (None: not known);
    the baseline's sets the unit, so that a unit means the same for a 1.1x and a 10x kernel.
    Under the objective `energy` a saving of energy stands in the speedup's place, where it was
    measured: at equal power, which is the guess elsewhere, they are the same.
    """

    accept: Acceptance = field(default_factory=Acceptance)
    headroom: Headroom = no_headroom
    objective: Objective = Objective.TIME

    def __call__(self, verdict: Verdict, baseline: Verdict) -> float:
        """Return the worth of a candidate; `FAILED` when it is not correct or was not timed."""
        gain = speedup(verdict.measurement) if verdict.status is Status.CORRECT else None
        if gain is None:
            return FAILED
        if self.objective is Objective.ENERGY and verdict.measurement is not None:
            gain = saving(verdict.measurement.energy) or gain
        reach = max(self.headroom(baseline) or UNKNOWN_HEADROOM, LEAST_HEADROOM)
        worth = math.log(gain) / math.log(reach)
        return worth + proxies(verdict, baseline) - guardrails(verdict, baseline, self.accept)


def proxies(verdict: Verdict, baseline: Verdict) -> float:
    """Return what the profiler says moved the right way, within +-`PROXY_WEIGHT`.

    The mean over metrics that both were profiled for of ln(before/after), each clipped to +-1.
    """
    moved = []
    for metric in FALLING:
        before, after = total(baseline, metric), total(verdict, metric)
        if before and after is not None:
            moved.append(max(-1.0, min(1.0, math.log(before / max(after, 1e-3 * before)))))
    return PROXY_WEIGHT * sum(moved) / len(moved) if moved else 0.0


def guardrails(verdict: Verdict, baseline: Verdict, accept: Acceptance) -> float:
    """Return the penalties for new spills, registers over the limit and cases that got slower."""
    cost = 0.0
    for name, used in verdict.resources.items():
        before = baseline.resources.get(name)
        if used.spill_bytes > (before.spill_bytes if before else 0):
            cost += SPILL_PENALTY
        if used.registers > accept.max_registers:
            cost += REGISTER_PENALTY
    return cost + SLOWER_CASE_PENALTY * _slower_share(verdict)


def judged(score: float) -> float:
    """Return what a judge's score, 0 to 1, adds to the reward.

    >>> judged(1.0), judged(0.5), judged(-7.0)
    (0.02, 0.0, -0.02)
    """
    return JUDGE_WEIGHT * (max(0.0, min(1.0, score)) - 0.5)


def reading(lines: int) -> float:
    """Return what it costs that somebody has to read so many changed lines.

    >>> reading(40)
    0.01
    """
    return min(DIFF_LIMIT, 0.01 * lines / LINES_PER_PERCENT)


def changed_lines(before: Kernel, after: Kernel) -> int:
    """Count lines that one text has and the other has not, whatever their order; linear in size."""
    old, new = Counter(before.source.splitlines()), Counter(after.source.splitlines())
    return max(((old - new).total()), (new - old).total())


def total(verdict: Verdict, metric: str) -> float | None:
    """Return a counter summed over kernels; None where nothing was profiled."""
    found = [v for name, v in verdict.counters.items() if name.endswith(f"/{metric}")]
    return sum(found) if found else None


def _slower_share(verdict: Verdict) -> float:
    """Return the share of timed cases whose median is over 2 % slower than the baseline."""
    cases = verdict.measurement.cases if verdict.measurement else ()
    slow = 0
    for case in cases:
        pairs = sorted(
            b / c for b, c in zip(case.baseline_us, case.candidate_us, strict=False) if c > 0
        )
        slow += bool(pairs) and pairs[len(pairs) // 2] < 0.98
    return slow / len(cases) if cases else 0.0
