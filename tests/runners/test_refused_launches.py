"""A launch of the original that is refused, of which its host code says nothing, is no answer."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

from runners import allocations, answering, capacities, original
from runners.contents import Combination
from runners.gpu import LaunchError
from runners.launchable import Bound
from runners.original import Original
from tests.runners.host_gpu import HostGpu, artifact
from tests.runners.test_allocations import _compiled, _library
from tests.runners.test_judge import SCALE, _job

pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is not installed")

# Refuses what is beyond 48 KiB, and what has no blocks, as a runtime does.
RUNTIME = """
#include <cstddef>
struct Dim3 { unsigned x, y, z; };
struct Configuration { Dim3 grid, block; size_t shared; void *stream; };
static int code(Dim3 g, size_t shared) { return shared > 49152 ? 1 : g.x * g.y * g.z ? 0 : 9; }
extern "C" {
int cudaLaunchKernel(const void *, Dim3 g, Dim3, void **, size_t s, void *) { return code(g, s); }
int __cudaLaunchKernel(void *, Dim3 g, Dim3, void **, size_t s, void *) { return code(g, s); }
int cudaLaunchCooperativeKernel(const void *, Dim3 g, Dim3, void **, size_t s, void *) {
    return s > 1000 ? 720 : code(g, s);
}
int cudaLaunchKernelExC(const Configuration *c, const void *, void **) { return code(c->grid, c->shared); }
int cudaGraphLaunch(void *graph, void *) { return graph ? 0 : 400; }
}
"""
CALLER = """
#include <cstddef>
struct Dim3 { unsigned x, y, z; };
struct Configuration { Dim3 grid, block; size_t shared; void *stream; };
extern "C" {
int cudaLaunchKernel(const void *, Dim3, Dim3, void **, size_t, void *);
int __cudaLaunchKernel(void *, Dim3, Dim3, void **, size_t, void *);
int cudaLaunchCooperativeKernel(const void *, Dim3, Dim3, void **, size_t, void *);
int cudaLaunchKernelExC(const Configuration *, const void *, void **);
int cudaGraphLaunch(void *, void *);
int run(int how, unsigned blocks, size_t shared) {
    const Dim3 grid{blocks, 1, 1}, block{64, 1, 1};
    const Configuration all{grid, block, shared, nullptr};
    if (how == 0) return cudaLaunchKernel(nullptr, grid, block, nullptr, shared, nullptr);
    if (how == 1) return __cudaLaunchKernel(nullptr, grid, block, nullptr, shared, nullptr);
    if (how == 2) return cudaLaunchCooperativeKernel(nullptr, grid, block, nullptr, shared, nullptr);
    if (how == 3) return cudaLaunchKernelExC(&all, nullptr, nullptr);
    return cudaGraphLaunch((void *)shared, nullptr);
}
}
"""
# In an interpreter of its own: symbols that are once global stay so.
SCRIPT = """
import ctypes, json, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from runners.allocations import Allocations
seen = Allocations(Path(sys.argv[2]))
ctypes.CDLL(sys.argv[3], mode=ctypes.RTLD_GLOBAL)
caller = ctypes.CDLL(sys.argv[4])
caller.run.argtypes = [ctypes.c_int, ctypes.c_uint, ctypes.c_size_t]
said = []
for how in range(4):
    codes = [caller.run(how, 5, 128), caller.run(how, 0, 128)]
    said.append([*codes, seen.refused(), caller.run(how, 5, 50000), seen.refused(), seen.refused()])
