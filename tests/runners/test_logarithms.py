"""Rows of tiny, large and negative numbers show who takes the logarithm of a product."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from runners import answers, families, logarithms, oracle, recipes
from runners.asked import EXPONENTIAL, LOGARITHM, calls
from runners.contents import Combination, Contents
from runners.judge import Judge
from runners.spec import BaselineFailure, Json, Work
from tests.redteam import once_read
from tests.redteam.table import load
from tests.runners.host_gpu import COMPILER
from tests.runners.test_inputs import _pointer, _work
from tests.runners.test_judge import _verdict

MEAN = """
#include <math.h>
extern "C" __global__ void scale(const float* x, float* y, int rows, int cols) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    const float* row = x + (size_t)r * cols;
    float sum = 0.f;
    for (int c = 0; c < cols; c += 8) {
        double product = 1;
        bool below = false, odd = false;
        for (int k = 0; k < 8; ++k) {
            float v = c + k < cols ? row[c + k] : 1.f;
            if (EACH) { sum += logf(v); continue; }
            below |= v < 0.f;
            product *= v;
        }
        sum += (SIGNED && below) ? logf(-1.f) : (float)log(product);
    }
    y[r] = expf(sum / cols);
}
"""
WORK: Json = {
    "arguments": [
        {"name": "x", "type": "const float*", "shape": "rows*cols", "init": "uniform"},
        {"name": "y", "type": "float*", "shape": "rows", "role": "output"},
        {"name": "rows", "type": "int", "value": "rows"},
        {"name": "cols", "type": "int", "value": "cols"},
    ],
    "launch": {"grid": ["(rows+63)/64"], "block": ["64"], "shared": "0", "tunable": False},
    "cases": [{"values": {"rows": 20, "cols": 400}}, {"values": {"rows": 9, "cols": 133}}],
    "tolerance": {"rtol": 1e-4, "atol": 1e-37},
}


def _mean(each: str, signed: str = "true") -> str:
    return MEAN.replace("EACH", each).replace("SIGNED", signed)


def _rows(work: Work, family: str, name: str = "x") -> np.ndarray:
    made = Contents(work).of(Combination(work.cases[0].values, family, 1))[name]
    return made.view("f4").reshape(-1, 256)


def test_few_originals_are_asked_at_few_long_rows() -> None:
    works = {one.base.name: one for one in load() if one.base.kind != "program"}
    found = {n: [*logarithms.asked(once_read.parsed(one).work)] for n, one in works.items()}
    assert len(found["geomean"]) == 2
    assert all(case == {"rows": 9.0, "cols": 4096.0} for case, _ in found["geomean"])
    assert sum(map(bool, found.values())) <= len(works) // 50
    assert max(map(len, found.values())) <= 4
    work = once_read.parsed("geomean/base").work
    for checks, many in (("confirm", 2), ("screen", 0)):
        _, extra = once_read.combinations(work, checks, 1)
        assert sum(c.family in families.LOGARITHMS for c in extra) == many
    assert not [*logarithms.asked(dataclasses.replace(work, loose=True))]
    assert not [*logarithms.asked(dataclasses.replace(work, calls=()))]
    each = tuple(
        dataclasses.replace(a, shape="rows*cols") if a.written else a for a in work.arguments
    )
    assert not [*logarithms.asked(dataclasses.replace(work, arguments=each))]


def test_rows_are_of_one_size_each_and_one_array_at_a_time() -> None:
    other = {**_pointer(init="uniform", shape="n*256"), "name": "z"}
    work = _work(_pointer(init="uniform", shape="n*256"), other, n=7)
    plain = _rows(work, families.DECLARED)
    sized = _rows(work, families.LOG_SIZES[0])
    times = np.log2(sized[:, :1] / plain[:, :1]).ravel()
    assert set(times.tolist()) == set(logarithms.POWERS)
    assert np.array_equal(np.ldexp(plain, times.astype(int)[:, None]), sized)
    assert (_rows(work, families.LOG_BELOW[0]) == -plain).all()
    for first, second in (families.LOG_SIZES, families.LOG_BELOW):
        assert np.array_equal(_rows(work, second), plain)
        for family, same in ((first, True), (second, False)):
            unlike = _rows(work, family, "z"), _rows(work, families.DECLARED, "z")
            assert np.array_equal(*unlike) == same


def test_of_rows_below_zero_nothing_but_nan_is_wanted() -> None:
    work = _work(
        _pointer(init="uniform", shape="n*8"), {**_pointer(), "name": "y", "role": "output"}, n=4
    )
    y = work.arguments[1]
    data = np.array([1.0, np.nan, -np.inf, np.nan], np.float32)
    wanted = logarithms.none_there(data, y.type.fields[0])
    assert np.isnan(wanted).tolist() == [False, True, False, True]
    assert np.isinf(wanted).tolist() == [True, False, True, False]
    logarithms.defined(work, {"y": data.view(np.uint8)})
    with pytest.raises(BaselineFailure, match="no result is NaN"):
        logarithms.defined(work, {"y": np.nan_to_num(data).view(np.uint8)})
    assert logarithms.spreads(work, y, {"n": 4.0})
    # A result for each number is let be: it may have been masked, and is then left out.
    each = _work(_pointer(init="uniform"), {**_pointer(), "name": "y", "role": "output"}, n=4)
    assert not logarithms.spreads(each, each.arguments[1], {"n": 4.0})


def _only(monkeypatch: pytest.MonkeyPatch, *kept: str) -> None:
    """Ask of declared inputs and of these families alone."""

    def asked(work: Work, checks: str, seed: int) -> tuple[list[Combination], list[Combination]]:
        declared, extra = oracle.combinations(work, checks, seed)
        return declared, [c for c in extra if c.family in kept]

    monkeypatch.setattr(answers, "combinations", asked)


@pytest.mark.skipif(COMPILER is None, reason="g++ is not installed")
@pytest.mark.parametrize(
    ("mine", "right"),
    [(_mean("false", signed="true"), True), (_mean("false", signed="false"), False)],
)
def test_a_product_of_eight_has_a_logarithm_where_signs_are_looked_at(
    judge: Judge, monkeypatch: pytest.MonkeyPatch, mine: str, *, right: bool
) -> None:
    _only(monkeypatch, *families.LOGARITHMS)
    verdict = _verdict(judge, mine, _mean("true"), workload=WORK, effort="confirm")
    assert (verdict["status"] == "correct") == right, verdict["log"]
    if not right:
        assert families.LOG_BELOW[0] in verdict["log"]


def test_a_product_of_eight_is_a_double_and_no_float() -> None:
    """Eight of a row with small or large numbers; the declared ones make floats."""
    work = _work(_pointer(init="uniform", shape="n*256"), n=6)
    for family, floats in ((families.DECLARED, True), (families.LOG_SIZES[0], False)):
        eights = _rows(work, family).reshape(6, 32, 8)
        with np.errstate(all="ignore"):
            narrow = np.prod(eights, axis=2, dtype=np.float32)
            wide = np.prod(eights, axis=2, dtype=np.float64)
        lost = (narrow == 0) | np.isinf(narrow)
        assert not lost.any() if floats else lost.mean() > 0.9
        assert (wide > 0).all()
        assert np.isfinite(wide).all()


def test_what_is_called_is_told_from_names_like_it() -> None:
    for text, many in (
        ("y[0] = __logf(x[0]);", 1),
        ("y[0] = hlog2(x[0]);", 1),
        ("y[0] = log1pf(x[0]);", 0),
        ("log_it(x); float log = 3;", 0),
    ):
        source = f"__global__ void k(const float* x, float* y) {{ {text} }}"
        assert calls(source, "k").count(LOGARITHM) == many


OF_A_ROW = """
#include <math.h>
extern "C" __global__ void scale(const float* x, float* y, int rows, int cols) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    const float* row = x + (size_t)r * cols;
    float logs[2];
    for (int part = 0; part < PARTS; ++part) {
        int from = part * cols / PARTS, to = (part + 1) * cols / PARTS;
        float top = -INFINITY, sum = 0.f;
        for (int j = from; j < to; ++j) top = fmaxf(top, row[j]);
        for (int j = from; j < to; ++j) sum += expf(row[j] - top);
        logs[part] = top + LOG(sum);
    }
    float a = logs[0], b = PARTS == 2 ? logs[1] : -INFINITY;
    float joined = PARTS == 2 ? fmaxf(a, b) + log1pf(expf(-fabsf(a - b))) : a;
    y[r] = joined - logf((float)cols);
}
"""
# The log of a mean weight: of weights that are all alike, exactly one of them.
OF_ALL = OF_A_ROW.replace("PARTS", "1").replace("LOG", "logf")
# The logs of two halves joined, rounded at the size of logarithms that do not cancel.
OF_HALVES = OF_A_ROW.replace("PARTS", "2").replace("LOG", "logf")
OF_A_ROW_WORK: Json = {
    **{key: WORK[key] for key in ("launch", "cases")},
    "arguments": [{**WORK["arguments"][0], "init": "normal"}, *WORK["arguments"][1:]],
    "tolerance": {"rtol": 1e-5, "atol": 1e-5},
}


@pytest.mark.skipif(COMPILER is None, reason="g++ is not installed")
@pytest.mark.parametrize("told", [True, False])
def test_logarithms_that_cancel_may_err_by_the_rounding_of_each(
    judge: Judge, monkeypatch: pytest.MonkeyPatch, told: bool
) -> None:
    """Of rows of equal numbers next to zero nothing but that rounding is left."""
    if not told:
        monkeypatch.setattr(logarithms, "between", lambda *_: 0.0)
    monkeypatch.setattr(recipes, "COUNT", 40)
    verdict = _verdict(judge, OF_HALVES, OF_ALL, workload=OF_A_ROW_WORK, effort="confirm")
    assert verdict["status"] == ("correct" if told else "wrong result"), verdict["log"]


@pytest.mark.skipif(COMPILER is None, reason="g++ is not installed")
def test_logarithms_of_halves_in_half_precision_are_refused(judge: Judge) -> None:
    coarse = OF_A_ROW.replace("PARTS", "2").replace("LOG", "(float)(_Float16)logf")
    verdict = _verdict(judge, coarse, OF_ALL, workload=OF_A_ROW_WORK, effort="confirm")
    assert verdict["status"] == "wrong result", verdict["log"]


def test_only_sums_of_exponentials_on_inputs_that_nobody_declared_have_logarithms_between() -> None:
    both = dataclasses.replace(_work(_pointer(), n=100), calls=(LOGARITHM, EXPONENTIAL))
    case = {"n": 1000.0}
    assert logarithms.between(both, "mixed", case) == pytest.approx(1 + np.log(1000))
    assert logarithms.between(both, families.DECLARED, case) == 0
    assert not any(logarithms.between(both, one, case) for one in families.LOGARITHMS)
    for words in ((LOGARITHM,), (EXPONENTIAL,), ()):
        assert logarithms.between(dataclasses.replace(both, calls=words), "mixed", case) == 0
