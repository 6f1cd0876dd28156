"""What few originals are asked: NaN where they ask for it, factors near one, numbers all alike."""

from __future__ import annotations

import dataclasses
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from runners import asked, capacities, families, inputs, oracle, spec, variation
from runners.contents import Combination
from runners.judge import Judge
from runners.spec import ALL, LASTING, MOVED, NONE, SOME, CaseSpec, Json, Work
from tests.runners.host_gpu import COMPILER
from tests.runners.test_inputs import _one, _pointer, _work
from tests.runners.test_judge import _verdict

host = pytest.mark.skipif(COMPILER is None, reason="g++ is not installed")


def _more(work: Work, checks: str = "confirm", seed: int = 1) -> list[Combination]:
    return oracle.combinations(work, checks, seed)[1]


# What a text asks of floats.

NANMEAN = """
extern "C" __global__ void scale(const float* x, float* mean, int rows, int cols) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    const float* in = x + (size_t)r * cols;
    float s = 0.f;
    int many = 0;
    BODY
    mean[r] = RESULT;
}
"""
NANMEAN_WORK: Json = {
    "arguments": [
        {"name": "x", "type": "const float*", "shape": "rows*cols"},
        {"name": "mean", "type": "float*", "shape": "rows", "role": "output"},
        {"name": "rows", "type": "int", "value": "rows"},
        {"name": "cols", "type": "int", "value": "cols"},
    ],
    "launch": {"grid": ["(rows+63)/64"], "block": ["64"], "shared": "0", "tunable": False},
    "cases": [{"values": {"rows": 300, "cols": 90}}, {"values": {"rows": 40, "cols": 33}}],
}


def _nanmean(skip: str, result: str = "s / many", **more: str) -> str:
    loop = f"for (int c = 0; c < cols; ++c) {{ float v = in[c]; {skip} s += v; ++many; }}"
    return NANMEAN.replace("BODY", more.get("body", loop)).replace("RESULT", result)


IN_LANES = """
    float part[32] = {0};
    for (int c = 0; c < cols; ++c) if (in[c] == in[c]) { part[c % 32] += in[c]; ++many; }
    for (int w = 16; w; w /= 2) for (int l = 0; l < w; ++l) part[l] += part[l + w];
    s = part[0];
"""
COMPENSATED = """
    float lost = 0.f;
    for (int c = 0; c < cols; ++c) {
        if (isnan(in[c])) continue;
        volatile float y = in[c] - lost, t = s + y;
        lost = (t - s) - y;
        s = t;
        ++many;
    }
"""
ASKS = _nanmean("if (isnan(v)) continue;")
FINITE = "if (!std::isfinite(v)) continue;"


@host
@pytest.mark.parametrize(
    ("candidate", "family", "wanted"),
    [
        (_nanmean("if (isnan(v)) continue;", "s / fmaxf(many, 1.f)"), families.ALL_NAN, "nan"),
        (_nanmean(FINITE), families.INFINITIES, "an infinity"),
    ],
)
def test_what_an_original_asks_about_is_its_contract(
    judge: Judge, candidate: str, family: str, wanted: str
) -> None:
    """A row of nothing but NaN is none, and an infinity is a number to what skips NaN alone."""
    verdict = _verdict(judge, candidate, ASKS, workload=NANMEAN_WORK, effort="confirm")
    assert verdict["status"] == "wrong result", verdict["log"]
    assert family in verdict["log"]
    assert f", want {wanted}," in verdict["log"]


@host
@pytest.mark.parametrize(
    "candidate",
    [
        f"{ASKS} ",
        _nanmean("", body=IN_LANES),
        # Of infinities it makes NaN.
        _nanmean("", body=COMPENSATED),
        _nanmean("if (isnan(v)) continue;", "(float)((double)s / many)"),
        _nanmean("if (isnan(v)) continue;", "many ? s * (1.f / many) : NAN"),
    ],
)
def test_other_ways_with_nan_and_infinities_are_right(judge: Judge, candidate: str) -> None:
    verdict = _verdict(judge, candidate, ASKS, workload=NANMEAN_WORK, effort="confirm")
    assert verdict["status"] == "correct", verdict["log"]
    seen = {check["what"] for check in verdict["checks"]}
    assert seen >= families.ASKED


