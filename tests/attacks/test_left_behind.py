"""What a command leaves for this process to read: links, pipes, and files that never end."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

import pytest

from runners import alignment, header_digest, program_report
from runners.nsys import Timeline, activities
from runners.profiler import NcuProfiler
from runners.program_run import Finished, Probe, Runner, execute

SECRET = "OPTIML_PLANTED_2096"
pytestmark = pytest.mark.timeout(60)

LEFT: dict[str, Callable[[Path, Path], object]] = {
    "a link": lambda path, host: path.symlink_to(host),
    "another name": lambda path, host: path.hardlink_to(host),
    "a pipe": lambda path, _: os.mkfifo(path),
    "a device": lambda path, _: path.symlink_to("/dev/zero"),
    "a file without end": lambda path, _: os.close(endless(path)),
}


def endless(path: Path) -> int:
    handle = os.open(path, os.O_CREAT | os.O_WRONLY, 0o600)
    os.truncate(handle, 1 << 42)
    return handle


@pytest.fixture
def host(tmp_path: Path) -> Path:
    path = tmp_path / "host"
    path.write_text(SECRET)
    return path


@pytest.mark.parametrize("name", LEFT)
def test_a_programs_report_and_data_are_files_of_its_own(
    tmp_path: Path, host: Path, name: str
) -> None:
    def leaves(
        _command: Sequence[str], _cwd: Path, _env: object, scratch: Path, _seconds: float
    ) -> Finished:
        for one in ("report.json", "report.json.data", "report.json.begun"):
            LEFT[name](scratch / one, host)
        return Finished(0, b"", b"")

    (tmp_path / "root").mkdir()
    run = Runner(Path("/lib.so"), tmp_path, tmp_path / "root", 0, (), leaves)
    ran = run.run(Path("/bin/true"), [], Probe(), 5)
    assert ran.report is None
    assert "cannot be read" in ran.trouble
    assert ran.stored.size == 0
    LEFT[name](tmp_path / "data", host)
    assert program_report.data(tmp_path / "data").size == 0
    assert host.read_text() == SECRET


def test_what_a_program_prints_is_not_what_its_files_lead_to(tmp_path: Path, host: Path) -> None:
    """They lie where it may write: it put a link there, and what that leads to was its output."""
    script = f"echo said; cd {tmp_path}/own; for f in stdout stderr; do ln -sf {host} $f; done"
    (tmp_path / "own").mkdir()
    done = execute(["/bin/sh", "-c", script], tmp_path, {}, tmp_path / "own", 5)
    assert done == Finished(0, b"said\n", b"")
    assert (tmp_path / "own" / "stdout").readlink() == host


@pytest.mark.parametrize("name", LEFT)
def test_a_page_of_counters_is_a_file_that_the_profiler_wrote(host: Path, name: str) -> None:
    host.write_text(f'"ID","{SECRET}"\n')

    def run(
        _command: Sequence[str], folder: Path, _seconds: float, _more: Sequence[str] = ()
    ) -> tuple[int, str]:
        LEFT[name](folder / "page.csv", host)
        LEFT[name](folder / "report.ncu-rep", host)
        return 0, ""

    profiler = NcuProfiler("/bin/ncu", run=run)
    text, _ = profiler.table(["/bin/true"], ["m"])
    assert text == ""
    assert not profiler.profile(["/bin/true"])


@pytest.mark.parametrize("name", LEFT)
def test_a_timeline_is_a_file_that_the_profiler_wrote(
    tmp_path: Path, host: Path, name: str
) -> None:
    host.unlink()
    with closing(sqlite3.connect(host)) as base:
        base.executescript(
            "CREATE TABLE StringIds (id, value); INSERT INTO StringIds VALUES (1, 'k');"
            "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, end, shortName);"
            "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1, 2, 1), (3, 4, 1);"
        )
    assert len(activities(host)) == 2
    before = host.read_bytes()

    def run(
        _command: Sequence[str], folder: Path, _seconds: float, _more: Sequence[str] = ()
    ) -> tuple[int, str]:
        LEFT[name](folder / "report.sqlite", host)
        return 0, ""

    assert Timeline(run, "/bin/nsys").counters(["/bin/true"]) == {}
    assert host.read_bytes() == before


SCHEMAS = {
    "a view that counts for ever": (
        "CREATE TABLE StringIds (id, value); INSERT INTO StringIds VALUES (1, 'k');"
        "CREATE VIEW CUPTI_ACTIVITY_KIND_KERNEL AS WITH RECURSIVE c(n) AS"
        " (SELECT 1 UNION ALL SELECT n + 1 FROM c)"
        " SELECT n AS start, n AS end, 1 AS shortName FROM c;"
    ),
    "a product of tables": (
        "CREATE TABLE t (x); INSERT INTO t WITH RECURSIVE c(n) AS"
        " (SELECT 1 UNION ALL SELECT n + 1 FROM c LIMIT 3000) SELECT n FROM c;"
        "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, end, shortName);"
        "CREATE VIEW StringIds AS SELECT a.x AS id, 'k' AS value FROM t a, t b, t c, t d;"
    ),
    "rows that all mean each other": (
        "CREATE TABLE StringIds (id, value); CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL"
        " (start, end, shortName);"
        "INSERT INTO StringIds WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c"
        " LIMIT 40000) SELECT 1, 'k' FROM c;"
        "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL SELECT rowid, rowid, 1 FROM StringIds;"
    ),
    "columns that are worked out": (
        "CREATE TABLE StringIds (id, value); INSERT INTO StringIds VALUES (1, 'k');"
        "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, shortName,"
        " end AS (length(hex(zeroblob(400000000)))));"
        "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1, 1), (2, 1);"
    ),
    "names of megabytes": (
        "CREATE TABLE StringIds (id, value); INSERT INTO StringIds VALUES (1, zeroblob(9000000));"
        "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, end, shortName);"
        "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1, 1, 1), (2, 2, 1);"
    ),
}


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_timeline_that_a_program_made_up_costs_no_more_than_seconds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr("runners.nsys.READ_SECONDS", 1.0)
    with closing(sqlite3.connect(tmp_path / "made")) as base:
        base.executescript(SCHEMAS[name])
    begun = time.monotonic()
    assert activities(tmp_path / "made") == []
    assert time.monotonic() - begun < 5


@pytest.mark.parametrize("name", LEFT)
def test_a_log_and_outputs_of_moved_buffers_are_files_of_their_own(
    tmp_path: Path, host: Path, name: str
) -> None:
    host.write_text('{"who": "original"}\n')
    LEFT[name](tmp_path / "log", host)
    assert alignment.logged(tmp_path / "log") == []


@pytest.mark.skipif(not os.access("/proc/kmsg", os.R_OK), reason="no kernel log to wait for")
def test_a_header_that_is_the_kernels_is_not_waited_for(tmp_path: Path) -> None:
    begun = time.monotonic()
    for name in ("/proc/kmsg", "/sys/kernel/tracing/trace_pipe"):
        header_digest.header_digest(f'#include "{name}"\n', [tmp_path])
    assert time.monotonic() - begun < 5
    (tmp_path / "h.h").write_text("#define A 1\n")
    first = header_digest.header_digest('#include "h.h"\n', [tmp_path])
    (tmp_path / "h.h").write_text("#define A 2\n")
    assert first != header_digest.header_digest('#include "h.h"\n', [tmp_path])
