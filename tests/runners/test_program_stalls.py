"""A host that is slow to start processes is no fault of a program's."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from runners import program, program_beside, program_trial
from runners.fault import Fault
from runners.program_run import Finished, Probe, Ran, Runner, execute
from runners.program_trial import LAST_PATIENCE, PATIENCE
from tests.runners.program_fakes import Fakes, made

pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="needs a C++ compiler")


@pytest.fixture(scope="module")
def fakes(tmp_path_factory: pytest.TempPathFactory) -> Fakes:
    return made(tmp_path_factory.mktemp("programs"))


class Stalls:
    """Runs programs, and says of some of one's runs that they were killed."""

    def __init__(self, name: str, numbers: set[int], *, launched: bool) -> None:
        self.name, self.numbers, self.launched = name, numbers, launched
        self.limits: list[float] = []
        self._run = Runner.run

    def run(
        self, runner: Runner, path: Path, arguments: Sequence[str], probe: Probe, seconds: float
    ) -> Ran:
        """Stand for the method."""
        done = self._run(runner, path, arguments, probe, seconds)
        if path.name != self.name:
            return done
        self.limits.append(seconds)
        if len(self.limits) not in self.numbers:
            return done
        return replace(done, exit=None, report=None, launched=self.launched)


def judge(
    fakes: Fakes,
    monkeypatch: pytest.MonkeyPatch,
    stalls: Stalls,
    seconds: float = 20.0,
    **context: Any,
) -> dict[str, Any]:
    def run(runner: Runner, *given: Any) -> Ran:
        return stalls.run(runner, *given)

    monkeypatch.setattr(Runner, "run", run)
    request = fakes.request("ok", "fast", effort="confirm") | {"limits": {"seconds": seconds}}
    return program.evaluate(request, fakes.context() | context)


def test_what_never_came_to_a_launch_is_run_again_and_waited_for(
    fakes: Fakes, monkeypatch: pytest.MonkeyPatch
) -> None:
    stalls = Stalls("saxpy-fast", {1}, launched=False)
    assert judge(fakes, monkeypatch, stalls)["status"] == "correct"
    assert stalls.limits[1] == pytest.approx(PATIENCE * stalls.limits[0], rel=0.01)


@pytest.mark.parametrize(("stalled", "launched"), [({1}, False), ({1, 2}, False), ({1}, True)])
def test_an_original_that_never_came_to_a_launch_is_run_once_more(
    fakes: Fakes, monkeypatch: pytest.MonkeyPatch, stalled: set[int], launched: bool
) -> None:
    """One that launches and does not end is too slow, and so is what does not begin twice."""
    stalls = Stalls("saxpy-ok", stalled, launched=launched)
    if stalled == {1} and not launched:
        assert judge(fakes, monkeypatch, stalls, profiles={})["status"] == "correct"
    else:
        with pytest.raises(Fault, match="does not end within"):
            judge(fakes, monkeypatch, stalls, profiles={})
    assert stalls.limits[1:2] == ([] if launched else stalls.limits[:1])


def test_what_does_so_twice_is_waited_for_longer_once_more(
    fakes: Fakes, monkeypatch: pytest.MonkeyPatch
) -> None:
    stalls = Stalls("saxpy-fast", {1, 2}, launched=False)
    assert judge(fakes, monkeypatch, stalls)["status"] == "correct"
    assert PATIENCE * stalls.limits[0] < stalls.limits[2] <= LAST_PATIENCE * stalls.limits[0]


@pytest.mark.parametrize(("share", "shorter"), [(0.01, True), (1e4, False)])
def test_where_its_original_starts_at_once_what_hangs_is_waited_for_less(
    fakes: Fakes, monkeypatch: pytest.MonkeyPatch, share: float, shorter: bool
) -> None:
    """A host without end costs no minute; where starting takes its time, all that there was."""
    monkeypatch.setattr(program_beside, "AGAIN_TIMES", share)
    monkeypatch.setattr(program_beside, "LEAST_AGAIN", 2.5)
    monkeypatch.setattr(program_trial, "LAST_PATIENCE", 3.4)
    stalls = Stalls("saxpy-fast", {1, 2}, launched=False)
    verdict = judge(fakes, monkeypatch, stalls, seconds=90.0)
    assert verdict["status"] == "correct"
    first, _, last = (one / stalls.limits[0] for one in stalls.limits[:3])
    assert first == 1.0
    assert last == pytest.approx(2.5 if shorter else 3.4, rel=0.02)


def test_what_does_so_three_times_is_out_of_time(
    fakes: Fakes, monkeypatch: pytest.MonkeyPatch
) -> None:
    stalls = Stalls("saxpy-fast", {1, 2, 3}, launched=False)
    assert judge(fakes, monkeypatch, stalls)["status"] == "timed out"
    assert len(stalls.limits) == 3


def test_what_launched_and_did_not_end_once_is_at_fault(
    fakes: Fakes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A deadlock that comes now and then is a deadlock."""
    stalls = Stalls("saxpy-fast", {3}, launched=True)
    assert judge(fakes, monkeypatch, stalls)["status"] == "timed out"


@pytest.mark.parametrize("launched", [True, False])
def test_an_original_that_works_is_run_again(
    fakes: Fakes, monkeypatch: pytest.MonkeyPatch, launched: bool
) -> None:
    judge(fakes, monkeypatch, Stalls("", set(), launched=True))  # learns about the original
    stalls = Stalls("saxpy-ok", {2}, launched=launched)
    assert judge(fakes, monkeypatch, stalls)["status"] == "correct"
    assert len(stalls.limits) > 2


@pytest.mark.parametrize(("behaviour", "launched"), [("endless", True), ("hang", False)])
def test_the_first_launch_is_noted(fakes: Fakes, behaviour: str, launched: bool) -> None:
    context = fakes.context()
    runner = Runner(
        interposer=next((context["scratch"] / "interposer").iterdir()),
        scratch=context["scratch"],
        root=fakes.folder / "project",
        library_path=tuple(context["libraries"]),
    )
    probe = Probe("zero", 1)
    run = runner.run(fakes.named(behaviour), [], probe, 1.0)
    assert (run.exit, run.launched) == (None, launched)


@pytest.mark.parametrize(
    ("candidate", "status"), [("fast-tardy", "correct"), ("endless", "timed out")]
)
def test_a_late_candidate_is_refused_if_it_does_not_end(
    fakes: Fakes, monkeypatch: pytest.MonkeyPatch, candidate: str, status: str
) -> None:
    """Held up for once as long as its time is, and a little longer, it ends beside its original."""
    request = fakes.request("ok", candidate)
    assert program.evaluate(fakes.request("ok", "ok"), fakes.context())["status"] == "correct"
    started: list[str] = []

    def counting(
        command: Sequence[str], cwd: Path, env: Mapping[str, str], scratch: Path, seconds: float
    ) -> Finished:
        started.append(Path(command[0]).name)
        return execute(command, cwd, env, scratch, seconds)

    for module in (program_beside, program_trial):
        monkeypatch.setattr(module, "patience", lambda _: 1.2)
    verdict = program.evaluate(request, fakes.context() | {"execute": counting})
    assert verdict["status"] == status, verdict["log"]
    assert started[:2] == [f"saxpy-{candidate}", "saxpy-ok"]
    if status == "timed out":
        assert verdict["log"] == "default: still running after 1 s"
        assert len(started) == 2  # what ends when it is started again has hung all the same
