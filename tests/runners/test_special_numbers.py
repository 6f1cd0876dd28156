"""Numbers that number theory knows are what they are said to be, and arrays hold them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from runners import special_numbers
from runners.contents import Combination, Contents
from runners.families import SPECIAL_NUMBERS
from tests.redteam import once_read
from tests.runners.test_inputs import _work
from tests.runners.test_twins import _array

INT = (1 << 31) - 1


def test_pseudoprimes_are_composite_and_powers_take_them_for_primes() -> None:
    every = special_numbers.pseudoprimes()
    assert len(every) > 4000
    for one in every[::37]:
        assert any(one % prime == 0 for prime in special_numbers.primes() if prime < one)
        assert pow(2, one - 1, one) == 1 or pow(3, one - 1, one) == 1
    # The first are taken for primes by the most bases.
    passed = [sum(special_numbers.strong(one, base) for base in (2, 3, 5)) for one in every[:100]]
    assert max(passed) == 3
    assert sum(passed[:20]) > sum(passed[-20:])


@pytest.mark.parametrize("bases", [(2,), (3,), (2, 3), (2, 3, 5), (31, 73)])
def test_each_test_by_a_few_bases_is_wrong_for_one_of_them(bases: tuple[int, ...]) -> None:
    found = special_numbers.numbers(0, 0, INT)
    wrong = [one for one in found if all(special_numbers.strong(one, base) for base in bases)]
    assert wrong
    assert not any(special_numbers.is_prime(one) for one in wrong)
    # Four bases are enough below 3,215,031,751.
    assert not any(all(special_numbers.strong(one, base) for base in (2, 3, 5, 7)) for one in found)


def test_carmichael_numbers_are_among_them() -> None:
    found = special_numbers.numbers(0, 0, INT)
    every_base = [
        one
        for one in found
        if all(pow(base, one - 1, one) == 1 for base in range(2, 30) if math.gcd(base, one) == 1)
    ]
    assert {1729, 294409, 56052361} <= {*every_base}


def test_each_kind_is_within_a_range_and_none_is_empty() -> None:
    for kind in range(len(special_numbers.KINDS)):
        for low, high in ((0, INT), (-INT, INT), (10**6, 10**7), (0, (1 << 63) - 1)):
            found = special_numbers.numbers(kind, low, high)
            assert found
            assert low <= min(found) <= max(found) <= high
            assert len(found) == len({*found}) <= special_numbers.MOST
    squares = special_numbers.numbers(2, 0, INT)
    assert {46340**2, 46340**2 - 1, 46340**2 + 1} <= {*squares}


def test_a_second_array_has_the_next_of_each() -> None:
    """Neighbours in Fibonacci's sequence take the most steps to what they have in common."""
    work = _work(
        _array("a", "randint:1:2000000000", shape="n"),
        _array("b", "randint:1:2000000000", shape="n"),
        n=5000,
    )
    kind = special_numbers.KINDS.index(special_numbers._grown)
    made = Contents(work).of(Combination({"n": 5000.0}, f"{SPECIAL_NUMBERS} {kind}", 1))
    one, other = (made[name].view(np.int32).tolist() for name in "ab")
    pairs = {*zip(one, other, strict=True)}
    assert {(610, 987), (433494437, 701408733)} <= pairs
    assert min(one) >= 1


@pytest.mark.parametrize(
    ("init", "kind"), [("randint:0:1000", "const int*"), ("normal", "const float*")]
)
def test_narrow_ranges_and_floats_are_not_asked(init: str, kind: str) -> None:
    assert not [*special_numbers.asked(_work(_array("a", init, kind, "n"), n=5000))]


def test_originals_in_whole_numbers_of_a_wide_range_are_asked() -> None:
    asked: list[Any] = [
        one.family
        for one in once_read.combinations(once_read.parsed("abacus/base").work, "confirm", 1)[1]
        if one.family.startswith(SPECIAL_NUMBERS)
    ]
    assert asked == [f"{SPECIAL_NUMBERS} {kind}" for kind in range(len(special_numbers.KINDS))]
