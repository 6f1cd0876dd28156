"""The largest of each line at places that are equally far from each other."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from runners import at_strides, recipes, sizes
from runners.contents import Combination, Contents
from runners.families import AT_STRIDES, DECLARED
from runners.spec import Work
from tests.redteam import once_read
from tests.redteam.table import load
from tests.runners.test_inputs import _work

Values = npt.NDArray[Any]
FIRST = f"{AT_STRIDES} 0 0"


def _array(name: str, init: str, shape: str, kind: str = "const float*") -> dict[str, Any]:
    return {"name": name, "type": kind, "shape": shape, "init": init}


def _made(work: Work, family: str, kind: str = "f4", name: str = "x", **case: float) -> Values:
    one = Combination(case or work.cases[0].values, family, 1)
    return np.asarray(Contents(work).of(one)[name].view(kind))


def _asked(work: Work, checks: str = "confirm") -> list[Combination]:
    extra = once_read.combinations(work, checks, 1)[1]
    return [one for one in extra if recipes.kind(one.family) == AT_STRIDES]


def _steps(lines: Values, *, largest: bool = True) -> set[int]:
    """Return the threads of which in some line one has all of the largest, or of the smallest."""
    order = np.argsort(-lines if largest else lines, axis=1)
    found = set()
    for step in at_strides.THREADS:
        first = order[:, : lines.shape[1] // step] % step
        if first.shape[1] >= at_strides.LEAST_THERE and (first == first[:, :1]).all(axis=1).any():
            found.add(step)
    return found


@pytest.mark.parametrize(
    ("init", "kind", "dtype"),
    [
        ("normal", "const float*", "f4"),
        ("uniform", "const double*", "f8"),
        ("randint:-90000:90000", "int*", "i4"),
    ],
)
def test_each_line_keeps_its_numbers(init: str, kind: str, dtype: str) -> None:
    work = _work(_array("x", init, "n*m", kind), n=40, m=1200)
    drawn, made = (_made(work, one, dtype).reshape(40, 1200) for one in (DECLARED, FIRST))
    assert (made != drawn).any(axis=1).all()
    assert (np.sort(made, axis=1) == np.sort(drawn, axis=1)).all()


def test_the_largest_and_the_smallest_are_what_one_thread_of_many_sees() -> None:
    work = _work(_array("x", "normal", "n*m"), n=40, m=4800)
    lines = _made(work, FIRST).reshape(40, 4800)
    assert _steps(lines) == {*at_strides.THREADS}
    assert _steps(lines, largest=False) == {*at_strides.THREADS}
    drawn = _made(work, DECLARED).reshape(40, 4800)
    assert not _steps(drawn) | _steps(drawn, largest=False)


@pytest.mark.parametrize("places", [lambda at, m: at * m // 256, lambda at, m: at * (m // 256 | 1)])
def test_looks_that_are_a_share_of_a_line_apart_meet_nothing_else(places: Any) -> None:
    work = _work(_array("x", "randint:0:1000000", "n*m", "const int*"), n=90, m=4000)
    lines = _made(work, FIRST, "i4").reshape(90, 4000)
    middle = np.median(lines, axis=1, keepdims=True)
    seen = lines[:, places(np.arange(256), 4000) % 4000]
    assert (seen > middle).all(axis=1).any()
    assert (seen < middle).all(axis=1).any()


def test_few_lines_have_their_ways_by_turns() -> None:
    work = _work(_array("x", "normal", "m"), m=70000)
    steps = [
        _steps(_made(work, f"{AT_STRIDES} 0 {turn}").reshape(1, -1), largest=turn % 2 == 0)
        for turn in range(at_strides.TURNS)
    ]
    assert steps == [{256}, {256}, {32}]
    assert [one.family for one in _asked(work)][:3] == [
        f"{AT_STRIDES} 0 {turn}" for turn in range(3)
    ]


def test_across_rows_columns_keep_their_numbers() -> None:
    work = _work(_array("x", "normal", "t*c"), t=1500, c=30)
    drawn, made = (_made(work, one).reshape(1500, 30) for one in (DECLARED, f"{AT_STRIDES} 1 0"))
    assert (np.sort(made, axis=0) == np.sort(drawn, axis=0)).all()
    assert {256, 32} <= _steps(made.T)


def test_arrays_of_one_shape_have_the_same_places() -> None:
    work = _work(
        _array("x", "normal", "n*m"),
        _array("y", "randint:0:900000", "n*m", "const int*"),
        n=8,
        m=900,
    )
    x, y = _made(work, FIRST), _made(work, FIRST, "i4", "y")
    first = [np.argsort(one.reshape(8, 900), axis=1)[0, -3:] for one in (x, y)]
    assert {*first[0] % 128} == {*first[1] % 128}


@pytest.mark.parametrize("init", ["sorted", "zeros"])
def test_an_order_that_means_something_is_left(init: str) -> None:
    work = _work(_array("x", init, "n"), n=5000)
    assert not _asked(work)
    assert (_made(work, FIRST) == _made(work, DECLARED)).all()


def test_it_is_asked_in_long_rows_and_of_no_short_ones() -> None:
    work = _work(_array("x", "normal", "n*m"), n=1024, m=300)
    cases = {(one.case["n"], one.case["m"]) for one in _asked(work)}
    assert (1024, 300) in cases
    assert max(m for _, m in cases) == sizes.TIMES_LONGER * 300
    assert not _asked(work, "screen")
    assert not _asked(_work(_array("x", "normal", "n*m"), n=50, m=3))


def test_a_confirmation_asks_few_of_them() -> None:
    """Half of all originals are asked five at most."""
    asked = sorted(
        len(list(at_strides.asked(once_read.parsed(one).work)))
        for one in load()
        if one.name == "base" and one.base.kind != "program"
    )
    assert asked[len(asked) // 2] <= 5
    assert asked[-1] <= 12
