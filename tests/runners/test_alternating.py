"""Low values at even places and high ones at odd ones: no sample at even steps is of all of them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from runners import families, sizes, variation
from runners.contents import Combination, Contents
from runners.families import ALTERNATING
from runners.spec import JobSpec, Work
from tests.redteam import once_read
from tests.runners.test_inputs import _pointer, _work


def _job(label: str) -> JobSpec:
    return once_read.parsed(label)


def _alternating(work: Work, checks: str = "confirm") -> list[Combination]:
    _, extra = once_read.combinations(work, checks, 1)
    return [one for one in extra if one.family == ALTERNATING]


def test_floats_at_odd_places_are_above_those_at_even_ones() -> None:
    work = _work(_pointer(), n=1001)
    data = Contents(work).of(Combination({"n": 1001.0}, ALTERNATING, 1))["x"].view(np.float32)
    assert data[1::2].min() > data[::2].max()


@pytest.mark.parametrize("count", [0, 1, 2, 7, 1000])
def test_whole_numbers_stay_those_they_are(count: int) -> None:
    work = _work(_pointer("const int*", "randint:-50:50"), n=8)
    before = np.random.default_rng(1).integers(-50, 50, count).astype(np.int32)
    out = variation.apply(ALTERNATING, work, {"x": before.view(np.uint8)}, 1)["x"].view(np.int32)
    assert np.array_equal(np.sort(out), np.sort(before))
    if count > 1:
        assert out[1::2].min() >= out[::2].max()


def test_sizes_become_the_nearest_powers_of_two_and_no_others_do() -> None:
    work = _job("kthrow/base").work
    case = {"rows": 600.0, "cols": 4000.0, "k": 2000.0}
    assert sizes.even(work, case) == {"rows": 512.0, "cols": 4096.0, "k": 2000.0}
    assert sizes.even(work, {**case, "rows": 9.0})["rows"] == 9.0


def test_it_is_asked_of_finalists_alone() -> None:
    work = _job("kthrow/base").work
    found = [dict(one.case) for one in _alternating(work)]
    assert {"rows": 512.0, "cols": 4096.0, "k": 2000.0} in found
    assert _alternating(work, "screen") == []


def test_small_and_falling_ones_are_asked_about_as_they_are() -> None:
    _, extra = once_read.combinations(_job("softmax/base").work, "confirm", 1)
    for family in (families.FALLING, families.THOUSANDTH):
        found = [dict(one.case) for one in extra if one.family == family]
        assert {"rows": 5.0, "cols": 33.0} in found
    _, extra = once_read.combinations(_job("kthrow/base").work, "confirm", 1)
    assert families.THOUSANDTH not in {one.family for one in extra}
    assert families.FALLING in {one.family for one in extra}


def test_falling_ones_fall_and_small_ones_are_those_that_were_declared() -> None:
    for kind, dtype in (("float*", np.float32), ("const int*", np.int32)):
        work = _work(_pointer(kind), n=1001)
        contents, case = Contents(work), {"n": 1001.0}
        declared = contents.of(Combination(case, families.DECLARED, 1))["x"].view(dtype)
        fallen = contents.of(Combination(case, families.FALLING, 1))["x"].view(dtype)
        assert np.array_equal(fallen, np.sort(declared)[::-1])
        small = contents.of(Combination(case, families.THOUSANDTH, 1))["x"].view(dtype)
        times = 1024 if dtype is np.float32 else 1
        assert np.array_equal(small * dtype(times), declared)


def _enclosed(row: npt.NDArray[np.uint32], k: int) -> bool:
    """Tell whether two numbers of an even sample of a row enclose its k-th smallest one."""
    sample = np.sort(row[np.arange(256) * len(row) // 256])
    middle = k * 256 // len(row)
    return bool(sample[middle - 56] <= np.sort(row)[k] <= sample[middle + 56])


def test_a_sample_of_even_places_encloses_the_wrong_numbers() -> None:
    work = _job("kthrow/bracket_of_a_sample").work
    case, contents = {"rows": 4.0, "cols": 4096.0, "k": 2000.0}, Contents(work)
    for family, enclosed in ((families.DECLARED, True), (ALTERNATING, False)):
        rows = contents.of(Combination(case, family, 1))["x"].view(np.uint32).reshape(4, 4096)
        assert [_enclosed(row, 2000) for row in rows] == [enclosed] * 4
