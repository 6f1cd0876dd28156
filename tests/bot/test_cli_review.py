"""`optiml review`: the kernels asked for, within the base's budget, recorded and replayed."""

import json
from pathlib import Path

import pytest

from tests.bot import repositories, scripted
from tests.bot.conftest import Cli


@pytest.fixture
def branch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = tmp_path / "repository"
    order = repositories.changed(root)
    del order
    monkeypatch.chdir(root)
    return root


def reviewed(
    cli: Cli, capsys: pytest.CaptureFixture[str], *arguments: str
) -> list[dict[str, object]]:
    assert cli("review", "--json", *arguments) == 0
    found: list[dict[str, object]] = json.loads(capsys.readouterr().out)["results"]
    return found


def test_the_budget_is_the_bases_unless_a_flag_says_otherwise(
    cli: Cli, branch: Path, machine: scripted.Scripted, capsys: pytest.CaptureFixture[str]
) -> None:
    (one,) = reviewed(cli, capsys)
    assert one["result"]["evaluations"] <= 6  # type: ignore[index]
    (one,) = reviewed(cli, capsys, "--evaluations", "2")
    assert one["result"]["evaluations"] <= 2  # type: ignore[index]


@pytest.mark.parametrize("name", ["transpose", "transpose.cu"])
def test_a_kernel_is_picked_by_name_or_file(
    cli: Cli,
    branch: Path,
    machine: scripted.Scripted,
    capsys: pytest.CaptureFixture[str],
    name: str,
) -> None:
    assert len(reviewed(cli, capsys, "--kernel", name)) == 1


def test_a_kernel_that_is_not_changed_is_told_with_those_that_are(
    cli: Cli, branch: Path, machine: scripted.Scripted, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli("review", "--kernel", "softmax") == 2
    said = capsys.readouterr().err
    assert "does not touch softmax" in said
    assert "transpose (transpose.cu)" in said


def test_a_recorded_review_replays_without_a_machine(
    cli: Cli,
    branch: Path,
    machine: scripted.Scripted,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    recording = str(tmp_path / "review.jsonl.gz")
    (first,) = reviewed(cli, capsys, "--record", recording)
    asked = machine.answered
    (again,) = reviewed(cli, capsys, "--replay", recording)
    assert machine.answered == asked
    for one, other in (
        (again["result"]["speedup"], first["result"]["speedup"]),  # type: ignore[index]
        (again["slower_than_base"], first["slower_than_base"]),
    ):
        assert one == pytest.approx(other, rel=1e-3), "a recording keeps nanoseconds"
    assert str(again["result"]["recorded"]).startswith("recorded on")  # type: ignore[index]


def test_with_a_folder_every_kernel_leaves_its_files_there(
    cli: Cli,
    branch: Path,
    machine: scripted.Scripted,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    out = tmp_path / "kept"
    assert len(reviewed(cli, capsys, "--out", str(out))) == 1
    (folder,) = out.iterdir()
    assert folder.name == "000-transpose"
    assert {"trajectory.jsonl", "report.html"} <= {file.name for file in folder.iterdir()}
    (tmp_path / "file").write_text("")
    assert cli("review", "--out", str(tmp_path / "file")) == 2
    assert "cannot make" in capsys.readouterr().err
