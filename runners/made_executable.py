"""Give programs that were linked the right to be executed, where the linker may not do it itself.

Under Landlock no command changes modes (`runners.syscall_filter`), and a linker asks for that once,
by path, and goes on without. So it is done here, once the command and all it started have ended.

Stdlib only, as `runners.sandbox`.
"""

from __future__ import annotations

import contextlib
import os
import stat
import struct
from collections.abc import Iterable

_EXECUTABLE, _SHARED = 2, 3  # e_type of ELF: programs at a fixed place, and at any
_MOST = 1000  # entries of a folder that are looked at


def mark_linked(folders: Iterable[str]) -> None:
    """Mark programs that lie in these folders, not below them, as a linker does.

    An ordinary file of one's own with one name: what else a command left there is not followed.
    """
    for folder in folders:
        with contextlib.suppress(OSError), os.scandir(folder) as entries:
            for _, entry in zip(range(_MOST), entries, strict=False):
                with contextlib.suppress(OSError):
                    if entry.is_file(follow_symlinks=False):
                        _mark(entry.path)


def _mark(path: str) -> None:
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    file = os.open(path, flags)
    try:
        found = os.fstat(file)
        own = found.st_uid == os.geteuid() and found.st_nlink == 1
        if not own or not stat.S_ISREG(found.st_mode) or found.st_mode & 0o111:
            return
        head = os.pread(file, 18, 0)
        if len(head) < 18 or not head.startswith(b"\x7fELF"):
            return
        order = "<" if head[5] == 1 else ">"
        if struct.unpack_from(f"{order}H", head, 16)[0] in {_EXECUTABLE, _SHARED}:
            # For whoever may read it.
            os.fchmod(file, found.st_mode & 0o777 | (found.st_mode & 0o444) >> 2)
    finally:
        os.close(file)
