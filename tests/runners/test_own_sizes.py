"""Sizes of a candidate's own text are asked with many contents, as large as they are promised."""

from __future__ import annotations

from collections import Counter

from runners import own_sizes, recipes, spec
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
