"""Arrays that chance alone never makes: copies with few changes, and all that is alike."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runners import inputs, kindred, recipes
from runners.contents import Combination, Contents
from runners.spec import Json, Work
from tests.runners.test_inputs import _work

TURNS = 400
CASE = {"n": 6.0, "m": 300.0}


def _array(name: str, init: str, shape: str = "n*m", kind: str = "const int*") -> Json:
    return {"name": name, "type": kind, "shape": shape, "init": init, "role": "input"}


def _made(work: Work, turn: int) -> dict[str, npt.NDArray[Any]]:
    arrays = inputs.generate(work, CASE, 1)
    made = kindred.applied(work, arrays, 1, turn, CASE)
    found = {}
    for one in work.arguments:
        if one.type.pointer:
            found[one.name] = made[one.name].view(one.type.fields[0].scalar.dtype)
    return found


def _limbs() -> Work:
    pair = (_array("a", "randint:0:1000000000"), _array("b", "randint:0:1000000000"))
    return _work(*pair, n=CASE["n"], m=CASE["m"])


def test_some_rows_differ_in_one_place_far_from_their_ends() -> None:
    """Decided by one element behind many that are alike, of two arrays and in each row."""
    found = 0
    for turn in range(TURNS):
        made = _made(_limbs(), turn)
        apart = (made["a"] != made["b"]).reshape(6, 300)
        few = (apart.sum(1) > 0) & (apart.sum(1) <= 2 * kindred.MOST_CHANGED)
        found += bool((few & ~apart[:, :8].any(1) & ~apart[:, -8:].any(1)).any())
    assert found >= 10


def test_some_rows_are_alike_but_for_what_stands_at_their_ends() -> None:
    found = 0
    for turn in range(TURNS):
        rows = _made(_limbs(), turn)["a"].reshape(6, 300)
        inside = rows[:, 1:-1]
        found += bool(((inside == inside[:, :1]).all(1) & (rows[:, 0] != inside[:, 0])).any())
    assert found >= 5


def test_some_rows_are_a_short_word_over_and_over() -> None:
    work = _work(_array("state", "randint:0:4"), n=CASE["n"], m=CASE["m"])
    words = set()
    for turn in range(TURNS):
        row = _made(work, turn)["state"].reshape(6, 300)[0]
        if (row[20:100] == row[22:102]).all() and row[20] != row[21]:
            words.add((int(row[20]), int(row[21])))
    assert len(words) >= 6


def test_some_floats_are_next_to_each_other_or_far_from_zero_and_none_is_infinite() -> None:
    work = _work(_array("x", "normal", kind="const float*"), n=CASE["n"], m=CASE["m"])
    near = far = 0
    for turn in range(TURNS):
        x = _made(work, turn)["x"].astype(np.float64)
        assert np.isfinite(x).all()
        steps = np.abs(np.diff(x.reshape(6, 300), axis=1))
        beside = bool((steps < 1e-4 * np.abs(x).min()).all() and (steps > 0).any())
        near += beside
        far += bool(np.abs(np.median(x)) > 100 and np.unique(x).size > 100 and not beside)
    assert near >= 5
    assert far >= 1


@settings(max_examples=60, deadline=None)
@given(
    low=st.integers(-(2**31), 2**31 - 1),
    wide=st.integers(0, 2**32),
    turn=st.integers(0, 1 << 30),
    n=st.integers(1, 40),
    m=st.integers(1, 40),
)
def test_whole_numbers_stay_in_their_range_and_nothing_else_is_touched(
    low: int, wide: int, turn: int, n: int, m: int
) -> None:
    high = min(low + wide, 2**31 - 1)
    case = {"n": float(n), "m": float(m)}
    work = _work(
        _array("x", f"randint:{low}:{high + 1}"),
        _array("y", f"randint:{low}:{high + 1}", "n"),
        _array("order", "permutation", "n"),
        _array("at", "sorted", "m", "const float*"),
        n=float(n),
        m=float(m),
    )
    arrays = inputs.generate(work, case, 1)
    before = {name: data.copy() for name, data in arrays.items()}
    made = kindred.applied(work, arrays, 1, turn, case)
    assert all(np.array_equal(arrays[name], before[name]) for name in arrays)
    for name in ("x", "y"):
        numbers = made[name].view(np.int32)
        assert len(made[name]) == len(arrays[name])
        assert low <= int(numbers.min()) <= int(numbers.max()) <= high
    assert np.array_equal(made["order"], arrays["order"])
    at = made["at"].view(np.float32)
    assert np.array_equal(at, np.sort(at), equal_nan=True)


@pytest.mark.parametrize("turn", [0, 1, 7, 8])
def test_recipes_of_many_small_runs_are_kin_and_the_same_each_time(turn: int) -> None:
    work, family = _limbs(), f"{recipes.WORD} {recipes.FUZZED + turn}"
    one = Combination(CASE, family, 5)
    first, again = Contents(work).of(one), Contents(work).of(one)
    assert all(np.array_equal(first[name], again[name]) for name in first)
    other = Contents(work).of(Combination(CASE, f"{recipes.WORD} {turn}", 5))
    assert any(not np.array_equal(first[name], other[name]) for name in first)
