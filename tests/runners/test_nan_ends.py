"""NaN at an end of rows shows who begins with the first element, or ends with the last one."""

from __future__ import annotations

import dataclasses

import numpy as np
import numpy.typing as npt
import pytest

from runners import asked, families, nan_ends
from runners.contents import Combination, Contents
from runners.judge import Judge
from runners.run import Run
from runners.spec import BaselineFailure, CaseSpec, Json, Work
from tests.redteam import once_read
from tests.runners.host_gpu import COMPILER
from tests.runners.test_inputs import _pointer, _work
from tests.runners.test_judge import _verdict

LARGEST = """
extern "C" __global__ void scale(const float* x, float* y, int* at, int rows, int cols) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    const float* u = x + (size_t)r * cols;
    float m = BEGIN;
    for (int c = 0; c < cols; ++c) m = CHOICE;
    int high = 0;
    for (int c = 0; c < cols; ++c) high += u[c] > 1.f;
    y[r] = m;
    at[r] = high;
}
"""
WORK: Json = {
    "arguments": [
        {"name": "x", "type": "const float*", "shape": "rows*cols"},
        {"name": "y", "type": "float*", "shape": "rows", "role": "output"},
        {"name": "at", "type": "int*", "shape": "rows", "role": "output"},
        {"name": "rows", "type": "int", "value": "rows"},
        {"name": "cols", "type": "int", "value": "cols"},
    ],
    "launch": {"grid": ["(rows+63)/64"], "block": ["64"], "shared": "0", "tunable": False},
    "cases": [{"values": {"rows": 21, "cols": 133}}, {"values": {"rows": 40, "cols": 300}}],
}
ENDS = (families.NAN_FIRST, families.NAN_LAST)


def _text(begin: str, choice: str) -> str:
    return LARGEST.replace("BEGIN", begin).replace("CHOICE", choice)


ORIGINAL = _text("-INFINITY", "fmaxf(m, u[c])")


def _floats(work: Work, family: str, dtype: str = "f4") -> npt.NDArray[np.float32]:
    return Contents(work).of(Combination(work.cases[0].values, family, 1))["x"].view(dtype)


@pytest.mark.parametrize(("kind", "dtype"), [("float", "f4"), ("half", "f2"), ("double", "f8")])
@pytest.mark.parametrize(("rows", "cols"), [(9, 70), (1, 133), (70, 2)])
def test_one_row_of_four_has_one_at_its_end(kind: str, dtype: str, rows: int, cols: int) -> None:
    work = _work(_pointer(f"const {kind}*", shape="rows*cols"), rows=rows, cols=cols)
    for family, end, first in zip(ENDS, (0, cols - 1), (0, (rows - 1) % 4), strict=True):
        data = _floats(work, family, dtype).reshape(rows, cols)
        where = np.argwhere(np.isnan(data)).tolist()
        assert where == [[row, end] for row in range(first, rows, 4)]
        rest = ~np.isnan(data)
        declared = _floats(work, families.DECLARED, dtype).reshape(rows, cols)
        assert np.array_equal(data[rest], declared[rest])


def test_of_what_is_no_product_the_array_is_the_row() -> None:
    for shape, family, place in (("n+3", ENDS[0], 0), ("n+3", ENDS[1], 92), ("3*n", ENDS[1], 269)):
        work = _work(_pointer(shape=shape), n=90)
        assert np.flatnonzero(np.isnan(_floats(work, family)))[-1 if place else 0] == place


def test_constants_coefficients_and_whole_numbers_stay() -> None:
    for init, kind, shape in (
        ("zeros", "float*", "n"),
        ("sorted", "float*", "n"),
        ("normal", "int*", "n"),
    ):
        work = _work(_pointer(kind, init, shape), n=900)
        for family in ENDS:
            assert np.array_equal(_floats(work, family), _floats(work, families.DECLARED))
    short = {**_pointer("const float*", shape="9"), "name": "w"}
    work = _work(_pointer(), short, n=900)
    made = Contents(work).of(Combination(work.cases[0].values, families.NAN_FIRST, 1))
    assert not np.isnan(made["w"].view("f4")).any()


def test_a_confirmation_asks_originals_that_have_the_number_of_two() -> None:
    work = dataclasses.replace(_work(_pointer(), n=1000), calls=(asked.CHOICE,))
    work = dataclasses.replace(work, cases=(*work.cases, CaseSpec({"n": 90_000.0})))

    def found(work: Work, checks: str) -> list[tuple[str, float]]:
        extra = once_read.combinations(work, checks, 5)[1]
        return [(c.family, c.case["n"]) for c in extra if c.family in ENDS]

    assert found(work, "confirm") == [(f, n) for n in (1000.0, 90_000.0) for f in ENDS]
    assert found(work, "screen") == []
    assert found(dataclasses.replace(work, calls=()), "confirm") == []
    assert asked.CHOICE in once_read.parsed("hullbox/seeded").work.calls


