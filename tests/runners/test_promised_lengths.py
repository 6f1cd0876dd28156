"""Sizes at the end of what a candidate has to be right for, where that is a small case."""

from __future__ import annotations

import pytest

from runners import capacities, longest, promised_lengths, sizes
from runners.contents import Combination
from runners.families import DECLARED, LONGEST, PLAIN
from runners.spec import Work
from tests.redteam import once_read
from tests.runners.test_inputs import _pointer, _work

# One of eight: all of them take half a minute.
ORIGINALS = sorted({one.base.name for one in once_read.candidates().values()})[::8]
# All that hold contents as they are declared.
ORDINARY = frozenset({DECLARED, PLAIN, LONGEST})


def _works() -> list[Work]:
    every = [once_read.parsed(f"{name}/base").work for name in ORIGINALS]
    return [work for work in every if work.kind != "program"]


def test_a_row_is_asked_at_sixteen_times_in_whole_words_and_an_odd_one() -> None:
    """A thousand columns were asked up to 12,352, and two thousand rows too."""
    work = _work(_pointer(shape="rows*cols"), rows=20, cols=1000)
    found = [case for case in promised_lengths.cases(work) if case["cols"] > 1000]
    assert found == [{"rows": 20.0, "cols": float(cols)} for cols in (3968, 15999, 16000)]
    assert max(case["cols"] for case in capacities.beyond(work)) < 13000


def test_others_are_as_declared_where_that_is_not_too_much_and_few_where_it_is() -> None:
    work = _work(_pointer(shape="rows*cols"), rows=3000, cols=1000)
    found = [*promised_lengths.cases(work)]
    assert {case["rows"] for case in found if case["cols"] >= 3968} == {9.0}
    assert all(0 < sizes.elements(work, case) <= capacities.MOST_ELEMENTS for case in found)


def test_what_is_long_by_itself_is_left_to_the_longest_cases() -> None:
    flat = _work(_pointer(), n=1 << 20)
    assert [*promised_lengths.cases(flat)] == []
    assert [*longest.cases(flat)]
    real = _work({**_pointer(), "init": "capture:x"}, n=300)
    assert [*promised_lengths.cases(real)] == []


@pytest.mark.parametrize("effort", once_read.EFFORTS)
def test_no_size_of_a_small_case_ends_before_what_is_promised(effort: str) -> None:
    """Half of all sizes of the red team ended between four and fourteen times the declared."""
    short = []
    for work in _works():
        asked = [one for part in once_read.combinations(work, effort, 1) for one in part]
        ordinary = [one for one in asked if one.family in ORDINARY]
        for case in promised_lengths.cases(work):
            name = max(case, key=lambda one: case[one] / max(1.0, sizes.largest(work, one)))
            most = max(one.case.get(name, 0.0) for one in ordinary)
            short += [(work.name, name)] if most < case[name] else []
    assert bool(short) == (effort == "screen")


def test_what_would_take_long_is_not_asked_by_what_the_first_took() -> None:
    work = _work(_pointer(shape="rows*cols"), rows=20, cols=1000)
    first, *_, last = [c for c in promised_lengths.cases(work) if c["cols"] > 1000]
    watch = capacities.Watch()
    watch.took(Combination(first, PLAIN, 1), 2.0)
    assert watch.objection(Combination(last, PLAIN, 1))
