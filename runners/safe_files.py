"""Files in a folder that a sandboxed command wrote to, as this process may touch them.

The command is gone, but what it left has names and kinds of its choosing: a link to a file of
ours, a pipe that never ends, a device, a file of terabytes that holds nothing, one that has a
second name elsewhere. So: opened once, no link followed, an ordinary file with one name and a
bounded size, read through that descriptor. What is written there is a new file, never one that was
there. Best is a folder that no command ever writes to: `set_aside` and `received` make one.

But for `beginning` all raise `OSError`, `NotOrdinary` where something else lies there. Stdlib only.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_AT = os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC
_KEPT_MODE = 0o755  # no set-user-id of somebody else's wish


class NotOrdinary(OSError):  # noqa: N818 - an `OSError` to whoever does not ask
    """Something that is not an ordinary file of a bounded size; `strerror` says what."""

    def __init__(self, path: Path, why: str) -> None:
        super().__init__(errno.EINVAL, why, str(path))


@contextlib.contextmanager
def opened(path: Path, most: int) -> Iterator[BinaryIO]:
    """Open an ordinary file of at most `most` bytes for reading, itself and nothing it leads to."""
    folder = os.open(path.parent, _FOLDER)
    try:
        file = _opened(path, folder, most)
    finally:
        os.close(folder)
    with file:
        yield file


def content(path: Path, most: int) -> bytes:
    """Return the bytes of an ordinary file that has at most `most` of them."""
    with opened(path, most) as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise NotOrdinary(path, f"it has more than {most} bytes")
    return data


def text(path: Path, most: int) -> str:
    """Return the text of an ordinary file of at most `most` bytes, whatever is in it."""
    return content(path, most).decode(errors="replace")


def beginning(path: Path, most: int) -> bytes:
    """Return the first bytes of a file of a checkout, where a link may well be meant; none else.

    As many as it is said to have: a file of the kernel's is said to be empty, and reading it may
    wait for ever (`/proc/kmsg`). Nothing for what is no ordinary file, or cannot be read.
    """
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            return b""  # to open a device may do something already
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
        with os.fdopen(handle, "rb") as file:
            state = os.fstat(handle)
            size = state.st_size if stat.S_ISREG(state.st_mode) else 0
            return file.read(min(size, most)) if size else b""
    except (OSError, ValueError):
        return b""


def is_ordinary(path: Path, most: int) -> bool:
    """Tell whether there is an ordinary file of at most `most` bytes."""
    try:
        with opened(path, most):
            return True
    except OSError:
        return False


def written(path: Path, data: bytes) -> None:
    """Write a file where nothing may be yet, not even a link that leads nowhere."""
    folder = os.open(path.parent, _FOLDER)
    try:
        with os.fdopen(os.open(path.name, _NEW, 0o666, dir_fd=folder), "wb") as file:
            file.write(data)
    finally:
        os.close(folder)


def replaced(path: Path, data: bytes) -> None:
    """Write a file in the place of whatever has its name, which is not opened."""
    folder = os.open(path.parent, _FOLDER)
    fresh = f".{os.urandom(8).hex()}"
    try:
        with os.fdopen(os.open(fresh, _NEW, 0o666, dir_fd=folder), "wb") as file:
            file.write(data)
        try:
            os.rename(fresh, path.name, src_dir_fd=folder, dst_dir_fd=folder)
        except OSError:
            os.unlink(fresh, dir_fd=folder)
            raise
    finally:
        os.close(folder)


def set_aside(folder: Path) -> Path:
    """Give a folder another name beside it, under which no command knows it; return that.

    What is made in its place afterwards, no command has written to. The folder around it is ours.
    """
    left = folder.with_name(f".{folder.name}.{os.urandom(8).hex()}")
    folder.rename(left)
    return left


def received(made: Path, to: Path, most: int) -> None:
    """Move an ordinary file of at most `most` bytes out of a folder that a command wrote to.

    Nothing may have the name `to` yet, in a folder of ours.
    """
    with opened(made, most) as file:
        seen = os.fstat(file.fileno())
        os.fchmod(file.fileno(), stat.S_IMODE(seen.st_mode) & _KEPT_MODE | stat.S_IRUSR)
        if os.path.lexists(to):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(to))
        made.rename(to)
        now = to.lstat()
        if (now.st_dev, now.st_ino) != (seen.st_dev, seen.st_ino):
            with contextlib.suppress(OSError):
                to.unlink()
            raise NotOrdinary(made, "it became another file meanwhile")


def _opened(path: Path, folder: int, most: int) -> BinaryIO:
    at = os.open(path.name, _AT, dir_fd=folder)
    try:
        # Looked at before it is opened: to open a device may do something already.
        _require_ordinary(path, os.fstat(at), most)
        seen = os.fstat(at)
    finally:
        os.close(at)
    file = os.fdopen(os.open(path.name, _READ, dir_fd=folder), "rb")
    try:
        state = os.fstat(file.fileno())
        _require_ordinary(path, state, most)
        if (state.st_dev, state.st_ino) != (seen.st_dev, seen.st_ino):
            raise NotOrdinary(path, "it became another file meanwhile")
    except OSError:
        file.close()
        raise
    return file


def _require_ordinary(path: Path, state: os.stat_result, most: int) -> None:
    if not stat.S_ISREG(state.st_mode):
        raise NotOrdinary(path, "it is no ordinary file")
    if state.st_nlink != 1:
        raise NotOrdinary(path, "it has another name elsewhere")
    if state.st_size > most:
        raise NotOrdinary(path, f"it has more than {most} bytes")
