"""What counts as the same result, and what runs of the original teach about it."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from runners.program_compare import (
    Bounds,
    Bytes,
    Expectation,
    compare,
    guess,
    kinds_of,
    learn,
    loosen,
)

FLOAT = Expectation(("f4",))
RNG = np.random.default_rng(1)


def raw(values: npt.NDArray[Any]) -> Bytes:
    return np.ascontiguousarray(values).view(np.uint8).copy()


def normal(count: int = 1000) -> npt.NDArray[np.float32]:
    return RNG.normal(size=count).astype(np.float32)


def test_floats_may_be_off_by_rounding_and_no_more() -> None:
    want = normal()
    assert compare(raw(want), raw(want * np.float32(1 + 2e-5)), FLOAT, Bounds()).passed
    assert not compare(raw(want), raw(want * np.float32(1 + 1e-3)), FLOAT, Bounds()).passed


def test_one_wrong_element_in_a_million_is_found() -> None:
    want = normal(1 << 20)
    got = want.copy()
    got[777_777] += 0.01
    outcome = compare(raw(want), raw(got), FLOAT, Bounds())
    assert not outcome.passed
    assert "1 elements" in outcome.why


def test_a_result_near_zero_of_a_sum_that_cancels_may_be_off_by_the_scale_of_its_array() -> None:
    want = normal()
    want[3] = 1e-6
    got = want.copy()
    got[3] = 3e-6
    assert compare(raw(want), raw(got), FLOAT, Bounds()).passed


def test_many_small_elements_may_not_vanish_beside_a_large_one() -> None:
    want = np.full(1000, 1e-3, np.float32)
    want[0] = 1e6
    got = np.zeros_like(want)
    got[0] = 1e6
    assert not compare(raw(want), raw(got), FLOAT, Bounds()).passed


def test_an_array_of_tiny_numbers_is_not_swallowed_by_the_absolute_tolerance() -> None:
    want = normal() * np.float32(1e-9)
    assert not compare(raw(want), raw(want * 0), FLOAT, Bounds(1e-5, 1e-6)).passed


def test_doubles_are_held_to_more_digits() -> None:
    want = RNG.normal(size=100)
    double = Expectation(("f8",))
    assert compare(raw(want), raw(want * (1 + 1e-12)), double, Bounds()).passed
    assert not compare(raw(want), raw(want * (1 + 1e-6)), double, Bounds()).passed


def test_halves_are_held_to_fewer_digits() -> None:
    want = normal().astype(np.float16)
    half = Expectation(("f2",))
    assert compare(raw(want), raw(np.nextafter(want, np.float16(9))), half, Bounds()).passed
    assert not compare(raw(want), raw(want * np.float16(1.1)), half, Bounds()).passed


def test_integers_are_exact() -> None:
    want = np.arange(1_000_000_000, 1_000_000_100, dtype=np.int32)
    assert not compare(
        raw(want), raw(want + (want == want[5])), Expectation(("int",)), Bounds()
    ).passed


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_no_nan_or_infinity_may_come_or_go(value: float) -> None:
    want = normal()
    got = want.copy()
    got[5] = value
    assert not compare(raw(want), raw(got), FLOAT, Bounds()).passed
    assert not compare(raw(got), raw(want), FLOAT, Bounds()).passed
    assert compare(raw(got), raw(got.copy()), FLOAT, Bounds()).passed


def test_another_length_is_another_result() -> None:
    assert not compare(raw(normal(8)), raw(normal(7)), FLOAT, Bounds()).passed


@given(st.binary(max_size=64), st.binary(max_size=64))
def test_bytes_of_any_kind_are_compared_without_an_exception(one: bytes, two: bytes) -> None:
    a, b = np.frombuffer(one, np.uint8), np.frombuffer(two, np.uint8)
    for kinds in (("f4",), ("f8",), ("f2",), ("b2",), ("int",), ("f4", "int")):
        expected = Expectation(kinds)
        assert compare(a, a.copy(), expected, Bounds()).passed
        compare(a, b, expected, Bounds())


def test_parameter_types_decide_what_a_buffer_holds() -> None:
    some = raw(np.arange(8, dtype=np.int32))
    assert kinds_of(frozenset({"float const", "float4"}), some) == ("f4",)
    assert kinds_of(frozenset({"unsigned int"}), some) == ("int",)
    assert kinds_of(frozenset({"double"}), some) == ("f8",)
    assert kinds_of(frozenset({"long long", "uchar4", "uint8_t"}), some) == ("int",)


@pytest.mark.parametrize(
    ("values", "kinds"),
    [
        (normal(), ("f4",)),
        (RNG.normal(size=1000), ("f8",)),
        (np.arange(1000, dtype=np.int32), ("int",)),
        (RNG.integers(0, 2**32, 1000, dtype=np.uint32), ("int",)),
        (RNG.integers(0, 2**63, 1000, dtype=np.uint64), ("int",)),
        (np.zeros(100, np.float32), ("int",)),
    ],
)
def test_without_types_values_tell_what_a_buffer_holds(
    values: npt.NDArray[Any], kinds: tuple[str, ...]
) -> None:
    assert guess(raw(values)) == kinds


def layers(values: npt.NDArray[np.float32], unwritten: slice) -> list[Bytes]:
    """Return what a buffer of which a part is never written holds under each poison."""
    found = []
    for poison in (0, 0x12345678, 0xFFFFFFFF):
        words = values.view(np.uint32).copy()
        words[unwritten] = poison
        found.append(words.view(np.uint8))
    return found


def test_what_the_original_never_writes_a_candidate_must_not_write() -> None:
    runs = layers(normal(), slice(900, 1000))
    expected = learn(runs, runs[1], frozenset({"float"}))
    got = runs[2].copy()
    assert compare(runs[2], got, expected, Bounds()).passed
    got.view(np.float32)[950] = 1.0
    assert (
        "writes where the original writes nothing" in compare(runs[2], got, expected, Bounds()).why
    )


def test_words_computed_from_poison_are_not_compared() -> None:
    runs = [raw(np.array([1.0, p], np.float32)) for p in (0.5, 0.7, 0.9)]
    expected = learn(runs, runs[1], frozenset({"float"}))
    assert compare(runs[2], raw(np.array([1.0, 5.0], np.float32)), expected, Bounds()).passed
    assert not compare(runs[2], raw(np.array([2.0, 0.9], np.float32)), expected, Bounds()).passed


def test_noise_between_runs_widens_the_bound() -> None:
    want = normal()
    runs = [raw(want + RNG.normal(size=1000).astype(np.float32) * 1e-3) for _ in range(4)]
    expected = learn(runs[:3], runs[3], frozenset({"float"}))
    assert compare(runs[0], raw(want), expected, Bounds()).passed
    assert not compare(runs[0], raw(want + np.float32(0.1)), expected, Bounds()).passed


def test_two_runs_that_agree_by_luck_do_not_make_a_sum_one_of_unwritten_memory() -> None:
    sums = [raw(np.array([value], np.float32)) for value in (1000.0, 1000.1, 1000.2)]
    expected = learn(sums, sums[1], frozenset({"float"}))
    assert expected.excluded is None
    assert not compare(sums[0], raw(np.array([900.0], np.float32)), expected, Bounds()).passed


def test_noise_is_learned_beside_words_that_nothing_wrote() -> None:
    want = normal()
    runs = [layers(want + RNG.normal(size=1000).astype(np.float32) * 1e-3, slice(900, 1000))[i]
            for i in (0, 1, 2, 1)]  # fmt: skip
    expected = learn(runs[:3], runs[3], frozenset({"float"}))
    assert not expected.unstable
    wrong = runs[1].copy()
    wrong.view(np.float32)[5] += 1
    assert not compare(runs[1], wrong, expected, Bounds()).passed


def test_a_list_filled_in_any_order_is_compared_as_a_set() -> None:
    values = np.arange(100, dtype=np.int32)
    runs = [raw(RNG.permutation(values)) for _ in range(4)]
    expected = learn(runs[:3], runs[3], frozenset({"int"}))
    assert expected.unordered
    assert compare(runs[0], raw(RNG.permutation(values)), expected, Bounds()).passed
    assert not compare(runs[0], raw(np.maximum(values, 5)), expected, Bounds()).passed


def test_what_is_never_the_same_twice_is_said_to_be_unstable() -> None:
    runs = [raw(RNG.integers(0, 2**31, 100, dtype=np.int32)) for _ in range(4)]
    assert learn(runs[:3], runs[3], frozenset({"int"})).unstable


def test_another_rounding_of_the_original_loosens_the_bound() -> None:
    want = normal()
    other = want * np.float32(1.002)
    loose = loosen(FLOAT, raw(want), raw(other))
    assert not compare(raw(want), raw(other), FLOAT, Bounds()).passed
    assert compare(raw(want), raw(other), loose, Bounds()).passed


def test_a_chaotic_original_does_not_loosen_the_bound() -> None:
    want = normal()
    assert loosen(FLOAT, raw(want), raw(-want)) == FLOAT
