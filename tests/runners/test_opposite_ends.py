"""Arrays of whole numbers at opposite ends of their ranges, along long sizes: what is carried."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from runners import capacities, opposed, verify
from runners.capacities import LONGER, SHORTER, Watch
from runners.contents import Combination, Contents
from runners.families import DECLARED, LONGEST, OPPOSITE
from runners.opposite_ends import PART
from runners.spec import CaseSpec, Work
from runners.whole_families import APART, HOT
from tests.redteam import once_read
from tests.runners.test_inputs import _work

FLAT: dict[str, Any] = {"n": 300_000}


def _array(name: str, init: str, kind: str = "const int*", shape: str = "n") -> dict[str, Any]:
    return {"name": name, "type": kind, "shape": shape, "init": init}


def _result(kind: str = "long long*") -> dict[str, Any]:
    return {**_array("y", "zeros", kind), "role": "output"}


def _asked(work: Work, checks: str = "confirm") -> list[tuple[float, str]]:
    extra = once_read.combinations(work, checks, 1)[1]
    return [(one.case["n"], one.family) for one in extra if one.family.startswith(OPPOSITE)]


def _balance(*more: dict[str, Any], kind: str = "long long*", last: int = 41) -> Work:
    """Return what is read of two amounts, and results."""
    first, second = _array("credit", "randint:0:33"), _array("debit", f"randint:0:{last}")
    return _work(first, second, *more, _result(kind), **FLAT)


def _contents(work: Work, family: str, **case: float) -> dict[str, npt.NDArray[np.int32]]:
    made = Contents(work).of(Combination(case or FLAT, family, 1))
    return {name: data.view(np.int32) for name, data in made.items()}


def test_each_way_is_asked_in_the_largest_case_and_in_the_longest() -> None:
    """A shorter one is there for where the longest takes too long; its array is the same."""
    assert _asked(_balance()) == [
        (300_000, f"{OPPOSITE} 0 low"),
        (300_000, f"{OPPOSITE} 0 high"),
        (4_799_999, f"{OPPOSITE} 1 low"),
        (4_799_999, f"{OPPOSITE} 1 high"),
        (1_200_001, f"{OPPOSITE} 1 low"),
        (1_200_001, f"{OPPOSITE} 1 high"),
    ]
    third = _balance(_array("fee", "randint:0:9"))
    assert {family.split()[1] for _, family in _asked(third)} == {"0", "1"}


def test_only_a_confirmation_asks() -> None:
    assert not _asked(_balance(), "screen")
    assert not _asked(_balance(), "race")


def test_a_declared_case_is_asked_where_amounts_are_long() -> None:
    """In shorter rows whole arrays are at their ends in other families; rows are no flat size."""
    short = dataclasses.replace(_balance(), cases=(CaseSpec({"n": float(HOT)}),))
    assert {n for n, _ in _asked(short)} == {16 * HOT - 1, 4 * HOT + 1}
    small = dataclasses.replace(_balance(), cases=(CaseSpec({"n": 2000.0}),))
    assert not _asked(small)
    rows = [_array(name, "randint:0:33", shape="n*k") for name in ("credit", "debit")]
    assert not _asked(_work(*rows, _result(), n=300_000, k=5))
    # Four beside each other are as long as their number.
    fours = [_array(name, "randint:0:33", shape="n*4") for name in ("credit", "debit")]
    assert (300_000, f"{OPPOSITE} 0 low") in _asked(_work(*fours, _result(), n=300_000))


@pytest.mark.parametrize(
    "other",
    [
        _array("debit", "randint:0:2"),  # flags
        _array("debit", "randint:0:300000"),  # keys below a size
        _array("debit", "normal"),  # nothing was said of
        _array("debit", "randint:0:41", "int*") | {"role": "inout"},
        _array("debit", "randint:0:41", shape="64"),
    ],
)
def test_it_takes_two_amounts_that_are_only_read(other: dict[str, Any]) -> None:
    assert not _asked(_work(_array("credit", "randint:0:33"), other, _result(), **FLAT))


def test_one_array_alone_is_asked_if_its_numbers_are_below_zero_as_well() -> None:
    def alone(low: int, last: int) -> list[tuple[float, str]]:
        return _asked(_work(_array("step", f"randint:{low}:{last}"), _result(), **FLAT))

    assert alone(-5, 9)[:2] == [(300_000, f"{OPPOSITE} 0 low"), (300_000, f"{OPPOSITE} 0 high")]
    assert len(alone(-5, 9)) == 6
    # A mark that stands for none is no difference, and what only grows is as large by chance.
    assert not alone(-1, 1000)
    assert not alone(0, 1000)


def test_nothing_is_asked_where_floats_go_in_or_come_out_or_in_between() -> None:
    """In which order they are added then matters, and all errors go one way."""
    assert not _asked(_balance(_array("rate", "uniform", "const float*")))
    assert not _asked(_balance({"name": "rate", "type": "float", "value": "0.5"}))
    assert not _asked(_balance(kind="float*"))
    assert not _asked(_balance(kind="short*"))
    assert not _asked(dataclasses.replace(_balance(), whole=False))
    assert once_read.parsed("jetty/base").work.whole
    assert not once_read.parsed("boruvka/base").work.whole


def test_no_more_is_asked_than_what_32_bits_hold() -> None:
    """There another order of sums and maxima is another result, of the original's own, too."""
    assert {n for n, _ in _asked(_balance(kind="int*", last=1000))} == {300_000, 1_200_001}
    assert not _asked(_balance(kind="int*", last=10_000))
    assert _asked(_balance(last=10_000))
    # Below zero products do not make up for each other.
    signed = [_array(name, "randint:-100:101") for name in ("left", "right")]
    assert not _asked(_work(*signed, _result("int*"), **FLAT))
    assert _asked(_work(*signed, _result(), **FLAT))


