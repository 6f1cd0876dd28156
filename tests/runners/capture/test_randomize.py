"""Random values look like those they stand for, and index what those indexed."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from runners.capture.randomize import randomized
from runners.cuda_types import parse

RNG = np.random.default_rng(1)


def _of(data: npt.NDArray[Any], kind: str) -> npt.NDArray[Any]:
    raw = np.ascontiguousarray(data).view(np.uint8).reshape(-1)
    return randomized(raw, parse(kind), RNG).view(data.dtype)


@given(arrays.arrays(np.int32, st.integers(1, 60)))
def test_whole_numbers_stay_in_their_range(data: npt.NDArray[np.int32]) -> None:
    found = _of(data, "int*")
    assert found.min() >= data.min()
    assert found.max() <= data.max()


@given(st.lists(st.integers(0, 1000), min_size=3, max_size=60))
def test_row_pointers_stay_row_pointers(data: list[int]) -> None:
    """Ascending, from the same first to the same last: every row stays inside."""
    rows = np.sort(np.array(data, np.int32))
    found = _of(rows, "int*")
    assert (np.diff(found) >= 0).all()
    assert found[0] == rows[0]
    assert found[-1] == rows[-1]


def test_a_permutation_stays_one() -> None:
    data = np.random.default_rng(2).permutation(500).astype(np.int32)
    found = _of(data, "int*")
    assert np.array_equal(np.sort(found), np.arange(500))
    assert not np.array_equal(found, data)


@given(arrays.arrays(np.float32, st.integers(1, 60), elements=st.floats(width=32)))
def test_shares_of_zeros_and_special_values_stay(data: npt.NDArray[np.float32]) -> None:
    found = _of(data, "float*")
    for marks in (np.isnan, np.isinf):
        assert marks(found).sum() >= marks(data).sum()
    usual = data[np.isfinite(data)]
    kept = found[np.isfinite(found)]
    if len(usual) and len(kept):
        assert kept.min() >= min(usual.min(), 0)
        assert kept.max() <= max(usual.max(), 0)


def test_numbers_have_the_same_distribution_and_are_other_ones() -> None:
    data = np.random.default_rng(3).lognormal(0, 2, 100_000).astype(np.float32)
    data[::10] = 0
    found = _of(data, "float*")
    assert (found == 0).mean() == pytest.approx(0.1, abs=0.001)
    points = np.linspace(0.15, 0.99, 20)
    assert np.allclose(np.quantile(found, points), np.quantile(data, points), rtol=0.05)
    assert len(np.intersect1d(found[found != 0], data)) < 2000


def test_halves_and_structures_are_drawn_field_by_field() -> None:
    half = np.random.default_rng(4).random(100).astype(np.float16)
    assert ((_of(half, "half*") >= 0) & (_of(half, "half*") <= 1)).all()
    pairs = np.zeros(50, [("key", "i4"), ("weight", "f4")])
    pairs["key"] = np.random.default_rng(5).integers(0, 9, 50)
    pairs["weight"] = 1.5
    found = _of(pairs, "struct{int key; float weight;}*")
    assert found["key"].min() >= 0
    assert found["key"].max() < 9
    assert (found["weight"] == 1.5).all()


def test_a_tail_shorter_than_a_value_is_no_value() -> None:
    found = randomized(np.full(10, 7, np.uint8), parse("float*"), RNG)
    assert len(found) == 10
    assert (found[8:] == 0).all()
