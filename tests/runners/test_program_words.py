"""What programs print is compared however their originals are run; and which words are the clock's."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from runners import program
from runners.program_learning import MORE_RUNS, _Learning
from tests.runners.program_fakes import Fakes, made


@pytest.fixture(scope="module")
def fakes(tmp_path_factory: pytest.TempPathFactory) -> Fakes:
    return made(tmp_path_factory.mktemp("programs"))


@pytest.mark.skipif(shutil.which("g++") is None, reason="needs a C++ compiler")
@pytest.mark.parametrize("effort", ["screen", "confirm"])
@pytest.mark.parametrize(
    ("candidate", "status"), [("fast", "correct"), ("fast-talks", "wrong result")]
)
def test_what_is_printed_is_compared_where_memory_is_zeroed_alone(
    fakes: Fakes, effort: str, candidate: str, status: str
) -> None:
    """A run with NaN tells of words else, and one whose launches are repeated of none."""
    request = fakes.request("uninit-strict", f"uninit-strict-{candidate}", effort=effort)
    verdict = program.evaluate(request, fakes.context())
    assert verdict["status"] == status, verdict["log"]
    if status == "correct":
        assert "zeroed memory only" in verdict["log"]
        assert any(check["layer"] == "stdout" for check in verdict["checks"])
    else:
        assert 'prints "FAIL"' in verdict["log"] or "lines instead of" in verdict["log"]


def _ran(word: str) -> Any:
    report = SimpleNamespace(broken=False, records=())
    return SimpleNamespace(exit=0, stdout=f"an {word} number", report=report)


class _Words:
    """An original whose next runs print one word after the other."""

    def __init__(self, first: str, later: Iterator[str]) -> None:
        self.first, self._later = _ran(first), later
        self.poisons: list[str] = []

    def run(self, poison: str) -> Any:
        self.poisons.append(poison)
        return _ran(next(self._later))


def _wandering(zeros: str, others: str, later: str) -> tuple[frozenset[int] | None, bool, int]:
    """Two runs under zeros, those under random words, NaN and random words, and what follows."""
    first, second, random, nan, again = (*zeros.split(), *others.split())
    learning: Any = _Words(first, iter(later.split()))
    runs = [_ran(random), _ran(nan), _ran(again)]
    lines, words, more = _Learning.wandering(learning, runs, _ran(second), alike=True)
    assert len(more) == len(learning.poisons)
    return lines, words, len(more)


@pytest.mark.parametrize("later", ["odd", "even even", "even odd even", "even odd odd odd"])
def test_a_word_of_the_clock_may_be_the_same_twice_under_the_same_memory(later: str) -> None:
    """As "odd" under zeros and random words, and "even" under NaN once: it is not what NaN does."""
    lines, words, more = _wandering("odd odd", "odd even odd", later)
    assert (lines, words) == (frozenset({0}), True)
    assert more == len(later.split())


def test_what_words_stand_for_fresh_memory_stays_known() -> None:
    """An original that says something else under each of them is run so often, and no more."""
    lines, words, more = _wandering("zeroed zeroed", "random nan random", "nan zeroed random nan")
    assert (lines, words, more) == (frozenset(), False, MORE_RUNS)


def test_what_two_runs_have_shown_already_is_not_run_for() -> None:
    assert _wandering("odd even", "odd even odd", "") == (frozenset({0}), True, 0)
