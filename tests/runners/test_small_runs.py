"""Small runs have sizes of their own, and each kind its turn."""

from __future__ import annotations

import pytest

from runners import far_cases, recipes, sizes, small_runs
from runners.contents import Combination, Contents
from runners.families import NEAR_TIES
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


@pytest.mark.parametrize(
    ("kind", "init"),
    [
        ("const unsigned long long*", "randint:0:9223372036854775807"),
        ("const long long*", "randint:-9223372036854775808:9223372036854775807"),
        ("const unsigned long long*", "randint:9223372036854775000:9223372036854775807"),
        ("const int8_t*", "randint:-128:128"),
        ("const int4*", "randint:0:9"),
        ("const int*", "randint:0:m"),
        ("const __half*", "normal"),
        ("const float2*", "uniform"),
    ],
)
def test_contents_of_each_kind_are_made_of_any_range(kind: str, init: str) -> None:
    """Of the widest ones differences have more than 64 bits."""
    given = [{"name": name, "type": kind, "shape": "n*m", "init": init} for name in "ab"]
    work = _work(
        *given,
        {"name": "x", "type": "const float*", "shape": "m", "init": "normal"},
        {"name": "y", "type": "long long*", "shape": "n", "role": "output"},
        n=40,
        m=12,
    )
    turns = [*small_runs.asked(work, 3, [{"n": 40.0, "m": 12.0}, {"n": 1.0, "m": 1.0}])]
    turns += far_cases.asked(work, 3)
    turns += [Combination(case, NEAR_TIES, 3) for case in ({"n": 40.0, "m": 12.0},)]
    contents = Contents(work)
    firsts: dict[int, int] = {}
    for one in turns:
        first = _first(one)
        firsts[first] = firsts.get(first, 0) + 1
        if firsts[first] <= 12:
            made = contents.of(one)
            assert {name: len(data) for name, data in made.items()} == {
                a.name: a.elements(one.case) * a.type.size
                for a in work.arguments
                if a.type.pointer and a.role != "output"
            }
