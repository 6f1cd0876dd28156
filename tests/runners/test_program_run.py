"""Where programs run and what they see."""

from __future__ import annotations

import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from runners.program_profile import plans
from runners.program_report import KernelTimes, Report
from runners.program_run import Plan, Probe, Runner, environment, sandboxed
from runners.sandbox import Sandbox
from runners.working_copy import MAX_FOLDER_FILES


def runner(tmp_path: Path) -> Runner:
    root = tmp_path / "project"
    root.mkdir()
    (root / "input.txt").write_text("7")
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "more.txt").write_text("9")
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    return Runner(tmp_path / "none.so", scratch, root, library_path=(str(tmp_path),))


def test_a_program_reads_its_project_and_what_lies_beside_it(tmp_path: Path) -> None:
    code = "print(open('input.txt').read(), open('../data/more.txt').read())"
    ran = runner(tmp_path).run(Path(sys.executable), ["-c", code], Probe(), 20)
    assert ran.stdout.split() == ["7", "9"]


@pytest.mark.parametrize("repository", [True, False])
def test_a_program_reads_what_its_repository_holds_for_all(
    tmp_path: Path, *, repository: bool
) -> None:
    """As `../../data` of a suite; unpacked without its repository, not as far up."""
    run = runner(tmp_path)
    deep = replace(run, root=tmp_path / "suite" / "app" / "gpu")
    deep.root.mkdir(parents=True)
    (tmp_path / "suite" / "near.txt").write_text("3")
    if repository:
        (tmp_path / ".git").mkdir()
    code = (
        "import os; print(open('../../near.txt').read());"
        "print(os.path.exists('../../../data/more.txt'), os.getcwd())"
    )
    ran = deep.run(Path(sys.executable), ["-c", code], Probe(), 20)
    assert ran.stdout.split() == ["3", str(repository), str(deep.root)]


def test_what_a_program_writes_does_not_reach_the_project(tmp_path: Path) -> None:
    code = "open('input.txt', 'w').write('x'); open('out.bin', 'w').write('y')"
    run = runner(tmp_path)
    assert run.run(Path(sys.executable), ["-c", code], Probe(), 20).exit == 0
    assert (run.root / "input.txt").read_text() == "7"
    assert [p.name for p in run.root.iterdir()] == ["input.txt"]


def test_a_program_that_prints_where_it_is_prints_the_same_in_every_run(tmp_path: Path) -> None:
    """Its own name as people type it, its folder as the project's."""
    run = runner(tmp_path)
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        program = tmp_path / folder / "says"
        program.write_text('#!/bin/sh\necho "$0 in $(pwd)"\necho "$0" >&2\n')
        program.chmod(0o755)
        ran = run.run(program, [], Probe(), 20)
        assert ran.stdout == f"./says in {run.root}\n"
        assert ran.stderr.endswith("./says\n")


def test_a_program_writes_its_own_copy_of_a_small_folder(tmp_path: Path) -> None:
    """Results often go to a folder that lies ready; large folders and links are read only."""
    run = runner(tmp_path)
    (run.root / "out" / "deep").mkdir(parents=True)
    (run.root / "many").mkdir()
    for number in range(MAX_FOLDER_FILES + 1):
        (run.root / "many" / str(number)).touch()
    (run.root / "linked").mkdir()
    (run.root / "linked" / "away").symlink_to(tmp_path / "data")
    code = (
        "import os; open('out/deep/a', 'w').write('x');"
        "print(*map(os.path.islink, ('out', 'many', 'linked')))"
    )
    ran = run.run(Path(sys.executable), ["-c", code], Probe(), 20)
    assert ran.exit == 0, ran.stderr
    assert ran.stdout.split() == ["False", "True", "True"]
    assert not (run.root / "out" / "deep" / "a").exists()


def test_a_program_that_hangs_is_killed_with_its_children(tmp_path: Path) -> None:
    code = "import subprocess; subprocess.run(['sleep', '60'])"
    begun = time.monotonic()
    ran = runner(tmp_path).run(Path(sys.executable), ["-c", code], Probe(), 1)
    assert ran.exit is None
    assert time.monotonic() - begun < 10


