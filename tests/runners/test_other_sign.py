"""Scalars with the other sign than declared: which the text allows, and what they show."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from runners import oracle, spec
from runners.contents import Combination
from runners.judge import Judge
from runners.other_sign import turned
from runners.spec import MOVED, TURNED, Json
from tests.redteam import once_read
from tests.redteam.table import load
from tests.runners.host_gpu import COMPILER
from tests.runners.test_inputs import _pointer, _work
from tests.runners.test_judge import _job, _verdict

host = pytest.mark.skipif(COMPILER is None, reason="g++ is not installed")

KERNEL = """
__device__ void made(float* v) { *v = fabsf(*v); }
__device__ void made(float& v) { v = fabsf(v); }
__device__ float twice(float v) { return 2.f * v; }
__global__ void f(const float* x, const float* w, const int* k, float* y, int n, float s, float t) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    BODY
}
"""


def _found(body: str, arrays: tuple[int, ...] = (0, 1)) -> bool:
    return turned(KERNEL.replace("BODY", body), "f", {"s": 5, "t": 6}, arrays)[:1] == ("s",)


@pytest.mark.parametrize(
    "body",
    [
        # What numbers are compared with.
        "y[i] = x[i] < s ? 1.f : 0.f;",
        "if (s <= x[i]) atomicAdd(y, 1.f);",
        "float v = x[i]; bool less = i < n && v < s; y[i] = less ? v : w[i];",
        "float v = i < n ? x[i] : 0.f; unsigned m = __ballot_sync(~0u, i < n && v > s); y[i] = m;",
        "float a = s; y[i] = x[i] > a ? 1.f : 0.f;",
        "const float* row = x + i * n; int c = 0; for (int j = 0; j < n; ++j) c += row[j] < s; y[i] = c;",
        "y[i] = __ldg(&x[i]) >= s;",
        "auto four = reinterpret_cast<const float4*>(x)[i]; y[i] = four.x < s;",
        # A sum, a difference, a product of two, a mean.
        "float d = x[i] - w[i]; y[i] = d > s ? d : 0.f;",
        "float a = 0.f; for (int j = 0; j < n; ++j) a += x[j] * w[j]; y[i] = fminf(a, s);",
        "float a = 0.f; for (int j = 0; j < n; ++j) a = fmaf(x[j], w[j], a); y[i] = a < s;",
        "float a = 0.f; for (int j = 0; j < n; ++j) a += x[j]; y[i] = a / n < s;",
        "y[i] = twice(x[i]) < s;",
        # Where numbers are cut off; the other end is a scalar, whose order is kept.
        "y[i] = fmaxf(x[i], s);",
        "y[i] = fminf(fmaxf(x[i], s), t);",
        "y[i] = x[i] < s ? s : x[i] > t ? t : x[i];",
        "float v = x[i]; if (v < s) v = s; y[i] = v;",
        # What is added, and what stands for a number that is missing.
        "y[i] = x[i] + s;",
        "y[i] = fmaxf(x[i] * t + s, 0.f);",
        "y[i] = expf(x[i] - s);",
        "y[i] = i > 3 ? x[i] : s;",
        "if (i < 3) y[i] = s; else y[i] = x[i];",
        "__shared__ float part[64]; part[threadIdx.x] = i < 9 ? x[i] : s; y[i] = part[0];",
    ],
)
def test_what_is_beside_numbers_of_either_sign_may_have_either(body: str) -> None:
    assert _found(body)
    # Numbers of one sign alone are no reason.
    assert not _found(body, ())


@pytest.mark.parametrize(
    "body",
    [
        # A factor, a divisor, an exponent, a root.
        "y[i] = x[i] > 0.f ? x[i] : s * x[i];",
        "y[i] = s * x[i]; if (x[i] < s) y[i] = 0.f;",
        "y[i] = x[i] / s;",
        "y[i] = powf(x[i], s) + (x[i] < s);",
        "y[i] = x[i] < s ? sqrtf(s) : x[i];",
        "y[i] = x[i] < s * s;",
        "y[i] = x[i] < -s ? -s : x[i];",
        "y[i] = s == 0.f ? x[i] : x[i] + s;",
        # What is not below zero.
        "y[i] = fabsf(x[i]) < s;",
        "float a = fabsf(x[i]); y[i] = a < s ? a : 0.f;",
        "float d = x[i] - w[i]; y[i] = d * d < s;",
        "float a = 0.f; for (int j = 0; j < n; ++j) a += x[j] * x[j]; y[i] = a < s;",
        "y[i] = expf(x[i]) > s;",
        "y[i] = k[i] > s;",
        "y[i] = i > s;",
        "float v = x[i] > 0.f ? x[i] : 0.f; y[i] = v > s;",
        "float v = x[i]; if (v < 0.f) v = -v; y[i] = v > s;",
        "float m = 0.f; for (int j = 0; j < n; ++j) m = fmaxf(m, x[j]); y[i] = m > s;",
        "float m = 0.f; for (int j = 0; j < n; ++j) if (x[j] > m) m = x[j]; y[i] = m > s;",
        "y[i] = sqrtf(x[i] * x[i] + s);",
        "y[i] = x[i] / (sqrtf(w[i]) + s);",
        "float v = fmaxf(x[i], 0.f); y[i] = v + s;",
        # What keeps numbers from where something is not defined, or an index.
        "y[i] = x[i] > s ? logf(x[i]) : 0.f;",
        "y[i] = x[i] > s ? w[i] / x[i] : 0.f;",
        "if (x[i] > s) y[(int)x[i]] = 1.f;",
        "int j = x[i] * n; if (x[i] > s) y[j] = 1.f;",
        "if (x[i] > s) y[i] = __float_as_int(x[i]);",
        # The other end is a literal, or is not known.
        "y[i] = fmaxf(fminf(x[i], s), 0.f);",
        "y[i] = fminf(fmaxf(x[i], -1.f), s);",
        "float v = fminf(x[i], s); y[i] = v > 0.f ? v : 0.f;",
        "y[i] = x[i] < s ? 1.f : x[i] > 2.f * t ? 2.f : 0.f;",
        "y[i] = fminf(x[i], s) < expf(t);",
        # Steps until something is small; values that are computed in steps.
        "float v = x[i]; while (v > s) v -= 1.f; y[i] = v;",
        "float v = x[i]; while (true) { v -= 1.f; if (v < s) break; } y[i] = v;",
        "for (float v = x[i]; v < s; v += 1.f) y[i] = v;",
        # What is not known: a function, a capture by address, what cannot be read.
        "y[i] = unknown(x[i], s);",
        "take(&s); y[i] = x[i] < s;",
        "float both[2] = {s, x[i]}; y[i] = both[0];",
        'y[i] = x[i] < s; asm("" : "+f"(s));',
        "s *= 2.f; y[i] = x[i] < s;",
        "Both p; p.low = s; y[i] = x[i] < p.low ? x[i] * p.low : 0.f;",
        "float v = x[i]; made(&v); y[i] = v < s;",
        "float v = x[i]; made(v); y[i] = v < s;",
        "const float* p = &s; y[i] = x[i] < s ? x[i] * p[0] : 0.f;",
        "y[i] = global[i] < s;",
        # Nothing at all.
        "y[i] = x[i];",
    ],
)  # fmt: skip
def test_what_makes_no_sense_below_zero_is_left_alone(body: str) -> None:
    assert not _found(body)


def test_a_scalar_is_followed_through_functions_launches_and_arrays() -> None:
    text = """
    __device__ bool below(float v, float pivot) { return v < pivot; }
    __global__ void copied(const float* x, float* held, int n) {
        int i = threadIdx.x; if (i < n) held[i] = x[i]; }
    template <int N> __global__ void marked(const float* held, int* y, int n, float pivot) {
        int i = threadIdx.x; if (i < n) y[i] = OUTER below(held[i], pivot); }
    extern "C" void f(const float* x, int* y, int n, float s) {
        float* held; cudaMalloc(&held, n * sizeof(float));
        copied<<<1, n>>>(x, held, n);
        marked<32><<<1, n>>>(held, y, n, s);
        cudaFree(held);
    }
    """

    def found(outer: str, inner: str = "v < pivot") -> tuple[str, ...]:
        changed = text.replace("OUTER", outer).replace("v < pivot", inner)
        return turned(changed, "f", {"s": 3}, [0])

    assert found("") == ("s",)
    assert found("pivot > 0.f &&") == ()
    assert found("held[i] > 0.f &&") == ()
    assert found("", "v * v < pivot") == ()
    assert found("", "v * pivot > 0.f") == ()
    assert turned(text.replace("held[i] = x[i]", "held[i] = x[i] * x[i]"), "f", {"s": 3}, [0]) == ()


@pytest.mark.parametrize("name", ["eps", "sigma", "learning_rate", "radius2", "dt"])
def test_names_of_what_is_never_below_zero_are_believed(name: str) -> None:
    text = KERNEL.replace("BODY", "y[i] = x[i] < s;").replace("float s", f"float {name}")
    text = text.replace("< s", f"< {name}")
    assert turned(text, "f", {name: 5}, (0,)) == ()
    text = text.replace(name, "pivot")
    assert turned(text, "f", {"pivot": 5}, (0,)) == ("pivot",)


def test_strange_texts_are_left_alone_and_raise_nothing() -> None:
    body = KERNEL.replace("BODY", "y[i] = x[i] < s;")
    for text in ("", "f(", body[: len(body) // 2], body * 2, body.replace("{", "(")):
        assert turned(text, "f", {"s": 5}, (0,)) in ((), ("s",))
    assert turned(body, "f", {"s": 50}, (0,)) == ()
    assert turned(body, "another", {"s": 5}, (0,)) == ()
    deep = KERNEL.replace("BODY", f"y[i] = {'(' * 5000}x[i]{')' * 5000} < s;")
    assert turned(deep, "f", {"s": 5}, (0,)) == ()
    chain = "".join(f"float v{n + 1} = v{n} + 1.f; " for n in range(3000))
    long = KERNEL.replace("BODY", f"float v0 = x[i]; {chain} y[i] = v3000 < s;")
    assert turned(long, "f", {"s": 5}, (0,)) == ()
    inner = "x[i]"
    for _ in range(18):
        inner = f"({inner} < 1.f ? x[i] : w[i])"
    assert turned(KERNEL.replace("BODY", f"y[i] = {inner} < s;"), "f", {"s": 5}, (0,)) == ()
    turns = "".join(f"float u{n} = u{n + 1} + 1.f; " for n in range(3000))
    long = KERNEL.replace("BODY", f"{turns} float u3000 = x[i]; y[i] = u0 < s;")
    assert turned(long, "f", {"s": 5}, (0,)) == ()


def _values(*scalars: tuple[str, str]) -> list[list[float]]:
    given = [{"name": name, "type": "float", "value": value} for name, value in scalars]
    names = tuple(name for name, _ in scalars)
    work = dataclasses.replace(_work(_pointer(), *given, n=8), turned=names)
    floats = [a for a in work.arguments if not a.type.pointer]
    return [
        [float(number) for one in floats for number in spec.scalar_values(one, case)]
        for case in spec.each_across(work, {"n": 8.0})
    ]


def test_two_sizes_are_tried_and_the_lower_of_two_stays_the_lower() -> None:
    assert _values(("s", "0.25")) == [[-0.25], [-0.25 * 11 / 16]]
    assert _values(("s", "-2")) == [[2], [2 * 11 / 16]]
    # Nothing has no sign.
    assert _values(("s", "0")) == [[-0.5]]
    # Ends of a range: the one that is not beyond the other.
    assert _values(("low", "-3"), ("high", "3")) == [[33 / 16, 3], [-3, -33 / 16]]
    assert _values(("low", "0"), ("high", "1")) == [[-0.5, 1]]
    # A rounding, and a sentinel.
    assert _values(("s", "0.00001")) == []
    assert _values(("s", "100000")) == []


def _asked(body: str, value: str = "0.25", **more: Any) -> list[Combination]:
    text = KERNEL.replace("BODY", body)
    job = spec.parse(_job(text, text, workload=_with(value, **more)))
    found = oracle.combinations(job.work, "confirm", 1)[1]
    return [c for c in found if c.case.get(MOVED, 0) >= TURNED]


def _with(value: str, init: str = "normal") -> Json:
    arguments = [
        {"name": "x", "type": "const float*", "shape": "n", "init": init},
        {"name": "w", "type": "const float*", "shape": "n", "init": "uniform"},
        {"name": "k", "type": "const int*", "shape": "n", "init": "randint:0:n"},
        {"name": "y", "type": "float*", "shape": "n", "role": "output"},
        {"name": "n", "type": "int", "value": "n"},
        {"name": "s", "type": "float", "value": value},
        {"name": "t", "type": "float", "value": "9"},
    ]
    return {"symbol": "f", "arguments": arguments}


def test_a_confirmation_asks_beside_numbers_that_are_below_zero_too() -> None:
    assert len(_asked("y[i] = x[i] < s ? 1.f : 0.f;")) == 2
    assert not _asked("y[i] = x[i] < s ? 1.f : 0.f;", init="uniform")
    assert not _asked("y[i] = w[i] < s ? 1.f : 0.f;")
    assert not _asked("y[i] = k[i] < s ? 1.f : 0.f;")


@host
def test_bits_of_floats_are_in_order_above_zero_alone(judge: Judge) -> None:
    """The order of two bit patterns with a sign is the other way round."""
    original = KERNEL.replace("BODY", "y[i] = x[i] < s ? 1.f : 0.f;")
    copies = "int a, b; memcpy(&a, &x[i], 4); memcpy(&b, &s, 4);"
    bits = f"{copies} y[i] = x[i] == x[i] && a < b ? 1.f : 0.f;"
    ways = {bits: "wrong result", "y[i] = s > x[i] ? 1.f : 0.f;": "correct"}
    for way, status in ways.items():
        work = _with("0.25") | {"arguments": _with("0.25")["arguments"]}
        work["arguments"][2]["init"] = "randint:0:9"
        text = KERNEL.replace("BODY", way)
        verdict = _verdict(judge, text, original, workload=work, effort="confirm")
        assert verdict["status"] == status, verdict["log"]
        if status != "correct":
            assert "other scalars" in verdict["log"]


def test_what_of_the_red_team_has_the_other_sign() -> None:
    """Slopes, factors, decays, scales and the ends of histograms have not."""
    found: dict[str, list[float]] = {}
    for base in {c.base.name: c for c in load() if c.base.kind != "program"}.values():
        work = once_read.parsed(base).work
        for c in once_read.combinations(work, "confirm", 1)[1]:
            for a in work.arguments:
                if c.case.get(MOVED, 0) in ({*spec.turned(a)} if not a.type.pointer else ()):
                    value = float(spec.scalar_values(a, c.case)[0])
                    found.setdefault(f"{base.base.name}.{a.name}", []).append(value)
    assert found["parted.pivot"] == [-0.25, -0.171875]
    assert found["bits.limit"] == [-0.25, -0.171875]
    odd = {"prelu", "saxpy", "swiglu", "huber", "clipbins", "cosine", "adamw", "asian", "clipnorm"}
    assert not odd & {name.partition(".")[0] for name in found}
