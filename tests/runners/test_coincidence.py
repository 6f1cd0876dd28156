"""Elements that equal what was there before: written, where exactly they are missing."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runners.coincidence import MOST, cleared, written
from runners.compare import Answer, compare
from runners.cuda_types import parse


def _rows(words: list[int] | np.ndarray) -> np.ndarray:
    return np.asarray(words, np.int32).view(np.uint8).reshape(-1, 4).copy()


def _poison(count: int, seed: int = 5) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.asarray(rng.integers(1 << 20, 1 << 31, count), np.int32)


@settings(max_examples=60, deadline=None)
@given(
    st.integers(1, 60),
    st.integers(0, 60),
    st.integers(0, MOST + 2),
    st.integers(0, 1000),
)
def test_a_few_that_equal_their_poison_were_written(
    count: int, left: int, equal: int, seed: int
) -> None:
    """Two lists in orders of their own; elements of one stand where the poison is the same."""
    rng = np.random.default_rng(seed)
    poison = _poison(count + left, seed)
    equal = min(equal, count)
    mine = rng.choice(1 << 19, count, replace=False).astype(np.int32)
    at = rng.permutation(count)[:equal]
    mine[at] = poison[at]
    theirs = rng.permutation(mine)
    both = [np.concatenate([one, poison[count:]]) for one in (mine, theirs)]
    # By chance one of theirs may stand where its poison is, too: then nothing is to be seen.
    fixed = theirs == poison[:count]
    marks = written(_rows(both[0]), _rows(poison), _rows(theirs))
    assert marks[:count].all() == (equal <= MOST)
    assert not marks[count:].any()
    one, other = (b.view(np.uint8).copy() for b in both)
    cleared((one, other), poison.view(np.uint8), 4)
    same = sorted(one.view(np.int32)) == sorted(other.view(np.int32))
    assert same == (equal - int(fixed.sum()) <= MOST or equal == 0)


def test_what_is_missing_is_missing() -> None:
    """One element fewer, and none among the poison that is the one."""
    poison = _poison(1000)
    got = poison.copy()
    got[:500] = np.arange(500)
    want = np.arange(501, dtype=np.int32)
    assert int(written(_rows(got), _rows(poison), _rows(want)).sum()) == 500
    # One is missing and another one wrong: what equals the poison explains but one of both.
    want[7], poison[900] = 70_000, 70_000
    got[900] = 70_000
    assert int(written(_rows(got), _rows(poison), _rows(want)).sum()) == 500
    other = np.concatenate([got[:500], poison[500:]]), np.concatenate([want, poison[501:]])
    one, two = (b.astype(np.int32).view(np.uint8).copy() for b in other)
    cleared((one, two), poison.view(np.uint8), 4)
    assert sorted(one.view(np.int32)) != sorted(two.view(np.int32))


@pytest.mark.parametrize("size", [1, 2, 4, 8, 12, 16])
def test_elements_may_have_any_size(size: int) -> None:
    rng = np.random.default_rng(size)
    poison = rng.integers(0, 256, (40, size)).astype(np.uint8)
    got = poison.copy()
    got[:20] ^= 0x55
    want = np.concatenate([got[:20], poison[30:31]])[::-1].copy()
    found = written(got, poison, want)
    assert int(found.sum()) == 21
    assert found[:20].all()
    assert (got[found][20:] == poison[30]).all()


def test_a_list_with_such_an_element_equals_the_original_s() -> None:
    """The original wrote three; where one of the candidate's stands there was the same before."""
    poison = _poison(6)
    want = poison.copy()
    want[:3] = [poison[4], 11, 12]
    untouched = np.array([False] * 3 + [True] * 3)
    answer = Answer("list", parse("int*"), want.view(np.uint8), (None,), untouched, unordered=True)
    got = poison.copy()
    got[[3, 5]] = [12, 11]  # and one at 4, of which nothing is to be seen
    assert compare(got.view(np.uint8), answer, poison.view(np.uint8)).passed
    got[4] = 13
    assert not compare(got.view(np.uint8), answer, poison.view(np.uint8)).passed
    got[4], got[5] = poison[4], poison[5]
    assert not compare(got.view(np.uint8), answer, poison.view(np.uint8)).passed