said.append([caller.run(4, 0, 8), seen.refused(), caller.run(4, 0, 0), seen.refused()])
caller.run(0, 5, 50000), caller.run(2, 5, 2000), caller.run(0, 5, 128)
said.append([seen.refused()])
print(json.dumps(said))
"""


def test_the_first_launch_that_is_refused_is_known(tmp_path: Path) -> None:
    """Whichever way it is made; not one of no blocks, of which nothing is lost."""
    library = _library()
    runtime = _compiled(tmp_path, "libcudart", RUNTIME, "-Wl,-soname,libcudart.so.13")
    caller = _compiled(tmp_path, "caller", CALLER, f"-Wl,-rpath,{tmp_path}", str(runtime))
    root = str(Path(allocations.__file__).parents[2])
    command = [sys.executable, "-c", SCRIPT, root, *map(str, (library, runtime, caller))]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    plain = [0, 9, 0, 1, 1, 0]
    assert json.loads(done.stdout) == [
        plain,
        plain,
        [0, 9, 0, 720, 720, 0],
        plain,
        [0, 0, 400, 400],
        [1],  # the first of two, and nothing takes it back
    ]


class Seen:
    """What sees launches, of which one was refused."""

    def __init__(self) -> None:
        self.code = 0

    def strays(self) -> int:
        return 0

    def refused(self) -> int:
        code, self.code = self.code, 0
        return code


class Host:
    """y = 3 x + 1 by host code; from `most` elements on its launch is refused, and it goes on.

    One that is refused `always` has launched something else before, which did it.
    """

    hosted = True
    retained = None

    def __init__(self, gpu: HostGpu, most: int, always: int = 0, wide: bool = False) -> None:
        self.gpu, self.most, self.always = gpu, most, always
        self.real = np.dtype(np.float64 if wide else np.float32)
        self.seen = Seen()
        self.streams = cast("allocations.Allocations", self.seen)

    def begins(self) -> None:
        pass

    def bind(self, case: Mapping[str, float], addresses: Mapping[str, int]) -> Bound:
        count = int(case["n"])

        def run() -> None:
            self.seen.code = self.always
            if count > self.most:
                self.seen.code = 1
                return
            x = self.gpu.download(addresses["x"], count * self.real.itemsize).view(self.real)
            self.gpu.upload(addresses["y"], 3 * x + self.real.type(1))

        return run


def _original(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, first: Any, twin: Any = None
) -> Original:
    both = [first, twin]
    monkeypatch.setattr(original, "load", lambda *_: both.pop(0))
    job = _job(SCALE, SCALE)
    request = {"job": job, "folder": str(tmp_path), "baseline": artifact(SCALE)}
    return Original({**request, "promoted": artifact(SCALE) if twin else None}, first.gpu)


AT = {size: Combination({"n": float(size)}, "declared", 5) for size in (7, 3000, 5000)}


def test_what_the_original_has_no_room_for_is_not_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its host code returns nothing, and leaves its outputs as they were: that defines nothing."""
    gpu = HostGpu()
    found = _original(tmp_path, monkeypatch, Host(gpu, 4095))
    monkeypatch.setattr(answering, "Original", lambda *_: found)
    (tmp_path / "none.json").write_text("null")
    wanted = [{"case": dict(c.case), "family": c.family, "seed": c.seed} for c in AT.values()]
    request = {"folder": str(tmp_path), "promoted": str(tmp_path / "none.json")}
    assert answering.answer_all({**request, "combinations": wanted}, lambda _: gpu) == 0
    lines = [json.loads(line) for line in (tmp_path / "answers.jsonl").read_text().splitlines()]
    said = {one["key"]: one for one in lines if one["status"] in {"ok", "no"}}
    assert [said[one.key]["status"] for one in AT.values()] == ["ok", "ok", "no"]
    words = "a launch of the original fails there (error 1)"
    assert said[AT[5000].key]["message"] == words


def test_what_is_refused_where_it_must_be_right_is_not_what_its_results_are_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As one of several ways that are tried, in declared cases as well; another error is one."""
    found = _original(tmp_path, monkeypatch, Host(HostGpu(), 4095, always=720))
    assert found.gather(AT[3000]).runs
    with pytest.raises(LaunchError, match="error 1"):
        found.gather(AT[5000])
    tried = _original(tmp_path, monkeypatch, Host(HostGpu(), 10_000, always=720))
    assert tried.gather(AT[5000]).runs


def test_a_twin_that_has_no_room_knows_nothing_better(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Doubles are twice as large: what it has not written is no answer."""
    gpu = HostGpu()
    twin = Host(gpu, 4095, wide=True)
    found = _original(tmp_path, monkeypatch, Host(gpu, 10_000), twin)
    assert found.gather(AT[3000]).wide is not None
    assert found.gather(AT[5000]).wide is None


def test_launches_are_seen_where_host_code_makes_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A kernel's own are made here; where nothing can be built, nothing is known."""
    asked: list[Path] = []

    def library(folder: Path) -> Path:
        asked.append(folder)
        raise OSError("no compiler")

    monkeypatch.setattr(allocations, "library", library)
    assert original._watching({"kind": "cubin"}, tmp_path) is None
    assert asked == []
    assert original._watching({"kind": "shared"}, tmp_path) is None
    assert len(asked) == 1


def test_what_launches_take_is_told_apart_from_what_a_fresh_world_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of 9 elements it takes milliseconds: by the square of a length it would be minutes."""
    told: list[float] = []

    class Clock(HostGpu):
        def elapsed_us(self, start: Any, end: Any) -> float:
            return 20.0

    gpu = Clock()
    found = _original(tmp_path, monkeypatch, Host(gpu, 10_000))
    monkeypatch.setattr(answering, "Original", lambda *_: found)
    monkeypatch.setattr(capacities.Watch, "took", lambda *terms: told.append(terms[2]))
    (tmp_path / "none.json").write_text("null")
    wanted = [{"case": dict(AT[7].case), "family": "plain", "seed": 5}]
    request = {"folder": str(tmp_path), "promoted": str(tmp_path / "none.json")}
    assert answering.answer_all({**request, "combinations": wanted}, lambda _: gpu) == 0
    assert told == [pytest.approx(20e-6)]
    assert found.gather(AT[7]).seconds > 20e-6
