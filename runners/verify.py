"""Is a candidate right? Runs it on every combination the original answers, and compares."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from runners import ties
from runners.answers import Answers
from runners.bench import LATE_US, Run, poison_of
from runners.compare import Answer, Comparison, compare, nothing_asked
from runners.contents import Combination
from runners.cuda_types import Storage, to_float, values
from runners.expressions import ExpressionError, count
from runners.families import DECLARED, ENDS
from runners.gpu import LaunchError, OutOfMemoryError
from runners.inputs import stream
from runners.partners import compare_entries
from runners.retained import ahead
from runners.rows import rows
from runners.session import Session, Shaken
from runners.sizes import whole_words
from runners.spec import MOVED, CaseSpec, JobSpec, Json
from runners.stage import Findings, Limit, Suspect

_REPEATS = {"screen": 2, "race": 3, "confirm": 6}
SHAKEN_FAMILIES = frozenset({DECLARED, "mixed", "integers"})
SHAKEN_ELEMENTS, SHAKEN_PATIENCE, SHAKEN_SECONDS = 1 << 21, 0.05, 20.0
MANY_UNSEEN = (600, 120)
# What knows of time is run again after pauses of so many seconds.
PAUSES, GATE_SECONDS = (0.7, 2.0, 5.0), 16.0
WATCHED_ELEMENTS, WATCHED_ENDS, WATCHED_BESIDE = 1 << 16, 4, 6
# The device may go on for so long behind the stream of a run: opening it takes some.
MOST_LATE_US = 5 * LATE_US
# Outputs in which rounding may have decided: so many are looked into at once, so many may wait.
ASKED_AT_ONCE, MOST_DOUBTS = 3, 12
MANY_LAUNCHES, MANY_IN_A_ROW = (24, 12), 140
SHAKEN_RUNS, SHAKEN_CASES = 3, 6
# Rows of calls on any inputs, beside those whose scalar arguments move.
MIXED_ROWS = 2


class Wrong(Exception):  # noqa: N818 - a verdict on a candidate, not an error of ours
    """The candidate is refused; `status` is the verdict's, the message says where and why."""

    def __init__(self, status: str, message: str) -> None:
        super().__init__(message)
        self.status = status


@dataclass(frozen=True, slots=True)
class Doubt:
    """An output that differs in what rounding may decide, and where that was."""

    combination: Combination
    answer: Answer
    got: Storage
    words: str


@dataclass(slots=True)
class Report:
    """What was checked so far: worst error and its bound by layer and subject."""

    checks: dict[tuple[str, str], Json] = field(default_factory=dict)
    scaled: dict[tuple[str, str], float] = field(default_factory=dict)
    runs: int = 0
    nearest: tuple[float, Storage, Answer] | None = None
    doubts: list[Doubt] = field(default_factory=list)
    asked: int = 0

    def look(self, ratio: float, got: Storage, answer: Answer) -> None:
        """Keep the comparison that came nearest to its bound, or went beyond it."""
        if self.nearest is None or ratio >= self.nearest[0]:
            self.nearest = (ratio, got, answer)

    def add(
        self, layer: str, what: str, *, passed: bool, error: float | None, bound: float | None
    ) -> None:
        """Note a check; of several under one name the one nearest its bound is kept."""
        held = self.checks.get((layer, what))

        def ratio(e: float | None, b: float | None) -> float:
            return (e or 0.0) / max(b or 0.0, 1e-300)

        worse = held is None or ratio(error, bound) >= ratio(held["error"], held["bound"])
        if worse or not passed:
            self.checks[layer, what] = {
                "layer": layer,
                "what": what,
                "passed": passed,
                "error": error if error is not None and math.isfinite(error) else None,
                "bound": bound if bound is not None and math.isfinite(bound) else None,
            }

    def forget(self, layer: str) -> None:
        """Drop what a layer found that turned out to be no fault of the candidate's."""
        self.checks = {key: held for key, held in self.checks.items() if key[0] != layer}
        self.nearest = None

    def snapshot(self) -> Report:
        """Return what was checked so far, to come back to."""
        mine = (dict(self.checks), dict(self.scaled), [*self.doubts])
        return replace(self, checks=mine[0], scaled=mine[1], doubts=mine[2])

    def restore(self, before: Report) -> None:
        """Take back what was found since a snapshot."""
        self.checks, self.scaled = before.checks, before.scaled
        self.nearest, self.doubts = before.nearest, before.doubts

    def as_json(self) -> list[Json]:
        """Return the checks as a verdict carries them."""
        return list(self.checks.values())


