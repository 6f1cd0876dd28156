"""Who stops at a bound that is nearly the best there may be misses what is better behind it."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from runners import beside_ends, families
from runners.contents import Combination, Contents
from runners.spec import Work
from runners.whole_families import HOT
from tests.redteam import once_read
from tests.runners.test_inputs import _work

Values = npt.NDArray[Any]


def _array(name: str, init: str, shape: str = "n", kind: str = "const int8_t*") -> dict[str, Any]:
    return {"name": name, "type": kind, "shape": shape, "init": init}


def _asked(work: Work, checks: str = "confirm") -> list[Combination]:
    extra = once_read.combinations(work, checks, 1)[1]
    return [one for one in extra if one.family == families.BESIDE_ENDS]


def test_rows_are_beside_an_end_but_for_one_number_late_in_each() -> None:
    work = _work(
        _array("a", "randint:-128:128", "rows*cols"),
        _array("b", "randint:0:9", "cols"),
        rows=5,
        cols=32,
    )
    asked = _asked(work)
    assert len(asked) == beside_ends.TURNS
    seen = set()
    for one in asked:
        made = Contents(work).of(one)
        rows, last = made["a"].view(np.int8).reshape(5, 32), made["b"].view(np.int8)
        assert np.array_equal(np.flatnonzero(last != last[0]), [30])
        assert all(np.array_equal(np.flatnonzero(row != row[0]), [30]) for row in rows)
        ends = {(-127, -128), (126, 127)}, {(1, 0), (7, 8)}
        pairs = [(int(row[0]), int(row[30])) for row in (rows[3], last)]
        assert all(pair in end for pair, end in zip(pairs, ends, strict=True))
        seen.add(tuple(pairs))
    assert len(seen) == beside_ends.TURNS


def test_one_array_is_at_either_end_and_flags_at_none() -> None:
    one = _work(_array("a", "randint:-128:128"), n=4000)
    found = {int(Contents(one).of(asked)["a"].view(np.int8)[0]) for asked in _asked(one)}
    assert found == {-127, 126}
    assert not _asked(one, "screen")
    assert not _asked(_work(_array("a", "randint:0:3"), n=4000))
    assert not _asked(_work(_array("a", "normal", kind="const float*"), n=4000))


def test_of_what_may_be_indices_not_all_meet() -> None:
    work = _work(_array("a", "randint:0:1000000", kind="const int*"), n=200_000)
    data = Contents(work).of(_asked(work)[0])["a"].view(np.int32)
    assert (data == data[0]).sum() <= HOT + 8
    wide = _work(_array("a", "randint:0:2147483647", kind="const int*"), n=200_000)
    data = Contents(wide).of(_asked(wide)[0])["a"].view(np.int32)
    assert (data == data[0]).sum() == 199_999


def _searched(echo: Values, chirp: Values, *, ceiling: float = np.inf) -> int:
    """Return the first lag that scores best, where each of 256 threads stops at a ceiling."""
    scores = np.correlate(echo.astype(np.int64), chirp.astype(np.int64), "valid")
    best = (-(1 << 62), 0)
    for thread in range(min(256, len(scores))):
        own = scores[thread::256]
        stop = next((n for n, score in enumerate(own) if score >= ceiling), len(own) - 1)
        best = max(best, *((int(s), -(thread + 256 * n)) for n, s in enumerate(own[: stop + 1])))
    return -best[1]


@pytest.mark.parametrize("seed", [1, 2, 3, 4])
def test_the_red_teams_ceiling_is_passed_behind_where_it_is_reached(seed: int) -> None:
    job = once_read.parsed("sonar/ceiling")
    wrong = []
    for one in once_read.combinations(job.work, "confirm", seed)[1]:
        if one.family != families.BESIDE_ENDS or one.case["len"] < 512:
            continue
        made = Contents(job.work).of(one)
        echo = made["echo"].view(np.int8)[: int(one.case["len"])]
        chirp = made["chirp"].view(np.int8)
        ceiling = 127 * int(np.abs(chirp.astype(np.int64)).sum())
        wrong.append(_searched(echo, chirp) != _searched(echo, chirp, ceiling=ceiling))
        # A ceiling that nothing passes stops nobody who has not found the best.
        assert _searched(echo, chirp) == _searched(echo, chirp, ceiling=ceiling * 128 // 127 + 1)
    # Of a large case all arrays are at the same ends.
    assert len(wrong) == beside_ends.TURNS // 2
    assert any(wrong)


def _offered(weights: Values, worth: Values, cap: int, *, halo: int) -> Values:
    """Return the best for each of a tile of 1,024 capacities, with so many before it at hand."""
    row = np.zeros(halo + min(cap, 1024), np.int64)
    for weight, value in zip(weights.tolist(), worth.tolist(), strict=True):
        taken = row.copy()
        taken[weight:] = np.maximum(row[weight:], row[:-weight] + value)
        row = taken
    return row[halo:]


def test_the_red_teams_border_is_too_narrow_for_items_that_all_weigh_most() -> None:
    """At ends alone what weighs most is worth nothing, as arrays take their ends by turns."""
    job = once_read.parsed("knapsack/sixteen_items_lean")
    wrong: dict[str, bool] = {}
    for one in once_read.combinations(job.work, "confirm", 1)[1]:
        if one.family not in {families.BESIDE_ENDS, families.ENDS} or one.case["cap"] < 8192:
            continue
        made = Contents(job.work).of(one)
        weights, worth = (made[name].view(np.int32)[:16] for name in ("weight", "value"))
        lean, wide = (_offered(weights, worth, 1024, halo=halo) for halo in (2720, 16 * 199))
        differs = not np.array_equal(lean, wide)
        wrong[one.family] = wrong.get(one.family, False) or differs
    assert wrong == {families.ENDS: False, families.BESIDE_ENDS: True}
