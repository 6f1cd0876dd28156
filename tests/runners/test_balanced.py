"""Rows that no sum, no weighted sum and no polynomial hash tells apart."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from runners import balanced, sizes
from runners.contents import Combination, Contents
from runners.families import BALANCED
from tests.redteam import once_read
from tests.runners.test_inputs import _work
from tests.runners.test_twins import _array

FACTORS = (31, 257, 0x01000193, 0x9E3779B97F4A7C15, 6364136223846793005)


def _hash(row: Any, factor: int, bits: int) -> int:
    found = 0
    for letter in row:
        found = (found * factor + int(letter) + 1) % (1 << bits)
    return found


@pytest.mark.parametrize(("length", "bits"), [(128, 32), (1024, 64)])
@pytest.mark.parametrize("factor", FACTORS)
def test_a_word_and_its_opposite_have_one_hash(length: int, bits: int, factor: int) -> None:
    word = balanced.word(length)
    assert _hash(word, factor, bits) == _hash(word ^ 1, factor, bits)
    # Of what is shorter by half some hashes of so many bits tell.
    half = word[: length // 2]
    assert _hash(half, 3, bits) != _hash(half ^ 1, 3, bits)


def test_powers_of_places_add_up_to_the_same() -> None:
    word, at = balanced.word(64).astype(bool), np.arange(64, dtype=object)
    assert all((at[word] ** power).sum() == (at[~word] ** power).sum() for power in range(6))


def test_rows_that_are_declared_and_rows_long_enough_for_64_bits_are_asked() -> None:
    work = _work(_array("a"), rows=4000, cols=96)
    assert [dict(case) for case in balanced.cases(work)] == [
        {"rows": 4000.0, "cols": 96.0},
        {"rows": 24.0, "cols": 1025.0},
        {"rows": 24.0, "cols": 1024.0},
    ]
    # What is declared so long is all that is asked. Sixteen times as long as 40 is as long as such rows may be; of 7 there are none.
    assert [dict(case) for case in balanced.cases(_work(_array("a"), rows=40, cols=40))] == [
        {"rows": 24.0, "cols": 640.0},
        {"rows": 24.0, "cols": 512.0},
    ]
    assert not [*balanced.cases(_work(_array("a"), rows=40, cols=7))]
    assert [dict(case) for case in balanced.cases(_work(_array("a"), rows=40, cols=2000))] == [
        {"rows": 40.0, "cols": 2000.0},
        {"rows": 24.0, "cols": 2048.0},
    ]


def test_the_halves_of_a_row_are_opposite_and_have_one_hash() -> None:
    """Who halves a row whose halves are alike, as their hashes are."""
    work = _work(_array("a"), rows=4000, cols=200)
    case = [*balanced.cases(work)][-1]
    assert case["cols"] == 2048.0
    made = Contents(work).of(Combination(case, BALANCED, 1))["a"].view(np.int32).reshape(24, 2048)
    for row in made:
        one, other = row[:1024], row[1024:]
        assert not (one == other).any()
        assert _hash(one, 31, 32) == _hash(other, 31, 32)


def test_an_array_without_rows_has_stretches_of_such_words() -> None:
    work = _work(_array("a", shape="n"), n=5000)
    (first, long) = balanced.cases(work)
    assert (first["n"], long["n"]) == (5000.0, float(8 * 1024 + 1))
    made = Contents(work).of(Combination(long, BALANCED, 1))["a"].view(np.int32)
    rows = made[: 8 * 1024].reshape(8, 1024)
    assert len({row.tobytes() for row in rows}) == 2
    assert len({_hash(row, 257, 64) for row in rows}) == 1


@pytest.mark.parametrize(
    ("init", "kind", "dtype"),
    [
        ("randint:0:90", "const int*", np.int32),
        ("randint:0:4294967296", "const unsigned*", np.uint32),
        ("randint:97:99", "const unsigned char*", np.uint8),
        ("randint:-9:-2", "const long long*", np.int64),
    ],
)
def test_rows_are_of_two_letters_of_their_range_and_some_are_alike(
    init: str, kind: str, dtype: Any
) -> None:
    low, high = (int(word) for word in init.split(":")[1:])
    work = _work(_array("a", init, kind), _array("b", init, kind), rows=48, cols=1100)
    pairs = set()
    for seed in range(1, 9):
        made = Contents(work).of(Combination(work.cases[0].values, BALANCED, seed))
        one, other = (made[name].view(dtype).reshape(48, 1100) for name in "ab")
        assert {*np.unique(one)} == {*np.unique(other)}
        assert low <= one.min() < one.max() < high
        assert len({_hash(row, 257, 64) for row in (*one, *other)}) == 1
        same = (one == other).all(axis=1)
        pairs |= {bool(row) for row in same}
        assert {bool((a == b).all()) for a, b in itertools.pairwise(one)} == {True, False}
    assert pairs == {True, False}


def test_some_originals_of_the_red_team_are_asked_in_a_confirmation() -> None:
    asked = [
        one
        for one in once_read.combinations(once_read.parsed("abacus/base").work, "confirm", 1)[1]
        if one.family == BALANCED
    ]
    assert asked
    work = once_read.parsed("abacus/base").work
    assert all(sizes.elements(work, one.case) <= balanced.MOST_ELEMENTS for one in asked)
