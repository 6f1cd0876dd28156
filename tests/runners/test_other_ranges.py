"""What is right for the declared range of whole numbers alone is accepted, and that is said."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runners import limit, other_ranges, other_values, spec, wider
from runners.answers import Answers
from runners.capacities import Watch, hopeless
from runners.checks import Report
from runners.contents import Combination, Contents
from runners.families import ranges
from runners.gpu import DeviceError, HungError, LaunchError, OutOfMemoryError
from runners.judge import Judge
from runners.run import Run
from runners.session import Session
from runners.spec import Json
from runners.wider import Wider
from tests.redteam import once_read
from tests.runners.host_gpu import COMPILER, artifact
from tests.runners.test_judge import _job
from tests.runners.test_other_values import _Failing

host = pytest.mark.skipif(COMPILER is None, reason="g++ is not installed")

COUNTS = """
extern "C" __global__ void f(const int* x, const unsigned char* b, long long* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    BODY
}
"""
PLAIN = Combination({"n": 900.0}, "declared", 1)


def _given(x: str = "randint:0:60", b: str = "randint:0:17", kind: str = "const int*") -> Json:
    return {
        "symbol": "f",
        "arguments": [
            {"name": "x", "type": kind, "shape": "n", "init": x},
            {"name": "b", "type": "const unsigned char*", "shape": "n", "init": b},
            {"name": "y", "type": "long long*", "shape": "n", "role": "output"},
            {"name": "n", "type": "int", "value": "n"},
        ],
        "cases": [{"values": {"n": 900}}],
    }


def _parsed(effort: str = "confirm", **given: str) -> spec.JobSpec:
    text = COUNTS.replace("BODY", "y[i] = x[i] + b[i];")
    job = _job(text + "//", text, workload=_given(**given), effort=effort)
    return spec.parse(job)


def _tried(**given: str) -> dict[str, list[int]]:
    found = other_ranges.others(_parsed(**given), PLAIN)
    return {each[0].name: [one.to for one in each] for each in found}


def test_few_wider_ranges_are_tried_up_to_all_of_the_types() -> None:
    assert _tried() == {"x": [118, 3776, 59 << 16, 2**31 - 1], "b": [32, 255]}
    assert _tried(x="randint:0:1000000", b="randint:0:256") == {"x": [1999998, 63999936, 2**31 - 1]}
    assert _tried(x="randint:0:2147483648", b="normal") == {}
    assert _tried(x="randint:0:1", b="randint:0:255") == {"b": [255]}
    wide = _tried(x="randint:0:60", kind="const unsigned long long*")["x"]
    assert wide == [118, 3776, 59 << 16, 2**64 - 1]
    both = _tried(x="randint:-5:5", kind="const unsigned long long*")["x"]
    assert both == [8, 256, 4 << 16, 2**63 - 1]
    for to in (*wide, *both):
        for init in ("randint:0:60", "randint:-5:5"):
            work = _parsed(x=init, kind="const unsigned long long*").work
            least = to if init == "randint:0:60" else min(to, 2**63 - 1)
            made = Contents(work).of(Combination(PLAIN.case, Wider("x", least).family, 1))
            assert (made["x"].view(np.uint64) == least).sum() > 20


def test_what_refuses_keeps_to_declared_ranges_of_bytes() -> None:
    """Heights below 40 are promised to `domino` of the red team, whose original adds them up."""
    work = once_read.parsed("domino/momentum").work
    assert [one.name for one, *_ in ranges(work)] == ["height", "shove"]
    case = dict(work.cases[-1].values)
    every = [one for part in once_read.combinations(work, "confirm", 1) for one in part]
    asked = {one.family: one for one in every if dict(one.case) == case}
    assert len(asked) > 20
    contents = Contents(work)
    assert {
        f for f, one in asked.items() if contents.of(one)["height"].view("u1").max() > 39
    } == set()


@given(
    low=st.integers(-(2**31), 2**31 - 1),
    size=st.integers(1, 2**32 - 1),
    seed=st.integers(0, 9),
)
@settings(max_examples=60, deadline=None)
def test_numbers_stay_within_a_range_and_come_to_its_end(low: int, size: int, seed: int) -> None:
    high = min(low + size, 2**31)
    work = _parsed(x=f"randint:{low}:{high}").work
    plain = Contents(work).of(Combination(PLAIN.case, "declared", seed))
    for argument, first, last in [r for r in ranges(work) if r[0].name == "x"]:
        steps = wider.tried(argument, first, last)
        assert len(steps) <= 4
        assert list(steps) == sorted({*steps})
        for to in steps:
            assert last < to < 2**31
            one = Combination(PLAIN.case, Wider("x", to).family, seed)
            arrays = Contents(work).of(one)
            x = arrays["x"].view(np.int32)
            assert x.max() == to
            # Upward alone where nothing is below zero; else as far below, at most.
            assert (x >= first).all() if low >= 0 else int(x.min()) >= -to
            assert low >= 0 or int(x.min()) < 0
            assert np.array_equal(arrays["b"], plain["b"])
            # Of all sizes: some could be declared ones.
            assert to < 64 * last or (np.abs(x.astype(np.int64)) <= to // 8).sum() > 100


def test_places_in_a_buffer_are_left_alone() -> None:
    """Of `embed` of the red team what is read beyond its table was the same each time."""
    job = _parsed()
    rows = replace(job.work.arguments[1], name="table", init="normal", shape="60*n")
    work = replace(job.work, arguments=(*job.work.arguments, rows))
    found = other_ranges.others(replace(job, work=work), PLAIN)
    assert [each[0].name for each in found] == ["b"]
    assert list(_tried(x="randint:0:900")) == ["b"]
    # What may be below zero is no place, however many rows there are.
    assert list(_tried(x="randint:-900:900")) == ["x", "b"]
    # What ends below zero has no wider range, and is no place.
    assert list(_tried(x="randint:-1000:0")) == ["b"]


def test_numbers_beyond_a_size_of_a_declared_case_are_no_places_of_it() -> None:
    given_ = {**_given(x="randint:0:900"), "cases": [{"values": {"n": n}} for n in (900, 700)]}
    text = COUNTS.replace("BODY", "y[i] = x[i] + b[i];")
    job = spec.parse(_job(text + "//", text, workload=given_, effort="confirm"))
    assert [each[0].name for each in other_ranges.others(job, PLAIN)] == ["x", "b"]


Ints = npt.NDArray[Any]


def _path(cost: Ints, most: int) -> Ints:
    """Return a row's path costs, sums of which stop at `most` (p1 = 10, p2 = 120)."""
    before = cost[0]
    found = [before]
    for own in cost[1:]:
        least = before.min()
        beside = np.full((2, len(own)), most, np.int64)
        beside[0, 1:], beside[1, :-1] = before[:-1] + 10, before[1:] + 10
        best = np.minimum(before, np.minimum(least + 120, most))
        best = np.minimum(best, np.minimum(beside, most).min(axis=0))
        before = np.minimum(own + best - least, most)
        found.append(before)
    return np.stack(found)


