"""Jobs and verdicts cross the wire unchanged, and nothing a liar sends counts."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from optimizer.errors import BaselineError, ConfigError, NoDeviceError, RunnerError
from optimizer.model import (
    Case,
    CaseTimes,
    Check,
    Effort,
    Kernel,
    Kind,
    Launch,
    Measurement,
    Status,
    Verdict,
    Workload,
)
from runners.fault import Fault
from runners.interfaces import Job
from runners.wire import (
    ForgedResponse,
    job_from_json,
    job_to_dict,
    request,
    response,
    unwrap,
    verdict_from_dict,
    verdict_from_json,
    verdict_to_dict,
)

KERNEL = Kernel("k", "__global__ void k() {}", "k.cu", Launch(("n",), ("32",)))
JOB = Job(
    KERNEL,
    KERNEL,
    Workload("w", Kind.KERNEL, "k", cases=(Case({"n": 5.0, "a": 0.5}),)),
    "cuda:0",
    Effort.RACE,
    3,
)
GOOD = Verdict(
    Status.CORRECT,
    Measurement((CaseTimes("n=5", (1.0, 2.0), (2.0, 4.0)),), "NVIDIA H200"),
    {"k/dram__bytes.sum": 1.0},
)


def answer(**changes: Any) -> bytes:
    verdict = verdict_to_dict(GOOD)
    return json.dumps(
        {"id": "1", "nonce": "n", "digest": "d", "verdict": verdict} | changes
    ).encode()


def test_a_job_comes_back_as_it_was() -> None:
    assert job_from_json(json.dumps(job_to_dict(JOB))) == JOB


def test_whole_case_variables_stay_integers_on_the_wire() -> None:
    values = job_to_dict(JOB)["workload"]["cases"][0]["values"]
    assert json.dumps(values) == '{"n": 5, "a": 0.5}'


def test_a_verdict_comes_back_as_it_was() -> None:
    assert verdict_from_json(json.dumps(verdict_to_dict(GOOD))) == GOOD


def test_an_error_without_a_finite_value_crosses_as_none() -> None:
    wrong = Verdict(
        Status.WRONG_RESULT, checks=(Check("oracle", "n=5", passed=False, error=float("nan")),)
    )
    assert verdict_from_dict(verdict_to_dict(wrong)).checks[0].error is None
    raw = '{"status": "wrong result", "checks": [{"layer": "a", "what": "b", "passed": false, "error": Infinity}]}'
    assert verdict_from_json(raw).checks[0].error is None


def test_a_request_is_one_line_with_job_nonce_and_artifacts() -> None:
    line = request("1", "abc", JOB, ({"path": "x"}, None), 30.0)
    assert line.count(b"\n") == 1
    assert line.endswith(b"\n")
    data = json.loads(line)
    assert (data["nonce"], data["candidate"], data["baseline"]) == ("abc", {"path": "x"}, None)
    assert data["job"]["effort"] == "race"


def test_the_answer_to_a_request_is_its_verdict_and_statistics() -> None:
    assert response(answer(stats={"jobs": 3, "junk": "x"}), "1", "n", "d") == (GOOD, {"jobs": 3.0})


@pytest.mark.parametrize(
    "line",
    [
        answer(nonce="guess"),
        answer(id="2"),
        answer(digest="other"),
        answer(verdict=None),
        b"[]",
        b"not json",
        b"[" * 100_000,
        b'{"id": "1", "nonce": "n", "error": 3}',
    ],
)
def test_an_answer_to_another_question_is_refused(line: bytes) -> None:
    with pytest.raises(ForgedResponse):
        response(line, "1", "n", "d")


@pytest.mark.parametrize(
    ("case", "status"),
    [
        ({"candidate_us": [float("nan")], "baseline_us": [1.0]}, "correct"),
        ({"candidate_us": [float("inf")], "baseline_us": [1.0]}, "correct"),
        ({"candidate_us": [0.0], "baseline_us": [1.0]}, "correct"),
        ({"candidate_us": [-1.0], "baseline_us": [1.0]}, "correct"),
        ({"candidate_us": [1.0, 1.0], "baseline_us": [1.0]}, "correct"),
        ({"candidate_us": ["1"], "baseline_us": [1.0]}, "correct"),
        ({"candidate_us": [1.0], "baseline_us": [1.0], "weight": -1}, "correct"),
        ({"candidate_us": [1e-320], "baseline_us": [1.0]}, "correct"),
        ({"candidate_us": [1.0], "baseline_us": [1e308]}, "correct"),
        ({"candidate_us": [1.0], "baseline_us": [1.0], "weight": 1e308}, "correct"),
        ({"candidate_us": [1.0], "baseline_us": [1.0]}, "wrong result"),
        ({"candidate_us": [1.0], "baseline_us": [1.0]}, "splendid"),
    ],
)
def test_impossible_numbers_are_refused(case: dict[str, Any], status: str) -> None:
    data = {"status": status, "measurement": {"cases": [{"name": "c", **case}], "device": "g"}}
    with pytest.raises(ForgedResponse):
        verdict_from_dict(data)


HUGE = 10**400


@pytest.mark.parametrize(
    "changes",
    [
        {"counters": {"k/dram__bytes.sum": 1e308}},
        {"instructions": {"k/FADD": HUGE}},
        {"seconds": {"compile": HUGE}},
        {"resources": {"k": {"registers": HUGE}}},
        {"measurement": {"cases": [], "device": "g", "peak_memory_bytes": -HUGE}},
        {"measurement": {"cases": [], "device": "g", "dropped": HUGE}},
    ],
)
def test_a_number_that_would_overflow_in_what_is_made_of_it_is_refused(
    changes: dict[str, Any],
) -> None:
    with pytest.raises(ForgedResponse):
        verdict_from_dict({"status": "correct"} | changes)


def test_statistics_that_no_float_holds_are_left_out() -> None:
    """One of 400 digits had ended the search with an OverflowError."""
    told = answer(stats={"jobs": 3, "huge": HUGE, "odd": -HUGE})
    assert response(told, "1", "n", "d") == (GOOD, {"jobs": 3.0})


def test_an_error_may_be_as_large_as_an_output() -> None:
    wrong = Verdict(Status.WRONG_RESULT, checks=(Check("a", "b", passed=False, error=1e300),))
    assert verdict_from_dict(verdict_to_dict(wrong)) == wrong


@pytest.mark.parametrize(
    ("kind", "expected"),
    [("BaselineError", BaselineError), ("NoDeviceError", NoDeviceError), ("Nonsense", RunnerError)],
)
def test_a_reported_error_is_raised_as_its_class(kind: str, expected: type[Exception]) -> None:
    line = json.dumps(
        {"id": "1", "nonce": "n", "error": {"type": kind, "message": "m", "remedy": "r"}}
    )
    with pytest.raises(expected, match="m\n  → r"):
        response(line.encode(), "1", "n", "d")


def test_a_fault_of_a_standalone_module_becomes_its_error() -> None:
    with pytest.raises(ConfigError, match="flag"):
        unwrap(Fault("ConfigError", "flag", "drop it"))


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(),
        lambda s: st.lists(s) | st.dictionaries(st.text(), s),
    )
)
def test_no_value_gets_past_except_as_a_verdict(value: object) -> None:
    with pytest.raises(ForgedResponse):
        verdict_from_dict(value)


@given(st.binary())
def test_no_bytes_get_past_as_a_job(data: bytes) -> None:
    with pytest.raises(ConfigError):
        job_from_json(data)
