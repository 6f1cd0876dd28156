"""An original keeps the rounding errors of its sums and products: who drops some is shown it."""

from __future__ import annotations

import dataclasses
import time

import numpy as np
import numpy.typing as npt
import pytest

from runners import cancelling, compensated, spec
from runners.answers import Answers
from runners.checks import Report, Wrong
from runners.contents import Combination, Contents
from runners.judge import Judge
from runners.run import Run
from runners.spec import BaselineFailure, Json
from tests.redteam import once_read
from tests.runners.host_gpu import COMPILER, artifact
from tests.runners.test_inputs import _pointer, _work
from tests.runners.test_judge import _job, _verdict

Floats = npt.NDArray[np.float64]
RESIDUAL = """
typedef double real;
#define EVERY(k) for (int k = 0; k < n; ++k)
__device__ void two_sum(real a, real b, real* s, real* e) {
    *s = a + b;
    real t = *s - a;
    *e = (a - (*s - t)) + (b - t);
}
extern "C" __global__ void scale(const real* a, const real* x, const real* b, real* r, int m, int n) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= m) return;
    real sum = 0, rest = 0;
    EVERY(k) {
        real u = -a[(size_t)row * n + k], v = x[k], s, e;
        STEP
    }
    real s, e;
    two_sum(sum, b[row], &s, &e);
    r[row] = s + (rest + e);
}
"""
EXACT = "real p = u * v; two_sum(sum, p, &s, &e); sum = s; rest += e + fma(u, v, -p);"
ORDERED = """
    real p = u * v, q = sum;
    if (fabs(q) < fabs(p)) { real t = q; q = p; p = t; }
    sum = q + p; rest += (p - (sum - q)) + fma(u, v, -(u * v));
"""
FIRST = "real p = u * v; s = sum + p; e = p - (s - sum); sum = s; rest += e + fma(u, v, -p);"
SUMS = "two_sum(sum, u * v, &s, &e); sum = s; rest += e;"
PLAIN = "sum += u * v; s = e = 0;"
BACKWARDS = ("int k = 0; k < n; ++k", "int k = n - 1; k >= 0; --k")
WORK: Json = {
    "arguments": [
        {"name": "a", "type": "const double*", "shape": "m*n"},
        {"name": "x", "type": "const double*", "shape": "n"},
        {"name": "b", "type": "const double*", "shape": "m"},
        {"name": "r", "type": "double*", "shape": "m", "role": "output"},
        {"name": "m", "type": "int", "value": "m"},
        {"name": "n", "type": "int", "value": "n"},
    ],
    "launch": {"grid": ["(m+63)/64"], "block": ["64"], "shared": "0", "tunable": False},
    "cases": [{"values": {"m": 5, "n": 203}}],
    "tolerance": {"rtol": 1e-9, "atol": 1e-12},
}
SINGLE: Json = {
    **WORK,
    "arguments": [
        {**one, "type": one["type"].replace("double", "float")} for one in WORK["arguments"]
    ],
    "tolerance": {"rtol": 1e-5, "atol": 1e-6},
}


def _text(step: str, *changed: tuple[str, str]) -> str:
    text = RESIDUAL.replace("STEP", step)
    for before, after in changed:
        assert before in text
        text = text.replace(before, after)
    return text


def _made(family: str, kind: str = "double*", rows: int = 9, cols: int = 100) -> list[Floats]:
    names = ({**_pointer(f"const {kind}", shape="rows*cols"), "name": name} for name in "ab")
    work = _work(*names, rows=rows, cols=cols)
    made = Contents(work).of(Combination(work.cases[0].values, family, 1))
    dtype = "f8" if kind == "double*" else "f4"
    return [made[name].view(dtype).reshape(rows, cols).astype(np.float64) for name in "ab"]


