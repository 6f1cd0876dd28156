"""An offset that all floats have in common: signed sums of what cancels are wrong by its rounding."""

from __future__ import annotations

import numpy as np
import pytest

from runners import common_offset, families, spec, verify
from runners.checks import Report, Wrong
from runners.contents import Combination, Contents
from runners.judge import Judge
from runners.spec import Json
from tests.redteam import once_read
from tests.runners.host_gpu import COMPILER, artifact
from tests.runners.test_inputs import _pointer, _work
from tests.runners.test_judge import _job

ROWS = """
extern "C" __global__ void scale(const float* x, float* y, int rows, int cols) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    x += (size_t)r * cols;
    STEPS
}
"""
PAIRS = """
    float s = 0.f;
    for (int i = 0; i < cols; ++i) {
        float part = 0.f;
        for (int j = i + 1; j < cols; ++j) part += fabsf(x[i] - x[j]);
        s += part;
    }
    y[r] = s / ((float)cols * (float)cols);
"""
BACKWARDS = """
    float s = 0.f;
    for (int i = cols - 1; i >= 0; --i)
        for (int j = 0; j < i; ++j) s += fmaxf(x[i], x[j]) - fminf(x[i], x[j]);
    y[r] = s / ((float)cols * (float)cols);
"""
# Each number as often as it is the larger of two, less as often as it is the lesser.
WEIGHTS = """
    float s = 0.f;
    for (int i = 0; i < cols; ++i) {
        int weight = 0;
        for (int j = 0; j < cols; ++j) weight += (x[j] < x[i]) - (x[j] > x[i]);
        s += (float)weight * x[i];
    }
    y[r] = s / ((float)cols * (float)cols);
"""
FROM_FIRST = WEIGHTS.replace("weight * x[i]", "weight * (x[i] - x[0])")
# A sum of squares about a mean that is rounded itself; and as a difference of squares.
SPREAD = """
    float m = 0.f, s = 0.f;
    for (int i = 0; i < cols; ++i) m += x[i];
    m /= cols;
    for (int i = 0; i < cols; ++i) s += (x[i] - m) * (x[i] - m);
    y[r] = s / cols;
"""
SQUARES = """
    float m = 0.f, s = 0.f;
    for (int i = 0; i < cols; ++i) { m += x[i]; s += x[i] * x[i]; }
    y[r] = s / cols - m / cols * (m / cols);
"""
MEAN = "float s = 0.f; for (int i = 0; i < cols; ++i) s += x[i]; y[r] = s / cols;"
# Steps of the second order, written in two ways.
BENDS = """
    float s = 0.f;
    for (int i = 1; i + 1 < cols; ++i) s += fabsf((x[i + 1] - x[i]) - (x[i] - x[i - 1]));
    y[r] = s;
"""
LAPLACE = BENDS.replace("(x[i + 1] - x[i]) - (x[i] - x[i - 1])", "x[i + 1] + x[i - 1] - 2.f * x[i]")
WORK: Json = {
    "arguments": [
        {"name": "x", "type": "const float*", "shape": "rows*cols"},
        {"name": "y", "type": "float*", "shape": "rows", "role": "output"},
        {"name": "rows", "type": "int", "value": "rows"},
        {"name": "cols", "type": "int", "value": "cols"},
    ],
    "launch": {"grid": ["(rows+63)/64"], "block": ["64"], "shared": "0", "tunable": False},
    "cases": [{"values": {"rows": 37, "cols": 33}}],
    "tolerance": {"rtol": 1e-4, "atol": 1e-6},
}


def _text(steps: str) -> str:
    return ROWS.replace("STEPS", steps)


