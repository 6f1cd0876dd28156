"""Powers of two in one of several arrays at a time: neighbours that have one key, and are not alike."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from runners import lone_powers, recipes, small_runs
from runners.contents import Combination, Contents
from runners.spec import Work
from tests.runners.test_inputs import _work

Words = npt.NDArray[np.int64]


def _array(name: str, init: str, shape: str = "n", kind: str = "const int*") -> dict[str, str]:
    return {"name": name, "type": kind, "shape": shape, "init": init}


def _loans() -> Work:
    return _work(
        _array("balance", "randint:0:10000001"),
        _array("rate", "randint:0:17001"),
        _array("pay", "randint:0:200001"),
        n=257,
    )


def _made(work: Work, turn: int, dtype: Any = np.int32) -> dict[str, Words]:
    family = f"{recipes.WORD} {recipes.LONE_POWERS + turn}"
    arrays = Contents(work).of(Combination(work.cases[0].values, family, 1))
    return {name: data.view(dtype).astype(np.int64) for name, data in arrays.items()}


@pytest.mark.parametrize(
    "key",
    [
        lambda b, r, p: (b << 7) ^ (r << 15) ^ p,
        lambda b, r, p: b + (r << 24) + (p << 16),
        lambda b, r, p: (b << 12) | r | (p << 9),
    ],
    ids=["exclusive or", "sum", "too narrow a field"],
)
def test_neighbours_that_differ_have_one_key_of_32_bits(key: Any) -> None:
    work, met = _loans(), 0
    for turn in range(20):
        made = _made(work, turn)
        rows = [*zip(made["balance"], made["rate"], made["pay"], strict=True)]
        keys = key(made["balance"], made["rate"], made["pay"]) & 0xFFFFFFFF
        met += sum(
            keys[at] == keys[at + 1] and one != other
            for at, (one, other) in enumerate(itertools.pairwise(rows))
        )
    # Of what chance draws in as many runs there is one in some million.
    assert met > 5


def test_each_element_has_a_power_in_one_array_and_numbers_stay_in_their_ranges() -> None:
    ends = {"balance": 10000000, "rate": 17000, "pay": 200000}
    commons = set()
    for turn in range(40):
        made = _made(_loans(), turn)
        moved = np.zeros(257, np.int64)
        for name, data in made.items():
            assert 0 <= data.min() <= data.max() <= ends[name]
            common = int(np.bincount(data).argmax())
            apart = np.abs(data[data != common] - common)
            assert all(one & (one - 1) == 0 for one in apart)
            moved += data != common
            commons.add(common > 0)
        assert moved.max() <= 1
        assert (moved == 1).mean() > 0.9
    assert commons == {True, False}


def test_of_a_range_below_zero_powers_are_taken_away() -> None:
    work = _work(_array("a", "randint:-5000:1"), _array("b", "randint:-3:4"), n=300)
    least = min(int(_made(work, turn)["a"].min()) for turn in range(20))
    assert -5000 <= least <= -2048


@pytest.mark.parametrize(
    ("arguments", "usable"),
    [
        ([_array("a", "randint:0:9"), _array("b", "randint:0:9")], True),
        ([_array("a", "randint:0:9"), _array("b", "randint:0:9", "m")], False),
        ([_array("a", "randint:0:9"), _array("b", "normal", kind="const float*")], False),
    ],
    ids=["one shape", "two shapes", "floats"],
)
def test_it_is_asked_where_two_arrays_may_make_a_key(
    arguments: list[dict[str, str]], monkeypatch: pytest.MonkeyPatch, *, usable: bool
) -> None:
    monkeypatch.setattr(small_runs, "MOST", 40)
    work = _work(*arguments, n=20, m=30)
    assert lone_powers.usable(work) == usable
    turns = [
        recipes.number(one.family) or 0 for one in small_runs.asked(work, 1, [work.cases[0].values])
    ]
    assert any(recipes.LONE_POWERS <= turn < recipes.NEAR_ENDS for turn in turns) == usable


def test_an_end_that_is_a_variable_is_that_of_the_case() -> None:
    work = _work(_array("a", "randint:0:n"), _array("b", "randint:0:n"), n=300)
    most = max(int(_made(work, turn)["b"].max()) for turn in range(20))
    assert most < 300
