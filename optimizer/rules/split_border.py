"""Take bounds tests out of the inside of a domain: tighter loops, and a path without clamps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tree_sitter import Node

from optimizer.functions import Function
from optimizer.loops import Loop
from optimizer.model import Edit, Finding, Kernel
from optimizer.rules.linear import (
    FLIPPED,
    Sum,
    Test,
    added,
    compared,
    limits,
    linear,
    scaled,
    text_of,
)
from optimizer.source import Source
from optimizer.spans import Replacement
from optimizer.spans import replace as replaced
from optimizer.syntax import ancestors, contains, field, span, stripped, walk

_NAME = "split-border"


def split_border(kernel: Kernel, findings: Sequence[Finding]) -> Iterator[Edit]:
    """Replace tests in a loop by bounds of the loop, or give the interior a path without clamps.

    `if (x + k >= 0 && x + k < w)` in a loop over `k` holds for a stretch of `k`: the loop then
    starts at `max(-r, -x)` and needs no test. An index that is clamped, mirrored or wrapped at the
    border is itself where no border is near: one test in front of the loops tells.
    """
    del findings
    source = Source(kernel.source)
    for fn in source.functions:
        if not fn.is_kernel and "__device__" not in fn.qualifiers:
            continue
        if fn.broken or fn.has_asm or fn.has_goto or fn.conditional:
            continue
        for loop in fn.loops:
            edits = _tightened(source, fn, loop)
            if edits:
                yield Edit(
                    f"bound the loop of `{fn.name}` instead of testing in it",
                    source.replace(sorted(edits)),
                    f"rule:{_NAME}",
                    f"The test in the loop of line {loop.line} is true for one stretch of"
                    f" `{loop.name}`: start and end there, and test nothing inside.",
                    _NAME,
                    1.3,
                )
            fast = _interior(source, fn, loop)
            if fast is not None:
                yield Edit(
                    f"walk the interior in `{fn.name}` without clamping",
                    source.replace([fast]),
                    f"rule:{_NAME}",
                    f"The indices in the loop of line {loop.line} are bent at the border only; a"
                    " thread far from it can use them as they are.",
                    _NAME,
                    1.4,
                )


# -- bounds instead of tests ---------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Tested:
    """A test that guards all a loop's body does, and the comparisons under which it works."""

    node: Node
    skips: bool
    parts: tuple[tuple[Node, Test | None], ...]


def _tightened(source: Source, fn: Function, loop: Loop) -> list[Replacement]:
    """Return the edits that put the tests of an innermost loop into bounds; empty if none fit."""
    if limits(source, fn, loop, loop.node) is None:
        return []
    tested = _tested(source, fn, loop)
    if tested is None:
        return []
    nest = _nest(fn, loop)
    low: dict[int, list[str]] = {}
    high: dict[int, list[str]] = {}
    left: list[Node] = []
    for node, test in tested.parts:
        home = next(
            (lp for lp in nest if test is not None and _movable(source, fn, test, lp)), None
        )
        if home is None or test is None:
            left.append(node)
            continue
        starts, bound = _bound(home, test)
        (low if starts else high).setdefault(home.node.id, []).append(bound)
    if len(left) == len(tested.parts):
        return []
    edits: list[Replacement] = []
    for lp in nest:
        if lp.start is None or lp.bound is None:
            return []
        for node, name, found in ((lp.start, "max", low), (lp.bound, "min", high)):
            text = source.of(node)
            for bound in found.get(lp.node.id, []):
                text = f"{name}({text}, {bound})"
            if lp.node.id in found:
                edits.append((*span(node), text))
    return [*edits, *_without(source, tested, left)]


def _tested(source: Source, fn: Function, loop: Loop) -> _Tested | None:
    """Find `if (...) {...}` at the end of a body, or `if (...) continue;` before its work."""
    for node in loop.body_statements():
        if node.type == "comment" or (node.type == "declaration" and fn.is_pure(node)):
            continue
        if node.type != "if_statement" or field(node, "alternative") is not None:
            return None
        skips = _only_continue(field(node, "consequence"))
        if not skips and node.id != loop.body_statements()[-1].id:
            return None
        if skips and loop.body.type != "compound_statement":
            return None
        condition = field(node, "condition")
        names: dict[str, Sum] = {lp.name: {lp.name: 1} for lp in [*_nest(fn, loop), loop]}
        found = compared(source, fn, condition, loop.node, names, "||" if skips else "&&")
        parts = [(at, t.negated if t is not None and skips else t) for at, t in found]
        return _Tested(node, skips, tuple(parts))
    return None


