"""What a text asks of its entry's arguments: conditions that can be computed from their values.

`rows > 8 * cols`, `(n + k) % 7 == 3`, `if (wide)` with `const bool wide = first + n > limit`: what
stands beside such an operator is followed through local names, parameters of functions, macros and
constants, a few levels deep, to the arguments of the function that is called. What depends on a
thread, on an element or on a loop's turn is not known and asks for nothing here. It is a guess
about strangers' text: it never raises, takes a bounded time, and may find what means nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from runners import flow, terms, trees
from runners.flow import Key, Program
from runners.terms import Of, Term, Values
from runners.text import LONGEST, NAME, ValuedText, plain_name
from runners.trees import Node

# Conditions of a text; operators of one and of all; how often names are followed in one; values
# that one name may have; tokens of a constant.
MOST, MOST_NODES, MOST_STEPS, LEVELS, WAYS, MOST_CONSTANT = 96, 120, 40_000, 6, 3, 40
# What stands behind the arguments: the ways of the grid, and of the block.
GEOMETRY = tuple((name, way) for name in ("gridDim", "blockDim") for way in "xyz")
_ORDERS = frozenset({"<", "<=", ">", ">=", "==", "!="})
_FIXED = frozenset({"const", "constexpr"})

# What is asked before a condition, and the answer with which it is asked itself.
_Guards = tuple[tuple[Term, bool], ...]


@dataclass(frozen=True, slots=True)
class Condition:
    """A term that is true or not. `gaps`: how far apart sides are that are compared in it."""

    term: Term
    gaps: tuple[Of, ...]
    guards: _Guards

    @property
    def key(self) -> tuple[str, ...]:
        """Return what another text's is compared by."""
        return (self.term.key, *(f"{wanted:d}{one.key}" for one, wanted in self.guards))

    @property
    def uses(self) -> frozenset[int]:
        """Return the positions of all that it depends on."""
        return self.term.uses.union(*(one.uses for one, _ in self.guards))

    def holds(self, values: Values) -> bool | None:
        """Tell whether it is true; None where it is not asked, or not known."""
        for one, wanted in self.guards:
            known = one.of(values)
            if known is not None and bool(known) != wanted:
                return None
        value = self.term.of(values)
        return None if value is None else bool(value)


def conditions(source: str, symbol: str, arguments: Sequence[str]) -> tuple[Condition, ...]:
    """Return what a text asks of a function's arguments, in the order in which it stands there.

    >>> text = "void f(float* x, int n, int m) { const int q = n / 4; if (q > 8 * m) g(x); }"
    >>> (one,) = conditions(text, "f", ("x", "n", "m"))
    >>> one.key, [one.holds({1: n, 2: 3}.get) for n in (96, 100)]
    (('((2:*8)<(1:/4))',), [False, True])
    """
    if len(source) > LONGEST:
        return ()
    return _conditions(source, plain_name(symbol), tuple(arguments))


@lru_cache(maxsize=16)
def _conditions(source: str, symbol: str, arguments: tuple[str, ...]) -> tuple[Condition, ...]:
    program = flow.program(source)
    if program.too_long:
        return ()
    try:
        return tuple(Reader(source, program, symbol, arguments).found())
    except RecursionError:
        return ()


