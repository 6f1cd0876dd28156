"""What host code queues on streams of its own is held up, and its inputs come late."""

from __future__ import annotations

import contextlib
import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

from runners import allocations, spec
from runners.allocations import Allocations
from runners.bench import HELD_US, MOST_HELD, Bench
from runners.contents import Combination
from runners.launchable import Bound
from runners.run import Run
from runners.session import LocalSession
from tests.runners.host_gpu import HostGpu
from tests.runners.test_allocations import _compiled, _library
from tests.runners.test_judge import SCALE, _job

COMPILER = shutil.which("g++")
pytestmark = pytest.mark.skipif(COMPILER is None, reason="g++ is not installed")

RUNTIME = """
#include <cstddef>
struct Dim3 { unsigned x, y, z; };
extern "C" int launches = 0;
extern "C" int __cudaLaunchKernel(void *, Dim3, Dim3, void **, size_t, void *) { return ++launches, 7; }
extern "C" int cudaMemcpyAsync(void *, const void *, size_t n, int, void *) { return int(n); }
"""
# `capturing` is a stream in capture; what is queued on the host's side runs at once, without a pause.
DRIVER = """
extern "C" int paused = 0;
extern "C" int cuStreamIsCapturing(void *s, int *status) { return *status = s == (void *)64, 0; }
extern "C" int cuLaunchHostFunc(void *, void (*)(void *), void *time) { return paused += (long)time, 0; }
"""
CALLER = """
#include <cstddef>
struct Dim3 { unsigned x, y, z; };
extern "C" int __cudaLaunchKernel(void *, Dim3, Dim3, void **, size_t, void *);
extern "C" int cudaMemcpyAsync(void *, const void *, size_t, int, void *);
extern "C" int run(size_t stream) {
    int code = __cudaLaunchKernel(nullptr, {1, 1, 1}, {1, 1, 1}, nullptr, 0, (void *)stream);
    return code + cudaMemcpyAsync(nullptr, nullptr, 5, 3, (void *)stream);
}
"""
# In an interpreter of its own: symbols that are once global stay so.
SCRIPT = """
import ctypes, json, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from runners.allocations import Allocations
streams = Allocations(Path(sys.argv[2]))
driver = ctypes.CDLL(sys.argv[3], mode=ctypes.RTLD_GLOBAL)
ctypes.CDLL(sys.argv[4], mode=ctypes.RTLD_GLOBAL)
caller = ctypes.CDLL(sys.argv[5])
paused = ctypes.c_int.in_dll(driver, "paused")
said = []
def run(stream):
    code, before = caller.run(ctypes.c_size_t(stream)), paused.value
    said.append([code, streams.strays(), before])
run(0), run(1), run(4096)
with streams.held(100, 3):
    run(0), run(4096), run(64), run(4096)
run(4096)
print(json.dumps(said))
"""


def test_what_goes_to_other_streams_is_counted_and_held_up_so_often(tmp_path: Path) -> None:
    """The null stream, its other name, and streams in capture are left alone; answers go through."""
    library = _library()
    driver = _compiled(tmp_path, "libcuda", DRIVER, "-Wl,-soname,libcuda.so.1")
    runtime = _compiled(tmp_path, "libcudart", RUNTIME, "-Wl,-soname,libcudart.so.13")
    caller = _compiled(tmp_path, "caller", CALLER, f"-Wl,-rpath,{tmp_path}", str(runtime))
    root = str(Path(allocations.__file__).parents[2])
    files = [str(path) for path in (library, driver, runtime, caller)]
    command = [sys.executable, "-c", SCRIPT, root, *files]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == [
        [12, 0, 0],
        [12, 0, 0],
        [12, 2, 0],
        [12, 0, 0],  # held from here on
        [12, 2, 200],
        [12, 2, 200],  # in capture: counted, and one of the three used up
        [12, 2, 200],
        [12, 2, 200],
    ]


class Device(HostGpu):
    """Queues what comes behind a gate until the null stream is waited for."""

    def __init__(self) -> None:
        super().__init__()
        self.queue: list[Callable[[], None]] | None = None

    def helper(
        self, name: str, grid: Sequence[int], block: int, arguments: bytes, shared: int = 0
    ) -> None:
        if name == "gate":
            self.queue = []
        elif self.queue is not None:
            later = super().helper
            self.queue.append(lambda: later(name, grid, block, arguments, shared))
        else:
            super().helper(name, grid, block, arguments, shared)

    def on_null_stream(self, work: Callable[[], None]) -> None:
        work() if self.queue is None else self.queue.append(work)

    def settle(self, seconds: float = 60.0) -> None:
        queue, self.queue = self.queue or [], None
        for work in queue:
            work()

    def synchronize(self, seconds: float = 60.0) -> float:
        self.settle(seconds)
        return 0.0


