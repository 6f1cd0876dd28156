"""Entry functions are run where a number of their own text is exceeded, far beyond the declared."""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from runners import distant, spec
from runners.answers import Answers
from runners.checks import Report, Wrong
from runners.compare import Answer
from runners.contents import Combination
from runners.fault import Fault
from runners.gpu import DeviceError, Gpu, HungError, LaunchError
from runners.judge import Judge
from runners.run import Damage, Run
from runners.scenes import poison_of
from runners.session import Session
from runners.spec import JobSpec
from tests.redteam import once_read
from tests.redteam.table import load
from tests.runners.test_judge import SCALE, _job

CANDIDATES = {one.label: one for one in load()}


@pytest.mark.parametrize(
    "text",
    [
        "m = w & 0xffffff;",
        "if (n < 1 << 24) f();",
        "flag = w >> 24;",
        "w = (unsigned long long)sum << 40 | n;",
        "w += 1ull << 40;",
        "struct { unsigned n : 24, known : 8; };",
        "w = (sum << 8) | 1u; w >>= 8;",
        "const int bits = 8; w = sum << bits | known; sum = w >> bits;",
        "w = sum << (8); sum = w >> (8);",
    ],
)
def test_a_field_of_24_bits_is_seen(text: str) -> None:
    found = distant.exceeded(text)
    assert {1 << 24, (1 << 24) - 1} & found


@pytest.mark.parametrize(
    "text",
    ["x = c ? a : 24;", "case 24: f();", "h ^= h >> 8;", "at = block << 8 | lane;", "n : x;"],
)
def test_what_is_no_field_is_not(text: str) -> None:
    """A hash that is mixed, an index that is put together and never taken apart."""
    assert not [one for one in distant.exceeded(text) if one >= distant.LEAST]


@given(st.text(max_size=300), st.sampled_from(["", "x << ", "a b : ", ">> (", ": 1,"]))
def test_no_text_is_too_odd(text: str, end: str) -> None:
    assert all(one >= 0 for one in distant.exceeded(f"{text} {end}") if one)
    assert distant.exceeded("1" * (1 << 19)) == frozenset()


def _parsed(label: str) -> JobSpec:
    return once_read.parsed(label)


def test_a_count_of_24_bits_is_exceeded_by_what_half_of_the_elements_are() -> None:
    """33 million elements would do; a million is declared."""
    (far,) = distant.cases(_parsed("keep/counts_of_24_bits"))
    assert far.case["n"] > 2.2 * (1 << 24)
    assert 37 < far.times < 38
    # What was asked about with as many elements needs no more.
    asked = [Combination({"n": 4e7}, "declared", 1)]
    assert distant.cases(_parsed("keep/counts_of_24_bits"), asked) == []


def test_hardly_a_right_candidate_is_run_far_beyond() -> None:
    """It takes ten seconds."""
    good = [
        one for one in CANDIDATES.values() if one.base.kind == "entry" and one.expect == "accept"
    ]
    found = [one.label for one in good if distant.cases(once_read.parsed(one))]
    assert len(good) > 90
    assert len(found) <= len(good) // 20, found


def test_memory_and_the_declared_sizes_bound_what_is_tried() -> None:
    job = _counting("b : 30;", declared=1 << 22)
    assert distant.cases(job) == []  # 2.4 thousand million elements
    assert distant.cases(_counting("b : 21;", declared=3000)) == []  # 1,573 times the declared
    assert distant.cases(_counting("b : 17;", declared=1 << 20)) == []  # it is declared
    twice = _counting("b : 17, c : 18; unsigned d : 19;")
    assert [round(one.times) for one in distant.cases(twice)] == [197, 98]
    assert distant.cases(dataclasses.replace(twice, kernel=twice.baseline)) == []
    kernel = dataclasses.replace(twice, work=dataclasses.replace(twice.work, kind="kernel"))
    assert distant.cases(kernel) == []


