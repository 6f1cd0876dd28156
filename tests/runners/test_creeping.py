"""Rows whose neighbours are a few last places apart: who rounds each of them loses the steps."""

from __future__ import annotations

import numpy as np
import pytest

from runners import creeping, families, spec, verify
from runners.checks import Report, Wrong
from runners.contents import Combination, Contents
from runners.judge import Judge
from runners.spec import Json
from tests.redteam import once_read
from tests.runners.host_gpu import COMPILER, artifact
from tests.runners.test_inputs import _pointer, _work
from tests.runners.test_judge import _job

LENGTHS = """
extern "C" __global__ void scale(const float* at, float* y, int rows, int cols) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    at += (size_t)r * cols;
    double s = 0;
    STEPS
    y[r] = (float)(1e6 * s);
}
"""
RADIANS = "0.017453292519943295"
STEPS = f"for (int c = 1; c < cols; ++c) s += fabs(sin({RADIANS} * ((double)at[c] - at[c - 1])));"
BACKWARDS = STEPS.replace("int c = 1; c < cols; ++c", "int c = cols - 1; c > 0; --c")
# A float each of them, scaled before the difference; and the difference of two that are doubles.
ROUNDED = STEPS.replace(
    f"{RADIANS} * ((double)at[c] - at[c - 1])",
    f"(double)(float)({RADIANS} * at[c]) - (float)({RADIANS} * at[c - 1])",
)
EACH_SCALED = STEPS.replace(
    f"{RADIANS} * ((double)at[c] - at[c - 1])", f"{RADIANS} * at[c] - {RADIANS} * at[c - 1]"
)
# Of floats near each other a difference is exact, and sums of such have their rounding alone.
IN_FLOATS = f"""
    float t = 0.f, lost = 0.f;
    for (int c = 1; c < cols; ++c) {{
        float one = fabsf(sinf({RADIANS}f * (at[c] - at[c - 1]))) - lost, next = t + one;
        lost = (next - t) - one;
        t = next;
    }}
    s = t;
"""
# What is left of squares of such numbers is the rounding of doubles.
SQUARES = """
    double m = 0;
    for (int c = 0; c < cols; ++c) { m += at[c]; s += (double)at[c] * at[c]; }
    s = sqrt(fabs(s / cols - m / cols * (m / cols)));
"""
OTHER_SQUARES = SQUARES.replace("int c = 0; c < cols; ++c", "int c = cols - 1; c >= 0; --c")
WORK: Json = {
    "arguments": [
        {"name": "at", "type": "const float*", "shape": "rows*cols", "init": "uniform"},
        {"name": "y", "type": "float*", "shape": "rows", "role": "output"},
        {"name": "rows", "type": "int", "value": "rows"},
        {"name": "cols", "type": "int", "value": "cols"},
    ],
    "launch": {"grid": ["(rows+63)/64"], "block": ["64"], "shared": "0", "tunable": False},
    "cases": [{"values": {"rows": 7, "cols": 129}}],
    "tolerance": {"rtol": 3e-5, "atol": 1e-3},
}


def _text(steps: str) -> str:
    return LENGTHS.replace("STEPS", steps)


@pytest.mark.parametrize("kind", ["normal", "uniform"])
def test_neighbours_are_few_last_places_apart(kind: str) -> None:
    work = _work({**_pointer("const float*", kind), "shape": "30*n"}, n=50)
    for family, begin in creeping.BEGINS.items():
        combination = Combination(work.cases[0].values, family, 1)
        data = Contents(work).of(combination)["x"].view("f4").reshape(30, 50)
        places = data.view("i4").astype(np.int64)
        steps = np.diff(places, axis=1)
        assert {*np.ravel(steps).tolist()} == {*range(-3, 4)}
        assert np.all(np.abs(data / begin - 1) < 2.0**-12)
        assert len({*data[:, 0].tolist()}) > 20
        moved = Combination(work.cases[0].values, family + creeping.MOVED, 1)
        assert np.array_equal(Contents(work).of(moved)["x"].view("f4").reshape(30, 50), data)


def test_doubles_are_moved_by_one_rounding_error_where_that_is_asked() -> None:
    work = _work({**_pointer("const float*"), "shape": "n"}, n=50)
    doubles = {"x": np.linspace(1, 2, 50).view(np.uint8)}
    family = next(iter(creeping.BEGINS))
    for same in (family, families.DECLARED, families.DECLARED + creeping.MOVED):
        assert creeping.moved(same, work, doubles, 1) is doubles
    data = creeping.moved(family + creeping.MOVED, work, doubles, 1)["x"].view(np.float64)
    places = data.view(np.int64) - doubles["x"].view(np.int64)
    assert {*np.abs(places).tolist()} <= {1, 2}
    assert {*np.sign(places).tolist()} == {-1, 1}


def test_originals_that_work_in_doubles_are_asked_in_one_case() -> None:
    def found(name: str, checks: str = "confirm") -> list[tuple[str, Json]]:
        extra = once_read.combinations(once_read.parsed(name).work, checks, 1)[1]
        return [(c.family, dict(c.case)) for c in extra if c.family in creeping.FAMILIES]

    case = {"trips": 515.0, "fixes": 37.0}
    assert found("gannet/base") == [(family, case) for family in creeping.BEGINS]
    assert found("gannet/base", "screen") == []
    assert found("ogive/base") == []


def _why(judge: Judge, mine: str, theirs: str) -> tuple[str, int]:
    job = _job(_text(mine), _text(theirs), workload=WORK, effort="confirm")
    request = {"job": job, "candidate": artifact(_text(mine)), "baseline": artifact(_text(theirs))}
    parsed = spec.parse(job)
    middle = parsed.work.cases[0].values
    wanted = [Combination(middle, families.DECLARED, 1)]
    wanted += [Combination(case, kind, 1) for case, kind in creeping.cases(parsed.work, middle)]
    assert len(wanted) == 1 + len(creeping.BEGINS)
    answers = judge._answers(request, parsed, wanted, 60.0)
    asked = [one for one in wanted if one.key in answers.described]
    try:
        session = judge._session(parsed, request)
        verify.verify(session, answers, parsed, asked, Report(), 60.0)
    except Wrong as wrong:
        return str(wrong), len(asked) - 1
    return "", len(asked) - 1


@pytest.mark.skipif(COMPILER is None, reason="g++ is not installed")
@pytest.mark.parametrize(
    ("mine", "right"),
    [(ROUNDED, False), (BACKWARDS, True), (EACH_SCALED, True), (IN_FLOATS, True)],
)
def test_who_rounds_each_of_them_is_refused(judge: Judge, mine: str, *, right: bool) -> None:
    why, asked = _why(judge, mine, STEPS)
    assert asked == len(creeping.BEGINS)
    assert (why == "") == right, why
    assert right or "creeping" in why


@pytest.mark.skipif(COMPILER is None, reason="g++ is not installed")
@pytest.mark.parametrize(
    ("mine", "theirs"), [(OTHER_SQUARES, SQUARES), (STEPS, ROUNDED), (BACKWARDS, ROUNDED)]
)
def test_of_an_original_that_loses_the_steps_nothing_is_asked(
    judge: Judge, mine: str, theirs: str
) -> None:
    assert _why(judge, mine, theirs) == ("", 0)