class Reader:
    """Reads the conditions of one program, and what other expressions in it are."""

    def __init__(
        self, source: str, program: Program, symbol: str, arguments: tuple[str, ...]
    ) -> None:
        self.program = program
        self.arguments = {name: at for at, name in enumerate(arguments) if name}
        self.geometry = {one: len(arguments) + at for at, one in enumerate(GEOMETRY)}
        self.entries: dict[Key, int] = {}
        for place in program.by_name.get(symbol, ()):
            names = program.functions[place].names
            if len(names) == len(arguments):
                self.entries |= {(place, name): at for at, name in enumerate(names) if name}
        self.macros: dict[str, Node] = {}
        self.templates: dict[str, tuple[tuple[str, ...], Node]] = {}
        self._read_macros()
        self.constants = dict(self._constants())
        self.numbers = ValuedText(source).constants
        self.moving: set[Key] = set()
        self.fixed: set[Key] = set()
        self._read_variables()
        self._left, self._nodes, self._way = MOST_STEPS, 0, 0

    # What names stand for.

    def _read_macros(self) -> None:
        """Read what macros are replaced by, without and with parameters."""
        text = self.program.text
        for name, begin, end in text.macros:
            close = text.close(begin) if text.tokens[begin] == "(" else end
            names, between = text.tokens[begin + 1 : close : 2], text.tokens[begin + 2 : close : 2]
            given = all(map(NAME.fullmatch, names)) and {*between} <= {","} and close + 1 < end
            node = trees.read(text.tokens[close + 1 : end]) if given else None
            if node is not None:
                self.templates[name] = tuple(names), node
                continue
            node = trees.read(text.tokens[begin:end])
            if node is not None:
                self.macros[name] = node

    def _constants(self) -> Iterator[tuple[str, Node]]:
        """Yield what constants are set to, wherever they are."""
        tokens = self.program.text.tokens
        for at in range(1, self.program.text.count):
            if tokens[at] != "=" or _FIXED.isdisjoint(tokens[max(0, at - 6) : at - 1]):
                continue
            end = at + 1
            while tokens[end] not in {";", ",", ""} and end - at < MOST_CONSTANT:
                end += 1
            node = trees.read(tokens[at + 1 : end])
            if node is not None and NAME.fullmatch(tokens[at - 1]):
                yield tokens[at - 1], node

    def _read_variables(self) -> None:
        """Find variables that count, or are made of themselves, and those that are constant."""
        for number, function in enumerate(self.program.functions):
            for one in function.body:
                if one.node is None:
                    continue
                if one.role == "declared" and not _FIXED.isdisjoint(one.type):
                    target = one.node.parts[0] if one.node.kind == "assign" else one.node
                    self.fixed.add((number, flow.base(target)))
                for node in flow.nodes(one.node):
                    if node.kind == "unary" and node.word in {"++", "--", "&"}:
                        self.moving.add((number, flow.base(node.parts[0])))
        for key, variable in self.program.variables.items():
            # What is given to a parameter is made of another function's variable of that name.
            own = [value for place, value in variable.assigned if place == key[0]]
            for value in own if len(variable.assigned) > 1 else ():
                if any(one.word == key[1] and one.kind == "name" for one in flow.nodes(value)):
                    self.moving.add(key)

    # What is asked.

    def found(self) -> Iterator[Condition]:
        """Yield conditions, each once."""
        known: set[tuple[str, ...]] = set()
        for number, function in enumerate(self.program.functions):
            for one in function.body:
                if one.node is None:
                    continue
                head = one.role == "plain" and one.node.kind != "assign"
                for self._way in range(WAYS):
                    before = len(known)
                    for condition in self._asked(number, one.node, (), truth=head):
                        if condition.key not in known:
                            known.add(condition.key)
                            yield condition
                        if len(known) == MOST or self._left < 0:
                            return
                    if len(known) == before:
                        break

    def _asked(
        self, number: int, node: Node, guards: _Guards, *, truth: bool
    ) -> Iterator[Condition]:
        """Yield what is asked in an expression; `truth`: it is asked itself whether it is zero."""
        self._left -= 1
        if self._left < 0 or len(guards) > LEVELS:
            return
        node = self._replaced(number, node)
        both = node.kind == "binary" and node.word in {"&&", "||"}
        order = node.kind == "order" or (node.kind == "binary" and node.word in _ORDERS)
        negated = (node.kind, node.word) == ("unary", "!")
        if both or order or (truth and not negated and node.kind not in {"number", "select"}):
            yield from self._one(number, node, guards)
        if not both and node.kind != "select":
            for part in (*node.parts, *node.more):
                yield from self._asked(number, part, guards, truth=negated)
            return
        first, *others = node.parts
        yield from self._asked(number, first, guards, truth=True)
        term = self._compiled(number, first)
        for at, part in enumerate(others):
            wanted = node.word == "&&" or (node.kind == "select" and at == 0)
            behind = (*guards, (term, wanted)) if term is not None and term.uses else guards
            yield from self._asked(number, part, behind, truth=both or truth)

    def _one(self, number: int, node: Node, guards: _Guards) -> Iterator[Condition]:
        term = self._compiled(number, node)
        if term is None or not term.uses:
            return
        compared = [one for one in self._joined(number, node) if one.word in _ORDERS]
        gaps = [self._compiled(number, Node("binary", "-", one.parts)) for one in compared]
        yield Condition(term, tuple(one.of for one in gaps if one is not None), guards)

    def _joined(self, number: int, node: Node) -> Iterator[Node]:
        """Yield what stands on the two sides of `&&` and `||`, as far as it is no such itself."""
        self._left -= 1
        node = self._replaced(number, node)
        if node.kind == "binary" and node.word in {"&&", "||"} and self._left > 0:
            for part in node.parts:
                yield from self._joined(number, part)
        elif len(node.parts) == 2:
            yield node

    def _replaced(self, number: int, node: Node) -> Node:
        """Return what a macro stands for, as it is written there."""
        for _ in range(LEVELS):
            own = node.kind == "name" and self._own(number, node.word)
            if node.kind == "name" and node.word in self.macros and not own:
                node = self.macros[node.word]
            elif node.kind == "call" and node.word in self.templates:
                names, body = self.templates[node.word]
                if len(names) != len(node.parts):
                    break
                node = self._substituted(body, dict(zip(names, node.parts, strict=True)))
            else:
                break
        return node

    def _substituted(self, node: Node, given: Mapping[str, Node]) -> Node:
        self._left -= 1
        if node.kind == "name":
            return given.get(node.word, node)
        if not node.parts or self._left < 0:
            return node
        parts = tuple(self._substituted(part, given) for part in node.parts)
        return Node(node.kind, node.word, parts)

    def _own(self, number: int, name: str) -> bool:
        """Tell whether a name is a variable of a function, or a parameter."""
        variable = self.program.variables.get((number, name))
        given = number >= 0 and name in self.program.functions[number].names
        return given or (variable is not None and bool(variable.assigned))

    # What expressions are.

    def ways(self, number: int, node: Node) -> list[Term | None]:
        """Return how an expression in a function is computed, by each value that names may have.

        Each once; None among them where one of these is not known. Nowhere is `number` -1.
        """
        found: dict[str, Term | None] = {}
        for self._way in range(WAYS):
            term = self._compiled(number, node)
            found.setdefault("" if term is None else term.key, term)
        return list(found.values())

    def placed(self, node: Node, names: Sequence[str], given: Sequence[Node]) -> Node:
        """Return an expression with others in the place of some names."""
        return self._substituted(node, dict(zip(names, given, strict=False)))

    def _compiled(self, number: int, node: Node) -> Term | None:
        self._nodes = MOST_NODES
        return self._term(number, node, LEVELS)

    def _term(self, number: int, node: Node, deep: int) -> Term | None:
        """Return how an expression is computed; None where that is not known."""
        self._nodes -= 1
        self._left -= 1
        if self._nodes < 0 or self._left < 0:
            return None
        node = self._replaced(number, node)
        if node.kind == "number":
            return terms.literal(node.word)
        if node.kind == "name":
            return self._name(number, node.word, deep)
        if node.kind == "member":
            at = self.geometry.get((node.parts[0].word, node.word))
            return None if at is None or node.parts[0].kind != "name" else terms.given(at)
        if node.kind == "assign" and node.word == "=":
            return self._term(number, node.parts[1], deep)
        if node.kind == "call":
            return self._call(number, node, deep)
        if node.kind not in {"unary", "binary", "order", "select", "cast"}:
            return None
        parts = [self._term(number, part, deep) for part in node.parts]
        known = [part for part in parts if part is not None]
        if len(known) < len(parts):
            return None
        if node.kind == "cast":
            return terms.cast(node.word, known[0])
        if node.kind == "unary":
            return terms.unary(node.word, known[0])
        return terms.select(*known) if node.kind == "select" else terms.binary(node.word, *known)

    def _name(self, number: int, name: str, deep: int) -> Term | None:
        """Return what a name stands for: an argument, a variable set once, a constant."""
        key, own = (number, name), self._own(number, name)
        variable = self.program.variables.get(key)
        if own and variable is not None and variable.assigned:
            sure = key in self.fixed or not (variable.spoilt or key in self.moving)
            fits = sure and key not in self.entries and len(variable.assigned) <= WAYS
            if not fits or deep <= 0:
                return None
            place, value = variable.assigned[min(self._way, len(variable.assigned) - 1)]
            term = self._term(place, value, deep - 1)
            return terms.cast("int", term) if term is not None and variable.whole else term
        if key in self.entries:
            pointer = variable is not None and variable.pointer
            return None if pointer or key in self.moving else terms.given(self.entries[key])
        if not own and deep > 0 and name in self.constants:
            term = self._term(-1, self.constants[name], deep - 1)
            if term is not None:
                return term
        if not own and name in self.numbers:
            return terms.literal(str(self.numbers[name]))
        return terms.given(self.arguments[name]) if name in self.arguments else None

    def _call(self, number: int, node: Node, deep: int) -> Term | None:
        fit = [
            place
            for place in self.program.by_name.get(node.word, ())
            if len(self.program.functions[place].names) == len(node.parts)
        ]
        if fit:
            returned = self.program.returned.get(fit[0], [])
            if len(fit) > 1 or len(returned) != 1 or deep <= 0:
                return None
            names = self.program.functions[fit[0]].names
            body = self._substituted(returned[0], dict(zip(names, node.parts, strict=True)))
            return self._term(number, body, deep - 1)
        parts = [self._term(number, part, deep) for part in node.parts]
        return terms.called(node.word, [p for p in parts if p is not None]) if all(parts) else None
