"""Profiles from sessions that work, and one clear sentence from those that do not."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from optimizer import counters
from optimizer.model import Status, Verdict
from runners import profiler as module
from runners.ncu_trouble import BUSY, DENIED, MISSING, trouble
from runners.profiler import (
    LEAST_SECONDS,
    SESSION_SECONDS,
    NcuProfiler,
    Profile,
    in_sandbox,
    profile_jobs,
    run_in_group,
    with_profile,
)
from runners.sandbox import Finished, Sandbox

FAKE = Path(__file__).with_name("fake_ncu.py")


def fake(tmp_path: Path, mode: str, seconds: float = 20.0) -> NcuProfiler:
    ncu = tmp_path / "ncu"
    ncu.write_text(f'#!/bin/sh\nexec {sys.executable} {FAKE} {mode} "$@"\n')
    ncu.chmod(0o755)
    return NcuProfiler(str(ncu), seconds=seconds)


def test_counters_come_by_kernel_and_metric(tmp_path: Path) -> None:
    found = fake(tmp_path, "csv").profile(["/bin/true"])
    assert found[f"saxpy/{counters.GRID_BLOCKS}"] == 65536
    assert f"blur_naive/{counters.DRAM_PCT}" in found


def test_a_session_runs_in_a_directory_of_its_own_that_is_gone_afterwards(tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    script = f'pwd > {seen}; echo "$HOME $TMPDIR" >> {seen}'
    (profile,) = fake(tmp_path, "csv").session(["/bin/sh", "-c", script])
    folder, places = seen.read_text().splitlines()
    assert profile.note == ""
    assert places == f"{folder} {folder}"
    assert not Path(folder).exists()


def test_a_program_runs_where_its_files_are(tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    fake(tmp_path, "csv").session(["/bin/sh", "-c", f"pwd > {seen}"], cwd=str(tmp_path))
    assert seen.read_text().strip() == str(tmp_path)


def test_denied_counters_are_said_with_the_driver_option_and_asked_for_once(tmp_path: Path) -> None:
    profiler = fake(tmp_path, "denied")
    (first,) = profiler.session(["/bin/true"])
    assert first.counters == {}
    assert first.note == DENIED
    assert "NVreg_RestrictProfilingToAdminUsers=0" in first.note
    Path(profiler.path or "").unlink()
    assert profiler.session(["/bin/true"])[0].note == DENIED


def test_a_machine_without_ncu_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "find_ncu", lambda: None)
    (profile,) = NcuProfiler().session(["/bin/true"])
    assert (profile.counters, profile.note) == ({}, MISSING)


def test_an_ncu_that_cannot_be_started_says_so(tmp_path: Path) -> None:
    (profile,) = NcuProfiler(str(tmp_path / "gone")).session(["/bin/true"])
    assert profile.counters == {}
    assert profile.note == "ncu or the program could not be started"


def test_a_session_that_hangs_is_stopped_with_all_its_children(tmp_path: Path) -> None:
    mark = "61.7531"
    (profile,) = fake(tmp_path, "slow", seconds=0.5).session(["/bin/sleep", mark])
    assert "did not finish" in profile.note
    alive = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True)
    assert f"/bin/sleep {mark}" not in alive.stdout


def test_a_failing_program_is_named_as_the_cause(tmp_path: Path) -> None:
    (profile,) = fake(tmp_path, "csv").session(["/bin/sh", "-c", "exit 3"])
    assert profile.note.startswith("the program failed under ncu")


def test_a_program_without_kernels_is_no_error(tmp_path: Path) -> None:
    (profile,) = fake(tmp_path, "silent").session(["/bin/true"])
    assert profile == Profile(seconds=profile.seconds, note="no kernel was launched under ncu")


def test_a_full_disk_is_a_note(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(**_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("runners.profiler.TemporaryFolder", full)
    (profile,) = fake(tmp_path, "csv").session(["/bin/true"])
    assert "No space left on device" in profile.note


@pytest.mark.parametrize(
    ("printed", "words"),
    [
        ("==ERROR== ERR_NVGPUCTRPERM - The user", "NVreg_RestrictProfilingToAdminUsers=0"),
        ("==ERROR== Profiling is not supported on device 0", "newer Nsight Compute"),
        ("==ERROR== Failed to initialize the profiler: LibraryNotLoaded", "do not fit"),
        ("==ERROR== Incompatible driver", "no newer than the driver"),
        ("==ERROR== Profiling failed because a driver resource was unavailable: ResourceUnavailable DCGM", "dcgmi"),
        ("", "exit status 9"),
        ("==ERROR== something new", "something new"),
    ],
)  # fmt: skip
def test_every_trouble_is_one_sentence(printed: str, words: str) -> None:
    found = trouble(printed, 9)
    assert words in found
    assert "\n" not in found


class Sessions(NcuProfiler):
    """Answers like a report whose kernels carry the contexts it is told to have."""

    def __init__(self, contexts: Sequence[int], *, together: bool = True) -> None:
        super().__init__("ncu", run=self.answer)
        self.contexts = contexts
        self.together = together
        self.commands: list[list[str]] = []
        self.requests: list[list[str]] = []

    def answer(
        self, command: Sequence[str], folder: Path, seconds: float, readable: Sequence[str]
    ) -> tuple[int, str]:
        if "--import" in command:
            return 0, self.page()
        self.commands.append(list(command))
        if "--launch" in command:
            file = Path(command[command.index("--launch") + 1])
            assert str(file.parent) in readable
            asked = json.loads(file.read_text())["requests"]
            assert all(entry["times"] == 1 for entry in asked)
            self.requests.append([entry["id"] for entry in asked])
            if len(self.requests[-1]) > 1 and not self.together:
                return 1, "==ERROR== The application returned an error code (1)."
        (folder / "report.ncu-rep").touch()
        return 0, ""

    def page(self) -> str:
        shared = "--launch" in self.commands[-1] and len(self.requests[-1]) > 1
        contexts = self.contexts if shared else [7]
        rows = [f'"ID","Kernel Name","Context","{counters.TIME_NS}"', '"","","",""']
        rows += [f'"{i}","k(int)","{c}","{1000 * c}"' for i, c in enumerate(contexts)]
        rows += ['"99","optiml_fill(int)","1","5"']
        return "\n".join(rows)


def request(name: str, kind: str = "kernel") -> Mapping[str, Any]:
    workload = {"kind": kind, "root": "/", "warm": False, "program": {"runs": [["8", "x"]]}}
    return {"id": name, "job": {"workload": workload}, "candidate": {"path": f"/build/{name}"}}


TIME = f"k/{counters.TIME_NS}"


def test_candidates_share_a_session_and_are_told_apart_by_their_context() -> None:
    profiler = Sessions([4, 2, 9, 4])
    found = profile_jobs(profiler, [request("a"), request("b"), request("c")], ["worker"])
    assert [p.counters[TIME] for p in found] == [2000.0, 4000.0, 9000.0]
    assert profiler.requests == [["a", "b", "c"]]
    assert all("optiml_fill" not in key for p in found for key in p.counters)


def test_a_session_that_lost_a_candidate_is_repeated_one_by_one() -> None:
    profiler = Sessions([4, 2])
    found = profile_jobs(profiler, [request("a"), request("b"), request("c")], ["worker"])
    assert [p.counters[TIME] for p in found] == [7000.0] * 3
    assert profiler.requests == [["a", "b", "c"], ["a"], ["b"], ["c"]]


def test_a_session_that_fails_is_repeated_one_by_one() -> None:
    profiler = Sessions([1, 2], together=False)
    found = profile_jobs(profiler, [request("a"), request("b")], ["worker"])
    assert all(p.counters for p in found)


def test_programs_get_sessions_of_their_own_in_between() -> None:
    profiler = Sessions([1, 2])
    requests = [request("a"), request("p", "program"), request("b")]
    found = profile_jobs(profiler, requests, ["worker"])
    assert [p.counters[TIME] for p in found] == [1000.0, 7000.0, 2000.0]
    program = next(c for c in profiler.commands if "/build/p" in c)
    assert program[-3:] == ["/build/p", "8", "x"]
    assert program[program.index("--kernel-id") + 1].endswith(":1|6")
    assert program[program.index("--launch-count") + 1] == "24"


def test_of_a_program_the_kernels_that_count_are_profiled_and_what_is_behind_them_is_not_run() -> (
    None
):
    profiler = Sessions([])
    requests = [request(name, "program") for name in "pqt"]
    for one, text in zip(requests, ("", "", "template <int N> "), strict=True):
        one["job"]["kernel"] = {"source": text + "__global__ void force() {}"}
    named = ("force", "step")
    profile_jobs(profiler, requests, ["worker"], kernels=[named, (), named])
    program = next(c for c in profiler.commands if "/build/p" in c)
    assert (
        program[program.index("--kernel-id") + 1] == "::regex:^(.*[^a-zA-Z0-9_])?(force|step)$:1|6"
    )
    assert program[program.index("--launch-count") + 1] == "4"
    assert program[program.index("--kill") + 1] == "yes"
    assert program[program.index("--apply-rules") + 1] == "no"
    other = next(c for c in profiler.commands if "/build/q" in c)
    assert other[other.index("--kernel-id") + 1] == "::regex:^(.*)$:1|6"
    templates = next(c for c in profiler.commands if "/build/t" in c)
    assert templates[templates.index("--launch-count") + 1] == "24"
    assert "--kill" not in [*other, *templates]


def test_kernels_that_ncu_knows_by_other_names_are_profiled_all_the_same() -> None:
    class Unseen(Sessions):
        def answer(
            self, command: Sequence[str], folder: Path, seconds: float, readable: Sequence[str]
        ) -> tuple[int, str]:
            done = super().answer(command, folder, seconds, readable)
            if any("(force)" in word for word in command):
                (folder / "report.ncu-rep").unlink()
                return 0, "==WARNING== No kernels were profiled."
            return done

    profiler = Unseen([])
    (found,) = profile_jobs(profiler, [request("p", "program")], kernels=[("force",)])
    assert found.counters[TIME] == 7000.0
    assert len(profiler.commands) == 2


def test_a_session_gets_the_time_that_is_left_and_none_is_begun_without_any() -> None:
    limits: list[float] = []

    class Late(Sessions):
        def answer(
            self, command: Sequence[str], folder: Path, seconds: float, readable: Sequence[str]
        ) -> tuple[int, str]:
            limits.append(seconds)
            return 124, ""

    requests = [request("p", "program"), request("q", "program")]
    first, second = profile_jobs(Late([]), requests, seconds=0.5)
    assert limits == [LEAST_SECONDS]
    assert first.note == "ncu did not finish in 2 s and was stopped"
    assert second.note == "no time was left to read its counters"
    profile_jobs(Late([]), requests[:1], seconds=30.0)
    profile_jobs(Late([]), requests[:1])
    assert 20.0 < limits[1] <= 30.0
    assert limits[2] == SESSION_SECONDS


def test_a_program_without_an_artefact_gets_a_note() -> None:
    (found,) = profile_jobs(Sessions([]), [{**request("p", "program"), "candidate": None}])
    assert "compiled" in found.note


def test_counters_that_another_session_holds_for_a_moment_are_asked_for_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sessions on other GPUs of the host take the counters in turn."""
    monkeypatch.setattr("runners.profiler.BUSY_WAITS", (0.0, 0.0, 0.0))
    (profile,) = fake(tmp_path, f"busy:{tmp_path / 'tries'}").session(["/bin/true"])
    assert profile.counters
    assert (tmp_path / "tries").read_text() == "xxx"
    (held,) = fake(tmp_path, "held").session(["/bin/true"])
    assert held.note == BUSY


