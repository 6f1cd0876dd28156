"""Equal whole numbers along sizes that are as long as they may be: what is counted in few bits."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import numpy.typing as npt

from runners import capacities, families, whole_families
from runners.contents import Combination, Contents
from runners.spec import CaseSpec, Work
from tests.redteam import once_read
from tests.runners.test_inputs import _pointer, _work

KINDS = (families.SAME, families.UNLIKE)


def _array(name: str, init: str, shape: str, kind: str = "const int*") -> dict[str, Any]:
    return {"name": name, "type": kind, "shape": shape, "init": init}


def _votes() -> Work:
    """Neighbours of nodes, which have labels."""
    sizes = (
        {"name": "n", "type": "int", "value": "n"},
        {"name": "deg", "type": "int", "value": "deg"},
    )
    return _work(
        _array("slot", "randint:-1:100000", "n*deg"),
        _array("label", "randint:0:7", "n"),
        {**_array("next", "zeros", "n", "int*"), "role": "output"},
        *sizes,
        n=100000,
        deg=24,
    )


def _asked(work: Work, checks: str = "confirm") -> list[Combination]:
    extra = once_read.combinations(work, checks, 1)[1]
    return [one for one in extra if one.family in KINDS]


def _of(work: Work, one: Combination, name: str) -> npt.NDArray[np.int32]:
    return Contents(work).of(one)[name].view(np.int32)


def test_each_size_is_as_long_as_it_may_be_and_a_power_of_two() -> None:
    """What is added up along it comes first; of many that are too large there is none."""
    found = [(one.family, dict(one.case)) for one in _asked(_votes())]
    assert found == [(family, {"deg": deg, "n": 9.0}) for family in KINDS for deg in (256.0, 384.0)]
    # Sixteen times a power of two is one: the other length is one less.
    row = dataclasses.replace(_votes(), cases=(CaseSpec({"n": 1000.0, "deg": 4096.0}),))
    assert [dict(one.case) for one in _asked(row)[:2]] == [
        {"deg": 65535.0, "n": 9.0},
        {"deg": 65536.0, "n": 9.0},
    ]
    assert {one.case["n"] for one in _asked(row)} == {9.0, 8192.0, 16000.0}
    # No more of 15 are alike than 8 bits hold.
    few = dataclasses.replace(_votes(), cases=(CaseSpec({"n": 1000000.0, "deg": 15.0}),))
    assert not _asked(few)


def test_only_a_confirmation_asks_and_of_whole_numbers_that_are_drawn() -> None:
    assert not _asked(_votes(), "screen")
    assert not _asked(_votes(), "race")
    rows: dict[str, Any] = {"rows": 30, "cols": 90}
    assert not _asked(_work(_pointer(shape="rows*cols"), **rows))
    assert not _asked(_work(_pointer("int*", "capture:x", "rows*cols"), **rows))
    # One array alone is unlike none.
    one = _asked(_work(_pointer("int*", "randint:0:9", "rows*cols"), **rows))
    assert {asked.family for asked in one} == {families.SAME}


def test_numbers_are_small_ones_of_their_ranges() -> None:
    """Neighbours there are at any size; what is no element of a range is nowhere."""
    work = _votes()
    for family, label in ((families.SAME, 1), (families.UNLIKE, 2)):
        asked = Combination({"n": 9.0, "deg": 384.0}, family, 1)
        assert np.unique(_of(work, asked, "slot")).tolist() == [1]
        assert np.unique(_of(work, asked, "label")).tolist() == [label]
    narrow = _work(
        _array("a", "randint:5:9", "n"),
        _array("b", "randint:-9:-2", "n"),
        _array("c", "normal", "n"),
        n=90,
    )
    every = Contents(narrow).of(Combination({"n": 90.0}, families.UNLIKE, 1))
    found = [np.unique(data.view(np.int32)).tolist() for data in every.values()]
    assert found == [[5], [-3], [3]]


def test_of_what_may_be_indices_not_all_meet() -> None:
    """Threads that exchange a word until it holds take a time that grows with their square."""
    case = {"n": 200_000.0}
    for init, kind, most in (
        ("randint:0:500", "const int*", whole_families.HOT + 1000),
        ("randint:0:50", "const unsigned char*", 200_000),
        ("randint:0:2147483647", "const int*", 200_000),
    ):
        work = _work(_array("x", init, "n", kind), n=200_000)
        data = Contents(work).of(Combination(case, families.SAME, 1))["x"]
        ones = int((data.view(np.uint8 if "char" in kind else np.int32) == 1).sum())
        assert most - 1000 <= ones <= most
        assert ones > capacities.SHORT


def _neighbours(slots: npt.NDArray[np.int32], labels: npt.NDArray[np.int32]) -> npt.NDArray[Any]:
    """Return how many neighbours of the first node have each label."""
    there = slots[(slots >= 0) & (slots < len(labels))]
    return np.bincount(labels[there], minlength=7)


def test_votes_in_bytes_of_a_word_elect_another_label() -> None:
    """By chance there are few neighbours in a small graph, however many slots there are."""
    job = once_read.parsed("labelvote/byte_bins")
    wrong = set()
    for one in once_read.combinations(job.work, "confirm", 1)[1]:
        if one.case["n"] > 1000:
            continue
        slots, labels = (_of(job.work, one, name) for name in ("slot", "label"))
        votes = _neighbours(slots[: int(one.case["deg"])], labels)
        packed = sum(int(many) << 8 * label for label, many in enumerate(votes))
        bins = [packed >> 8 * label & 255 for label in range(7)]
        if votes.any() and np.argmax(bins) != np.argmax(votes):
            wrong.add(one.family)
    assert wrong == {*KINDS}


def test_sums_of_16_bits_run_over_where_all_bits_are_alike() -> None:
    job = once_read.parsed("blockbits/short_pairs")
    wrong = set()
    for one in once_read.combinations(job.work, "confirm", 1)[1]:
        k = int(one.case["k"])
        if k >= 1 << 15:
            a, b = (_of(job.work, one, name)[: (k + 31) // 32] for name in ("a", "b"))
            bits = np.unpackbits((a ^ b).view(np.uint8), bitorder="little")[:k]
            total = k - 2 * int(bits.sum())
            if not -(1 << 15) <= total < 1 << 15:
                wrong.add((one.family, k))
    # So it does where numbers swing from end to end, or two of them take turns.
    others = (families.SWINGS, families.ISOLATED)
    alike = {one for one in wrong if not one[0].startswith(others)}
    assert alike == {(family, k) for family in KINDS for k in (65535, 65536)}


def test_a_slow_original_is_not_asked_for_longer_ones() -> None:
    watch = capacities.Watch()
    watch.took(Combination({"n": 9.0, "deg": 256.0}, families.SAME, 1), 1.0)
    longer = Combination({"n": 9.0, "deg": 384.0}, families.SAME, 1)
    assert "would take" in watch.objection(longer)
    watch.failed(Combination({"n": 9.0, "deg": 256.0}, families.UNLIKE, 1))
    assert watch.objection(longer) == capacities.SHORTER


def test_rows_of_which_most_are_one_value_are_longer_than_a_byte_counts() -> None:
    work = _work(_pointer("int*", "randint:0:9", "rows*cols"), rows=60, cols=30)
    lengths = {case["cols"] for case in capacities.mostly(work)}
    assert lengths == {311.0}
    assert 311 * 7 // 8 > 256
    long = _work(_pointer("int*", "randint:0:9", "rows*cols"), rows=60, cols=300)
    assert {case["cols"] for case in capacities.mostly(long)} == {1201.0}
