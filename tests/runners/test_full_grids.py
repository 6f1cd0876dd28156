"""Grids that have an end: how many pieces of work a block has, and cases in which it has two."""

from __future__ import annotations

import dataclasses
from typing import Any, cast

import pytest

from runners import (
    families,
    full_grids,
    one_element,
    recipes,
    sizes,
    spec,
    thresholds,
    verify,
)
from runners.answers import Answers
from runners.checks import Report
from runners.contents import Combination
from runners.expressions import endless
from runners.families import PLAIN
from runners.run import Damage, Run
from runners.session import Shaken
from runners.spec import JobSpec
from tests.redteam import once_read
from tests.runners.test_judge import SCALE, _job

# Tiles of 32 by 8 places, one after the other, in 528 blocks.
TILES = "multigrid/tile_upon_tile"


def _of(label: str) -> JobSpec:
    return once_read.parsed(label)


def _grid(*grid: str, block: str = "64") -> JobSpec:
    """Return a job of a kernel with a piece of 64 elements a block, and another grid."""
    job = spec.parse(_job(f"{SCALE}// another", SCALE))
    assert job.work.launch is not None
    launch = dataclasses.replace(job.work.launch, grid=grid, block=(block,))
    return dataclasses.replace(job, kernel=dataclasses.replace(job.kernel, launch=launch))


def _asked(job: JobSpec) -> list[Combination]:
    declared, extra = once_read.combinations(job.work, "confirm", 1)
    every = [*declared, *extra]
    return [*every, *thresholds.compared(job, every)]


class _All:
    """Answers to everything, at once."""

    def of(self, _one: Combination) -> dict[str, Any]:
        return {}

    def seconds(self, _one: Combination) -> float:
        return 0.001

    def ask_moved(self, combinations: list[Combination]) -> None:
        assert combinations == []


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("min(528, ((w+1)/2+31)/32)", "((w + 1) / 2 + 31) / 32"),
        ("max(1, min(132*8, min(n, m, 7)))", "max(1, min(n, m))"),
        ("min(2112,in)", "in"),
        ("(n+63)/64", "(n+63)/64"),
        ("min(n, m)", "min(n, m)"),
        ("min(4, 8)", "min(4, 8)"),
    ],
)
def test_an_end_is_a_number_that_min_takes_a_size_down_to(text: str, left: str) -> None:
    assert endless(text) == left


def test_an_expression_that_is_deep_says_nothing() -> None:
    """Each sign is a level, and some hundred are few enough to be read."""
    deep = _grid(f"min(20,{'-' * 380}n)")
    assert full_grids.turns(deep, {"n": 1e6}) == 1
    assert list(full_grids.cases(deep, [])) == []


def test_pieces_of_work_are_counted_by_the_blocks_that_there_were_without_an_end() -> None:
    job = _grid("min(20,(n+63)/64)")
    assert [full_grids.turns(job, {"n": n}) for n in (64.0, 1280.0, 3200.0)] == [1, 1, 2.5]
    # The same for all sizes: by the original's, in blocks or in threads.
    assert full_grids.turns(_grid("50"), {"n": 6400.0}) == 2
    assert full_grids.turns(_grid("50", block="256"), {"n": 6400.0}) == 0.5
    assert full_grids.turns(_grid("50", block="32"), {"n": 6400.0}) == 2
    # One block has all its work anywhere; and what has no end, or no value, says nothing.
    assert full_grids.turns(_grid("1"), {"n": 6400.0}) == 1
    assert full_grids.turns(_grid("(n+63)/64"), {"n": 1e6}) == 1
    assert full_grids.turns(_grid("min(20,m)"), {"n": 6400.0}) == 1
    assert [full_grids.ends(_grid(one)) for one in ("min(20,n)", "50", "1", "n", "min(")] == [
        *(True, True, False, False, False)
    ]


