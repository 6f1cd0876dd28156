"""Ten kernels from 3 µs to 30 ms whose work can be raised by a little, timed pair by pair.

`EXTRA` in each text is extra work in cycles, which every block spends before it ends. It lies in
constant memory, so that the instructions are the same whatever it is, and leaves no trace in the
results: a pair of the same kernel at two values computes the same and takes other times.

`Timer` compares a pair as a search does for its finalists: `session.LocalSession.time` under
`timing.FULL` and `significance.decide`, in one process that keeps its context and its compiled
kernels. Nothing is verified but what the timer itself verifies behind each launch.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from optimizer.model import Acceptance, CaseTimes, Measurement
from optimizer.significance import Interval, decide, interval
from runners import spec, timing
from runners.contents import Combination, Contents
from runners.families import DECLARED
from runners.session import Benches
from runners.spec import Json
from runners.stage import Limit

PATIENCE = 30.0
LIMIT = Limit(1e-4, 1.0)

_EXTRA = """
__constant__ unsigned EXTRA = 0;
__device__ __forceinline__ void extra() {
    const long long start = clock64();
    while (clock64() - start < (long long)EXTRA) {}
}
"""
_STREAM = f"""{_EXTRA}
extern "C" __global__ void stream(const float* x, float* y, unsigned n) {{
    const unsigned step = gridDim.x * blockDim.x;
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step)
        y[i] = 2.5f * x[i] + 1.0f;
    extra();
}}
"""
_ROWS = f"""{_EXTRA}
extern "C" __global__ void rows(const float* x, float* y, unsigned n, unsigned width) {{
    __shared__ float part[8];
    for (unsigned r = blockIdx.x; r < n; r += gridDim.x) {{
        const float* row = x + (size_t)r * width;
        float* out = y + (size_t)r * width;
        float sum = 0.0f;
        for (unsigned i = threadIdx.x; i < width; i += 256) sum += row[i] * row[i];
        for (int d = 16; d; d /= 2) sum += __shfl_down_sync(0xffffffffu, sum, d);
        if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = sum;
        __syncthreads();
        float whole = 0.0f;
        for (int w = 0; w < 8; ++w) whole += part[w];
        const float scale = rsqrtf(whole / width + 1e-6f);
        for (unsigned i = threadIdx.x; i < width; i += 256) out[i] = row[i] * scale;
        __syncthreads();
    }}
    extra();
}}
"""
_SCATTER = f"""{_EXTRA}
extern "C" __global__ void scatter(const unsigned char* x, int* bins, unsigned n) {{
    const unsigned step = gridDim.x * blockDim.x;
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step)
        atomicAdd(&bins[x[i]], 1);
    extra();
}}
"""
_CHASE = f"""{_EXTRA}
extern "C" __global__ void chase(const unsigned* x, unsigned* y, unsigned n, unsigned steps) {{
    const unsigned id = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned at = id;
    for (unsigned s = 0; s < steps; ++s) at = at * 1664525u + 1013904223u + x[at & (n - 1)];
    y[id] = at;
    extra();
}}
"""
_SPIN = f"""{_EXTRA}
extern "C" __global__ void spin(const float* x, float* y, unsigned steps) {{
    const unsigned id = blockIdx.x * blockDim.x + threadIdx.x;
    const float a = x[id] * 1e-9f + 0.999f;
    float v = x[id];
    #pragma unroll 1
    for (unsigned s = 0; s < steps; ++s) v = v * a + 1e-3f;
    y[id] = v;
    extra();
}}
"""


@dataclass(frozen=True, slots=True)
class Subject:
    """A kernel with the one case it is timed on."""

    name: str
    text: str
    arguments: tuple[Json, ...]
    values: dict[str, int]
    grid: str
    block: int = 256

    @property
    def symbol(self) -> str:
        """Return the function's name."""
        return str(re.findall(r"__global__ void (\w+)", self.text)[-1])

    def source(self, cycles: int = 0) -> str:
        """Return the text that does so much extra work."""
        return self.text.replace("EXTRA = 0;", f"EXTRA = {cycles};")

    def job(self, candidate: int = 0, baseline: int = 0, seed: int = 0) -> Json:
        """Return the job that compares two amounts of extra work."""
        launch = {"grid": [self.grid], "block": [str(self.block)], "shared": "0"}
        kernels = {
            role: {
                "name": self.symbol,
                "source": self.source(extra),
                "path": f"{self.name}.cu",
                "launch": launch,
            }
            for role, extra in (("kernel", candidate), ("baseline", baseline))
        }
        return {
            **kernels,
            "workload": {
                "name": self.name,
                "kind": "kernel",
                "symbol": self.symbol,
                "arguments": list(self.arguments),
                "cases": [{"values": self.values, "weight": 1.0, "time": True}],
                "tolerance": {"rtol": 1e-4, "atol": 1e-6},
                "launch": launch,
                "build": {"flags": ["-O3", "-std=c++17"], "include": []},
                "root": ".",
            },
            "device": "cuda:0",
            "effort": "race",
            "seed": seed,
        }


