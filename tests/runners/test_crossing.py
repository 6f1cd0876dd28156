"""Scalars on the other side of one, and what is asked of a size of nothing."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from runners import oracle, spec
from runners.compare import Answer, Budget, compare, nothing_asked
from runners.contents import Combination
from runners.crossing import crossing
from runners.cuda_types import parse
from runners.judge import Judge
from runners.spec import ACROSS, MOVED, TURNED, Json
from tests.redteam import once_read
from tests.redteam.table import load
from tests.runners.host_gpu import COMPILER
from tests.runners.test_inputs import _pointer, _work
from tests.runners.test_judge import _job, _verdict

host = pytest.mark.skipif(COMPILER is None, reason="g++ is not installed")

SLOPE = """
extern "C" __global__ void scale(const float* x, float* y, int n, float slope) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = RESULT;
}
"""
LEAKY = SLOPE.replace("RESULT", "x[i] > 0.f ? x[i] : slope * x[i]")
LARGER = SLOPE.replace("RESULT", "fmaxf(x[i], slope * x[i])")


def _with(value: str, name: str = "slope", **more: Any) -> Json:
    arguments = [
        {"name": "x", "type": "const float*", "shape": "n"},
        {"name": "y", "type": "float*", "shape": "n", "role": "output"},
        {"name": "n", "type": "int", "value": "n"},
        {"name": name, "type": "float", "value": value},
    ]
    return {"arguments": arguments, **more}


@host
@pytest.mark.parametrize("value", ["0.25", "2.0"])
def test_what_is_larger_for_a_slope_within_one_is_not_beyond_it(judge: Judge, value: str) -> None:
    """And what is smaller for a slope beyond one is not within it."""
    sign = "fmaxf" if value == "0.25" else "fminf"
    verdict = _verdict(
        judge, LARGER.replace("fmaxf", sign), LEAKY, workload=_with(value), effort="confirm"
    )
    assert verdict["status"] == "wrong result", verdict["log"]
    assert "other scalars" in verdict["log"]
    other = SLOPE.replace("RESULT", "fmaxf(x[i], 0.f) + slope * fminf(x[i], 0.f)")
    verdict = _verdict(judge, other, LEAKY, workload=_with(value), effort="confirm")
    assert verdict["status"] == "correct", verdict["log"]


def _asked(text: str, work: Json, checks: str = "confirm") -> list[Combination]:
    job = spec.parse(_job(text, text, workload=work))
    found = oracle.combinations(job.work, checks, 1)[1]
    return [c for c in found if ACROSS <= c.case.get(MOVED, 0) < TURNED]


def test_each_scalar_is_asked_once_in_a_confirmation() -> None:
    """In the middle case, with inputs for which no tolerance was declared."""
    found = _asked(LEAKY, _with("0.25"))
    assert [(c.family, c.case["n"]) for c in found] == [("mixed", 3000)]
    assert not _asked(LEAKY, _with("0.25"), "screen")
    for value in ("0", "1", "0.01", "100", "-1"):
        assert not _asked(LEAKY, _with(value))


def _across(*values: str) -> list[list[float]]:
    """Return what scalars are where one after the other is on the other side of one."""
    scalars = [
        {"name": f"s{at}", "type": "float" if "{" not in one else "float3", "value": one}
        for at, one in enumerate(values)
    ]
    names = tuple(str(one["name"]) for one in scalars)
    work = dataclasses.replace(_work(_pointer(), *scalars, n=8), beyond=names, within=names)
    floats = [a for a in work.arguments if not a.type.pointer]
    return [
        [float(number) for one in floats for number in spec.scalar_values(one, case)]
        for case in spec.each_across(work, {"n": 8.0})
    ]


def test_the_lower_one_of_two_scalars_stays_the_lower_one() -> None:
    """They may be ends of a range, and one that ends before it begins is none."""
    assert _across("0.25") == [[1.25]]
    assert _across("-0.25") == [[-1.25]]
    assert _across("3") == [[0.75]]
    assert _across("-3", "3") == [[-0.75, 3], [-3, 0.75]]
    assert _across("0.2", "0.9") == [[0.2, 1.9]]
    assert _across("0.5", "1.25") == [[0.5, 1.25 / 2.25]]
    assert _across("{0.1, 0.2, 0.7}") == [[1.1, 1.2, 1.7]]
    assert _across("{0.5, 2, 0}") == []
    assert _across("0.00001", "0.0005", "95", "0") == []


def test_only_one_is_moved_and_by_how_much_is_known() -> None:
    scalars = [
        {"name": name, "type": "float", "value": v} for name, v in (("a", "0.25"), ("b", "2"))
    ]
    work = dataclasses.replace(_work(_pointer(), *scalars, n=8), beyond=("a",), within=("a",))
    (case,) = spec.each_across(work, {"n": 8.0})
    assert [spec.scalar_values(a, case) for a in work.arguments[1:]] == [(1.25,), (2,)]
    assert spec.factor(work, case) == 5
    assert spec.factor(work, {"n": 8.0}) == 1


BODY = "__global__ void scale(const float* x, float* y, int n, float s) { int i = 0; BODY }"


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("y[i] = s * x[i];", "beyond within"),
        ("y[i] = x[i] > 0.f ? x[i] : s * x[i];", "beyond within"),
        ("y[i * n] = x[i] * (s / n) + y[(size_t)i * n];", "beyond within"),
        # A part, and what is left of one.
        ("y[i] = s * x[i] + (1.f - s) * y[i];", ""),
        ("y[i] = s * x[i] + (1 - s) * y[i];", ""),
        ("y[i] = x[i] * sqrtf((float)1.0 - s);", ""),
        ("y[i] = fmaf(s, x[i], fmaf(-s, y[i], y[i]));", ""),
        # A part of a way that goes on beyond its ends.
        ("y[i] = x[i] * (s - 1.f);", "beyond within"),
        ("float t = s; y[i] = x[i] * (1.f - t);", "beyond within"),
        # A probability or a threshold.
        ("y[i] = x[i] < s ? x[i] : 0.f;", "within"),
        ("if (s >= x[i]) y[i] = 0.f;", "within"),
        # A place, or a whole number.
        ("int k = s * i; y[i] = x[k];", "within"),
        ("float f = (i + 0.5f) * s - 0.5f; int k = (int)floorf(f); y[i] = x[k];", "within"),
        ("y[i] = x[(int)(i * s)];", "within"),
        ("y[i] = rintf(s * x[i]);", "within"),
        # A recurrence.
        (
            "float h = 0.f; for (int t = 0; t < n; ++t) { h = fmaxf(h * s, x[t]); y[t] = h; }",
            "within",
        ),
        ("float p = 1.f; for (int t = 0; t < n; ++t) { p *= s; y[t] = p; }", "within"),
        # Not there.
        ("y[i] = x[i];", "beyond within"),
    ],
)
def test_what_a_text_makes_of_a_scalar_tells_where_it_may_be(body: str, found: str) -> None:
    beyond, within = crossing(BODY.replace("BODY", body), "scale", {"s": 3})
    words = [word for word, names in (("beyond", beyond), ("within", within)) if names]
    assert " ".join(words) == found


def test_a_scalar_is_followed_to_where_it_is_passed_on() -> None:
    kernel = "__global__ void k(float* y, float p) { y[0] = USE; }"
    host_code = 'extern "C" void f(float* y, float keep) { k<<<1, 1>>>(y, keep); }'
    for use, found in (("p * y[1]", ("keep",)), ("y[1] * sqrtf(1.f - p)", ())):
        assert crossing(f"{kernel.replace('USE', use)} {host_code}", "f", {"keep": 1})[0] == found
    assert crossing(kernel, "another", {"keep": 1}) == ((), ())
    assert crossing(kernel, "k", {"keep": 7}) == ((), ())


def test_what_of_the_red_team_is_on_the_other_side_of_one() -> None:
    """Decays, momentum, epsilon, learning rates and thresholds are not."""
    found: dict[str, list[float]] = {}
    for base in {c.base.name: c for c in load() if c.base.kind != "program"}.values():
        work = once_read.parsed(base).work
        for c in once_read.combinations(work, "confirm", 1)[1]:
            if ACROSS <= c.case.get(MOVED, 0) < TURNED:
                plain = {k: v for k, v in c.case.items() if k != MOVED}
                for a in work.arguments:
                    if not a.type.pointer and spec.scalar_values(a, c.case) != spec.scalar_values(
                        a, plain
                    ):
                        value = float(spec.scalar_values(a, c.case)[0])
                        found.setdefault(f"{base.base.name}.{a.name}", []).append(round(value, 3))
    assert {
        "prelu.slope",
        "volume.k",
        "blend.alpha",
        "lattice.omega",
        "slerp.t",
    } <= found.keys()
    assert found["prelu.slope"] == [1.25]
    odd = {
        "envelope",
        "adamw",
        "batchstat",
        "cosine",
        "addnorm",
        "whiten",
        "bits",
        "asian",
    }
    assert not odd & {name.partition(".")[0] for name in found}


STEPS = """
extern "C" __global__ void scale(float* u, int n, int steps, float k) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    for (int t = 0; t < steps; ++t) u[i] = RESULT;
}
"""


@host
@pytest.mark.parametrize(("steps", "asks"), [(1, True), (40, False)])
def test_what_grows_with_each_step_is_not_asked(judge: Judge, steps: int, *, asks: bool) -> None:
    """One application is; forty of them make of a rounding error whatever they like."""
    arguments = [
        {"name": "u", "type": "float*", "shape": "n", "role": "inout", "init": "normal"},
        {"name": "n", "type": "int", "value": "n"},
        {"name": "steps", "type": "int", "value": str(steps)},
        {"name": "k", "type": "float", "value": "0.75"},
    ]
    work = {"arguments": arguments, "cases": [{"values": {"n": 700}}]}
    original = STEPS.replace("RESULT", "u[i] + k * u[i] - 0.875f * u[i]")
    assert len(_asked(original, work)) == 1
    clamped = STEPS.replace("RESULT", "u[i] + fminf(k, 1.f) * u[i] - 0.875f * u[i]")
    verdict = _verdict(judge, clamped, original, workload=work, effort="confirm")
    assert verdict["status"] == ("wrong result" if asks else "correct"), verdict["log"]


@host
def test_an_original_that_is_not_finite_beyond_one_is_not_asked(judge: Judge) -> None:
    """A root of what is then below zero."""
    original = SLOPE.replace("RESULT", "x[i] * sqrtf(LESS - slope * slope)")
    for less, status in (("ONE", "correct"), ("2.f", "wrong result")):
        text = original.replace("LESS", less)
        text = f"#define ONE 0.9999f\n{text}"
        clamped = text.replace("slope * slope", "fminf(slope, 1.f) * slope")
        verdict = _verdict(judge, clamped, text, workload=_with("0.25"), effort="confirm")
        assert verdict["status"] == status, verdict["log"]


# Sizes of nothing.

MEAN = """
extern "C" __global__ void scale(const float* x, float* y, int n, int many) {
    if (threadIdx.x || blockIdx.x) return;
    EARLY
    float s = 0.f;
    for (int i = 0; i < n && i < many; ++i) s += x[i];
    y[0] = s / many;
    y[1] = OTHER;
}
"""
WHOLE = MEAN.replace("OTHER", "many == 0 ? s / many : s / many + 1.f")
BESIDE = MEAN.replace("OTHER", "many == 0 ? 0.f : s")
MEAN_WORK: Json = {
    "arguments": [
        {"name": "x", "type": "const float*", "shape": "n"},
        {"name": "y", "type": "float*", "shape": "2", "role": "output"},
        {"name": "n", "type": "int", "value": "n"},
        {"name": "many", "type": "int", "value": "many"},
    ],
    "launch": {"grid": ["2"], "block": ["1"], "shared": "0", "tunable": True},
    "cases": [{"values": {"n": 500, "many": 300}}],
}
GRID = {"grid": ["min(2,many)"], "block": ["1"], "shared": "0", "tunable": True}


def _of_nothing(judge: Judge, original: str, early: str, launch: Json | None, **more: Any) -> Json:
    base, text = (original.replace("EARLY", one) for one in ("", early))
    work = {**MEAN_WORK, **more}
    asked_ = oracle.combinations(spec.parse(_job(base, base, workload=work)).work, "screen", 1)[1]
    assert any(c.case["many"] == 0 for c in asked_)
    kernel = {"name": "scale", "path": "", "source": text, "launch": launch}
    return _verdict(judge, text, base, workload=work, kernel=kernel)


@host
@pytest.mark.parametrize("effort", ["early", "no blocks"])
def test_the_mean_of_nothing_is_promised_to_nobody(judge: Judge, effort: str) -> None:
    """NaN in the original: what writes nothing, or launches no blocks, is as good."""
    early = "if (many == 0) return;" if effort == "early" else ""
    launch = GRID if effort == "no blocks" else None
    verdict = _of_nothing(judge, WHOLE, early, launch)
    assert verdict["status"] == "correct", verdict["log"]
    # The sum of nothing is a number.
    verdict = _of_nothing(judge, BESIDE, early, launch)
    assert verdict["status"] == ("crashed" if launch else "wrong result"), verdict["log"]


@host
def test_what_is_declared_as_zero_is_asked(judge: Judge) -> None:
    cases = [*MEAN_WORK["cases"], {"values": {"n": 500, "many": 0}}]
    base, text = (WHOLE.replace("EARLY", one) for one in ("", "if (many == 0) return;"))
    verdict = _verdict(judge, text, base, workload={**MEAN_WORK, "cases": cases})
    assert verdict["status"] == "wrong result", verdict["log"]


def test_only_nan_of_a_size_of_nothing_is_left_to_a_candidate() -> None:
    kind = parse("float*")
    budget = Budget(np.zeros(2111), 2.0**-24, 16.0, 1e-5, 1e-6)
    want = np.array([np.nan, 0, np.inf, 3], np.float32)

    def passes(got: list[float], answer: Answer) -> bool:
        return compare(np.array(got, np.float32).view(np.uint8), answer).passed

    plain = Answer("y", kind, want.view(np.uint8), (budget,))
    empty = dataclasses.replace(plain, empty=True)
    for odd in (7.0, np.inf, np.nan):
        assert passes([odd, 0, np.inf, 3], empty)
        assert passes([odd, 0, np.inf, 3], plain) == np.isnan(odd)
    for wrong in ([1.0, 9.0, np.inf, 3.0], [1.0, 0.0, 5.0, 3.0], [1.0, 0.0, np.inf, np.nan]):
        assert not passes(wrong, empty)
    assert not nothing_asked(empty)
    only = dataclasses.replace(empty, want=want[:1].view(np.uint8))
    assert nothing_asked(only)
    assert not nothing_asked(dataclasses.replace(only, empty=False))
    left = np.array([False, True, True, True])
    assert nothing_asked(dataclasses.replace(empty, untouched=left))
    assert not nothing_asked(dataclasses.replace(empty, untouched=~left))
    assert not nothing_asked(Answer("y", parse("int*"), want.view(np.uint8), (None,), empty=True))
