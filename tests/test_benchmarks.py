"""The benchmark of the examples counts what happened, failures included."""

from __future__ import annotations

import importlib.util
import json
import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest

from optimizer.model import Acceptance, CaseTimes, Measurement
from optimizer.trajectory import write_trajectory
from runners import timing
from tests.bot import synthetic
from tests.runners.host_gpu import COMPILER, HostGpu, artifact

BENCHMARKS = Path(__file__).resolve().parents[1] / "benchmarks"


def loaded(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, BENCHMARKS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def bench() -> ModuleType:
    return loaded("run_examples")


@pytest.fixture(scope="module")
def aa() -> ModuleType:
    return loaded("aa")


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


def test_of_an_example_in_two_runs_the_last_counts_however_it_ended(
    bench: ModuleType, tmp_path: Path
) -> None:
    def run(name: str, failed: str) -> Path:
        folder, scratch = tmp_path / name, tmp_path / f"{name}-runs"
        for place in (folder, scratch / "a", scratch / "b"):
            place.mkdir(parents=True)
        runs = [bench.Run(one, ["a", "run", "x.cu"], status=0) for one in ("a", "b")]
        for one in runs:
            one.trajectory = None if one.name == failed else synthetic.trajectory()
            if one.trajectory:
                write_trajectory(one.trajectory, scratch / one.name / "trajectory.jsonl")
        bench.pack(folder, scratch, runs)
        data = {"provenance": name, "runs": [bench.row(one) for one in runs]}
        (folder / "examples.json").write_text(json.dumps(data))
        return folder

    rows, tallies, facts = bench.joined([run("first", "a"), run("second", "b")], tmp_path)
    assert [(one["name"], "speedup" in one) for one in rows] == [("a", True), ("b", False)]
    assert facts == "second"
    assert tallies == bench.count_rules([synthetic.trajectory()])


def test_the_first_verified_speedup_is_told_from_other_lines(bench: ModuleType) -> None:
    assert bench.FIRST.search("[4 s] softmax: candidate 3: a warp per row: 2.41× (2.3–2.5)")
    assert not bench.FIRST.search("[2 s] softmax: baseline, 80 evaluations left")
    assert not bench.FIRST.search("[9 s] softmax: candidate 5: does not compile")


def test_every_example_has_a_command_that_repeats_its_run(bench: ModuleType) -> None:
    for path in sorted(bench.EXAMPLES.glob("*/.optiml.yml")):
        assert bench.source_of(path.parent.name).is_file()


def test_the_geometric_mean_of_a_half_and_a_double_is_one(bench: ModuleType) -> None:
    assert bench.geometric_mean([0.5, 2.0]) == pytest.approx(1.0)


def compared(aa: ModuleType, ratio: float) -> object:
    """Return what is made of a kernel whose candidate times are the baseline's over a ratio."""
    noise = [1.0 + 0.001 * ((7 * i) % 5 - 2) for i in range(40)]
    baseline = tuple(100.0 * one for one in noise)
    candidate = tuple(100.0 / ratio * one for one in noise[3:] + noise[:3])
    times = CaseTimes("n=1", candidate, baseline)
    judged: object = timed_kernels().judged(Measurement((times,), "a GPU"), Acceptance(), 0.1)
    return judged


def timed_kernels() -> ModuleType:
    return sys.modules["timed_kernels"]


def test_a_claimed_win_of_a_kernel_over_itself_is_counted(aa: ModuleType) -> None:
    same, faster = compared(aa, 1.0), compared(aa, 1.2)
    assert aa.count([same, faster], aa.Decision.FASTER) == 1
    assert "2 runs, 1 wins claimed." in aa.summary({"softmax": [same, faster]}, "here")


def test_a_small_difference_is_detected_though_it_is_no_win(aa: ModuleType) -> None:
    slightly = compared(aa, 1.015)
    assert (slightly.detected, slightly.decision) == ("faster", "same")  # type: ignore[attr-defined]


def test_examples_are_compared_with_themselves_on_timed_cases_only(aa: ModuleType) -> None:
    for name in aa.EXAMPLES:
        job = aa.example(name, 3)
        assert job["kernel"] == job["baseline"]
        assert job["workload"]["cases"]
        assert all(case["time"] for case in job["workload"]["cases"])


def test_extra_work_changes_the_text_and_nothing_else(aa: ModuleType) -> None:
    for subject in timed_kernels().SUBJECTS:
        job = subject.job(candidate=30)
        assert "EXTRA = 30;" in job["kernel"]["source"]
        assert (
            job["kernel"]["source"].replace("EXTRA = 30;", "EXTRA = 0;")
            == (job["baseline"]["source"])
        )


@pytest.mark.skipif(COMPILER is None, reason="no g++ here")
def test_kernels_are_timed_against_themselves_from_end_to_end(
    aa: ModuleType, tmp_path: Path
) -> None:
    """On a device made of host memory: that all the parts fit, not what they measure."""
    text = """
constexpr unsigned EXTRA = 0;
__global__ void twice(const float* x, float* y, unsigned n) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2.0f * x[i];
}
"""
    kernels = timed_kernels()
    plain = kernels.SUBJECTS[0]
    subject = replace(plain, name="twice", text=text, values={"n": 512}, grid="2")
    timer = kernels.Timer(
        HostGpu(by_clock=True), lambda text, _: artifact(text), tmp_path, timing.Rule(3, 4, 0.5)
    )
    trials = aa.run(timer, {"twice": [subject.job(seed=1), subject.job(seed=2)]}, 3, 1.0)
    assert [one.blocks for one in trials["twice"]] == [4, 4, 4] or len(trials["twice"]) == 3
    assert all(one.candidate_us > 0 for one in trials["twice"])


@pytest.mark.skipif(COMPILER is None, reason="no g++ here")
def test_three_methods_time_the_same_pair(
    aa: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A kernel that does four times the work of its original is slower by every method."""
    assert aa is not None
    power = loaded("power")
    monkeypatch.setattr(power, "CLEARED_BYTES", 1 << 12)
    monkeypatch.setattr(power, "REPEAT_MS", 5.0)
    text = """
constexpr unsigned EXTRA = 0;
__global__ void twice(const float* x, float* y, unsigned n) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = 0.0f;
    for (unsigned k = 0; k < 40 * (1 + EXTRA); ++k) v = 0.5f * v + x[i];
    if (i < n) y[i] = EXTRA ? 2.0f * x[i] + 0.0f * v : 2.0f * x[i] + 0.0f * v;
}
"""
    plain = timed_kernels().SUBJECTS[0]
    subject = replace(plain, name="twice", text=text, values={"n": 512}, grid="2")
    gpu = HostGpu(by_clock=True)
    timer = timed_kernels().Timer(
        gpu, lambda text, _: artifact(text), tmp_path, timing.Rule(3, 4, 0.5)
    )
    cache = gpu.allocate(1 << 12)
    trials = [power.trial(timer, subject, extra, abs(extra), 1, cache) for extra in (-3, 0, 3)]
    assert trials[0].ours.estimate < 1 < trials[2].ours.estimate
    assert trials[0].do_bench < 1 < trials[2].do_bench
    assert trials[0].mean < 1 < trials[2].mean
    cycles = power.calibrated(timer, subject)
    assert cycles[0] == 0
    assert cycles[10] <= cycles[20] <= cycles[30] <= cycles[50]
    table = power.summary(trials, "here", 1.03)
    assert "| twice |" in table
    assert "1 comparisons of kernels with themselves" in table


def test_rates_count_what_is_so_and_what_is_not(aa: ModuleType) -> None:
    assert aa is not None
    power = loaded("power")
    right, wrong, quiet = (compared(aa, ratio) for ratio in (1.05, 0.95, 1.0))
    trials = [
        power.Trial("k", 50, ours, ratio, 0.1, ratio, 0.1)
        for ours, ratio in ((right, 1.05), (wrong, 0.99), (quiet, 1.02), (right, 1.04))
    ]
    cells = power.rates(trials, 1.03)
    assert cells == ["50 %", "25 %", "50 %", "75 %", "50 %", "75 %", "50 %"]


def test_the_energy_figures_that_are_kept_are_told_as_they_were_measured() -> None:
    energy = loaded("energy")
    for folder in (BENCHMARKS / "results").iterdir():
        if (folder / "energy.json").is_file():
            data = json.loads((folder / "energy.json").read_text())
            assert (folder / "energy.md").read_text() == energy.shown(data)
            assert not any("/tmp" in str(one.get("command")) for one in data.get("searches", ()))  # noqa: S108
