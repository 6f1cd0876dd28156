"""Floats beside means and sums of whole numbers: in floats, what is left of these is lost."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from runners import beside_means, common_offset, families, spec, verify
from runners.checks import Report, Wrong
from runners.contents import Combination, Contents
from runners.families import BESIDE_MEANS, BESIDE_SUMS
from runners.judge import Judge
from runners.spec import Json
from tests.redteam import once_read
from tests.runners.host_gpu import COMPILER, artifact
from tests.runners.test_inputs import _work
from tests.runners.test_judge import _job

STACK = """
extern "C" __global__ void scale(const KIND* frames, const float* dark, const float* gain,
                                 float* picture, int count, int pixels) {
    int p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= pixels) return;
    long long s = 0, q = 0;
    for (int k = 0; k < count; ++k) {
        long long x = (long long)frames[(size_t)k * pixels + p];
        s += x, q += x * x;
    }
    STEPS
}
"""
MEAN = "picture[p] = (float)(((double)s / (double)count - (double)dark[p]) * (double)gain[p]);"
MEAN_IN_FLOATS = "picture[p] = ((float)s / (float)count - dark[p]) * gain[p];"
MEAN_ROUNDED = MEAN.replace("(double)s / (double)count", "(double)(float)((double)s / count)")
# What is left of whole numbers alone, and twice that, worked out in other orders.
ONE_QUOTIENT = "picture[p] = (float)(((double)s - (double)count * dark[p]) / count) * gain[p];"
FROM_FIRST = """
    int first = (int)frames[p];
    double rest = (double)(s - (long long)count * first) / count;
    picture[p] = (float)((rest + ((double)first - dark[p])) * gain[p]);
"""
SUM = "picture[p] = (float)(((double)s - (double)dark[p]) * (double)gain[p]);"
SUM_IN_FLOATS = "picture[p] = ((float)s - dark[p]) * gain[p];"
SUM_SPLIT = """
    float high = (float)(s >> 12 << 12), low = (float)(s & 4095);
    picture[p] = ((high - dark[p]) + low) * gain[p];
"""
# A spread that is lost in doubles, too, and works in floats as its original does.
CUBES = """
    double m = (double)s / count, v = (double)q / count - m * m, third = m * m * m;
    picture[p] = (float)((v * m - (third - m * m * dark[p])) / 1e8 * gain[p]);
"""
OTHER_CUBES = """
    double m = (double)s / count, v = 0;
    for (int k = 0; k < count; ++k) {
        double x = (double)frames[(size_t)k * pixels + p] - m;
        v += x * x / count;
    }
    picture[p] = (float)((v * m - (m * m) * (m - dark[p])) / 1e8 * gain[p]);
"""
SPREAD = """
    double m = (double)s / count;
    picture[p] = (float)(1e3 * ((double)q / count - m * m) * gain[p] + 0 * dark[p]);
"""
OTHER_SPREAD = """
    picture[p] = (float)(1e3 * (double)(count * q - s * s) / count / count * gain[p] + 0 * dark[p]);
