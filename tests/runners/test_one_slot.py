"""Keys that a candidate's own factor leads to one place of a table."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from runners import one_slot, slot_factors
from runners.contents import Combination, Contents
from runners.families import DECLARED, ONE_SLOT
from runners.spec import Work
from tests.redteam import once_read
from tests.runners.test_inputs import _work

FIBONACCI, WIDE_ONE = 2654435769, 0x9E3779B97F4A7C15


def _array(name: str, init: str, shape: str, kind: str = "const int*") -> dict[str, Any]:
    return {"name": name, "type": kind, "shape": shape, "init": init}


def _made(work: Work, factor: int, kind: str = "i4", name: str = "x") -> Any:
    one = Combination(work.cases[0].values, f"{ONE_SLOT} {factor}" if factor else DECLARED, 1)
    return Contents(work).of(one)[name].view(kind)


@pytest.mark.parametrize(
    ("kind", "dtype", "low", "high", "factor", "bits"),
    [
        ("const int*", "i4", 0, 1 << 31, FIBONACCI, 32),
        ("const int*", "i4", -(1 << 31), 1 << 31, 0x85EBCA6B, 32),
        ("const unsigned*", "u4", 7, 1 << 32, 1000003, 32),
        ("const unsigned long long*", "u8", 0, 1 << 63, WIDE_ONE, 64),
        ("const long long*", "i8", -(1 << 62), 1 << 62, WIDE_ONE, 64),
    ],
)
def test_products_are_in_one_place_of_a_large_table(
    kind: str, dtype: str, low: int, high: int, factor: int, bits: int
) -> None:
    work = _work(_array("x", f"randint:{low}:{high}", "n*m", kind), n=8, m=500)
    made = _made(work, factor, dtype).reshape(8, 500)
    assert low <= int(made.min()) <= int(made.max()) < high
    for number, row in enumerate(made):
        products = {int(one) * factor % (1 << bits) >> (bits - 16) for one in row}
        assert len(products) == 1
        assert len({*row.tolist()}) == (250 if number % 2 else 500)


def test_of_a_narrow_range_the_nearest_products_are_taken() -> None:
    work = _work(_array("x", "randint:1:100000", "m"), m=900)
    made, drawn = (_made(work, factor) for factor in (FIBONACCI, 0))
    spread = [
        np.ptp((one.astype(np.uint64) * FIBONACCI % (1 << 32)) >> 20) for one in (made, drawn)
    ]
    assert 1 <= made.min() <= made.max() < 100000
    assert spread[0] < 64
    assert spread[1] > 3500


def test_arrays_of_one_range_have_the_same_keys_and_few_of_them_are_changed() -> None:
    work = _work(
        _array("x", "randint:0:2147483647", "n"), _array("y", "randint:0:2147483647", "n"), n=9000
    )
    x, y = (_made(work, FIBONACCI, name=name) for name in "xy")
    assert len({*x.tolist()} & {*y.tolist()}) >= one_slot.MANY
    assert np.count_nonzero(x != _made(work, 0)) <= one_slot.MANY


@pytest.mark.parametrize("init", ["randint:0:500", "normal", "sorted"])
def test_what_is_no_key_of_a_wide_range_is_left(init: str) -> None:
    work = _work(_array("x", init, "n"), n=500)
    assert (_made(work, FIBONACCI) == _made(work, 0)).all()


def test_it_is_asked_of_who_has_a_factor_of_its_own() -> None:
    job = once_read.parsed("firstplace/table_of_places")
    asked = slot_factors.beside(job)
    assert {one.family for one in asked} == {f"{ONE_SLOT} {FIBONACCI}"}
    assert max(one.case["cols"] for one in asked) == 3200
    assert not slot_factors.beside(once_read.parsed("firstplace/sixteen_slots_looked_at"))
    assert not slot_factors.beside(dataclasses.replace(job, baseline=job.kernel))
    assert not slot_factors.beside(once_read.parsed("rowsum/tree"))


def test_factors_of_macros_are_found_and_masks_are_none() -> None:
    text = "#define MIX 0x9E3779B1u\nconst int a = 0xfffff, b = 1 << 20, c = 65535, d = 100000;\n"
    assert slot_factors.factors(text + "h = k * MIX;") == (0x9E3779B1,)
