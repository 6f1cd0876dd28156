"""Loops that keep a running sum, in a variable or in the array that they write."""

from __future__ import annotations

from dataclasses import dataclass

from tree_sitter import Node

from optimizer.accesses import Access
from optimizer.functions import Function
from optimizer.loops import Loop
from optimizer.rules.split_loop import own_element
from optimizer.source import Source
from optimizer.syntax import contains, field, operator, stripped, walk
from optimizer.variables import Variable

TYPES = frozenset({
    "float", "double", "int", "unsigned", "unsigned int", "long long", "unsigned long long",
})  # fmt: skip
_ADDED = frozenset({
    "int", "unsigned", "unsigned int", "char", "unsigned char", "short", "bool", "long long",
    "unsigned short", "unsigned long long", "uint8_t", "uint32_t", "int32_t",
})  # fmt: skip
_WHOLE = frozenset({"int", "unsigned", "unsigned int", "size_t", "long", "long long"})


@dataclass(frozen=True, slots=True)
class RunningSum:
    """A loop over neighbouring elements that adds one value an iteration to a sum.

    The sum is a `variable`, or what the iteration before left in an array (`previous`, in which
    the loop's variable stands). `element` is the type as it is declared. `value` is what is
    added; `before` and `after` are assignments to elements that see the sum without it and with
    it, `locals` what is declared in front of them. In an array `after` is the one assignment, of
    `previous` and `value`.
    """

    loop: Loop
    element: str
    value: Node
    locals: tuple[Variable, ...]
    before: tuple[Node, ...]
    after: tuple[Node, ...]
    variable: Variable | None = None
    previous: Access | None = None


def running_sum(source: Source, fn: Function, loop: Loop) -> RunningSum | None:
    """Return the running sum that a loop keeps; None when it does anything else."""
    if not _plain(source, fn, loop):
        return None
    locals_: list[Variable] = []
    rest: list[Node] = []
    for statement in loop.body_statements():
        if statement.type == "comment":
            continue
        if statement.type == "declaration" and not rest:
            declared = _declared(fn, loop, statement)
            if declared is None:
                return None
            locals_ += declared
            continue
        inner = statement.named_children[0] if statement.named_children else None
        if statement.type != "expression_statement" or inner is None:
            return None
        if inner.type != "assignment_expression":
            return None
        rest.append(inner)
    found = _in_variable(source, fn, loop, rest, tuple(locals_))
    return found or _in_array(source, fn, loop, rest, tuple(locals_))


def _plain(source: Source, fn: Function, loop: Loop) -> bool:
    """Return whether a loop counts up by one and does nothing that depends on its order."""
    variable = loop.variable
    if loop.kind != "for" or not loop.counted or loop.step != 1 or variable is None:
        return False
    if loop.relation not in ("<", "<=") or loop.start is None or loop.bound is None:
        return False
    if variable.element not in _WHOLE or not contains(loop.node, variable.name_node):
        return False
    if fn.leaves(loop.node) or fn.unknown_in(loop.node) or not fn.is_invariant(loop.bound, loop):
        return False
    calls = (*fn.barriers, *fn.warp_calls, *fn.atomics, *fn.unknown_calls)
    if any(contains(loop.node, c.node) for c in calls):
        return False
    return source.in_block(loop.node) and fn.is_pure(loop.start)


def _declared(fn: Function, loop: Loop, statement: Node) -> list[Variable] | None:
    """Return the scalars that a declaration in a loop sets once; None for anything else."""
    found = [v for v in fn.variables.all if v.declaration == statement]
    for variable in found:
        if not variable.is_scalar or variable.init is None or variable.reference:
            return None
        if variable.changes or variable.element not in TYPES | {"char", "unsigned char"}:
            return None
        if not fn.is_pure(variable.init) or not contains(loop.node, variable.name_node):
            return None
    return found or None


