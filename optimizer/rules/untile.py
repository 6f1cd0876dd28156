"""Write a matrix product that stages square tiles in shared memory as the plain sum it is."""

from __future__ import annotations

import re
from dataclasses import dataclass

from tree_sitter import Node

from optimizer.accesses import Access
from optimizer.functions import Function
from optimizer.loops import Loop
from optimizer.polynomials import atom, number
from optimizer.source import Source
from optimizer.spans import Replacement
from optimizer.syntax import contains, field, operator, span, stripped, walk
from optimizer.variables import Variable

# `0 * TILE + k`, as it stands where the number of the tile was.
_NOTHING = re.compile(r"\b0 ?\* ?\w+ ?\+ ?|\b\w+ ?\* ?0 ?\+ ?| ?\+ ?0 ?\* ?\w+\b(?! ?[*/%])")


@dataclass(frozen=True, slots=True)
class _Tile:
    """A shared array, the element it is filled with, the test of that, the index it is read at."""

    array: Variable
    element: Access
    statement: Node
    tests: tuple[Node, ...]


def untiled(source: Source, fn: Function) -> str | None:
    """Return the text with a tiled product as a plain one; None if it is something else.

    The kernel loops over tiles; in each, thread (x, y) loads element [y][x] of two square tiles,
    zero where that lies outside, and adds up products along a row of one and a column of the other.
    """
    outer = next((lp for lp in fn.loops if not lp.depth), None)
    inner = next((lp for lp in fn.loops if lp.depth == 1), None)
    if outer is None or inner is None or len(fn.loops) != 2 or len(fn.shared) != 2:
        return None
    extents = {source.value(e) for v in fn.shared for e in v.extents}
    if len(extents) != 1 or any(len(v.extents) != 2 for v in fn.shared):
        return None
    size = extents.pop()
    if not size or inner.trips != size or source.plain(inner.start) != "0" or inner.step != 1:
        return None
    if not (outer.counted and outer.step == 1 and outer.relation == "<" and outer.variable):
        return None
    if source.plain(outer.start) != "0" or not source.in_block(outer.node) or outer.bound is None:
        return None
    if fn.warp_calls or fn.atomics or fn.unknown_calls or any(
        not contains(outer.node, b.node) or contains(inner.node, b.node) for b in fn.barriers
    ):  # fmt: skip
        return None
    tiles = [_tile(source, fn, outer, inner, v) for v in fn.shared]
    if None in tiles:
        return None
    found = [t for t in tiles if t is not None]
    return _plain(source, fn, outer, inner, found, size)


def _tile(source: Source, fn: Function, outer: Loop, inner: Loop, array: Variable) -> _Tile | None:
    """Return how a tile is filled: one element a thread, or zero."""
    own = [a for a in fn.accesses if a.variable is array]
    writes = [a for a in own if a.writes]
    if any(a.kind not in ("read", "write") for a in own) or not 1 <= len(writes) <= 2:
        return None
    if any(not contains(inner.body, a.node) for a in own if a.reads):
        return None
    filled = [_filled(source, fn, inner, write) for write in writes]
    if None in filled or sum(f is not None and bool(f[1]) for f in filled) != 1:
        return None
    statement, value = next((s, v[0]) for f in filled if f is not None for s, v in [f] if v)
    tests: list[Node] = []
    if value.type == "conditional_expression":
        if not _is_zero(source, stripped(field(value, "alternative"))) or len(writes) > 1:
            return None
        tests += _tests(field(value, "condition"))
        value = stripped(field(value, "consequence")) or value
    if statement.parent != outer.body:
        holder = _holder(statement)
        if holder is None or holder.parent != outer.body or len(writes) != 2:
            return None
        if not all(contains(holder, w.node) for w in writes):
            return None
        tests += _tests(field(holder, "condition"))
        statement = holder
    elif len(writes) != 1:
        return None
    loads = [a for a in fn.accesses if a.node == value]
    if len(loads) != 1 or loads[0].kind != "read" or loads[0].space != "global":
        return None
    return _Tile(array, loads[0], statement, tuple(tests))


def _filled(
    source: Source, fn: Function, inner: Loop, write: Access
) -> tuple[Node, tuple[Node, ...]] | None:
    """Return the statement of a store at [y][x] and what it stores, nothing for a zero."""
    statement = write.statement
    if statement is None or contains(inner.node, statement) or not statement.named_children:
        return None
    if [_thread(fn, i) for i in write.indices] != ["y", "x"]:
        return None
    assigned = statement.named_children[0]
    if assigned.type != "assignment_expression" or operator(assigned) != "=":
        return None
    value = stripped(field(assigned, "right"))
    if field(assigned, "left") != write.node or value is None:
        return None
    if not _is_zero(source, value):
        return statement, (value,)
    return (statement, ()) if _is_else(statement) else None


