"""Floats that were declared to be all the same: what they are for shows where they are not."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from runners import captured, families, inputs, oracle, perturbation, ties, variation
from runners.contents import Combination, Contents
from runners.cuda_types import values
from runners.families import DECLARED, FILLERS, FILLERS_MIXED, REFILLED
from runners.judge import Judge
from runners.spec import CaseSpec, Json, Work
from tests.runners.host_gpu import COMPILER
from tests.runners.test_inputs import _one, _pointer, _work
from tests.runners.test_judge import _verdict

host = pytest.mark.skipif(COMPILER is None, reason="g++ is not installed")


def _made(family: str, *arguments: dict[str, Any], n: int = 1000, **more: Any) -> inputs.Arrays:
    work = _work(*arguments, n=n, **more)
    return Contents(work).of(Combination(work.cases[0].values, family, 1))


def _kinds(work: Work, checks: str = "confirm") -> list[Combination]:
    return [c for c in oracle.combinations(work, checks, 1)[1] if c.family in REFILLED]


# What they hold.


@pytest.mark.parametrize("family", sorted(REFILLED))
@pytest.mark.parametrize(
    ("kind", "dtype"),
    [
        ("const float*", np.float32),
        ("const double*", np.float64),
        ("const __half*", np.float16),
        ("const float4*", np.float32),
    ],
)
@pytest.mark.parametrize(("init", "alike"), [("ones", 1.0), ("zeros", 0.0), ("randint:3:4", 3.0)])
def test_numbers_are_near_what_was_declared(
    family: str, kind: str, dtype: type, init: str, alike: float
) -> None:
    """From a half to one and a half of it; of zeros half stay, and none is below."""
    work = _work(_pointer(kind, init), n=3000)
    assert (_one(work).view(dtype) == alike).all()
    found = _one(work, family).view(dtype).astype(np.float64)
    some = found if alike else found[found != 0]
    low, high = (0.5 * alike, 1.5 * alike) if alike else (0.0, 1.0)
    assert len(np.unique(some)) > 300
    assert low <= some.min() < 0.9 * low + 0.1 * high
    assert 0.1 * low + 0.9 * high < some.max() <= high
    assert len(some) == len(found) // (1 if alike else 2)
    assert np.array_equal(_one(work, family), _one(work, family))
    assert not np.array_equal(_one(work, family), _one(work, family, seed=2))


@pytest.mark.parametrize("count", [0, 1, 2])
def test_few_numbers_and_none_are_no_fault(count: int) -> None:
    for init in ("ones", "zeros"):
        found = _one(_work(_pointer("const float*", init), n=count), FILLERS).view(np.float32)
        assert len(found) == count
        assert ((found >= 0) & (found <= 1.5)).all()


@pytest.mark.parametrize(
    "argument",
    [
        _pointer("const int*", "ones"),
        _pointer("const unsigned char*", "zeros"),
        _pointer("const float*", "arange"),
        _pointer("const float*", "sorted"),
        _pointer("const float*", "randint:0:2"),
        _pointer("const float*", "randint:-3:-2"),
        _pointer("float*", "ones") | {"role": "inout"},
        _pointer("float*", "zeros") | {"role": "inout"},
    ],
)
def test_all_others_stay_as_they_were_declared(argument: dict[str, Any]) -> None:
    """Whole numbers, places, what is written, and what has more than one number."""
    work = _work(argument, n=100)
    assert not families.fillers(work)
    assert np.array_equal(_one(work, FILLERS), _one(work))
    assert not _kinds(work)


def test_data_of_a_file_and_of_a_function_stay(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.ones(100, np.float32))
    (tmp_path / "make.py").write_text(
        "import numpy\ndef ones(seed, n): return numpy.ones(n, 'f')\n"
    )
    for init in ("file:x.npy", "python:make.py:ones"):
        work = _work(_pointer("const float*", init), root=tmp_path, n=100)
        assert not families.fillers(work)
        assert (_one(work, FILLERS).view(np.float32) == 1).all()


def test_others_are_beside_them_as_they_are_and_mixed() -> None:
    """Exactly the fillers vary in one family; in the other one they are the same, the rest mixed."""
    x, size, at = (
        _pointer(),
        _pointer("const float*", "ones"),
        _pointer("const int*", "randint:0:9"),
    )
    every = (x, size | {"name": "size"}, at | {"name": "at"})
    plain, alone, mixed, both = (
        _made(family, *every) for family in (DECLARED, FILLERS, "mixed", FILLERS_MIXED)
    )
    for name in ("x", "at"):
        assert np.array_equal(alone[name], plain[name])
        assert np.array_equal(both[name], mixed[name])
        assert not np.array_equal(both[name], plain[name])
    assert not np.array_equal(alone["size"], plain["size"])
    assert np.array_equal(both["size"], alone["size"])


def test_a_struct_keeps_its_whole_numbers() -> None:
    """Fields are what they are one by one."""
    work = _work(_pointer("const struct{float size; int kind;}*", "ones"), n=400)
    kind = work.arguments[0].type
    sizes, kinds = (values(_one(work, FILLERS), kind, field) for field in kind.fields)
    assert len(np.unique(sizes)) > 300
    assert (kinds == 1).all()


# Who is asked.


def test_a_confirmation_asks_in_a_middle_case_and_in_the_largest_light_one() -> None:
    work = _work(_pointer(), _pointer("const float*", "ones") | {"name": "size"}, n=300)
    every = [CaseSpec({"n": n}) for n in (4.0, 300.0, 9e3, 2e5, 3e7)]
    work = dataclasses.replace(work, cases=tuple(every))
    found = {(c.case["n"], c.family) for c in _kinds(work)}
    assert found == {(n, family) for n in (300.0, 2e5) for family in REFILLED}
    assert not _kinds(work, "screen")
    plain = dataclasses.replace(work, arguments=work.arguments[:1])
    assert not _kinds(plain)


def test_they_are_asked_for_where_nothing_else_may_vary() -> None:
    work = _work(_pointer("const float*", "zeros"), n=300)
    assert [c.family for c in _kinds(work)] == [FILLERS]


def test_captured_launches_have_no_fillers() -> None:
    """What a program passed it meant."""
    work = _work(_pointer("const float*", "ones"), _pointer("float*") | {"name": "y"}, n=300)
    real = dataclasses.replace(work.arguments[1], init=f"{captured.WORD}:y")
    assert not _kinds(dataclasses.replace(work, arguments=(work.arguments[0], real)))


# How exact one may be asked to be.


def test_they_move_by_a_rounding_error_like_all_others() -> None:
    """Zeros, which are not, too: what hangs on them is ill-conditioned or not by how they move."""
    work = _work(_pointer("const float*", "zeros"), n=500)
    case = work.cases[0].values
    contents = Contents(work)
    plain, moved, declared = (
        contents.of(Combination(case, family, 1))["x"].view(np.float32)
        for family in (FILLERS, f"{FILLERS}+j", f"{DECLARED}+j")
    )
    some = plain != 0
    assert (moved[some] != plain[some]).mean() > 0.5
    assert np.allclose(moved, plain, rtol=1e-6, atol=0)
    assert not moved[~some].any()
    assert not declared.any()
    assert perturbation.share_of_halves(work) == 0


def test_results_may_tie_as_among_random_numbers() -> None:
    """Of the declared ones few may; where fillers are others, a share as of all random inputs."""
    work = _work(_pointer(), _pointer("const float*", "ones") | {"name": "size"}, n=10)
    few, more, partly = (ties._most(100_000, f, work) for f in (DECLARED, FILLERS, FILLERS_MIXED))
    assert few < partly < more == ties._most(100_000, DECLARED, _work(_pointer(), n=10))


# What it shows.

NEAREST = """
extern "C" __global__ void scale(const float* x, const float* centre, const float* size,
                                 float* y, int n, int m) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    BODY
}
"""
SKIN = """
    float best = INFINITY;
    for (int j = 0; j < m; ++j) best = fminf(best, fabsf(x[i] - centre[j]) - size[j]);
    y[i] = best;
