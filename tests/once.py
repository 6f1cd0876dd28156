"""What tests have built is built once in a run, by whichever process needs it first.

Several processes run tests at a time; without this each would compile the same texts for itself.
"""

from __future__ import annotations

import atexit
import fcntl
import functools
import hashlib
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

_folder: Path | None = None


def settle(folder: Path) -> None:
    """Say which folder the processes of this run share."""
    global _folder  # noqa: PLW0603 - there is one for each process
    folder.mkdir(exist_ok=True)
    _folder = folder


@functools.cache
def _own() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="optiml-once-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def built(kind: str, text: str, make: Callable[[Path], None]) -> Path:
    """Return the folder that `make` has filled for `text`; other processes wait until it has.

    `kind` tells what is made of the text, how included. What `make` raises is raised, and the next
    one tries again.
    """
    digest = hashlib.sha256(f"{kind}\0{text}".encode()).hexdigest()[:32]
    folder = (_folder or _own()) / digest
    done = folder / ".done"
    if done.exists():
        return folder
    folder.mkdir(exist_ok=True)
    with (folder / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not done.exists():
            make(folder)
            done.touch()
    return folder
