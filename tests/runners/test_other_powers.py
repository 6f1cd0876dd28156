"""What is right for floats of ordinary size alone is accepted, and that is said."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from runners import limit, other_powers, other_values, small_floats, spec
from runners.contents import Combination, Contents
from runners.judge import Judge
from tests.redteam import once_read
from tests.runners.host_gpu import COMPILER
from tests.runners.test_inputs import _pointer, _work
from tests.runners.test_judge import _job, _verdict

Floats = npt.NDArray[Any]
NORM = """
extern "C" __global__ void scale(const float* x, float* y, int rows, int cols) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    const float* in = x + (size_t)r * cols;
    TYPE sum = 0;
    for (int c = 0; c < cols; ++c) sum += (TYPE)in[c] * in[c];
    float norm = (float)sqrt(sum);
    for (int c = 0; c < cols; ++c) y[(size_t)r * cols + c] = norm > 0 ? in[c] / norm : 0.f;
}
"""
WORK = {
    "arguments": [
        {"name": "x", "type": "const float*", "shape": "rows*cols"},
        {"name": "y", "type": "float*", "shape": "rows*cols", "role": "output"},
        {"name": "rows", "type": "int", "value": "rows"},
        {"name": "cols", "type": "int", "value": "cols"},
    ],
    "launch": {"grid": ["(rows+63)/64"], "block": ["64"], "shared": "0", "tunable": False},
    "cases": [{"values": {"rows": 16, "cols": 68}}, {"values": {"rows": 3, "cols": 50}}],
}
PLAIN = Combination({"rows": 16.0, "cols": 68.0}, "declared", 1)


def _texts(mine: str, theirs: str) -> tuple[str, str]:
    return NORM.replace("TYPE", mine) + "// another\n", NORM.replace("TYPE", theirs)


SHARES = """
extern "C" __global__ void scale(const float* x, float* y, int rows, int cols) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    const float* in = x + (size_t)r * cols;
    float sum = 0;
    for (int c = 0; c < cols; ++c) sum += fabsf(in[c]);
    for (int c = 0; c < cols; ++c) y[(size_t)r * cols + c] = sum > 0 ? QUOTIENT : 0.f;
}
"""


@pytest.mark.parametrize(("theirs", "powers"), [("double", [80, -66]), ("float", [140])])
def test_originals_with_doubles_are_asked_about_squares_and_others_about_sums(
    theirs: str, powers: list[int]
) -> None:
    lines = len(powers)
    job = spec.parse(_job(*_texts("float", theirs), workload=WORK, effort="confirm"))
    every = [one for line in other_powers.others(job, PLAIN) for one in line]
    assert [one.powers for one in every] == powers
    found = other_powers.others(job, PLAIN)
    assert len(found) == lines
    assert len({one.combination.family for line in found for one in line}) == lines


CLIPPED = """
extern "C" __global__ void scale(const float* g, float* w, float* norm, int n) {
    TYPE sum = 0;
    for (int i = 0; i < n; ++i) sum += (TYPE)g[i] * g[i];
    float f = sum > 1 ? FACTOR : 1.f;
    for (int i = 0; i < n; ++i) w[i] -= f * g[i];
    norm[0] = (float)sqrt((double)sum);
}
"""
CLIPPING = {
    "arguments": [
        {"name": "g", "type": "const float*", "shape": "n"},
        {"name": "w", "type": "float*", "shape": "n", "role": "inout"},
        {"name": "norm", "type": "float*", "shape": "1", "role": "output"},
        {"name": "n", "type": "int", "value": "n"},
    ],
    "launch": {"grid": ["1"], "block": ["1"], "shared": "0", "tunable": False},
    "cases": [{"values": {"n": 700}}, {"values": {"n": 50}}],
}


def test_of_several_arrays_each_is_larger_alone_and_nothing_else_is_changed() -> None:
    theirs = CLIPPED.replace("TYPE", "double").replace("FACTOR", "(float)(1 / sqrt(sum))")
    job = spec.parse(_job(theirs + "//", theirs, workload=CLIPPING, effort="confirm"))
    plain = Combination({"n": 700.0}, "declared", 1)
    every = [one for line in other_powers.others(job, plain) for one in line]
    assert [one.name for one in every] == ["floats", "floats", "g", "w"]
    declared, larger = (Contents(job.work).of(one) for one in (plain, every[2].combination))
    assert np.array_equal(larger["w"], declared["w"])
    assert np.array_equal(larger["g"].view("f4"), np.ldexp(declared["g"].view("f4"), 66))
    # Of one that works in floats nobody asks it: what overflows there may do so elsewhere.
    floats = CLIPPED.replace("TYPE", "float").replace("FACTOR", "1 / sqrtf(sum)")
    floats = floats.replace("sqrt((double)sum)", "sqrtf(sum)")
    job = spec.parse(_job(floats + "//", floats, workload=CLIPPING, effort="confirm"))
    assert not [o for line in other_powers.others(job, plain) for o in line if o.name != "floats"]


@pytest.mark.skipif(COMPILER is None, reason="g++ is not installed")
@pytest.mark.parametrize(
    ("mine", "said"),
    [("(float)(1 / sqrt((double)(float)sum))", 1), ("(float)(1.0 / sqrt((double)sum))", 0)],
)
def test_who_loses_a_factor_beside_ordinary_numbers_says_so(
    judge: Judge, mine: str, said: int
) -> None:
    texts = [
        CLIPPED.replace("TYPE", "double").replace("FACTOR", one)
        for one in (mine, "(float)(1 / sqrt(sum))")
    ]
    verdict = _verdict(judge, *texts, workload=CLIPPING, effort="confirm")
    assert verdict["status"] == "correct", verdict["log"]
    limits, _ = limit.apart(verdict["measurement"]["notes"])
    found = [one for one in limits if "size of g" in one]
    assert len(found) == said
    assert all("with numbers 7e+19 times as large it is not: " in one for one in found)


def test_squares_are_no_floats_there_and_numbers_are() -> None:
    work = _work(_pointer(), n=64)
    for powers, square in zip(small_floats.OF_DOUBLES, (0.0, np.inf), strict=True):
        made = Contents(work).of(Combination({"n": 64.0}, small_floats.named(powers), 1))["x"]
        with np.errstate(all="ignore"):
            assert (made.view("f4") ** 2 == square).mean() > 0.75
        assert np.isfinite(made.view("f4")).all()


def test_neither_such_numbers_nor_their_sums_are_normal() -> None:
    data = _small(_pointer())
    assert (data != 0).mean() > 0.95
    assert np.abs(data).sum() < np.finfo("f4").smallest_normal


def _small(pointer: dict[str, Any]) -> npt.NDArray[np.float32]:
    (powers,) = small_floats.OF_FLOATS
    made = Contents(_work(pointer, n=64)).of(
        Combination({"n": 64.0}, small_floats.named(powers), 1)
    )
    return made["x"].view("f4")


def test_halves_doubles_and_fast_maths_are_not_asked_about_them() -> None:
    job = spec.parse(_job(*_texts("float", "float"), workload=WORK, effort="confirm"))
    assert other_powers.others(job, PLAIN)
    assert not other_powers.others(replace(job, work=replace(job.work, loose=True)), PLAIN)
    for kind in ("const half*", "const double*", "const int*"):
        work = _work(_pointer(kind), n=64)
        assert not other_powers.others(replace(job, work=work), PLAIN)


@pytest.mark.skipif(COMPILER is None, reason="g++ is not installed")
@pytest.mark.parametrize(("mine", "said"), [("in[c] * (1.f / sum)", 1), ("in[c] / (1 * sum)", 0)])
def test_who_multiplies_by_a_reciprocal_says_so(judge: Judge, mine: str, said: int) -> None:
    texts = [SHARES.replace("QUOTIENT", one) for one in (mine, "in[c] / sum")]
    verdict = _verdict(judge, *texts, workload=WORK, effort="confirm")
    assert verdict["status"] == "correct", verdict["log"]
    limits, _ = limit.apart(verdict["measurement"]["notes"])
    found = [one for one in limits if "size of floats" in one]
    assert len(found) == said
    assert all("with numbers 1e+42 times as small it is not: y[" in one for one in found)


@pytest.mark.skipif(COMPILER is None, reason="g++ is not installed")
@pytest.mark.parametrize(("mine", "said"), [("float", 2), ("double", 0)])
def test_who_squares_in_floats_says_so(judge: Judge, mine: str, said: int) -> None:
    verdict = _verdict(judge, *_texts(mine, "double"), workload=WORK, effort="confirm")
    assert verdict["status"] == "correct", verdict["log"]
    limits, _ = limit.apart(verdict["measurement"]["notes"])
    found = [one for one in limits if "size of floats" in one]
    assert len(found) == said
    if said:
        assert "with numbers 1e+24 times as small it is not: y[" in found[0]
        assert "with numbers 7e+19 times as large it is not: y[" in found[1]


LAYERS = """
extern "C" __global__ void scale(const float* x, const float* b, float* y, int n, int layers) {
    for (int i = 0; i < n; ++i) y[i] = x[i];
    for (int k = 0; k < layers; ++k) {
        double sum = 0;
        for (int i = 0; i < n; ++i) sum += (double)y[i] * y[i];
        float f = sum > 0 ? (float)(1 / sqrt(sum)) : 0.f;
        for (int i = 0; i < n; ++i) y[i] = f * y[i] + b[i];
    }
}
"""
LAYERED = {
    "arguments": [
        {"name": "x", "type": "const float*", "shape": "n"},
        {"name": "b", "type": "const float*", "shape": "n"},
        {"name": "y", "type": "float*", "shape": "n", "role": "output"},
        {"name": "n", "type": "int", "value": "n"},
        {"name": "layers", "type": "int", "value": "layers"},
    ],
    "launch": {"grid": ["1"], "block": ["1"], "shared": "0", "tunable": False},
    "cases": [{"values": {"n": 300, "layers": 6}}],
}


def test_what_counts_rounds_is_tried_at_one_behind_what_is_declared() -> None:
    job = spec.parse(_job(LAYERS + "//", LAYERS, workload=LAYERED, effort="confirm"))
    plain = Combination({"n": 300.0, "layers": 6.0}, "declared", 1)
    every = other_powers.others(job, plain)
    assert [[one.name for one in line] for line in every] == [
        [name] * 2 for name in ("floats", "floats", "x", "b")
    ]
    for declared, once in every:
        assert declared.combination.case == plain.case
        assert once.combination.case == {"n": 300.0, "layers": 1.0}
        assert once.combination.family == declared.combination.family
        assert once.shown == f"{declared.shown} at layers=1"
    # One round is one round already.
    single = replace(plain, case={"n": 300.0, "layers": 1.0})
    assert [len(line) for line in other_powers.others(job, single)] == [1] * 4


def _layers(x: Floats, bias: Floats, layers: int, kind: type[np.floating]) -> Floats:
    """Return what layers of `nacre` of the red team make, with squares of one kind or another."""
    y = x
    for _ in range(layers):
        with np.errstate(over="ignore", under="ignore"):
            total = (y.astype(kind) ** 2).astype(np.float64).sum()
            factor = np.float32(6.0 / np.sqrt(total) if total > 0 else 0.0)
            y = factor * y + bias
    return y


def test_what_later_rounds_make_good_shows_behind_the_first() -> None:
    """Of `nacre/float_square` of the red team, with all floats larger or one array's."""
    work = once_read.parsed("nacre/float_square")
    plain = Combination({"n": 1003.0, "layers": 12.0}, "declared", 1)
    shown = []
    for line in other_powers.others(work, plain):
        for one in (each.combination for each in line):
            made = Contents(work.work).of(one)
            x, bias = made["x"].view("f4"), made["bias"].view("f4")
            mine, want = (
                _layers(x, bias, int(one.case["layers"]), kind) for kind in (np.float32, np.float64)
            )
            off = np.abs(mine.astype(np.float64) - want)
            if (off > 1e-5 + 1e-4 * np.abs(want)).any():
                shown.append(f"{one.family} {one.case['layers']:.0f}")
    # The second one of a line is run where the first one shows nothing.
    assert shown == ["times 2^-80 12", "times 2^-80 1", "times 2^66 in x 1"]
    (_, once) = other_powers.others(work, plain)[2]
    said = "size of x; with numbers 7e+19 times as large at layers=1 it is not"
    assert once.said("it is not") == f"limit: {other_values.RIGHT} {said}"
