"""One array of whole numbers with few events: what they leave is carried as far as there is."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from runners import capacities, longest, staying, verify
from runners.capacities import Watch
from runners.contents import Combination, Contents
from runners.early_events import ACROSS, LARGEST, MIDDLING, event, named, quiet
from runners.families import DECLARED, EARLY, ENDS, NEARLY_ENDS
from runners.opposite_ends import PART
from runners.spec import Work
from runners.whole_families import HOT
from tests.redteam import once_read
from tests.runners.test_inputs import _work

Ints = npt.NDArray[np.int32]
Maps = npt.NDArray[np.int64]
FLAT: dict[str, Any] = {"n": 300_000}


def _array(name: str, init: str, kind: str = "const int*", shape: str = "n") -> dict[str, Any]:
    return {"name": name, "type": kind, "shape": shape, "init": init}


def _read(*arrays: dict[str, Any], result: str = "long long*", **sizes: Any) -> Work:
    """Return what is read of an original that goes through loops and has no floats."""
    shape = arrays[0]["shape"]
    written = {**_array("y", "zeros", result, shape), "role": "output"}
    work = _work(*arrays, written, **(sizes or FLAT))
    return dataclasses.replace(work, loops=True, whole=True)


def _asked(work: Work, checks: str = "confirm") -> list[tuple[Mapping[str, float], str]]:
    extra = once_read.combinations(work, checks, 1)[1]
    return [(one.case, one.family) for one in extra if one.family.startswith(EARLY)]


def _made(work: Work, family: str, **case: float) -> dict[str, Ints]:
    made = Contents(work).of(Combination(case or work.cases[0].values, family, 1))
    return {name: data.view(np.int32) for name, data in made.items()}


def test_an_array_is_near_zero_but_for_events_at_both_ends_of_rows() -> None:
    """What is beside it is at its upper end, and flags at their lower one."""
    work = _read(
        _array("x", "randint:-40:41", shape="n*m"),
        _array("room", "randint:1:128", shape="n*m"),
        _array("new", "randint:0:2", shape="n*m"),
        n=5,
        m=100,
    )
    made = _made(work, named(0, MIDDLING))
    rows = made["x"].reshape(5, 100)
    assert (rows[:, [0, 99]] == 20).all()
    assert not rows[:, 1:99].any()
    assert (made["room"] == 127).all()
    assert not made["new"].any()
    other = _made(work, named(1, MIDDLING))
    assert (other["x"] == 40).all()
    assert (other["room"].reshape(5, 100)[0, :2] == [64, 1]).all()
    flags = _made(work, named(2, MIDDLING))["new"].reshape(5, 100)
    assert (flags.sum(axis=1) == 2).all()


def test_the_largest_events_are_beside_others_as_they_are_drawn() -> None:
    work = _read(_array("x", "randint:-40:41"), _array("room", "randint:1:128"), n=4000)
    made, drawn = _made(work, named(0, LARGEST)), _made(work, DECLARED)
    assert np.flatnonzero(made["x"]).tolist() == [0, 3000]
    assert (made["x"][[0, 3000]] == 40).all()
    assert (made["room"] == drawn["room"]).all()


def test_events_are_in_the_first_and_last_row_of_each_plane() -> None:
    work = _read(_array("x", "randint:0:9", shape="b*t*c"), b=3, t=50, c=4)
    x = _made(work, named(0, ACROSS))["x"].reshape(3, 50, 4)
    assert (x[:, [0, 49]] == 4).all()
    assert not x[:, 1:49].any()


@pytest.mark.parametrize(
    ("low", "high", "near", "half", "end"),
    [
        (-40, 40, 0, 20, 40),
        (3, 9, 3, 6, 9),
        (-9, -2, -2, -5, -9),
        (-9, 2, 0, -4, -9),
        (0, 1, 0, 1, 1),
    ],
)
def test_an_event_is_half_of_the_way_to_the_further_end_or_all_of_it(
    low: int, high: int, near: int, half: int, end: int
) -> None:
    argument = _work(_array("x", "randint:0:9"), n=4).arguments[0]
    one = (argument, low, high)
    assert (quiet(one), event(one, MIDDLING), event(one, LARGEST)) == (near, half, end)


def test_what_may_be_places_is_near_its_end_and_not_all_alike() -> None:
    """Threads that exchange a word until it holds would take their time there."""
    work = _read(_array("x", "randint:-40:41"), _array("room", "randint:0:320"))
    room = _made(work, named(0, MIDDLING))["room"]
    assert room.min() >= 320 - 320 // PART
    assert np.bincount(room).max() < HOT
    assert not np.any(_made(work, named(0, MIDDLING))["x"][1:-1])


def test_it_is_asked_of_short_cases_of_declared_ones_and_of_long_ones() -> None:
    work = _read(_array("x", "randint:-40:41"), _array("room", "randint:1:128"))
    assert [(case["n"], family) for case, family in _asked(work)] == [
        (300_000, named(0, MIDDLING)),
        (300_000, named(0, LARGEST)),
        (4_800_000, named(0, MIDDLING)),
        (4_800_000, named(0, LARGEST)),
        (HOT, named(1, MIDDLING)),
        (HOT, named(1, LARGEST)),
    ]
    assert not _asked(work, "screen")


def test_rows_and_columns_are_sixteen_times_as_long() -> None:
    """One kind is asked where a direction is as long as declared, which tells of the longer one."""
    work = _read(_array("x", "randint:-40:41", shape="n*m"), n=300, m=500)
    assert [(case["n"], case["m"], family.split()[2]) for case, family in _asked(work)] == [
        *((300, 500, kind) for kind in (MIDDLING, LARGEST, ACROSS)),
        *((9, 500, MIDDLING), (9, 8000, MIDDLING), (9, 8000, LARGEST)),
        *((300, 9, ACROSS), (4800, 9, ACROSS)),
    ]


def test_who_is_not_asked() -> None:
    """Without loops nothing is carried; floats are rounded; keys and lone numbers stay."""
    work = _read(_array("x", "randint:-40:41"))
    assert _asked(work)
    assert not _asked(dataclasses.replace(work, loops=False))
    assert not _asked(dataclasses.replace(work, whole=False))
    assert not _asked(_read(_array("x", "randint:-40:41"), result="float*"))
    assert not _asked(_read(_array("x", "randint:-40:41"), _array("z", "normal", "const float*")))
    for init in ("randint:0:300000", "randint:7:8", "permutation", "sorted"):
        assert not _asked(_read(_array("x", init)))


def test_sums_that_do_not_fit_are_asked_of_no_long_case() -> None:
    """Who adds in another order has another result there, where a maximum is in between."""
    arrays = (_array("x", "randint:-40:41"), _array("room", "randint:1:100000"))
    for result, least in (("long long*", 4), ("int*", 2)):
        work = _read(*arrays, result=result, n=300_000)
        small = dataclasses.replace(work, cases=(*_work(n=4000).cases, *work.cases))
        found = [one for one in _asked(small) if one[0]["n"] >= 300_000]
        assert len(found) == least
        assert [one[0]["n"] for one in _asked(small)][:4] == [4000] * 4


def test_a_long_one_is_asked_if_the_original_is_quick_in_a_shorter_one() -> None:
    less = Combination({"n": 1e6}, named(0, MIDDLING), 1)
    more = Combination({"n": 4e6}, named(0, LARGEST), 1)
    for seconds, asked in ((0.001, True), (0.1, False)):
        watch = Watch()
        assert not watch.objection(less)
        watch.took(less, seconds)
        assert (watch.objection(more) == "") is asked
    assert capacities.hopeless(more, [less])
    assert EARLY in verify.ONE_RUN


def test_the_table_is_asked_within_its_bounds() -> None:
    for name, many in (("spillway", 10), ("almanac", 0), ("adler", 11)):
        work = once_read.parsed(f"{name}/base").work
        found = [*_asked(work)]
        assert len(found) == many
        assert all(work.elements(case) <= longest.MOST_ELEMENTS for case, _ in found)
        assert len({(*case.items(), family) for case, family in found}) == many
        assert staying.MOST_ELEMENTS <= longest.MOST_ELEMENTS


def _then(first: Maps, second: Maps) -> Maps:
    """Return what comes of two maps of storages, one behind the other: add, low, high."""
    low, high = (np.minimum(np.maximum(one + second[0], second[1]), second[2]) for one in first[1:])
    return np.stack([first[0] + second[0], low, high])


def _opened(made: dict[str, Ints], far: int, start: int = 17) -> list[int]:
    """Return the storage with which each block of 16,384 days begins, looking back so many."""
    count = -(-len(made["inflow"]) // 16384)
    every = np.zeros((3, count * 16384), np.int64)
    every[1], every[2] = -(1 << 30), 1 << 30
    days = len(made["inflow"])
    every[0, :days], every[1, :days], every[2, :days] = made["inflow"], 0, made["capacity"]
    maps: Maps = every.reshape(3, count, 16384)
    while maps.shape[2] > 1:
        maps = _then(maps[:, :, ::2], maps[:, :, 1::2])
    found = []
    for block in range(count):
        x = start
        for before in range(max(0, block - far), block):
            add, low, high = maps[:, before, 0]
            x = int(min(max(x + add, low), high))
        found.append(x)
    return found


def test_the_red_teams_reservoir_holds_what_came_in_at_first() -> None:
    """By chance, and with all or nearly all at an end, 32 blocks before tell all there is."""
    work = once_read.parsed("spillway/look_back_far").work
    wrong = {}
    for family in (named(0, MIDDLING), DECLARED, ENDS, NEARLY_ENDS):
        made = _made(work, family, n=1_000_000)
        wrong[family] = _opened(made, 32) != _opened(made, 1 << 20)
    assert wrong == {named(0, MIDDLING): True, DECLARED: False, ENDS: False, NEARLY_ENDS: False}
    assert ({"n": 1_000_000}, named(0, MIDDLING)) in _asked(work)
