"""Edges that make one long path, along which priorities rise or fall."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from runners import edge_paths, oracle, spec
from runners.contents import Combination, Contents
from runners.edge_paths import FALLEN, ORDERS, RISING
from runners.spec import Work
from tests.redteam import once_read
from tests.redteam.table import load
from tests.runners.test_judge import SCALE, _job

EDGES = {"u": ("const int*", "m", "randint:0:5000"), "v": ("const int*", "m", "randint:0:5000")}


def _work(arrays: dict[str, tuple[str, str, str]], **values: int) -> Work:
    job: dict[str, Any] = _job(SCALE)
    job["workload"]["arguments"] = [
        *(
            {"name": name, "type": kind, "shape": shape, "init": init}
            for name, (kind, shape, init) in arrays.items()
        ),
        {"name": "y", "type": "int*", "shape": "n", "role": "output"},
        *({"name": name, "type": "int", "value": name} for name in values),
    ]
    job["workload"]["cases"] = [{"values": values}]
    return spec.parse(job).work


def _asked(work: Work, checks: str = "confirm") -> list[Combination]:
    _, extra = oracle.combinations(work, checks, 1)
    return [one for one in extra if one.family in ORDERS]


def _made(work: Work, name: str, family: str, dtype: str = "i4") -> Any:
    (one,) = (one for one in _asked(work) if one.family == family)
    return Contents(work).of(one)[name].view(dtype)


def test_edges_lead_from_each_vertex_to_the_next_and_begin_again() -> None:
    work = _work(EDGES, m=900, n=300)
    u, v = (_made(work, name, RISING) for name in "uv")
    assert (v == u + 1).all()
    assert (u[:299] == np.arange(299)).all()
    assert v.max() == 299
    assert u[299] == 0


def test_a_path_stays_within_a_range_and_pairs_are_edges_too() -> None:
    pairs = {"e": ("const int2*", "m", "randint:7:400")}
    made = _made(_work(pairs, m=800, n=900), "e", FALLEN).reshape(-1, 2)
    assert (made[:, 1] == made[:, 0] + 1).all()
    assert (made.min(), made.max()) == (7, 399)


@pytest.mark.parametrize("kind", ["const int*", "const float*"])
def test_what_is_drawn_besides_is_in_order(kind: str) -> None:
    init = "normal" if "float" in kind else "randint:0:1000000"
    work = _work({**EDGES, "rank": (kind, "n", init)}, m=900, n=300)
    dtype = "f4" if "float" in kind else "i4"
    rising, falling = (_made(work, "rank", family, dtype) for family in (RISING, FALLEN))
    assert (np.diff(rising) >= 0).all()
    assert (np.diff(falling) <= 0).all()
    assert rising[0] < rising[-1]
    drawn = Contents(work).of(Combination(work.cases[0].values, "declared", 1))["rank"]
    assert sorted(drawn.view(dtype)) == list(rising)


@pytest.mark.parametrize(
    "arrays",
    [
        {"u": EDGES["u"]},
        {"u": EDGES["u"], "v": ("const int*", "m", "randint:0:4000")},
        {"u": EDGES["u"], "v": ("const int*", "n", "randint:0:5000")},
        dict.fromkeys("uv", ("const int*", "m", "randint:0:100")),
        dict.fromkeys("uv", ("const short*", "m", "randint:0:5000")),
        dict.fromkeys("uv", ("const int*", "m", "normal")),
        dict.fromkeys("uv", ("const int*", "64", "randint:0:5000")),
        {"e": ("const int4*", "m", "randint:0:5000")},
    ],
)
def test_what_is_no_edge_is_not_asked(arrays: dict[str, tuple[str, str, str]]) -> None:
    """One array, two that are unlike, few places, and numbers that nothing was said of."""
    assert not _asked(_work(arrays, m=900, n=300))


def test_a_path_is_asked_of_finalists_and_is_no_longer_than_a_thousand() -> None:
    """Each step may be a round of launches that host code waits for."""
    work = _work(EDGES, m=500_000, n=200_000)
    found = _asked(work)
    assert [one.family for one in found] == list(ORDERS)
    assert all(dict(one.case) == {"m": 1024.0, "n": 1024.0} for one in found)
    for checks in ("screen", "race"):
        assert not _asked(work, checks)


def test_few_originals_are_asked() -> None:
    graphs = {"hermit", "components", "boruvka"}
    every = [one for one in load() if one.name == "base" and one.base.kind != "program"]
    every = [one for at, one in enumerate(every) if at % 8 == 0 or one.base.name in graphs]
    asked = {}
    for one in every:
        work = once_read.parsed(one).work
        largest = max((case.values for case in work.cases), key=work.elements)
        asked[one.base.name] = len(list(edge_paths.asked(work, largest)))
    assert graphs <= {name for name, many in asked.items() if many}
    assert max(asked.values()) == len(ORDERS)
    assert sum(map(bool, asked.values())) <= len(graphs) + len(every) // 10


def _rounds(arrays: Any, n: int) -> int:
    """Return the rounds in which vertices settle in order of rank, as `hermit` says."""
    u, v = (arrays[name].view("i4") % n for name in ("from", "to"))
    rank = arrays["rank"].view("i4")
    ahead = (rank[u] > rank[v]) | ((rank[u] == rank[v]) & (u < v))
    first, second = np.where(ahead, u, v), np.where(ahead, v, u)
    state = np.full(n, 2)
    rounds = 0
    while (state == 2).any():
        rounds += 1
        open_ = (state[first] == 2) & (state[second] == 2) & (first != second)
        waits = np.zeros(n, bool)
        waits[second[open_]] = True
        state[(state == 2) & ~waits] = 1
        for one, other in ((u, v), (v, u)):
            beside = other[(state[one] == 1) & (one != other)]
            state[beside[state[beside] == 2]] = 0
    return rounds


def test_rounds_that_random_graphs_need_are_far_too_few() -> None:
    """Of 1,003 vertices: 52 are counted out, and what is drawn has enough of them."""
    work = once_read.parsed("hermit/log_rounds").work
    _, extra = once_read.combinations(work, "confirm", 1)
    found = [one for one in extra if one.family in ORDERS]
    assert len(found) == 2
    for one in found:
        n = int(one.case["n"])
        counted = 32 + 2 * n.bit_length()
        assert _rounds(Contents(work).of(one), n) > 8 * counted
        drawn = Contents(work).of(Combination(one.case, "declared", 1))
        assert _rounds(drawn, n) < counted // 2
