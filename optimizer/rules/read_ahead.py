"""Operands of a thread's outputs that can be read before any of them is used."""

from __future__ import annotations

from collections.abc import Iterator

from tree_sitter import Node

from optimizer.accesses import Access
from optimizer.aliasing import apart
from optimizer.functions import Function, Guard
from optimizer.rules.outputs import at_top, output_ids
from optimizer.source import Source
from optimizer.syntax import ancestors, operator, span, walk

_LONGEST = 120
_WHOLE = frozenset({
    "int", "unsigned", "unsigned int", "long", "size_t", "long long", "uint32_t", "int64_t",
})  # fmt: skip
LOOPS = ("for_statement", "while_statement", "do_statement", "for_range_loop", "switch_statement")


def early_loads(
    source: Source, fn: Function, guard: Guard | None, declaration: Node
) -> Iterator[tuple[Access, str]]:
    """Yield the reads that each output is sure to do, and how they are written before all else."""
    bounds = (guard.bounds or ()) if guard is not None else ()
    returns = sum(1 for _ in walk(fn.body, "return_statement"))
    if returns > (guard is not None and guard.exits):
        return
    if not all(_early(source, fn, declaration, bound) for _, _, bound in bounds):
        return
    for access in fn.accesses:
        variable = access.variable
        if access.kind != "read" or access.space != "global" or access.cast or variable is None:
            continue
        if variable.space != "parameter" or variable.changes or access.name != access.root:
            continue
        if not _certain(fn, guard, access.node) or fn.type_of(access.node) is None:
            continue
        if len(access.indices) != 1 or not _unwritten_before(source, fn, access):
            continue
        if not _late(fn, access.indices[0], declaration):
            continue  # one value for all outputs: no need of a register each
        text = _spelled(source, fn, declaration, access.indices[0])
        if text is None or len(text) > _LONGEST:
            continue
        low, high = (at - access.node.start_byte for at in span(access.indices[0]))
        whole = source.of(access.node)
        yield access, whole[:low] + text + whole[high:]


def _spelled(
    source: Source, fn: Function, declaration: Node, node: Node, depth: int = 4
) -> str | None:
    """Return an index in terms of what is known in front of the loop over outputs."""
    if not fn.is_pure(node):
        return None
    numbers = {t.variable.name for t in output_ids(fn) if at_top(fn, t.variable.declaration)}
    text, edits = source.of(node), []
    for use in fn.variables.within(node):
        variable = use.variable
        if variable is None:
            if use.name in source.spaces:
                return None
            continue
        if use.role != "read" or not variable.settled or use.name == "item":
            return None
        before = variable.name_node.start_byte < declaration.start_byte
        if before or variable.name in numbers:
            continue
        init = variable.init
        if init is None or not depth or variable.element not in _WHOLE or variable.is_array:
            return None
        inner = _spelled(source, fn, declaration, init, depth - 1)
        if inner is None:
            return None
        single = inner.isidentifier() or inner.isdigit()
        low, high = (at - node.start_byte for at in span(use.node))
        edits.append((low, high, inner if single else f"({inner})"))
    for low, high, inner in sorted(edits, reverse=True):
        text = text[:low] + inner + text[high:]
    return " ".join(text.split())


def _early(source: Source, fn: Function, declaration: Node, node: Node) -> bool:
    """Return whether an expression can be evaluated in front of the loop over outputs."""
    if not fn.is_pure(node):
        return False
    numbers = {t.variable.name for t in output_ids(fn) if at_top(fn, t.variable.declaration)}
    for use in fn.variables.within(node):
        variable = use.variable
        if variable is None:
            if use.name in source.spaces:
                return False
            continue
        if use.role != "read" or not variable.settled:
            return False
        before = variable.name_node.start_byte < declaration.start_byte
        if not before and variable.name not in numbers:
            return False
    return True


def _late(fn: Function, node: Node, declaration: Node) -> bool:
    return any(
        u.variable is not None and u.variable.name_node.start_byte >= declaration.start_byte
        for u in fn.variables.within(node)
    )


def _certain(fn: Function, guard: Guard | None, node: Node) -> bool:
    top = fn.body if guard is None or guard.exits else guard.body
    for outer in ancestors(node, top):
        if outer.type in (
            "if_statement", "conditional_expression", "lambda_expression", "sizeof_expression",
            *LOOPS,
        ):  # fmt: skip
            return False
        if outer.type == "binary_expression" and operator(outer) in ("&&", "||"):
            return False
        if outer.type == "pointer_expression" and operator(outer) == "&":
            return False
    return True


def _unwritten_before(source: Source, fn: Function, access: Access) -> bool:
    statement = access.statement
    for other in fn.accesses:
        if not other.writes or other.space not in ("global", "unknown") or statement is None:
            continue
        if other.statement is None or other.statement.start_byte >= statement.start_byte:
            continue
        if other.variable is None or access.variable is None:
            return False
        if not apart(source, fn, access.variable, other.variable):
            return False
    return True
