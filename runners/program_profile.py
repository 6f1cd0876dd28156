"""What is known of an original program with one set of arguments, and how runs compare with it.

`runners.program_learning` finds it out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from runners import program_compare, program_report
from runners.program_compare import Bounds, Expectation, Outcome
from runners.program_report import Bytes, Record, Report
from runners.program_run import Plan, Ran, Runner

# Kernels this long and this often launched are timed where they stand, µs and launches.
LONG_US, OFTEN = 200.0, 8
SAMPLES = 12
# With fewer samples in a run than this, runs are the samples.
FEW_SAMPLES = 4
# Records of what the host gets.
_COPIES = frozenset({"copy", "symbol"})
_PRIMES = (100_003, 30_011, 10_007, 3001, 1009, 307, 101, 53, 31, 17, 11, 7, 5, 3, 2)


@dataclass(frozen=True, slots=True)
class Reference:
    """The original's records under one poison: digests, and bytes where they were kept."""

    poison: str
    report: Report
    digests: tuple[str, ...]
    held: tuple[Bytes | None, ...]


@dataclass(frozen=True, slots=True)
class Profile:
    """One program with one set of arguments, as its original runs it.

    `references` are by poison: `random` and `nan`, or `zero` alone for a program that reads memory
    that nothing wrote. `idle` and `cut` are of a candidate's probes, where it goes on without the
    GPU for longer than a run may take. `plans` is empty when launches cannot be repeated;
    `rehearsal` is the run that showed that they can. `rounded` returns the expectations with what
    another rounding of the original changes: it has to be run for that, and most candidates need
    no such allowance.
    """

    arguments: tuple[str, ...]
    references: Mapping[str, Reference]
    expectations: tuple[Expectation, ...]
    stdouts: tuple[str, ...]
    plans: Mapping[str, Plan]
    seconds: float
    gpu_us: float
    launches: int
    copies: int
    kernels: frozenset[str]
    failures: frozenset[tuple[str, str]]
    guards: int
    exit: int = 0
    idle: float = 0.0
    cut: tuple[int, int] | None = None
    notes: tuple[str, ...] = field(default=())
    rehearsal: Ran | None = None
    rounded: Callable[[Runner], tuple[Expectation, ...]] | None = None

    @property
    def name(self) -> str:
        """Return the name of the case: its arguments."""
        return " ".join(self.arguments) or "default"

    @property
    def main_poison(self) -> str:
        """Return the poison of timing runs: never NaN, which is quicker on some units."""
        return "zero" if "zero" in self.references else "random"


def patience(seconds: float) -> float:
    """Return how long to wait for a run of what took the original `seconds`.

    >>> patience(0.3), patience(10)
    (5.0, 53)
    """
    return max(5.0, 5 * seconds + 3)


def plans(report: Report) -> dict[str, Plan]:
    """Choose which launches are repeated, so that each kernel gets about a dozen samples.

    Long kernels that run often need none: their launches are samples enough.
    """
    chosen: dict[str, Plan] = {"*": Plan(0, 1, 4, 3)}
    totals: dict[str, tuple[int, float]] = {}
    for kernel in report.kernels:
        count, total = totals.get(kernel.name, (0, 0.0))
        totals[kernel.name] = (count + kernel.count, total + kernel.total_us)
    for name, (count, total) in totals.items():
        mean = total / max(1, count)
        if mean >= LONG_US and count >= OFTEN:
            chosen[name] = Plan(0, 1, 0, 0)
            continue
        launches = min(count, 4 if mean > 1000 else 6)
        # A prime step does not keep in step with what a loop launches in turns.
        every = next((p for p in _PRIMES if p * launches <= count), 1)
        # A screening wants so many samples, and a repeat costs less than another process does.
        repeats = max(FEW_SAMPLES, -(-SAMPLES // launches)) if mean < 20_000 else 3
        first = every // 2 if count > launches else 0
        chosen[name] = Plan(first, every, launches, repeats)
    return chosen


def checks(
    found: Profile,
    run: Ran,
    poison: str,
    bounds: Bounds,
    runner: Runner | None = None,
    *,
    copies_alone: bool = False,
) -> list[tuple[str, bool, float | None, str]]:
    """Compare a run's records with the original's: (what, passed, error, why) for each group.

    The error is in units of its bound. Copies to the host and final buffers are one group each;
    with `copies_alone` buffers are the candidate's own, unless nothing is copied to the host.
    With a runner, a difference is looked at again beside what another rounding changes.
    """
    seen = _checks(found, run, poison, bounds, copies_alone)
    if found.rounded is None or runner is None or all(passed for _, passed, _, _ in seen):
        return seen
    looser = replace(found, expectations=found.rounded(runner))
    return _checks(looser, run, poison, bounds, copies_alone)


def _numbered(records: Sequence[Record], copies_alone: bool) -> list[tuple[int, Record]]:
    """Return the records that are compared with their numbers: all, or copies where there are."""
    every = list(enumerate(records))
    copies = [(number, one) for number, one in every if one.kind in _COPIES]
    return copies if copies and copies_alone else every


def _checks(
    found: Profile, run: Ran, poison: str, bounds: Bounds, copies_alone: bool
) -> list[tuple[str, bool, float | None, str]]:
    reference = found.references[poison]
    report = run.report
    if report is None:
        return [("report", False, None, run.trouble or "the run left no report")]
    theirs = _numbered(reference.report.records, copies_alone)
    compared = _numbered(report.records, copies_alone)
    want, got = ([(r.kind, r.size) for _, r in each] for each in (theirs, compared))
    if want != got:
        text = f"{len(got)} copies and buffers instead of {len(want)}, or of other sizes"
        return [("sequence of copies and buffers", False, None, text)]
    worst: dict[str, tuple[float, str, bool, int]] = {}
    for (number, _), (_, record) in zip(theirs, compared, strict=True):
        group = "copies to the host" if record.kind in _COPIES else "final buffers"
        error, why, passed, count = worst.get(group, (0.0, "", True, 0))
        if record.digest != reference.digests[number]:
            held, mine = reference.held[number], program_report.held(record, run.stored)
            expected = found.expectations[number]
            if poison == "zero":
                expected = replace(expected, excluded=None)
            if held is not None and mine is not None:
                outcome = program_compare.compare(held, mine, expected, bounds)
                if outcome.passed and _elsewhere(record, held, mine, expected):
                    outcome = Outcome(passed=False, why="differs outside of what was kept of it")
            elif expected.unstable:
                outcome = Outcome(passed=True)
            else:
                # Nothing says that the difference is rounding: what cannot be seen is not passed.
                outcome = Outcome(passed=False, why="differs, and was too large to be kept")
            if not outcome.passed and passed:
                why = f"{record.kind} {number} ({record.size} bytes): {outcome.why}"
            passed = passed and outcome.passed
            error = max(error, outcome.error)
        worst[group] = (error, why, passed, count + 1)
    return [
        (f"{count} {group}, fresh memory {poison}", passed, error, why)
        for group, (error, why, passed, count) in worst.items()
    ]


def _elsewhere(record: Record, held: Bytes, mine: Bytes, expected: Expectation) -> bool:
    """Tell whether a record differs though the sample that was kept of it does not.

    Where runs of the original differ themselves, a difference outside of the sample means nothing.
    """
    steady = not (expected.noise or expected.unstable or expected.unordered)
    whole = expected.excluded is None and expected.untouched is None
    return record.sampled and steady and whole and np.array_equal(held, mine)
