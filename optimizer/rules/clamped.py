"""Indexes that are kept between zero and a last place: borders that repeat, and how to see past."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from itertools import product

from tree_sitter import Node

from optimizer.directives import Macro
from optimizer.functions import Function
from optimizer.polynomials import Polynomial, number
from optimizer.source import Source
from optimizer.syntax import Syntax, contains, field, operator, span, walk
from optimizer.tokens import integer
from optimizer.variables import Variable

_MOST_NAMES = 2  # uniform names in the expression of a border
_TRIED = (-6, -2, -1, 0, 1, 2, 3, 5, 6, 9)  # numbers that an expression is tried with
_SIZES = (1, 2, 6)
_AROUND = (-2, -1, 0, 1, 2, 4, 14)  # what is tried beside a number that is written there
_MOST_MARKS = 6
_FAR = 4
_STEPS_BACK = (-1, -2)
_STEPS = 200  # statements and expressions evaluated for one number
_SPELLED = 2  # letters of the name that stands for a border's expression
_EXTREMES: Mapping[str, Callable[[int, int], int]] = {
    "min": min, "max": max, "std::min": min, "std::max": max, "::min": min, "::max": max,
}  # fmt: skip
_SIGNS: Mapping[str, Callable[[int, int], int]] = {
    "+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b,
    "<": lambda a, b: a < b, ">": lambda a, b: a > b, "<=": lambda a, b: a <= b,
    ">=": lambda a, b: a >= b, "==": lambda a, b: a == b, "!=": lambda a, b: a != b,
    "&&": lambda a, b: int(bool(a and b)), "||": lambda a, b: int(bool(a or b)),
}  # fmt: skip
# Of unsigned numbers nothing is below zero: what is kept there would be something else.
_SIGNED = frozenset({"int", "int32_t", "long", "long long", "int64_t"})


@dataclass(frozen=True, slots=True)
class Clamp:
    """An expression that is `inner`, but not below zero (`low`) or above `most`, where these are.

    With `wraps` it goes on at the other end. `step` is added to `inner`, which then is a thread's
    number that does not lie behind `most` itself: `x > 0 ? x - 1 : 0`. `span` is what it takes in
    the text; `clears` are the statements that do the same to a variable behind its declaration.
    `name` stands for it where the rest of an index is looked at.
    """

    span: tuple[int, int]
    inner: Node
    low: bool
    most: Polynomial | None
    wraps: bool = False
    step: int = 0
    clears: tuple[tuple[int, int], ...] = ()
    name: str = ""


@dataclass(frozen=True, slots=True)
class Shadow:
    """The same text, places kept, with the inner expressions alone, and with names for them."""

    clamps: tuple[Clamp, ...]
    plain: Source
    named: Source


@lru_cache(maxsize=4)
def shadow(source: Source) -> Shadow | None:
    """Return a file's text as if indexes in kernels had no borders; None where none has one."""
    clamps = (c for fn in source.kernels for c in fn.kept("clamps", partial(_all, source, fn)))
    found = list(_named(source, clamps))
    if not found:
        return None
    plain, named = list(source.text), list(source.text)
    for clamp in found:
        for low, high in (clamp.span, *clamp.clears):
            for at in range(low, high):
                if plain[at] not in "\r\n":
                    plain[at] = named[at] = " "
        low, high = span(clamp.inner)
        inner = source.text[low:high]
        # `(x) + y` would be read as a cast.
        whole = clamp.span != (low, high) and not inner.isidentifier()
        at = clamp.span[0]
        text = f"({inner})" if whole and len(inner) + 1 < clamp.span[1] - at else inner
        text = _stepped(inner, clamp.step) if clamp.step else text
        plain[at : at + len(text)] = text
        named[at : at + len(clamp.name)] = clamp.name
    return Shadow(tuple(found), Source("".join(plain)), Source("".join(named)))


def _stepped(inner: str, step: int) -> str:
    return f"({inner}{'-' if step < 0 else '+'}{abs(step)})"


def _named(source: Source, clamps: Iterator[Clamp]) -> Iterator[Clamp]:
    letters = (a + b for a, b in product("qzjvkw", "0123456789abcdef"))
    fresh = (name for name in letters if name not in source.words)
    for clamp in clamps:
        name = next(fresh, "")
        length = clamp.span[1] - clamp.span[0]
        least = len(_stepped(source.of(clamp.inner), clamp.step)) if clamp.step else _SPELLED
        if name and length >= least:
            yield replace(clamp, name=name)


def _all(source: Source, fn: Function) -> tuple[Clamp, ...]:
    return tuple(_clamps(source, fn))


