"""The files that a program is built of besides the one that is named: found by what they define.

Some stand in its text and are edited with it (`runners.joined`). Others are compiled as they are
and linked: those in C, those of another folder, those that have names of their own in common with
the text. No makefile is asked.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from optimizer.source import Source

MOST_FILES, MOST_READ, MOST_BYTES = 40, 400, 1 << 20
MOST_FOLDERS = 200
MAINS = (".cpp", ".cc", ".cxx", ".c")  # of host code alone
COMPILED = frozenset({".cu", *MAINS})
INCLUDE = re.compile(r"^[ \t]*#[ \t]*include[ \t]*[<\"]([\w./+-]+)[>\"]", re.MULTILINE)
# A function that is declared: words before its name, on its line, that may be a type. The name may
# be on a line of its own.
DECLARED = re.compile(
    r"^[ \t]*(?!(?:return|else|case|new|delete|throw|goto|typedef|using|#|//)\b)"
    r"(?:extern\s+)?(?:\"C\"\s+)?[A-Za-z_][\w:<>, \t*&]*[\s*&]([A-Za-z_]\w*)\s*\(",
    re.MULTILINE,
)
_HEADERS, _SOURCES = {"include", "inc", "headers"}, ("src", "source", "sources", "lib")
_DEVICE = re.compile(r"\b__(?:global|device|constant|managed)__\b|<<<")
# Types and variables that are a file's own: two files may each have one of that name.
_TYPE = re.compile(
    r"^(?:typedef\s+)?(?:struct|class|union|enum(?:\s+class)?)\s+(\w+)[^;{}()]*\{", re.MULTILINE
)
_VARIABLE = re.compile(
    r"^(?:static|const|constexpr|__constant__|__device__)\b[^;(){}=]*?\b(\w+)\s*(?:\[[^;=]*)?[=;{]",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class Companions:
    """Sources beside a program: `joined` by name, with texts, and `apart`, full paths.

    `lead` is the file, with its text, that they are joined to where that is not the program's own:
    where that is in C, or in C++ with names of its own that the kernels' files have, too.
    """

    joined: Mapping[str, str]
    apart: tuple[Path, ...] = ()
    lead: tuple[Path, str] | None = None


def companions(text: str, file: Path, headers: Mapping[str, str]) -> Companions:
    """Return the sources that define what a program's file only declares.

    `headers` are its own, full paths with texts. Nothing is returned where two sources define the
    same: then a makefile chooses.
    """
    here = [text, *headers.values()]
    included = {Path(name).name for one in here for name in INCLUDE.findall(one)}
    main = Source(text)
    defined = _Defined()
    for one in (main, *map(Source, headers.values())):
        defined.add(one)
    found: dict[Path, tuple[str, Source]] = {}
    for folders in (_folders(file, headers), below(file.parent)):
        if not _declared(here) - defined.names:
            break
        if not _closure(here, defined, found, _sources(file, folders, included)):
            return Companions({})
    return _parted(main, file, found)


class _Defined:
    """The functions that several sources define for each other."""

    def __init__(self) -> None:
        self.names: set[str] = set()
        self._heads: set[tuple[str, tuple[str, ...]]] = set()

    def add(self, source: Source) -> None:
        """Take up what a source defines."""
        self.names |= {f.name for f in source.functions if f.name != "main"}
        self._heads |= _heads(source)

    def twice(self, source: Source) -> bool:
        """Tell whether one of a source's functions is defined already."""
        return bool(_heads(source) & self._heads)


def _heads(source: Source) -> set[tuple[str, tuple[str, ...]]]:
    """Return type, class and name of the functions that the linker takes from one file only."""
    found: set[tuple[str, tuple[str, ...]]] = set()
    for f in source.functions:
        if {"static", "inline"} & f.qualifiers or f.templates or f.name == "main":
            continue
        head = " ".join(source.text[f.span[0] : f.span[1]].partition("(")[0].split())
        found.add((head, tuple(one.type for one in f.parameters)))
    return found


def external(source: Source) -> set[str]:
    """Return the functions that a source defines for others."""
    return {f.name for f in source.functions if "static" not in f.qualifiers and f.name != "main"}


def has_device_code(text: str) -> bool:
    """Tell whether a source is more than host code."""
    return _DEVICE.search(text) is not None


def exact(path: Path) -> str | None:
    """Return a file's text as it is; None for one that is too large or no text."""
    try:
        fits = path.is_file() and path.stat().st_size <= MOST_BYTES
        return path.read_bytes().decode() if fits else None
    except (OSError, UnicodeDecodeError):
        return None


