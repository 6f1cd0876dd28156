"""Calls that follow one another show what host code keeps by too little, and overwrites too early."""

from __future__ import annotations

import dataclasses
import json
import struct
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import pytest

from runners import families, spec, verify
from runners import rows as module
from runners.answers import Answers
from runners.bench import ROW_HELD_NS, Bench
from runners.checks import Report, Wrong
from runners.contents import Combination
from runners.entry_process import EntryProcess, RemoteSession
from runners.entry_server import _Server
from runners.gpu import LaunchError
from runners.inputs import stream
from runners.launchable import Bound
from runners.rows import (
    CLOSE_HELD_NS,
    MOST_CLOSE,
    ROW_CALLS,
    Row,
    asked_in_rows,
    close_rows,
    rows,
)
from runners.session import LocalSession, Session
from runners.spec import ALONE, MOVED, Json
from tests.redteam import once_read
from tests.runners.host_gpu import COMPILER, HostGpu, HostOracle, artifact
from tests.runners.test_judge import _job
from tests.runners.test_streams import Device

Floats = npt.NDArray[np.float32]

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
    does so again only where the gain is another; `waits` for each call; `sampled`, it does nothing
    where both ends of x and of its own last results are as they were, and `compared`, where all of
    x and they are.
    """

    hosted = True
    retained = None
    streams = None

    def __init__(self, gpu: Device, job: spec.JobSpec, way: str = "") -> None:
        self.gpu, self.work, self.way = gpu, job.work, way
        self.room = np.zeros(2, np.float32)
        self.calls = self.skipped = 0
        self.seen: object = None

    def mark(self, x: Floats, y: Floats, own: Floats) -> object:
        ends = [0, -1]
        given = x if self.way == "compared" else x[ends]
        return len(x), given.tobytes(), y[ends].tobytes(), own.tobytes()

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
                y = self.gpu.download(addresses["y"], size).view("f4")
                if self.way in {"sampled", "compared"} and self.seen == self.mark(x, y, own):
                    self.skipped += 1
                    return
                y = table[0] * x + table[1]
                self.gpu.upload(addresses["y"], y)
                self.seen = self.mark(x, y, own)

            self.gpu.on_null_stream(work)
            if self.way == "waits":
                self.gpu.settle()

        return run


def _judged(way: str, tmp_path: Path, effort: str = "screen") -> tuple[Report, Line]:
    """Run a way of doing it on all rows there are."""
    described = _described() | {"effort": effort}
    job = spec.parse(described)
    tmp_path.mkdir(exist_ok=True)
    asked = HostOracle(tmp_path, 0, lambda text, _job: artifact(text))
    built = artifact(LINE)
    wanted = [c for part in asked.wanted(job) for c in part]
    request = {"job": described, "candidate": built, "baseline": built}
    answers = asked.answers(job, request, [*wanted, *asked_in_rows(job, wanted)], 60.0)
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


def test_what_looks_for_its_last_results_beside_some_inputs_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A caller leaves them where they are: with all of the inputs as they were it may stop there."""
    with pytest.raises(Wrong) as caught:
        _judged("sampled", tmp_path / "kept", "confirm")
    assert caught.value.status == "wrong result"
    monkeypatch.setattr(module, "_kept", lambda row, _: row)
    report, _ = _judged("sampled", tmp_path / "spoilt", "confirm")
    assert all(one["passed"] for one in report.as_json())


def test_what_looks_at_all_inputs_and_at_its_last_results_is_right(tmp_path: Path) -> None:
    """It stops where both are as they were, and has the answer then."""
    report, _ = _judged("compared", tmp_path, "confirm")
    assert all(one["passed"] for one in report.as_json())
    gpu, job = Device(), spec.parse(_described())
    line = Line(gpu, job, "compared")
    session = LocalSession(Bench(cast("Any", gpu), job.work), (cast("Any", line),) * 2, job)
    again = [Combination({"n": 7.0}, "declared", 1)] * 2
    first, second = session.row(again, nan=True, apart=False, seconds=5.0, keeps=True)
    assert line.skipped == 1
    assert np.array_equal(first.outputs["y"], second.outputs["y"])