def verify(
    session: Session,
    answers: Answers,
    job: JobSpec,
    wanted: Sequence[Combination],
    report: Report,
    seconds: float,
) -> None:
    """Run the candidate on every wanted combination that has an answer, in random order.

    Raises `Wrong` at the first run that is not right, and the errors of `runners.gpu`.
    """
    rng = stream(job.seed, "order", job.kernel.digest)
    declared = [c for c in wanted if c.family == DECLARED and _is_declared(job, c)]
    known = _launched(job, answers)
    rest = [c for c in wanted if c not in declared and known(c) is not None]
    repeats = _REPEATS.get(job.effort, 2)
    turns = [(c, n) for c in declared for n in range(repeats)] + [
        (c, n) for c in rest for n in range(1 if repeats == 2 else 2)
    ]
    deadline = time.monotonic() + seconds
    forgiven = 0
    for at in rng.permutation(len(turns)):
        combination, number = turns[int(at)]
        nan = number % 2 == 1 or (number == 0 and bool(rng.random() < 0.5))
        made = partial(
            session.run,
            combination,
            nan=nan,
            beside=number >= 2 or bool(rng.random() < 0.2),
            seconds=max(1.0, min(answers.patience(combination), deadline - time.monotonic())),
        )
        while True:
            before = report.snapshot()
            try:
                for run in _settled(made):
                    _judge(report, job, answers, combination, run)
                    report.runs += 1
            except Wrong:
                # Its inputs may be what an earlier candidate left of them.
                if job.checks == "confirm" or forgiven == 2 or not session.renewed(combination):
                    raise
                session.renewed()
                report.restore(before)
                forgiven += 1
            else:
                break
    _dispel(report, answers)


def _launched(
    job: JobSpec, answers: Answers
) -> Callable[[Combination], Mapping[str, Answer] | None]:
    """Return what gives the answers of a combination; none where a launch may as well fail.

    A kernel's launch of no blocks fails, and leaves everything as it was. That is no fault where
    the original leaves it so, or makes NaN of nothing. Host code goes on behind such a launch.
    """
    launch = job.kernel.launch or job.work.launch

    def known(combination: Combination) -> Mapping[str, Answer] | None:
        found = answers.of(combination)
        if found is None or job.work.kind != "kernel" or launch is None:
            return found
        if all(_blocks(entry, combination.case) for entry in launch.grid):
            return found
        return None if all(map(nothing_asked, found.values())) else found

    return known


def _blocks(entry: str, case: Mapping[str, float]) -> bool:
    try:
        return count(entry, case) != 0
    except ExpressionError:
        return True


def kept_apart(session: Session, report: Report) -> None:
    """Raise `Wrong` where inputs of other combinations are no longer what was uploaded."""
    spoilt = session.renewed()
    report.add("fresh world", "other inputs", passed=not spoilt, error=None, bound=None)
    if spoilt:
        raise Wrong("wrong result", "wrote far outside its buffers: into inputs of other runs")


def _settled(made: Callable[[], Run]) -> list[Run]:
    """Make a run; twice more where the device works on behind it, and the least of that counts.

    A host that pauses, or a driver that waits for another process, looks once as work left behind
    does: what a candidate leaves behind is there each time.
    """
    runs = [made()]
    if runs[0].late_us > MOST_LATE_US:
        runs += [made(), made()]
    least = min(run.late_us for run in runs)
    return [replace(run, late_us=least) for run in runs]


