"""Give the interior of a domain a path of its own, without clamped, mirrored or wrapped indices."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tree_sitter import Node

from optimizer.functions import Function
from optimizer.loops import Loop
from optimizer.rules.linear import Sum, Test, added, compared, limits, linear, scaled, text_of
from optimizer.source import Source
from optimizer.spans import Replacement
from optimizer.spans import replace as replaced
from optimizer.syntax import ancestors, contains, field, span, stripped, walk


def without_clamps(source: Source, fn: Function, loop: Loop) -> Replacement | None:
    """Return the loop in two versions, without clamps where no index needs one."""
    if loop.depth or loop.pragma is not None or not source.in_block(loop.node):
        return None
    if any(a.type == "else_clause" for a in ancestors(loop.node, fn.body)) or fn.barriers:
        return None
    if any(contains(loop.node, n) for n in (c.node for c in fn.warp_calls)):
        return None
    names: dict[str, Sum] = {}
    ends: dict[str, tuple[Sum, Sum]] = {}
    for inner in fn.loops:
        if contains(loop.node, inner.node):
            found = limits(source, fn, inner, loop.node)
            if found is None or ends.get(inner.name, found) != found:
                continue
            names[inner.name], ends[inner.name] = {inner.name: 1}, found
    edits: list[Replacement] = []
    conditions: list[str] = []
    for statement, found_tests in _rebent(source, fn, loop, names):
        if any(set(t.total) & set(ends) for t in found_tests):
            inside = [_everywhere(test.negated, ends) for test in found_tests]
            conditions += [c for c in dict.fromkeys(inside) if c not in conditions]
            edits.append((*source.statement_span(statement), ""))
    for node in walk(loop.body, "call_expression", "conditional_expression"):
        if any(a <= node.start_byte and node.end_byte <= b for a, b, _ in edits):
            continue
        bent = _bent(source, fn, node, loop.node, names)
        if bent is None:
            continue
        inside = [_everywhere(test.negated, ends) for test in bent[1]]
        if not inside or not any(set(t.total) & set(ends) for t in bent[1]):
            continue
        conditions += [c for c in inside if c not in conditions]
        edits.append((*span(node), _grouped(source, bent[0], node)))
    if not edits:
        return None
    margin = source.indent(loop.node)
    unit = "\t" if margin.endswith("\t") else " " * (len(margin) if len(margin) in (2, 3, 4) else 4)
    slow = source.of(loop.node)
    low = loop.node.start_byte
    fast = replaced(slow, [(a - low, b - low, text) for a, b, text in sorted(edits)])
    text = (
        f"if ({' && '.join(conditions)}) {{\n{margin}{unit}{_deeper(fast, unit)}\n"
        f"{margin}}} else {{\n{margin}{unit}{_deeper(slow, unit)}\n{margin}}}"
    )
    return (*span(loop.node), text)


def _rebent(
    source: Source, fn: Function, loop: Loop, names: dict[str, Sum]
) -> Iterator[tuple[Node, list[Test]]]:
    """Yield statements such as `if (px < 0) px = 0;` with the tests under which they do anything.

    Only for locals of the loop that nothing else changes.
    """
    for variable in fn.variables.all:
        if variable.init is None or variable.element != "int" or not variable.changes:
            continue
        if not contains(loop.body, variable.name_node) or variable.address_taken:
            continue
        total = linear(source, fn, variable.init, loop.node, names)
        if total is None or variable.name in names:
            continue
        known = {**names, variable.name: total}
        found = [
            _changing(source, fn, u.node, loop, variable.name, known) for u in variable.changes
        ]
        kept = {f[0].id: f for f in found if f is not None}
        if all(f is not None for f in found):
            yield from kept.values()


def _changing(
    source: Source, fn: Function, use: Node, loop: Loop, name: str, known: dict[str, Sum]
) -> tuple[Node, list[Test]] | None:
    """Read `if (v < 0) v = 0; else if ...` or `v = max(v, 0);` around a change of `v`."""
    statement = fn.statement(use)
    assigned = use.parent
    if statement is None or assigned is None or assigned.type != "assignment_expression":
        return None
    if statement.type != "expression_statement" or assigned.parent != statement:
        return None
    top = statement
    for outer in ancestors(statement, loop.body):
        if outer.type == "if_statement":
            top = outer
        elif outer.type != "else_clause" and not (
            outer.type == "compound_statement" and len(outer.named_children) == 1
        ):
            break
    if not source.in_block(top):
        return None
    if top == statement:
        value = _outside(source, fn, field(assigned, "right"), loop.node, known)
        if value is None or source.of(value[0]) != name or not value[1]:
            return None
        return statement, value[1]
    conditions = _conditions(source, fn, top, name)
    if conditions is None:
        return None
    told = [t for c in conditions for _, t in compared(source, fn, c, loop.node, known, "||")]
    return None if any(t is None for t in told) else (top, [t for t in told if t is not None])


def _conditions(source: Source, fn: Function, top: Node, name: str) -> list[Node | None] | None:
    """Return the conditions of an `if` that does nothing but set one name; else None."""
    found: list[Node | None] = []
    for node in walk(top):
        if node.type == "if_statement":
            found.append(field(node, "condition"))
        elif node.type == "expression_statement":
            inner = node.named_children[0] if node.named_children else None
            value = field(inner, "right")
            if value is None or source.of(field(inner, "left")) != name or not fn.is_pure(value):
                return None
        elif node.type.endswith("_statement") and node.type != "compound_statement":
            return None
    return found


def _deeper(text: str, unit: str) -> str:
    first, *rest = text.split("\n")
    return "\n".join([first, *(unit + x if x.strip() else x for x in rest)])


def _grouped(source: Source, value: Node, place: Node) -> str:
    """Return the text of a plain index, in parentheses where it needs them."""
    text = source.of(value)
    parent = place.parent
    alone = parent is not None and parent.type in (
        "init_declarator", "parenthesized_expression", "argument_list", "subscript_argument_list",
    )  # fmt: skip
    right = parent is not None and parent.type == "assignment_expression"
    simple = value.type in ("identifier", "number_literal", "parenthesized_expression")
    return text if alone or right or simple else f"({text})"


def _everywhere(test: Test, ends: dict[str, tuple[Sum, Sum]]) -> str:
    """Write that a test holds for all values of the loops' variables."""
    total = dict(test.total)
    worst_low = test.relation in (">", ">=")
    for name, (first, last) in ends.items():
        factor = total.pop(name, 0)
        if factor:
            end = first if (factor > 0) == worst_low else last
            total = added(total, scaled(end, factor))
    plus = {k: f for k, f in total.items() if f > 0}
    minus = scaled({k: f for k, f in total.items() if f < 0}, -1)
    return f"{text_of(plus)} {test.relation} {text_of(minus)}"


