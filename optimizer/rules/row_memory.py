"""Whether lanes that share a row stay out of each other's memory."""

from __future__ import annotations

from collections.abc import Sequence

from tree_sitter import Node

from optimizer.accesses import Access
from optimizer.functions import Function
from optimizer.loops import Loop
from optimizer.rules.strided_loops import start_of
from optimizer.syntax import contains, field


def memory_is_safe(
    fn: Function, lanes: Sequence[Loop], guarded: Sequence[Node], joins: Sequence[Loop]
) -> bool:
    """Return whether no lane reads what another lane wrote, and no two write one element.

    Behind the loops of `joins` all lanes have met.
    """
    written: dict[str, list[Access]] = {}
    for access in fn.accesses:
        if access.space == "local":
            if access.writes:
                return False
            continue
        if access.writes and not access.is_global:
            return False
        if access.writes:
            written.setdefault(access.root, []).append(access)
    for access in fn.accesses:
        for writer in written.get(access.root, []):
            if writer.kind == "atomic" and access.kind == "atomic":
                continue
            if _other_member(fn, access, writer):
                continue
            if _by_first(guarded, writer) and (
                _by_first(guarded, access) or _earlier(access, writer, joins)
            ):
                continue
            if _same_row(lanes, access, writer) and _earlier(access, writer, joins, inside=True):
                continue
            if not _same_lane(fn, lanes, writer, access):
                return False
    return True


def _other_member(fn: Function, one: Access, other: Access) -> bool:
    """Return whether two accesses of an array of structs are of different members."""
    if one.cast or other.cast or one.element != other.element:
        return False
    known = fn.file.members.get(one.element, {})
    names = [_member(fn, access) for access in (one, other)]
    return names[0] != names[1] and all(name in known for name in names)


def _member(fn: Function, access: Access) -> str:
    """Return the name behind the index: `x` of `p[i].x`."""
    name, at = "", access.node
    while at.type == "field_expression":
        name, inner = fn.file.syntax.of(field(at, "field")), field(at, "argument")
        if inner is None:
            return ""
        at = inner
    return name if at.type == "subscript_expression" else ""


def _by_first(guarded: Sequence[Node], access: Access) -> bool:
    """Return whether one lane alone does an access."""
    return any(contains(statement, access.node) for statement in guarded)


def _earlier(
    access: Access, writer: Access, joins: Sequence[Loop], *, inside: bool = False
) -> bool:
    """Return whether all lanes have read an element before one of them writes it.

    With `inside` they may read it in the very loop behind which they meet.
    """
    return (
        not access.writes
        and not any(lp.node.id == other.node.id for lp in access.loops for other in writer.loops)
        and any(
            access.node.end_byte <= (lp.node.end_byte if inside else lp.node.start_byte)
            and lp.node.end_byte <= writer.node.start_byte
            for lp in joins
        )
    )


def _same_row(lanes: Sequence[Loop], one: Access, other: Access) -> bool:
    """Return whether a loop of lanes writes elements of the row that another access reads of."""
    found = []
    for access in (one, other):
        loop = next((lp for lp in lanes if contains(lp.node, access.node)), None)
        if access.index is None or (loop is None and access is other):
            return False
        found.append(access.index.without(loop.name) if loop is not None else access.index)
    return (found[0] - found[1]).constant is not None


def _same_lane(fn: Function, lanes: Sequence[Loop], one: Access, other: Access) -> bool:
    """Return whether two accesses of an array that meet in an element are the same lane's."""
    a = next((lp for lp in lanes if contains(lp.node, one.node)), None)
    b = next((lp for lp in lanes if contains(lp.node, other.node)), None)
    if a is None or b is None:
        # Outside the shared loops lane 0 writes; a later read by all would race with it.
        return a is b and (one.node.id == other.node.id or not other.reads)
    if one.index is None or other.index is None:
        return False
    first, second = one.index.coefficient(a.name), other.index.coefficient(b.name)
    if first is None or first.constant == 0 or len(first.terms) != 1 or second is None:
        return False
    text = fn.file.syntax.plain
    return (
        first.same(second)
        and text(start_of(a)) == text(start_of(b))
        and one.index.without(a.name).same(other.index.without(b.name))
    )
