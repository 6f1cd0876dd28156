"""Evidence of a comparison says the same when it is looked at again."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import numpy.typing as npt
import pytest

from runners.compare import Answer, Budget, compare, noise_by_exponent
from runners.cuda_types import parse
from runners.exhibit import cut, passes


def _answer(want: npt.NDArray[np.float32]) -> Answer:
    wide = want.astype(np.float64)
    noise = noise_by_exponent(np.full(len(want), 1e-7), wide)
    budget = Budget(noise, 2.0**-24, 16.0, 1e-5, 1e-6)
    return Answer("y", parse("float*"), want.view(np.uint8), (budget,), None)


@pytest.mark.parametrize("wrong", [0, 3, 5000, 9999])
def test_an_element_that_is_off_is_among_those_that_are_kept(wrong: int) -> None:
    """The window lies around the worst, and a few hundred elements are all there is."""
    want = np.random.default_rng(1).standard_normal(10_000).astype(np.float32)
    got = want * np.float32(1 + 1e-7)
    answer = _answer(want)
    good = cut(got.view(np.uint8), answer)
    got[wrong] += 0.01
    bad = cut(got.view(np.uint8), answer)
    assert good is not None
    assert bad is not None
    assert passes(json.loads(json.dumps(good)))
    assert not passes(json.loads(json.dumps(bad)))
    assert not compare(got.view(np.uint8), answer).passed
    assert len(json.dumps(bad)) < 4000


def test_a_nan_that_must_not_be_is_evidence() -> None:
    """It is further off than any number."""
    want = np.ones(500, np.float32)
    got = want.copy()
    got[77] = np.nan
    found = cut(got.view(np.uint8), _answer(want))
    assert found is not None
    assert not passes(found)


def test_integers_and_values_in_any_order_are_kept_too() -> None:
    """Whole numbers by the first that differs; what has no order as a whole, while it is small."""
    want = np.arange(100, dtype=np.int32)
    plain = Answer("y", parse("int*"), want.view(np.uint8), (None,))
    loose = Answer("y", parse("int*"), want.view(np.uint8), (None,), unordered=True)
    turned = want[::-1].copy().view(np.uint8)
    assert passes(cut(turned, loose) or {})
    assert not passes(cut(turned, plain) or {})
    many = np.zeros(10_000, np.int32).view(np.uint8)
    assert cut(many, Answer("y", parse("int*"), many, (None,), unordered=True)) is None


def test_of_pairs_the_ones_around_the_worst_are_kept() -> None:
    """Elements are counted in pairs, and so are the places that are kept."""
    want = np.random.default_rng(1).standard_normal(4000).astype(np.float32)
    got = want.copy()
    got[411] += 0.01
    found = cut(got.view(np.uint8), dataclasses.replace(_answer(want), type=parse("float2*")))
    assert found is not None
    assert not passes(json.loads(json.dumps(found)))
