"""Doubles that are no floats show who makes floats of them where the original does not."""

from __future__ import annotations

import numpy as np
import pytest

from runners import families, narrowed, no_floats
from runners.contents import Combination, Contents
from tests.redteam import once_read
from tests.runners.test_inputs import _pointer, _work

NARROWS, WIDENS = "cvt.rn.f32.f64 %r1, %rd1;", "cvt.f64.f32 %rd1, %r1;"


def _asked(label: str, mine: str, theirs: str) -> list[Combination]:
    job = once_read.parsed(label)
    declared, extra = once_read.combinations(job.work, "confirm", 1)
    return narrowed.beside(job, [*declared, *extra], (mine, theirs))


def test_who_alone_narrows_is_asked_on_one_case() -> None:
    found = _asked("elliptic/float_seed", NARROWS, WIDENS)
    assert [c.family for c in found] == [families.BEYOND_FLOATS, families.BENEATH_FLOATS]
    assert all(dict(c.case) == {"n": 1003.0} for c in found)
    assert _asked("elliptic/base", WIDENS, WIDENS) == []
    # What the original narrows as well may be infinite there; of an unknown text nothing is known.
    assert _asked("elliptic/base", NARROWS, NARROWS) == []
    assert _asked("elliptic/base", NARROWS, "") == []
    assert _asked("softmax/base", NARROWS, WIDENS) == []


@pytest.mark.parametrize("init", ["normal", "uniform"])
def test_they_are_infinite_of_either_sign_or_zero_as_floats(init: str) -> None:
    floats = {**_pointer("const float*"), "name": "z"}
    work = _work(_pointer("const double*", init), floats, n=500)
    contents, case = Contents(work), {"n": 500.0}
    plain = contents.of(Combination(case, families.DECLARED, 1))
    for family, power in no_floats.POWERS.items():
        made = contents.of(Combination(case, family, 1))
        assert np.array_equal(made["z"], plain["z"])
        data, before = made["x"].view("f8"), plain["x"].view("f8")
        assert np.array_equal(np.abs(data), np.abs(np.ldexp(before, power)))
        with np.errstate(over="ignore"):
            narrow = data.astype(np.float32)
        if family == families.BENEATH_FLOATS:
            assert not narrow.any()
            assert np.array_equal(np.sign(data), np.sign(before))
        else:
            assert np.isinf(narrow[np.abs(before) > 1 / 16]).all()
            assert 0.4 < (data < 0).mean() < 0.6
            # No square of them overflows.
            assert np.isfinite(data**2).all()


def test_a_root_that_begins_with_a_float_is_right_for_floats_alone() -> None:
    """Two of Newton's steps from the root of a float, as for any number that is one."""

    def root(x: np.ndarray) -> np.ndarray:
        with np.errstate(all="ignore"):
            y = (1 / np.sqrt(x.astype(np.float32))).astype(np.float64)
            for _ in range(2):
                y *= 1.5 - 0.5 * x * y * y
            return np.asarray(x * y)

    work = _work(_pointer("const double*", "uniform"), n=500)
    contents, case = Contents(work), {"n": 500.0}
    for family, right in ((families.DECLARED, True), *((f, False) for f in no_floats.POWERS)):
        data = np.abs(contents.of(Combination(case, family, 1))["x"].view("f8"))
        close = np.abs(root(data) / np.sqrt(data) - 1) < 1e-12
        assert close.mean() == 1 if right else close.mean() < 0.1
