"""A program's text with its own headers in place of their includes, and back to the files.

So that kernels in `kernels.cuh` can be edited as if they stood in the file that includes it; other
files that are compiled beside it stand at its end. A comment marks where each begins, with the line
that included it, and where it ends; where it is in another folder, the mark says which. Stdlib
only.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Mapping
from pathlib import PurePosixPath

_MARK = "// joined by optiml: "
_HEADERS = (".h", ".hpp", ".hh", ".hxx", ".cuh", ".inl", ".inc", ".cu")
_END, _CUT = "end", "end without line feed"
_BESIDE = re.compile(r"compiled beside (the cut )?\"([^\"\n]+)\"\n")
_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_INCLUDE = re.compile(r"[ \t]*#[ \t]*include[ \t]*[\"<]([^\">\n]+)[\">]")
_FROM = re.compile(r"from \"([^\"\n]+)\" (?=[ \t]*#)")
_AGAIN = "again "
INCLUDE = re.compile(r"^[ \t]*#[ \t]*include[ \t]*([\"<])([^\">\n]+)[\">]", re.MULTILINE)


def included(text: str) -> tuple[str, ...]:
    r"""Return the names that a text includes once.

    >>> included('#include "a.h"\n#ifdef X\n#include "b.h"\n#else\n#include "a.h"\n#endif\n')
    ('b.h',)
    """
    lines = (line for line in _LINE.findall(text) if line.endswith("\n"))
    found = [name[1] for line in lines if (name := _INCLUDE.match(line)) is not None]
    return tuple(name for name in found if found.count(name) == 1 and _is_plain(name))


def has_marks(text: str) -> bool:
    """Tell whether a text has lines that would be taken for marks."""
    return _MARK in text


def _below(name: str) -> bool:
    """Tell whether a name stays in its folder: marks may be in a text that a stranger wrote."""
    return _is_plain(name) and ".." not in PurePosixPath(name).parts


def _is_plain(name: str) -> bool:
    """Tell whether a name is that of a source of a project, wherever that lies."""
    place = PurePosixPath(name)
    return not place.is_absolute() and ".git" not in place.parts


def _is_header(name: str) -> bool:
    """Tell whether a name of another folder may be that of a header."""
    return _is_plain(name) and PurePosixPath(name).suffix in _HEADERS


def join(
    text: str,
    headers: Mapping[str, str],
    beside: Mapping[str, str] | None = None,
    *,
    places: Mapping[str, str] | None = None,
    again: Collection[str] = (),
) -> str:
    """Put headers, texts by the names they are included under, in place of their includes.

    `beside` are texts by their names that are put behind all. `places` are the headers' paths as
    seen from the program's folder, where these are not the names. Includes of the names `again` are
    hidden: those headers stand before them.
    """
    places = places or {}
    known = places.keys() | set(again)
    names = {n for n in headers if (_is_header(places[n]) if n in places else _below(n))}
    wanted = set(included(text)) & (names | set(again))
    parts: list[str] = []
    for line in _LINE.findall(text):
        name = _INCLUDE.match(line)
        if name is None or name[1] not in wanted or ("<" in name[0] and name[1] not in known):
            parts.append(line)
            continue
        wanted.discard(name[1])
        if name[1] not in headers:
            parts += [_MARK, _AGAIN, line]
            continue
        place = places.get(name[1], name[1])
        origin = "" if place == name[1] and _below(place) else f'from "{place}" '
        parts += [_MARK, origin, line, *_marked(headers[name[1]])]
    for other, inner in (beside or {}).items():
        cut = "" if not parts or parts[-1].endswith("\n") else "the cut "
        parts += ["\n" if cut else "", _MARK, f'compiled beside {cut}"{other}"\n', *_marked(inner)]
    return "".join(parts)


def _marked(text: str) -> list[str]:
    whole = not text or text.endswith("\n")
    return [text, "" if whole else "\n", _MARK, _END if whole else _CUT, "\n"]


def has_several(text: str) -> bool:
    """Tell whether a text holds sources that are else compiled beside it."""
    return f"{_MARK}compiled beside " in text


def split(text: str, path: str) -> dict[str, str]:
    """Return the files that a joined text is made of, by path: `path` and those beside it.

    Marks that do not fit each other are left in the text of `path`, which then is all there is.
    """
    parts: dict[str, list[str]] = {path: []}
    open_ = [path]
    for line in _LINE.findall(text):
        here = parts[open_[-1]]
        if not line.startswith(_MARK):
            here.append(line)
            continue
        rest = line[len(_MARK) :]
        if rest.startswith(_AGAIN):
            here.append(rest[len(_AGAIN) :])
            continue
        origin = _FROM.match(rest)
        rest = rest[origin.end() :] if origin is not None else rest
        name, other = _INCLUDE.match(rest), _BESIDE.match(rest)
        if name is not None or other is not None:
            if name is not None:
                here.append(rest)
            elif other is not None and other[1] and here:
                here[-1] = here[-1].removesuffix("\n")
            inner = name[1] if name is not None else other[2] if other is not None else ""
            fits = _is_header(origin[1]) if origin is not None else _below(inner)
            inner = origin[1] if origin is not None else inner
            open_.append(posixpath.normpath((PurePosixPath(path).parent / inner).as_posix()))
            if open_[-1] in parts or not fits:
                return {path: text}
            parts[open_[-1]] = []
        elif rest.strip() in {_END, _CUT} and len(open_) > 1:
            if rest.strip() == _CUT and here:
                here[-1] = here[-1].removesuffix("\n")
            open_.pop()
        else:
            return {path: text}
    return (
        {name: "".join(lines) for name, lines in parts.items()} if not open_[1:] else {path: text}
    )


def changes(before: str, after: str, path: str) -> dict[str, tuple[str, str]]:
    """Return what an edit changes: the text before and after, by the path of each file."""
    old, new = split(before, path), split(after, path)
    if old.keys() != new.keys():
        return {path: (before, after)}
    return {name: (old[name], new[name]) for name in old if old[name] != new[name]}
