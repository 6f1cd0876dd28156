"""Three arrays of which one is what two others come to, or next to it."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from runners import recipes, related, small_runs
from runners.contents import Combination, Contents
from runners.spec import Work
from tests.runners.test_inputs import _work

Values = npt.NDArray[Any]


def _array(name: str, init: str, shape: str = "n", kind: str = "const float*") -> dict[str, str]:
    return {"name": name, "type": kind, "shape": shape, "init": init}


OUT = {"name": "out", "type": "int*", "shape": "n", "role": "output"}


def _made(work: Work, turn: int, kinds: dict[str, Any], **case: float) -> dict[str, Values]:
    family = f"{recipes.WORD} {recipes.RELATED + turn}"
    found = Contents(work).of(Combination({**work.cases[0].values, **case}, family, 1))
    return {name: found[name].view(kind) for name, kind in kinds.items()}


def _triangles(init: str) -> Work:
    each = [_array(name, init) for name in "abc"]
    return _work(*each, _array("key", "randint:0:9", kind="const int*"), OUT, n=400)


@pytest.mark.parametrize("init", ["uniform", "normal"])
def test_one_is_the_sum_of_two_others_or_a_rounding_away(init: str) -> None:
    work, kinds = _triangles(init), dict.fromkeys("abc", np.float32)
    sums = products = apart = small = 0
    for turn in range(80):
        made = _made(work, turn, kinds)
        assert all(np.isfinite(one).all() for one in made.values())
        if init == "uniform":
            assert all(one.min() >= 0 and one.max() < 1 for one in made.values())
        a, b, c = (made[name].astype(float) for name in "abc")
        for x, y, z in ((a, b, c), (b, c, a), (c, a, b)):
            off = np.abs(np.abs(x) - np.abs(y) - np.abs(z)) / np.maximum(np.abs(x), 1e-30)
            close = float((off < 1e-6).mean())
            sums += close > 0.9
            apart += close > 0.9 and bool((off > 0).any())
            small += close > 0.9 and float(np.median(np.abs(y / x))) < 1e-3
            product = np.abs(x - y * z) / np.maximum(np.abs(x), 1e-30)
            products += float((product < 1e-6).mean()) > 0.9
    # Of what has either sign a third has the signs that this looks for.
    assert sums > 5
    assert apart > 3
    assert small > 1
    assert products > 2


def test_shares_stay_shares_beside_other_floats() -> None:
    work = _work(*(_array(name, "normal") for name in "ab"), _array("c", "uniform"), OUT, n=400)
    for turn in range(40):
        share = _made(work, turn, {"c": np.float32})["c"]
        assert 0 <= share.min() <= share.max() < 1


def test_whole_numbers_stay_in_their_ranges() -> None:
    each = [_array(name, "randint:0:500", kind="const int*") for name in "abc"]
    work = _work(*each, OUT, n=400)
    met = 0
    for turn in range(40):
        made = _made(work, turn, dict.fromkeys("abc", np.int32))
        assert all(one.min() >= 0 and one.max() < 500 for one in made.values())
        a, b, c = (made[name].astype(np.int64) for name in "abc")
        met += any(
            float((np.abs(x - y - z) <= 1).mean()) > 0.4
            for x, y, z in ((a, b, c), (b, c, a), (c, a, b))
        )
    assert met > 8


def test_columns_of_one_array_are_related_too() -> None:
    work = _work(_array("x", "normal", "n*3"), OUT, n=400)
    assert related.usable(work, work.cases[0].values)
    met = 0
    for turn in range(40):
        x = np.abs(_made(work, turn, {"x": np.float32})["x"].reshape(-1, 3).astype(float))
        longest = x.max(axis=1)
        met += float((np.abs(x.sum(axis=1) - 2 * longest) < 1e-5 * longest).mean()) > 0.9
    assert met > 3


def test_where_two_arrays_are_all_nothing_is_related(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(small_runs, "MOST", 60)
    two = _work(_array("a", "normal"), _array("b", "normal"), OUT, n=400)
    shapes = _work(
        _array("a", "normal"), _array("b", "normal", "m"), _array("c", "normal", "m"), OUT, n=9, m=7
    )
    for work in (two, shapes, _triangles("normal")):
        case = work.cases[0].values
        asked = [recipes.number(one.family) or 0 for one in small_runs.asked(work, 1, [case])]
        several = sum(recipes.RELATED <= number < recipes.ONE_APART for number in asked)
        assert several == (60 // small_runs.RELATED_OF if related.usable(work, case) else 0)
    assert not related.usable(two, two.cases[0].values)
    assert not related.usable(shapes, shapes.cases[0].values)


def test_halves_stay_finite() -> None:
    each = [_array(name, "normal", kind="const half*") for name in "abc"]
    work = _work(*each, OUT, n=400)
    for turn in range(40):
        made = _made(work, turn, dict.fromkeys("abc", np.float16))
        assert all(np.isfinite(one).all() for one in made.values())
