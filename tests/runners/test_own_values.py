"""Arrays hold the numbers of a candidate's own text, within what was declared."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from runners import families, own_values, spec
from runners.contents import Combination, Contents
from tests.runners.test_inputs import _work
from tests.runners.test_judge import _job
from tests.runners.test_twins import _array

BASE = "__global__ void scale(const int* a, const float* x, const float* p) { a[0] = 5 * 0.25f; }"


def _parsed(text: str, *arrays: dict[str, Any]) -> spec.JobSpec:
    work = {
        "arguments": [*arrays, {"name": "n", "type": "int", "value": "n"}],
        "launch": {"grid": ["1"], "block": ["64"], "shared": "0", "tunable": False},
        "cases": [{"values": {"n": 100}}],
        "tolerance": {"rtol": 1e-5, "atol": 1e-6},
    }
    mine = BASE.replace("a[0] = 5 * 0.25f;", f"a[0] = 5 * 0.25f; {text}")
    return spec.parse(_job(mine, BASE, workload=work, effort="confirm"))


def _family(text: str, *arrays: dict[str, Any]) -> str:
    asked = [*own_values.asked(_parsed(text, *arrays), [{"n": 100.0}])]
    assert len({seed for _, _, seed in asked}) == len(asked)
    return asked[0][1] if asked else ""


WIDE = _array("a", "randint:-1000:100000", shape="n")
FLOATS = _array("x", "normal", "const float*", shape="n")


def test_numbers_that_an_array_may_hold_are_named() -> None:
    text = "if (a[0] == 31337 || a[0] > 7000000 || x[0] < 4.75f) a[0] = -77 * 0.25f;"
    assert _family(text, WIDE, FLOATS) == "own-values -77,77,31337 4.75"
    assert _family(text, WIDE) == "own-values -77,77,31337 -"
    # All numbers of a narrow range are met by chance; a tiny float is asked about elsewhere.
    assert _family(text, _array("a", "randint:0:60", shape="n")) == ""
    assert _family("x[0] = 1e-12f;", WIDE, FLOATS) == ""
    assert _family("a[0] += 5;", WIDE, FLOATS) == ""


@pytest.mark.parametrize("seed", range(1, 12))
def test_arrays_are_filled_with_them_and_their_neighbours(seed: int) -> None:
    shares = _array("p", "uniform", "const float*", shape="n")
    work = _work(WIDE, FLOATS, shares, n=3000)
    family = own_values.named([77, 31337, 99999], [0.5, 4.75])
    made = Contents(work).of(Combination(work.cases[0].values, family, seed))
    plain = Contents(work).of(Combination(work.cases[0].values, families.DECLARED, seed))
    keys = made["a"].view(np.int32)
    assert -1000 <= keys.min() <= keys.max() < 100000
    changed = keys[keys != plain["a"].view(np.int32)]
    assert {*changed} <= {76, 77, 78, 31336, 31337, 31338, 99998, 99999}
    floats, share = made["x"].view(np.float32), made["p"].view(np.float32)
    near = floats[floats != plain["x"].view(np.float32)]
    assert {round(abs(float(one)), 4) for one in near} <= {0.25, 0.5, 2.375, 4.75}
    assert 0 <= share.min() <= share.max() < 1


def test_all_of_an_array_is_such_a_number_and_others_stay_as_declared() -> None:
    work = _work(WIDE, n=3000)
    family = own_values.named([77, 31337], [])
    shares = set()
    for seed in range(1, 40):
        made = Contents(work).of(Combination(work.cases[0].values, family, seed))
        mine = np.isin(made["a"].view(np.int32), [76, 77, 78, 31336, 31337, 31338])
        shares.add(round(float(mine.mean()), 1))
    assert {0.0, 0.1, 0.5, 1.0} <= shares
