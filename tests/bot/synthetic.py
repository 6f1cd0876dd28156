"""A made-up trajectory for tests of what is shown. No figure in it was measured on any GPU."""

from __future__ import annotations

import random
from collections.abc import Sequence

from optimizer import counters
from optimizer.model import (
    Argument,
    Case,
    CaseTimes,
    Check,
    Edit,
    Environment,
    Finding,
    Kernel,
    Kind,
    Launch,
    Measurement,
    Resources,
    Role,
    Severity,
    Status,
    Step,
    Trajectory,
    Verdict,
    Workload,
)

GPU = "SYNTHETIC GPU (made-up figures)"
NAIVE = """\
#include <cuda_runtime.h>

// Transposes an n by n matrix, one element per thread.
__global__ void transpose(const float* in, float* out, int n)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < n && y < n) {
        out[x * n + y] = in[y * n + x];
    }
}
"""
TILED = """\
#include <cuda_runtime.h>

#define TILE 32

// Transposes an n by n matrix, one element per thread.
__global__ void transpose(const float* in, float* out, int n)
{
    __shared__ float tile[TILE][TILE];
    int x = blockIdx.x * TILE + threadIdx.x;
    int y = blockIdx.y * TILE + threadIdx.y;
    if (x < n && y < n) {
        tile[threadIdx.y][threadIdx.x] = in[y * n + x];
    }
    __syncthreads();
    x = blockIdx.y * TILE + threadIdx.x;
    y = blockIdx.x * TILE + threadIdx.y;
    if (x < n && y < n) {
        out[y * n + x] = tile[threadIdx.x][threadIdx.y];
    }
}
"""
PADDED = TILED.replace("tile[TILE][TILE]", "tile[TILE][TILE + 1]")
RESTRICT = PADDED.replace(
    "const float* in, float* out", "const float* __restrict__ in, float* __restrict__ out"
)
WORKLOAD = Workload(
    "transpose",
    Kind.KERNEL,
    "transpose",
    (
        Argument("in", "const float*", "n*n"),
        Argument("out", "float*", "n*n", role=Role.OUTPUT),
        Argument("n", "int", value="n"),
    ),
    (Case({"n": 4096}, 2.0), Case({"n": 1000}), Case({"n": 1}, time=False)),
    launch=Launch(("(n+31)/32", "(n+31)/32"), ("32", "32")),
)
ENVIRONMENT = Environment(
    gpu=GPU,
    driver="000.00",
    toolkit="13.0",
    host="synthetic",
    optiml="0.1.0",
    date="2026-01-02",
    commit="0123456789abcdef",
    command="optiml run kernels/transpose.cu --seed 7",
    seed=7,
    budget={"minutes": 10, "evaluations": 80},
    peaks={"dram_gbs": 4000.0, "l2_gbs": 9000.0, "fp32_tflops": 60.0},
)


def measurement(
    speedup: float, seed: int = 0, blocks: int = 30, base_us: float = 180.0
) -> Measurement:
    """Make paired times around a given speedup."""
    draw = random.Random(seed)  # noqa: S311 - repeatable, not secret
    cases = []
    for name, scale, weight in (("n=4096", 1.0, 2.0), ("n=1000", 0.07, 1.0)):
        base = [base_us * scale * draw.gauss(1, 0.003) for _ in range(blocks)]
        cases.append(
            CaseTimes(
                name,
                tuple(b / speedup * draw.gauss(1, 0.003) for b in base),
                tuple(base),
                weight,
            )
        )
    return Measurement(tuple(cases), GPU, {"transpose": 1.0}, clock_mhz=1980.0)


def verdict(
    speedup: float, seed: int = 0, *, profiled: bool = True, registers: int = 18, shared: int = 0
) -> Verdict:
    """Make a correct verdict with counters that go with the speedup."""
    metrics = {
        counters.TIME_NS: 180e3 / speedup,
        "dram__bytes_read.sum": 67.2e6,
        "dram__bytes_write.sum": 268e6 / speedup**1.2,
        "smsp__inst_executed.sum": 1.6e7 * (1.1 if shared else 1.0),
        counters.STORE_REQUESTS: 5.2e5,
        counters.STORE_SECTORS: 5.2e5 * (32.0 if speedup < 2 else 4.0),
        "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio": 4.0,
        "smsp__average_warps_issue_stalled_lg_throttle_per_issue_active.ratio": 22.0 / speedup**2,
        "smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio": 11.0,
        "sm__warps_active.avg.pct_of_peak_sustained_active": 88.0,
        "smsp__sass_thread_inst_executed_op_fadd_pred_on.sum": 3.3e7,
        "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum": 1.7e7,
    }
    return Verdict(
        Status.CORRECT,
        measurement(speedup, seed),
        {f"transpose/{key}": value for key, value in metrics.items()} if profiled else {},
        {"transpose": Resources(registers, shared, 0, 0, 1.0 if not shared else 0.875)},
        checks=(
            Check("families", "n=4096 × normal", passed=True, error=0.0, bound=1e-5),
            Check("families", "n=1000 × spikes", passed=True, error=1e-7, bound=1e-5),
            Check("canaries", "both sides of every buffer", passed=True),
            Check("sanitizer", "memcheck n=1", passed=True),
        ),
        seconds={"compile": 0.31, "verify": 0.12, "time": 0.2, "profile": 1.4 if profiled else 0.0},
    )


