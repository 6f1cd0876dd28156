"""The runner of the GPU suite: what runs beside what, what it counts, and how it ends."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest

from tests.gpu import suite
from tests.gpu.suite import Part, Result, Running, main, plan, read, run, table, visible

REPORT = """<testsuites><testsuite>
<testcase classname="a" name="good" time="2.5"/>
<testcase classname="a" name="bad" time="0.5"><failure message="it is
 wrong">trace</failure></testcase>
<testcase classname="a" name="out" time="0"><skipped message="no ncu"/></testcase>
</testsuite></testsuites>"""


def test_gpus_are_those_that_cuda_may_see(tmp_path: Path) -> None:
    assert visible("2, 3") == ("2", "3")
    assert visible("") == ()
    listing = [sys.executable, "-c", "print('GPU 0: H200\\nGPU 1: H200')"]
    assert visible(None, listing) == ("0", "1")
    assert visible(None, [str(tmp_path / "none")]) == ()


@pytest.mark.parametrize(
    ("gpus", "seen"),
    [
        (("0",), [("0",), ("0",), ("0",), ("0",)]),
        (("4", "5"), [("4",), ("5",), ("4",), ("4",)]),
        (("0", "1", "2", "3"), [("0", "1"), ("3",), ("2",), ("2",)]),
    ],
)
def test_parts_share_gpus_only_where_there_are_few(
    gpus: tuple[str, ...], seen: list[tuple[str, ...]]
) -> None:
    beside, alone = plan(gpus)
    assert [part.gpus for part in beside] == seen
    assert [part.gpus for part in alone] == [gpus[:1]]
    assert {part.marks for part in beside} == {suite.BESIDE}
    assert {part.marks for part in alone} == {suite.ALONE}


def test_a_report_is_counted_with_the_words_of_what_failed(tmp_path: Path) -> None:
    file = tmp_path / "r.xml"
    file.write_text(REPORT)
    result = Result(Part("x", (), ""), 1)
    read(result, file)
    assert (result.passed, result.failed, result.skipped) == (1, 1, 1)
    assert not result.fine
    words = table([result], 3.0)
    assert "a::bad: it is wrong" in words
    assert "skipped 1: no ncu" in words
    assert words.endswith("1 passed, 1 failed, 1 skipped in 3 s")


@pytest.mark.parametrize(("status", "fine"), [(0, False), (5, True), (1, False), (-9, False)])
def test_a_part_without_a_report_is_fine_only_if_it_held_no_test(
    tmp_path: Path, status: int, fine: bool
) -> None:
    result = Result(Part("x", (), ""), status)
    read(result, tmp_path / "none.xml")
    assert result.fine is fine


def test_lines_come_as_they_are_printed_and_parts_run_side_by_side(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two that wait for each other can only end together."""
    script = (
        "import os, sys, time; from pathlib import Path\n"
        "print('on', os.environ['CUDA_VISIBLE_DEVICES'])\n"
        "mine, other, report = map(Path, sys.argv[1:])\n"
        "mine.touch()\n"
        "until = time.time() + 20\n"
        "while not other.exists() and time.time() < until: time.sleep(0.01)\n"
        f"report.write_text({REPORT!r}); sys.exit(not other.exists())\n"
    )

    def command(part: Part, results: Path) -> list[str]:
        mine, other = (tmp_path / n for n in part.paths)
        return [sys.executable, "-c", script, str(mine), str(other), str(results)]

    monkeypatch.setattr(suite, "command", command)
    said: list[str] = []
    parts = [Part("a", ("a", "b"), "", ("7",)), Part("b", ("b", "a"), "", ("8",))]
    found = run(parts, tmp_path, time.monotonic() + 30, said.append)
    assert [one.status for one in found] == [0, 0]
    assert sorted(said) == ["[a] on 7", "[b] on 8"]


def test_a_part_that_does_not_end_is_ended_with_all_it_started(tmp_path: Path) -> None:
    hang = "import os; os.execlp('sh', 'sh', '-c', 'sleep 60 & wait')"
    begun = time.monotonic()
    running = Running(Part("x", (), ""), [sys.executable, "-c", hang], tmp_path / "r", print)
    result = running.wait(time.monotonic() + 0.5)
    assert time.monotonic() - begun < 15
    assert result.status == 124
    assert not result.fine
    assert "did not end in time" in result.words[0]


@pytest.mark.parametrize(
    ("statuses", "passed", "code"),
    [((0, 0), 1, 0), ((0, 1), 1, 1), ((0, 5), 0, 1), ((5, 0), 2, 0)],
)
def test_the_exit_status_tells_whether_all_is_well(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    statuses: tuple[int, int],
    passed: int,
    code: int,
) -> None:
    """A suite that ran nothing has shown nothing."""
    left = list(statuses)

    def fake(parts: tuple[Part, ...], *_: object) -> list[Result]:
        return [Result(parts[0], left.pop(0), 1.0, passed)]

    monkeypatch.setattr(suite, "run", fake)
    monkeypatch.setattr(suite, "visible", lambda _: ("0", "1"))
    assert main([]) == code
    assert "passed" in capsys.readouterr().out


@pytest.mark.parametrize(("gpus", "turns"), [(("0",), 5), (("0", "1"), 2)])
def test_on_one_gpu_parts_take_turns(
    monkeypatch: pytest.MonkeyPatch, gpus: tuple[str, ...], turns: int
) -> None:
    seen: list[int] = []

    def fake(parts: tuple[Part, ...], *_: object) -> list[Result]:
        seen.append(len(parts))
        return [Result(part, 0, 1.0, 1) for part in parts]

    monkeypatch.setattr(suite, "run", fake)
    monkeypatch.setattr(suite, "visible", lambda _: gpus)
    assert main([]) == 0
    assert len(seen) == turns
    assert sum(seen) == 5


def test_arguments_it_does_not_know_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--fast"]) == 2
    assert "--most" in capsys.readouterr().err
