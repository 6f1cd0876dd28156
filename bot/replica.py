"""One side of a change as files in a folder, for what reads a program and its parts off a disk.

A pull request's files are known by GitHub's API alone, those of a base by git; a program's headers
and the sources beside it are found in folders (`runners.lone_program`). All files are there by
name; the texts only of those that a program may be made of.
"""

from __future__ import annotations

import os
from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from itertools import islice, takewhile
from pathlib import Path, PurePosixPath
from typing import Self

from optimizer.source import Source
from runners import companions, lone_program, makefile_names, usual_arguments
from runners.removal import TemporaryFolder

MOST_NAMES = 20_000
MOST_TEXTS = 200  # of one side; each may be a request to GitHub
_COMPILED = tuple(sorted(companions.COMPILED))
_SOURCES = (*_COMPILED, ".cuh", ".h", ".hpp", ".hh", ".hxx", ".inl", ".inc")


class Replica:
    """A folder with a repository's files; a context manager, after which it is gone.

    `paths` are all files, relative to the repository; `read` returns a text, None for what is none.
    """

    def __init__(
        self, paths: Callable[[], Sequence[str]], read: Callable[[str], str | None]
    ) -> None:
        self._paths, self._read = paths, read
        self._made: TemporaryFolder | None = None
        self._sorted: list[str] = []
        self._names: frozenset[str] = frozenset()
        self._sources: dict[str, list[str]] = {}  # by folder, sorted: what is compiled
        self._placed: set[str] = set()
        self._filled: set[str] = set()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._made is not None:
            self._made.cleanup()

    @property
    def root(self) -> Path:
        """Return the folder that stands for the repository's; it is made when first asked for."""
        if self._made is None:
            self._made = TemporaryFolder(prefix="optiml-side-")
            self._sorted = sorted(set(filter(_is_plain, self._paths())))
            self._names = frozenset(self._sorted)
            for name in self._sorted:
                if name.endswith(_COMPILED):
                    self._sources.setdefault(_folder(name), []).append(name)
            # Where a search for headers above a project ends.
            (Path(self._made.name) / ".git").mkdir()
            self._place([name for name in self._sorted if name.endswith(_SOURCES)])
        return Path(self._made.name).resolve()

    def program(self, path: str) -> Path:
        """Lay out a source with all that it may be built of, and return where it is."""
        root, folder = self.root, _folder(path)
        below = "" if folder == "." else f"{folder}/"
        first = bisect_left(self._sorted, below)
        self._place(takewhile(lambda name: name.startswith(below), self._sorted[first:]))
        self._fill(path)
        for name in makefile_names.MAKEFILES:
            self._fill((PurePosixPath(folder) / name).as_posix())
        for place in (PurePosixPath(folder), PurePosixPath(folder).parent):
            for name in (*usual_arguments.SCRIPTS, *usual_arguments.READMES):
                self._fill((place / name).as_posix())
        self._fill_headers(root / path)
        # Those of the folder first, which is where most programs have them.
        included = {_folder(name) for name in self._filled}
        others = sorted(one for one in self._sources if one.startswith(below) or one in included)
        beside = [name for one in (folder, *others) for name in self._sources.get(one, ())]
        beside = list(dict.fromkeys(beside))[: companions.MOST_FILES]
        for name in beside:
            self._fill(name)
        for name in beside:
            self._fill_headers(root / name)
        return root / path

    def users(self, path: str) -> tuple[str, ...]:
        """Return the programs that a source is a part of, in its folder and those above."""
        file = self.program(path)
        for folder in lone_program.folders_up(file.parent):
            here = self._sources.get(folder.relative_to(self.root).as_posix(), [])
            for name in here[: lone_program.MOST_HEADERS]:
                self._fill(name)
                if Source(_text(self.root / name)).has_main:
                    self.program(name)
        found = lone_program.users(file)
        return tuple(one.relative_to(self.root).as_posix() for one in found)

    def _place(self, names: Iterable[str]) -> None:
        """Put files there by name, as many as there is room for."""
        for name in islice((one for one in names if one not in self._placed), MOST_NAMES):
            self._placed.add(name)
            self._touch(self.root / name)

    def _fill_headers(self, file: Path) -> None:
        text = _text(file)
        folders = lone_program.include_folders([text], file, file.parent)
        known = -1
        while len(self._filled) > known:  # a header whose text has come may include others
            known = len(self._filled)
            for one in lone_program.own_headers(text, file, folders):
                place = Path(os.path.realpath(one))
                if place.is_relative_to(self.root):
                    self._fill(place.relative_to(self.root).as_posix())

    def _fill(self, name: str) -> None:
        if name in self._filled or name not in self._names or len(self._filled) >= MOST_TEXTS:
            return
        self._filled.add(name)
        text = self._read(name)
        file = self.root / name
        if text is None:
            file.unlink(missing_ok=True)
        elif self._touch(file):
            file.write_bytes(text.encode())

    @staticmethod
    def _touch(file: Path) -> bool:
        """Make an empty file where there is none; tell whether there is one now."""
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.touch()
        except OSError:
            return False  # a name that this system does not take: no program is built with it
        return True


def _folder(name: str) -> str:
    return name.rpartition("/")[0] or "."


def _is_plain(path: str) -> bool:
    """Tell whether a path stays below the repository's folder and out of git's own."""
    parts = PurePosixPath(path).parts
    is_below = not PurePosixPath(path).is_absolute() and ".." not in parts and "\0" not in path
    return bool(parts) and is_below and ".git" not in parts


def _text(file: Path) -> str:
    try:
        return file.read_bytes().decode()
    except (OSError, UnicodeDecodeError):
        return ""
