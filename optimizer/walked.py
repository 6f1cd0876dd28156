"""Pointers that walk along with a loop, written as elements of where they start."""

from __future__ import annotations

from collections.abc import Iterator

from tree_sitter import Node

from optimizer.functions import Function
from optimizer.loops import Loop
from optimizer.source import Source
from optimizer.spans import Replacement
from optimizer.syntax import contains, field, operator, span, stripped, walk
from optimizer.variables import Use, Variable

_TESTS = ("if_statement", "conditional_expression", "switch_statement")
_COUNTERS = ("int", "unsigned", "unsigned int", "size_t", "long")
_LOOPS = ("for_statement", "while_statement", "do_statement")


def walked(source: Source, fn: Function) -> Iterator[tuple[Replacement, ...]]:
    """Yield `s += *p++` of a loop from 0 as `s += p[i]`, where the loop is all that moves `p`.

    So with `p++` in the loop's head or as its last statement. The pointer starts in front of the
    loop and is not asked for behind it.
    """
    for loop in fn.loops:
        name = _counts(source, fn, loop)
        if not name or any(True for _ in walk(loop.body, "continue_statement")):
            continue
        if fn.leaves(loop.body):
            continue
        for variable in fn.variables.all:
            edits = _elements(source, loop, variable, name)
            if edits:
                yield tuple(edits)


def _counts(source: Source, fn: Function, loop: Loop) -> str:
    """Return the name of what a loop counts up from 0 by one, nothing else changing it."""
    head, update = field(loop.node, "initializer"), field(loop.node, "update")
    if loop.kind != "for" or head is None or update is None:
        return ""
    parts = _parts(update)
    for part in parts:
        argument = stripped(field(part, "argument")) if part.type == "update_expression" else None
        variable = fn.variables.of(argument) if argument is not None else None
        if variable is None or operator(part) != "++" or variable.is_pointer:
            continue
        start = variable.init
        if start is not None and not contains(head, start):
            start = None
        if head.type == "assignment_expression" and operator(head) == "=":
            left = field(head, "left")
            start = field(head, "right") if left and fn.variables.of(left) is variable else start
        inside = [u for u in variable.changes if contains(loop.body, u.node)]
        if source.plain(start) == "0" and not inside and variable.element in _COUNTERS:
            return variable.name
    return ""


def _parts(node: Node) -> list[Node]:
    if node.type != "comma_expression":
        return [node]
    sides = (field(node, "left"), field(node, "right"))
    return [part for side in sides if side is not None for part in _parts(side)]


def _elements(source: Source, loop: Loop, variable: Variable, name: str) -> list[Replacement]:
    """Return the edits for one pointer; none where it is more than walked along."""
    declaration = variable.declaration
    if variable.depth != 1 or variable.space != "local" or variable.init is None:
        return []
    if variable.reference or variable.volatile or declaration.parent != loop.node.parent:
        return []
    uses = [u for u in variable.uses if not contains(declaration, u.node)]
    if not uses or not all(contains(loop.node, u.node) for u in uses):
        return []
    moves = [u for u in uses if _moved(u) is not None]
    if len(moves) != 1:
        return []
    move = _moved(moves[0])
    if move is None:
        return []
    edits: list[Replacement] = []
    for use in uses:
        outer = use.node.parent
        if use is moves[0]:
            continue
        if outer is None or outer.type != "pointer_expression" or operator(outer) != "*":
            return []
        edits.append((*span(outer), f"{variable.name}[{name}]"))
    gone = _gone(source, loop, move, alone=not edits)
    if gone is None:
        return []
    at, text = gone
    return [*edits, (*at, f"{variable.name}[{name}]" if text is None else text)]


def _moved(use: Use) -> Node | None:
    """Return the `p++` that a use is of."""
    outer = use.node.parent
    moves = outer is not None and outer.type == "update_expression" and operator(outer) == "++"
    return outer if moves else None


def _gone(
    source: Source, loop: Loop, move: Node, *, alone: bool
) -> tuple[tuple[int, int], str | None] | None:
    """Return what to replace for a move to go: None as its text stands for the element read."""
    outer = move.parent
    if outer is None:
        return None
    if outer.type == "expression_statement":
        last = loop.body_statements()[-1:] == [outer] and loop.body.type == "compound_statement"
        return (span(outer), "") if last and not alone else None
    if outer.type == "comma_expression" and contains(field(loop.node, "update") or move, outer):
        left, right = field(outer, "left"), field(outer, "right")
        if left is None or right is None or alone:
            return None
        kept = right if left == move else left
        return span(outer), source.of(kept)
    read = outer.type == "pointer_expression" and operator(outer) == "*" and alone
    if not read or move.children[0].type != "identifier":
        return None
    at: Node | None = outer
    while at is not None and at.id != loop.node.id:
        if at.type in (*_TESTS, *_LOOPS):
            return None
        if at.type == "binary_expression" and operator(at) in ("&&", "||"):
            return None
        at = at.parent
    return span(outer), None
