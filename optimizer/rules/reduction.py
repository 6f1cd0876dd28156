"""Scalars that a loop only ever adds to, multiplies, or takes a minimum or maximum with."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from tree_sitter import Node

from optimizer.accesses import changed_names
from optimizer.functions import Function
from optimizer.source import Source
from optimizer.syntax import ancestors, contains, field, operator, stripped, walk
from optimizer.variables import Variable

_NUMBERS = {
    "float": "f", "double": "", "int": "i", "unsigned": "i", "unsigned int": "i",
    "long": "i", "long long": "i", "unsigned long long": "i", "unsigned long": "i",
    "int32_t": "i", "uint32_t": "i", "int64_t": "i", "uint64_t": "i", "size_t": "i",
}  # fmt: skip
_PAIR = 2  # an extreme and its place
_MAXIMA = ("max", "fmax", "fmaxf", "std::max")
_MINIMA = ("min", "fmin", "fminf", "std::min")


@dataclass(frozen=True, slots=True)
class Update:
    """One statement that updates a scalar: `operation` is `+`, `*`, `max` or `min`.

    Of `if (e > s) { s = e; p = i; }` the extreme `s` has `p` as its `place`; `p` itself is updated
    by the operation `place`, its `place` is `s`.
    """

    variable: Variable
    operation: str
    node: Node
    place: Variable | None = None


def updates(
    source: Source, fn: Function, variable: Variable, within: Node, *, places: bool = False
) -> tuple[Update, ...] | None:
    """Return all uses of a scalar in a node as updates of one operation; None if others occur.

    Recognised: `s += e`, `s -= e`, `s *= e`, `s = s + e`, `s = e + s`, `s = fmaxf(s, e)`,
    `s = e > s ? e : s`, `if (e > s) s = e;`. `e` does not read `s`. With `places`, of a loop, also
    `if (e > s) { s = e; p = i; }` where `i` grows along that loop; `joins` keeps the first place.
    """
    generic = any(t.is_type and t.name == variable.element for t in fn.templates)
    if not (variable.element in _NUMBERS or generic) or variable.depth or variable.extents:
        return None
    found: list[Update] = []
    uses = [u.node for u in variable.uses if contains(within, u.node)]
    covered: list[Node] = []
    for use in uses:
        if any(contains(done, use) for done in covered):
            continue
        update = _placed(source, fn, variable, use, within) if places else None
        update = update or _update(source, fn, variable, use, within)
        if update is None:
            return None
        found.append(update)
        covered.append(update.node)
    if not found or len({u.operation for u in found}) != 1:
        return None
    return tuple(found)


def _placed(
    source: Source, fn: Function, variable: Variable, use: Node, within: Node
) -> Update | None:
    """Return the update of an extreme and its place that a use is of."""
    outer = next((a for a in ancestors(use, within) if a.type == "if_statement"), None)
    around = fn.loops_around(use)
    if outer is None or not around or around[-1].node.id != within.id:
        return None
    loop, set_to = around[-1], _two_set(fn, outer)
    names = {v.name for v in set_to}
    parts = _parts(field(outer, "condition"))
    if variable not in set_to or field(outer, "alternative") is not None or not parts:
        return None
    for extreme, place in (tuple(set_to), tuple(set_to)[::-1]):
        value, number = set_to[extreme], fn.affine(set_to[place])
        operations = [_compared(source, part, extreme.name, source.plain(value)) for part in parts]
        strict = [part for part, o in zip(parts, operations, strict=True) if o is not None]
        read = [value, set_to[place], *(p for p in parts if p not in strict)]
        if len(strict) != 1 or operator(strict[0]) not in ("<", ">") or number is None:
            continue
        if any(source.of(n) in names for node in read for n in walk(node, "identifier")):
            continue
        step, others = number.coefficient(loop.name), number.symbols - {loop.name}
        if step is None or (step.constant or 0) <= 0 or others & changed_names(loop):
            continue
        if _NUMBERS.get(place.element) != "i" or extreme.element not in _NUMBERS:
            continue
        kept = next(o for o in operations if o is not None)
        if variable is extreme:
            return Update(variable, kept, outer, place)
        return Update(variable, "place", outer, extreme)
    return None


def _two_set(fn: Function, outer: Node) -> dict[Variable, Node]:
    """Return the two scalars that are all a test's body sets, and to what."""
    body = field(outer, "consequence")
    if body is None or body.type != "compound_statement":
        return {}
    found: dict[Variable, Node] = {}
    statements = [n for n in body.named_children if n.type != "comment"]
    for statement in statements:
        inner = statement.named_children[0] if statement.named_children else None
        left, right = field(inner, "left"), stripped(field(inner, "right"))
        if statement.type != "expression_statement" or inner is None or right is None:
            return {}
        variable = fn.variables.of(left) if left is not None else None
        if inner.type != "assignment_expression" or operator(inner) != "=" or variable is None:
            return {}
        if left is None or left.type != "identifier" or variable.depth or variable.extents:
            return {}
        found[variable] = right
    return found if len(statements) == len(found) == _PAIR else {}


