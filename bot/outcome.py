"""What a trajectory amounts to, worked out once for the comment, the report and the console."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bot import wording
from bot.consumption import Consumed, consumed, less, memory_of, span
from optimizer import counters
from optimizer.model import (
    Check,
    Measurement,
    Resources,
    Status,
    Step,
    Trajectory,
    Verdict,
)
from optimizer.significance import Interval, case_interval, interval, speedup
from runners import limit

_SUMMED = frozenset((counters.SHARED_WAVEFRONTS, counters.SHARED_WAVEFRONTS_IDEAL))
_RATIOS = {
    wording.SECTORS_PER_LOAD: (counters.LOAD_SECTORS, counters.LOAD_REQUESTS),
    wording.SECTORS_PER_STORE: (counters.STORE_SECTORS, counters.STORE_REQUESTS),
    wording.SHARED_WAVES: (counters.SHARED_WAVEFRONTS, counters.SHARED_WAVEFRONTS_IDEAL),
}
_MARKS = {
    Status.REJECTED: "refused",
    Status.DOES_NOT_COMPILE: "does not compile",
    Status.CRASHED: "crashed",
    Status.TIMED_OUT: "timed out",
    Status.WRONG_RESULT: "wrong result",
    Status.NOT_RECORDED: "not recorded",
}


@dataclass(frozen=True, slots=True)
class Ratio:
    """A speedup and its confidence interval, without units."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        """Say the interval as the headline does.

        >>> str(Ratio(3.412, 3.38, 3.44))
        '3.41× (3.38–3.44)'
        """
        return f"{wording.times(self.value)} ({self.span})"

    @property
    def span(self) -> str:
        """Return the interval alone: `3.38–3.44`; words where too few blocks bear one."""
        if self.low <= 0 or not math.isfinite(self.high):
            return "too few samples for an interval"
        return f"{wording.significant(self.low)}–{wording.significant(self.high)}"


@dataclass(frozen=True, slots=True)
class CaseOutcome:
    """One timed case before and after. Times are medians in µs."""

    name: str
    before_us: float
    after_us: float
    ratio: Ratio
    weight: float


@dataclass(frozen=True, slots=True)
class Kept:
    """An edit on the way to the winner. `gain` is over the candidate it was made from."""

    step: Step
    gain: float
    total: float


@dataclass(frozen=True, slots=True)
class Moved:
    """A counter before and after, with its meaning; `importance` sorts the telling ones first."""

    metric: str
    meaning: wording.Meaning
    before: float
    after: float
    importance: float


@dataclass(frozen=True, slots=True)
class Outcome:
    """A trajectory's result in figures. `ratio` is None when nothing held."""

    trajectory: Trajectory
    ratio: Ratio | None
    cases: tuple[CaseOutcome, ...]
    kept: tuple[Kept, ...]
    checks: tuple[Check, ...]
    moved: tuple[Moved, ...]
    stages: Mapping[str, float]
    energy: Consumed | None = None
    memory: tuple[int | None, int | None] = (None, None)
    # Where the winner fails and the original does not; and what else the confirmation notes, such
    # as what was not checked.
    limits: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Return the kernel's name."""
        return self.trajectory.baseline.kernel.name

    @property
    def unrecorded(self) -> int:
        """Return how many candidates a replay met that its recording has no verdict on."""
        steps = self.trajectory.steps
        return sum(step.verdict.status is Status.NOT_RECORDED for step in steps)

    @property
    def tried(self) -> int:
        """Return how many candidates there is a verdict on, the original aside."""
        return len(self.trajectory.steps) - 1 - self.unrecorded

    @property
    def gpu(self) -> str:
        """Return the GPU the figures are from."""
        return self.trajectory.environment.gpu or "an unnamed GPU"

    @property
    def provenance(self) -> str:
        """Return `recorded on GPU, DATE` when no GPU ran now, else an empty text."""
        environment = self.trajectory.environment
        if not environment.recorded:
            return ""
        if environment.recorded.startswith("recorded on"):
            return environment.recorded
        date = environment.recorded if environment.recorded != "yes" else environment.date
        return f"recorded on {self.gpu}, {date}"

    @property
    def headline(self) -> str:
        """Say the result in one line."""
        if self.ratio is None:
            tries = wording.count(self.tried, "edit")
            return f"{self.name}: nothing faster found in {tries} on {self.gpu}"
        return f"{self.name}: {self.gain} on {self.gpu}"

    @property
    def saves_energy_alone(self) -> bool:
        """Tell whether the winner is offered for its energy, with no certain speedup."""
        saved = self.energy is not None and self.energy.saving is not None
        return saved and self.ratio is not None and self.ratio.low <= 1.0

    @property
    def brief(self) -> str:
        """Say what a winner brings: `3.41× faster`, or `12.0 % less energy`."""
        if self.energy and self.energy.saving and self.saves_energy_alone:
            return f"{less(self.energy.saving.estimate)} energy"
        return f"{wording.times(self.ratio.value)} faster" if self.ratio else "nothing"

    @property
    def gain(self) -> str:
        """Say the same with its interval."""
        level = f"{self.trajectory.workload.accept.confidence * 100:g}"
        if self.energy and self.energy.saving and self.saves_energy_alone:
            return f"{self.brief} ({level} % CI {span(self.energy.saving)}) at the same speed"
        return f"{self.brief} ({level} % CI {self.ratio.span if self.ratio else ''})"


