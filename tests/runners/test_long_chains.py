"""Places that lead on along all there are, as far as a candidate has to be right."""

from __future__ import annotations

import time
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import pytest

from runners import capacities, led_along, long_chains, one_run, piled_up, spec
from runners.answers import Answers
from runners.checks import Report, Wrong
from runners.climbing import Limits, climbed
from runners.compare import Answer
from runners.contents import Combination, Contents
from runners.cuda_types import parse
from runners.families import DECLARED, LONG_CHAINS
from runners.gpu import HungError, LaunchError
from runners.judge import Judge
from runners.session import Session
from runners.spec import Json, Work
from tests.redteam import once_read
from tests.runners.host_gpu import COMPILER, artifact
from tests.runners.test_inputs import _work
from tests.runners.test_judge import _job

Ints = npt.NDArray[np.int32]
STEPS = """
extern "C" __global__ void scale(const int* next, int* out, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        int at = i, steps = 0;
        while (next[at] != at && steps < MOST) { at = next[at]; ++steps; }
        out[i] = RESULT;
    }
}
"""
WORK: Json = {
    "arguments": [
        {"name": "next", "type": "const int*", "shape": "n", "init": "randint:0:n"},
        {"name": "out", "type": "int*", "shape": "n", "role": "output"},
        {"name": "n", "type": "int", "value": "n"},
    ],
    "launch": {"grid": ["1"], "block": ["64"], "shared": "0", "tunable": False},
    "cases": [{"values": {"n": 300}}, {"values": {"n": 70}, "time": False}],
    "tolerance": {"rtol": 0, "atol": 0},
}


def _text(most: str = "n", result: str = "steps") -> str:
    return STEPS.replace("MOST", most).replace("RESULT", result)


def _array(name: str, init: str, shape: str = "n", kind: str = "const int*") -> Json:
    role = "input" if kind.startswith("const") else "output"
    return {"name": name, "type": kind, "shape": shape, "init": init, "role": role}


OUT = _array("out", "zeros", kind="int*")


def _made(work: Work, kind: str, fill: int = 1, **case: float) -> dict[str, Ints]:
    family = f"{LONG_CHAINS} {kind} {fill}"
    made = Contents(work).of(Combination(case, family, 1))
    return {name: data.view(np.int32) for name, data in made.items()}


def test_each_place_leads_to_the_one_beside_it_as_far_as_there_are_any() -> None:
    work = _work(_array("next", "randint:-1:n"), _array("x", "randint:0:9"), OUT, n=700)
    at, n = np.arange(11199), 11199.0
    assert np.array_equal(_made(work, "before", n=n)["next"], at - 1)
    assert np.array_equal(_made(work, "after", n=n)["next"], np.minimum(at + 1, at[-1]))
    assert np.array_equal(_made(work, "round", n=n)["next"], np.roll(at, -1))
    for fill in (0, 1):
        assert np.unique(_made(work, "after", fill, n=n)["x"]).tolist() == [fill]


def test_links_may_be_in_columns_and_in_rows() -> None:
    wide = _work(_array("slot", "randint:0:n", "n*deg"), OUT, n=700, deg=5)
    assert np.array_equal(
        _made(wide, "round", n=900.0, deg=3.0)["slot"].reshape(900, 3),
        np.broadcast_to(np.roll(np.arange(900), -1)[:, None], (900, 3)),
    )
    rows = _work(_array("parent", "randint:0:n", "trees*n"), OUT, trees=4, n=700)
    assert np.array_equal(
        _made(rows, "before", trees=2.0, n=900.0)["parent"].reshape(2, 900),
        np.broadcast_to(np.maximum(np.arange(900) - 1, 0), (2, 900)),
    )


def test_the_shortest_is_first_and_the_longest_as_far_as_is_promised() -> None:
    every = [*long_chains.lines(_work(_array("next", "randint:0:n"), OUT, n=20000))]
    assert [family.split()[1] for [(_, family), *_] in every] == ["before", "after", "round"]
    for line in every:
        assert [case["n"] for case, _ in line] == [1249, 4999, 19999, 79999, 319999]
    more = _work(_array("next", "randint:0:n"), _array("x", "randint:0:9"), OUT, n=20000)
    assert len([*long_chains.lines(more)]) == len(long_chains.WAYS)


