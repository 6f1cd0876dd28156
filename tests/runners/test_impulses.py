"""One large number at the beginning of rows that are long for a period: echoes that are cut off."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from runners import families, impulses, spec, verify
from runners.checks import Report, Wrong
from runners.contents import Combination, Contents
from runners.judge import Judge
from runners.spec import Json
from tests.redteam import once_read
from tests.runners.host_gpu import COMPILER, artifact
from tests.runners.test_inputs import _pointer, _work
from tests.runners.test_judge import _job

COMB = """
extern "C" __global__ void scale(const float* x, float* y, int c, int n, int delay) {
    int id = blockIdx.x * blockDim.x + threadIdx.x;
    if (id >= c * delay) return;
    x += (size_t)(id / delay) * n; y += (size_t)(id / delay) * n;
    STEPS
}
"""
ALL = """
    float s = 0.f;
    for (int t = id % delay; t < n; t += delay) y[t] = s = x[t] + 0.7f * s;
"""
FEW_ECHOES = """
    for (int t = id % delay; t < n; t += delay) {
        float s = 0.f;
        int from = t / delay < 48 ? t % delay : t - 48 * delay;
        for (int u = from; u <= t; u += delay) s = x[u] + 0.7f * s;
        y[t] = s;
    }
"""
# Stretches of 32 steps from silence, and what they begin with by a power of the feedback.
STRETCHES = """
    float fade = 0.7f, in = 0.f;
    for (int i = 1; i < 32; i *= 2) fade *= fade;
    for (int begin = id % delay; begin < n; begin += 32 * delay) {
        float s = in, end = 0.f;
        for (int t = begin; t < n && t < begin + 32 * delay; t += delay) {
            y[t] = s = x[t] + 0.7f * s;
            end = x[t] + 0.7f * end;
        }
        in = end + fade * in;
    }
"""
# Two steps at a time, by the square of the feedback.
PAIRS = """
    float s = 0.f;
    for (int t = id % delay; t < n; t += 2 * delay) {
        float one = x[t] + 0.7f * s, next = t + delay < n ? x[t + delay] : 0.f;
        y[t] = one;
        s = (next + 0.7f * x[t]) + (0.7f * 0.7f) * s;
        if (t + delay < n) y[t + delay] = s;
    }
