"""All cases of a confirmation share one time for their timed runs."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from runners import program_pairs
from runners.program_pairs import CONFIRM_SECONDS, PAIRS, SECONDS, Pairs
from runners.program_recent import Recent


class Clock:
    """Stands for `time`: what is timed says how long it took."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now


def timed(
    monkeypatch: pytest.MonkeyPatch, seconds: list[float], pairs: list[int], effort: str = "confirm"
) -> tuple[list[int], float]:
    """Time cases whose runs take so long, settled after so many pairs; return pairs and seconds."""
    clock = Clock()
    monkeypatch.setattr(program_pairs, "time", clock)
    done: list[int] = []

    def time(_pairs: Pairs, original: Any, _bounds: Any, _done: Any, within: float) -> Any:
        fewest, most = PAIRS[effort]
        ends, count = clock.now + within, 0
        while True:
            clock.now += 2 * original.seconds
            count += 1
            if count == most or (count >= max(fewest, pairs[len(done)])) or (
                count >= fewest and clock.now > ends
            ):  # fmt: skip
                break
        done.append(count)

    monkeypatch.setattr(Pairs, "time", time)
    trial: Any = SimpleNamespace(effort=effort)
    originals: Any = [SimpleNamespace(seconds=one) for one in seconds]
    spent = {"time": 0.0}
    bounds: Any = None
    Pairs(trial, Recent()).all(originals, bounds, [], spent)
    assert spent["time"] == pytest.approx(clock.now)
    return done, clock.now


def test_many_cases_on_a_busy_host_take_one_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """None is settled, and none gets less than the others for being the last."""
    pairs, seconds = timed(monkeypatch, [1.5] * 4, [99] * 4)
    assert seconds < CONFIRM_SECONDS + 4 * 3 * 1.5
    assert min(pairs) >= PAIRS["confirm"][0]
    assert max(pairs) - min(pairs) <= 1
    pairs, _ = timed(monkeypatch, [0.5, 6.0], [99] * 2)
    assert max(pairs) - min(pairs) <= 1
    pairs, _ = timed(monkeypatch, [9.0] * 4, [99] * 4)
    assert pairs == [PAIRS["confirm"][0]] * 4


def test_what_a_settled_case_leaves_is_for_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    few, _ = timed(monkeypatch, [1.5] * 3, [99] * 3)
    more, _ = timed(monkeypatch, [1.5] * 3, [5, 5, 99])
    assert more[2] > few[2]
    alone, _ = timed(monkeypatch, [1.5], [99])
    assert alone == [PAIRS["confirm"][1]]


@pytest.mark.parametrize("effort", ["screen", "race"])
def test_other_efforts_have_a_time_for_each_case(
    monkeypatch: pytest.MonkeyPatch, effort: str
) -> None:
    pairs, _ = timed(monkeypatch, [SECONDS[effort] / 4] * 3, [99] * 3, effort)
    assert pairs[0] == pairs[1] == pairs[2]


def test_runs_that_take_no_time_share_it(monkeypatch: pytest.MonkeyPatch) -> None:
    assert timed(monkeypatch, [0.0] * 2, [5] * 2) == ([5, 5], 0.0)