@pytest.mark.parametrize(
    ("links", "out"),
    [
        (_array("next", "randint:0:300"), OUT),  # no size
        (_array("key", "randint:0:bins"), OUT),  # places of something else
        (_array("next", "randint:5:n"), OUT),
        (_array("next", "normal"), OUT),
        (_array("next", "randint:0:n"), _array("out", "zeros", kind="float*")),
    ],
)
def test_what_leads_to_no_place_of_its_own_is_not_asked(links: Json, out: Json) -> None:
    assert not [*long_chains.lines(_work(links, out, n=20000, bins=500))]


def test_a_slow_original_is_not_asked_about_longer_ones() -> None:
    every = long_chains.lines(_work(_array("next", "randint:0:n"), OUT, n=20000))
    line = [Combination(case, family, 1) for case, family in next(iter(every))]
    watch = capacities.Watch()
    watch.took(line[0], 0.001)
    watch.took(line[1], 0.05)
    assert "would take" in watch.objection(line[2])
    watch.failed(line[2])
    assert watch.objection(line[3]) == capacities.SHORTER
    now = [0.0]
    watch = capacities.Watch(lambda: now[0])
    assert not watch.objection(line[0])
    now[0] = 2 * capacities.CHAIN_SECONDS
    assert "no time left" in watch.objection(line[1])


def _answer(kind: str, *numbers: int, **more: Any) -> Answer:
    type_ = parse(kind)
    want = np.array(numbers, type_.fields[0].scalar.dtype).view(np.uint8)
    return Answer("out", type_, want, (None,), **more)


@pytest.mark.parametrize(
    ("answer", "exact"),
    [
        (_answer("int*", 0, 320_000, -5), True),
        (_answer("int*", 0, 1 << 30), False),
        (_answer("int*", 0, -(1 << 30)), False),
        (_answer("int*", (1 << 31) - 1, -(1 << 31), 7), True),  # marks
        (_answer("unsigned*", (1 << 32) - 1, 7), True),
        (_answer("unsigned*", (1 << 32) - 2, 7), False),
        (_answer("uint8_t*", 255, 200), True),
        (_answer("int*", 5, unordered=True), False),
    ],
)
def test_what_may_have_run_over_is_not_held_against_anybody(answer: Answer, exact: bool) -> None:
    class Known:
        def of(self, _one: Combination) -> dict[str, Answer]:
            return {"out": answer}

    assert led_along._exact(cast("Answers", Known()), Combination({}, DECLARED, 1)) == exact


class _Slow:
    """A session whose runs take longer by the square of a length, and which may hang."""

    def __init__(self, seconds: float, hangs: Exception | None = None) -> None:
        self.ran: list[float] = []
        self._seconds, self._hangs = seconds, hangs

    def run(self, combination: Combination, **_: Any) -> Any:
        """Take as long."""
        n = combination.case["n"]
        self.ran.append(n)
        if self._hangs is not None:
            raise self._hangs
        time.sleep(self._seconds * (n / 4799) ** 2)


def _climb(session: _Slow, monkeypatch: pytest.MonkeyPatch) -> tuple[list[str], bool]:
    job = spec.parse(_job("// slower\n" + _text(), _text(), workload=WORK, effort="confirm"))
    monkeypatch.setattr(one_run, "settled", lambda made: [made()])
    monkeypatch.setattr(one_run, "judged", lambda *_: None)
    known = cast("Answers", None)
    every = [[[one] for one in line] for line in led_along.lines(job)]
    limits = Limits(led_along.LAYER, piled_up.EXPECTED, led_along.SECONDS)
    return climbed(cast("Session", session), known, job, every, Report(), limits)


def test_who_takes_long_is_asked_no_further_and_who_hangs_is_not_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    slow, quick = _Slow(0.6), _Slow(1e-7)
    assert _climb(slow, monkeypatch) == ([], False)
    assert {*slow.ran} == {1199.0}
    assert _climb(quick, monkeypatch) == ([], False)
    assert max(quick.ran) == 4799.0
    notes, lost = _climb(_Slow(0.0, HungError("still running")), monkeypatch)
    assert lost
    assert "not tried to the end" in notes[0]
    with pytest.raises(LaunchError):
        _climb(_Slow(0.0, LaunchError("too large")), monkeypatch)