@host
def test_an_original_that_leaves_infinities_out_means_it(judge: Judge) -> None:
    """What is a sum without them is no infinity, even if it were NaN with a NaN in their places."""
    finite = _nanmean("if (std::isinf(v)) continue;")
    both = _nanmean("")
    verdict = _verdict(judge, both, finite, workload=NANMEAN_WORK, effort="confirm")
    assert verdict["status"] == "wrong result", verdict["log"]
    verdict = _verdict(judge, f"{finite} ", finite, workload=NANMEAN_WORK, effort="confirm")
    assert verdict["status"] == "correct", verdict["log"]


LARGEST = """
extern "C" __global__ void scale(const float* x, float* mean, int rows, int cols) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    const float* in = x + (size_t)r * cols;
    float m = FIRST, odd = 0.f;
    for (int c = 0; c < cols; ++c) { m = WHICH; odd += in[c] != in[c]; }
    mean[r] = m + 0.f * odd;
}
"""


@host
@pytest.mark.parametrize("first", ["in[0]", "-INFINITY"])
def test_a_largest_may_keep_a_nan_or_lose_it(judge: Judge, first: str) -> None:
    """Comparisons depend on their order: of rows of nothing else, and of infinities, they do not."""
    original = LARGEST.replace("FIRST", first).replace("WHICH", "in[c] > m ? in[c] : m")
    other = LARGEST.replace("FIRST", "-INFINITY").replace("WHICH", "fmaxf(m, in[c])")
    assert asked.asked(original, "scale") == (asked.NAN,)
    case = [{"values": {"rows": 40, "cols": 33}}]
    for mine, theirs in ((original, other), (other, original)):
        work = {**NANMEAN_WORK, "cases": case}
        verdict = _verdict(judge, mine, theirs, workload=work, effort="confirm")
        assert all(c["passed"] for c in verdict["checks"] if c["what"] in families.ASKED)


def test_only_originals_that_ask_are_asked() -> None:
    """And only in a confirmation: two families on two cases at most."""
    work = _work(_pointer(shape="rows*cols"), rows=300, cols=90)
    small = CaseSpec({"rows": 4.0, "cols": 5.0})
    work = dataclasses.replace(work, cases=(*work.cases, small))
    asks = dataclasses.replace(work, asks=(asked.NAN,))
    plain, more = ({c.key for c in _more(w)} for w in (work, asks))
    assert plain < more
    wanted = dict.fromkeys({*families.ASKED, families.NAN_BEHIND}, 1)
    assert Counter(key.split("|")[1] for key in more - plain) == wanted
    large = dataclasses.replace(asks, cases=(*asks.cases, CaseSpec({"rows": 3e3, "cols": 900.0})))
    assert len([c for c in _more(large) if c.family in families.ASKED]) == 4
    huge = dataclasses.replace(asks, cases=(*asks.cases, CaseSpec({"rows": 3e4, "cols": 900.0})))
    assert len([c for c in _more(huge) if c.family in families.ASKED]) == 2
    assert [c.key for c in _more(work, "screen")] == [c.key for c in _more(asks, "screen")]
    kernel = {"name": "k", "source": ASKS, "path": "", "launch": None}
    job = {"kernel": kernel, "baseline": kernel, "workload": {**NANMEAN_WORK, "name": "k"}}
    job["workload"] |= {"kind": "kernel", "symbol": "scale"}
    assert spec.parse(job).work.asks == (asked.NAN,)


