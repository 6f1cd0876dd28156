"""What a busy machine kept from being checked is done once more, or said; it is never silent."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from runners import alignment, answers, cubin, spec, unchecked, verify
from runners.alignment import Alignment
from runners.answers import Answers, Oracle
from runners.artifact import Failure
from runners.checks import Report, Wrong
from runners.compiler import Compiler
from runners.contents import Combination
from runners.gpu import HungError
from runners.judge import ROWS, Judge
from runners.rows import close_rows
from runners.spec import Json
from tests.runners.host_gpu import HostGpu, HostOracle, artifact
from tests.runners.test_judge import RIGHT, SCALE, _job, _verdict

CLOCK, OTHER = "mov.u64 %rd2, %clock64;", RIGHT["four at a time"]
Make = Callable[[Callable[[str], str | None]], Judge]


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Make]:
    """Make a judge that gets PTX from a function."""
    judges: list[Judge] = []
    monkeypatch.setattr(cubin, "variables", lambda _: ())

    def make(code: Callable[[str], str | None]) -> Judge:
        nothing = cast("Any", lambda _text, _job: None)
        judge = Judge(HostGpu(), 0, tmp_path, nothing, device_code=lambda text, _job: code(text))
        judge._oracle = HostOracle(tmp_path, 0, lambda text, _job: artifact(text))
        judges.append(judge)
        return judge

    yield make
    for one in judges:
        one.close()


def test_device_code_that_could_not_be_had_at_first_is_asked_for_again(made: Make) -> None:
    """A clock in it was not seen where the compiler's time was over."""
    asked: list[str] = []

    def code(text: str) -> str | None:
        asked.append(text)
        late = asked.count(text) == 1
        return None if late else CLOCK if text == OTHER else ""

    verdict = _verdict(made(code), OTHER, effort="confirm")
    assert verdict["status"] == "rejected", verdict["log"]
    assert "reads a clock" in verdict["log"]


@pytest.mark.parametrize("lacks", [OTHER, SCALE])
def test_device_code_that_is_not_known_of_one_side_is_a_note(made: Make, lacks: str) -> None:
    """It is held against nobody: the original may read a clock, too."""
    verdict = _verdict(made(lambda text: None if text == lacks else CLOCK), OTHER, effort="confirm")
    assert verdict["status"] == "correct", verdict["log"]
    assert unchecked.UNREAD in verdict["measurement"]["notes"]


def test_device_code_that_is_known_needs_no_note(made: Make) -> None:
    notes = _verdict(made(lambda _: ""), OTHER, effort="confirm")["measurement"]["notes"]
    assert unchecked.UNREAD not in notes
    # On this device nothing is run with delays, which is said.
    assert unchecked.UNDELAYED in notes
    same = _verdict(made(lambda _: ""), SCALE, effort="confirm")["measurement"]["notes"]
    assert unchecked.UNDELAYED not in same


def test_what_was_checked_is_not_said_to_be_unchecked() -> None:
    job, report = spec.parse(_job(OTHER)), Report()
    for layer in ("delayed warps", "calls in a row"):
        report.add(layer, "n=7", passed=True, error=None, bound=None)
    assert unchecked.notes(report, job, read=True, rows=True) == []
    report.forget("calls in a row")
    (note,) = unchecked.notes(report, job, read=True, rows=True)
    assert "one behind the other" in note
    assert unchecked.notes(report, job, read=True, rows=False) == []


def test_delays_that_end_before_all_that_is_asked_of_each_are_said() -> None:
    """A run that fails so says nothing of a candidate, and is no reason to say nothing of it."""
    job, report = spec.parse(_job(OTHER)), Report()
    report.add("delayed warps", "n=7", passed=True, error=None, bound=None)
    unchecked.cut(report, early=False)
    assert unchecked.notes(report, job, read=True, rows=False) == []
    unchecked.cut(report, early=True)
    assert unchecked.notes(report, job, read=True, rows=False) == [unchecked.SELDOM_DELAYED]
    assert all(check["passed"] for check in report.as_json())


@pytest.mark.parametrize(("hangs", "waited"), [(0, False), (1, False), (2, True)])
def test_an_original_that_hangs_once_in_rows_is_run_in_them_again(
    judge: Judge, monkeypatch: pytest.MonkeyPatch, hangs: int, waited: bool
) -> None:
    """Its candidates are not asked for calls in a row where it is not right so."""
    turns: list[int] = []

    def in_a_row(*_: object) -> None:
        turns.append(1)
        if len(turns) <= hangs:
            raise HungError("a busy machine")

    monkeypatch.setattr(verify, "in_a_row", in_a_row)
    monkeypatch.setattr(judge, "_session", lambda *_: None)
    job, known = spec.parse(_job(OTHER)), cast("Answers", None)
    assert judge._waited_for({"baseline": {}}, job, known, []) is waited


