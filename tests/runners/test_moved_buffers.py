"""A record of where buffers were is shown by one buffer that is elsewhere, and by no more of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

from runners import moved_buffers, spec
from runners.answers import Answers
from runners.bench import Bench
from runners.checks import Report, Wrong
from runners.contents import Combination
from runners.gpu import LaunchError
from runners.launchable import Bound
from runners.run import Run
from runners.session import LocalSession
from runners.spec import JobSpec, Json
from tests.runners.host_gpu import COMPILER, HostOracle, artifact
from tests.runners.test_judge import _job
from tests.runners.test_streams import Device

pytestmark = pytest.mark.skipif(COMPILER is None, reason="g++ is not installed")

LINE = """
extern "C" __global__ void scale(const float* x, float* y, float* sum, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) { sum[i] = x[i] + y[i]; y[i] += 2 * x[i]; }
}
"""
ARGUMENTS = [
    {"name": "x", "type": "const float*", "shape": "n"},
    {"name": "y", "type": "float*", "shape": "n", "role": "inout"},
    {"name": "sum", "type": "float*", "shape": "n", "role": "output"},
    {"name": "n", "type": "int", "value": "n"},
]


class Recorded:
    """y = 2 x + y, and their sum, for buffers that are found again by some of them.

    `keys` are those by which; None where nothing is kept. `room`: so many records are made.
    """

    hosted = True
    retained = None
    streams = None

    def __init__(self, gpu: Device, keys: Sequence[str] | None, room: int = 99) -> None:
        self.gpu, self.keys, self.room = gpu, keys, room
        self.known: dict[tuple[int, ...], Mapping[str, int]] = {}

    def begins(self) -> None:
        pass

    def device_bytes(self) -> int:
        return 0

    def holds(self) -> None:
        pass

    def bind(self, case: Mapping[str, float], addresses: Mapping[str, int]) -> Bound:
        size = int(case["n"]) * 4

        def run() -> None:
            where = addresses
            if self.keys is not None:
                key = (size, *(addresses[name] for name in self.keys))
                if key not in self.known and len(self.known) < self.room:
                    self.known[key] = addresses
                where = self.known.get(key, addresses)

            def work() -> None:
                x, y = (self.gpu.download(where[name], size).view("f4") for name in "xy")
                self.gpu.upload(where["sum"], x + y)
                self.gpu.upload(where["y"], 2 * x + y)

            self.gpu.on_null_stream(work)

        return run


class Pair:
    """A candidate and an original, of which each load makes another one."""

    def __init__(self, tmp_path: Path, theirs: Sequence[str] | None = None) -> None:
        self.described = _job(LINE, LINE, workload={"arguments": ARGUMENTS})
        # Another text, since nothing is asked of an original.
        self.described["kernel"] = {**self.described["kernel"], "source": LINE + "// another\n"}
        self.job = spec.parse(self.described)
        self.theirs = theirs
        oracle = HostOracle(tmp_path, 0, lambda text, _job: artifact(text))
        built = artifact(LINE)
        self.request: Json = {"job": self.described, "candidate": built, "baseline": built}
        wanted = [c for part in oracle.wanted(self.job) for c in part]
        self.answers: Answers = oracle.answers(self.job, self.request, wanted, 60.0)

    def check(self, keys: Sequence[str] | None, room: int = 99) -> tuple[Report, list[str]]:
        """Ask it of a candidate."""
        report = Report()

        def load(job: JobSpec, _request: Json) -> LocalSession:
            gpu = Device()
            mine = self.theirs if job.kernel == job.baseline else keys
            one = cast("Any", Recorded(gpu, mine, room))
            return LocalSession(Bench(cast("Any", gpu), job.work), (one, one), job)

        notes = moved_buffers.check(load, self.request, self.job, self.answers, report)
        return report, notes


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Pair:
    return Pair(tmp_path_factory.mktemp("pair"))


@pytest.mark.parametrize("keys", [None, ("x", "y", "sum")])
def test_what_keeps_nothing_or_all_is_right(keys: Sequence[str] | None, pair: Pair) -> None:
    report, notes = pair.check(keys)
    chosen = moved_buffers.cases(pair.job, pair.answers)
    assert report.runs == len(chosen) * (2 * 3 + 1) > 0
    assert not notes
    assert moved_buffers.LAYER in {layer for layer, _ in report.checks}
    assert all(one["passed"] for one in report.as_json())


@pytest.mark.parametrize(
    ("keys", "moved"),
    [((), "x"), (("x",), "y"), (("y",), "x"), (("sum",), "x"), (("x", "y"), "sum"),
     (("x", "sum"), "y"), (("y", "sum"), "x")],
)  # fmt: skip
def test_what_is_found_by_some_of_them_is_refused(
    keys: Sequence[str], moved: str, pair: Pair
) -> None:
    with pytest.raises(Wrong, match=f"with {moved} elsewhere: .*moved buffers"):
        pair.check(keys)


def test_it_is_no_fault_where_the_original_does_the_same(tmp_path: Path) -> None:
    report, notes = Pair(tmp_path, theirs=("x",)).check(("x",))
    assert len(notes) == 1
    assert "the original fails, too" in notes[0]
    assert moved_buffers.LAYER not in {layer for layer, _ in report.checks}


def test_where_a_buffer_was_is_something_else_and_inputs_are_watched() -> None:
    """A candidate that writes to an input it is not given is told from one that does not."""
    gpu = Device()
    job = spec.parse(_job(LINE, LINE, workload={"arguments": ARGUMENTS}))
    bench = Bench(cast("Any", gpu), job.work)
    seen: list[tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]] = []

    class Spoils(Recorded):
        def bind(self, case: Mapping[str, float], addresses: Mapping[str, int]) -> Bound:
            first = self.known.setdefault((0,), dict(addresses))
            size = int(case["n"]) * 4

            def run() -> None:
                there = (self.gpu.download(one["x"], size).view("f4") for one in (addresses, first))
                seen.append((next(there), next(there)))
                self.gpu.upload(addresses["x"] - 16, np.ones(4, np.float32))

            return run

    runs = bench.moved(cast("Any", Spoils(gpu, None)), Combination({"n": 7.0}, "declared", 1), "xy")
    assert [bool(run.damage) for run in runs] == [True] * 5
    given, left = zip(*seen, strict=True)
    assert all(np.array_equal(one, given[0]) for one in given)
    assert [not one.any() for one in left] == [False, False, True, False, False, False]


def test_what_cannot_be_launched_is_refused_with_its_reason(pair: Pair) -> None:
    class Broken:
        def moved(
            self, combination: Combination, names: Sequence[str], *, nan: bool, seconds: float
        ) -> list[Run]:
            raise LaunchError("an illegal address")

    # A kernel's error is its context's, and left to others.
    with pytest.raises(LaunchError):
        moved_buffers.check(
            lambda _job, _request: Broken(), pair.request, pair.job, pair.answers, Report()
        )


def test_many_buffers_and_large_ones_are_asked_about_in_parts() -> None:
    names = [f"b{n}" for n in range(11)]
    parts = [list(part) for part in moved_buffers._parts(names, 1000)]
    assert [len(part) for part in parts] == [8, 3]
    assert [name for part in parts for name in part] == names
    assert [len(part) for part in moved_buffers._parts(names[:2], moved_buffers.AT_ONCE)] == [1, 1]
