"""Calls that follow one another show what host code keeps by too little, and overwrites too early."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

from runners import spec, verify
from runners.bench import Bench
from runners.checks import Report, Wrong
from runners.contents import Combination
from runners.entry_process import EntryProcess, RemoteSession
from runners.entry_server import _Server
from runners.gpu import LaunchError
from runners.inputs import stream
from runners.launchable import Bound
from runners.rows import ROW_CALLS, asked_in_rows, rows
from runners.session import LocalSession, Session
from runners.spec import ALONE, MOVED, Json
from tests.runners.host_gpu import COMPILER, HostOracle, artifact
from tests.runners.test_judge import _job
from tests.runners.test_streams import Device

pytestmark = pytest.mark.skipif(COMPILER is None, reason="g++ is not installed")

LINE = """
extern "C" __global__ void scale(const float* x, float* y, int n, float gain, float shift) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = gain * x[i] + shift;
}
"""
ARGUMENTS = [
    {"name": "x", "type": "const float*", "shape": "n"},
    {"name": "y", "type": "float*", "shape": "n", "role": "output"},
    {"name": "n", "type": "int", "value": "n"},
    {"name": "gain", "type": "float", "value": "3"},
    {"name": "shift", "type": "float", "value": "1.5"},
]


def _described(arguments: list[Json] = ARGUMENTS) -> Json:
    return _job(LINE, LINE, workload={"arguments": arguments})


class Line:
    """y = gain x + shift on the null stream, with what a way of doing it keeps.

    `points` work their table out in one room, which is read when the device comes to it; `kept`
    does so again only where the gain is another; `waits` for each call.
    """

    hosted = True
    retained = None
    streams = None

    def __init__(self, gpu: Device, job: spec.JobSpec, way: str = "") -> None:
        self.gpu, self.work, self.way = gpu, job.work, way
        self.room = np.zeros(2, np.float32)
        self.calls = 0

    def begins(self) -> None:
        pass

    def device_bytes(self) -> int:
        return 0

    def holds(self) -> None:
        pass

    def bind(self, case: Mapping[str, float], addresses: Mapping[str, int]) -> Bound:
        size = int(case["n"]) * 4
        scalars = [spec.scalar_values(a, case)[0] for a in self.work.arguments[-2:]]

        def run() -> None:
            self.calls += 1
            own = np.array(scalars, np.float32)
            if self.way == "points" or (self.way == "kept" and self.room[0] != own[0]):
                self.room[:] = own
            table = self.room if self.way in {"points", "kept"} else own

            def work() -> None:
                x = self.gpu.download(addresses["x"], size).view("f4")
                self.gpu.upload(addresses["y"], table[0] * x + table[1])

            self.gpu.on_null_stream(work)
            if self.way == "waits":
                self.gpu.settle()

        return run


def _judged(way: str, tmp_path: Path) -> tuple[Report, Line]:
    """Run a way of doing it on all rows there are."""
    described = _described()
    job = spec.parse(described)
    oracle = HostOracle(tmp_path, 0, lambda text, _job: artifact(text))
    built = artifact(LINE)
    wanted = [c for part in oracle.wanted(job) for c in part]
    request = {"job": described, "candidate": built, "baseline": built}
    answers = oracle.answers(job, request, [*wanted, *asked_in_rows(job, wanted)], 60.0)
    gpu = Device()
    mine, report = Line(gpu, job, way), Report()
    bench = Bench(cast("Any", gpu), job.work)
    session = LocalSession(bench, (cast("Any", mine), cast("Any", Line(gpu, job))), job)
    verify.in_a_row(cast("Session", session), answers, job, wanted, report, 30.0)
    return report, mine


@pytest.mark.parametrize("way", ["", "waits"])
def test_what_each_call_makes_for_itself_is_right(way: str, tmp_path: Path) -> None:
    """Two rows of other scalars, waited for and not; and some on any inputs."""
    report, mine = _judged(way, tmp_path)
    assert report.runs > 2 * 5 + ROW_CALLS
    assert mine.calls > report.runs  # each row's first call once more, before it
    assert all(one["passed"] for one in report.as_json())
    assert any(layer == "calls in a row" for layer, _ in report.checks)


@pytest.mark.parametrize("way", ["points", "kept"])
def test_what_is_kept_from_one_call_for_another_is_refused(way: str, tmp_path: Path) -> None:
    """A room that is filled again before it is read; a table for a gain, with another shift."""
    with pytest.raises(Wrong, match="calls in a row"):
        _judged(way, tmp_path)


def test_a_room_filled_too_early_shows_where_calls_are_not_waited_for() -> None:
    """Each by itself is right."""
    gpu, job = Device(), spec.parse(_described())
    bench = Bench(cast("Any", gpu), job.work)
    base = Combination({"n": 7.0}, "declared", 1)
    other = float(spec.alone(job.work.arguments[-1]))
    row = [base, Combination({"n": 7.0, MOVED: other}, "declared", 1), base]
    found = {
        apart: bench.row(cast("Any", Line(gpu, job, "points")), row, apart=apart)
        for apart in (False, True)
    }
    x = bench.contents.of(base)["x"].view("f4")
    right = [3 * x + np.float32(shift) for shift in (1.5, 1.5 * 15 / 16, 1.5)]
    for apart, runs in found.items():
        same = [
            np.array_equal(run.outputs["y"].view("f4"), want)
            for run, want in zip(runs, right, strict=True)
        ]
        assert same == [True, not apart, True]
        assert not any(run.damage for run in runs)


def test_a_call_that_writes_to_another_ones_buffers_does_damage() -> None:
    """Each buffer has guard bands, and what was written there is its own call's."""
    gpu, job = Device(), spec.parse(_described())
    base = Combination({"n": 7.0}, "declared", 1)

    class Far(Line):
        def bind(self, case: Mapping[str, float], addresses: Mapping[str, int]) -> Bound:
            call = super().bind(case, addresses)

            def run() -> None:
                call()
                end = addresses["y"] + 28
                gpu.on_null_stream(lambda: gpu.upload(end, np.zeros(16, np.uint8)))

            return run

    for apart in (False, True):
        bench = Bench(cast("Any", gpu), job.work)
        runs = bench.row(cast("Any", Far(gpu, job)), [base, base], apart=apart)
        assert all("past the end of y" in run.damage.words for run in runs)


