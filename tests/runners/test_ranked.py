"""Which originals put floats in order and compare nothing that they work out."""

from __future__ import annotations

import pytest

from runners import ranked
from tests.redteam import once_read

MEDIAN = """
__global__ void f(const float* __restrict__ x, const float* w, float* y, int rows, int cols) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    const float* row = x + (size_t)r * cols;
    float sum = 0.f;
    int kept = 0;
    for (int i = 0; i < cols; ++i) {
        float v = __ldg(&row[i]);
        int rank = 0;
        for (int k = 0; k < cols; ++k) if (row[k] < v || (row[k] == v && k < i)) ++rank;
        if (rank > 0 && rank < cols - 1) { sum += v; ++kept; }
    }
    y[r] = kept > 0 ? sum / kept * w[r] : 0.f;
}
"""
RANKS = "row[k] < v || (row[k] == v && k < i)"


def test_elements_that_are_compared_with_each_other_are_put_in_order() -> None:
    """And those of one array only: of another one the least may be anything."""
    assert ranked.ranked(MEDIAN, "f", [0, 1]) == (0,)
    assert ranked.ranked(MEDIAN, "f", [1]) == ()
    assert ranked.ranked(MEDIAN, "g", [0]) == ranked.ranked("", "f", [0]) == ()
    assert ranked.ranked(MEDIAN.replace(RANKS, "row[k] < w[k]"), "f", [0, 1]) == ()
    assert ranked.ranked(MEDIAN.replace(RANKS, "k < i"), "f", [0]) == ()
    # With a constant as well, as marks that are none are below zero.
    assert ranked.ranked(MEDIAN.replace("rank > 0", "v >= 0.f && rank > 0"), "f", [0]) == (0,)


@pytest.mark.parametrize(
    ("what", "instead"),
    [
        # A sum that is compared, or a NaN that is left out, makes a number of a NaN.
        ("kept > 0 ?", "sum > 0.f ?"),
        ("sum / kept * w[r]", "fmaxf(sum, 0.f)"),
        ("sum / kept * w[r]", "__saturatef(sum)"),
        ("y[r] = kept", "if (isnan(sum)) return; y[r] = kept"),
        (RANKS, "row[k] - v < 0.f"),
        (RANKS, "row[k] < v && sum < row[k]"),
        ("y[r] = kept", "kept = (int)sum; y[r] = kept"),
        ("y[r] = kept", "kept = sum; y[r] = kept"),
    ],
)
def test_where_anything_else_is_compared_nothing_is_found(what: str, instead: str) -> None:
    assert what in MEDIAN
    assert ranked.ranked(MEDIAN.replace(what, instead), "f", [0]) == ()


def test_few_originals_do() -> None:
    assert once_read.parsed("gymnast/base").work.ranked == ("mark",)
    for name in ("softmax/base", "gemv/base", "argmax/base", "oracle/base"):
        assert once_read.parsed(name).work.ranked == ()