"""


def _arguments(kind: str, init: str) -> list[Json]:
    return [
        {"name": "frames", "type": f"const {kind}*", "shape": "count*pixels", "init": init},
        {"name": "dark", "type": "const float*", "shape": "pixels", "init": "normal"},
        {"name": "gain", "type": "const float*", "shape": "pixels", "init": "uniform"},
        {"name": "picture", "type": "float*", "shape": "pixels", "role": "output"},
        {"name": "count", "type": "int", "value": "count"},
        {"name": "pixels", "type": "int", "value": "pixels"},
    ]


def _job_of(mine: str, theirs: str, kind: str, init: str, **case: int) -> Json:
    work: Json = {
        "arguments": _arguments(kind, init),
        "launch": {"grid": ["(pixels+63)/64"], "block": ["64"], "shared": "0", "tunable": False},
        "cases": [{"values": case}],
        "tolerance": {"rtol": 1e-5, "atol": 1e-6},
    }
    texts = (STACK.replace("KIND", kind).replace("STEPS", one) for one in (mine, theirs))
    return _job(*texts, workload=work, effort="confirm")


def _arrays(work: spec.Work, family: str) -> dict[str, npt.NDArray[Any]]:
    kinds = {a.name: a.type.fields[0].scalar.dtype for a in work.arguments}
    made = Contents(work).of(Combination(work.cases[0].values, family, 3))
    return {name: data.view(kinds[name]) for name, data in made.items()}


@pytest.mark.parametrize(
    ("kind", "low", "high"),
    [
        ("unsigned short", 0, 65536),
        ("int", -1000, 1001),
        ("int", 1 << 24, 1 << 26),
        ("char", 0, 100),
    ],
)
def test_floats_lie_beside_the_number_that_all_are(kind: str, low: int, high: int) -> None:
    work = _work(*_arguments(kind, f"randint:{low}:{high}"), count=7, pixels=500, n=1)
    plain = _arrays(work, families.DECLARED)
    for number, name in enumerate(("dark", "gain")):
        family = f"{BESIDE_MEANS} 0 {number}"
        made, lower = _arrays(work, family), _arrays(work, family + beside_means.ELSEWHERE)
        whole = made["frames"].astype(np.int64)
        base = int(whole.min())
        assert {*whole.tolist()} == {base, base + 1}
        assert abs(float((whole == base + 1).mean()) - 1 / 7) < 0.03
        assert (low + high) / 2 < base < high - 1
        floats = made[name].astype(np.float64)
        last = float(np.spacing(np.float32(abs(base))))
        assert np.abs(floats - base).max() <= max(0.5, 8 * last) + last
        assert np.all((floats - base) / last % 2 == 1)
        assert {*np.sign(floats - base).tolist()} == {-1, 1}
        less = base - int(lower["frames"].min())
        assert less > 0
        assert low <= int(lower["frames"].min())
        assert np.array_equal(whole - less, lower["frames"])
        assert np.array_equal(floats - less, lower[name])
        for other in {"dark", "gain"} - {name}:
            assert np.array_equal(made[other], plain[other])


@pytest.mark.parametrize("kind", ["unsigned short", "float"])
def test_floats_lie_beside_sums(kind: str) -> None:
    init = "normal" if kind == "float" else "randint:0:65536"
    work = _work(*_arguments(kind, init), count=700, pixels=64, n=1)
    # Of floats the array itself takes the first turn.
    place, number = (0, 1) if kind == "float" else (0, 0)
    family = f"{BESIDE_SUMS} {place} {number}"
    made, lower = _arrays(work, family), _arrays(work, family + beside_means.ELSEWHERE)
    one, other = (
        each["frames"].astype(np.float64).reshape(700, 64).sum(axis=0) - each["dark"]
        for each in (made, lower)
    )
    assert np.array_equal(one, other)
    assert float(made["dark"].min()) > float(lower["dark"].max()) > 2.0**24
    spacing = float(np.spacing(made["dark"].max()))
    assert 0 < np.abs(one).max() < 40 * spacing
    # What a float makes of a sum is another float for most of them.
    assert (
        np.mean(made["frames"].reshape(700, 64).sum(axis=0, dtype=np.float64) % spacing != 0) > 0.4
    )


def test_originals_in_doubles_are_asked_with_numbers_of_wide_ranges() -> None:
    def found(name: str, checks: str = "confirm") -> list[str]:
        extra = once_read.combinations(once_read.parsed(name).work, checks, 1)[1]
        return [c.family for c in extra if c.family in beside_means.FAMILIES]

    assert found("nightstack/base") == [f"{BESIDE_MEANS} 0 0", f"{BESIDE_MEANS} 0 1"]
    assert found("nightstack/base", "screen") == []
    assert found("ogive/base") == found("gannet/base") == []


def _cases(text: str, init: str, **case: int) -> list[str]:
    work = spec.parse(_job_of(text, text, "int", init, **case)).work
    return [kind for _, kind in beside_means.cases(work, work.cases[0].values)]


def test_sums_are_asked_beyond_what_floats_count_to() -> None:
    means = [f"{BESIDE_MEANS} 0 0", f"{BESIDE_MEANS} 0 1"]
    sums = [f"{BESIDE_SUMS} 0 0", f"{BESIDE_SUMS} 0 1"]
    assert _cases(MEAN, "randint:0:1000", count=5, pixels=300) == means
    assert sorted(_cases(MEAN, "randint:0:65536", count=900, pixels=300)) == means + sums
    assert _cases(MEAN, "randint:0:10", count=5, pixels=300) == []
    assert _cases(MEAN, f"randint:0:{1 << 60}", count=5, pixels=300) == []
    assert _cases(MEAN_IN_FLOATS, "randint:0:1000", count=5, pixels=300) == []


def _why(judge: Judge, mine: str, theirs: str, **case: int) -> tuple[str, list[str]]:
    kind, init = "unsigned short", "randint:0:65536"
    job = _job_of(mine, theirs, kind, init, **case)
    texts = [job[one]["source"] for one in ("kernel", "baseline")]
    request = {"job": job, "candidate": artifact(texts[0]), "baseline": artifact(texts[1])}
    parsed = spec.parse(job)
    middle = parsed.work.cases[0].values
    wanted = [Combination(middle, families.DECLARED, 1)]
    wanted += [Combination(one, name, 1) for one, name in beside_means.cases(parsed.work, middle)]
    answers = judge._answers(request, parsed, wanted, 60.0)
    asked = [one for one in wanted if one.key in answers.described]
    families_asked = [one.family for one in asked[1:]]
    try:
        session = judge._session(parsed, request)
        verify.verify(session, answers, parsed, asked, Report(), 60.0)
    except Wrong as wrong:
        return str(wrong), families_asked
    return "", families_asked


@pytest.mark.skipif(COMPILER is None, reason="g++ is not installed")
@pytest.mark.parametrize(
    ("mine", "right"),
    [(MEAN_IN_FLOATS, False), (MEAN_ROUNDED, False), (ONE_QUOTIENT, True), (FROM_FIRST, True)],
)
@pytest.mark.parametrize("count", [7, 24, 700])
def test_who_works_a_mean_out_in_floats_is_refused(
    judge: Judge, mine: str, count: int, *, right: bool
) -> None:
    why, asked = _why(judge, mine, MEAN, count=count, pixels=500)
    assert f"{BESIDE_MEANS} 0 0" in asked
    assert (why == "") == right, why
    assert right or f"{BESIDE_MEANS} 0 0" in why


@pytest.mark.skipif(COMPILER is None, reason="g++ is not installed")
@pytest.mark.parametrize(("mine", "right"), [(SUM_IN_FLOATS, False), (SUM_SPLIT, True)])
def test_who_works_a_long_sum_out_in_floats_is_refused(
    judge: Judge, mine: str, *, right: bool
) -> None:
    why, asked = _why(judge, mine, SUM, count=900, pixels=64)
    assert f"{BESIDE_SUMS} 0 0" in asked
    assert (why == "") == right, why
    assert right or f"{BESIDE_SUMS} 0 0" in why


@pytest.mark.skipif(COMPILER is None, reason="g++ is not installed")
@pytest.mark.parametrize(
    ("mine", "theirs"),
    [
        (OTHER_CUBES, CUBES),
        (OTHER_SPREAD, SPREAD),
        (MEAN, MEAN_IN_FLOATS),
        (MEAN, MEAN_ROUNDED),
    ],
)
def test_of_an_original_that_loses_something_itself_nothing_is_asked(
    judge: Judge, mine: str, theirs: str
) -> None:
    why, asked = _why(judge, mine, theirs, count=7, pixels=500)
    assert why == ""
    assert f"{BESIDE_MEANS} 0 0" not in asked


def test_no_number_is_put_where_there_is_none() -> None:
    work = _work(*_arguments("int", "randint:0:1000"), count=7, pixels=500, n=1)
    arrays = Contents(work).of(Combination(work.cases[0].values, families.DECLARED, 1))
    case = work.cases[0].values
    for family in (f"{BESIDE_MEANS} 2 0", f"{BESIDE_MEANS} 0 2"):
        assert beside_means.applied(family, work, arrays, 1, case) is arrays
    assert len([*common_offset.usable(work)]) == 2
