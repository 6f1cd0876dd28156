"""What is right for the declared value of a whole number alone is accepted, and that is said."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import pytest

from runners import limit, other_values, spec, whole_scalars
from runners.answers import Answers
from runners.capacities import hopeless
from runners.checks import Report
from runners.contents import Combination
from runners.cuda_types import SCALARS
from runners.gpu import DeviceError, HungError, LaunchError, OutOfMemoryError
from runners.judge import Judge
from runners.run import Run
from runners.session import Session
from runners.spec import MOVED, Json
from tests.redteam.table import DECLARED_VALUE, load
from tests.runners.host_gpu import COMPILER, artifact
from tests.runners.test_judge import _job

host = pytest.mark.skipif(COMPILER is None, reason="g++ is not installed")
CANDIDATES = {one.label: one for one in load()}

SUMS = """
extern "C" __global__ void f(const int* x, int* y, int n, int k, int flag) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    BODY
}
"""


@pytest.mark.parametrize(
    ("text", "kind", "values"),
    [
        ("1000003", "uint32", (1000002, 666668, 1000004)),
        ("64", "int32", (63, 43, 65)),
        ("2", "int32", (1, 3)),
        ("-100", "int32", (-99, -67, -101)),
        ("-1", "int32", (-2, 0)),
        ("1", "int32", (2, 0)),
        ("0", "int32", (1,)),
        ("0", "uint64", (1, 0x9E3779B9)),
        ("5368709120", "uint64", (5368709119, 3579139413, 5368709120 + 0x9E3779B9, 5368709121)),
        ("255", "uint8", (254, 170)),
        ("0", "bool", (1,)),
        ("n", "int32", ()),
        ("4 * n", "int32", ()),
        ("0.5", "float", ()),
        ("3", "float", ()),
    ],
)
def test_other_values_are_few_and_near(text: str, kind: str, values: tuple[int, ...]) -> None:
    assert whole_scalars.others(text, SCALARS[kind]) == values
    assert whole_scalars.others(text, None) == ()


def _given(k: str = "5", flag: str = "0", kind: str = "int") -> Json:
    return {
        "symbol": "f",
        "arguments": [
            {"name": "x", "type": "const int*", "shape": "n", "init": "randint:0:100"},
            {"name": "y", "type": "int*", "shape": "n", "role": "output"},
            {"name": "n", "type": "int", "value": "n"},
            {"name": "k", "type": kind, "value": k},
            {"name": "flag", "type": "int", "value": flag},
        ],
    }


def _tried(body: str, **given: str) -> dict[str, list[int]]:
    text = SUMS.replace("BODY", body)
    job = spec.parse(_job(text + "//", text, workload=_given(**given)))
    found = other_values.others(job, Combination({"n": 3000.0}, "declared", 1))
    arguments = {a.name: a for a in job.work.arguments}
    for one in [one for each in found for one in each]:
        values = {n: spec.scalar_values(a, one.combination.case) for n, a in arguments.items()}
        assert values[one.name] == (one.value,)
        assert all(v == spec.scalar_values(arguments[n], {"n": 3000.0})
                   for n, v in values.items() if n not in {one.name, "x", "y"})  # fmt: skip
    return {each[0].name: [one.value for one in each] for each in found}


def test_each_scalar_alone_has_another_value_and_variables_have_none() -> None:
    assert _tried("y[i] = x[i] % k + flag;") == {"k": [4, 6], "flag": [1]}


def test_what_may_never_end_is_not_tried() -> None:
    # A step of zero; but a flag may be.
    step = "for (int j = 0; j < n; j += k) y[i] += x[j];"
    assert _tried(step, k="1") == {"k": [2], "flag": [1]}
    assert _tried("if (flag) y[i] = x[i];", flag="1")["flag"] == [2, 0]
    # A bound of thousands of millions.
    loop = "for (long long j = 0; j < k; ++j) y[i] += j;"
    assert _tried(loop, kind="long long")["k"] == [4, 6]
    assert _tried("y[i] = x[i] ^ k;", kind="long long")["k"] == [4, 5 + 0x9E3779B9, 6]


def test_what_fails_once_is_asked_no_further() -> None:
    def one(name: str, at: int) -> Combination:
        case = {"n": 9.0, MOVED: float(whole_scalars.code(name, at))}
        return Combination(case, "declared", 1)

    assert hopeless(one("k", 1), [one("k", 0)])
    assert not hopeless(one("flag", 0), [one("k", 0)])
    assert not hopeless(Combination({"n": 9.0}, "declared", 1), [one("k", 0)])


def test_codes_are_no_other_ways_to_move_a_scalar() -> None:
    assert spec.ALONE * 2 <= whole_scalars.BEGIN
    assert whole_scalars.END <= spec.ACROSS
    assert whole_scalars.moved(whole_scalars.code("k", whole_scalars.MOST - 1))
    assert not any(map(whole_scalars.moved, (0, spec.SOME, spec.LASTING, spec.ALONE, spec.TURNED)))


def _said(
    judge: Judge, text: str, base: str, workload: Json, **more: Any
) -> tuple[Json, list[str]]:
    """Return a confirmation's verdict, and the limits that it says."""
    job = _job(text, base, workload=workload, effort="confirm", **more)
    job["kernel"]["name"] = job["baseline"]["name"] = workload["symbol"]
    request = {"job": job, "candidate": artifact(text), "baseline": artifact(base)}
    verdict, _, lost = judge.verdict(request, spec.parse(job), 60.0)
    assert not lost
    notes = verdict["measurement"]["notes"] if verdict["measurement"] else []
    return verdict, list(limit.apart(notes)[0])


