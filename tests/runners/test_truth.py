"""What the original in doubles is worth, who is told of it, and what is nothing but rounding."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from runners import families, spec
from runners.contents import Combination, Contents
from runners.judge import Judge
from runners.run import Damage, Run
from runners.spec import Json
from runners.truth import Truth
from tests.runners.host_gpu import COMPILER, artifact
from tests.runners.test_inputs import _work
from tests.runners.test_judge import _job

host = pytest.mark.skipif(COMPILER is None, reason="g++ is not installed")

WORK = _work(
    {"name": "x", "type": "const float*", "shape": "n", "init": "normal"},
    {"name": "y", "type": "float*", "shape": "n", "role": "output"},
    n=6,
)
CASE = WORK.cases[0].values


def _wanted(
    truth: Truth, family: str, wide: list[float], narrow: list[float]
) -> list[float] | None:
    runs = [
        Run({"y": np.asarray(one, kind).view(np.uint8)}, Damage(), 0.0, 0)
        for one, kind in ((narrow, np.float32), (wide, np.float64))
    ]
    found, _ = truth.of(Combination(CASE, family, 1), runs[0], runs[1])
    return found["y"].tolist() if "y" in found else None


def _truth(*faithful: str) -> Truth:
    return Truth(WORK, Contents(WORK), None, faithful)


def test_what_is_nothing_but_rounding_is_anything_in_what_was_made_up_and_nowhere_else() -> None:
    wide = [0.0, 1.0, 300.0, 1e5, 1e-9, 2e5]
    narrow = [7.0, 1.5, 300.5, 1e5, 2e-9, 2e5]
    made_up = _wanted(_truth("y"), "recipe 5", wide, narrow)
    # Two thirds are left of 1.5; and what is wrong by less than is allowed of any is no noise.
    assert made_up == [np.inf, 1.0, 300.0, 1e5, 1e-9, 2e5]
    assert _wanted(_truth("y"), "recipe 5+j", wide, narrow) == made_up
    for family in (families.DECLARED, "mixed"):
        assert _wanted(_truth("y"), family, wide, narrow) == wide


def test_where_all_of_it_is_ill_conditioned_doubles_hold_if_they_are_known_to_be_the_same() -> None:
    wide = [1.0, -1.0, 2.0, -2.0, 1.0, 0.0]
    narrow = [1.4, -1.4, 2.8, -2.8, 1.4, 1.0]
    assert _wanted(_truth(), "recipe 5", wide, narrow) is None
    assert _wanted(_truth("y"), "recipe 5", wide, narrow) == [*wide[:-1], np.inf]
    assert _wanted(_truth("y"), "mixed", wide, narrow) == wide
    truth = _truth()
    assert truth.faithful == []
    assert _wanted(truth, families.DECLARED, wide, wide) == wide
    assert truth.faithful == ["y"]
    assert _wanted(truth, "mixed", wide, narrow) == wide


# Rows less their mean, over the root of what is left: of a row that is one number throughout
# nothing but rounding is left.
NORMED = """
extern "C" __global__ void scale(const float* x, float* y, int rows, int n) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    const float* in = x + (size_t)row * n;
    float m = 0.f, v = 0.f;
    for (int c = 0; c < n; ++c) m += in[c];
    m /= n;
    for (int c = 0; c < n; ++c) v += (in[c] - m) * (in[c] - m);
    for (int c = 0; c < n; ++c) y[(size_t)row * n + c] = (in[c] - m) / sqrtf(v / n + 1e-5f);
}
"""
ROWS: Json = {
    "arguments": [
        {"name": "x", "type": "const float*", "shape": "rows*n", "init": "normal"},
        {"name": "y", "type": "float*", "shape": "rows*n", "role": "output"},
        {"name": "rows", "type": "int", "value": "rows"},
        {"name": "n", "type": "int", "value": "n"},
    ],
    "launch": {"grid": ["(rows+31)/32"], "block": ["32"], "shared": "0", "tunable": False},
    "cases": [{"values": {"n": 237, "rows": 7}}, {"values": {"n": 50, "rows": 5}}],
    "tolerance": {"rtol": 1e-5, "atol": 1e-6},
}


@host
def test_a_process_that_is_begun_later_knows_what_doubles_are_worth(judge: Judge) -> None:
    job = _job(NORMED + "//", NORMED, workload=ROWS, effort="confirm")
    request = {"job": job, "candidate": artifact(NORMED), "baseline": artifact(NORMED)}
    parsed = spec.parse(job)
    declared = [Combination(c.values, families.DECLARED, 1) for c in parsed.work.cases]
    answers = judge._oracle.answers(parsed, request, declared, 300.0)
    assert {one["source"] for one in answers.described.values()} == {"double precision"}
    assert answers.ask is not None
    # Large numbers that are nearly the same: sums of them lose what is left in the end.
    asked = [Combination(parsed.work.cases[0].values, f"recipe {n}", 1) for n in range(60)]
    sources: dict[str, Any] = {}
    for one in asked:
        answers.ask([one])  # each in a process of its own
        if one.key in answers.described:
            sources[one.family] = answers.described[one.key]["source"]
    assert len(sources) > 30
    assert {*sources.values()} == {"double precision"}