def shaken(
    session: Shaken,
    answers: Answers,
    job: JobSpec,
    wanted: Sequence[Combination],
    report: Report,
) -> None:
    """Run the candidate under delays of its warps (`runners.shaking`); raise `Wrong`.

    Cases are small ones: delays make a long loop a hundred times longer.
    """

    def weight(combination: Combination) -> int:
        return job.work.elements(combination.case)

    known = _launched(job, answers)
    fit = [
        c
        for c in wanted
        if known(c) is not None
        and c.family in SHAKEN_FAMILIES
        and weight(c) <= SHAKEN_ELEMENTS
        and answers.seconds(c) <= SHAKEN_PATIENCE
    ]
    # The declared and the largest ones have the most warps; small ones have absent lanes.
    fit.sort(key=lambda c: (not _is_declared(job, c), -weight(c)))
    rng = stream(job.seed, "shaken", job.kernel.digest)
    rest = [fit[int(at)] for at in SHAKEN_CASES + rng.permutation(max(0, len(fit) - SHAKEN_CASES))]
    turns = [*(fit[:SHAKEN_CASES] * SHAKEN_RUNS), *rest]
    deadline = time.monotonic() + SHAKEN_SECONDS
    for number, combination in enumerate(turns):
        if time.monotonic() > deadline:
            break
        seed = int(rng.integers(1, 2**32))
        try:
            nan = number % 2 == 1
            runs = _settled(partial(session.run, combination, nan=nan, seed=seed, seconds=30.0))
        except (LaunchError, OutOfMemoryError):
            break  # delays take registers: what does not fit with them is not refused
        for run in runs:
            _judge(report, job, answers, combination, run, "delayed warps")
            report.runs += 1
    _dispel(report, answers)


def small(
    job: JobSpec,
    answers: Answers,
    wanted: Sequence[Combination],
    beside: Sequence[Combination] = (),
    most: int = 3,
) -> list[Combination]:
    """Choose combinations that a tool a thousand times slower can look at, the declared first.

    The last of them is the one with most sizes that are multiples of 32. Behind them come sizes
    that nobody compares: all of them whole words, and each alone. An access past the end that is
    made where nothing is left over is made there only. Then contents at the ends of their ranges,
    where what is read by an index is nearest to the end of its buffer, and those of `beside`: sizes
    near a candidate's own numbers, where its buffers are full.
    """

    def weight(combination: Combination) -> int:
        return job.work.elements(combination.case)

    known_to = _launched(job, answers)
    fit = [
        c
        for c in wanted
        if c.family == DECLARED and weight(c) <= WATCHED_ELEMENTS and known_to(c) is not None
    ]
    fit.sort(key=lambda c: (not _is_declared(job, c), -weight(c)))

    def whole(combination: Combination) -> int:
        return sum(value > 0 and value % 32 == 0 for value in combination.case.values())

    if not fit:
        return []
    *first, last = fit[:most]
    chosen = [*first, max([last, *fit[most:]], key=whole)]
    known = {c.key for c in chosen}
    for case in whole_words(job.work, chosen[0].case, WATCHED_ELEMENTS):
        made = Combination(case, DECLARED, chosen[0].seed)
        if made.key not in known:
            known.add(made.key)
            chosen.append(made)
    light = [c for c in wanted if weight(c) <= WATCHED_ELEMENTS and answers.of(c) is not None]
    chosen += [c for c in light if c.family == ENDS][:WATCHED_ENDS]
    full = [c for c in beside if weight(c) <= WATCHED_ELEMENTS and answers.of(c) is not None]
    return chosen + full[:WATCHED_BESIDE]


