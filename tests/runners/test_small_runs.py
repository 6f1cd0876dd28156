"""Small runs have sizes of their own, and each kind its turn."""

from __future__ import annotations

import pytest

from runners import recipes, sizes, small_runs
from runners.contents import Combination
from tests.runners.test_inputs import _work


def _first(one: Combination) -> int:
    """Return where recipes of a kind begin."""
    return 1 << (recipes.number(one.family) or 1).bit_length() - 1


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
    # Those that no kind has for itself have numbers behind these.
    drawn = [one for one in asked if (recipes.number(one.family) or 0) >= _first(one) + 1200]
    other = [one for one in drawn if _first(one) != recipes.EACH_ONCE]
    assert len(other) == 1200 // small_runs.SIZES_OF
    elements = [work.elements(one.case) for one in other]
    assert all(0 < one <= small_runs.SIZED_ELEMENTS for one in elements)
    few = sum(one <= small_runs.FEW_ELEMENTS for one in elements)
    assert len(other) // 2 <= few < len(other)
    assert max(one.case["d"] for one in other) > 6
    assert max(one.case["d"] for one in other) <= 6 * sizes.TIMES_LONGER
    rests = {int(one.case["d"]) % 8 for one in other}
    assert rests == {*range(8)}
    # Each of them once with every kind of contents.
    assert len({one.key for one in other}) == len(other)
    kinds = [_first(one) for one in other]
    for one in (recipes.SEAMS, recipes.COME_AGAIN, recipes.NEARLY_ONE, recipes.CROSSED):
        assert len(other) // 10 <= kinds.count(one) <= len(other) // 5
    # Lengths of every rest with rows that differ in one place.
    apart = {int(one.case["d"]) % 8 for one in other if _first(one) == recipes.ONE_APART}
    assert apart == {*range(8)}
    # And they have their turn in the cases that are asked anyway.
    assert {recipes.ONE_APART, recipes.COME_AGAIN} < {
        _first(one) for one in asked if one.case == case
    }


def test_where_one_thing_alone_is_a_size_there_are_none_of_two() -> None:
    work = _work(
        {"name": "x", "type": "const int*", "shape": "n", "init": "randint:0:40"},
        {"name": "y", "type": "int*", "shape": "n", "role": "output"},
        n=400,
    )
    case = {"n": 50.0}
    assert all(
        one.case == case or _first(one) == recipes.EACH_ONCE
        for one in small_runs.asked(work, 3, [case])
    )
