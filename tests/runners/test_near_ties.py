"""Sums that are next to each other, and longer than a float: who decides by floats is wrong there."""

from __future__ import annotations

import numpy as np
import pytest

from runners import near_ties, spec
from runners.contents import Combination, Contents
from runners.families import NEAR_TIES
from runners.spec import JobSpec, Json
from tests.runners.test_judge import _job

TEXT = """
__global__ void bound(const int* row, const int* col, const int* val, long long* more, int n, int rows) {
    DECIDES;
}
"""
WORK: Json = {
    "arguments": [
        {"name": "row", "type": "const int*", "shape": "n", "init": "randint:0:rows"},
        {"name": "col", "type": "const int*", "shape": "n", "init": "randint:0:rows"},
        {"name": "val", "type": "const int*", "shape": "n", "init": "randint:-1000000:1000000"},
        {"name": "more", "type": "long long*", "shape": "rows", "role": "output"},
        {"name": "n", "type": "int", "value": "n"},
        {"name": "rows", "type": "int", "value": "rows"},
    ],
    "launch": {"grid": ["(n+63)/64"], "block": ["64"], "shared": "0", "tunable": False},
    "cases": [
        {"values": {"n": 9001, "rows": 1011}},
        {"values": {"n": 5, "rows": 3}, "time": False},
    ],
    "tolerance": {"rtol": 0, "atol": 0},
}


def _parsed(mine: str, theirs: str = "more[0] = abs(c) > r", work: Json = WORK) -> JobSpec:
    texts = [TEXT.replace("DECIDES", one) for one in (mine, theirs)]
    return spec.parse(_job(*texts, workload=work, effort="confirm"))


@pytest.mark.parametrize(
    "words",
    [
        "more[0] = fabsf((float)c) > r",
        "more[0] = __ll2float_rn(c) > r",
        "double d = c",
        "c > .5 * r",
    ],
)
def test_it_is_asked_where_a_candidate_alone_works_with_floats(words: str) -> None:
    job = _parsed(words)
    asked = [Combination(*one) for one in near_ties.asked(job)]
    assert len(asked) > near_ties.RUNS // 2
    assert {one.family for one in asked} == {NEAR_TIES}
    assert {one.case["rows"] for one in asked} == {1.0, 2.0, 3.0}
    assert all(24 <= one.case["n"] <= 400 for one in asked)
    assert len({one.seed for one in asked}) == len(asked)
    assert not [*near_ties.asked(_parsed(words, words))]
    assert not [*near_ties.asked(_parsed("more[0] = c > r; // fabsf(1.5f)"))]


def test_results_that_are_floats_and_keys_alone_are_left_out() -> None:
    words = "more[0] = fabsf((float)c) > r"
    arguments: list[Json] = WORK["arguments"]
    of_floats = {**arguments[3], "type": "float*"}
    work = {**WORK, "arguments": [*arguments[:3], of_floats, *arguments[4:]]}
    assert not [*near_ties.asked(_parsed(words, work=work))]
    keys = {**WORK, "arguments": [*arguments[:2], *arguments[3:]]}
    assert not [*near_ties.asked(_parsed(words, work=keys))]


def test_sums_are_next_to_each_other_and_no_float_tells_which_is_more() -> None:
    job = _parsed("more[0] = fabsf((float)c) > r")
    apart = hidden = 0
    for one in (Combination(*each) for each in near_ties.asked(job)):
        made = Contents(job.work).of(one)
        row, col, val = (
            made[name].view(np.int32).astype(np.int64) for name in ("row", "col", "val")
        )
        rows = int(one.case["rows"])
        assert 0 <= min(row.min(), col.min()) <= max(row.max(), col.max()) < rows
        assert -1000000 <= val.min() <= val.max() <= 999999
        assert len({*val.tolist()}) <= 2
        centre, radius = np.zeros((2, rows), np.int64)
        np.add.at(centre, row[row == col], val[row == col])
        np.add.at(radius, row[row != col], np.abs(val[row != col]))
        exact = np.abs(centre) > radius
        rounded = np.abs(centre.astype(np.float32)) > radius.astype(np.float32)
        apart += int(((exact != rounded) & (np.abs(centre) < radius + 9)).any())
        hidden += int((exact != rounded).any())
    assert hidden == apart > 5
