"""Put a test that holds for one stretch of a loop's variable into the bounds of the loop."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tree_sitter import Node

from optimizer.functions import Function
from optimizer.loops import Loop
from optimizer.rules.linear import FLIPPED, Sum, Test, added, compared, limits, scaled, text_of
from optimizer.source import Source
from optimizer.spans import Replacement
from optimizer.syntax import contains, field, span, stripped


@dataclass(frozen=True, slots=True)
class _Tested:
    """A test that guards all a loop's body does, and the comparisons under which it works."""

    node: Node
    skips: bool
    parts: tuple[tuple[Node, Test | None], ...]


def tightened(source: Source, fn: Function, loop: Loop) -> list[Replacement]:
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
