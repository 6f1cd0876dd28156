"""From the candidates that screened well to the one that is offered: race, then confirm."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from optimizer.ending import Ending, ending
from optimizer.expansion import merged
from optimizer.interfaces import Punctual
from optimizer.model import Effort, Status
from optimizer.significance import Decision, decide, interval, no_difference, speedup
from optimizer.tools import Event, Stage, ignore

if TYPE_CHECKING:
    from optimizer.budget import Meter, SearchSettings
    from optimizer.interfaces import Evaluator
    from optimizer.model import Acceptance, Measurement, Step, Verdict, Workload
    from optimizer.tree import Tree

# A candidate this much slower on screen is not the faster one: screening intervals of 4 to 12
# blocks are 1 to 2 % wide. Racing costs the full stop rule, 12 s each for a slow program.
CLOSE = 1.04


@dataclass(frozen=True, slots=True)
class Final:
    """Who is offered, the verdict of the fresh process, and what was seen on the way."""

    winner: int | None = None
    confirmation: Verdict | None = None
    notes: tuple[str, ...] = ()


class Finals:
    """Races the contenders and confirms the best of them."""

    on_event: Callable[[Event], None] = staticmethod(ignore)

    def __init__(
        self,
        tree: Tree,
        evaluator: Evaluator,
        workload: Workload,
        meter: Meter,
        settings: SearchSettings,
    ) -> None:
        self.tree, self.evaluator, self.workload = tree, evaluator, workload
        self.meter, self.settings, self.accept = meter, settings, workload.accept

    def ranked(self, *, hurry: bool = False) -> list[Step]:
        """Return who might be offered, best first; `hurry` returns the best screened one alone."""
        steps = [node.step for node in self.tree.nodes]
        best = contenders(steps, self.accept, 1 if hurry else self.settings.finalists)
        close = near_the_first(best)
        if len(close) > 1 and self.has_time_for(len(close)):
            best = [*self.race(close), *best[len(close) :]]
        return best

    def has_time_for(self, races: int) -> bool:
        """Tell whether there is time to race so many and still to confirm one."""
        cost = self.ending
        return races * cost.race + cost.confirm <= self.meter.all_seconds_left

    @property
    def has_time_to_compare(self) -> bool:
        """Tell whether there is time to compare the original with itself and still to confirm."""
        return self.ending.compare + self.ending.confirm <= self.meter.all_seconds_left

    @property
    def ending(self) -> Ending:
        """Return what the last stages take."""
        return ending(self.tree.root.step.verdict, self.workload.kind)

    def race(self, best: Sequence[Step]) -> list[Step]:
        """Return the contenders timed under the full stop rule, best lower bound first."""
        self.on_event(Event(Stage.RACING, tuple(step.number for step in best)))
        kernels = [step.kernel for step in best]
        verdicts = self.evaluator.evaluate(kernels, self.workload, Effort.RACE)
        raced = []
        for step, verdict in zip(best, verdicts, strict=True):
            node = self.tree.nodes[step.number]
            if verdict.status is not Status.NOT_RECORDED:
                node.step = replace(step, verdict=merged(verdict, step.verdict))
            raced.append(node.step)
        return list(by_lower_bound(raced, self.accept))

    def confirm(self, ranked: Sequence[Step], aa: Measurement | None) -> Final:
        """Measure the best in a fresh process, and the next best when that does not hold."""
        raced = ranked[: self.settings.confirmations]
        if not raced:
            return Final()
        accept = stricter(self.accept, len(raced), bias(aa, self.accept))
        baseline, notes = self.tree.root.step.verdict, list[str]()
        for step in raced:
            self.on_event(Event(Stage.CONFIRMING, (step.number,)))
            if isinstance(self.evaluator, Punctual):
                self.evaluator.within(self.meter.all_seconds_left)
            (verdict,) = self.evaluator.evaluate([step.kernel], self.workload, Effort.CONFIRM)
            refused = refusal(step, verdict, baseline, accept)
            if not refused:
                return Final(step.number, verdict, tuple(notes))
            notes.append(refused)
            if self.meter.overtime:
                break
        return Final(notes=tuple(notes))


def contenders(steps: Sequence[Step], accept: Acceptance, limit: int) -> list[Step]:
    """Return the candidates that could be offered, fastest first, one per machine code."""
    found = [
        (gain, step)
        for step in steps[1:]
        if step.same_as is None
        and (gain := speedup(step.verdict.measurement)) is not None
        and gain > accept.min_speedup
        and may_be_offered(step.verdict, steps[0].verdict, accept)
    ]
    found.sort(key=lambda pair: (-pair[0], pair[1].number))
    return [step for _, step in found[:limit]]


def near_the_first(best: Sequence[Step]) -> list[Step]:
    """Return the first contenders that screening cannot tell from the very first."""
    speeds = [speedup(step.verdict.measurement) or 0.0 for step in best]
    return [step for step, fast in zip(best, speeds, strict=True) if fast * CLOSE >= speeds[0]]


def may_be_offered(verdict: Verdict, baseline: Verdict, accept: Acceptance) -> bool:
    """Tell whether a verdict is correct and within the limits on registers and memory.

    A kernel that was over the register limit before may stay there.
    """
    if verdict.status is not Status.CORRECT:
        return False
    for name, used in verdict.resources.items():
        before = baseline.resources.get(name)
        allowed = max(accept.max_registers, before.registers if before else 0)
        if used.registers > allowed:
            return False
    if accept.max_memory_growth is None or verdict.measurement is None:
        return True
    first, peak = memory(verdict.measurement, baseline.measurement)
    if first is None or peak is None:
        return False  # what is not known does not keep a limit
    return peak <= first * (1.0 + accept.max_memory_growth)


def memory(
    measured: Measurement | None, baseline: Measurement | None
) -> tuple[int | None, int | None]:
    """Return the most device memory that original and candidate take; None where not known.

    Beside the candidate, if that is known: both were then seen by the same process.
    """
    if measured is None:
        return None, None
    first = measured.baseline_memory_bytes
    if first is None and baseline is not None:
        first = baseline.peak_memory_bytes
    return first or None, measured.peak_memory_bytes or None


def by_lower_bound(steps: Sequence[Step], accept: Acceptance) -> Iterator[Step]:
    """Yield raced candidates by the speedup they have for certain, those without one dropped."""
    bounds = [(interval(step.verdict.measurement, accept.confidence), step) for step in steps]
    known = [(bound.low, step) for bound, step in bounds if bound is not None]
    for _, step in sorted(known, key=lambda pair: (-pair[0], pair[1].number)):
        if step.verdict.status is Status.CORRECT:
            yield step


def stricter(accept: Acceptance, attempts: int, bias: float) -> Acceptance:
    """Return the acceptance of one of several confirmations (Bonferroni), less the A/A bias.

    >>> from optimizer.model import Acceptance
    >>> round(stricter(Acceptance(), 2, 1.0).confidence, 4)
    0.995
    """
    confidence = 1.0 - (1.0 - accept.confidence) / attempts
    return replace(accept, confidence=confidence, min_speedup=accept.min_speedup * bias)


def refusal(step: Step, verdict: Verdict, baseline: Verdict, accept: Acceptance) -> str:
    """Return why a confirmation does not hold; empty when it does."""
    name = f"step {step.number}"
    if verdict.status is not Status.CORRECT:
        return f"{name} did not hold in a fresh process: {verdict.status.value}"
    if not may_be_offered(verdict, baseline, accept):
        return f"{name} exceeds the limit on registers or memory, or its memory is not known"
    decision = decide(verdict.measurement, accept)
    if decision is Decision.FASTER:
        return ""
    seen = interval(verdict.measurement, accept.confidence)
    return f"{name} was not confirmed: {decision.value}, {seen or 'not timed'}"


def bias(aa: Measurement | None, accept: Acceptance) -> float:
    """Return the factor by which the A/A comparison was off; 1 when it says no difference."""
    seen = interval(aa, accept.confidence)
    if seen is None or no_difference(aa, accept.confidence):
        return 1.0
    return math.exp(abs(math.log(seen.estimate)))