def test_denied_counters_are_not_asked_for_one_by_one(tmp_path: Path) -> None:
    profiler = fake(tmp_path, "denied")
    found = profile_jobs(profiler, [request("a"), request("b")], ["/bin/true"])
    assert [p.note for p in found] == [DENIED, DENIED]


def test_a_profile_joins_its_verdict() -> None:
    verdict = Verdict(Status.CORRECT, log="checked", seconds={"compile": 1.0})
    found = with_profile(verdict, Profile({"k/a": 1.0}, {"k:3/stall": 0.5}, 2.5, "a note"))
    assert found.counters == {"k/a": 1.0}
    assert found.lines == {"k:3/stall": 0.5}
    assert found.seconds == {"compile": 1.0, "profile": 2.5}
    assert found.log == "checked\na note"


def test_a_command_that_does_not_exist_is_status_127(tmp_path: Path) -> None:
    assert run_in_group([str(tmp_path / "no")], tmp_path, 5.0)[0] == 127


def test_in_a_sandbox_ncu_sees_the_session_folder_and_what_it_is_given(tmp_path: Path) -> None:
    secret, given = tmp_path / "secret", tmp_path / "given"
    for folder in (secret, given):
        folder.mkdir()
        (folder / "file").write_text("x")
    with Sandbox("own") as sandbox:
        isolated = sandbox.describe().files
        profiler = fake(given, "csv")
        tests = str(Path(__file__).parents[1])
        profiler = NcuProfiler(profiler.path, run=in_sandbox(sandbox, str(given), tests))
        (good,) = profiler.session(["/bin/cat", str(given / "file")])
        (bad,) = profiler.session(["/bin/cat", str(secret / "file")])
    assert good.note == ""
    assert good.counters
    if isolated:
        assert bad.note.startswith("the program failed under ncu")


