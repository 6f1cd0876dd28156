"""Who leaves products with zero out is right for numbers; that infinities are lost is said."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from runners import limit, spec, zero_products, zeros_beside
from runners.contents import Combination, Contents
from runners.judge import Judge
from runners.spec import Json
from tests.runners.host_gpu import COMPILER
from tests.runners.test_inputs import _pointer, _work
from tests.runners.test_judge import _job, _verdict

SUMS = """
extern "C" __global__ void scale(const float* x, const float* w, float* y, int rows, int cols) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    float sum = 0.f;
    for (int c = 0; c < cols; ++c) {
        float u = x[(size_t)r * cols + c], v = w[c];
        if (LEFT) continue;
        sum += u * v;
    }
    y[r] = sum;
}
"""
WORK: Json = {
    "arguments": [
        {"name": "x", "type": "const float*", "shape": "rows*cols"},
        {"name": "w", "type": "const float*", "shape": "cols"},
        {"name": "y", "type": "float*", "shape": "rows", "role": "output"},
        {"name": "rows", "type": "int", "value": "rows"},
        {"name": "cols", "type": "int", "value": "cols"},
    ],
    "launch": {"grid": ["(rows+63)/64"], "block": ["64"], "shared": "0", "tunable": False},
    "cases": [{"values": {"rows": 60, "cols": 35}}, {"values": {"rows": 40, "cols": 66}}],
    "tolerance": {"rtol": 1e-4, "atol": 1e-4},
}
PLAIN = Combination({"rows": 60.0, "cols": 35.0}, "declared", 1)


def _text(left: str) -> str:
    return SUMS.replace("LEFT", left)


def test_one_array_has_few_infinities_and_all_others_a_third_of_zeros() -> None:
    pointers = [_pointer() | {"name": name} for name in "xy"]
    scales = _pointer("const half*", "uniform") | {"name": "s"}
    counts = _pointer("const int*", "randint:0:9") | {"name": "k"}
    work = _work(*pointers, scales, counts, n=6400)
    plain = Contents(work).of(Combination({"n": 6400.0}, "declared", 1))
    made = Contents(work).of(Combination({"n": 6400.0}, zeros_beside.named("x"), 1))
    assert 60 < np.isposinf(made["x"].view("f4")).sum() < 140
    assert not (made["x"].view("f4") == 0).any()
    for name, dtype in (("y", "f4"), ("s", "f2")):
        data = made[name].view(dtype)
        assert 0.3 < (data == 0).mean() < 0.37
        assert np.array_equal(data[data != 0], plain[name].view(dtype)[data != 0])
    assert np.array_equal(made["k"], plain["k"])


def test_beside_one_array_of_nothing_but_zeros_others_are_as_they_were() -> None:
    work = _work(*(_pointer() | {"name": name} for name in "xyz"), n=6400.0)
    plain = Contents(work).of(Combination({"n": 6400.0}, "declared", 1))
    family = zeros_beside.named("x", "z")
    made = Contents(work).of(Combination({"n": 6400.0}, family, 1))
    few = Contents(work).of(Combination({"n": 6400.0}, zeros_beside.named("x"), 1))
    assert np.array_equal(made["x"], few["x"])
    assert np.array_equal(made["y"], plain["y"])
    assert not made["z"].any()
    both = Contents(work).of(Combination({"n": 6400.0}, zeros_beside.named("x", "y", "z"), 1))
    assert np.array_equal(both["x"], few["x"])
    assert not both["y"].any()
    assert not both["z"].any()


def test_each_array_has_its_turn_and_one_alone_has_none() -> None:
    job = spec.parse(_job(_text("cols < 0"), _text("false"), workload=WORK, effort="confirm"))
    every = [[one.name for one in line] for line in zero_products.others(job, PLAIN)]
    assert every == [["x", "x"], ["w", "w"]]
    blank = [
        [zeros_beside.blank(one.combination.family) for one in line]
        for line in zero_products.others(job, PLAIN)
    ]
    assert blank == [["", "w"], ["", "x"]]
    only = replace(job, work=replace(job.work, arguments=job.work.arguments[1:]))
    assert not zero_products.others(only, PLAIN)


def test_the_longest_others_are_blank_and_none_beside_whole_results() -> None:
    """Which whole number a NaN leads to is not defined where nearly all results are one.

    All that are shorter than the two longest are blank together.
    """
    shapes = {"b": "cols", "m": "rows*cols", "s": "rows", "one": "1"}
    inputs = [
        {"name": name, "type": "const float*", "shape": shape} for name, shape in shapes.items()
    ]
    each = [["m", "s", "one"], ["s", "b", "one"], ["m", "b", "one"], ["m", "s", "b"]]
    for kind, blank in (("float*", each), ("int*", [])):
        output = {"name": "y", "type": kind, "shape": "rows", "role": "output"}
        work = {**WORK, "arguments": [*inputs, output, *WORK["arguments"][3:]]}
        job = spec.parse(_job(_text("false"), _text("false"), workload=work, effort="confirm"))
        lines = zero_products.others(job, PLAIN)
        found = [[zeros_beside.blank(one.combination.family) for one in line] for line in lines]
        assert found == [["", *more] for more in blank or [[]] * 4]


@pytest.mark.skipif(COMPILER is None, reason="g++ is not installed")
@pytest.mark.parametrize(
    ("left", "said"),
    [("u == 0.f", ["w"]), ("u == 0.f || v == 0.f", ["x", "w"]), ("cols < 0", [])],
)
def test_who_leaves_zeros_out_says_so(judge: Judge, left: str, said: list[str]) -> None:
    """One note for each array whose infinities are lost, and no refusal."""
    verdict = _verdict(judge, _text(left), _text("false"), workload=WORK, effort="confirm")
    assert verdict["status"] == "correct", verdict["log"]
    limits, _ = limit.apart(verdict["measurement"]["notes"])
    found = [one for one in limits if one.startswith(zero_products.LEAVES)]
    assert len(found) == len(said)
    for one, name in zip(found, said, strict=True):
        assert f"with infinities in {name} beside zeros it is not: y[" in one
        assert "want nan" in one


@pytest.mark.skipif(COMPILER is None, reason="g++ is not installed")
def test_who_makes_nan_of_what_is_left_out_says_so(judge: Judge) -> None:
    verdict = _verdict(judge, _text("cols < 0"), _text("u == 0.f"), workload=WORK, effort="confirm")
    assert verdict["status"] == "correct", verdict["log"]
    limits, _ = limit.apart(verdict["measurement"]["notes"])
    found = [one for one in limits if one.startswith(zero_products.LEAVES)]
    assert len(found) == 1
    assert "got nan" in found[0]


# Whoever passes over slabs of zeros, and whoever adds up in another order.
SLABS = """
extern "C" __global__ void scale(const float* x, const float* w, float* y, int rows, int cols) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    float sum = 0.f;
    for (int from = 0; from < cols; from += 32) {
        float slab = 0.f;
        bool any = false;
        for (int c = from; c < from + 32; ++c) {
            float u = c < cols ? x[(size_t)r * cols + c] : 0.f, v = c < cols ? w[c] : 0.f;
            any |= u != 0.f;
            slab += v * u;
        }
        if (any || ALL) sum += slab;
    }
    y[r] = sum;
}
"""


@pytest.mark.skipif(COMPILER is None, reason="g++ is not installed")
@pytest.mark.parametrize(("every", "said"), [("false", True), ("true", False)])
def test_who_leaves_out_slabs_of_zeros_says_so(judge: Judge, every: str, said: bool) -> None:
    """None of them is there by chance, with a third of all elements zeros."""
    candidate = SLABS.replace("ALL", every)
    verdict = _verdict(judge, candidate, _text("false"), workload=WORK, effort="confirm")
    assert verdict["status"] == "correct", verdict["log"]
    limits, _ = limit.apart(verdict["measurement"]["notes"])
    found = [one for one in limits if one.startswith(zero_products.LEAVES)]
    assert len(found) == said
    for one in found:
        assert "with infinities in w beside zeros in all of x it is not: y[" in one
        assert "want nan" in one


# Rows in tiles of 32, scaled by a gain each, and moved by a shift and a bias; whoever passes over
# tiles whose gains are all zero, and whoever does not.
GAINS = """
extern "C" __global__ void scale(const float* x, const float* w, const float* shift,
                                 const float* gain, const float* bias, float* y,
                                 int rows, int cols) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    bool live = EVERY;
    for (int i = r / 32 * 32; i < r / 32 * 32 + 32 && i < rows; ++i) live |= gain[i] != 0.f;
    float sum = 0.f;
    for (int c = 0; live && c < cols; ++c) sum += x[(size_t)r * cols + c] * w[c];
    y[r] = gain[r] * sum + shift[r] + bias[0];
}
"""


@pytest.mark.skipif(COMPILER is None, reason="g++ is not installed")
@pytest.mark.parametrize(("every", "said"), [("false", ["x", "w"]), ("true", [])])
def test_who_leaves_out_tiles_that_a_short_factor_makes_zero_says_so(
    judge: Judge, every: str, said: list[str]
) -> None:
    """Where a third of gains are zeros no tile has none else, and two arrays are longer."""
    shapes = {"shift": "rows", "gain": "rows", "bias": "1"}
    more = [
        {"name": name, "type": "const float*", "shape": shape} for name, shape in shapes.items()
    ]
    arguments = [*WORK["arguments"][:2], *more, *WORK["arguments"][2:]]
    cases = [{"values": {"rows": 64, "cols": 66}}, {"values": {"rows": 96, "cols": 131}}]
    verdict = _verdict(
        judge,
        GAINS.replace("EVERY", every),
        GAINS.replace("EVERY", "true"),
        workload={**WORK, "arguments": arguments, "cases": cases},
        effort="confirm",
    )
    assert verdict["status"] == "correct", verdict["log"]
    limits, _ = limit.apart(verdict["measurement"]["notes"])
    found = [one for one in limits if one.startswith(zero_products.LEAVES)]
    assert len(found) == len(said)
    for one, name in zip(found, said, strict=True):
        assert f"with infinities in {name} beside zeros in all of gain and bias it is not" in one
