"""Arrays that are infinite throughout: who begins at a number, and who takes an element from itself."""

from __future__ import annotations

import numpy as np
import pytest

from runners import all_infinite, extremes, spec
from runners.contents import Combination, Contents
from runners.families import ABOVE_ALL, BELOW_ALL, COMPARED, LONE, THROUGHOUT
from runners.judge import Judge
from runners.spec import BaselineFailure, Json
from tests.redteam import once_read
from tests.runners.host_gpu import COMPILER
from tests.runners.test_judge import _job, _verdict

host = pytest.mark.skipif(COMPILER is None, reason="g++ is not installed")

# The second highest of a row, or a limit where that is higher; nothing where the highest is below.
BIDS = """
extern "C" __global__ void scale(
    const float* bid, const float* least, int* who, float* price, int rows, int cols) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    float best = BEGIN, next = BEGIN;
    int at = -1;
    for (int c = 0; c < cols; ++c) {
        float v = bid[(size_t)r * cols + c];
        if (FIRST) { next = best; best = v; at = c; }
        else if (v > next) next = v;
    }
    bool sold = at >= 0 && best >= least[r];
    who[r] = sold ? at : -1;
    price[r] = sold ? (next > least[r] ? next : least[r]) : 0.f;
}
"""
INFINITE, NUMBER = "-INFINITY", "-3.4028235e38f"
FIRST, ABOVE, EQUALS = "at < 0 || v > best", "v > best", "v > best || (v == best && at < 0)"
AUCTION: Json = {
    "arguments": [
        {"name": "bid", "type": "const float*", "shape": "rows*cols"},
        {"name": "least", "type": "const float*", "shape": "rows"},
        {"name": "who", "type": "int*", "shape": "rows", "role": "output"},
        {"name": "price", "type": "float*", "shape": "rows", "role": "output"},
        {"name": "rows", "type": "int", "value": "rows"},
        {"name": "cols", "type": "int", "value": "cols"},
    ],
    "launch": {"grid": ["(rows+63)/64"], "block": ["64"], "shared": "0", "tunable": False},
    "cases": [{"values": {"rows": 37, "cols": 19}}],
}
# Distances of all pairs of a row, each pair once.
PAIRS = """
extern "C" __global__ void scale(const float* x, float* y, int rows, int cols) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    const float* row = x + (size_t)r * cols;
    float sum = 0.f;
    for (int i = 0; i < cols; ++i)
        for (int j = FROM; j < cols; ++j) sum += fabsf(row[i] - row[j]);
    y[r] = PART;
}
"""
ONCE, HALF, REPEATED = ("i + 1", "sum"), ("0", "0.5f * sum"), ("i", "sum")
SPREAD: Json = {
    **AUCTION,
    "arguments": [
        {"name": "x", "type": "const float*", "shape": "rows*cols"},
        {"name": "y", "type": "float*", "shape": "rows", "role": "output"},
        *AUCTION["arguments"][4:],
    ],
    "tolerance": {"rtol": 1e-4, "atol": 1e-5},
}


def _bids(begin: str = INFINITE, first: str = FIRST) -> str:
    return BIDS.replace("BEGIN", begin).replace("FIRST", first)


def _pairs(begin: str, part: str) -> str:
    return PAIRS.replace("FROM", begin).replace("PART", part)


def _work(text: str, workload: Json) -> spec.Work:
    return spec.parse(_job(text + "// another\n", text, workload=workload, effort="confirm")).work


def test_only_who_begins_at_an_infinity_and_compares_is_asked() -> None:
    """And sums of what is not multiplied; what exponentials are taken of is neither."""
    assert _work(_bids(), AUCTION).throughout == ("bid", "least")
    assert _work(_bids(NUMBER), AUCTION).throughout == ()
    assert _work(_bids().replace("= v;", "= v + 1.f;"), AUCTION).throughout == ("least",)
    assert _work(_pairs(*ONCE), SPREAD).summed == ("x",)
    squares = _pairs(*ONCE).replace("row[i] - row[j]", "row[i] * row[j]")
    assert _work(squares, SPREAD).summed == ()
    least = _pairs(*ONCE).replace("sum += ", "sum = fminf(sum, ").replace("row[j]);", "row[j]));")
    assert _work(least, SPREAD).summed == ()
    assert extremes.chosen("", "f", [0]) == extremes.summed("", "f", [0]) == ()


def test_one_array_at_a_time_is_infinite_and_then_all_are() -> None:
    work = _work(_bids(), AUCTION)
    case = {"rows": 37.0, "cols": 19.0}
    contents = Contents(work)
    plain = contents.of(Combination(case, "declared", 1))
    for family in sorted(COMPARED):
        kind, _, number = family.partition(" ")
        made = contents.of(Combination(case, family, 1))
        infinity = np.inf if kind == ABOVE_ALL else -np.inf
        for place, name in enumerate(("bid", "least")):
            data = made[name].view("f4")
            if number in {"", str(place)}:
                assert (data == infinity).all()
            else:
                assert np.array_equal(data, plain[name].view("f4"))


def test_a_case_as_declared_and_each_size_at_one_are_asked() -> None:
    middle = {"rows": 37.0, "cols": 19.0}
    one = [{"rows": 1.0, "cols": 19.0}, {"rows": 37.0, "cols": 1.0}]
    found = list(all_infinite.asked(_work(_bids(), AUCTION), middle))
    every = [f"{kind}{which}" for which in (" 0", " 1", "") for kind in (BELOW_ALL, ABOVE_ALL)]
    assert found == [(case, family) for case in (middle, *one) for family in every]
    found = list(all_infinite.asked(_work(_pairs(*ONCE), SPREAD), middle))
    assert found == [(case, LONE) for case in one]
    assert not list(all_infinite.asked(_work(_bids(NUMBER), AUCTION), middle))


