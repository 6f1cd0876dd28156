"""Counters are asked about large gains, and believed when they know nothing."""

from __future__ import annotations

import stat
from pathlib import Path
from typing import Any

import pytest

from runners import counted, spec
from runners.checks import Report, Wrong
from runners.contents import Combination
from runners.large_gains import LargeGains
from tests.runners.test_judge import SCALE, _job

FAKE = """#!/bin/sh
echo "==PROF== Connected to process 1"
echo '"ID","Kernel Name","gpc__cycles_elapsed.max"'
echo '"","","cycle"'
echo '"0","scale","1,500"'
echo '"1","scale","500"'
"""


def _request() -> dict[str, object]:
    return {"job": _job(SCALE), "candidate": {"path": "a"}, "baseline": {"path": "b"}}


def test_the_cycles_of_all_kernels_of_a_run_are_added(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An entry function may launch several."""
    program = tmp_path / "ncu"
    program.write_text(FAKE)
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setattr(counted, "command", lambda: str(program))
    combination = Combination({"n": 7.0}, "declared", 1)
    assert counted.cycles(_request(), "baseline", combination, 0, tmp_path, 20.0) == 2000.0


def test_without_counters_nothing_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Many hosts keep them from users who are not root."""
    combination = Combination({"n": 7.0}, "declared", 1)
    monkeypatch.setattr(counted, "command", lambda: None)
    assert counted.cycles(_request(), "candidate", combination, 0, tmp_path, 5.0) is None
    assert counted.total("==ERROR== ERR_NVGPUCTRPERM") is None
    assert counted.most_gain(None, None) is None


@pytest.mark.parametrize(
    ("gain", "before", "after", "believed"),
    [(110.0, 5e6, 6e4, True), (30.0, 5e6, 4.9e6, False)],
)
def test_a_gain_that_no_counter_shows_is_not_believed(
    gain: float, before: float, after: float, believed: bool
) -> None:
    """Within a factor for cold caches."""
    most = counted.most_gain(before, after)
    assert most is not None
    assert (gain <= most) is believed


class Timed:
    """What was measured once, and what would be if it were measured again."""

    def __init__(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cycles: dict[str, list[float]]
    ) -> None:
        self.asked: list[str] = []
        self.report = Report()
        self.measured: dict[str, Any] = {"cases": [_times(100.0)], "notes": []}
        self._gains = LargeGains(0, tmp_path)

        def counts(_: object, which: str, *__: object) -> float:
            self.asked.append(which)
            return cycles[which].pop(0)

        monkeypatch.setattr(counted, "cycles", counts)

    def check(self, *gains: float) -> None:
        """Ask about a hundredfold gain, which is of these sizes when it is measured again."""
        left = [*gains]

        def again(case: spec.CaseSpec) -> dict[str, list[float]]:
            self.asked.append(f"times of {case.name}")
            return _times(left.pop(0) if len(left) > 1 else left[0])

        job = spec.parse(_job(SCALE))
        self._gains.check(_request(), job, self.measured, again, self.report)


def _times(gain: float) -> dict[str, list[float]]:
    return {"baseline_us": [9.0 * gain] * 3, "candidate_us": [9.0] * 3}


def test_an_originals_cycles_are_counted_once_for_all_candidates(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And each candidate's own."""
    timed = Timed(tmp_path, monkeypatch, {"baseline": [5e6], "candidate": [5e4, 5e4]})
    timed.check(1.0)
    timed.check(1.0)
    assert timed.asked == ["baseline", "candidate", "candidate"]
    assert timed.measured["notes"] == []
    (check,) = timed.report.as_json()
    assert (check["passed"], check["error"], check["bound"]) == (True, 100.0, 300.0)


def test_what_no_counter_shows_is_refused_when_it_was_measured_again_and_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cycles are counted anew as well: what disturbed one may have disturbed the other."""
    timed = Timed(tmp_path, monkeypatch, {"baseline": [5e6] * 4, "candidate": [5e6] * 4})
    with pytest.raises(Wrong, match="90 times as fast, and no counter fell alike"):
        timed.check(90.0)
    assert len(timed.asked) == 2 + 3 * 3
    assert timed.asked[2].startswith("times of n=")


def test_others_may_disturb_what_is_measured_more_than_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A right histogram was 149 times as fast twice in a row, while programs ran beside it."""
    timed = Timed(tmp_path, monkeypatch, {"baseline": [5e6] * 3, "candidate": [2.5e5] * 3})
    timed.check(149.0, 45.0)
    assert timed.measured["cases"] == [_times(45.0)]
    (note,) = timed.measured["notes"]
    assert "timed again (2 times), because no counter fell 100 times: 45 times as fast" in note


@pytest.mark.parametrize(("again", "asked"), [(45.0, 2), (1.5, 1)])
def test_a_gain_that_a_busy_host_made_larger_is_what_it_is_the_second_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, again: float, asked: int
) -> None:
    """So a good candidate of the red team was refused, whose original waited for its turn."""
    cycles = {"baseline": [5e6] * 2, "candidate": [2.5e5] * 2}
    timed = Timed(tmp_path, monkeypatch, cycles)
    timed.check(again)
    assert timed.measured["cases"] == [_times(again)]
    assert timed.asked.count("candidate") == asked
    (note,) = timed.measured["notes"]
    assert f"timed again, because no counter fell 100 times: {again:g} times as fast" in note
    assert all(check["passed"] for check in timed.report.as_json())