def test_sums_of_bytes_that_stop_at_a_byte_show_beyond_their_range_alone() -> None:
    """Of `sgm` of the red team: right for costs below 64, which are as many as disparities."""
    job = once_read.parsed("sgm/four_costs_a_word")
    case = {name: float(size) for name, size in job.work.cases[-1].values.items()}
    (tried,) = other_ranges.others(job, Combination(case, "declared", 1))
    assert [(one.name, one.to) for one in tried] == [("cost", 126), ("cost", 255)]
    wrong = []
    for family in ("declared", "ends", *(one.combination.family for one in tried)):
        made = Contents(job.work).of(Combination(case, family, 1))["cost"].astype(np.int64)
        rows = made.reshape(-1, int(case["w"]), int(case["disp"]))
        wrong.append(sum(not np.array_equal(_path(r, 255), _path(r, 1 << 20)) for r in rows))
    assert wrong == [0, 0, 0, 5]


def test_longer_rows_than_declared_are_tried_where_there_is_room() -> None:
    """Lengths below 18 in rows of 17: what is made for them fails in rows that are longer."""
    text = COUNTS.replace("BODY", "y[i] = x[i] + b[i];").replace("int n)", "int n, int k)")
    given_ = _given()
    given_["arguments"][1]["shape"] = "n"
    given_["arguments"][0] |= {"shape": "n*k"}
    given_["arguments"].append({"name": "k", "type": "int", "value": "k"})
    given_["cases"] = [{"values": {"n": 900, "k": 16}}]
    job = spec.parse(_job(text + "//", text, workload=given_, effort="confirm"))
    plain = Combination({"n": 900.0, "k": 16.0}, "declared", 1)
    *_, (longest, alike) = other_ranges.others(job, plain)
    assert (longest.name, longest.low, longest.last) == ("b", 0, 16)
    assert longest.to == min(255, longest.combination.case["k"])
    assert longest.combination.family == Wider("b", longest.to).family
    note = longest.said("it is not: y[0]")
    assert f"with up to {longest.to:,} at n=" in note
    assert note.startswith(f"limit: {other_values.RIGHT} values of b (0 to 16)")
    assert alike.said("it is not: y[0]") == note
    made, plainly = (Contents(job.work).of(one.combination) for one in (alike, longest))
    assert np.array_equal(made["b"], plainly["b"])
    assert set(made["x"].view(np.int32)) == {1} < set(plainly["x"].view(np.int32))


