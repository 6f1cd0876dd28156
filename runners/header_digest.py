"""What a source includes, as a digest: the same text compiles to other code with another header.

Stdlib only. Follows `#include` textually, without a preprocessor: a directive in a branch that is
not taken counts too, which costs a compilation and never a wrong answer. Where what is included
cannot be read off the text (`#include NAME`, `.incbin`), all files of the folders count by size and
time of change.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from runners.flags import repository
from runners.safe_files import beginning

MOST_FILES = 2000
MOST_BYTES = 64 << 20
_INCLUDE = re.compile(
    rb"^[ \t]*(?:#|\?\?=|%:)[ \t]*(?:include|include_next|import)\b[ \t]*(?:\\\r?\n[ \t]*)*"
    rb"(?:\"([^\"\n]+)\"|<([^>\n]+)>|([^\s\"<][^\n]*))",
    re.MULTILINE,
)
_HEADERS = {".cu", ".cuh", ".h", ".hh", ".hpp", ".hxx", ".inc", ".inl"}
_OPAQUE = re.compile(rb"\.incbin\b|#[ \t]*embed\b")


def header_digest(source: str, folders: Sequence[Path]) -> str:
    """Identify what a source includes from these folders; empty when it includes nothing of them.

    The first folder is the source's own; system headers that lie elsewhere belong to the toolchain
    and are left out.
    """
    found, opaque = included(source, folders)
    lines = [f"{path}\0{digest}" for path, digest in sorted(found.items())]
    if opaque:
        lines += [_states(folder) for folder in folders]
    return (
        hashlib.sha256("\n".join(lines).encode(errors="surrogatepass")).hexdigest() if lines else ""
    )


def included(source: str, folders: Sequence[Path]) -> tuple[dict[str, str], bool]:
    """Return the files a source includes, by full path, with their digests.

    Also tell whether there may be more: one that cannot be read off the text, or one too many.
    """
    found: dict[str, str] = {}
    pending = [(source.encode(errors="surrogatepass"), folders[0] if folders else Path())]
    opaque, read = False, 0
    while pending and len(found) < MOST_FILES and read < MOST_BYTES:
        text, here = pending.pop()
        opaque = opaque or _OPAQUE.search(text) is not None
        for quoted, angled, other in _INCLUDE.findall(text):
            if other:
                opaque = True
                continue
            name = os.fsdecode(quoted or angled)
            places = [here, *folders] if quoted else list(folders)
            path = next((p for folder in places if _is_file(p := folder / name)), None)
            if path is None or (key := os.path.realpath(path)) in found:
                continue
            data = beginning(Path(key), MOST_BYTES)
            read += len(data)
            found[key] = hashlib.sha256(data).hexdigest()
            pending.append((data, Path(key).parent))
    return found, opaque or bool(pending)


def beyond(named: Iterable[str], top: Path) -> tuple[Path, ...]:
    """Return those of the files a source includes that a project at `top` has beside it, sorted.

    As in `#include "../common/check.h"`: headers in the repository that the project is a part of
    or, without one, in the folder around it.
    """
    around = repository(top) or top.parent
    return tuple(
        path
        for path in map(Path, sorted(named))
        if around in path.parents and top not in path.parents and path.suffix in _HEADERS
    )


def _is_file(path: Path) -> bool:
    """Tell whether there is an ordinary file: a device is never read here."""
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def _states(folder: Path) -> str:
    """Write down size and time of change of the files below a folder."""
    lines: list[str] = []
    for top, names, files in os.walk(folder):
        names[:] = sorted(name for name in names if not name.startswith("."))
        for name in sorted(files):
            if len(lines) >= MOST_FILES:
                return "\n".join(lines)
            try:
                state = (Path(top) / name).stat()
            except OSError:
                continue
            lines.append(f"{top}/{name} {state.st_size} {state.st_mtime_ns}")
    return "\n".join(lines)
