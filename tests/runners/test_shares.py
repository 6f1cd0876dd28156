"""Shares of one that may be beyond one, and below zero."""

from __future__ import annotations

import pytest

from runners import oracle, shares, spec
from runners.crossing import crossing
from runners.judge import Judge
from runners.other_sign import turned
from runners.spec import MOVED
from tests.redteam.table import Candidate, load
from tests.runners.test_crossing import SLOPE, _with, host
from tests.runners.test_judge import _verdict

HEAD = "__device__ float part(float p) { return 1.f - p; }\n__global__ void scale"
KERNEL = (
    f"{HEAD}(const float* x, float* y, float* z, unsigned char* b, int n, float t)"
    " { int i = threadIdx.x; BODY }"
)


def _found(body: str, before: str = "") -> str:
    text = before + KERNEL.replace("BODY", body)
    found = shares.smooth(text, "scale", 5), shares.linear(text, "scale", 5)
    return " ".join(word for word, one in zip(("smooth", "linear"), found, strict=True) if one)


@pytest.mark.parametrize(
    "body",
    [
        "y[i] = (1.f - t) * x[i] + t * x[i + n];",
        "float u = 1.f - t, v = t; y[i] = u * x[i] + v * x[i + n];",
        "float u = part(t); y[i] = u * x[i] + t * x[i + n];",
        "y[i] = fmaf(t, x[i + n], fmaf(-t, x[i], x[i]));",
        "y[i] = __fmul_rn(__fsub_rn(1.f, t), __ldg(x + i)) / n;",
        "float s = 0.f; for (int k = 0; k < n; ++k) { s += (1.f - t) * x[k] + t; } y[i] = s;",
        "float c = x[i] > 0.f ? t : 1 - t; y[i] = c * expf(x[i]);",
        "__shared__ float a[32]; a[i] = (1.f - t) * x[i]; __syncthreads(); y[i] = a[31 - i];",
        "float u = (1.f - t) * x[i]; u += __shfl_xor_sync(~0u, u, 16); atomicAdd(y, u);",
        "y[i] = x[i] < 0.5f ? 0.f : sqrtf(x[i]) * (1.f - t);",
        "float u = 1.f - t; const float* p = x + i; float* q = z; *q++ = u * *p; y[i] = z[0];",
    ],
)
def test_a_part_of_the_way_goes_on_beyond_its_ends(body: str) -> None:
    assert _found(body) == "smooth linear"


@pytest.mark.parametrize(
    "body",
    [
        "float u = (1.f - t) * x[i]; y[i] = sinf(u) / sinf(x[i]) + cosf(t * x[i]);",
        "float u = 1.f - t; y[i] = u * u * x[0] + 2.f * u * t * x[1] + t * t * x[2];",
    ],
)
def test_a_wave_and_a_square_are_left_above_zero(body: str) -> None:
    assert _found(body) == "smooth"


@pytest.mark.parametrize(
    "body",
    [
        # Compared, or the end of something.
        "y[i] = x[i] < t ? x[i] / (1.f - t) : 0.f;",
        "if (t == 1.f) return; y[i] = (1.f - t) * x[i];",
        "if (t) y[i] = (1.f - t) * x[i];",
        "float u = 1.f - t; y[i] = u * x[i]; if (y[i] > 1.f) y[i] = 1.f;",
        "float u = 1.f - t; y[i] = fmaxf(u * x[i], 0.f);",
        "y[i] = __saturatef(1.f - t) * x[i];",
        "y[i] = fabsf(1.f - t) * x[i];",
        "float u = 1.f - t; while (u < x[i]) u += t; y[i] = u;",
        "y[i] = (1.f - t) * x[i]; z[i] = t ? 1.f : 0.f;",
        # What has a value within one alone, and what grows.
        "y[i] = t * x[i] + sqrtf(1.f - t * t) * x[i];",
        "y[i] = x[i] / (1.f - t);",
        "y[i] = __fdividef(x[i], 1.f - t);",
        "y[i] = x[i] / (1.f - powf(t, n));",
        "y[i] = logf(1.f - t) * x[i];",
        "y[i] = acosf(t) + 1.f - t;",
        "y[i] = expf((1.f - t) * x[i]);",
        # Whole numbers.
        "b[i] = (1.f - t) * x[i];",
        "int k = (1.f - t) * n; y[i] = x[k];",
        "y[i] = x[(int)(n * (1.f - t))];",
        "y[i] = rintf((1.f - t) * x[i]);",
        "y[i] = (unsigned)(t * x[i]) + 1.f - t;",
        # Multiplied by in each turn.
        "y[i] = t * y[i] + (1.f - t) * x[i];",
        "float m = 0.f; for (int k = 0; k < n; ++k) m = t * m + (1.f - t) * x[k]; y[i] = m;",
        "float m = 1.f; for (int k = 0; k < n; ++k) m *= 1.f - t; y[i] = m;",
        "float m = 0.f; for (int k = 0; k < n; ++k) { float d = (1.f - t) * m; m = d + x[k]; }",
        "z[i] = y[i]; float* a = z; y[i] = (1.f - t) * a[i];",
        # Passed on to what is not known, or not read.
        "y[i] = blend(x[i], 1.f - t);",
        'asm("mov.f32 %0, %1;" : "=f"(y[i]) : "f"(1.f - t));',
        "float w[2] = {1.f - t, t}; y[i] = w[0] * x[i];",
        "auto of = [&](float a) { return a * (1.f - t); }; y[i] = of(x[i]);",
        "float u = 1.f - t; float& r = y[i]; r = u * x[i]; if (y[i] > 1.f) y[i] = 1.f;",
        "float u = x[i]; float& r = u; for (int k = 0; k < n; ++k) r *= 1.f - t; y[i] = u;",
        "float u = 1.f - t; float& r = u; for (int k = 0; k < n; ++k) r = r + r * t; y[i] = u;",
        # No share.
        "y[i] = t * x[i];",
        "y[i] = x[i];",
    ],
)
def test_what_has_a_sense_within_one_alone_stays_there(body: str) -> None:
    assert _found(body) == ""


