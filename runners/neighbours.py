"""Does somebody else compute on this GPU? Then nothing is timed on it."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from optimizer.errors import RunnerError

REMEDY = "wait for it or stop it, or choose another GPU with --device"


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A process that holds a compute context on the GPU, as the driver names it."""

    pid: int
    name: str
    memory_mib: int


def neighbours(device: str, command: str = "nvidia-smi") -> tuple[Neighbour, ...]:
    """Return the compute processes on a GPU (index or UUID) that are neither ours nor our child's.

    Empty where the driver does not tell, as in containers, which see their own processes only.
    """
    fields = "--query-compute-apps=pid,process_name,used_memory"
    try:
        printed = subprocess.run(
            [command, "-i", device, fields, "--format=csv,noheader,nounits"],
            capture_output=True, text=True, timeout=30, check=True, errors="replace",
        ).stdout  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return ()
    found = []
    for line in printed.splitlines():
        cells = [cell.strip() for cell in line.split(",")]
        if len(cells) < 3 or not cells[0].isdigit():
            continue
        pid = int(cells[0])
        # A process without a place in /proc is not of this pid namespace: it may be our own,
        # seen from outside. Another optiml is kept away by the lock.
        if Path(f"/proc/{pid}").exists() and not descends(pid, os.getpid()):
            memory = int(cells[-1]) if cells[-1].isdigit() else 0
            found.append(Neighbour(pid, ",".join(cells[1:-1]), memory))
    return tuple(found)


def descends(pid: int, from_: int) -> bool:
    """Tell whether a process is another one or comes from it."""
    seen: set[int] = set()
    while pid > 1 and pid not in seen:
        if pid == from_:
            return True
        seen.add(pid)
        try:
            text = Path(f"/proc/{pid}/stat").read_text()
            pid = int(text.rpartition(")")[2].split()[1])
        except (OSError, ValueError, IndexError):
            return False
    return False


def require_alone(
    index: int, device: str, look: Callable[[str], Sequence[Neighbour]] = neighbours
) -> None:
    """Raise `RunnerError` when another process computes on the GPU."""
    others = look(device)
    if others:
        shown = ", ".join(f"{one.name or 'a process'} (pid {one.pid})" for one in others[:3])
        more = f" and {len(others) - 3} more" if len(others) > 3 else ""
        raise RunnerError(
            f"GPU {index} is in use by {shown}{more}: times taken beside it mean nothing", REMEDY
        )
