"""Whole numbers at which something begins or is carried on: midnights, tiles, long carries."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from runners import what_it_says
from runners.contents import Combination, Contents
from runners.families import CLUSTERED, DECLARED, ENDS, NEARLY_ENDS
from runners.spec import Work
from tests.redteam import once_read
from tests.runners.test_inputs import _pointer, _work

DAY = 86_400_000


def _of(label: str) -> Work:
    return once_read.parsed(label).work


def test_numbers_of_an_original_are_steps_of_its_values() -> None:
    assert {DAY, 60_000, 7} <= {*_of("stamps/hours_in_doubles").steps}
    assert all(one >= what_it_says.LEAST_STEP for one in _of("stamps/base").steps)


def test_midnights_are_among_moments_and_a_product_with_a_rounded_quotient_misses_them() -> None:
    work = _of("stamps/hours_in_doubles")
    contents, case = Contents(work), {"n": 200_000.0}
    wrong = {}
    for family in (DECLARED, CLUSTERED):
        at = contents.of(Combination(case, family, 1))["at"].view(np.int64)
        days = np.floor(at.astype(float) * (1.0 / 3_600_000.0) * (1.0 / 24.0)).astype(np.int64)
        wrong[family] = int((days != at // DAY).sum())
        assert at.min() >= -2_208_988_800_000
        assert at.max() < 4_102_444_800_000
    assert wrong[DECLARED] == 0 < wrong[CLUSTERED]


@pytest.mark.parametrize(
    ("init", "kind", "dtype"),
    [
        ("randint:0:5", "const int*", np.int32),
        ("randint:-128:128", "const signed char*", np.int8),
        ("randint:0:4294967296", "const unsigned*", np.uint32),
        ("randint:0:18446744073709551615", "const unsigned long long*", np.uint64),
    ],
)
def test_they_stay_within_their_range(init: str, kind: str, dtype: npt.DTypeLike) -> None:
    work = _work(_pointer(kind, init), n=3001)
    wide = Work(**{**{k: getattr(work, k) for k in work.__slots__}, "steps": (1 << 40, 1000, 3)})
    low, high = (int(part) for part in init.split(":")[1:])
    for family in (CLUSTERED, NEARLY_ENDS):
        try:
            data = Contents(wide).of(Combination({"n": 3001.0}, family, 1))["x"].view(dtype)
        except ValueError:  # random numbers of so wide a range there are none, whatever the family
            assert high > 1 << 63
            continue
        assert low <= int(data.min()) <= int(data.max()) < high


def test_ends_with_few_others_carry_far() -> None:
    """A carry that begins somewhere goes on over dozens of limbs, and not only over four."""
    work = _of("plus/carry_of_four_below")
    case, contents = {"rows": 50.0, "limbs": 64.0}, Contents(work)

    def longest(family: str) -> int:
        arrays = contents.of(Combination(case, family, 1))
        a, b = (arrays[name].view(np.uint32).astype(np.uint64) for name in "ab")
        most = run = 0
        for at, total in enumerate(a + b):
            begins = at % 64 == 0
            run = 0 if begins else run
            hands_on = run > 0 and total == 0xFFFFFFFF
            run = run + 1 if hands_on else int(total > 0xFFFFFFFF)
            most = max(most, run)
        return most

    assert longest(ENDS) <= 4
    assert longest(DECLARED) <= 4
    assert longest(NEARLY_ENDS) > 30


def test_they_are_asked_of_finalists() -> None:
    job = once_read.parsed("plus/carry_of_four_below")
    for checks, asked in (("confirm", True), ("screen", False)):
        _, extra = once_read.combinations(job.work, checks, 1)
        assert any(one.family == NEARLY_ENDS for one in extra) is asked
