"""The budget accepts what a careful programmer would write and refuses lower precision."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from runners import budgets, spec
from runners.compare import (
    Answer,
    Budget,
    compare,
    dense,
    few_ulp,
    noise_by_exponent,
    same_bytes,
    sparse,
    within,
)
from runners.cuda_types import SCALARS, parse
from tests.redteam.table import load

FLOAT = parse("float*")


def _bytes(data: npt.ArrayLike, kind: str = "f4") -> npt.NDArray[np.uint8]:
    return np.ascontiguousarray(np.asarray(data, kind)).view(np.uint8).reshape(-1)


def _answer(
    want: npt.NDArray[np.float64], noise: npt.NDArray[np.float64], **more: object
) -> Answer:
    terms = {"rtol": 1e-2, "atol": 1e-2, "capped": True, **more}
    lenient = bool(terms.pop("lenient", False))
    unordered = bool(terms.pop("unordered", False))
    untouched = terms.pop("untouched", None)
    budget = Budget(
        noise_by_exponent(noise, want),
        SCALARS["float"].roundoff,
        few_ulp("float"),
        **terms,  # type: ignore[arg-type]
    )
    return Answer("out", FLOAT, _bytes(want), (budget,), untouched, unordered, lenient)  # type: ignore[arg-type]


def _sums(count: int = 4096, length: int = 256) -> tuple[npt.NDArray[np.float32], ...]:
    rng = np.random.default_rng(1)
    data = rng.standard_normal((count, length), dtype=np.float32)
    return (data, np.cumsum(data, axis=1, dtype=np.float32)[:, -1])


def test_a_reordered_sum_is_within_budget() -> None:
    """Pairwise sums are judged by the error the sequential original makes."""
    data, original = _sums()
    want = data.sum(axis=1, dtype=np.float64)
    answer = _answer(want, np.abs(original - want))
    assert compare(_bytes(np.sum(data, axis=1, dtype=np.float32)), answer).passed
    assert compare(_bytes(original), answer).passed


@pytest.mark.parametrize("bits", [10, 7])
def test_lower_precision_is_refused_inside_a_loose_tolerance(bits: int) -> None:
    """Sums of inputs rounded to TF32 or bfloat16 fail though the declared tolerance is 1 %."""
    data, original = _sums()
    want = data.sum(axis=1, dtype=np.float64)
    answer = _answer(want, np.abs(original - want))
    mask = np.uint32(0xFFFFFFFF << (23 - bits) & 0xFFFFFFFF)
    coarse = (data.view(np.uint32) & mask).view(np.float32).sum(axis=1, dtype=np.float32)
    outcome = compare(_bytes(coarse), answer)
    assert not outcome.passed
    assert outcome.error > outcome.bound


def test_the_declared_tolerance_is_not_exceeded() -> None:
    """A capped budget ends at atol + rtol |want|, twelve times the noise or not."""
    want = np.ones(100)
    answer = _answer(want, np.full(100, 2e-4), rtol=1e-3, atol=0.0)
    assert not compare(_bytes(want + 2e-3), answer).passed
    assert compare(_bytes(want + 0.5e-3), answer).passed


def test_a_sum_that_cancels_need_not_be_exact_to_its_own_size() -> None:
    """What one rounding error of the inputs changes is no fault of another order of operations."""
    rng = np.random.default_rng(3)
    a, b = (rng.standard_normal(1 << 16).astype(np.float32) * 1e5 for _ in range(2))
    want = a.astype(np.float64) * 2.5 + b
    moved = (a * np.float32(1 + 2**-23)).astype(np.float64) * 2.5 + b
    answer = _answer(want, np.abs(moved - want), rtol=1e-5, atol=1e-6)
    assert compare(_bytes(np.float32(2.5) * a + b), answer).passed
    coarse = (a.view(np.uint32) & np.uint32(0xFFFFE000)).view(np.float32)
    assert not compare(_bytes(np.float32(2.5) * coarse + b), answer).passed


def test_where_a_nan_spreads_to_no_number_may_be() -> None:
    """Of special inputs anything may come there; of a single NaN, only what is no number."""
    want = np.array([1.0, np.nan, 2.0])
    answer = replace(_answer(want, np.zeros(3), lenient=True), spreads=True)
    assert compare(_bytes([1.0, np.nan, 2.0]), answer).passed
    assert compare(_bytes([1.0, np.inf, 2.0]), answer).passed
    assert not compare(_bytes([1.0, 0.0, 2.0]), answer).passed


def test_what_the_original_really_gave_is_said() -> None:
    """Where it is infinite and a right one may make it NaN, NaN is compared with."""
    want = np.array([1.0, np.nan, 2.0])
    answer = replace(_answer(want, np.zeros(3), lenient=True), spreads=True)
    assert ", want nan," in compare(_bytes([1.0, 5.0, 2.0]), answer).why
    kept = replace(answer, infinite=True)
    assert compare(_bytes([1.0, np.inf, 2.0]), kept).passed
    assert ": got 5, want an infinity," in compare(_bytes([1.0, 5.0, 2.0]), kept).why
    assert ": got 7, want 1," in compare(_bytes([7.0, 5.0, 2.0]), kept).why


def test_nan_is_no_wildcard() -> None:
    """NaN passes only where the oracle has NaN, and a finite value does not pass there."""
    want = np.array([1.0, np.nan, 2.0])
    answer = _answer(want, np.zeros(3))
    assert compare(_bytes([1.0, np.nan, 2.0]), answer).passed
    assert not compare(_bytes([np.nan, np.nan, 2.0]), answer).passed
    assert not compare(_bytes([1.0, 5.0, 2.0]), answer).passed
    assert compare(_bytes([1.0, 5.0, 2.0]), _answer(want, np.zeros(3), lenient=True)).passed
    assert not compare(_bytes([1.0, 5.0, np.nan]), _answer(want, np.zeros(3), lenient=True)).passed


def test_an_overflow_is_not_a_finite_answer() -> None:
    """Infinity where a number was wanted is wrong; the same infinity on both sides is right."""
    want = np.array([1.0, np.inf])
    assert compare(_bytes([1.0, np.inf]), _answer(want, np.zeros(2))).passed
    assert not compare(_bytes([np.inf, np.inf]), _answer(want, np.zeros(2))).passed
    assert not compare(_bytes([1.0, -np.inf]), _answer(want, np.zeros(2))).passed


@pytest.mark.parametrize(("exact", "asked"), [(True, True), (True, False), (False, True)])
def test_an_infinity_is_one_where_equality_is_asked(exact: bool, asked: bool) -> None:
    """Of results that infinities among the inputs make NaN anything goes, as elsewhere."""
    want = np.array([1.0, np.inf, -np.inf, np.nan])
    answer = _answer(want, np.zeros(4), exact=exact, lenient=True)
    answer = replace(answer, spreads=True, infinite=asked, odd=np.ones(4, bool))
    one = exact and asked
    for got, fits in (
        ([1.0, np.inf, -np.inf, np.nan], True),
        ([1.0, np.nan, -np.inf, np.nan], not one),
        ([1.0, np.inf, np.inf, np.nan], not one),
        ([1.0, 3e38, -np.inf, np.nan], not one),
        ([1.0, np.inf, -np.inf, np.inf], True),
        ([1.0, np.inf, -np.inf, 0.0], one),
        ([2.0, np.inf, -np.inf, np.nan], False),
    ):
        assert compare(_bytes(got), answer).passed is fits, got


def test_integers_are_exact() -> None:
    """One count off by one is wrong, and the message names it."""
    answer = Answer("bins", parse("int*"), _bytes([3, 4, 5], "i4"), (None,))
    assert compare(_bytes([3, 4, 5], "i4"), answer).passed
    outcome = compare(_bytes([3, 5, 5], "i4"), answer)
    assert not outcome.passed
    assert outcome.why == "bins[1]: got 5, want 4"


def test_order_is_free_only_where_the_original_shows_it() -> None:
    """A permuted output passes an unordered answer and fails an ordered one."""
    want, got = _bytes([1, 2, 3], "i4"), _bytes([3, 1, 2], "i4")
    assert not compare(got, Answer("out", parse("int*"), want, (None,))).passed
    assert compare(got, Answer("out", parse("int*"), want, (None,), unordered=True)).passed
    twice = _bytes([3, 1, 1], "i4")
    assert not compare(twice, Answer("out", parse("int*"), want, (None,), unordered=True)).passed


def test_what_the_original_leaves_alone_must_stay() -> None:
    """Writing past the end of a compacted list is wrong even inside the buffer."""
    poison = _bytes([9, 9, 9, 9], "i4")
    left = np.array([False, False, True, True])
    answer = Answer("out", parse("int*"), _bytes([1, 2, 0, 0], "i4"), (None,), left)
    assert compare(_bytes([1, 2, 9, 9], "i4"), answer, poison).passed
    assert not compare(_bytes([1, 2, 0, 9], "i4"), answer, poison).passed
    loose = Answer("out", parse("int*"), _bytes([1, 2, 0, 0], "i4"), (None,), left, unordered=True)
    assert compare(_bytes([2, 1, 9, 9], "i4"), loose, poison).passed
    assert not compare(_bytes([2, 1, 1, 9], "i4"), loose, poison).passed


def test_a_fault_deep_in_a_large_output_is_found() -> None:
    """The comparison in stretches misses nothing and gives the place."""
    want = np.ones(1_000_000)
    got = want.copy()
    got[777_777] = 1.1
    outcome = compare(_bytes(got), _answer(want, np.zeros(len(want))))
    assert not outcome.passed
    assert outcome.why.startswith("out[777777]: got 1.1")


@given(arrays.arrays(np.float64, st.integers(1, 50), elements=st.floats(-1e30, 1e30)))
def test_noise_survives_the_wire(noise: npt.NDArray[np.float64]) -> None:
    """A noise table is the same after it was written as runs."""
    table = noise_by_exponent(np.abs(noise), noise)
    assert np.array_equal(dense(sparse(table)), table)


@given(
    arrays.arrays(
        np.float32, st.integers(1, 60), elements=st.floats(-(2.0**60), 2.0**60, width=32)
    ),
    st.integers(0, 59),
)
def test_a_gross_change_of_one_element_never_passes(want: npt.NDArray[np.float32], at: int) -> None:
    """Whatever the data, an element moved by twice the largest value is refused."""
    got = want.copy()
    got[at % len(want)] += np.float32(2 * np.abs(want).max() + 1)
    wide = want.astype(np.float64)
    answer = _answer(wide, np.abs(wide) * 1e-7, rtol=1e-4, atol=1e-4)
    assert not compare(_bytes(got), answer).passed
    assert compare(_bytes(want), answer).passed


@given(st.binary(max_size=40), st.binary(max_size=40))
def test_bytes_are_the_same_only_if_they_are(left: bytes, right: bytes) -> None:
    """Odd lengths included."""
    a, b = np.frombuffer(left, np.uint8), np.frombuffer(right, np.uint8)
    assert same_bytes(a, b) == (left == right)


def test_a_rare_small_result_has_the_errors_of_larger_ones() -> None:
    """One result in a million that cancels does not set its own standard."""
    want = np.concatenate([np.linspace(1, 2, 4096), [1e-6]])
    errors = np.concatenate([np.full(4096, 1e-7), [1e-10]])
    answer = _answer(want, errors, rtol=1e-5, atol=1e-6)
    got = want + np.concatenate([np.zeros(4096), [3e-8]])
    assert compare(_bytes(got), answer).passed
    many = np.concatenate([np.linspace(1, 2, 4096), np.linspace(1e-6, 1.9e-6, 4096)])
    quiet = np.concatenate([np.full(4096, 1e-7), np.full(4096, 1e-13)])
    strict = _answer(many, quiet, rtol=1e-5, atol=1e-6)
    assert not compare(_bytes(many + np.repeat([0, 3e-8], 4096)), strict).passed


def test_a_lucky_original_does_not_draw_the_line_below_the_tolerance() -> None:
    """Where nobody declared the inputs: four times its error, no more, and that within reason."""
    noise = np.full(2111, 1e-7)
    plain = Budget(noise, 2.0**-24, 16.0, 1e-5, 0.0, capped=False)
    wider = replace(plain, stretch=4.0)
    want = np.array([1.0])
    earned = float(plain.bound(want)[0])
    assert wider.bound(want)[0] == pytest.approx(4 * earned)
    tight = replace(wider, rtol=earned / 2)
    assert tight.bound(want)[0] == pytest.approx(2 * earned)
    none = replace(wider, rtol=0.0)
    assert none.bound(want)[0] == pytest.approx(earned)
    assert replace(wider, exact=True).bound(want)[0] == 0


def test_results_near_zero_may_err_by_the_rounding_of_typical_ones() -> None:
    """One less almost one is as exact as that; equality stays equality."""
    noise = np.full(2111, 1e-12)
    budget = Budget(noise, 2.0**-24, 16.0, 1e-5, 1e-6, ground=1e-7)
    assert budget.bound(np.array([1e-9]))[0] == pytest.approx(1e-7)
    assert budget.bound(np.array([1.0]))[0] > 1e-6
    assert budget.widened(2.0).bound(np.array([1e-9]))[0] == pytest.approx(2e-7)
    assert replace(budget, exact=True).bound(np.array([1e-9]))[0] == 0


def test_sums_of_halves_may_err_as_those_of_tensor_cores_do() -> None:
    """Their errors go one way; a sum in halves is as far beyond the line as before."""
    rng = np.random.default_rng(5)
    want = rng.normal(0, 32, 4096)
    want[7] = 2.65e-4
    noise = np.abs(rng.normal(0, 4.8e-6, 4096))
    got = want.astype(np.float32).astype(np.float64)
    plain = Budget(noise_by_exponent(noise, want), 2.0**-24, few_ulp("float"), 1e-3, 1e-2)
    wide = replace(plain, stretch=budgets.STRETCH_OF_HALVES)
    cut_off, in_halves = got.copy(), got.copy()
    cut_off[7] = want[7] + 10 * plain.bound(want)[7]
    in_halves += rng.normal(0, 32 * 2.0**-11, 4096)
    assert not within(cut_off, want, plain)
    assert within(cut_off, want, wide)
    assert not within(in_halves, want, wide)


def test_the_line_is_wider_where_halves_go_in_and_not_where_they_come_out_alone() -> None:
    jobs = {one.label: one for one in load()}
    for label, wider in (("syrk/base", True), ("saxpy/base", False), ("affinity/base", False)):
        assert budgets.of_halves(spec.parse(jobs[label].job("confirm")).work) is wider
