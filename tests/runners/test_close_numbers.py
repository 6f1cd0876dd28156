"""Whole numbers that a float does not tell apart, and one that is alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from runners import close_numbers, whole_families
from runners.close_numbers import FEW, LONES, close
from runners.contents import Combination, Contents
from runners.spec import Work
from tests.runners.test_inputs import _pointer, _work


def _made(work: Work, family: str, dtype: str = "i4") -> Any:
    return Contents(work).of(Combination(work.cases[0].values, family, 1))["x"].view(dtype)


@pytest.mark.parametrize(
    ("bits", "kind", "dtype", "narrow"),
    [(24, "int*", "i4", "f4"), (24, "uint64_t*", "u8", "f4"), (11, "short*", "i2", "f2")],
)
def test_neighbours_are_one_float_at_both_ends(
    bits: int, kind: str, dtype: str, narrow: str
) -> None:
    """The largest of all is not one, nor the least, whether it is rounded to even or downwards."""
    last = 9999 if bits == 11 else 30_000_000
    work = _work(_pointer(f"const {kind}", f"randint:0:{last}"), n=3001)
    found = np.unique(_made(work, close(bits), dtype)).astype(np.int64)
    assert list(found) == list((1 << bits) + np.arange(FEW))
    nearest = found.astype(narrow).astype(np.int64)
    downwards = found // 2 * 2
    for floats in (nearest, downwards):
        assert floats[0] == floats[1]
        assert floats[-1] == floats[-2]


def test_a_range_may_begin_far_behind() -> None:
    """Of 32 bits so far out that a float skips 127 of 128."""
    work = _work(_pointer("const unsigned*", "randint:4000000001:4000001000"), n=500)
    found = np.unique(_made(work, close(24), "u4"))
    assert (found.min(), found.max()) == (4_000_000_002, 4_000_000_007)
    assert len(np.unique(found.astype("f4"))) == 1


@pytest.mark.parametrize(
    ("kind", "init"),
    [("int*", "randint:0:16777216"), ("short*", "randint:0:30000"), ("int*", "normal")],
)
def test_what_no_range_reaches_stays_as_it_is(kind: str, init: str) -> None:
    work = _work(_pointer(f"const {kind}", init), n=300)
    assert not close_numbers.reaching(work, 24)
    data = Contents(work)
    case = work.cases[0].values
    drawn, made = (data.of(Combination(case, one, 1))["x"] for one in ("declared", close(24)))
    assert np.array_equal(drawn, made)


def test_one_array_may_be_close_alone() -> None:
    arrays = [{**_pointer("const int*", "randint:0:20000000"), "name": name} for name in "xy"]
    work = _work(*arrays, n=300)
    made = Contents(work).of(Combination(work.cases[0].values, close(24, "y"), 1))
    assert made["y"].view("i4").min() == 1 << 24
    assert made["x"].view("i4").min() < 1 << 23


def test_no_more_of_many_are_equal_than_may_meet() -> None:
    many = 13 * whole_families.HOT
    work = _work(_pointer("const int*", "randint:0:20000000"), n=many)
    values, counts = np.unique(_made(work, close(24)), return_counts=True)
    assert counts.max() <= whole_families.HOT
    assert values[-1].astype("f4") == values[-2].astype("f4")


@pytest.mark.parametrize("family", LONES)
def test_one_is_alone(family: str) -> None:
    work = _work(_pointer("const unsigned char*", "randint:2:20"), n=901)
    made = _made(work, family, "u1")
    own, others = (2, 19) if family.endswith("low") else (19, 2)
    at = 0 if "first" in family else 900
    assert made[at] == own
    assert (np.delete(made, at) == others).all()