def test_what_is_outside_of_functions_is_not_followed() -> None:
    body = "kept = 1.f - t; y[i] = kept * x[i];"
    assert _found(body, "__device__ float kept;\n") == ""
    assert _found("y[i] = WEIGH(x[i]) * (1.f - t);", "#define WEIGH(a) ((a) * (t > 1.f))\n") == ""
    assert _found("y[i] = near(1.f - t);", "__device__ int near(float a) { return a; }\n") == ""
    assert _found("y[i] = f(1.f - t);", "__device__ float f(float a) { return f(a) * a; }\n") == ""


def test_host_code_passes_a_share_on() -> None:
    kernel = "__global__ void k(float* y, float p) { y[0] = (1.f - p) * y[1]; }"
    one = 'extern "C" void f(float* y, float keep) { k<<<1, 1>>>(y, keep); }'
    apart = kernel.replace("k(float* y, ", "k(const float* x, float* y, ").replace("y[1]", "x[1]")
    both = one.replace("float* y,", "float* x, float* y,").replace("(y,", "(x, y,")
    assert shares.smooth(apart + both, "f", 2)
    # In place: a product of a product, if it is called in turn.
    assert not shares.smooth(kernel + one, "f", 1)
    assert not shares.smooth(apart + both.replace("(x, y,", "(y, y,"), "f", 2)
    assert not shares.smooth(apart + both.replace("keep);", "fminf(keep, 1));"), "f", 2)


def test_it_never_raises_whatever_it_is_given() -> None:
    for text in ("", "void scale(", "void scale(float t) {", "void scale(float t) { t = (1 - t;"):
        assert not shares.smooth(text, "scale", 0)
    assert not shares.smooth(KERNEL, "scale", 9)
    chain = "".join(f"float v{n} = v{n + 1} * x[i]; " for n in range(3000))
    assert _found(f"{chain} float v3000 = 1.f - t; y[i] = v0;") == ""


BLEND = SLOPE.replace("RESULT", "(1.f - slope) * x[i] + slope * x[n - 1 - i]")


def test_both_sides_are_told_to_who_asks() -> None:
    assert crossing(BLEND, "scale", {"slope": 3}) == (("slope",), ("slope",))
    assert turned(BLEND, "scale", {"slope": 3}, ()) == ("slope",)
    assert turned(BLEND.replace("slope", "rate"), "scale", {"rate": 3}, ()) == ()


@host
@pytest.mark.parametrize(
    ("cut", "status"),
    [
        ("__saturatef(slope)", "wrong result"),
        ("fminf(slope, 1.f)", "wrong result"),
        ("fmaxf(slope, 0.f)", "wrong result"),
        ("slope", "correct"),
    ],
)
def test_a_share_that_is_cut_off_is_wrong(judge: Judge, cut: str, status: str) -> None:
    text = BLEND.replace("RESULT", "").replace("(1.f - slope)", f"(1.f - {cut})")
    text = text.replace("slope * x[n", f"{cut} * x[n").replace("__saturatef", "saturated")
    text = "__device__ float saturated(float a) { return fminf(fmaxf(a, 0.f), 1.f); }\n" + text
    verdict = _verdict(judge, text, BLEND, workload=_with("0.25"), effort="confirm")
    assert verdict["status"] == status, verdict["log"]
    if status != "correct":
        assert "other scalars" in verdict["log"]


def _bases() -> dict[str, Candidate]:
    return {one.base.name: one for one in load() if one.base.kind != "program"}


def test_what_of_the_red_team_is_a_share_that_goes_on() -> None:
    """A turn and the smoothing of labels; no momentum, no power, no running statistics."""
    found: dict[str, list[float]] = {}
    for name in ("slerp", "smoothed", "batchstat", "adamw", "curve"):
        work = spec.parse(_bases()[name].job("confirm")).work
        for c in oracle.combinations(work, "confirm", 1)[1]:
            for a in work.arguments:
                many = () if a.type.pointer else (spec.across(a), *spec.turned(a))
                if c.case.get(MOVED, 0) in many:
                    value = float(spec.scalar_values(a, c.case)[0])
                    found.setdefault(f"{name}.{a.name}", []).append(round(value, 3))
    assert found["slerp.t"] == [1.3]
    assert found["smoothed.smooth"] == [-0.1, 1.1, -0.069]
    kinds = ("adamw.beta1", "adamw.beta2", "batchstat.momentum", "curve.gamma")
    assert not {*kinds} & set(found)
