"""The comparison of strategies on recordings."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import pytest

from bot import projects
from optimizer.budget import SearchSettings, Strategy
from optimizer.model import CaseTimes, Kernel, Measurement, Status, Verdict
from runners.interfaces import Job
from runners.replay import RecordingDispatcher, RecordingHeader
from tests.test_benchmarks import loaded

strategies = loaded("strategies")
FILE = Path(__file__).parents[1] / "examples" / "matmul" / "matmul.cu"


class Made:
    """Gives every candidate of a kernel a time that depends on its length alone."""

    def dispatch(self, jobs: Sequence[Job]) -> Sequence[Verdict]:
        return [self.verdict(job.kernel, job.baseline) for job in jobs]

    def verdict(self, kernel: Kernel, baseline: Kernel) -> Verdict:
        ratio = 1.0 + abs(len(kernel.source) - len(baseline.source)) / 1000
        times = CaseTimes("n=1", (100.0 / ratio,) * 8, (100.0,) * 8)
        return Verdict(Status.CORRECT, Measurement((times,), "a GPU"), machine_code=kernel.digest)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    ((kernel, workload),) = projects.of_file(FILE).kernels
    path = tmp_path / "matmul" / "mcts-0.jsonl.gz"
    with RecordingDispatcher(Made(), path, RecordingHeader(gpu="a GPU")) as recorder:
        recorder.peaks = {}  # type: ignore[attr-defined]
        strategies.replayed(recorder, kernel, workload, 12, 0)(SearchSettings())
    return tmp_path


def test_a_search_of_its_own_recording_reaches_what_was_measured(folder: Path) -> None:
    (run,) = strategies.recorded(folder, range(1), 12)["matmul/matmul"]
    reached = run(SearchSettings())
    assert reached > 0.0
    assert run(SearchSettings()) == reached


def test_a_seed_that_one_strategy_could_not_finish_counts_for_none(folder: Path) -> None:
    """Else whoever keeps to what the recording has would be the better one."""
    (run,) = strategies.recorded(folder, range(1), 12)["matmul/matmul"]
    assert math.isnan(run(SearchSettings(strategy=Strategy.RANDOM)))
    both = {"mcts": {}, "random": {"strategy": Strategy.RANDOM}}
    assert strategies.compare(both, [run]) == {"mcts": [], "random": []}
    assert len(strategies.compare({"mcts": {}}, [run])["mcts"]) == 1


def test_every_seed_of_every_recorded_example_is_one_search(folder: Path) -> None:
    assert {
        name: len(runs) for name, runs in strategies.recorded(folder, range(5), 12).items()
    } == {"matmul/matmul": 5}
