"""Which arrays an original's text makes indices of, with something added to their numbers.

A neighbour is often told as a distance: `(i + off[e]) % n`, `row - back[row]`, `lane ^ mask[k]`.
So what is looked for is an index, or what a pointer is moved by, in which a sum, a difference or an
exclusive or has an element of an array among its operands, followed through names and calls. An
element that is multiplied there, or is the index of another array, is none of its operands. It is a
guess: what the numbers lead to is told by runs alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache

from runners import flow
from runners.flow import LOADS, Key, Program
from runners.text import LONGEST, integer, plain_name
from runners.trees import Node

# What leaves a place one: wrapped round, chosen from two, brought within bounds.
_WRAPS, _JOINS = frozenset({"%", "&"}), frozenset({"+", "-", "^"})
_CALLS = frozenset({"min", "max", "abs"})
_PRODUCTS, _SHIFTS = frozenset({"*", "<<"}), frozenset({"<<", "<<="})
# A larger number is as good as this, and so is a shift by more.
MOST_TIMES, MOST_SHIFT = 1 << 62, 62


def relative(source: str, symbol: str, positions: Iterable[int]) -> tuple[int, ...]:
    r"""Return the arrays of a function, by position, to whose numbers indices add something.

    >>> text = "void f(const int* a, const int* b, int* y, int n) { for (int i = 0; i < n; ++i)" \
    ...     " { int to = (i + a[i]) % n; y[to] += b[i]; } }"
    >>> relative(text, "f", [0, 1]), relative(text.replace("i + ", ""), "f", [0, 1])
    ((0,), ())
    """
    if len(source) > LONGEST:
        return ()
    return _relative(source, plain_name(symbol), tuple(positions))


def times(source: str) -> int:
    """Return by what elements of arrays are multiplied, but for what indices are made of.

    One where that is nowhere; the product of all numbers that stand beside them; zero where they
    are multiplied by anything else.

    >>> times("void f(int* x, int n) { x[n * 3] += x[0] >> 4; }")
    1
    >>> times("void f(int* x, int n) { int a = x[0]; x[1] = 15 * (a + 1) << 2; }")
    60
    >>> times("void f(int* x, int n) { int a = x[0]; x[1] = n * (a + 1); }")
    0
    >>> times("void f(int* y, int n) { int x = y[0]; y[1] = x + blockIdx.x * blockDim.x; }")
    1
    """
    return 0 if len(source) > LONGEST else _times(source)


@lru_cache(maxsize=64)
def _relative(source: str, symbol: str, positions: tuple[int, ...]) -> tuple[int, ...]:
    program = flow.program(source)
    entries = program.by_name.get(symbol, ())
    if len(entries) != 1 or program.too_long or not positions:
        return ()
    names = program.functions[entries[0]].names
    groups = {program.group((entries[0], names[at])): at for at in positions if at < len(names)}
    reading = _Reading(program)
    for number, node in _everywhere(program):
        for place in _indices(program, number, node):
            reading.follow(number, place)
    return tuple(sorted(groups[group] for group in reading.found & groups.keys()))


def _everywhere(program: Program) -> Iterator[tuple[int, Node]]:
    for number, function in enumerate(program.functions):
        for one in function.body:
            if one.node is not None:
                yield from ((number, node) for node in flow.nodes(one.node))


def _indices(program: Program, number: int, node: Node) -> Iterator[Node]:
    """Yield what an array is indexed by here, or what a pointer is moved by."""
    if node.kind == "index":
        yield node.parts[1]
    elif node.kind == "binary" and node.word == "+":
        for one, other in (node.parts, node.parts[::-1]):
            pointer = program.variables.get((number, flow.pointed(one)))
            if pointer is not None and pointer.pointer:
                yield other


class _Reading:
    """Follows indices back to the arrays whose elements are among their operands.

    What is left to be followed waits, with whether it is an operand: each name is followed once.
    """

    def __init__(self, program: Program) -> None:
        self.found: set[Key] = set()
        self._program = program
        self._seen: set[tuple[Key, bool]] = set()
        self._waiting: list[tuple[int, Node, bool]] = []

    def follow(self, number: int, node: Node) -> None:
        """Find the arrays of which an element is an operand of an index."""
        self._waiting.append((number, node, False))
        while self._waiting:
            self._one(*self._waiting.pop())

    def _one(self, number: int, node: Node, inside: bool) -> None:
        kind, word = node.kind, node.word
        if kind in {"cast", "member", "select"} or (kind, word) == ("unary", "-"):
            self._wait(number, node.parts, inside)
        elif kind == "binary" and word in _JOINS:
            self._wait(number, node.parts, inside=True)
        elif kind == "binary" and word in _WRAPS:
            self._wait(number, node.parts[:1], inside)
        elif _reads(node):
            self._element((number, flow.base(node)), inside)
            self._named((number, flow.base(node)), inside)
        elif kind == "call" and word in LOADS:
            self._element((number, flow.pointed(node.parts[0]) if node.parts else ""), inside)
        elif kind == "call" and word in _CALLS:
            self._wait(number, node.parts, inside)
        elif kind == "call":
            for place in self._program.by_name.get(word, ()):
                if self._new((place, ""), inside):
                    self._wait(place, self._program.returned.get(place, ()), inside)
        elif kind == "name":
            self._named((number, word), inside)

    def _wait(self, number: int, parts: Iterable[Node], inside: bool) -> None:
        self._waiting += [(number, part, inside) for part in parts]

    def _new(self, key: Key, inside: bool) -> bool:
        known = (key, inside) in self._seen
        self._seen.add((key, inside))
        return not known

    def _element(self, key: Key, inside: bool) -> None:
        if inside and key in self._program.variables:
            self.found.add(self._program.group(key))

    def _named(self, key: Key, inside: bool) -> None:
        """Go on with what is assigned to a variable, or to elements of an array."""
        variable = self._program.variables.get(key)
        if variable is not None and self._new(key, inside):
            for place, value in variable.assigned:
                self._waiting.append((place, value, inside))


@lru_cache(maxsize=64)
def _times(source: str) -> int:
    program = flow.program(source)
    found = 0 if program.too_long else 1
    loaded = _loaded(program)
    for number, function in enumerate(program.functions):
        for one in function.body:
            for node in () if one.node is None else _products(one.node):
                if _loads(loaded, number, node):
                    found = min(found * _factor(node), MOST_TIMES)
    return found


def _factor(node: Node) -> int:
    """Return the number in a product or a shift to the left; zero where there is none."""
    for one in node.parts[::-1]:
        factor = integer(one.word) if one.kind == "number" else None
        if factor is not None:
            return 1 << min(factor, MOST_SHIFT) if node.word in _SHIFTS else factor
        if node.word in _SHIFTS:
            break
    return 0


def _products(node: Node) -> Iterator[Node]:
    """Yield products and what is shifted to the left, but for those within an index."""
    waiting = [node]
    while waiting:
        one = waiting.pop()
        if one.kind == "binary" and one.word in _PRODUCTS:
            yield one
        if one.kind == "assign" and one.word in {"*=", "<<="}:
            yield one
        waiting += one.parts[:1] if one.kind == "index" else [*one.parts, *one.more]


def _loads(loaded: set[Key], number: int, node: Node) -> bool:
    """Tell whether something is made of an element of an array, or of a variable that is."""
    for one in flow.nodes(node):
        if _reads(one) or (one.kind == "name" and (number, one.word) in loaded):
            return True
    return False


def _reads(node: Node) -> bool:
    return node.kind == "index" or (node.kind, node.word) == ("unary", "*")


def _loaded(program: Program) -> set[Key]:
    """Return the variables that are made of elements of arrays, or of what is not read."""
    uses: dict[Key, list[Key]] = {}
    waiting = []
    for key, variable in program.variables.items():
        if variable.spoilt:
            waiting.append(key)
        for number, value in variable.assigned:
            for one in flow.nodes(value):
                if _reads(one):
                    waiting.append(key)
                elif one.kind == "name":
                    uses.setdefault((number, one.word), []).append(key)
    found: set[Key] = set()
    while waiting:
        key = waiting.pop()
        if key not in found:
            found.add(key)
            waiting += uses.get(key, ())
    return found
