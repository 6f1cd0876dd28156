"""Infinities where an original leaves them out: which arrays may hold some, and what shows there."""

from __future__ import annotations

import dataclasses
import time

import numpy as np
import pytest

from runners import families, infinite_rows, inputs, oracle, spec, variation
from runners.contents import Combination
from runners.digest import REACH, _within_reach
from runners.extremes import Found, infinite
from runners.judge import Judge
from runners.spec import CaseSpec, Json, Work
from runners.text import LONGEST
from tests.runners.host_gpu import COMPILER
from tests.runners.test_inputs import _pointer, _work
from tests.runners.test_judge import _verdict

host = pytest.mark.skipif(COMPILER is None, reason="g++ is not installed")

# Which arrays.

REDUCED = """
__device__ float folded(float* part, float v, bool most) {
    part[threadIdx.x] = v;
    __syncthreads();
    for (int s = 128; s > 0; s /= 2) {
        if (threadIdx.x < s)
            part[threadIdx.x] = most ? fmaxf(part[threadIdx.x], part[threadIdx.x + s])
                                     : part[threadIdx.x] + part[threadIdx.x + s];
        __syncthreads();
    }
    return part[0];
}
extern "C" __global__ void f(const float* x, const float* w, float* y, int n, float scale) {
    __shared__ float part[256];
    const float* row = x + (size_t)blockIdx.x * n;
    float most = -INFINITY, sum = 0.f;
    for (int i = threadIdx.x; i < n; i += 256) most = fmaxf(most, scale * row[i]);
    most = folded(part, most, true);
    for (int i = threadIdx.x; i < n; i += 256) sum += expf(scale * row[i] - most) * w[i];
    sum = folded(part, sum, false);
    if (threadIdx.x == 0) y[blockIdx.x] = most + logf(sum);
}
"""


def _asked(body: str, before: str = "") -> Found:
    head = "__global__ void f(const float* x, const float* w, float* y, int n, float scale)"
    return infinite(f"{before}\n{head} {{ int i = threadIdx.x; {body} }}", "f", [0, 1])


SUMS = "for (int k = 0; k < n; ++k) s += expf(x[k] - m); y[i] = s;"
MOST = "float m = -1e30f, s = 0.f; for (int k = 0; k < n; ++k) m = fmaxf(m, x[k]);"


def test_terms_of_a_sum_of_exponentials_are_found() -> None:
    """Through names, a function that is called twice, and an array that holds two things by turns."""
    assert infinite(REDUCED, "f", [0, 1]) == Found((0,))
    asks = REDUCED.replace("most + logf(sum)", "isinf(most) ? most : most + logf(sum)")
    assert infinite(asks, "f", [0, 1]) == Found((0,), asks=True)
    assert infinite(REDUCED.replace("scale * row[i]", "w[0] * row[i]"), "f", [0, 1]) == Found()
    assert infinite(REDUCED, "g", [0]) == Found()
    assert infinite(REDUCED, "f", []) == Found()


@pytest.mark.parametrize(
    ("body", "found"),
    [
        (MOST + SUMS, Found((0,))),
        (MOST + SUMS.replace("x[k] - m", "(x[k] - m) / scale"), Found((0,))),
        (MOST + SUMS.replace("x[k] - m", "__fsub_rn(x[k], m)"), Found((0,))),
        (MOST + SUMS.replace("x[k] - m", "fmaf(scale, x[k], -m)"), Found((0,))),
        (
            MOST + SUMS.replace("y[i] = s", "y[i] = m == -INFINITY ? 0.f : s"),
            Found((0,), asks=True),
        ),
        (MOST + SUMS.replace("y[i] = s", "y[i] = isfinite(m) ? s : m"), Found((0,), asks=True)),
        (MOST.replace("fmaxf(m, x[k])", "x[k] > m ? x[k] : m") + SUMS, Found((0,))),
        # A mask that is added to what is computed.
        (
            MOST.replace("x[k]", "y[k] * y[i] + w[k]")
            + SUMS.replace("x[k] - m)", "y[k] * y[i] + w[k] - m) * x[k]"),
            Found((1,)),
        ),
        # Both, and nothing but the larger one.
        ("y[i] = fmaxf(x[i], w[i]);", Found((0, 1))),
        ("float4 v = reinterpret_cast<const float4*>(x)[i]; y[i] = fmaxf(v.x, v.y);", Found((0,))),
    ],
)
def test_what_compares_and_takes_exponentials_has_a_use_for_them(body: str, found: Found) -> None:
    assert _asked(body) == found


