"""What a piece of a function may change, read or decide: effects, aliases, uniformity."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tree_sitter import Node

from optimizer import intrinsics
from optimizer.affine import BUILTINS
from optimizer.loops import Loop
from optimizer.syntax import ancestors, contains, field, walk
from optimizer.variables import Variable

if TYPE_CHECKING:
    from optimizer.functions import Function


def reads(fn: Function, node: Node) -> frozenset[str]:
    """Return names of variables whose value, or an element of which, a node may use."""
    return (
        frozenset(
            u.name for u in fn.variables.within(node) if u.role not in ("write", "store", "declare")
        )
        - BUILTINS
    )


def writes(fn: Function, node: Node) -> frozenset[str]:
    """Return names of variables that a node may change, or an element of which it may."""
    found = {u.name for u in fn.variables.within(node) if u.writes}
    return frozenset(found)


def is_pure(fn: Function, node: Node) -> bool:
    """Return whether evaluating an expression changes nothing and calls only CUDA math."""
    for inner in walk(node):
        if inner.type in _IMPURE:
            return False
        if inner.type == "call_expression":
            name = fn.file.syntax.plain(field(inner, "function")).partition("<")[0]
            if not (
                intrinsics.is_pure(name)
                or name in ("static_cast", "__ldg")
                or fn.file.pure_call(name)
                or any(t.name == name for t in fn.templates)
            ):
                return False
    return not fn.unknown_in(node)


def is_invariant(fn: Function, node: Node, loop: Loop | Node) -> bool:
    """Return whether an expression has the same value in every iteration of a loop.

    It must be pure, use no variable the loop changes, and read no array that the loop may
    write, also through another pointer.
    """
    within = loop.node if isinstance(loop, Loop) else loop
    if not fn.is_pure(node):
        return False
    for use in fn.variables.within(node):
        variable = use.variable
        if variable is None:
            if use.name in fn.file.spaces and fn.file.spaces[use.name] != "constant":
                return False
            continue
        if contains(within, variable.name_node) and not contains(node, variable.name_node):
            return False
        if any(contains(within, c.node) for c in variable.changes) or variable.address_taken:
            return False
        if use.role != "read" and _memory_changes(fn, variable, within):
            return False
    return True


def _memory_changes(fn: Function, variable: Variable, within: Node) -> bool:
    """Return whether memory behind a pointer may change in a node."""
    if any(contains(within, c.node) for c in (*fn.barriers, *fn.unknown_calls)):
        return not (variable.restrict and variable.const)
    for use in fn.variables.within(within):
        if not use.writes or use.variable is None or use.role in ("write", "update"):
            if use.writes and use.variable is None:
                return True
            continue
        if fn.may_alias(variable, use.variable):
            return True
    return False


def may_alias(fn: Function, one: Variable, other: Variable) -> bool:
    """Return whether two arrays or pointers may share memory.

    Arrays are apart from everything else; a `__restrict__` parameter is apart from other
    parameters; pointers to different arithmetic types are apart by the language's rules
    (not char). A local pointer may point anywhere its sources do.
    """
    if one is other:
        return True
    a, b = _origin(fn, one), _origin(fn, other)
    if a is b:
        return True
    if a is None or b is None:
        return True
    if a.is_array or b.is_array:
        return False
    if a.restrict or b.restrict:
        return False
    kinds = {a.element, b.element}
    return not (len(kinds) == 2 and kinds <= _DISTINCT)


def _origin(fn: Function, variable: Variable) -> Variable | None:
    """Return the parameter or array behind a pointer; None when it cannot be told."""
    current = variable
    for _ in range(8):
        if current.is_array or current.space in ("parameter", "shared"):
            moved = current.is_pointer and current.address_taken
            reassigned = any(u.role == "write" for u in current.uses)
            return None if moved or reassigned else current
        if current.init is None or any(u.role in ("write", "address") for u in current.uses):
            return None
        sources = [
            u.variable
            for u in fn.variables.within(current.init)
            if u.variable is not None and (u.variable.is_pointer or u.variable.is_array)
        ]
        if len(sources) != 1:
            return None
        current = sources[0]
    return None


def leaves(node: Node) -> bool:
    """Return whether a node holds return, goto, or a break/continue of a loop around it."""
    for jump in walk(
        node, "return_statement", "goto_statement", "break_statement", "continue_statement"
    ):
        if jump.type in ("return_statement", "goto_statement"):
            return True
        stops = _LOOPS if jump.type == "continue_statement" else (*_LOOPS, "switch_statement")
        if not any(a.type in stops for a in ancestors(jump, node)) and node.type not in stops:
            return True
    return False


def uniform(fn: Function, node: Node) -> bool:
    """Return whether an expression is seen to be equal for all threads of a block.

    Constants, value parameters, blockIdx, blockDim, gridDim and settled locals made of them.
    """
    value = fn.affine(node)
    names = (
        value.symbols
        if value is not None
        else {fn.file.syntax.plain(n) for n in walk(node, "identifier", "field_expression")}
    )
    for name in names:
        if name.partition(".")[0] in ("blockIdx", "blockDim", "gridDim"):
            continue
        if name.startswith("threadIdx"):
            return False
        variable = fn.variables.named(name, node)
        if variable is None:
            if fn.file.constant(name) is None and not any(t.name == name for t in fn.templates):
                return False
            continue
        if not variable.settled or variable.is_array or variable.is_pointer:
            return False
        if variable.space != "parameter" and any(
            s.startswith("threadIdx") for s in fn.expander.sources(variable)
        ):
            return False
    return True


def divergent(fn: Function, node: Node) -> bool:
    """Return whether a node stands under a test or loop not seen to be uniform in a block."""
    for outer in ancestors(node, fn.body):
        if outer.type not in (
            "if_statement",
            "while_statement",
            "for_statement",
            "switch_statement",
            "do_statement",
            "conditional_expression",
        ):
            continue
        condition = field(outer, "condition")
        if condition is not None and not fn.uniform(condition):
            return True
    return False


_LOOPS = ("for_statement", "while_statement", "do_statement", "for_range_loop")
_IMPURE = frozenset({
    "assignment_expression", "update_expression", "gnu_asm_expression", "new_expression",
    "delete_expression", "lambda_expression", "ERROR", "throw_statement", "co_await_expression",
})  # fmt: skip
_DISTINCT = frozenset({"int", "unsigned int", "float", "double", "short", "unsigned", "long long"})