def summarize(trajectory: Trajectory) -> Outcome:
    """Work out what to say of a trajectory; the winner's figures are those of its confirmation."""
    best = trajectory.best
    verdict = best.verdict
    if trajectory.winner and trajectory.confirmation is not None:
        verdict = trajectory.confirmation
    confidence = trajectory.workload.accept.confidence
    won = bool(trajectory.winner) and verdict.measurement is not None
    noted = verdict.measurement.notes if won and verdict.measurement is not None else ()
    return Outcome(
        trajectory,
        ratio_of(verdict.measurement, confidence) if won else None,
        tuple(cases_of(verdict.measurement, confidence)) if won else (),
        tuple(_kept(trajectory)) if won else (),
        (*best.verdict.checks, *_extra_checks(trajectory)),
        tuple(moved(trajectory.baseline.verdict, best.verdict)) if won else (),
        stages(trajectory),
        consumed(verdict.measurement, confidence) if won else None,
        memory_of(trajectory) if won else (None, None),
        *limit.apart(noted),
    )


def ratio_of(measurement: Measurement | None, confidence: float) -> Ratio | None:
    """Return the workload's speedup with its interval; None where nothing was timed."""
    return _ratio(interval(measurement, confidence))


def cases_of(measurement: Measurement | None, confidence: float) -> list[CaseOutcome]:
    """Return every timed case with its own interval."""
    found = []
    for case in measurement.cases if measurement else ():
        ratio = _ratio(case_interval(case, confidence))
        if ratio is not None:
            before = statistics.median(case.baseline_us)
            after = statistics.median(case.candidate_us)
            found.append(CaseOutcome(case.name, before, after, ratio, case.weight))
    return found


def speedup_of(step: Step) -> float | None:
    """Return the speedup a step was measured at while searching; None when it has no times."""
    if step.parent is None:
        return 1.0
    if step.verdict.status is not Status.CORRECT:
        return None
    return speedup(step.verdict.measurement)


def outcome_words(step: Step) -> str:
    """Say in two words what came of a step: a speedup or how it failed."""
    if step.parent is None:
        return "original"
    value = speedup_of(step)
    if value is not None:
        return wording.times(value)
    if step.verdict.status is Status.CORRECT:
        return f"same as {step.same_as}" if step.same_as is not None else "not timed"
    return _MARKS[step.verdict.status]


def moved(before: Verdict, after: Verdict) -> list[Moved]:
    """Return the counters both verdicts hold, the most telling change first."""
    old, new = totals(before), totals(after)
    found = []
    for metric in old.keys() & new.keys():
        meaning = wording.meaning(metric)
        if meaning is None or (old[metric] == 0 and new[metric] == 0):
            continue
        found.append(
            Moved(metric, meaning, old[metric], new[metric], _importance(meaning, old, new, metric))
        )
    return sorted(found, key=lambda one: (-one.importance, one.metric))


def totals(verdict: Verdict) -> dict[str, float]:
    """Return counters of the whole workload by metric: sums added, rates weighted by time."""
    shares = verdict.measurement.kernels if verdict.measurement else {}
    parts: dict[str, list[tuple[float, float]]] = {}
    for key, value in verdict.counters.items():
        kernel, _, metric = key.rpartition("/")
        if math.isfinite(value):
            parts.setdefault(metric, []).append((value, shares.get(kernel, 0.0) or 1e-9))
    found = {
        metric: sum(value for value, _ in values)
        if metric.endswith(".sum") or metric in _SUMMED
        else sum(value * share for value, share in values) / sum(share for _, share in values)
        for metric, values in parts.items()
    }
    for name, (above, below) in _RATIOS.items():
        if found.get(below):
            found[name] = found.get(above, 0.0) / found[below]
    return found


def stages(trajectory: Trajectory) -> dict[str, float]:
    """Return where the time went over all steps, seconds by stage, longest first."""
    spent: dict[str, float] = {}
    verdicts = [step.verdict for step in trajectory.steps]
    if trajectory.confirmation is not None:
        verdicts.append(trajectory.confirmation)
    for verdict in verdicts:
        for stage, value in verdict.seconds.items():
            spent[stage] = spent.get(stage, 0.0) + value
    return dict(sorted(spent.items(), key=lambda item: -item[1]))


def main_resources(verdict: Verdict) -> tuple[str, Resources] | None:
    """Return the kernel that takes most of the time, and what the compiler gave it."""
    if not verdict.resources:
        return None
    shares = verdict.measurement.kernels if verdict.measurement else {}
    name = max(verdict.resources, key=lambda one: (shares.get(one, 0.0), one))
    return name, verdict.resources[name]


def worst_error(checks: Sequence[Check]) -> Check | None:
    """Return the check whose error came closest to its bound.

    Plausibility is left out: what it compares are times and counters, not results.
    """
    bounded = [
        check
        for check in checks
        if check.error is not None and check.bound and check.layer != "plausibility"
    ]
    return max(bounded, key=lambda one: (one.error or 0.0) / (one.bound or 1.0), default=None)


def _kept(trajectory: Trajectory) -> list[Kept]:
    found: list[Kept] = []
    before = 1.0
    for step in trajectory.path(trajectory.best.number)[1:]:
        total = speedup_of(step) or before
        found.append(Kept(step, total / before, total))
        before = total
    return found


def _extra_checks(trajectory: Trajectory) -> tuple[Check, ...]:
    if not trajectory.winner or trajectory.confirmation is None:
        return ()
    return trajectory.confirmation.checks


def _importance(
    meaning: wording.Meaning, old: Mapping[str, float], new: Mapping[str, float], metric: str
) -> float:
    a, b = old[metric], new[metric]
    if meaning.unit == "percent":
        return meaning.weight * abs(a - b) / 25
    if min(a, b) <= 0:
        return meaning.weight
    return meaning.weight * min(abs(math.log(b / a)), 3.0)


def _ratio(found: Interval | None) -> Ratio | None:
    return None if found is None else Ratio(found.estimate, found.low, found.high)
