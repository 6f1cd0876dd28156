"""A timeline of a whole program by Nsight Systems: what lies between its kernels.

A help, not a condition: without nsys, or where it fails or is stuck, there are no such counters,
and it is not tried again by the same process. Times of kernels never come from here.
"""

from __future__ import annotations

import os
import re
import shutil
import sqlite3
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from optimizer import timeline
from runners import safe_files
from runners.ncu import plain_name
from runners.removal import TemporaryFolder

# Command, folder to run in and write to, seconds, further paths to read: exit status and output.
Run = Callable[[Sequence[str], Path, float, Sequence[str]], tuple[int, str]]

# Its start and export take about as long as a small program ten times over.
SECONDS = 30.0
LEAST_SECONDS = 5.0
MOST_BYTES = 256 << 20
MOST_ROWS = 500_000
MOST_NAME_BYTES = 1 << 16
READ_SECONDS = 10.0
_PLACES = ("/opt/nvidia/nsight-systems", "/usr/local/cuda")
_KERNELS = (
    'SELECT k.start, k."end", s.value FROM CUPTI_ACTIVITY_KIND_KERNEL k '
    "JOIN StringIds s ON s.id = k.shortName ORDER BY k.start LIMIT ?"
)
_COPIES = 'SELECT start, "end" FROM CUPTI_ACTIVITY_KIND_MEMCPY ORDER BY start LIMIT ?'
_SETS = 'SELECT start, "end" FROM CUPTI_ACTIVITY_KIND_MEMSET ORDER BY start LIMIT ?'


@dataclass(frozen=True, slots=True)
class Activity:
    """Something the GPU did from `start` to `end`, in ns; `kernel` is empty for a copy."""

    start: int
    end: int
    kernel: str = ""


@dataclass(slots=True)
class _Sum:
    launches: int = 0
    ns: int = 0
    gap: int = 0
    copies: int = 0


def find_nsys() -> str | None:
    """Return the path of nsys on this machine, the newest where several are installed."""
    on_path = shutil.which("nsys")
    if on_path:
        return on_path
    found = [p for place in _PLACES for p in Path(place).glob("*/bin/nsys") if p.is_file()]
    usable = [p for p in found if os.access(p, os.X_OK)]
    return str(max(usable, key=lambda p: re.findall(r"\d+", str(p)))) if usable else None


@dataclass(slots=True)
class Timeline:
    """Runs programs under nsys. `run` executes a command, in a sandbox for one not our own."""

    run: Run
    path: str | None = field(default_factory=find_nsys)
    seconds: float = SECONDS

    def counters(
        self,
        command: Sequence[str],
        *,
        cwd: str = ".",
        readable: Sequence[str] = (),
        most: float = SECONDS,
    ) -> Mapping[str, float]:
        """Return `KERNEL/nsys__…` counters of a program; empty where there are none to be had.

        It is not begun where fewer than a few of `most` seconds are left.
        """
        if self.path is None or most < LEAST_SECONDS:
            return {}
        limit = min(self.seconds, most)
        try:
            with TemporaryFolder(prefix="optiml-nsys-") as name:
                found = self._recorded(command, Path(name), cwd, readable, limit)
        except OSError:
            found = {}
        if not found and limit == self.seconds:
            self.path = None  # whatever was wrong is wrong the next time
        return found

    def _recorded(
        self,
        command: Sequence[str],
        folder: Path,
        cwd: str,
        readable: Sequence[str],
        limit: float,
    ) -> Mapping[str, float]:
        tool = str(self.path)
        line = ["env", f"HOME={folder}", f"TMPDIR={folder}", "LC_ALL=C", tool, "profile"]
        line += ["--trace=cuda", "--sample=none", "--cpuctxsw=none", "--export=sqlite"]
        line += ["--force-overwrite=true", f"--output={folder / 'report'}"]
        line += ["env", "-C", cwd, *command]
        home = str(Path(tool).resolve().parent.parent)
        self.run(line, folder, limit, [home, *readable])
        # The program's own status is nobody's business here, the export's presence is. It could
        # write beside it what SQLite takes for its journal, so it is read from elsewhere.
        with TemporaryFolder(prefix="optiml-nsys-", dir=folder.parent) as name:
            exported = Path(name) / "report.sqlite"
            safe_files.received(folder / "report.sqlite", exported, MOST_BYTES)
            return counters(activities(exported))


def activities(exported: Path) -> list[Activity]:
    """Return what the GPU did, in order, of an export; empty for a file that is none."""
    try:
        named = f"{exported.resolve().as_uri()}?mode=ro&immutable=1"
        with closing(sqlite3.connect(named, uri=True)) as base:
            _restrict(base)
            kernels = [
                Activity(int(start), int(end), plain_name(str(name)))
                for start, end, name in base.execute(_KERNELS, (MOST_ROWS,))
            ]
            return sorted(
                [*kernels, *_moves(base, _COPIES), *_moves(base, _SETS)], key=lambda one: one.start
            )
    except (sqlite3.Error, ValueError, TypeError):
        return []


def _restrict(base: sqlite3.Connection) -> None:
    """Have a file that a stranger's program may have made read as tables, and not for long.

    Its schema could have views that count for ever, and columns that are worked out.
    """
    base.execute("PRAGMA trusted_schema = OFF")
    base.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MOST_NAME_BYTES)
    end = time.monotonic() + READ_SECONDS
    base.set_progress_handler(lambda: time.monotonic() > end, 10_000)
    base.set_authorizer(_may)


def _may(
    action: int, _what: str | None, _column: str | None, _base: str | None, view: str | None
) -> int:
    plain = action in {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ} and view is None
    return sqlite3.SQLITE_OK if plain else sqlite3.SQLITE_DENY


def _moves(base: sqlite3.Connection, query: str) -> list[Activity]:
    """Return copies; their table is there only where there were some."""
    try:
        return [Activity(int(start), int(end)) for start, end in base.execute(query, (MOST_ROWS,))]
    except sqlite3.OperationalError:
        return []


def counters(done: Iterable[Activity]) -> dict[str, float]:
    """Return counters by kernel of what the GPU did, in the order it began.

    A gap is when nothing ran since the last activity ended; a copy counts for the kernel that comes
    behind it, as far as nothing else ran. Shares are of the time from the first kernel's start to
    the last one's end.
    """
    listed = list(done)
    kernels = [one for one in listed if one.kernel]
    if len(kernels) < 2:
        return {}
    begin, finish = kernels[0].start, max(one.end for one in kernels)
    whole = finish - begin
    found: dict[str, _Sum] = {}
    busy, gap, copies = begin, 0, 0
    for one in listed:
        if one.end <= begin or one.start > finish:
            continue
        gap += max(0, one.start - busy)
        end = min(one.end, finish)
        alone = max(0, end - max(one.start, busy))
        busy = max(busy, end)
        if not one.kernel:
            copies += alone
            continue
        total = found.setdefault(one.kernel, _Sum())
        total.launches += 1
        total.ns += one.end - one.start
        total.gap += gap
        total.copies += copies
        gap = copies = 0
    if whole <= 0:
        return {}
    return {
        f"{name}/{metric}": value
        for name, one in found.items()
        for metric, value in {
            timeline.LAUNCHES: float(one.launches),
            timeline.TIME_NS: one.ns / one.launches,
            timeline.GAP_NS: one.gap / one.launches,
            timeline.GAP_PCT: 100.0 * one.gap / whole,
            timeline.COPY_PCT: 100.0 * one.copies / whole,
        }.items()
    }
