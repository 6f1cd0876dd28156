"""Who pads with the last element of a row loses an infinity there, and nowhere else."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from runners import asked, infinite_ends, one_infinity, spec
from runners.contents import Combination, Contents
from runners.judge import Judge
from runners.spec import Json
from tests.redteam import once_read
from tests.runners.host_gpu import COMPILER
from tests.runners.test_inputs import _pointer, _work
from tests.runners.test_judge import _job, _verdict

# What is behind the end of a row is read somewhere else, or not at all.
PRODUCT = """
// for mma_sync, in steps of eight
extern "C" __global__ void scale(const float* a, const float* b, float* c, int m, int n, int k) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= m * n) return;
    const float* x = a + (size_t)(at / n) * k;
    const float* y = b + (size_t)(at % n) * k;
    float sum = 0.f, rest = 0.f;
    for (int q = 0; q < (k + 7) / 8 * 8; ++q) {
        float u = q < k ? x[q] : 0.f, v = PADDED;
        SUM
    }
    c[at] = sum;
}
"""
ZEROS, REPEATED = "q < k ? y[q] : 0.f", "y[q < k ? q : k - 1]"
PLAIN = "sum += u * v;"
KAHAN = "float t = u * v - rest, s = sum + t; rest = (s - sum) - t; sum = s;"
PARTS = """
        float t = v * 4097.f, h = t - (t - v);
        sum += u * h + u * (v - h);
"""
WORK: Json = {
    "arguments": [
        {"name": "a", "type": "const float*", "shape": "m*k"},
        {"name": "b", "type": "const float*", "shape": "n*k"},
        {"name": "c", "type": "float*", "shape": "m*n", "role": "output"},
        {"name": "m", "type": "int", "value": "m"},
        {"name": "n", "type": "int", "value": "n"},
        {"name": "k", "type": "int", "value": "k"},
    ],
    "launch": {"grid": ["(m*n+63)/64"], "block": ["64"], "shared": "0", "tunable": False},
    "cases": [{"values": {"m": 5, "n": 9, "k": 29}}],
    "tolerance": {"rtol": 1e-4, "atol": 1e-4},
}
DECLARED = Combination({"m": 5.0, "n": 9.0, "k": 29.0}, "declared", 1)


def _text(padded: str = ZEROS, total: str = PLAIN) -> str:
    return PRODUCT.replace("PADDED", padded).replace("SUM", total)


@pytest.mark.parametrize(("rows", "cols"), [(9, 70), (1, 31), (5, 2)])
def test_one_array_of_all_has_some_in_one_row_of_four(rows: int, cols: int) -> None:
    names = ({**_pointer("const half*", shape="rows*cols"), "name": name} for name in "ab")
    work = _work(*names, rows=rows, cols=cols)
    plain = Contents(work).of(Combination(work.cases[0].values, "declared", 1))
    for place, column in ((one_infinity.WITHIN, cols // 2), (one_infinity.LAST, cols - 1)):
        for number, name in enumerate("ab"):
            made = Contents(work).of(Combination(work.cases[0].values, f"{place} {number}", 1))
            data = made[name].view("f2").reshape(rows, cols)
            where = np.argwhere(np.isposinf(data)).tolist()
            assert where == [[row, column] for row in range((rows - 1) % 4, rows, 4)]
            other = "ba"[number]
            assert np.array_equal(made[other], plain[other])


def test_each_array_is_asked_about_where_matrices_are_multiplied() -> None:
    job = spec.parse(_job(_text(), _text(REPEATED), workload=WORK, effort="confirm"))
    found = infinite_ends.pairs(job, DECLARED)
    kinds = (one_infinity.WITHIN, one_infinity.LAST)
    assert [[one.family for one in pair] for pair in found] == [
        [f"{kind} {number}" for kind in kinds] for number in range(2)
    ]
    plain = [
        replace(one, source=one.source.replace("mma_", "")) for one in (job.kernel, job.baseline)
    ]
    assert not infinite_ends.pairs(replace(job, kernel=plain[0], baseline=plain[1]), DECLARED)
    assert infinite_ends.pairs(replace(job, baseline=plain[1]), DECLARED)
    exponential = replace(job, work=replace(job.work, calls=(asked.EXPONENTIAL,)))
    assert not infinite_ends.pairs(exponential, DECLARED)
    only = replace(job, work=replace(job.work, arguments=job.work.arguments[1:]))
    assert not infinite_ends.pairs(only, DECLARED)
    clamped = once_read.parsed("marquetry/clamped")
    assert len(infinite_ends.pairs(clamped, DECLARED)) == 3


@pytest.mark.skipif(COMPILER is None, reason="g++ is not installed")
@pytest.mark.parametrize(
    ("padded", "total", "right"),
    [(REPEATED, PLAIN, False), (ZEROS, KAHAN, True), (ZEROS, PARTS, True), (ZEROS, PLAIN, True)],
)
def test_who_repeats_the_last_element_is_refused_and_who_has_nan_anywhere_is_not(
    judge: Judge, padded: str, total: str, *, right: bool
) -> None:
    mine = _text(padded, total) + "// another\n"
    verdict = _verdict(judge, mine, _text(), workload=WORK, effort="confirm")
    assert (verdict["status"] == "correct") == right, verdict["log"]
    seen = {check["what"] for check in verdict["checks"] if check["layer"] == infinite_ends.LAYER}
    if not right:
        assert "infinities at the ends of rows of b" in verdict["log"]
    elif total == PLAIN:
        assert seen == {f"infinities at the ends of rows of {name}" for name in "ab"}
