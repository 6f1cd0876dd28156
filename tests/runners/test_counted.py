"""Counters are asked about large gains, and believed when they know nothing."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from runners import counted, spec
from runners.contents import Combination
from runners.judge import Judge
from runners.verify import Report, Wrong
from tests.runners.host_gpu import HostGpu
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
    assert counted.believable(500.0, None, None)


@pytest.mark.parametrize(
    ("gain", "before", "after", "believed"),
    [(110.0, 5e6, 6e4, True), (30.0, 5e6, 4.9e6, False), (9.0, 1.0, 1.0, True)],
)
def test_a_gain_that_no_counter_shows_is_not_believed(
    gain: float, before: float, after: float, believed: bool
) -> None:
    """Within a factor for cold caches; below tenfold nobody asks."""
    assert counted.believable(gain, before, after) is believed


def test_an_originals_cycles_are_counted_once_for_all_candidates(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And each candidate's own; one whose do not fall is refused."""
    asked: list[str] = []
    left = {"candidate": [5e4, 5e6]}

    def cycles(_: object, which: str, *__: object) -> float:
        asked.append(which)
        return left[which].pop(0) if which in left else 5e6

    monkeypatch.setattr(counted, "cycles", cycles)
    judge = Judge(HostGpu(), 0, tmp_path, lambda _text, _job: None)
    job = spec.parse(_job(SCALE))
    measured = {"cases": [{"baseline_us": [900.0] * 3, "candidate_us": [9.0] * 3}]}
    judge._counted(_request(), job, measured, Report())
    with pytest.raises(Wrong, match="no counter fell alike"):
        judge._counted(_request(), job, measured, Report())
    judge.close()
    assert asked == ["baseline", "candidate", "candidate"]
