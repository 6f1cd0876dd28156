"""Loops that stand without braces under a test or another loop, as they look with braces."""

from __future__ import annotations

from collections.abc import Iterator

from optimizer.functions import Function
from optimizer.source import Source
from optimizer.spans import Replacement
from optimizer.syntax import contains, field, walk

_HEADS = ("if_statement", "else_clause", "for_statement", "while_statement")
# Comments that tell the braces put here from those of the file.
_OPEN, _CLOSE = "{/**/", "}/**/"


def braced(source: Source, fn: Function) -> Iterator[Replacement]:
    """Yield the outermost loops without braces around them, put into braces.

    `if (i < n) for (...) s += x[k];` has no place for a declaration in front of the loop; rules
    that need one are shown one. Inner loops follow when this is asked of the new text. Lines keep
    their numbers. `unbraced` takes back what is not needed.
    """
    done: list[tuple[int, int]] = []
    for loop in fn.loops:
        outer, node = loop.node.parent, loop.node
        before = node.prev_sibling
        if outer is None or before is None or outer.type not in _HEADS:
            continue
        if any(contains(at, node) for at in done):
            continue
        done.append((node.start_byte, node.end_byte))
        between = source.text[before.end_byte : node.start_byte] or " "
        yield (before.end_byte, node.end_byte, f" {_OPEN}{between}{source.of(node)} {_CLOSE}")


def unbraced(text: str) -> str:
    """Return a text without those braces of `braced` that hold nothing but their loop."""
    if _OPEN not in text:
        return text
    source = Source(text)
    edits: list[Replacement] = []
    for node in walk(source.syntax.root, "compound_statement"):
        low, high = node.start_byte, node.end_byte
        if not text.startswith(_OPEN, low) or not text.startswith(_CLOSE, high - 1):
            continue
        inner, outer = node.named_children, node.parent
        needed = len(inner) != 1 or not inner[0].type.endswith("_statement") or outer is None
        if not needed and field(outer, "alternative") is None:
            edits.append((low - (text[low - 1] == " "), low + len(_OPEN), ""))
            edits.append((high - 1 - (text[high - 2] == " "), high - 1 + len(_CLOSE), ""))
    return source.replace(sorted(edits)).replace(_OPEN, "{").replace(_CLOSE, "}")
