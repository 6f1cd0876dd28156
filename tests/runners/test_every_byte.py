"""Bytes beyond a declared range, where nothing but sums is made of them."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runners import every_byte, families, summed
from runners.contents import Combination, Contents
from runners.spec import CaseSpec, Work
from tests.redteam import once_read
from tests.redteam.table import load
from tests.runners.test_inputs import _work

CANDIDATES = {one.label: one for one in load()}
KERNEL = (
    "__device__ int part(int v) { return v + 1; }\n"
    "__global__ void f(const unsigned char* a, const int* b, int* y, float* z, unsigned char* c,"
    " int n) { extern __shared__ int room[]; __shared__ int kept[32]; int i = threadIdx.x; BODY }"
)
LEVELS: dict[str, Any] = {
    "name": "a",
    "type": "const unsigned char*",
    "shape": "n",
    "init": "randint:0:64",
}


def _summed(body: str) -> bool:
    return summed.summed(KERNEL.replace("BODY", body), "f", 0)


def _widened(**more: str) -> list[tuple[str, int, int]]:
    work = _work({**LEVELS, **more}, n=900)
    work = dataclasses.replace(work, summed=("a",))
    return [(one.name, first, last) for one, first, last in every_byte.widened(work)]


# What an original makes of them.


@pytest.mark.parametrize(
    "body",
    [
        "y[i] += a[i];",
        "int s = 0; for (int k = 0; k < n; ++k) s += a[k]; y[i] = s;",
        "int s = a[i] - __ldg(a + n); y[i] = abs(s) + b[i];",
        "const unsigned char* p = a + i; int s = *p + p[1]; ++p; y[i] = max(s, *p);",
        "room[i] = a[i]; kept[i] = room[n - i] + b[i]; y[i] = (unsigned short)kept[i];",
        "int* q = room; q[i] = a[i]; y[i] = q[0] + 1;",
        "int s = part(a[i]); y[i] = s < b[i] ? s : b[i];",
        "int s = a[i] + a[i + 1]; s += __shfl_xor_sync(~0u, s, 16); if (i == 0) atomicAdd(y, s);",
        "int m = n, at = 0; for (int k = 0; k < n; ++k) if (a[k] + b[k] < m) { m = a[k]; at = k; }",
    ],
)
def test_sums_differences_and_the_least_of_bytes_are_found(body: str) -> None:
    assert _summed(body)


@pytest.mark.parametrize(
    "body",
    [
        "y[i] = a[i];",  # nothing is added
        "y[i] = max((int)a[i], b[i]);",
        "y[a[i]] += a[i];",
        "int s = a[i] + 1; y[i] = b[s];",
        "y[i] = b[i] << a[i]; y[i] += a[i];",
        "y[i] += a[i] & 15;",
        "y[i] += a[i] % 7;",
        "y[i] += a[i] / 2;",
        "y[i] += a[i] * b[i];",
        "if (a[i] == 32) y[i] += a[i];",
        "if (a[i] > 40) y[i] += a[i];",
        "if (a[i]) y[i] += a[i];",
        "y[i] += a[i] ? a[i] : 3;",
        "y[i] += !a[i] + a[i];",
        "switch (a[i]) { case 0: y[i] += a[i]; }",
        "for (int k = 0; k < a[i]; ++k) y[i] += a[k];",
        "int s = a[i]; while (s < n) s += a[s % 7]; y[i] = s;",
        "z[i] += a[i];",
        "float s = a[i] + 1; y[i] = s;",
        "y[i] += (float)a[i] + b[i];",
        "c[i] = a[i] + a[i + 1];",
        "y[i] += (unsigned char)(a[i] + 1);",
        "unsigned char s = a[i] + 1; y[i] = s;",
        "auto s = a[i] + 1; y[i] = s;",
        "const unsigned* w = (const unsigned*)a; y[i] += w[i] + a[i];",
        "y[i] += __vaddus4(a[i], b[i]) + a[i];",
        "y[i] += a[i] + __popc(a[i]);",
        "const int* p = b + a[i]; y[i] += *p + a[i];",
        "int s = a[i] + 1; ++s; y[i] = s;",
        "y[i] += a[i]; y[i] += __shfl_sync(~0u, b[i], a[i]);",
        "auto g = [&](int k) { return a[k] + 1; }; y[i] += g(i) + a[i];",
        'asm("mov.u32 %0, %1;" : "=r"(y[i]) : "r"(a[i])); y[i] += a[i];',
    ],
)
def test_what_may_mean_something_is_left_alone(body: str) -> None:
    assert not _summed(body)


@given(st.lists(st.sampled_from([*"abynik()[]{}=+-*<>?:;,&!.", "int ", "if", "for", "1"])))
@settings(max_examples=300, deadline=None)
def test_any_text_is_answered(words: list[str]) -> None:
    assert _summed("".join(words)) in {True, False}
    assert summed.summed("".join(words), "f", 0) is False


def test_no_text_and_no_argument_are_no_sums() -> None:
    assert not summed.summed("", "f", 0)
    assert not summed.summed(KERNEL.replace("BODY", "y[i] += a[i];"), "f", 9)
    assert not summed.summed(KERNEL.replace("BODY", "y[i] += a[i];"), "g", 0)


def test_of_the_red_teams_originals_few_are_asked_about_more() -> None:
    """Places in tables, letters, widths of fields, labels of cells: none of these."""
    found = set()
    for base in {one.base.name: one for one in CANDIDATES.values()}.values():
        work = once_read.parsed(base).work
        found |= {(base.base.name, one.name) for one, _, _ in every_byte.widened(work)}
    assert found == {("sgm", "cost")}


# Which ranges are wider, and how far.


def test_ranges_are_those_of_the_type_where_they_were_far_less() -> None:
    char = "const signed char*"
    assert _widened() == [("a", 0, 255)]
    assert _widened(init="randint:0:64", type=char) == [("a", 0, 127)]
    assert _widened(init="randint:-60:61", type=char) == [("a", -127, 127)]
    assert _widened(init="randint:-64:64", type=char) == [("a", -128, 127)]
    for none in (
        {"init": "randint:0:32"},
        {"init": "randint:0:256"},
        {"init": "randint:0:200"},
        {"init": "randint:97:150"},
        {"init": "randint:-127:128", "type": char},
        {"init": "randint:0:64", "type": "const unsigned short*"},
        {"init": "zeros"},
        {"role": "output", "type": "unsigned char*"},
    ):
        assert _widened(**none) == []
    assert not [*every_byte.widened(_work(LEVELS, n=900))]


@given(seed=st.integers(0, 1 << 40), n=st.integers(1, 3000), low=st.sampled_from([0, -40, -50]))
@settings(max_examples=40, deadline=None)
def test_bytes_are_within_their_type_and_others_stay(seed: int, n: int, low: int) -> None:
    kind = "const signed char*" if low else "const unsigned char*"
    rest = {**LEVELS, "name": "b"}
    work = _work({**LEVELS, "type": kind, "init": f"randint:{low}:41"}, rest, n=n)
    work = dataclasses.replace(work, summed=("a",))
    (argument, first, last), *_ = every_byte.widened(work)
    asked = Combination({"n": float(n)}, families.EVERY_BYTE, seed)
    made = Contents(work).of(asked)
    declared = Contents(work).of(dataclasses.replace(asked, family=families.DECLARED))
    assert np.array_equal(made["b"], declared["b"])
    found = made["a"].view(np.int8 if low else np.uint8).astype(int)
    assert first <= found.min() <= found.max() <= last
    if n > 500:
        assert (found.min(), found.max()) == (first, last)
        assert len(np.unique(found)) > 150 if not low else 80
    assert argument.name == "a"


# What is asked, and what it shows.


def _asked(work: Work, checks: str = "confirm") -> list[Combination]:
    extra = once_read.combinations(work, checks, 1)[1]
    return [one for one in extra if one.family == families.EVERY_BYTE]


def test_they_are_asked_of_finalists_and_last() -> None:
    work = dataclasses.replace(_work(LEVELS, n=90_000), summed=("a",))
    work = dataclasses.replace(work, cases=(*work.cases, CaseSpec({"n": 900.0})))
    assert [one.case["n"] for one in _asked(work)] == [900.0, 90_000.0]
    assert once_read.combinations(work, "confirm", 1)[1][-2:] == _asked(work)
    for checks in ("screen", "race"):
        assert not _asked(work, checks)
    assert not _asked(dataclasses.replace(work, summed=()))


Ints = npt.NDArray[Any]


def _path(cost: Ints, most: int) -> Ints:
    """Return a row's path costs, sums of which stop at `most` (p1 = 10, p2 = 120)."""
    before = cost[0]
    found = [before]
    for own in cost[1:]:
        least = before.min()
        beside = np.full((2, len(own)), most, np.int64)
        beside[0, 1:], beside[1, :-1] = before[:-1] + 10, before[1:] + 10
        best = np.minimum(before, np.minimum(least + 120, most))
        best = np.minimum(best, np.minimum(beside, most).min(axis=0))
        before = np.minimum(own + best - least, most)
        found.append(before)
    return np.stack(found)


def test_sums_of_costs_that_stop_at_a_byte_are_shown() -> None:
    work = once_read.parsed("sgm/four_costs_a_word").work
    assert len(_asked(work)) == 1
    wrong = {}
    for family in (families.DECLARED, families.ENDS, families.EVERY_BYTE):
        one = dataclasses.replace(_asked(work)[0], family=family)
        w, disp = int(one.case["w"]), int(one.case["disp"])
        cost = Contents(work).of(one)["cost"].astype(np.int64).reshape(-1, w, disp)
        wrong[family] = sum(not np.array_equal(_path(r, 255), _path(r, 1 << 20)) for r in cost)
    assert wrong == {families.DECLARED: 0, families.ENDS: 0, families.EVERY_BYTE: 5}
