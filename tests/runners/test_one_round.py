"""Which variables are tried at one: those that are passed and size nothing."""

from __future__ import annotations

from typing import Any

from runners import one_round
from runners.contents import Combination
from runners.spec import Work
from tests.runners.test_inputs import _pointer, _work


def _counting(value: str = "k", shape: str = "n", **case: Any) -> Work:
    given = {"name": "rounds", "type": "int", "value": value}
    return _work({**_pointer(), "shape": shape}, given, **case)


def _once(work: Work) -> dict[str, float] | None:
    plain = Combination({k: float(v) for k, v in work.cases[0].values.items()}, "declared", 1)
    found = one_round.once(work, plain)
    return None if found is None else dict(found.case)


def test_what_is_passed_and_sizes_nothing_is_one() -> None:
    assert _once(_counting(n=900, k=12)) == {"n": 900.0, "k": 1.0}
    assert _once(_counting("2*k+j", n=900, k=12, j=3)) == {"n": 900.0, "k": 1.0, "j": 1.0}


def test_sizes_literals_and_single_rounds_stay() -> None:
    assert _once(_counting("n", n=900)) is None
    assert _once(_counting("12", n=900)) is None
    assert _once(_counting(n=900, k=1)) is None
    assert _once(_counting(shape="n*k", n=900, k=12)) is None
    assert _once(_counting(shape="min(n,k)", n=9, k=12)) is None
    # Nothing says what a buffer is at one.
    assert _once(_counting(shape="n/(k-1)", n=900, k=12)) is None


def test_what_is_moved_is_said() -> None:
    plain = Combination({"n": 9.0, "k": 12.0, "j": 7.0}, "declared", 1)
    once = Combination({"n": 9.0, "k": 1.0, "j": 1.0}, "times 2^66", 1)
    assert one_round.said(once, plain) == " at k=1, j=1"