def _counting(field: str, declared: int = 3000) -> JobSpec:
    """Return a job whose candidate has a field of so many bits."""
    workload = {
        "kind": "entry",
        "launch": None,
        "arguments": [
            {"name": "x", "type": "const int*", "shape": "n", "init": "randint:0:9"},
            {"name": "y", "type": "int*", "shape": "n", "role": "output"},
            {"name": "n", "type": "int", "value": "n"},
        ],
        "cases": [{"values": {"n": declared}}, {"values": {"n": 7}, "time": False}],
    }
    text = f"{SCALE}\nstruct Word {{ unsigned {field} }};\n"
    return spec.parse(_job(text, effort="confirm", workload=workload))


class Asked:
    """Answers of an original that adds one, in so many seconds an element."""

    def __init__(self, job: JobSpec, each: float = 1e-8, most: float = 1e9) -> None:
        self.work, self.each, self.most = job.work, each, most
        self.known: list[float] = []
        self.described: dict[str, Any] = {}
        self.dropped: dict[str, str] = {}
        self.left = False

    def ask(self, combinations: Sequence[Combination]) -> None:
        for one in combinations:
            if one.case["n"] <= self.most:
                self.known.append(one.case["n"])
            else:
                self.dropped[one.key] = "out of memory"

    def of(self, combination: Combination) -> dict[str, Answer] | None:
        if combination.case["n"] not in self.known:
            return None
        size = int(combination.case["n"])
        kind = next(a.type for a in self.work.arguments if a.name == "y")
        left = np.ones(size, bool) if self.left else None
        want = np.arange(size, dtype=np.int32).view(np.uint8)
        return {"y": Answer("y", kind, want, (None,), left)}

    def ask_moved(self, _combinations: Sequence[Combination]) -> None:
        """Nothing is in doubt."""

    def seconds(self, combination: Combination) -> float:
        return self.each * combination.case["n"]

    def patience(self, _combination: Combination) -> float:
        return 2.0


class Pair:
    """A candidate that does as it is told at far sizes."""

    def __init__(self, job: JobSpec, does: str) -> None:
        self.job, self.does, self.runs, self.spoilt = job, does, 0, int(does == "spoilt")

    def run(self, combination: Combination, *, nan: bool, beside: bool, seconds: float) -> Run:
        del nan, beside
        assert seconds >= distant.PATIENCE
        self.runs += 1
        size = int(combination.case["n"])
        out = np.arange(size, dtype=np.int32)
        if self.does == "hangs":
            raise HungError("not in time")
        if self.does in {"fails", "lost"}:
            raise (LaunchError if self.does == "fails" else DeviceError)(
                "invalid\n" + 99 * " argument"
            )
        if self.does == "wraps":
            out %= 1 << 16
        if self.spoilt:
            out[5] = 9
        data = out.view(np.uint8)
        if self.does == "nothing":
            data = poison_of(self.job.work, combination.case, "y", 77)
        return Run({"y": data}, Damage(), 900.0, 77)

    def renewed(self, _only: Combination | None = None) -> int:
        spoilt, self.spoilt = self.spoilt, 0
        return spoilt


def _checked(
    does: str = "",
    *,
    job: JobSpec | None = None,
    free: int = 1 << 34,
    seconds: float = 99.0,
    **answers: Any,
) -> tuple[list[str], Pair, Report]:
    job = job or _counting("n : 16;")
    asked = Asked(job, **{k: v for k, v in answers.items() if k in {"each", "most"}})
    asked.left = bool(answers.get("left"))
    pair, report = Pair(job, does), Report()
    room = (time.monotonic() + seconds, free)
    notes = distant.check(
        lambda: cast("Session", pair), cast("Answers", asked), job, [], room, report
    )
    return notes, pair, report


def test_what_is_right_there_is_checked_and_nothing_is_noted() -> None:
    """Memory that is given back late is no fault there."""
    notes, pair, report = _checked()
    assert notes == []
    assert (pair.runs, report.runs) == (1, 1)
    assert report.checks[distant.LAYER, "n=147457"]["passed"]


def test_what_is_silently_wrong_there_is_refused() -> None:
    with pytest.raises(Wrong, match=r"y\[65536\]: got 0, want 65536 \(n=147457.*far beyond"):
        _checked("wraps")


def test_inputs_that_somebody_else_spoilt_are_no_fault() -> None:
    notes, pair, report = _checked("spoilt")
    assert (notes, pair.runs) == ([], 2)
    assert all(check["passed"] for check in report.as_json())


