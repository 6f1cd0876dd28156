"""What a program's makefile says: names that its text needs to compile, and folders of headers.

`-DBLOCK=16` where the text uses `BLOCK` and defines it nowhere. Names that are only asked for, as
in `#ifdef DEBUG`, choose among programs: those stay as they are without the makefile.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from runners.safe_files import beginning

MAKEFILES = ("Makefile", "makefile", "GNUmakefile", "CMakeLists.txt")
MOST_BYTES = 1 << 18
_DEFINES = re.compile(r"(?<![\w-])-D[ \t]*([A-Za-z_]\w*)(?:=((?:\$[({]\w+[)}]|[^\s\"')])+))?")
_SHOWS = re.compile(r"(?<![\w-])-I[ \t]*((?:\$[({]\w+[)}]|[^\s\"')])+)")
_SETS = re.compile(
    r"^[ \t]*(?:export[ \t]+)?([A-Za-z_]\w*)[ \t]*[:?]?=[ \t]*([\w./+-]+)[ \t]*(?:#.*)?$",
    re.MULTILINE,
)
_RUNS = re.compile(r"^run\w*[ \t]*:[^\n]*\n\t[^\n]*?\./[^\s]+[ \t]+([^\n]+)$", re.MULTILINE)
_REFERS = re.compile(r"\$[({]([A-Za-z_]\w*)[)}]")
_VALUE = re.compile(r"[\w.+-]*")
_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*|\"(?:[^\"\\\n]|\\.)*\"", re.DOTALL)
# What stands before a name that a statement declares.
_TYPE = (
    r"(?:^|[;{}])[ \t]*(?!(?:return|else|case|goto|throw|do)\b)"
    r"(?:[A-Za-z_][\w:]*(?:<[^;<>]*>)?[ \t*&]+)+"
)
_ASKS = re.compile(r"^[ \t]*#[ \t]*(?:if|ifdef|ifndef|elif|undef|error|include)\b.*$", re.MULTILINE)


def needed(folder: Path, texts: Sequence[str]) -> tuple[str, ...]:
    """Return the `-D` flags that texts of a folder need, sorted; none without a makefile."""
    defined = _read(_lines(folder))
    if not defined:
        return ()
    code = "\n".join(_ASKS.sub("", _COMMENT.sub(" ", text)) for text in texts)
    found = []
    for name, value in sorted(defined.items()):
        declared = re.compile(
            rf"#[ \t]*define[ \t]+{name}\b|{_TYPE}{name}[ \t]*(?:[=;\[{{]|\(\w)", re.MULTILINE
        )
        if re.search(rf"\b{name}\b", code) and not declared.search(code):
            found.append(f"-D{name}={value}" if value else f"-D{name}")
    return tuple(found)


def folders(folder: Path) -> tuple[Path, ...]:
    """Return the folders of headers that a folder's makefile names, those that are there."""
    lines = _lines(folder)
    sets = dict(_SETS.findall(lines))
    named = (_REFERS.sub(lambda one: sets.get(one[1], "?"), word) for word in _SHOWS.findall(lines))
    places = (folder / word for word in named if not word.startswith("/"))
    return tuple(dict.fromkeys(place.resolve() for place in places if place.is_dir()))


def arguments(folder: Path) -> str:
    """Return the arguments with which a folder's makefile runs its program; empty if it does not.

    As `./main 4096 10` below `run:`; what a shell would have to read is left out.
    """
    lines = _lines(folder)
    found = _RUNS.search(lines)
    if found is None:
        return ""
    sets = dict(_SETS.findall(lines))
    words = _REFERS.sub(lambda one: sets.get(one[1], "$"), found[1]).strip()
    return "" if set(words) & set("$|;&<>`\\") else words


def variables(lines: str) -> dict[str, str]:
    """Return the variables that a makefile sets to one word."""
    return dict(_SETS.findall(lines))


def _lines(folder: Path) -> str:
    """Return the first makefile of a folder without its comments; empty where there is none."""
    for name in MAKEFILES:
        text = beginning(folder / name, MOST_BYTES).decode(errors="replace")
        if not text:
            continue
        return "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("#"))
    return ""


def _read(lines: str) -> dict[str, str]:
    """Return what a makefile defines, with values; those it computes are left out."""
    sets = dict(_SETS.findall(lines))
    found: dict[str, str] = {}
    for name, value in _DEFINES.findall(lines):
        whole = _REFERS.sub(lambda one: sets.get(one[1], "?"), value)
        if _VALUE.fullmatch(whole):
            found.setdefault(name, whole)
    return found
