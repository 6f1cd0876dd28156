"""Neighbours that differ, and whose word is the same since it has run over."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from runners import far_cases, recipes, small_runs, wrapped_pairs
from runners.contents import Combination, Contents
from runners.spec import Work
from tests.runners.test_inputs import _work

Words = npt.NDArray[np.int64]


def _array(name: str, init: str, shape: str = "q", kind: str = "const int*") -> dict[str, str]:
    return {"name": name, "type": kind, "shape": shape, "init": init}


def _tree() -> Work:
    """Questions to a tree, as of `lca`: two places each."""
    return _work(
        _array("up", "randint:0:n", "n"),
        _array("a", "randint:0:n"),
        _array("b", "randint:0:n"),
        _array("flag", "randint:0:3"),
        {"name": "out", "type": "int*", "shape": "q", "role": "output"},
        n=5000,
        q=40000,
    )


def _made(work: Work, turn: int, dtype: Any = np.int32, **case: float) -> dict[str, Words]:
    family = f"{recipes.WORD} {recipes.WRAPPED + turn}"
    arrays = Contents(work).of(Combination({**work.cases[0].values, **case}, family, 1))
    return {name: data.view(dtype).astype(np.int64) for name, data in arrays.items()}


@pytest.mark.parametrize(("n", "bits"), [(79999, 32), (5000, 16), (79999, 16)])
def test_neighbours_have_one_word_that_has_run_over(n: int, bits: int) -> None:
    met = ways = alone = 0
    for turn in range(40):
        made = _made(_tree(), turn, n=float(n), q=301.0)
        a, b = made["a"], made["b"]
        for data in (a, b):
            assert 0 <= data.min() <= data.max() < n
        if len(np.unique(made["flag"])) > 1:
            continue  # it is one of two itself
        assert ((np.diff(a)[::2] != 0) | (np.diff(b)[::2] != 0)).all()
        for factor in (n, 301):
            for one, other in ((a, b), (b, a)):
                words = one * factor + other
                alike = (words[:-1:2] - words[1::2]) % (1 << bits) == 0
                met += bool(alike.all())
                ways += bool(alike.all()) and len(np.unique(a)) > 4
        alone += 1
    assert alone > 5
    assert met > 3
    assert ways > 1


def test_where_no_word_runs_over_there_are_none() -> None:
    small = _work(_array("a", "randint:0:9"), _array("b", "randint:0:9"), q=30)
    case = small.cases[0].values
    assert not wrapped_pairs.usable(small, case)
    plain = Contents(small).of(Combination(case, "declared", 1))
    made = Contents(small).of(Combination(case, f"recipe {recipes.WRAPPED}", 1))
    assert all(np.array_equal(plain[name], made[name]) for name in plain)
    lone = _work(_array("a", "randint:0:90000"), _array("b", "randint:0:90000", "n"), q=30, n=7)
    assert not wrapped_pairs.usable(lone, lone.cases[0].values)


def test_numbers_below_zero_have_their_place() -> None:
    work = _work(_array("a", "randint:-40000:50000"), _array("b", "randint:-9000:300"), q=64)
    for turn in range(20):
        made = _made(work, turn)
        assert -40000 <= made["a"].min() <= made["a"].max() < 50000
        assert -9000 <= made["b"].min() <= made["b"].max() < 300
        assert len(np.unique(made["a"])) > 1


def test_they_are_asked_small_and_far_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(small_runs, "MOST", 80)
    monkeypatch.setattr(far_cases, "CASES", 14)
    work = _tree()
    few = {"n": 700.0, "q": 33.0}
    turns = [recipes.number(one.family) or 0 for one in small_runs.asked(work, 1, [few])]
    assert (
        sum(recipes.WRAPPED <= turn < recipes.EACH_ONCE for turn in turns)
        == 80 // small_runs.PAIRS_OF
    )
    far = [
        one.case["n"]
        for one in far_cases.asked(work, 1)
        if (recipes.number(one.family) or 0) >= recipes.WRAPPED
    ]
    assert max(far) > 1 << 16
    assert len(far) % far_cases.PAIRED == 0
