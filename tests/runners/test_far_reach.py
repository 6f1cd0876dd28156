"""One large number among zeros, far from where it is felt: who cuts a recurrence off is shown it."""

from __future__ import annotations

import dataclasses

import pytest

from runners import families, far_reach, spec, verify
from runners.checks import Report, Wrong
from runners.contents import Combination, Contents
from runners.judge import Judge
from runners.spec import LASTING, MOVED, Json
from tests.redteam import once_read
from tests.runners.host_gpu import COMPILER, artifact
from tests.runners.test_inputs import _pointer, _work
from tests.runners.test_judge import _job

RETURNS = """
extern "C" __global__ void scale(const float* x, const int* left, float* y, int rows, int cols) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    x += (size_t)r * cols; left += (size_t)r * cols; y += (size_t)r * cols;
    STEPS
}
"""
ALL = """
    float next = 0.f;
    for (int c = cols - 1; c >= 0; --c) y[c] = next = x[c] + (left[c] ? 0.94f * next : 0.f);
"""
CUT_OFF = """
    for (int from = 0; from < cols; from += 128) {
        float next = 0.f;
        int to = from + 128, begin = to + 256 < cols ? to + 256 : cols;
        for (int c = begin - 1; c >= from; --c) {
            next = x[c] + (left[c] ? 0.94f * next : 0.f);
            if (c < to) y[c] = next;
        }
    }
"""
# The stretch behind it is carried in as one number.
STRETCHES = """
    float in = 0.f;
    for (int from = (cols - 1) / 64 * 64; from >= 0; from -= 64) {
        float next = 0.f, part = 1.f;
        for (int c = (from + 64 < cols ? from + 64 : cols) - 1; c >= from; --c) {
            next = x[c] + (left[c] ? 0.94f * next : 0.f);
            part = left[c] ? part * 0.94f : 0.f;
            y[c] = next + (part > 0.f ? part * in : 0.f);
        }
        in = y[from];
    }
"""
WORK: Json = {
    "arguments": [
        {"name": "x", "type": "const float*", "shape": "rows*cols"},
        {"name": "left", "type": "const int*", "shape": "rows*cols", "init": "randint:0:60"},
        {"name": "y", "type": "float*", "shape": "rows*cols", "role": "output"},
        {"name": "rows", "type": "int", "value": "rows"},
        {"name": "cols", "type": "int", "value": "cols"},
    ],
    "launch": {"grid": ["(rows+63)/64"], "block": ["64"], "shared": "0", "tunable": False},
    "cases": [{"values": {"rows": 7, "cols": 203}}],
    "tolerance": {"rtol": 1e-4, "atol": 1e-5},
}


def _text(steps: str) -> str:
    return RETURNS.replace("STEPS", steps)


def _contents(family: str, *arguments: Json, n: int = 50) -> dict[str, list[float]]:
    work = _work(*arguments, n=n)
    made = Contents(work).of(Combination(work.cases[0].values, family, 1))
    kinds = {one.name: "i4" if "int" in one.type.text else "f4" for one in work.arguments}
    return {name: data.view(kinds[name]).tolist() for name, data in made.items()}


def test_all_is_zero_but_the_ends_and_nothing_ends_what_is_carried() -> None:
    arguments = [
        _pointer("const float*"),
        {**_pointer("const int*", "randint:0:60"), "name": "left"},
        {**_pointer("const float*", "uniform"), "name": "share"},
        {**_pointer("const int*", "permutation"), "name": "order"},
        {**_pointer("const float*"), "name": "other"},
    ]
    declared = _contents(families.DECLARED, *arguments)
    upper, lower = (_contents(family, *arguments) for family in families.REACHES)
    for made in (upper, lower):
        assert made["x"] == [far_reach.LARGE, *[0.0] * 48, far_reach.LARGE]
        assert made["order"] == declared["order"]
        # What is the difference of two arrays is not zero for want of another number.
        assert made["other"] == [far_reach.LARGE / 16, *[0.0] * 48, far_reach.LARGE / 16]
    assert {*upper["left"]} == {59}
    assert {*lower["left"]} == {0}
    assert all(63 / 64 <= one <= 1 for one in upper["share"])
    assert all(0 <= one <= 1 / 64 for one in lower["share"])
    assert len({*upper["share"]}) > 40


def test_it_is_asked_where_something_may_fade_in_the_longest_light_case() -> None:
    job = once_read.parsed("gae/horizon")
    long = {"envs": 9.0, "steps": 4165.0}
    kinds = [(long, family) for family in families.REACHES]
    assert [*far_reach.asked(job.work)] == [
        *kinds,
        ({**long, MOVED: float(LASTING)}, families.DECLARED),
    ]
    asked = {c.key for c in once_read.combinations(job.work, "confirm", 1)[1]}
    assert {Combination(case, family, 1).key for case, family in kinds} <= asked
    screened = once_read.combinations(job.work, "screen", 1)[1]
    assert not any(one.family in families.REACHES for one in screened)
    assert not any(True for _ in far_reach.asked(dataclasses.replace(job.work, loops=False)))
    assert not any(True for _ in far_reach.asked(once_read.parsed("plumb/base").work))


@pytest.mark.parametrize(
    ("text", "arguments", "many"),
    [
        (_text(ALL), {}, 2),
        (_text(ALL).replace("0.94f", "scale"), {}, 0),
        # What a share is multiplied by fades, too.
        (
            _text(ALL).replace("0.94f", "x[c]"),
            {"x": {"init": "uniform"}, "left": {"type": "float*"}},
            2,
        ),
        (_text(ALL), {"x": {"type": "const half*"}}, 0),
        (_text(ALL), {"y": {"type": "int*"}}, 0),
        (_text("y[r] = 0.94f * x[r];"), {}, 0),
    ],
)
def test_it_is_not_asked_of_others(text: str, arguments: dict[str, Json], many: int) -> None:
    every = [{**one, **arguments.get(one["name"], {})} for one in WORK["arguments"]]
    if arguments.get("left"):
        every[1].pop("init")
    found = [
        *far_reach.asked(spec.parse(_job(text, text, workload={**WORK, "arguments": every})).work)
    ]
    assert len(found) == many
    assert {family for _, family in found} <= {*families.REACHES}
    assert all(case["cols"] >= 512 for case, _ in found)


@pytest.mark.skipif(COMPILER is None, reason="g++ is not installed")
@pytest.mark.parametrize(("steps", "right"), [(CUT_OFF, False), (STRETCHES, True)])
def test_who_cuts_off_what_fades_is_refused(judge: Judge, steps: str, *, right: bool) -> None:
    mine, theirs = _text(steps), _text(ALL)
    job = _job(mine, theirs, workload=WORK, effort="confirm")
    request = {"job": job, "candidate": artifact(mine), "baseline": artifact(theirs)}
    parsed, report = spec.parse(job), Report()
    wanted = [Combination(parsed.work.cases[0].values, families.DECLARED, 1)]
    wanted += [Combination(case, family, 1) for case, family in far_reach.asked(parsed.work)]
    answers = judge._answers(request, parsed, wanted, 60.0)
    assert not answers.dropped
    why = ""
    try:
        verify.verify(judge._session(parsed, request), answers, parsed, wanted, report, 60.0)
    except Wrong as wrong:
        why = str(wrong)
    assert (why == "") == right, why
    assert right or "far-reach inputs" in why
