"""Reports are written where strangers' code runs: nothing in one may do more than be refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from runners import program_report

GOOD: dict[str, Any] = {
    "version": 1,
    "ended": "return",
    "broken": False,
    "wall_us": 10.5,
    "launches": 1,
    "copies": 1,
    "unrecorded": 0,
    "peak_bytes": 64,
    "input_hash": "00",
    "replay_off": "",
    "notes": [],
    "guards": [],
    "failures": [{"api": "cudaFree", "code": 700, "name": "x", "kernel": "k"}],
    "kernels": [
        {
            "symbol": "_Z1kPf",
            "name": "k",
            "count": 1,
            "timed": 1,
            "total_us": 5,
            "first_us": 5,
            "geometry": [
                {"grid": [1, 1, 1], "block": [32, 1, 1], "shared": 0, "count": 1, "total_us": 5}
            ],
            "replays": [{"ordinal": 0, "in_situ_us": 5, "samples_us": [4.5, 4.6]}],
        }
    ],
    "other": {"memset": {"count": 1, "bytes": 4, "us": 1.5}},
    "allocations": [{"bytes": 64, "kind": "device", "types": ["float"]}],
    "records": [
        {
            "kind": "copy",
            "allocation": 0,
            "offset": 0,
            "bytes": 4,
            "hash": "aa",
            "at": 0,
            "length": 4,
            "sampled": False,
        }
    ],
}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=8,
)


def parsed(**changes: Any) -> program_report.Report:
    return program_report.parse(json.dumps(GOOD | changes).encode())


def test_a_report_becomes_values() -> None:
    report = parsed()
    assert report.kernels[0].replays[0].samples_us == (4.5, 4.6)
    assert report.other_us == {"memset": 1.5}
    assert report.types(report.records[0]) == frozenset({"float"})


@given(st.sampled_from(sorted(GOOD)), JSON)
def test_any_other_value_in_any_place_is_refused_or_harmless(key: str, value: object) -> None:
    try:
        report = parsed(**{key: value})
    except ValueError:
        return
    assert report.launches >= 0
    assert all(np.isfinite(k.total_us) and k.total_us >= 0 for k in report.kernels)
    assert all(isinstance(note, str) for note in report.notes)


@given(st.binary(max_size=200))
def test_bytes_that_are_no_report_are_refused(text: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        program_report.parse(text)


@pytest.mark.parametrize("value", ["NaN", "Infinity", "-1", '"5"', "true", "1e999", "9" * 400])
def test_a_time_that_is_no_time_is_refused(value: str) -> None:
    text = json.dumps(GOOD).replace('"wall_us": 10.5', f'"wall_us": {value}')
    with pytest.raises(ValueError, match="number"):
        program_report.parse(text.encode())


def test_a_deeply_nested_report_is_refused() -> None:
    with pytest.raises(ValueError, match="JSON"):
        program_report.parse(b"[" * 100_000)


def test_a_report_of_many_records_is_refused() -> None:
    with pytest.raises(ValueError, match="too long"):
        parsed(records=GOOD["records"] * 30_000)


def test_bytes_outside_the_data_file_are_not_read() -> None:
    record = parsed().records[0]
    assert program_report.held(record, np.zeros(2, np.uint8)) is None
    held = program_report.held(record, np.arange(8, dtype=np.uint8))
    assert held is not None
    assert held.tolist() == [0, 1, 2, 3]


def test_a_record_of_no_allocation_has_no_types() -> None:
    record = parsed(records=[GOOD["records"][0] | {"allocation": 999}]).records[0]
    assert parsed().types(record) == frozenset()


def test_a_data_file_that_is_a_link_is_not_followed(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_bytes(b"1234")
    (tmp_path / "report.data").symlink_to(secret)
    assert program_report.data(tmp_path / "report.data").size == 0
