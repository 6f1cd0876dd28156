"""Rows that are all one row but for a place each."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from runners import one_apart, recipes
from runners.contents import Combination, Contents
from runners.spec import Work
from tests.runners.test_inputs import _work

Rows = npt.NDArray[Any]
OUT = {"name": "out", "type": "int*", "shape": "n", "role": "output"}


def _array(name: str, init: str, shape: str, kind: str) -> dict[str, str]:
    return {"name": name, "type": kind, "shape": shape, "init": init}


def _records() -> Work:
    return _work(
        _array("fields", "randint:-3:37", "n*d", "const int*"),
        _array("x", "normal", "n*d", "const float*"),
        _array("share", "uniform", "n*d", "const double*"),
        _array("flat", "randint:0:9", "n", "const int*"),
        _array("same", "randint:5:6", "n*d", "const int*"),
        OUT,
        n=60,
        d=15,
    )


def _made(turn: int, **case: float) -> dict[str, Rows]:
    work = _records()
    given = {**work.cases[0].values, **case}
    made = Contents(work).of(Combination(given, f"{recipes.WORD} {recipes.ONE_APART + turn}", 1))
    kinds: dict[str, Any] = {"x": np.float32, "share": np.float64}
    rows = int(given["n"])
    return {
        name: data.view(kinds.get(name, np.int32)).reshape(rows, -1) for name, data in made.items()
    }


def test_rows_differ_from_a_common_one_in_a_place_and_all_places_have_their_turn() -> None:
    work = _records()
    assert one_apart.usable(work, work.cases[0].values)
    changed = dict.fromkeys(("fields", "x", "share"), 0)
    pairs = dict.fromkeys(changed, 0)
    places: set[int] = set()
    sums = bits = steps = 0
    for turn in range(150):
        made = _made(turn)
        plain = Contents(work).of(Combination(work.cases[0].values, "declared", 1))
        for name in ("flat", "same"):
            assert np.array_equal(made[name].reshape(-1).view(np.uint8), plain[name])
        assert made["fields"].min() >= -3
        assert made["fields"].max() <= 36
        assert np.isfinite(made["x"]).all()
        assert made["share"].min() >= 0
        assert made["share"].max() <= 1
        for name in changed:
            rows = made[name]
            others, counts = np.unique(rows, axis=0, return_counts=True)
            common = others[counts.argmax()]
            if counts.max() < 4:
                continue  # As it was declared, beside another array.
            apart = (rows != common).sum(axis=1)
            if (apart <= 2).mean() < 0.99:
                continue  # Of several common ones.
            changed[name] += int((apart == 1).sum() > 20)
            pairs[name] += int((apart == 2).sum() > 20)
            if name == "fields":
                single = rows[apart == 1]
                at = (single != common).argmax(axis=1)
                places |= {*at.tolist()}
                off = (single - common).sum(axis=1)
                xored = ((single + 3) ^ (common + 3)).sum(axis=1)
                bits += int(len(off) > 20 and (np.bitwise_count(xored) == 1).all())
                steps += int(len(off) > 20 and (np.abs(off) % 39 == 1).all())
                double = rows[apart == 2]
                sums += int(len(double) > 20 and (double.sum(axis=1) == common.sum()).all())
    assert min(changed.values()) > 8
    assert min(pairs.values()) > 3
    assert places == {*range(15)}
    assert min(sums, bits, steps) > 1


def test_of_a_row_nothing_differs() -> None:
    work = _records()
    assert not one_apart.usable(work, {"n": 1.0, "d": 15.0})
    alone = Contents(work).of(
        Combination({"n": 1.0, "d": 15.0}, f"{recipes.WORD} {recipes.ONE_APART + 3}", 1)
    )
    plain = Contents(work).of(Combination({"n": 1.0, "d": 15.0}, "declared", 1))
    assert all(np.array_equal(alone[name], plain[name]) for name in plain)


def test_rows_of_one_place_and_of_two_are_made_as_well() -> None:
    for d in (1.0, 2.0):
        for turn in range(40):
            made = _made(turn, d=d)
            assert made["fields"].shape == (60, int(d))
            assert made["fields"].min() >= -3
            assert made["fields"].max() <= 36


def test_there_are_cases_with_rows_of_each_length() -> None:
    cases = one_apart.cases(_records())
    assert {int(case["d"]) for case in cases} == {*range(2, one_apart.LONGEST + 1)}
    assert {case["n"] for case in cases} == {60.0}
    # By a variable of which there is little no row is longer than a candidate has to be right for.
    few = _work(_array("key", "randint:0:9", "n*k", "const int*"), OUT, n=60, k=3)
    assert max(case["k"] for case in one_apart.cases(few)) == 48
