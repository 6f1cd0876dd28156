"""Lengths beyond what kernels have room for, and what the original is not asked there."""

from __future__ import annotations

import dataclasses
import json
import time
from concurrent.futures import Future
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from runners import (
    answering,
    capacities,
    families,
    inputs,
    oracle,
    promised_lengths,
    sizes,
    variation,
)
from runners.answers import Answers, Oracle
from runners.contents import Combination
from runners.gathered import Gathered
from runners.gpu import LaunchError
from runners.spec import CaseSpec, Work
from tests.runners.test_inputs import _pointer, _work

ROWS = {"rows": 300.0, "cols": 1500.0}


def _rows() -> Work:
    work = _work(_pointer(shape="rows*cols"), rows=300, cols=1500)
    return dataclasses.replace(work, cases=(*work.cases, CaseSpec({"rows": 7.0, "cols": 90.0})))


def _plain(work: Work, checks: str) -> list[dict[str, float]]:
    asked = oracle.combinations(work, checks, 1)[1]
    return [dict(c.case) for c in asked if c.family == families.PLAIN]


def test_each_variable_passes_the_capacities_that_are_not_too_far() -> None:
    """A row in shared memory, or in 1,024 threads; ten thousand times the declared is a limit."""
    found = capacities.beyond(_rows())
    assert found == [
        {"rows": 320.0, "cols": 9.0},
        {"rows": 1088.0, "cols": 9.0},
        {"rows": 7.0, "cols": 12352.0},
    ]
    long = capacities.beyond(_work(_pointer(shape="rows*cols"), rows=20000, cols=4000))
    assert {"rows": 9.0, "cols": 58176.0} in long
    assert {"rows": 232512.0, "cols": 9.0} in long
    assert all(case["rows"] * case["cols"] <= capacities.MOST_ELEMENTS for case in long)
    assert capacities.beyond(_work(_pointer(), n=1 << 20)) == []
    # What sizes nothing has no room to be long in.
    steps = {"name": "steps", "type": "int", "value": "steps"}
    assert all(c["steps"] == 9 for c in capacities.beyond(_work(_pointer(), steps, n=50, steps=40)))
    # Where nine of the others are too many, two.
    wide = capacities.beyond(_work(_pointer(shape="a*b*c*c"), a=20000, b=40, c=40))
    assert {"a": 232512.0, "b": 2.0, "c": 2.0} in wide


def test_only_a_confirmation_asks_for_them() -> None:
    """They are long, and few candidates come so far; of captured contents there is one length."""
    assert _plain(_rows(), "screen") == []
    ends = [*promised_lengths.cases(_rows())]
    assert _plain(_rows(), "confirm") == [*capacities.beyond(_rows()), *ends]
    kept = _work(_pointer("int*", "zeros", "rows*cols"), rows=300, cols=1500)
    assert _plain(kept, "confirm")
    real = _work({**_pointer(shape="rows*cols"), "init": "capture:x"}, rows=300, cols=1500)
    assert _plain(real, "confirm") == []
    known = [c.case for c in oracle.combinations(_rows(), "confirm", 1)[1]]
    assert len([case for case in known if case == {"rows": 7.0, "cols": 12352.0}]) == 1


def test_contents_there_are_those_that_are_declared() -> None:
    """The name of the family tells what they are for."""
    work = _rows()
    before = inputs.generate(work, ROWS, 1)
    assert variation.apply(families.PLAIN, work, before, 1) is before


def test_where_four_thousand_are_too_many_the_longest_that_is_not_is_tried() -> None:
    """A table of all pairs of states: a place of eight bits is wrong from 257 on."""
    pairs = _work(
        _pointer(shape="seqs*steps*states"),
        _pointer(shape="states*states"),
        seqs=5,
        steps=20,
        states=79,
    )
    found = [case.values for case in sizes.undeclared(pairs, 4, large=2)]
    assert {"seqs": 5.0, "steps": 20.0, "states": 320.0} in found
    assert not any(case["states"] > 320 for case in found)
    rows = [case.values for case in sizes.undeclared(_rows(), 4, large=2)]
    assert not any(case["cols"] in sizes.CAPACITIES for case in rows)
    real = _work({**_pointer(shape="states*states"), "init": "capture:x"}, states=79)
    assert not any(c.values["states"] == 320 for c in sizes.undeclared(real, 4, large=2))


def _at(cols: float, rows: float = 7.0, family: str = families.PLAIN) -> Combination:
    return Combination({"rows": rows, "cols": cols}, family, 1)


def test_what_the_original_is_too_slow_for_is_not_asked() -> None:
    """Its time is told from shorter ones, at least in proportion and by its last growth."""
    watch = capacities.Watch()
    assert watch.objection(_at(1088)) == ""
    watch.took(_at(320), 0.01)
    watch.took(_at(1088), 0.011)
    assert watch.objection(_at(12352)) == ""
    watch.took(_at(12352), 0.5)
    assert "would take" in watch.objection(_at(58176))
    assert watch.objection(_at(58176, rows=8)) == ""
    assert watch.objection(_at(58176, family=families.DECLARED)) == ""
    # One time alone: it may grow with the square.
    alone = capacities.Watch()
    alone.took(_at(12352), 0.1)
    assert "would take 2.2 s" in alone.objection(_at(58176))


