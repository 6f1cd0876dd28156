"""A NaN that an original makes of zero times NaN may be the number that it hides."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from runners import regardless, spec, stand_ins
from runners.contents import FINITE, Combination, Contents
from runners.cuda_types import from_float
from runners.gpu import LaunchError
from runners.judge import Judge
from runners.original import Original
from runners.run import Damage, Run
from runners.spec import Json
from tests.runners.host_gpu import COMPILER, HostGpu, artifact
from tests.runners.test_inputs import _pointer, _work
from tests.runners.test_judge import _job, _verdict

needs_compiler = pytest.mark.skipif(COMPILER is None, reason="g++ is not installed")

# Rows of eight: each result is a sum of its row, whose upper half is multiplied by zero.
HALVED = """
extern "C" __global__ void scale(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float s = 0.f;
    for (int k = 0; k < 8; ++k) {
        int at = (i & ~7) + k;
        if (at < n) s += x[at] * (k < (i & 7) ? 1.5f : 0.f);
    }
    y[i] = s;
}
"""
SKIPS = HALVED.replace("k < 8", "k < (i & 7)")
BACKWARDS = HALVED.replace("int k = 0; k < 8; ++k", "int k = (i & 7) - 1; k >= 0; --k")
# Of what the NaN goes into no number may come, nor another number where it does not go.
LOSES = SKIPS.replace("s += x[at]", "if (x[at] == x[at]) s += x[at]")
INSTEAD = SKIPS.replace(
    "    y[i] = s;",
    """    bool odd = false;
    for (int k = i & 7; k < 8; ++k) if ((i & ~7) + k < n) odd |= isnan(x[(i & ~7) + k]);
    y[i] = odd ? s + 0.01f : s;""",
)


def checked(judge: Judge, text: str, base: str = HALVED, **more: Any) -> Json:
    verdict = _verdict(judge, text, base, effort="confirm", **more)
    assert verdict["status"] != "error", verdict
    return verdict


@needs_compiler
@pytest.mark.parametrize("text", [HALVED, SKIPS, BACKWARDS])
def test_work_on_zeros_may_be_done_or_left_out(judge: Judge, text: str) -> None:
    """Zero times NaN is NaN, and nothing to add where it is left out."""
    verdict = checked(judge, text)
    assert verdict["status"] == "correct", verdict["log"]
    assert any(check["what"] == "nan" for check in verdict["checks"])


@needs_compiler
def test_what_leaves_zeros_out_was_refused_for_the_numbers_it_gives(
    judge: Judge, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the original is not asked, that is, as where it would take long."""
    monkeypatch.setattr(regardless, "worth", lambda *_: False)
    verdict = checked(judge, SKIPS)
    assert verdict["status"] == "wrong result"
    assert "want nan" in verdict["log"]


@needs_compiler
@pytest.mark.parametrize("text", [LOSES, INSTEAD])
def test_no_other_number_is_right(judge: Judge, text: str) -> None:
    """Not one of a NaN that counts, and not another one beside a NaN that does not."""
    verdict = checked(judge, text)
    assert verdict["status"] == "wrong result"
    failed = [check["what"] for check in verdict["checks"] if not check["passed"]]
    assert failed == ["nan"]


LARGEST = """
extern "C" __global__ void scale(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float s = -1e30f;
    for (int k = i & ~255; k < n && k <= (i | 255); ++k)
        if (!(x[k] <= s)) { s = x[k]; if (s != s) break; }
    y[i] = s;
}
"""


@needs_compiler
def test_a_largest_of_numbers_that_is_nan_on_purpose_depends_on_it(judge: Judge) -> None:
    """The largest of 256 is another one of a NaN only if that is larger than all others."""
    verdict = checked(judge, LARGEST.replace("!(x[k] <= s)", "x[k] > s"), LARGEST)
    assert verdict["status"] == "wrong result", verdict["checks"]


# How far the means of 64 neighbours each are from zero: the one with the NaN is seldom the farthest.
FARTHEST = """
extern "C" __global__ void scale(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float s = 0.f;
    for (int k = i & ~1023; k < n && k <= (i | 1023); k += 64) {
        float v = 0.f;
        for (int m = k; m < n && m < k + 64; ++m) v += x[m];
        v = fabsf(v) / 64.f;
        if (!(v <= s)) { s = v; if (s != s) break; }
    }
    y[i] = s;
}
"""


@needs_compiler
@pytest.mark.parametrize("seed", [1, 2])
def test_a_largest_of_what_is_smoothed_depends_on_a_nan_that_is_not_the_largest(
    judge: Judge, seed: int
) -> None:
    """With numbers like the others in its place the largest is another one's, and counts still."""
    loses = FARTHEST.replace("!(v <= s)", "v > s")
    verdict = _verdict(judge, loses, FARTHEST, effort="screen", seed=seed)
    assert verdict["status"] == "wrong result", verdict["checks"]
    failed = [check["what"] for check in verdict["checks"] if not check["passed"]]
    assert failed == ["nan"]
    keeps = FARTHEST.replace("{ s = v; if (s != s) break; }", "s = s == s ? v : s;")
    assert _verdict(judge, keeps, FARTHEST, effort="screen", seed=seed)["status"] == "correct"


