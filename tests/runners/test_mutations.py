"""Small changes: the same in any process, within what was declared, and of little at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from runners import mutations, recipes
from runners.contents import Combination, Contents
from runners.mutations import Change, named
from runners.spec import Work
from tests.runners.test_inputs import _work

Data = npt.NDArray[Any]


def _array(name: str, init: str, shape: str = "n", kind: str = "const int*") -> dict[str, str]:
    return {"name": name, "type": kind, "shape": shape, "init": init}


def _mixed() -> Work:
    return _work(
        _array("key", "randint:-3:n", "rows*n"),
        _array("byte", "randint:0:200", "n", "const uint8_t*"),
        _array("pair", "randint:5:90", "n", "const int2*"),
        _array("x", "normal", "rows*n", "const float*"),
        _array("share", "uniform", "n", "const float*"),
        _array("half", "normal", "n", "const half*"),
        _array("order", "permutation", "n"),
        _array("edge", "sorted", "n", "const float*"),
        {"name": "out", "type": "int*", "shape": "n", "role": "output"},
        rows=5,
        n=40,
    )


def _of(
    work: Work, family: str, contents: Contents | None = None, **case: float
) -> dict[str, Data]:
    one = Combination({**work.cases[0].values, **case}, family, 3)
    made = (contents or Contents(work)).of(one)
    kinds = {"byte": np.uint8, "x": np.float32, "share": np.float32, "half": np.float16}
    kinds["edge"] = np.float32
    return {name: data.view(kinds.get(name, np.int32)) for name, data in made.items()}


def _changes(rng: np.random.Generator, count: int) -> list[Change]:
    """Return changes, one of four of which draws a part anew."""
    each = [[int(one) for one in rng.integers(0, 1 << 20, 3)] for _ in range(count)]
    return [
        Change(array, place % 60, mutations.ANEW + 1 + draw % 90)
        if draw % 4 == 0
        else Change(array, place, draw)
        for array, place, draw in each
    ]


@pytest.mark.parametrize("n", [40.0, 9.0, 300.0])
def test_one_change_more_is_the_same_whether_what_was_before_is_kept_or_not(n: float) -> None:
    """Where the end of a range is less than the declared one, too: an answer is another process's."""
    work, rng = _mixed(), np.random.default_rng(1)
    kept = Contents(work)
    bases = [recipes.FUZZED, recipes.CROSSED, recipes.NEAR_ENDS, recipes.NEARLY_ONE]
    for base in (mutations.DECLARED, *(first + turn for first in bases for turn in range(9))):
        changes = _changes(rng, 12)
        for count in range(13):
            family = named(base, changes[:count])
            fresh = _of(work, family, n=n)
            for name, data in _of(work, family, kept, n=n).items():
                assert np.array_equal(data, fresh[name], equal_nan=data.dtype.kind == "f")
    assert any(name.startswith("guided") for key in kept._small for name in key.split("|"))


def test_numbers_stay_in_their_ranges_and_orders_stay() -> None:
    work, rng = _mixed(), np.random.default_rng(2)
    plain = _of(work, "declared", n=90.0)
    ends: dict[str, list[float]] = {}
    for _ in range(60):
        made = _of(work, named(mutations.DECLARED, _changes(rng, 20)), n=90.0)
        assert np.array_equal(made["order"], plain["order"])
        assert np.array_equal(made["edge"], plain["edge"])
        assert np.isfinite(made["x"]).all()
        for name in ("key", "byte", "pair", "share"):
            data = made[name]
            ends.setdefault(name, []).extend((float(data.min()), float(data.max())))
    assert (min(ends["key"]), max(ends["key"])) == (-3, 89)  # as the size of the case says
    assert (min(ends["byte"]), max(ends["byte"])) == (0, 199)
    assert (min(ends["pair"]), max(ends["pair"])) == (5, 89)
    assert 0 <= min(ends["share"]) <= max(ends["share"]) < 1


def test_a_change_is_of_little_and_where_it_says() -> None:
    work, rng = _mixed(), np.random.default_rng(3)
    plain = _of(work, "declared")
    few = at_place = 0
    for draw in range(300):
        array, place = int(rng.integers(6)), int(rng.integers(40))
        made = _of(work, named(mutations.DECLARED, [Change(array, place, draw)]))
        name = [argument.name for argument, _ in mutations.changed(work)][array]
        differ = sum(int((made[one] != plain[one]).sum()) for one in made)
        few += differ <= 8
        lanes = 2 if name == "pair" else 1
        there = slice(place * lanes, (place + 1) * lanes)
        at_place += bool((made[name][there] != plain[name][there]).any())
    assert few > 150
    # Some change a number to what it was.
    assert at_place > 180


def test_a_part_is_drawn_anew_and_nothing_else() -> None:
    """All of it becomes one number, in each lane: by chance alone it would be as near as before."""
    work = _mixed()
    plain = _of(work, "declared")
    names = [argument.name for argument, _ in mutations.changed(work)]
    for array, name in enumerate(names):
        made = _of(work, named(mutations.DECLARED, [Change(array, 10, mutations.ANEW + 20)]))
        lanes = 2 if name == "pair" else 1
        there = slice(10 * lanes, 30 * lanes)
        assert all(len({*made[name][there][lane::lanes].tolist()}) == 1 for lane in range(lanes))
        differ = made[name] != plain[name]
        assert differ[there].sum() > 13 * lanes
        differ[there] = False
        assert not differ.any()
        assert all(np.array_equal(made[one], plain[one]) for one in made if one != name)
    past = _of(work, named(mutations.DECLARED, [Change(1, 1 << 40, mutations.ANEW + 20)]))
    assert all(np.array_equal(past[one], plain[one]) for one in past)


def test_how_many_elements_there_are_is_as_in_the_case() -> None:
    assert mutations.lengths(_mixed(), {"rows": 2.0, "n": 7.0}) == [14, 7, 7, 14, 7, 7]
    work = _work(_array("order", "permutation"), n=9)
    assert mutations.lengths(work, {"n": 9.0}) == []
    family = named(mutations.DECLARED, [Change(0, 1, 2)])
    assert np.array_equal(_of(work, family)["order"], _of(work, "declared")["order"])


@pytest.mark.parametrize("suffix", ["+j", "+jj", "+t"])
def test_floats_are_moved_as_those_of_any_family(suffix: str) -> None:
    family = named(mutations.DECLARED, [Change(3, 5, 7)])
    plain, moved = (_of(_mixed(), one)["x"] for one in (family, family + suffix))
    assert (plain != moved).mean() > 0.5
    assert np.allclose(plain, moved, rtol=1e-3, atol=1e-3)


@given(st.text(max_size=60))
def test_other_families_are_none_of_these(text: str) -> None:
    assert mutations.read(text) is None or text.startswith("guided ")


@given(
    st.integers(-1, 1 << 25),
    st.lists(st.tuples(*[st.integers(0, 1 << 40)] * 3), max_size=9),
)
def test_a_name_tells_all_of_it(base: int, changes: list[tuple[int, int, int]]) -> None:
    each = [Change(*one) for one in changes]
    assert mutations.read(named(base, each)) == (base, each)
    before = mutations.before(named(base, each))
    assert before == ((named(base, each[:-1]), each[-1]) if each else None)
