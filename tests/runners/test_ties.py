"""Results that rounding decides: the other side of an edge is right where the original may be there."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

from runners import checks, one_run, spec, ties
from runners.answers import Answers
from runners.compare import Answer
from runners.contents import Combination, Contents
from runners.cuda_types import Storage, parse
from runners.fault import Fault
from runners.judge import Judge
from runners.spec import Json
from tests.runners.host_gpu import COMPILER
from tests.runners.test_judge import _verdict

BINS = """
extern "C" __global__ void scale(const float* x, int* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = (int)floorf(((x[i] + x[(i + 1) % n]) + x[(i + 7) % n]) * 2000.f);
}
"""
OTHER_ORDER = BINS.replace(
    "(x[i] + x[(i + 1) % n]) + x[(i + 7) % n]", "x[i] + (x[(i + 1) % n] + x[(i + 7) % n])"
)


def _work(**more: Any) -> Json:
    arguments = [
        {"name": "x", "type": "const float*", "shape": "n", **more},
        {"name": "y", "type": "int*", "shape": "n", "role": "output"},
        {"name": "n", "type": "int", "value": "n"},
    ]
    return {"arguments": arguments, "cases": [{"values": {"n": 6000}}]}


@pytest.mark.skipif(COMPILER is None, reason="g++ is not installed")
def test_another_order_of_sums_may_choose_the_other_bin(judge: Judge) -> None:
    """The original does so, too, when its inputs are moved by one rounding error."""
    verdict = _verdict(judge, OTHER_ORDER, BINS, workload=_work())
    assert verdict["status"] == "correct", verdict["log"]
    assert any(check["layer"] == "rounding" for check in verdict["checks"])


WRONG = BINS.replace("if (i < n)", "if (i == 4321) y[i] = 0; else if (i < n)")


@pytest.mark.skipif(COMPILER is None, reason="g++ is not installed")
def test_what_no_rounding_explains_is_wrong(judge: Judge) -> None:
    """Few elements are not enough of an excuse."""
    verdict = _verdict(judge, WRONG, BINS, workload=_work())
    assert verdict["status"] == "wrong result", verdict["log"]


def _answer(want: Any, kind: str = "int*") -> Answer:
    return Answer("y", parse(kind), np.ascontiguousarray(want).view(np.uint8), (None,))


def _decided(got: Any, want: Any, moved: Any, family: str, **more: Any) -> bool:
    work = spec.parse({**_job(), "workload": {**_job()["workload"], **_work(**more)}}).work
    data = got.view(np.uint8)
    return ties.decided(data, _answer(want), family, work, lambda: [moved.view(np.uint8)])


class _Asked(Answers):
    """Answers of an original that gives one more everywhere when its inputs are moved."""

    questions: ClassVar[list[int]] = []

    def ask_moved(self, combinations: Sequence[Combination]) -> None:
        self.questions.append(len(combinations))

    def moved(self, combination: Combination, name: str) -> list[Storage]:
        return [(np.arange(5000, dtype=np.int32) + 1).view(np.uint8)]


def test_all_that_is_in_doubt_is_asked_about_in_the_end(tmp_path: Path) -> None:
    """The first few at once, the others together; one among them that is wrong is found."""
    work = spec.parse({**_job(), "workload": {**_job()["workload"], **_work()}}).work
    answers, report = _Asked(work, tmp_path), checks.Report()
    answers.questions.clear()
    want = np.arange(5000, dtype=np.int32)

    def doubt(by: int) -> checks.Doubt:
        got = want.copy()
        got[9] += by
        combination = Combination({"n": 5000.0}, "declared", 1)
        return checks.Doubt(combination, _answer(want), got.view(np.uint8), "y[9]")

    assert not one_run.excused(report, answers, doubt(2))
    many = one_run.ASKED_AT_ONCE + one_run.MOST_DOUBTS + 1
    assert all(one_run.excused(report, answers, doubt(1)) for _ in range(many))
    assert answers.questions == [one_run.MOST_DOUBTS]
    assert one_run.excused(report, answers, doubt(2))
    with pytest.raises(checks.Wrong):
        one_run.dispel(report, answers)


def test_an_original_that_cannot_be_asked_excuses_nothing(tmp_path: Path) -> None:
    """The run goes on, and what differs is wrong."""

    def broken(_wanted: Sequence[Combination]) -> None:
        raise Fault("RunnerError", "the oracle did not start")

    work = spec.parse({**_job(), "workload": {**_job()["workload"], **_work()}}).work
    answers = Answers(work, tmp_path, ask=broken)
    assert answers.moved(Combination({"n": 5000.0}, "declared", 1), "y") == []


def test_ties_of_few_numbers_are_exact() -> None:
    """How a kernel breaks them is its contract; so it is with inputs of few digits."""
    want = np.arange(5000, dtype=np.int32)
    moved, got = want + 1, want.copy()
    got[[7, 4000]] += 1
    assert all(_decided(got, want, moved, f) for f in ("declared", "mixed", "declared@x:16"))
    assert not any(_decided(got, want, moved, f) for f in ("integers", "equal"))
    assert not _decided(got, want, moved, "declared", type="const __half*")
    got[[8, 9]] += 1
    assert _decided(got, want, moved, "declared")
    assert not _decided(got, want, moved, "mixed")
    assert not _decided(got, want, moved, "declared", init="ones")
    got[10:20] += 1
    assert not _decided(got, want, moved, "declared")


def test_only_values_that_the_original_gives_are_taken() -> None:
    """Another number at the same place is none of them."""
    want = np.zeros(3000, np.int32)
    moved, got = want.copy(), want.copy()
    moved[5] = got[5] = 1
    assert _decided(got, want, moved, "declared")
    got[5] = 2
    assert not _decided(got, want, moved, "declared")


def test_large_whole_numbers_of_undeclared_inputs_are_rounded() -> None:
    """As floats are, and no more than floats; what spreads as a hash does is exact."""
    rng = np.random.default_rng(1)
    want = rng.integers(-(10**9), 10**9, 3000).astype(np.int32)
    moved = want + rng.integers(-64, 65, 3000).astype(np.int32)
    got = want + rng.integers(-64, 65, 3000).astype(np.int32)
    assert _decided(got, want, moved, "large")
    assert not _decided(got, want, moved, "declared")
    assert not _decided(want + (want >> 11), want, moved, "large")
    hashed = rng.permutation(want)
    assert not _decided(rng.permutation(want), want, hashed, "large")


def test_contents_of_a_timed_launch_can_be_made_again() -> None:
    """They are those of the case, shifted."""
    work = spec.parse({**_job(), "workload": {**_job()["workload"], **_work()}}).work
    contents = Contents(work)
    plain = contents.of(Combination({"n": 6000.0}, "declared", 5))["x"].view("f4")
    family = ties.turned("declared", [("x", 64)])
    shifted = contents.of(Combination({"n": 6000.0}, family, 5))["x"].view("f4")
    assert np.array_equal(shifted, np.roll(plain, -16))
    moved = contents.of(Combination({"n": 6000.0}, f"{family}+j", 5))["x"].view("f4")
    assert 0 < np.abs(moved - shifted).max() < 1e-5


def _job() -> Json:
    from tests.runners.test_judge import _job as made

    return made(BINS, BINS)