def test_infinities_are_of_one_sign_and_alone() -> None:
    """With both a sum is NaN, and nothing could be asked of it."""
    signs = set()
    for seed in range(1, 9):
        data = _one(_work(_pointer(), n=50_000), families.INFINITIES, seed).view(np.float32)
        infinite = data[np.isinf(data)]
        assert 20 <= len(infinite) <= 25
        assert not np.isnan(data).any()
        assert len(set(infinite)) == 1
        signs.add(float(infinite[0]))
    assert len(signs) == 2
    above = _one(_work(_pointer(init="uniform"), n=500), families.INFINITIES).view(np.float32)
    assert above.min() >= 0
    assert np.isnan(_one(_work(_pointer(), n=50), families.ALL_NAN).view(np.float32)).all()
    whole = _work(_pointer("int*", "randint:0:9"), n=50)
    assert np.array_equal(_one(whole, families.ALL_NAN), _one(whole))


def test_a_reference_need_not_know_of_nothing_but_nan(judge: Judge, tmp_path: Path) -> None:
    """`nanargmax` raises there: nothing is asked then, and nobody is to mend it."""
    (tmp_path / "ref.py").write_text(
        "import numpy as np\ndef f(x, rows, cols):\n"
        "    if np.isnan(x).all():\n        raise ValueError('All-NaN slice encountered')\n"
        "    return np.nanmean(x.reshape(rows, cols), axis=1)\n"
    )
    work = {**NANMEAN_WORK, "root": str(tmp_path), "reference": "ref.py:f"}
    verdict = _verdict(judge, _nanmean("", body=IN_LANES), ASKS, workload=work, effort="confirm")
    assert verdict["status"] == "correct", verdict["log"]
    assert families.ALL_NAN not in {check["what"] for check in verdict["checks"]}
    assert families.INFINITIES in {check["what"] for check in verdict["checks"]}


# Factors near one.

ENVELOPE = """
extern "C" __global__ void scale(const float* x, float* y, int steps, int channels, float fall) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= channels) return;
    for (int first = 0; first < steps; first += PART) {
        float high = 0.f;
        for (int t = BEGIN; t < steps && t < first + PART; ++t) {
            high = fmaxf(high * fall, fabsf(x[(size_t)t * channels + c]));
            if (t >= first) y[(size_t)t * channels + c] = high;
        }
    }
}
"""
ENVELOPE_WORK: Json = {
    "arguments": [
        {"name": "x", "type": "const float*", "shape": "steps*channels"},
        {"name": "y", "type": "float*", "shape": "steps*channels", "role": "output"},
        {"name": "steps", "type": "int", "value": "steps"},
        {"name": "channels", "type": "int", "value": "channels"},
        {"name": "fall", "type": "float", "value": "0.95"},
    ],
    "launch": {"grid": ["(channels+63)/64"], "block": ["64"], "shared": "0", "tunable": False},
    "cases": [
        {"values": {"steps": 1000, "channels": 60}},
        {"values": {"steps": 90, "channels": 7}},
    ],
}


def _envelope(begin: str) -> str:
    return ENVELOPE.replace("PART", "256").replace("BEGIN", begin)


@host
def test_what_is_forgotten_is_forgotten_by_the_factor_that_is_given(judge: Judge) -> None:
    """The 512th power of 0.95 is nothing beside what comes next; that of 0.997 is a fifth."""
    whole = _envelope("0")
    short = _envelope("first > 512 ? first - 512 : 0")
    verdict = _verdict(judge, short, whole, workload=ENVELOPE_WORK, effort="confirm")
    assert verdict["status"] == "wrong result", verdict["log"]
    assert "other scalars" in verdict["log"]
    once = ENVELOPE.replace("PART", "steps").replace("BEGIN", "0")
    verdict = _verdict(judge, once, whole, workload=ENVELOPE_WORK, effort="confirm")
    assert verdict["status"] == "correct", verdict["log"]


def _lasting(kind: str, value: str) -> list[float]:
    scalar = {"name": "s", "type": kind, "value": value}
    argument = _work(_pointer(), scalar, n=8).arguments[1]
    return [float(one) for one in spec.scalar_values(argument, {"n": 8.0, MOVED: float(LASTING)})]


