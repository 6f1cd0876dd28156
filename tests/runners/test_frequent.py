"""One whole number that is most of a very long row, beside others as they are drawn."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from runners import capacities
from runners.contents import Combination, Contents
from runners.families import FREQUENT, MOSTLY
from runners.spec import Work
from runners.unlikely import LONGEST_ROW, MOST_ELEMENTS
from runners.whole_families import HOT
from tests.redteam import once_read
from tests.runners.test_inputs import _work

Values = npt.NDArray[Any]
SHORT = 1 << 16


def _array(init: str, shape: str = "n", kind: str = "const int*") -> dict[str, Any]:
    return {"name": "x", "type": kind, "shape": shape, "init": init}


def _exact(*arrays: dict[str, Any], **case: Any) -> Work:
    return dataclasses.replace(_work(*arrays, **case), whole=True)


def _asked(work: Work, checks: str = "confirm") -> list[dict[str, float]]:
    extra = once_read.combinations(work, checks, 1)[1]
    return [dict(one.case) for one in extra if one.family == FREQUENT]


def _made(work: Work, family: str, kind: str = "i4", seed: int = 1, **case: float) -> Values:
    return np.asarray(Contents(work).of(Combination(case, family, seed))["x"].view(kind))


@pytest.mark.parametrize("init", ["randint:0:6000", "randint:-500:500", "randint:7:1000000"])
def test_one_is_more_than_16_bits_count_and_others_are_drawn_from_all(init: str) -> None:
    work = _exact(_array(init), n=8000)
    row, drawn = (_made(work, one, n=128000.0) for one in (FREQUENT, "declared"))
    numbers, counts = np.unique(row, return_counts=True)
    assert SHORT < counts.max() <= HOT + 200
    assert np.sort(counts)[-2] < 1000
    assert np.abs(numbers[counts.argmax()]) <= np.median(np.abs(drawn)) * 1.1
    # Others between them, and a long end that is all as it was drawn.
    end = HOT * 8 // 7
    assert (row[end:] == drawn[end:]).all()
    assert 0.1 < (row[:end] == drawn[:end]).mean() < 0.15


def test_each_row_has_one_as_far_as_they_may_be_alike() -> None:
    work = _exact(_array("randint:0:64", "r*n", "const unsigned char*"), r=20, n=3000)
    rows = _made(work, FREQUENT, "u1", r=20.0, n=3000.0).reshape(20, 3000)
    assert all(np.bincount(row).max() > 2600 for row in rows)
    wide = _exact(_array("randint:0:64", "r*n"), r=100, n=3000)
    rows = _made(wide, FREQUENT, r=100.0, n=3000.0).reshape(100, 3000)
    assert 26 <= sum(np.bincount(row).max() > 1000 for row in rows) <= 27


def test_it_is_asked_as_far_as_a_candidate_has_to_be_right_and_no_further() -> None:
    assert _asked(_exact(_array("randint:0:6000"), n=8000)) == [{"n": 128000.0}]
    assert _asked(_exact(_array("randint:0:6000"), n=1000000)) == [{"n": float(LONGEST_ROW)}]
    (case,) = _asked(_exact(_array("randint:0:64", "r*n"), r=4000, n=400))
    assert case["n"] == 6400
    assert case["r"] * case["n"] <= MOST_ELEMENTS
    assert not _asked(_exact(_array("randint:0:6000"), n=8000), "screen")


def test_rows_that_cannot_be_long_and_originals_of_floats_are_not_asked() -> None:
    assert not _asked(_exact(_array("randint:0:6000"), n=20))
    assert not _asked(_exact(_array("normal", kind="const float*"), n=8000))
    assert not _asked(dataclasses.replace(_work(_array("randint:0:60"), n=8000), whole=False))
    work = _exact(_array("randint:0:64", "n*3"), n=8000)
    assert (_made(work, FREQUENT, n=90.0) == _made(work, "declared", n=90.0)).all()


def test_it_is_asked_only_where_the_original_is_quick_with_equal_numbers() -> None:
    watch = capacities.Watch()
    watch.took(Combination({"n": 8000.0}, MOSTLY, 1), 0.2)
    assert "would take" in watch.objection(Combination({"n": 128000.0}, FREQUENT, 1))


def _hits(trace: Values, sets: int, ways: int, bits: int) -> list[bool]:
    """Return which accesses of a cache hit that goes by times of last use, in so many bits."""
    held: list[dict[int, int]] = [{} for _ in range(sets)]
    clocks, found = [0] * sets, []
    for line in map(int, trace):
        mine = held[line % sets]
        found.append(line in mine)
        if line not in mine and len(mine) == ways:
            del mine[min(mine, key=lambda one: mine[one])]
        mine[line] = clocks[line % sets]
        clocks[line % sets] = (clocks[line % sets] + 1) % (1 << bits)
    return found


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_times_of_16_bits_go_round_where_others_meet_the_frequent_one(seed: int) -> None:
    """Of as many sets as are declared; not where three others are all there are beside it."""
    work = _exact(_array("randint:0:6000"), n=8000)
    for family, length, wrong in (
        (FREQUENT, 128000.0, True),
        ("declared", 128000.0, False),
        (MOSTLY, 74917.0, False),
    ):
        trace = _made(work, family, seed=seed, n=length)
        right = _hits(trace, 512, 8, 64)
        assert (_hits(trace, 512, 8, 16) != right) == wrong
        assert _hits(trace, 512, 8, 17) == right
