"""Captured contents are varied where that leads nowhere else, and are left alone where it might."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from runners import captured, families, inputs, variation
from runners.capture.chunks import Chunks
from runners.captured import Place
from runners.oracle import combinations
from runners.spec import Work, parse

CASE = {"n": 256.0, "launch": 0.0}


def _work(root: Path, **arrays: tuple[str, np.ndarray[Any, Any], str]) -> Work:
    """Return a captured workload of arrays, each a type, contents and a role."""
    folder = root / "cap"
    folder.mkdir()
    chunks = Chunks(folder)
    told, arguments = [], []
    for number, (name, (kind, data, role)) in enumerate(arrays.items()):
        raw = data.view(np.uint8).reshape(-1)
        told.append({"is": "pointer", "size": len(raw), "before": chunks.put(raw), "after": None})
        init = Place("cap", 0, number).init
        arguments.append({"name": name, "type": kind, "shape": "n", "init": init, "role": role})
    document = {"kernels": [{"launches": [{"arguments": told}]}]}
    (folder / captured.FILE).write_text(json.dumps(document))
    arguments.append({"name": "n", "type": "int", "value": "n"})
    kernel = {"name": "k", "source": "", "path": ""}
    workload = {
        "name": "k",
        "kind": "kernel",
        "arguments": arguments,
        "cases": [{"values": CASE}],
        "launch": {"grid": ["n"], "block": ["1"]},
        "root": str(root),
    }
    return parse({"kernel": kernel, "baseline": kernel, "workload": workload}).work


ROWS = np.sort(np.random.default_rng(1).integers(0, 999, 256)).astype(np.int32)
REALS = np.random.default_rng(2).standard_normal(256).astype(np.float32)
SHARES = np.abs(REALS) / 9
LEVELS = np.random.default_rng(3).integers(0, 200, 256).astype(np.uint8)


@pytest.mark.parametrize("family", [*families.EVERY, families.SHUFFLED, families.STARTED])
def test_whole_numbers_that_may_be_indices_stay_as_they_were(tmp_path: Path, family: str) -> None:
    work = _work(
        tmp_path,
        rows=("const int*", ROWS, "input"),
        sums=("int*", ROWS, "inout"),
        x=("const float*", REALS, "input"),
    )
    base = inputs.generate(work, CASE, 1)
    found = variation.apply(family, work, base, 1)
    assert np.array_equal(found["rows"].view(np.int32), ROWS)
    assert np.array_equal(found["sums"].view(np.int32), ROWS)
    if family not in {families.DECLARED, families.STARTED}:
        assert not np.array_equal(found["x"], base["x"])


@pytest.mark.parametrize("family", families.EVERY)
def test_what_is_nowhere_below_zero_stays_so(tmp_path: Path, family: str) -> None:
    work = _work(tmp_path, x=("const float*", SHARES, "input"))
    found = variation.apply(family, work, inputs.generate(work, CASE, 1), 1)["x"].view(np.float32)
    assert not (found < 0).any()


def test_another_order_holds_the_same_values(tmp_path: Path) -> None:
    work = _work(
        tmp_path,
        x=("const float*", REALS, "input"),
        levels=("const unsigned char*", LEVELS, "input"),
    )
    base = inputs.generate(work, CASE, 1)
    found = variation.apply(families.SHUFFLED, work, base, 1)
    for name in base:
        assert not np.array_equal(found[name], base[name])
    assert np.array_equal(np.sort(found["x"].view(np.float32)), np.sort(REALS))
    assert np.array_equal(np.sort(found["levels"]), np.sort(LEVELS))


def test_bytes_keep_to_the_values_they_have(tmp_path: Path) -> None:
    work = _work(tmp_path, levels=("const unsigned char*", LEVELS, "input"))
    base = inputs.generate(work, CASE, 1)
    for family in families.EVERY:
        found = variation.apply(family, work, base, 1)["levels"]
        assert np.isin(found, LEVELS).all()


def test_what_is_checked_depends_on_what_may_be_varied(tmp_path: Path) -> None:
    (tmp_path / "free").mkdir()
    (tmp_path / "fixed").mkdir()
    free = _work(
        tmp_path / "free", x=("const float*", REALS, "input"), y=("float*", REALS, "output")
    )
    fixed = _work(
        tmp_path / "fixed", rows=("const int*", ROWS, "input"), y=("float*", REALS, "output")
    )
    kinds = {c.family for c in combinations(free, "confirm", 1)[1]}
    assert kinds >= {*families.EVERY, families.SHUFFLED} - {families.DECLARED}
    assert {c.family for c in combinations(fixed, "confirm", 1)[1]} <= {families.DECLARED}


def test_contents_read_and_written_begin_otherwise_in_one_family(tmp_path: Path) -> None:
    """Else a candidate that does nothing is right where the launch changed nothing."""
    work = _work(tmp_path, y=("float*", REALS, "inout"))
    assert families.started(work)
    base = inputs.generate(work, CASE, 1)
    assert not np.array_equal(variation.apply(families.STARTED, work, base, 1)["y"], base["y"])


def test_only_sizes_of_arrays_are_tried_at_other_values(tmp_path: Path) -> None:
    work = _work(tmp_path, x=("const float*", REALS, "input"))
    assert work.variables == {"n"}
    assert {c.case["launch"] for c in combinations(work, "confirm", 1)[1]} == {0.0}
