"""A late program is waited for as long as its original, run beside it, says that it may take."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from runners import program_beside
from runners.program_beside import waiting
from runners.program_run import Execute, Extended, Finished, Probe, Runner, execute, sandboxed
from runners.sandbox import Sandbox

SHELL = Path("/bin/sh")
# It comes to its first launch, and then so many seconds pass.
LAUNCHED = 'echo > "${OPTIML_PROBE%/*}/report.json.begun"; sleep $0; echo done'


def runner(tmp_path: Path, run: Execute = execute) -> Runner:
    for name in ("project", "scratch"):
        (tmp_path / name).mkdir()
    (tmp_path / "none.so").touch()
    library = (str(tmp_path),)
    return Runner(tmp_path / "none.so", tmp_path / "scratch", tmp_path / "project", 0, library, run)


@pytest.mark.parametrize("boxed", [False, True])
@pytest.mark.parametrize(("more", "ends"), [(5.0, True), (0.1, False)])
def test_what_is_late_goes_on_for_as_long_as_it_is_given(
    tmp_path: Path, more: float, *, boxed: bool, ends: bool
) -> None:
    asked: list[float] = []

    def late() -> float:
        asked.append(time.monotonic())
        return more

    with Sandbox("own") as sandbox:
        mine = runner(tmp_path, sandboxed(sandbox, gpu=False) if boxed else execute)
        begun = time.monotonic()
        ran = replace(mine, late=late).run(SHELL, ["-c", LAUNCHED, "3.5"], Probe(), 2.0)
    assert (ran.exit, ran.stdout) == ((0, "done\n") if ends else (None, ""))
    assert ran.launched
    assert len(asked) == 1
    assert asked[0] - begun >= 2.0


def test_what_ends_in_time_or_launched_nothing_asks_for_no_more(tmp_path: Path) -> None:
    def late() -> float:
        raise AssertionError

    mine = replace(runner(tmp_path), late=late)
    assert mine.run(SHELL, ["-c", LAUNCHED, "0"], Probe(), 20).exit == 0
    begun = time.monotonic()
    assert mine.run(SHELL, ["-c", "sleep 20"], Probe(), 0.3).exit is None
    assert time.monotonic() - begun < 10


def of(seconds: float) -> Any:
    """Return what is asked of an original's profile, with what it sleeps."""
    return SimpleNamespace(arguments=("-c", LAUNCHED, str(seconds)), launches=1, copies=1)


def test_who_is_held_up_with_its_original_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As long as it would have had if the original had taken that long from the beginning."""
    monkeypatch.setattr(program_beside, "patience", lambda seconds: 5 * seconds)
    monkeypatch.setattr(program_beside, "LEAST_SECONDS", 0.0)
    with Sandbox("own") as sandbox:
        mine = runner(tmp_path, sandboxed(sandbox, gpu=False))
        for mine_takes, original_takes, exits in (("4", 1.0, 0), ("60", 0.0, None)):
            late = waiting(mine, SHELL, of(original_takes), Probe(), (1.5, 60.0))
            ran = late.run(SHELL, ["-c", LAUNCHED, mine_takes], Probe(), 1.5)
            assert ran.exit == exits, mine_takes
            assert ran.launched


def test_a_run_of_the_original_that_does_not_end_costs_no_more_than_there_is(
    tmp_path: Path,
) -> None:
    late = waiting(runner(tmp_path), SHELL, of(30.0), Probe(), (0.5, 1.2))
    begun = time.monotonic()
    assert late.run(SHELL, ["-c", LAUNCHED, "30"], Probe(), 0.5).exit is None
    assert 1.5 < time.monotonic() - begun < 10


def test_the_original_is_run_as_it_is(tmp_path: Path) -> None:
    """Without what a candidate has more, and to the end of its own launches."""
    probes: list[Probe] = []

    def kept(
        command: Sequence[str], cwd: Path, env: Mapping[str, str], scratch: Path, seconds: float
    ) -> Finished:
        if isinstance(seconds, Extended):
            (scratch / "report.json.begun").touch()
            assert seconds.more() >= 0
        else:
            lines = (scratch / "probe.txt").read_text().splitlines()
            probes.append(Probe(stop=(7, 3)) if "stop 7 3" in lines else Probe())
            assert not any(line.startswith("fresh") for line in lines)
        return Finished(None, b"", b"")

    known = SimpleNamespace(arguments=(), launches=7, copies=3)
    probe = Probe(stop=(2, 2), fresh=("added",))
    late = waiting(runner(tmp_path, kept), SHELL, known, probe, (1.0, 9.0))  # type: ignore[arg-type]
    late.run(SHELL, [], probe, 1.0)
    late = waiting(late, SHELL, known, replace(probe, stop=None), (1.0, 9.0))  # type: ignore[arg-type]
    assert [one.stop for one in probes] == [(7, 3)]
