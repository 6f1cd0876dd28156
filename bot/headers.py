"""Local headers of a CUDA file: which it includes, and the file with them written in.

Two versions of a kernel that differ only in a header are compared as two self-contained texts.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Sequence

from optimizer.source import Source

_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"\n]+)".*$', re.MULTILINE)
_ONCE = re.compile(r"^[ \t]*#[ \t]*pragma[ \t]+once\b.*$", re.MULTILINE)
_DEEPEST = 40

Reader = Callable[[str], str | None]


def included(path: str, source: str, read: Reader, folders: Sequence[str] = ()) -> frozenset[str]:
    """Return the paths of all local headers a file includes, headers of headers too.

    `read` returns the text at a path or None; `folders` are looked in after the file's own.
    """
    found: set[str] = set()
    waiting = [(path, source)]
    while waiting:
        at, text = waiting.pop()
        for name in Source(text).includes:
            for place in _places(at, name, folders):
                header = read(place)
                if header is not None:
                    if place not in found:
                        found.add(place)
                        waiting.append((place, header))
                    break
    return frozenset(found)


def inlined(path: str, source: str, read: Reader, folders: Sequence[str] = ()) -> str:
    """Return the file with its local headers written in where they were included."""
    once: set[str] = set()

    def expand(at: str, text: str, depth: int) -> str:
        def put(match: re.Match[str]) -> str:
            for place in _places(at, match[1], folders):
                header = read(place)
                if header is None:
                    continue
                if place in once or depth > _DEEPEST:
                    return ""
                if _ONCE.search(header):
                    once.add(place)
                return expand(place, _ONCE.sub("", header), depth + 1).rstrip("\n")
            return match[0]

        return _INCLUDE.sub(put, text)

    return expand(path, source, 0)


def _places(at: str, name: str, folders: Sequence[str]) -> list[str]:
    places = [posixpath.join(posixpath.dirname(at), name)]
    places += [posixpath.join(folder, name) for folder in folders]
    clean = [posixpath.normpath(place) for place in places]
    return [place for place in clean if not place.startswith(("../", "/"))]
