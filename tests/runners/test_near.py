"""What is found of a few is what asking for all would find."""

from __future__ import annotations

from unittest import mock

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runners import compare as comparing
from runners import near
from runners.compare import Answer, Budget, Comparison, compare, few_ulp, noise_by_exponent
from runners.cuda_types import from_float, parse

KINDS = ("float", "double", "half", "__nv_bfloat16")


def _both(
    got: npt.NDArray[np.uint8], answer: Answer, poison: npt.NDArray[np.uint8] | None = None
) -> tuple[Comparison, Comparison, int]:
    """Compare in both ways; and how often the short one was enough."""
    found: list[near.Worst | None] = []
    short = near.worst

    def counted(*arguments: object) -> near.Worst | None:
        found.append(short(*arguments))  # type: ignore[arg-type]
        return found[-1]

    with mock.patch.object(near, "worst", counted):
        one = compare(got, answer, poison)
    with mock.patch.object(near, "worst", return_value=None):
        other = compare(got, answer, poison)
    return one, other, sum(each is not None for each in found)


@settings(max_examples=300, deadline=None)
@given(
    kind=st.sampled_from(KINDS),
    seed=st.integers(0, 2**32 - 1),
    far=st.floats(1e-3, 30.0),
    magnitudes=st.sampled_from([0.0, 1.0, 8.0, 30.0]),
    rtol=st.sampled_from([0.0, 1e-7, 1e-5, 1e-2]),
    atol=st.sampled_from([0.0, 1e-40, 1e-6, 1e-2]),
    flags=st.tuples(st.booleans(), st.booleans(), st.booleans()),
    odd=st.tuples(
        st.lists(st.sampled_from([np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-45, 3e38]), max_size=3),
        st.booleans(),
    ),
    span=st.sampled_from([7, 64, 1 << 16]),
)
def test_both_ways_say_the_same(
    kind: str,
    seed: int,
    far: float,
    magnitudes: float,
    rtol: float,
    atol: float,
    flags: tuple[bool, bool, bool],
    odd: tuple[list[float], bool],
    span: int,
) -> None:
    """Verdict, words and figures, whatever the numbers, the budget and what is special."""
    capped, floor, masked = flags
    rng = np.random.default_rng(seed)
    scalar = parse(f"{kind}*").fields[0].scalar
    wide = rng.standard_normal(500) * 2.0 ** rng.uniform(-magnitudes, magnitudes, 500)
    want = from_float(wide, scalar)
    spread = scalar.roundoff * np.abs(wide) + 1e-9 * rng.random(500)
    got = from_float(wide + far * spread * rng.standard_normal(500), scalar)
    special, wholly = odd
    for number, value in enumerate(special):
        got[number] = from_float(np.array([value]), scalar)[0]
        if wholly:
            want[number] = got[number]
    untouched = rng.random(500) < 0.2 if masked else None
    poison = rng.integers(0, 256, got.nbytes, np.uint8) if masked else None
    if untouched is not None and poison is not None:
        got[untouched] = poison.view(got.dtype)[untouched]
    budget = Budget(
        noise_by_exponent(spread, wide),
        scalar.roundoff,
        few_ulp(scalar.name),
        rtol,
        atol,
        capped=capped,
        floor=floor,
        ground=1e-7 if seed % 3 == 0 else 0.0,
    )
    answer = Answer("out", parse(f"{kind}*"), want.view(np.uint8), (budget,), untouched)
    with mock.patch.object(comparing, "SPAN", span):
        one, other, _ = _both(got.view(np.uint8), answer, poison)
    assert (one.passed, one.why) == (other.passed, other.why)
    assert one.error == other.error
    assert one.bound == other.bound
    assert one.scaled == pytest.approx(other.scaled, rel=1e-6, abs=1e-40)


