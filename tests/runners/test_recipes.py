"""Contents that chance makes up: what they keep to, and what is met among them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from runners import capacities, oracle, recipes
from runners.answers import Answers, Oracle
from runners.contents import Combination, Contents
from runners.cuda_types import to_float, values
from runners.measuring import _silent
from runners.spec import MOVED, Work
from tests.runners.test_inputs import _pointer, _work

TYPES = {"const float*": 4, "const double*": 8, "const half*": 2, "const bfloat16*": 2}


def _array(name: str, init: str, shape: str = "n*w", kind: str = "const int*") -> dict[str, Any]:
    return {"name": name, "type": kind, "shape": shape, "init": init}


def _keyed() -> Work:
    """Records with a key and a change, in rows."""
    arrays = (_array("key", "randint:0:640"), _array("change", "randint:-1000000:1000001"))
    return _work(*arrays, n=40, w=50)


def _made(work: Work, count: int, seed: int = 1) -> Iterator[dict[str, npt.NDArray[Any]]]:
    contents = Contents(work)
    for number in range(count):
        arrays = contents.of(Combination(work.cases[0].values, f"recipe {number}", seed))
        yield {
            one.name: to_float(
                values(arrays[one.name], one.type, one.type.fields[0]), one.type.fields[0].scalar
            )
            for one in work.arguments
            if one.name in arrays
        }


@given(
    st.integers(-(2**31), 2**31 - 2),
    st.integers(1, 2**32),
    st.integers(0, 10_000),
    st.integers(1, 300),
)
def test_whole_numbers_stay_in_their_range_and_its_ends_are_in_it(
    low: int, span: int, number: int, count: int
) -> None:
    high = min(low + span, 2**31 - 1)
    work = _work(_array("key", f"randint:{low}:{high}", "n"), n=count)
    (found,) = _made_one(work, number)
    assert len(found) == count
    assert low <= found.min()
    assert found.max() < high


@pytest.mark.parametrize(
    ("kind", "init", "span"),
    [
        ("const unsigned long long*", "randint:0:9223372036854775808", (0, 2**61)),
        ("const unsigned char*", "randint:0:256", (0, 255)),
        ("const long long*", "randint:-9223372036854775808:9223372036854775807", (-(2**61), 2**61)),
        ("const bool*", "randint:0:2", (0, 1)),
    ],
)
def test_ranges_as_wide_as_a_type_are_none_beyond_it(
    kind: str, init: str, span: tuple[int, int]
) -> None:
    work = _work(_array("key", init, "n", kind), n=700)
    contents = Contents(work)
    for number in range(60):
        made = contents.of(Combination({"n": 700.0}, f"recipe {number}", 1))["key"]
        argument = work.arguments[0]
        wide = values(made, argument.type, argument.type.fields[0])
        assert len(wide) == 700
        # What is as it was declared may be anything of the type.
        declared = contents.of(Combination({"n": 700.0}, "declared", 1))["key"]
        if not np.array_equal(made, declared):
            assert span[0] <= int(wide.min())
            assert int(wide.max()) <= span[1]


def _made_one(work: Work, number: int) -> list[npt.NDArray[Any]]:
    contents = Contents(work)
    made = contents.of(Combination(work.cases[0].values, f"recipe {number}", 5))
    return [values(made[a.name], a.type, a.type.fields[0]) for a in work.arguments]


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("init", ["normal", "uniform", "sorted"])
def test_floats_are_numbers_none_of_them_beyond_what_squares_of_are(kind: str, init: str) -> None:
    work = _work(_array("x", init, kind=kind), n=20, w=37)
    most = 3.1e4 if "half" in kind else 1e30
    for found in _made(work, 120):
        assert np.isfinite(found["x"]).all()
        assert np.abs(found["x"]).max() <= most
        if init == "sorted":
            assert (np.diff(found["x"]) >= 0).all()


def test_the_same_number_and_seed_give_the_same_and_others_do_not() -> None:
    one, other, third = (list(_made(_keyed(), 30, seed)) for seed in (1, 1, 2))
    assert all(
        np.array_equal(a[name], b[name])
        for a, b in zip(one, other, strict=True)
        for name in ("key", "change")
    )
    assert not all(np.array_equal(a["key"], b["key"]) for a, b in zip(one, third, strict=True))


def test_what_nobody_listed_is_met_among_as_many_as_are_asked() -> None:
    """Keys that are alike beside values at their end; one element beyond all others; rows below."""
    found = list(_made(_keyed(), 96))
    alike = [one for one in found if len(set(one["key"])) == 1]
    assert any((np.abs(one["change"]) == 1_000_000).all() for one in alike)
    assert any(one["key"].max() == np.sort(one["key"])[-2] + 1 for one in found)
    work = _work(_pointer("const float*", "uniform", "n*w"), n=40, w=50)
    name = work.arguments[0].name
    rows = [one[name].reshape(40, 50) for one in _made(work, 96)]
    assert any((one < 0).all() for one in rows)
    assert any(0 < np.abs(one).max() < 1e-4 for one in rows)
    assert any(one.max() == np.nextafter(np.float32(1), np.float32(0)) for one in rows)
    declared = Contents(work).of(Combination(work.cases[0].values, "declared", 1))[name]
    untouched = [np.array_equal(one.ravel(), declared.view(np.float32)) for one in rows]
    assert 0 < sum(untouched) < 60


def test_what_has_a_meaning_stays_as_it_is() -> None:
    work = _work(
        _pointer("const int*", "arange", "n"),
        _array("order", "permutation", "n"),
        n=100,
    )
    first = work.arguments[0].name
    seen = set()
    for one in _made(work, 40):
        assert np.array_equal(one[first], np.arange(100))
        assert np.array_equal(np.sort(one["order"]), np.arange(100))
        seen.add(one["order"].tobytes())
    assert len(seen) > 3


def test_a_confirmation_alone_asks_in_light_cases_that_are_asked_anyway(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(recipes, "COUNT", 40)
    work = _keyed()
    for effort in ("screen", "race"):
        assert not [c for c in oracle.combinations(work, effort, 1)[1] if _is(c)]
    declared, extra = oracle.combinations(work, "confirm", 1)
    mine = [one for one in extra if _is(one)]
    others = {tuple(sorted(c.case.items())) for c in (*declared, *extra) if not _is(c)}
    assert len(mine) == 40
    assert {tuple(sorted(one.case.items())) for one in mine} <= others
    assert len({tuple(sorted(one.case.items())) for one in mine}) > 5
    assert all(0 < work.elements(one.case) <= recipes.MOST_ELEMENTS for one in mine)
    assert all(MOVED not in one.case for one in mine)
    # Neither of contents that are real ones, nor where there are none.
    real = _work(_pointer("const float*", "capture:x", "n*w"), n=40, w=50)
    assert not [c for c in oracle.combinations(real, "confirm", 1)[1] if _is(c)]


def test_some_are_asked_in_declared_cases_that_are_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is carried along millions of elements is small along thousands."""
    monkeypatch.setattr(recipes, "COUNT", 2 * recipes.ONE_OF)
    work = _work(
        _array("gap", "randint:0:40", "n"), _array("crane", "randint:0:36", "n"), n=2000000
    )
    mine = [one for one in oracle.combinations(work, "confirm", 1)[1] if _is(one)]
    assert sum(one.case == {"n": 2000000.0} for one in mine) == 2
    assert all(work.elements(one.case) <= recipes.MANY_ELEMENTS for one in mine)