def test_a_program_sees_none_of_our_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPTIML_SECRET", "x")
    assert "OPTIML_SECRET" not in environment(["/lib"], 3, Path("/scratch"))


def test_a_program_sees_one_gpu_of_those_that_we_may_see(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    assert environment([], 3, Path("/scratch"))["CUDA_VISIBLE_DEVICES"] == "3"
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "GPU-aa, GPU-bb")
    assert environment([], 1, Path("/scratch"))["CUDA_VISIBLE_DEVICES"] == "GPU-bb"


def test_a_run_without_a_report_says_so(tmp_path: Path) -> None:
    ran = runner(tmp_path).run(Path(sys.executable), ["-c", "pass"], Probe(), 20)
    assert ran.report is None


def test_a_forged_report_is_trouble_and_no_exception(tmp_path: Path) -> None:
    code = (
        "import os; p = os.environ['OPTIML_PROBE'];"
        "open(os.path.join(os.path.dirname(p), 'report.json'), 'w').write('{\"version\": 9}')"
    )
    ran = runner(tmp_path).run(Path(sys.executable), ["-c", code], Probe(), 20)
    assert ran.report is None
    assert "version" in ran.trouble


def report(**kernels: tuple[int, float]) -> Report:
    times = tuple(
        KernelTimes(name, name, count, count, total, 0.0, (), ())
        for name, (count, total) in kernels.items()
    )
    return Report(
        "return", False, 0.0, 1, 0, 0, 0, "", "", (), (), (), times, {}, (), ()  # noqa: FBT003
    )  # fmt: skip


def test_a_kernel_launched_once_is_repeated_a_dozen_times() -> None:
    assert plans(report(k=(1, 50.0)))["k"] == Plan(0, 1, 1, 12)


def test_long_kernels_that_run_often_are_not_repeated() -> None:
    assert plans(report(k=(50, 50 * 900.0)))["k"].repeats == 0


def test_launches_of_a_loop_are_sampled_over_its_whole_length() -> None:
    plan = plans(report(k=(1000, 5000.0)))["k"]
    assert plan.first + plan.every * (plan.limit - 1) < 1000
    assert plan.every * plan.limit > 500


def test_in_a_sandbox_a_program_reads_what_its_arguments_name(tmp_path: Path) -> None:
    """A file with its whole path, of one's own program."""
    away = tmp_path / "away"
    away.mkdir()
    (away / "in.txt").write_text("5")
    with Sandbox("own") as sandbox:
        inside = replace(runner(tmp_path), execute=sandboxed(sandbox, gpu=False))
        inside.interposer.touch()
        line = ["-c", "cat $0; cat ../../away/in.txt", str(away / "in.txt")]
        ran = inside.run(Path("/bin/sh"), line, Probe(), 20)
    assert ran.stdout == "5", ran.stderr


def test_what_watches_a_program_may_talk_to_it_through_sockets(tmp_path: Path) -> None:
    """compute-sanitizer hangs where it cannot; what a program runs alone in has one kind of them."""
    python = str(Path(sys.executable).resolve())
    line = [
        python,
        "-c",
        "import socket; print('began'); socket.socket(socket.AF_UNIX); print('open')",
    ]
    with Sandbox("own") as sandbox:
        if not sandbox.describe().strong:
            pytest.skip(f"nothing isolates here: {sandbox.describe().refused}")
        narrow = sandboxed(sandbox, gpu=False)
        wide = sandboxed(sandbox, gpu=False, profile="tool")
        run = replace(runner(tmp_path), execute=narrow, watch=wide)
        run.interposer.touch()
        alone = run.run(Path(line[0]), line[1:], Probe(), 20)
        assert alone.stdout == "began\n"
        watched = run.watched(Path("/bin/true"), [], line, 20)
    assert watched.stdout == b"began\nopen\n"