# A mask that is added: zero as a weight for numbers as large as any that are asked.
MASKED = """
extern "C" __global__ void scale(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float s = 0.f;
    for (int k = 0; k < 8; ++k) {
        int at = (i & ~7) + k;
        if (at < n) s += tanhf(x[at]) * expf(k < (i & 7) ? 0.f : -1e9f);
    }
    y[i] = s;
}
"""


@needs_compiler
def test_what_is_weighed_by_nothing_may_be_left_out_still(judge: Judge) -> None:
    """No number is so far off that zero times it is another one."""
    skips = MASKED.replace("k < 8", "k < (i & 7)")
    verdict = _verdict(judge, skips, MASKED, effort="screen")
    assert verdict["status"] == "correct", verdict["log"]
    assert any(check["what"] == "nan" for check in verdict["checks"])


def test_what_overflows_with_a_far_number_says_nothing() -> None:
    """Zero times an infinity is no number, and may be left out just as well."""
    work = _work({**_pointer(), "role": "output"}, n=4)
    one, other = (
        Run({"x": np.array(data, np.float32).view(np.uint8)}, Damage(), 0.0, 1)
        for data in ([1, 0.0, 2, 3], [1, np.inf, np.nan, 4])
    )
    found = regardless.unmoved(work, {"x": np.ones(4, bool), "y": np.ones(4, bool)}, one, other)
    assert {name: marks.tolist() for name, marks in found.items()} == {"x": [True] * 3 + [False]}
    assert regardless.unmoved(work, {"x": np.arange(4) == 3}, one, other) == {}


# A weight of so little that nothing of it shows in a float.
LITTLE = HALVED.replace("1.5f : 0.f", "1.5f : 1e-12f").replace("float s = 0.f", "float s = 1.f")


@needs_compiler
def test_what_is_too_little_to_show_shows_in_doubles() -> None:
    """It counts all the same: no zero makes a NaN of it."""
    original = _original(LITTLE, twin=_doubles(LITTLE))
    gathered = original.gather(_combination())
    assert gathered.regardless is None
    alone = _original(HALVED, twin=_doubles(HALVED)).gather(_combination())
    assert alone.regardless is not None
    assert alone.regardless.wide is not None
    same = alone.regardless.marks["y"]
    own = np.isnan(alone.runs[0].outputs["y"].view(np.float32))
    assert 0 < same.sum() <= own.sum() < 9