@pytest.mark.skipif(COMPILER is None, reason="g++ is not installed")
@pytest.mark.parametrize(
    ("begin", "choice", "shown"),
    [
        ("u[0]", "u[c] > m ? u[c] : m", families.NAN_FIRST),
        ("fmaxf(u[cols - 1], u[0])", "c < cols - 1 && u[c] > m ? u[c] : m", ""),
        ("u[cols - 1]", "u[c] > m ? u[c] : m", families.NAN_LAST),
        ("-INFINITY", "u[c] > m ? u[c] : m", ""),
        # A number in place of an infinity that an original names (`runners.all_infinite`).
        ("-3e38f", "m < u[c] ? u[c] : m", families.BELOW_ALL),
        ("u[0]", "fmaxf(u[c], m)", ""),
    ],
)
def test_who_begins_with_an_element_has_nothing_where_that_is_nan(
    judge: Judge, begin: str, choice: str, shown: str
) -> None:
    verdict = _verdict(judge, _text(begin, choice), ORIGINAL, workload=WORK, effort="confirm")
    assert (verdict["status"] == "correct") == (not shown), verdict["log"]
    if shown:
        assert shown in verdict["log"]


@pytest.mark.skipif(COMPILER is None, reason="g++ is not installed")
def test_an_original_that_begins_so_itself_asks_nothing(judge: Judge) -> None:
    """It has NaN, or another place among whole numbers, and others have others."""
    mine, theirs = ORIGINAL, _text("u[0] + 0 * fmaxf(m, m)", "u[c] > m ? u[c] : m")
    theirs = theirs.replace("float m = ", "float m = 0; m = ")
    verdict = _verdict(judge, mine, theirs, workload=WORK, effort="confirm")
    assert verdict["status"] == "correct", verdict["log"]


def _run(y: list[float], at: list[int]) -> Run:
    outputs = {"y": np.array(y, "f4").view(np.uint8), "at": np.array(at, "i4").view(np.uint8)}
    return Run(outputs, None, 0.0, 0)  # type: ignore[arg-type]


def _outputs() -> Work:
    two = [{**_pointer(shape="2"), "name": "y"}, {**_pointer("int*", shape="2"), "name": "at"}]
    return _work(_pointer(), *({**one, "role": "output"} for one in two), n=9)


def test_where_everything_depends_on_a_nan_nothing_is_asked() -> None:
    work, plain = _outputs(), _run([1.0, 2.0], [3, 4])
    case = work.cases[0].values
    for y, at in (([1.0, np.nan], [3, 4]), ([1.0, 2.5], [3, 5]), ([np.nan, np.inf], [9, 4])):
        nan_ends.defined(work, case, _run(y, at), [plain])
    with pytest.raises(BaselineFailure, match="nothing tells"):
        nan_ends.defined(work, case, plain, [])
    with pytest.raises(BaselineFailure, match="everything"):
        nan_ends.defined(work, case, _run([np.nan, 7.0], [9, 9]), [plain])
    # What one of the numbers in its place changes depends on it.
    with pytest.raises(BaselineFailure, match="everything"):
        nan_ends.defined(work, case, plain, [plain, _run([3.0, 3.0], [5, 5])])


def test_what_depends_on_a_nan_is_not_asked() -> None:
    """Which of two bounds a NaN becomes is the order in which they are asked."""
    work = _outputs()
    _, number, place = work.arguments
    first, other = _run([1.0, np.nan], [1, 5]), _run([1.0, 4.0], [1, 4])
    for argument in (number, place):
        one = argument.type.fields[0]
        marks = nan_ends.depends(argument, one, first, [other, first])
        assert marks.tolist() == [False, argument is place]
    marks = np.array([False, True])
    assert np.isnan(
        nan_ends.unasked(np.array([1, 5], np.float32), marks, number.type.fields[0])
    ).tolist() == [
        False,
        True,
    ]
    places = np.array([1, 5], np.int32)
    assert nan_ends.unasked(places, marks, place.type.fields[0]) is places


def test_of_as_many_results_as_elements_each_may_be_made_of_its_own() -> None:
    work, runs = _outputs(), [_run([], [])] * 4
    assert len(nan_ends.plain(work, work.arguments[1], {"n": 9.0}, runs)) == nan_ends.FOR_ALL
    assert len(nan_ends.plain(work, work.arguments[1], {"n": 2.0}, runs)) == len(runs)
    work = _work(_pointer(), {**_pointer(init="uniform"), "name": "u"}, n=90)
    families_, case = nan_ends.without(families.NAN_FIRST), work.cases[0].values
    first = [Contents(work).of(Combination(case, one, 1)) for one in families_]
    seen = [float(made["x"].view("f4")[0]) for made in first]
    assert seen == [seen[0], -seen[0], nan_ends.FAR, -nan_ends.FAR]
    shares = [float(made["u"].view("f4")[0]) for made in first]
    assert shares == pytest.approx([shares[0], 1 - shares[0], 1.0, 0.0])


CUT = """
extern "C" __global__ void scale(const float* x, float* y, int* at, int rows, int cols) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    const float* u = x + (size_t)r * cols;
    y[r] = CUT;
    at[r] = CUT * 8;
}
"""


@pytest.mark.skipif(COMPILER is None, reason="g++ is not installed")
def test_either_order_of_two_bounds_is_right(judge: Judge) -> None:
    theirs = CUT.replace("CUT", "fminf(fmaxf(u[0], -1.f), 1.f)")
    mine = CUT.replace("CUT", "fmaxf(fminf(u[0], 1.f), -1.f)")
    verdict = _verdict(judge, mine, theirs, workload=WORK, effort="confirm")
    assert verdict["status"] == "correct", verdict["log"]
    assert families.NAN_FIRST in {check["what"] for check in verdict["checks"]}
