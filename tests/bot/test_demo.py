"""The demo goes the whole way, and says where its figures are from."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from bot import demo
from bot.comment import MARKER
from bot.unfolded import unfolded
from optimizer.trajectory import read_trajectory
from tests.bot import scripted

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
Cli = Callable[..., int]


@pytest.fixture
def example(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "softmax"
    shutil.copytree(EXAMPLES / "softmax", folder, ignore=shutil.ignore_patterns("*.gz"))
    monkeypatch.setattr(demo, "example", lambda: folder)
    return folder


def test_on_a_gpu_it_writes_comment_report_and_trajectory(
    cli: Cli, example: Path, machine: scripted.Scripted, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli("demo") == 0
    said = capsys.readouterr().out
    assert "Running on this machine's SYNTHETIC GPU" in said
    assert "The change" in said
    assert "```" not in said, "folded parts are shown as the comment has them"
    assert "**" not in said
    out = Path("optiml-out/demo")
    assert "`softmax`: " in (out / "comment.md").read_text()
    assert "recorded on" not in (out / "comment.md").read_text()
    assert (out / "report.html").is_file()
    assert read_trajectory(out / "trajectory.jsonl").winner


def test_without_a_gpu_it_shows_the_recording_and_says_so(
    cli: Cli,
    example: Path,
    machine: scripted.Scripted,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    recording = example / demo.RECORDING
    assert cli("run", str(example / "softmax.cu"), "--record", str(recording)) == 0
    assert cli("demo", "--recorded") == 0
    said = capsys.readouterr().out
    words = "recorded on SYNTHETIC GPU (made-up figures), 2026-01-02"
    assert f"Showing a real run, {words}" in said
    assert words in Path("optiml-out/demo/comment.md").read_text()
    assert words in Path("optiml-out/demo/report.html").read_text()


def test_with_neither_it_says_what_is_missing(
    cli: Cli, example: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli("demo") == 4
    assert "no NVIDIA driver" in capsys.readouterr().err


def test_what_a_terminal_cannot_fold_or_draw_is_left_out() -> None:
    folded = (
        f"{MARKER}\na\n<details>\n<summary>Tree: 3 &lt; 4</summary>\n\n````mermaid\nx\n```\ny\n````\n"
        "\n</details>\n```diff\n<details>\n+<sub>\n```\n<sub>small</sub>\n"
    )
    assert unfolded(folded).split("\n") == [
        "", "a", "**Tree: 3 < 4**", "", "", "*(drawn on GitHub and in the report)*", "",
        "```diff", "<details>", "+<sub>", "```", "small", "",
    ]  # fmt: skip


def test_an_example_is_there() -> None:
    assert list(demo.example().glob("*.cu"))
