"""Which headers of a program may stand in its text: those with device code, and what includes them.

Kernels are edited there; functions that they call are read, without which little is known of them.

A header stands where it is included first. That it is included again changes nothing where it has
an include guard; where it has `#pragma once`, its later includes are hidden (`runners.joined`). It
stays a header where its text would mean something else: included twice without either, or under a
condition that is not seen to hold, or with headers of its own that another folder has, too.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from optimizer.source import Source
from runners import companions, joined

MOST_FILES = 400
# Characters of a header of device functions alone: larger ones are libraries, read in vain.
MOST_OF_FUNCTIONS = 16 << 10
_SUFFIXES = (".h", ".hpp", ".hh", ".hxx", ".cuh", ".inl", ".inc", ".cu")
_GUARD = re.compile(r"\s*#[ \t]*ifndef[ \t]+(\w+)[^\n]*\n\s*#[ \t]*define[ \t]+\1\b")
_ONCE = re.compile(r"^[ \t]*#[ \t]*pragma[ \t]+once\b", re.MULTILINE)
_DEVICE = re.compile(r"\b__(?:global|device)__\b")
_BLANK = re.compile(r"\s*")


@dataclass(frozen=True, slots=True)
class Include:
    """An include of a text: the name as written, the file, whether the text says where it holds."""

    name: str
    path: Path
    plain: bool


@dataclass(frozen=True, slots=True)
class Text:
    """A file that may stand in a program's text, with what it includes of the program's own."""

    path: Path
    text: str
    includes: tuple[Include, ...]


@dataclass(frozen=True, slots=True)
class Tree:
    """The headers that stand in a program's text, by path, and where each is included first.

    `first` maps a header to the file whose include it stands for; `folders` are those of headers
    elsewhere, which the compiler has to be shown.
    """

    standing: dict[Path, Text] = field(default_factory=dict[Path, Text])
    first: dict[Path, Path] = field(default_factory=dict[Path, Path])
    folders: tuple[Path, ...] = ()

    def written(self, file: Text, home: Path) -> str:
        """Return a file's text with the headers that stand in it; `home` is the program's folder.

        Each is marked with its place as seen from there.
        """
        inside: dict[str, str] = {}
        places: dict[str, str] = {}
        again: set[str] = set()
        for one in file.includes:
            header = self.standing.get(one.path)
            if header is None:
                continue
            if self.first[one.path] == file.path:
                inside[one.name] = self.written(header, home)
                places[one.name] = Path(os.path.relpath(one.path, home)).as_posix()
            elif _ONCE.search(header.text):
                again.add(one.name)
        return joined.join(file.text, inside, places=places, again=again)


@dataclass(frozen=True, slots=True)
class Places:
    """Where a program's headers are looked for: its own folder and `folders`, all in `around`."""

    home: Path
    folders: tuple[Path, ...]
    around: Path

    def find(self, name: str, here: Path, *, quoted: bool) -> Path | None:
        """Return the file that an include in a file of the folder `here` means, if it is here."""
        for place in [here, *self.folders] if quoted else self.folders:
            path = place / name
            if path.is_file():
                found = path.resolve()
                return found if self.around in found.parents else None
        return None


def read(path: Path, text: str, places: Places) -> Text:
    """Return a file with what it includes of the program's own headers."""
    found = [
        (name, place)
        for quote, name in joined.INCLUDE.findall(text)
        if (place := places.find(name, path.parent, quoted=quote == '"')) is not None
    ]
    source = Source(text if found else "")
    plain = set(joined.included(text)) & {*source.includes, *source.angled_includes}
    return Text(path, text, tuple(Include(name, place, name in plain) for name, place in found))


