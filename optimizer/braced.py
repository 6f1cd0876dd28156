"""Loops that stand without braces under a test or another loop, as they look with braces."""

from __future__ import annotations

from collections.abc import Iterator

from optimizer.functions import Function
from optimizer.source import Source
from optimizer.spans import Replacement
from optimizer.syntax import contains

_HEADS = ("if_statement", "else_clause", "for_statement", "while_statement")


def braced(source: Source, fn: Function) -> Iterator[Replacement]:
    """Yield the outermost loops without braces around them, put into braces.

    `if (i < n) for (...) s += x[k];` has no place for a declaration in front of the loop; rules
    that need one are shown one. Inner loops follow when this is asked of the new text. Lines keep
    their numbers.
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
        between = source.text[before.end_byte : node.start_byte]
        space = "" if between[:1].isspace() else " "
        yield (before.end_byte, node.end_byte, f" {{{space}{between}{source.of(node)} }}")