def _clamps(source: Source, fn: Function) -> Iterator[Clamp]:
    """Yield expressions and sequences of statements that keep a thread's number in bounds."""
    if fn.broken or fn.shared or fn.barriers:
        return
    taken: list[tuple[int, int]] = []
    for variable in fn.variables.all:
        clamp = _stepwise(source, fn, variable)
        if clamp is not None:
            taken += [clamp.span, *clamp.clears]
            yield clamp
    for node in walk(fn.body, *_EXPRESSIONS):
        if node.type == "binary_expression" and operator(node) != "%":
            continue
        if any(low <= node.start_byte < high for low, high in taken):
            continue
        clamp = _expression(source, fn, node)
        if clamp is not None:
            taken.append(clamp.span)
            yield clamp


# -- what is kept in bounds ----------------------------------------------------------------------


def _expression(source: Source, fn: Function, node: Node) -> Clamp | None:
    """Return a clamp written as one expression: `min(max(x + 1, 0), w - 1)`."""
    if any(True for _ in walk(node, "subscript_expression", "assignment_expression")):
        return None
    high: Clamp | None = None
    for inner in walk(node):
        if inner == node or inner.type not in _VALUES or not _by_thread(fn, inner):
            continue
        if fn.type_of(inner) not in _SIGNED:
            continue
        text = source.plain(inner)
        value = _Value(source, fn, text)
        found = _kind(source, fn, value, [node], text)
        if found is None:
            continue
        if found[0] or not found[2]:
            return Clamp(span(node), inner, *found)
        high = high or Clamp(span(node), inner, *found)  # of `(x + w - 1) % w` rather all: `x`
    return high


_EXPRESSIONS = ("call_expression", "conditional_expression", "binary_expression")
_VALUES = frozenset({"identifier", "binary_expression", "parenthesized_expression"})


def _stepwise(source: Source, fn: Function, variable: Variable) -> Clamp | None:
    """Return a clamp in statements: `int r = y + k; if (r < 0) r = 0; if (r >= h) r = h - 1;`."""
    place, init = variable.declaration, variable.init
    if init is None or variable.settled or not variable.is_scalar or variable.space != "local":
        return None
    if variable.element not in _SIGNED or variable.address_taken or variable.reference:
        return None
    if place.type != "declaration" or place.parent is None or not _by_thread(fn, init):
        return None
    behind = [n for n in place.parent.named_children if n.start_byte >= place.end_byte]
    changes = [u.node for u in variable.changes if u.node.start_byte >= place.end_byte]
    listed: list[Node] = []
    for each in behind:
        if each.type == "comment" or not any(contains(each, c) for c in changes):
            break
        listed.append(each)
    if not listed or not all(any(contains(s, c) for s in listed) for c in changes):
        return None
    value = _Value(source, fn, variable.name)
    found = _kind(source, fn, value, listed, variable.name)
    if found is None or found[3]:
        return None
    return Clamp(span(init), init, *found, clears=tuple(span(s) for s in listed))


def _by_thread(fn: Function, node: Node) -> bool:
    """Return whether an expression is a number of the thread along x or y, moved."""
    value = fn.affine(node)
    if value is None:
        return False
    strides = [value.stride(f"threadIdx.{axis}") for axis in "xy"]
    return sorted(s if s is not None else -1 for s in strides) == [0, 1]


# Whether kept from below zero, from above what, whether it goes on at the other end, the step.
Kind = tuple[bool, Polynomial | None, bool, int]


def _kind(
    source: Source, fn: Function, value: _Value, nodes: Sequence[Node], text: str
) -> Kind | None:
    """Return how statements keep a number in bounds; None where they do not."""
    names = sorted(_names(source, fn, nodes, text))
    if len(names) > _MOST_NAMES or not all(_uniform(fn, nodes[0], n) for n in names):
        return None
    marks = _landmarks(source, nodes)
    if len(marks) > _MOST_MARKS:
        return None
    numbers = sorted({*_TRIED, *(m + n for m in marks for n in _AROUND)})
    tried = [dict(zip(names, sizes, strict=True)) for sizes in product(_SIZES, repeat=len(names))]
    try:
        seen = [[(v, value.of(nodes, v, sizes)) for v in numbers] for sizes in tried]
    except _OpenError:
        return None
    if all(got == max(v, 0) for row in seen for v, got in row):
        return True, None, False, 0
    for step in _STEPS_BACK:
        if all(got == max(v + step, 0) for row in seen for v, got in row if v >= 0):
            return True, None, False, step
    for most in _ends(fn, nodes, text):
        known = {n: c for n in most.atoms - set(names) if (c := source.constant(n)) is not None}
        if not most.atoms <= {*names, *known}:
            continue
        tops = [_at(most, {**sizes, **known}) for sizes in tried]
        rows = [(top, row) for top, row in zip(tops, seen, strict=True) if top >= 0]
        found = _bounded(rows) if rows else None
        if found is not None:
            return found[0], most, found[1], found[2]
    return None


