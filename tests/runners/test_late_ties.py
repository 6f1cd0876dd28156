"""Ties that begin where the last block does, of which the first has to be named."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from runners import families, late_ties, ties
from runners.contents import Combination, Contents
from runners.spec import Work
from tests.redteam import once_read
from tests.redteam.table import load
from tests.runners.test_inputs import _pointer, _work

GRID, BLOCK = 264, 256


def _hullbox() -> Work:
    return once_read.parsed("hullbox/tie_late").work


def _floats(work: Work, case: Any, family: str) -> Any:
    data = Contents(work).of(Combination(case, family, 1))["pts"].view(np.float32)
    return data.reshape(-1, 3)


def test_it_is_asked_of_few_originals() -> None:
    asked = {
        one.base.name: len(list(late_ties.asked(once_read.parsed(one).work)))
        for one in load()
        if one.name == "base" and one.base.kind != "program"
    }
    assert {"hullbox", "iamaxb"} <= {name for name, many in asked.items() if many}
    assert sum(bool(many) for many in asked.values()) <= len(asked) // 40
    assert max(asked.values()) <= 2 * late_ties.PLACES


def test_ties_begin_with_the_last_block_and_go_on() -> None:
    work = _hullbox()
    (case, first), *_ = late_ties.asked(work)
    assert case["n"] > GRID * BLOCK  # so that the first blocks have ties behind it
    begin = (GRID - 1) * BLOCK
    points = _floats(work, case, first)
    assert len(np.unique(points[begin:])) == 1
    assert np.abs(points[:begin]).max() < points[begin:].min() / 8
    below = _floats(work, case, f"{first} below")
    assert np.abs(below[:begin]).min() > 8 * below[begin:].max() > 0
    assert len(np.unique(below[begin:])) == 1


@pytest.mark.parametrize("family", sorted(late_ties.FAMILIES))
def test_the_first_of_the_largest_is_lost_by_a_fold_that_keeps_its_first(family: str) -> None:
    """A thread that folds the blocks b and b + 256 and keeps the first for the norm alone."""
    work = _hullbox()
    (case, _), *_ = late_ties.asked(work)
    size = np.abs(_floats(work, case, family)).sum(axis=1)
    if "below" in family:
        size = size.max() - size
    block = np.arange(len(size)) // BLOCK % GRID
    ahead = [
        np.flatnonzero((block == b) & (size == size[block == b].max()))[0] for b in range(GRID)
    ]
    right = int(np.argmax(size))
    folded = []
    for thread in range(BLOCK):
        mine = [ahead[b] for b in range(thread, GRID, BLOCK)]
        folded.append(max(mine, key=lambda at: size[at]))  # the first of equal ones
    found = min(at for at in folded if size[at] == size.max())
    late = family.removeprefix("late-ties ").startswith(("0", "1"))
    assert (found != right) == late


def test_equal_shares_stay_shares() -> None:
    argument = {**_pointer("const float*", "uniform"), "name": "pts"}
    out = {**_pointer("int*", "zeros", "1"), "name": "at", "role": "output"}
    work = _work(argument, out, {"name": "n", "type": "int", "value": "n"}, n=3000)
    for family in late_ties.FAMILIES:
        data = Contents(work).of(Combination(work.cases[0].values, family, 1))["pts"]
        numbers = data.view(np.float32)
        assert 0 <= numbers.min() < numbers.max() <= 1


def test_nothing_is_forgiven_there() -> None:
    assert all(ties._exact(family) for family in late_ties.FAMILIES)
    assert not ties._exact("mixed")


@pytest.mark.parametrize(
    ("kind", "shape", "init"),
    [("float*", "1", "normal"), ("int*", "n", "normal"), ("int*", "1", "randint:0:9")],
)
def test_others_are_not_asked(kind: str, shape: str, init: str) -> None:
    """Nothing but floats come out, or as many places as there are elements, or of whole numbers."""
    given = {**_pointer("const float*", init), "name": "pts"}
    if init.startswith("randint"):
        given["type"] = "const int*"
    out = {**_pointer(kind, "zeros", shape), "name": "at", "role": "output"}
    work = _work(given, out, {"name": "n", "type": "int", "value": "n"}, n=3000)
    assert list(late_ties.asked(work)) == []
    asked = once_read.combinations(work, "confirm", 1)[1]
    assert asked
    assert not any(one.family.startswith(families.LATE_TIES) for one in asked)