@pytest.mark.parametrize(
    "init", ["randint:0:65536", "randint:0:40", "randint:0:9223372036854775807"]
)
def test_some_whole_numbers_go_round_by_nearly_half_of_their_range(init: str) -> None:
    """Where differences are taken the short way round, they add up as fast as they can."""
    work = _work(_array("phase", init, kind="const unsigned long long*"), n=40, w=50)
    low, high = (int(one) for one in init.split(":")[1:])
    span = min(high - low, recipes.WIDEST + 1)
    steps = set()
    for number in range(300):
        (found,) = _made_one(work, number)
        taken = np.diff(found[:30].astype(object)) % span
        if len(set(taken)) == 1:
            steps.add(int(taken[0]))
    assert {(span - 1) // 2, span - (span - 1) // 2} <= steps


def _is(one: Combination) -> bool:
    return recipes.number(one.family) is not None


def test_there_is_no_more_time_for_them_than_some_seconds_and_nobody_is_told() -> None:
    now = [0.0]
    watch = capacities.Watch(lambda: now[0])
    first, later = (Combination({"n": 7.0}, f"recipe {n}", 1) for n in (0, 1))
    assert not watch.objection(first)
    now[0] = capacities.RECIPE_SECONDS + 1
    assert "no time left" in watch.objection(later)
    assert _silent(later.key)


def test_an_original_that_breaks_at_one_is_asked_no_other(tmp_path: Path) -> None:
    """Each that breaks takes a process, and whatever it was may be in many."""
    asked = [Combination({"n": 7.0}, kind, 1) for kind in ("mixed", "recipe 0", "recipe 1", "far")]
    answers = Answers(_keyed(), tmp_path)
    begun: list[list[str]] = []

    class Breaks(Oracle):
        def _once(self, answers: Answers, *terms: Any) -> str:
            left: list[Combination] = terms[2]
            begun.append([one.family for one in left])
            for one in left:
                if recipes.number(one.family) is not None:
                    answers.dropped[one.key] = "the original crashed"
                    return one.key
                answers.described[one.key] = {}
            return ""

    breaks = Breaks(tmp_path, 0, lambda _text, _job: None)
    breaks._ask(answers, {}, None, (asked, set()), float("inf"))  # type: ignore[arg-type]
    assert begun == [["mixed", "recipe 0", "recipe 1", "far"], ["far"]]
    assert answers.dropped[asked[1].key] == "the original crashed"
    assert answers.dropped[asked[2].key] == "the original broke on such contents"


def test_some_are_few_small_numbers_times_a_large_factor() -> None:
    """Whose ties are those of small numbers, and beyond what a float holds."""
    work = _work(_array("count", "randint:0:1000001"), n=40, w=50)
    found = 0
    for arrays in _made(work, 400):
        unique = np.unique(arrays["count"]).astype(np.int64)
        factor = int(np.gcd.reduce(unique))
        found += len(unique) > 2 and factor % 2 == 1 and factor > 20_000
    # One in 16, and of those such as have more than two numbers and no divisor of them all.
    assert 4 <= found <= 40


def test_parts_of_one_are_among_crumbs_or_nearly_alike() -> None:
    """A sum that is one takes a crumb in, and two are alike in their first sixteen bits."""
    work, crumbs, nearly = _work(_array("x", "uniform", "n", "const float*"), n=400), 0, 0
    for arrays in _made(work, 400):
        x = np.unique(arrays["x"]).astype(np.float64)
        crumbs += 1 < len(x) < 5 and 0 < x[0] < 2.0**-25 and x[1] > 0.08
        gaps = np.diff(x)
        alike = bool(((gaps > 0) & (gaps < 2.0**-16)).any())
        nearly += 2 < len(x) < 10 and alike and float(x[0]) > 0.08
    assert crumbs > 1
    assert nearly > 1


def test_some_are_apart_by_what_bytes_leave_out() -> None:
    """Who compares their lower halves takes them for the same."""
    work = _work(_array("key", "randint:0:1000000"), n=40, w=50)
    bits = set()
    for arrays in _made(work, 400):
        unique = np.unique(arrays["key"]).astype(np.int64)
        if 1 < len(unique) < 4:
            bits |= {int(one).bit_length() - 1 for one in np.diff(unique) if not one & (one - 1)}
    assert {8, 16} <= bits


def test_rows_may_lead_to_one_place_each_by_its_own_number() -> None:
    arguments = [_array("off", "randint:0:1048576", "n*deg")]
    work, case = _work(*arguments, n=300, deg=5), {"n": 300.0, "deg": 5.0}
    met = 0
    for turn in range(2000):
        one = Combination(case, f"{recipes.WORD} {turn}", 1)
        off = Contents(work).of(one)["off"].view(np.int32).astype(np.int64)
        to = (np.arange(1500) // 5 + off) % 300
        met += len(np.unique(off)) > 100 and len(np.unique(to)) == 1
    assert met
