"""The benchmark of the examples counts what happened, failures included."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

from tests.bot import synthetic

BENCHMARKS = Path(__file__).resolve().parents[1] / "benchmarks"


@pytest.fixture(scope="module")
def bench() -> ModuleType:
    spec = importlib.util.spec_from_file_location("run_examples", BENCHMARKS / "run_examples.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["run_examples"] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


def test_each_candidate_is_counted_once_and_no_further_than_it_came(bench: ModuleType) -> None:
    trajectory = synthetic.trajectory()
    tallies = bench.count_rules([trajectory])
    edited = [step for step in trajectory.steps if step.edit is not None]
    assert sum(tally.proposed for tally in tallies.values()) == len(edited)
    for tally in tallies.values():
        assert tally.kept <= tally.correct <= tally.legal <= tally.proposed - tally.repeats
        assert tally.faster <= tally.correct
        lost = sum(tally.failures.values())
        assert tally.correct + lost == tally.proposed - tally.repeats


def test_a_failed_run_is_a_row_that_says_so_and_spoils_no_mean(bench: ModuleType) -> None:
    good = bench.Run("good", ["a", "run", "x.cu", "--out", "here"], status=0, seconds=9.0)
    good.trajectory = synthetic.trajectory()
    bad = bench.Run("bad", ["a", "run", "y.cu"], status=3, log="it broke\n")
    rows = [bench.row(good), bench.row(bad)]
    text = bench.table(rows, {}, "here")
    assert rows[0]["command"] == "OPTIML_MEMORY=off optiml run x.cu"
    assert "| bad | failed: exit 3 |" in text
    assert rows[1]["failure"] == ["it broke"]
    assert f"Geometric mean over 1: {rows[0]['speedup']:.2f}×" in text


def test_the_first_verified_speedup_is_told_from_other_lines(bench: ModuleType) -> None:
    assert bench.FIRST.search("[4 s] softmax: candidate 3: a warp per row: 2.41× (2.3–2.5)")
    assert not bench.FIRST.search("[2 s] softmax: baseline, 80 evaluations left")
    assert not bench.FIRST.search("[9 s] softmax: candidate 5: does not compile")


def test_every_example_has_a_command_that_repeats_its_run(bench: ModuleType) -> None:
    for path in sorted(bench.EXAMPLES.glob("*/.optiml.yml")):
        assert bench.source_of(path.parent.name).is_file()


def test_the_geometric_mean_of_a_half_and_a_double_is_one(bench: ModuleType) -> None:
    assert bench.geometric_mean([0.5, 2.0]) == pytest.approx(1.0)
