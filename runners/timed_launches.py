"""Were the launches right that were timed? The device compares all of them, and keeps suspects.

Few are looked at on the host, so what the device may find has limits of its own; a suspect is
compared with the original's output on the same contents. All have the same numbers, at other
places: of these the same sum comes out, which may be that of an earlier launch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from runners import ties, worn_in
from runners.answers import Answers
from runners.checks import Doubt, Report, Wrong
from runners.compare import Answer, Comparison, compare
from runners.contents import Combination
from runners.cuda_types import to_float, values
from runners.one_run import dispel, excused, judge, settled
from runners.session import Session
from runners.spec import CaseSpec, JobSpec
from runners.stage import Findings, Limit, Suspect

BEHIND = "behind timed launches"


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
        if not excused(report, answers, Doubt(turned, closer, suspect.got, why)):
            report.add(
                "timed launches", what, passed=False, error=outcome.error, bound=outcome.bound
            )
            raise Wrong("wrong result", why)
    dispel(report, answers)
    report.add("timed launches", what, passed=True, error=found.largest, bound=None)


def judge_behind(
    session: Session,
    job: JobSpec,
    known: tuple[Answers, Sequence[Combination]],
    combination: Combination,
    report: Report,
) -> None:
    """Call a candidate on other contents of the case that was timed; raise `Wrong`.

    Directly behind the timed launches, nothing of another size in between. A kernel's variables are
    set back before each of them: there is no behind (`runners.verify.remembered`).
    """
    answers, wanted = known
    for other in worn_in.changed(wanted, combination, answers.of, most=1):
        limit = answers.patience(other)
        made = partial(session.run, other, nan=True, beside=False, seconds=limit)
        for run in settled(made):
            judge(report, job, answers, other, run, BEHIND)
            report.runs += 1
        dispel(report, answers)


def _closer(answer: Answer, suspect: Suspect) -> tuple[Comparison, Answer]:
    """Compare a timed launch's output with the baseline's on the same contents, and say with what.

    Untouched elements hold the same poison on both sides, so they need no mask.
    """
    budgets = tuple(None if b is None else b.widened(2.0) for b in answer.budgets)
    closer = replace(answer, want=suspect.want, budgets=budgets, untouched=None)
    return compare(suspect.got, closer), closer
