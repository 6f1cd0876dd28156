"""Sums of int variables and numbers, read from and written to text as it stands."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tree_sitter import Node

from optimizer.functions import Function
from optimizer.loops import Loop
from optimizer.source import Source
from optimizer.syntax import contains, field, operator, stripped
from optimizer.tokens import integer

FLIPPED = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}
NEGATED = {"<": ">=", ">": "<=", "<=": ">", ">=": "<"}
Sum = dict[str, int]


@dataclass(frozen=True, slots=True)
class Test:
    """`total relation 0`, as `x + dx - width < 0`."""

    total: Sum
    relation: str

    @property
    def negated(self) -> Test:
        """Return the test that holds when this one does not."""
        return Test(self.total, NEGATED[self.relation])


def linear(
    source: Source, fn: Function, node: Node | None, within: Node, names: dict[str, Sum]
) -> Sum | None:
    """Return an int expression as a sum; None when it is none or changes unseen in `within`.

    Names in `names` stand for the sums given. Locals of `within` that keep their value are
    replaced by what they are set to; other names must keep theirs while `within` runs. Only `int`
    counts: with unsigned numbers `a < b` does not mean `a - b < 0`.
    """
    node = stripped(node)
    if node is None:
        return None
    if node.type == "number_literal":
        value = integer(source.of(node))
        return {"": value} if value is not None and source.of(node).lstrip("-").isalnum() else None
    if node.type == "identifier":
        return _named(source, fn, node, within, names)
    if node.type == "unary_expression" and operator(node) == "-":
        inner = linear(source, fn, field(node, "argument"), within, names)
        return scaled(inner, -1) if inner is not None else None
    if node.type == "binary_expression" and operator(node) in ("+", "-"):
        left = linear(source, fn, field(node, "left"), within, names)
        right = linear(source, fn, field(node, "right"), within, names)
        if left is None or right is None:
            return None
        return added(left, scaled(right, 1 if operator(node) == "+" else -1))
    if node.type == "binary_expression" and operator(node) in ("*", "/", "%"):
        return _atom(source, fn, node, within, names)
    return None


def _named(
    source: Source, fn: Function, node: Node, within: Node, names: dict[str, Sum]
) -> Sum | None:
    name = source.of(node)
    if name in names:
        return names[name]
    variable = fn.variables.of(node)
    if variable is None:
        return {name: 1} if source.constant(name) is not None else None
    if variable.element != "int" or not variable.is_scalar or variable.volatile:
        return None
    if contains(within, variable.name_node):
        if not variable.settled or variable.init is None:
            return None
        return linear(source, fn, variable.init, within, names)
    if any(contains(within, u.node) for u in variable.changes) or variable.address_taken:
        return None
    return {name: 1}


def _atom(
    source: Source, fn: Function, node: Node, within: Node, names: dict[str, Sum]
) -> Sum | None:
    """Return `2 * radius`, `n / 2` as one piece when all in it are fixed numbers."""
    for side in ("left", "right"):
        part = linear(source, fn, field(node, side), within, names)
        plain = source.plain(field(node, side))
        if part is None or any(key in names for key in part):
            return None
        if any(key and key not in plain for key in part):
            return None  # it went through a local of the loop: the text is not visible outside
    return {source.plain(node): 1}


def added(one: Sum, other: Sum) -> Sum:
    """Return the sum of two."""
    found = dict(one)
    for key, factor in other.items():
        found[key] = found.get(key, 0) + factor
    return {k: f for k, f in found.items() if f}


def scaled(one: Sum, factor: int) -> Sum:
    """Return a sum times a number."""
    return {k: f * factor for k, f in one.items() if f * factor}


def text_of(total: Sum) -> str:
    """Write a sum, positive terms first.

    >>> text_of({"x": -1, "w": 1, "": -1}), text_of({}), text_of({"x": -1}), text_of({"x": 2})
    ('w - x - 1', '0', '-x', '2 * x')
    """
    parts: list[tuple[bool, str]] = []
    ordered = sorted(total.items(), key=lambda kv: (kv[0] == "", kv[1] < 0))
    for key, factor in ordered:
        if key and abs(factor) == 1:
            piece = key
        else:
            piece = f"{abs(factor)} * {key}" if key else str(abs(factor))
        parts.append((factor < 0, piece))
    if not parts:
        return "0"
    first = ("-" if parts[0][0] else "") + (
        f"({parts[0][1]})" if parts[0][0] and " " in parts[0][1] else parts[0][1]
    )
    return first + "".join(f" {'-' if minus else '+'} {piece}" for minus, piece in parts[1:])


def compared(
    source: Source, fn: Function, node: Node | None, within: Node, names: dict[str, Sum], joint: str
) -> Iterator[tuple[Node, Test | None]]:
    """Yield the comparisons joined by `&&` (or `||`), None where one is not understood."""
    node = stripped(node)
    if node is None:
        return
    if node.type == "binary_expression" and operator(node) == joint:
        for side in ("left", "right"):
            yield from compared(source, fn, field(node, side), within, names, joint)
        return
    yield node, comparison(source, fn, node, within, names)


def comparison(
    source: Source, fn: Function, node: Node, within: Node, names: dict[str, Sum]
) -> Test | None:
    """Return `a < b` as a test of `a - b`."""
    if node.type != "binary_expression" or operator(node) not in FLIPPED:
        return None
    left = linear(source, fn, field(node, "left"), within, names)
    right = linear(source, fn, field(node, "right"), within, names)
    if left is None or right is None:
        return None
    return Test(added(left, scaled(right, -1)), operator(node))


def limits(source: Source, fn: Function, loop: Loop, within: Node) -> tuple[Sum, Sum] | None:
    """Return the first and last value of a loop's variable as sums fixed in `within`."""
    if (
        loop.kind != "for" or not loop.counted or loop.step != 1 or loop.variable is None
        or loop.variable.element != "int" or loop.relation not in ("<", "<=")
        or not contains(loop.node, loop.variable.name_node)
    ):  # fmt: skip
        return None
    low = linear(source, fn, loop.start, within, {})
    high = linear(source, fn, loop.bound, within, {})
    if low is None or high is None:
        return None
    return low, high if loop.relation == "<=" else added(high, {"": -1})
