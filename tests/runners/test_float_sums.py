"""Who adds floats has other sums in another order, near the largest number as well."""

from __future__ import annotations

import numpy as np
import pytest

from runners import float_sums
from runners.families import TOPS
from runners.judge import Judge
from runners.picked import computed
from runners.spec import Json
from runners.text import LONGEST
from tests.redteam import once_read
from tests.runners.host_gpu import COMPILER
from tests.runners.test_judge import _verdict

host = pytest.mark.skipif(COMPILER is None, reason="g++ is not installed")

SUMS = [
    "void f(float* x) { x[0] += x[1]; }",
    "void f(float* x) { x[0] = x[1] - 1; }",
    "void f(const float* x, float* y) { *y = *x + *(x + 1); }",
    "void f(const float4* x, float* y) { float4 v = x[0]; y[0] = v.x + v.y; }",
    "void f(const float* x, float* y) { atomicAdd(y, x[threadIdx.x]); }",
    "void f(float* x) { x[0] = fmaf(x[1], x[2], x[3]); }",
    "void f(float* x) { x[0] = __fadd_rn(x[1], x[2]); }",
    "void f(half* x) { x[0] = __hadd(x[1], x[2]); }",
    "template <class T> T g(T a, T b) { return a + b; } void f(float* x) { x[0] = g(x[1], x[2]); }",
    "#define ADD(a, b) ((a) + (b))\nvoid f(float* x) { x[0] = ADD(x[1], x[2]); }",
    "__global__ void g(float* x) { x[0] -= x[1]; } void f(float* x) { g<<<1, 1>>>(x); }",
    "void f(float* x) { auto g = [&](float a) { return a + x[1]; }; x[0] = g(x[2]); }",
    "void g(float* x);",
]
NONE = [
    "void f(float* x, int n) { for (int i = 0; i < n - 1; ++i) x[i] *= x[i + 1]; }",
    "void f(float* x) { int i = blockIdx.x * blockDim.x + threadIdx.x; x[i] = -x[i]; }",
    "void f(const float* x, float* y, int n) { const float* p = x + n; *y = *(p - 1) / p[0]; }",
    "void f(float* x, int* count) { if (isinf(x[0])) *count += 1; }",
    "#define NONE -1\nvoid f(float* x, int* at) { if (*at == NONE) x[0] = 2.f * x[1]; }",
    "void g(float* x) { x[0] += x[1]; } void f(float* x) { x[0] = fmaxf(x[1], x[2]); }",
    """__global__ void g(float* x, int n) { x[0] *= n; }
    void f(float* x, int n) { g<<<(n + 255) / 256, 256>>>(x, (int)(n + 1u)); }""",
]


@pytest.mark.parametrize(
    ("text", "adds"), [*((t, True) for t in SUMS), *((t, False) for t in NONE)]
)
def test_sums_of_floats_are_found_and_those_of_places_are_none(text: str, *, adds: bool) -> None:
    assert float_sums.adds(text, "f") is adds


def test_what_is_too_long_may_add() -> None:
    assert float_sums.adds(NONE[0] + " " * LONGEST, "f")


def test_who_is_asked_about_numbers_near_the_largest() -> None:
    """Who asks for infinities and adds nothing up."""
    asked = {}
    for name in ("unscale", "lapse", "elliptic", "softmax"):
        work = once_read.parsed(f"{name}/base").work
        every = once_read.combinations(work, "confirm", 1)[1]
        asked[name] = sum(one.family == TOPS for one in every)
    assert asked == {"unscale": 4, "lapse": 0, "elliptic": 0, "softmax": 0}


def test_what_is_worked_out_is_told_from_what_is_chosen() -> None:
    found = np.array([1.0, 2.0, np.inf, np.nan, -3.0])
    assert computed(found, np.array([1.0, 3.0])).tolist() == [False, True, False, False, True]


# Sums along a row of all numbers that are finite; and a quotient and a product.
SCAN = """
extern "C" __global__ void scale(const float* x, const float* w, float* y, int rows, int cols) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    size_t at = (size_t)r * cols;
    float state = 0.f, part = 0.f;
    for (int c = 0; c < cols; ++c) {
        float v = std::isfinite(x[at + c]) ? x[at + c] : 0.f;
        STEP
    }
}
"""
IN_A_ROW = "state += v; y[at + c] = state;"
IN_PARTS = """part += v; y[at + c] = state + part;
        if (c % 8 == 7) { state += part; part = 0.f; }"""
DIVIDED, MULTIPLIED = "y[at + c] = v / 4.f * 3.f;", "y[at + c] = v * 3.f / 4.f;"
LARGEST = "state = fmaxf(state, v); y[at + c] = state;"
WORK: Json = {
    "arguments": [
        {"name": "x", "type": "const float*", "shape": "rows*cols"},
        {"name": "w", "type": "const float*", "shape": "rows"},
        {"name": "y", "type": "float*", "shape": "rows*cols", "role": "output"},
        {"name": "rows", "type": "int", "value": "rows"},
        {"name": "cols", "type": "int", "value": "cols"},
    ],
    "launch": {"grid": ["(rows+63)/64"], "block": ["64"], "shared": "0", "tunable": False},
    "cases": [{"values": {"rows": 7, "cols": 90}}],
    "tolerance": {"rtol": 1e-3, "atol": 1e-3},
}


@host
@pytest.mark.parametrize(
    ("mine", "theirs", "status"),
    [
        (IN_PARTS, IN_A_ROW, "correct"),
        (MULTIPLIED, DIVIDED, "correct"),
        (
            LARGEST.replace("state = f", "if (!c) state = -1e30f; state = f"),
            LARGEST.replace("state = f", "if (!c) state = -INFINITY; state = f"),
            "wrong result",
        ),
    ],
)
def test_another_order_may_be_infinite_and_a_choice_may_not(
    judge: Judge, mine: str, theirs: str, status: str
) -> None:
    texts = [SCAN.replace("STEP", one) for one in (mine, theirs)]
    verdict = _verdict(judge, *texts, workload=WORK, effort="confirm")
    assert verdict["status"] == status, verdict["log"]
