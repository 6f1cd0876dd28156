"""One run of a candidate: made until it is settled, compared with its answers, refused or not.

What differs only in what rounding decides is no fault (`runners.ties`): the original is asked about
it, the first few times at once and then in one go.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Protocol

from runners import mutations, rounded, tensor_cores, ties
from runners.answers import Answers
from runners.bench import LATE_US
from runners.checks import Doubt, Report, Wrong
from runners.compare import Answer, Comparison, compare
from runners.contents import Combination
from runners.cuda_types import Storage
from runners.families import DECLARED
from runners.partners import compare_entries
from runners.run import Run
from runners.scenes import poison_of
from runners.spec import MOVED, CaseSpec, JobSpec

# The device may go on for so long behind the stream of a run: opening it takes some.
MOST_LATE_US = 5 * LATE_US
# What differs most of thousands of runs may be so many times as far off (`_picked`). Of the red
# team two right ones were beyond their budget there, by 1.007 and 1.1 times, and wrong ones by more
# than twice as much.
WORST_OF_MANY = 1.5
# Outputs in which rounding may have decided: so many are looked into at once, so many may wait.
ASKED_AT_ONCE, MOST_DOUBTS = 3, 12


def settled(made: Callable[[], Run]) -> list[Run]:
    """Make a run; twice more where the device works on behind it, and the least of that counts.

    A host that pauses, or a driver that waits for another process, looks once as work left behind
    does: what a candidate leaves behind is there each time.
    """
    runs = [made()]
    if runs[0].late_us > MOST_LATE_US:
        runs += [made(), made()]
    least = min(run.late_us for run in runs)
    return [replace(run, late_us=least) for run in runs]


def is_declared(job: JobSpec, combination: Combination) -> bool:
    """Tell whether a combination is at a case that was declared."""
    return any(dict(case.values) == dict(combination.case) for case in job.work.cases)


def _layer(job: JobSpec, combination: Combination) -> tuple[str, str]:
    if MOVED in combination.case:
        return "families", "other scalars"
    if not is_declared(job, combination):
        return "sizes", CaseSpec(combination.case).name
    if combination.family == DECLARED:
        return "cases", CaseSpec(combination.case).name
    return "families", combination.family


def judge(
    report: Report,
    job: JobSpec,
    answers: Answers,
    combination: Combination,
    run: Run,
    under: str = "",
) -> None:
    """Compare one run with its answers; note what was seen, raise `Wrong` if it is not right."""
    case, family = CaseSpec(combination.case).name, mutations.shown(combination.family)
    where = f"{case}, {family} inputs, seed {combination.seed}"
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
    for name, found in (answers.of(combination) or {}).items():
        answer = tensor_cores.allowed(found) if report.cut_off else found
        answer = _picked(answer) if report.picked else answer
        poison = None
        if answer.untouched is not None:
            poison = poison_of(job.work, combination.case, name, run.poison)
        outcome = compare(run.outputs[name], answer, poison)
        if not outcome.passed:
            why = f"{outcome.why} ({where})"
            if excused(report, answers, Doubt(combination, answer, run.outputs[name], why)):
                continue
        report.add(layer, what, passed=outcome.passed, error=outcome.error, bound=outcome.bound)
        report.look(_ratio(outcome), run.outputs[name], answer)
        if not outcome.passed:
            raise Wrong("wrong result", f"{outcome.why} ({where})")
        if report.narrow and (lost := rounded.fault(run.outputs[name], answer)):
            report.add("rounding", "halves", passed=False, error=None, bound=None)
            raise Wrong("wrong result", f"{lost} ({where})")
        _together(report, answers, combination, run, answer, (layer, what, where))
        key = (combination.key, name)
        report.scaled[key] = max(report.scaled.get(key, 0.0), outcome.scaled)


def _picked(answer: Answer) -> Answer:
    """Return an answer whose floats may err by so many times the noise: the worst of many runs.

    A budget is what the largest of ten million errors keeps to where these are as they were seen.
    Of thousands of contents that chance makes up there are some in which roundings all go one way.
    """
    budgets = (
        one and replace(one, noise=one.noise * WORST_OF_MANY, few=one.few * WORST_OF_MANY)
        for one in answer.budgets
    )
    return replace(answer, budgets=tuple(budgets))


def judged(
    report: Report,
    job: JobSpec,
    answers: Answers,
    combination: Combination,
    run: Run,
    under: str,
) -> None:
    """Compare one run with its answers, what is in doubt at once; raise `Wrong`."""
    judge(report, job, answers, combination, run, under)
    report.runs += 1
    dispel(report, answers)


class Renewing(Protocol):
    """What puts back the inputs of a combination where they are no longer what was uploaded."""

    def renewed(self, only: Combination | None = None) -> int:
        """Return how many arrays had to be put back."""
        ...


def renewing(
    session: Renewing,
    answers: Answers,
    job: JobSpec,
    combination: Combination,
    made: Callable[[], Run],
    report: Report,
    under: str,
) -> None:
    """Judge a run; once more where an earlier candidate spoilt its inputs. Raise `Wrong`."""
    before = report.snapshot()
    for again in (False, True):
        try:
            for run in settled(made):
                judged(report, job, answers, combination, run, under)
        except Wrong:
            if again or not session.renewed(combination):
                raise
            report.restore(before)
        else:
            return


def excused(report: Report, answers: Answers, doubt: Doubt) -> bool:
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
        dispel(report, answers)
    report.doubts.append(doubt)
    return True


def dispel(report: Report, answers: Answers) -> None:
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
