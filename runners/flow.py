"""A text's functions and variables: what is assigned to them, and what is the same array.

For what follows a number through names, calls and arrays. It is a guess about strangers' text: it
never raises, and what it cannot follow it marks as spoilt.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache

from runners import trees
from runners.text import NAME, Definition, Text
from runners.trees import FLOAT, WHOLE, Node, Statement

MOST_TOKENS = 60_000
FUSED = frozenset({"fma", "fmaf", "__fmaf_rn", "__fma_rn", "__hfma"})
CONVERSIONS = frozenset(
    {
        "__half2float",
        "__float2half",
        "__float2half_rn",
        "__bfloat162float",
        "__float2bfloat16",
        "__float2bfloat16_rn",
    }
)
LOADS = frozenset({"__ldg", "__ldcg", "__ldcs", "__ldca", "__ldlu"})
SHUFFLES = re.compile(r"__shfl(?:_up|_down|_xor)?_sync", re.ASCII)
# What is given a pointer and stores no number behind it.
HOLDS = frozenset(
    {
        *("cudaMalloc", "cudaMallocAsync", "cudaMallocManaged", "cudaFree", "cudaFreeAsync"),
        *("cudaMemset", "cudaMemsetAsync", *LOADS),
    }
)
STORES = frozenset({"atomicAdd", "__stcs", "__stcg", "__stwt"})
# What leaves a pointer one to the same array.
_MOVES = frozenset(
    {("unary", "*"), ("unary", "&"), ("unary", "++"), ("unary", "--"), ("binary", "+")}
    | {("binary", "-")}
)

# A variable: the function it is in, and its name.
Key = tuple[int, str]


@dataclass(slots=True)
class Function:
    """A function's parameters, what it computes, and whether it may go on without end."""

    one: Definition
    names: tuple[str, ...]
    types: tuple[tuple[str, ...], ...]
    body: tuple[Statement, ...]
    waits: bool = False
    calls: int = 0


@dataclass(slots=True)
class Variable:
    """All that is assigned to a variable, or stored in an array, and where."""

    assigned: list[tuple[int, Node]] = field(default_factory=list)
    spoilt: bool = False
    whole: bool = False
    pointer: bool = False


@lru_cache(maxsize=3)
def program(source: str) -> Program:
    """Return a text's functions and variables, read once."""
    return Program(source)