def _pointer(name: str, kind: str, shape: str, role: str, init: Any = "normal") -> Json:
    return {"name": name, "type": kind, "shape": shape, "role": role, "init": init}


def _number(name: str) -> Json:
    return {"name": name, "type": "unsigned", "value": name}


def _stream(name: str, n: int, blocks: int) -> Subject:
    arguments = (
        _pointer("x", "const float*", "n", "input"),
        _pointer("y", "float*", "n", "output"),
        _number("n"),
    )
    return Subject(name, _STREAM, arguments, {"n": n}, str(blocks))


def _rows(name: str, n: int, width: int, blocks: int) -> Subject:
    arguments = (
        _pointer("x", "const float*", "n*width", "input"),
        _pointer("y", "float*", "n*width", "output"),
        _number("n"),
        _number("width"),
    )
    return Subject(name, _ROWS, arguments, {"n": n, "width": width}, str(blocks))


def _scatter(name: str, n: int) -> Subject:
    arguments = (
        _pointer("x", "const unsigned char*", "n", "input", "randint:0:256"),
        _pointer("bins", "int*", "256", "inout", "zeros"),
        _number("n"),
    )
    return Subject(name, _SCATTER, arguments, {"n": n}, "1056")


def _chase(name: str, steps: int) -> Subject:
    arguments = (
        _pointer("x", "const unsigned*", "n", "input", "randint:0:2000000000"),
        _pointer("y", "unsigned*", "33792", "output"),
        _number("n"),
        _number("steps"),
    )
    return Subject(name, _CHASE, arguments, {"n": 1 << 24, "steps": steps}, "132")


def _spin(name: str, steps: int) -> Subject:
    arguments = (
        _pointer("x", "const float*", "67584", "input"),
        _pointer("y", "float*", "67584", "output"),
        _number("steps"),
    )
    return Subject(name, _SPIN, arguments, {"steps": steps}, "264")


SUBJECTS = (
    _stream("stream-64k", 1 << 16, 132),
    _rows("rows-small", 1056, 512, 528),
    _stream("stream-4m", 1 << 22, 1056),
    _rows("rows-large", 8448, 2048, 1056),
    _stream("stream-32m", 1 << 25, 2112),
    _scatter("scatter", 1 << 22),
    _spin("spin-short", 80_000),
    _chase("chase", 1_500),
    _spin("spin-long", 1_700_000),
    _chase("chase-long", 36_000),
)


@dataclass(frozen=True, slots=True)
class Compared:
    """A comparison of one pair: what was decided, and the figures it rests on.

    `detected` is "faster" or "slower" when the interval does not hold 1.
    """

    decision: str
    detected: str
    estimate: float
    low: float
    high: float
    blocks: int
    seconds: float
    candidate_us: float
    dropped: int = 0


