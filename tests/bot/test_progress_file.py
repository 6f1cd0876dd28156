"""Progress in a file: one line at a time, read back without trust."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.interfaces import Change
from bot.orders import BenchState, Progress
from bot.progress_file import ProgressFile, last_progress
from optimizer.tools import Event, Stage
from tests.bot import synthetic


def test_the_last_line_tells_kernel_stage_steps_and_the_best_so_far(tmp_path: Path) -> None:
    said: list[str] = []
    path = tmp_path / "deep" / "progress.jsonl"
    found = synthetic.trajectory(2)
    with ProgressFile(path, said.append) as progress:
        progress.say(BenchState.QUEUED, "waiting for the GPU")
        assert last_progress(path) == Progress(BenchState.QUEUED, "", "waiting for the GPU")
        progress.watch.on_kernel(Change(found.baseline.kernel, found.workload))
        progress.watch.on_event(Event(next(iter(Stage))))
        for step in found.steps:
            progress.watch.on_step(step)
    seen = last_progress(path)
    assert seen is not None
    assert (seen.state, seen.steps) == (BenchState.RUNNING, 5)
    assert seen.best == pytest.approx(3.41, rel=0.01)
    assert seen.detail.startswith("transpose: ")
    assert any("stage the tile in shared memory" in line for line in said)


def test_a_torn_line_is_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "p"
    with ProgressFile(path) as progress:
        progress.say(BenchState.RUNNING, "one")
    with path.open("a") as file:
        file.write('{"state": "done", "st')
    assert last_progress(path) == Progress(BenchState.RUNNING, "", "one")


@pytest.mark.parametrize(
    "line",
    [
        '{"state":"splendid","steps":0,"best":null,"detail":""}',
        '{"state":"done","steps":-1,"best":null,"detail":""}',
        '{"state":"done","steps":0,"best":-2,"detail":""}',
        '{"state":"done","steps":0,"best":NaN,"detail":""}',
        '{"state":"done","steps":0,"best":1e99,"detail":""}',
        '{"state":"done","steps":0,"best":null,"detail":"\\ud800"}',
        '{"state":"done"}',
        "[]",
        "[" * 20_000,
    ],
)
def test_a_line_that_cannot_be_is_none(tmp_path: Path, line: str) -> None:
    (tmp_path / "p").write_text(line + "\n")
    assert last_progress(tmp_path / "p") is None


@given(st.binary(max_size=200))
def test_any_bytes_are_progress_or_none(data: bytes) -> None:
    import tempfile

    with tempfile.NamedTemporaryFile() as file:
        file.write(data + b"\n")
        file.flush()
        assert last_progress(Path(file.name)) is None


def test_a_link_or_a_missing_file_is_none_and_hostile_text_one_short_line(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("/etc/passwd")
    assert last_progress(tmp_path / "link") is None
    assert last_progress(tmp_path / "none") is None
    with ProgressFile(tmp_path / "p") as progress:
        progress.say(BenchState.RUNNING, "a\u202e\nb\x1b[31m" + "x" * 1000)
    seen = last_progress(tmp_path / "p")
    assert seen is not None
    assert seen.detail.startswith("a b[31mxxx")
    assert len(seen.detail) <= 300
