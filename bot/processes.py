"""Processes that outlive us: known again by number and start, ended with all they started."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

_PROC = Path("/proc")
_GRACE_SECONDS = 8.0


@dataclass(frozen=True, slots=True)
class Process:
    """A process by its number and its start in clock ticks since boot: numbers come again."""

    pid: int
    started: int


def of(pid: int) -> Process | None:
    """Return a process that exists, None when there is none with this number."""
    seen = _stat(pid)
    return None if seen is None else Process(pid, seen[2])


def runs(process: Process) -> bool:
    """Tell whether a process still runs; one that ended and was not collected does not."""
    seen = _stat(process.pid)
    return seen is not None and seen[2] == process.started and seen[0] not in {"Z", "X"}


def end(
    process: Process, still_runs: Callable[[], bool], grace_seconds: float = _GRACE_SECONDS
) -> None:
    """End a process that leads a group, and all it started, first by asking, then by force."""
    if not still_runs():
        return
    family = _descendants(process)
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGTERM)
    until = time.monotonic() + grace_seconds
    while still_runs() and time.monotonic() < until:
        time.sleep(0.02)
    if still_runs():
        family += _descendants(process)
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    for one in family:  # those that left the group
        if runs(one):
            with suppress(ProcessLookupError):
                os.kill(one.pid, signal.SIGKILL)
    while still_runs():
        time.sleep(0.02)


def end_those_in(folder: Path) -> None:
    """End by force what works in a folder: started by somebody who fell over before noting it."""
    for entry in _PROC.iterdir():
        if not entry.name.isdecimal() or int(entry.name) == os.getpid():
            continue
        try:
            place = Path((entry / "cwd").readlink())
        except OSError:
            continue  # it ended, or is somebody else's
        if place == folder or folder in place.parents:
            with suppress(ProcessLookupError):
                os.kill(int(entry.name), signal.SIGKILL)


def _descendants(process: Process) -> list[Process]:
    """Return all processes below one, from the table of who started whom."""
    children: dict[int, list[Process]] = {}
    for entry in _PROC.iterdir():
        if entry.name.isdecimal():
            seen = _stat(int(entry.name))
            if seen is not None:
                children.setdefault(seen[1], []).append(Process(int(entry.name), seen[2]))
    found: list[Process] = []
    waiting = [process.pid]
    while waiting:
        here = children.get(waiting.pop(), [])
        found += here
        waiting += [one.pid for one in here]
    return found


def _stat(pid: int) -> tuple[str, int, int] | None:
    """Return state, parent and start of a process (proc_pid_stat(5), fields 3, 4 and 22)."""
    try:
        text = (_PROC / str(pid) / "stat").read_text(encoding="utf-8", errors="replace")
        fields = text.rpartition(")")[2].split()  # the name before may hold anything
        return fields[0], int(fields[1]), int(fields[19])
    except (OSError, IndexError, ValueError):
        return None