@pytest.mark.parametrize("kind", ["normal", "uniform"])
def test_a_dozen_are_added_without_an_error_and_every_second_row_is_one_number(kind: str) -> None:
    work = _work({**_pointer("const float*", kind), "shape": "30*n"}, n=50)
    made = [
        Contents(work).of(Combination(work.cases[0].values, one, 1))["x"].view("f4")
        for one in (families.COMMON_OFFSET, common_offset.ELSEWHERE)
    ]
    for data, offset in zip(made, common_offset.OFFSETS, strict=True):
        steps = data.astype(np.float64).reshape(30, 50) - offset
        assert {*np.ravel(steps).tolist()} == {*range(-4, 5)}
        assert np.all(steps[1::2] == steps[1::2, :1])
        assert len({*steps[1::2, 0].tolist()}) > 3
        assert np.all(np.ptp(steps[::2], axis=1) > 0)
        assert 12 * np.max(data) < 2**24
    # The steps are the same, whatever they are taken from.
    assert np.ptp(made[0].astype(np.float64) - made[1]) == 0


def test_originals_of_floats_are_asked_in_a_small_case_and_in_longer_rows() -> None:
    def found(name: str, checks: str = "confirm") -> list[dict[str, float]]:
        extra = once_read.combinations(once_read.parsed(name).work, checks, 1)[1]
        return [dict(c.case) for c in extra if c.family == families.COMMON_OFFSET]

    assert found("ogive/base") == [{"n": 307.0, "m": 33.0}, {"n": 307.0, "m": 401.0}]
    assert found("ogive/base", "screen") == []
    # Rows that are as long as wanted have too many elements there, beside as many stations.
    short, long = {"stations": 509.0, "members": 17.0}, {"stations": 509.0, "members": 205.0}
    assert found("ensemble/base") == [short, long]
    # What is not twice as long as the smallest case's rows shows no more than these.
    assert found("zenith/base") == [{"n": 1001.0}]
    # One works in doubles, one takes exponentials, one has nothing but whole numbers.
    assert [found(name) for name in ("gannet/base", "sinkattn/base", "plumb/base")] == [[], [], []]


def _why(
    judge: Judge, mine: str, theirs: str, work: Json = WORK, cols: tuple[int, int] = (33, 527)
) -> tuple[str, int]:
    job = _job(_text(mine), _text(theirs), workload=work, effort="confirm")
    request = {"job": job, "candidate": artifact(_text(mine)), "baseline": artifact(_text(theirs))}
    parsed = spec.parse(job)
    middle = parsed.work.cases[0].values
    wanted = [Combination(middle, families.DECLARED, 1)]
    cases = common_offset.cases(parsed.work, middle)
    assert tuple(case["cols"] for case in cases) == cols
    wanted += [Combination(case, families.COMMON_OFFSET, 1) for case in cases]
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
    ("mine", "theirs", "right"),
    [
        (WEIGHTS, PAIRS, False),
        (BACKWARDS, PAIRS, True),
        (FROM_FIRST, PAIRS, True),
        (LAPLACE, BENDS, True),
        (BENDS, LAPLACE, True),
    ],
)
def test_what_cancels_on_paper_is_shown(
    judge: Judge, mine: str, theirs: str, *, right: bool
) -> None:
    why, asked = _why(judge, mine, theirs)
    assert asked == 2
    assert (why == "") == right, why
    assert right or "common-offset inputs" in why


@pytest.mark.skipif(COMPILER is None, reason="g++ is not installed")
@pytest.mark.parametrize(("mine", "right"), [(WEIGHTS, False), (BACKWARDS, True)])
def test_what_is_exact_in_short_rows_is_shown_in_the_longest_that_there_are(
    judge: Judge, mine: str, *, right: bool
) -> None:
    """Signed sums of five numbers have digits to spare, and rows of 256 would be too many."""
    work = {**WORK, "cases": [{"values": {"rows": 3000, "cols": 5}}]}
    why, asked = _why(judge, mine, PAIRS, work, (5, 69))
    assert asked == 2
    assert (why == "") == right, why
    assert right or "cols=69, common-offset inputs" in why


@pytest.mark.skipif(COMPILER is None, reason="g++ is not installed")
@pytest.mark.parametrize(
    ("mine", "theirs"), [(SQUARES, SPREAD), (SPREAD, SQUARES), (PAIRS, WEIGHTS), (MEAN, MEAN)]
)
def test_of_an_original_that_loses_digits_or_keeps_the_offset_nothing_is_asked(
    judge: Judge, mine: str, theirs: str
) -> None:
    """What it has left is its own order's rounding."""
    assert _why(judge, mine, theirs) == ("", 0)