def test_each_scalar_is_moved_between_calls_with_the_declared_ones() -> None:
    """Those that are zero, whole numbers and captured ones are not; unknown answers are left out."""
    more = [*ARGUMENTS, {"name": "none", "type": "float", "value": "0"}]
    job = spec.parse(_described(more))
    others = asked_in_rows(job, ())
    assert len(others) == 2
    assert all(one.case[MOVED] >= ALONE and one.case["n"] == 7 for one in others)

    def scalars(case: Mapping[str, float]) -> list[float]:
        return [spec.scalar_values(a, case)[0] for a in job.work.arguments[2:]]

    assert scalars(others[0].case) == [7, 3 * 15 / 16, 1.5, 0]
    assert scalars(others[1].case) == [7, 3, 1.5 * 15 / 16, 0]
    large = {"cases": [{"values": {"n": 1 << 20}}], "arguments": more}
    only = spec.parse(_job(LINE, LINE, workload=large))
    sized = [Combination({"n": n}, "declared", 5) for n in (107.0, 4097.0, 1048577.0)]
    assert [one.case["n"] for one in asked_in_rows(only, sized)] == [4097, 4097]
    base = Combination({"n": 7.0}, "declared", 5)
    other = Combination({"n": 7.0}, "mixed", 5)
    known = {one.key: {"y": 1} for one in (base, other, *others)}

    def made(mixed: int) -> list[tuple[tuple[Combination, ...], bool]]:
        rng = stream(1, "rows")
        found = rows(job, [base, other], lambda c: known.get(c.key), rng, mixed)
        return [(row.combinations, row.apart) for row in found]

    row = (base, others[0], base, others[1], base)
    assert made(0) == [(row, False), (row, True)]
    assert {len(one) for one, _ in made(2)[2:]} == {2}
    flag = Combination({"n": 7.0, "flag": 1.0}, "declared", 5)
    known[flag.key] = {"y": 1}
    found = rows(job, [base, flag], lambda c: known.get(c.key), stream(1, "rows"), 0)
    assert found[0].combinations == (*row, flag, base)
    del known[others[1].key]
    assert made(0)[0][0] == row[:3]
    del known[base.key]
    assert made(2) == []  # one alone follows nothing


