"""Loops whose iterations threads can share, each thread taking some a stride apart."""

from __future__ import annotations

from collections.abc import Iterator

from tree_sitter import Node

from optimizer.functions import Function
from optimizer.loops import Loop
from optimizer.syntax import ancestors, contains, field, operator
from optimizer.variables import Variable

WARP = 32


def splits(loop: Loop) -> bool:
    """Return whether the iterations of a loop can be shared among threads, each a stride apart."""
    return (
        loop.kind in ("for", "while")
        and start_of(loop) is not None
        and loop.counted
        and loop.step == 1
        and loop.relation in ("<", "<=", "!=")
        and not loop.leaves_early
        and loop.variable is not None
        and counts_only(loop.variable)
        and (loop.trips is None or loop.trips >= WARP // 2)
        and loop.relation != "!="
    )


def counts_only(variable: Variable) -> bool:
    """Return whether a variable is seen in `for` loops only, each of which starts it anew."""
    at: list[Node] = []
    for use in variable.uses:
        if contains(variable.declaration, use.node):
            continue
        outer = next((a for a in ancestors(use.node) if _starts(a, variable)), None)
        if outer is None:
            outer = _started(use.node, variable)
        if outer is None:
            return False
        at.append(outer)
    if not at:
        return False
    declared = variable.declaration.parent
    inside = declared is not None and declared.type == "for_statement"
    behind = variable.declaration.next_named_sibling
    return inside or variable.init is None or (behind is not None and behind in at)


def start_of(loop: Loop) -> Node | None:
    """Return the first value of a loop's variable: in its header, or right before a `while`."""
    if loop.start is not None or loop.kind != "while" or loop.variable is None:
        return loop.start
    before = loop.node.prev_named_sibling
    while before is not None and before.type == "comment":
        before = before.prev_named_sibling
    if before is None:
        return None
    if before.type == "declaration":
        return loop.variable.init if contains(before, loop.variable.name_node) else None
    inner = before.named_children[0] if before.type == "expression_statement" else None
    if inner is None or inner.type != "assignment_expression" or operator(inner) != "=":
        return None
    left = field(inner, "left")
    own = left is not None and any(u.node == left for u in loop.variable.changes)
    return field(inner, "right") if own else None


def _started(use: Node, variable: Variable) -> Node | None:
    """Return the `while` that a use belongs to, when the variable is set right before it."""
    for at in (use, *ancestors(use)):
        following = at.next_named_sibling
        loop = at if at.type == "while_statement" else following
        if loop is None or loop.type != "while_statement":
            continue
        before = loop.prev_named_sibling
        places = [variable.name_node, *(u.node for u in variable.changes)]
        if before is None or not any(contains(before, n) for n in places):
            continue
        condition = field(loop, "condition")
        if condition is not None and any(contains(condition, u.node) for u in variable.uses):
            return loop
    return None


def _starts(loop: Node, variable: Variable) -> bool:
    initializer = field(loop, "initializer") if loop.type == "for_statement" else None
    if initializer is None:
        return False
    if contains(initializer, variable.name_node):
        return True
    return any(u.role == "write" and contains(initializer, u.node) for u in variable.changes)


def outer_scalars(fn: Function, loop: Loop) -> Iterator[Variable]:
    """Yield the variables of around a loop that it changes, counters of loops aside."""
    for variable in fn.variables.all:
        if contains(loop.node, variable.name_node) or variable.is_array:
            continue
        if counts_only(variable):
            continue
        if any(contains(loop.node, u.node) for u in variable.changes):
            yield variable