@host
@pytest.mark.parametrize(
    ("label", "words"),
    [
        ("reciprocals/power_of_it", "m = 1000003; with m = 1000002 it is not: inverse["),
        ("reciprocals/four_but_no_zeros", "m = 1000003; with m = 1000002 it is not: inverse["),
        ("reciprocals/four_by_one", ""),
        ("reciprocals/signs_take_turns", ""),
        ("replay/halves_apart", "start = 0; with start = 2654435769 it is not: out["),
        ("replay/less_one_round_or_divided", ""),
    ],
)
def test_what_is_right_for_one_value_says_so(judge: Judge, label: str, words: str) -> None:
    """They are accepted: the declared value is what is promised."""
    one = CANDIDATES[label]
    cases = [{"values": {"n": 900, "len": 700}}, {"values": {"n": 7, "len": 5}, "time": False}]
    if one.base.name == "reciprocals":
        cases = [{"values": {"n": 900}}, {"values": {"n": 7}, "time": False}]
    workload = {**one.base.workload, "cases": cases}
    high = "(unsigned)((unsigned long long)(a) * (b) >> 32)"
    header = f"#ifndef __CUDACC__\n#define __umulhi(a, b) {high}\n#endif\n"
    launch = one.job("confirm")["kernel"]["launch"]
    text, base = header + one.source, header + one.base.source
    job = _job(text, base, workload=workload, effort="confirm")
    job["kernel"]["launch"] = launch
    request = {"job": job, "candidate": artifact(text), "baseline": artifact(base)}
    verdict, _, _ = judge.verdict(request, spec.parse(job), 60.0)
    assert verdict["status"] == "correct", verdict["log"]
    found = limit.apart(verdict["measurement"]["notes"])[0]
    assert [f"right for the declared {words}" in said for said in found] == [True] * bool(words)
    assert one.right(accepted=True, speedup=2.0, notes=found)
    if words:
        assert one.what == DECLARED_VALUE
    else:
        tried = [c["what"] for c in verdict["checks"] if c["layer"] == other_values.LAYER]
        assert len(tried) >= 3


@host
def test_an_original_that_leaves_its_buffers_costs_nothing_but_the_question(judge: Judge) -> None:
    """Where it goes beyond, or depends on what lies there, nobody is told of the candidate."""
    base = SUMS.replace("BODY", "y[i] = 0; for (int j = 0; j < k; ++j) y[i] += x[(i + j) % n];")
    beyond = SUMS.replace("BODY", "y[i + (k != 5 && i == n - 1)] = x[i] + k;")
    fixed = SUMS.replace("BODY", "y[i] = x[i] + 5;")
    assert _said(judge, fixed, beyond, _given())[1] == []
    wild = SUMS.replace("BODY", "y[i] = x[i + (k != 5) * n] + 5 + 0 * flag;")
    assert _said(judge, fixed, wild, _given())[1] == []
    five = SUMS.replace(
        "BODY", "y[i] = 0; for (int j = 0; j < 5; ++j) y[i] += x[(i + j) % n]; y[i] += 0 * flag;"
    )
    verdict, said = _said(judge, five, base, _given())
    assert verdict["status"] == "correct"
    [words] = said
    assert words.startswith("right for the declared k = 5; with k = 4 it is not: y[0]: ")
    assert all(check["passed"] for check in verdict["checks"])


def _lagging(base: str, text: str = "", lag: int = 40) -> spec.JobSpec:
    given = _given()
    given["arguments"][3]["value"] = "lag"
    given["cases"] = [{"values": {"n": 900, "lag": lag}}]
    one, other = (SUMS.replace("BODY", body) for body in (base, text or base + ";"))
    job = _job(other, one, workload=given, effort="confirm")
    job["kernel"]["name"] = job["baseline"]["name"] = "f"
    return spec.parse(job)


