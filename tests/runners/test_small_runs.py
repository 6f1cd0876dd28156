"""Small runs have sizes of their own, and each kind its turn."""

from __future__ import annotations

import pytest

from runners import recipes, sizes, small_runs
from tests.runners.test_inputs import _work


def test_sizes_are_as_many_as_there_are_and_of_every_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who takes eight at a time and forgets a rest of seven is wrong for those lengths alone."""
    monkeypatch.setattr(small_runs, "MOST", 1200)
    work = _work(
        {"name": "fields", "type": "const int*", "shape": "n*d", "init": "randint:0:40"},
        {"name": "first", "type": "int*", "shape": "n", "role": "output"},
        n=40000,
        d=6,
    )
    case = {"n": 50.0, "d": 3.0}
    asked = [*small_runs.asked(work, 3, [case])]
    assert asked == [*small_runs.asked(work, 3, [case])]
    exact = [one for one in asked if (recipes.number(one.family) or 0) >= recipes.EACH_ONCE]
    other = [one for one in asked if one.case != case and one not in exact]
    assert len(other) == 1200 // small_runs.SIZES_OF
    assert all(0 < work.elements(one.case) <= small_runs.FEW_ELEMENTS for one in other)
    assert max(one.case["d"] for one in other) > 6
    assert max(one.case["d"] for one in other) <= 6 * sizes.TIMES_LONGER
    rests = {int(one.case["d"]) % 8 for one in other}
    assert rests == {*range(8)}
    # Each of them once with every kind of contents.
    assert len({one.key for one in other}) == len(other)
    kinds = {(recipes.number(one.family) or 0) >> 20 for one in other}
    assert kinds >= {recipes.FUZZED >> 20, recipes.CROSSED >> 20, recipes.NEARLY_ONE >> 20}


def test_where_one_thing_alone_is_a_size_there_are_none_of_two() -> None:
    work = _work(
        {"name": "x", "type": "const int*", "shape": "n", "init": "randint:0:40"},
        {"name": "y", "type": "int*", "shape": "n", "role": "output"},
        n=400,
    )
    case = {"n": 50.0}
    assert all(
        one.case == case or (recipes.number(one.family) or 0) >= recipes.EACH_ONCE
        for one in small_runs.asked(work, 3, [case])
    )