def remembered(
    session: Session,
    answers: Answers,
    job: JobSpec,
    report: Report,
    seconds: float,
) -> None:
    """Run a candidate that keeps something between launches as if many had gone before.

    One that leaves its variables as it found them has no memory. Raises `Wrong`.
    """
    kept = session.retained
    if kept is None or not kept.changed():
        return
    rng = stream(job.seed, "remembered", job.kernel.digest)
    declared = [Combination(case.values, DECLARED, job.seed) for case in job.work.cases]
    declared.sort(key=lambda c: job.work.elements(c.case))
    deadline = time.monotonic() + seconds

    def run(combination: Combination, number: int) -> None:
        limit = max(1.0, min(answers.patience(combination), deadline - time.monotonic()))
        nan = number % 2 == 1
        made = partial(session.run, combination, nan=nan, beside=False, seconds=limit)
        for outcome in _settled(made):
            _judge(report, job, answers, combination, outcome, "many launches")
            report.runs += 1

    for combination in dict.fromkeys((declared[0].key, declared[-1].key)):
        one = next(c for c in declared if c.key == combination)
        run(one, 0)  # what comes behind it is one launch a run
        readings = [kept.read()]
        for number in range(2):
            run(one, number)
            readings.append(kept.read())
        later = ahead(
            readings[0], readings[1], readings[2], rng, MANY_LAUNCHES[job.effort == "screen"]
        )
        for number, words in enumerate(later):
            kept.write(words)
            run(one, number)
        if later:
            kept.write(readings[-1])
            for number in range(MANY_IN_A_ROW):
                run(declared[0], number)
                if time.monotonic() > deadline - seconds / 2:
                    break
    _dispel(report, answers)