def judged(measurement: Measurement, accept: Acceptance, seconds: float) -> Compared:
    """Return what a measurement says under the project's rule."""
    bounds = interval(measurement, accept.confidence) or Interval(1.0, 0.0, float("inf"))
    seen = "faster" if bounds.low > 1 else ("slower" if bounds.high < 1 else "")
    first = measurement.cases[0]
    middle = sorted(first.candidate_us)[len(first.candidate_us) // 2]
    return Compared(
        decide(measurement, accept).value,
        seen,
        bounds.estimate,
        bounds.low,
        bounds.high,
        min(len(case.candidate_us) for case in measurement.cases),
        seconds,
        middle,
        measurement.dropped,
    )


@dataclass(slots=True)
class Timer:
    """One GPU with compiled kernels. `compile` turns a job's text into an artifact."""

    gpu: Any
    compile: Any
    scratch: Path
    rule: timing.Rule = timing.FULL
    accept: Acceptance = field(default_factory=Acceptance)
    on_close: Callable[[], None] = lambda: None
    _built: dict[str, Json] = field(default_factory=dict)
    _benches: Any = None
    _contents: dict[str, Contents] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._benches = Benches(self.gpu, most=32)

    def close(self) -> None:
        """End what compiles."""
        self.on_close()

    def build(self, jobs: Iterable[Json]) -> None:
        """Compile both sides of jobs ahead, side by side."""
        wanted = {self._key(job, role): (job, role) for job in jobs for role in _ROLES}
        missing = [(key, *found) for key, found in wanted.items() if key not in self._built]
        with ThreadPoolExecutor(8) as pool:
            made = pool.map(self._compiled, missing)
            for (key, _, _), artifact in zip(missing, made, strict=True):
                if "path" not in artifact:
                    raise SystemExit(f"{key}: {artifact.get('log', '')[-2000:]}")
                self._built[key] = artifact

    def artifact(self, job: Json, role: str) -> Json:
        """Return the compiled kernel or baseline of a job."""
        key = self._key(job, role)
        if key not in self._built:
            self.build([job])
        return self._built[key]

    def contents(self, work: spec.Work) -> Contents:
        """Return a workload's inputs, kept on the host."""
        return self._contents.setdefault(work.name, Contents(work))

    def compare(self, data: Json, limits: dict[str, Limit] | None = None) -> Compared:
        """Time a pair by the full rule; every timed case of the job counts."""
        begun = time.perf_counter()
        job = spec.parse(data)
        session = self._benches.session(
            job, self.artifact(data, "kernel"), self.artifact(data, "baseline"), self.scratch
        )
        written = [a.name for a in job.work.arguments if a.written]
        cases, dropped = [], 0
        for case in job.work.cases:
            if not case.timed:
                continue
            combination = Combination(case.values, DECLARED, job.seed)
            timed = session.time(
                combination,
                limits or dict.fromkeys(written, LIMIT),
                self.rule,
                PATIENCE,
            )
            samples = timed.samples
            dropped += samples.dropped
            cases.append(
                CaseTimes(
                    case.name,
                    tuple(samples.candidate_us),
                    tuple(samples.baseline_us),
                    case.weight,
                )
            )
        session.close()
        name = str(self.gpu.facts["gpu"])
        measurement = Measurement(tuple(cases), name, dropped=dropped)
        return judged(measurement, self.accept, time.perf_counter() - begun)

    def _compiled(self, one: tuple[str, Json, str]) -> Json:
        _, job, role = one
        made: Json = self.compile(job[role]["source"], job)
        return made

    @staticmethod
    def _key(job: Json, role: str) -> str:
        return f"{job['workload']['name']}\0{job[role]['source']}"


_ROLES = ("kernel", "baseline")


def device_timer(number: int, scratch: Path) -> Timer:
    """Return a timer on a real GPU."""
    from runners.building import Building
    from runners.device import CudaGpu

    gpu = CudaGpu(number)
    building = Building(int(gpu.facts["sm"]), scratch)
    timer = Timer(gpu, building.compiled, scratch)
    timer.on_close = building.close
    return timer


def chosen(names: Sequence[str]) -> tuple[Subject, ...]:
    """Return subjects by name, all when none is named."""
    known = {subject.name: subject for subject in SUBJECTS}
    unknown = [name for name in names if name not in known]
    if unknown:
        raise SystemExit(f"no kernel {', '.join(unknown)}; there are {', '.join(known)}")
    return tuple(known[name] for name in names) or SUBJECTS
