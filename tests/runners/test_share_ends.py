"""Shares beside one show who comes to an end too soon there."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from runners import families, share_ends
from runners.contents import Combination, Contents
from runners.spec import Work
from tests.redteam import once_read
from tests.redteam.table import load
from tests.runners.test_inputs import _pointer, _work


def _data(work: Work, family: str = families.SHARE_ENDS, seed: int = 1) -> np.ndarray:
    made = Contents(work).of(Combination(work.cases[0].values, family, seed))["x"]
    return made.view("f8" if work.arguments[0].type.size == 8 else "f4")


def _gaps(work: Work) -> np.ndarray:
    data, plain = _data(work), _data(work, families.DECLARED)
    return np.asarray(1 - data[data != plain].astype(np.float64))


@pytest.mark.parametrize(("kind", "last"), [("double", 2.0**-53), ("float", 2.0**-24)])
def test_few_are_less_than_one_by_a_few_last_places(kind: str, last: float) -> None:
    gaps = _gaps(_work(_pointer(f"const {kind}*", "uniform"), n=64_000))
    assert len(gaps) == pytest.approx(1000, abs=20)
    near = gaps < share_ends.STEPS[1] * last
    assert near.mean() > 0.45
    # Moved by a rounding error, which is twice the roundoff, none of them is one.
    assert gaps.min() == share_ends.STEPS[0] * last
    jittered = Combination({"n": 64_000.0}, f"{families.SHARE_ENDS}+j", 1)
    work = _work(_pointer(f"const {kind}*", "uniform"), n=64_000)
    moved = Contents(work).of(jittered)["x"].view(_data(work).dtype)
    assert moved.max() < 1
    if kind == "double":
        assert (gaps[~near] <= 2.0**-share_ends.NARROWEST).all()
        # Made floats nearly all are one.
        assert (np.float32(1 - gaps) == 1).mean() > 0.9


def test_where_whole_numbers_are_made_fewer_are_than_rounding_may_change() -> None:
    places = {**_pointer("int*"), "name": "y", "role": "output"}
    assert len(_gaps(_work(_pointer("const float*", "uniform"), places, n=64_000))) <= 64
    assert len(_gaps(_work(_pointer("const float*", "uniform"), places, n=9))) == 1


def test_only_originals_with_shares_are_asked_once() -> None:
    for init in ("normal", "zeros", "sorted"):
        assert not share_ends.asked(_work(_pointer(init=init), n=50))
    assert not share_ends.asked(_work(_pointer("const half*", "uniform"), n=50))
    works = {one.base.name: one for one in load() if one.base.kind != "program"}
    asked = [n for n, one in works.items() if share_ends.asked(once_read.parsed(one).work)]
    assert {"elliptic", "kepler"} <= set(asked)
    assert len(asked) <= len(works) // 8
    for checks, many in (("confirm", 1), ("screen", 0)):
        work = once_read.parsed("elliptic/base").work
        _, extra = once_read.combinations(work, checks, 1)
        assert sum(c.family == families.SHARE_ENDS for c in extra) == many


def _second(m: float, goes_on: Callable[[int, float, float], bool]) -> float:
    """Return an elliptic integral of the second kind, by means that go on for so long."""
    a, b, total, weight, rounds = 1.0, math.sqrt(1 - m), 0.5 * m, 1.0, 0
    while goes_on(rounds, a, b):
        total += weight * (0.5 * (a - b)) ** 2
        a, b = 0.5 * (a + b), math.sqrt(a * b)
        weight, rounds = 2 * weight, rounds + 1
    return math.pi / 2 / a * (1 - total)


def test_a_mean_of_six_rounds_is_right_for_all_shares_that_floats_have() -> None:
    """And further from right near one than moving the shares by a rounding error explains."""
    work = _work(_pointer("const double*", "uniform"), n=6400)
    data, plain = _data(work), _data(work, families.DECLARED)

    def whole(rounds: int, a: float, b: float) -> bool:
        return rounds < 40 and abs(a - b) > 1e-15 * a

    def gap(values: np.ndarray, rounds: int) -> float:
        return max(abs(_second(m, lambda r, *_: r < rounds) - _second(m, whole)) for m in values)

    assert gap(plain[plain > 0.99], 6) < 1e-10
    near = data[data != plain]
    assert gap(near, 6) > 1e-7
    assert gap(near, 16) < 1e-12
    last = np.finfo(np.float64).eps
    assert max(abs(_second(m - last, whole) - _second(m, whole)) for m in near) < 1e-13
