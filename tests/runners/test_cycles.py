"""Rows that repeat a short word of whole numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from runners import cycles
from runners.contents import Combination, Contents
from runners.families import CYCLES
from runners.spec import Work
from runners.whole_families import HOT
from tests.redteam import once_read
from tests.runners.test_inputs import _work

Rows = npt.NDArray[np.int32]


def _array(init: str, name: str = "x", shape: str = "rows*cols") -> dict[str, Any]:
    return {"name": name, "type": "const int*", "shape": shape, "init": init}


def _rows(work: Work, name: str = "x", seed: int = 1, **case: float) -> Rows:
    made = Contents(work).of(Combination(case, CYCLES, seed))
    return made[name].view(np.int32).reshape(int(case["rows"]), -1)


def _word(row: Rows) -> tuple[int, ...]:
    """Return what is repeated behind the first element, from the first one on."""
    for length in range(1, cycles.LONGEST + 1):
        word = np.roll(row[1 : 1 + length], 1)
        if np.array_equal(np.resize(word, len(row))[1:], row[1:]):
            return tuple(int(letter) for letter in word)
    return ()


def test_all_words_of_two_of_four_letters_are_there_and_longer_ones() -> None:
    rows = _rows(_work(_array("randint:0:4"), rows=40, cols=300), rows=40.0, cols=300.0)
    found = [_word(row) for row in rows]
    assert all(found)
    pairs = {(a, b) for a in range(4) for b in range(4) if a != b}
    assert {word for word in found if len(word) == 2} >= pairs
    assert {word for word in found if len(word) == 1} >= {(letter,) for letter in range(4)}
    assert sum(len(word) > 2 for word in found) >= 12
    # One order of two letters begins with a third one, and the other does not.
    for row, word in zip(rows, found, strict=True):
        if len(word) == 2:
            assert (row[0] not in word) == (word[0] > word[1])


def test_other_seeds_begin_with_other_words() -> None:
    work = _work(_array("randint:0:4"), rows=9, cols=300)
    found = [[_word(row) for row in _rows(work, seed=s, rows=9.0, cols=300.0)] for s in (1, 2)]
    assert found[0] != found[1]


def test_of_a_wide_range_few_numbers_and_every_other_row() -> None:
    work = _work(
        _array("randint:0:4"),
        _array("randint:-9:5000", "y"),
        _array("normal", "z"),
        rows=8,
        cols=70,
    )
    rows = _rows(work, "y", rows=8.0, cols=70.0)
    letters = {*cycles.letters(-9, 4999)}
    assert letters == {-9, -8, 0, 1, 4998, 4999}
    plain = Contents(work).of(Combination({"rows": 8.0, "cols": 70.0}, "declared", 1))
    declared = plain["y"].view(np.int32).reshape(8, -1)
    for number, row in enumerate(rows):
        if number % 2:
            assert np.array_equal(row, declared[number])
        else:
            assert _word(row)
            assert {*row.tolist()} <= letters


def test_of_what_may_be_indices_not_all_are_such() -> None:
    work = _work(_array("randint:0:4"), rows=300, cols=1000)
    words = [_word(row) for row in _rows(work, rows=300.0, cols=1000.0)]
    assert sum(map(bool, words)) == HOT // 1000


def test_an_array_without_rows_has_stretches() -> None:
    work = _work(_array("randint:0:2", shape="cols"), cols=9000)
    made = Contents(work).of(Combination({"cols": 9000.0}, CYCLES, 1))["x"].view(np.int32)
    stretch = 9000 // cycles.LEAST_ROWS
    assert all(_word(row) for row in made[: 24 * stretch].reshape(24, stretch))


def test_only_narrow_ranges_are_asked_in_cases_that_are_asked_anyway() -> None:
    work = _work(_array("randint:0:4"), rows=40, cols=300)
    cases = [{"rows": rows, "cols": cols} for rows, cols in ((40.0, 300.0), (2.0, 4800.0))]
    assert [*cycles.asked(work, cases)] == [(case, CYCLES) for case in cases]
    assert [*cycles.asked(work, [{"rows": 900.0, "cols": 60.0}])] == []
    assert [*cycles.asked(work, [{**cases[0], "*": 1.0}])] == []
    for init in ("randint:0:17", "randint:3:4", "normal"):
        assert not [*cycles.asked(_work(_array(init), rows=40, cols=300), cases)]


def _furthest(row: npt.NDArray[np.uint8], chunk: int) -> int:
    """Return the largest sum of steps of one direction in a chunk, as an encoder's are counted."""
    gray = row ^ (row >> 1)
    turns = (np.diff(gray.astype(int), prepend=int(gray[0]))) & 3
    heading, most, sums = 0, 0, {1: 0, -1: 0}
    for at, turn in enumerate(turns):
        if at % chunk == 0:
            sums = {1: 0, -1: 0}
        heading = {0: heading, 1: 1, 2: heading, 3: -1}[int(turn)]
        if turn and heading:
            sums[heading] += 1 + (turn == 2)
        most = max(most, *sums.values())
    return most


def test_a_byte_of_steps_runs_over_in_words_and_not_by_chance() -> None:
    work = once_read.parsed("rotary/fields128").work
    _, extra = once_read.combinations(work, "confirm", 1)
    asked = [one for one in extra if one.family == CYCLES]
    assert len(asked) == 2
    for one in asked:
        for family, over in ((CYCLES, True), ("declared", False)):
            made = Contents(work).of(Combination(one.case, family, one.seed))["state"]
            rows = made.reshape(int(one.case["rows"]), -1)[:40, :2000]
            assert (max(_furthest(row, 128) for row in rows) >= 256) == over
    assert not any(c.family == CYCLES for c in once_read.combinations(work, "screen", 1)[1])