def test_long_rows_are_tried_in_which_something_is_found_to_their_end() -> None:
    """Lanes of eight bits overflow behind 255 words, and random bytes are no text for so long."""
    job = once_read.parsed("utf8/byte_lanes")
    plain = Combination(dict(job.work.cases[-1].values), "declared", 1)
    *_, (longest, alike) = other_ranges.others(job, plain)
    width = int(alike.combination.case["width"])
    assert width > 255 * 8
    found = []
    for one in (longest, alike):
        made = Contents(job.work).of(one.combination)
        rows = made["text"].view(np.uint8).reshape(-1, width)
        lengths = made["length"].view(np.int32)
        assert lengths.max() == width
        sound = (rows < 0x80).argmin(axis=1)  # letters of one byte, from the beginning on
        sound[(rows < 0x80).all(axis=1)] = width
        found.append(int(np.minimum(sound, lengths).max()))
    assert found[0] < 100
    assert found[1] > 255 * 8


def test_what_is_too_much_once_is_asked_no_further() -> None:
    def one(name: str, to: int) -> Combination:
        return Combination({"n": 9.0}, Wider(name, to).family, 1)

    assert hopeless(one("x", 64), [one("x", 2)])
    assert not hopeless(one("x", 2), [one("x", 64)])
    assert not hopeless(one("y", 64), [one("x", 2)])
    assert not hopeless(Combination({"n": 9.0}, "declared", 1), [one("x", 2)])
    # At other sizes it may be.
    there = Combination({"n": 9000.0}, Wider("x", 2).family, 1)
    assert not hopeless(one("x", 64), [there])
    times = iter([0.0, 1.0, 9.0])
    watch = Watch(lambda: next(times))
    assert [bool(watch.objection(one("x", to))) for to in (2, 4, 8)] == [False, False, True]


def _said(judge: Judge, body: str, base: str, **given: str) -> list[str]:
    """Return the limits that a confirmation says of a candidate, which is right."""
    texts = [COUNTS.replace("BODY", one) for one in (body, base)]
    job = _job(*texts, workload=_given(**given), effort="confirm")
    job["kernel"]["name"] = job["baseline"]["name"] = "f"
    made = [artifact(one) for one in texts]
    request = {"job": job, "candidate": made[0], "baseline": made[1]}
    verdict, _, lost = judge.verdict(request, spec.parse(job), 90.0)
    assert not lost
    assert verdict["status"] == "correct", verdict["log"]
    assert all(check["passed"] for check in verdict["checks"])
    return list(limit.apart(verdict["measurement"]["notes"])[0])


@host
@pytest.mark.parametrize(
    ("body", "base", "words"),
    [
        (
            "y[i] = (int)((unsigned)x[i] * 1000u);",
            "y[i] = x[i] * 1000ll;",
            "x (0 to 59); with up to 3,866,624 it is not: y[",
        ),
        ("y[i] = b[i] & 31;", "y[i] = b[i];", "b (0 to 16); with up to 32 it is not: y["),
        ("y[i] = b[i] & 127;", "y[i] = b[i];", "b (0 to 16); with up to 255 it is not: y["),
        ("y[i] = (unsigned)x[i];", "y[i] = x[i];", ""),
    ],
)
def test_what_is_right_for_its_range_says_so(
    judge: Judge, body: str, base: str, words: str
) -> None:
    found = _said(judge, body, base)
    assert len(found) == bool(words)
    assert all(one.startswith(f"{other_values.RIGHT} values of {words}") for one in found)


