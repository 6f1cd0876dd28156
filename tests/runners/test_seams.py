"""Stretches that end where words and tiles do."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from runners import recipes, seams
from runners.contents import Combination, Contents
from runners.spec import Work
from tests.runners.test_inputs import _work

Rows = npt.NDArray[Any]
OUT = {"name": "out", "type": "int*", "shape": "rows", "role": "output"}


def _array(name: str, init: str, shape: str, kind: str) -> dict[str, str]:
    return {"name": name, "type": kind, "shape": shape, "init": init}


def _cells() -> Work:
    return _work(
        _array("cells", "randint:0:2", "rows*w", "const uint8_t*"),
        _array("clues", "randint:0:12", "rows*7", "const uint8_t*"),
        _array("x", "normal", "rows*w", "const float*"),
        _array("share", "uniform", "rows", "const float*"),
        OUT,
        rows=33,
        w=300,
    )


def _made(turn: int, **case: float) -> dict[str, Rows]:
    work = _cells()
    given = {**work.cases[0].values, **case}
    made = Contents(work).of(Combination(given, f"{recipes.WORD} {recipes.SEAMS + turn}", 1))
    kinds: dict[str, Any] = {"x": np.float32, "share": np.float32}
    rows = int(given["rows"])
    return {
        name: data.view(kinds.get(name, np.uint8)).reshape(rows, -1) for name, data in made.items()
    }


def _edges(rows: Rows, stretch: int) -> bool:
    """Tell whether all changes within rows are at the ends of stretches, or one place from them."""
    at = np.nonzero(rows[:, 1:] != rows[:, :-1])[1] + 1
    last = rows.shape[1] - 1
    return bool(np.isin(at % stretch, (0, 1, stretch - 1))[at < last].all())


def test_runs_begin_and_end_where_words_do() -> None:
    met = small = between = signs = 0
    for turn in range(120):
        made = _made(turn)
        cells, clues, x = made["cells"], made["clues"], made["x"]
        assert cells.max() <= 1
        assert clues.max() <= 11
        assert np.isfinite(x).all()
        assert made["share"].min() >= 0
        assert made["share"].max() < 1
        if not any(_edges(cells, stretch) for stretch in (8, 16, 32, 64, 128)):
            continue
        met += 1
        few = {*np.unique(clues).tolist()}
        small += few in ({0}, {0, 1}, {1}, {1, 2}, {0, 1, 2}, {1, 2, 3})
        # The last place of a word, nothing in the next, and the first place of the one behind.
        between += any(
            bool(row[63] and not row[64:128].any() and row[128])
            for row in cells
            if not row[:63].any()
        )
        signs += bool((x == 0).any()) and {-1.0, 1.0} >= {*np.unique(x[x != 0]).tolist()}
    assert met > 50
    assert small > 20
    assert between > 0
    assert signs > 0


def test_short_rows_are_left_alone_and_long_ones_have_two_stretches() -> None:
    work = _cells()
    assert seams.usable(work, {"rows": 33.0, "w": 9.0})
    assert not seams.usable(work, {"rows": 8.0, "w": 8.0})
    for turn in range(60):
        made = _made(turn, rows=8.0, w=8.0)
        assert made["cells"].shape == (8, 8)
    for turn in range(60):
        cells = _made(turn, w=20.0)["cells"]
        assert cells.shape == (33, 20)


def test_there_are_cases_whose_rows_are_several_stretches_long() -> None:
    cases = seams.cases(_cells())
    assert {int(case["w"]) for case in cases if case["rows"] == 33} == {*seams.LENGTHS}
    # What has no rows is as long itself.
    assert {int(case["rows"]) for case in cases if case["w"] == 33} == {129, 193, 300, 520}
    # Rows of seven are no longer, and of what is as long as it may be there are none.
    short = _work(_array("cells", "randint:0:2", "rows*w", "const uint8_t*"), OUT, rows=33, w=9)
    assert {int(case["w"]) for case in seams.cases(short)} == {129}
