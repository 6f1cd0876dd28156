"""Whole numbers that come again at the far end of a long row, and one other number between."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from runners import recurring
from runners.contents import Combination, Contents
from runners.families import RECURRING
from runners.spec import Work
from tests.redteam import once_read
from tests.runners.test_inputs import _work


def _array(name: str, init: str, kind: str = "const int*") -> dict[str, Any]:
    return {"name": name, "type": kind, "shape": "rows*cols", "init": init}


def _asked(label: str, checks: str = "confirm") -> list[tuple[str, dict[str, float]]]:
    extra = once_read.combinations(once_read.parsed(label).work, checks, 1)[1]
    every = ((one.family, dict(one.case)) for one in extra)
    return [one for one in every if one[0].startswith(RECURRING)]


def _rows(work: Work, number: int = 0, **case: float) -> npt.NDArray[np.int32]:
    made = Contents(work).of(Combination(case, f"{RECURRING} {number}", 1))
    return made["x"].view(np.int32).reshape(int(case["rows"]), -1)


def test_rows_are_as_long_as_a_candidate_has_to_be_right_for() -> None:
    """Keys, too: who looks for the same one again looks for a key."""
    assert _asked("kiosk/base") == [("recurring 0", {"rows": 9.0, "len": 1440.0})]
    assert not _asked("kiosk/base", "screen")


def test_each_of_two_arrays_has_its_turn_and_others_are_as_declared() -> None:
    work = _work(_array("x", "randint:0:60"), _array("y", "randint:0:9"), rows=30, cols=90)
    case = {"rows": 9.0, "cols": 1440.0}
    assert [*recurring.asked(work)] == [(case, "recurring 0"), (case, "recurring 1")]
    plain = Contents(work).of(Combination(case, "declared", 1))
    for number, name in enumerate("xy"):
        made = Contents(work).of(Combination(case, f"{RECURRING} {number}", 1))
        apart = [one for one in made if not np.array_equal(made[one], plain[one])]
        assert apart == [name]
    # Of floats there are none, nor of short rows; one number is no two.
    for init, kind, cols in (
        ("normal", "const float*", 90),
        ("randint:0:60", "const int*", 7),
        ("randint:3:4", "const int*", 90),
    ):
        assert not [*recurring.asked(_work(_array("x", init, kind), rows=30, cols=cols))]


def test_one_number_is_at_an_end_and_far_from_it() -> None:
    """Small ones, whose sums are small: an original may add them up in its own words."""
    rows = _rows(_work(_array("x", "randint:0:1000000"), rows=30, cols=90), rows=9.0, cols=1440.0)
    (first,), (second,) = np.unique(rows[:, 0]), np.unique(rows[:, 1])
    assert first != second
    assert max(first, second) < recurring.NUMBERS
    there = [np.flatnonzero(row == first).tolist() for row in rows]
    assert there == [[0, 1439], [0, 720], [0, 1080]] * 3
    assert {*np.unique(rows)} == {first, second}


def test_of_what_may_be_indices_not_all_meet() -> None:
    """Threads that exchange a word until it holds take a time that grows with their square."""
    work = _work(_array("x", "randint:0:500"), rows=3000, cols=50)
    rows = _rows(work, rows=200.0, cols=800.0)
    alike = [len(np.unique(row)) == 2 for row in rows]
    assert 80 < sum(alike) < 90
    assert not any(alike[90:])


def _distances(row: npt.NDArray[np.int32], reach: int) -> list[int]:
    """How many pages there were since the last time of each, as far as one looks back."""
    found = []
    for at, page in enumerate(row):
        before = np.flatnonzero(row[max(0, at - reach) : at] == page)
        behind = row[max(0, at - reach) + before[-1] + 1 : at] if len(before) else row[:0]
        found.append(len(np.unique(behind)) if len(before) else -1)
    return found


def test_who_looks_back_a_thousand_places_does_not_find_the_last_time() -> None:
    work = once_read.parsed("kiosk/mask_recent").work
    case = {"rows": 9.0, "len": 1440.0}
    for family, wrong in (("declared", False), ("recurring 0", True)):
        made = Contents(work).of(Combination(case, family, 1))["trace"].view(np.int32)
        row = made[:1440]
        assert (_distances(row, 1024) != _distances(row, 1440)) == wrong


def test_rows_of_one_element_are_no_long_row() -> None:
    """However many there are of them."""
    assert _asked("abacus/base") == [(f"recurring {at}", {"n": 7.0, "m": 4096.0}) for at in (0, 1)]