@host
def test_below_zero_it_goes_as_far_as_above(judge: Judge) -> None:
    [found] = _said(judge, "y[i] = (short)x[i];", "y[i] = x[i];", x="randint:-1000:1000")
    assert "values of x (-1,000 to 999); with -63,936 to 63,936 it is not: y[" in found or (
        "values of x (-1,000 to 999); with -64,000 to 63,936 it is not: y[" in found
    )


@host
def test_where_the_original_leaves_its_buffers_nothing_is_said(judge: Judge) -> None:
    """A place in a table means nothing beyond it."""
    base = "y[i] = 0; if (x[i] >= 60) y[n + x[i]] = 1;"
    assert _said(judge, "y[i] = 0; if (x[i] >= 60) y[i] = 1;", base) == []
    read = "y[i] = x[i] < 60 ? 7 : x[n + x[i]];"
    assert _said(judge, "y[i] = 7;", read) == []


@pytest.mark.parametrize(
    ("error", "words", "lost"),
    [
        (LaunchError("too much shared memory"), "it fails: too much shared memory", False),
        (DeviceError("an illegal address"), "it fails: an illegal address", True),
        (HungError("no end"), "it does not end", True),
        (OutOfMemoryError("no room"), "", False),
    ],
)
def test_what_fails_is_said_and_what_has_no_room_is_not(
    error: DeviceError, words: str, lost: bool, tmp_path: Path
) -> None:
    job = _parsed(b="normal")
    plain = Combination(job.work.cases[0].values, "declared", 5)
    outputs = [{"name": "y", "unordered": False}]
    told: Json = {"outputs": outputs, "seconds": 0.01}
    answers = Answers(job.work, tmp_path, {plain.key: told})
    asked: list[str] = []
    quick = 4

    def ask(more: Sequence[Combination]) -> None:
        asked.extend(one.family for one in more)
        for number, one in enumerate(more):
            answers.described[one.key] = {**told, "seconds": 0.01 if number < quick else 1.0}

    answers.ask = ask

    def load() -> Session:
        return cast("Session", _Failing(error))

    until = time.monotonic() + 60.0
    found = other_ranges.check(load, answers, job, [plain], until, Report())
    said = f"limit: right for the declared values of x (0 to 59); with up to 118 {words}"
    assert found == ([said] if words else [], lost)
    assert asked == [f"wider x to {to}" for to in (118, 3776, 59 << 16, 2**31 - 1)]
    # What is told of another range decides about nothing else.
    assert set(answers.described) == {plain.key}
    # An original that is slow there is not compared with, nor with another order.
    quick = 0
    assert other_ranges.check(load, answers, job, [plain], until, Report()) == ([], False)
    quick, outputs[0] = 4, {"name": "y", "unordered": True}
    answers.described[plain.key] = {"outputs": [{"name": "y", "unordered": False}]}
    assert other_ranges.check(load, answers, job, [plain], until, Report()) == ([], False)


def test_behind_a_range_that_is_too_slow_none_is_run(tmp_path: Path) -> None:
    """Up to where the original does it, and no further: one that it does beyond is chance."""
    job = _parsed(b="normal")
    plain = Combination(job.work.cases[0].values, "declared", 5)
    told: Json = {"outputs": [{"name": "y", "unordered": False}], "seconds": 0.01}
    answers = Answers(job.work, tmp_path, {plain.key: told})
    run: list[str] = []

    class Counting:
        def run(self, combination: Combination, **_terms: Any) -> Run:
            run.append(combination.family)
            raise OutOfMemoryError

    def ask(more: Sequence[Combination]) -> None:
        for one, seconds in zip(more, (0.01, 1.0, 0.01, 0.01), strict=True):
            answers.described[one.key] = {**told, "seconds": seconds}

    answers.ask = ask
    until = time.monotonic() + 60.0
    terms = (answers, job, [plain], until, Report())
    assert other_ranges.check(lambda: cast("Session", Counting()), *terms) == ([], False)
    assert run == ["wider x to 118"]
    # Without time nothing is asked, and that is said.
    soon = (answers, job, [plain], time.monotonic() + 20.0, Report())
    notes, lost = other_ranges.check(lambda: cast("Session", Counting()), *soon)
    assert (notes, lost) == (["other ranges of x not tried: there is no time left"], False)
