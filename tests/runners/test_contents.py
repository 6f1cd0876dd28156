"""Contents are made once, and let go of when there are too many."""

from __future__ import annotations

import numpy as np
import pytest

from runners import contents
from runners.contents import Combination, Contents
from runners.inputs import Arrays
from tests.runners.test_inputs import _pointer, _work


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the keys of what is made, as it is."""
    every: list[str] = []
    fresh = Contents._fresh

    def counted(self: Contents, combination: Combination) -> Arrays:
        every.append(combination.key)
        return fresh(self, combination)

    monkeypatch.setattr(Contents, "_fresh", counted)
    return every


def _asked(n: float, seeds: range) -> list[Combination]:
    return [Combination({"n": n}, "declared", seed) for seed in seeds]


def test_thousands_of_small_ones_are_made_once(made: list[str]) -> None:
    keeper = Contents(_work(_pointer(), n=100))
    asked = _asked(100.0, range(20 * contents.KEPT))
    first = [keeper.of(one)["x"].copy() for one in asked]
    keeper.expect(asked[0])
    again = [keeper.of(one)["x"] for one in asked]
    assert made == [one.key for one in asked]
    assert all(np.array_equal(one, other) for one, other in zip(first, again, strict=True))


def test_of_large_ones_few_are_kept_and_the_latest(made: list[str]) -> None:
    n = float(contents.SMALL_BYTES)
    keeper = Contents(_work(_pointer(), n=n))
    asked = _asked(n, range(contents.KEPT + 9))
    for one in [*asked, asked[-1], asked[0]]:
        keeper.of(one)
    assert made == [one.key for one in [*asked, asked[0]]]


def test_small_ones_have_room_as_well(made: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contents, "SMALL_KEPT_BYTES", 4000)
    keeper = Contents(_work(_pointer(), n=100))
    asked = _asked(100.0, range(12))
    for one in [*asked[:9], asked[0], *asked[9:], asked[0], asked[1]]:
        keeper.of(one)
    # Ten of 400 bytes: the first was asked for again, and what was not went first.
    assert made == [one.key for one in [*asked, asked[1]]]
    assert keeper._small_total <= 4000