@pytest.mark.parametrize(
    ("body", "lag", "tried"),
    [
        ("y[i] = x[i]; if (i >= k) y[i] += x[i - k];", 40, True),
        ("y[i] = 0; for (int j = 0; j < k; ++j) y[i] += 3 * x[j + k];", 40, True),
        # A flag; what is divided by; steps of loops, which would never end.
        ("y[i] = x[i] + k;", 1, False),
        ("y[i] = x[i / k];", 40, False),
        ("y[i] = x[i % ( k + 1)];", 40, False),
        ("y[i] = 0; for (int j = 0; j < n; j += k) y[i] += x[j];", 40, False),
        ("y[i] = 0; for (int j = 1; j < n; j *= 2 * k) y[i] += x[j];", 40, False),
    ],
)
def test_what_is_passed_and_sizes_nothing_may_be_nothing(body: str, lag: int, tried: bool) -> None:
    job = _lagging(body, lag=lag)
    case = {"n": 900.0, "lag": float(lag)}
    found = other_values.others(job, Combination(case, "declared", 1))
    zeros = [one for each in found for one in each if one.combination.case["lag"] == 0.0]
    assert [(one.name, one.declared, one.value) for one in zeros] == [("k", lag, 0)] * tried
    # What sizes a buffer is no such value.
    assert not [one for each in found for one in each if one.name == "n"]


@host
def test_a_lag_of_nothing_is_a_limit(judge: Judge) -> None:
    """Threads that go along one lag each have nowhere to go then."""
    base = SUMS.replace("BODY", "y[i] = x[i]; if (i >= k) y[i] += x[i - k];")
    given = _given()
    given["arguments"][3]["value"] = "lag"
    given["cases"] = [{"values": {"n": 900, "lag": 40}}, {"values": {"n": 90, "lag": 7}}]
    _, said = _said(judge, base.replace("i >= k", "k && i >= k"), base, given)
    [words] = said
    assert words.startswith("right for the declared k = 40; with k = 0 it is not: y[0]: ")
    assert _said(judge, base + "//", base, given)[1] == []


@host
def test_only_a_finalist_is_asked(judge: Judge) -> None:
    base = SUMS.replace("BODY", "y[i] = x[i] % k;")
    five = SUMS.replace("BODY", "y[i] = x[i] % 5;")
    assert len(_said(judge, five, base, _given())[1]) == 1
    job = _job(five, base, workload=_given())
    request = {"job": job, "candidate": artifact(five), "baseline": artifact(base)}
    verdict, _, _ = judge.verdict(request, spec.parse(job), 60.0)
    assert limit.apart(verdict["measurement"]["notes"])[0] == ()
    # Without time it is not tried, and says that.
    request["job"] = _job(five, base, workload=_given(), effort="confirm")
    verdict, _, _ = judge.verdict(request, spec.parse(request["job"]), 20.0)
    assert verdict["status"] == "correct", verdict["log"]
    limits, others = limit.apart(verdict["measurement"]["notes"])
    assert limits == ()
    assert any("k, flag not tried" in note for note in others)


class _Failing:
    """A loaded pair whose candidate fails."""

    def __init__(self, error: DeviceError) -> None:
        self._error = error

    def run(self, _combination: Combination, **_terms: Any) -> Run:
        raise self._error


@pytest.mark.parametrize(
    ("error", "words", "lost"),
    [
        (LaunchError("too much shared memory"), "it fails: too much shared memory", False),
        (DeviceError("an illegal address"), "it fails: an illegal address", True),
        (HungError("no end"), "it does not end", True),
        (OutOfMemoryError("no room"), "", False),
    ],
)
def test_what_fails_is_said_and_what_has_no_room_is_not(
    error: DeviceError, words: str, lost: bool, tmp_path: Path
) -> None:
    text = SUMS.replace("BODY", "y[i] = x[i] % k;")
    job = spec.parse(_job(text + "//", text, workload=_given(), effort="confirm"))
    plain = Combination(job.work.cases[0].values, "declared", 5)
    outputs = [{"name": "y", "unordered": False}]
    answers = Answers(job.work, tmp_path, {plain.key: {"outputs": outputs, "seconds": 0.01}})

    def ask(asked: Sequence[Combination]) -> None:
        answers.described |= {one.key: {"outputs": outputs, "seconds": 0.01} for one in asked}

    answers.ask = ask

    def load() -> Session:
        return cast("Session", _Failing(error))

    until = time.monotonic() + 60.0
    found = other_values.check(load, answers, job, [plain], until, Report())
    said = [f"limit: right for the declared k = 5; with k = 4 {words}"] if words else []
    assert found == (said, lost)
    # What is told of another value decides about nothing else.
    assert set(answers.described) == {plain.key}
    # With other orders than the declared one it is not run.
    outputs[0] = {"name": "y", "unordered": True}
    answers.described[plain.key] = {"outputs": [{"name": "y", "unordered": False}]}
    assert other_values.check(load, answers, job, [plain], until, Report()) == ([], False)