def _only_continue(node: Node | None) -> bool:
    if node is not None and node.type == "compound_statement":
        node = node.named_children[0] if len(node.named_children) == 1 else None
    return node is not None and node.type == "continue_statement"


def _nest(fn: Function, loop: Loop) -> list[Loop]:
    """Return the loop and those around it that hold nothing else, from the inside."""
    found = [loop]
    for outer in reversed(fn.loops_around(loop.node)):
        inner = found[-1]
        others = [
            n
            for n in outer.body_statements()
            if n.id != inner.node.id and n.type != "comment"
            and not (n.type == "declaration" and fn.is_pure(n))
        ]  # fmt: skip
        if others or not (inner.node.parent is not None and inner.node.parent.id in (
            outer.body.id, outer.node.id,
        )):  # fmt: skip
            break
        found.append(outer)
    return found


def _movable(source: Source, fn: Function, test: Test, loop: Loop) -> bool:
    """Return whether a test depends on a loop's variable alone of what changes in the loop."""
    if test.total.get(loop.name) not in (1, -1) or limits(source, fn, loop, loop.node) is None:
        return False
    inner = {lp.name for lp in fn.loops if contains(loop.body, lp.node)}
    return not inner & set(test.total) and all(
        variable is None or not contains(loop.node, variable.name_node)
        for key in test.total
        if key and key != loop.name
        for variable in [fn.variable(key, loop.node)]
    )


def _bound(loop: Loop, test: Test) -> tuple[bool, str]:
    """Return whether a test is a lower bound of the variable, and the first or last value."""
    rest = {k: f for k, f in test.total.items() if k != loop.name}
    relation = test.relation
    if test.total[loop.name] < 0:
        relation = FLIPPED[relation]
    else:
        rest = scaled(rest, -1)
    if relation in (">", ">="):
        return True, text_of(rest if relation == ">=" else added(rest, {"": 1}))
    inclusive = loop.relation == "<="
    if relation == "<" and inclusive:
        rest = added(rest, {"": -1})
    if relation == "<=" and not inclusive:
        rest = added(rest, {"": 1})
    return False, text_of(rest)


def _without(source: Source, tested: _Tested, left: Sequence[Node]) -> Iterator[Replacement]:
    """Yield the edits that leave only some comparisons of a test, or take it away."""
    node, condition = tested.node, stripped(field(tested.node, "condition"))
    if condition is None:
        return
    if left:
        joint = " || " if tested.skips else " && "
        yield (*span(condition), joint.join(source.of(n) for n in left))
        return
    if tested.skips:
        yield (*source.statement_span(node), "")
        return
    body = field(node, "consequence")
    if body is None:
        return
    block = node.parent is not None and node.parent.type == "compound_statement"
    inner = body.named_children if body.type == "compound_statement" else []
    declares = any(n.type == "declaration" for n in inner)
    said = inner and "/" in source.text[body.start_byte : inner[0].start_byte]
    if not block or body.type != "compound_statement" or declares or not inner or said:
        yield (node.start_byte, body.start_byte, "")
        return
    # The block goes with its test: what was in it moves one step to the left.
    yield (node.start_byte, inner[0].start_byte, "")
    margin, deeper = source.indent(node), source.indent(inner[0])
    at = source.text.find("\n", inner[0].start_byte)
    while -1 < at < source.text.rfind("\n", 0, body.end_byte):
        if deeper != margin and source.text.startswith(deeper, at + 1):
            yield (at + 1, at + 1 + len(deeper) - len(margin), "")
        at = source.text.find("\n", at + 1)
    close = body.end_byte - 1
    before = source.text.rfind("\n", inner[-1].end_byte, close)
    bare = before >= 0 and not source.text[before:close].strip()
    yield (before if bare else close, body.end_byte, "")


# -- a path for the interior ---------------------------------------------------------------------


def _interior(source: Source, fn: Function, loop: Loop) -> Replacement | None:
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