def _parts(condition: Node | None) -> list[Node]:
    """Return what `a && b && c` joins."""
    inner = stripped(condition)
    while inner is not None and inner.type in ("condition_clause", "parenthesized_expression"):
        inner = stripped(inner.named_children[0]) if inner.named_children else None
    if inner is None:
        return []
    if inner.type == "binary_expression" and operator(inner) == "&&":
        return [*_parts(field(inner, "left")), *_parts(field(inner, "right"))]
    return [inner]


def _update(
    source: Source, fn: Function, variable: Variable, use: Node, within: Node
) -> Update | None:
    assigned = _assignment(use, within)
    if assigned is None:
        return None
    conditional = _conditional(source, variable, assigned, within)
    if conditional is not None:
        return conditional
    left, right = field(assigned, "left"), field(assigned, "right")
    if left is None or right is None or source.of(left) != variable.name:
        return None
    sign = operator(assigned)
    own = [n for n in walk(right, "identifier") if fn.variables.of(n) is variable]
    if sign in ("+=", "-=", "*=") and not own:
        return Update(variable, "*" if sign == "*=" else "+", assigned)
    if sign != "=" or len(own) not in (1, 2):
        return None
    operation = _operation(source, fn, variable, stripped(right))
    return Update(variable, operation, assigned) if operation else None


def _assignment(use: Node, within: Node) -> Node | None:
    """Return the assignment statement around a use, or the one an `if (e > s)` guards."""
    at: Node | None = use
    while at is not None and contains(within, at):
        if at.type == "assignment_expression":
            parent = at.parent
            return at if parent is not None and parent.type == "expression_statement" else None
        if at.type == "if_statement":
            body = field(at, "consequence")
            return _only(body)
        if at.type.endswith("_statement"):
            return None
        at = at.parent
    return None


def _only(body: Node | None) -> Node | None:
    if body is not None and body.type == "compound_statement":
        body = body.named_children[0] if len(body.named_children) == 1 else None
    if body is None or body.type != "expression_statement" or not body.named_children:
        return None
    inner = body.named_children[0]
    return inner if inner.type == "assignment_expression" else None


def _conditional(source: Source, variable: Variable, assigned: Node, within: Node) -> Update | None:
    """Return `if (e > s) s = e;` as a maximum, with `<` as a minimum."""
    if operator(assigned) != "=" or source.of(field(assigned, "left")) != variable.name:
        return None
    statement = assigned.parent
    outer = statement.parent if statement is not None else None
    if outer is not None and outer.type == "compound_statement":
        if len(outer.named_children) != 1:
            return None
        outer = outer.parent
    if outer is None or outer.type != "if_statement" or not contains(within, outer):
        return None
    if field(outer, "alternative") is not None:
        return None
    test = stripped(field(outer, "condition"))
    while test is not None and test.type in ("condition_clause", "parenthesized_expression"):
        test = test.named_children[0]
    value = source.plain(stripped(field(assigned, "right")))
    operation = _compared(source, test, variable.name, value)
    return Update(variable, operation, outer) if operation else None