@pytest.mark.parametrize("which", [0, 1])
@pytest.mark.parametrize("end", ["low", "high"])
def test_one_is_near_one_end_and_the_others_near_the_other(which: int, end: str) -> None:
    work = _balance(_array("fee", "randint:-8:24"), _array("key", "randint:0:300000"))
    made = _contents(work, f"{OPPOSITE} {which} {end}")
    drawn = _contents(work, DECLARED)
    bounds = {"credit": (0, 32), "debit": (0, 40), "fee": (-8, 23)}
    for number, (name, (low, last)) in enumerate(bounds.items()):
        most = -(-(last - low + 1) // PART)
        upper = (number == which) == (end == "high")
        near = made[name] > last - most if upper else made[name] < low + most
        assert near.mean() > 1 - 1 / APART
        assert made[name].min() >= low
        assert made[name].max() <= last
        rest = np.arange(len(near)) % APART == number
        assert near[~rest].all()
        assert np.array_equal(made[name][rest], drawn[name][rest])
        # No more meet in a place than so many times as many as by chance.
        assert np.bincount(made[name] - low).max() < 1.1 * PART * len(near) / (last - low + 1)
    assert np.array_equal(made["key"], drawn["key"])


def test_ranges_of_64_bits_and_of_numbers_without_a_sign_are_kept_to() -> None:
    wide = _array("a", f"randint:{-(1 << 62)}:{1 << 62}", "const long long*")
    plain = _array("b", f"randint:7:{1 << 32}", "const unsigned int*")
    narrow = _array("c", "randint:-128:128", "const signed char*")
    work = _work(wide, plain, narrow, _result(), **FLAT)
    made = Contents(work).of(Combination(FLAT, f"{OPPOSITE} 1 low", 1))
    a, b, c = made["a"].view(np.int64), made["b"].view(np.uint32), made["c"].view(np.int8)
    assert (a > (1 << 62) * 7 // 8).mean() > 0.98
    assert b.min() >= 7
    assert (b < (1 << 28) + 7).mean() > 0.98
    assert (c > 127 - 16).mean() > 0.98


def _at(n: float, family: str) -> Combination:
    return Combination({"n": n}, family, 1)


def test_an_original_is_asked_where_it_is_quick_with_what_is_drawn() -> None:
    low, high = f"{OPPOSITE} 0 low", f"{OPPOSITE} 0 high"
    quick, slow = Watch(), Watch()
    quick.took(_at(1e6, DECLARED), 0.1)
    assert quick.objection(_at(1e6, low)) == ""
    slow.took(_at(1e6, DECLARED), 0.2)
    assert "would take 3.2 s" in slow.objection(_at(1e6, low))
    assert "nothing tells" in Watch().objection(_at(1e6, low))
    # What it took one way tells of the other.
    quick.took(_at(1e6, low), 2.5)
    assert "would take 2.5 s" in quick.objection(_at(1e6, high))


def test_a_longer_one_is_asked_where_a_shorter_one_was_quick_and_a_shorter_else() -> None:
    watch, other = Watch(), f"{OPPOSITE} 1 low"
    watch.took(_at(1e6, DECLARED), 0.01)
    watch.took(_at(1e6, f"{OPPOSITE} 0 low"), 0.01)
    assert "would take 2.6 s" in watch.objection(_at(16e6, other))
    assert watch.objection(_at(4e6, other)) == ""
    watch = Watch()
    watch.took(_at(1e6, f"{OPPOSITE} 0 low"), 0.001)
    assert watch.objection(_at(16e6, other)) == ""
    watch.took(_at(16e6, other), 0.02)
    assert watch.objection(_at(4e6, other)) == LONGER
    watch.failed(_at(1e6, other))
    assert watch.objection(_at(16e6, other)) == SHORTER
    assert capacities.hopeless(_at(16e6, other), [_at(1e6, f"{OPPOSITE} 1 high")])
    assert not capacities.hopeless(_at(16e6, other), [_at(1e6, LONGEST)])


def test_what_is_asked_of_a_workload_is_little() -> None:
    """Six at most, and shorter ones in place of two of them, each run once."""
    assert {OPPOSITE, LONGEST} <= verify.ONE_RUN
    for name in ("jetty", "keep", "mortgage", "tally"):
        work = once_read.parsed(f"{name}/base").work
        found = [*opposed.combinations(work, 1)]
        assert 0 < len(found) <= 6
        assert all(work.elements(one.case) <= opposed.MOST_ELEMENTS for one in found)
    for name in ("emd", "gcds", "scan", "variants"):
        assert not [*opposed.combinations(once_read.parsed(f"{name}/base").work, 1)]


def _steps(made: dict[str, npt.NDArray[np.int32]]) -> npt.NDArray[np.int64]:
    """Return what is carried on at each ship: how long the one before takes, less the gap."""
    gap, crane = made["gap"], made["crane"]
    return np.concatenate([[0], crane[:-1].astype(np.int64) - gap[1:]])


def _carried(steps: npt.NDArray[np.int64], kind: type[np.generic]) -> list[int]:
    """Return what is waited for behind each tile of 1024 ships, worked out in numbers of a kind."""
    many = len(steps) // 1024
    tiles = np.cumsum(steps[: many * 1024].reshape(many, 1024), axis=1)
    least = np.minimum(0, np.minimum.accumulate(tiles, axis=1)[:, -1])
    sums, own = tiles[:, -1].astype(kind), (tiles[:, -1] - least).astype(kind)
    wait, found = kind(0), []
    for total, alone in zip(sums, own, strict=True):
        wait = max(wait + total, alone)
        found.append(int(wait))
    return found


def test_a_carry_in_floats_and_a_field_of_28_bits_show_there_and_not_by_chance() -> None:
    work = once_read.parsed("jetty/base").work
    declared, extra = once_read.combinations(work, "confirm", 1)
    kinds = {DECLARED, LONGEST}
    every = [
        one
        for one in (*declared, *extra)
        if one.case["n"] in {2_000_000, 5_592_383}
        and (one.family in kinds or one.family.startswith(OPPOSITE))
    ]
    rounded, beyond, further = set(), set(), set()
    contents = Contents(work)
    for one in every:
        steps = _steps({k: v.view(np.int32) for k, v in contents.of(one).items()})
        sums = np.cumsum(steps)
        if _carried(steps, np.float32) != _carried(steps, np.int64):
            rounded.add(one.family)
        if np.abs(sums).max() >= 1 << 27:
            beyond.add(one.family)
        if np.abs(sums).max() >= 1 << 31:
            further.add(one.family)
    assert rounded == {f"{OPPOSITE} 0 low", f"{OPPOSITE} 1 high"}
    assert beyond == {f"{OPPOSITE} 1 low", f"{OPPOSITE} 1 high"}
    # Sums in 32 bits are right for all that was declared.
    assert not further
