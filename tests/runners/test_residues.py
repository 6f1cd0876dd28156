"""Few whole numbers next to multiples of what an original's text names."""

from __future__ import annotations

import numpy as np

from runners import recipes, residues, spec
from runners.contents import Combination, Contents
from runners.spec import Json, Work
from tests.runners.test_judge import _job

PRIME = 998244353
TEXT = """
__global__ void evaluate(const unsigned* coef, const unsigned* place, unsigned* value, int rows, int n) {
    unsigned long long sum = coef[0];
    value[0] = sum * place[0] % NUMBERu;
}
"""
WORK: Json = {
    "arguments": [
        {
            "name": "coef",
            "type": "const unsigned*",
            "shape": "rows*n",
            "init": "randint:0:4294967296",
        },
        {"name": "place", "type": "const int*", "shape": "rows", "init": "randint:-5:2000000000"},
        {"name": "few", "type": "const int*", "shape": "rows", "init": "randint:0:100"},
        {"name": "value", "type": "unsigned*", "shape": "rows", "role": "output"},
        {"name": "rows", "type": "int", "value": "rows"},
        {"name": "n", "type": "int", "value": "n"},
    ],
    "launch": {"grid": ["(rows+63)/64"], "block": ["64"], "shared": "0", "tunable": False},
    "cases": [{"values": {"rows": 60, "n": 30}}],
    "tolerance": {"rtol": 0, "atol": 0},
}


def _of(number: int) -> Work:
    text = TEXT.replace("NUMBER", str(number))
    return spec.parse(_job(text + "// another\n", text, workload=WORK, effort="confirm")).work


def test_rows_of_few_numbers_add_up_to_a_multiple() -> None:
    work = _of(PRIME)
    assert residues.usable(work)
    plain = Contents(work).of(Combination(work.cases[0].values, "declared", 1))
    multiples = ones = below = own = 0
    for turn in range(60):
        family = f"{recipes.WORD} {recipes.RESIDUES + turn}"
        made = Contents(work).of(Combination(work.cases[0].values, family, 1))
        assert np.array_equal(made["few"], plain["few"])
        place = made["place"].view(np.int32)
        assert place.min() >= -5
        assert place.max() < 2000000000
        coef = made["coef"].view(np.uint32).astype(np.int64).reshape(60, 30)
        off = coef % PRIME
        beside = np.minimum(off, PRIME - off)
        # At the upper end of the range there is no multiple.
        if (beside <= 2).mean() < 0.9:
            continue
        ones += bool((off == 1).any())
        below += bool((off == PRIME - 1).any())
        own += len({tuple(np.unique(row)) for row in coef}) > 3
        sums = np.zeros(60, np.int64)
        whole = np.zeros(60, bool)
        for column, at in zip(off.T, np.resize(place, (30, 60)), strict=True):
            # Reduced once too few, what is the modulus itself stays it.
            sums = (sums.astype(object) * (at.astype(object) % PRIME)) % PRIME + column
            whole = sums == PRIME
            sums = (sums % PRIME).astype(np.int64)
        multiples += bool(whole.any())
    assert min(multiples, ones, below, own) > 3


def test_what_no_range_has_room_for_is_no_step() -> None:
    assert not residues.usable(_of(4000000007 * 7))
    work = _of(7)
    assert residues.usable(work)
    family = f"{recipes.WORD} {recipes.RESIDUES + 5}"
    few = Contents(work).of(Combination(work.cases[0].values, family, 1))["few"].view(np.int32)
    assert few.min() >= 0
    assert few.max() < 100
