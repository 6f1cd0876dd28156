"""Where whole numbers are put at their ends along rows and arrays as long as they may be."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from runners import capacities, long_ends, opposed, verify
from runners.capacities import Watch
from runners.contents import Combination
from runners.families import DECLARED, DENSITIES, FAR_ENDS, FULL_ENDS, OPPOSITE, SAME
from runners.spec import Work
from runners.whole_families import HOT
from tests.redteam import once_read
from tests.runners.test_inputs import _work

FAMILIES = (FAR_ENDS, FULL_ENDS, DENSITIES)


def _array(name: str, init: str, kind: str = "const int*", shape: str = "n") -> dict[str, Any]:
    return {"name": name, "type": kind, "shape": shape, "init": init}


def _result(kind: str = "long long*", shape: str = "n") -> dict[str, Any]:
    return {**_array("y", "zeros", kind, shape), "role": "output"}


def _asked(work: Work, checks: str = "confirm") -> list[tuple[str, dict[str, float]]]:
    extra = once_read.combinations(work, checks, 1)[1]
    return [
        (one.family, dict(one.case)) for one in extra if one.family.partition(" ")[0] in FAMILIES
    ]


def _of(name: str) -> Work:
    return once_read.parsed(f"{name}/base").work


def _flat(n: float, *more: dict[str, Any], kind: str = "long long*") -> Work:
    arrays = [_array(name, "randint:0:33") for name in ("credit", "debit")]
    return dataclasses.replace(_work(*arrays, *more, _result(kind), n=n), wide=True)


def test_rows_sixteen_times_as_long_are_at_their_ends() -> None:
    longest = {"n": 9.0, "m": 9.0, "k": 2048.0}
    assert _asked(_of("snippets")) == [
        (f"{FULL_ENDS} high", longest),
        (f"{FULL_ENDS} low", longest),
    ]
    assert not _asked(_of("snippets"), "screen")
    assert not _asked(_of("snippets"), "race")


def test_rows_of_other_densities_are_asked_where_what_comes_of_them_is_exact() -> None:
    longest = {"n": 9.0, "s": 96000.0}
    assert _asked(_of("kinship")) == [(f"{DENSITIES} {turn}", longest) for turn in (0, 1)]
    # In rows of larger numbers sums are no floats, and products of two no words of 32 bits.
    work = _of("kinship")
    geno = dataclasses.replace(work.arguments[0], init="randint:-1:100")
    wider = dataclasses.replace(work, arguments=(geno, *work.arguments[1:]))
    assert not _asked(wider)
    assert _asked(dataclasses.replace(work, wide=False)) == []
    assert not work.whole
    floats = {"name": "scale", "type": "float", "value": "0.5"}
    array = _array("a", "randint:-1:3", "const int8_t*", "n*k")
    given = [_work(array, *more, _result("int*"), n=300, k=600) for more in ((), (floats,))]
    found = [_asked(dataclasses.replace(one, wide=True)) for one in given]
    assert [sum(family.startswith(DENSITIES) for family, _ in one) for one in found] == [2, 0]


def test_large_declared_cases_and_longest_ones_are_at_their_ends() -> None:
    assert _asked(_flat(300_000)) == [
        (f"{FAR_ENDS} {end}", {"n": n}) for n in (300_000.0, 4_799_999.0) for end in ("high", "low")
    ]
    # Where other families put whole arrays at their ends nothing more is asked.
    assert {case["n"] for _, case in _asked(_flat(float(HOT)))} == {16.0 * HOT - 1}
    assert {family for family, _ in _asked(_flat(2000.0))} == {
        f"{FULL_ENDS} high",
        f"{FULL_ENDS} low",
    }
    # A larger case than others are asked of, and what is too large.
    assert {case["n"] for _, case in _asked(_flat(12e6))} == {12e6}
    assert not _asked(_flat(40e6))


def test_a_single_array_is_there_where_it_is_low_and_high_already() -> None:
    """Asked of the level of a pond, which stays narrow, beside totals of 64 bits."""
    work = _of("millpond")
    assert not _asked(work)
    extra = once_read.combinations(work, "confirm", 1)[1]
    found = [(one.case["n"], one.family) for one in extra if one.family.startswith(OPPOSITE)]
    assert found == [(6e6, f"{OPPOSITE} 0 {end}") for end in ("low", "high")]


def test_totals_beyond_32_bits_are_asked_where_the_original_has_words_for_them() -> None:
    def ways(*results: dict[str, Any], wide: bool) -> int:
        flow = _array("flow", "randint:-1000:1001")
        work = dataclasses.replace(_work(flow, *results, n=6e6), wide=wide)
        return len([*opposed.combinations(work, 1)])

    level, totals = _result("int*"), {**_result(shape="2"), "name": "totals"}
    assert ways(level, totals, wide=True) == 2
    assert not ways(level, totals, wide=False)
    assert not ways(level, wide=True)


@pytest.mark.parametrize(
    "work",
    [
        _flat(300_000, _array("rate", "uniform", "const float*")),
        _flat(300_000, kind="float*"),
        _flat(300_000, kind="short*"),
        dataclasses.replace(_flat(300_000), whole=False),
        # Products of what there is do not fit into 32 bits.
        _work(_array("a", "randint:0:3000"), _result("int*"), n=300_000),
        _work(_array("key", "randint:0:300000"), _result(), n=300_000),
        _work(_array("a", "normal"), _result(), n=300_000),
    ],
)
def test_nothing_is_asked_of_what_is_not_exact_or_no_amount(work: Work) -> None:
    assert not [*long_ends.combinations(work, 1)]


def _at(family: str, **case: float) -> Combination:
    return Combination(case, family, 1)


def test_an_original_is_asked_where_it_is_quick() -> None:
    high = f"{FAR_ENDS} high"
    assert FAR_ENDS in verify.ONE_RUN
    quick, slow = Watch(), Watch()
    quick.took(_at(DECLARED, n=1e6), 0.1)
    assert quick.objection(_at(high, n=1e6)) == ""
    slow.took(_at(DECLARED, n=1e6), 0.2)
    assert "would take 3.2 s" in slow.objection(_at(high, n=1e6))
    assert "nothing tells" in Watch().objection(_at(high, n=1e6))
    # Of long rows shorter ones that are alike tell.
    rows = Watch()
    rows.took(_at(SAME, n=9, k=1024), 0.2)
    for family in (f"{FULL_ENDS} low", f"{DENSITIES} 0"):
        assert "would take 0.8 s" in rows.objection(_at(family, n=9, k=2048))
        assert capacities.hopeless(_at(family, n=9, k=2048), [_at(SAME, n=9, k=1024)])
        assert Watch().objection(_at(family, n=9, k=2048)) == ""


def test_what_is_asked_of_a_workload_is_little() -> None:
    for name in ("jetty", "snippets", "kinship", "medoid", "sonar", "readalign", "emd"):
        found = [*long_ends.combinations(_of(name), 1)]
        assert 0 < len(found) <= 8
        assert all(_of(name).elements(one.case) <= 1 << 24 for one in found)
    for name in ("millpond", "scan", "gcds", "boruvka", "saxpy"):
        assert not [*long_ends.combinations(_of(name), 1)]
