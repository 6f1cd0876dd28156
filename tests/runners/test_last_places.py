"""Floats a few last places apart: a variance as a difference of squares is nothing but rounding."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from runners import asked, families, last_places
from runners.contents import Combination, Contents
from runners.judge import Judge
from runners.run import Run
from runners.spec import BaselineFailure, Json
from tests.redteam import once_read
from tests.runners.host_gpu import COMPILER
from tests.runners.test_inputs import _pointer, _work
from tests.runners.test_judge import _verdict

STANDARD = """
extern "C" __global__ void scale(const float* x, float* y, int rows, int cols) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    const float* in = x + (size_t)r * cols;
    double m = 0, v = 0;
    MOMENTS
    double scale = 1.0 / sqrt(v + 1e-5);
    for (int c = 0; c < cols; ++c) y[(size_t)r * cols + c] = (float)((in[c] - m) * scale);
}
"""
TWICE = """
    for (int c = 0; c < cols; ++c) m += in[c];
    m /= cols;
    for (int c = 0; c < cols; ++c) v += (in[c] - m) * (in[c] - m);
    v /= cols;
"""
SQUARES = """
    for (int c = 0; c < cols; ++c) { m += in[c]; v += (double)in[c] * in[c]; }
    m /= cols;
    v = v / cols - m * m;
    if (v < 0) v = 0;
"""
OTHER_SQUARES = SQUARES.replace("int c = 0; c < cols; ++c", "int c = cols - 1; c >= 0; --c")
BACKWARDS = TWICE.replace("int c = 0; c < cols; ++c", "int c = cols - 1; c >= 0; --c")
FROM_FIRST = """
    for (int c = 0; c < cols; ++c) { double d = (double)in[c] - in[0]; m += d; v += d * d; }
    m /= cols;
    v = v / cols - m * m;
    m += in[0];
"""
RUNNING = """
    for (int c = 0; c < cols; ++c) { double d = in[c] - m; m += d / (c + 1); v += d * (in[c] - m); }
    v /= cols;
"""
WORK: Json = {
    "arguments": [
        {"name": "x", "type": "const float*", "shape": "rows*cols"},
        {"name": "y", "type": "float*", "shape": "rows*cols", "role": "output"},
        {"name": "rows", "type": "int", "value": "rows"},
        {"name": "cols", "type": "int", "value": "cols"},
    ],
    "launch": {"grid": ["(rows+63)/64"], "block": ["64"], "shared": "0", "tunable": False},
    "cases": [{"values": {"rows": 5, "cols": 703}}],
}


def text(moments: str) -> str:
    return STANDARD.replace("MOMENTS", moments)


@pytest.mark.parametrize("family", [families.LAST_PLACES, last_places.ELSEWHERE])
def test_they_are_floats_and_a_few_steps_apart(family: str) -> None:
    work = _work(_pointer(), n=3000)
    data = Contents(work).of(Combination(work.cases[0].values, family, 1))["x"].view("f4")
    offset = last_places.OFFSETS[family != families.LAST_PLACES]
    steps = (data.astype(np.float64) - offset) / last_places.STEP
    assert {*steps.tolist()} == {*range(-4, 5)}
    assert np.spacing(data).tolist() == [last_places.STEP] * len(data)


@pytest.mark.parametrize(
    ("kind", "init"),
    [("half*", "normal"), ("float*", "uniform"), ("float*", "sorted"), ("int*", "normal")],
)
def test_others_stay(kind: str, init: str) -> None:
    work = _work(_pointer(kind, init), n=300)
    declared, near = (
        Contents(work).of(Combination(work.cases[0].values, one, 1))["x"]
        for one in (families.DECLARED, families.LAST_PLACES)
    )
    assert np.array_equal(declared, near)


def test_originals_that_work_in_doubles_and_take_no_exponentials_are_asked_once() -> None:
    def found(name: str, checks: str = "confirm") -> list[float]:
        work = once_read.parsed(name).work
        extra = once_read.combinations(work, checks, 1)[1]
        return [one.case["n"] for one in extra if one.family == families.LAST_PLACES]

    assert found("zscored/one_sweep") == [1003.0]
    assert found("zscored/one_sweep", "screen") == []
    assert found("hullbox/seeded") == []
    single, half, double = (
        _work(_pointer(), {**_pointer(kind), "name": "y", "role": "output"}, n=1000)
        for kind in ("float*", "half*", "double*")
    )
    for work, calls, many in (
        (single, (), 1),
        (half, (), 1),
        (single, (asked.EXPONENTIAL,), 0),
        # In these any other order of steps shows, and nothing tells by how much it may.
        (double, (), 0),
    ):
        precise = dataclasses.replace(work, precise=True, calls=calls)
        extra = once_read.combinations(precise, "confirm", 1)[1]
        assert [one.family for one in extra].count(families.LAST_PLACES) == many


@pytest.mark.skipif(COMPILER is None, reason="g++ is not installed")
@pytest.mark.parametrize(
    ("mine", "right"),
    [(SQUARES, False), (BACKWARDS, True), (FROM_FIRST, True), (RUNNING, True)],
)
def test_a_difference_of_squares_is_shown(judge: Judge, mine: str, *, right: bool) -> None:
    verdict = _verdict(judge, text(mine), text(TWICE), workload=WORK, effort="confirm")
    assert (verdict["status"] == "correct") == right, verdict["log"]
    if right:
        assert families.LAST_PLACES in {check["what"] for check in verdict["checks"]}
    else:
        # Rows that go on by last places show it as well, if these come first.
        assert any(one in verdict["log"] for one in (families.LAST_PLACES, "creeping"))


@pytest.mark.skipif(COMPILER is None, reason="g++ is not installed")
@pytest.mark.parametrize("mine", [OTHER_SQUARES, TWICE])
def test_of_an_original_that_takes_such_a_difference_nothing_is_asked(
    judge: Judge, mine: str
) -> None:
    """What it has left is its own order's rounding."""
    verdict = _verdict(judge, text(mine), text(SQUARES), workload=WORK, effort="confirm")
    assert verdict["status"] == "correct", verdict["log"]
    assert families.LAST_PLACES not in {check["what"] for check in verdict["checks"]}


def _run(data: list[float], kind: str = "f4") -> Run:
    return Run({"y": np.array(data, kind).view(np.uint8)}, None, 0.0, 0)  # type: ignore[arg-type]


def test_what_an_offset_changes_by_more_than_itself_is_not_asked() -> None:
    work = _work({**_pointer(shape="2"), "name": "y", "role": "output"}, n=2)
    apart = last_places.OFFSETS[1] - last_places.OFFSETS[0]
    last_places.defined(work, _run([1.0, 2.0]), [_run([1.0, 2.0000002])])
    last_places.defined(work, _run([5.0, 8.0]), [_run([5 + apart, 8 + apart])])
    for other in ([1.0, 2.00001], [1.0, np.nan], [1.0, 2 + apart]):
        with pytest.raises(BaselineFailure, match="depends"):
            last_places.defined(work, _run([1.0, 2.0]), [_run(other)])
    with pytest.raises(BaselineFailure, match="nothing tells"):
        last_places.defined(work, _run([1.0, 2.0]), [])
    whole = _work({**_pointer("int*", shape="2"), "name": "y", "role": "output"}, n=2)
    last_places.defined(whole, _run([1, 2], "i4"), [_run([1, 2], "i4")])
    with pytest.raises(BaselineFailure, match="depends"):
        last_places.defined(whole, _run([1, 2], "i4"), [_run([1, 3], "i4")])
