"""Several infinities in a row: who pads with the largest float has it before them."""

from __future__ import annotations

import numpy as np
import pytest

from runners import crowded, spec
from runners.contents import Combination, Contents
from runners.families import CROWDED_INFINITIES, STRESS
from runners.judge import Judge
from runners.spec import Json
from tests.redteam import once_read
from tests.runners.host_gpu import COMPILER
from tests.runners.test_judge import _job, _verdict

host = pytest.mark.skipif(COMPILER is None, reason="g++ is not installed")

# The mean of a row's marks, those below zero and the outermost ones left out.
RANKS = """
extern "C" __global__ void scale(
    const float* mark, const float* by, float* mean, int* kept, int rows, int cols) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    const float* m = mark + (size_t)r * cols;
    int present = 0, count = 0;
    for (int j = 0; j < cols; ++j) if (m[j] >= 0.f) ++present;
    float sum = 0.f;
    for (int j = 0; j < cols; ++j) {
        float s = m[j];
        if (!(s >= 0.f)) continue;
        int rank = 0;
        for (int k = 0; k < cols; ++k) {
            float t = m[k];
            if (t >= 0.f && (t < s || (t == s && k < j))) ++rank;
        }
        if (rank >= 1 && rank < present - 1) { sum += s; ++count; }
    }
    mean[r] = count > 0 ? sum / count * by[r] : 0.f;
    kept[r] = count;
}
"""
# The same by sorting, the absent as a number or an infinity; `ADDED` makes a sum of those kept.
SORTS = """
extern "C" __global__ void scale(
    const float* mark, const float* by, float* mean, int* kept, int rows, int cols) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    float v[1024];
    int present = 0;
    for (int j = 0; j < cols; ++j) {
        bool here = mark[(size_t)r * cols + j] >= 0.f;
        present += here;
        v[j] = here ? mark[(size_t)r * cols + j] : PAD;
    }
    for (int i = 1; i < cols; ++i)
        for (int j = i; j > 0 && v[j] < v[j - 1]; --j) {
            float t = v[j]; v[j] = v[j - 1]; v[j - 1] = t;
        }
    float sum = 0.f, rest = 0.f;
    for (int j = 1; j < present - 1; ++j) { ADDED }
    int count = present > 2 ? present - 2 : 0;
    mean[r] = count > 0 ? sum / count * by[r] : 0.f;
    kept[r] = count;
}
"""
PLAIN = "sum += v[j];"
CARRIED = "float t = v[j] - rest, s = sum + t; rest = (s - sum) - t; sum = s;"
RUNNING = "sum += (v[j] - sum) / j; if (j == present - 2) sum *= j;"
LARGEST, INFINITE = "3.4028235e38f", "__builtin_inff()"
JURY: Json = {
    "arguments": [
        {"name": "mark", "type": "const float*", "shape": "rows*cols"},
        {"name": "by", "type": "const float*", "shape": "rows", "init": "uniform"},
        {"name": "mean", "type": "float*", "shape": "rows", "role": "output"},
        {"name": "kept", "type": "int*", "shape": "rows", "role": "output"},
        {"name": "rows", "type": "int", "value": "rows"},
        {"name": "cols", "type": "int", "value": "cols"},
    ],
    "launch": {"grid": ["(rows+63)/64"], "block": ["64"], "shared": "0", "tunable": False},
    "cases": [{"values": {"rows": 61, "cols": 4}}],
    "tolerance": {"rtol": 1e-4, "atol": 1e-5},
}
CASE = {"rows": 61.0, "cols": 4.0}


def _sorts(pad: str, added: str = PLAIN) -> str:
    return SORTS.replace("PAD", pad).replace("ADDED", added)


def _work(text: str = RANKS) -> spec.Work:
    return spec.parse(_job(text + "// another\n", text, workload=JURY, effort="confirm")).work


def test_rows_have_each_count_by_turns_and_seeds_the_sign() -> None:
    contents = Contents(_work())
    plain = contents.of(Combination(CASE, "declared", 1))
    for seed, infinity in ((2, np.inf), (3, -np.inf)):
        made = contents.of(Combination(CASE, CROWDED_INFINITIES, seed))
        rows = made["mark"].view("f4").reshape(61, 4)
        assert [int(np.isinf(row).sum()) for row in rows[:6]] == [1, 2, 3, 1, 2, 3]
        assert {*rows[np.isinf(rows)].tolist()} == {infinity}
        finite = np.isfinite(rows)
        declared = contents.of(Combination(CASE, "declared", seed))["mark"].view("f4")
        assert np.array_equal(rows[finite], declared.reshape(61, 4)[finite])
    made = contents.of(Combination(CASE, CROWDED_INFINITIES, 1))
    assert np.array_equal(made["by"], plain["by"])
    assert CROWDED_INFINITIES in STRESS


def test_few_are_asked_once_with_either_sign() -> None:
    found = {}
    for name in ("gymnast/base", "gavel/base", "softmax/base", "gemv/base", "argmax/base"):
        work = once_read.parsed(name).work
        every = once_read.combinations(work, "confirm", 1)[1]
        seeds = [one.seed for one in every if one.family == CROWDED_INFINITIES]
        found[name] = [seed % crowded.TURNS for seed in seeds]
        screened = once_read.combinations(work, "screen", 1)[1]
        assert not any(one.family == CROWDED_INFINITIES for one in screened)
    assert found == {**{one: [] for one in found}, "gymnast/base": [1, 0], "gavel/base": [1, 0]}


@host
@pytest.mark.parametrize(
    ("mine", "right"),
    [
        (_sorts(LARGEST), False),
        # What makes NaN of an infinity is right for numbers.
        (_sorts(INFINITE, CARRIED), True),
        (_sorts(INFINITE, RUNNING), True),
    ],
)
def test_a_number_in_place_of_an_infinity_is_refused(judge: Judge, mine: str, right: bool) -> None:
    verdict = _verdict(judge, mine, RANKS, workload=JURY, effort="confirm")
    assert (verdict["status"] == "correct") == right, verdict["log"]
    assert right or f", {CROWDED_INFINITIES} inputs" in verdict["log"], verdict["log"]