def test_every_other_call_finds_the_results_of_the_one_before(tmp_path: Path) -> None:
    """And what it may change in place is as declared; through a child, too."""
    found: list[bytes] = []

    class Looks(Line):
        def bind(self, case: Mapping[str, float], addresses: Mapping[str, int]) -> Bound:
            run, size = super().bind(case, addresses), int(case["n"]) * 4

            def looked() -> None:
                found.append(self.gpu.download(addresses["y"], size).tobytes())
                run()

            return looked

    gpu, job = Device(), spec.parse(_described())
    line = cast("Any", Looks(gpu, job, "waits"))
    local = LocalSession(Bench(cast("Any", gpu), job.work), (line, line), job)
    row = [Combination({"n": 7.0}, family, 1) for family in ("declared", "mixed") * 2]
    for session in (local, RemoteSession(cast("Any", Wire(local, tmp_path)), job)):
        found.clear()
        runs = session.row(row, nan=True, apart=False, seconds=5.0, keeps=True)
        poison = b"\xff" * 28
        mine = [run.outputs["y"].tobytes() for run in runs]
        assert found[1:] == [poison, mine[0], poison, mine[2]]
        assert mine[0] == mine[2] != mine[1]
        assert not any(run.damage for run in runs)
    assert _kept_rows({"y": object()}) == [False, True, True]
    assert _kept_rows({"y": SimpleNamespace(untouched=np.ones(7, bool))}) == [False] * 3


def _kept_rows(answers: Mapping[str, object]) -> list[bool]:
    """Tell of which rows of changed contents every other call is to find the last results."""
    job = spec.parse(_job(LINE, LINE, effort="confirm", workload={"arguments": ARGUMENTS}))
    wanted = [Combination(case.values, "declared", job.seed) for case in job.work.cases]
    found = rows(job, wanted, lambda _: answers, stream(1, "rows"), 0)
    alike = [row for row in found if MOVED not in {k for c in row.combinations for k in c.case}]
    assert not any(row.keeps for row in found if row.apart)
    return [row.keeps for row in alike][:3]


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


def test_for_how_long_a_row_is_held_up_goes_to_the_child(tmp_path: Path) -> None:
    """As long as ever, if nothing is said; a row that is waited for is not held up at all."""
    gates: list[int] = []

    class Gated(Device):
        def helper(
            self, name: str, grid: Sequence[int], block: int, arguments: bytes, shared: int = 0
        ) -> None:
            if name == "gate":
                gates.append(struct.unpack("<QQ", arguments)[0])
            super().helper(name, grid, block, arguments, shared)

    gpu, job = Gated(), spec.parse(_described())
    line = cast("Any", Line(gpu, job))
    wire = Wire(LocalSession(Bench(cast("Any", gpu), job.work), (line, line), job), tmp_path)
    session = RemoteSession(cast("Any", wire), job)
    row = [Combination({"n": 7.0}, "declared", 1)] * 2
    session.row(row, nan=False, apart=True, seconds=5.0)
    for held in CLOSE_HELD_NS:
        session.row(row, nan=False, apart=True, seconds=5.0, held_ns=held)
    session.row(row, nan=False, apart=False, seconds=5.0, held_ns=30)
    assert gates == [ROW_HELD_NS, *CLOSE_HELD_NS]


# A device that follows the host, and what looks at what comes back meanwhile.

# What the host takes to queue something, and the device to do it.
HOST_NS, DEVICE_NS = 2500, 3000

FOREST = """
extern "C" __global__ void forest(const int* raw, int* depth, int n) {
    if (blockIdx.x || threadIdx.x) return;
    for (int i = 0; i < n; i++) {
        int p = raw[i] % (i + 1);
        depth[i] = p == i ? 0 : depth[p] + 1;
    }
}
"""
LINKS = [
    {"name": "raw", "type": "const int*", "shape": "n", "init": "randint:0:2147483647"},
    {"name": "depth", "type": "int*", "shape": "n", "role": "output"},
    {"name": "n", "type": "int", "value": "n"},
]


