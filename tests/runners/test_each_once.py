"""Rows with each number of a range, where there are just as many places, and with all but one."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from runners import each_once, recipes, small_runs
from runners.contents import Combination, Contents
from runners.spec import Work
from tests.runners.test_inputs import _work

Words = npt.NDArray[np.int64]


def _array(name: str, init: str, shape: str = "rows*n", kind: str = "const int*") -> dict[str, str]:
    return {"name": name, "type": kind, "shape": shape, "init": init}


def _letters() -> Work:
    """Letters of lines, as of `pangram`."""
    return _work(
        _array("text", "randint:0:26", kind="const uint8_t*"),
        _array("other", "randint:-5:3", "n"),
        _array("flag", "randint:0:2", "n"),
        _array("wide", "randint:0:100000", "n"),
        _array("next", "randint:0:n", "n"),
        _array("x", "normal", "n", "const float*"),
        {"name": "out", "type": "int*", "shape": "rows", "role": "output"},
        rows=300,
        n=90,
    )


def _made(turn: int, **case: float) -> dict[str, Words]:
    work = _letters()
    one = Combination(
        {**work.cases[0].values, **case}, f"{recipes.WORD} {recipes.EACH_ONCE + turn}", 1
    )
    kinds = {"text": np.uint8, "x": np.float32}
    found = Contents(work).of(one)
    return {name: data.view(kinds.get(name, np.int32)) for name, data in found.items()}


def test_there_are_cases_with_as_many_places_as_numbers() -> None:
    cases = each_once.cases(_letters())
    sizes = {(int(case["rows"]), int(case["n"])) for case in cases}
    assert {n for _, n in sizes} >= {25, 26, 27, 7, 8, 9}
    assert {rows for rows, _ in sizes} >= {25, 26, 27}
    assert all(case["rows"] * case["n"] < 1 << 13 for case in cases)
    # By ranges that end where a variable says there are none: these are any size.
    assert len(sizes) == each_once.CASES


@pytest.mark.parametrize("n", [25, 26, 27, 90])
def test_rows_have_each_number_or_all_but_one(n: int) -> None:
    full = missing = partly = orders = 0
    for turn in range(60):
        made = _made(turn, rows=9.0, n=float(n))
        rows = made["text"].reshape(9, n)
        assert 0 <= made["text"].min() <= made["text"].max() < 26
        assert -5 <= made["other"].min() <= made["other"].max() < 3
        assert 0 <= made["next"].min() <= made["next"].max() < n
        many = [len({*row.tolist()}) for row in rows]
        full += min(many) == min(n, 26)
        missing += max(many) == min(n, 26) - 1
        partly += min(many) == 1 < max(many)
        orders += min(many) == min(n, 26) and not (rows[0] == rows[1]).all()
    assert full > 8
    assert missing > 4 or n < 26
    assert partly > 4
    assert orders > 5


def test_what_ends_with_a_size_is_a_permutation_and_no_other_array_is_changed() -> None:
    whole = 0
    plain = Contents(_letters()).of(Combination({"rows": 5.0, "n": 40.0}, "declared", 1))
    for turn in range(30):
        made = _made(turn, rows=5.0, n=40.0)
        whole += sorted(made["next"].tolist()) == list(range(40))
        for name, kind in (("flag", np.int32), ("wide", np.int32), ("x", np.float32)):
            assert np.array_equal(made[name], plain[name].view(kind))
    assert whole > 8


def test_many_rows_share_their_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(each_once, "MOST_ELEMENTS", 100)
    for turn in range(20):
        rows = _made(turn, rows=50.0, n=26.0)["text"].reshape(50, 26)
        own = [row for row in rows if len({*row.tolist()}) > 1]
        assert all((row == own[0]).all() for row in own)


def test_small_runs_have_such_rows_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(small_runs, "MOST", 1200)
    work = _letters()
    cases = [{"rows": 9.0, "n": 90.0}, {"rows": 3.0, "n": 2.0}]
    each = [*small_runs.asked(work, 7, cases)]
    bands = range(recipes.EACH_ONCE, recipes.RELATED)
    once = [one for one in each if recipes.number(one.family) in bands]
    cases = each_once.cases(work)
    ahead = len(cases) * small_runs.COMPLETE
    assert each[:ahead] == once[:ahead]
    assert [one.case for one in once[:ahead]] == cases * small_runs.COMPLETE
    assert len(once) == ahead + small_runs.MOST // small_runs.ONCE_OF
    # One of them has a row with all letters in just as many places.
    exact = [one for one in once if one.case["n"] == 26]
    rows = [Contents(work).of(one)["text"].reshape(-1, 26) for one in exact]
    assert any(len({*row.tolist()}) == 26 for each_row in rows for row in each_row)
    assert len({one.key for one in once}) == len(once)
    # Without a small range there is none.
    wide = _work(
        _array("wide", "randint:0:100000", "n"),
        {"name": "out", "type": "int*", "shape": "n", "role": "output"},
        n=90,
    )
    assert each_once.cases(wide) == []
    numbers = [recipes.number(one.family) for one in small_runs.asked(wide, 7, [{"n": 90.0}])]
    assert not any(one in bands for one in numbers)