def test_factors_are_moved_towards_one_and_shares_towards_zero() -> None:
    """What is kept of a step, or what is taken of the next one: it lasts sixteen times as long."""
    assert _lasting("float", "0.95") == pytest.approx([1 - 0.05 / 16])
    assert _lasting("float", "-0.95") == pytest.approx([-1 + 0.05 / 16])
    assert _lasting("double", "0.5") == [1 - 0.5 / 16]
    assert _lasting("float", "0.05") == pytest.approx([0.05 / 16])
    assert _lasting("float4", "{0, 1, -1, 2.5}") == [0, 1, -1, 2.5]
    assert _lasting("int", "0") == [0]
    # The lower one of two stays the lower one.
    points = [str(one / 64) for one in range(-70, 71)]
    moved = [_lasting("float", one)[0] for one in points]
    assert moved == sorted(moved)
    scalar = {"name": "s", "type": "float", "value": "0.9"}
    assert LASTING in spec.moves(_work(_pointer(), scalar, n=50))
    assert LASTING not in spec.moves(_work(_pointer(), {**scalar, "value": "1.5"}, n=50))


def _factor(*cases: dict[str, float]) -> Work:
    scalar = {"name": "s", "type": "float", "value": "0.9"}
    work = _work(_pointer(shape="n*m"), scalar, n=1, m=1)
    return dataclasses.replace(work, cases=tuple(CaseSpec(case) for case in cases))


def test_such_factors_are_tried_in_the_middle_case_and_the_largest_light_one() -> None:
    """As declared and with a few large numbers; screening has none of it."""
    huge, large, small = {"n": 5e4, "m": 900.0}, {"n": 3e3, "m": 900.0}, {"n": 20.0, "m": 30.0}
    work = _factor(huge, large, small)
    moved = [c for c in _more(work) if c.case.get(MOVED) == LASTING]
    assert [(c.case["n"], c.family) for c in moved] == [
        (20, "declared"),
        (20, "one-hot"),
        (3000, "declared"),
        (3000, "one-hot"),
    ]
    assert not any(c.case.get(MOVED) == LASTING for c in _more(work, "screen"))
    others = {c.case[MOVED] for c in _more(work) if c.family == "large" and MOVED in c.case}
    assert others <= {SOME, ALL}
    assert len([c for c in _more(_factor(small)) if c.case.get(MOVED) == LASTING]) == 2


def test_an_original_that_never_ends_with_such_a_factor_is_asked_once() -> None:
    """A bound on an error that is not reached: each one more would take as long again."""
    one, other = ({"n": float(n), MOVED: float(LASTING)} for n in (9, 900))
    watch = capacities.Watch()
    first, second = (Combination(case, "declared", 1) for case in (one, other))
    assert watch.objection(second) == ""
    watch.failed(Combination({"n": 9.0, MOVED: float(ALL)}, "declared", 1))
    assert watch.objection(second) == ""
    watch.failed(first)
    assert watch.objection(second) == capacities.SHORTER
    assert watch.objection(Combination({"n": 900.0}, "declared", 1)) == ""


# Numbers that are all alike.

