"""Paths as nvcc may be given them: it hands its command line to a shell.

nvcc puts a path between double quotes, or none, and so a folder called `` a`b` `` or `$(b)` runs
`b`. It also looks up the real name of its input and hands that on. So no word with anything but
the plainest characters gets there: an include folder is named by a link of ours instead, a source
is copied, and what is left is refused. Stdlib only.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import threading
from collections.abc import Iterable
from pathlib import Path

from runners.fault import Fault

# No comma in a path, at which nvcc parts a list, and no colon, at which a linker does.
_PATH = re.compile(r"/[A-Za-z0-9_./+=@~-]*")
_WORD = re.compile(r"[A-Za-z0-9_./+=-][A-Za-z0-9_./+=,:@~-]*")
# What a shell takes for something else, even between double quotes or in a word of several.
_SHELL = re.compile(r"[\x00-\x1f\x7f\"'`$\\;&|<>()*?\[\]{}#!%^,]")
_UNCLEAN = re.compile(r"[^A-Za-z0-9_.+-]")
_LINK = "at"


def is_clean(path: str | Path) -> bool:
    """Tell whether a path means itself alone to nvcc, a shell and a linker.

    >>> is_clean("/srv/my-kernels"), is_clean("/srv/my kernels"), is_clean("/a`b`")
    (True, False, False)
    """
    return _PATH.fullmatch(str(path)) is not None


def clean(name: str, otherwise: str) -> str:
    """Return a file's name without what a shell or a reader of switches may take for another thing.

    >>> clean("-größe $(id).cu", "kernel")
    'gr__e___id_.cu'
    """
    return _UNCLEAN.sub("_", name).lstrip("-.") or otherwise


def source_name(file: Path) -> str:
    """Return a clean name for a copy of a source, of the same language."""
    return clean(file.stem, "source") + _UNCLEAN.sub("_", file.suffix)


def require(words: Iterable[str | Path]) -> None:
    """Raise `Fault` naming the first word that nvcc is not to be given."""
    for word in map(str, words):
        if _WORD.fullmatch(word) is None:
            raise Fault(
                "ConfigError",
                f"nvcc cannot be given {word!r}: it hands its words to a shell",
                "rename the file, folder or value to letters, digits and . _ + - only",
            )


def require_ours(place: Path, what: str, remedy: str) -> None:
    """Raise `Fault` where a folder of this machine's own has a name nvcc is not to be given."""
    for path in (str(place), os.path.realpath(place)):
        if not is_clean(path):
            message = f"{what} {path!r} has characters in its name that a shell may run"
            raise Fault("RunnerError", message, remedy)


def require_tool(place: Path) -> None:
    """Raise `Fault` where a shell would run a part of the name of a toolkit's folder.

    Letters of any language and spaces are the owner's: they harm nobody, though a space may make
    nvcc miss its own files.
    """
    for path in (str(place), os.path.realpath(place)):
        if _SHELL.search(path):
            raise Fault(
                "NoDeviceError",
                f"the CUDA toolkit at {path!r} has characters in its name that a shell may run",
                "move it, or name another nvcc with OPTIML_NVCC",
            )


class CleanNames:
    """Links with clean names to folders and headers that have others; no command writes to them.

    `folder` is this process's own, with a clean name. May be used from several threads.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._named: dict[Path, Path] = {}

    def of(self, path: Path) -> Path:
        """Return a path that means the same and is clean. Raise `OSError`.

        A link, so that what lies beside a folder (`../common`) is found from it, too. Not for
        nvcc's input, whose links nvcc follows by itself.
        """
        if is_clean(path):
            return path
        link = self._folder / hashlib.sha256(os.fsencode(path)).hexdigest()[:16] / _LINK
        with self._lock:
            if link not in self._named:
                link.parent.mkdir(parents=True, exist_ok=True)
                with contextlib.suppress(FileExistsError):
                    link.symlink_to(path)
                self._named[link] = path
        return link

    def shown(self, words: Iterable[str | Path]) -> list[Path]:
        """Return the folders of the links that occur in a command, which it must be shown."""
        line = "\n".join(map(str, words))
        with self._lock:
            return [link.parent for link in self._named if str(link) in line]

    def plain(self, printed: str) -> str:
        """Return what a command printed with the names as its author knows them."""
        with self._lock:
            for link, path in self._named.items():
                printed = printed.replace(str(link), str(path))
        return printed