def _compared(source: Source, test: Node | None, name: str, value: str) -> str | None:
    """Return what `value > name` (max) or `value < name` (min) keeps."""
    if test is None or test.type != "binary_expression":
        return None
    sides = [source.plain(stripped(field(test, side))) for side in ("left", "right")]
    sign = operator(test)
    if sides == [name, value]:
        sign = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}.get(sign, "")
    elif sides != [value, name]:
        return None
    return {">": "max", ">=": "max", "<": "min", "<=": "min"}.get(sign)


def _operation(source: Source, fn: Function, variable: Variable, right: Node | None) -> str | None:
    if right is None:
        return None
    if right.type == "binary_expression":
        sides = [stripped(field(right, side)) for side in ("left", "right")]
        mine = [n is not None and fn.variables.of(n) is variable for n in sides]
        sign = operator(right)
        if sum(mine) == 1 and sign in ("+", "*"):
            return sign
        return "+" if sign == "-" and mine[0] and not mine[1] else None
    if right.type == "call_expression":
        name = source.plain(field(right, "function"))
        arguments = field(right, "arguments")
        given = [] if arguments is None else arguments.named_children
        mine = [fn.variables.of(n) is variable for n in given]
        if len(given) == 2 and sum(mine) == 1:
            return "max" if name in _MAXIMA else "min" if name in _MINIMA else None
        return None
    if right.type == "conditional_expression":
        test, one, two = (
            stripped(field(right, part)) for part in ("condition", "consequence", "alternative")
        )
        a, b = source.plain(one), source.plain(two)
        if variable.name not in (a, b) or a == b:
            return None
        value = b if a == variable.name else a
        kept = _compared(source, test, variable.name, value)
        if kept is not None and a == variable.name:  # `s > e ? s : e` keeps the other side
            return {"max": "min", "min": "max"}[kept]
        return kept
    return None


def identity(update: Update) -> str | None:
    """Return the neutral value of a sum or product; None where repeating a value is harmless."""
    return {"+": "0", "*": "1"}.get(update.operation)


def combine(update: Update, other: str) -> str:
    """Return the statement that joins a scalar with another one's value.

    Floats use `fmaxf` and `fmax`, which drop a NaN like `if (e > s)` does; a template's type uses
    the overloads of `max`.
    """
    name, operation = update.variable.name, update.operation
    if operation in ("+", "*"):
        return f"{name} {operation}= {other};"
    suffix = {"f": "f", "": ""}.get(_NUMBERS.get(update.variable.element, "i"))
    function = operation if suffix is None else f"f{operation}{suffix}"
    return f"{name} = {function}({name}, {other});"


def together(found: Sequence[Update]) -> bool:
    """Return whether every extreme is joined with its place."""
    known = [u.variable for u in found]
    return all(u.place is None or u.place in known for u in found)


def joins(
    source: Source, found: Sequence[Update], other: Callable[[str], str], taken: Sequence[str]
) -> Iterator[str]:
    """Yield the statements of a block that join scalars with another thread's.

    `other` tells how the value of another thread is written that a scalar's name has here. Of
    equal extremes the first place is kept, as in a loop that counts up.
    """
    for update in found:
        name = update.variable.name
        if update.place is None:
            yield combine(update, other(name))
        elif update.operation != "place":
            place, sign = update.place.name, "<" if update.operation == "min" else ">"
            value = source.fresh_name(f"{name}_there", *taken)
            there = source.fresh_name(f"{place}_there", *taken)
            yield f"const {update.variable.element} {value} = {other(name)};"
            yield f"const {update.place.element} {there} = {other(place)};"
            first = f"{value} == {name} && {there} < {place}"
            yield f"if ({value} {sign} {name} || ({first})) {{"
            yield f"    {name} = {value};"
            yield f"    {place} = {there};"
            yield "}"


def joined(found: Sequence[Update]) -> str:
    """Name the scalars of updates for a title: `a`, `b`."""
    return ", ".join(f"`{u.variable.name}`" for u in found)
