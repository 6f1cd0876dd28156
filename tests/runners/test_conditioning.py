"""Inputs on which the original itself is mostly rounding error: its errors are not the truth."""

from __future__ import annotations

import pytest

from runners.judge import Judge
from runners.promote import promoted
from tests.runners.host_gpu import COMPILER
from tests.runners.test_judge import _verdict

pytestmark = pytest.mark.skipif(COMPILER is None, reason="g++ is not installed")

# With all inputs equal nothing is left but the rounding error of the mean, 300 times enlarged.
NORMALIZE = """
extern "C" __global__ void scale(const float* x, float* y, int rows, int cols) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    const float* in = x + (size_t)r * cols;
    float m = 0.f, v = 0.f;
    MEAN
    m /= cols;
    for (int c = 0; c < cols; ++c) v += (in[c] - m) * (in[c] - m);
    float scale = 1.f / sqrtf(v / cols + EPSILON);
    for (int c = 0; c < cols; ++c) y[(size_t)r * cols + c] = (in[c] - m) * scale;
}
"""
IN_ORDER = "for (int c = 0; c < cols; ++c) m += in[c];"
IN_LANES = """
    float part[32] = {0};
    for (int c = 0; c < cols; ++c) part[c % 32] += in[c];
    for (int w = 16; w; w /= 2) for (int l = 0; l < w; ++l) part[l] += part[l + w];
    m = part[0];
"""
IN_PAIRS = """
    for (int from = 0; from < cols; from += 8192) {
        float part[8192] = {0};
        for (int c = from; c < cols && c < from + 8192; ++c) part[c - from] = in[c];
        for (int w = 4096; w; w /= 2) for (int l = 0; l < w; ++l) part[l] += part[l + w];
        m += part[0];
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
    "cases": [{"values": {"rows": 16, "cols": 768}}, {"values": {"rows": 3, "cols": 50}}],
}


def text(mean: str, epsilon: str = "1e-5f") -> str:
    return NORMALIZE.replace("MEAN", mean).replace("EPSILON", epsilon)


@pytest.mark.parametrize(
    ("mine", "theirs"),
    [(IN_LANES, IN_ORDER), (IN_LANES, IN_PAIRS), (IN_PAIRS, IN_LANES), (IN_PAIRS, IN_ORDER)],
)
def test_another_order_of_summation_is_right_where_all_inputs_are_equal(
    judge: Judge, mine: str, theirs: str
) -> None:
    """Whichever of the two happens to err more there."""
    assert promoted(text(theirs)) is not None
    verdict = _verdict(judge, text(mine), text(theirs), workload=WORK, effort="confirm")
    assert verdict["status"] == "correct", verdict["log"]
    assert any(check["what"] == "equal" for check in verdict["checks"])


def test_what_the_constant_was_there_for_is_still_missed(judge: Judge) -> None:
    """Without it a row of equal numbers is divided by next to nothing."""
    verdict = _verdict(
        judge, text(IN_LANES, "0.f"), text(IN_ORDER), workload=WORK, effort="confirm"
    )
    assert verdict["status"] == "wrong result"


# A product that leaves the floats where numbers are ten times as large, and its logarithm.
GROWN = """
extern "C" __global__ void scale(const float* x, float* y, int rows, int cols) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    const float* in = x + (size_t)r * cols;
    for (int c = 0; c < cols; ++c) {
        WAY
        for (int k = 0; k < 28; ++k) { STEP }
        y[(size_t)r * cols + c] = END;
    }
}
"""
OF_PRODUCTS = ("float p = 1.f;", "p *= 1.f + fabsf(in[c]);", "logf(p)")
OF_LOGARITHMS = ("float p = 0.f;", "p += logf(1.f + fabsf(in[c]));", "p")


def grown(way: tuple[str, str, str]) -> str:
    return GROWN.replace("WAY", way[0]).replace("STEP", way[1]).replace("END", way[2])


@pytest.mark.parametrize("mine", [OF_PRODUCTS, OF_LOGARITHMS])
def test_what_overflows_in_floats_and_not_in_doubles_may_do_either(
    judge: Judge, mine: tuple[str, str, str]
) -> None:
    """All of it does with the largest numbers, and a part with larger ones than declared."""
    theirs = grown(OF_PRODUCTS)
    assert promoted(theirs) is not None
    source = grown(mine) + "// a candidate\n"
    verdict = _verdict(judge, source, theirs, workload=WORK, effort="confirm")
    assert verdict["status"] == "correct", verdict["log"]
