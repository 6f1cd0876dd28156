"""Each array has a family of its own, within what was declared."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from hypothesis import given, settings
from hypothesis import strategies as st

from runners import crossed, recipes, variation
from runners.contents import Combination, Contents
from runners.cuda_types import to_float, values
from runners.spec import Work
from tests.redteam import once_read
from tests.runners.test_inputs import _pointer, _work

Arrays = dict[str, npt.NDArray[Any]]


def _array(name: str, init: str, shape: str, kind: str = "const int*") -> dict[str, Any]:
    return {"name": name, "type": kind, "shape": shape, "init": init}


def _made(work: Work, turn: int, seed: int = 1) -> Arrays:
    family = f"recipe {recipes.CROSSED + turn}"
    arrays = Contents(work).of(Combination(work.cases[-1].values, family, seed))
    found = {}
    for one in work.arguments:
        if one.name in arrays:
            field = one.type.fields[0]
            found[one.name] = to_float(values(arrays[one.name], one.type, field), field.scalar)
    return found


@given(
    st.lists(
        st.tuples(st.integers(-(2**31), 2**31 - 2), st.integers(1, 2**32)), min_size=1, max_size=3
    ),
    st.integers(0, 5_000),
    st.integers(1, 40),
    st.integers(1, 9),
)
@settings(max_examples=150, deadline=None)
def test_whole_numbers_stay_in_their_ranges(
    ranges: list[tuple[int, int]], turn: int, n: int, w: int
) -> None:
    ends = {f"a{at}": (low, min(low + size, 2**31)) for at, (low, size) in enumerate(ranges)}
    arrays = [_array(name, f"randint:{low}:{high}", "n*w") for name, (low, high) in ends.items()]
    made = _made(_work(*arrays, n=n, w=w), turn)
    for name, (low, high) in ends.items():
        assert low <= made[name].min() <= made[name].max() < high


def test_floats_are_finite_shares_stay_shares_and_neither_is_always_as_declared() -> None:
    for init in ("normal", "uniform"):
        work, seen = _work(_pointer("const float*", init, "n*w"), n=30, w=20), set()
        for turn in range(150):
            (made,) = _made(work, turn).values()
            assert np.isfinite(made).all()
            assert init == "normal" or (made.min() >= 0 and made.max() <= 1)
            seen.add(made.tobytes())
        assert len(seen) > (50 if init == "normal" else 3)


def test_what_has_a_meaning_stays_as_it_is() -> None:
    work = _work(_array("at", "arange", "n"), _array("order", "permutation", "n"), n=90)
    for turn in range(60):
        made = _made(work, turn)
        assert np.array_equal(made["at"], np.arange(90))
        assert np.array_equal(np.sort(made["order"]), np.arange(90))


def test_the_same_number_and_seed_give_the_same_and_others_do_not() -> None:
    work = _work(_array("x", "randint:0:1000", "n*w"), n=30, w=20)
    every = [_made(work, turn, seed)["x"] for turn in range(40) for seed in (1, 1, 2)]
    assert all(np.array_equal(every[at], every[at + 1]) for at in range(0, len(every), 3))
    assert not all(np.array_equal(every[at + 1], every[at + 2]) for at in range(0, len(every), 3))


def test_each_array_is_at_an_end_of_its_own_beside_shapes_of_others() -> None:
    """All of them fire, none rests, and all take as much away as they may: one of 600 at least."""
    work = once_read.parsed("neurons/base").work
    small = {"n": 50.0, "deg": 7.0, "steps": 45.0}
    contents, met = Contents(work), set()
    for turn in range(600):
        one = Combination(small, f"recipe {recipes.CROSSED + turn}", 1)
        arrays = contents.of(one)
        v, rest, weight = (arrays[name].view(np.int32) for name in ("v", "rest", "weight"))
        if (v == 999).all() and (rest == 0).all() and (weight == -400).all():
            met.add("drained")
        target = arrays["target"].view(np.int32)
        if (weight == 599).all() and (np.diff(target) == 1).mean() > 0.9:
            met.add("one after the other, fed")
    assert met == {"drained", "one after the other, fed"}


def test_families_are_those_there_are() -> None:
    work = _work(
        _array("x", "randint:0:64", "n*w"), _pointer("const float*", "normal", "n*w"), n=40, w=33
    )
    arrays = Contents(work).of(Combination(work.cases[0].values, "declared", 1))
    whole = {*crossed._ALIKE, *crossed._SHAPED}
    for family in whole | {*crossed._FLOATS}:
        named = work.arguments[0 if family in whole else 1]
        other = variation.apply(family, work, arrays, 3, work.cases[0].values)
        assert len(other[named.name]) == len(arrays[named.name]), family