def _bounded(rows: Sequence[tuple[int, list[tuple[int, int]]]]) -> tuple[bool, bool, int] | None:
    """Return how numbers are kept from above `top`: from below, too; by going on; with a step."""
    every = [(top, v, got) for top, row in rows for v, got in row]
    if max(top for top, _ in rows) < _FAR:
        return None  # too short for one way to be told from another
    if all(got == max(0, min(v, top)) for top, v, got in every):
        return True, False, 0
    if all(got == min(v, top) for top, v, got in every):
        return False, False, 0
    near = [(top, v, got) for top, v, got in every if -top - 1 <= v <= 2 * top + 1]
    if all(got == v % (top + 1) for top, v, got in near):
        return True, True, 0
    if all(got == v % (top + 1) for top, v, got in near if v >= 0):
        return False, True, 0
    inside = [(top, v, got) for top, v, got in every if 0 <= v <= top]
    for step in (-1, 1, -2, 2):
        if step > 0 and all(got == min(v + step, top) for top, v, got in inside):
            return False, False, step
        near = [each for each in inside if abs(step) <= each[0] + 1]
        if all(got == (v + step) % (top + 1) for top, v, got in near):
            return True, True, step
    return None


def _landmarks(source: Source, nodes: Sequence[Node]) -> set[int]:
    """Return the numbers that could decide: those written, also in functions that are called."""
    found: set[int] = set()
    pending, done = [*nodes], set[str]()
    words: list[str] = []
    while pending:
        node = pending.pop()
        words += [source.of(n) for n in walk(node, "identifier", "number_literal")]
        while words:
            word = words.pop()
            if word in done:
                continue
            done.add(word)
            value = integer(word) if word[:1].isdigit() else source.constant(word)
            if value is not None:
                found.add(value)
            called, macro = source.function(word), source.macros_in_force.get(word)
            pending += [called.body] if called is not None else []
            words += re.findall(r"\w+", macro.body) if macro is not None else []
    return found - {0, 1}


def _names(source: Source, fn: Function, nodes: Sequence[Node], text: str) -> set[str]:
    """Return the names that decide about a border, besides the number that is kept in it."""
    found: set[str] = set()
    for node in nodes:
        for name in walk(node, "identifier", into=lambda n: source.plain(n) != text):
            parent = name.parent
            called = parent is not None and parent.type == "call_expression"
            word = source.of(name)
            if word == text or (called and field(parent, "function") == name):
                continue
            if fn.variable(word, name) is not None or source.constant(word) is None:
                found.add(word)
    return found


def _uniform(fn: Function, at: Node, name: str) -> bool:
    variable = fn.variable(name, at)
    if variable is None or variable.space != "parameter":
        return False
    return variable.settled and variable.is_scalar and variable.element in _SIGNED


def _ends(fn: Function, nodes: Sequence[Node], text: str) -> Iterator[Polynomial]:
    """Yield what may be the last place: sums of the text, and these less one."""
    known: set[str] = set()
    for node in nodes:
        for inner in walk(node, "identifier", "binary_expression", "number_literal"):
            value = fn.affine(inner)
            if value is None or text in known or any(s.startswith("thread") for s in value.symbols):
                continue
            for end in (value, value - number(1)):
                if str(end) not in known:
                    known.add(str(end))
                    yield end


def _at(value: Polynomial, sizes: Mapping[str, int]) -> int:
    total = 0
    for monomial, factor in value.terms.items():
        for name in monomial:
            factor *= sizes[name]  # noqa: PLW2901
        total += factor
    return total


# -- arithmetic ----------------------------------------------------------------------------------


class _OpenError(Exception):
    """An expression is not understood."""


class _ReturnedError(Exception):
    def __init__(self, value: int) -> None:
        super().__init__(value)
        self.value = value


