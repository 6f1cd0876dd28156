"""A NaN behind infinities shows who goes on no further than the largest number there is."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from runners import asked, families, oracle
from runners.contents import Combination, Contents
from runners.judge import Judge
from runners.spec import CaseSpec, Json, Work
from tests.runners.host_gpu import COMPILER
from tests.runners.test_inputs import _pointer, _work
from tests.runners.test_judge import _verdict

PLACE = """
extern "C" __global__ void scale(const float* x, int* y, int rows, int cols) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    const float* u = x + (size_t)r * cols;
    int at = 0;
    for (int c = 0; c < cols; ++c) {
        if (isnan(u[c])) { at = c; break; }
        if (fabsf(u[c]) > fabsf(u[at])) at = c;
        ENDS
    }
    y[r] = at;
}
"""
WORK: Json = {
    "arguments": [
        {"name": "x", "type": "const float*", "shape": "rows*cols"},
        {"name": "y", "type": "int*", "shape": "rows", "role": "output"},
        {"name": "rows", "type": "int", "value": "rows"},
        {"name": "cols", "type": "int", "value": "cols"},
    ],
    "launch": {"grid": ["(rows+63)/64"], "block": ["64"], "shared": "0", "tunable": False},
    "cases": [{"values": {"rows": 60, "cols": 300}}, {"values": {"rows": 40, "cols": 133}}],
}
SOURCE = PLACE.replace("isnan", "std::isnan")


def _floats(work: Work, seed: int, dtype: str = "f4") -> np.ndarray:
    made = Contents(work).of(Combination(work.cases[0].values, families.NAN_BEHIND, seed))
    return made["x"].view(dtype)


@pytest.mark.parametrize(("kind", "dtype"), [("float", "f4"), ("half", "f2"), ("double", "f8")])
def test_a_quarter_is_infinite_of_both_signs_and_few_are_nan(kind: str, dtype: str) -> None:
    data = _floats(_work(_pointer(f"const {kind}*"), n=30_000), 1, dtype)
    assert 0.23 < np.isinf(data).mean() < 0.27
    assert 0.45 < (data[np.isinf(data)] > 0).mean() < 0.55
    assert 15 <= np.isnan(data).sum() <= 20


@pytest.mark.parametrize("count", [5, 100, 1499])
def test_short_arrays_have_one_behind_their_first_third(count: int) -> None:
    for seed in range(9):
        where = np.flatnonzero(np.isnan(_floats(_work(_pointer(), n=count), seed)))
        assert len(where) == 1
        assert where[0] >= count // 3


def test_shares_have_none_below_zero_and_constants_stay() -> None:
    data = _floats(_work(_pointer(init="uniform"), n=3000), 1)
    assert np.isinf(data).any()
    assert not (data < 0).any()
    assert not _floats(_work(_pointer(init="zeros"), n=3000), 1).any()


def test_a_confirmation_asks_who_asks_for_nan_in_one_case() -> None:
    work = dataclasses.replace(_work(_pointer(), n=1000), asks=(asked.NAN,))
    work = dataclasses.replace(work, cases=(*work.cases, CaseSpec({"n": 90_000.0})))

    def found(work: Work, checks: str) -> list[float]:
        extra = oracle.combinations(work, checks, 5)[1]
        return [c.case["n"] for c in extra if c.family == families.NAN_BEHIND]

    assert found(work, "confirm") == [1000.0]
    assert found(work, "screen") == []
    assert found(dataclasses.replace(work, asks=(asked.INFINITY,)), "confirm") == []
    assert found(dataclasses.replace(work, asks=()), "confirm") == []


def test_little_is_promised_there() -> None:
    """A float that is infinite or NaN in the original may be anything that is odd."""
    assert families.NAN_BEHIND in families.STRESS & families.NOT_FINITE
    assert families.NAN_BEHIND not in families.ASKED


@pytest.mark.skipif(COMPILER is None, reason="g++ is not installed")
@pytest.mark.parametrize(
    ("ends", "right"),
    [("if (fabsf(u[at]) > 3.4e38f) break;", False), ("if (cols < 0) break;", True)],
)
def test_who_stops_at_an_infinity_misses_a_nan(judge: Judge, ends: str, *, right: bool) -> None:
    mine, theirs = SOURCE.replace("ENDS", ends), SOURCE.replace("ENDS", "")
    verdict = _verdict(judge, mine, theirs, workload=WORK, effort="confirm")
    assert (verdict["status"] == "correct") == right, verdict["log"]
    if not right:
        assert families.NAN_BEHIND in verdict["log"]
    else:
        assert families.NAN_BEHIND in {check["what"] for check in verdict["checks"]}
