"""The runner of the GPU suite: what runs beside what, what it counts, and how it ends."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.gpu import conftest, suite
from tests.gpu.budget import EXPECTED, LEFT_OUT, MOST_SECONDS, YIELDS, ends, forecast, sampled
from tests.gpu.keeping import keep
from tests.gpu.suite import (
    Part,
    Result,
    Running,
    Stopped,
    main,
    plan,
    read,
    run,
    table,
    visible,
)

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


@pytest.mark.parametrize(("gpus", "turns"), [(("0",), 3), (("0", "1"), 2)])
def test_on_one_gpu_the_red_team_and_what_is_timed_are_alone(
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


def test_each_turn_gets_what_time_is_left_and_the_seed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    seen: list[tuple[str, ...]] = []

    def fake(parts: tuple[Part, ...], *_: object) -> list[Result]:
        seen.extend(part.options for part in parts)
        return [Result(part, 0, 1.0, 1) for part in parts]

    monkeypatch.setattr(suite, "run", fake)
    monkeypatch.setattr(suite, "visible", lambda _: ("0",))
    assert main(["--seed", "7", "--most", "250"]) == 0
    said = capsys.readouterr().out
    assert "--seed 7 repeats it" in said
    assert "THIS WILL RUN OVER" in said
    assert all("--gpu-sample" in one and "7" in one for one in seen)
    seconds = [float(one[-1].partition("=")[2]) for one in seen]
    assert seconds == sorted(seconds)  # those side by side have the same
    assert 150 <= seconds[-1] <= 250
    seen.clear()
    assert main(["--all"]) == 0
    assert not any("--gpu-sample" in one for one in seen)
    assert "expected (an estimate" not in capsys.readouterr().out


def test_the_red_team_is_run_by_itself_and_as_a_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Part] = []

    def fake(parts: tuple[Part, ...], *_: object) -> list[Result]:
        seen.extend(parts)
        return [Result(part, 0, 1.0, 1) for part in parts]

    monkeypatch.setattr(suite, "run", fake)
    monkeypatch.setattr(suite, "visible", lambda _: ("0", "1"))
    assert main(["--redteam"]) == 0
    assert [part.name for part in seen] == ["red team"]
    assert seen[0].gpus == ("0", "1")
    assert not {"--gpu-sample"} & set(seen[0].options)


def test_what_time_did_not_suffice_for_is_neither_a_failure_nor_a_pass(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fake(parts: tuple[Part, ...], *_: object) -> list[Result]:
        return [Result(part, 0, 1.0, 1, 1, reasons={LEFT_OUT: 1}) for part in parts]

    monkeypatch.setattr(suite, "run", fake)
    monkeypatch.setattr(suite, "visible", lambda _: ("0",))
    assert main([]) == 3
    assert "5 tests were left out" in capsys.readouterr().out


def test_a_suite_that_is_stopped_tells_what_it_saw(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The second part is stopped, the later ones never begin."""
    begun: list[str] = []

    def fake(parts: tuple[Part, ...], *_: object) -> list[Result]:
        begun.append(parts[0].name)
        result = Result(parts[0], 0, 1.0, 3)
        if len(begun) == 2:
            raise Stopped([result])
        return [result]

    monkeypatch.setattr(suite, "run", fake)
    monkeypatch.setattr(suite, "visible", lambda _: ("0",))
    assert main([]) == 130
    assert len(begun) == 2
    assert "6 passed, 0 failed" in capsys.readouterr().out


def test_a_part_without_a_report_is_counted_by_what_it_printed(tmp_path: Path) -> None:
    result = Result(Part("x", (), ""), 124)
    for line in (
        "tests/gpu/a.py::one PASSED [ 1%]",
        "tests/gpu/a.py::two FAILED [ 2%]",
        "  12.5 ok  saxpy/tail   tail   refuse",
        "  12.6 BAD saxpy/base   the original",
        "nothing of the kind",
    ):
        result.hear(line)
    read(result, tmp_path / "none.xml")
    assert (result.passed, result.failed, result.skipped) == (1, 1, 0)
    assert "1 as wanted, 1 not" in table([result], 1.0)


def test_of_what_is_alike_each_has_its_turn() -> None:
    family = [SimpleNamespace(name=name) for name in ("saxpy", "chain")]
    tests: list[tuple[str, dict[str, Any]]] = [
        ("test_right_candidates_are_accepted", {"family": one, "name": n})
        for one in family
        for n in range(3)
    ]
    tests += [("test_each_variant_gets_its_verdict", {"case": n}) for n in range(8)]
    tests += [("test_peaks_are_measured", {})]
    kept = [sampled(tests, seed) for seed in range(12)]
    assert all(sum(one[:3]) == 1 and sum(one[3:6]) == 1 and one[-1] for one in kept)
    assert all(any(one[place] for one in kept) for place in range(len(tests)))


ONE_GPU = [["red team"], ["attacks", "verdicts", "programs"], ["alone"]]


def test_an_early_turn_may_take_what_is_to_spare_and_later_ones_keep_their_own() -> None:
    assert ends([["alone"]], 50) == [50]
    longest = [max(EXPECTED[part] for part in turn) for turn in ONE_GPU]
    until = ends(ONE_GPU, MOST_SECONDS)
    assert until[-1] == MOST_SECONDS
    for place, end in enumerate(until):
        assert end >= sum(longest[: place + 1])
        assert MOST_SECONDS - end >= 1.1 * sum(longest[place + 1 :])