def clash(one: Source, other: Source) -> bool:
    """Tell whether two sources have names of their own in common, so that they are not one text."""
    return bool(_own(one) & _own(other))


def below(folder: Path) -> list[Path]:
    """Return the folders below one, hidden ones left out."""
    found: list[Path] = []
    for place, names, _ in os.walk(folder):
        names[:] = sorted(name for name in names if not name.startswith("."))
        found += [Path(place) / name for name in names]
        if len(found) >= MOST_FOLDERS:
            break
    return found[:MOST_FOLDERS]


def _folders(file: Path, headers: Mapping[str, str]) -> list[Path]:
    """Return where sources may be: the file's folder, those of its headers, `src` by `include`."""
    places = dict.fromkeys([file.parent, *(Path(name).parent for name in headers)])
    beside = [one.parent / name for one in places if one.name in _HEADERS for name in _SOURCES]
    return [*places, *(one for one in beside if one.is_dir() and one not in places)]


def _sources(file: Path, folders: Iterable[Path], included: set[str]) -> dict[Path, str]:
    """Return the texts of sources that nothing includes; which are programs is not known yet."""
    found: dict[Path, str] = {}
    for folder in folders:
        try:
            paths = sorted(folder.iterdir())
        except OSError:
            continue
        for path in paths:
            if path == file or path.suffix not in COMPILED or path.name in included:
                continue
            if path.is_symlink():
                continue  # a stranger's may lead anywhere
            if len(found) >= MOST_READ:
                return found
            text = exact(path)
            if text is not None:
                found[path] = text
    return found


def _closure(
    here: list[str],
    defined: _Defined,
    found: dict[Path, tuple[str, Source]],
    texts: Mapping[Path, str],
) -> bool:
    """Add the sources that define what is declared and nowhere defined, and what those need.

    False where two of them define the same. Only texts with one of the names are parsed.
    """
    parsed: dict[Path, Source] = {}
    more = True
    while more:
        more = False
        wanted = _declared(here) - defined.names
        for path, text in texts.items():
            if path in found or not any(name in text for name in wanted):
                continue
            if path not in parsed:
                if len(parsed) >= MOST_FILES:
                    continue
                parsed[path] = Source(text)
            source = parsed[path]
            if source.has_main or not wanted & external(source):
                continue
            if defined.twice(source):
                return False
            found[path] = (text, source)
            here.append(text)
            defined.add(source)
            more = True
    return True


def _declared(texts: Sequence[str]) -> set[str]:
    """Return the functions that are declared and named once more: what nobody calls may miss."""
    whole = "\n".join(texts)
    names = {name for one in texts for name in DECLARED.findall(one)}
    return {name for name in names if len(re.findall(rf"\b{name}\b", whole)) > 1}


def _parted(main: Source, file: Path, found: Mapping[Path, tuple[str, Source]]) -> Companions:
    """Say which sources stand in one text: of the file's folder, in C++, with no name twice."""
    whole = _around(file, main, found)
    if has_device_code(main.text) or any(map(has_device_code, whole.joined.values())):
        return whole
    with_device = {
        path: one for path, one in found.items() if path.suffix == ".cu" and has_device_code(one[0])
    }
    if not with_device:
        return whole

    def worth(path: Path) -> tuple[bool, bool, int, Path]:
        kernels = "__global__" in with_device[path][0] or "<<<" in with_device[path][0]
        return kernels, path.parent == file.parent, len(with_device[path][0]), path

    lead = max(with_device, key=worth)
    text, source = with_device[lead]
    rest = {file: (main.text, main)} | {p: one for p, one in found.items() if p != lead}
    led = _around(lead, source, rest)
    return Companions(led.joined, led.apart, (lead, text))


def _around(file: Path, source: Source, found: Mapping[Path, tuple[str, Source]]) -> Companions:
    together: dict[str, str] = {}
    apart: list[Path] = []
    group = [source]
    for path, (text, other) in found.items():
        near = path.is_relative_to(file.parent) and path.suffix != ".c" != file.suffix
        if not near or any(clash(other, one) for one in group):
            apart.append(path)
            continue
        together[path.relative_to(file.parent).as_posix()] = text
        group.append(other)
    return Companions(together, tuple(apart))


def _own(source: Source) -> set[str]:
    """Return the functions, types and variables that a source has for itself."""
    names = {f.name for f in source.functions if {"static", "inline"} & f.qualifiers or f.templates}
    return names | set(_TYPE.findall(source.text)) | set(_VARIABLE.findall(source.text))