@pytest.mark.skipif(COMPILER is None, reason="g++ is not installed")
@pytest.mark.parametrize(
    ("mine", "base", "wrong"),
    [
        (_text("4096"), _text(), True),
        (_text().replace("steps = 0", "steps = 0 * n"), _text(), False),
        # What the original does not add up either.
        (
            _text(result="(steps > 4096) ? 0 : steps * 600000"),
            _text(result="steps * 600000"),
            False,
        ),
    ],
)
def test_who_ends_too_soon_is_refused(
    judge: Judge, monkeypatch: pytest.MonkeyPatch, mine: str, base: str, wrong: bool
) -> None:
    for module, name in (
        (led_along, "EXPECTED"),
        (led_along, "SECONDS"),
        (capacities, "MOST_SECONDS"),
        (capacities, "CHAIN_SECONDS"),
    ):
        monkeypatch.setattr(module, name, 1e9)  # others may use this machine
    job = _job(mine + "// another\n", base, workload=WORK, effort="confirm")
    request = {"job": job, "candidate": artifact(mine), "baseline": artifact(base)}
    parsed, report = spec.parse(job), Report()
    declared = [Combination(case.values, DECLARED, parsed.seed) for case in parsed.work.cases]
    known = judge._oracle.answers(parsed, request, declared, 300.0)
    session = judge._session(parsed, request)
    described = {*known.described}
    terms = (known, parsed, time.monotonic() + 300.0, report)
    if wrong:
        with pytest.raises(Wrong, match=rf"out\[.* inputs, .*{led_along.LAYER}"):
            led_along.check(lambda: session, *terms)
    else:
        assert led_along.check(lambda: session, *terms) == ([], False)
    # What it asks is no one else's.
    assert {*known.described} == described


def test_the_red_teams_paths_are_longer_than_sixteen_doublings_reach() -> None:
    """Of `rho/sixteen_leaps`, and in steps that an original is likely to be asked for."""
    work = once_read.parsed("rho/base").work
    for line in long_chains.lines(work):
        assert any(case["n"] > 1 << 16 for case, _ in line[:-1])
        assert all(int(case["n"]) % 2 for case, _ in line)
    case, family = next(iter(long_chains.lines(work)))[-1]
    made = Contents(work).of(Combination(case, family, 1))["next"].view(np.int32)
    assert np.array_equal(made, np.maximum(np.arange(len(made)) - 1, 0))


def test_where_questions_begin_ways_lead_from_both_ends_and_from_anywhere() -> None:
    """Of `lca/steps_of_16_bits`: from zero on nothing leads anywhere."""
    asked = (_array("a", "randint:0:n", "q"), _array("b", "randint:0:n", "q"))
    flag = _array("flag", "randint:0:9", "q")
    work = _work(_array("up", "randint:0:n"), *asked, flag, OUT, n=5000, q=400)
    every = [*long_chains.lines(work)]
    ways = [line[0][1] for line in every]
    assert [one.split()[1:] for one in ways[:3]] == [
        ["before", "2"],
        ["after", "2"],
        ["round", "2"],
    ]
    assert len(ways) == 3 + len(long_chains.WAYS)
    case, _ = every[0][-1]
    assert case["n"] == 79999
    made = _made(work, "before", 2, **case)
    assert np.array_equal(made["up"], np.maximum(np.arange(79999) - 1, 0))
    pairs = [*zip(made["a"][:4].tolist(), made["b"][:4].tolist(), strict=True)]
    assert pairs == [(79998, 0), (0, 0), (79998, 79998), (0, 79998)]
    # Beyond that they are as they were drawn.
    assert len(np.unique(made["a"][4:])) > 3
    assert {*made["flag"]} == {0}
    # Nothing begins anywhere where there are no questions.
    assert not long_chains.starts(_work(_array("up", "randint:0:n"), flag, OUT, n=5000, q=400))
