"""Which bytes an original adds up or takes apart, and does nothing else with: costs, levels, grey.

Where such bytes are declared below 64 they may be above, for all that an original says which makes
sums of them: who keeps the sums in a byte is right for the declared ones alone. A range may be a
meaning, too: bytes that are letters, labels, lengths, places in a table or codes of fewer bits are
not all there are, and a candidate may rely on that. So all that is made of the bytes is followed
through the original's text: only where it is sums, differences, the least and the largest of whole
numbers, compared with each other and stored, in more bits than eight, is nothing meant by the
range. No product, since its sums may be of more bits than a declared range's; no float, since a
table of what is made of the declared ones is as good as making it; no index, shift, mask, rest,
equality, literal beside it in a comparison, nor loop that goes on by it. What is not read says no.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from runners import flow
from runners.flow import LOADS, SHUFFLES, Key, Program, base, nodes, pointed
from runners.text import LONGEST
from runners.trees import FLOAT, Node, Statement

MOST_LOOKS = 100_000
# The least and the largest of whole numbers, and what has no sign.
_CHOOSES = frozenset({"min", "max", "umin", "umax", "imin", "imax"})
_REDUCES = re.compile(r"__reduce_(?:min|max|add)_sync", re.ASCII)
_EXCHANGES = frozenset({"atomicAdd", "atomicMin", "atomicMax"})
_NARROW = re.compile(r"u?char\d?|u?int8_t|bool|auto", re.ASCII)


class _NoSumError(Exception):
    """Something else than a sum is made of the bytes, or it is not known what."""


@lru_cache(maxsize=64)
def summed(source: str, symbol: str, position: int) -> bool:
    """Tell whether nothing but sums is made of the bytes that an argument points to.

    >>> text = "__global__ void f(const unsigned char* a, int* y) { y[0] += a[threadIdx.x]; }"
    >>> summed(text, "f", 0), summed(text.replace("+=", "="), "f", 0)
    (True, False)
    >>> summed(text.replace("a[threadIdx.x]", "y[a[0]]"), "f", 0)
    False
    """
    if len(source) > LONGEST:
        return False
    program = flow.program(source)
    entries = program.by_name.get(symbol, ())
    if len(entries) != 1 or program.too_long:
        return False
    names = program.functions[entries[0]].names
    if position >= len(names) or not names[position]:
        return False
    question = _Question(program, (entries[0], names[position]))
    try:
        question.answer()
    except (RecursionError, _NoSumError):
        return False
    return question.added


class _Question:
    """Which variables of a program are made of some bytes; `added`: sums of them are."""

    def __init__(self, program: Program, own: Key) -> None:
        self.program, self.own = program, program.group(own)
        self.added = False
        self.made = {self.own}
        self.returned: set[int] = set()
        # Arrays whose length is told at the launch, which is not read: `extern __shared__ int a[];`
        self.open: dict[Key, Statement] = {
            (number, min(one.names)): one
            for number, function in enumerate(program.functions)
            for one in function.body
            if one.node is None and one.role == "declared" and len(one.names) == 1
        }
        self._looks = 0

    def answer(self) -> None:
        """Follow the bytes until nothing new is made of them; raise where it is no sum."""
        while self._follow():
            pass
        for number, function in enumerate(self.program.functions):
            for name, words in zip(function.names, function.types, strict=False):
                self._typed((number, name), words)
            for one in function.body:
                self._check(number, one)
        for key, variable in self.program.variables.items():
            if not self._is_made(key):
                continue
            own = self.program.group(key) == self.own
            if key in self.open:
                continue
            if variable.spoilt or not variable.whole or key[1] in self.program.outside:
                raise _NoSumError
            if own and (variable.assigned or not variable.pointer):
                raise _NoSumError  # The bytes themselves are written to.

    def _is_made(self, key: Key) -> bool:
        return self.program.group(key) in self.made

    def _follow(self) -> bool:
        """Look at all that is assigned and returned once; tell whether more is made of them."""
        before = len(self.made) + len(self.returned)
        for key, variable in list(self.program.variables.items()):
            if self._any(variable.assigned):
                self.made.add(self.program.group(key))
        for place, every in self.program.returned.items():
            if self._any((place, node) for node in every):
                self.returned.add(place)
        return len(self.made) + len(self.returned) > before

    def _any(self, parts: Iterable[tuple[int, Node]]) -> bool:
        every = [self.of(number, node) for number, node in parts]
        return any(every)

    def _typed(self, key: Key, words: Iterable[str]) -> None:
        """Raise where what is made of the bytes is kept in as few bits, or as floats."""
        odd = self._odd(word for word in words if word != "*")
        if odd and self._is_made(key) and self.program.group(key) != self.own:
            raise _NoSumError

    def _check(self, number: int, one: Statement) -> None:
        """Raise where a statement asks something else of the bytes than which are less."""
        if one.node is None:
            key = (number, min(one.names, default=""))
            if self.open.get(key) is one:
                self._typed(key, one.type)
            elif any(self._is_made((number, name)) for name in one.names):
                raise _NoSumError
            return
        if one.role == "declared":
            node = one.node.parts[0] if one.node.kind == "assign" else one.node
            self._typed((number, base(node)), one.type)
        value = self.of(number, one.node)
        if one.role == "loop":
            if any(self._value(number, node) for node in nodes(one.node)):
                raise _NoSumError
        elif value and one.role == "plain" and not _kept(one.node):
            raise _NoSumError  # A condition, or a switch.

    def _value(self, number: int, node: Node) -> bool:
        """Tell whether an expression is a number made of the bytes, and not a pointer to them."""
        if node.kind == "name":
            return not self._pointer(number, node) and self.of(number, node)
        return self.of(number, node)

    def of(self, number: int, node: Node) -> bool:
        """Tell whether an expression is, or points to, what is made of the bytes."""
        self._looks += 1
        if self._looks > MOST_LOOKS:
            raise _NoSumError
        if node.kind in {"number", "string"}:
            return False
        if node.kind == "name":
            return self._is_made((number, node.word))
        parts = [self.of(number, part) for part in node.parts]
        if any(self._value(number, part) for part in node.more):
            raise _NoSumError
        if node.kind == "call":
            return self._call(number, node, parts)
        return any(parts) and self._operator(number, node, parts)

    def _operator(self, number: int, node: Node, parts: list[bool]) -> bool:
        if node.kind == "index" and not parts[1]:
            return True
        if node.kind == "assign":
            return self._assign(number, node, parts)
        if node.kind in {"binary", "order"}:
            return self._two(number, node)
        if node.kind == "select" and not parts[0]:
            return True
        if node.kind == "cast" and not self._odd(node.word.split()):
            return True
        if node.kind == "unary" and node.word in {"-", "+", "*", "&"}:
            return True
        if node.kind == "unary" and self._pointer(number, node.parts[0]):
            return True  # It is moved on by one.
        raise _NoSumError

    @staticmethod
    def _odd(words: Iterable[str]) -> bool:
        """Tell whether a type has as few bits as the bytes, is a float's, or a pointer's."""
        return any(w == "*" or _NARROW.fullmatch(w) or FLOAT.fullmatch(w) for w in words)

    def _pointer(self, number: int, node: Node) -> bool:
        key = (number, pointed(node))
        variable = self.program.variables.get(key)
        return key in self.open or (variable is not None and variable.pointer)

    def _assign(self, number: int, node: Node, parts: list[bool]) -> bool:
        if node.word == "=":
            return parts[1]
        return self._two(number, Node("binary", node.word[:-1], node.parts))

    def _two(self, number: int, node: Node) -> bool:
        left, right = node.parts
        values = [self._value(number, left), self._value(number, right)]
        # What points somewhere is moved on, and is compared.
        if not any(values):
            if node.word not in {"+", "-"}:
                raise _NoSumError
            return True
        for one, other in ((left, right), (right, left)):
            if self._pointer(number, one):
                if self._value(number, other):
                    raise _NoSumError
                return True
        if node.kind == "order":
            if any(part.kind in {"number", "unary"} for part in node.parts):
                raise _NoSumError
            return False
        if node.word not in {"+", "-"}:
            raise _NoSumError
        self.added = True
        return True

    def _call(self, number: int, node: Node, parts: list[bool]) -> bool:
        fit = [
            place
            for place in self.program.by_name.get(node.word, ())
            if len(self.program.functions[place].names) == len(parts)
        ]
        if fit:
            return any(place in self.returned for place in fit)
        if (number, node.word) in self.program.variables:
            raise _NoSumError  # It may hold them.
        if not any(parts):
            return False
        many = len(parts)
        if node.word in _CHOOSES or (node.word in {"abs", *LOADS} and many == 1):
            return True
        if SHUFFLES.fullmatch(node.word) or _REDUCES.fullmatch(node.word):
            if parts[0] or any(parts[2:]):
                raise _NoSumError
            self.added |= "add" in node.word
            return True
        if node.word in _EXCHANGES and many == 2:
            self.added |= node.word == "atomicAdd"
            return True
        raise _NoSumError


def _kept(node: Node) -> bool:
    """Tell whether a statement assigns something, calls something or moves a pointer on."""
    return node.kind in {"assign", "call"} or node.word in {"++", "--"}
