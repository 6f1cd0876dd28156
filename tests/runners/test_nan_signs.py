"""A NaN whose sign bit is set shows who orders floats by their bits."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from runners import answers, families, nan_signs, oracle
from runners.contents import Combination, Contents
from runners.judge import Judge
from runners.run import Run
from runners.spec import BaselineFailure, CaseSpec, Json, Work
from tests.redteam import once_read
from tests.runners.host_gpu import COMPILER
from tests.runners.test_inputs import _pointer, _work
from tests.runners.test_judge import _verdict

KIND = """
extern "C" __global__ void scale(const float* x, int* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v = x[i];
    unsigned b;
    __builtin_memcpy(&b, &v, 4);
    y[i] = KINDS;
}
"""
WORK: Json = {
    "arguments": [
        {"name": "x", "type": "const float*", "shape": "n"},
        {"name": "y", "type": "int*", "shape": "n", "role": "output"},
        {"name": "n", "type": "int", "value": "n"},
    ],
}
COMPARED = "v < 0.f ? 0 : v == 0.f ? 1 : 2"
RANGES = "b > 0x80000000u && b <= 0xff800000u ? 0 : b << 1 ? 2 : 1"
ORDERED = "b > 0x80000000u ? 0 : b << 1 ? 2 : 1"


def _data(work: Work, family: str, dtype: str) -> np.ndarray:
    return Contents(work).of(Combination(work.cases[0].values, family, 3))["x"].view(dtype)


@pytest.mark.parametrize(
    ("kind", "dtype", "bits"),
    [
        ("float", "u4", 0xFFC00000),
        ("double", "u8", 0xFFF8000000000000),
        ("half", "u2", 0xFE00),
        ("__nv_bfloat16", "u2", 0xFFC0),
    ],
)
def test_it_is_the_single_nan_with_its_sign_bit_set(kind: str, dtype: str, bits: int) -> None:
    work = _work(_pointer(f"const {kind}*"), n=5000)
    above, below = (_data(work, f, dtype) for f in ("nan", families.NAN_BELOW))
    (at,) = np.flatnonzero(above != below)
    assert int(below[at]) == bits
    assert int(above[at]) == bits ^ 1 << 8 * above.itemsize - 1


def test_there_are_several_where_results_are_whole_numbers() -> None:
    """One between two numbers below zero changes nothing of what is counted."""
    out = {"name": "y", "type": "int*", "shape": "n", "role": "output"}
    work = _work(_pointer(), out, n=5000)
    above, below = (_data(work, f, "u4") for f in (nan_signs.ABOVE, families.NAN_BELOW))
    (at,) = np.nonzero(above != below)
    assert nan_signs.SEVERAL - 2 <= len(at) <= nan_signs.SEVERAL
    assert {*below[at]} == {0xFFC00000}
    assert {*above[at]} == {0x7FC00000}
    assert np.isnan(_data(work, nan_signs.ABOVE, "f4")).sum() == len(at)


def test_of_shares_nothing_is_asked() -> None:
    assert nan_signs.asked(_work(_pointer(), n=50))
    for init in ("uniform", "zeros", "sorted"):
        assert not nan_signs.asked(_work(_pointer(init=init), n=50))
    assert not nan_signs.asked(_work(_pointer("const int*"), n=50))


def test_it_costs_one_combination_of_a_confirmation() -> None:
    work = once_read.parsed("softmax/base").work
    for checks, many in (("confirm", 1), ("screen", 0)):
        _, extra = once_read.combinations(work, checks, 1)
        assert sum(c.family == families.NAN_BELOW for c in extra) == many
    large = dataclasses.replace(
        _work(_pointer(), n=1000), cases=(CaseSpec({"n": 1000.0}), CaseSpec({"n": 9e6}))
    )
    _, extra = oracle.combinations(large, "confirm", 1)
    assert [c.case["n"] for c in extra if c.family == families.NAN_BELOW] == [1000.0]


def test_nothing_is_asked_where_the_original_looks_at_the_sign() -> None:
    places = {**_pointer("int*"), "name": "y", "role": "output"}
    work = _work(_pointer(), places, {**_pointer(), "name": "z", "role": "output"}, n=3)

    def run(whole: list[int], floats: list[float]) -> Run:
        found = {"y": np.array(whole, "i4"), "z": np.array(floats, "f4")}
        outputs = {name: data.view(np.uint8) for name, data in found.items()}
        return Run(outputs, None, 0.0, 0)  # type: ignore[arg-type]

    first = run([2, 1, 0], [1.0, np.nan, 3.0])
    nan_signs.defined(work, first, [run([0, 1, 2], [1.00001, np.nan, 3.0])])
    for other in (
        run([2, 1, 1], [1.0, np.nan, 3.0]),
        run([2, 1, 0], [1.0, 2.0, 3.0]),
        run([2, 1, 0], [1.0, np.nan, 7.0]),
    ):
        with pytest.raises(BaselineFailure, match="sign of a NaN"):
            nan_signs.defined(work, first, [other])
    with pytest.raises(BaselineFailure, match="nothing tells"):
        nan_signs.defined(work, first, [])


def _only(monkeypatch: pytest.MonkeyPatch, *kept: str) -> None:
    """Ask of declared inputs and of these families alone."""

    def asked(work: Work, checks: str, seed: int) -> tuple[list[Combination], list[Combination]]:
        declared, extra = oracle.combinations(work, checks, seed)
        return declared, [c for c in extra if c.family in kept]

    monkeypatch.setattr(answers, "combinations", asked)


@pytest.mark.skipif(COMPILER is None, reason="g++ is not installed")
@pytest.mark.parametrize(("mine", "right"), [(RANGES, True), (ORDERED, False)])
def test_who_takes_it_for_a_number_below_zero_is_wrong(
    judge: Judge, monkeypatch: pytest.MonkeyPatch, mine: str, *, right: bool
) -> None:
    _only(monkeypatch, families.NAN_BELOW)
    texts = [KIND.replace("KINDS", one) for one in (mine, COMPARED)]
    verdict = _verdict(judge, *texts, workload=WORK, effort="confirm")
    assert (verdict["status"] == "correct") == right, verdict["log"]
    if not right:
        assert families.NAN_BELOW in verdict["log"]


@pytest.mark.skipif(COMPILER is None, reason="g++ is not installed")
def test_an_original_that_orders_bits_is_not_asked(
    judge: Judge, monkeypatch: pytest.MonkeyPatch
) -> None:
    _only(monkeypatch, families.NAN_BELOW)
    texts = [KIND.replace("KINDS", one) for one in (RANGES, ORDERED)]
    verdict = _verdict(judge, *texts, workload=WORK, effort="confirm")
    assert verdict["status"] == "correct", verdict["log"]
