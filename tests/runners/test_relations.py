"""Cases on the side of a candidate's own conditions on which no case is that is asked anyway."""

from __future__ import annotations

import dataclasses
import gc
import time
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runners import products, relations, sizes, spec, thresholds
from runners.families import PLAIN
from runners.launch_limits import SHARED_BYTES, fails
from runners.spec import JobSpec
from tests.redteam import once_read
from tests.redteam.table import Candidate, load
from tests.runners.test_judge import SCALE, _job
from tests.runners.test_odd_texts import HOSTILE

CANDIDATES = {one.label: one for one in load()}
Case = dict[str, float]


def _of(label: str) -> JobSpec:
    return once_read.parsed(label)


def _gated(gate: str, label: str = "sqsum/base", before: str = "") -> JobSpec:
    """Return the job of a candidate that is its original but for a gate of its own."""
    job = _of(label)
    head, _, rest = job.baseline.source.partition("{")
    text = f"{before}\n{head}{{ if ({gate}) return; {rest}"
    return dataclasses.replace(job, kernel=dataclasses.replace(job.baseline, source=text))


def _asked(job: JobSpec) -> tuple[list[Case], list[Case]]:
    """Return the cases that are asked about anyway, and those of a candidate's own text."""
    declared, extra = once_read.combinations(job.work, "confirm", 1)
    known = [*declared, *extra]
    found = thresholds.compared(job, known)
    return [dict(one.case) for one in known], [dict(one.case) for one in found]


# What makes each bad candidate wrong, and is in no case that is asked without its text. Rows 200
# times as long as they are many are asked now, as long as they may be; 300 times as long are not.
FARTHER = 300
WRONG: tuple[tuple[str, Callable[[Case], bool]], ...] = (
    ("sqsum/many_short_rows_in_fours", lambda c: c["cols"] >= 256 and c["rows"] >= 20 * c["cols"]),
    ("sqsum/long_rows_in_halves", lambda c: 17 <= c["rows"] <= c["cols"] / FARTHER),
    ("ringed/remainder_of_both", lambda c: (c["n"] + c["first"]) % 1021 == 17),
    ("ringed/seventh_of_the_ring", lambda c: c["n"] == 7 * c["first"]),
    ("turned/twice_as_wide", lambda c: c["w"] == 2 * c["h"] and c["h"] > 100),
    ("turned/three_squares", lambda c: 3 < c["h"] / c["w"] < 3.05 and c["w"] % 4 > 0),
)


@pytest.mark.parametrize(("label", "wrong"), WRONG, ids=[one[0] for one in WRONG])
def test_a_case_is_where_a_candidate_goes_another_way(
    label: str, wrong: Callable[[Case], bool]
) -> None:
    job = _of(label)
    text = job.kernel.source.replace("200 * many", f"{FARTHER} * many")
    known, found = _asked(
        dataclasses.replace(job, kernel=dataclasses.replace(job.kernel, source=text))
    )
    assert not any(map(wrong, known))
    assert any(map(wrong, found))


def test_the_first_is_asked_with_odd_sizes_too() -> None:
    _known, found = _asked(_of("turned/twice_as_wide"))
    twice = [case for case in found if case["w"] == 2 * case["h"] and case["h"] > 100]
    assert {case["h"] % 2 for case in twice} == {0, 1}


