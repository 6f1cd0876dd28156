"""Commands do what contract.md says: files, figures, exit status, one clear message on trouble."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import git
import pytest

from bot import cli as command_line
from bot import doctor
from optimizer.trajectory import read_trajectory
from tests.bot import scripted

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
Cli = Callable[..., int]


@pytest.fixture
def softmax(cli: Cli) -> Path:
    folder = Path.cwd() / "project"
    shutil.copytree(EXAMPLES / "softmax", folder)
    return folder / "softmax.cu"


def test_run_writes_source_patch_trajectory_and_report(
    cli: Cli, softmax: Path, machine: scripted.Scripted, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli("run", str(softmax), "--evaluations", "12", "--seed", "3") == 0
    out = Path("optiml-out/softmax")
    found = read_trajectory(out / "trajectory.jsonl")
    assert found.winner
    assert found.environment.command == f"optiml run {softmax} --evaluations 12 --seed 3"
    assert (out / "softmax.cu").read_text() == found.best.kernel.source
    patch = (out / "softmax.patch").resolve()
    subprocess.run(["git", "apply", str(patch)], cwd=softmax.parent, check=True)
    assert softmax.read_text() == found.best.kernel.source
    assert "faster" in (out / "report.html").read_text()
    said = capsys.readouterr().out
    assert "faster (99 % CI" in said
    assert "candidate 1: " in said
    assert str(out / "softmax.patch") in said


def test_a_recorded_run_replays_to_the_same_result_and_says_where_it_is_from(
    cli: Cli, softmax: Path, machine: scripted.Scripted, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli("run", str(softmax), "--record", "r.jsonl.gz", "--json") == 0
    first = json.loads(capsys.readouterr().out)["results"][0]
    answered = machine.answered
    assert cli("run", str(softmax), "--replay", "r.jsonl.gz", "--json") == 0
    again = json.loads(capsys.readouterr().out)["results"][0]
    assert machine.answered == answered
    # A recording keeps times to the nanosecond.
    assert again["speedup"] == pytest.approx(first["speedup"], rel=1e-3)
    assert [edit["title"] for edit in again["edits"]] == [edit["title"] for edit in first["edits"]]
    assert first["recorded"] is None
    assert again["recorded"] == "recorded on SYNTHETIC GPU (made-up figures), 2026-01-02"


@pytest.mark.parametrize("objective", ["energy", "time-then-energy"])
def test_an_objective_reads_energy_which_a_recording_keeps(
    cli: Cli,
    softmax: Path,
    machine: scripted.Scripted,
    capsys: pytest.CaptureFixture[str],
    objective: str,
) -> None:
    """Searched, told and replayed; a recording that was made for time alone has none to tell."""
    few = ("--evaluations", "16", "--json")
    given = ("run", str(softmax), "--objective", objective, *few)
    assert cli(*given, "--record", "r.jsonl.gz") == 0
    first = json.loads(capsys.readouterr().out)["results"][0]
    assert first["energy"]["saving"]["low"] > 1.03
    assert read_trajectory(Path(first["files"]["trajectory"])).environment.objective == objective
    assert "Time, energy, memory" in Path(first["files"]["report"]).read_text()
    assert cli(*given, "--replay", "r.jsonl.gz") == 0
    again = json.loads(capsys.readouterr().out)["results"][0]
    assert again["energy"]["saving"] == pytest.approx(first["energy"]["saving"], rel=1e-3)
    assert cli("run", str(softmax), *few, "--record", "time.jsonl.gz") == 0
    plain = json.loads(capsys.readouterr().out)["results"][0]
    assert plain["energy"] is None
    assert cli(*given, "--replay", "time.jsonl.gz") == 0
    without = json.loads(capsys.readouterr().out)["results"][0]
    assert any("energy was not measured: not recorded" in note for note in without["notes"])
    assert (without["speedup"] is None) == (objective == "energy")


def test_json_has_a_version_and_nothing_else_is_printed(
    cli: Cli, softmax: Path, machine: scripted.Scripted, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli("run", str(softmax), "--json", "--evaluations", "16") == 0
    data = json.loads(capsys.readouterr().out)
    assert data["version"] == 1
    (result,) = data["results"]
    assert result["speedup"]["low"] <= result["speedup"]["value"] <= result["speedup"]["high"]
    assert Path(result["files"]["report"]).is_file()
    assert result["edits"][0]["gain"] > 1


def test_apply_writes_the_winner_over_the_file(
    cli: Cli, softmax: Path, machine: scripted.Scripted
) -> None:
    softmax.chmod(0o640)
    assert cli("run", str(softmax), "--apply", "--evaluations", "16") == 0
    found = read_trajectory(Path("optiml-out/softmax/trajectory.jsonl"))
    assert softmax.read_text() == found.best.kernel.source
    assert softmax.stat().st_mode & 0o777 == 0o640


HEADER = """\
#pragma once
__global__ void rows(const float* x, float* y, int n, int m) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r < n) {
        float s = 0.0f;
        for (int c = 0; c < m; c++) s += x[r * m + c];
        y[r] = s;
    }
}
"""
PROGRAM = """\
#include "rows.cuh"
int main() {
    float *x, *y;
    cudaMalloc(&x, 4096 * 512 * sizeof(float));
    cudaMalloc(&y, 4096 * sizeof(float));
    rows<<<4096 / 128, 128>>>(x, y, 4096, 512);
    cudaDeviceSynchronize();
    return 0;
}
"""


@pytest.mark.parametrize(("header", "from_"), [("src/rows.cuh", "src"), ("include/rows.cuh", ".")])
def test_kernels_in_a_programs_own_headers_are_edited_where_they_are(
    cli: Cli, machine: scripted.Scripted, header: str, from_: str
) -> None:
    """Patch and --apply are about the files that there are."""
    folder = Path.cwd() / "project"
    for name in ("src/main.cu", header):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
    name = os.path.relpath(folder / header, folder / "src")
    (folder / "src/main.cu").write_text(PROGRAM.replace("rows.cuh", name))
    (folder / header).write_text(HEADER)
    shutil.copytree(folder, Path.cwd() / "copy")
    out = Path("optiml-out/main")
    assert cli("run", "project/src/main.cu", "--apply", "--evaluations", "16", "--seed", "3") == 0
    changed = (folder / header).read_text()
    assert changed != HEADER
    assert "joined by optiml" not in changed + (folder / "src/main.cu").read_text()
    assert (out / "rows.cuh").read_text() == changed
    patch = (out / "main.patch").resolve()
    subprocess.run(["git", "apply", str(patch)], cwd=Path.cwd() / "copy" / from_, check=True)
    for name in ("src/main.cu", header):
        assert (Path.cwd() / "copy" / name).read_text() == (folder / name).read_text()


@pytest.mark.parametrize("place", ["rows.cu", "kernels/rows.cu"])
def test_a_program_in_c_has_its_kernels_edited_in_their_file(
    cli: Cli, machine: scripted.Scripted, place: str
) -> None:
    """The file with `main()` is linked to it as it is, and left alone."""
    launch = PROGRAM.replace("int main() {", 'extern "C" int run(void) {')
    file = Path(place)
    file.parent.mkdir(exist_ok=True)
    file.write_text(HEADER.partition("\n")[2] + launch.partition("\n")[2])
    main = "int run(void);\nint main() { int* x = 0; return run(); }\n"
    Path("main.c").write_text(main)
    before = file.read_text()
    assert cli("run", "main.c", "--apply", "--evaluations", "16", "--seed", "3") == 0
    changed = file.read_text()
    assert changed != before
    assert "joined by optiml" not in changed
    assert Path("main.c").read_text() == main


def test_inspect_says_where_more_kernels_are(cli: Cli, capsys: pytest.CaptureFixture[str]) -> None:
    """A run edits them, too."""
    Path("main.cu").write_text(PROGRAM)
    Path("rows.cuh").write_text(HEADER)
    assert cli("inspect", "main.cu") == 0
    said = capsys.readouterr().out
    assert "a program, 0 kernels" in said
    assert "more kernels are in rows.cuh" in said


def test_apply_writes_no_file_outside_of_the_project(
    cli: Cli, machine: scripted.Scripted, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whatever marks are in a text that a stranger wrote."""
    outside = Path("rows.cuh")
    outside.write_text(HEADER)
    folder = Path("repository/src")
    folder.mkdir(parents=True)
    (folder.parent / ".git").mkdir()
    mark = '// joined by optiml: from "../../rows.cuh" #include "rows.cuh"\n'
    body = PROGRAM.partition("\n")[2]
    (folder / "main.cu").write_text(f"{mark}{HEADER}// joined by optiml: end\n{body}")
    command = ("run", str(folder / "main.cu"), "--apply", "--evaluations", "16", "--seed", "3")
    assert cli(*command) == 2
    assert "is outside of" in capsys.readouterr().err
    assert outside.read_text() == HEADER


