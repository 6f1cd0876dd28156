"""Whole numbers that advance by one step and go round: turns, differences, last bits that agree."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from runners import capacities, going_round, sizes
from runners.contents import Combination, Contents
from runners.families import GOING_ROUND, ROUND_ACROSS
from runners.going_round import BY_TEXT, MOST_ELEMENTS, steps
from runners.spec import Work
from runners.whole_families import HOT
from tests.redteam import once_read
from tests.runners.test_inputs import _work

Values = npt.NDArray[Any]


def _array(name: str, init: str, shape: str, kind: str = "const unsigned short*") -> dict[str, Any]:
    return {"name": name, "type": kind, "shape": shape, "init": init}


def _asked(work: Work, checks: str = "confirm") -> list[Combination]:
    extra = once_read.combinations(work, checks, 1)[1]
    return [one for one in extra if one.family in going_round.FAMILIES]


def _made(work: Work, family: str = GOING_ROUND, seed: int = 1) -> dict[str, Values]:
    return dict(Contents(work).of(Combination(work.cases[0].values, family, seed)))


def _turned(rows: Values, width: int) -> Values:
    """Return the step by which each row advances everywhere, modulo a width."""
    found = (rows[:, 1:].astype(object) - rows[:, :-1].astype(object)) % width
    assert (found == found[:, :1]).all()
    return np.asarray(found[:, 0])


def test_each_row_advances_by_one_step_from_what_was_drawn() -> None:
    work = _work(_array("x", "randint:0:65536", "n*m"), n=33, m=257)
    made, drawn = (
        _made(work, one)["x"].view("u2").reshape(33, 257) for one in ("declared", GOING_ROUND)
    )
    assert (made[:, 0] == drawn[:, 0]).all()
    turned = _turned(drawn, 1 << 16)
    assert list(turned[:6]) == [32767, 21845, 32769, 256, 1, 65535]
    assert (turned[6:] == turned[:-6]).all()


def test_columns_advance_across_rows_within_each_plane() -> None:
    work = _work(_array("x", "randint:-7:90", "b*t*c", "const int*"), b=3, t=50, c=4)
    across = _made(work, ROUND_ACROSS)["x"].view("i4").reshape(3, 50, 4)
    drawn = _made(work, "declared")["x"].view("i4").reshape(3, 50, 4)
    assert (across[:, 0] == drawn[:, 0]).all()
    turned = _turned(across.transpose(0, 2, 1).reshape(12, 50), 97)
    assert {*turned} == {*steps(97)}
    along = _made(work)["x"].view("i4").reshape(150, 4)
    assert {*_turned(along, 97)} == {*steps(97)}


def test_a_single_row_takes_all_steps_one_behind_the_other() -> None:
    work = _work(_array("x", "randint:0:1000", "n", "const int*"), n=6000)
    made = _made(work)["x"].view("i4")
    turned = (np.diff(made) % 1000).tolist()
    assert [turned[at] for at in range(500, 6000, 1000)] == [*steps(1000)]
    assert sum(one != other for one, other in zip(turned[1:], turned, strict=False)) == 5


def test_arrays_beside_each_other_take_other_steps_and_lanes_advance_by_themselves() -> None:
    work = _work(
        _array("x", "randint:0:256", "n", "const uchar2*"),
        _array("y", "randint:0:256", "n", "const unsigned char*"),
        n=60,
    )
    made = _made(work)
    x, y = made["x"].reshape(60, 2), made["y"].reshape(60, 1)
    first = [_turned(rows[:10].T, 256).tolist() for rows in (x, y)]
    assert first == [[127, 127], [85]]


@pytest.mark.parametrize(
    ("kind", "low", "high"),
    [
        ("const signed char*", -128, 128),
        ("const short*", -1000, 1001),
        ("const int*", -(1 << 31), (1 << 31) - 1),
        ("const long long*", -5, 1 << 39),
        ("const long long*", -(1 << 61), 1 << 61),
        ("const long long*", 3, (1 << 62) + 12345),
        ("const unsigned char*", 7, 23),
    ],
)
def test_numbers_stay_in_their_range_and_go_round_at_its_end(
    kind: str, low: int, high: int
) -> None:
    """What is wider than is worked out exactly goes round at a power of two within its range."""
    work = _work(_array("x", f"randint:{low}:{high}", "n*m", kind), n=12, m=999)
    scalar = work.arguments[0].type.scalar
    assert scalar is not None
    rows = _made(work)["x"].view(scalar.dtype).reshape(12, 999)
    assert low <= rows.min()
    assert rows.max() < high
    width = high - low
    width = width if width <= going_round.MOST_WIDTH else 1 << width.bit_length() - 1
    assert list(_turned(rows, width)) == [*steps(width)] * 2
    assert (rows[0] != rows[0, 0]).any()


def test_steps_of_a_half_and_a_third_leave_few_numbers_out() -> None:
    """Of what may be places no more meet in one than do by chance."""
    for width in (16, 99, 100, 6561, 65536):
        for step in steps(width)[:3]:
            assert len(np.unique(np.arange(width) * step % width)) >= width // 2


def test_numbers_may_agree_in_all_their_last_bits_and_in_nothing_else() -> None:
    """A byte is the same in all of a row, and the other one is each number as often."""
    made = _made(_work(_array("x", "randint:0:65536", "n*m"), n=6, m=512))["x"].view("u2")
    row = made.reshape(6, 512)[3]
    assert len(np.unique(row & 255)) == 1
    assert (np.bincount(row >> 8) == 2).all()


@pytest.mark.parametrize(
    ("init", "kind", "shape"),
    [
        ("randint:0:15", "const int*", "n"),
        ("sorted", "const int*", "n"),
        ("permutation", "const int*", "n"),
        ("normal", "const float*", "n"),
        ("randint:0:2000", "const int*", "4*n"),
        ("randint:0:1999", "const int*", "4*n"),
    ],
)
def test_who_is_not_asked(init: str, kind: str, shape: str) -> None:
    """Flags, what is in order, floats, and what ends with a size or beside it: places, lengths."""
    sides = ({"name": name, "type": "int", "value": name} for name in ("n", "v"))
    work = _work(
        _array("x", init, shape, kind),
        _array("y", "normal", "v", "const float*"),
        *sides,
        n=4000,
        v=2000,
    )
    assert not _asked(work)
    made, drawn = _made(work), _made(work, "declared")
    assert (made["x"] == drawn["x"]).all()


def test_it_is_asked_of_a_middle_case_and_of_rows_as_long_as_they_may_be() -> None:
    work = _work(_array("x", "randint:0:65536", "n*m"), n=3000, m=500)
    asked = _asked(work)
    assert [(one.case["n"], one.case["m"], one.family) for one in asked] == [
        (3000, 500, GOING_ROUND),
        (3000, 500, ROUND_ACROSS),
        (9, 500, GOING_ROUND),
        (9, 8000, GOING_ROUND),
        (3000, 9, ROUND_ACROSS),
        (48000, 9, ROUND_ACROSS),
    ]
    assert not _asked(work, "screen")
    flat = _work(_array("x", "normal", "n", "const int*"), n=3_000_000)
    assert [(one.case["n"], one.family) for one in _asked(flat)] == [(3_000_000, GOING_ROUND)]
    for one in (*asked, *_asked(flat)):
        assert 0 < sizes.elements(work if "m" in one.case else flat, one.case) <= MOST_ELEMENTS
    heavy = _work(_array("x", "randint:0:65536", "n*m"), n=30_000, m=500)
    assert (30_000, 500) not in {(one.case["n"], one.case["m"]) for one in _asked(heavy)}


def test_what_would_take_the_original_long_is_not_asked() -> None:
    """As what a sixteenth of it took tells, or where that failed."""
    asked = _asked(_work(_array("x", "randint:0:65536", "n*m"), n=3000, m=500))
    less, more = (one for one in asked if one.case["n"] == 9)
    for seconds, said in ((0.0001, ""), (0.01, "the original would take 2.6 s")):
        watch = capacities.Watch()
        assert not watch.objection(less)
        watch.took(less, seconds)
        assert watch.objection(more) == said
    watch = capacities.Watch()
    watch.failed(less)
    assert watch.objection(more) == capacities.SHORTER


def _walked(phase: Values) -> Values:
    """Return the red team's original: steps of 16 bits, each the short way round, added up."""
    moved = np.diff(phase.astype(np.int64), axis=1).astype(np.int16).astype(np.int64)
    first = phase[:, :1].astype(np.int64)
    return np.concatenate([first, first + np.cumsum(moved, axis=1)], axis=1)


