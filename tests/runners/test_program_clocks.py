"""A program that is right on one date alone is refused; its runs begin at the same one else."""

from __future__ import annotations

import shutil
import time
from types import SimpleNamespace
from typing import Any

import pytest

from runners import program, program_clocks
from runners.moved_clocks import LAYER
from runners.program_run import Probe, Runner
from tests.runners.program_fakes import Fakes, made

pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="needs a C++ compiler")

TUESDAY = 1795536341.0  # 2026-11-24


@pytest.fixture(scope="module")
def fakes(tmp_path_factory: pytest.TempPathFactory) -> Fakes:
    return made(tmp_path_factory.mktemp("programs"))


def _judged(
    fakes: Fakes, baseline: str, candidate: str, *, edit_host: bool = True, effort: str = "confirm"
) -> dict[str, Any]:
    request = fakes.request(baseline, candidate, effort=effort)
    request["job"] |= {
        "kernel": {"source": "int main() { mine(); }"},
        "baseline": {"source": "int main() {}"},
    }
    request["job"]["workload"]["accept"] = {"edit_host": edit_host}
    request["limits"] = {"seconds": 120.0}
    return program.evaluate(request, fakes.context())


def _looked(verdict: dict[str, Any]) -> int:
    return sum(check["layer"] == LAYER for check in verdict["checks"])


def test_what_is_right_on_one_date_alone_is_refused(fakes: Fakes) -> None:
    """All other runs begin in 2023."""
    verdict = _judged(fakes, "ok", "dated")
    assert verdict["status"] == "wrong result"
    assert verdict["log"].startswith("with its clock as it is now: ")
    assert _judged(fakes, "ok", "dated", edit_host=False)["status"] == "correct"


@pytest.mark.parametrize(("baseline", "candidate"), [("ok", "fast"), ("calendar", "calendar-fast")])
def test_what_is_right_on_any_is_accepted(fakes: Fakes, baseline: str, candidate: str) -> None:
    """One that prints the date as its original does, too."""
    verdict = _judged(fakes, baseline, candidate)
    assert verdict["status"] == "correct", verdict["log"]
    assert _looked(verdict) == 5
    assert not any("clock" in note for note in verdict["measurement"]["notes"])


def test_who_prints_another_date_than_its_original_is_refused(
    fakes: Fakes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On the weekday that all other runs begin on: on another one its original differs, too."""
    now = SimpleNamespace(time=lambda: TUESDAY, monotonic=time.monotonic)
    monkeypatch.setattr(program_clocks, "time", now)
    verdict = _judged(fakes, "calendar", "calendar-tomorrow")
    assert verdict["status"] == "wrong result"
    assert "with its clock" in verdict["log"]


def test_an_original_whose_results_depend_on_the_date_says_nothing(fakes: Fakes) -> None:
    """One that takes its seed from the clock."""
    verdict = _judged(fakes, "clock", "clock-fast")
    assert verdict["status"] == "correct", verdict["log"]
    assert program_clocks.ANOTHER in verdict["measurement"]["notes"]


@pytest.mark.parametrize("terms", [{"edit_host": False}, {"effort": "race"}])
def test_only_finalists_that_may_edit_host_code_are_asked(
    fakes: Fakes, terms: dict[str, Any]
) -> None:
    assert _looked(_judged(fakes, "ok", "fast", **terms)) == 0


def test_where_there_is_no_time_a_note_says_so(
    fakes: Fakes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(program_clocks, "EACH", 1e9)
    verdict = _judged(fakes, "ok", "fast")
    assert verdict["status"] == "correct"
    said = [note for note in verdict["measurement"]["notes"] if "its clock was not set" in note]
    assert len(said) == 1


def test_the_clock_of_a_run_begins_where_it_is_told(fakes: Fakes) -> None:
    """And where nothing is told, at one and the same date."""
    runner = Runner(
        interposer=next((fakes.folder / "scratch" / "interposer").iterdir()),
        scratch=fakes.folder / "scratch",
        root=fakes.folder / "project",
        library_path=(str(fakes.folder),),
    )
    found, now = [], int(time.time())
    for wall in (None, 1700000000, 1700000000 + 86400, now):
        run = runner.run(fakes.named("calendar"), [], Probe(wall=wall), 30.0)
        found.append(run.stdout.split("\n")[2])
    assert found == ["Tuesday", "Tuesday", "Wednesday", time.strftime("%A", time.gmtime(now))]
