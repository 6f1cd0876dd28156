"""The edit boundary where a CUTLASS tree is found: headers of that tree may be included, no others.

An added `#include` counts as if the original had it, as `Task.frame` does for synthesis: what is
left is held to the boundary as ever. It has to stand at file level before the first function.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from optimizer.boundary import violations
from optimizer.source import HEADER_WORDS, Source

if TYPE_CHECKING:
    from optimizer.directives import Directive
    from optimizer.synthesis.cutlass import Tree

Boundary = Callable[..., Sequence[str]]
MOST_ADDED = 8
_NAME = re.compile(r"\s*<((?:cute|cutlass)/[^>\s]+)>\s*")


def fence(tree: Tree | None) -> Boundary:
    """Return `boundary.violations`, which lets headers of a tree be included where there is one."""
    if tree is None:
        return violations

    def within(original: str, candidate: str, *, allow_host: bool = False) -> tuple[str, ...]:
        return violations(_admitting(original, candidate, tree), candidate, allow_host=allow_host)

    return within


def uses(source: str) -> bool:
    """Tell whether a source includes from CUTLASS."""
    return "<cut" in source and any(
        d.word == "include" and _NAME.fullmatch(d.rest)
        for d in Source(source).syntax.masked.directives
    )


@lru_cache(maxsize=64)
def _admitting(original: str, candidate: str, tree: Tree) -> str:
    """Return the original with the tree's headers included where the candidate includes them."""
    if original == candidate or not uses(candidate):
        return original
    was, now = Source(original), Source(candidate)
    left = Counter(_named(d, tree) for d in was.syntax.masked.directives)
    opened = next(
        (t.start for t in now.syntax.masked.tokens if t.kind == "mark" and t.text == "{"),
        len(candidate),
    )
    kept = [d for d in was.syntax.masked.directives if d.word != "define"]
    added: dict[int, list[str]] = {}
    depth = place = count = 0
    for d in now.syntax.masked.directives:
        if d.word == "define":
            continue
        depth += d.word.startswith("if") - (d.word == "endif")
        name = _named(d, tree)
        left[name] -= 1
        if name and left[name] < 0 and not depth and d.start < opened and count < MOST_ADDED:
            added.setdefault(place, []).append(f"#include <{name}>\n")
            count += 1
        else:
            place += 1
    parts, at = [], 0
    for number in sorted(added):
        to = _line_at(original, kept, number)
        parts += [original[at:to], *added[number]]
        at = to
    # What the headers define in capitals is no macro of unknown meaning.
    return f"{HEADER_WORDS} {' '.join(sorted(tree.words))} */\n" + "".join(parts) + original[at:]


def _named(d: Directive, tree: Tree) -> str:
    """Return which header of the tree a line includes; empty for any other line."""
    found = _NAME.fullmatch(d.rest) if d.word == "include" else None
    return found[1] if found and tree.has(found[1]) else ""


def _line_at(text: str, kept: Sequence[Directive], number: int) -> int:
    """Return where the line of a directive begins; behind the last one where there are fewer."""
    if number < len(kept):
        return text.rfind("\n", 0, kept[number].start) + 1
    if not kept:
        return 0
    end = text.find("\n", kept[-1].end - 1)
    return len(text) if end < 0 else end + 1
