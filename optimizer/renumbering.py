"""Candidates that differ from one within the boundary in numbers that the boundary does not read.

A search asks for one structure with many constants. Once a candidate was looked at whole and lies
inside, so does every text of its shape (`optimizer.shapes`) that differs from it only in numbers
of device functions' bodies and of changed launch geometry: what is asked of those is which words
and signs they hold, whatever the numbers. Geometry that is the original's was not asked, and
device code with static objects is compared with the original's, numbers and all; so these do not
count, and neither does any file with assembly, attributes in brackets, joined lines or `#if`.
"""

from __future__ import annotations

import re
from typing import cast

from optimizer.outline import Outline
from optimizer.source import Source
from optimizer.syntax import Span, contains

_PECULIAR = re.compile(r"\b(?:asm|__asm__|__asm)\b|\[\s*\[|\\[ \t]*\r?\n")
_COMPARED = re.compile(r"\b(?:static|extern)\b")
_MOST = 4  # of a shape: the first may still have the original's geometry

_Inside = list[tuple[str, frozenset[Span]]]


def known_inside(original: str, candidate: Source, *, allow_host: bool) -> bool:
    """Return whether a candidate has only other such numbers than one that lies inside."""
    key = ("inside", candidate.syntax.shape, original, allow_host)
    known = cast("_Inside", candidate.syntax.parsed.shared.get(key, []))
    if not known:
        return False
    text = candidate.text
    return any(
        all((a, b) in free or text[a:b] == other[a:b] for a, b in candidate.syntax.shape.numbers)
        for other, free in known
    )


def note_inside(
    original: str, candidate: Source, old: Outline, new: Outline, *, allow_host: bool
) -> None:
    """Remember a candidate that lies inside, with its outline and the original's."""
    text, shape = candidate.text, candidate.syntax.shape
    if not shape.numbers or _PECULIAR.search(text):
        return
    if any(d.word.startswith(("if", "el")) for d in candidate.syntax.masked.directives):
        return
    same = {piece.tokens for piece in old.geometry}
    spans = [at for at in new.bodies if not _COMPARED.search(text, *at)]
    spans += [piece.span for piece in new.geometry if piece.tokens not in same]
    free = frozenset(n for n in shape.numbers if any(contains(at, n) for at in spans))
    key = ("inside", shape, original, allow_host)
    known = cast("_Inside", candidate.syntax.parsed.shared.setdefault(key, []))
    known[:] = [*known[1 - _MOST :], (text, free)]