@pytest.mark.parametrize(
    ("does", "words"),
    [
        (
            "fails",
            "limit: it fails at n=147457, 49.2 times the largest declared, where the original does",
        ),
        ("lost", "limit: it fails at n=147457, 49.2 times"),
        ("hangs", "limit: it does not end in 15 s at n=147457, 49.2 times"),
        ("nothing", "limit: it writes nothing to y at n=147457, 49.2 times"),
    ],
)
def test_what_fails_aloud_there_is_a_limit_and_said(does: str, words: str) -> None:
    notes, _, report = _checked(does)
    assert len(notes) == 1
    assert notes[0].startswith(words)
    assert "\n" not in notes[0]
    assert len(notes[0]) < 260
    assert all(check["passed"] for check in report.as_json())


def test_up_to_sixteen_times_what_fails_is_refused_but_for_its_time() -> None:
    near = _counting("n : 16;", declared=20_000)
    with pytest.raises(LaunchError):
        _checked("fails", job=near)
    with pytest.raises(Wrong):
        _checked("nothing", job=near)
    notes, _, _ = _checked("hangs", job=near)
    assert notes[0].startswith("limit: it does not end")


@pytest.mark.parametrize(
    ("answers", "words"),
    [
        ({"each": 1e-4}, "the original would take 14.7 s"),
        ({"most": 100_000}, "out of memory"),
        ({"most": 5}, "the original would take inf s"),
        ({"left": True}, "the original writes nothing to y"),
        ({"free": 1 << 20}, "the memory does not suffice"),
        ({"seconds": 50.0}, "there is no time left"),
    ],
)
def test_what_is_too_much_for_the_original_is_not_asked(answers: Any, words: str) -> None:
    """Nothing is loaded for it."""
    notes, pair, _ = _checked("wraps", **answers)
    assert notes == [f"far beyond the declared not checked: n=147457: {words}"]
    assert not pair.runs


def test_a_smaller_number_is_tried_where_the_original_cannot_do_the_largest() -> None:
    job = _counting("n : 18, m : 16;", declared=6000)
    with pytest.raises(Wrong, match="n=147457"):
        _checked("wraps", job=job, most=200_000)


def test_an_original_that_cannot_be_asked_ends_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    job = _counting("n : 16;")
    asked = Asked(job)

    def fails(_combinations: Sequence[Combination]) -> None:
        raise Fault("RunnerError", "the oracle did not start")

    load, room = cast("Any", None), (math.inf, 1 << 34)
    for ask, words in ((fails, "gives no answer"), (None, "cannot be asked")):
        monkeypatch.setattr(asked, "ask", ask)
        (note,) = distant.check(load, cast("Answers", asked), job, [], room, Report())
        assert note.endswith(f"the original {words}")


def test_how_long_it_will_take_is_told_by_the_last_two() -> None:
    """What grows with the square; what waited for its code at first; one alone is not trusted."""
    assert distant._expected([(10.0, 9.0), (100.0, 1e-4), (400.0, 16e-4)], 1600.0) == (
        pytest.approx(16 * 16e-4)
    )
    assert distant._expected([(100.0, 1.0), (400.0, 1.0)], 800.0) == pytest.approx(2.0)
    assert distant._expected([(100.0, 1.0)], 200.0) == pytest.approx(8.0)


def test_the_judge_loads_the_pair_anew_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Delays were loaded in its place."""
    job = _counting("n : 16;")
    gpu = cast("Gpu", SimpleNamespace(free_bytes=lambda: 1 << 34, allocate=lambda _: 0, facts={}))
    judge = Judge(gpu, 0, tmp_path, lambda _text, _job: None)
    pairs: list[Pair] = []

    def session(asked: JobSpec, _request: Any) -> Pair:
        pairs.append(Pair(asked, "fails"))
        return pairs[-1]

    monkeypatch.setattr(judge, "_session", session)
    measured: dict[str, list[str]] = {"notes": ["one"]}
    known: tuple[Answers, list[Combination]] = (cast("Answers", Asked(job)), [])
    assert not judge._beyond(
        cast("Session", None), {"job": {}}, job, known, measured, Report(), math.inf
    )
    assert len(pairs) == 1
    assert measured["notes"][0] == "one"
    assert measured["notes"][1].startswith("limit: it fails at")