def repeated(
    session: Session,
    answers: Answers,
    job: JobSpec,
    report: Report,
    seconds: float,
    pauses: Sequence[float] = (),
) -> None:
    """Run a candidate hundreds of times that may keep something where it cannot be seen.

    With `pauses` (s), a share of the runs comes behind each of them. Raises `Wrong`.
    """
    declared = [Combination(case.values, DECLARED, job.seed) for case in job.work.cases]
    one = min(declared, key=lambda c: job.work.elements(c.case))
    deadline = time.monotonic() + seconds
    count = MANY_UNSEEN[job.effort == "screen"]
    waits = {count * (n + 1) // (len(pauses) + 1): pause for n, pause in enumerate(pauses)}
    for number in range(count):
        if time.monotonic() > deadline:
            break
        time.sleep(waits.get(number, 0.0))
        limit = answers.patience(one)
        made = partial(session.run, one, nan=number % 2 == 1, beside=False, seconds=limit)
        for run in _settled(made):
            _judge(report, job, answers, one, run, "many launches")
            report.runs += 1
    _dispel(report, answers)


def in_a_row(
    session: Session,
    answers: Answers,
    job: JobSpec,
    wanted: Sequence[Combination],
    report: Report,
    seconds: float,
) -> None:
    """Run a candidate on one combination behind the other (`runners.rows`); raise `Wrong`.

    The rows are the same ones for an original and its candidates.
    """
    rng = stream(job.seed, "rows")
    deadline = time.monotonic() + seconds
    for number, row in enumerate(rows(job, wanted, _launched(job, answers), rng, MIXED_ROWS)):
        if time.monotonic() > deadline:
            break
        limit = max(1.0, sum(min(answers.patience(one), 5.0) for one in row.combinations))
        runs = session.row(row.combinations, nan=number % 2 == 1, apart=row.apart, seconds=limit)
        for combination, run in zip(row.combinations, runs, strict=True):
            _judge(report, job, answers, combination, run, "calls in a row")
            report.runs += 1
    _dispel(report, answers)


def _is_declared(job: JobSpec, combination: Combination) -> bool:
    return any(dict(case.values) == dict(combination.case) for case in job.work.cases)


def _layer(job: JobSpec, combination: Combination) -> tuple[str, str]:
    if MOVED in combination.case:
        return "families", "other scalars"
    if not _is_declared(job, combination):
        return "sizes", CaseSpec(combination.case).name
    if combination.family == DECLARED:
        return "cases", CaseSpec(combination.case).name
    return "families", combination.family


def _judge(
    report: Report,
    job: JobSpec,
    answers: Answers,
    combination: Combination,
    run: Run,
    under: str = "",
) -> None:
    """Compare one run with its answers; note what was seen, raise `Wrong` if it is not right."""
    where = (
        f"{CaseSpec(combination.case).name}, {combination.family} inputs, seed {combination.seed}"
    )
    if under:
        where = f"{where}, {under}"
    if run.damage:
        report.add("fresh world", "guard bands and inputs", passed=False, error=None, bound=None)
        raise Wrong("wrong result", f"{run.damage.words} ({where})")
    report.add("fresh world", "guard bands and inputs", passed=True, error=None, bound=None)
    if run.late_us > MOST_LATE_US:
        report.add("fresh world", "nothing left behind", passed=False, error=None, bound=None)
        raise Wrong(
            "wrong result",
            f"the device works on for {run.late_us:.0f} µs after the stream is done ({where})",
        )
    layer, what = _layer(job, combination)
    if under:
        layer, what = under, CaseSpec(combination.case).name
    for name, answer in (answers.of(combination) or {}).items():
        poison = None
        if answer.untouched is not None:
            poison = poison_of(job.work, combination.case, name, run.poison)
        outcome = compare(run.outputs[name], answer, poison)
        if not outcome.passed:
            why = f"{outcome.why} ({where})"
            if _excused(report, answers, Doubt(combination, answer, run.outputs[name], why)):
                continue
        report.add(layer, what, passed=outcome.passed, error=outcome.error, bound=outcome.bound)
        report.look(_ratio(outcome), run.outputs[name], answer)
        if not outcome.passed:
            raise Wrong("wrong result", f"{outcome.why} ({where})")
        _together(report, answers, combination, run, answer, (layer, what, where))
        key = (combination.key, name)
        report.scaled[key] = max(report.scaled.get(key, 0.0), outcome.scaled)


def judged(
    report: Report,
    job: JobSpec,
    answers: Answers,
    combination: Combination,
    run: Run,
    under: str,
) -> None:
    """Compare one run with its answers, what is in doubt at once; raise `Wrong`."""
    _judge(report, job, answers, combination, run, under)
    report.runs += 1
    _dispel(report, answers)


def _excused(report: Report, answers: Answers, doubt: Doubt) -> bool:
    """Tell whether what differs is, or may turn out to be, what rounding decides.

    The first few are looked into at once, since most are faults; the rest when all runs are made,
    or many wait, in one go: each question takes a process that opens the device.
    """
    family = doubt.combination.family
    if not ties.possible(doubt.got, doubt.answer, family, answers.work):
        return False
    if report.asked < ASKED_AT_ONCE:
        report.asked += 1
        return _tied(report, answers, doubt)
    if len(report.doubts) >= MOST_DOUBTS:
        _dispel(report, answers)
    report.doubts.append(doubt)
    return True


def _dispel(report: Report, answers: Answers) -> None:
    """Ask the original about what is in doubt; raise `Wrong` for what rounding does not explain."""
    doubts, report.doubts = report.doubts, []
    answers.ask_moved([doubt.combination for doubt in doubts])
    for doubt in doubts:
        if not _tied(report, answers, doubt):
            report.add("rounding", doubt.words, passed=False, error=None, bound=None)
            raise Wrong("wrong result", doubt.words)


def _tied(report: Report, answers: Answers, doubt: Doubt) -> bool:
    """Tell whether all that differs is what the original's own rounding decides."""
    combination, answer = doubt.combination, doubt.answer

    def moved() -> list[Storage]:
        return answers.moved(combination, answer.name)

    tied = ties.decided(doubt.got, answer, combination.family, answers.work, moved)
    if tied:
        where = f"{CaseSpec(combination.case).name}, {combination.family} inputs"
        report.add("rounding", where, passed=True, error=None, bound=None)
    return tied


def _together(
    report: Report,
    answers: Answers,
    combination: Combination,
    run: Run,
    answer: Answer,
    place: tuple[str, str, str],
) -> None:
    """Compare outputs whose elements belong together, once for all of them."""
    if not answer.joined or answer.name != answer.joined[-1]:
        return
    layer, what, where = place
    every = answers.of(combination) or {}
    group = {name: every[name] for name in answer.joined}
    poison = {
        name: poison_of(answers.work, combination.case, name, run.poison)
        for name, one in group.items()
        if one.untouched is not None
    }
    outcome = compare_entries(run.outputs, group, poison)
    report.add(layer, what, passed=outcome.passed, error=outcome.error, bound=outcome.bound)
    if not outcome.passed:
        raise Wrong("wrong result", f"{outcome.why} ({where})")


def _ratio(outcome: Comparison) -> float:
    return outcome.error / max(outcome.bound, 1e-300) if outcome.passed else math.inf


def limits(report: Report, answers: Answers, combination: Combination) -> dict[str, Limit]:
    """Return what the device-side comparison of timed launches may find, from what was seen."""
    found: dict[str, Limit] = {}
    for name, answer in (answers.of(combination) or {}).items():
        only, budget = answer.type.scalar, answer.budgets[0]
        if answer.unordered or only is None:
            found[name] = Limit(None, 0.0)
            continue
        if budget is None or only.kind != "f":
            found[name] = Limit(0.0, 0.0)
            continue
        data = values(answer.want, answer.type, answer.type.fields[0])
        wide = to_float(data[:: max(1, len(data) // 1_000_000)], only)
        wide = wide[np.isfinite(wide)]
        rms = float(np.sqrt(np.mean(wide**2))) if len(wide) else 0.0
        own = float(budget.bound(np.array([rms]))[0]) / rms if rms else 0.0
        seen = report.scaled.get((combination.key, name), 0.0)
        found[name] = Limit(1.5 * max(4 * seen, own) + 8 * budget.roundoff, rms)
    return found


def judge_timed(
    report: Report, answers: Answers, combination: Combination, found: Findings
) -> None:
    """Judge the launches that were timed; raise `Wrong` if one of them was not right."""
    case = CaseSpec(combination.case).name
    what = f"{case}: {found.checked} launches"
    if found.damage:
        report.add("timed launches", what, passed=False, error=None, bound=None)
        raise Wrong("wrong result", f"a timed launch {found.damage.words} ({case})")
    names = {argument.name for argument in answers.work.arguments}
    for suspect in found.suspects:
        answer = (answers.of(combination) or {})[suspect.output]
        outcome, closer = _closer(answer, suspect)
        if outcome.passed:
            continue
        why = f"a timed launch gave {outcome.why} ({case})"
        # Which contents it had is told by the process it ran in: only what may be so is asked.
        shifts = [(name, by) for name, by in suspect.shifts if name in names and by > 0]
        turned = replace(combination, family=ties.turned(combination.family, shifts))
        if not _excused(report, answers, Doubt(turned, closer, suspect.got, why)):
            report.add(
                "timed launches", what, passed=False, error=outcome.error, bound=outcome.bound
            )
            raise Wrong("wrong result", why)
    _dispel(report, answers)
    report.add("timed launches", what, passed=True, error=found.largest, bound=None)


def _closer(answer: Answer, suspect: Suspect) -> tuple[Comparison, Answer]:
    """Compare a timed launch's output with the baseline's on the same contents, and say with what.

    Untouched elements hold the same poison on both sides, so they need no mask.
    """
    budgets = tuple(None if b is None else b.widened(2.0) for b in answer.budgets)
    closer = replace(answer, want=suspect.want, budgets=budgets, untouched=None)
    return compare(suspect.got, closer), closer