def _grown(**job: Any) -> list[list[float]]:
    """Return the lengths of rows in which a call is larger than the one before."""
    workload = {"kind": "entry", "launch": None, "arguments": ARGUMENTS, **job.pop("workload", {})}
    described = _job(LINE, LINE, workload=workload, **{"effort": "confirm", **job})
    parsed = spec.parse(described)
    sizes = [7, 1 << 19, 1 << 20, (1 << 20) + 99, 1 << 21, 5 << 20, 1 << 23]
    wanted = [Combination({"n": float(n)}, "declared", parsed.seed) for n in sizes]
    wanted += [Combination({"n": 1258291.0}, "mixed", parsed.seed)]
    known = {one.key: {"y": 1} for one in wanted if one.case["n"] != 5 << 20}
    found = rows(parsed, wanted, lambda c: known.get(c.key), stream(1, "rows"), 0)
    return [[one.case["n"] for one in row.combinations] for row in found if not row.apart]


def test_a_large_call_is_made_again_behind_a_larger_one() -> None:
    """What was recorded for the first may use room that was made anew in between."""
    cases = [{"values": {"n": 1 << 20}}, {"values": {"n": 7}}]
    large = {"cases": cases}
    assert _grown(workload=large)[-1] == [1 << 20, 1 << 21, 1 << 20]
    # Only of host code, of a finalist, and where there are answers to calls that are large enough.
    for other in (
        {"workload": {**large, "kind": "kernel", "launch": {"grid": ["1"], "block": ["32"]}}},
        {"workload": large, "effort": "screen"},
        {"workload": {"cases": [{"values": {"n": 5 << 20}}]}},
    ):
        assert 1 << 21 not in [n for row in _grown(**other) for n in row]
    least = _grown(workload={"cases": [{"values": {"n": 1 << 19}}]})
    assert least[-1] == [1 << 19, 1 << 20, 1 << 19]


class Wire:
    """A child's end in this process, with what it may say wrong."""

    bytes_of = EntryProcess.bytes_of

    def __init__(self, session: LocalSession, folder: Path) -> None:
        self._folder = folder
        self.server = object.__new__(_Server)
        self.server._session, self.server._folder = session, folder
        self.left_out = 0

    def close(self) -> None:
        """There is no process to be ended."""

    def ask(self, request: Json, _seconds: float) -> Json:
        said = json.loads(json.dumps(self.server.answer(json.loads(json.dumps(request)))))
        return {"runs": said["runs"][self.left_out :]}


def test_a_row_comes_back_from_the_child_run_by_run(tmp_path: Path) -> None:
    """Each with its own outputs; one that is missing is the candidate's crash."""
    gpu, job = Device(), spec.parse(_described())
    bench = Bench(cast("Any", gpu), job.work)
    line = cast("Any", Line(gpu, job))
    wire = Wire(LocalSession(bench, (line, line), job), tmp_path)
    session = RemoteSession(cast("Any", wire), job)
    row = [Combination({"n": n}, "declared", 1) for n in (7.0, 3000.0, 7.0)]
    runs = session.row(row, nan=True, apart=True, seconds=5.0)
    for combination, run in zip(row, runs, strict=True):
        want = 3 * bench.contents.of(combination)["x"].view("f4") + np.float32(1.5)
        assert np.array_equal(run.outputs["y"].view("f4"), want)
        assert not run.damage
    wire.left_out = 1
    with pytest.raises(LaunchError):
        session.row(row, nan=True, apart=True, seconds=5.0)
