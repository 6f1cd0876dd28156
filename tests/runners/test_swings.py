"""Whole numbers that swing out from their middle, back in, and from end to end, along each axis."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from runners import capacities, recipes
from runners.contents import Combination, Contents
from runners.families import SWINGS
from runners.spec import Work
from runners.swing_ways import ALL, WAYS, made
from runners.whole_families import HOT
from tests.redteam import once_read
from tests.runners.test_inputs import _work

Values = npt.NDArray[Any]
TIMES, LEVELS = 1000, 64


def _array(name: str, init: str, shape: str, kind: str = "const int*") -> dict[str, Any]:
    return {"name": name, "type": kind, "shape": shape, "init": init}


def _result(name: str, shape: str, kind: str = "int*") -> dict[str, Any]:
    return {"name": name, "type": kind, "shape": shape, "role": "output"}


def _made(work: Work, family: str, kind: str = "i4", **case: float) -> Values:
    one = Combination(case or work.cases[0].values, family, 1)
    return np.asarray(Contents(work).of(one)["x"].view(kind))


def _asked(work: Work, checks: str = "confirm") -> list[Combination]:
    extra = once_read.combinations(work, checks, 1)[1]
    return [one for one in extra if one.family.partition(" ")[0] == SWINGS]


# Swings, one line at a time.


def _turns(line: Values) -> list[int]:
    """Return what is left of a line when numbers between its turns are left out."""
    found: list[int] = []
    for value in map(int, line):
        if found and value == found[-1]:
            continue
        if len(found) > 1 and (value > found[-1]) == (found[-1] > found[-2]):
            found[-1] = value
        else:
            found.append(value)
    return found


def test_swings_grow_by_one_from_the_middle_and_shrink_by_one() -> None:
    work = _work(_array("x", "randint:100:164", "n*m"), n=32, m=300)
    rows = _made(work, f"{SWINGS} 0 0").reshape(32, 300)
    apart = [np.abs(np.diff(row)).tolist() for row in rows]
    grown, shrunk = [*range(1, 64)], [*range(63, 0, -1)]
    assert apart[1][:126] == [*grown, *shrunk]
    assert apart[2][:64] == [*shrunk, 32]  # and the next one begins at an end
    assert apart[3][:63] == grown
    assert set(apart[0]) == {63}
    # Each number twice: the same, and as many of no difference.
    assert [one for one in apart[8] if one][:80] == [*grown, *shrunk][:80]
    assert apart[8][::2] == [0] * 150


@pytest.mark.parametrize(
    ("low", "high", "kind", "dtype"),
    [
        (0, 64, "const unsigned char*", "u1"),
        (-1000, 1001, "const short*", "i2"),
        (-(1 << 31), (1 << 31) - 1, "const int*", "i4"),
        (-(1 << 63), (1 << 63) - 1, "const long long*", "i8"),
        (0, (1 << 63) - 1, "const unsigned long long*", "u8"),
        (5, 13, "const int*", "i4"),
    ],
)
def test_numbers_stay_in_their_range_and_meet_its_ends(
    low: int, high: int, kind: str, dtype: str
) -> None:
    work = _work(_array("x", f"randint:{low}:{high}", "n*m", kind), n=64, m=97)
    rows = _made(work, f"{SWINGS} 0 0", dtype).reshape(64, 97)
    assert low <= int(rows.min())
    assert int(rows.max()) < high
    for way in range(len(WAYS)):
        # Each second time the other way up.
        both = rows[way], rows[way + ALL]
        ends = {*(int(one.min()) for one in both), *(int(one.max()) for one in both)}
        assert ends == {low, high - 1} or WAYS[way][0].__name__ in {"_valley", "_hill"}


def test_a_line_that_is_one_swing_grows_or_shrinks_throughout() -> None:
    for width in (1000, 1 << 40):
        out, inner = (
            made(way, 333, width).astype(object)
            for way, (shape, widths, _) in enumerate(WAYS)
            if not widths and shape.__name__ in {"_out_and_in", "_inward"}
        )
        apart = np.abs(np.diff(out))
        assert (np.diff(apart[:160]) > 0).all()
        assert (np.diff(apart[-160:]) < 0).all()
        assert (np.diff(np.abs(np.diff(inner))) < 0).all()


def test_valleys_are_hulls_and_a_fall_at_the_end_is_below_all_before() -> None:
    names = [shape.__name__ for shape, *_ in WAYS]
    valley = made(names.index("_valley"), 100, 1 << 20).astype(np.int64)
    hill = made(names.index("_hill"), 100, 1 << 20).astype(np.int64)
    assert (np.diff(valley[:100], 2) > 0).all()
    assert (np.diff(hill[:100], 2) < 0).all()
    rise = made([*WAYS].index(next(w for w in WAYS if w[:2] == (WAYS[6][0], 0))), 100, 1 << 20)
    assert (np.diff(rise[:-1].astype(np.int64)) > 0).all()
    assert rise[-1] == 0


@pytest.mark.parametrize(("axis", "swap"), [(0, (0, 1, 2)), (1, (0, 2, 1)), (2, (1, 2, 0))])
def test_lines_go_along_each_axis(axis: int, swap: tuple[int, int, int]) -> None:
    work = _work(_array("x", "randint:0:50", "a*b*c"), a=20, b=18, c=17)
    cube = _made(work, f"{SWINGS} {axis} 0").reshape(20, 18, 17).transpose(swap)
    lines = cube.reshape(-1, cube.shape[2])
    ends = (np.abs(np.diff(lines)) == 49).all(axis=1)
    assert np.flatnonzero(ends).tolist() == [*range(0, len(lines), ALL)]
    drawn = Contents(work).of(Combination(work.cases[0].values, "declared", 1))["x"].view("i4")
    same = (lines == drawn.reshape(20, 18, 17).transpose(swap).reshape(lines.shape)).all(axis=1)
    assert np.flatnonzero(same).tolist() == [*range(ALL - 1, len(lines), ALL)]


def test_few_lines_have_all_ways_behind_each_other_and_then_swing_from_end_to_end() -> None:
    work = _work(_array("x", "randint:0:64", "n"), _array("y", "randint:0:64", "n"), n=ALL * TIMES)
    stretches = _made(work, f"{SWINGS} 0 0").reshape(ALL, TIMES)
    assert len(_turns(stretches[0])) == TIMES
    assert {len(_turns(row)) for row in stretches[6:8]} == {32, 3}
    assert sum(len(np.unique(row)) > 2 for row in stretches) == ALL - 1
    for turn, name in ((1, "x"), (2, "y")):
        one = Combination(work.cases[0].values, f"{SWINGS} 0 {turn}", 1)
        arrays = Contents(work).of(one)
        full = [key for key in ("x", "y") if (np.abs(np.diff(arrays[key].view("i4"))) == 63).all()]
        assert full == [name]


def test_of_what_may_be_indices_no_more_are_alike_than_may_be() -> None:
    work = _work(_array("x", "randint:0:5000", "n"), n=3 * HOT)
    row = _made(work, f"{SWINGS} 0 1")
    assert np.bincount(row).max() <= HOT + 100
    assert (np.abs(np.diff(row[: 2 * HOT])) == 4999).all()
    drawn = _made(work, "declared")
    assert (row[2 * HOT :] == drawn[2 * HOT :]).all()


# Who is asked.


def test_it_is_asked_of_a_middle_case_and_of_long_lines() -> None:
    work = _work(
        _array("x", "randint:0:64", "n*c", "const unsigned char*"),
        _result("counts", "c*64"),
        n=300,
        c=50,
    )
    asked = [(one.family, one.case["n"], one.case["c"]) for one in _asked(work)]
    assert asked[:2] == [("swings 0 0", 300, 50), ("swings 1 0", 300, 50)]
    assert {("swings 1 0", 300, 9), ("swings 1 0", 4800, 9), ("swings 0 0", 9, 800)} <= {*asked}
    assert not _asked(work, "screen")
    assert {recipes.kind(one.family) for one in _asked(work)} == {SWINGS}


@pytest.mark.parametrize("init", ["randint:0:7", "sorted", "permutation", "randint:0:300"])
def test_flags_and_places_do_not_swing(init: str) -> None:
    """A range that ends with a size is one of places."""
    work = _work(
        _array("x", init, "n"),
        _array("y", "normal", "v", "const float*"),
        {"name": "v", "type": "int", "value": "v"},
        n=2000,
        v=300,
    )
    assert not _asked(work)
    assert (_made(work, f"{SWINGS} 0 0") == _made(work, "declared")).all()


def test_in_long_lines_squares_of_swings_fit_into_the_words_there_are() -> None:
    work = _work(_array("x", "randint:-10:900000", "n"), _result("y", "n"), n=2000)
    family = f"{SWINGS} 0 1 near"
    assert [one.family for one in _asked(work) if one.case["n"] == 32000][-1] == family
    row = _made(work, family, n=32000.0).astype(np.int64)
    assert 1 << 29 < (np.diff(row) ** 2).sum() < 1 << 31
    assert row.min() == -10
    # Where the text has words of 64 bits, and a result is one, they are as large as may be.
    assert not any(one.family.endswith("near") for one in _asked(_wide()))


def _wide() -> Work:
    plain = _work(
        _array("x", "randint:0:64", "n*c", "const unsigned char*"),
        _result("harm", "c", "long long*"),
        n=TIMES,
        c=5,
    )
    return dataclasses.replace(plain, whole=True, wide=True)


def test_the_original_is_asked_longer_lines_only_where_it_is_quick() -> None:
    watch = capacities.Watch()
    short, long = (Combination({"n": n}, f"{SWINGS} 0 0", 1) for n in (100.0, 1600.0))
    watch.took(short, 0.01)
    assert "would take" in watch.objection(long)


# Cycles of a load, counted by their ranges: rights and wrongs of the red team, by hand.


def _rainflow(load: Sequence[int], *, ring: int = 0, closings: int = 0) -> tuple[list[int], int]:
    """Return half cycles by range and the sum of the cubes of their ranges."""
    stack = dict.fromkeys(range(ring), 0) if ring else {}

    def at(place: int) -> int:
        return place % ring if ring else place

    counts, harm, depth = [0] * LEVELS, 0, 1
    stack[0] = load[0]
    for value in load[1:]:
        top = stack[at(depth - 1)]
        if value == top:
            continue
        if depth > 1 and (value > top) == (top > stack[at(depth - 2)]):
            stack[at(depth - 1)] = value
        else:
            stack[at(depth)] = value
            depth += 1
        closed = 0
        while depth > 3 and not closed == closings > 0:
            a, b, c, d = (stack[at(depth - back)] for back in (4, 3, 2, 1))
            if abs(b - c) > abs(a - b) or abs(b - c) > abs(c - d):
                break
            counts[abs(b - c)] += 2
            harm += 2 * abs(b - c) ** 3
            stack[at(depth - 3)] = d
            depth -= 2
            closed += 1
    for place in range(1, depth):
        apart = abs(stack[at(place)] - stack[at(place - 1)])
        counts[apart] += 1
        harm += apart**3
    return counts, harm


def _lines(family: str, times: int) -> list[list[int]]:
    case = {"n": float(times), "c": 5.0}
    loads = _made(_wide(), family, "u1", **case).reshape(times, 5)
    return [[int(value) for value in line] for line in loads.T]


def test_a_ring_of_turning_points_and_few_closings_differ_and_room_for_all_does_not() -> None:
    asked = {(one.family, one.case["n"]) for one in _asked(_wide())}
    assert {("swings 1 0", 1000.0), ("swings 1 1", 16000.0)} <= asked
    declared = _lines("declared", TIMES)
    for lines, differs in ((declared, False), (_lines(f"{SWINGS} 1 0", TIMES), True)):
        right = [_rainflow(line) for line in lines]
        assert [_rainflow(line, ring=128) for line in lines] == right
        assert [_rainflow(line, closings=64) for line in lines] == right
        assert ([_rainflow(line, ring=64) for line in lines] != right) == differs
        assert ([_rainflow(line, closings=16) for line in lines] != right) == differs


def test_cubes_of_full_swings_are_beyond_32_bits_and_those_of_drawn_ones_are_not() -> None:
    most = {
        family: max(_rainflow(line)[1] for line in _lines(family, 16 * TIMES))
        for family in ("declared", f"{SWINGS} 1 1")
    }
    assert most["declared"] < 1 << 31 < most[f"{SWINGS} 1 1"]
