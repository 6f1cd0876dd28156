"""One key in long rows, and amounts at the upper ends of their ranges."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from runners.contents import Combination, Contents
from runners.families import FULL_PILES
from tests.redteam import once_read

LONGEST = {"houses": 17.0, "bookings": 8000.0, "days": 61.0}


def _asked(label: str, checks: str = "confirm") -> list[tuple[str, dict[str, float]]]:
    extra = once_read.combinations(once_read.parsed(label).work, checks, 1)[1]
    every = ((one.family, dict(one.case)) for one in extra)
    return [one for one in every if one[0].startswith(FULL_PILES)]


def _of(family: str) -> dict[str, npt.NDArray[Any]]:
    work = once_read.parsed("guesthouse/base").work
    made = Contents(work).of(Combination(LONGEST, family, 1))
    return {
        name: made[name].view(np.int32).reshape(17, -1) for name in ("arrive", "nights", "people")
    }


def test_two_keys_are_asked_in_the_longest_rows_of_whole_sums() -> None:
    asked = [(f"{FULL_PILES} {key}", LONGEST) for key in ("low", "middle")]
    assert _asked("guesthouse/base") == asked
    assert not _asked("guesthouse/base", "screen")
    # Keys alone are counted elsewhere, amounts alone at their ends, and sums of floats by nobody.
    for label in ("kiosk/base", "abacus/base", "jury/base", "dedisperse/base"):
        assert not _asked(label)


def test_keys_are_one_that_there_is_and_amounts_are_the_last_ones() -> None:
    """400 days of arrival are declared, and 61 days are looked at."""
    for key, day in (("low", 1), ("middle", 30)):
        made = _of(f"{FULL_PILES} {key}")
        assert {int(one) for one in np.unique(made["nights"])} == {29}
        assert {int(one) for one in np.unique(made["people"])} == {8}
        # Of what may be indices no more than elsewhere meet.
        assert (made["arrive"][:8] == day).all()
        assert not (made["arrive"][9:] == day).all()


def test_changes_of_a_day_do_not_fit_into_16_bits() -> None:
    for family, wrong in (("declared", False), ("full-piles low", True)):
        made = _of(family)
        changes = np.zeros(61, np.int64)
        for day, people in zip(made["arrive"][0], made["people"][0], strict=True):
            if day < len(changes):
                changes[day] += people
        assert bool((np.abs(changes) >= 1 << 15).any()) == wrong