@needs_compiler
@pytest.mark.parametrize("error", [LaunchError("gone"), spec.BaselineFailure("wrote elsewhere")])
def test_where_a_run_with_a_number_fails_nothing_changes(
    monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    """How long a loop is may depend on what is NaN."""
    original = _original(HALVED)
    run = original._run

    def failing(combination: Combination, number: int, poison: int | None = None) -> Run:
        if combination.family.endswith(FINITE * 2):
            raise error
        return run(combination, number, poison)

    assert original.gather(_combination()).regardless is not None
    monkeypatch.setattr(original, "_run", failing)
    gathered = original.gather(_combination())
    assert gathered.regardless is None
    assert len(gathered.runs) >= 4


@needs_compiler
@pytest.mark.parametrize("error", [LaunchError("gone"), spec.BaselineFailure("wrote elsewhere")])
def test_where_a_run_with_a_far_number_fails_zeros_may_be_left_out_still(
    monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    """That it fails there says nothing of a NaN."""
    original = _original(HALVED)
    run = original._run
    asked = []

    def failing(combination: Combination, number: int, poison: int | None = None) -> Run:
        if combination.family.count(FINITE) in stand_ins.FARTHEST:
            asked.append(combination.family)
            raise error
        return run(combination, number, poison)

    monkeypatch.setattr(original, "_run", failing)
    assert original.gather(_combination()).regardless is not None
    assert len(asked) == len(stand_ins.FARTHEST)


@needs_compiler
def test_elements_in_any_order_are_left_as_they_are() -> None:
    """Of another run they are others."""
    gathered = _original(HALVED).gather(_combination())
    work = _spec(HALVED).work
    assert regardless.ordered(work, gathered).regardless is not None
    turned = [
        dataclasses.replace(
            run, outputs={"y": np.roll(run.outputs["y"].view(np.float32), n).view(np.uint8)}
        )
        for n, run in enumerate(gathered.runs)
    ]
    free = dataclasses.replace(gathered, runs=turned)
    assert regardless.ordered(work, free).regardless is None


def test_results_of_few_digits_are_asked_with_a_far_number() -> None:
    """A mean of thousands, rounded to a half, is the same with any number like the others."""
    half = _work({**_pointer("half*"), "role": "output"}, n=2)
    single = _work({**_pointer(), "role": "output"}, n=2)
    marks = {"x": np.array([True, False])}
    assert regardless.few_digits(half, marks)
    assert not regardless.few_digits(single, marks)
    assert not regardless.few_digits(half, {})


def test_numbers_are_the_same_to_the_last_bit_but_for_the_sign_of_zero() -> None:
    """What is infinite or NaN in either is no number."""
    work = _work({**_pointer(), "role": "output"}, n=5)
    one, other = (
        Run({"x": np.array(data, np.float32).view(np.uint8)}, Damage(), 0.0, 1)
        for data in (
            [1, 0.0, np.inf, np.nan, 1],
            [1, -0.0, np.inf, 2, np.nextafter(np.float32(1), 2)],
        )
    )
    found = regardless.alike(work, {"x": np.ones(5, bool)}, one, other)
    assert found["x"].tolist() == [True, True, False, False, False]
    assert regardless.nowhere_a_number(work, [one, one])["x"].tolist() == [False] * 3 + [
        True,
        False,
    ]
    assert not regardless.nowhere_a_number(work, [one, other])


@needs_compiler
def test_only_one_nan_and_what_costs_little_is_asked_about() -> None:
    """Other families have no NaN to put numbers for."""
    original = _original(HALVED)
    assert original.gather(Combination({"n": 3000.0}, "mixed", 5)).regardless is None
    work = _spec(HALVED).work
    assert regardless.worth(work, "nan", {"n": 3000.0}, 0.01)
    assert not regardless.worth(work, "nan", {"n": 3000.0}, 5.0)
    assert not regardless.worth(work, "nan", {"n": 2.0**22 + 1}, 0.01)


def _combination() -> Combination:
    return Combination({"n": 3000.0}, "nan", 5)


def _spec(text: str) -> Any:
    return spec.parse(_job(text, text))


def _original(text: str, twin: str = "") -> Original:
    request = {
        "job": _job(text, text),
        "folder": ".",
        "baseline": artifact(text),
        "promoted": artifact(twin) if twin else None,
    }
    return Original(request, HostGpu())


def _doubles(text: str) -> str:
    out = text.replace("float", "double")
    for number in ("0.f", "1.5f", "1.f", "1e-12f"):
        out = out.replace(number, number[:-1])
    return out


def _put(arrays: Any, number: int, **fields: Any) -> Any:
    work = _work({**_pointer(), **fields}, n=len(arrays))
    name = work.arguments[0].name
    only = work.arguments[0].type.scalar
    assert only is not None
    data = np.ascontiguousarray(from_float(np.array(arrays), only)).view(np.uint8)
    return stand_ins.finite(work, {name: data}, number)[name].view(only.dtype)


def test_shares_stay_shares() -> None:
    """Between zero and one; no other number is zero or one, of which products may be zero."""
    shares = [0.25, np.nan, 0.5, 0.75]
    found = [float(_put(shares, number)[1]) for number in (1, 2, 3)]
    assert found == [0.5, 0.875, 0.125]
    assert all(float(_put([-1.0, np.nan, 3.0], n)[1]) == want for n, want in ((2, 3.5), (3, -1.5)))
    assert _put([-1.0, np.nan, 3.0], stand_ins.FAR)[1] == 259


def test_the_farthest_numbers_are_for_floats_of_any_size() -> None:
    """Shares hold one of theirs; halves go no further than they do in other families."""
    shares = [0.25, np.nan, 0.5, 0.75]
    for number, sign in zip(stand_ins.FARTHEST, (1, -1), strict=True):
        assert float(_put(shares, number, init="uniform")[1]) == 0.5
        assert float(_put(shares, number)[1]) == sign * 0.75 * 2**20
        assert float(_put([-1.0, np.nan, 3.0], number)[1]) == sign * 4 * 2**20
        assert float(_put([-1.0, np.nan, 3.0], number, type="half*")[1]) == sign * 1024
    assert stand_ins.goes_far(_work(_pointer(), n=4))
    assert not stand_ins.goes_far(_work({**_pointer(), "init": "uniform"}, n=4))
    assert not stand_ins.goes_far(_work({**_pointer(), "role": "output"}, n=4))


def test_several_nan_came_with_the_data() -> None:
    """They stay, and so does what holds none, or nothing else."""
    for data in ([1.0, np.nan, np.nan], [1.0, 2.0, 3.0], [np.nan]):
        np.testing.assert_array_equal(_put(data, 1), np.array(data, np.float32))


def test_moved_numbers_for_a_nan_are_moved_everywhere() -> None:
    """What they change is the error that the numbers themselves may have."""
    contents = Contents(_work(_pointer(), n=500))

    def ask(family: str) -> npt.NDArray[np.float32]:
        return contents.of(Combination({"n": 500.0}, family, 3))["x"].view(np.float32)

    odd, plain, moved = ask("nan"), ask("nan+f"), ask("nan+fj")
    where = np.isnan(odd)
    assert where.sum() == 1
    np.testing.assert_array_equal(odd[~where], plain[~where])
    assert np.isfinite(plain).all()
    assert (moved != plain).mean() > 0.9
    np.testing.assert_allclose(moved, plain, rtol=1e-6)
    assert not np.array_equal(ask("nan+fjj"), moved)
