"""The smallest numbers that an original's text takes, over a CUDA runtime of host functions."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from runners import program_arguments, program_asking, program_smallest, sanitizer
from tests.runners.program_fakes import Fakes, made
from tests.runners.test_program_elsewhere import Asked

needs_compiler = pytest.mark.skipif(shutil.which("g++") is None, reason="needs a C++ compiler")

CASES = Path(__file__).parents[1] / "redteam" / "cases"
SIZE = "int main(int c, char** v) { int n = atoi(v[1]); if (n < 1) return 2; }"
TURN = "int main(int c, char** v) { int turn = atoi(v[2]); if (turn < 1) return 2; }"
PERIOD = "int main(int c, char** v) { int turn = atoi(v[2]); if (s % turn == 0) show(s); }"


@pytest.fixture(scope="module")
def fakes(tmp_path_factory: pytest.TempPathFactory) -> Fakes:
    return made(tmp_path_factory.mktemp("smallest"))


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sanitizer, "command", lambda: None)


@needs_compiler
def test_who_is_wrong_with_the_smallest_size_is_refused_ahead_of_the_larger_ones(
    fakes: Fakes,
) -> None:
    """Where the original's text says that it takes it; else nobody knows that it means to."""
    asked = Asked(fakes, "ok", "tiny", [["1000"]], source=SIZE)
    assert asked.refused is not None
    assert asked.refused.log.startswith("./saxpy 1: ")
    assert asked.lines["ok"][:2] == ["1", "1"]
    assert Asked(fakes, "ok", "tiny", [["1000"]]).refused is None


@needs_compiler
def test_a_right_candidate_is_right_with_the_smallest_size(fakes: Fakes) -> None:
    asked = Asked(fakes, "ok", "fast", [["1000"]], source=SIZE)
    assert asked.refused is None
    assert asked.right == ["1", "2", "3", "4", "5", "2501", "15999", "691"]


@needs_compiler
@pytest.mark.parametrize(("source", "line"), [(TURN, "1000 1"), (PERIOD, "1000 17")])
def test_a_number_that_the_text_takes_from_one_on_or_as_a_period_has_to_be_right(
    fakes: Fakes, source: str, line: str
) -> None:
    """It is no size, as it is no more work."""
    asked = Asked(fakes, "ok", "oneseed", [["1000", "7"]], source=source)
    assert asked.refused is not None
    assert asked.refused.log.startswith(f"./saxpy {line}: ")
    assert Asked(fakes, "ok", "fast", [["1000", "7"]], source=source).refused is None


@needs_compiler
@pytest.mark.parametrize("source", [TURN, PERIOD])
def test_a_seed_by_its_name_stays_a_limit(fakes: Fakes, source: str) -> None:
    named = source.replace("turn", "rand_seed")
    asked = Asked(fakes, "ok", "farther", [["1000", "10000"]], source=named)
    assert asked.refused is None
    assert len(asked.notes) == 1
    assert program_asking.RIGHT in asked.notes[0]
    assert Asked(fakes, "ok", "farther", [["1000", "10000"]], source=source).refused is not None


@needs_compiler
def test_where_an_original_comes_to_no_number_nothing_is_asked(fakes: Fakes) -> None:
    """Nothing by nothing has another sign on the host than on the device."""
    asked = Asked(fakes, "ok-spread", "other-spread", [["1000"]], source=SIZE)
    assert asked.refused is None
    assert "1" in asked.lines["ok-spread"]
    assert "1" not in asked.right


def test_what_comes_to_rest_in_a_row_is_asked_in_rows() -> None:
    """Each of a plane's sides is one while the rest is no more than a warp; counts at every step."""
    source = (CASES / "wireworld" / "base.cu").read_text()
    runs = [("3000", "2000", "200", "50", "7"), ("77", "45", "30", "10", "3")]
    places = program_arguments.places(runs, CASES)
    found = []
    for changes in program_smallest.lines(source, runs[0], places):
        line = program_arguments.line(runs, changes)
        assert line is not None
        found.append(" ".join(line.arguments))
    assert found == ["1 1 1 1 7", "1 33 33 1 7", "33 1 33 1 7", "33 33 1 1 7"]


def test_a_text_that_says_nothing_of_its_least_numbers_is_not_asked() -> None:
    source = (CASES / "ising" / "base.cu").read_text()
    runs = [("300", "200", "20")]
    assert program_smallest.lines(source, runs[0], program_arguments.places(runs, CASES)) == ()
