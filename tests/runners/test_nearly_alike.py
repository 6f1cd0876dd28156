"""Two arrays that are nearly the same everywhere."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from runners import nearly_alike, recipes
from runners.contents import Combination, Contents
from runners.spec import Work
from tests.runners.test_inputs import _work

Values = npt.NDArray[Any]
OUT = {"name": "out", "type": "float*", "shape": "rows", "role": "output"}


def _array(name: str, init: str, shape: str, kind: str = "const float*") -> dict[str, str]:
    return {"name": name, "type": kind, "shape": shape, "init": init}


def _made(work: Work, turn: int, **kinds: Any) -> dict[str, Values]:
    family = f"{recipes.WORD} {recipes.NEARLY_ALIKE + turn}"
    found = Contents(work).of(Combination(work.cases[0].values, family, 1))
    return {name: found[name].view(kind).astype(float) for name, kind in kinds.items()}


def test_counts_are_nearly_what_was_expected_in_every_row() -> None:
    work = _work(
        _array("seen", "randint:0:8", "rows*bins", "const int*"),
        _array("expected", "uniform:0:6", "bins"),
        _array("key", "randint:0:9", "rows", "const int*"),
        OUT,
        rows=40,
        bins=30,
    )
    assert nearly_alike.usable(work, work.cases[0].values)
    near = flat = even = above = wide = 0
    for turn in range(60):
        made = _made(work, turn, seen=np.int32, expected=np.float32)
        seen, expected = made["seen"].reshape(40, 30), made["expected"]
        assert seen.min() >= 0
        assert seen.max() <= 7
        assert np.isfinite(expected).all()
        off = np.abs(expected - seen) / np.maximum(seen, 1e-30)
        close = bool((off[seen > 0] < 0.6).all())
        assert close
        near += int(seen.max() > 0 and float(off[seen > 0].max()) < 1e-2)
        flat += len(np.unique(seen)) == 1
        wide += len(np.unique(seen)) > 4
        some = seen > 0
        if some.any():
            part = (expected / np.maximum(seen, 1) - 1)[some]
            even += bool(np.ptp(part) < 1e-6 and np.abs(part).max() > 2e-6)
            above += bool((part >= 0).all() and np.ptp(part) > 1e-6)
    assert near > 15
    assert min(flat, even, above, wide) > 3


@pytest.mark.parametrize("init", ["normal", "uniform"])
def test_of_two_arrays_of_floats_one_is_the_other_but_for_a_small_part(init: str) -> None:
    work = _work(_array("x", init, "rows*n"), _array("y", init, "rows*n"), OUT, rows=20, n=30)
    apart: list[float] = []
    opposite = multiples = 0
    for turn in range(60):
        made = _made(work, turn, x=np.float32, y=np.float32)
        x, y = made["x"], made["y"]
        if init == "uniform":
            assert min(x.min(), y.min()) >= 0
            assert max(x.max(), y.max()) < 1
        ratio = y / np.where(x == 0, 1.0, x)
        times = float(np.median(ratio))
        part = float(np.median(np.abs(ratio / times - 1)))
        assert part < 0.6
        apart.append(part)
        opposite += times < 0
        multiples += abs(abs(times) - 1) > 0.4
    assert min(apart) < 1e-6 < max(apart)
    assert max(apart) > 1e-2
    assert multiples > 4
    assert opposite > 4 or init == "uniform"


def test_whole_numbers_alone_and_arrays_of_other_shapes_are_left_as_they_are() -> None:
    whole = _work(
        _array("a", "randint:0:9", "rows", "const int*"),
        _array("b", "randint:0:9", "rows", "const int*"),
        OUT,
        rows=20,
    )
    other = _work(_array("x", "normal", "rows*n"), _array("y", "normal", "rows"), OUT, rows=20, n=7)
    for work in (whole, other):
        assert not nearly_alike.usable(work, work.cases[0].values)
        plain = Contents(work).of(Combination(work.cases[0].values, "declared", 1))
        family = f"{recipes.WORD} {recipes.NEARLY_ALIKE}"
        made = Contents(work).of(Combination(work.cases[0].values, family, 1))
        assert all(np.array_equal(made[name], plain[name]) for name in plain)