class _Value:
    """Computes what expressions and statements make of a number that has a text of its own."""

    def __init__(
        self, source: Source, fn: Function, text: str, syntax: Syntax | None = None
    ) -> None:
        self._source, self._fn, self._text = source, fn, text
        self._plain = (syntax or source.syntax).plain
        self._left = 0

    def of(self, nodes: Sequence[Node], value: int, sizes: Mapping[str, int]) -> int:
        """Return the number that an expression, or statements for a variable, come to."""
        self._left = _STEPS
        names = {**sizes, self._text: value}
        if len(nodes) == 1 and nodes[0].type in _EXPRESSIONS:
            return self._evaluate(nodes[0], names)
        for node in nodes:
            self._run(node, names)
        return names[self._text]

    def _evaluate(self, node: Node | None, names: dict[str, int]) -> int:
        self._left -= 1
        if node is None or self._left < 0:
            raise _OpenError
        text = self._plain(node)
        if text in names:
            return names[text]
        kind, sign = node.type, operator(node)
        if kind == "number_literal":
            value = integer(text)
        elif kind == "identifier":
            value = self._source.constant(text)
        elif kind in ("parenthesized_expression", "condition_clause"):
            inner = field(node, "value") or next(iter(node.named_children), None)
            return self._evaluate(inner, names)
        elif kind == "unary_expression" and sign in ("-", "!"):
            inner_value = self._evaluate(field(node, "argument"), names)
            return -inner_value if sign == "-" else int(not inner_value)
        elif kind == "binary_expression" and sign == "%":
            left = self._evaluate(field(node, "left"), names)
            right = self._evaluate(field(node, "right"), names)
            return abs(left) % right * (1 if left >= 0 else -1) if right > 0 else self._open()
        elif kind == "binary_expression" and sign in _SIGNS:
            left = self._evaluate(field(node, "left"), names)
            return int(_SIGNS[sign](left, self._evaluate(field(node, "right"), names)))
        elif kind == "conditional_expression":
            chosen = self._evaluate(field(node, "condition"), names)
            part = field(node, "consequence" if chosen else "alternative")
            return self._evaluate(part, names)
        elif kind == "call_expression":
            return self._call(node, names)
        else:
            raise _OpenError
        if value is None:
            raise _OpenError
        return value

    def _open(self) -> int:
        raise _OpenError

    def _call(self, node: Node, names: dict[str, int]) -> int:
        name = self._plain(field(node, "function"))
        listed = field(node, "arguments")
        given = [self._evaluate(a, names) for a in listed.named_children] if listed else []
        called = self._source.function(name)
        macro = self._source.macros_in_force.get(name)
        if macro is not None:
            return self._written_out(macro, given)
        if called is None:
            if name not in _EXTREMES or len(given) != _SPELLED or self._source.known(name):
                raise _OpenError
            return _EXTREMES[name](*given)
        return self._called(called, given)

    def _written_out(self, macro: Macro, given: Sequence[int]) -> int:
        """Return what a macro makes of numbers: `((a) < (b) ? (a) : (b))`."""
        syntax = _declared(macro.body)
        value = field(next(iter(syntax.root.named_children), None), "declarator", "value")
        if macro.parameters is None or len(macro.parameters) != len(given):
            raise _OpenError
        if value is None or syntax.root.has_error or not _parted(macro):
            raise _OpenError
        inner = _Value(self._source, self._fn, "", syntax)
        inner._left = self._left
        return inner._evaluate(value, dict(zip(macro.parameters, given, strict=True)))

    def _called(self, called: Function, given: Sequence[int]) -> int:
        """Return what a function of the file makes of numbers."""
        parameters = called.parameters
        plain = all(
            p.element in _SIGNED and not p.is_pointer and "&" not in p.type for p in parameters
        )
        if not plain or len(parameters) != len(given) or called.broken or called.conditional:
            raise _OpenError
        inside = dict(zip((p.name for p in parameters), given, strict=True))
        try:
            self._run(called.body, inside)
        except _ReturnedError as returned:
            return returned.value
        raise _OpenError

    def _run(self, node: Node | None, names: dict[str, int]) -> None:
        self._left -= 1
        if node is None or self._left < 0:
            raise _OpenError
        if node.type == "compound_statement":
            for each in node.named_children:
                if each.type != "comment":
                    self._run(each, names)
        elif node.type == "return_statement" and node.named_children:
            raise _ReturnedError(self._evaluate(node.named_children[0], names))
        elif node.type == "if_statement":
            chosen = self._evaluate(field(node, "condition"), names)
            part = field(node, "consequence" if chosen else "alternative")
            if part is not None and part.type == "else_clause":
                part = next(iter(part.named_children), None)
            if part is not None:
                self._run(part, names)
        elif node.type == "expression_statement" and node.named_children:
            self._assign(node.named_children[0], names)
        else:
            raise _OpenError

    def _assign(self, node: Node, names: dict[str, int]) -> None:
        left = self._plain(field(node, "left"))
        if node.type != "assignment_expression" or operator(node) != "=" or left not in names:
            raise _OpenError
        names[left] = self._evaluate(field(node, "right"), names)


@lru_cache(maxsize=64)
def _declared(text: str) -> Syntax:
    """Return the parsed declaration of what a macro is written out to."""
    return Syntax(f"int _ = {text};")


def _parted(macro: Macro) -> bool:
    """Return whether nothing around a macro or its arguments can tear them apart."""
    body = re.sub(r"^\w+(?=\()", "", macro.body.replace(" ", ""))  # of `MAX(a, b)` it is MAX's
    depth = 0
    for at, sign in enumerate(body):
        depth += (sign == "(") - (sign == ")")
        if depth == 0 and at < len(body) - 1:
            return False
    return all(
        body[found.start() - 1] in "(," and body[found.end()] in "),"
        for name in macro.parameters or ()
        for found in re.finditer(rf"\b{name}\b", body)
    )
