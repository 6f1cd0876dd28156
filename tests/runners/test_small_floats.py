"""Floats near zero show what is added there against a division by zero."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from runners import families, small_constants, small_floats
from runners.budgets import Terms, earned
from runners.contents import Combination, Contents
from runners.spec import JobSpec
from tests.redteam import once_read
from tests.runners.test_inputs import _pointer, _work

LARGEST = "max.f32 %f1, %f2, 0f2B8CBCCC;"  # 1e-12
ORIGINAL = "add.f32 %f1, %f2, 0f3F800000;"  # 1


def _job(label: str) -> JobSpec:
    return once_read.parsed(label)


def _asked(label: str, mine: str, theirs: str = ORIGINAL) -> list[Combination]:
    job = _job(label)
    declared, extra = once_read.combinations(job.work, "confirm", 1)
    return small_constants.beside(job, [*declared, *extra], (mine, theirs))


@pytest.mark.parametrize(("kind", "dtype", "by"), [("float*", "f4", 30), ("half*", "f2", 10)])
def test_they_are_the_declared_ones_by_a_power_of_two(kind: str, dtype: str, by: int) -> None:
    work = _work(_pointer(f"const {kind}"), n=1001)
    contents, case = Contents(work), {"n": 1001.0}
    declared = contents.of(Combination(case, families.DECLARED, 1))["x"].view(dtype)
    small = contents.of(Combination(case, small_floats.named(30), 1))["x"].view(dtype)
    assert 0 < np.abs(small).max() < 8 * 2.0**-by
    if dtype == "f4":
        assert np.array_equal(np.ldexp(small, 30), declared)


def test_whole_numbers_and_masks_stay_what_they_are() -> None:
    work = _work(_pointer("const int*", "randint:0:50"), n=101)
    contents, case = Contents(work), {"n": 101.0}
    declared = contents.of(Combination(case, families.DECLARED, 1))["x"]
    assert np.array_equal(contents.of(Combination(case, small_floats.named(30), 1))["x"], declared)


def test_every_finalist_with_floats_is_asked_and_no_other() -> None:
    found = {}
    for label, checks in (
        ("softmax/base", "confirm"),
        ("softmax/base", "screen"),
        ("kthrow/base", "confirm"),
    ):
        _, extra = once_read.combinations(_job(label).work, checks, 1)
        found[label, checks] = [c for c in extra if small_floats.powers(c.family) is not None]
    assert [len(one) for one in found.values()] == [1, 0, 0]


def test_constants_of_a_candidate_alone_have_inputs_behind_them_and_behind_their_roots() -> None:
    label = "feedback/scale_never_zero"
    found = [small_floats.powers(one.family) for one in _asked(label, ORIGINAL + LARGEST)]
    assert found == [45, 25]
    for step, size in zip(found, (1e-12, 1e-6), strict=True):
        assert step is not None
        assert size / 32 >= 2.0**-step >= size / 128
    assert not _asked(label, ORIGINAL + LARGEST, ORIGINAL + LARGEST)
    # Without one of the texts nobody knows whose they are.
    assert not _asked(label, LARGEST, "")
    assert not _asked("kthrow/base", LARGEST)


def test_few_constants_are_asked_about_and_none_that_a_float_has_no_room_behind() -> None:
    tiny = ("0f00000001", "0f00800000", "0f01000000", "0f0DA24260", "0f322BCC77", "0f38D1B717")
    found = [small_floats.powers(one.family) for one in _asked("feedback/base", " ".join(tiny))]
    assert max(step or 0 for step in found) == small_constants.MOST_POWERS
    assert len(found) <= 2 * small_constants.MOST_CONSTANTS
    assert not _asked("feedback/base", "0f00000001")


def test_results_that_stay_ordinary_are_held_to_their_own_rounding() -> None:
    """Of small ones nobody asks more than of those at their usual size."""
    work = replace(_work(_pointer(), n=64), rtol=1e-3, atol=1e-2)
    field = work.arguments[0].type.fields[0]
    for size, bound in ((2.0**-30, 4 * 2.0**-24), (8.0, 4 * 2.0**-24 * 8)):
        data = np.full(64, size, np.float32)
        terms = Terms(
            None, unordered=False, integers=False, declared=False, twin=False, typical=1.0
        )
        _, budget = earned(work, field, [data, data], [], data.astype(np.float64), terms)
        assert budget is not None
        assert budget["ground"] == pytest.approx(bound)