def test_apply_leaves_a_file_alone_that_changed_meanwhile(
    cli: Cli,
    softmax: Path,
    machine: scripted.Scripted,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    dispatch = machine.dispatch

    def meddling(jobs: list[object]) -> object:
        softmax.write_text("// somebody else was faster\n")
        return dispatch(jobs)  # type: ignore[arg-type]

    monkeypatch.setattr(machine, "dispatch", meddling)
    assert cli("run", str(softmax), "--apply") == 2
    assert softmax.read_text() == "// somebody else was faster\n"
    assert "was left alone" in capsys.readouterr().err
    assert Path("optiml-out/softmax/softmax.patch").is_file()


def test_ctrl_c_ends_with_the_best_so_far_written(
    cli: Cli, softmax: Path, machine: scripted.Scripted, capsys: pytest.CaptureFixture[str]
) -> None:
    machine.fail_after = 2
    assert cli("run", str(softmax)) == 0
    found = read_trajectory(Path("optiml-out/softmax/trajectory.jsonl"))
    assert found.stopped == "interrupted"
    assert "ended by: interrupted" in capsys.readouterr().out


def test_ctrl_c_before_the_first_figure_says_so(
    cli: Cli, softmax: Path, machine: scripted.Scripted, capsys: pytest.CaptureFixture[str]
) -> None:
    machine.fail_after = 0
    assert cli("run", str(softmax)) == command_line.INTERRUPTED
    assert "interrupted" in capsys.readouterr().err


def test_a_run_that_was_cut_short_goes_on_where_it_stopped(
    cli: Cli, softmax: Path, machine: scripted.Scripted
) -> None:
    out = Path("optiml-out/softmax/trajectory.jsonl")
    assert cli("run", str(softmax), "--evaluations", "2") == 0
    first = read_trajectory(out)
    answered = machine.answered
    assert cli("run", str(softmax), "--evaluations", "12", "--resume") == 0
    again = read_trajectory(out)
    assert len(again.steps) >= len(first.steps)
    for old, new in zip(first.steps, again.steps, strict=False):
        assert new.kernel == old.kernel
    assert machine.answered > answered


def test_a_trajectory_of_another_source_is_not_resumed(
    cli: Cli, softmax: Path, machine: scripted.Scripted, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli("run", str(softmax), "--evaluations", "2") == 0
    softmax.write_text(softmax.read_text() + "\n// changed\n")
    assert cli("run", str(softmax), "--resume") == 2
    assert "another source" in capsys.readouterr().err


def test_an_earlier_trajectory_is_kept_beside_the_new_one(
    cli: Cli, softmax: Path, machine: scripted.Scripted
) -> None:
    assert cli("run", str(softmax), "--evaluations", "2") == 0
    assert cli("run", str(softmax), "--evaluations", "2") == 0
    assert read_trajectory(Path("optiml-out/softmax/trajectory.previous.jsonl")).steps


def test_report_works_on_a_trajectory_that_was_cut_short(
    cli: Cli, softmax: Path, machine: scripted.Scripted
) -> None:
    assert cli("run", str(softmax)) == 0
    out = Path("optiml-out/softmax")
    lines = (out / "trajectory.jsonl").read_bytes().splitlines(keepends=True)
    (out / "trajectory.jsonl").write_bytes(b"".join(lines[:2]) + lines[2][:50])
    (out / "report.html").unlink()
    assert cli("report", str(out)) == 0
    assert "Nothing faster found" in (out / "report.html").read_text()


def test_without_a_gpu_run_says_in_one_line_what_works(
    cli: Cli, softmax: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli("run", str(softmax)) == 4
    said = capsys.readouterr().err.strip()
    assert "\n" not in said
    assert "optiml inspect" in said
    assert "optiml demo" in said
    assert not Path("optiml-out").exists()


def test_a_baseline_that_fails_is_exit_three(
    cli: Cli,
    softmax: Path,
    machine: scripted.Scripted,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from tests.bot.synthetic import Status, failing  # type: ignore[attr-defined]

    monkeypatch.setattr(machine, "verdict", lambda _job: failing(Status.CRASHED, "illegal address"))
    assert cli("run", str(softmax)) == 3
    assert "illegal address" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("run", "missing.cu"), "there is no file missing.cu"),
        (("run", "."), ". is a folder\n  → here are: empty.cu"),
        (("run", "empty.cu"), "neither defines nor launches a kernel"),
        (("run", "project/softmax.cu", "--replay", "."), ". is a folder, not a recording"),
        (("report", "project/softmax.cu"), "give the trajectory.jsonl"),
        (("run",), "Missing argument"),
        (("frobnicate",), "No such command"),
        (("run", "a.cu", "--size", "4"), "optiml run FILE -- ARGUMENTS"),
        (("run", "project/softmax.cu", "--budget", "soon"), "no duration"),
        (("run", "project/softmax.cu", "--policy", "magic"), "policy"),
        (("run", "project/softmax.cu", "--kernel", "other"), "it has: softmax"),
        (("run", "project/softmax.cu", "--replay", "nothing"), "there is no recording"),
        (("run", "project/ref.py"), "is not a CUDA source"),
        (("inspect", "project/softmax.cu", "--arch", "hopper"), "sm_90"),
        (("report", "nowhere"), "there is no file nowhere"),
        (("review",), "no git repository"),
    ],
)
def test_bad_input_is_one_message_and_exit_two(
    cli: Cli,
    softmax: Path,
    capsys: pytest.CaptureFixture[str],
    arguments: tuple[str, ...],
    words: str,
) -> None:
    Path("empty.cu").touch()
    assert cli(*arguments) == 2
    said = capsys.readouterr()
    assert words in said.err
    assert "Traceback" not in said.err + said.out


@pytest.mark.parametrize("arguments", [(), ("memory",)])
def test_without_a_command_its_help_is_all_that_is_shown(
    cli: Cli, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...]
) -> None:
    assert cli(*arguments) == 2
    said = capsys.readouterr()
    assert "Usage:" in said.out
    assert not said.err