def test_a_sandbox_that_refuses_is_a_note(tmp_path: Path) -> None:
    with Sandbox("own") as sandbox:
        missing = NcuProfiler(str(tmp_path / "gone"), run=in_sandbox(sandbox))
        (profile,) = missing.session(["/bin/true"])
    assert profile.counters == {}
    assert profile.note


class Denying:
    """A sandbox in which ncu is denied the counters unless it has root's two capabilities."""

    def __init__(self) -> None:
        self.profiles: list[str] = []
        self.seen: list[str] = []

    def run(self, _command: Sequence[str], **more: Any) -> Finished:
        self.profiles.append(more["profile"])
        self.seen.append(more["environment"].get("CUDA_VISIBLE_DEVICES", ""))
        denied = more["profile"] == "tool"
        words = b"==ERROR== ERR_NVGPUCTRPERM - no permission" if denied else b"fine"
        return Finished(int(denied), words, b"", 0.1)


@pytest.mark.parametrize(
    ("user", "profiles"),
    [(0, ["tool", "root tool", "root tool"]), (1000, ["tool", "tool"])],
)
def test_root_gets_two_capabilities_only_where_the_driver_denies_counters(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, user: int, profiles: list[str]
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: user)
    denying = Denying()
    run = in_sandbox(denying, device="GPU-1")  # type: ignore[arg-type]
    found = [run(["ncu"], tmp_path, 1.0, ())[0] for _ in range(2)]
    assert found == [int(user != 0)] * 2
    assert denying.profiles == profiles
    assert set(denying.seen) == {"GPU-1"}