DEPOSIT = """
extern "C" __global__ void scale(const float* x, float* charge, int n, int cells) {
    int b = blockIdx.x, blocks = gridDim.x;
    float own[512] = {0};
    unsigned long long counted[512] = {0};
    for (int i = b; i < n; i += blocks) {
        float p = x[i] * cells, f = floorf(p), right = p - f;
        int c = (int)f % cells;
        if (c < 0) c += cells;
        int d = c + 1 == cells ? 0 : c + 1;
        if (cells > 512) {
            atomicAdd(&charge[c], 1.f - right);
            atomicAdd(&charge[d], right);
        } else { ADD }
    }
    for (int c = 0; c < cells && cells <= 512; ++c) atomicAdd(&charge[c], RESULT);
}
"""
DEPOSIT_WORK: Json = {
    "arguments": [
        {"name": "x", "type": "const float*", "shape": "n"},
        {"name": "charge", "type": "float*", "shape": "cells", "role": "inout", "init": "zeros"},
        {"name": "n", "type": "int", "value": "n"},
        {"name": "cells", "type": "int", "value": "cells"},
    ],
    "launch": {"grid": ["8"], "block": ["1"], "shared": "0", "tunable": False},
    "tolerance": {"rtol": 1e-3, "atol": 1e-3},
    "cases": [{"values": {"n": 15000, "cells": 40}}, {"values": {"n": 900, "cells": 20}}],
}
EXACT = DEPOSIT.replace("ADD", "own[c] += 1.f - right; own[d] += right;").replace(
    "RESULT", "own[c]"
)
# 2,048 fit, and of 15,000 no more than 1,875 come to one of eight blocks.
FIXED = DEPOSIT.replace(
    "ADD",
    "if (right != right) { own[c] += right; own[d] += right; continue; }"
    "unsigned long long one = 1ull << 40, part = (unsigned long long)(right * (double)one);"
    " counted[c] = (counted[c] + one - part) % (one << 11);"
    " counted[d] = (counted[d] + part) % (one << 11);",
).replace("RESULT", "own[c] + (float)(counted[c] / (double)(1ull << 40))")


@host
def test_what_counts_in_few_bits_runs_over_where_more_are_alike(judge: Judge) -> None:
    verdict = _verdict(judge, FIXED, EXACT, workload=DEPOSIT_WORK, effort="confirm")
    assert verdict["status"] == "wrong result", verdict["log"]
    # Long mixed inputs have stretches that are alike, too, more numbers than usual are more in each
    # place, and of small ones nothing is left in so few bits; which come first is chance.
    kinds = (families.ALIKE, "mixed", families.PLAIN, families.THOUSANDTH)
    # As many as there may be are in any order.
    strides = (f"{families.AT_STRIDES} 0 {turn}" for turn in range(3))
    assert any(f"{one} inputs" in verdict["log"] for one in (*kinds, *strides)), verdict["log"]
    wide = FIXED.replace("one << 11", "one << 23")
    verdict = _verdict(judge, wide, EXACT, workload=DEPOSIT_WORK, effort="confirm")
    assert verdict["status"] == "correct", verdict["log"]


def test_all_are_alike_and_their_sums_are_exact() -> None:
    """Four millions of them, and their squares; what is above zero stays there."""
    for kind, init in (("float*", "normal"), ("float*", "uniform"), ("const half*", "normal")):
        for seed in range(1, 5):
            data = _one(_work(_pointer(kind, init), n=900), families.ALIKE, seed)
            wide = data.view(np.float16 if "half" in kind else np.float32).astype(float)
            assert len(set(wide)) == 1
            assert abs(np.frexp(wide[0])[0]) == 0.5
            assert init == "normal" or wide[0] > 0
    long = np.full(4 << 20, 0.25, np.float32)
    assert float(np.cumsum(long * long, dtype=np.float32)[-1]) == 4 * (1 << 20) / 16
    index = _one(_work(_pointer("int*", "randint:5:60"), n=900), families.ALIKE).view(np.int32)
    assert len(set(index)) == 1
    assert 5 <= index[0] < 60
    many = _work(_pointer("const int*", "randint:0:500"), n=400_000)
    assert np.bincount(_one(many, families.ALIKE).view(np.int32)).max() < 80_000