def test_a_run_that_was_held_up_is_not_believed() -> None:
    """No time grows with more than the cube, so that each shorter run bounds a longer one's."""
    watch = capacities.Watch()
    watch.took(_at(320), 0.0001)
    watch.took(_at(1088), 0.2)
    assert watch.objection(_at(2049)) == ""
    assert "would take 2.7 s" in watch.objection(_at(9600))
    assert "would take" in watch.objection(_at(20000))


def test_a_few_lengths_may_take_longer_than_all_others() -> None:
    """A run that was held up tells of a longer one what it would never take."""
    watch = capacities.Watch()
    for rows in (7, 8, 9, 10):
        watch.took(_at(12352, rows), 0.06)
    assert [watch.objection(_at(58176, rows)) for rows in (7, 8)] == ["", ""]
    assert "would take 1.3 s" in watch.objection(_at(58176, 9))
    assert watch.objection(_at(12400, 10)) == ""
    # Elements that are alike make some originals slow, and there are more such cases.
    watch = capacities.Watch()
    watch.took(_at(12352, family=families.ALIKE), 0.06)
    assert "would take 1.3 s" in watch.objection(_at(58176, family=families.ALIKE))


def test_behind_one_that_the_original_does_not_do_no_longer_one_is_asked() -> None:
    """Too much shared memory is too much for longer rows, too, and a crash costs a process."""
    watch = capacities.Watch()
    watch.failed(_at(1088))
    assert watch.objection(_at(12352)) == capacities.SHORTER
    assert watch.objection(_at(320)) == ""
    assert watch.objection(_at(12352, rows=8)) == ""
    assert not capacities.longer({"n": 2.0}, {"m": 2.0})
    other = _at(1088, family=families.DECLARED)
    assert not capacities.hopeless(_at(12352), [other])


class _Slow:
    """An original that has no room for some lengths and is slow at others."""

    def __init__(self, *_: Any) -> None:
        self.contents = SimpleNamespace(expect=lambda _: None)
        self.asked: list[float] = []

    def gather(self, combination: Combination) -> Gathered:
        cols = combination.case["cols"]
        self.asked.append(cols)
        if combination.case["rows"] == 9 and cols > 500:
            raise LaunchError("too much shared memory")
        return Gathered(combination, [], None, [], 3e-8 * cols * cols)

    def digest(self, gathered: Gathered) -> dict[str, Any]:
        return {"key": gathered.combination.key, "status": "ok"}


def test_the_oracle_asks_an_original_as_far_as_it_goes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it is not asked is dropped, with why."""
    original = _Slow()
    monkeypatch.setattr(answering, "Original", lambda *_: original)
    (tmp_path / "none.json").write_text("null")
    lengths = (320.0, 1088.0, 12352.0)
    asked = [_at(cols, rows) for rows in (7.0, 9.0) for cols in lengths]
    wanted = [{"case": dict(c.case), "family": c.family, "seed": 1} for c in asked]
    request = {"folder": str(tmp_path), "promoted": str(tmp_path / "none.json")}
    assert answering.answer_all({**request, "combinations": wanted}, lambda _: None) == 0  # type: ignore[arg-type, return-value]
    assert original.asked == [320, 1088, 320, 1088]
    lines = [json.loads(line) for line in (tmp_path / "answers.jsonl").read_text().splitlines()]
    no = {line["key"]: line["message"] for line in lines if line["status"] == "no"}
    assert "would take 4.6 s" in no[_at(12352).key]
    assert no[_at(1088, 9).key] == "too much shared memory"
    assert no[_at(12352, 9).key] == capacities.SHORTER


def test_what_a_process_learned_is_known_to_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else nothing would tell it what a long case may take, and none of them be asked."""
    told: list[Any] = []

    def process(_: Oracle, asked: Path, __: float) -> str:
        request = json.loads(asked.read_text())
        told.append([(one["case"]["cols"], one["seconds"]) for one in request["took"]])
        answering.answer_all(request, lambda _: None)  # type: ignore[arg-type, return-value]
        return ""

    class Digested(_Slow):
        def digest(self, gathered: Gathered) -> dict[str, Any]:
            return {**super().digest(gathered), "took": gathered.seconds, "outputs": []}

    original = Digested()
    monkeypatch.setattr(answering, "Original", lambda *_: original)
    monkeypatch.setattr(Oracle, "_process", process)
    asking, twin = Oracle(tmp_path, 0, lambda *_: {}), Future[Any]()
    twin.set_result(None)
    answers = Answers(_rows(), tmp_path)
    deadline = time.monotonic() + 60.0
    request: dict[str, Any] = {"job": {}, "baseline": {}}
    asking._ask(answers, request, twin, ([_at(320), _at(1088)], set()), deadline)
    asking._ask(answers, request, twin, ([_at(12352), _at(2000)], set()), deadline)
    assert told[0] == []
    assert [cols for cols, _ in told[1]] == [320, 1088]
    # Of the first two the next process knows how long the third would take, and the fourth.
    assert original.asked == [320, 1088, 2000]
    assert "would take 4.6 s" in answers.dropped[_at(12352).key]


