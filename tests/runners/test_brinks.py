"""Few whole numbers beside the end of a wide range: what a counter hands on to its next word."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runners import brinks, families
from runners.contents import Combination, Contents
from runners.spec import CaseSpec, Work
from tests.redteam import once_read
from tests.runners.test_inputs import _pointer, _work

WORDS = "randint:0:4294967296"


def _array(name: str, init: str, shape: str, kind: str = "const unsigned*") -> dict[str, Any]:
    return {"name": name, "type": kind, "shape": shape, "init": init}


def _counted(*more: dict[str, Any]) -> Work:
    work = _work(_pointer(), *more, n=4_000_000)
    return dataclasses.replace(work, cases=(*work.cases, CaseSpec({"n": 5003.0})))


def _asked(work: Work, checks: str = "confirm", seed: int = 1) -> list[Combination]:
    extra = once_read.combinations(work, checks, seed)[1]
    return [one for one in extra if one.family == families.BRINK]


def _of(work: Work, one: Combination, name: str, dtype: npt.DTypeLike) -> list[int]:
    return [int(v) for v in Contents(work).of(one)[name].view(dtype)]


def _carried(work: Work, one: Combination, per: int) -> bool:
    """Tell whether a counter in the low of two words goes past its end where the case ends."""
    nonce = _of(work, one, "nonce", np.uint32)
    return nonce[0] + (int(one.case["n"]) - 1) // per > 0xFFFFFFFF


@pytest.mark.parametrize("seed", [1, 2, 77])
def test_a_carry_that_is_lost_is_shown_in_small_and_in_large_cases(seed: int) -> None:
    """Of two words the low one is at its low end in all others, but where every word is at or beside its high one."""
    job = once_read.parsed("presentctr/low_word_counts")
    extra = once_read.combinations(job.work, "confirm", seed)[1]
    few = dataclasses.replace(
        job.work, arguments=tuple(a for a in job.work.arguments if a.name != "data")
    )
    seen = {
        (one.family, one.case["n"])
        for one in extra
        if _carried(job.work if one.family == families.BRINK else few, one, 8)
    }
    units = {(families.UNITS, n) for n in (16.0, 64.0, 5003.0)}
    lengths = (5003.0, 4_000_000.0)
    beside = {(families.BESIDE_ENDS, n) for n in lengths}
    events = {(f"{families.EARLY} {kind}", 5003.0) for kind in ("0 middling", "1 largest")}
    less = {(families.ONE_LESS, 5003.0)}
    # Whether a mask leaves out just such bits, chance decides.
    seen -= {(families.BIT_MASKS, 5003.0)}
    # And so it does whether a number that number theory knows is one of the very last.
    seen = {one for one in seen if not one[0].startswith(families.SPECIAL_NUMBERS)}
    assert seen == units | beside | events | less | {(families.BRINK, n) for n in lengths}


def test_they_are_asked_of_finalists_and_of_short_arrays_alone() -> None:
    assert len(_asked(_counted(_array("nonce", WORDS, "2")))) == 2 * (3 + 2)
    # One alone is all of them; of many a few are alone.
    assert len(_asked(_counted(_array("nonce", WORDS, "1")))) == 2 * 3
    assert len(_asked(_counted(_array("key", WORDS, "40")))) == 2 * (3 + brinks.MOST_ALONE)
    for none in (
        _array("key", WORDS, "n"),
        _array("key", WORDS, "65"),
        _array("key", "randint:0:100000", "2"),
        _array("key", "randint:0:256", "16", "const unsigned char*"),
        _array("key", "zeros", "2"),
        {**_array("key", WORDS, "2", "unsigned*"), "role": "output"},
    ):
        assert not _asked(_counted(none))
    nonce = _counted(_array("nonce", WORDS, "2"))
    assert not _asked(nonce, "screen")
    assert not _asked(nonce, "race")
    far = dataclasses.replace(nonce, cases=(nonce.cases[1], CaseSpec({"n": float(1 << 24)})))
    assert {one.case["n"] for one in _asked(far)} == {5003.0}


def test_each_word_is_at_its_end_by_itself_and_all_are_together() -> None:
    key, nonce = _array("key", WORDS, "4"), _array("nonce", WORDS, "3")
    work = _counted(nonce, key, _array("counter", WORDS, "1"))
    for n in (5003.0, 4_000_000.0):
        alone, together = set(), 0
        for one in (one for one in _asked(work) if one.case["n"] == n):
            declared = dataclasses.replace(one, family=families.DECLARED)
            moved = []
            for name in ("key", "nonce", "counter"):
                found, was = (_of(work, c, name, np.uint32) for c in (one, declared))
                moved += [(name, at) for at, v in enumerate(found) if v != was[at]]
                near = [v for at, v in enumerate(found) if (name, at) in moved]
                # No further than a case has steps of 64 elements.
                ends = (0xFFFFFFFF, 0x7FFFFFFF)
                assert all(min(e - v for e in ends if e >= v) <= n / 64 + 1 for v in near)
            together += len(moved) == 8
            alone |= set(moved) if len(moved) == 1 else set()
        assert together == 3
        assert len(alone) == 8


def test_words_are_at_the_last_number_and_beside_where_the_sign_begins() -> None:
    work = _counted(_array("seed", WORDS, "1"))
    found = sorted(_of(work, one, "seed", np.uint32)[0] for one in _asked(work)[:3])
    assert found[2] == 0xFFFFFFFF
    assert 0 < 0xFFFFFFFF - found[1] <= 5003
    assert 0 <= 0x7FFFFFFF - found[0] <= 5003
    signed = _counted(_array("seed", "randint:-2147483648:2147483648", "1", "const int*"))
    found = [_of(signed, one, "seed", np.int32)[0] for one in _asked(signed)]
    assert min(found) >= 0x7FFFFFFF - 70_000
    assert max(found) == 0x7FFFFFFF


def test_a_counter_of_64_bits_is_where_its_lower_half_ends() -> None:
    """What adds to the lower half alone is right for all that is near neither end."""
    wide = _array("counter", f"randint:0:{1 << 62}", "1", "const unsigned long long*")
    work = _counted(wide)
    found = [_of(work, one, "counter", np.uint64)[0] for one in _asked(work)]
    assert max(found) == (1 << 62) - 1
    assert any(v >> 32 < (1 << 30) - 1 and v & 0xFFFFFFFF >= 0xFFFFFFFF - 5003 for v in found)


@given(
    low=st.integers(-(1 << 31), (1 << 31) - 1),
    span=st.integers(1, 1 << 32),
    seed=st.integers(0, 1 << 40),
    n=st.integers(1, 3000),
)
@settings(max_examples=60, deadline=None)
def test_they_stay_within_any_range(low: int, span: int, seed: int, n: int) -> None:
    high = min(low + span, 1 << 31)
    work = _work(_pointer(), _array("at", f"randint:{low}:{high}", "5", "const int*"), n=n)
    case = {"n": float(n)}
    many = brinks.turns(work, case)
    assert (many > 0) == (high - 1 - low >= 1 << 24)
    for turn in range(many):
        found = _of(work, Combination(case, families.BRINK, seed + turn), "at", np.int32)
        assert low <= min(found) <= max(found) < high


def test_lanes_of_a_vector_are_words_and_others_stay() -> None:
    kind = _array("nonce", WORDS, "1", "const uint4*")
    work = _counted(kind, _array("box", WORDS, "n"))
    asked = _asked(work)
    # The larger case has eight million elements, too many.
    assert [one.case["n"] for one in asked] == [5003.0] * (3 + 4)
    for one in asked:
        arrays = Contents(work).of(one)
        declared = Contents(work).of(dataclasses.replace(one, family=families.DECLARED))
        assert len(arrays["nonce"]) == 16
        assert all(np.array_equal(arrays[k], declared[k]) for k in arrays if k != "nonce")
        assert not np.array_equal(arrays["nonce"], declared["nonce"])