"""
IN_DOUBLES = (
    ALL.replace("float", "double")
    .replace("y[t] = s", "s")
    .replace("x[t] + 0.7f * s;", "x[t] + (double)0.7f * s, y[t] = (float)s;")
)
WORK: Json = {
    "arguments": [
        {"name": "x", "type": "const float*", "shape": "c*n"},
        {"name": "y", "type": "float*", "shape": "c*n", "role": "output"},
        {"name": "c", "type": "int", "value": "c"},
        {"name": "n", "type": "int", "value": "n"},
        {"name": "delay", "type": "int", "value": "delay"},
    ],
    "launch": {"grid": ["(c*delay+63)/64"], "block": ["64"], "shared": "0", "tunable": False},
    "cases": [
        {"values": {"c": 64, "n": 60000, "delay": 1500}, "timed": True},
        {"values": {"c": 3, "n": 1001, "delay": 35}},
    ],
    "tolerance": {"rtol": 1e-4, "atol": 1e-5},
}


def _text(steps: str) -> str:
    return COMB.replace("STEPS", steps)


def _asked(work: spec.Work) -> list[tuple[dict[str, float], str]]:
    return [*impulses.asked(work)]


def test_rows_are_sixteen_times_as_long_and_the_period_as_short_as_declared() -> None:
    job = once_read.parsed("reverb/base")
    case = {"c": 3.0, "n": 16016.0, "delay": 35.0}
    assert _asked(job.work) == [(case, family) for family in families.IMPULSES]
    # What is left of 2^20 behind 49 echoes is no rounding.
    assert 1000 * job.work.atol < impulses.SMALLER * 0.7**49
    extra = once_read.combinations(job.work, "confirm", 1)[1]
    assert {Combination(case, family, 1).key for family in families.IMPULSES} <= {
        one.key for one in extra
    }
    screened = once_read.combinations(job.work, "screen", 1)[1]
    assert not any(one.family in families.IMPULSES for one in screened)


@pytest.mark.parametrize("name", ["gae/base", "ogive/base", "plumb/base"])
def test_of_others_nothing_is_asked(name: str) -> None:
    """They have no period, carry nothing, or hold whole numbers."""
    assert _asked(once_read.parsed(name).work) == []


def test_a_number_that_is_passed_as_a_literal_may_be_a_period() -> None:
    job = spec.parse(_job(_text(ALL), _text(ALL), workload=WORK))
    arguments = [
        dataclasses.replace(one, value="35") if one.name == "delay" else one
        for one in job.work.arguments
    ]
    cases = [
        dataclasses.replace(one, values={k: v for k, v in one.values.items() if k != "delay"})
        for one in job.work.cases
    ]
    work = dataclasses.replace(job.work, arguments=tuple(arguments), cases=tuple(cases))
    assert [case for case, _ in _asked(work)] == [{"c": 3.0, "n": 16016.0}] * 2
    alone = [
        dataclasses.replace(one, value="1") if one.name == "delay" else one for one in arguments
    ]
    assert _asked(dataclasses.replace(work, arguments=tuple(alone))) == []


def test_all_is_zero_but_the_beginning() -> None:
    first = {**_pointer("const float*"), "shape": "4*n"}
    other = {**_pointer("const float*"), "name": "other"}
    share = {**_pointer("const float*", "uniform"), "name": "share"}
    work = _work(first, other, share, n=50)
    whole, rows = (
        Contents(work).of(Combination(work.cases[0].values, family, 1))
        for family in families.IMPULSES
    )
    assert whole["x"].view("f4").tolist() == [impulses.LARGER, *[0.0] * 199]
    assert whole["other"].view("f4").tolist() == [impulses.LARGER / 2, *[0.0] * 49]
    made = rows["x"].view("f4").reshape(4, 50)
    assert made[:, 0].tolist() == [impulses.SMALLER, impulses.LARGER] * 2
    assert not made[:, 1:].any()
    assert np.all(rows["share"].view("f4") >= 63 / 64)


@pytest.mark.skipif(COMPILER is None, reason="g++ is not installed")
def test_where_results_are_vast_nothing_is_asked(judge: Judge) -> None:
    text = _text(ALL.replace("y[t] = s", "s").replace("0.7f * s;", "0.7f * s, y[t] = s * s;"))
    job = _job(text, text, workload=WORK, effort="confirm")
    request = {"job": job, "candidate": artifact(text), "baseline": artifact(text)}
    parsed = spec.parse(job)
    wanted = [Combination(case, family, 1) for case, family in _asked(parsed.work)]
    assert [one.key for one in wanted] == [*judge._answers(request, parsed, wanted, 60.0).dropped]


@pytest.mark.skipif(COMPILER is None, reason="g++ is not installed")
@pytest.mark.parametrize(
    ("steps", "right"),
    [(FEW_ECHOES, False), (STRETCHES, True), (PAIRS, True), (IN_DOUBLES, True)],
)
def test_who_cuts_echoes_off_is_refused(judge: Judge, steps: str, *, right: bool) -> None:
    mine, theirs = _text(steps), _text(ALL)
    small = {**WORK, "cases": [{"values": {"c": 3, "n": 1001, "delay": 35}, "timed": True}]}
    job = _job(mine, theirs, workload=small, effort="confirm")
    request = {"job": job, "candidate": artifact(mine), "baseline": artifact(theirs)}
    parsed, report = spec.parse(job), Report()
    wanted = [Combination(parsed.work.cases[0].values, families.DECLARED, 1)]
    wanted += [Combination(case, family, 1) for case, family in _asked(parsed.work)]
    answers = judge._answers(request, parsed, wanted, 60.0)
    assert len(wanted) == 3
    assert not answers.dropped
    why = ""
    try:
        verify.verify(judge._session(parsed, request), answers, parsed, wanted, report, 60.0)
    except Wrong as wrong:
        why = str(wrong)
    assert (why == "") == right, why
    assert right or "impulse" in why
