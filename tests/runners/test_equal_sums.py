"""Different numbers whose sums, and sums of powers, are the same."""

from __future__ import annotations

import numpy as np
import pytest

from runners import equal_sums, recipes
from runners.contents import Combination, Contents
from runners.spec import Work
from tests.runners.test_inputs import _work

OUT = {"name": "same", "type": "int*", "shape": "rows", "role": "output"}


def _texts(*names: str) -> Work:
    each = [
        {"name": name, "type": "const int*", "shape": "rows*n", "init": "randint:-3:250"}
        for name in names
    ]
    return _work(*each, OUT, rows=40, n=21)


@pytest.mark.parametrize("bits", [2, 3, 4, 5, 6])
def test_as_many_powers_are_alike_as_there_are_bits_less_one(bits: int) -> None:
    even, odd = (one.astype(object) for one in equal_sums.parts(bits))
    powers = [int((even**k).sum()) == int((odd**k).sum()) for k in range(1, bits + 1)]
    assert powers == [True] * (bits - 1) + [False]


@pytest.mark.parametrize("names", [("left", "right"), ("text",)])
def test_rows_of_two_arrays_or_of_one_are_others_with_equal_sums(names: tuple[str, ...]) -> None:
    work = _texts(*names)
    assert equal_sums.usable(work, work.cases[0].values)
    other = same = cubes = ordered = twice = 0
    for turn in range(60):
        family = f"{recipes.WORD} {recipes.EQUAL_SUMS + turn}"
        made = Contents(work).of(Combination(work.cases[0].values, family, 1))
        rows = [made[name].view(np.int32).astype(np.int64).reshape(40, 21) for name in names]
        assert min(one.min() for one in rows) >= -3
        assert max(one.max() for one in rows) < 250
        left, right = rows if len(rows) > 1 else (rows[0][::2], rows[0][1::2])
        if (left.sum(axis=1) != right.sum(axis=1)).any():
            # Rows of one of both arrays.
            assert len(names) > 1
            twice += any((one[::2].sum(axis=1) == one[1::2].sum(axis=1)).all() for one in rows)
            continue
        unlike = (np.sort(left) != np.sort(right)).any(axis=1)
        other += bool(unlike.any())
        same += bool((~unlike).any() and (left[~unlike] != right[~unlike]).any())
        cubes += bool(((left**3).sum(axis=1) == (right**3).sum(axis=1))[unlike].any())
        ordered += bool(((left != right).sum(axis=1) < 21)[unlike].any())
    assert min(other, same, cubes, ordered) > 5
    assert twice > 5 or len(names) == 1


def test_of_short_rows_and_narrow_ranges_there_are_none() -> None:
    work = _texts("left", "right")
    assert not equal_sums.usable(work, {"rows": 1.0, "n": 1.0})
    flags = {"name": "flag", "type": "const int*", "shape": "rows*n", "init": "randint:0:3"}
    assert not equal_sums.usable(_work(flags, OUT, rows=40, n=21), {"rows": 40.0, "n": 21.0})