def _by_turns(phase: Values, run: int) -> Values:
    """Return what comes of turns that are counted in a byte for each so many samples."""
    wide = phase.astype(np.int64)
    moved = np.diff(wide, axis=1, prepend=wide[:, :1])
    turns = (moved < -32768).astype(np.int64) - (moved >= 32768)
    before = np.zeros((len(wide), 1), np.int64)
    out = np.empty_like(wide)
    for at in range(0, wide.shape[1], run):
        part = turns[:, at : at + run]
        out[:, at : at + run] = wide[:, at : at + run] + 65536 * (before + np.cumsum(part, axis=1))
        before += part.sum(axis=1, keepdims=True).astype(np.int8)
    return out


def _in_floats(phase: Values) -> Values:
    """Return what comes of paths that are added up in floats."""
    moved = np.diff(phase.astype(np.int64), axis=1).astype(np.int16).astype(np.float32)
    every = np.concatenate([phase[:, :1].astype(np.float32), moved], axis=1)
    return np.add.accumulate(every, axis=1, dtype=np.float32).astype(np.int64)


@pytest.mark.parametrize("seed", [1, 2, 3, 4])
def test_the_red_teams_turns_run_over_where_a_phase_turns_steadily(seed: int) -> None:
    """By chance there are some sixteen in 256 samples, and no path is beyond 2^24."""
    work = once_read.parsed("fringe/bytes_256").work
    wrong: dict[tuple[float, str], tuple[bool, ...]] = {}
    every = [one for one in once_read.combinations(work, "confirm", seed)[1] if one.case["n"] == 9]
    kept = [one for one in every if one.family in {GOING_ROUND, "plain"}]
    for one in kept:
        phase = Contents(work).of(one)["phase"].view(np.uint16).reshape(9, -1)
        right = _walked(phase)
        tried = (_by_turns(phase, 256), _in_floats(phase), _by_turns(phase, 128))
        wrong[one.case["m"], one.family] = tuple(bool((right != t).any()) for t in tried)
        # Turns fit in 16 bits as far out as is asked: who keeps them so is right.
        assert abs(right // 65536).max() < 1 << 15
    steady = [found for (_, family), found in wrong.items() if family == GOING_ROUND]
    assert steady == [(True, True, False)] * 2
    assert {found[0] for (_, family), found in wrong.items() if family == "plain"} == {False}


def test_the_red_teams_phases_are_asked() -> None:
    work = once_read.parsed("fringe/float_sums").work
    assert len(_asked(work)) == 6


def _stepping(work: Work, *numbers: int) -> Work:
    return dataclasses.replace(work, steps=numbers)


def test_steps_are_numbers_of_the_originals_text() -> None:
    """The larger ones first, within the range and above one, and one of them and one."""
    work = _work(_array("x", "randint:0:100000", "n*m", "const int*"), n=12, m=257)
    work = _stepping(work, 719468, 86400, 3600, 100, 1)
    made, drawn = (
        _made(work, one)["x"].view("i4").reshape(12, 257)
        for one in (GOING_ROUND + BY_TEXT, "declared")
    )
    assert (made[:, 0] == drawn[:, 0]).all()
    assert list(_turned(made, 100_000)) == [86400, 3600, 100, 3601] * 3
    other = _made(work, GOING_ROUND + BY_TEXT, 3)["x"].view("i4").reshape(12, 257)
    assert set(_turned(other, 100_000)) == {86400, 3600, 100, 86401}


def test_text_steps_go_across_rows_too() -> None:
    work = _work(_array("x", "randint:0:1000", "b*t*c", "const int*"), b=3, t=50, c=4)
    x = _made(_stepping(work, 360), ROUND_ACROSS + BY_TEXT)["x"].view("i4").reshape(3, 50, 4)
    assert {*_turned(x.transpose(0, 2, 1).reshape(12, 50), 1000)} == {360, 361}


def test_text_steps_by_which_too_many_meet_are_none() -> None:
    """Of what may be places no more are the same than in other families; else it stays drawn."""
    work = _work(_array("x", "randint:0:4096", "n", "const int*"), n=300_000)
    x = _made(_stepping(work, 2048, 256), GOING_ROUND + BY_TEXT)["x"].view("i4")
    assert {*(np.diff(x) % 4096).tolist()} == {256, 257}
    assert np.bincount(x).max() <= HOT
    few = _work(_array("x", "randint:0:16", "n", "const int*"), n=2_000_000)
    x = _made(_stepping(few, 8), GOING_ROUND + BY_TEXT)["x"].view("i4")
    assert {*(np.diff(x) % 16).tolist()} == {9}
    last = _made(_stepping(few, 15), GOING_ROUND + BY_TEXT)["x"].view("i4")
    assert {*(np.diff(last) % 16).tolist()} == {15}


def test_text_steps_are_asked_in_a_middle_case_and_along_the_longest_rows() -> None:
    """Where a declared row has no room, as much of it as there is room for."""
    work = _work(_array("x", "randint:0:65536", "n*m"), n=3000, m=500)
    kinds = (GOING_ROUND + BY_TEXT, ROUND_ACROSS + BY_TEXT)
    asked = once_read.combinations(_stepping(work, 360), "confirm", 1)[1]
    found = [(one.case["n"], one.case["m"], one.family) for one in asked if one.family in kinds]
    assert found == [(3000, 500, kinds[0]), (9, 8000, kinds[0]), (48000, 9, kinds[1])]
    for numbers in ((), (65536, 1 << 20), (1,)):
        asked = once_read.combinations(_stepping(work, *numbers), "confirm", 1)[1]
        assert not [one for one in asked if one.family in kinds]
    stamps = once_read.parsed("almanac/base").work
    asked = [one for one in once_read.combinations(stamps, "confirm", 1)[1] if one.family in kinds]
    assert [one.case["n"] for one in asked] == [1003, 349_525]
    assert sizes.elements(stamps, asked[1].case) <= going_round.MOST_CUT


def _civil(days: Values) -> Values:
    """Return years, months and days of the month of days since 1970, as the red team's base."""
    since = days + 719468
    cent = (4 * since + 3) // 146097
    rest = since - 146097 * cent // 4
    year = (4 * rest + 3) // 1461
    of_year = rest - 1461 * year // 4
    month = (5 * of_year + 2) // 153
    day = of_year - (153 * month + 2) // 5 + 1
    late = month >= 10
    return np.asarray([100 * cent + year + late, np.where(late, month - 9, month + 3), day])


def _stepped_on(days: Values, run: int) -> int:
    """Return how many dates are wrong where a leap year is asked of the first of a run alone."""
    wrong, known, february = 0, -2, 0
    year, month, dom = 0, 0, 0
    right = _civil(days).T.tolist()
    for number, (day, (y, m, d)) in enumerate(zip(days.tolist(), right, strict=True)):
        if number % run == 0:
            known = -2
        if day == known + 1:
            dom += 1
            if dom > (february if month == 2 else 30 + ((month + (month >> 3)) & 1)):
                dom, month = 1, month + 1
                year, month = (year + 1, 1) if month > 12 else (year, month)
        elif day != known:
            year, month, dom = y, m, d
            february = 28 + (year % 4 == 0 and (year % 100 != 0 or year % 400 == 0))
        known = day
        wrong += [year, month, dom] != [y, m, d]
    return wrong


@pytest.mark.parametrize("seed", [1, 2])
def test_the_red_teams_days_go_on_over_the_ends_of_years(seed: int) -> None:
    work = once_read.parsed("almanac/rollover").work
    wrong = {}
    for family in (GOING_ROUND + BY_TEXT, GOING_ROUND, "declared", "clustered"):
        made = Contents(work).of(Combination({"n": 150_000.0}, family, seed))["stamp"]
        days = made.view(np.int32).astype(np.int64) // 86400
        assert 0 <= days.min() <= days.max() < 2_100_000_000 // 86400 + 1
        wrong[family] = _stepped_on(days, 128)
    assert wrong.pop(GOING_ROUND + BY_TEXT) > 100
    assert not any(wrong.values())
