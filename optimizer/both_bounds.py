"""Loops that end at the first of two bounds, with both in one comparison."""

from __future__ import annotations

from collections.abc import Iterator

from optimizer.functions import Function
from optimizer.source import Source
from optimizer.spans import Replacement
from optimizer.syntax import field, operator, span, stripped, walk


def both_bounds(source: Source, fn: Function) -> Iterator[Replacement]:
    """Yield `i < m && i < n` of a loop as `i < min(m, n)`, where both are `int` and no elements.

    A loop has one bound then, and is a counted one.
    """
    for loop in fn.loops:
        test = stripped(loop.condition)
        if test is None or test.type != "binary_expression" or operator(test) != "&&":
            continue
        sides = [stripped(field(test, side)) for side in ("left", "right")]
        ends = [field(s, "right") for s in sides if s is not None and operator(s) == "<"]
        names = {source.plain(field(s, "left")) for s in sides if s is not None}
        if len(ends) != len(sides) or len(names) != 1 or "\n" in source.of(test):
            continue
        name = names.pop()
        if fn.variable(name, loop.body) is None or source.known("min"):
            continue
        if all(
            end is not None
            and fn.type_of(end) == "int"
            and fn.is_pure(end)
            and not any(True for _ in walk(end, "subscript_expression", "pointer_expression"))
            for end in ends
        ):
            one, two = (source.of(end) for end in ends)
            yield (*span(test), f"{name} < min({one}, {two})")