def _holder(statement: Node) -> Node | None:
    """Return the `if` with `else` around a statement."""
    outer = statement.parent
    if outer is not None and outer.type == "compound_statement":
        if len([n for n in outer.named_children if n.type != "comment"]) != 1:
            return None
        outer = outer.parent
    found = outer is not None and outer.type == "if_statement"
    return outer if found and field(outer, "alternative") is not None else None


def _is_else(statement: Node) -> bool:
    outer = statement.parent
    if outer is not None and outer.type == "compound_statement":
        if len([n for n in outer.named_children if n.type != "comment"]) != 1:
            return False
        outer = outer.parent
    return outer is not None and outer.type == "else_clause"


def _is_zero(source: Source, node: Node | None) -> bool:
    return source.plain(node).rstrip("fF") in ("0", "0.0", "0.")


def _thread(fn: Function, node: Node) -> str:
    """Return the axis whose thread number an expression is; else an empty text."""
    value = fn.affine(node)
    for axis in "xy":
        if value is not None and value.same(atom(f"threadIdx.{axis}")):
            return axis
    return ""


def _tests(node: Node | None) -> list[Node]:
    inner = stripped(node)
    while inner is not None and inner.type == "condition_clause" and inner.named_children:
        inner = stripped(inner.named_children[0])
    if inner is None:
        return []
    if inner.type == "binary_expression" and operator(inner) == "&&":
        return [*_tests(field(inner, "left")), *_tests(field(inner, "right"))]
    return [inner]


# -- the sum -------------------------------------------------------------------------------------


def _plain(
    source: Source, fn: Function, outer: Loop, inner: Loop, tiles: list[_Tile], size: int
) -> str | None:
    statements = [n for n in inner.body_statements() if n.type != "comment"]
    if len(statements) != 1 or statements[0].type != "expression_statement":
        return None
    update = statements[0].named_children[0]
    total = field(update, "left")
    if update.type != "assignment_expression" or operator(update) != "+=" or total is None:
        return None
    product = stripped(field(update, "right"))
    if total.type != "identifier" or product is None or product.type != "binary_expression":
        return None
    if operator(product) != "*":
        return None
    sides = [stripped(field(product, side)) for side in ("left", "right")]
    name = inner.name
    if inner.variable is None or not contains(inner.node, inner.variable.name_node):
        return None
    texts, kinds = [], set()
    bound = _bound(source, fn, outer, tiles, size)
    if bound is None or outer.variable is None:
        return None
    for side in sides:
        found = _factor(source, fn, (outer, inner), tiles, side, size)
        if found is None:
            return None
        texts.append(found[0])
        kinds.add(found[1])
    other = [
        n
        for n in outer.body.named_children
        if n.type != "comment"
        and n != inner.node
        and n not in [t.statement for t in tiles]
        and not any(contains(n, b.node) for b in fn.barriers)
    ]
    if kinds != {"x", "y"} or other:
        return None
    loop = (
        f"for (int {name} = 0; {name} < {bound}; ++{name})"
        f" {source.of(total)} += {texts[0]} * {texts[1]};"
    )
    edits = _tested(source, fn, outer, tiles, loop)
    if edits is None:
        return None
    for array in fn.shared:
        low, high = source.statement_span(array.declaration)
        attribute = source.syntax.masked.attributes_in(
            source.text.rfind("\n", 0, array.declaration.start_byte) + 1,
            array.declaration.start_byte,
        )
        start = min([low, *(a.start for a in attribute)])
        edits.append((source.text.rfind("\n", 0, start) + 1, high, ""))
    return source.replace(sorted(set(edits)))


def _factor(
    source: Source,
    fn: Function,
    loops: tuple[Loop, Loop],
    tiles: list[_Tile],
    side: Node | None,
    size: int,
) -> tuple[str, str] | None:
    """Return a factor as an element of its matrix, and the axis of the thread that loaded it."""
    outer, inner = loops
    read = next((a for a in fn.accesses if side is not None and a.node == side), None)
    tile = next((t for t in tiles if read is not None and t.array is read.variable), None)
    if read is None or tile is None or len(read.indices) != 2:
        return None
    first, second = (_thread(fn, i) for i in read.indices)
    along = [source.plain(i) == inner.name for i in read.indices]
    axis = "x" if first == "y" and along[1] else "y" if along[0] and second == "x" else ""
    text = _element(source, fn, outer, tile, axis, inner.name, size) if axis else None
    return (text, axis) if text is not None else None