def failing(status: Status, log: str = "") -> Verdict:
    """Make the verdict of a candidate that failed."""
    return Verdict(status, log=log, seconds={"compile": 0.3})


FINDINGS = (
    Finding(
        "uncoalesced-access",
        "stores touch 32 sectors per request where 4 would do",
        line=9,
        severity=Severity.CRITICAL,
        subject="transpose",
        counters={
            "transpose/l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st.ratio": 32.0
        },
        advice="stage the tile in shared memory so that both sides are read and written along rows",
        remedies=("stage-transpose",),
        expected=3.2,
    ),
)


def trajectory(
    extra: int = 20, *, won: bool = True, recorded: str = "", seed: int = 3
) -> Trajectory:
    """Make a search that found a tile, padding and restrict, among `extra` other tries."""
    draw = random.Random(seed)  # noqa: S311 - repeatable, not secret
    steps = [
        Step(
            0,
            None,
            None,
            Kernel("transpose", NAIVE, "kernels/transpose.cu"),
            verdict(1.0),
            findings=FINDINGS,
        )
    ]
    wins = (
        ("stage the tile in shared memory", "stage-transpose", TILED, 2.41, 0, 3.0),
        ("pad the tile by one column", "pad-shared", PADDED, 3.32, 1, 1.3),
        ("mark the pointers __restrict__", "restrict", RESTRICT, 3.41, 2, 1.02),
    )
    for title, kind, source, speedup, parent, predicted in wins:
        steps.append(
            _step(
                steps,
                parent,
                Edit(
                    title, source, f"rule:{kind}", f"{title}: rows on both sides", kind, predicted
                ),
                verdict(
                    speedup,
                    len(steps),
                    registers=22,
                    shared=4096 + 128 * (kind != "stage-transpose"),
                ),
            )
        )
    failures: Sequence[tuple[Status, str]] = (
        (Status.DOES_NOT_COMPILE, 'transpose.cu(9): error: identifier "tile" is undefined\n'),
        (Status.WRONG_RESULT, "n=1000 × spikes: largest error 3.1 at element 31"),
        (Status.REJECTED, "edit-boundary: host function changed"),
        (Status.CRASHED, "an illegal memory access was encountered"),
        (Status.TIMED_OUT, "no answer in 20 s"),
    )
    for number in range(extra):
        parent = draw.choice(
            [step.number for step in steps if step.verdict.status is Status.CORRECT]
        )
        base = steps[parent].kernel.source
        edit = Edit(
            f"use {8 + number} rows a block" if number % 3 else "unroll the copy by 4 & hope <b>",
            base.replace("int x =", f"const int rows_{number} = {8 + number};\n    int x =", 1),
            "rule:tune" if number % 2 else "llm:example-model",
            "fewer blocks leave fewer `tails`",
            "tune",
            1.1,
        )
        if draw.random() < 0.4:
            status, log = draw.choice(failures)
            steps.append(_step(steps, parent, edit, failing(status, log)))
        else:
            steps.append(
                _step(steps, parent, edit, verdict(draw.uniform(0.7, 3.1), number, profiled=False))
            )
    return Trajectory(
        WORKLOAD,
        ENVIRONMENT if not recorded else _recorded(recorded),
        tuple(steps),
        3 if won else None,
        verdict(3.39, 99, profiled=False) if won else None,
        measurement(1.0, 5),
        "evaluations spent",
    )


def _recorded(text: str) -> Environment:
    import dataclasses

    return dataclasses.replace(ENVIRONMENT, recorded=text)


def _step(steps: Sequence[Step], parent: int, edit: Edit, found: Verdict) -> Step:
    number = len(steps)
    return Step(
        number,
        parent,
        edit,
        edit.apply(steps[parent].kernel),
        found,
        reward=0.3,
        judge=0.8 if found.status is Status.CORRECT else None,
        judge_reason="the counter it named fell",
        at_seconds=1.5 * number,
    )
