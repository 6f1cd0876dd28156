"""Near the ends of what a kernel is for, not every result of the original is held against others."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from runners import spec
from runners.contents import Combination, Contents
from runners.digest import Digest
from runners.families import DECLARED, VAST
from runners.gathered import Gathered
from runners.picked import picked
from runners.run import Damage, Run
from runners.spec import BaselineFailure

Floats = npt.NDArray[np.float64]
ROWS, COLUMNS = 8, 64


def test_what_was_chosen_is_told_from_what_was_computed() -> None:
    given = np.array([-5e30, 4e30, 7e30])
    assert picked(np.array([7e30, -5e30]), given, None)
    # Weights of a softmax, and of nothing minus infinity: as double precision has them.
    assert picked(np.array([0.0, 1.0, -np.inf]), given, np.array([0.0, 1.0, -np.inf]))
    assert not picked(np.array([0.0, 1.0]), given, None)
    # A layer norm whose variance overflowed; a distance; what the original begins at; nothing.
    assert not picked(np.array([0.0, 0.0]), given, np.array([-1.2, 0.7]))
    assert not picked(np.array([np.inf]), given, np.array([4e61]))
    assert not picked(np.array([-1e30]), given, np.array([-1e30]))
    assert not picked(np.array([]), given, None)


def _digested(
    folder: Path, original: Callable[[Floats], Floats], moved: Mapping[str, float] | None = None
) -> str:
    """Return what a digest says of runs that gave `original` of each row; raises as it does."""
    arguments = [
        {"name": "x", "type": "const float*", "shape": "rows*cols", "init": "normal"},
        {"name": "y", "type": "float*", "shape": "rows", "role": "output"},
    ]
    case = {"rows": float(ROWS), "cols": float(COLUMNS)}
    kernel = {"name": "k", "source": "", "path": "", "launch": None}
    workload = {
        "name": "k",
        "kind": "kernel",
        "symbol": "k",
        "arguments": arguments,
        "cases": [{"values": case}],
        "root": "",
        "launch": {"grid": ["rows"], "block": ["32"]},
    }
    work = spec.parse({"kernel": kernel, "baseline": kernel, "workload": workload}).work
    contents = Contents(work)
    combination = Combination(moved or case, DECLARED if moved else VAST, 1)
    x = contents.of(combination)["x"].view(np.float32).astype(np.float64).reshape(ROWS, COLUMNS)
    with np.errstate(all="ignore"):
        wide = original(x)
        narrow = original(x.astype(np.float32)).astype(np.float32)
    runs = [Run({"y": narrow.view(np.uint8)}, Damage(), 0.0, seed) for seed in range(4)]
    gathered = Gathered(
        combination, runs, Run({"y": wide.view(np.uint8)}, Damage(), 0.0, 0), [], 0.1
    )
    return str(Digest(work, folder, contents, None).digest(gathered)["status"])


def test_a_largest_of_vast_numbers_is_asked_for(tmp_path: Path) -> None:
    assert _digested(tmp_path, lambda x: x.max(axis=1)) == "ok"


@pytest.mark.parametrize(
    "computed",
    [
        lambda x: np.sqrt((x * x).sum(axis=1)),  # overflows in floats alone
        lambda x: x.sum(axis=1) / COLUMNS,
        lambda x: np.maximum(x.max(axis=1), x.dtype.type(-1e30)),  # begins at a number itself
        lambda x: x[:, 0] / np.sqrt((x * x).sum(axis=1)),
    ],
)
def test_vast_numbers_are_not_computed_with(
    tmp_path: Path, computed: Callable[[Floats], Floats]
) -> None:
    """Other ways to the same result, as good as these, overflow elsewhere."""
    with pytest.raises(BaselineFailure):
        _digested(tmp_path, computed)


def test_a_zero_that_is_divided_by_is_no_value_for_a_scalar(tmp_path: Path) -> None:
    zero = {"rows": float(ROWS), "cols": float(COLUMNS), spec.MOVED: float(spec.NONE)}
    assert _digested(tmp_path, lambda x: x[:, 0] * x.dtype.type(0), zero) == "ok"
    with pytest.raises(BaselineFailure):
        _digested(tmp_path, lambda x: x[:, 0] / x.dtype.type(0), zero)