def test_a_crash_is_not_repeated_at_greater_lengths(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The process is started again for the others alone."""
    asked = [_at(320), _at(1088), _at(12352), _at(320, 9)]
    rounds: list[list[str]] = []

    def once(
        _: Oracle, answers: Answers, __: Any, ___: Any, left: list[Combination], ____: Any
    ) -> None:
        rounds.append([c.key for c in left])
        if len(rounds) == 1:
            answers.described[left[0].key] = {}
            answers.dropped[left[1].key] = "an illegal address"
        else:
            answers.described.update({c.key: {} for c in left})

    monkeypatch.setattr(Oracle, "_once", once)
    answers = Answers(_rows(), tmp_path)
    deadline = time.monotonic() + 60.0
    Oracle._ask(Oracle.__new__(Oracle), answers, {}, None, (asked, set()), deadline)  # type: ignore[arg-type]
    assert rounds[1:] == [[_at(320, 9).key]]
    assert answers.dropped[_at(12352).key] == capacities.SHORTER


LONGER_FAMILIES = (families.LONGEST, "opposite-ends 1 low", "opposite-ends 1 high")


@pytest.mark.parametrize("family", LONGER_FAMILIES)
def test_what_is_left_out_for_a_longer_one_stands_for_no_failure(family: str) -> None:
    """The longest was asked: a shorter one is no unknown, and no reason to ask no other of it."""
    watch = capacities.Watch()
    longest, shorter = _at(4194301, family=family), _at(4000001, family=family)
    watch.took(_at(1000000, family=families.DECLARED), 0.0001)
    assert watch.objection(longest) == ""
    watch.took(longest, 0.002)
    assert watch.objection(shorter) == capacities.LONGER
    assert watch.objection(_at(4194301, family="far-ends high")) == ""


def test_the_oracle_takes_no_longer_one_for_a_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = _Slow()
    monkeypatch.setattr(answering, "Original", lambda *_: original)
    (tmp_path / "none.json").write_text("null")
    kinds = ("opposite-ends 1 low", "far-ends high")
    asked = [
        _at(300, family=families.DECLARED),
        *(_at(one, family=kinds[0]) for one in (400, 350)),
        _at(400, family=kinds[1]),
    ]
    wanted = [{"case": dict(c.case), "family": c.family, "seed": 1} for c in asked]
    request = {"folder": str(tmp_path), "promoted": str(tmp_path / "none.json")}
    answering.answer_all({**request, "combinations": wanted}, lambda _: None)  # type: ignore[arg-type, return-value]
    assert original.asked == [300, 400, 400]
    lines = [json.loads(line) for line in (tmp_path / "answers.jsonl").read_text().splitlines()]
    no = {line["key"]: line["message"] for line in lines if line["status"] == "no"}
    assert no == {asked[2].key: capacities.LONGER}
    # Nor does it where the process is started again.
    answers = Answers(_rows(), tmp_path)

    def once(
        _: Oracle, answers: Answers, __: Any, ___: Any, left: list[Combination], ____: Any
    ) -> None:
        answers.described[left[0].key] = {}
        answers.dropped.update({c.key: capacities.LONGER for c in left if c.key in no})

    monkeypatch.setattr(Oracle, "_once", once)
    deadline = time.monotonic() + 60.0
    Oracle._ask(Oracle.__new__(Oracle), answers, {}, None, (asked, set()), deadline)  # type: ignore[arg-type]
    assert {*answers.dropped} == {asked[2].key}


def test_whatever_is_like_a_long_case_tells_what_it_may_take() -> None:
    """By its share, as if that were squared; with other sizes as large, and none that is less."""
    watch = capacities.Watch()
    far = _at(4000001, rows=9, family="opposite-ends 0 low")
    assert "nothing tells" in watch.objection(far)
    watch.took(_at(1000000, rows=4096, family=families.DECLARED), 0.0005)
    assert watch.objection(far) == ""
    assert watch.objection(_at(4000001, rows=9, family=families.LONGEST)) == ""
    slow = capacities.Watch()
    slow.took(_at(1000000, rows=4096, family=families.DECLARED), 0.01)
    assert "would take 2.6 s" in slow.objection(far)
    # Both sizes larger, both squared.
    assert "would take 41.0 s" in slow.objection(_at(4000001, rows=16384, family=far.family))