def _bent(
    source: Source, fn: Function, node: Node, within: Node, names: dict[str, Sum]
) -> tuple[Node, list[Test]] | None:
    """Return the plain index of a clamped one and the tests outside of which they are equal."""
    if node.type == "call_expression":
        callee = source.function(source.plain(field(node, "function")))
        listed = field(node, "arguments")
        given = listed.named_children if listed is not None else []
        if callee is not None and given and len(given) == len(callee.parameters):
            if linear(source, fn, given[0], within, names) is None:
                return None
            told = _called(source, fn, callee, given, within, names)
            return (given[0], told) if told else None
    found = _outside(source, fn, node, within, names)
    if found is None or not found[1]:
        return None
    return found


def _outside(
    source: Source, fn: Function, node: Node | None, within: Node, names: dict[str, Sum]
) -> tuple[Node, list[Test]] | None:
    """Read `min(max(v, 0), n - 1)` and `v < 0 ? 0 : v`: `v` and the tests that change it."""
    node = stripped(node)
    if node is None:
        return None
    if node.type == "call_expression":
        return _extreme(source, fn, node, within, names)
    if node.type == "conditional_expression":
        return _chosen(source, fn, node, within, names)
    total = linear(source, fn, node, within, names)
    return (node, []) if total is not None and node.type != "number_literal" else None


