"""Where equality is asked the original's own results are right, bit by bit."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from runners import answering, exact_floats
from runners.compare import Answer, compare
from runners.contents import Combination, Contents
from runners.cuda_types import from_float, to_float
from runners.digest import Digest
from runners.expectation import Floats
from runners.families import DECLARED, INFINITIES
from runners.gathered import Gathered
from runners.run import Damage, Run
from tests.redteam import once_read
from tests.runners.test_inputs import _pointer, _work

CASE = {"n": 4096.0}
# What a twin in double precision rounds to another bfloat16 than the original does.
OTHERS = (7, 1001)


def _digested(
    folder: Path, rtol: float, family: str, own: Floats, twin: Floats | None
) -> tuple[Answer, npt.NDArray[Any]]:
    """Return what is wanted of bfloat16 that an original and its twin give, and the former."""
    output = {"name": "y", "type": "bfloat16*", "shape": "n", "role": "output"}
    work = replace(_work(_pointer(), output, n=CASE["n"]), rtol=rtol, atol=rtol)
    scalar = work.arguments[1].type.fields[0].scalar
    mine = from_float(own, scalar)

    def run(data: Floats, seed: int) -> Run:
        return Run({"y": from_float(data, scalar).view(np.uint8)}, Damage(), 0.0, seed)

    wide = None if twin is None else run(twin, 0)
    runs = [run(own, seed) for seed in range(4)]
    gathered = Gathered(Combination(CASE, family, 1), runs, wide, [], 0.1)
    digest = Digest(work, folder, Contents(work), None)
    if family != DECLARED:
        digest.digest(replace(gathered, combination=Combination(CASE, DECLARED, 1)))
    return answering.read(folder, work, digest.digest(gathered))["y"], mine


def _floats() -> tuple[Floats, Floats]:
    own = np.random.default_rng(1).standard_normal(4096)
    twin = own.copy()
    twin[[*OTHERS]] *= 1 + 2.0**-7
    return own, twin


@pytest.mark.parametrize("family", [DECLARED, "mixed"])
@pytest.mark.parametrize(("rtol", "equal"), [(0.0, True), (0.02, False)])
def test_an_original_is_right_whatever_double_precision_says(
    tmp_path: Path, rtol: float, equal: bool, family: str
) -> None:
    """With a tolerance the better answer is wanted, and both are within it."""
    own, twin = _floats()
    answer, mine = _digested(tmp_path, rtol, family, own, twin)
    assert compare(mine.view(np.uint8), answer).passed
    other = mine.copy()
    other[3] += 1
    assert compare(other.view(np.uint8), answer).passed is not equal
    wanted = np.flatnonzero(answer.want.view(np.uint16) != mine)
    assert [*wanted] == ([] if equal else [*OTHERS])


def test_infinities_stay_infinities_where_equality_is_asked(tmp_path: Path) -> None:
    """A NaN that they lead to may be anything: no NaN of a product with zero is asked for."""
    own, _ = _floats()
    own[5], own[6], own[9] = np.inf, -np.inf, np.nan
    for rtol, equal in ((0.0, True), (0.02, False)):
        answer, mine = _digested(tmp_path, rtol, INFINITIES, own, None)
        assert compare(mine.view(np.uint8), answer).passed
        for at, value, fits in (
            (5, 0x7FC0, not equal),
            (5, 0x7F7F, False),
            (6, 0x7F80, not equal),
            (9, 0x3F80, True),
        ):
            other = mine.copy()
            other[at] = value
            assert compare(other.view(np.uint8), answer).passed is fits, (rtol, at, value)


def test_few_originals_are_asked_about_floats_below_the_normal_ones() -> None:
    """Those that take bits of floats and have to be met bit by bit; only when confirming."""
    for label, checks, count in (
        ("gamble/base", "confirm", 1),
        ("gamble/base", "screen", 0),
        ("hullbox/base", "confirm", 1),
        ("transpose/base", "confirm", 0),
        ("pow2quant/base", "confirm", 0),
        ("softmax/base", "confirm", 0),
    ):
        _, extra = once_read.combinations(once_read.parsed(label).work, checks, 1)
        assert sum(one.family == exact_floats.BELOW for one in extra) == count, label
    work = once_read.parsed("gamble/base").work
    assert exact_floats.below_normal(work)
    assert not exact_floats.below_normal(replace(work, atol=1e-6))
    assert not exact_floats.below_normal(replace(work, loose=True))


def test_floats_below_the_normal_ones_have_bits_left() -> None:
    work = once_read.parsed("gamble/base").work
    case = {"n": 4098.0}
    made = Contents(work).of(Combination(case, exact_floats.BELOW, 1))
    for argument in work.arguments[:2]:
        scalar = argument.type.fields[0].scalar
        data = to_float(made[argument.name].view(scalar.dtype), scalar)
        assert (np.abs(data) < 2.0**-126).mean() > 0.9
        assert (data != 0).mean() > 0.9
