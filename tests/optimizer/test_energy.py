"""Intervals on energy: what few pairs bear, and when one candidate takes less than another."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from optimizer.energy import energy_of, saving, saving_interval, uses_less
from optimizer.model import CaseEnergy, Energy, Measurement

PAIRS = st.lists(st.tuples(st.floats(1e-3, 1e6), st.floats(1e-3, 1e6)), min_size=1, max_size=8)


def energy(*cases: tuple[float, int, float], spread: float = 0.003, seed: int = 0) -> Energy:
    """Return energies around ratios, each with so many pairs and a weight."""
    draw = random.Random(seed)  # noqa: S311 - no secret
    found = []
    for number, (ratio, pairs, weight) in enumerate(cases):
        before = tuple(100.0 * math.exp(draw.gauss(0, spread)) for _ in range(pairs))
        after = tuple(100.0 / ratio * math.exp(draw.gauss(0, spread)) for _ in range(pairs))
        found.append(CaseEnergy(f"n={number}", after, before, weight=weight))
    return Energy(tuple(found))


def test_the_saving_is_the_weighted_mean_of_log_ratios() -> None:
    """2x at weight 2 and 1x at weight 1 are 2^(2/3)."""
    found = energy((2.0, 3, 2.0), (1.0, 3, 1.0), spread=0.0)
    assert saving(found) == pytest.approx(2 ** (2 / 3))
    seen = saving_interval(found)
    assert seen is not None
    assert seen.low < 2 ** (2 / 3) < seen.high


def test_fewer_than_three_pairs_bear_no_interval() -> None:
    """They order candidates and support no claim."""
    seen = saving_interval(energy((3.0, 2, 1.0)))
    assert seen is not None
    assert (seen.low, seen.high) == (0.0, math.inf)
    assert not uses_less(energy((3.0, 2, 1.0)), energy((1.0, 9, 1.0)))


def test_a_ratio_holds_its_interval() -> None:
    """At 99 %, of 400 measurements of a known ratio few leave it out."""
    missed = 0
    for seed in range(400):
        seen = saving_interval(energy((1.1, 4, 1.0), seed=seed), 0.99)
        assert seen is not None
        missed += not seen.low <= 1.1 <= seen.high
    assert missed <= 8


def test_equal_candidates_are_not_told_apart() -> None:
    """At 99 %, of 300 pairs of equal candidates hardly one is called thriftier."""
    wrong = sum(
        uses_less(energy((1.2, 3, 1.0), seed=seed), energy((1.2, 3, 1.0), seed=seed + 1000))
        for seed in range(300)
    )
    assert wrong <= 5
    assert uses_less(energy((1.3, 3, 1.0)), energy((1.2, 3, 1.0), seed=1))


def test_what_was_not_measured_has_no_saving() -> None:
    """No energy, no cases, a case without pairs: nothing, and never a number."""
    for missing in (None, Energy(unavailable="MIG"), Energy((CaseEnergy("", (), ()),))):
        assert saving(missing) is None
        assert saving_interval(missing) is None
        assert not uses_less(missing, energy((1.0, 3, 1.0)))
        assert not uses_less(energy((9.0, 3, 1.0)), missing)
    assert energy_of(Measurement((), "a GPU", energy=Energy(unavailable="MIG"))) is None
    assert saving(energy((2.0, 3, 0.0))) is None


@given(PAIRS, PAIRS)
def test_no_candidate_takes_less_than_itself_nor_both_less_than_the_other(
    one: list[tuple[float, float]], other: list[tuple[float, float]]
) -> None:
    """`uses_less` is a strict order on whatever numbers come."""
    first, second = (
        Energy((CaseEnergy("", tuple(c for c, _ in p), tuple(b for _, b in p)),))
        for p in (one, other)
    )
    assert not uses_less(first, first)
    assert not (uses_less(first, second) and uses_less(second, first))


@given(PAIRS, st.floats(0.5, 0.999))
def test_an_interval_holds_its_estimate(
    pairs: list[tuple[float, float]], confidence: float
) -> None:
    """Low, estimate and high are in that order for any energies."""
    found = Energy((CaseEnergy("", tuple(c for c, _ in pairs), tuple(b for _, b in pairs)),))
    seen = saving_interval(found, confidence)
    assert seen is not None
    assert seen.low <= seen.estimate <= seen.high
