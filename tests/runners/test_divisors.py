"""Values of a scalar that is divided by, and sizes nothing."""

from __future__ import annotations

import dataclasses
import itertools
import time

import numpy as np
import numpy.typing as npt
import pytest

from runners import divisors, thresholds
from runners.contents import Combination, Contents
from runners.families import MULTIPLES
from runners.spec import JobSpec
from tests.redteam import once_read


def _asked(label: str) -> list[Combination]:
    every = thresholds.compared(once_read.parsed(label), ())
    return [one for one in every if one.family.startswith(MULTIPLES)]


def test_divisors_are_tried_at_a_small_case() -> None:
    """Up to 160, where 10 is declared; not those that are, and no more than there is time for."""
    asked = _asked("slotting/recip_double")
    assert {one.family for one in asked} == {"multiples d"}
    assert {(one.case["n"], one.case["r"]) for one in asked} == {(1003.0, 13.0)}
    tried = [int(one.case["d"]) for one in asked]
    assert tried[:4] == [49, 98, 103, 107]
    assert {2, 3, 8, 128, 127} <= {*tried}
    assert not {7, 10} & {*tried}
    assert 60 <= len(tried) == len({*tried}) <= divisors.MOST
    assert max(tried) <= 160


def test_larger_ones_are_tried_by_equal_factors() -> None:
    tried = sorted(int(one.case["width"]) for one in _asked("cells/reciprocal_as_it_is"))
    assert 60 <= len(tried) <= divisors.MOST
    assert tried[-1] in {15999, 15997}
    far = [one for one in tried if one > 160]
    assert len(far) == divisors.FURTHER
    assert all(later < 2 * one for one, later in itertools.pairwise(far))


def _changed(job: JobSpec, before: str, after: str) -> JobSpec:
    mine, theirs = (
        dataclasses.replace(one, source=one.source.replace(before, after))
        for one in (job.kernel, job.baseline)
    )
    return dataclasses.replace(job, kernel=mine, baseline=theirs)


def test_what_neither_text_divides_by_is_no_divisor() -> None:
    """In a comment it is no division; a size is tried elsewhere, and floats round as they may."""
    job = once_read.parsed("slotting/recip_double")
    assert len(divisors.combinations(job)) > 60
    for before in ("(key[i] / (unsigned)d)", "1.0 / (double)d"):
        assert len(divisors.combinations(_changed(job, before, "1u"))) > 60
    neither = _changed(_changed(job, "(key[i] / (unsigned)d)", "1u"), "1.0 / (double)d", "1.0")
    assert not divisors.combinations(neither)
    said = _changed(neither, "int i", "// x / d\n int i")
    assert not divisors.combinations(said)
    for label in ("welch/base", "asian/base", "guesthouse/tiles"):
        assert not _asked(label)


def test_texts_divide_by_a_name_behind_casts() -> None:
    for text in (
        "q = x / d;",
        "q = x % d;",
        "q /= d;",
        "q = x / (unsigned)d;",
        "q = x / (unsigned long long)(d);",
        "q = x / static_cast<unsigned>(d);",
        "q = 1.f / float(d);",
        "q = x / (d + 1);",
    ):
        assert divisors.divided(text, "d")
    for text in ("q = d / x;", "q = x * d;", "q = x / days;", "q = x / y; q = d;"):
        assert not divisors.divided(text, "d")


@pytest.mark.parametrize(
    "text",
    ["/ (" + "a" * 40000, "/ (" * 30000, "/*" * 40000, "/ f<" + "a " * 30000, "% (a* " * 20000],
)
def test_hostile_texts_take_no_time(text: str) -> None:
    job = once_read.parsed("slotting/recip_double")
    long = dataclasses.replace(job.kernel, source=job.kernel.source + text)
    begun = time.process_time()
    assert len(divisors.combinations(dataclasses.replace(job, kernel=long))) > 60
    assert not divisors.divided(text, "d")
    assert time.process_time() - begun < 5.0


def test_one_and_what_is_beyond_the_promise_are_not_tried() -> None:
    assert divisors.values(1, 64) == []
    assert sorted(divisors.values(9, 64)) == [*range(2, 10)]
    for most in (160, 161, 1000, 57600, 2**31):
        tried = divisors.values(most, 64)
        assert len(tried) == len({*tried}) == 64
        assert 2 <= min(tried) <= max(tried) <= most


def _keys(family: str, d: float) -> npt.NDArray[np.uint32]:
    work = once_read.parsed("slotting/base").work
    case = {"n": 1003.0, "d": d, "r": 13.0}
    return Contents(work).of(Combination(case, family, 1))["key"].view(np.uint32)


def test_half_are_multiples_or_one_less_and_some_are_the_last_ones() -> None:
    keys = _keys("multiples d", 49.0).astype(np.int64)
    assert 0.25 < np.mean(keys % 49 == 0) < 0.5
    assert 0.05 < np.mean(keys % 49 == 48) < 0.25
    last = (2**32 - 1) // 49 * 49
    assert np.sum(keys == last) > 5
    powers = [49 << one for one in range(26)]
    assert len({*keys.tolist()} & {*powers}) > 15
    # Of what has no multiple in its range nothing is changed; nor where the case has no such name.
    assert np.array_equal(_keys("multiples q", 49.0), _keys("declared", 49.0))


def test_a_product_with_a_reciprocal_is_no_quotient() -> None:
    """Wrong for some of the numbers that are tried, and right for both that are declared."""
    wrong, settled = [], []
    for d in (7, 10, *(int(one.case["d"]) for one in _asked("slotting/recip_double"))):
        keys = _keys("multiples d", float(d))
        quotients = (keys * (1.0 / d)).astype(np.uint32)
        wrong += [d] if (quotients != keys // d).any() else []
        settled += (
            [d] if ((keys - quotients * np.uint32(d)) // d + quotients != keys // d).any() else []
        )
    assert {49, 98, 103, 107} <= {*wrong}
    assert not {7, 10} & {*wrong}
    assert settled == []
