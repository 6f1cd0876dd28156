"""Rows that mirror themselves, bitmaps without bits, zeros of both signs, sums beyond all floats."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from runners import bitmaps, compare, families, mirrored, oracle, spec, units
from runners.compare import LARGEST, Answer, Budget
from runners.contents import Combination, Contents
from runners.cuda_types import parse
from runners.families import BITMAPS, MIRRORED, SIGNED_ZEROS, TOPS, UNITS
from runners.judge import Judge
from tests.redteam import once_read
from tests.redteam.table import load
from tests.runners.host_gpu import COMPILER
from tests.runners.test_inputs import _pointer, _work
from tests.runners.test_judge import _verdict

CANDIDATES = {one.label: one for one in load()}
WORDS = "randint:-2147483648:2147483647"


def _asked(label: str, checks: str = "confirm") -> Counter[str]:
    work = spec.parse(CANDIDATES[label].job(checks)).work
    _, extra = once_read.combinations(work, checks, 1)
    return Counter(one.family for one in extra)


@pytest.mark.parametrize(("kind", "init"), [("float*", ""), ("const int*", "randint:0:9")])
@pytest.mark.parametrize("n", [1, 3, 4, 37, 256])
def test_a_row_is_the_same_from_both_ends_but_for_a_pair_at_its_middle(
    kind: str, init: str, n: int
) -> None:
    work = _work(_pointer(kind, *([init] if init else [])), n=n)
    contents, case = Contents(work), {"n": float(n)}
    declared = contents.of(Combination(case, families.DECLARED, 1))["x"].view("u4")
    made = contents.of(Combination(case, MIRRORED, 1))["x"].view("u4")
    assert set(made) <= set(declared)
    if n < mirrored.LEAST:
        assert np.array_equal(made, declared)
        return
    half = n // 2
    assert np.flatnonzero(made != made[::-1]).tolist() == [half - 1, n - half]


def test_bitmaps_have_long_stretches_without_bits_and_with_all_of_them() -> None:
    work = _work(_pointer("const int*", WORDS), n=1200)
    made = Contents(work).of(Combination({"n": 1200.0}, BITMAPS, 1))["x"].view("i4")
    assert not made[:1000].any()
    assert (made == -1).sum() >= 40
    assert len(np.unique(made[-50:])) == 50
    unsigned = _work(_pointer("const unsigned*", "randint:0:4294967296"), n=1200)
    assert [one[1:] for one in bitmaps.wide(unsigned)] == [(0, 4294967295)]


def test_a_small_factor_is_beside_the_largest_numbers() -> None:
    """A tag of one block whose last reduction is left out, by a key of two: `poly1305`."""
    work = once_read.parsed("poly1305/carried_twice").work
    assert units.turns(work) == 2
    every = list(units.cases(work, {"n": 301.0, "len": 77.0}))
    assert {"n": 301.0, "len": 16.0} in every
    found = {}
    for seed in (1, 2):
        made = Contents(work).of(Combination({"n": 301.0, "len": 16.0}, UNITS, seed))
        found[tuple(made["key"][:4])] = set(made["text"][1:16])
    assert found == {(2, 0, 0, 0): {255}, (255, 255, 255, 255): {0}}
    assert _asked("poly1305/base")[UNITS] == len(every) * 2
    assert _asked("softmax/base")[UNITS] == 0


@pytest.mark.parametrize(
    ("init", "is_one"),
    [("randint:-300:1", False), ("randint:-300:2", False), ("randint:-300:3", True), ("randint:1:999", False)],
)  # fmt: skip
def test_no_factor_is_put_where_none_was_declared(init: str, *, is_one: bool) -> None:
    """A range that ends below two has no two, however many numbers it has."""
    assert bool(units.usable(_work(_pointer("const int*", init), n=9))) is is_one


@pytest.mark.parametrize(
    "init", ["randint:0:1000", "randint:1:2147483647", "randint:-9:99", "randint:-2147483648:-1"]
)
def test_numbers_of_a_range_that_is_narrow_or_has_no_zero_are_no_bitmaps(init: str) -> None:
    assert not list(bitmaps.wide(_work(_pointer("const int*", init), n=9)))


def test_zeros_have_both_signs_and_the_rest_is_as_declared() -> None:
    work = _work(_pointer(), n=3000)
    contents, case = Contents(work), {"n": 3000.0}
    declared = contents.of(Combination(case, families.DECLARED, 1))["x"].view("f4")
    made = contents.of(Combination(case, SIGNED_ZEROS, 1))["x"].view("f4")
    zero = made == 0
    assert 800 < np.signbit(made[zero]).sum() < 1200
    assert np.array_equal(made[~zero], declared[~zero])
    assert 800 < (~zero).sum() < 1200


@pytest.mark.parametrize(("kind", "dtype"), [("float*", "f4"), ("double*", "f8"), ("half*", "f2")])
def test_tops_are_finite_and_eight_of_them_side_by_side_are_not(kind: str, dtype: str) -> None:
    work = _work(_pointer(f"const {kind}"), n=1024)
    for seed in range(4):
        made = Contents(work).of(Combination({"n": 1024.0}, TOPS, seed))["x"].view(dtype)
        assert np.isfinite(made).all()
        with np.errstate(over="ignore"):
            sums = made.reshape(-1, 16).sum(axis=1, dtype=dtype)
        assert np.isinf(sums).all()


def test_shares_have_none_of_these() -> None:
    work = _work(_pointer("const float*", "uniform"), n=64)
    contents, case = Contents(work), {"n": 64.0}
    declared = contents.of(Combination(case, families.DECLARED, 1))["x"]
    for family in (SIGNED_ZEROS, TOPS):
        assert np.array_equal(contents.of(Combination(case, family, 1))["x"], declared)


def test_who_is_asked() -> None:
    """What sums beyond all floats are matters to who asks for infinities alone."""
    found = _asked("unscale/base")
    assert found[TOPS] == oracle.TOPS
    assert found[MIRRORED] > 1
    assert found[BITMAPS] == 0
    assert _asked("ddc/base")[BITMAPS] > 1
    assert _asked("softmax/base")[TOPS] == 0
    assert _asked("softmax/base")[SIGNED_ZEROS] == 1
    screened = _asked("unscale/base", "screen")
    assert not screened.keys() & {TOPS, MIRRORED, BITMAPS, SIGNED_ZEROS}


@pytest.mark.parametrize(
    ("noise", "got", "passed"),
    [(3e38, np.nan, True), (3e38, np.inf, True), (3e36, np.nan, False), (3e36, np.inf, False)],
)
def test_who_may_err_by_more_than_there_are_numbers_may_have_none(
    noise: float, got: float, *, passed: bool
) -> None:
    table = np.full(compare.HIGHEST - compare.LOWEST + 1, noise)
    budget = Budget(table, 2.0**-24, 16.0, 1e-3, 1e-3, capped=False)
    kind = parse("float*")
    want = np.array([0.0, 1.0], np.float32)
    made = want.copy()
    made[1] = got
    answer = Answer("y", kind, want.view(np.uint8), (budget,))
    assert compare.compare(made.view(np.uint8), answer).passed is passed


def test_the_largest_number_of_each_type_is_known() -> None:
    for kind, roundoff in ((np.float16, 2.0**-11), (np.float32, 2.0**-24), (np.float64, 2.0**-53)):
        most = float(np.finfo(kind).max)
        assert most * 0.999 < LARGEST[roundoff] <= most


# Divided by a scale; whether any quotient is infinite is told, of each or of four together.
OVERFLOWS = """
extern "C" __global__ void scale(float* grad, const float* by, float* found, int n) {
    if (blockIdx.x * blockDim.x + threadIdx.x) return;
    float seen = 0.f;
    *found = 0.f;
    for (int k = 0; k < n; ++k) {
        float g = grad[k] * (1.0f / *by);
        grad[k] = g;
        ASK
    }
}
"""
OF_EACH = "if (std::isinf(g) || g != g) *found = 1.f;"
OF_FOUR = """seen += g;
        if (k % 4 == 3 || k == n - 1) {
            if (std::isinf(seen) || seen != seen) *found = 1.f;
            seen = 0.f;
        }"""
WORK = {
    "arguments": [
        {"name": "grad", "type": "float*", "shape": "n", "role": "inout"},
        {"name": "by", "type": "const float*", "shape": "1", "init": "uniform"},
        {"name": "found", "type": "float*", "shape": "1", "role": "output"},
        {"name": "n", "type": "int", "value": "n"},
    ],
    "launch": {"grid": ["1"], "block": ["64"], "shared": "0", "tunable": False},
    "cases": [{"values": {"n": 1003}}],
}


@pytest.mark.skipif(COMPILER is None, reason="g++ is not installed")
@pytest.mark.parametrize(("ask", "status"), [(OF_EACH, "correct"), (OF_FOUR, "wrong result")])
def test_a_sum_is_infinite_where_no_number_is(judge: Judge, ask: str, status: str) -> None:
    """Ordinary numbers come nowhere near; ones that are nearly too large are asked about here."""
    mine, theirs = (OVERFLOWS.replace("ASK", one) for one in (ask, OF_EACH))
    verdict = _verdict(judge, mine + "// another\n", theirs, workload=WORK, effort="confirm")
    assert verdict["status"] == status, verdict["log"]
    failed = {c["what"] for c in verdict["checks"] if not c["passed"]}
    assert failed == (set() if status == "correct" else {TOPS})
