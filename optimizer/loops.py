"""Loops: induction variable, start, bound, step, trip count, nesting."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from dataclasses import field as dataclass_field

from tree_sitter import Node

from optimizer.affine import Expander, last_update
from optimizer.syntax import Span, Syntax, ancestors, contains, field, operator, stripped, walk
from optimizer.tokens import integer
from optimizer.variables import Variable, Variables

_LOOPS = ("for_statement", "while_statement", "do_statement", "for_range_loop")
_FLIPPED = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "!=": "!=", "==": "=="}


@dataclass(frozen=True, slots=True)
class Loop:
    """A loop. `kind` is for, while, do or range; `depth` counts the loops around it.

    For a counted loop (`for (int i = start; i < bound; i += step)`, written in any usual way)
    `variable`, `start`, `relation` (with the variable on the left), `bound` and `step_node` are
    set; `step` is the number that is added, None when it is no constant (`i += stride`, then
    `step_node` is `stride`; for `i *= 2`, `i >>= 1` see `scaling`: `*`, `/`, `<<`, `>>`).
    `counted` tells that the variable changes in the header only and the bound is not written in
    the body; `while (i < n) { ...; i += s; }` is one, too, when that is the last statement and the
    only change (`update` is the expression that changes the variable). A start that stands before
    the loop is not in `start`. `trips` is the number of iterations when it is seen. `pragma` is the
    `#pragma unroll` in front, if any. `body` is the statement that is repeated.
    """

    node: Node
    kind: str
    body: Node
    depth: int
    parent: Node | None
    line: int
    variable: Variable | None = None
    start: Node | None = None
    relation: str = ""
    bound: Node | None = None
    step: int | None = None
    step_node: Node | None = None
    scaling: str = ""
    counted: bool = False
    trips: int | None = None
    condition: Node | None = None
    pragma: Span | None = None
    update: Node | None = None
    # Worked out when first asked, by `optimizer.accesses.changed_names`.
    changed: frozenset[str] | None = dataclass_field(default=None, compare=False, repr=False)
    _early: bool | None = dataclass_field(default=None, compare=False, repr=False)

    @property
    def name(self) -> str:
        """Return the name of the induction variable; empty when there is none."""
        return self.variable.name if self.variable is not None else ""

    @property
    def leaves_early(self) -> bool:
        """Return whether a `break`, `return` or `goto` can end it before its bound."""
        if self._early is None:
            early = any(_jumps_out(self.node, n) for n in walk(self.body, *_JUMPS))
            object.__setattr__(self, "_early", early)
        return self._early is True

    def body_statements(self) -> list[Node]:
        """Return the statements that are repeated, without the braces."""
        if self.body.type == "compound_statement":
            return list(self.body.named_children)
        return [self.body]


_JUMPS = ("break_statement", "return_statement", "goto_statement")


def _jumps_out(loop: Node, jump: Node) -> bool:
    if jump.type != "break_statement":
        return True
    inner = next((a for a in ancestors(jump) if a.type in (*_LOOPS, "switch_statement")), None)
    return inner == loop


def loops(syntax: Syntax, variables: Variables, expander: Expander, body: Node) -> Iterator[Loop]:
    """Yield every loop of a function, outer before inner, in order."""
    for node in variables.nodes(*_LOOPS):
        inner = node.child_by_field_name("body")
        if inner is None:
            continue
        around = [a for a in ancestors(node, body) if a.type in _LOOPS]
        loop = Loop(
            node,
            {"for_statement": "for", "while_statement": "while", "do_statement": "do"}.get(
                node.type, "range"
            ),
            inner,
            len(around),
            around[0] if around else None,
            syntax.line(node),
            condition=stripped(field(node, "condition")),
            pragma=_pragma(syntax, node),
        )
        if node.type == "for_statement":
            loop = _counted(syntax, variables, expander, loop, field(node, "update"))
        elif node.type == "while_statement":
            last = last_update(node)
            update = last.named_children[0] if last is not None and last.named_children else None
            loop = _counted(syntax, variables, expander, loop, update)
        yield loop


def _pragma(syntax: Syntax, node: Node) -> Span | None:
    """Return the `#pragma unroll` right in front of a loop."""
    for d in reversed(syntax.masked.directives):
        if d.end <= node.start_byte:
            between = syntax.masked.text[d.end : node.start_byte]
            fits = d.word == "pragma" and "unroll" in d.rest and not between.strip()
            return (d.start, d.end) if fits and d.active else None
    return None


def _counted(
    syntax: Syntax, variables: Variables, expander: Expander, loop: Loop, update: Node | None
) -> Loop:
    variable, start = _started(variables, field(loop.node, "initializer"))
    relation, bound = _bounded(variables, variable, loop.condition)
    if variable is None and loop.condition is not None:
        variable = _tested(variables, loop, update)
        relation, bound = _bounded(variables, variable, loop.condition)
    if variable is None:
        return loop
    step, step_node, scaling = _stepped(syntax, variables, expander, variable, update)
    inside = [u for u in variable.changes if contains(loop.node, u.node)]
    header = (loop.node.start_byte, loop.body.start_byte)
    quiet = all(
        contains(header, u.node) or (update is not None and contains(update, u.node))
        for u in inside
    ) and not any(u.role == "address" for u in variable.uses)
    invariant = bound is not None and unchanged(variables, bound, loop.node)
    stepping = step is not None or (
        step_node is not None and unchanged(variables, step_node, loop.node)
    )
    counted = bool(quiet and invariant and relation and (stepping or scaling))
    trips = _trips(expander, start, relation, bound, step) if counted else None
    return Loop(
        loop.node, loop.kind, loop.body, loop.depth, loop.parent, loop.line, variable, start,
        relation, bound, step, step_node, scaling, counted, trips, loop.condition, loop.pragma,
        update,
    )  # fmt: skip


def _started(variables: Variables, node: Node | None) -> tuple[Variable | None, Node | None]:
    if node is None:
        return None, None
    if node.type == "declaration":
        declarators = node.children_by_field_name("declarator")
        if len(declarators) == 1 and declarators[0].type == "init_declarator":
            for v in variables.all:
                if v.declarator == declarators[0]:
                    return v, v.init
        return None, None
    if node.type == "assignment_expression" and operator(node) == "=":
        left = field(node, "left")
        if left is not None and left.type == "identifier":
            return variables.of(left), field(node, "right")
    return None, None


def _tested(variables: Variables, loop: Loop, update: Node | None) -> Variable | None:
    """Find the variable of `for (; i < n; i += stride)`: tested and changed by the header."""
    if update is None or loop.condition is None:
        return None
    changed = [u.variable for u in variables.within(update) if u.role in ("write", "update")]
    tested = [u.variable for u in variables.within(loop.condition)]
    found = [v for v in changed if v is not None and v in tested]
    return found[0] if len(found) == 1 else None


def _bounded(
    variables: Variables, variable: Variable | None, condition: Node | None
) -> tuple[str, Node | None]:
    condition = stripped(condition)
    if variable is None or condition is None or condition.type != "binary_expression":
        return "", None
    sign = operator(condition)
    left, right = stripped(field(condition, "left")), stripped(field(condition, "right"))
    if sign not in _FLIPPED or left is None or right is None:
        return "", None
    if left.type == "identifier" and variables.of(left) is variable:
        return sign, field(condition, "right")
    if right.type == "identifier" and variables.of(right) is variable:
        return _FLIPPED[sign], field(condition, "left")
    return "", None


def _stepped(
    syntax: Syntax,
    variables: Variables,
    expander: Expander,
    variable: Variable,
    node: Node | None,
) -> tuple[int | None, Node | None, str]:
    if node is None:
        return None, None, ""
    if node.type == "update_expression":
        argument = stripped(field(node, "argument"))
        if argument is None or variables.of(argument) is not variable:
            return None, None, ""
        return (1 if operator(node) == "++" else -1), None, ""
    if node.type != "assignment_expression":
        return None, None, ""
    left = stripped(field(node, "left"))
    if left is None or variables.of(left) is not variable:
        return None, None, ""
    sign, right = operator(node), stripped(field(node, "right"))
    if sign in ("+=", "-="):
        value = expander.expand(right, fold=True)
        known = value.constant if value is not None else None
        factor = 1 if sign == "+=" else -1
        return (factor * known if known is not None else None), right, ""
    if sign in ("*=", "/=", "<<=", ">>="):
        return None, right, sign[:-1]
    return _spelled(syntax, variables, variable, sign, right)


def _spelled(
    syntax: Syntax, variables: Variables, variable: Variable, sign: str, right: Node | None
) -> tuple[int | None, Node | None, str]:
    """Read `i = i + s`."""
    if sign != "=" or right is None or right.type != "binary_expression":
        return None, None, ""
    a, b = stripped(field(right, "left")), stripped(field(right, "right"))
    inner = operator(right)
    if a is None or b is None or inner not in ("+", "-", "*", "/", ">>", "<<"):
        return None, None, ""
    if variables.of(a) is not variable:
        if inner != "+" or variables.of(b) is not variable:
            return None, None, ""
        a, b = b, a
    if inner in ("*", "/", ">>", "<<"):
        return None, b, inner
    value = integer(syntax.of(b))
    return ((value if inner == "+" else -value) if value is not None else None), b, ""


def unchanged(variables: Variables, node: Node, within: Node) -> bool:
    """Return whether an expression keeps its value while `within` runs, as far as we see.

    False when it calls anything, reads memory that `within` may write, or uses what it changes.
    """
    for inner in walk(node, "call_expression", "update_expression", "assignment_expression"):
        if inner.type != "call_expression":
            return False
        name = inner.child_by_field_name("function")
        if name is None or name.text not in _PURE:
            return False
    for use in variables.within(node):
        variable = use.variable
        if variable is None:
            continue
        if use.role in ("load", "alias", "pass") and _may_write(variables, within):
            return False
        if any(contains(within, c.node) for c in variable.changes):
            return False
        if variable.address_taken or variable.reference:
            return False
    return True


_PURE = frozenset({b"min", b"max", b"abs", b"int", b"float"})


def _may_write(variables: Variables, within: Node) -> bool:
    return any(
        u.role in ("store", "modify", "atomic", "address", "pass") for u in variables.within(within)
    )


def _trips(
    expander: Expander, start: Node | None, relation: str, bound: Node | None, step: int | None
) -> int | None:
    low, high = expander.expand(start, fold=True), expander.expand(bound, fold=True)
    if low is None or high is None or not step:
        return None
    distance = (high - low).constant
    if distance is None:
        return None
    if step < 0:
        distance, step = -distance, -step
        relation = _FLIPPED[relation]
    if relation == "<=":
        distance += 1
    elif relation == "!=":
        if distance % step or distance < 0:
            return None
    elif relation != "<":
        return None
    return max(0, -(-distance // step))