def _element(
    source: Source, fn: Function, outer: Loop, tile: _Tile, axis: str, name: str, size: int
) -> str | None:
    """Return the element with one running number in place of the tile's and the thread's."""
    index, node = tile.element.index, tile.element.node
    if index is None or outer.variable is None:
        return None
    own, steps = index.coefficient(f"threadIdx.{axis}"), index.coefficient(outer.name)
    folded = [fn.affine(i, fold=True) for i in tile.element.indices]
    if len(folded) != 1 or folded[0] is None or own is None or steps is None:
        return None
    own, steps = folded[0].coefficient(f"threadIdx.{axis}"), folded[0].coefficient(outer.name)
    if own is None or steps is None or not own.terms or not steps.same(own.scaled(size)):
        return None
    edits: list[Replacement] = []
    for inner in walk(node, "identifier", "field_expression"):
        if inner.type == "identifier" and fn.variables.of(inner) is outer.variable:
            edits.append((*span(inner), "0"))
        elif _thread(fn, inner) == axis and inner.parent is not None:
            if inner.type == "identifier" and inner.parent.type == "field_expression":
                continue
            edits.append((*span(inner), name))
    low = node.start_byte
    text = source.of(node)
    for start, end, new in sorted(edits, reverse=True):
        text = text[: start - low] + new + text[end - low :]
    if len(edits) != 2:
        return None
    return re.sub(rf"(?<![\w)\]])\({name}\)", name, _NOTHING.sub("", text))


def _bound(source: Source, fn: Function, outer: Loop, tiles: list[_Tile], size: int) -> str | None:
    """Return the extent of the sum: what the loads are tested against, or what the tiles hold."""
    found: set[str] = set()
    for tile in tiles:
        for test in tile.tests:
            if test.type != "binary_expression" or operator(test) != "<":
                return None
            left = fn.affine(field(test, "left"), fold=True)
            if left is None:
                return None
            if left.depends_on(outer.name):
                if not any(
                    left.same(atom(outer.name) * number(size) + atom(f"threadIdx.{axis}"))
                    for axis in "xy"
                ):
                    return None
                found.add(source.plain(field(test, "right")))
    text = source.plain(outer.bound)
    sizes = {str(size), *(c.name for c in source.constants if c.value == size)}
    for extent in found:
        covers = {f"({extent} + {s} - 1) / {s}" for s in sizes} | {
            f"({extent} - 1) / {s} + 1" for s in sizes
        } | {f"({extent} + {size - 1}) / {s}" for s in sizes}  # fmt: skip
        plain = text.replace(" ", "")
        return extent if len(found) == 1 and plain in {c.replace(" ", "") for c in covers} else None
    divided = stripped(outer.bound)
    if divided is not None and divided.type == "binary_expression" and operator(divided) == "/":
        whole = field(divided, "left")
        named, by = source.plain(whole), source.plain(field(divided, "right"))
        if by in sizes:
            return named if _multiple(fn, whole, size) else f"{named} / {by} * {by}"
    return None


def _multiple(fn: Function, node: Node | None, size: int) -> bool:
    value = fn.affine(node, fold=True)
    return value is not None and value.constant is not None and value.constant % size == 0


def _tested(
    source: Source, fn: Function, outer: Loop, tiles: list[_Tile], loop: str
) -> list[Replacement] | None:
    """Return the edits that put the sum under the test of the result, where loads had tests."""
    rows = [
        t
        for tile in tiles
        for t in tile.tests
        if (v := fn.affine(field(t, "left"))) is not None and not v.depends_on(outer.name)
    ]
    if not rows:
        return [(*span(outer.node), loop)]
    stores = [a for a in fn.accesses if a.writes and a.space == "global"]
    if len(stores) != 1 or stores[0].statement is None:
        return None
    statement = stores[0].statement
    holder = statement.parent
    if holder is not None and holder.type == "compound_statement" and holder.parent != fn.node:
        holder = holder.parent
    if holder is None or holder.type != "if_statement" or field(holder, "alternative") is not None:
        return None
    said = {source.plain(t) for t in _tests(field(holder, "condition"))}
    if not {source.plain(t) for t in rows} <= said or len(said) != 2:
        return None
    between = source.text[outer.node.end_byte : holder.start_byte]
    if between.strip():
        return None
    margin = source.indent(holder)
    condition = source.of(field(holder, "condition"))
    text = f"if {condition} {{\n{margin}    {loop}\n{margin}    {source.of(statement)}\n{margin}}}"
    return [(outer.node.start_byte, holder.end_byte, text)]
