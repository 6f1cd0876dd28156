"""A tree that folds a block's values in shared memory, a barrier a level."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from tree_sitter import Node

from optimizer.accesses import Access
from optimizer.functions import Function
from optimizer.loops import Loop
from optimizer.source import Source
from optimizer.spans import Replacement
from optimizer.syntax import contains, field, operator, stripped, walk
from optimizer.variables import Variable

SUFFIXES = {
    "float": "f", "double": "", "int": "i", "unsigned int": "i", "unsigned": "i",
    "long long": "i", "unsigned long long": "i",
}  # fmt: skip
_INTEGERS = frozenset({"int", "unsigned", "unsigned int", "short", "long", "size_t"})
_CALLS = {
    "max": "max", "fmax": "max", "fmaxf": "max", "min": "min", "fmin": "min", "fminf": "min",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Folded:
    """A shared array that a tree folds into its first element by `+`, `*`, `max` or `min`."""

    variable: Variable
    operation: str


@dataclass(frozen=True, slots=True)
class Clean:
    """A tree that is fed by one store a thread and read by thread 0 alone."""

    stores: tuple[Node, ...]
    barrier: Node
    reads: tuple[Access, ...]


def folded_arrays(source: Source, fn: Function, loop: Loop, block: int) -> tuple[Folded, ...]:
    """Return the arrays that a loop folds; none when it is something else."""
    if loop.depth or not loop.counted or loop.variable is None or loop.node.parent != fn.body:
        return ()
    if any(n.start_byte < loop.node.start_byte for n in walk(fn.body, "return_statement")):
        return ()  # a shuffle needs every lane
    if not halving(source, fn, loop, block) and not _doubling(source, fn, loop, block):
        return ()
    statements = [n for n in loop.body_statements() if n.type != "comment"]
    if loop.kind == "while" and loop.update is not None:
        statements = [n for n in statements if not contains(n, loop.update)]
    test = next((n for n in statements if n.type == "if_statement"), None)
    calls = [n for n in statements if n.type == "expression_statement"]
    others = [n for n in statements if n is not test and n not in calls]
    if test is None or len(calls) != 1 or source.plain(calls[0]) != "__syncthreads();":
        return ()
    if field(test, "alternative") is not None:
        return ()
    if any(n.type != "declaration" for n in others):
        return ()
    body = field(test, "consequence")
    inner = body.named_children if body is not None and body.type == "compound_statement" else [
        body
    ]  # fmt: skip
    found = [_fold(source, fn, loop, n) for n in inner if n is not None and n.type != "comment"]
    arrays = tuple(f[0] for f in found if f is not None)
    if not found or len(arrays) != len(found):
        return ()
    if len({a.variable.name for a in arrays}) != len(arrays):
        return ()
    scaled = {f[1] for f in found if f is not None}
    if len(scaled) != 1 or not _tested(source, fn, loop, test, block, scaled=scaled.pop()):
        return ()
    if any(u.variable is loop.variable and u.node.start_byte > loop.node.end_byte
           for u in loop.variable.uses):  # fmt: skip
        return ()
    return arrays


def halving(source: Source, fn: Function, loop: Loop, block: int) -> bool:
    """Return whether a loop counts from half of a block down to one, halving."""
    start = loop.start
    if start is None and loop.variable is not None and loop.variable.init is not None:
        if len(loop.variable.changes) != 1:
            return False
        start = loop.variable.init
    if (loop.scaling, source.plain(loop.step_node)) not in (("/", "2"), (">>", "1")):
        return False
    last = (loop.relation, source.plain(loop.bound))
    return _number(source, fn, block, start) == block // 2 and last in (
        (">", "0"), ("!=", "0"), (">=", "1"),
    )  # fmt: skip


def _doubling(source: Source, fn: Function, loop: Loop, block: int) -> bool:
    if (loop.scaling, source.plain(loop.step_node)) not in (("*", "2"), ("<<", "1")):
        return False
    if loop.start is None or source.plain(loop.start) != "1" or loop.relation != "<":
        return False
    return _number(source, fn, block, loop.bound) == block


def _tested(
    source: Source, fn: Function, loop: Loop, test: Node, block: int, *, scaled: bool
) -> bool:
    """Return whether the test lets through the threads of each level, no more and no fewer."""
    condition = stripped(field(test, "condition"))
    if condition is None or condition.type != "binary_expression":
        return False
    left, right, sign = field(condition, "left"), field(condition, "right"), operator(condition)
    name = loop.name
    if scaled:  # index = 2 * s * thread; index < blockDim.x
        value = fn.affine(left)
        fits = value is not None and dict(value.terms) == {tuple(sorted((name, "threadIdx.x"))): 2}
        return fits and sign == "<" and _number(source, fn, block, right) == block
    if halving(source, fn, loop, block):
        value = fn.affine(left)
        if value is None or dict(value.terms) != {("threadIdx.x",): 1}:
            return False
        return sign == "<" and source.plain(right) == name
    left = stripped(left)
    if sign != "==" or source.plain(right) != "0" or left is None or operator(left) != "%":
        return False
    value, step = fn.affine(field(left, "left")), fn.affine(field(left, "right"))
    if value is None or step is None or dict(value.terms) != {("threadIdx.x",): 1}:
        return False
    return dict(step.terms) == {(name,): 2}


def _fold(source: Source, fn: Function, loop: Loop, node: Node) -> tuple[Folded, bool] | None:
    """Return the array that `s[t] += s[t + offset];` folds, and whether t is `2 * s * thread`."""
    if node.type != "expression_statement" or not node.named_children:
        return None
    inner = node.named_children[0]
    if inner.type != "assignment_expression":
        return None
    touched = [a for a in fn.accesses if contains(node, a.node)]
    variable = touched[0].variable if touched else None
    if variable is None or variable.space != "shared" or len(variable.extents) != 1:
        return None
    if variable.element not in SUFFIXES or "volatile" in variable.type or variable.volatile:
        return None
    own = [a for a in touched if contains(field(inner, "left") or inner, a.node)]
    rest = [a for a in touched if a not in own]
    if len(own) != 1 or any(a.variable is not variable or a.index is None for a in touched):
        return None
    mine = own[0].index
    if mine is None:
        return None
    scaled = dict(mine.terms) == {tuple(sorted((loop.name, "threadIdx.x"))): 2}
    if not scaled and dict(mine.terms) != {("threadIdx.x",): 1}:
        return None
    far = [a for a in rest if a.index is not None and dict((a.index - mine).terms) == {
        (loop.name,): 1
    }]  # fmt: skip
    near = [a for a in rest if a.index is not None and a.index.same(mine)]
    sign, right = operator(inner), stripped(field(inner, "right"))
    if right is None or len(far) != 1 or len(far) + len(near) != len(rest):
        return None
    if sign in ("+=", "*="):
        fits = not near and right.id == far[0].node.id
        return (Folded(variable, sign[0]), scaled) if fits else None
    if sign != "=" or len(near) != 1:
        return None
    ends = {far[0].node.id, near[0].node.id}
    if right.type == "binary_expression" and operator(right) in ("+", "*"):
        sides = {n.id for n in (stripped(field(right, s)) for s in ("left", "right")) if n}
        return (Folded(variable, operator(right)), scaled) if sides == ends else None
    if right.type == "call_expression":
        name = source.plain(field(right, "function")).removeprefix("std::")
        listed = field(right, "arguments")
        given = {n.id for n in listed.named_children} if listed is not None else set()
        if name in _CALLS and given == ends and not source.known(name):
            return Folded(variable, _CALLS[name]), scaled
    return None


def _number(source: Source, fn: Function, block: int, node: Node | None) -> int | None:
    """Return an integer, seen through settled locals and what every launch passes."""

    def inserted(found: re.Match[str]) -> str:
        variable = fn.variables.named(found[0], node) if node is not None else None
        if variable is None and len(given := template_arguments(source, fn, found[0])) == 1:
            number = source.value(given.pop())
            return found[0] if number is None else str(number)
        if variable is None or not variable.settled or not variable.is_scalar:
            return found[0]
        if variable.space == "local" and variable.element in _INTEGERS:
            number = _number(source, fn, block, variable.init)
        else:
            number = number_passed(source, fn, variable)
        return found[0] if number is None else str(number)

    text = re.sub(r"\bblockDim\s*\.\s*x\b", str(block), source.plain(node))
    return source.value(re.sub(r"\b[A-Za-z_]\w*\b", inserted, text))


def template_arguments(source: Source, fn: Function, name: str) -> set[str]:
    """Return what launches give for a template parameter; none where one of them is not seen."""
    names = [t.name for t in fn.templates]
    if name not in names or not source.only_launched(fn.name):
        return set()
    at = names.index(name)
    given = [launch.template[at : at + 1] for launch in source.launches_of(fn.name)]
    return {one[0] for one in given} if given and all(given) else set()


def number_passed(source: Source, fn: Function, variable: Variable) -> int | None:
    """Return what every launch passes for an integer parameter; None unless it is one number."""
    places = [i for i, p in enumerate(fn.parameters) if p.name == variable.name]
    if variable.element not in _INTEGERS or not places or not source.only_launched(fn.name):
        return None
    found: set[int | None] = set()
    for launch in source.launches_of(fn.name):
        host = source.function(launch.function)
        if host is None or host.body != launch.function_node or places[0] >= len(launch.arguments):
            return None
        found.add(_of_host(source, host, launch.arguments[places[0]]))
    return found.pop() if len(found) == 1 else None


def _of_host(source: Source, host: Function, node: Node) -> int | None:
    variable = host.variables.of(node) if node.type == "identifier" else None
    if variable is None:
        return source.value(source.plain(node)) if node.type == "number_literal" else (
            source.constant(source.plain(node))
        )  # fmt: skip
    if not variable.settled or variable.init is None or variable.element not in _INTEGERS:
        return None
    return _of_host(source, host, variable.init)


def counter_removed(source: Source, loop: Loop) -> list[Replacement]:
    """Return the removal of a counter declared in front of a loop that is rewritten without it."""
    outside = loop.variable
    if outside is None or contains(loop.node, outside.name_node):
        return []
    alone = all(
        contains(loop.node, u.node) or contains(outside.declaration, u.node) for u in outside.uses
    )
    if not alone or len(outside.declaration.named_children) != 2:
        return []
    return [(*source.statement_span(outside.declaration), "")]


def only_first_kept(fn: Function, loop: Loop, arrays: Sequence[Folded]) -> bool:
    """Return whether only the first element is read behind a tree that starts behind a barrier."""
    for array in arrays:
        for access in fn.accesses:
            if access.variable is not array.variable:
                continue
            if access.node.start_byte < loop.node.start_byte:
                continue
            if contains(loop.node, access.node):
                continue
            if access.index is None or access.index.constant != 0 or access.writes:
                return False
    previous = loop.node.prev_named_sibling
    while previous is not None and previous.type in ("comment", "declaration"):
        previous = previous.prev_named_sibling
    return previous is not None and fn.file.syntax.plain(previous) == "__syncthreads();"


def clean_tree(source: Source, fn: Function, loop: Loop, arrays: Sequence[Folded]) -> Clean | None:
    """Return the stores and reads around a tree, None when there are others."""
    wanted = {id(a.variable) for a in arrays}
    stores: list[Node] = []
    reads: list[Access] = []
    firsts = [
        g
        for g in fn.guards
        if not g.exits
        and g.bounds is not None
        and len(g.bounds) == 1
        and g.bounds[0][1] == "=="
        and source.plain(g.bounds[0][2]) == "0"
        and _is_thread(fn, stripped(field(g.node, "condition")))
    ]
    for access in fn.accesses:
        if id(access.variable) not in wanted or contains(loop.node, access.node):
            continue
        if access.node.start_byte < loop.node.start_byte:
            at = access.statement
            if access.kind != "write" or at is None or at.parent != fn.body:
                return None
            if access.index is None or dict(access.index.terms) != {("threadIdx.x",): 1}:
                return None
            inner = at.named_children[0] if at.type == "expression_statement" else None
            if inner is None or inner.type != "assignment_expression" or operator(inner) != "=":
                return None
            if field(inner, "left") != access.node:
                return None
            stores.append(at)
            continue
        if access.kind != "read" or access.index is None or access.index.constant != 0:
            return None
        if not any(contains(g.node, access.node) for g in firsts):
            return None
        reads.append(access)
    uses = sum(len([u for u in a.variable.uses if u.role != "declare"]) for a in arrays)
    seen = [a for a in fn.accesses if id(a.variable) in wanted]
    if len(stores) != len(arrays) or not reads or uses != len(seen):
        return None
    between = [
        n
        for n in fn.body.named_children
        if stores[0].start_byte <= n.start_byte < loop.node.start_byte
        and n.type not in ("comment", "declaration")
        and n not in stores
    ]
    if len(between) != 1 or source.plain(between[0]) != "__syncthreads();":
        return None
    return Clean(tuple(stores), between[0], tuple(reads))


def _is_thread(fn: Function, condition: Node | None) -> bool:
    if condition is None or condition.type != "binary_expression":
        return False
    sides = [fn.affine(field(condition, side)) for side in ("left", "right")]
    return any(s is not None and dict(s.terms) == {("threadIdx.x",): 1} for s in sides)