def _in_variable(
    source: Source, fn: Function, loop: Loop, rest: list[Node], locals_: tuple[Variable, ...]
) -> RunningSum | None:
    adding = [n for n in rest if (field(n, "left") or n).type == "identifier"]
    target = field(adding[0], "left") if len(adding) == 1 else None
    variable = fn.variables.of(target) if target is not None else None
    if variable is None or variable.element not in TYPES or not variable.is_scalar:
        return None
    if variable.space != "local" or contains(loop.node, variable.name_node):
        return None
    value = _added(source, fn, adding[0], variable)
    if value is None or not fn.is_pure(value) or not _kept_whole(fn, variable.element, value):
        return None
    at = rest.index(adding[0])
    before, after = tuple(rest[:at]), tuple(rest[at + 1 :])
    if any(u.variable is variable for v in locals_ for u in fn.variables.within(v.declaration)):
        return None
    inside = fn.accesses_in(loop.node)
    for access in inside:
        if access.writes and not own_element(source, fn, loop, access, inside):
            return None
    if not _stores(fn, (*before, *after)) or not any(a.writes for a in inside):
        return None
    # What the value reads must not have been overwritten in the same iteration.
    stored = {a.root for n in before for a in inside if a.writes and contains(n, a.node)}
    if any(a.root in stored and contains(value, a.node) for a in inside):
        return None
    if any(a.reads and contains(n, a.node) for n in (*before, *after) for a in inside):
        return None
    return RunningSum(loop, variable.written, value, locals_, before, after, variable)


def _kept_whole(fn: Function, element: str, value: Node) -> bool:
    """Return whether nothing is cut off what is added: no float goes to a sum of integers."""
    return element in ("float", "double") or fn.type_of(value) in _ADDED


def _stores(fn: Function, statements: tuple[Node, ...]) -> bool:
    """Return whether statements set elements of memory, by `=`, to pure values."""
    for node in statements:
        target, value = field(node, "left"), field(node, "right")
        if operator(node) != "=" or target is None or target.type != "subscript_expression":
            return False
        if value is None or not fn.is_pure(value):
            return False
    return True


def _added(source: Source, fn: Function, node: Node, variable: Variable) -> Node | None:
    """Return what an assignment adds to a variable."""
    right = stripped(field(node, "right"))
    if right is None:
        return None
    if operator(node) == "+=":
        found: Node | None = right
    else:
        found = _other(source, right, variable.name) if operator(node) == "=" else None
    if found is None or any(u.variable is variable for u in fn.variables.within(found)):
        return None
    return found


def _other(source: Source, node: Node, text: str) -> Node | None:
    """Return the other side of a sum, one side of which is written so."""
    if node.type != "binary_expression" or operator(node) != "+":
        return None
    left, right = field(node, "left"), field(node, "right")
    if source.plain(stripped(left)) == text:
        return right
    return left if source.plain(stripped(right)) == text else None


def _in_array(
    source: Source, fn: Function, loop: Loop, rest: list[Node], locals_: tuple[Variable, ...]
) -> RunningSum | None:
    """Return `a[i] = a[i - 1] + value;` or `a[i] += a[i - 1];`."""
    if len(rest) != 1:
        return None
    node = rest[0]
    inside = fn.accesses_in(loop.node)
    stored = [a for a in inside if a.writes]
    target = field(node, "left")
    if len(stored) != 1 or target is None or stored[0].node != target or stored[0].index is None:
        return None
    mine = stored[0]
    index = mine.index
    stride = mine.loop_stride(loop)
    if index is None or stride is None or stride.constant != 1 or mine.cast:
        return None
    previous = [
        a for a in inside
        if a.root == mine.root and a.index is not None and a is not mine
        and (index - a.index).constant == 1
    ]  # fmt: skip
    if len(previous) != 1 or previous[0].cast or mine.element not in TYPES:
        return None
    others = [a for a in inside if a is not previous[0]]
    own = own_element(source, fn, loop, mine, others)
    right = stripped(field(node, "right"))
    if not own or right is None or not fn.is_pure(right):
        return None
    if operator(node) == "+=":
        value = target if right == previous[0].node else None
    else:
        value = (
            _other(source, right, source.plain(previous[0].node)) if operator(node) == "=" else None
        )
    if value is None or any(contains(v.init or node, previous[0].node) for v in locals_):
        return None
    if not _kept_whole(fn, mine.element, value):
        return None
    return RunningSum(
        loop, mine.element, value, locals_, (), (node,), previous=previous[0]
    )  # fmt: skip


def within(source: Source, root: Node, name: str) -> list[Node]:
    """Return the identifiers of a name in a node."""
    return [n for n in walk(root, "identifier") if source.of(n) == name]
