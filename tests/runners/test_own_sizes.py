"""Sizes of a candidate's own text are asked with many contents, as large as they are promised."""

from __future__ import annotations

from collections import Counter

import numpy as np

from runners import own_sizes, recipes, spec
from runners.contents import Contents
from tests.runners.test_fuzzing import COMPARE, _text
from tests.runners.test_fuzzing import WORK as LIMBS
from tests.runners.test_judge import _job


def _parsed(compare: str) -> spec.JobSpec:
    return spec.parse(_job(_text(compare), _text(), workload=LIMBS, effort="confirm"))


def test_each_size_is_a_number_of_the_candidates_or_one_more() -> None:
    job = _parsed(COMPARE.replace("k >= 0", "k >= (m == 77 ? 71 : m > 1000000 ? 1 : 0)"))
    found = own_sizes.cases(job)
    assert {"n": 20.0, "m": 77.0} in found
    assert {"n": 20.0, "m": 78.0} in found
    assert {"n": 71.0, "m": 9.0} in found
    # Sixteen times the declared is as far as a candidate has to be right.
    assert max(case["m"] for case in found) <= 16 * 12
    assert len(found) <= own_sizes.CASES


def test_what_names_no_number_of_its_own_is_asked_nothing() -> None:
    assert not [*own_sizes.asked(_parsed(COMPARE + ";"))]


LETTERS = "constexpr int LETTERS = 41;\n"


def test_a_number_of_both_is_a_size_where_the_candidate_alone_compares_it_with_one() -> None:
    """`if (n <= LETTERS)` is wrong for as many only, and the original has the number as well."""
    base = LETTERS + _text(COMPARE.replace("k >= 0", "k >= 0 * LETTERS"))
    mine = base.replace("k >= 0 * LETTERS", "k >= (m <= LETTERS ? 0 * LETTERS : 0)")
    job = spec.parse(_job(mine, base, workload=LIMBS, effort="confirm"))
    assert own_sizes.cases(job)[:2] == [{"n": 20.0, "m": 41.0}, {"n": 20.0, "m": 42.0}]
    # Of what the original compares as well nothing is the candidate's own.
    same = mine.replace("k >= (", "k >= ( ")
    job = spec.parse(_job(same, mine, workload=LIMBS, effort="confirm"))
    assert not own_sizes.cases(job)


def test_rows_that_are_just_long_enough_have_each_number_once() -> None:
    work = {
        "arguments": [
            {"name": "x", "type": "const int*", "shape": "n*m", "init": "randint:0:41"},
            {"name": "less", "type": "int*", "shape": "n", "role": "output"},
            {"name": "n", "type": "int", "value": "n"},
            {"name": "m", "type": "int", "value": "m"},
        ],
        "cases": [{"values": {"n": 9, "m": 90}}],
    }
    base = (
        LETTERS
        + "__global__ void scale(const int* x, int* less, int n, int m) { less[0] = LETTERS; }"
    )
    mine = base.replace("less[0] =", "if (m > LETTERS) less[0] =")
    job = spec.parse(_job(mine, base, workload={**LIMBS, **work}, effort="confirm"))
    asked = [one for one in own_sizes.asked(job) if one.case["m"] == 41]
    once = [one for one in asked if (recipes.number(one.family) or 0) >= recipes.EACH_ONCE]
    assert len(once) >= 4
    made = [Contents(job.work).of(one)["x"].view(np.int32).reshape(-1, 41) for one in once]
    assert any(len({*row.tolist()}) == 41 for rows in made for row in rows)


def test_each_case_has_contents_of_every_kind_and_none_twice() -> None:
    asked = [*own_sizes.asked(_parsed(COMPARE.replace("k >= 0", "k >= (m == 77 ? 71 : 0)")))]
    assert len({one.family for one in asked}) == len(asked)
    kinds: dict[tuple[float, float], Counter[int]] = {}
    for one in asked:
        number = recipes.number(one.family) or 0
        first = next(
            first
            for first in (recipes.NEARLY_ONE, recipes.CROSSED, recipes.FUZZED)
            if number >= first
        )
        kinds.setdefault((one.case["n"], one.case["m"]), Counter())[first] += 1
    assert all(
        min(kind[first] for first in (recipes.NEARLY_ONE, recipes.CROSSED, recipes.FUZZED)) >= 6
        for kind in kinds.values()
    )