class Follower(HostGpu):
    """Does what is queued one thing behind the other, each when its time has come."""

    def __init__(self) -> None:
        super().__init__()
        self.now_ns = self.free_ns = 0
        self.queue: list[tuple[int, Callable[[], None]]] = []

    def helper(
        self, name: str, grid: Sequence[int], block: int, arguments: bytes, shared: int = 0
    ) -> None:
        if name == "gate":
            self.free_ns = max(self.now_ns, self.free_ns) + struct.unpack("<QQ", arguments)[0]
            return
        self.settle()
        super().helper(name, grid, block, arguments, shared)

    def on_null_stream(self, work: Callable[[], None]) -> None:
        self.now_ns += HOST_NS
        self.free_ns = max(self.now_ns, self.free_ns) + DEVICE_NS
        self.queue.append((self.free_ns, work))
        while self.queue and self.queue[0][0] <= self.now_ns:
            self.queue.pop(0)[1]()

    def settle(self, seconds: float = 60.0) -> None:
        queue, self.queue = self.queue, []
        for _, work in queue:
            work()
        self.now_ns = max(self.now_ns, self.free_ns)

    def synchronize(self, seconds: float = 60.0) -> float:
        self.settle(seconds)
        return 0.0


class Forest:
    """Depths by doubling, until a round has moved nothing: a flag comes to the host behind each.

    The host looks at it before it sends the next round, and waits for it where it `waits`; it is in
    `one` place for all calls, or each has its own.
    """

    hosted = True
    retained = None
    streams = None

    def __init__(self, gpu: Follower, *, waits: bool = False, one: bool = True) -> None:
        self.gpu, self.waits, self.one = gpu, waits, one
        self.place = [1]
        self.early = 0

    def begins(self) -> None:
        pass

    def device_bytes(self) -> int:
        return 0

    def holds(self) -> None:
        pass

    def bind(self, case: Mapping[str, float], addresses: Mapping[str, int]) -> Bound:
        n = int(case["n"])

        def run() -> None:
            seen = self.place if self.one else [1]
            seen[0] = 1
            moved = [0]
            node, far = np.zeros(n, np.int64), np.zeros(n, np.int64)

            def plant() -> None:
                raw = self.gpu.download(addresses["raw"], 4 * n).view("i4").astype("i8")
                node[:] = raw % np.arange(1, n + 1)
                far[:] = node != np.arange(n)

            def jump() -> None:
                above = node[node]
                moved[0] = int((above != node).any())
                far[:] = far + np.where(above != node, far[node], 0)
                node[:] = above

            def back() -> None:
                seen[0] = moved[0]

            self.gpu.on_null_stream(plant)
            reach = 1
            while reach < n:
                if self.waits:
                    self.gpu.settle()
                if not seen[0]:
                    self.early += 1
                    break
                self.gpu.on_null_stream(jump)
                self.gpu.on_null_stream(back)
                reach *= 2
            self.gpu.on_null_stream(
                lambda: self.gpu.upload(addresses["depth"], far.astype(np.int32))
            )

        return run


class Pair:
    """A workload of host code, and what is known of it."""

    def __init__(self, tmp_path: Path) -> None:
        work = {"arguments": LINKS, "symbol": "forest", "cases": [{"values": {"n": 1001}}]}
        described = _job(FOREST, FOREST, effort="confirm", workload=work)
        job = spec.parse(described)
        gpu = HostOracle(tmp_path, 0, lambda text, _job: artifact(text))
        built = artifact(FOREST)
        case = job.work.cases[0].values
        kinds = ("declared", families.BEFORE, families.AFTER, families.NESTED)
        self.wanted = [Combination(case, kind, job.seed) for kind in kinds]
        request = {"job": described, "candidate": built, "baseline": built}
        self.answers: Answers = gpu.answers(job, request, self.wanted, 60.0)
        assert not self.answers.dropped
        # The kernel stands for what host code of its original launches.
        self.job = dataclasses.replace(job, work=dataclasses.replace(job.work, kind="entry"))

    def check(self, *, waits: bool, one: bool) -> tuple[Report, Forest]:
        gpu = Follower()
        mine, report = Forest(gpu, waits=waits, one=one), Report()
        pair = (cast("Any", mine), cast("Any", Forest(gpu, waits=True)))
        session = LocalSession(Bench(cast("Any", gpu), self.job.work), pair, self.job)
        named = cast("Session", session)
        verify.in_a_row(named, self.answers, self.job, self.wanted, report, 60.0, close_rows)
        return report, mine


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Pair:
    return Pair(tmp_path_factory.mktemp("pair"))


