"""Folders by descriptors, for the keeper of a command, and the removal of what a stranger made.

Stdlib only, and no pathlib: `runners.launcher` forks for each command.
"""
# ruff: noqa: PTH101, PTH106, PTH108

from __future__ import annotations

import contextlib
import os


def remove_tree(path: str) -> None:
    """Remove a folder and what is in it; what cannot be removed stays, and nothing is raised.

    A stranger may have made it: folders a million deep, names as long as names get, links, nothing
    that its owner may read. So nothing here is recursive, no path is ever put together, no link
    followed: what lies in a subfolder is moved up into the one folder that is held open.
    """
    for _ in range(3):  # a file system may leave out entries while others are removed
        try:
            top = _open_own(path, None)
        except OSError:
            with contextlib.suppress(OSError):
                os.unlink(path)  # it was no folder
            return
        try:
            _empty(top)
        except OSError:
            pass
        finally:
            os.close(top)
        with contextlib.suppress(OSError):
            os.rmdir(path)
            return


def _empty(top: int) -> None:
    token, made = os.urandom(8).hex(), 0
    folders = _unlink_files(top)
    while folders:
        name = folders.pop()
        with contextlib.suppress(OSError):
            below = _open_own(name, top)
            try:
                for inner in _unlink_files(below):
                    with contextlib.suppress(OSError):
                        os.close(_open_own(inner, below))  # to move it, one must be able to write
                        made += 1
                        fresh = f"{token}-{made}"
                        os.rename(inner, fresh, src_dir_fd=below, dst_dir_fd=top)
                        folders.append(fresh)
            finally:
                os.close(below)
            os.rmdir(name, dir_fd=top)


def _unlink_files(folder: int) -> list[str]:
    """Remove what is no folder; return the names of those that are."""
    folders = []
    for name in os.listdir(folder):
        try:
            os.unlink(name, dir_fd=folder)
        except OSError:
            folders.append(name)  # or something that stays, and then is no folder to open either
    return folders


def _open_own(name: str, below: int | None) -> int:
    """Open a folder that is no link, having given its owner every right to it."""
    flags = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    handle = os.open(name, flags, dir_fd=below)
    try:
        if os.fstat(handle).st_mode & 0o700 != 0o700:
            with contextlib.suppress(OSError):
                os.chmod(f"/proc/self/fd/{handle}", 0o700)
        return open_folder(".", handle)
    finally:
        os.close(handle)


def open_folder(path: str, below: int | None) -> int:
    """Open a folder to look into, below another one that is open."""
    return os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=below)


def read(path: str, below: int) -> str:
    """Return the text of a file below a folder that is open; what is no UTF-8 is marked."""
    opened = os.open(path, os.O_RDONLY | os.O_CLOEXEC, dir_fd=below)
    with os.fdopen(opened, encoding="utf-8", errors="replace") as file:
        return file.read()