def tree(files: Sequence[Text], places: Places, may: Callable[[Path], bool]) -> Tree:
    """Return the headers that may stand in the text of `files`, which are compiled as one.

    `may` tells whether the compiler may be shown a folder.
    """
    walk = _Walk(files, places)
    refused: set[Path] = set()
    while True:
        standing = walk.wanted(refused)
        parents = sorted({path.parent for path in standing} - {places.home})
        shown = tuple(place for place in parents if may(place))
        folders = (places.home, *places.folders, *shown)
        more = {path for path in standing if walk.stays(path, standing)}
        more |= {path for path, text in standing.items() if _misleads(text, standing, folders)}
        if not more:
            return Tree(standing, {path: walk.first[path] for path in standing}, shown)
        refused |= more


class _Walk:
    """All headers of a program's files, in the order in which a compiler reads them."""

    def __init__(self, files: Sequence[Text], places: Places) -> None:
        self._files = {one.path: one for one in files}
        self._places = places
        self.headers: dict[Path, Text] = {}
        self.first: dict[Path, Path] = {}
        self._users: dict[Path, list[tuple[Path, Include]]] = {}
        self._code: dict[Path, bool] = {}
        for one in files:
            self._walk(one)

    def _walk(self, file: Text) -> None:
        for include in file.includes:
            path = include.path
            self._users.setdefault(path, []).append((file.path, include))
            if path in self.headers or path in self._files or len(self.headers) >= MOST_FILES:
                continue
            text = companions.exact(path)
            if text is None:
                continue
            self.first[path] = file.path
            self.headers[path] = read(path, text, self._places)
            self._walk(self.headers[path])

    def wanted(self, without: Collection[Path]) -> dict[Path, Text]:
        """Return the headers that have device code or include one that has, `without` some."""
        left = {path: one for path, one in self.headers.items() if path not in without}
        found = {path for path in left if self._has_code(path)}
        known = -1
        while len(found) > known:
            known = len(found)
            found |= {p for p, one in left.items() if any(i.path in found for i in one.includes)}
        return {path: one for path, one in left.items() if path in found}

    def _has_code(self, path: Path) -> bool:
        """Tell whether a header has kernels, or functions that device code elsewhere names."""
        if path not in self._code:
            self._code[path] = self._has_kernels(path) or self._has_functions(path)
        return self._code[path]

    def _has_kernels(self, path: Path) -> bool:
        text = self.headers[path].text
        return "__global__" in text and bool(Source(text).kernels)

    def _has_functions(self, path: Path) -> bool:
        text = self.headers[path].text
        if "__device__" not in text or len(text) > MOST_OF_FUNCTIONS:
            return False
        every = [*self._files.values(), *self.headers.values()]
        if not any("__global__" in one.text for one in every):
            return False
        names = {f.name for f in Source(text).functions if "__device__" in f.qualifiers}
        others = [one.text for one in every if one.path != path and _DEVICE.search(one.text)]
        return any(re.search(rf"\b{re.escape(n)}\b", one) for n in names for one in others)

    def stays(self, path: Path, standing: Collection[Path]) -> bool:
        """Tell whether a header cannot stand where it is included first."""
        text = self.headers[path].text
        (user, include), *later = self._users[path]
        if path.suffix not in _SUFFIXES or not include.plain or joined.has_marks(text):
            return True
        if user not in self._files and user not in standing:
            return True
        if not later or _GUARD.match(text, _begins(text)):
            return False
        hidden = all(one.plain and (u in self._files or u in standing) for u, one in later)
        return not (_ONCE.search(text) and hidden)


def _misleads(file: Text, standing: Collection[Path], folders: Sequence[Path]) -> bool:
    """Tell whether a header that one in the text includes would be another file from there."""
    for one in file.includes:
        if one.path in standing:
            continue
        seen = {p.resolve() for folder in folders if (p := folder / one.name).is_file()}
        if seen != {one.path}:
            return True
    return False


def _begins(text: str) -> int:
    """Return where a text begins behind its first comments."""
    at = 0
    while True:
        blank = _BLANK.match(text, at)
        at = blank.end() if blank is not None else at
        end = {"//": "\n", "/*": "*/"}.get(text[at : at + 2])
        if end is None:
            return at
        found = text.find(end, at + 2)
        if found < 0:
            return len(text)
        at = found + len(end)