FORMS: tuple[tuple[str, str, Callable[[Case], bool]], ...] = (
    ("rows == 3 * cols + 1", "", lambda c: c["rows"] == 3 * c["cols"] + 1),
    (
        "rows / cols == 11 && cols > 99",
        "",
        lambda c: c["rows"] // c["cols"] == 11 and c["cols"] > 99,
    ),
    ("(rows + 5 * cols) % 777 == 5", "", lambda c: (c["rows"] + 5 * c["cols"]) % 777 == 5),
    ("cols - rows > 20000", "", lambda c: c["cols"] - c["rows"] > 12345),
    (
        "RATIO > 40.f && cols > 300",
        "#define RATIO ((float)rows / cols)",
        lambda c: c["rows"] > 40 * c["cols"] and c["cols"] > 300,
    ),
    (
        "rows > 100 && cols - rows == 1",
        "",
        lambda c: c["rows"] > 100 and c["cols"] - c["rows"] == 1,
    ),
    ("gridDim.x * 2 == cols", "", lambda c: (c["rows"] + 127) // 128 * 2 == c["cols"]),
    (
        "!((rows * 7) % cols) && cols > 50",
        "",
        lambda c: c["rows"] * 7 % c["cols"] == 0 and c["cols"] > 50,
    ),
)


@pytest.mark.parametrize(("gate", "before", "open_"), FORMS, ids=[one[0] for one in FORMS])
def test_a_gate_is_passed_however_it_is_written(
    gate: str, before: str, open_: Callable[[Case], bool]
) -> None:
    known, found = _asked(_gated(gate, before=before))
    assert any(map(open_, [*known, *found]))
    assert not all(map(open_, [*known, *found]))


def test_a_flag_and_a_ratio_are_met_together() -> None:
    """What sizes nothing has each of the values that are asked anyway."""
    gate = "kind == 1 && m > 3 * n && n > 100"
    job = _gated(gate, "metric/base")
    known, found = _asked(job)
    assert any(c["kind"] == 1 and c["m"] > 3 * c["n"] > 300 for c in [*known, *found])


def test_sides_of_a_few_elements_are_not_enough() -> None:
    """Rows of nine are a way of their own; a ratio is to be met by longer ones, too."""
    job = _gated("rows >= 30 * cols")
    few: list[Case] = [{"rows": 3000.0, "cols": 9.0}, {"rows": 9.0, "cols": 9.0}]
    found = relations.unmet(job, [*few, {"rows": 100.0, "cols": 100.0}])
    assert found
    assert all(case["rows"] >= 30 * case["cols"] > 30 * sizes.SMALL for case in found)
    assert not relations.unmet(job, [{"rows": 3000.0, "cols": 90.0}, {"rows": 90.0, "cols": 90.0}])


def test_what_the_original_asks_comes_last_and_what_is_met_asks_for_nothing() -> None:
    job = _of("turned/twice_as_wide")
    other = dataclasses.replace(job.kernel, source=job.kernel.source + "\n// another text\n")
    copied = dataclasses.replace(job, baseline=job.kernel, kernel=other)
    assert any(case["w"] == 2 * case["h"] for case in _asked(copied)[1])
    assert relations.unmet(dataclasses.replace(job, kernel=job.baseline), []) == []
    assert relations.unmet(_gated("rows > cols"), _asked(_of("sqsum/base"))[0]) == []
    own = _gated("rows == 3 * cols + 1 || cols == 5 * rows + 2")
    both = dataclasses.replace(
        own, baseline=_gated("rows == 3 * cols + 1").kernel, kernel=own.kernel
    )
    first = relations.unmet(both, _asked(_of("sqsum/base"))[0])[0]
    assert first["cols"] == 5 * first["rows"] + 2 or first["rows"] == 3 * first["cols"] + 1


def test_what_is_far_beyond_is_not_asked_for() -> None:
    """Sixteen times as long a side, a thousand times the elements: limits, and no faults."""
    for gate in ("rows > 100000 * cols", "rows + cols > 90000", "rows > 40000 && cols > 10000"):
        job = _gated(gate)
        for case in relations.unmet(job, _asked(job)[0]):
            assert sizes.elements(job.work, case) <= products.MOST_DECLARED
            assert case["rows"] <= 16 * 3000
            assert case["cols"] <= 16 * 900


def test_where_a_launch_fails_no_case_is_chosen() -> None:
    job = _gated("rows > 20 * cols && cols > 200")
    known = _asked(_of("sqsum/base"))[0]
    assert relations.unmet(job, known)
    tall = spec.Launch(("1", "rows*16"), ("128",))
    kernel = dataclasses.replace(job.kernel, launch=tall)
    found = relations.unmet(dataclasses.replace(job, kernel=kernel), known)
    assert not [case for case in found if fails(tall, case, SHARED_BYTES)]


def _right() -> list[Candidate]:
    every = [one for one in CANDIDATES.values() if one.expect == "accept"]
    return [one for one in every if one.base.kind != "program" and one.name != "base"]


def test_right_candidates_are_asked_hardly_more() -> None:
    """Over all of the red team, and within limits; each in a moment."""
    more, every, longest, known_of = 0, 0, 0.0, {"": [Case()]}
    for one in _right()[::3]:
        job = once_read.parsed(one)
        if one.base.name not in known_of:
            declared, extra = once_read.combinations(job.work, "confirm", 1)
            known_of = {one.base.name: [dict(each.case) for each in [*declared, *extra]]}
        known = known_of[one.base.name]
        gc.disable()  # all that other tests hold is looked through in a second, at any time
        begun = time.process_time()
        found = relations.unmet(job, known)
        longest = max(longest, time.process_time() - begun)
        gc.enable()
        assert len(found) <= relations.MOST_CASES
        for case in found:
            assert 0 < sizes.elements(job.work, case) <= products.MOST_DECLARED
        more += len(found)
        every += len(known)
    assert more < 0.03 * every
    assert longest < 1.0


def test_a_few_more_combinations_a_candidate() -> None:
    job = _of("turned/twice_as_wide")
    declared, extra = once_read.combinations(job.work, "confirm", 1)
    found = thresholds.compared(job, [*declared, *extra])
    own = relations.unmet(job, [one.case for one in [*declared, *extra]])
    plain = [dict(one.case) for one in found if one.family == PLAIN]
    assert [case for case in own if case in plain] == own
    assert own[0] in [dict(one.case) for one in found if one.family == "mixed"]


@given(st.text(max_size=300))
def test_no_text_is_too_odd(text: str) -> None:
    job = spec.parse(_job(SCALE + f"\nvoid f(int n) {{ if (n % 7 == {text}", effort="confirm"))
    assert len(relations.unmet(job, ())) <= relations.MOST_CASES


@pytest.mark.parametrize("gate", HOSTILE)
def test_hostile_texts_take_no_time(gate: str) -> None:
    job = _gated(gate)
    begun = time.process_time()
    assert len(relations.unmet(job, ())) <= relations.MOST_CASES
    assert time.process_time() - begun < 5


def test_many_conditions_take_no_time() -> None:
    known = _asked(_of("sqsum/base"))[0]
    gate = " || ".join(f"rows * {n} == cols * {n + 1} + 100000" for n in range(60))
    for text in (gate, "; if (".join(f"gridDim.x > {n} * cols * rows)" for n in range(90)) + " (0"):
        job = _gated(text)
        begun = time.process_time()
        assert len(relations.unmet(job, known)) <= relations.MOST_CASES
        assert time.process_time() - begun < 2


def test_odd_launches_ask_for_nothing() -> None:
    job = _gated("gridDim.x * 2 == cols")
    for grid in ("rows +", "1/0", "nobody*2", "9" * 200):
        launch = spec.Launch((grid,), ("256",))
        odd = dataclasses.replace(job, kernel=dataclasses.replace(job.kernel, launch=launch))
        assert len(relations.unmet(odd, ())) <= relations.MOST_CASES