def test_lengths_where_all_are_alike_are_few_and_bounded() -> None:
    """Four times the largest of each, the others as large as may be; strides stay."""
    work = _work(_pointer(shape="n+cells+gap"), n=500_000, cells=1000, gap=3)
    small = CaseSpec({"n": 3000.0, "cells": 50.0, "gap": 3.0})
    work = dataclasses.replace(work, cases=(*work.cases, small))
    assert capacities.crowded(work) == [
        {"n": 2_000_001.0, "cells": 1000.0, "gap": 3.0},
        {"n": 500_000.0, "cells": 4001.0, "gap": 3.0},
    ]
    rows = _work(_pointer(shape="rows*cols"), rows=8000, cols=4000)
    rows = dataclasses.replace(rows, cases=(*rows.cases, CaseSpec({"rows": 40.0, "cols": 33.0})))
    assert capacities.crowded(rows) == [
        {"rows": 32001.0, "cols": 33.0},
        {"rows": 40.0, "cols": 16001.0},
    ]
    assert capacities.crowded(_work(_pointer(), n=1 << 24)) == []
    many = _work(_pointer(shape="a+b+c+d"), a=50, b=50, c=50, d=50)
    assert len(capacities.crowded(many)) == 3
    alike = [c.case for c in _more(work) if c.family == families.ALIKE]
    assert alike == capacities.crowded(work)
    assert not any(c.family == families.ALIKE for c in _more(work, "screen"))


def _alike(n: float, family: str = families.ALIKE) -> Combination:
    return Combination({"n": n}, family, 1)


def test_an_original_that_is_slow_with_equal_numbers_is_not_asked_for_more_of_them() -> None:
    """Threads that exchange a word until it holds: the time grows with the square."""
    watch = capacities.Watch()
    watch.took(_alike(500.0, families.EQUAL), 0.03)
    watch.took(_alike(500.0, families.PLAIN), 9.0)
    assert "would take 0.5 s" in watch.objection(_alike(2001.0))
    # What a short run takes tells nothing of a much longer one.
    assert watch.objection(_alike(20000.0)) == ""
    assert watch.objection(_alike(500.0)) == ""
    quick = capacities.Watch()
    quick.took(_alike(500.0, families.EQUAL), 0.01)
    assert quick.objection(_alike(2001.0)) == ""
    quick.failed(_alike(500.0, families.EQUAL))
    assert quick.objection(_alike(2001.0)) == capacities.SHORTER


# Whole numbers that few are by chance.

FIRST_PLACE = """
extern "C" __global__ void scale(const int* key, int* first, int rows, int cols) {
    for (int r = blockIdx.x; r < rows; r += gridDim.x) {
        const int* k = key + (size_t)r * cols;
        for (int c = 0; c < cols; ++c) { FOUND }
    }
}
"""
PLAIN_SEARCH = FIRST_PLACE.replace(
    "FOUND", "int p = 0; while (k[p] != k[c]) ++p; first[(size_t)r * cols + c] = p;"
)
# Zero stands for no key: one that is zero is found where it is itself.
NO_ZERO = FIRST_PLACE.replace(
    "FOUND",
    "int p = 0; while (k[p] != k[c]) ++p;"
    " first[(size_t)r * cols + c] = k[c] == 0 && c % 7 == 3 ? c : p;",
)


@host
def test_a_value_of_the_range_is_not_taken_for_none(judge: Judge) -> None:
    """One in two thousand million by chance."""
    arguments = [
        {
            "name": "key",
            "type": "const int*",
            "shape": "rows*cols",
            "init": "randint:0:2147483647",
        },
        {"name": "first", "type": "int*", "shape": "rows*cols", "role": "output"},
        {"name": "rows", "type": "int", "value": "rows"},
        {"name": "cols", "type": "int", "value": "cols"},
    ]
    work: Json = {
        "arguments": arguments,
        "launch": {"grid": ["8"], "block": ["1"], "shared": "0", "tunable": False},
        "cases": [{"values": {"rows": 40, "cols": 70}}],
    }
    verdict = _verdict(judge, NO_ZERO, PLAIN_SEARCH, workload=work)
    assert verdict["status"] == "wrong result", verdict["log"]
    again = PLAIN_SEARCH.replace("while (k[p] != k[c]) ++p", "for (; k[p] != k[c]; ++p) {}")
    verdict = _verdict(judge, again, PLAIN_SEARCH, workload=work)
    assert verdict["status"] == "correct", verdict["log"]


