"""Rows that are nearly all at an end of their range, the others beside it."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from runners import one_less
from runners.contents import Combination, Contents
from runners.families import ONE_LESS
from runners.spec import Work
from runners.whole_families import HOT
from tests.redteam import once_read
from tests.runners.test_inputs import _work

Rows = npt.NDArray[np.int32]


def _array(init: str, shape: str = "n*100", name: str = "x") -> dict[str, Any]:
    return {"name": name, "type": "const int*", "shape": shape, "init": init}


def _made(work: Work, name: str = "x", family: str = ONE_LESS, seed: int = 1) -> Rows:
    return Contents(work).of(Combination(work.cases[0].values, family, seed))[name].view(np.int32)


def test_each_row_has_another_share_beside_its_end() -> None:
    rows = _made(_work(_array("randint:0:3"), n=120)).reshape(-1, 100)
    upper, lower = rows[::2], rows[1::2]
    assert set(np.unique(upper)) == {1, 2}
    assert set(np.unique(lower)) == {0, 1}
    for part in (upper, lower):
        beside = (part == 1).sum(axis=1)
        assert {0, 1, 2, 3, 6, 10, 14, 25, 50} <= {*map(int, beside)}
        # In steps as well: by the diagonal of ten by ten, and by its columns.
        gaps = [{*map(int, np.diff(np.flatnonzero(row == 1)))} for row in part]
        assert [{step} in gaps for step in one_less.STEPS] == [True] * len(one_less.STEPS)


def test_rows_are_all_but_the_first_factor_and_the_last_one() -> None:
    rows = _made(_work(_array("randint:0:9", "n*10*10"), n=200)).reshape(200, 100)
    assert all(row.min() >= 7 or row.max() <= 1 for row in rows[:100])
    within = rows[100:].reshape(-1, 10)
    assert all(row.min() >= 7 or row.max() <= 1 for row in within)
    assert any(plane.min() <= 1 and plane.max() >= 7 for plane in rows[100:])


def test_arrays_are_at_the_same_end_and_at_the_other() -> None:
    work = _work(_array("randint:0:9"), _array("randint:0:9", name="y"), n=200)
    both = [_made(work, name).reshape(-1, 100).mean(axis=1) > 4 for name in ("x", "y")]
    assert {(bool(x), bool(y)) for x, y in zip(*both, strict=True)} == {
        (x, y) for x, y in itertools.product((False, True), repeat=2)
    }


def test_an_array_without_rows_has_stretches() -> None:
    made = _made(_work(_array("randint:0:3", "n"), n=6400)).reshape(-1, 100)
    assert {tuple(np.unique(row)) for row in made} >= {(2,), (0,), (1, 2), (0, 1)}


def test_of_what_may_be_an_index_not_too_many_are_alike() -> None:
    work = _work(_array("randint:0:3"), n=HOT // 40)
    declared, made = _made(work, family="declared"), _made(work)
    assert np.array_equal(declared[HOT + 100 :], made[HOT + 100 :])


@pytest.mark.parametrize(
    ("init", "many"), [("randint:0:3", 1), ("randint:0:2", 0), ("normal", 0), ("permutation", 0)]
)
def test_it_is_asked_where_something_is_beside_an_end(init: str, many: int) -> None:
    work = _work(_array(init, "n"), n=300)
    asked = [*one_less.asked(work, work.cases[0].values)]
    assert asked == [(work.cases[0].values, ONE_LESS)] * many


def _permanents(matrices: Rows, chain: int, kind: Any) -> npt.NDArray[np.float64]:
    """Return permanents by Ryser's formula, products of so many row sums in a type."""
    subsets = np.arange(1024)[:, None] >> np.arange(10) & 1
    sums = np.einsum("mij,sj->msi", matrices, subsets).astype(kind)
    halves = [
        np.multiply.reduce(sums[..., part], axis=2, dtype=kind)
        for part in (slice(0, chain), slice(chain, None))
    ]
    terms = halves[0].astype(np.float64) * halves[1].astype(np.float64)
    return np.asarray((terms * (1 - 2 * (subsets.sum(axis=1) % 2))).sum(axis=1))


def test_products_of_six_sums_are_no_floats_and_those_of_five_are() -> None:
    work = once_read.parsed("permanent/base").work
    case = {"n": 517.0}
    for family, shown in ((ONE_LESS, True), ("nearly-ends", False), ("declared", False)):
        made = Contents(work).of(Combination(case, family, 1))["a"]
        matrices = made.view(np.int32).reshape(-1, 10, 10)[:120]
        right = _permanents(matrices, 6, np.float64)
        assert (_permanents(matrices, 6, np.float32) != right).any() == shown
        assert (_permanents(matrices, 5, np.float32) == right).all()
