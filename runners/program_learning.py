"""What runs of the original teach: does it work, what does it compute, what may vary, how long.

Each is a process, and processes hold each other up in the driver: they are what a program's first
candidate waits for. So four runs come before any candidate: fresh memory zeroed, random, all NaN,
and random with launches repeated. Where that last one is not the second again bit by bit, a run
tells what changes by itself and what by repeating. Built to round otherwise it is run only when a
candidate differs.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from runners import program_compare, program_faults, program_report, program_stdout
from runners.fault import Fault
from runners.program_compare import Bounds, Expectation
from runners.program_profile import Profile, Reference, checks, patience, plans
from runners.program_report import Report
from runners.program_run import Probe, Ran, Runner

# A first run that would last too long ends with what it has when it is this long without the GPU.
IDLE_SECONDS, GRACE_SECONDS = 2.0, 5.0
# Runs that tell a word of the clock's from one that stands for what fresh memory held.
MORE_RUNS = 4
# Above this much memory, runs do not share the GPU.
SHARED_BYTES = 8 << 30
FAILING = re.compile(
    r"\b(?:fail(?:ed|ure)?|mismatch(?:es)?|incorrect)\b(?!\s*[:=]\s*0)", re.IGNORECASE
)


def profile(
    runner: Runner,
    program: Path,
    arguments: Sequence[str],
    expect: tuple[int | None, str | None],
    seed: int,
    seconds: float,
    rounding: Callable[[], Path | None] = lambda: None,
) -> Profile:
    """Run the original under several poisons and learn from it.

    `expect` is the exit status, None for its own, and a text its output must hold. `rounding`
    builds the same source to round otherwise (`-fmad=false`), beside the first runs. Raises `Fault`
    (BaselineError) when the original fails, hangs, launches nothing, or computes nothing that is
    the same twice.
    """
    # One whose status or words were asked for must get to them.
    idle = min(IDLE_SECONDS, seconds / 4) if expect == (None, None) else 0.0
    probe = Probe("zero", seed, record=True, idle=idle, after=0.9 * seconds)
    pool = ThreadPoolExecutor(1, thread_name_prefix="rounding")
    building = pool.submit(rounding)
    pool.shutdown(wait=False)
    first = seconds + (GRACE_SECONDS if idle else 0.0)
    run = runner.run(program, arguments, probe, first)
    if run.exit is None and not run.launched:
        # A busy host takes seconds to start a process with a GPU in it; then it has taken them.
        run = runner.run(program, arguments, probe, first)
    cut = None
    if run.report is not None and run.report.ended == "idle":
        cut = (run.report.launches, run.report.copies)
        run = runner.run(program, arguments, replace(probe, idle=seconds, cut=cut), seconds)
    report = program_faults.check(run, arguments, expect, seconds, runner.root)
    zero = reference("zero", run, report, None)
    known = _Learning(runner, program, tuple(arguments), seed, seconds, run, zero, building)
    known = replace(known, idle=idle if cut else 0.0, cut=cut)
    return known.profile()


def renewed(runner: Runner, program: Path, known: Profile, seed: int) -> Profile | None:
    """Return what is known of an original for fresh memory of another seed, by one run of it.

    With random words in fresh memory it runs once more, launches repeated: what was the same bit by
    bit whatever fresh memory held has to be so again. None where that is not so, and where anything
    varied before: everything is learned anew then.
    """
    random, nan = (known.references.get(poison) for poison in ("random", "nan"))
    before = known.rehearsal
    if random is None or nan is None or before is None or known.cut or known.idle:
        return None
    if not all(_steady(one) for one in known.expectations):
        return None
    probe = Probe("random", seed, record=True, expected=random.digests, plans=known.plans)
    run = runner.run(program, known.arguments, probe, patience(known.seconds))
    if not program_faults.same_work(before, run) or not program_faults.same_words(before, run):
        return None
    assert run.report is not None  # noqa: S101 - same_work saw it
    if run.report.replay_off:
        return None
    fresh = reference("random", run, run.report, random)
    pairs = zip(random.digests, nan.digests, fresh.digests, strict=True)
    if any(one == other != now for one, other, now in pairs):
        return None
    stdouts = (*known.stdouts, run.stdout)
    references = {"random": fresh, "nan": nan}
    return replace(known, references=references, rehearsal=run, stdouts=stdouts)


@dataclass(frozen=True, slots=True)
class _Learning:
    """What is learned beyond the first run, which has ended well."""

    runner: Runner
    program: Path
    arguments: tuple[str, ...]
    seed: int
    seconds: float
    first: Ran
    zero: Reference
    building: Future[Path | None]
    idle: float = 0.0
    cut: tuple[int, int] | None = None

    def run(self, poison: str) -> Ran:
        """Run once more; what equals the first run is not kept."""
        return self.runner.run(self.program, self.arguments, self.probe(poison), self.limit)

    @property
    def limit(self) -> float:
        return patience(self.first.seconds)

    def probe(self, poison: str) -> Probe:
        expected = self.zero.digests
        probe = Probe(poison, self.seed, record=True, expected=expected)
        return replace(probe, idle=self.seconds, cut=self.cut) if self.cut else probe

    def referred(self, poison: str, run: Ran) -> Reference:
        assert run.report is not None  # noqa: S101 - the caller has seen that it did the same work
        return reference(poison, run, run.report, self.zero)

    def profile(self) -> Profile:
        """Return everything there is to know before a candidate."""
        first, zero, report = self.first, self.zero, self.zero.report
        width = 2 if report.peak_bytes < SHARED_BYTES else 1
        with ThreadPoolExecutor(width) as pool:
            runs = list(pool.map(self.run, ("random", "nan")))
        notes = ["its CUDA graphs are timed whole"] if "graph" in report.notes else []
        if self.cut:
            text = "goes on without the GPU for longer than a run may take: that part is not run"
            notes.append(text)
        if first.exit:
            notes.append(f"ends with status {first.exit}, as every candidate must")
        if FAILING.search(first.stdout):
            notes.append("the original itself prints that something failed")
        notes += program_faults.unseen(report)
        found = Profile(
            arguments=self.arguments,
            references={},
            expectations=(),
            stdouts=(first.stdout,),
            plans=plans(report),
            seconds=first.seconds,
            gpu_us=sum(k.total_us for k in report.kernels),
            launches=report.launches,
            copies=report.copies,
            kernels=frozenset(k.name for k in report.kernels),
            failures=frozenset((f.api, f.name) for f in report.failures),
            guards=len(report.guards),
            exit=first.exit or 0,
            idle=self.idle,
            cut=self.cut,
            notes=tuple(notes),
        )
        if first.seconds > self.seconds / 2:
            said = (*notes, "launches timed once each: it runs long")
            found = replace(found, plans={}, notes=said)
        same = all(program_faults.same_work(first, run) for run in runs)
        if same and all(program_faults.same_words(first, run) for run in runs) and found.plans:
            random, nan = self.referred("random", runs[0]), self.referred("nan", runs[1])
            expectations = learned([zero, random, nan], random)
            if all(_steady(one) for one in expectations):
                known = _known(found, [zero, random, nan], random)
                run = self.rehearsed(known)
                if _twice(first, run, random):
                    stdouts = (*found.stdouts, *(one.stdout for one in (*runs, run)))
                    return self.rounding(replace(known, stdouts=stdouts, rehearsal=run), nan)
        return self.varying(found, runs)

    def varying(self, found: Profile, runs: Sequence[Ran]) -> Profile:
        """Learn what varies between runs that should be the same, and then repeat launches."""
        first, zero = self.first, self.zero
        runs = [*runs, self.run("random")]
        besides: frozenset[int] | None = frozenset()
        alike = all(program_faults.same_work(first, run) for run in runs)
        again: list[Ran] = []
        if not alike or not all(program_faults.same_words(first, run) for run in runs):
            again = [self.run("zero")]
            if not program_faults.same_work(first, again[0]):
                raise program_faults.varies(first, again[0])
            besides, words, more = self.wandering(runs, again[0], alike=alike)
            found = replace(found, notes=(*found.notes, *program_faults.said_of(besides, first)))
            alike = alike and words
            again += more if alike else []
        printed = [first, *(runs if alike else ()), *again]
        if alike or not again:
            poisons = ("random", "nan", "random")
            random, nan, twice = (
                self.referred(p, run) for p, run in zip(poisons, runs, strict=True)
            )
            layers = [zero, random, nan]
        else:
            text = (
                "the original does other things when fresh memory is not zero: it reads memory "
                "that nothing wrote; it was run with zeroed memory only"
            )
            found = replace(found, notes=(*found.notes, text))
            layers = [zero]
            twice = self.referred("zero", again[0])
        found = _known(found, layers, twice)
        found = replace(found, stdouts=tuple(run.stdout for run in printed))
        found = self.rounding(found, layers[-1], besides)
        return self.repeatable(found) if found.plans else found

    def wandering(
        self, runs: Sequence[Ran], second: Ran, *, alike: bool
    ) -> tuple[frozenset[int] | None, bool, list[Ran]]:
        """Return the lines whose words change where nothing else does: the clock's, or of threads.

        `runs` are under random words, NaN and random words again, `second` under zeros. With the
        lines come whether they are all that runs print otherwise, and what was run to learn that:
        a word of two, as odd or even, may be the same twice under zeros and under random words.
        """
        pairs = [(self.first, second), (runs[0], runs[2])]
        more: list[Ran] = []
        lines = program_faults.wandering(pairs)
        beside = itertools.cycle([("nan", runs[1]), ("zero", second), ("random", runs[2])])
        while True:
            words = all(program_faults.same_words(self.first, run, lines) for run in runs)
            if words or not alike or len(more) == MORE_RUNS:
                return lines, words, more
            poison, before = next(beside)
            run = self.run(poison)
            if not program_faults.same_work(before, run):
                return lines, words, more
            more.append(run)
            pairs.append((before, run))
            lines = program_faults.wandering(pairs)

    def rounding(
        self, found: Profile, last: Reference, besides: frozenset[int] | None = frozenset()
    ) -> Profile:
        """Have the other build run when it is wanted; of a program that takes long, never."""
        if self.first.seconds >= self.seconds / 3:
            return found

        known: list[tuple[Expectation, ...]] = []

        def rounded(runner: Runner) -> tuple[Expectation, ...]:
            if not known:  # once, whichever request's runner it is
                known.append(self.loosened(runner, found, last, besides))
            return known[0]

        return replace(found, rounded=rounded)

    def loosened(
        self,
        runner: Runner,
        found: Profile,
        last: Reference,
        besides: frozenset[int] | None,
    ) -> tuple[Expectation, ...]:
        """Run what rounds otherwise, and allow what that changes."""
        other = self.building.result()
        if other is None:
            return found.expectations
        run = runner.run(other, self.arguments, self.probe(last.poison), self.limit)
        same = program_faults.same_work(self.first, run)
        if not same or not program_faults.same_words(self.first, run, besides):
            return found.expectations
        loose = self.referred("", run)
        return tuple(
            program_compare.loosen(e, last.held[i], loose.held[i])
            for i, e in enumerate(found.expectations)
        )

    def rehearsed(self, found: Profile) -> Ran:
        """Run the original while its launches are repeated."""
        poison = found.main_poison
        expected = found.references[poison].digests
        probe = replace(self.probe(poison), expected=expected, plans=found.plans)
        return self.runner.run(self.program, self.arguments, probe, self.limit)

    def repeatable(self, found: Profile) -> Profile:
        """See that it computes the same while its launches are repeated; else do without."""
        poison = found.main_poison
        run = self.rehearsed(found)
        why = ""
        if run.report is None or run.exit is None or run.report.broken:
            why = "it fails when launches are repeated"
        elif run.report.replay_off:
            why = run.report.replay_off
        elif not all(ok for _, ok, _, _ in checks(found, run, poison, Bounds(), self.runner)):
            why = "repeating launches changes what it computes"
        if why:
            said = (*found.notes, f"launches timed once each: {why}")
            return replace(found, plans={}, notes=said)
        # Launches that are repeated cost the program time and change nothing else: numbers that
        # are others now are the clock's, also where all runs before happened to agree.
        if program_stdout.unlike(found.stdouts[0], run.stdout) is not None:
            found = replace(found, stdouts=(*found.stdouts, run.stdout))
        return replace(found, rehearsal=run)


def _twice(first: Ran, run: Ran, random: Reference) -> bool:
    """Tell whether a run with launches repeated is another one, bit by bit, by what it left.

    Then nothing changes by itself, and nothing by repeating.
    """
    if not program_faults.same_work(first, run) or not program_faults.same_words(first, run):
        return False
    assert run.report is not None  # noqa: S101 - same_work saw it
    same = tuple(record.digest for record in run.report.records) == random.digests
    return same and not run.report.replay_off


def _steady(expected: Expectation) -> bool:
    """Tell whether a record was the same whatever fresh memory held, bit by bit."""
    varied = expected.noise or expected.unordered or expected.unstable
    return not varied and expected.excluded is None


def learned(layers: Sequence[Reference], twice: Reference) -> tuple[Expectation, ...]:
    """Return what each record must be, by runs of an original; `twice` repeats one of them."""
    return tuple(_learn(number, layers, twice) for number in range(len(layers[0].report.records)))


def _known(found: Profile, layers: Sequence[Reference], twice: Reference) -> Profile:
    """Return the profile with what its records must be; `layers` are zeroed, random and NaN."""
    expectations = learned(layers, twice)
    by_poison = {one.poison: one for one in layers}
    if any(e.excluded is not None for e in expectations):
        # With zeroed memory alone every word is determined: compared there without exceptions.
        references = {poison: by_poison[poison] for poison in ("nan", "zero")}
    elif len(layers) > 1:
        references = {poison: by_poison[poison] for poison in ("random", "nan")}
    else:
        references = by_poison
    notes = _said(expectations, layers[min(1, len(layers) - 1)].report, twice.report)
    return replace(
        found,
        references=references,
        expectations=expectations,
        notes=(*found.notes, *notes),
    )


def reference(poison: str, run: Ran, report: Report, base: Reference | None) -> Reference:
    """Return the records of a run; what equals those of `base` was not written once more."""
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