@pytest.mark.parametrize("kind", ["double*", "float*"])
@pytest.mark.parametrize("way", [cancelling.ALONG, cancelling.ACROSS])
def test_pairs_differ_by_little_and_that_alone_is_left(kind: str, way: str) -> None:
    rows, cols = (9, 100) if way == cancelling.ALONG else (100, 9)
    axis = 1 if way == cancelling.ALONG else 0
    whole, apart, half = (
        _made(f"{way} 0{beside}", kind, rows, cols) for beside in ("", *cancelling.BESIDE)
    )
    far = np.abs(whole[0]) > 2.0**20
    assert (far.sum(axis) == 4).all()
    # Whole numbers of arbitrary size: what floating point would lose is what is asked about.
    exact = [[int(v) for v in line] for line in (whole[0] if axis else whole[0].T)]
    left = [[int(v) for v in line] for line in (apart[0] if axis else apart[0].T)]
    assert [sum(line) for line in exact] == [sum(line) for line in left]
    assert np.abs(apart[0]).max() <= 3 * 256
    assert not np.array_equal(half[0], whole[0])
    assert (np.abs(half[0].sum(axis)) > 2.0**20).all()
    for one in (whole, apart, half):
        assert len({*one[1].ravel().tolist()}) == 1


def test_short_rows_and_other_contents_stay_without_pairs() -> None:
    assert np.abs(_made(f"{cancelling.ALONG} 0", rows=30, cols=40)[0]).max() <= cancelling.SMALL
    work = _work(_pointer("int*"), n=300)
    case = work.cases[0].values
    declared = Contents(work).of(Combination(case, "declared", 1))["x"]
    assert np.array_equal(
        declared, Contents(work).of(Combination(case, f"{cancelling.ALONG} 0", 1))["x"]
    )


def test_texts_that_keep_rounding_errors_are_known() -> None:
    for text in (
        RESIDUAL,
        "c = (t - sum) - y;",
        "e = y - (t - s[i]);",
        "p = __fmul_rn(a, b);",
        "__int128 total = 0;",
        "e = fmaf(x, y, z); lo = (a.hi - b.hi) - c;",
    ):
        assert compensated.keeps(text), text
    for text in (
        "s += a - b;",
        "d = (x - m) * (x - m);",
        "i = n - (k - 1);",
        "y = x - f(a - b);",
        "y = (b - a) * t;",
    ):
        assert not compensated.keeps(text), text


def test_only_what_is_worked_out_in_its_own_type_is_asked() -> None:
    job = spec.parse(_job(_text(EXACT), _text(SUMS), workload=WORK, effort="confirm"))
    declared = Combination(job.work.cases[0].values, "declared", 1)
    answers = Answers(job.work, job.work.root, described={declared.key: {"seconds": 0.0}})
    found = compensated.asked(job, answers, [declared])
    assert [one.family for one in found] == [*cancelling.FAMILIES]
    assert not compensated.asked(dataclasses.replace(job, kernel=job.baseline), answers, [declared])
    loose = dataclasses.replace(job, work=dataclasses.replace(job.work, loose=True))
    assert not compensated.asked(loose, answers, [declared])
    plain = dataclasses.replace(job.baseline, source="void scale(double* r) { *r += r[1]; }")
    assert not compensated.asked(dataclasses.replace(job, baseline=plain), answers, [declared])
    # What takes doubles for floats may be a compensated sum of floats, which loses more.
    single = spec.parse(_job(_text(EXACT), _text(SUMS), workload=SINGLE, effort="confirm"))
    assert single.work.precise
    assert not compensated.asked(single, answers, [declared])
    plumb = once_read.parsed("plumb/sums_only")
    long = Combination({"m": 9.0, "n": 7201.0}, "declared", 1)
    answers = Answers(plumb.work, plumb.work.root, described={long.key: {"seconds": 0.0}})
    assert len(compensated.asked(plumb, answers, [long])) == len(cancelling.FAMILIES)


def _run(*data: float, kind: str = "f8") -> Run:
    return Run({"y": np.array(data, kind).view(np.uint8)}, None, 0.0, 0)  # type: ignore[arg-type]


