"""Rows that come again, of numbers with the same last bits."""

from __future__ import annotations

import numpy as np

from runners import come_again, recipes
from runners.contents import Combination, Contents
from tests.runners.test_inputs import _work


def test_rows_come_again_behind_all_that_are_there_once_and_meet_in_few_places() -> None:
    work = _work(
        {"name": "fields", "type": "const int*", "shape": "n*d", "init": "randint:-5:40"},
        {"name": "x", "type": "const float*", "shape": "n", "init": "normal"},
        {"name": "first", "type": "int*", "shape": "n", "role": "output"},
        n=400,
        d=5,
    )
    assert come_again.usable(work)
    plain = Contents(work).of(Combination(work.cases[0].values, "declared", 1))
    again = few = full = shifted = 0
    for turn in range(80):
        family = f"{recipes.WORD} {recipes.COME_AGAIN + turn}"
        made = Contents(work).of(Combination(work.cases[0].values, family, 1))
        assert np.array_equal(made["x"], plain["x"])
        rows = made["fields"].view(np.int32).reshape(400, 5)
        assert rows.min() >= -5
        assert rows.max() <= 39
        shifted += int((rows - rows.min()).max() > 0 and len({*(rows % 8).ravel().tolist()}) == 1)
        if len(np.unique(rows, axis=0)) > 390:
            continue
        again += 1
        hashed = np.zeros(400, np.int64)
        for column in rows.T:
            hashed = (hashed * 5 + column) % 64
        places = len({*hashed.tolist()})
        few += places <= 8
        # More than 32 rows in one place of a table, and one of them once more behind these.
        seen: dict[int, list[bytes]] = {}
        for place, row in zip(hashed.tolist(), rows, strict=True):
            those = seen.setdefault(place, [])
            full += len(those) > 32 and row.tobytes() in those[32:]
            if row.tobytes() not in those:
                those.append(row.tobytes())
    assert again > 30
    assert few > 10
    assert full > 0
    assert shifted > 3


def test_without_whole_numbers_of_a_range_there_is_nothing_to_come_again() -> None:
    work = _work(
        {"name": "x", "type": "const float*", "shape": "n", "init": "normal"},
        {"name": "y", "type": "float*", "shape": "n", "role": "output"},
        n=40,
    )
    assert not come_again.usable(work)