@pytest.mark.parametrize(
    "body",
    [
        # Nothing is left out of a sum, and of an exponential by itself little is left.
        "float s = 0.f; for (int k = 0; k < n; ++k) s += x[k]; y[i] = s;",
        "y[i] = 1.f / (1.f + expf(x[i]));",
        # A window's sum may be carried on, a product with zero made.
        "float s = 0.f; for (int k = 0; k < n; ++k) s += x[k]; y[i] = fmaxf(s, 0.f);",
        MOST + SUMS + "y[0] = x[0] * w[0];",
        MOST + SUMS + "y[0] = x[0] * x[0];",
        MOST + SUMS + "y[0] = 1.f / x[0];",
        MOST + SUMS + "y[0] = rsqrtf(x[0]);",
        # How far they are apart may be NaN, which another comparison drops.
        "float m = 0.f; for (int k = 0; k < n; ++k) m = fmaxf(m, fabsf(x[k] - x[i])); y[i] = expf(m);",
        MOST + SUMS + "if (x[0] - m > 3.f) y[0] = 0.f;",
        # Whole numbers, bits, places, turns of a loop.
        MOST + SUMS + "int q = x[0]; y[q] = 1.f;",
        MOST + SUMS + "y[0] = __float_as_int(x[0]);",
        MOST + SUMS + "y[(int)x[0]] = 1.f;",
        MOST + SUMS + "while (m > 1.f) m = m * scale;",
        MOST + SUMS + "auto g = [&](float v) { return v * m; }; y[0] = g(m);",
        "#define",
        "",
    ],
)
def test_what_another_way_may_make_nan_of_is_not_found(body: str) -> None:
    assert _asked(body).positions == ()


