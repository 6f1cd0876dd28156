"""All sizes of a program at one, two and three, beside steps that are not at their least."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from runners import program_arguments, program_tiny, sanitizer
from runners.program_smallest import ends
from tests.runners.program_fakes import Fakes, made
from tests.runners.test_program_elsewhere import Asked

needs_compiler = pytest.mark.skipif(shutil.which("g++") is None, reason="needs a C++ compiler")

CASES = Path(__file__).parents[1] / "redteam" / "cases"
STEPS = (
    "int main(int c, char** v) { int n = atoi(v[1]), steps = atoi(v[2]); f(n < 1 || steps < 1); }"
)
QUADRILLE = [("512", "384", "200", "987654321", "30"), ("37", "21", "51", "12345", "12")]
WORD = 2**64 - 1


@pytest.fixture(scope="module")
def fakes(tmp_path_factory: pytest.TempPathFactory) -> Fakes:
    return made(tmp_path_factory.mktemp("tiny"))


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sanitizer, "command", lambda: None)


@needs_compiler
def test_who_stops_too_early_with_a_few_cells_alone_is_refused(fakes: Fakes) -> None:
    """Nothing shows it with a single one, with 33, or at the first step."""
    asked = Asked(fakes, "paced", "paced-halts", [["1000", "40"]], source=STEPS)
    assert asked.refused is not None
    assert asked.refused.log.startswith("./saxpy 2 40: ")
    assert asked.right == ["1 1", "1 33", "33 1"]


@needs_compiler
def test_a_right_candidate_is_right_with_few_steps_and_as_many_as_declared(fakes: Fakes) -> None:
    asked = Asked(fakes, "paced", "paced-fast", [["1000", "40"]], source=STEPS)
    assert asked.refused is None
    assert asked.right[3:9] == ["2 40", "3 9", "4 40", "5 9", "2 9", "3 40"]


@needs_compiler
def test_with_floats_there_are_few_steps_alone(fakes: Fakes) -> None:
    """What is rounded otherwise in each may be anything behind many."""
    asked = Asked(fakes, "paced", "paced-fast", [["1000", "40"]], source=f"float x; {STEPS}")
    assert asked.refused is None
    assert asked.right[3:7] == ["2 9", "3 9", "4 9", "5 9"]


@needs_compiler
def test_a_number_of_which_nothing_hangs_on_the_steps_is_a_size(fakes: Fakes) -> None:
    """Two sizes; the second one has a buffer of its own."""
    asked = Asked(fakes, "twin", "twin-fast", [["1000", "999"]], source=STEPS)
    assert asked.refused is None
    assert asked.right[3:11] == ["2 1", "1 2", "2 2", "1 3", "3 1", "2 3", "3 2", "3 3"]


def _tried(name: str, runs: Sequence[tuple[str, ...]], counts: tuple[int, ...]) -> list[str]:
    source = (CASES / name / "base.cu").read_text()
    places = program_arguments.places(runs, CASES)
    known = ends(source, runs[0], places)
    chosen = [one for one in known if one.word in counts]
    found = []
    for changes in program_tiny.tiny(source, known, chosen):
        line = program_arguments.line(runs, changes)
        assert line is not None
        found.append(" ".join(line.arguments))
    return found


def test_planes_of_a_few_cells_have_few_steps_and_many_and_the_declared_seed() -> None:
    found = _tried("quadrille", QUADRILLE, (2,))
    assert [line.removesuffix(" 987654321 30") for line in found] == [
        "2 1 200", "1 2 9", "2 2 200", "1 3 200", "3 1 9",
        "2 3 9", "3 2 200", "3 3 9", "2 2 9", "1 2 200",
    ]  # fmt: skip


def _mixed(word: int) -> int:
    word = ((word ^ (word >> 30)) * 0xBF58476D1CE4E5B9) & WORD
    word = ((word ^ (word >> 27)) * 0x94D049BB133111EB) & WORD
    return word ^ (word >> 31)


def _moves(w: int, h: int, steps: int, seed: int, percent: int) -> Iterator[int]:
    """Yield how many blocks move in each step of `quadrille`."""
    cells = [
        int((_mixed((seed * 0x9E3779B97F4A7C15 + at) & WORD) >> 33) % 100 < percent)
        for at in range(4 * w * h)
    ]
    for step in range(steps):
        moved = 0
        for y in range(step % 2, 2 * h, 2):
            for x in range(step % 2, 2 * w, 2):
                rows = (y * 2 * w, (y + 1) % (2 * h) * 2 * w)
                block = [row + (x + right) % (2 * w) for row in rows for right in (0, 1)]
                a, e, c, d = (cells[at] for at in block)
                if a + e + c + d == 1 or (a + e + c + d == 2 and a == d):
                    alone = a + e + c + d == 1
                    moved += 1
                    for at, ball in zip(
                        block, (d, c, e, a) if alone else (e, a, d, c), strict=True
                    ):
                        cells[at] = ball
        yield moved


def test_a_floor_where_one_kind_of_step_moves_nothing_is_among_them() -> None:
    """Who stops behind one idle step is wrong there, and who waits for both kinds never is."""
    shown = []
    for line in _tried("quadrille", QUADRILLE, (2,)):
        moves = list(_moves(*map(int, line.split())))
        idle = [at for at, number in enumerate(moves) if not number]
        pairs = [at for at in idle if at + 1 in idle]
        assert not any(any(moves[at:]) for at in pairs)
        if any(any(moves[at:]) for at in idle):
            shown.append(line)
    assert shown == [f"{sizes} 200 987654321 30" for sizes in ("2 1", "1 3", "3 2")]


def test_a_text_that_names_no_least_number_is_not_asked() -> None:
    assert _tried("ising", [("300", "200", "20")], ()) == []
