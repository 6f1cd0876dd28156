"""Which runs compute-sanitizer looks at."""

from __future__ import annotations

from typing import cast

from runners import spec, verify
from runners.answers import Answers
from runners.contents import Combination
from runners.sizes import whole_words
from tests.runners.test_judge import SCALE, _job


class _All:
    """Answers to everything but what is `unknown`."""

    def __init__(self, *unknown: float) -> None:
        self._unknown = unknown

    def of(self, combination: Combination) -> object:
        return None if combination.case.get("n") in self._unknown else {}


def _chosen(sizes: list[float], *unknown: float) -> list[float]:
    job = spec.parse(_job(SCALE))
    wanted = [Combination({"n": n}, "declared", 1) for n in sizes]
    found = verify.small(job, cast("Answers", _All(*unknown)), wanted)
    return [combination.case["n"] for combination in found]


def test_sizes_of_whole_words_are_looked_at_together_and_each_alone() -> None:
    """Nothing is compared there, so no answer is needed; strides and what is too large stay."""
    workload = {
        "arguments": [
            {"name": "a", "type": "const float*", "shape": "m*((bits+31)/32)"},
            {"name": "y", "type": "float*", "shape": "m", "role": "output"},
            {"name": "m", "type": "int", "value": "m"},
            {"name": "bits", "type": "int", "value": "bits"},
            {"name": "step", "type": "int", "value": "step"},
        ],
        "cases": [{"values": {"m": 30, "bits": 77, "step": 3}}],
    }
    job = spec.parse(_job(SCALE, workload=workload))
    wanted = [Combination({"m": 30.0, "bits": 77.0, "step": 3.0}, "declared", 1)]
    found = verify.small(job, cast("Answers", _All()), wanted)
    assert [(c.case["m"], c.case["bits"], c.case["step"]) for c in found] == [
        (30, 77, 3),
        (32, 96, 3),
        (32, 77, 3),
        (30, 96, 3),
    ]
    assert whole_words(job.work, {"m": 600.0, "bits": 77.0, "step": 3.0}, 200) == []
    # Behind them long ones: a block that takes one row after the other comes to its second.
    assert whole_words(job.work, {"m": 64.0, "bits": 7.0, "step": 3.0}, 1600) == [
        {"m": 479.0, "bits": 7.0, "step": 3.0},  # 16 times the declared 30 and 77, no further
        {"m": 9.0, "bits": 1231.0, "step": 3.0},
    ]


def test_the_declared_and_the_largest_and_one_where_nothing_is_left_over() -> None:
    """The heaviest of those that may be; last one of whole words, where there is any."""
    # 7 is declared.
    sizes = [7.0, 1001.0, 64.0, 501.0, 999.0, 96.0]
    assert _chosen(sizes) == [7.0, 1001.0, 96.0]
    assert _chosen(sizes, 96.0) == [7.0, 1001.0, 64.0]
    assert _chosen([7.0, 1001.0, 501.0, 999.0]) == [7.0, 1001.0, 999.0]
    assert _chosen([1024.0, 1e9]) == [1024.0]
    assert _chosen([]) == []


def test_memcheck_is_shown_each_size_once_and_other_contents_of_one() -> None:
    job = spec.parse(_job(SCALE))
    sizes = [7.0, 1.0, 3.0, 1001.0, 3.0, 500_000.0]
    wanted = [Combination({"n": n}, "declared", 1) for n in sizes]
    wanted += [Combination({"n": 7.0}, kind, 1) for kind in ("mixed", "integers", "mixed")]
    answers = cast("Answers", _All(1001.0))
    found = verify.further(job, answers, wanted, wanted[:1])
    assert [(c.case["n"], c.family) for c in found] == [
        (7, "mixed"),
        (7, "integers"),
        (1, "declared"),
        (3, "declared"),
    ]
    many = [Combination({"n": float(n)}, "declared", 1) for n in range(1, 500)]
    assert len(verify.further(job, answers, many, [])) == verify.FURTHER