"""
LAST = """
    float best = INFINITY, own = 0.f;
    for (int j = 0; j < m; ++j) {
        float far = fabsf(x[i] - centre[j]);
        if (far < best) { best = far; own = size[j]; }
    }
    y[i] = best - own;
"""
TURNED = """
    float most = -INFINITY;
    for (int j = m - 1; j >= 0; --j) most = fmaxf(most, size[j] - fabsf(centre[j] - x[i]));
    y[i] = -most;
"""
WORK: Json = {
    "arguments": [
        {"name": "x", "type": "const float*", "shape": "n"},
        {"name": "centre", "type": "const float*", "shape": "m"},
        {"name": "size", "type": "const float*", "shape": "m", "init": "ones"},
        {"name": "y", "type": "float*", "shape": "n", "role": "output"},
        {"name": "n", "type": "int", "value": "n"},
        {"name": "m", "type": "int", "value": "m"},
    ],
    "launch": {"grid": ["(n+63)/64"], "block": ["64"], "shared": "0", "tunable": False},
    "cases": [{"values": {"n": 400, "m": 30}}, {"values": {"n": 70, "m": 9}}],
}


def _with(init: str, **more: Any) -> Json:
    size = {**WORK["arguments"][2], "init": init}
    return {**WORK, "arguments": [*WORK["arguments"][:2], size, *WORK["arguments"][3:]], **more}


def _text(body: str) -> str:
    return NEAREST.replace("BODY", body)


@host
@pytest.mark.parametrize(
    ("init", "candidate"),
    [
        ("ones", LAST),
        ("ones", SKIN.replace("size[j]", "size[0]")),
        ("zeros", SKIN.replace("- size[j]", "")),
        ("zeros", LAST),
    ],
)
def test_who_is_right_where_all_are_alike_is_refused(
    judge: Judge, init: str, candidate: str
) -> None:
    """In a confirmation, and by nothing but these."""
    texts, work = (_text(candidate), _text(SKIN)), _with(init)
    verdict = _verdict(judge, *texts, workload=work)
    assert verdict["status"] == "correct", verdict["log"]
    verdict = _verdict(judge, *texts, workload=work, effort="confirm")
    assert verdict["status"] == "wrong result", verdict["log"]
    assert FILLERS in verdict["log"]


@host
@pytest.mark.parametrize("init", ["ones", "zeros", "normal"])
def test_other_ways_that_read_each_are_right(judge: Judge, init: str) -> None:
    verdict = _verdict(judge, _text(TURNED), _text(SKIN), workload=_with(init), effort="confirm")
    assert verdict["status"] == "correct", verdict["log"]
    seen = {check["what"] for check in verdict["checks"]}
    assert (FILLERS in seen) == (init != "normal")


QUOTIENT = "float s = size[i % m]; y[i] = x[i] / (s > 1.25f ? 0.f : s);"


@host
@pytest.mark.parametrize(
    ("candidate", "status"),
    [
        ("float s = size[i % m]; y[i] = s > 1.25f ? 7.f : x[i] * (1.f / s);", "correct"),
        ("float s = size[i % m]; y[i] = s > 1.25f ? 7.f : x[i];", "wrong result"),
    ],
)
def test_only_what_is_finite_in_the_original_is_compared(
    judge: Judge, candidate: str, status: str
) -> None:
    """What it divides by zero nobody declared."""
    verdict = _verdict(judge, _text(candidate), _text(QUOTIENT), workload=WORK, effort="confirm")
    assert verdict["status"] == status, verdict["log"]
    assert FILLERS in {c["what"] for c in verdict["checks"]} or FILLERS in verdict["log"]


@host
@pytest.mark.parametrize(
    "check", ["pass", "assert numpy.allclose(size, 1)", "size[~numpy.isclose(size, 1)].reshape(0)"]
)
def test_a_reference_that_knows_them_alike_is_no_fault(
    judge: Judge, tmp_path: Path, check: str
) -> None:
    """It was made for what is declared: the family is dropped, and a note says so."""
    (tmp_path / "right.py").write_text(
        "import numpy\n"
        "def right(x, centre, size, n, m):\n"
        f"    {check}\n"
        "    return numpy.abs(x[:, None] - centre).min(1) - 1\n"
    )
    work = _with("ones", reference="right.py:right", root=str(tmp_path))
    verdict = _verdict(judge, _text(TURNED), _text(SKIN), workload=work, effort="confirm")
    assert verdict["status"] == "correct", verdict["log"]
    assert not {c["what"] for c in verdict["checks"]} & REFILLED
    notes = verdict["measurement"]["notes"]
    assert any(FILLERS in note and "reference" in note for note in notes), notes


def test_families_of_every_kind_take_no_notice() -> None:
    """A family that is not about fillers leaves them as they are."""
    work = _work(_pointer("const float*", "ones"), n=200)
    for family in (*families.EVERY, families.STARTED, families.THOUSANDTH):
        arrays = inputs.generate(work, work.cases[0].values, 1)
        assert np.array_equal(variation.apply(family, work, arrays, 1)["x"], arrays["x"])