@pytest.mark.parametrize("kind", KINDS)
def test_the_short_way_is_the_usual_one(kind: str) -> None:
    """Sums that round otherwise need no budget for each; one that is beyond it is found."""
    rng = np.random.default_rng(3)
    scalar = parse(f"{kind}*").fields[0].scalar
    wide = rng.standard_normal(1 << 16)
    errors = np.maximum(np.abs(wide), 0.1) * scalar.roundoff * rng.standard_normal(1 << 16)
    noise = noise_by_exponent(np.abs(errors), wide)
    budget = Budget(noise, scalar.roundoff, few_ulp(scalar.name), 1e-1, 1e-2)
    want, got = from_float(wide, scalar), from_float(wide + errors, scalar)
    answer = Answer("out", parse(f"{kind}*"), want.view(np.uint8), (budget,))
    one, other, short = _both(got.view(np.uint8), answer)
    assert short == 1
    assert one.passed
    assert (one.error, one.bound) == (other.error, other.bound)
    assert one.error > 0
    got[777] = from_float(np.array([wide[777] + 0.5]), scalar)[0]
    one, other, short = _both(got.view(np.uint8), answer)
    assert short == 0
    assert not one.passed
    assert "out[777]" in one.why
    assert one == other


def test_arrays_that_do_not_belong_together_are_not_gone_over() -> None:
    """The library is told one length for all."""
    scalar = parse("float").fields[0].scalar
    terms = Budget(np.ones(2111), scalar.roundoff, 16.0, 1e-5, 1e-6).terms()
    ruler = near.Ruler(scalar, terms, np.ones_like, 1.0)
    some, kept = np.ones(100, np.float32), np.ones(100, np.bool_)
    assert near.worst(some, some, ruler, kept) is not None
    assert near.worst(some, some[1:], ruler) is None
    assert near.worst(some, some.astype(np.float64), ruler) is None
    assert near.worst(some, some, ruler, kept[1:]) is None
    assert near.worst(some[:0], some[:0], ruler) is None
    strided = np.ones((100, 2), np.float32)[:, 0]
    assert near.worst(strided, some, ruler) is not None


def test_without_a_compiler_all_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing fails then, and nothing else is found."""
    near._scanners.cache_clear()
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setattr(near, "own_folder", lambda: None)
    assert not near.ready()
    near._scanners.cache_clear()
    monkeypatch.undo()
    assert near.ready()


@settings(max_examples=60, deadline=None)
@given(
    kind=st.sampled_from(["float", "double"]),
    seed=st.integers(0, 2**32 - 1),
    tolerance=st.tuples(st.floats(0, 1e-1), st.floats(0, 1e-1)),
    ground=st.sampled_from([0.0, 1e-12, 1e-6, 1.0]),
    flags=st.tuples(st.booleans(), st.booleans()),
    stretch=st.sampled_from([1.0, 8.0]),
)
def test_no_quotient_is_below_that_of_the_budget(
    kind: str,
    seed: int,
    tolerance: tuple[float, float],
    ground: float,
    flags: tuple[bool, bool],
    stretch: float,
) -> None:
    """At every magnitude, down to the least numbers: what is left out is not the worst."""
    rng = np.random.default_rng(seed)
    scalar = parse(kind).fields[0].scalar
    want = rng.standard_normal(400) * 2.0 ** rng.uniform(-149, 100, 400)
    want[::50] = 0.0
    noise = noise_by_exponent(np.abs(want) * scalar.roundoff * rng.random(400), want)
    capped, floor = flags
    few = few_ulp(kind)
    budget = Budget(
        noise, scalar.roundoff, few, *tolerance, capped, floor, stretch=stretch, ground=ground
    )
    goal = want.astype(scalar.dtype)
    wide = goal.astype(float)
    mine = (wide + budget.bound(wide) * rng.uniform(-2, 2, 400)).astype(scalar.dtype)
    ruler = near.Ruler(scalar, budget.terms(), budget.bound, 1.0)
    for at in range(400):
        error, bound = abs(float(mine[at]) - wide[at]), float(budget.bound(wide[at : at + 1])[0])
        if bound > 0:
            both = mine[at : at + 1], goal[at : at + 1]
            scan = near._Pass(both, None, near._scanners()[goal.dtype.name], ruler)
            scan.worst()
            # From one on all are asked for.
            assert float(scan._far.view(scalar.dtype)[0]) * near.SLACK >= min(error / bound, 1.0)
