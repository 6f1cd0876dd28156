"""Numbers of any distance from an end of their range: what large ones alone show, and small ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from runners import near_ends, recipes, small_runs
from runners.contents import Combination, Contents
from runners.spec import Work
from tests.runners.test_inputs import _work

Words = npt.NDArray[np.int64]


def _array(name: str, init: str, shape: str = "n", kind: str = "const int*") -> dict[str, str]:
    return {"name": name, "type": kind, "shape": shape, "init": init}


def _loans() -> Work:
    """Balances of `annuity`: what is wrong is so for the largest of these at the largest rates."""
    return _work(
        _array("balance", "randint:0:10000001"),
        _array("rate", "randint:0:17001"),
        _array("pay", "randint:0:200001"),
        n=3000,
    )


def _made(work: Work, turn: int, dtype: Any = np.int32, **case: float) -> dict[str, Words]:
    family = f"{recipes.WORD} {recipes.NEAR_ENDS + turn}"
    arrays = Contents(work).of(Combination({**work.cases[0].values, **case}, family, 1))
    return {name: data.view(dtype).astype(np.int64) for name, data in arrays.items()}


def test_most_are_near_an_end_and_all_sizes_are_as_frequent() -> None:
    low = high = both = plain = 0
    for turn in range(60):
        balance = _made(_loans(), turn)["balance"]
        assert 0 <= balance.min() <= balance.max() <= 10_000_000
        below, above = (balance < 3000).mean(), (balance > 10_000_000 - 3000).mean()
        # Three thousand is half of ten million, in powers of two.
        low += below > 0.45
        high += above > 0.45
        both += 0.2 < below < 0.35 and 0.2 < above < 0.35
        plain += below < 0.01 and above < 0.01
        if below > 0.45:
            bits = np.bincount(np.frexp(balance + 1.0)[1], minlength=24)
            assert bits[5:23].min() > 60
            assert len(np.unique(balance)) > 1200
    assert low > 10
    assert high > 10
    assert both > 3
    assert plain > 3


def test_large_ones_are_large_in_all_arrays_at_once_now_and_then() -> None:
    """One loan of a million is as far on as that, where chance draws them; here many are."""
    met = 0
    for turn in range(60):
        made = _made(_loans(), turn)
        near = (made["balance"] > 9_000_000) & (made["rate"] > 16_900) & (made["pay"] < 2000)
        met += int(near.sum()) > 300
    assert met > 1


def test_few_numbers_and_floats_stay_and_an_end_that_is_a_variable_is_that_of_the_case() -> None:
    work = _work(
        _array("flag", "randint:0:9"),
        _array("x", "normal", kind="const float*"),
        _array("at", "randint:0:n"),
        _array("below", "randint:-70000:5"),
        n=300,
    )
    plain = Contents(work).of(Combination(work.cases[0].values, "declared", 1))
    most, least = 0, 0
    for turn in range(20):
        made = Contents(work).of(
            Combination(work.cases[0].values, f"{recipes.WORD} {recipes.NEAR_ENDS + turn}", 1)
        )
        assert np.array_equal(made["flag"], plain["flag"])
        assert np.array_equal(made["x"], plain["x"])
        most = max(most, int(made["at"].view(np.int32).max()))
        least = min(least, int(made["below"].view(np.int32).min()))
    assert most == 299
    assert -70000 <= least < -69990
    assert max(int(_made(work, turn, n=4000.0)["at"].max()) for turn in range(20)) == 3999


@pytest.mark.parametrize(("high", "usable"), [(16, True), (15, False)])
def test_it_is_asked_where_a_range_is_no_few(
    high: int, monkeypatch: pytest.MonkeyPatch, *, usable: bool
) -> None:
    monkeypatch.setattr(small_runs, "MOST", 40)
    work = _work(_array("a", f"randint:0:{high}"), n=20)
    assert near_ends.usable(work) == usable
    turns = [
        recipes.number(one.family) or 0 for one in small_runs.asked(work, 1, [work.cases[0].values])
    ]
    assert any(recipes.NEAR_ENDS <= turn < recipes.WRAPPED for turn in turns) == usable
