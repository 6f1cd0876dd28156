"""What runs of the original teach: does it work, what does it compute, what may vary, how long.

Four runs before any candidate: fresh memory zeroed, random, all NaN, and random once more. A fifth
repeats launches, to see that repeating them changes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from runners import program_compare, program_faults, program_report, program_stdout
from runners.fault import Fault
from runners.program_compare import Bounds, Expectation, Outcome
from runners.program_report import Bytes, Record, Report
from runners.program_run import Plan, Probe, Ran, Runner

# Above this much memory, runs do not share the GPU.
SHARED_BYTES = 8 << 30
# Kernels this long and this often launched are timed where they stand, µs and launches.
LONG_US, OFTEN = 200.0, 8
SAMPLES = 12
_PRIMES = (100_003, 30_011, 10_007, 3001, 1009, 307, 101, 53, 31, 17, 11, 7, 5, 3, 2)
FAILING = re.compile(
    r"\b(?:fail(?:ed|ure)?|mismatch(?:es)?|incorrect)\b(?!\s*[:=]\s*0)", re.IGNORECASE
)


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
    that nothing wrote. `plans` is empty when launches cannot be repeated.
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
    notes: tuple[str, ...] = field(default=())

    @property
    def name(self) -> str:
        """Return the name of the case: its arguments."""
        return " ".join(self.arguments) or "default"

    @property
    def main_poison(self) -> str:
        """Return the poison of timing runs: never NaN, which is quicker on some units."""
        return "zero" if "zero" in self.references else "random"


def profile(
    runner: Runner,
    program: Path,
    arguments: Sequence[str],
    expect: tuple[int, str | None],
    seed: int,
    seconds: float,
    rounding: Callable[[], Path | None] = lambda: None,
) -> Profile:
    """Run the original under several poisons and learn from it.

    `expect` is the exit status and a text its output must hold. `rounding` builds the same source
    to round otherwise (`-fmad=false`), beside the first run. Raises `Fault` (BaselineError) when
    the original fails, hangs, launches nothing, or computes nothing that is the same twice.
    """
    probe = Probe("zero", seed, record=True)
    with ThreadPoolExecutor(1) as pool:
        building = pool.submit(rounding)
        first = runner.run(program, arguments, probe, seconds)
        report = program_faults.check(first, arguments, expect, seconds, runner.root)
        # Of a program that takes long, what is needed least is left out.
        other = building.result() if first.seconds < seconds / 3 else None
    zero = _reference("zero", first, report, None)
    again = replace(probe, expected=zero.digests)
    wanted = [replace(again, poison="random"), replace(again, poison="nan"),
              replace(again, poison="random")]  # fmt: skip
    limit = patience(first.seconds)
    width = 4 if report.peak_bytes < SHARED_BYTES else 1
    with ThreadPoolExecutor(width) as pool:
        started = [pool.submit(runner.run, program, arguments, p, limit) for p in wanted]
        rounded = pool.submit(runner.run, other, arguments, wanted[1], limit) if other else None
        runs = [run.result() for run in started]
    notes = ["its CUDA graphs are timed whole"] if "graph" in report.notes else []
    if FAILING.search(first.stdout):
        notes.append("the original itself prints that something failed")
    notes += program_faults.unseen(report)
    besides: frozenset[int] | None = frozenset()
    alike = all(program_faults.same_work(first, run) for run in runs)
    second = None
    if not alike or not all(program_faults.same_words(first, run) for run in runs):
        second = runner.run(program, arguments, again, limit)
        if not program_faults.same_work(first, second):
            raise program_faults.varies(first, second)
        # Words that change where nothing else does are the clock's or the order of threads.
        besides = program_faults.wandering([(first, second), (runs[0], runs[2])])
        notes += program_faults.said_of(besides, first)
        alike = alike and all(program_faults.same_words(first, run, besides) for run in runs)
    printed = [first, *(runs if alike else ()), *([second] if second else ())]
    if alike or second is None:
        random, nan, twice = (
            _reference(p.poison, run, run.report, zero)
            for p, run in zip(wanted, runs, strict=True)
            if run.report
        )
        references = {"random": random, "nan": nan}
        layers = [zero, random, nan]
    else:
        notes.append(
            "the original does other things when fresh memory is not zero: it reads memory that "
            "nothing wrote; it was run with zeroed memory only"
        )
        references = {"zero": zero}
        layers = [zero]
        assert second.report is not None  # noqa: S101 - same_work saw it
        twice = _reference("zero", second, second.report, zero)
    expectations = tuple(
        _learn(number, layers, twice) for number in range(len(zero.report.records))
    )
    if any(e.excluded is not None for e in expectations):
        # With zeroed memory alone every word is determined: compared there without exceptions.
        references = {"nan": references["nan"], "zero": zero}
    if other is not None and rounded is not None:
        last = layers[-1]
        run = (
            rounded.result()
            if last.poison == wanted[1].poison
            else runner.run(other, arguments, replace(again, poison=last.poison), limit)
        )
        same = program_faults.same_work(first, run)
        same = same and program_faults.same_words(first, run, besides)
        if same and run.report is not None:
            loose = _reference("", run, run.report, zero)
            expectations = tuple(
                program_compare.loosen(e, last.held[i], loose.held[i])
                for i, e in enumerate(expectations)
            )
    notes += _said(expectations, layers[min(1, len(layers) - 1)].report, twice.report)
    found = Profile(
        arguments=tuple(arguments),
        references=references,
        expectations=expectations,
        stdouts=tuple(run.stdout for run in printed),
        plans=plans(report),
        seconds=first.seconds,
        gpu_us=sum(k.total_us for k in report.kernels),
        launches=report.launches,
        copies=report.copies,
        kernels=frozenset(k.name for k in report.kernels),
        failures=frozenset((f.api, f.name) for f in report.failures),
        guards=len(report.guards),
        notes=tuple(notes),
    )
    if first.seconds > seconds / 2:
        return replace(found, plans={}, notes=(*notes, "launches timed once each: it runs long"))
    return _repeatable(runner, program, found, seed, limit)


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
        repeats = max(2, -(-SAMPLES // launches)) if mean < 20_000 else 3
        first = every // 2 if count > launches else 0
        chosen[name] = Plan(first, every, launches, repeats)
    return chosen


def checks(
    found: Profile, run: Ran, poison: str, bounds: Bounds
) -> list[tuple[str, bool, float | None, str]]:
    """Compare a run's records with the original's: (what, passed, error, why) for each group.

    The error is in units of its bound. Copies to the host and final buffers are one group each.
    """
    reference = found.references[poison]
    report = run.report
    if report is None:
        return [("report", False, None, run.trouble or "the run left no report")]
    want = [(r.kind, r.size) for r in reference.report.records]
    got = [(r.kind, r.size) for r in report.records]
    if want != got:
        text = f"{len(got)} copies and buffers instead of {len(want)}, or of other sizes"
        return [("sequence of copies and buffers", False, None, text)]
    worst: dict[str, tuple[float, str, bool, int]] = {}
    for number, record in enumerate(report.records):
        group = "copies to the host" if record.kind in {"copy", "symbol"} else "final buffers"
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


def _reference(poison: str, run: Ran, report: Report, base: Reference | None) -> Reference:
    held = []
    for number, record in enumerate(report.records):
        bytes_ = program_report.held(record, run.stored)
        if bytes_ is None and base and base.digests[number] == record.digest:
            bytes_ = base.held[number]
        held.append(bytes_)
    return Reference(poison, report, tuple(r.digest for r in report.records), tuple(held))


def _learn(number: int, layers: Sequence[Reference], twice: Reference) -> Expectation:
    runs = [held for layer in layers if (held := layer.held[number]) is not None]
    types = layers[0].report.types(layers[0].report.records[number])
    if len(runs) != len(layers) or len({run.size for run in runs}) != 1:
        return Expectation(("int",), unstable=len({layer.digests[number] for layer in layers}) > 1)
    second = twice.held[number]
    return program_compare.learn(runs, second, types)


def _said(expectations: Sequence[Expectation], one: Report, two: Report) -> list[str]:
    notes = []
    noisy = sum(bool(e.noise) for e in expectations)
    mixed = sum(e.unordered for e in expectations)
    lost = sum(e.unstable for e in expectations)
    if noisy:
        notes.append(f"{noisy} buffers or copies differ in rounding between runs of the original")
    if mixed:
        notes.append(f"{mixed} hold the same values in another order between runs of the original")
    if lost:
        notes.append(f"{lost} are not the same twice in the original and are not compared")
    if any(e.excluded is not None for e in expectations):
        notes.append(
            "the original reads memory that nothing wrote; words computed from it are compared "
            "with zeroed memory only"
        )
    if lost and one.input_digest != two.input_digest:
        text = "the original copies other data to the device in every run"
        raise Fault("BaselineError", text, program_faults.WANDERS)
    if expectations and lost == len(expectations):
        text = "nothing that the original computes is the same in two runs"
        raise Fault("BaselineError", text, program_faults.WANDERS)
    return notes


def _repeatable(runner: Runner, program: Path, found: Profile, seed: int, limit: float) -> Profile:
    """See that the original computes the same while its launches are repeated; else do without."""
    poison = found.main_poison
    probe = Probe(
        poison,
        seed,
        record=True,
        expected=found.references[poison].digests,
        plans=found.plans,
    )
    run = runner.run(program, found.arguments, probe, limit)
    why = ""
    if run.report is None or run.exit is None or run.report.broken:
        why = "it fails when launches are repeated"
    elif run.report.replay_off:
        why = run.report.replay_off
    elif not all(passed for _, passed, _, _ in checks(found, run, poison, Bounds())):
        why = "repeating launches changes what it computes"
    if not why:
        # Launches that are repeated cost the program time and change nothing else: numbers that
        # are others now are the clock's, also where all runs before happened to agree.
        same = program_stdout.unlike(found.stdouts[0], run.stdout) is not None
        return replace(found, stdouts=(*found.stdouts, run.stdout)) if same else found
    return replace(found, plans={}, notes=(*found.notes, f"launches timed once each: {why}"))
