"""The folder that a program runs in: a copy of its project that it may write, cheap to make.

Stdlib only.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from pathlib import Path

from runners.flags import repository

MAX_COPIED_FILE, MAX_COPIED = 8 << 20, 64 << 20
MAX_NEIGHBOURS = 500
# A folder of results or of small inputs; larger ones are data, which is read.
MAX_FOLDER_FILES, MAX_FOLDER_BYTES = 32, 4 << 20
MAX_FOLDERS = 64
MOST_LEVELS = 3
_PRIVATE = {Path("/"), Path("/tmp"), Path("/var/tmp")}  # noqa: S108 - named to be left out


def working_copy(root: Path, home: Path) -> Path:
    """Make a folder to run in below `home`: small files and folders copied, the rest linked.

    The entries beside the project are linked too, for programs that read `../data`, and those
    beside the folders around it within its repository, for `../../data`. What cannot be read is
    left out.
    """
    top, real = home / "tree", root.resolve()
    above = around(real)
    cwd = top.joinpath(*(one.name for one in reversed(above[:-1])), real.name or "root")
    cwd.mkdir(parents=True)
    copied, folders = 0, 0
    for place, folder, inner in zip(cwd.parents, above, (real, *above), strict=False):
        _link_all(folder, place, inner.name)
    with contextlib.suppress(OSError):
        for entry in sorted(real.iterdir())[:MAX_NEIGHBOURS]:
            size = None
            with contextlib.suppress(OSError):
                size = _size(entry, folders)
            if size is not None and copied + size <= MAX_COPIED:
                with contextlib.suppress(OSError, shutil.Error):
                    _copy(entry, cwd / entry.name)
                copied += size
                folders += entry.is_dir()
            elif not entry.name.startswith("."):
                (cwd / entry.name).symlink_to(entry)
    return cwd


def around(root: Path) -> list[Path]:
    """Return the folders above a project that a program may look into, the nearest first.

    The one that it is in and, without a repository, the next; within one, three. None that holds
    this user's home.
    """
    own = repository(root)
    home = Path.home()
    found = [root.parent]
    for folder in [*root.parents][1:MOST_LEVELS]:
        inside = own is not None and (folder == own or own in folder.parents)
        open_ = own is None and len(found) == 1 and folder not in {*_PRIVATE, home, *home.parents}
        if not (inside or open_):
            break
        found.append(folder)
    return found


def _link_all(folder: Path, place: Path, but: str) -> None:
    """Link what is in a folder, the project's own part of it and what is hidden left out."""
    with contextlib.suppress(OSError):
        for entry in sorted(folder.iterdir())[:MAX_NEIGHBOURS]:
            if entry.name != but and not entry.name.startswith("."):
                (place / entry.name).symlink_to(entry)


def _copy(entry: Path, to: Path) -> None:
    if entry.is_dir():
        shutil.copytree(entry, to)
    else:
        shutil.copy(entry, to)


def _size(entry: Path, folders: int) -> int | None:
    """Return how many bytes copying an entry costs; None when it is linked instead."""
    if entry.is_file():
        size = entry.stat().st_size
        return size if size <= MAX_COPIED_FILE else None
    if folders >= MAX_FOLDERS or entry.is_symlink() or entry.name.startswith("."):
        return None
    files = size = 0
    pending = [entry]
    while pending:
        with os.scandir(pending.pop()) as found:
            for one in found:
                files += 1
                if one.is_dir(follow_symlinks=False):
                    pending.append(Path(one.path))
                elif one.is_file(follow_symlinks=False):
                    size += one.stat(follow_symlinks=False).st_size
                else:
                    return None
                if files > MAX_FOLDER_FILES or size > MAX_FOLDER_BYTES:
                    return None
    return size
