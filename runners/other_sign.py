"""Which scalar arguments may have the other sign than they are declared with.

What numbers are compared with, what they are cut off at, what is added to them or stands for those
that are missing may be below zero as well as above, wherever these numbers may be. A candidate that
compares the bits of two floats as whole numbers is right for one sign alone. But a slope, a
temperature, a deviation, a radius have no sense below zero, and the maximum of scaled numbers is
the scaled maximum above zero alone. So each use of the scalar has to be of the first kind, beside
numbers that are loaded and may have either sign; and these may not be compared with a literal, too,
or be used where the scalar may be what keeps them from zero. A share of one may be below zero, too,
where all that is made of it is linear (`runners.shares`).

This reads the text as trees of operators. It is a guess about strangers' text: it never raises,
takes a bounded time, and finds nothing rather than too much.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache, partial

from runners import flow, shares
from runners.flow import CONVERSIONS, FUSED, LOADS, SHUFFLES, Key, Program, base, nodes
from runners.text import LONGEST, plain_name
from runners.trees import FLOAT, WHOLE, Node, Statement

# Expressions that are looked at for one scalar, and variables that one of them is made of.
MOST_LOOKS, MOST_ROOTS = 200_000, 256
# What names of numbers end in that are not below zero.
_NO_SIGN = re.compile(
    r"(?:.*_)?(?:eps(?:ilon)?|tol(?:erance)?|sigma|std|var(?:iance)?|dev|radius|dist(?:ance)?"
    r"|temp(?:erature)?|rate|lr|prob(?:ability)?|step|width|height|size|norm|dt|count)\d?",
    re.ASCII | re.IGNORECASE,
)
_ENDS = frozenset({"min", "max", "fmin", "fmax", "fminf", "fmaxf", "__hmin", "__hmax", "clamp"})
# Functions of any number that are as good for all: what is compared may go through them.
_FREE = frozenset(
    {
        *("exp", "expf", "__expf", "tanh", "tanhf", "sin", "sinf", "cos", "cosf", "erf", "erff"),
        *("atomicAdd", "__stcs", "__stcg", "make_float2", "make_float3", "make_float4"),
        *("isnan", "isfinite"),
    }
)
_LITERALS = frozenset({"INFINITY", "NAN", "FLT_MAX", "HUGE_VALF", "CUDART_INF_F"})

# What a value is: the scalar itself, numbers of either sign, another scalar argument, a literal,
# a pointer to such, or anything else.
_SELF, _DATA, _SCALAR, _LITERAL, _OTHER = "self", "data", "scalar", "literal", "other"
_POINTER = "pointer"
_MARK: Key = (-1, "")


class _TooMuchError(Exception):
    """A text is made to be looked at for ever."""


@dataclass(frozen=True, slots=True)
class _Value:
    """What is known of an expression: its kind, and the variables it is made of.

    `begun`: a variable that begins as a literal, and may never have been on its other side.
    """

    kind: str
    roots: frozenset[Key] = frozenset()
    begun: bool = False


def turned(
    source: str, symbol: str, scalars: Mapping[str, int], signed: Iterable[int]
) -> tuple[str, ...]:
    """Return which scalars may have the other sign; `signed` are arrays of numbers of both signs.

    >>> text = "void f(const float* x, bool* y, float a) { y[0] = x[0] < a; y[1] = x[1] * a; }"
    >>> turned(text, "f", {"a": 2}, [0]), turned(text.replace("* a", "- a"), "f", {"a": 2}, [0])
    ((), ('a',))
    """
    if not scalars or len(source) > LONGEST:
        return ()
    floats, arrays = tuple(sorted(scalars.values())), frozenset(signed)
    found = []
    for name, position in scalars.items():
        if _NO_SIGN.fullmatch(name):
            continue
        plain = plain_name(symbol)
        share = shares.linear(source, plain, position)
        found += [name] * (share or _turned(source, plain, position, floats, arrays))
    return tuple(found)


@lru_cache(maxsize=64)
def _turned(
    source: str, symbol: str, position: int, floats: tuple[int, ...], arrays: frozenset[int]
) -> bool:
    program = flow.program(source)
    entries = program.by_name.get(symbol, ())
    if len(entries) != 1 or program.too_long:
        return False
    try:
        return _Question(program, entries[0], position, floats, arrays).answer()
    except (RecursionError, _TooMuchError):
        return False


class _Question:
    """Whether one scalar of a program may have the other sign."""

    def __init__(
        self,
        program: Program,
        entry: int,
        position: int,
        floats: tuple[int, ...],
        arrays: frozenset[int],
    ) -> None:
        self.program, self.entry = program, entry
        names = program.functions[entry].names
        self.names = names
        self.own = names[position] if position < len(names) else ""
        self.scalars = {names[at] for at in floats if at < len(names)} - {self.own}
        self.arrays = {names[at] for at in arrays if at < len(names)}
        self.members = program.members()
        self._known: dict[Key, _Value] = {}
        self._open: list[Key] = []
        self._looks = 0
        # What numbers that are compared with the scalar are made of, and those it is added to.
        self.beside: set[Key] = set()
        self.added: set[Key] = set()

    def answer(self) -> bool:
        """Tell whether it may, by all that the text does with it."""
        program = self.program
        if not self.own or program.functions[self.entry].calls or self.own in program.outside:
            return False
        found = False
        for number, function in enumerate(program.functions):
            for one in function.body:
                if one.node is None:
                    continue
                uses = list(self._uses(number, one.node))
                if uses and (one.role == "loop" or function.waits):
                    return False
                if not all(self._fits(number, one, above, use) for above, use in uses):
                    return False
                found |= bool(uses)
        return found and bool(self.beside | self.added) and self._stands()

    def _uses(self, number: int, node: Node) -> Iterator[tuple[Node | None, Node]]:
        """Yield where the scalar itself stands, and the operator above it."""
        waiting: list[tuple[Node | None, Node]] = [(None, node)]
        while waiting:
            above, one = waiting.pop()
            made = above is None and one.kind in {"assign", "call"}
            made |= above is not None and above.kind == "assign" and above.parts[0] is one
            if not made and self.value(number, one).kind == _SELF:
                yield above, one
            waiting += [(one, part) for part in (*one.parts, *one.more)]

    def _fits(self, number: int, one: Statement, above: Node | None, use: Node) -> bool:
        """Tell whether a use is one that makes sense with either sign; note what is beside it."""
        if above is None:
            return self._given_back(number) if one.role == "return" else False
        others = [part for part in above.parts if part is not use]
        values = [self.value(number, part) for part in others]
        if above.kind == "order" or (above.kind == "call" and above.word in _ENDS):
            return self._compared(values)
        if above.kind == "binary" and above.word in {"+", "-"}:
            self.added.update(*(value.roots for value in values))
            return all(value.kind == _DATA for value in values)
        if above.kind == "select":
            if above.parts[0] is use:
                return False
            return self._compared(values[1:])
        if above.kind == "assign":
            return above.word == "=" and self._kept(number, above.parts[0])
        if above.kind == "cast" or (above.kind == "call" and above.word in CONVERSIONS):
            return self.value(number, above).kind == _SELF
        return above.kind == "call" and self._passed(above, use)

    def _compared(self, values: list[_Value]) -> bool:
        data = any(value.kind == _DATA for value in values)
        self.beside.update(*(value.roots for value in values))
        return data and all(
            value.kind in {_DATA, _SCALAR, _SELF} and not value.begun for value in values
        )

    def _kept(self, number: int, target: Node) -> bool:
        """Tell whether a variable is the scalar by another name, or numbers beside it."""
        name = base(target)
        if any(node.kind == "member" for node in nodes(target)):
            return False
        value = self.content((number, name)) if target.kind != "name" else None
        value = value or self.variable((number, name))
        return value is not None and self._joined(value)

    def _joined(self, value: _Value) -> bool:
        if value.kind == _DATA:
            self.beside.update(value.roots)
        return value.kind in {_DATA, _SELF} and not value.begun

    def _given_back(self, number: int) -> bool:
        value = self._returned(number)
        return value is not None and self._joined(value)

    def _passed(self, call: Node, use: Node) -> bool:
        fit = self._called(call)
        if not fit or use not in call.parts:
            return False
        at = call.parts.index(use)
        for place in fit:
            key = (place, self.program.functions[place].names[at])
            value = self.variable(key)
            if self.program.variables[key].pointer or value is None or not self._joined(value):
                return False
        return True

    def _called(self, call: Node) -> list[int]:
        return [
            place
            for place in self.program.by_name.get(call.word, ())
            if len(self.program.functions[place].names) == len(call.parts)
        ]

    # What expressions are.

    def value(self, number: int, node: Node) -> _Value:
        """Return what an expression is."""
        return self._value(number, node) or _Value(_OTHER)

    def _value(self, number: int, node: Node) -> _Value | None:
        """Return what an expression is; None for what a variable adds to itself."""
        self._looks += 1
        if self._looks > MOST_LOOKS:
            raise _TooMuchError
        if node.kind == "number":
            return _Value(_LITERAL)
        if node.kind == "name":
            return self._name(number, node.word)
        if node.kind in {"order", "string"}:
            return _Value(_OTHER)
        if node.kind == "assign":
            return self._value(number, node.parts[1])
        if node.kind == "index":
            return self._element(number, node)
        if node.kind == "member":
            value = self.value(number, node.parts[0])
            return value if value.kind == _DATA else _Value(_OTHER, value.roots)
        if node.kind == "cast":
            return self._cast(number, node)
        if node.kind == "unary":
            return self._unary(number, node)
        if node.kind == "select":
            return self._select(number, node)
        if node.kind == "binary":
            return self._binary(number, node)
        return self._call(number, node)

    def _name(self, number: int, name: str) -> _Value | None:
        key = (number, name)
        if key in self.program.variables:
            return self.variable(key)
        return _Value(_LITERAL if name in _LITERALS else _OTHER)

    def _element(self, number: int, node: Node) -> _Value | None:
        inner = node.parts[0]
        while inner.kind == "index":
            inner = inner.parts[0]
        if self.value(number, inner).kind != _POINTER:
            return _Value(_OTHER)
        return self.content((number, base(inner)))

    def _cast(self, number: int, node: Node) -> _Value:
        value = self.value(number, node.parts[0])
        words = node.word.split()
        floats = any(map(FLOAT.fullmatch, words))
        if any(map(WHOLE.fullmatch, words)) or not floats:
            return _Value(_OTHER, value.roots)
        return value if (value.kind == _POINTER) == ("*" in words) else _Value(_OTHER, value.roots)

    def _unary(self, number: int, node: Node) -> _Value | None:
        value = self._value(number, node.parts[0])
        if value is None or node.word in {"!", "~"}:
            return value if value is None else _Value(_OTHER)
        if node.word == "*":
            name = base(node.parts[0])
            known = value.kind == _POINTER and name
            return self.content((number, name)) if known else _Value(_OTHER, value.roots)
        if node.word == "&":
            name = base(node.parts[0])
            points = (number, name) in self.program.variables
            return _Value(_POINTER if points else _OTHER)
        if node.word == "-":
            same = value.kind in {_DATA, _LITERAL}
            return value if same else _Value(_OTHER, value.roots)
        return value

    def _select(self, number: int, node: Node) -> _Value | None:
        condition, *branches = node.parts
        values = [one for part in branches if (one := self._value(number, part)) is not None]
        if not values:
            return None
        roots = _roots(values)
        kinds = {value.kind for value in values}
        if kinds == {_SELF}:
            return _Value(_SELF, roots)
        for order in nodes(condition):
            if order.kind == "order" and self._cut(number, order.parts, roots):
                return _Value(_OTHER, roots)
        return _mixed(values)

    def _cut(self, number: int, parts: Iterable[Node], roots: Iterable[Key]) -> bool:
        """Tell whether numbers of these roots are cut off at a literal, or something unknown."""
        values = [self.value(number, part) for part in parts]
        touched = any(not value.roots.isdisjoint(roots) for value in values)
        known = all(value.kind in {_DATA, _SCALAR, _SELF} for value in values)
        return touched and not (known and not any(value.begun for value in values))

    def _binary(self, number: int, node: Node) -> _Value | None:
        values = [one for part in node.parts if (one := self._value(number, part)) is not None]
        if not values:
            return None
        roots, kinds = _roots(values), {value.kind for value in values}
        if node.word in {"+", "-"}:
            if _POINTER in kinds:
                return _Value(_POINTER)
            return _mixed(values)
        if node.word in {"*", "/"} and len(values) == 2 and _SELF not in kinds:
            left, right = values
            if node.word == "*":
                return _product(left, right)
            even = right.kind == _LITERAL or not right.roots
            if left.kind == _DATA and even and right.kind != _POINTER:
                return left
        logical = node.word in {"&&", "||", "==", "!="}
        return _Value(_OTHER) if logical else _Value(_OTHER, roots)

    def _call(self, number: int, node: Node) -> _Value | None:
        if fit := self._called(node):
            found = [one for place in fit if (one := self._returned(place)) is not None]
            return _mixed(found) if found else None
        if node.word in CONVERSIONS and len(node.parts) == 1:
            return self._value(number, node.parts[0])
        if node.word in LOADS and len(node.parts) == 1:
            return self._unary(number, Node("unary", "*", node.parts))
        if SHUFFLES.fullmatch(node.word) and len(node.parts) > 2:
            return self._value(number, node.parts[1])
        if node.word in FUSED and len(node.parts) == 3:
            product = Node("binary", "*", node.parts[:2])
            return self._binary(number, Node("binary", "+", (product, node.parts[2])))
        values = [one for part in node.parts if (one := self._value(number, part)) is not None]
        roots = _roots(values)
        if node.word in _ENDS and values:
            known = all(v.kind in {_DATA, _SCALAR, _SELF} and not v.begun for v in values)
            data = any(value.kind == _DATA for value in values)
            return _Value(_DATA if known and data else _OTHER, roots)
        return _Value(_OTHER, frozenset() if node.word.startswith("atomic") else roots)

    def _returned(self, place: int) -> _Value | None:
        """Return what a function returns."""
        parts = [(place, node) for node in self.program.returned.get(place, ())]
        other = _Value(_OTHER)
        make = partial(self._join, parts, frozenset()) if parts else lambda: other
        return self._once((place, "return"), make)

    def _once(self, key: Key, make: Callable[[], _Value]) -> _Value | None:
        """Return what is known by a key, found out once; None for what is made of itself."""
        if key in self._known:
            return self._known[key]
        if key in self._open:
            # Of what is made of itself through something else nothing is known.
            return None if self._open[-1] == key else _Value(_OTHER, frozenset({key}))
        self._open.append(key)
        found = self._known[key] = make()
        self._open.pop()
        return found

    def _join(
        self, parts: list[tuple[int, Node]], roots: frozenset[Key], names: Iterable[str] = ()
    ) -> _Value:
        """Return what a variable of some names is that is assigned all of these."""
        values = [one for number, node in parts if (one := self._value(number, node)) is not None]
        if not values:
            return _Value(_OTHER, roots)
        if {value.kind for value in values} == {_SELF}:
            return _Value(_SELF, _roots(values) | roots)
        mixed = _mixed(values)
        begun = any(value.kind == _LITERAL for value in values)
        begun &= not any(_adds(node, frozenset(names)) for _, node in parts)
        return _Value(mixed.kind, mixed.roots | roots, begun or mixed.begun)

    def variable(self, key: Key) -> _Value | None:
        """Return what a variable is; None while that is being found out."""
        return self._once(key, partial(self._variable, key))

    def _variable(self, key: Key) -> _Value:
        variable = self.program.variables[key]
        number, name = key
        parameter = name in self.program.functions[number].names
        first = number == self.entry and parameter
        parts = variable.assigned
        if variable.pointer:
            return _Value(_POINTER)
        if variable.spoilt or (first and parts):
            return _Value(_OTHER, frozenset({key}))
        if first and name == self.own:
            return _Value(_SELF, frozenset({_MARK}))
        if first and name in self.scalars:
            return _Value(_SCALAR)
        if not parts or (parameter and not self.program.functions[number].calls):
            return _Value(_OTHER)
        found = self._join(parts, frozenset({key}), (name,))
        return _Value(_OTHER, found.roots - {key}) if variable.whole else found

    def content(self, key: Key) -> _Value | None:
        """Return what the elements of an array are, by all that is stored in it."""
        group = self.program.group(key)
        held = (group[0], f"[]{group[1]}")
        return self._once(held, partial(self._contents, self.members.get(group, []), held))

    def _contents(self, members: list[Key], held: Key) -> _Value:
        roots = frozenset({held})
        parts: list[tuple[int, Node]] = []
        given = False
        for one in members:
            variable = self.program.variables[one]
            number, name = one
            function = self.program.functions[number]
            if variable.spoilt or variable.whole:
                return _Value(_OTHER, roots)
            if number == self.entry and name in self.names:
                given |= name in self.arrays
            elif name in function.names and not function.calls:
                return _Value(_OTHER, roots)
            parts += variable.assigned
        if not parts:
            return _Value(_DATA if given else _OTHER, roots)
        found = self._join(parts, roots, [name for _, name in members])
        if not given:
            return found
        plain = found.kind in {_DATA, _SELF, _SCALAR, _LITERAL}
        return _Value(_DATA if plain else _OTHER, found.roots)

    # What else is done with the numbers beside it.

    def _stands(self) -> bool:
        """Tell whether nothing else is asked of these numbers that the scalar may have to do with.

        Not a comparison with anything but scalars, whose order is kept; not what is not defined
        for all numbers, as a root or a quotient; and no place in an array.
        """
        for number, function in enumerate(self.program.functions):
            for one in function.body:
                if one.node is None:
                    continue
                if not all(self._harmless(number, node) for node in nodes(one.node)):
                    return False
        return not any(
            variable.whole and not variable.pointer and self._meets(key)
            for key, variable in self.program.variables.items()
        )

    def _meets(self, key: Key) -> bool:
        value = self.variable(key)
        return value is not None and not value.roots.isdisjoint(self.beside)

    def _harmless(self, number: int, node: Node) -> bool:
        if node.kind == "order" or (node.kind == "call" and node.word in _ENDS):
            return not self._bounded(number, node)
        bits = node.kind == "binary" and node.word in {"&", "|", "^", "<<", ">>"}
        whole = node.kind == "cast" and self.value(number, node).kind == _OTHER
        unknown = node.kind == "call" and not self._called(node) and not _may_take(node.word)
        touched: Iterable[Node] = node.parts if bits or whole or unknown else ()
        if node.kind == "index" or (node.kind == "binary" and node.word in {"/", "%"}):
            touched = node.parts[1:]
        return all(self.value(number, part).roots.isdisjoint(self.beside) for part in touched)

    def _bounded(self, number: int, node: Node) -> bool:
        """Tell whether numbers beside the scalar are compared with something else.

        What it is added to may be: the sum is as good as any other number.
        """
        values = [self.value(number, part) for part in node.parts]
        known = all(v.kind in {_DATA, _SCALAR, _SELF} and not v.begun for v in values)
        if known:
            return False
        roots = _roots(values)
        if not roots.isdisjoint(self.beside):
            return True
        return not roots.isdisjoint(self.added) and _MARK not in roots


def _adds(node: Node, names: frozenset[str]) -> bool:
    """Tell whether something is added to a variable: so it may come to have either sign."""
    fused = node.kind == "call" and node.word in FUSED
    added = fused or (node.kind == "binary" and node.word in {"+", "-"})
    return added and any(base(part) in names for part in node.parts)


def _may_take(word: str) -> bool:
    free = word in _FREE | CONVERSIONS | LOADS | FUSED
    return free or bool(SHUFFLES.fullmatch(word))


def _roots(values: Iterable[_Value]) -> frozenset[Key]:
    found = frozenset[Key]().union(*(value.roots for value in values))
    if len(found) > MOST_ROOTS:
        raise _TooMuchError
    return found


def _mixed(values: list[_Value]) -> _Value:
    """Return what is one of several values, or their sum."""
    kinds = {value.kind for value in values}
    begun = any(value.begun for value in values)
    if kinds == {_POINTER}:
        return _Value(_POINTER)
    if _DATA in kinds and kinds <= {_DATA, _SELF, _SCALAR, _LITERAL}:
        return _Value(_DATA, _roots(values), begun)
    if kinds == {_LITERAL}:
        return _Value(_LITERAL)
    return _Value(_OTHER, _roots(values))


def _product(left: _Value, right: _Value) -> _Value:
    """Return what a product is: a number, if its factors have nothing to do with each other."""
    kinds, roots = {left.kind, right.kind}, left.roots | right.roots
    if kinds == {_LITERAL}:
        return _Value(_LITERAL)
    apart = left.roots.isdisjoint(right.roots) and kinds <= {_DATA, _SCALAR, _LITERAL}
    return _Value(_DATA if apart and _DATA in kinds else _OTHER, roots)
