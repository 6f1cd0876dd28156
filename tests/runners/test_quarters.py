"""Whole numbers that are parts of a circle: what is made of a row of them cancels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from runners import quarters, recipes
from runners.contents import Combination, Contents
from runners.spec import Work
from tests.runners.test_inputs import _work
from tests.runners.test_twins import _array


def _made(work: Work, turn: int) -> dict[str, Any]:
    family = f"{recipes.WORD} {recipes.QUARTERS + turn}"
    return Contents(work).of(Combination(work.cases[0].values, family, 1))


def _observations(cols: int = 96) -> Work:
    return _work(
        _array("dir", "randint:0:360", "const short*"),
        _array("speed", "normal", "const float*"),
        _array("share", "uniform", "const double*"),
        rows=30,
        cols=cols,
    )


def test_each_row_is_as_often_on_one_side_as_on_the_other() -> None:
    work = _observations()
    kinds = set()
    for turn in range(60):
        rows = _made(work, turn)["dir"].view(np.int16).reshape(30, 96)
        assert rows.min() >= 0
        assert rows.max() < 360
        for row in rows:
            found, often = np.unique(row, return_counts=True)
            assert len({*often}) == 1
            assert {int(one) for one in (found + 180) % 360} == {int(one) for one in found}
        kinds.add((len(np.unique(rows)), int(rows.min())))
    assert {(parts, 0) for parts in (2, 4, 8)} <= kinds
    # From any eighth on, in some.
    assert any(least for _, least in kinds)


def test_floats_beside_them_are_all_alike_but_for_some_turns() -> None:
    work = _observations()
    speeds = [_made(work, turn)["speed"].view(np.float32) for turn in range(60)]
    alike = [one for one in speeds if len({*one}) == 1]
    assert 30 < len(alike) < 60
    assert 1.0 in {float(one[0]) for one in alike}
    shares = _made(work, 1)["share"].view(np.float64)
    assert 0 <= shares.min() <= shares.max() < 1


@pytest.mark.parametrize(
    ("init", "kind", "usable"),
    [
        ("randint:0:360", "const int*", True),
        ("randint:-4:4", "const signed char*", True),
        ("randint:0:7", "const int*", False),
        ("normal", "const float*", False),
    ],
)
def test_what_has_no_parts_is_not_asked(init: str, kind: str, *, usable: bool) -> None:
    assert quarters.usable(_work(_array("a", init, kind), rows=30, cols=8)) == usable


def test_rows_of_an_odd_length_leave_something() -> None:
    assert quarters.balanced(_observations(), {"rows": 3.0, "cols": 8.0})
    assert not quarters.balanced(_observations(), {"rows": 4.0, "cols": 9.0})
