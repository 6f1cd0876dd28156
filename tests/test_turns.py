"""Slow tests take turns: none is forgotten, no file is without one, and processes choose alike."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from tests import turns

NAMES = st.builds("tests/test_{}.py::test_{}".format, st.sampled_from("abc"), st.integers(0, 30))


@given(st.lists(NAMES, unique=True), st.sets(NAMES))
def test_over_all_turns_each_test_runs_and_each_file_in_every_one(
    names: list[str], slow: set[str]
) -> None:
    seconds = dict.fromkeys(slow, 1.0)
    run = [set(names) - turns.left_out(names, seconds, number) for number in range(turns.TURNS)]
    assert set().union(*run) == set(names)
    files = {name.partition("::")[0] for name in names}
    for one in run:
        assert one >= set(names) - slow
        assert {name.partition("::")[0] for name in one} == files
    many = [name for name in names if name in slow and name.startswith("tests/test_a.py")]
    if len(many) >= turns.TURNS:
        assert all(len(one & {*many}) <= len(many) / turns.TURNS + 1 for one in run)


def test_a_turn_leaves_most_of_the_time_out() -> None:
    """Of what slow tests take two fifths are left at most, in each turn."""
    seconds = turns.known()
    total = sum(seconds.values())
    for number in range(turns.TURNS):
        left = turns.left_out(seconds, seconds, number)
        assert sum(seconds[name] for name in left) > total * 0.6
    assert min(seconds.values()) >= turns.SLOW


def test_what_is_kept_is_of_tests_that_there_are() -> None:
    """At most one in ten of the files in the record has gone: else it was not made again."""
    root = Path(__file__).parents[1]
    files = {name.partition("::")[0] for name in turns.known()}
    gone = [one for one in files if not (root / one).is_file()]
    assert len(gone) <= len(files) / 10, gone


def test_processes_choose_alike_and_what_they_took_is_kept(tmp_path: Path) -> None:
    """A run by pytest itself: with a turn and without, and with a measured record of it."""
    root = Path(__file__).parents[1]
    asked = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/test_house.py"]

    def listed(*more: str) -> list[str]:
        done = subprocess.run(
            [*asked, "--collect-only", *more], cwd=root, capture_output=True, text=True, check=True
        )
        return [line for line in done.stdout.splitlines() if "::" in line]

    every = listed()
    chosen = [listed("--turn", str(number)) for number in range(turns.TURNS)]
    assert sorted({name for one in chosen for name in one}) == sorted(every)
    assert all(len(one) < len(every) for one in chosen)
    assert listed("--turn", "1") == chosen[1]
    seconds = tmp_path / "seconds"
    seconds.mkdir()
    (seconds / "1").write_text("0.100 a.py::test_a\n7.250 a.py::test_b[two words]\n")
    (seconds / "2").write_text("0.400 b.py::test_c\n")
    kept = tmp_path / "kept.json"
    assert turns.main([str(seconds)], kept) == 0
    assert json.loads(kept.read_text()) == {"a.py::test_b[two words]": 7.25, "b.py::test_c": 0.4}
    assert turns.main([], kept) == 2
