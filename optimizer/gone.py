"""What of an original a candidate may do without: types and headers of its device code alone.

Adding such a type, or such a header, to a candidate would change nothing for host text; so taking
it away from the original changed nothing, as the one is the other seen from behind. Types are those
that would be the candidate's own if it had them and the original had not: their names stand nowhere
in its text, and host text of the original has them in no other place. Headers are the toolkit's for
device code, and those that hold macros of numbers alone; not those of functions and types that host
text calls by any name, nor where a condition of the preprocessor may ask what is defined. Host code
that may change may do without any of the language's own: less is declared than before.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace

from optimizer.compile_time import parts_of
from optimizer.outline import Outline, Piece, outline
from optimizer.outline_words import made_of
from optimizer.source import Source
from optimizer.toolkit import OPENED_WITH_CARE, is_device_header, is_languages, shortenings

# Headers for device code that a host has as well, and that may give its words a meaning.
_SHARED = frozenset({"<cmath>", "<math.h>", "<cstdint>", "<stdint.h>", "<limits>", "<type_traits>"})
_CONDITIONS = frozenset({"if", "ifdef", "ifndef", "elif", "elifdef", "elifndef"})


def without_types(before: Source, old: Outline, after: Source, new: Outline) -> Outline:
    """Return the outline of an original without the types that its candidate does without."""
    if old.tokens == new.tokens:
        return old
    old = _without_short_names(old, new)
    mine = [one for one in _types(before, new) if _free(one, after)]
    spans = [one.span for one in mine]
    if not spans:
        return old
    kept = _without(
        old,
        {
            at
            for at, start in enumerate(old.starts)
            if any(low <= start < high for low, high in spans)
        },
    )
    # Host text that has a name of theirs in another place would mean something else by it now.
    left = {*kept.tokens}.union(*(p.tokens for p in (*old.macros, *old.geometry)))
    left |= {word for name, types in old.kernels for word in (name, *types.split())}
    if any(one.name in left for one in mine) or _named_in_heads(mine, left):
        return old
    return kept


def _without(old: Outline, gone: Collection[int]) -> Outline:
    """Return an outline without the tokens at some places."""
    left = [at for at in range(len(old.tokens)) if at not in gone]
    return replace(
        old, tokens=[old.tokens[at] for at in left], starts=[old.starts[at] for at in left]
    )


def _without_short_names(old: Outline, new: Outline) -> Outline:
    """Return the outline of an original without short names that its candidate does without."""
    theirs = f" {' '.join(new.tokens)} "
    gone: set[int] = set()
    for first, end in shortenings(old.tokens, ()):
        words = old.tokens[first:end]
        if f" {' '.join(words)} " not in theirs:
            gone |= {*range(first, end)} if _unused(words, first, old) else set()
    return _without(old, gone) if gone else old


def _unused(words: list[str], first: int, old: Outline) -> bool:
    """Tell whether host text has none of the names that words of its own, at a place, bring."""
    others = [*old.tokens[:first], *old.tokens[first + len(words) :]]
    left = {*others}.union(*(p.tokens for p in (*old.macros, *old.geometry)))
    left |= {part for word in left for part in word.replace("(", " ").split() if "(" in word}
    if words[0] == "namespace":
        return words[1] not in left
    opened = "".join(words[2:-1])
    return left.isdisjoint(OPENED_WITH_CARE.get(opened, ()))


def _types(before: Source, new: Outline) -> list[Piece]:
    """Return the types that the original would add to its candidate, had it been written later."""
    back = outline(before, new)
    special = {piece.span for piece, _ in back.special}
    return [one for one in back.types if one.span not in special and one.name]


def _free(piece: Piece, after: Source) -> bool:
    """Tell whether a candidate's text has a type's name nowhere, nor could put it together."""
    if piece.name in after.code_words:
        return False
    pasting = any("##" in macro.body for macro in after.macros)
    return not (pasting and made_of(piece.name, parts_of(after)))


def _named_in_heads(pieces: Collection[Piece], words: Collection[str]) -> bool:
    """Tell whether the head of a function that stays has a type's name: it is one token there."""
    heads = [word for word in words if word.startswith(("HEAD(", "KERNEL("))]
    return any(one.name in head.replace("(", " ").split() for one in pieces for head in heads)


def headers_gone(old: Outline, new: Outline, *, hosted: bool) -> frozenset[tuple[str, ...]]:
    """Return the lines by which an original has headers that its candidate may do without."""
    if any(d.name in _CONDITIONS for d in (*old.directives, *new.directives)):
        return frozenset()
    kept = {d.tokens for d in new.directives}
    return frozenset(_device_headers(old, kept, hosted=hosted))


def _device_headers(
    old: Outline, kept: Collection[tuple[str, ...]], *, hosted: bool
) -> Iterator[tuple[str, ...]]:
    for d in old.directives:
        mine = d.name == "include" and d.tokens not in kept
        shared = "".join(d.tokens[1:]) in _SHARED
        free = not shared and is_device_header(d.tokens, hosted=hosted)
        if mine and (free or (hosted and is_languages(d.tokens))):
            yield d.tokens