def _extreme(
    source: Source, fn: Function, node: Node, within: Node, names: dict[str, Sum]
) -> tuple[Node, list[Test]] | None:
    name = source.plain(field(node, "function")).removeprefix("std::")
    listed = field(node, "arguments")
    given = listed.named_children if listed is not None else []
    if name not in ("min", "max") or len(given) != 2:
        return None
    for one, other in (given, given[::-1]):
        value = _outside(source, fn, one, within, names)
        limit = linear(source, fn, other, within, names)
        if value is None or limit is None or set(limit) & set(names):
            continue
        total = linear(source, fn, value[0], within, names)
        if total is None or not set(total) & set(names):
            continue
        test = Test(added(total, scaled(limit, -1)), "<" if name == "max" else ">")
        return value[0], [*value[1], test]
    return None


def _chosen(
    source: Source, fn: Function, node: Node, within: Node, names: dict[str, Sum]
) -> tuple[Node, list[Test]] | None:
    condition = stripped(field(node, "condition"))
    if condition is None:
        return None
    for branch, joint, negate in (("alternative", "||", False), ("consequence", "&&", True)):
        value = _outside(source, fn, field(node, branch), within, names)
        if value is None:
            continue
        total = linear(source, fn, value[0], within, names)
        if total is None or not (set(total) & set(names)):
            continue
        found = [t for _, t in compared(source, fn, condition, within, names, joint)]
        if any(t is None for t in found):
            return None
        kept = [t.negated if negate else t for t in found if t is not None]
        return value[0], [*value[1], *kept]
    return None


def _called(
    source: Source,
    fn: Function,
    callee: Function,
    given: Sequence[Node],
    within: Node,
    names: dict[str, Sum],
) -> list[Test] | None:
    """Return the tests outside of which a small function returns its first argument."""
    if not callee.pure or any(
        p.type.strip() not in ("int", "const int") for p in callee.parameters
    ):
        return None
    known: dict[str, Sum] = {}
    for parameter, node in zip(callee.parameters, given, strict=True):
        total = linear(source, fn, node, within, names)
        if total is None:
            return None
        known[parameter.name] = total
    value = callee.parameters[0].name
    found: list[Test] = []
    statements = [n for n in callee.body.named_children if n.type != "comment"]
    for node in statements[:-1]:
        if node.type != "if_statement" or field(node, "alternative") is not None:
            return None
        for _, test in compared(source, callee, field(node, "condition"), callee.body, known, "||"):
            if test is None:
                return None
            found.append(test)
    last = statements[-1] if statements else None
    if last is None or last.type != "return_statement" or not last.named_children:
        return None
    result = _outside_of(source, callee, last.named_children[0], value, known)
    return None if result is None else [*found, *result]


def _outside_of(
    source: Source, callee: Function, node: Node, value: str, known: dict[str, Sum]
) -> list[Test] | None:
    """Return the tests outside of which an expression of a function is its parameter `value`."""
    inner = stripped(node)
    if inner is None:
        return None
    if inner.type == "identifier":
        return [] if source.of(inner) == value else None
    if inner.type == "conditional_expression":
        for branch, joint, negate in (("alternative", "||", False), ("consequence", "&&", True)):
            part = field(inner, branch)
            rest = _outside_of(source, callee, part, value, known) if part is not None else None
            if rest is None:
                continue
            condition = field(inner, "condition")
            told = [t for _, t in compared(source, callee, condition, callee.body, known, joint)]
            if any(t is None for t in told):
                return None
            return [*rest, *(t.negated if negate else t for t in told if t is not None)]
    if inner.type == "call_expression":
        name = source.plain(field(inner, "function")).removeprefix("std::")
        listed = field(inner, "arguments")
        given = listed.named_children if listed is not None else []
        if name in ("min", "max") and len(given) == 2:
            for one, other in (given, given[::-1]):
                rest = _outside_of(source, callee, one, value, known)
                limit = linear(source, callee, other, callee.body, known)
                if rest is not None and limit is not None:
                    total = added(known[value], scaled(limit, -1))
                    return [*rest, Test(total, "<" if name == "max" else ">")]
    return None
