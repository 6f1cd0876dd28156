"""Opposite ends of ranges in ever longer rows, as far as an original's own sums tell of the next."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from runners import answers, capacities, opposite_rows, piles, told, verify
from runners.answers import Answers
from runners.capacities import Watch
from runners.compare import Answer
from runners.contents import Combination, Contents
from runners.cuda_types import parse
from runners.families import OPPOSITE_ROWS
from runners.measuring import _silent
from runners.spec import CaseSpec, Work
from tests.redteam import once_read
from tests.runners.test_inputs import _work

LENGTHS = (160.0, 640.0, 2560.0, 10240.0)
Numbers = npt.NDArray[Any]


def _array(name: str, init: str, shape: str = "rows*n") -> dict[str, Any]:
    return {"name": name, "type": "const int*", "shape": shape, "init": init}


def _queue(*more: dict[str, Any], kind: str = "long long*", last: int = 70) -> Work:
    """Return what makes a number for each row of two amounts."""
    result = {"name": "y", "type": kind, "shape": "rows", "init": "zeros", "role": "output"}
    first, second = _array("gap", "randint:0:100"), _array("busy", f"randint:0:{last}")
    work = _work(first, second, *more, result, rows=2048, n=640)
    less = CaseSpec({"rows": 77.0, "n": 131.0}), CaseSpec({"rows": 5.0, "n": 1.0})
    return dataclasses.replace(work, cases=(*work.cases, *less))


def _asked(work: Work, checks: str = "confirm") -> list[Combination]:
    extra = once_read.combinations(work, checks, 1)[1]
    return [one for one in extra if one.family.startswith(OPPOSITE_ROWS)]


def test_rows_go_up_to_sixteen_times_the_declared() -> None:
    ways = opposite_rows.ways(_asked(_queue()))
    families = {line[0].family for line in ways}
    assert families == {
        f"{OPPOSITE_ROWS} 0 {e} {n}" for e in ("low", "high") for n in ("rows", "n")
    }
    along = [line for line in ways if line[0].family.endswith(" n")]
    assert all(opposite_rows.lengths(line) == [*LENGTHS] for line in along)
    assert all(one.case["rows"] == 5 for line in along for one in line)
    assert not _asked(_queue(), "screen")


def test_every_array_has_its_turn_where_there_are_three() -> None:
    three = _queue(_array("rest", "randint:0:20"))
    assert {one.family.split()[1] for one in _asked(three)} == {"0", "1", "2"}


def test_it_takes_two_amounts_or_one_below_zero_and_whole_results() -> None:
    work = _queue()
    gap, _, *others = work.arguments
    assert not _asked(dataclasses.replace(work, arguments=(gap, *others)))
    signed = dataclasses.replace(gap, init="randint:-50:50")
    assert _asked(dataclasses.replace(work, arguments=(signed, *others)))
    assert not _asked(_queue(kind="float*"))
    assert not _asked(dataclasses.replace(work, whole=False))
    # Where not even sums fit, nothing is promised.
    assert not _asked(_queue(kind="int*", last=1 << 24))


def test_a_shorter_longest_is_asked_where_there_is_no_room() -> None:
    """What is longer still is asked at its longest (`runners.opposed`)."""

    def flat(n: int) -> list[Combination]:
        pair = [_array(name, "randint:0:100", "n") for name in ("gap", "busy")]
        result = {"name": "y", "type": "long long*", "shape": "4", "init": "zeros"}
        return _asked(_work(*pair, {**result, "role": "output"}, n=n))

    lengths = opposite_rows.lengths(opposite_rows.ways(flat(50_000))[0])
    assert 500_000 < lengths[-1] < 16 * 50_000
    assert lengths[1] <= 50_000
    assert not flat(400_000)


def test_one_is_low_and_the_other_high_along_all_of_it() -> None:
    case = {"rows": 5.0, "n": 10240.0}
    made = Contents(_queue()).of(Combination(case, f"{OPPOSITE_ROWS} 0 low n", 1))
    gap, busy = (made[name].view(np.int32) for name in ("gap", "busy"))
    waits = np.cumsum(busy.reshape(5, -1)[:, :-1] - gap.reshape(5, -1)[:, 1:], axis=1)
    assert waits.sum(axis=1).min() > 1 << 31


def test_a_range_that_is_beside_a_size_by_chance_is_an_amount() -> None:
    """It was declared once for all cases, the largest and one that has no room for it."""
    work = _queue()
    assert [one[0].name for one in piles.amounts(work)] == ["gap", "busy"]
    top, other, _ = work.cases
    # Of what has room for it everywhere, and of the largest, it may be a key.
    assert len(piles.amounts(dataclasses.replace(work, cases=(top, other)))) == 1
    wide = CaseSpec({"rows": 70.0, "n": 64_000.0})
    assert len(piles.amounts(dataclasses.replace(work, cases=(*work.cases, wide)))) == 1


def _answer(data: Numbers, kind: str = "long long*", *, unordered: bool = False) -> Answer:
    field = parse(kind)
    made = np.asarray(data).astype(field.fields[0].scalar.dtype).view(np.uint8)
    return Answer("y", field, made, (None,), None, unordered, lenient=False, spreads=False)


def _told(of: Any, kind: str = "long long*") -> int:
    every = [{"y": _answer(np.asarray(of(int(n))), kind)} for n in LENGTHS]
    return told.told(LENGTHS, every)


def _int(number: int) -> int:
    return (number + (1 << 31)) % (1 << 32) - (1 << 31)


@pytest.mark.parametrize(
    ("of", "kind", "many"),
    [
        (lambda n: [n * n * 32, n], "long long*", 4),
        (lambda n: [n * n * 32, n], "unsigned int*", 4),
        # In 32 bits it runs over, which the result's own words show, or its numbers do.
        (lambda n: [_int(n * n * 32)], "int*", 3),
        (lambda n: [_int(n * n * 32)], "long long*", 3),
        (lambda n: [n * n * 72 % (1 << 32)], "long long*", 3),
        (lambda n: [n * n * 72], "long long*", 4),
        # Cubes are told from squares, and places and marks are what they are.
        (lambda n: [n**3 // 4], "long long*", 4),
        (lambda n: [_int(n**3 // 4)], "long long*", 2),
        (lambda n: [n - 1, 0, -1], "int*", 4),
        (lambda _: [(1 << 31) - 1], "int*", 4),
        # A hash goes on as nothing says.
        (lambda n: [n * 2654435761 % (1 << 32)], "unsigned int*", 2),
        # As many results as there are places: sums so far.
        (lambda n: np.cumsum(np.arange(n) * 64), "long long*", 4),
        (lambda n: np.cumsum(np.arange(n) * 64).astype(np.int32), "int*", 3),
        (lambda _: np.zeros(0), "int*", 4),
    ],
)
def test_shorter_rows_tell_what_the_next_comes_to(of: Any, kind: str, many: int) -> None:
    assert _told(of, kind) == many


def test_nothing_is_told_behind_what_has_no_answer_or_no_order() -> None:
    one = {"y": _answer(np.asarray([7]))}
    free = {"y": _answer(np.asarray([7]), unordered=True)}
    assert told.told(LENGTHS, [one, one, None, one]) == 2
    assert told.told(LENGTHS, [one, free, one, one]) == 1
    assert told.told(LENGTHS, [None, None, None, None]) == 0


def test_what_is_not_told_is_held_against_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = _asked(_queue())
    known = Answers(_queue(), tmp_path)
    known.described = {one.key: {"outputs": []} for one in asked}
    ways = opposite_rows.ways(asked)
    numbers = iter([int(_length(one)) ** 2 * 32 for line in ways for one in line])

    def read(*_: object) -> dict[str, Answer]:
        return {"y": _answer(np.asarray([_int(next(numbers))]), "int*")}

    monkeypatch.setattr(answers, "read", read)
    answers._untold(known, asked)
    gone = {one.key for one in asked if _length(one) >= 8192}
    assert gone
    assert known.dropped.keys() == gone
    assert set(known.dropped.values()) == {answers.UNTOLD}
    assert known.described.keys() == {one.key for one in asked} - gone
    answers._untold(known, asked)  # once: nothing is read again
    assert all(map(_silent, gone))


def _length(one: Combination) -> float:
    return opposite_rows.lengths([one])[0]


def test_a_longer_one_is_asked_where_the_shorter_ones_are_quick() -> None:
    def at(n: float, end: str = "low") -> Combination:
        return Combination({"rows": 5.0, "n": n}, f"{OPPOSITE_ROWS} 0 {end} n", 1)

    watch = Watch()
    assert watch.objection(at(160)) == ""
    watch.took(at(640), 0.002)
    assert watch.objection(at(2560, "high")) == ""
    watch.took(at(2560), 0.032)
    assert "would take 0.5 s" in watch.objection(at(10240))
    assert capacities.hopeless(at(10240), [at(2560, "high")])
    assert OPPOSITE_ROWS in verify.ONE_RUN


def test_few_originals_are_asked_and_little() -> None:
    every = [once_read.parsed(f"{name}/base").work for name in ("scan", "maxsub", "guesthouse")]
    assert all(0 < len(_asked(work)) <= 16 for work in every)
    assert not _asked(once_read.parsed("saxpy/base").work)