def test_the_red_team_comes_last_and_gives_way(monkeypatch: pytest.MonkeyPatch) -> None:
    """Attacks, verdicts and what is timed are whole; a sample is of what is judged elsewhere, too."""
    monkeypatch.setattr(suite, "visible", lambda _: ("0",))
    asked = suite._arguments([])
    planned = suite.turns(("0",), asked, 7)
    assert [part.name for group, _ in planned for part in group] == [
        "attacks", "verdicts", "programs", "alone", "red team",
    ]  # fmt: skip
    first, second, third = (end for _, end in planned)
    assert third == MOST_SECONDS - suite.KEPT_BACK
    longest = max(EXPECTED[part.name] for part in planned[0][0])
    # Half as long again as expected, and the red team still has its least.
    assert first >= 1.5 * longest
    assert second >= longest + 1.5 * EXPECTED["alone"]
    assert third - second >= YIELDS["red team"]
    assert sum(EXPECTED.values()) > sum(YIELDS.values()) > 0


def test_a_part_takes_as_long_as_it_ran_and_not_as_long_as_another_was_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seconds = {"slow": 3.0, "quick": 0.1}

    def command(part: Part, _results: Path) -> list[str]:
        return [sys.executable, "-c", f"import time; time.sleep({seconds[part.name]})"]

    monkeypatch.setattr(suite, "command", command)
    parts = [Part(name, (), "") for name in ("slow", "quick")]
    slow, quick = run(parts, tmp_path, time.monotonic() + 60, lambda _: None)
    assert slow.seconds >= 3.0
    assert quick.seconds < slow.seconds - 0.5


def test_what_time_did_not_suffice_for_is_named(tmp_path: Path) -> None:
    file = tmp_path / "r.xml"
    file.write_text(REPORT.replace("no ncu", LEFT_OUT))
    result = Result(Part("x", (), ""), 0)
    read(result, file)
    assert "  left out: a::out" in table([result], 1.0)


def test_of_confirmations_that_time_one_has_its_turn() -> None:
    names = (
        "test_a_kernel_of_more_than_a_tenth_of_a_second",
        "test_a_function_that_allocates",
        "test_a_kernel_whose_time_varies_wildly",
    )
    kept = [sampled([(name, {}) for name in names], seed) for seed in range(3)]
    assert all(sum(one) == 1 for one in kept)
    assert all(any(one[place] for one in kept) for place in range(3))


def test_too_little_time_is_shared() -> None:
    half = sum(max(EXPECTED[part] for part in turn) for turn in ONE_GPU) / 2
    assert ends(ONE_GPU, half)[0] == EXPECTED["red team"] / 2
    assert "RUN OVER" in forecast(ONE_GPU, half)


def test_the_default_choice_fits_into_its_time() -> None:
    assert sum(max(EXPECTED[part] for part in turn) for turn in ONE_GPU) < 0.85 * MOST_SECONDS
    assert "RUN OVER" not in forecast(ONE_GPU, MOST_SECONDS)


def test_pytest_leaves_out_what_is_not_chosen_and_begins_nothing_when_time_is_over() -> None:
    """The options reach the tests: without a GPU they are skipped for want of one, or of time."""
    line = [sys.executable, "-m", "pytest", "-q", "-rs", "-m", "gpu", "-c", "scripts/gpu-test.ini"]
    line += ["--rootdir", ".", "-p", "no:cacheprovider", "tests/gpu/test_worker_verdicts.py"]
    line += ["--gpu-sample=1", "--gpu-seconds=-1", "-k", "right_candidates or peaks"]
    done = subprocess.run(line, cwd=suite.ROOT, capture_output=True, text=True, check=False)
    assert "9 skipped" in done.stdout, done.stdout + done.stderr
    assert LEFT_OUT in done.stdout


def test_what_is_kept_makes_its_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run on a lent machine was lost to a folder that nobody had made."""
    folder = tmp_path / "kept" / "here"
    monkeypatch.setenv("GPU_TEST_KEEP", str(folder))
    keep("attack", {"contained": True})
    assert json.loads((folder / "attack.json").read_text()) == {"contained": True}
    monkeypatch.delenv("GPU_TEST_KEEP")
    keep("other", {})
    assert [one.name for one in folder.iterdir()] == ["attack.json"]


class _Test:
    """What a hook asks of a test: its markers, and how long its run may begin tests."""

    def __init__(self, *markers: str) -> None:
        self.markers, self.config = markers, self

    def get_closest_marker(self, name: str) -> str | None:
        return name if name in self.markers else None

    def getoption(self, name: str, default: object = None) -> float:
        return {"--gpu-seconds": -1.0}[name]


def test_when_the_time_is_over_what_was_found_is_still_told() -> None:
    """Good candidates that were refused are no less so where no time was left to begin a test."""
    hook = conftest.pytest_runtest_setup
    hook(_Test("gpu", "told"))  # type: ignore[arg-type]
    with pytest.raises(pytest.skip.Exception, match=LEFT_OUT):
        hook(_Test("gpu"))  # type: ignore[arg-type]