@pytest.mark.parametrize(("waits", "one"), [(True, True), (False, False), (True, False)])
def test_a_flag_that_is_its_calls_own_is_right(waits: bool, one: bool, pair: Pair) -> None:
    """Because the host waits for it, or because each call has a place for it."""
    report, mine = pair.check(waits=waits, one=one)
    closely = MOST_CLOSE * len(CLOSE_HELD_NS) * ROW_CALLS
    assert report.runs >= closely
    assert mine.early > closely // 8  # it has seen flags, and gone by them
    assert all(passed["passed"] for passed in report.as_json())


def test_a_flag_of_the_call_before_is_refused(pair: Pair) -> None:
    with pytest.raises(Wrong, match="calls in a row"):
        pair.check(waits=False, one=True)


def test_it_shows_neither_where_the_device_is_far_behind_nor_where_it_is_waited_for(
    pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Which is all that other rows have."""
    monkeypatch.setattr("runners.rows.CLOSE_HELD_NS", (ROW_HELD_NS,))
    report, _ = pair.check(waits=False, one=True)
    assert all(passed["passed"] for passed in report.as_json())
    gpu = Follower()
    bench = Bench(cast("Any", gpu), pair.job.work)
    row = [pair.wanted[at] for at in (0, 1, 2, 1)]
    for one, run in zip(row, bench.row(cast("Any", Forest(gpu)), row, apart=False), strict=True):
        want = (pair.answers.of(one) or {})["depth"].want
        assert np.array_equal(run.outputs["depth"], want)


def _close(job: spec.JobSpec, wanted: Sequence[Combination]) -> list[Row]:
    known: Mapping[str, object] = {"y": 1}
    found = close_rows(job, wanted, lambda _: known, stream(1, "rows"), 0)
    assert all(row.held_ns != ROW_HELD_NS for row in found)
    return found


def test_rows_that_are_followed_closely_have_unlike_contents_of_one_size() -> None:
    """Chains first; each pair with each delay; of host code, of a finalist, of a few elements."""
    described = _job(
        FOREST,
        FOREST,
        effort="confirm",
        workload={"arguments": LINKS, "kind": "entry", "launch": None},
    )
    job = spec.parse(described)
    wanted = [
        Combination({"n": float(n)}, family, 5)
        for n in (7, 3000, 40_000)
        for family in ("declared", families.ENDS, families.BEFORE, families.AFTER, "mixed")
        if n == 3000 or family not in {families.BEFORE, families.AFTER}
    ]
    found = _close(job, wanted)
    assert [row.held_ns for row in found] == [*CLOSE_HELD_NS] * MOST_CLOSE
    assert all(row.apart and len(row.combinations) == ROW_CALLS for row in found)
    assert all(row.combinations[::2] == (row.combinations[0],) * 4 for row in found)
    pairs = [row.combinations[:2] for row in found[:: len(CLOSE_HELD_NS)]]
    assert [(one.family, other.family) for one, other in pairs] == [
        ("declared", families.BEFORE), (families.AFTER, families.BEFORE), ("declared", families.ENDS),
    ]  # fmt: skip
    assert [one.case["n"] for one, _ in pairs] == [3000, 3000, 3000]
    assert all(one.case == other.case for one, other in pairs)
    light = [one for one in wanted if one.case["n"] == 7]
    assert [row.combinations[1].family for row in _close(job, light)[::4]] == ["ends", "mixed"]
    assert not _close(job, [one for one in wanted if one.family == "declared"])
    assert not _close(dataclasses.replace(job, effort="race"), wanted)
    kernel = dataclasses.replace(job, work=dataclasses.replace(job.work, kind="kernel"))
    assert not _close(kernel, wanted)


def test_a_forest_of_the_red_team_is_followed_along_its_chain() -> None:
    """Whose rounds end behind a flag of the call before."""
    job = once_read.parsed("treedepth/flag_behind_round")
    wanted = [c for part in once_read.combinations(job.work, job.checks, job.seed) for c in part]
    found = _close(job, wanted)
    assert len(found) == MOST_CLOSE * len(CLOSE_HELD_NS)
    assert {c.family for c in found[0].combinations} == {"declared", families.BEFORE}
    assert {c.case["n"] for c in found[0].combinations} == {1001}
