"""Where a thread works on its element: under one guard, or in one grid-stride loop."""

from __future__ import annotations

from dataclasses import dataclass

from tree_sitter import Node

from optimizer.functions import Function
from optimizer.loops import Loop
from optimizer.source import Source
from optimizer.spans import Replacement, replace
from optimizer.syntax import ancestors, contains, span, walk
from optimizer.variables import Variable

_NUMBERS = ("threadIdx.x", "blockIdx.x", "gridDim.x")


@dataclass(frozen=True, slots=True)
class Work:
    """The `statements` that work on a thread's element, and what leads to them.

    `declaration` sets the element's number `variable` from `start`; `extent` is the node it is
    tested against. Either `test` is set, the guard around or in front of the statements (it
    `exits` in front of them), or `loop`, the grid-stride loop. `between` are the declarations in
    front of the guard.
    """

    variable: Variable
    declaration: Node
    start: Node
    extent: Node
    statements: tuple[Node, ...]
    test: Node | None = None
    exits: bool = False
    loop: Loop | None = None
    between: tuple[Node, ...] = ()


def guarded(source: Source, fn: Function) -> Work | None:
    """Return the work of a kernel with one element a thread under one test."""
    ids = [t for t in fn.thread_ids if t.axis == "x"] or list(fn.flat_ids)
    if len(ids) != 1:
        return None
    variable = ids[0].variable
    guards = [g for g in fn.guards if any(b[0] == variable.name for b in g.bounds or ())]
    if len(guards) != 1:
        return None
    guard = guards[0]
    if len(list(walk(fn.body, "return_statement"))) != guard.exits:
        return None
    if not variable.settled or variable.init is None or not _alone(source, fn, variable):
        return None
    bounds = [b for b in guard.bounds or () if b[0] == variable.name]
    if len(bounds) != 1 or bounds[0][1] != "<" or not fn.is_pure(bounds[0][2]):
        return None
    top = [n for n in fn.body.named_children if n.type != "comment"]
    at = next(i for i, n in enumerate(top) if n.id == guard.node.id)
    where = [i for i, n in enumerate(top) if n.id == variable.declaration.id]
    if not where or where[0] > at:
        return None
    if guard.exits:
        statements = top[at + 1 :]
    elif at == len(top) - 1 and guard.body.type == "compound_statement":
        statements = [n for n in guard.body.named_children if n.type != "comment"]
    elif at == len(top) - 1:
        statements = [guard.body]
    else:
        return None
    between = tuple(top[where[0] + 1 : at])
    if not all(n.type == "declaration" for n in (*top[: where[0]], *between)) or not statements:
        return None
    if any(u.variable is variable for u in fn.variables.within(bounds[0][2])):
        return None
    return Work(
        variable, variable.declaration, variable.init, bounds[0][2], tuple(statements),
        guard.node, guard.exits, None, between,
    )  # fmt: skip


def strided(fn: Function) -> Work | None:
    """Return the work of a kernel that is one grid-stride loop."""
    tops = [lp for lp in fn.loops if lp.depth == 0]
    if len(tops) != 1 or list(walk(fn.body, "return_statement")):
        return None
    loop = tops[0]
    if loop.kind != "for" or not loop.counted or loop.relation != "<" or loop.leaves_early:
        return None
    if loop.start is None or loop.bound is None or loop.step_node is None or loop.update is None:
        return None
    ids = [t for t in fn.thread_ids if t.axis == "x" and t.variable is loop.variable]
    stride = fn.affine(loop.step_node)
    if len(ids) != 1 or stride is None or loop.variable is None:
        return None
    if dict(stride.terms) != {tuple(sorted((ids[0].block, "gridDim.x"))): 1}:
        return None
    last = [n for n in fn.body.named_children if n.type != "comment"][-1]
    statements = [n for n in loop.body_statements() if n.type != "comment"]
    declaration = loop.variable.declaration
    if last.id != loop.node.id or not statements or not contains(loop.node, declaration):
        return None
    before = [n for n in fn.body.named_children if n.type != "comment" and n.id != last.id]
    if not all(n.type == "declaration" for n in before) or len(declaration.named_children) != 2:
        return None
    if any(n.type == "continue_statement" for n in walk(loop.body)):
        return None
    return Work(loop.variable, declaration, loop.start, loop.bound, tuple(statements), loop=loop)


def _alone(source: Source, fn: Function, variable: Variable) -> bool:
    """Return whether nothing but a variable's first value asks for the thread's x number."""
    if variable.init is None or not _only(variable.declaration):
        return False
    for node in walk(fn.body, "field_expression"):
        own = (*_NUMBERS, "blockIdx.y") if fn.flat_ids else _NUMBERS
        if source.plain(node) in own and not contains(variable.init, node):
            return False
    return source.in_block(variable.declaration)


def _only(declaration: Node) -> bool:
    """Return whether a declaration is of one variable, const or not."""
    inside = [n for n in declaration.named_children if n.type != "type_qualifier"]
    return len(inside) == 2


def inlined(source: Source, fn: Function, work: Work, node: Node, first: str) -> str | None:
    """Return an expression for the first element: locals of the work are replaced by their value.

    None when it needs a local that changes.
    """
    edits: list[Replacement] = []
    for use in fn.variables.within(node):
        variable = use.variable
        if variable is None or variable.space == "parameter":
            continue
        if variable is work.variable:
            edits.append((*span(use.node), first))
            continue
        inside = any(
            contains(s, variable.name_node) for s in (*work.statements, *dependent(fn, work))
        )
        if not inside:
            continue
        if not variable.settled or variable.init is None or not fn.is_pure(variable.init):
            return None
        if any(a.type == "init_declarator" and a.id == node.id for a in ancestors(node)):
            return None
        text = inlined(source, fn, work, variable.init, first)
        if text is None:
            return None
        edits.append((*span(use.node), f"({text})"))
    if not fn.is_pure(node) or list(walk(node, "subscript_expression")):
        return None
    low = node.start_byte
    return replace(source.of(node), [(a - low, b - low, new) for a, b, new in edits])


def dependent(fn: Function, work: Work) -> tuple[Node, ...]:
    """Return the declarations in front of the test that follow from the element's number."""
    names = {work.variable.name}
    found: list[Node] = []
    for node in work.between:
        if any(u.variable is not None and u.variable.name in names
               for u in fn.variables.within(node)):  # fmt: skip
            found.append(node)
            names |= {v.name for v in fn.variables.all if contains(node, v.name_node)}
    return tuple(found)
