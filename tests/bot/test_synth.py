"""`optiml synth`: hand-written answers through a real HTTP server, verdicts of the scripted machine."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from bot import commands, synth
from optimizer.errors import ConfigError
from optimizer.trajectory import read_trajectory
from tests.bot import scripted
from tests.hand_written import AUTHOR, HandWritten, serving

ROOT = Path(__file__).resolve().parents[2]
ANSWERS = ROOT / "tests/data/synthesis/softmax"
Cli = Callable[..., int]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    for name in (".optiml.yml", "ref.py"):
        shutil.copy(ROOT / "examples/softmax" / name, folder)
    return folder


@pytest.fixture
def writer(monkeypatch: pytest.MonkeyPatch, cli: Cli) -> Iterator[HandWritten]:
    answers = HandWritten(ANSWERS)
    with serving(answers) as url:
        monkeypatch.setenv("OPENAI_BASE_URL", url)
        monkeypatch.setenv("OPENAI_API_KEY", "secret-of-the-test")
        monkeypatch.setenv("OPTIML_MODEL", "hand-written")
        monkeypatch.setenv("OPTIML_POLICY", "rules")
        yield answers


def run(cli: Cli, project: Path, *more: str) -> int:
    return cli(
        "synth", "Row-wise softmax.", "--workload", "softmax", "--project", str(project),
        "--evaluations", "20", *more,
    )  # fmt: skip


def test_a_description_becomes_a_searched_kernel_with_all_its_files(
    cli: Cli,
    project: Path,
    writer: HandWritten,
    machine: scripted.Scripted,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(cli, project) == 0
    said = capsys.readouterr().out
    assert "library-first: rejected: line 1: adds #include" in said
    assert "the search began at" in said
    out = Path("optiml-out/softmax")
    notebook = json.loads((out / synth.NOTEBOOK).read_text())
    assert {one["author"] for one in notebook["attempts"]} == {AUTHOR}
    statuses = [one["status"] for one in notebook["attempts"] if one["thought"] == "library-first"]
    assert statuses[:2] == ["rejected", "correct"], "the header first, then a functor of its own"
    found = read_trajectory(out / "trajectory.jsonl")
    assert any(f"(by {AUTHOR})" in note for note in found.notes)
    assert found.baseline.kernel.source in {one["source"] for one in notebook["attempts"]}
    assert (out / "softmax.cu").read_text() == found.best.kernel.source
    assert (out / "report.html").is_file()
    assert not (project / "softmax.cu").exists(), "nothing is written into the project"


def test_one_budget_holds_for_synthesis_and_search(
    cli: Cli, project: Path, writer: HandWritten, machine: scripted.Scripted
) -> None:
    assert run(cli, project, "--json") == 0
    out = Path("optiml-out/softmax")
    notebook = json.loads((out / synth.NOTEBOOK).read_text())
    found = read_trajectory(out / "trajectory.jsonl")
    assert found.environment.budget["evaluations"] == 20 - notebook["evaluations"]


def test_no_secret_is_sent_in_a_prompt_or_kept_in_a_file(
    cli: Cli, project: Path, writer: HandWritten, machine: scripted.Scripted
) -> None:
    assert run(cli, project) == 0
    assert "secret-of-the-test" not in json.dumps(writer.asked)
    for file in Path("optiml-out").rglob("*"):
        assert not file.is_file() or b"secret-of-the-test" not in file.read_bytes()


def test_the_model_gets_no_tool_and_the_reference_only_as_data(
    cli: Cli, project: Path, writer: HandWritten, machine: scripted.Scripted
) -> None:
    assert run(cli, project) == 0
    for request in writer.asked:
        assert not {"tools", "functions"} & request.keys()
        first = request["messages"][1]["content"]
        assert "    | def reference(arguments: dict[str, Any])" in first


def test_without_a_reference_it_says_that_nothing_can_be_verified_and_stops(
    cli: Cli,
    project: Path,
    writer: HandWritten,
    machine: scripted.Scripted,
    capsys: pytest.CaptureFixture[str],
) -> None:
    file = project / ".optiml.yml"
    file.write_text(file.read_text().replace("    reference: ref.py:reference\n", ""))
    assert run(cli, project) == 2
    assert "has no reference, so no result could be verified" in capsys.readouterr().err
    assert not writer.asked
    assert run(cli, project, "--unverified") == 0
    assert "UNVERIFIED" in capsys.readouterr().out
    found = read_trajectory(Path("optiml-out/softmax/trajectory.jsonl"))
    assert synth.UNVERIFIED in found.notes


def test_a_workload_with_host_code_of_its_own_is_refused_before_anything_is_asked(
    cli: Cli,
    project: Path,
    writer: HandWritten,
    machine: scripted.Scripted,
    capsys: pytest.CaptureFixture[str],
) -> None:
    file = project / ".optiml.yml"
    text = file.read_text().replace("    kernel: softmax", "    entry: softmax", 1)
    file.write_text("\n".join(one for one in text.splitlines() if "launch:" not in one) + "\n")
    assert run(cli, project) == 2
    said = capsys.readouterr().err
    assert "softmax is a workload of kind `entry`" in said
    assert "describe it with `kernel:` and `launch:`" in " ".join(said.split())
    assert not writer.asked


def test_without_a_model_it_says_which_setting_is_missing(
    cli: Cli, project: Path, machine: scripted.Scripted, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(cli, project) == 2
    assert "set OPTIML_MODEL" in capsys.readouterr().err


def test_when_no_answer_is_correct_the_attempts_are_kept(
    cli: Cli,
    project: Path,
    writer: HandWritten,
    machine: scripted.Scripted,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    writer.folder = tmp_path
    assert run(cli, project) == 1
    assert "is a correct kernel" in capsys.readouterr().err
    notebook = json.loads(Path("optiml-out/softmax", synth.NOTEBOOK).read_text())
    assert len(notebook["attempts"]) == 12


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("name: softmax", "name: other", "has no workload 'softmax'"),
        ("ref.py:reference", "../ref.py:reference", "leads out of"),
        ("ref.py:reference", "ref.py:missing", "has no function missing"),
        ("file: softmax.cu", "file: ../softmax.cu", "leads out of"),
    ],
)
def test_a_workload_that_does_not_fit_is_refused(
    project: Path, old: str, new: str, why: str
) -> None:
    file = project / ".optiml.yml"
    file.write_text(file.read_text().replace(old, new))
    with pytest.raises(ConfigError, match=why):
        synth.wish("x", project, "softmax", unverified=False)


def test_recorded_answers_are_replayed_without_a_server_and_say_who_gave_them(
    cli: Cli,
    project: Path,
    writer: HandWritten,
    machine: scripted.Scripted,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert run(cli, project, "--out", "first") == 0
    asked = len(writer.asked)
    for name in ("OPENAI_BASE_URL", "OPENAI_API_KEY", "OPTIML_MODEL"):
        monkeypatch.delenv(name)
    monkeypatch.setenv("OPTIML_ANSWERS", str(Path("first", synth.EXCHANGES).resolve()))
    assert run(cli, project, "--out", "again") == 0
    assert len(writer.asked) == asked

    def attempts(folder: str) -> list[tuple[str, str, str]]:
        found = json.loads(Path(folder, synth.NOTEBOOK).read_text())["attempts"]
        return [(one["thought"], one["status"], one["author"]) for one in found]

    assert attempts("again") == attempts("first")
    assert {author for _, _, author in attempts("again")} == {AUTHOR}


@pytest.mark.parametrize("word", ["synth", "synthesize", "synth --workload x", "SYNTH a kernel"])
def test_no_comment_of_a_stranger_starts_a_synthesis(word: str) -> None:
    found = commands.parse(f"/optiml {word}")
    assert isinstance(found, commands.Mistake), "told of as a mistake, and nothing is begun"
