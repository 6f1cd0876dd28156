"""Nsight Systems' timeline: what is read of an export, and that its failures harm nothing."""

from __future__ import annotations

import sqlite3
import stat
import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from optimizer import timeline
from runners import nsys
from runners.nsys import Activity, Timeline, activities, counters
from runners.profiler import NcuProfiler, profile_jobs, run_in_group

# The columns of the export's documented schema that are read, among others that are there.
SCHEMA = """
CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER NOT NULL, end INTEGER NOT NULL,
  deviceId INTEGER, streamId INTEGER, correlationId INTEGER, demangledName INTEGER,
  shortName INTEGER NOT NULL, gridX INTEGER);
"""
COPIES = """
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER NOT NULL, end INTEGER NOT NULL,
  bytes INTEGER, copyKind INTEGER);
"""


def export(path: Path, *, copies: bool = True) -> Path:
    """Write an export as nsys does: 4 launches of `step`, 1 µs each, 1 µs apart; one of `sum`."""
    with closing(sqlite3.connect(path)) as base:
        base.executescript(SCHEMA + (COPIES if copies else ""))
        base.executemany(
            "INSERT INTO StringIds VALUES (?, ?)",
            [(1, "step"), (2, "void lib::sum<float>(float*)"), (3, "step(float*)")],
        )
        rows = [(2000 * i, 2000 * i + 1000, 0, 7, i, 3, 1, 1) for i in range(4)]
        rows.append((10_000, 12_000, 0, 7, 9, 2, 2, 1))
        base.executemany("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (?,?,?,?,?,?,?,?)", rows)
        if copies:
            base.execute("INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (7000, 9000, 64, 2)")
        base.commit()
    return path


def test_launches_gaps_and_copies_are_counted_for_the_kernel_behind_them(tmp_path: Path) -> None:
    found = counters(activities(export(tmp_path / "report.sqlite")))
    assert found[f"step/{timeline.LAUNCHES}"] == 4
    assert found[f"step/{timeline.TIME_NS}"] == 1000
    assert found[f"step/{timeline.GAP_PCT}"] == pytest.approx(100 * 3000 / 12_000)
    assert found[f"step/{timeline.GAP_NS}"] == 750
    assert found[f"sum/{timeline.COPY_PCT}"] == pytest.approx(100 * 2000 / 12_000)
    assert found[f"sum/{timeline.GAP_PCT}"] == pytest.approx(100 * 1000 / 12_000)


def test_a_program_without_copies_has_no_table_of_them(tmp_path: Path) -> None:
    found = counters(activities(export(tmp_path / "report.sqlite", copies=False)))
    assert found[f"sum/{timeline.COPY_PCT}"] == 0
    assert found[f"sum/{timeline.GAP_PCT}"] == pytest.approx(100 * 3000 / 12_000)


def test_kernels_side_by_side_leave_no_gap() -> None:
    found = counters([Activity(0, 100, "a"), Activity(50, 80, "b"), Activity(90, 200, "a")])
    assert found[f"a/{timeline.GAP_PCT}"] == found[f"b/{timeline.GAP_PCT}"] == 0


@given(
    st.lists(st.tuples(st.integers(0, 1000), st.integers(0, 1000), st.sampled_from(["a", "b", ""])))
)
def test_shares_are_shares_whatever_the_gpu_did(spans: list[tuple[int, int, str]]) -> None:
    done = sorted(
        (Activity(begin, begin + length, name) for begin, length, name in spans),
        key=lambda one: one.start,
    )
    found = counters(done)
    shares = [value for name, value in found.items() if name.endswith(".pct")]
    assert all(0 <= share <= 100.000001 for share in shares)
    assert sum(shares) <= 100.000001


@pytest.mark.parametrize("content", [b"", b"no database", b"SQLite format 3\0" + b"\0" * 200])
def test_a_file_that_is_no_export_gives_nothing(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "report.sqlite").write_bytes(content)
    assert activities(tmp_path / "report.sqlite") == []


def fake_nsys(folder: Path, body: str) -> str:
    """Write an nsys that runs what it is given, then does what `body` says with `out`."""
    place = folder / "nsight/bin"
    place.mkdir(parents=True)
    tool = place / "nsys"
    tool.write_text(
        f"#!{sys.executable}\nimport shutil, subprocess, sys\n"
        "out = next(a for a in sys.argv if a.startswith('--output=')).partition('=')[2]\n"
        "at = max(i for i, a in enumerate(sys.argv) if a == 'env')\n"
        "assert '--trace=cuda' in sys.argv and '--export=sqlite' in sys.argv\n"
        f"subprocess.run(sys.argv[at:], check=False)\n{body}\n"
    )
    tool.chmod(tool.stat().st_mode | stat.S_IXUSR)
    return str(tool)


def test_a_program_is_run_under_nsys_and_its_export_read(tmp_path: Path) -> None:
    made = export(tmp_path / "made.sqlite")
    tool = fake_nsys(tmp_path, f"shutil.copy({str(made)!r}, out + '.sqlite')")
    mark = tmp_path / "ran"
    found = Timeline(run_in_group, tool).counters(["touch", str(mark)], cwd=str(tmp_path))
    assert mark.exists()
    assert found[f"step/{timeline.LAUNCHES}"] == 4


def test_an_nsys_that_fails_is_asked_once(tmp_path: Path) -> None:
    tool = fake_nsys(tmp_path, "sys.exit(1)")
    asked: list[Sequence[str]] = []

    def run(
        command: Sequence[str], folder: Path, seconds: float, readable: Sequence[str]
    ) -> tuple[int, str]:
        asked.append(command)
        return run_in_group(command, folder, seconds, readable)

    one = Timeline(run, tool)
    assert one.counters(["true"]) == {}
    assert one.counters(["true"]) == {}
    assert len(asked) == 1


def test_without_nsys_nothing_is_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nsys, "_PLACES", ())
    monkeypatch.setenv("PATH", "")

    def never(*_: object) -> tuple[int, str]:
        raise AssertionError

    assert Timeline(never).counters(["true"]) == {}


def test_the_timeline_stands_beside_the_counters_of_a_program(tmp_path: Path) -> None:
    made = export(tmp_path / "made.sqlite")
    profiler = NcuProfiler(path="")  # an ncu that cannot be started: the timeline comes by itself
    profiler.timeline.path = fake_nsys(tmp_path, f"shutil.copy({str(made)!r}, out + '.sqlite')")
    workload = {"kind": "program", "program": {"runs": [[]]}, "root": str(tmp_path)}
    request = {"job": {"workload": workload}, "candidate": {"path": "/bin/true"}}
    (profile,) = profile_jobs(profiler, [request])
    assert profile.counters[f"step/{timeline.LAUNCHES}"] == 4
    assert profile.note


def test_with_a_few_seconds_left_no_timeline_is_begun_and_nsys_is_not_given_up() -> None:
    asked: list[float] = []

    def noted(_: Sequence[str], __: Path, seconds: float, ___: Sequence[str]) -> tuple[int, str]:
        asked.append(seconds)
        return 0, ""

    one = Timeline(noted, "nsys")
    assert one.counters(["true"], most=4.0) == {}
    assert one.counters(["true"], most=9.0) == {}
    assert one.path == "nsys"
    assert one.counters(["true"]) == {}
    assert one.path is None
    assert asked == [9.0, one.seconds]