class Program:
    """A text's functions, their variables, and which pointers may point to the same array."""

    def __init__(self, source: str) -> None:
        text = Text(source, macros=True)
        self.text = text
        self.functions: list[Function] = []
        self.by_name: dict[str, list[int]] = {}
        self.variables: dict[Key, Variable] = {}
        self.returned: dict[int, list[Node]] = {}
        self._same: dict[Key, Key] = {}
        self.too_long = text.count > MOST_TOKENS
        if self.too_long:
            return
        inside: set[int] = set()
        for one in text.definitions():
            self._function(one)
            inside.update(range(one.opened, one.end))
        words = (word for at, word in enumerate(text.tokens[: text.count]) if at not in inside)
        self.outside = frozenset(filter(NAME.fullmatch, words))
        for number, function in enumerate(self.functions):
            self._body(number, function)

    def _function(self, one: Definition) -> None:
        number = len(self.functions)
        parts = self.text.parts(one.opened, angles=True)
        body = tuple(trees.statements(self.text, one))
        names = self.text.parameters(one)
        function = Function(one, names, tuple(tuple(part) for part in parts), body)
        function.waits = any(map(_endless, body))
        self.functions.append(function)
        self.by_name.setdefault(one.name, []).append(number)
        for name, words in zip(names, function.types, strict=False):
            self._declare((number, name), words)

    def _declare(self, key: Key, words: Iterable[str]) -> None:
        variable = self.variable(key)
        for word in words:
            variable.pointer |= word in {"*", "[", "&"}
            variable.whole |= bool(WHOLE.fullmatch(word)) and word != key[1]

    def variable(self, key: Key) -> Variable:
        """Return what is known of a variable, made where it is not known yet."""
        return self.variables.setdefault(key, Variable())

    def group(self, key: Key) -> Key:
        """Return the one that stands for all pointers to an array."""
        while key in self._same:
            key = self._same[key]
        return key

    def _join(self, one: Key, other: Key) -> None:
        self.variable(one)
        self.variable(other)
        one, other = self.group(one), self.group(other)
        if one != other:
            self._same[one] = other

    def members(self) -> dict[Key, list[Key]]:
        """Return the pointers to each array."""
        found: dict[Key, list[Key]] = {}
        for key in self.variables:
            found.setdefault(self.group(key), []).append(key)
        return found

    def _body(self, number: int, function: Function) -> None:
        for one in function.body:
            if one.role == "declared":
                self._declared(number, one)
        for one in function.body:
            if one.node is None:
                for name in one.names:
                    self.variable((number, name)).spoilt = True
                continue
            if one.role == "return":
                self.returned.setdefault(number, []).append(one.node)
            for node in nodes(one.node):
                self._effect(number, node)

    def _declared(self, number: int, one: Statement) -> None:
        node = one.node
        while node is not None and node.kind in {"assign", "index"}:
            words = ("[",) if node.kind == "index" else ()
            node = node.parts[0]
            if words and node.kind in {"name", "index"}:
                self._declare((number, base(node)), words)
        if node is not None and node.kind == "name":
            self._declare((number, node.word), one.type)

    def _effect(self, number: int, node: Node) -> None:
        if node.kind == "assign":
            self._assigned(number, node)
        elif node.kind == "call":
            self._called(number, node)
        elif node.kind == "cast" and "*" in node.word and not any(_floats(node.word)):
            # Bits of numbers, or what not.
            self.variable((number, base(node))).spoilt = True

    def _assigned(self, number: int, node: Node) -> None:
        target, value = node.parts
        name = base(target)
        key = (number, name)
        if target.kind == "name" and self.variable(key).pointer:
            # A pointer that is moved on points to the same array.
            other = pointed(value) if node.word == "=" else name
            if other and other != name:
                self._join(key, (number, other))
            self.variable(key).spoilt |= not other
            return
        if not name:
            return
        if node.word != "=":
            kind = "binary" if node.word[:1] in "+-*/%" else "call"
            value = Node(kind, node.word[:1], (target, value))
        self.variable(key).assigned.append((number, value))

    def _called(self, number: int, node: Node) -> None:
        fit = [
            place
            for place in self.by_name.get(node.word, ())
            if len(self.functions[place].names) == len(node.parts)
        ]
        for place in fit:
            self.functions[place].calls += 1
            for name, part in zip(self.functions[place].names, node.parts, strict=True):
                self._given(number, part, (place, name))
        if fit or node.word in HOLDS:
            return
        for at, part in enumerate(node.parts):
            variable = self.variables.get((number, pointed(part)))
            if variable is None or not (part.kind == "unary" or variable.pointer):
                continue
            if node.word in STORES and at == 0:
                variable.assigned.append((number, node.parts[-1]))
            else:
                variable.spoilt = True

    def _given(self, number: int, part: Node, key: Key) -> None:
        variable = self.variable(key)
        if not variable.pointer:
            variable.assigned.append((number, part))
        elif name := pointed(part):
            # What is no array may be another number behind the call.
            given = self.variable((number, name))
            given.spoilt |= not given.pointer
            self._join(key, (number, name))
        else:
            variable.spoilt = True


def _endless(one: Statement) -> bool:
    """Tell whether a loop may go on for as long as floats say, or for ever."""
    if one.role != "loop":
        return False
    node = one.node
    return node is None or node.kind in {"number", "call"} or node.word == "!"


def _floats(words: str) -> Iterator[str]:
    return (word for word in words.split() if FLOAT.fullmatch(word))


def nodes(node: Node) -> Iterator[Node]:
    """Yield a tree's operators and operands."""
    waiting = [node]
    while waiting:
        one = waiting.pop()
        yield one
        waiting += [*one.parts, *one.more]


def base(node: Node) -> str:
    """Return the variable that an element or a pointer belongs to; nothing where it is none."""
    while True:
        if node.kind == "name":
            return node.word
        if node.kind not in {"index", "member", "cast"} and (node.kind, node.word) not in _MOVES:
            return ""
        node = node.parts[0]


def pointed(node: Node) -> str:
    """Return the variable to whose elements an expression points; nothing where it is none."""
    while (node.kind, node.word) in _MOVES - {("unary", "*"), ("unary", "&")}:
        node = node.parts[0]
    if node.kind == "cast":
        return pointed(node.parts[0])
    if (node.kind, node.word) == ("unary", "&"):
        return base(node.parts[0])
    return node.word if node.kind == "name" else ""
