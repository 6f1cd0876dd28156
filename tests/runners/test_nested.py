"""Rows of whole numbers that open and close, deeper and farther apart than chance has them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from runners import nested
from runners.contents import Combination, Contents
from runners.families import NESTED
from tests.redteam import once_read
from tests.runners.test_shaped_numbers import _made, _work


def _unlike(text: Any, depth: int) -> bool:
    """Tell whether a row's outer brackets are wrong so deep, as `yoked` has them: 1 and 3 open."""
    opened: list[int] = []
    deepest = 0
    for c in text.tolist():
        if c > 3:
            continue
        if c & 1:
            opened.append(c)
            deepest = max(deepest, len(opened))
        elif not opened or opened.pop() != c + 1:
            return deepest > depth and len(opened) == 0
    return False


def test_brackets_are_64_deep_and_the_outermost_is_wrong() -> None:
    """The case that what keeps their kinds in the bits of a word does not do."""
    work = once_read.parsed("yoked/kinds_in_a_word").work
    _, extra = once_read.combinations(work, "confirm", 1)
    wrong: dict[int, int] = {}
    for one in (one for one in extra if one.family == NESTED):
        cols = int(one.case["cols"])
        text = Contents(work).of(one)["text"].reshape(-1, cols)
        wrong[cols] = wrong.get(cols, 0) + sum(_unlike(row, 64) for row in text)
    assert wrong.keys() == {130, 2801}
    assert all(wrong.values())


def test_what_closes_is_what_opened_the_other_way_round() -> None:
    work = _work("unsigned char", "rows*cols", "randint:10:13", rows=40, cols=21)
    made = _made(work, NESTED).reshape(40, 21).astype(int)
    by = made[:, 10:20][:, ::-1] - made[:, :10]
    inner = by[:, 1:]
    assert (inner == inner[:, :1]).all()
    assert set(np.unique(inner)) == {-1, 0, 1}
    assert 0 < (by[:, 0] != by[:, 1]).sum() < 40
    assert {len(np.unique(row)) for row in made[:, :10]} == {1, 2}


def test_two_turns_have_other_ways() -> None:
    work = _work("unsigned char", "rows*cols", "randint:0:5", rows=20, cols=100)
    assert nested.turns(work, work.cases[0].values) == 2
    assert nested.turns(work, {"rows": 1000.0, "cols": 100.0}) == 1

    def ways(seed: int) -> set[frozenset[tuple[int, int]]]:
        made = _made(work, NESTED, seed).reshape(20, 100).tolist()
        return {frozenset(zip(row[:50], row[:49:-1], strict=True)) for row in made}

    first, second = ways(4), ways(5)
    assert len(first) == len(second) == 20
    assert not first & second


@pytest.mark.parametrize(
    ("init", "marks", "found"),
    [
        ("randint:3:9", (), [3, 4, 5, 6, 7, 8]),
        ("randint:32:127", (40, 41, 0, 3), [39, 40, 41, 42]),
        ("randint:0:256", (40, 41, 91, 93, 0, 3, 7, 9, 20), [0, 3, 7, 9, 40, 41, 91, 93]),
        ("randint:0:256", (), []),
    ],
)
def test_what_opens_and_closes(init: str, marks: tuple[int, ...], found: list[int]) -> None:
    """All of a small range; of another one what the text names, letters first, and what is beside."""
    low, high = (int(word) for word in init.split(":")[1:])
    work = replace(_work("unsigned char", "n", init, n=4000), marks=marks)
    assert nested._marks(work, low, high - 1) == found


def test_of_places_few_meet_and_short_rows_do_not_nest() -> None:
    """Threads that exchange a word until it holds take a time that grows with their square."""
    work = _work("int", "rows*cols", "randint:0:5", rows=1000, cols=1000)
    made, drawn = (_made(work, one).reshape(1000, 1000) for one in (NESTED, "declared"))
    same = (made == drawn).all(axis=1)
    assert not same[:69].any()
    assert same[69:].all()
    short = _work("int", "rows*cols", "randint:0:5", rows=1000, cols=15)
    assert not nested.turns(short, short.cases[0].values)


def test_the_longer_rows_are_asked_last() -> None:
    """Where the original takes too long for the first it is not asked for them."""
    work = _work("unsigned char", "rows*cols", "randint:0:5", rows=40, cols=130)
    _, extra = once_read.combinations(work, "confirm", 1)
    asked = [one.case for one in extra if one.family == NESTED]
    assert asked[0] == {"rows": 40.0, "cols": 130.0}
    assert {"rows": 40.0, "cols": 521.0} in asked[1:]
    assert Combination(asked[0], NESTED, 1) in extra
