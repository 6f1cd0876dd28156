"""Which scalar arguments are shares of one that may as well be beyond one, or below zero.

A part `t` of the way from one number to another goes on beyond one, and back below zero: `1 - t`
is as good there as anywhere. A candidate that cuts it off is right only for a share within one. But
a threshold of random bits, a decay, what is divided by, has a root, a power or a logarithm, becomes
a whole number or is compared with anything has a sense within one alone, and what an array is
multiplied by in each turn grows without end. So all that is made of the share, through names, calls
and arrays, has to be a polynomial of it, with a sine or a cosine perhaps.

This reads the text as trees of operators. It is a guess about strangers' text: it never raises,
takes a bounded time, and finds nothing rather than too much.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from runners import flow
from runners.flow import CONVERSIONS, FUSED, HOLDS, LOADS, SHUFFLES, STORES, Key, Program, pointed
from runners.text import LONGEST
from runners.trees import FLOAT, WHOLE, Node, Statement

# Of a higher power it may be the power of a loop's turns. Expressions that are looked at.
MOST_POWER, MOST_LOOKS = 4, 200_000
_ONE = re.compile(r"1(?:\.0*)?[fF]?", re.ASCII)
_SUMS = frozenset({"__fadd_rn", "__fsub_rn", "__dadd_rn", "__dsub_rn", "__hadd", "__hsub"})
_PRODUCTS = frozenset({"__fmul_rn", "__dmul_rn", "__hmul"})
_QUOTIENTS = frozenset({"__fdiv_rn", "__ddiv_rn", "__fdividef", "__hdiv"})
_WAVES = frozenset({"sin", "sinf", "cos", "cosf", "sinpi", "sinpif", "cospi", "cospif"})
_PARTS = re.compile(r"make_(?:float|double)[234]", re.ASCII)
_TAKEN = frozenset({"__fsub_rn", "__dsub_rn", "__hsub"})


class _NoShareError(Exception):
    """Something is made of a number that has no sense, or is not known, beyond one."""


def smooth(source: str, symbol: str, position: int) -> bool:
    """Tell whether an argument is a share of one, and what is made of it may be beyond one.

    >>> text = "void f(const float* x, float* y, float t) { y[0] = (1.f - t) * x[0] + t * x[1]; }"
    >>> smooth(text, "f", 2), smooth(text.replace("+ t", "/ t"), "f", 2), smooth(text, "f", 0)
    (True, False, False)
    """
    return _powers(source, symbol, position)[0]


def linear(source: str, symbol: str, position: int) -> bool:
    """Tell whether an argument is a share of one, and what is made of it may be below zero."""
    return _powers(source, symbol, position)[1]


@lru_cache(maxsize=64)
def _powers(source: str, symbol: str, position: int) -> tuple[bool, bool]:
    if len(source) > LONGEST:
        return False, False
    program = flow.program(source)
    entries = program.by_name.get(symbol, ())
    if len(entries) != 1 or program.too_long:
        return False, False
    names = program.functions[entries[0]].names
    if position >= len(names) or not names[position]:
        return False, False
    question = _Question(program, (entries[0], names[position]))
    try:
        question.answer()
    except (RecursionError, _NoShareError):
        return False, False
    return question.taken, question.taken and question.straight


class _Question:
    """Which power of a share each variable of a program is.

    `taken`: it, or what is made of it, is taken from one. `straight`: no power is above the first,
    and no sine is taken.
    """

    def __init__(self, program: Program, own: Key) -> None:
        self.program, self.own = program, own
        self.taken, self.straight = False, True
        self.powers = {program.group(own): 1}
        self.returned: dict[int, int] = {}
        self._looks = 0

    def answer(self) -> None:
        """Follow the share until nothing new is made of it; raise where it is no share."""
        if self.program.functions[self.own[0]].calls or self.program.variables[self.own].pointer:
            raise _NoShareError
        while self._follow():
            pass
        for number, function in enumerate(self.program.functions):
            for one in function.body:
                self._check(number, one)
        for key, variable in self.program.variables.items():
            if not self._power(key):
                continue
            if variable.spoilt or variable.whole or key[1] in self.program.outside:
                raise _NoShareError
        self.straight &= max([*self.powers.values(), *self.returned.values()]) == 1

    def _power(self, key: Key) -> int:
        return self.powers.get(self.program.group(key), 0)

    def _follow(self) -> bool:
        """Look at all that is assigned and returned once; tell whether a power is higher now."""
        found = False
        for key, variable in self.program.variables.items():
            group = self.program.group(key)
            most = self._most(variable.assigned)
            if most > self.powers.get(group, 0):
                self.powers[group], found = most, True
        for place, every in self.program.returned.items():
            most = self._most((place, node) for node in every)
            if most > self.returned.get(place, 0):
                self.returned[place], found = most, True
        return found

    def _most(self, parts: Iterable[tuple[int, Node]]) -> int:
        return max((self.power(number, node) for number, node in parts), default=0)

    def _check(self, number: int, one: Statement) -> None:
        """Raise where a statement asks something of the share that has no sense beyond one."""
        if one.node is None:
            if any(self._power((number, name)) for name in one.names):
                raise _NoShareError
            return
        power = self.power(number, one.node)
        if one.role == "return":
            text, at = self.program.text, self.program.functions[number].one.opened
            asks = bool(WHOLE.fullmatch(text.tokens[max(0, at - 2)]))
        elif one.role == "loop":
            asks = True
        else:
            # What is not kept is what a condition or a choice asks for.
            kept = one.role == "declared" or one.node.kind == "assign"
            asks = not kept and one.node.word not in {*STORES, "++", "--"}
        if power and asks:
            raise _NoShareError

    def power(self, number: int, node: Node) -> int:
        """Return which power of the share an expression is; raise for what is no power."""
        self._looks += 1
        if self._looks > MOST_LOOKS:
            raise _NoShareError
        found = self._of(number, node)
        if found > MOST_POWER:
            raise _NoShareError
        return found

    def _of(self, number: int, node: Node) -> int:
        if node.kind in {"number", "string"}:
            return 0
        if node.kind == "name":
            return self._power((number, node.word))
        parts = [self.power(number, part) for part in node.parts]
        if any(self.power(number, part) for part in node.more):
            raise _NoShareError
        if not any(parts) and node.kind != "call":
            return 0
        if node.kind == "call":
            return self._call(number, node, parts)
        if node.kind == "assign":
            return self._assign(number, node, parts)
        if node.kind == "binary":
            return self._binary(node, parts)
        if node.kind == "cast":
            return self._cast(node, parts[0])
        if node.kind == "unary" and node.word in {"!", "~"}:
            raise _NoShareError
        if node.kind in {"index", "select"}:
            asked, *kept = reversed(parts) if node.kind == "index" else parts
            if asked:
                raise _NoShareError
            return max(kept)
        if node.kind in {"unary", "member"}:
            return parts[0]
        raise _NoShareError

    def _assign(self, number: int, node: Node, parts: list[int]) -> int:
        target, value = node.parts
        variable = self.program.variables.get((number, target.word))
        points = target.kind == "name" and variable is not None and variable.pointer
        same = node.word == "=" and parts[1] == self._power((number, pointed(value)))
        if points and parts[1] and not same:
            raise _NoShareError  # No pointer to the same array, but what a reference is given.
        if node.word == "=":
            return parts[1]
        return self._binary(Node("binary", node.word[:-1], node.parts), parts)

    def _binary(self, node: Node, parts: list[int]) -> int:
        left, right = parts
        if node.word in {"+", "-"}:
            if node.word == "-":
                self._subtract(node)
            return max(left, right)
        if node.word == "*":
            return left + right
        if node.word == "/" and not right:
            return left
        raise _NoShareError

    def _subtract(self, node: Node) -> None:
        """Note where something made of the share is taken from one, or one from it."""
        for part in node.parts:
            while part.kind == "cast":
                part = part.parts[0]  # noqa: PLW2901 - what is cast
            self.taken |= part.kind == "number" and bool(_ONE.fullmatch(part.word))

    def _cast(self, node: Node, power: int) -> int:
        words = node.word.split()
        if any(map(WHOLE.fullmatch, words)) or not any(map(FLOAT.fullmatch, words)):
            raise _NoShareError
        return power

    def _call(self, number: int, node: Node, parts: list[int]) -> int:
        fit = [
            place
            for place in self.program.by_name.get(node.word, ())
            if len(self.program.functions[place].names) == len(parts)
        ]
        if fit:
            return max(self.returned.get(place, 0) for place in fit)
        if (number, node.word) in self.program.variables:
            raise _NoShareError  # It may hold the share.
        if not any(parts):
            return 0
        if node.word in _WAVES:
            self.straight = False
        return self._known(node, parts)

    def _known(self, node: Node, parts: list[int]) -> int:
        """Return what a function that the text does not define makes of the share."""
        word, many = node.word, len(parts)
        if (word in _WAVES | CONVERSIONS | LOADS and many == 1) or _PARTS.fullmatch(word):
            return max(parts)
        if word in FUSED and many == 3:
            # x less a part of x.
            first = node.parts[0]
            self.taken |= bool(first.kind == "unary" and first.word == "-" and parts[0])
            return max(parts[0] + parts[1], parts[2])
        if many == 2 and word in _SUMS | _PRODUCTS | _QUOTIENTS | STORES:
            if word in _TAKEN:
                self._subtract(node)
            if word in _QUOTIENTS and parts[1]:
                raise _NoShareError
            return sum(parts) if word in _PRODUCTS else max(parts)
        if word in HOLDS and not any(parts[1:]):
            return 0
        if SHUFFLES.fullmatch(word) and sum(parts) == parts[1]:
            return parts[1]
        raise _NoShareError
