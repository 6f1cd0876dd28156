"""Shares that are all of one size, and what is multiplied in place of their logarithms."""

from __future__ import annotations

import numpy as np
import pytest

from runners import share_bands
from runners.contents import Combination, Contents
from runners.families import BANDED, SHARE_BANDS, STRESS
from tests.redteam import once_read

LONG = {"seers": 9.0, "events": 64_000.0}


def _asked(label: str, checks: str = "confirm") -> list[tuple[str, dict[str, float]]]:
    extra = once_read.combinations(once_read.parsed(label).work, checks, 1)[1]
    return [(c.family, dict(c.case)) for c in extra if c.family.startswith(SHARE_BANDS)]


def test_originals_that_take_logarithms_of_shares_are_asked_in_long_rows() -> None:
    found = _asked("oracle/base")
    assert found == [
        (f"{SHARE_BANDS} {band} {end}", LONG) for band in range(3) for end in ("low", "high")
    ]
    assert {family for family, _ in found} <= BANDED <= STRESS
    # Without whole numbers of a range there are no ends of it.
    assert [family for family, _ in _asked("geomean/base")] == [
        f"{SHARE_BANDS} {band}" for band in range(3)
    ]
    for label in ("rotary/base", "gymnast/base", "yee/base"):
        assert not _asked(label)
    assert not _asked("oracle/base", "screen")


def test_shares_are_in_a_band_and_whole_numbers_at_an_end() -> None:
    contents = Contents(once_read.parsed("oracle/base").work)
    for band, (least, width) in enumerate(share_bands.BANDS):
        for end, came in (("low", 0), ("high", 1)):
            made = contents.of(Combination(LONG, f"{SHARE_BANDS} {band} {end}", 1))
            chance = made["chance"].view("f4")
            assert least <= chance.min() < chance.max() <= least + width
            # As many digits as declared ones: their rounding errors are not all alike.
            assert len(np.unique(chance)) > len(chance) // 50
            assert (made["came"].view("i4") == came).all()
        edges = np.concatenate([np.arange(21) / 20, np.arange(17) / 16 + 1e-9])
        assert not ((edges > least) & (edges < least + width)).any()


@pytest.mark.parametrize(("family", "most"), [("declared", 1536), (f"{SHARE_BANDS} 0 high", 1024)])
def test_as_many_significands_as_a_double_holds_by_chance_it_does_not_hold(
    family: str, most: int
) -> None:
    """Of numbers below two a thousand and twenty-four are the most that always are a number."""
    made = Contents(once_read.parsed("oracle/base").work).of(Combination(LONG, family, 1))
    chance = made["chance"].view("f4").reshape(9, -1)[:, ::32].astype(np.float64)
    significands = 2 * np.frexp(chance)[0]
    with np.errstate(over="ignore"):
        products = [np.prod(significands[:, :many], axis=1) for many in (most, 1536)]
    assert np.isfinite(products[0]).all()
    assert np.isfinite(products[1]).all() == (most == 1536)