class Streams:
    """Says that something was queued elsewhere; remembers what was held up."""

    def __init__(self, strays: int) -> None:
        self._strays, self.holding, self.asked = strays, False, list[tuple[int, int]]()

    def strays(self) -> int:
        return self._strays

    def refused(self) -> int:
        return 0

    @contextlib.contextmanager
    def held(self, microseconds: int, most: int) -> Iterator[None]:
        self.asked.append((microseconds, most))
        self.holding = True
        yield
        self.holding = False


class Function:
    """y = 3 x + 1 on the null stream; at once where it does not `wait`; not at all where it is
    `late` and held up.
    """

    hosted = True
    retained = None

    def __init__(self, gpu: Device, *, waits: bool, late: bool = False, strays: int = 1) -> None:
        self.gpu, self.waits, self.late = gpu, waits, late
        self.seen = Streams(strays)
        self.streams = cast("Allocations", self.seen)
        self.runs = 0

    def failed(self) -> str:
        return ""

    def begins(self) -> None:
        pass

    def device_bytes(self) -> int:
        return 0

    def holds(self) -> None:
        pass

    def bind(self, case: Mapping[str, float], addresses: Mapping[str, int]) -> Bound:
        size = int(case["n"]) * 4

        def work() -> None:
            x = self.gpu.download(addresses["x"], size).view("f4")
            self.gpu.upload(addresses["y"], 3 * x + np.float32(1))

        def run() -> None:
            self.runs += 1
            if self.late and self.seen.holding:
                return
            if self.waits:
                self.gpu.on_null_stream(work)
            else:
                work()

        return run


def _ran(candidate: Function, original: Function, *, beside: Sequence[bool]) -> list[bool]:
    """Return of each run whether what came out is right."""
    job = spec.parse(_job(SCALE))
    gpu: Any = candidate.gpu
    session = LocalSession(Bench(gpu, job.work), (candidate, original), job)
    combination = Combination({"n": 3000.0}, "declared", 1)
    bench = Bench(Device(), job.work)

    def right(run: Run) -> bool:
        made = bench.contents.of(combination)
        want = 3 * np.frombuffer(bytes(made["x"]), "f4") + np.float32(1)
        return np.array_equal(run.outputs["y"].view("f4"), want)

    runs = [session.run(combination, nan=True, beside=one, seconds=5.0) for one in beside]
    return [right(run) for run in runs]


def test_a_function_that_waits_and_is_waited_for_is_right_whatever_comes_late() -> None:
    """Held up in its first run and every second time beside others; inputs come late in between."""
    gpu = Device()
    mine, original = Function(gpu, waits=True), Function(gpu, waits=True)
    beside = [False, False, True, True, True]
    assert _ran(mine, original, beside=beside) == [True] * 5
    assert mine.seen.asked == [(HELD_US, MOST_HELD)] * 3
    assert (mine.runs, original.runs) == (5, 2)


def test_what_is_not_done_when_the_null_stream_is_fails() -> None:
    """In the first run, and when it is held up later; by chance it is right otherwise."""
    gpu = Device()
    mine = Function(gpu, waits=True, late=True)
    found = _ran(mine, Function(gpu, waits=True), beside=[False, False, True, True])
    assert found == [False, True, False, True]


def test_what_does_not_wait_for_its_inputs_fails_if_the_original_waits() -> None:
    """Callers that wait themselves may rely on nothing else: then nobody is asked to wait."""
    gpu = Device()
    beside = [False, True, True]
    hasty = Function(gpu, waits=False)
    assert _ran(hasty, Function(gpu, waits=True), beside=beside) == [True, True, False]
    original = Function(gpu, waits=False)
    assert _ran(Function(gpu, waits=False), original, beside=beside) == [True, True, True]
    assert original.runs == 2


def test_without_streams_of_its_own_no_inputs_come_late() -> None:
    """Most functions; the original is not run for it either."""
    gpu = Device()
    mine, original = Function(gpu, waits=False, strays=0), Function(gpu, waits=True)
    assert _ran(mine, original, beside=[True, True, True]) == [True] * 3
    assert (mine.runs, original.runs) == (3, 0)
