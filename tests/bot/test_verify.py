"""`optiml verify` asks of files that somebody wrote what a search asks before it offers anything."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bot.cli import main
from optimizer.errors import RunnerError
from optimizer.model import Check, Effort, Status, Verdict
from optimizer.trajectory import read_trajectory
from runners.interfaces import Job
from tests.bot import scripted
from tests.bot.test_cli import HEADER, PROGRAM

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
Cli = Callable[..., int]
RIGHT, NOT_VERIFIED = 0, 5


class Graded(scripted.Scripted):
    """Judges by what a text says of itself; notes every job."""

    def __init__(self) -> None:
        super().__init__()
        self.jobs: list[Job] = []
        self.dispatched: list[int] = []
        self.failing: type[BaseException] | None = None

    def dispatch(self, jobs: Sequence[Job]) -> Sequence[Verdict]:
        self.jobs += jobs
        self.dispatched.append(len(jobs))
        if self.failing is not None and jobs[0].effort is Effort.CONFIRM:
            raise self.failing("the machine went away")
        return [self.verdict(job) for job in jobs]

    def verdict(self, job: Job) -> Verdict:
        text, late = job.kernel.source, job.effort is Effort.CONFIRM
        if "BROKEN" in text:
            log = 'k.cu(4): error: identifier "fastest" is undefined'
            return Verdict(Status.DOES_NOT_COMPILE, log=log)
        if "WRONG" in text or ("LATE" in text and late):
            layer, what = ("sizes", "rows=31") if late else ("cases", "rows=65 cols=1000")
            check = Check(layer, what, passed=False, error=0.5, bound=1e-4)
            log = f"probs[7] is 0.5 and should be 0 for {what}"
            return Verdict(Status.WRONG_RESULT, checks=(check,), log=log)
        found = super().verdict(job)
        while (
            found.status is Status.DOES_NOT_COMPILE
        ):  # the tenth that the scripted machine refuses
            job = replace(job, kernel=replace(job.kernel, source=job.kernel.source + "\n"))
            found = super().verdict(job)
        if late and found.measurement is not None and "float4" in text:
            notes = ("limit: x must begin at a multiple of 16 bytes", "rows=7: timed again")
            found = replace(found, measurement=replace(found.measurement, notes=notes))
        return found


@pytest.fixture
def graded(monkeypatch: pytest.MonkeyPatch) -> Graded:
    found = Graded()
    source = replace(scripted.source(), dispatcher=found)
    monkeypatch.setattr("bot.wiring.Workshop._local", lambda _self, _say: source)
    return found


@pytest.fixture
def file(cli: Cli) -> Path:
    shutil.copytree(EXAMPLES / "softmax", "project")
    return Path("project/softmax.cu")


def version(file: Path, name: str, old: str = "const float* logits", new: str = "") -> str:
    """Write another version of a file; its name says in what it differs."""
    text = file.read_text()
    assert old in text
    place = file.parent.parent / name
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text.replace(old, new or old, 1) + ("" if new else f"// {name}\n"))
    return str(place)


FAST = "const float* __restrict__ logits"


def answers(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    (result,) = json.loads(capsys.readouterr().out)["results"]
    return {one["file"]: one for one in result["candidates"]}


def test_each_candidate_gets_its_verdict_its_layer_and_its_interval(
    cli: Cli, file: Path, graded: Graded, capsys: pytest.CaptureFixture[str]
) -> None:
    given = [
        version(file, "fast.cu", new=FAST),
        version(file, "same_speed.cu"),
        version(file, "slow.cu", "float sum", "float /* SLOW */ sum"),
        version(file, "wrong.cu", "float sum", "float /* WRONG */ sum"),
        version(file, "late.cu", "float sum", "float /* LATE */ sum"),
        version(file, "broken.cu", "float sum", "float /* BROKEN */ sum"),
        version(file, "outside.cu", "#include <math.h>", "#include <math.h>\n#include <cstdio>"),
    ]
    assert cli("verify", str(file), *given, "--json") == NOT_VERIFIED
    found = answers(capsys)
    assert list(found) == given, "in the order that they were named in"
    told = {name: (one["state"], one["faster"]) for name, one in found.items()}
    assert told == {
        "fast.cu": ("verified", True),
        "same_speed.cu": ("verified", False),
        "slow.cu": ("verified", False),
        **dict.fromkeys(("wrong.cu", "late.cu", "broken.cu", "outside.cu"), ("refused", False)),
    }
    fast = found["fast.cu"]["speedup"]
    assert 1.1 < fast["low"] <= fast["value"] <= fast["high"] < 1.3
    assert found["same_speed.cu"]["why"] == "as fast as the original"
    assert found["slow.cu"]["why"] == "slower than the original"
    layers = {name: (one["stage"], one["layer"]) for name, one in found.items() if one["layer"]}
    assert layers == {
        "wrong.cu": ("screening", "declared cases"),
        "late.cu": ("confirmation", "sizes not declared"),
        "broken.cu": (None, "compiler"),
        "outside.cu": (None, "edit boundary"),
    }
    assert "adds #include" in found["outside.cu"]["why"]
    assert "should be 0 for rows=31" in found["late.cu"]["why"]
    assert all(one["speedup"] is None for one in found.values() if one["layer"])


def test_what_is_right_is_confirmed_once_and_all_of_it_at_once(
    cli: Cli, file: Path, graded: Graded
) -> None:
    given = [version(file, f"{n}.cu", "float sum", f"float /* {n} */ sum") for n in range(3)]
    assert cli("verify", str(file), *given, "--seed", "7") == RIGHT
    efforts = [job.effort for job in graded.jobs]
    assert efforts == [Effort.RACE, *[Effort.SCREEN] * 3, *[Effort.CONFIRM] * 3]
    assert graded.dispatched == [1, 3, 3]
    assert {job.seed for job in graded.jobs[:4]} == {7}
    assert {job.seed for job in graded.jobs[4:]}.isdisjoint({7}), "fresh inputs"


def test_the_table_says_what_there_is_to_know(
    cli: Cli, file: Path, graded: Graded, capsys: pytest.CaptureFixture[str]
) -> None:
    fast = version(file, "fast.cu", "float sum", "float /* float4 */ sum")
    wrong = version(file, "wrong.cu", "float sum", "float /* WRONG */ sum")
    broken = version(file, "broken.cu", "float sum", "float /* BROKEN */ sum")
    assert cli("verify", str(file), fast, wrong, broken) == NOT_VERIFIED
    said = capsys.readouterr().out
    assert "softmax: 1 of 3 candidates verified, 1 faster, on SYNTHETIC GPU" in said
    assert "fast.cu: right so far, 1.25×" in said
    assert "fast.cu: verified, 1.2" in said
    assert "its limit: x must begin at a multiple of 16 bytes" in said
    assert "note: rows=7: timed again" in said
    assert "failed: cases, rows=65 cols=1000: error 0.5, allowed 0.0001" in said
    assert 'identifier "fastest" is undefined' in said
    assert "mend the lines named" in said
    assert "declared cases: probs[7] is 0.5" in said


def test_right_candidates_end_with_0_faster_or_not(cli: Cli, file: Path, graded: Graded) -> None:
    """One that is not faster is no failure; a search would not offer it, which is another thing."""
    slow = version(file, "slow.cu", "float sum", "float /* SLOW */ sum")
    assert cli("verify", str(file), slow, version(file, "same.cu")) == RIGHT


def test_equal_files_are_measured_once_and_the_original_not_again(
    cli: Cli, file: Path, graded: Graded, capsys: pytest.CaptureFixture[str]
) -> None:
    one, other = version(file, "a.cu", new=FAST), version(file, "b.cu", new=FAST)
    shutil.copy(file, "copy.cu")
    assert cli("verify", str(file), one, other, "copy.cu", "--json") == RIGHT
    found = answers(capsys)
    assert found["a.cu"]["speedup"] == found["b.cu"]["speedup"] is not None
    assert found["copy.cu"]["state"] == "unchanged"
    assert len(graded.jobs) == 3


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("project/softmax.cu",), "no candidate differs from softmax.cu"),
        (("missing.cu",), "there is no file missing.cu"),
        (("project/ref.py",), "is not a CUDA source"),
        ((), "Missing argument"),
        (("other.cu", "--grid", "rows", "--block", "4096"), "1 to 1024"),
    ],
)
def test_what_cannot_be_verified_is_said_before_anything_runs(
    cli: Cli,
    file: Path,
    graded: Graded,
    capsys: pytest.CaptureFixture[str],
    arguments: tuple[str, ...],
    words: str,
) -> None:
    version(file, "other.cu")
    assert cli("verify", str(file), *arguments) == 2
    assert words in capsys.readouterr().err
    assert not graded.jobs


def test_without_a_gpu_it_says_so(cli: Cli, file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli("verify", str(file), version(file, "other.cu")) == 4
    assert "--replay RECORDING" in capsys.readouterr().err


@pytest.mark.parametrize(("failing", "status"), [(RunnerError, 4), (KeyboardInterrupt, 5)])
def test_what_is_known_is_told_when_a_machine_fails_or_somebody_stops_it(
    cli: Cli,
    file: Path,
    graded: Graded,
    capsys: pytest.CaptureFixture[str],
    failing: type[BaseException],
    status: int,
) -> None:
    graded.failing = failing
    wrong = version(file, "wrong.cu", "float sum", "float /* WRONG */ sum")
    fast = version(file, "fast.cu", new=FAST)
    assert cli("verify", str(file), wrong, fast, "--json") == status
    found = answers(capsys)
    assert found["wrong.cu"]["state"] == "refused"
    assert found["fast.cu"]["state"] == "not judged"
    assert found["fast.cu"]["why"].startswith("not confirmed: ")
    assert found["fast.cu"]["speedup"] is None, "a screening is no figure to report"


def test_a_recording_repeats_it_and_never_guesses(
    cli: Cli, file: Path, graded: Graded, capsys: pytest.CaptureFixture[str]
) -> None:
    fast = version(file, "fast.cu", new=FAST)
    assert cli("verify", str(file), fast, "--record", "v.jsonl.gz", "--json") == RIGHT
    first = answers(capsys)
    asked = len(graded.jobs)
    other = version(file, "other.cu")
    assert cli("verify", str(file), fast, other, "--replay", "v.jsonl.gz", "--json") == NOT_VERIFIED
    found = answers(capsys)
    assert len(graded.jobs) == asked
    assert found["fast.cu"]["speedup"] == pytest.approx(first["fast.cu"]["speedup"], rel=1e-3)
    assert found["other.cu"]["state"] == "not recorded"
    assert found["other.cu"]["faster"] is False


def test_the_winner_of_a_recorded_run_is_verified_with_the_figure_of_that_run(
    cli: Cli, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    recording = ("--replay", "project/recording.jsonl.gz")
    assert cli("run", str(file), *recording, "--json", "--out", "found") == 0
    (run,) = json.loads(capsys.readouterr().out)["results"]
    best = read_trajectory(Path("found/trajectory.jsonl")).best.kernel
    assert best.launch is not None
    given = [f"--{name}={one}" for name in ("grid", "block") for one in getattr(best.launch, name)]
    given.append(f"--shared={best.launch.shared}")
    assert cli("verify", str(file), "found/softmax.cu", *given, *recording, "--json") == RIGHT
    data = json.loads(capsys.readouterr().out)["results"][0]
    (found,) = data["candidates"]
    assert found["state"] == "verified"
    assert found["speedup"]["value"] == run["speedup"]["value"] > 5
    assert data["recorded"] == run["recorded"]
    assert (data["launch"] or "") == (run["launch"] or "")


def test_files_are_written_only_where_somebody_asks_for_them(
    cli: Cli, file: Path, graded: Graded
) -> None:
    faster = version(file, "faster.cu", "float sum", "float /* float4 __shfl */ sum")
    fast = version(file, "fast.cu", new=FAST)
    assert cli("verify", str(file), fast, faster) == RIGHT
    assert not Path("optiml-out").exists()
    assert cli("verify", str(file), fast, faster, "--out", "verified") == RIGHT
    found = read_trajectory(Path("verified/trajectory.jsonl"))
    assert found.best.edit is not None
    assert (found.best.edit.title, found.best.edit.author) == ("faster.cu", "hand")
    assert Path("verified/softmax.cu").read_text() == Path(faster).read_text()
    assert "float4 __shfl" in Path("verified/softmax.patch").read_text()
    assert "faster.cu" in Path("verified/report.html").read_text()


def test_one_that_is_beyond_a_limit_is_right_and_not_offered(
    cli: Cli, file: Path, graded: Graded, capsys: pytest.CaptureFixture[str]
) -> None:
    project = file.parent / ".optiml.yml"
    project.write_text(project.read_text() + "accept: {max_memory_growth: 0.0}\n")
    fast = version(file, "fast.cu", new=FAST)
    assert cli("verify", str(file), fast, "--json") == RIGHT
    found = answers(capsys)["fast.cu"]
    assert (found["state"], found["faster"]) == ("verified", False)
    assert "its memory is not known" in found["why"]


def test_a_file_with_several_kernels_is_judged_for_each(
    cli: Cli, file: Path, graded: Graded, capsys: pytest.CaptureFixture[str]
) -> None:
    project = file.parent / ".optiml.yml"
    head, _, entry = project.read_text().partition("kernels:\n")
    again = entry.replace("name: softmax\n", "name: once more\n")
    project.write_text(f"{head}kernels:\n{entry}{again}")
    fast = version(file, "fast.cu", new=FAST)
    assert cli("verify", str(file), fast, "--json", "--out", "out") == RIGHT
    results = json.loads(capsys.readouterr().out)["results"]
    assert [one["candidates"][0]["state"] for one in results] == ["verified"] * 2
    assert Path("out/once more/softmax.patch").is_file()
    assert cli("verify", str(file), fast, "--json", "--kernel", "once more") == RIGHT
    assert answers(capsys)["fast.cu"]["faster"] is True


@pytest.mark.parametrize("header", ["rows.cuh", "include/rows.cuh"])
def test_a_version_of_a_programs_header_takes_that_headers_place(
    cli: Cli, graded: Graded, capsys: pytest.CaptureFixture[str], header: str
) -> None:
    place = Path("project") / header
    place.parent.mkdir(parents=True)
    place.write_text(HEADER)
    main_file = Path("project/main.cu")
    main_file.write_text(PROGRAM.replace("rows.cuh", header))
    new = Path("new/rows.cuh")
    new.parent.mkdir()
    new.write_text(HEADER.replace("const float* x", "const float* __restrict__ x"))
    host = Path("new/main.cu")
    host.write_text(main_file.read_text().replace("4096 / 128, 128", "4096 / 64, 64"))
    cheat = Path("new/cheat.cu")
    cheat.write_text(main_file.read_text().replace("cudaDeviceSynchronize();", ""))
    names = [str(one) for one in (new, host, cheat)]
    assert cli("verify", str(main_file), *names, "--json") == NOT_VERIFIED
    found = answers(capsys)
    assert found[names[0]]["faster"] is True
    assert found[names[1]]["state"] == "verified", "geometry may change"
    assert found[names[2]]["layer"] == "edit boundary"


def test_a_program_whose_main_holds_no_kernel_takes_versions_of_the_file_that_does(
    cli: Cli, graded: Graded, capsys: pytest.CaptureFixture[str]
) -> None:
    launch = PROGRAM.replace("int main() {", 'extern "C" int run(void) {')
    Path("rows.cu").write_text(HEADER.partition("\n")[2] + launch.partition("\n")[2])
    Path("main.c").write_text("int run(void);\nint main() { int* x = 0; return run(); }\n")
    new = Path("new/rows.cu")
    new.parent.mkdir()
    text = Path("rows.cu").read_text()
    new.write_text(text.replace("const float* x", "const float* __restrict__ x"))
    assert cli("verify", "main.c", str(new), "--json") == RIGHT
    assert answers(capsys)[str(new)]["faster"] is True
    other = Path("new/other.cu")
    other.write_text(new.read_text())
    assert cli("verify", "main.c", str(other)) == 2
    assert "what is edited is in rows.cu" in capsys.readouterr().err


def test_a_program_is_compared_with_itself_in_full_before_a_candidate_is_confirmed(
    cli: Cli, graded: Graded
) -> None:
    """As a search does it, for what a win has to beat."""
    Path("main.cu").write_text(HEADER.partition("\n")[2] + PROGRAM.partition("\n")[2])
    text = Path("main.cu").read_text()
    Path("new.cu").write_text(text.replace("const float* x", "const float* __restrict__ x"))
    assert cli("verify", "main.cu", "new.cu", "--arguments", "4096 'a b'") == RIGHT
    efforts = [job.effort for job in graded.jobs]
    assert efforts == [Effort.SCREEN, Effort.SCREEN, Effort.RACE, Effort.CONFIRM]
    program = graded.jobs[0].workload.program
    assert program is not None
    assert program.runs == (("4096", "a b"),)


def test_its_help_says_what_its_exit_status_means(
    cli: Cli, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["verify", "--help"]) == 0
    said = capsys.readouterr().out
    assert "5 when one is refused" in said
