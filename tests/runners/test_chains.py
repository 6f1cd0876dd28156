"""Places of a row that make chains, beside numbers that are the same throughout it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from runners import chains
from runners.contents import Combination, Contents
from runners.spec import Work
from runners.whole_families import HOT
from tests.redteam import once_read
from tests.runners.test_inputs import _work

Rows = npt.NDArray[np.int32]
NODES = 64


def _array(name: str, init: str, shape: str = "n*64", kind: str = "const int*") -> dict[str, Any]:
    return {"name": name, "type": kind, "shape": shape, "init": init}


def _tree(n: int = 300) -> Work:
    parent, draft = _array("parent", "randint:0:64"), _array("draft", "randint:0:3")
    return _work(parent, draft, _array("target", "randint:0:3"), n=n)


def _made(work: Work, family: str = "chains 0 all", seed: int = 1) -> dict[str, Rows]:
    made = Contents(work).of(Combination(work.cases[0].values, family, seed))
    return {name: data.view(np.int32) for name, data in made.items()}


def _asked(work: Work) -> list[str]:
    return [family for _, family in chains.asked(work, work.cases[0].values)]


def test_rows_are_chains_of_each_kind_beside_one_number() -> None:
    made = {name: data.reshape(-1, NODES) for name, data in _made(_tree()).items()}
    at = np.arange(NODES)
    parent = made["parent"]
    for kind, by in ((0, -1), (2, 1), (3, -2), (4, 0), (5, -4)):
        assert (parent[kind :: chains.KINDS] == np.clip(at + by, 0, NODES - 1)).all()
    assert (parent[1 :: chains.KINDS, 32:] == at[31:-1]).all()
    assert any(len({*map(int, row)}) > 5 for row in parent[6 :: chains.KINDS])
    # All ways are met once before anything breaks, and numbers are alike in both arrays.
    for name in ("draft", "target"):
        assert (made[name][: chains.WAYS] == made[name][: chains.WAYS, :1]).all()
    assert (made["draft"][: chains.WAYS] == made["target"][: chains.WAYS]).all()
    assert {0, 1, 2} == {*map(int, made["draft"][:, 0])}


def test_chains_break_at_one_place_of_one_array_anywhere() -> None:
    made = {name: data.reshape(-1, NODES) for name, data in _made(_tree()).items()}
    odd = {n: [len(r) - np.bincount(r).max() for r in made[n]] for n in ("draft", "target")}
    both = np.asarray([odd["draft"], odd["target"]])
    turn = np.arange(both.shape[1]) // chains.WAYS
    assert (both.sum(axis=0) == turn % 2).all()
    assert both.sum(axis=1).min() > 0
    where = [int(np.argmin(np.bincount(r)[r])) for r in made["draft"][turn % 4 == 1]]
    assert min(where) < NODES // 4
    assert max(where) > NODES * 3 // 4


@pytest.mark.parametrize(
    ("init", "shape", "variables"),
    [
        ("randint:0:32", "n*64", {"n": 300}),  # a part of a row
        ("randint:-1:300", "n", {"n": 300}),  # a variable, and minus one is none
        ("randint:0:300", "m", {"n": 300, "m": 900}),
        ("randint:0:64", "64*n", {"n": 300}),  # columns
    ],
)
def test_numbers_that_may_be_places(init: str, shape: str, variables: dict[str, int]) -> None:
    arrays = _array("x", init, shape), _array("y", "randint:0:3", "n")
    work = _work(*arrays, root=Path(), **variables)
    assert _asked(work)
    low, high = map(int, init.split(":")[1:])
    made = _made(work)
    assert made["x"].min() >= low
    assert made["x"].max() < high
    if shape == "64*n":
        columns = made["x"].reshape(64, -1)
        assert (columns[1:, 0] == np.arange(63)).all()
        assert (columns[:-1, 2] == np.arange(1, 64)).all()
    else:
        assert (made["x"][1:32] == np.arange(31)).all()
        assert made["x"][0] == low


@pytest.mark.parametrize(
    ("init", "shape"),
    [
        ("randint:0:4", "n*4"),  # flags, letters
        ("randint:-8:8", "n*16"),  # amounts
        ("randint:0:50", "n*64"),  # no part of a row
        ("normal", "n*64"),
        ("permutation", "n"),
    ],
)
def test_other_numbers_are_no_places(init: str, shape: str) -> None:
    assert not _asked(_work(_array("x", init, shape), n=300))


def test_each_of_several_arrays_is_the_only_one_in_turn() -> None:
    work = _work(_array("x", "randint:0:64"), _array("y", "randint:0:64"), n=300)
    assert _asked(work) == ["chains 0 all", "chains 0 0", "chains 0 1"]
    rows = [_made(work, family)["y"].reshape(-1, NODES) for family in _asked(work)]
    first = [[len({*map(int, row)}) for row in made[: chains.WAYS]] for made in rows]
    assert max(first[0]) == NODES
    assert first[1] == [1] * chains.WAYS
    assert max(first[2]) == NODES


def test_no_chain_is_longer_than_others_are_and_few_rows_take_turns() -> None:
    work = _work(_array("x", "randint:0:5000", "n"), _array("y", "randint:0:3", "n"), n=5000)
    asked = [*chains.asked(work, work.cases[0].values)]
    assert {case["n"] for case, _ in asked} == {1024.0}
    assert len({family for _, family in asked}) == chains.MOST_TURNS
    made = [Contents(work).of(Combination(*one, 1))["x"].view(np.int32) for one in asked]
    assert (made[0][1:] == np.arange(1023)).all()
    assert (made[2][:-1] == np.arange(1, 1024)).all()


def test_of_what_may_be_an_index_not_too_many_are_alike() -> None:
    work = _tree(n=2 * HOT // NODES)
    declared = _made(work, "declared")["draft"]
    made = _made(work)["draft"]
    assert np.array_equal(made[HOT:], declared[HOT:])
    assert not np.array_equal(made[:HOT], declared[:HOT])


def test_trees_whose_way_is_halved_too_seldom_are_told_from_right_ones() -> None:
    work = once_read.parsed("treespec/base").work
    middle = {"n": 1003.0}
    assert [*chains.asked(work, middle)] == [(middle, "chains 0 all")]
    made = Contents(work).of(Combination(middle, "chains 0 all", 1))
    parent, draft, target = (
        made[name].view(np.int32).reshape(-1, NODES) for name in ("parent", "draft", "target")
    )
    depths = []
    for up, want, token in zip(parent, draft, target, strict=True):
        depth = [0] + [-1] * (NODES - 1)
        for i in range(1, NODES):
            above = up[i] % i
            if depth[above] >= 0 and want[i] == token[above]:
                depth[i] = depth[above] + 1
        depths.append(max(depth))
    assert sum(depth == NODES - 1 for depth in depths) > 50
    # More than five bits hold, and each length below it somewhere.
    assert len({*depths}) > 30
