"""What differs most of thousands of runs may be a little farther off, and nothing else may."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import pytest

from runners import fuzzing, one_run, spec
from runners.answers import Answers
from runners.checks import Report, Wrong
from runners.compare import Answer, Budget, few_ulp, noise_by_exponent
from runners.contents import Combination
from runners.cuda_types import SCALARS, parse
from runners.run import Damage, Run
from runners.session import Session
from runners.spec import JobSpec
from tests.runners.test_judge import SCALE, _job

WANT, NOISE = 100.0, 1e-3


def _answer(*, exact: bool = False) -> Answer:
    want = np.full(7, WANT)
    noise = noise_by_exponent(np.full(7, NOISE), want)
    budget = Budget(noise, SCALARS["float"].roundoff, few_ulp("float"), 1.0, 1.0, exact=exact)
    return Answer("y", parse("float*"), want.astype(np.float32).view(np.uint8), (budget,))


class _Answers:
    def __init__(self, *, exact: bool = False) -> None:
        self._exact = exact
        self.described: dict[str, Any] = {}

    def of(self, _one: Combination) -> dict[str, Answer]:
        return {"y": _answer(exact=self._exact)}

    def patience(self, _one: Combination) -> float:
        return 1.0


class _Session:
    """Is off by so many times what an answer allows."""

    def __init__(self, times: float) -> None:
        (budget,) = _answer().budgets
        assert budget is not None
        bound = float(budget.bound(np.array([WANT]))[0])
        off = np.full(7, WANT + times * bound, np.float32)
        self.outputs = {"y": off.view(np.uint8)}

    def run(self, *_terms: object, **_more: object) -> Run:
        return Run(self.outputs, Damage(), 0.0, 0)

    def renewed(self, _one: Combination) -> int:
        return 0


@pytest.fixture
def job(monkeypatch: pytest.MonkeyPatch) -> JobSpec:
    monkeypatch.setattr(one_run, "excused", lambda *_: False)
    monkeypatch.setattr(one_run, "settled", lambda made: [made()])
    monkeypatch.setattr(one_run, "_together", lambda *_: None)
    monkeypatch.setattr(one_run, "dispel", lambda *_: None)
    return spec.parse(_job(SCALE + "//", SCALE, effort="confirm"))


ONE = Combination({"n": 7.0}, "recipe 1048577", 1)


@pytest.mark.parametrize(
    ("times", "picked", "alone"),
    [(0.8, True, True), (1.2, True, False), (1.45, True, False), (1.6, False, False)],
)
def test_of_many_the_worst_may_be_farther_off(
    job: JobSpec, monkeypatch: pytest.MonkeyPatch, times: float, *, picked: bool, alone: bool
) -> None:
    session, answers, report = _Session(times), _Answers(), Report()
    monkeypatch.setattr(fuzzing, "aside", lambda *_: _Aside())
    terms = (cast("Session", session), cast("Answers", answers), job, [ONE], report, "fuzzed")
    if picked:
        assert fuzzing.asked_again(*terms) == frozenset()
    else:
        with pytest.raises(Wrong, match="error"):
            fuzzing.asked_again(*terms)
    # Only for as long as these are judged.
    assert not report.picked
    ran = session.run()
    plain = (report, job, cast("Answers", answers), ONE, ran)
    if alone:
        one_run.judge(*plain)
    else:
        with pytest.raises(Wrong, match="error"):
            one_run.judge(*plain)


def test_what_has_to_be_exact_stays_so(job: JobSpec, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fuzzing, "aside", lambda *_: _Aside())
    answers, report = cast("Answers", _Answers(exact=True)), Report()
    with pytest.raises(Wrong):
        fuzzing.asked_again(cast("Session", _Session(0.01)), answers, job, [ONE], report, "fuzzed")


class _Aside:
    def __enter__(self) -> None:
        return None

    def __exit__(self, *_error: object) -> None:
        return None
