"""The control groups of one command: made for it, and removed behind it.

Stdlib only, and no pathlib: `runners.launcher` forks for each command. Manual page: cgroups(7).
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import select
import time
from typing import Any

from runners.keeper_files import open_folder, read

# Of a control group; one of that age that no keeper has locked belongs to none.
GROUP_NAME, ABANDONED_SECONDS = "optiml-run-", 60.0


class Groups:
    """Control groups of one command: version 1 has one a controller, version 2 one for all."""

    def __init__(self, asked: list[dict[str, Any]]) -> None:
        self._asked = asked
        # A pid alone comes again: a keeper that was killed leaves its groups behind, and launchers
        # of two pid namespaces may make theirs in one folder.
        self._name = f"{GROUP_NAME}{os.getpid()}-{os.urandom(8).hex()}"
        self._made: list[tuple[int, int]] = []
        self._doors: list[int] = []

    def make(self) -> None:
        """Make them with their limits. What is refused is an error: limits were promised."""
        for group in self._asked:
            # By descriptor, since this process will see another file system soon.
            parent = os.open(group["parent"], os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            _remove_abandoned(parent)
            os.mkdir(self._name, dir_fd=parent)
            folder = open_folder(self._name, parent)
            self._made.append((parent, folder))
            fcntl.flock(folder, fcntl.LOCK_SH)  # it has a keeper
            for name, value in group["values"]:
                try:
                    file = os.open(name, os.O_WRONLY | os.O_CLOEXEC, dir_fd=folder)
                    with os.fdopen(file, "w") as opened:
                        opened.write(str(value))
                except OSError:
                    if "swap" not in name and "memsw" not in name:
                        raise
            door = os.open("cgroup.procs", os.O_WRONLY | os.O_CLOEXEC, dir_fd=folder)
            self._doors.append(door)

    def enter(self) -> None:
        """Put this process, and so all it forks, into them."""
        for door in self._doors:
            os.write(door, b"0")
            os.close(door)

    def exceeded(self) -> str:
        """Name the limit that was passed, if one was."""
        for _, folder in self._made:
            for file, key, limit in (
                ("memory.events", "oom_kill", "memory"),
                ("memory.oom_control", "oom_kill", "memory"),
                ("pids.events", "max", "processes"),
            ):
                with contextlib.suppress(OSError, ValueError):
                    words = read(file, folder).split()
                    if int(dict(zip(words[::2], words[1::2], strict=False)).get(key, "0")):
                        return limit
        return ""

    def remove(self) -> None:
        """Remove them; processes that are still ending hold them for a moment."""
        for parent, _ in self._made:
            for _ in range(200):
                try:
                    os.rmdir(self._name, dir_fd=parent)
                    break
                except FileNotFoundError:
                    break
                except OSError:
                    select.select([], [], [], 0.01)


def _remove_abandoned(parent: int) -> None:
    """Remove groups whose keeper was killed: old ones that nobody has locked and nothing runs in.

    Removed by name, which no other group ever gets.
    """
    for name in os.listdir(parent):
        if not name.startswith(GROUP_NAME):
            continue
        with contextlib.suppress(OSError):
            folder = open_folder(name, parent)
            try:
                if time.time() - os.fstat(folder).st_mtime > ABANDONED_SECONDS:
                    fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    os.rmdir(name, dir_fd=parent)
            finally:
                os.close(folder)