def test_an_original_that_loses_some_or_does_not_look_is_not_asked() -> None:
    work = _work({**_pointer("double*", shape="2"), "name": "y", "role": "output"}, n=2)
    cancelling.defined(work, _run(1.0, 2.0), [_run(1.0, 2.0), _run(1e18, -1e18)])
    for apart, half, why in (
        ((1.0, 2.1), (1e18, 1e18), "loses"),
        ((1.0, 2.0), (1e18, 2.0), "does not depend"),
        ((1.0, np.nan), (1e18, 1e18), "not finite"),
    ):
        with pytest.raises(BaselineFailure, match=why):
            cancelling.defined(work, _run(1.0, 2.0), [_run(*apart), _run(*half)])
    with pytest.raises(BaselineFailure, match="nothing tells"):
        cancelling.defined(work, _run(1.0, 2.0), [])
    whole = _work({**_pointer("int*", shape="2"), "name": "y", "role": "output"}, n=2)
    with pytest.raises(BaselineFailure, match="no float"):
        cancelling.defined(whole, _run(1, 2, kind="i4"), [_run(1, 2, kind="i4")] * 2)


def _seen(judge: Judge, mine: str, theirs: str, workload: Json = WORK) -> tuple[set[str], str]:
    """Return what a candidate was run with, and why it is wrong."""
    job = _job(mine, theirs, workload=workload, effort="confirm")
    request = {"job": job, "candidate": artifact(mine), "baseline": artifact(theirs)}
    parsed, report = spec.parse(job), Report()
    wanted = [Combination(case.values, "declared", parsed.seed) for case in parsed.work.cases]
    answers = judge._answers(request, parsed, wanted, 60.0)
    terms = (answers, parsed, wanted, time.monotonic() + 600.0, report)
    why = ""
    try:
        assert compensated.check(lambda: judge._session(parsed, request), *terms) == ([], False)
    except Wrong as wrong:
        why = str(wrong)
    checks = report.as_json()
    assert {check["layer"] for check in checks} <= {compensated.LAYER}
    assert all(check["passed"] for check in checks) == (not why)
    assert answers.described.keys() == {one.key for one in wanted}
    return {check["what"] for check in checks}, why


host = pytest.mark.skipif(COMPILER is None, reason="g++ is not installed")


@host
@pytest.mark.parametrize(
    ("step", "right"),
    [(EXACT, True), (ORDERED, True), (FIRST, False), (SUMS, False), (PLAIN, False)],
)
def test_who_drops_errors_of_sums_or_products_is_refused(
    judge: Judge, step: str, *, right: bool
) -> None:
    seen, why = _seen(judge, _text(step, BACKWARDS), _text(EXACT))
    # What is in one row alone, as `b` is, or in columns, does not cancel.
    both = {f"numbers that cancel in rows of {name}" for name in "ax"}
    if right:
        assert seen == both
        assert not why
    else:
        assert seen <= both
        assert "of which the original loses nothing" in why


@host
@pytest.mark.parametrize(("wide", "right"), [("double", True), ("float", False)])
def test_floats_may_be_added_up_in_doubles_instead(judge: Judge, wide: str, *, right: bool) -> None:
    single = ("typedef double real", "typedef float real")
    mine = _text(f"s = e = 0; wide += ({wide})u * v;", single, BACKWARDS)
    mine = mine.replace("real sum = 0", f"{wide} wide = 0; real sum = 0")
    mine = mine.replace("s + (rest + e)", "(float)(wide + b[row])")
    seen, why = _seen(judge, mine, _text(EXACT, single, ("fma(", "fmaf(")), SINGLE)
    assert seen
    assert (why == "") == right, why


@host
@pytest.mark.parametrize("theirs", [PLAIN, FIRST, SUMS])
def test_of_an_original_that_loses_them_itself_nothing_is_asked(judge: Judge, theirs: str) -> None:
    """How it adds up is then its own order's rounding, and another one's is as good."""
    assert _seen(judge, _text(PLAIN, BACKWARDS), _text(theirs)) == (set(), "")


@host
def test_a_finalist_is_asked(judge: Judge) -> None:
    verdict = _verdict(judge, _text(SUMS), _text(EXACT), workload=WORK, effort="confirm")
    assert verdict["status"] == "wrong result"
    assert "numbers that cancel in rows of a" in verdict["log"]
    assert not all(c["passed"] for c in verdict["checks"] if c["layer"] == compensated.LAYER)
