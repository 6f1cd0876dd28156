"""Where this process may make control groups, version 1 or 2, to count memory and processes.

Stdlib only. Manual page: cgroups(7); documentation: Documentation/admin-guide/cgroup-v2.rst.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

_NEEDED = ("memory", "pids")


@dataclass(frozen=True, slots=True)
class ControlGroups:
    """Folders by controller below which a command's group is made; `reason` why there is none."""

    version: int = 0
    folders: Mapping[str, str] = field(default_factory=dict[str, str])
    reason: str = ""

    @property
    def name(self) -> str:
        """Return what a reader calls it."""
        return f"cgroup v{self.version}" if self.folders else ""

    def ask(self, memory_bytes: int, processes: int) -> list[dict[str, Any]]:
        """Return what the launcher is to make for one command, a group a folder."""
        values: dict[str, list[tuple[str, object]]] = {}
        for controller, folder in self.folders.items():
            if controller == "pids":
                chosen: list[tuple[str, object]] = [("pids.max", processes)]
            elif self.version == 1:
                chosen = [
                    ("memory.limit_in_bytes", memory_bytes),
                    ("memory.memsw.limit_in_bytes", memory_bytes),
                ]
            else:
                chosen = [("memory.max", memory_bytes), ("memory.swap.max", 0)]
            values.setdefault(folder, []).extend(chosen)
        return [{"parent": folder, "values": found} for folder, found in values.items()]


def find(proc: Path = Path("/proc/self"), root: Path = Path("/")) -> ControlGroups:
    """Look where groups can be made; nothing is left behind. `proc` and `root` are for tests."""
    try:
        mounts = _mounts((proc / "mountinfo").read_text())
        lines = (proc / "cgroup").read_text().splitlines()
    except OSError as error:
        return ControlGroups(reason=f"cgroups cannot be read: {error.strerror}")
    mine = {names: path for _, names, path in (line.split(":", 2) for line in lines)}
    one = _version_1(mounts, mine, root)
    if one:
        return ControlGroups(1, one)
    for _, (place, base) in ((n, m) for n, m in mounts.items() if n == ""):
        own = _under(root, place, base, mine.get("", "/"))
        for folder in (own, *_ancestors(own, root / place.lstrip("/"))):
            if _gives(folder):
                return ControlGroups(2, dict.fromkeys(_NEEDED, str(folder)))
        if _delegated(own):
            return ControlGroups(2, dict.fromkeys(_NEEDED, str(own)))
    if not mounts:
        return ControlGroups(reason="no cgroup file system is mounted")
    return ControlGroups(
        reason="no writable cgroup with memory and pids: start it under "
        "`systemd-run --scope -p Delegate=yes` (with --user where not root)"
    )


def _mounts(text: str) -> dict[str, tuple[str, str]]:
    """Return mount point and root by controller; version 2 is the empty name."""
    found: dict[str, tuple[str, str]] = {}
    for line in text.splitlines():
        before, _, after = line.partition(" - ")
        words, kind = before.split(), after.split()
        if len(words) < 5 or len(kind) < 3:
            continue
        if kind[0] == "cgroup2":
            found.setdefault("", (words[4], words[3]))
        elif kind[0] == "cgroup":
            for name in kind[2].split(","):
                if name in _NEEDED:
                    found.setdefault(name, (words[4], words[3]))
    return found


def _version_1(
    mounts: Mapping[str, tuple[str, str]], mine: Mapping[str, str], root: Path
) -> dict[str, str]:
    found = {}
    for controller in _NEEDED:
        path = next((p for names, p in mine.items() if controller in names.split(",")), None)
        if controller not in mounts or path is None:
            continue
        folder = _under(root, *mounts[controller], path)
        if os.access(folder, os.W_OK | os.X_OK):
            found[controller] = str(folder)
    return found


def _under(root: Path, place: str, base: str, path: str) -> Path:
    """Return the folder of a cgroup below its mount, whose root may be a cgroup itself."""
    inner = path[len(base) :] if base != "/" and path.startswith(base) else path
    return root / place.lstrip("/") / inner.lstrip("/")


def _ancestors(folder: Path, top: Path) -> Sequence[Path]:
    return [parent for parent in folder.parents if parent.is_relative_to(top)]


def _gives(folder: Path) -> bool:
    """Tell whether groups made in a folder get both controllers."""
    try:
        given = (folder / "cgroup.subtree_control").read_text().split()
    except OSError:
        return False
    return set(_NEEDED) <= set(given) and os.access(folder, os.W_OK | os.X_OK)


def _delegated(own: Path) -> bool:
    """Make a delegated cgroup give its controllers, moving its processes into a leaf of it.

    Only where all of them are this process and its children: others are not ours to move.
    """
    control = own / "cgroup.subtree_control"
    try:
        offered = (own / "cgroup.controllers").read_text().split()
        held = [int(pid) for pid in (own / "cgroup.procs").read_text().split()]
        if not set(_NEEDED) <= set(offered) or not os.access(control, os.W_OK):
            return False
        if any(not _ours(pid) for pid in held):
            return False
        leaf = own / "optiml-main"
        leaf.mkdir(exist_ok=True)
        for pid in held:
            (leaf / "cgroup.procs").write_text(str(pid))
        control.write_text("+memory +pids")
    except (OSError, ValueError):
        return False
    return _gives(own)


def _ours(pid: int) -> bool:
    """Tell whether a process is this one or descends from it."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        while pid > 1:
            if pid == os.getpid():
                return True
            text = Path(f"/proc/{pid}/stat").read_text()
            pid = int(text.rpartition(")")[2].split()[1])
    return False