def test_few_are_asked() -> None:
    """It is nothing for most; what is asked of more has one small case a size."""
    found = {}
    for name in ("gavel/base", "ogive/base", "softmax/base", "gemv/base", "argmax/base"):
        job = once_read.parsed(name)
        every = once_read.combinations(job.work, "confirm", 1)[1]
        found[name] = sum(one.family in THROUGHOUT for one in every)
        screened = once_read.combinations(job.work, "screen", 1)[1]
        assert not any(one.family in THROUGHOUT for one in screened)
    assert found.pop("gavel/base") == 18
    assert found.pop("ogive/base") == 2
    assert not any(found.values())


def test_a_number_that_is_not_chosen_says_nothing() -> None:
    given = np.array([1.5, np.inf])
    all_infinite.defined(np.array([0.0, np.inf, np.nan, 1.5]), given, "y")
    with pytest.raises(BaselineFailure, match="y is 2 of infinities"):
        all_infinite.defined(np.array([2.0]), given, "y")


@host
@pytest.mark.parametrize(
    ("begin", "first", "status"),
    [
        (INFINITE, FIRST, "correct"),
        (NUMBER, FIRST, "wrong result"),
        (NUMBER, EQUALS, "wrong result"),
        # Another place among elements that are all alike.
        (INFINITE, FIRST + " || (v == best && v == -INFINITY)", "correct"),
    ],
)
def test_a_number_in_place_of_an_infinity_is_refused(
    judge: Judge, begin: str, first: str, status: str
) -> None:
    mine = _bids(begin, first) + "// another\n"
    verdict = _verdict(judge, mine, _bids(), workload=AUCTION, effort="confirm")
    assert verdict["status"] == status, verdict["log"]
    log = verdict["log"] or ""
    # Infinities among other values show it too, if these come first.
    kinds = (*COMPARED, "special")
    assert status == "correct" or any(f", {one} inputs" in log for one in kinds), log


@host
@pytest.mark.parametrize(
    ("pairs", "status"),
    [(HALF, "wrong result"), (REPEATED, "wrong result"), (ONCE, "correct")],
)
def test_what_is_taken_from_itself_is_refused_where_there_is_nothing_to_add(
    judge: Judge, pairs: tuple[str, str], status: str
) -> None:
    mine = _pairs(*pairs) + "// another\n"
    verdict = _verdict(judge, mine, _pairs(*ONCE), workload=SPREAD, effort="confirm")
    assert verdict["status"] == status, verdict["log"]
    assert status == "correct" or f", {LONE} inputs" in verdict["log"]


# The least of a row, and where it is.
LEAST = """
extern "C" __global__ void scale(const float* x, int* at, float* y, int rows, int cols) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    const float* row = x + (size_t)r * cols;
    float best = BEGIN;
    int where = PLACE;
    for (int c = 0; c < cols; ++c)
        if (row[c] < best) { best = row[c]; where = c; }
    y[r] = best;
    at[r] = where;
}
"""
LEASTS: Json = {
    **AUCTION,
    "arguments": [
        {"name": "x", "type": "const float*", "shape": "rows*cols"},
        {"name": "at", "type": "int*", "shape": "rows", "role": "output"},
        {"name": "y", "type": "float*", "shape": "rows", "role": "output"},
        *AUCTION["arguments"][4:],
    ],
}


def _least(begin: str, place: str) -> str:
    return LEAST.replace("BEGIN", begin).replace("PLACE", place)


def test_who_begins_at_an_element_is_asked_where_no_other_number_is_beyond_all() -> None:
    for begin, names in (
        ("row[0]", ("x",)),
        ("INFINITY", ("x",)),
        ("3.4e38f", ()),
        ("FLT_MAX", ()),
        ("1'000'000.f", ()),
        ("__uint_as_float(0x7f7fffff)", ()),
    ):
        assert _work(_least(begin, "0"), LEASTS).throughout == names


@host
@pytest.mark.parametrize(
    ("begin", "status"), [("INFINITY", "correct"), ("3.4028235e38f", "wrong result")]
)
def test_a_number_in_place_of_the_first_element_is_refused(
    judge: Judge, begin: str, status: str
) -> None:
    theirs, mine = (_least(one, "0") for one in ("row[0]", begin))
    verdict = _verdict(judge, mine, theirs, workload=LEASTS, effort="confirm")
    assert verdict["status"] == status, verdict["log"]
    log = verdict["log"] or ""
    assert status == "correct" or any(f", {one} inputs" in log for one in COMPARED), log


# Sums of a row that carry their rounding along, of what is behind the first element.
KAHAN = """
extern "C" __global__ void scale(const float* x, float* y, int rows, int cols) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    const float* row = x + (size_t)r * cols;
    float sum = 0.f, rest = 0.f;
    for (int c = FROM; c < cols; ++c) { SUM }
    y[r] = sum;
}
"""
PLAIN = "sum += row[c];"
CARRIED = "float t = row[c] - rest, s = sum + t; rest = (s - sum) - t; sum = s;"


@host
@pytest.mark.parametrize("begin", ["0", "1"])
def test_a_nan_in_place_of_an_infinity_is_let_pass(judge: Judge, begin: str) -> None:
    """A compensated sum of infinities is none, and right for numbers."""
    mine, theirs = (KAHAN.replace("FROM", begin).replace("SUM", one) for one in (CARRIED, PLAIN))
    assert _work(theirs, SPREAD).summed == ("x",)
    verdict = _verdict(judge, mine, theirs, workload=SPREAD, effort="confirm")
    assert verdict["status"] == "correct", verdict["log"]
