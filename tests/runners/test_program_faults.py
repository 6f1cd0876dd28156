"""What two runs of an original do not have in common is said in figures and lines."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from runners import program_faults
from runners.fault import Fault
from runners.program_report import Failure, Record
from runners.program_run import Ran
from tests.runners.test_program import nothing_seen


def _run(stdout: str = "", sizes: tuple[int, ...] = (8,), *, status: int | None = 0) -> Ran:
    records = tuple(Record("copy", 0, 0, size, "aa", None, 0, sampled=False) for size in sizes)
    report = replace(nothing_seen(), records=records)
    return Ran(status, stdout, "", 1.0, report, np.zeros(0, np.uint8))


def _failing() -> Ran:
    run = _run()
    assert run.report is not None
    failure = Failure("cudaMemcpy", 700, "cudaErrorIllegalAddress", "k")
    return replace(run, report=replace(run.report, broken=True, failures=(failure,)))


@pytest.mark.parametrize(
    ("other", "said"),
    [
        (_run(status=None), "hangs in the next"),
        (_run("bad luck", status=4), "exits with 0 in one run and 4 in the next: bad luck"),
        (_failing(), "fails in the next: cudaMemcpy: cudaErrorIllegalAddress"),
        (_run(sizes=(8, 8)), "makes 1 copies to the host and buffers in one run and 2"),
        (_run(sizes=(12,)), "number 1 of its copies and buffers is a copy of 8 bytes in one run"),
    ],
)
def test_a_difference_between_two_runs_is_named(other: Ran, said: str) -> None:
    """With what to do about it."""
    assert not program_faults.same_work(_run(), other)
    fault = program_faults.varies(_run(), other)
    assert fault.kind == "BaselineError"
    assert said in fault.message
    assert "fixed seed" in fault.remedy


def test_lines_that_wander_are_counted_and_quoted() -> None:
    """So that the user may make them steady, or not care."""
    one, two, three = _run("a\nb\nc 1"), _run("a\nx\nc 2"), _run("y\nb\nc 3")
    lines = program_faults.wandering([(one, two), (one, three)])
    assert lines == frozenset({0, 1})
    assert program_faults.said_of(lines, one) == [
        'line 1 ("a") and 1 more of its output is another in every run and is not compared'
    ]
    assert program_faults.same_words(two, three, lines)
    assert not program_faults.same_words(two, three, frozenset({0}))
    assert program_faults.said_of(frozenset(), one) == []


def test_what_was_not_kept_is_said() -> None:
    """A loop that copies a flag back in every round makes more copies than are compared."""
    report = replace(nothing_seen(), unrecorded=12)
    assert "12 copies" in program_faults.unseen(report)[0]
    assert program_faults.unseen(nothing_seen()) == []


def _ends(status: int, words: str = "", *, launches: int = 1) -> Ran:
    run = _run(words, status=status)
    assert run.report is not None
    return replace(run, report=replace(run.report, launches=launches))


@pytest.mark.parametrize("words", ["", "sum 6", "max error: 0.0", "Errors = 0", "error 1e-07"])
def test_a_program_whose_work_went_well_may_end_with_a_status_of_its_own(words: str) -> None:
    """Where nobody has said with which: as one that returns a count."""
    run = _ends(3, words)
    assert program_faults.check(run, (), (None, None), 5.0, Path()) is run.report
    with pytest.raises(Fault, match="exits with 3"):
        program_faults.check(run, (), (0, None), 5.0, Path())


def test_a_program_that_wants_arguments_is_told_those_of_its_makefile(tmp_path: Path) -> None:
    """One line says what to do."""
    (tmp_path / "Makefile").write_text("run: main\n\t./main 4096 10\n")
    with pytest.raises(Fault) as caught:
        program_faults.check(_ends(1, "usage: main SIZE"), (), (None, None), 5.0, tmp_path)
    assert "its makefile runs it with `4096 10`" in caught.value.remedy


@pytest.mark.parametrize(
    "run",
    [
        _ends(1, "usage: main SIZE"),
        _ends(1, "Test FAILED"),
        _ends(1, "Error: bad size"),
        _ends(1, "cannot open data.txt"),
        _ends(1, "", launches=0),
        _ends(139, "sum 6"),
        _ends(-11, "sum 6"),
        _failing(),
    ],
)
def test_a_status_that_means_trouble_is_no_status_of_its_own(run: Ran) -> None:
    """What it says, or has not done, tells."""
    run = replace(run, exit=run.exit or 1)
    with pytest.raises(Fault, match=r"exits with|killed by"):
        program_faults.check(run, (), (None, None), 5.0, Path())


def test_a_program_whose_launches_all_fail_computes_nothing() -> None:
    """As one that was to read its size from an input that is empty."""
    run = _ends(0, "done", launches=2)
    assert run.report is not None
    failure = Failure("__cudaLaunchKernel", 9, "cudaErrorInvalidConfiguration", "add")
    refused = replace(run.report, refused=2, failures=(failure,))
    with pytest.raises(
        Fault, match=r"each launch fails with cudaErrorInvalidC.* \(add\)"
    ) as caught:
        program_faults.check(replace(run, report=refused), (), (None, None), 5.0, Path())
    assert "standard input" in caught.value.remedy
    some = replace(run, report=replace(refused, refused=1))
    assert program_faults.check(some, (), (None, None), 5.0, Path()) is some.report