@pytest.mark.parametrize(
    ("low", "high"), [(0, 2**31 - 1), (-1000, 1000), (5, 6), (0, 4294967296), (0, 2), (-7, -6)]
)
def test_clustered_numbers_stay_in_their_range(low: int, high: int) -> None:
    kind = "const unsigned*" if high > 2**31 else "const int*"
    work = _work({**_pointer(kind, f"randint:{low}:{high}", "n"), "name": "at"}, n=5000)
    arrays = inputs.generate(work, {"n": 5000.0}, 3)
    made = variation.apply(families.CLUSTERED, work, arrays, 3)["at"]
    found = made.view(np.uint32 if high > 2**31 else np.int32).astype(np.int64)
    assert found.min() == low
    assert found.max() == high - 1
    if high - low > 1 << 20:
        clusters = found[found % 1024 == 0]
        assert len(clusters) > 1000
        assert len(np.unique(clusters)) < 100


# Zero as a factor.


def test_what_is_multiplied_by_zero_is_asked_about_where_the_original_asks() -> None:
    """`beta` of zero is known from everywhere: what was there may be NaN."""
    asks = _factor({"n": 30.0, "m": 40.0})
    odd = dataclasses.replace(asks, asks=(asked.ZERO,))
    none = [c for c in _more(odd) if c.case.get(MOVED) == NONE and c.family == "nan"]
    assert len(none) == 1
    assert not [c for c in _more(asks) if c.case.get(MOVED) == NONE and c.family == "nan"]
    assert not [c for c in _more(odd, "screen") if c.case.get(MOVED) == NONE and c.family == "nan"]


# Both ends of each range.


def test_each_array_is_at_either_end_of_its_range_in_the_smallest_case() -> None:
    """Pages past a table's end are fetched where the last sequence is the longest."""
    table = {**_pointer("const int*", "randint:0:512", "seqs*16"), "name": "table"}
    length = {**_pointer("const int*", "randint:1:257", "seqs"), "name": "length"}
    work = _work(_pointer(shape="seqs*d"), table, length, seqs=400, d=64)
    small = {"seqs": 7.0, "d": 40.0}
    work = dataclasses.replace(work, cases=(*work.cases, CaseSpec(small)))
    for seed in (1, 2, 77, 78):
        ends = [c for c in _more(work, seed=seed) if c.family == families.ENDS and c.case == small]
        seen = set()
        for one in ends:
            made = variation.apply(
                families.ENDS, work, inputs.generate(work, small, one.seed), one.seed
            )
            seen.add(tuple(int(made[k].view(np.int32)[-1]) for k in ("table", "length")))
        assert seen == {(0, 256), (511, 1)}
    assert [c.seed for c in _more(work, "screen") if c.family == families.ENDS] == [1]
    assert not any(c.family == families.ENDS for c in _more(_work(_pointer(), n=50)))


def test_a_confirmation_grows_by_few() -> None:
    """A kernel that has all of these at once is asked twelve things more; a plain one two."""
    lengths = {**_pointer("const int*", "randint:1:9", "n"), "name": "at"}
    every = dataclasses.replace(_factor({"n": 30.0, "m": 40.0}, {"n": 900.0, "m": 800.0}))
    more: dict[str, Any] = {"asks": (asked.NAN,)}
    every = dataclasses.replace(
        every, arguments=(*every.arguments, _work(lengths, n=5).arguments[0]), **more
    )

    def added(work: Work) -> int:
        found = _more(work)
        return (
            sum(c.family in {families.ALIKE, *families.ASKED} for c in found)
            + sum(c.case.get(MOVED) == LASTING for c in found)
            + sum(c.seed == 2 and c.family == families.ENDS for c in found)
        )

    assert added(every) == 11
    assert added(_work(_pointer(shape="rows*cols"), rows=300, cols=500)) == 2