def test_there_is_a_case_in_which_all_blocks_go_round_and_a_light_one() -> None:
    job = _of(TILES)
    natural, light = full_grids.cases(job, [])
    assert full_grids.turns(job, natural) > full_grids.TWICE
    assert {natural["h"], natural["w"]} & {33.0, 101.0}
    assert sizes.elements(job.work, natural) <= full_grids.SHAKEN_ELEMENTS
    assert full_grids.turns(job, light) > full_grids.ONCE
    assert sizes.elements(job.work, light) <= full_grids.WATCHED_ELEMENTS
    assert list(full_grids.cases(job, [natural])) == [light]
    assert list(full_grids.cases(job, [natural, light])) == []
    # Not where it goes round nowhere within what a candidate has to be right on.
    assert list(full_grids.cases(_grid("min(2000,(n+63)/64)"), [])) == []
    assert list(full_grids.cases(_grid("(n+63)/64"), [])) == []


def test_a_finalist_is_asked_where_its_blocks_go_round() -> None:
    """What nothing else comes to, or not in a case that is light."""
    job = _of(TILES)
    light = [
        one
        for one in _asked(job)
        if full_grids.turns(job, one.case) > full_grids.ONCE
        and job.work.elements(one.case) <= full_grids.WATCHED_ELEMENTS
    ]
    assert [one.family for one in light] == [PLAIN]


def test_the_sanitizer_looks_at_blocks_that_go_round() -> None:
    """At one combination, however many others stand before it."""
    job = _of(TILES)
    every = _asked(job)
    beside = [one for one in every if one.family == PLAIN]
    found = verify.small(job, cast("Answers", _All()), every, beside)
    again = [one for one in found if full_grids.turns(job, one.case) > full_grids.ONCE]
    assert len(again) == 1
    assert len({one.key for one in found}) == len(found)
    # Where what is looked at anyway goes round, nothing is added.
    rows = _of("haar/row_after_row")
    every = _asked(rows)
    found = verify.small(rows, cast("Answers", _All()), every)
    assert sum(full_grids.turns(rows, one.case) > full_grids.ONCE for one in found) >= 1
    assert all(one.family != PLAIN for one in found)


def test_warps_are_delayed_where_blocks_go_round() -> None:
    """In the lightest such case; the declared one is too large for that."""
    job, answers = _of(TILES), cast("Answers", _All())
    (one,) = verify.going_round(job, answers, _asked(job), [])
    assert full_grids.turns(job, one.case) > full_grids.TWICE
    assert job.work.elements(one.case) <= full_grids.SHAKEN_ELEMENTS
    assert verify.going_round(job, answers, _asked(job), [one]) == []
    ran: list[str] = []

    class Delayed:
        loading = 0.0

        def run(self, asked: Combination, **_more: Any) -> Run:
            ran.append(asked.key)
            return Run({}, Damage(), 0.0, 1)

    verify.shaken(cast("Shaken", Delayed()), answers, job, _asked(job), Report())
    assert ran.count(one.key) == verify.SHAKEN_RUNS


def test_warps_are_delayed_with_every_kind_of_contents() -> None:
    """Infinities in most runs: a block that has nothing to add is late in one of them."""
    job, answers = _of("widom/quarters_of_a_state"), cast("Answers", _All())
    ran: list[str] = []

    class Delayed:
        loading = 0.0

        def run(self, asked: Combination, **_more: Any) -> Run:
            ran.append(recipes.kind(asked.family))
            return Run({}, Damage(), 0.0, 1)

    wanted = _asked(job)
    verify.shaken(cast("Shaken", Delayed()), answers, job, wanted, Report())
    asked = [one.family for one in wanted if one_element.change(one.family) is None]
    kinds = {recipes.kind(one) for one in asked}  # one of the recipes stands for all
    assert {families.MASKED, families.MASKED_ROWS, "one-hot", "special"} < kinds == set(ran)
    for kind in kinds - verify.SHAKEN_FAMILIES:
        masks = kind in families.MASKS
        assert ran.count(kind) == (verify.MASKS_SHAKEN if masks else verify.OTHERS_SHAKEN)
    # The declared come ahead: their time is not to be used up.
    first = ran[: verify.SHAKEN_RUNS * verify.SHAKEN_CASES]
    assert set(first) <= verify.SHAKEN_FAMILIES