def test_a_mistake_in_the_project_file_names_its_line(
    cli: Cli, softmax: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = softmax.parent / ".optiml.yml"
    file.write_text(file.read_text().replace("tolerance:", "tolerence:"))
    assert cli("run", str(softmax)) == 2
    said = capsys.readouterr().err
    assert "tolerence" in said
    assert "tolerance" in said
    assert ".optiml.yml:" in said


def test_a_file_nothing_describes_points_to_init(
    cli: Cli, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("k.cu").write_text("__global__ void k(float* x) { x[threadIdx.x] = 1; }\n")
    assert cli("run", "k.cu") == 2
    assert "optiml init k.cu" in capsys.readouterr().err


def test_an_unexpected_error_leaves_a_log_and_no_traceback(
    cli: Cli, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_: object) -> object:
        raise RuntimeError("a bug of ours")

    monkeypatch.setattr(doctor, "examine", broken)
    assert cli("doctor") == 1
    said = capsys.readouterr().err
    assert "a bug of ours" in said
    assert "Traceback" not in said
    log = Path(said.split("details are in ")[1].split(";")[0])
    assert "RuntimeError: a bug of ours" in log.read_text()
    log.unlink()


@pytest.mark.skipif(os.geteuid() == 0 and not Path("/dev/full").exists(), reason="no full device")
def test_a_full_disk_is_told_with_what_to_do(
    cli: Cli, softmax: Path, machine: scripted.Scripted, capsys: pytest.CaptureFixture[str]
) -> None:
    out = Path("out")
    out.mkdir()
    (out / "trajectory.jsonl").symlink_to("/dev/full")
    assert cli("run", str(softmax), "--out", "out") == 4
    assert "space" in capsys.readouterr().err


def test_inspect_shows_kernels_and_findings(
    cli: Cli, softmax: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli("inspect", str(softmax), "--json") == 0
    data = json.loads(capsys.readouterr().out)
    assert [kernel["name"] for kernel in data["kernels"]] == ["softmax"]
    assert data["findings"]
    assert cli("inspect", str(softmax)) == 0
    assert "1 kernel" in capsys.readouterr().out


def test_doctor_has_json_and_an_exit_status_for_scripts(
    cli: Cli, capsys: pytest.CaptureFixture[str]
) -> None:
    status = cli("doctor", "--json")
    data = json.loads(capsys.readouterr().out)
    assert status == (0 if data["ok"] else 1)
    assert {"nvcc", "GPU", "sandbox"} <= {check["name"] for check in data["checks"]}


def test_help_names_every_command_and_no_other(
    cli: Cli, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli("--help") == 0
    said = capsys.readouterr().out
    for name in (
        "run",
        "review",
        "verify",
        "inspect",
        "init",
        "report",
        "doctor",
        "demo",
        "worker",
        "action",
    ):
        assert f" {name} " in said
        assert cli(name, "--help") == 0


def test_review_prints_what_the_bot_would_say_of_a_branch(
    cli: Cli,
    softmax: Path,
    machine: scripted.Scripted,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    repo = git.Repo.init(softmax.parent, initial_branch="main")
    with repo.config_writer() as config:
        config.set_value("user", "name", "Test")
        config.set_value("user", "email", "test@example.invalid")
    repo.git.add("-A")
    repo.index.commit("base")
    repo.git.checkout("-b", "feature")
    softmax.write_text(softmax.read_text().replace("{", "{  // SLOW", 1))
    monkeypatch.chdir(softmax.parent)
    assert cli("review", "--markdown") == 0
    said = capsys.readouterr().out
    assert "2.00× slower than `main`" in said
    assert "faster" in said
    assert cli("review", "--json") == 0
    data = json.loads(capsys.readouterr().out)
    assert data["results"][0]["slower_than_base"]["value"] == pytest.approx(2.0, rel=0.01)
    repo.git.checkout("--", ".")
    assert cli("review") == 0
    assert "nothing to say" in capsys.readouterr().out
    repo.close()


def test_the_module_starts_isolated_and_reports_its_exit_status(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-I", "-m", "bot", "run", "missing.cu"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "missing.cu" in done.stderr
