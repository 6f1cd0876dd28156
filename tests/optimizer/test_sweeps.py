"""The pace at which garbage is looked for changes while searches run, and comes back."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from optimizer.sweeps import PACE, fewer_sweeps


@pytest.fixture(autouse=True)
def _restored() -> Iterator[None]:
    usual = gc.get_threshold()
    yield
    gc.set_threshold(*usual)


def test_the_pace_comes_back_when_the_last_search_ends() -> None:
    """Of two searches the first to end changes nothing."""
    gc.set_threshold(700, 10, 10)
    one, other = fewer_sweeps(), fewer_sweeps()
    one.__enter__()
    other.__enter__()
    assert gc.get_threshold() == PACE
    one.__exit__(None, None, None)
    assert gc.get_threshold() == PACE
    other.__exit__(None, None, None)
    assert gc.get_threshold() == (700, 10, 10)


@pytest.mark.parametrize("pace", [(0, 10, 10), (50_000, 20, 20)])
def test_a_slower_pace_stays(pace: tuple[int, int, int]) -> None:
    """Who turned collection off, or slowed it further, meant it."""
    gc.set_threshold(*pace)
    with fewer_sweeps():
        assert gc.get_threshold() == pace
    assert gc.get_threshold() == pace


def test_the_pace_comes_back_when_a_search_fails() -> None:
    """An exception passes through and leaves nothing behind."""
    gc.set_threshold(700, 10, 10)
    with pytest.raises(ZeroDivisionError), fewer_sweeps():
        raise ZeroDivisionError
    assert gc.get_threshold() == (700, 10, 10)