@pytest.mark.parametrize(
    "text",
    [
        "(" * 200_000,
        "void f(float* x){" + "x=f(x);" * 8000 + "}",
        "void f(float* x){ y = " + "-(" * 5000 + "x" + ")" * 5000 + ";}",
        "void f(float* x){ y = " + "x+" * 190 + "x;" + "z=y+y;" * 9000 + "}",
        "".join(f"float g{n}(float v){{return g{n + 1}(v)+g{n + 1}(-v);}}" for n in range(900))
        + "void f(float* x){g0(x[0]);}",
        "float g(float v,float w){return g(w,v);} void f(float* x){g(x[0],1);}",
        "float g(float v,...){} void f(float* x){g(x[0]);}",
        "void f(float* x, int, float){x[0]=1;}",
        "void f(float* x){if(x[0]<1}{",
        "expf(x)" * (LONGEST // 7 + 1),
    ],
)
def test_hostile_text_takes_no_time(text: str) -> None:
    """It is a stranger's."""
    begun = time.process_time()
    infinite(text, "f", range(9))
    assert time.process_time() - begun < 8


# What they hold.


def _reduced(init: str = "normal", out: str = "float*", **case: float) -> Work:
    return _parsed(REDUCED, init, out, case or {"rows": 70.0, "n": 1000.0})


def _parsed(source: str, init: str, out: str, case: dict[str, float]) -> Work:
    kernel = {"name": "f", "source": source, "path": "", "launch": None}
    workload = {
        "name": "f",
        "kind": "kernel",
        "symbol": "f",
        "arguments": [
            {"name": "x", "type": "const float*", "shape": "rows*n", "init": init},
            {"name": "w", "type": "const float*", "shape": "n", "init": "uniform"},
            {"name": "y", "type": out, "shape": "rows", "role": "output"},
            {"name": "n", "type": "int", "value": "n"},
            {"name": "scale", "type": "float", "value": "0.5"},
        ],
        "cases": [{"values": case}],
        "launch": {"grid": ["rows"], "block": ["256"]},
    }
    return spec.parse({"kernel": kernel, "baseline": kernel, "workload": workload}).work


def _rows(work: Work, family: str, seed: int) -> np.ndarray:
    case = work.cases[0].values
    made = variation.apply(family, work, inputs.generate(work, case, seed), seed, case)
    plain = inputs.generate(work, case, seed)
    assert np.array_equal(made["w"], plain["w"])
    found = made["x"].view(np.float32)
    finite = np.isfinite(found)
    assert not np.isnan(found).any()
    assert np.array_equal(found[finite], plain["x"].view(np.float32)[finite])
    # One sign in each, and the other one under the next seed.
    assert set(found[~finite]) == {-np.inf if seed % 2 else np.inf}
    return ~finite.reshape(int(case["rows"]), -1)


@pytest.mark.parametrize("seed", [1, 2, 77])
def test_infinities_stand_here_and_there_and_in_long_stretches(seed: int) -> None:
    """First parts, last quarters, all but one; of what asks for them, rows of nothing else."""
    work = _reduced()
    assert work.infinite == ("x",)
    few = _rows(work, families.MASKED, seed)
    assert 0.1 < few.mean() < 0.15
    for leaves_out in (False, True):
        asks = dataclasses.replace(work, leaves_out=leaves_out)
        marks = _rows(asks, families.MASKED_ROWS, seed)
        many = marks.sum(axis=1)
        assert (many == 0).any()
        assert (many == 999).any()
        assert (many == 1000).any() == leaves_out
        # Every thread's first two of 256, and no more of the last ones than there may be.
        head = marks[:, :240].all(axis=1) & ~marks[:, -1]
        assert head.any()
        assert (marks[:, 750:].all(axis=1) & ~marks[:, :750].any(axis=1)).any()
        lanes = np.array([marks[:, lane::32].all(axis=1) for lane in range(32)])
        assert (lanes.any(axis=0) & (many < 900)).any()


def test_short_rows_and_one_long_row_have_some_left() -> None:
    for count, length in ((5, 5), (1000, 1000), (70, 9), (3, 1), (0, 0), (100, 33)):
        for seed in range(9):
            marks = infinite_rows.rows(count, length, np.random.default_rng(seed), whole=False)
            assert len(marks) == count
            assert not count or not marks.all()
    one = infinite_rows.rows(1000, 1000, np.random.default_rng(1), whole=True)
    assert one[0]
    assert one[-1]
    assert 0.3 < one.mean() < 0.9


@pytest.mark.parametrize(
    ("kind", "dtype", "lanes"), [("half", np.float16, 1), ("float4", np.float32, 4)]
)
def test_halves_and_vectors_hold_them_too(kind: str, dtype: type, lanes: int) -> None:
    work = _work(_pointer(f"const {kind}*", "normal", "n*m"), n=40, m=200)
    work = dataclasses.replace(work, infinite=("x",))
    case = work.cases[0].values
    arrays = inputs.generate(work, case, 2)
    made = variation.apply(families.MASKED, work, arrays, 2, case)["x"].view(np.dtype(dtype))
    assert len(made) == 8000 * lanes
    assert np.isposinf(made).sum() > 500
    rows = variation.apply(families.MASKED_ROWS, work, arrays, 2, case)["x"].view(np.dtype(dtype))
    many = np.isposinf(rows).reshape(40, -1).sum(axis=1)
    assert (many == 200 * lanes - 1).any()


def test_floats_without_a_range_are_given_some_and_whole_numbers_are_no_results() -> None:
    """A price has a range; a place among equals is whatever a search began with."""
    assert _reduced("uniform").infinite == ()
    assert _reduced(out="int*").infinite == ()
    assert _reduced(out="float2*").infinite == ("x",)


def test_a_confirmation_asks_for_both_signs() -> None:
    """In a middle case, and stretches in the largest that is not large, too."""
    every = [CaseSpec({"rows": float(rows), "n": 1000.0}) for rows in (2, 7, 900, 90_000)]
    work = dataclasses.replace(_reduced(), cases=tuple(every))

    def masks(work: Work, checks: str) -> set[tuple[float, str, int]]:
        extra = oracle.combinations(work, checks, 5)[1]
        return {(c.case["rows"], c.family, c.seed) for c in extra if c.family in families.MASKS}

    assert masks(work, "confirm") == {
        (rows, family, seed)
        for rows, family in (
            (2, families.MASKED),
            (2, families.MASKED_ROWS),
            (900, families.MASKED_ROWS),
        )
        for seed in (5, 6)
    }
    assert masks(work, "screen") == set()
    assert masks(dataclasses.replace(work, infinite=()), "confirm") == set()


def test_what_only_infinities_lead_to_is_not_looked_at() -> None:
    """The number that a largest begins with is one way's own."""
    work = _reduced()
    kind = work.arguments[2].type
    found = np.array([-3.4e38, -1e30, -REACH * 2, -REACH / 2, 7, np.nan], np.float32)
    kept = _within_reach(found, kind.fields[0])
    assert np.isinf(kept[:3]).all()
    assert np.array_equal(kept[3:], found[3:], equal_nan=True)
    near = found[3:5]
    assert _within_reach(near, kind.fields[0]) is near


# What shows.

WORK: Json = {
    "arguments": [
        {"name": "x", "type": "const float*", "shape": "rows*cols"},
        {"name": "y", "type": "float*", "shape": "rows", "role": "output"},
        {"name": "rows", "type": "int", "value": "rows"},
        {"name": "cols", "type": "int", "value": "cols"},
    ],
    "launch": {"grid": ["(rows+63)/64"], "block": ["64"], "shared": "0", "tunable": False},
    "tolerance": {"rtol": 1e-4, "atol": 1e-4},
    "cases": [{"values": {"rows": 60, "cols": 300}}, {"values": {"rows": 40, "cols": 133}}],
}
LSE = """
extern "C" __global__ void scale(const float* x, float* y, int rows, int cols) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    const float* u = x + (size_t)r * cols;
    float most = -INFINITY, sum = 0.f;
    BODY
}
"""
PLAIN = LSE.replace(
    "BODY",
    "for (int c = 0; c < cols; ++c) most = fmaxf(most, u[c]); ASKS"
    " for (int c = 0; c < cols; ++c) sum += expf(u[c] - most); y[r] = most + logf(sum);",
)
ASKS = PLAIN.replace("ASKS", "if (most == -INFINITY) { y[r] = -1.f; return; }")
LEFT = PLAIN.replace("ASKS", "")
ONLINE = LSE.replace(
    "BODY",
    "for (int c = 0; c < cols; ++c) { float now = fmaxf(most, u[c]);"
    " sum = sum * GUARD(most - now) + GUARD(u[c] - now); most = now; }"
    " y[r] = NONE most + logf(sum);",
)
UNGUARDED = ONLINE.replace("GUARD", "expf").replace("NONE", "")
GUARDED = ONLINE.replace(
    "GUARD(most - now)", "(std::isinf(most) ? 0.f : expf(most - now))"
).replace("GUARD(u[c] - now)", "(std::isinf(u[c]) ? 0.f : expf(u[c] - now))")
# A sum of a NaN stays one.
GUARDED = GUARDED.replace("std::isinf(u[c])", "u[c] == -INFINITY")
# Where its last quarter has nothing to add, a part's sum stays what it was.
STALE = LSE.replace(
    "BODY",
    "float all = 0.f; for (int c = 0; c < cols; ++c) most = fmaxf(most, u[c]);"
    " for (int q = 0; q < 4; ++q) { bool any = false;"
    " for (int c = cols * q / 4; c < cols * (q + 1) / 4; ++c) any |= !(u[c] == -INFINITY);"
    " if (any || cols < 4) { sum = 0.f;"
    " for (int c = cols * q / 4; c < cols * (q + 1) / 4; ++c) sum += expf(u[c] - most); }"
    " all += sum; } y[r] = most + logf(all);",
)


@host
def test_what_leaves_infinities_out_has_to_be_left_out(judge: Judge) -> None:
    """A sum that is scaled anew takes an infinity from an infinity where the first are all masked."""
    verdict = _verdict(judge, UNGUARDED, ASKS, workload=WORK, effort="confirm")
    assert verdict["status"] == "wrong result", verdict["log"]
    assert any(one in verdict["log"] for one in families.MASKS), verdict["log"]
    right = GUARDED.replace("NONE", "most == -INFINITY ? -1.f :")
    verdict = _verdict(judge, right, ASKS, workload=WORK, effort="confirm")
    assert verdict["status"] == "correct", verdict["log"]
    assert {check["what"] for check in verdict["checks"]} >= families.MASKS


@host
def test_where_none_is_asked_for_a_nan_passes_and_another_number_does_not(judge: Judge) -> None:
    verdict = _verdict(judge, UNGUARDED, LEFT, workload=WORK, effort="confirm")
    assert verdict["status"] == "correct", verdict["log"]
    notes = verdict["measurement"]["notes"]
    assert not any(one in note for note in notes for one in families.MASKS), notes
    verdict = _verdict(judge, STALE, LEFT, workload=WORK, effort="confirm")
    assert verdict["status"] == "wrong result", verdict["log"]
    assert any(one in verdict["log"] for one in families.MASKS), verdict["log"]


def test_nothing_is_promised_where_the_original_is_not_finite() -> None:
    assert families.MASKS <= families.STRESS
    assert Combination({"n": 1.0}, families.MASKED_ROWS, 2).key == "n=1|masked-rows|2"