def test_an_original_that_is_not_right_in_rows_of_a_kind_leaves_the_others(
    judge: Judge, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Host code that looks at a flag too early is right where the device is far behind."""

    def in_a_row(*given: object) -> None:
        if given[-1] is close_rows:
            raise Wrong("wrong result", "calls in a row")

    monkeypatch.setattr(verify, "in_a_row", in_a_row)
    monkeypatch.setattr(judge, "_session", lambda *_: None)
    job, known = spec.parse(_job(OTHER)), cast("Answers", None)
    told = partial(judge._waited_for, {"baseline": {}}, job, known, [])
    assert [told(made) for made in ROWS] == [False, True, False]


def test_what_the_original_does_not_answer_is_counted(judge: Judge) -> None:
    """The first are named; the others are no fewer for that."""
    base = SCALE.replace("i < n", "i < (n % 8 ? n + 8 : n)")
    cases = [{"values": {"n": 3000}}, {"values": {"n": 8}, "time": False}]
    verdict = _verdict(judge, OTHER, base, effort="confirm", workload={"cases": cases})
    notes = verdict["measurement"]["notes"]
    named = [one for one in notes if one.startswith("not checked at ")]
    (rest,) = [one for one in notes if one.startswith("nor at ")]
    assert len(named) == 8
    assert int(rest.split()[2]) > 8


def test_time_that_was_over_is_not_said_to_be_the_originals_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    oracle, known = Oracle(tmp_path, 0, lambda *_: None), Answers(cast("Any", None), tmp_path)
    wanted = [Combination({"n": float(n)}, "mixed", 1) for n in range(5)]
    begun: list[int] = []

    def once(
        held: Answers, _request: Json, _twin: object, left: list[Combination], _: float
    ) -> None:
        begun.append(len(left))
        held.described[left[0].key] = {}

    monkeypatch.setattr(oracle, "_once", once)
    none = cast("Any", None)
    oracle._ask(known, {}, none, (wanted, set()), time.monotonic() - 1.0)
    assert begun == [5]
    assert set(known.dropped.values()) == {"there was no time left to ask"}
    known.dropped.clear()
    begun.clear()
    more = [Combination({"n": float(n)}, "mixed", 2) for n in range(9)]
    oracle._ask(known, {}, none, (more, set()), time.monotonic() + 60.0)
    assert begun == [9, 8, 7, 6, 5, 4]
    assert set(known.dropped.values()) == {"the original keeps crashing around it"}


def test_a_compiler_whose_time_was_over_is_asked_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A source that does not compile is not compiled twice."""
    compiler = Compiler(cast("Any", None), cast("Any", None), tmp_path)
    said = [Failure("late", timed_out=True), Failure("wrong"), Failure("wrong, again")]
    monkeypatch.setattr(compiler, "_order", lambda *_: SimpleNamespace(key="key"))
    monkeypatch.setattr(compiler, "_compile", lambda _: said.pop(0))
    found = [compiler.compile("", path="a.cu", kind="ptx", sm=90) for _ in range(3)]
    assert [one.log for one in found] == ["late", "wrong", "wrong"]


@pytest.mark.parametrize(("seconds", "late"), [(0.0, False), (0.4, True)])
def test_buffers_that_were_not_moved_in_time_are_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seconds: float, late: bool
) -> None:
    """Whether they must be aligned is not known then."""
    monkeypatch.setattr(alignment, "SECONDS", 0.3)
    monkeypatch.setattr(Alignment, "_moved", lambda *_: time.sleep(seconds))
    data = _job(OTHER)
    request = {"job": data, "candidate": {"path": "a"}, "baseline": {"path": "b"}}
    job, asked = spec.parse(data), [Combination({"n": 7.0}, "declared", 5)]
    known = cast("answers.Answers", None)
    with Alignment(tmp_path, 0).begun(request, job, 16, asked) as moved:
        told = [one.result() for one in moved]
    notes = alignment.notes(job, known, asked, told)
    assert notes == (
        ["not seen whether x, y may begin anywhere: that took over 0.3 s"] if late else []
    )
