"""Whole numbers in shapes that chance does not make."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from runners import oracle, shaped_numbers, spec
from runners.contents import Combination, Contents
from runners.families import AFTER, BEFORE, LATE, MAZE, SHAPED
from runners.spec import Work
from tests.redteam import once_read
from tests.runners.test_judge import SCALE, _job


def _work(kind: str, shape: str, init: str, **values: int) -> Work:
    job: dict[str, Any] = _job(SCALE)
    job["workload"]["arguments"] = [
        {"name": "x", "type": f"const {kind}*", "shape": shape, "init": init},
        {"name": "y", "type": f"{kind}*", "shape": shape, "role": "output"},
        *({"name": name, "type": "int", "value": name} for name in values),
    ]
    job["workload"]["cases"] = [{"values": values}]
    return spec.parse(job).work


def _made(work: Work, family: str, seed: int = 2) -> Any:
    case = dict(work.cases[0].values)
    argument = next(a for a in work.arguments if a.name == "x")
    scalar = argument.type.scalar
    assert scalar is not None
    return Contents(work).of(Combination(case, family, seed))["x"].view(scalar.dtype)


@pytest.mark.parametrize("high", [5000, 100])
def test_each_place_may_follow_the_one_before(high: int) -> None:
    """As a linked list does, and a tree that is one branch."""
    work = _work("int", "n", f"randint:0:{high}", n=3001)
    before, after = _made(work, BEFORE), _made(work, AFTER)
    assert before[0] == 0
    assert (before[1:] == np.arange(3000) % high).all()
    assert (after == np.arange(1, 3002) % high).all()


def test_places_stay_within_a_range_that_begins_elsewhere() -> None:
    work = _work("long long", "n", "randint:-7:40", n=500)
    for family in SHAPED:
        made = _made(work, family)
        assert made.min() >= -7
        assert made.max() < 40


def test_a_row_may_be_of_one_value_late() -> None:
    """Nearly half of it, which is no majority; what was drawn stands before that."""
    work = _work("int", "rows*cols", "randint:0:50", rows=30, cols=100)
    made, drawn = (_made(work, one).reshape(30, 100) for one in (LATE, "declared"))
    assert (made[:, 55:] == made[:, 55:56]).all()
    assert (made[:, :55] == drawn[:, :55]).all()
    assert len(np.unique(made[:, 99])) > 5


def _steps(opened: Any) -> int:
    """Return how many steps the longest of the shortest ways from a tile's first cell takes."""
    far = np.full(opened.shape, -1)
    edge, steps = [(0, 0)], 0
    far[0, 0] = 0
    while edge:
        steps += 1
        near = {(y + dy, x + dx) for y, x in edge for dy, dx in ((0, 1), (1, 0), (0, -1), (-1, 0))}
        edge = [
            (y, x)
            for y, x in near
            if 0 <= y < len(far) and 0 <= x < len(far[0]) and opened[y, x] and far[y, x] < 0
        ]
        for at in edge:
            far[at] = steps
    return int(far.max())


@pytest.mark.parametrize(("shape", "seed"), [("h*w", 4), ("h*w", 5), ("w*h", 6), ("w*h", 7)])
def test_a_way_through_a_maze_is_long(shape: str, seed: int) -> None:
    """Along every other column of a tile, or every other row, from the first cell.

    A shape may name the width first.
    """
    work = _work("unsigned char", shape, "randint:0:256", h=45, w=77)
    made = _made(work, MAZE, seed).reshape(45, 77)
    assert set(np.unique(made)) == {0, 255}
    tile = made[:32, :32] == 0
    assert _steps(tile) > 400
    ways = tile if seed % 2 else tile.T
    assert ways[2:30:2, 2:30].all()


@pytest.mark.parametrize(
    ("kind", "shape", "families"),
    [
        ("int", "n", {BEFORE, AFTER, LATE}),
        ("unsigned char", "n", {LATE}),
        ("unsigned char", "h*w", {LATE, MAZE}),
        ("int", "h*w", {BEFORE, AFTER, LATE, MAZE}),
    ],
)
def test_who_is_asked(kind: str, shape: str, families: set[str]) -> None:
    """Who has places, rows or pictures of a declared range, in a confirmation."""
    work = _work(kind, shape, "randint:0:99", n=4000, h=64, w=50)
    _, extra = oracle.combinations(work, "confirm", 1)
    assert {one.family for one in extra} & SHAPED == families
    assert len([one for one in extra if one.family == MAZE]) == 4 * (MAZE in families)
    for checks in ("screen", "race"):
        assert not {one.family for one in oracle.combinations(work, checks, 1)[1]} & SHAPED
    free = _work(kind, shape, "normal", n=4000, h=64, w=50)
    assert not {one.family for one in oracle.combinations(free, "confirm", 1)[1]} & SHAPED


def test_ninety_six_rounds_do_not_fill_a_maze() -> None:
    """Rows are filled at once there; a way along columns takes a round for each cell."""
    work = once_read.parsed("quagmire/three_sides_of_rounds").work
    case = dict(work.cases[1].values)
    assert case == {"w": 77.0, "h": 45.0}
    _, extra = once_read.combinations(work, "confirm", 1)
    rounds = []
    for one in (one for one in extra if one.family == MAZE):
        tile = Contents(work).of(one)["cell"].reshape(45, 77)[:32, :32] < 154
        wet, count = np.zeros_like(tile), 0
        wet[0] = tile[0]
        while True:
            near = wet.copy()
            near[1:] |= wet[:-1]
            near[:-1] |= wet[1:]
            near[0] |= tile[0]
            for _ in range(32):
                near[:, 1:] |= near[:, :-1] & tile[:, 1:]
                near[:, :-1] |= near[:, 1:] & tile[:, :-1]
                near &= tile
            if (near == wet).all():
                break
            wet, count = near, count + 1
        rounds.append(count)
    assert len(rounds) == 4
    assert max(rounds) > 96


def test_what_was_believed_of_a_few_is_asked_of_these() -> None:
    """A branch of 3,001 nodes, votes that come late, and a way of 480 cells in a tile."""
    for label, family in (
        ("yggdrasil/eight_rounds_of_doubling", BEFORE),
        ("quorum/clear_by_a_quarter", LATE),
        ("quagmire/three_sides_of_rounds", MAZE),
    ):
        work = once_read.parsed(label).work
        _, extra = once_read.combinations(work, "confirm", 1)
        assert [one for one in extra if one.family == family], label


def test_a_picture_of_places_is_no_maze_where_many_would_meet() -> None:
    """Threads that exchange a word until it holds take a time that grows with their square."""
    large = _work("int", "h*w", "randint:0:99", h=1000, w=1000)
    assert not shaped_numbers.mazes(large, large.cases[0].values)
    small = _work("unsigned char", "h*w", "randint:0:99", h=20, w=1000)
    assert not shaped_numbers.mazes(small, small.cases[0].values)
    square = _work("unsigned char", "h*w", "randint:0:99", h=40, w=40)
    assert shaped_numbers.mazes(square, square.cases[0].values) == 2
