"""The three ways of a grid or block in host code: what is assigned to each, wherever that is.

`dim3 grid(1, n)`, `grid.y = n`, `how.gridDim = grid`, a function that gives one back, a parameter.
It reads what `runners.plain_dims` has written, and is a guess about strangers' text: it never
raises, and what it cannot follow is not known.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from runners import flow
from runners.conditions import Reader
from runners.flow import Program
from runners.plain_dims import DIMS, MADE
from runners.trees import Node

# How often names are followed, in one and in all.
LEVELS, MOST_STEPS = 5, 4000
AXES = ("x", "y", "z")
# The members of what describes a launch, and all names of the last of them.
MEMBERS = ("gridDim", "blockDim", "dynamicSmemBytes")
_SHARED = frozenset({"dynamicSmemBytes", "sharedMemBytes", "sharedMem"})
ONE = Node("number", "1")
# What may give a grid on.
_PASSED = frozenset({"name", "call", "select", "member"})

# What may stand for one way, with the functions in which it does; None: not known.
Way = list[tuple[int, Node]] | None


class Dims:
    """What grids and blocks of one program are."""

    def __init__(self, program: Program, reader: Reader) -> None:
        self._program, self._reader, self._left = program, reader, MOST_STEPS
        # What is assigned to names and to members of them, by the function in which they are.
        self._assigned: dict[tuple[int, str], list[tuple[int, Node | None]]] = {}
        self._dims: set[tuple[int, str]] = set()
        self._outer: dict[int, int] = {}
        # What is declared with such a type anywhere, as a member may be.
        tokens = program.text.tokens
        self._named = {tokens[at + 1] for at in range(program.text.count) if tokens[at] in DIMS}
        for number, function in enumerate(program.functions):
            for name, words in zip(function.names, function.types, strict=False):
                if not DIMS.isdisjoint(words):
                    self._dims.add((number, name))
            for one in function.body:
                for node in flow.nodes(one.node) if one.node is not None else ():
                    self._effect(number, node)

    def _effect(self, number: int, node: Node) -> None:
        """Note what is assigned to something, or given to a function."""
        changes = node.kind == "unary" and node.word in {"++", "--", "&"}
        if node.kind == "assign" or changes:
            path = path_of(node.parts[0])
            value = node.parts[1] if node.word == "=" else None
            if path:
                self._assigned.setdefault((number, path), []).append((number, value))
            if value is not None and value.kind == "call" and value.word in MADE:
                self._dims.add((number, path))
        elif node.kind == "call":
            for place in self._program.by_name.get(node.word, ()):
                names = self._program.functions[place].names
                for name, part in zip(names, node.parts, strict=False):
                    self._assigned.setdefault((place, name), []).append((number, part))

    def function(self, at: int) -> int:
        """Return the innermost function around a token; -1 where there is none."""
        around = [
            (function.one.begin, number)
            for number, function in enumerate(self._program.functions)
            if function.one.begin < at < function.one.end
        ]
        return max(around)[1] if around else -1

    def ways(self, number: int, node: Node | None, deep: int = LEVELS) -> list[Way]:
        """Return the three ways of a grid or block."""
        self._left -= 1
        if node is None or deep <= 0 or self._left < 0:
            return [None, None, None]
        if node.kind == "call" and node.word in MADE:
            return self._made(number, node, deep)
        path = path_of(node)
        home = next((one for one in self.around(number) if self._holds(one, path)), None)
        if home is not None or (node.kind == "member" and node.word in MEMBERS):
            return self._variable(number if home is None else home, path, deep)
        if node.kind == "select":
            condition, *others = node.parts
            first, other = (self.ways(number, one, deep - 1) for one in others)
            return [_either(number, condition, *both) for both in zip(first, other, strict=True)]
        if node.kind == "name" and self._passed(number, node.word, deep):
            return self._variable(number, path, deep)
        if node.kind == "call":
            made = self._returned(node)
            if made is not None:
                return self.ways(number, made, deep - 1)
        if self._hidden(number, node):
            return [None, None, None]
        return [[(number, node)], [(-1, ONE)], [(-1, ONE)]]

    def _made(self, number: int, node: Node, deep: int) -> list[Way]:
        """Return the ways of what is made in one call."""
        if len(node.parts) == 1 and (number, path_of(node.parts[0])) in self._dims:
            return self.ways(number, node.parts[0], deep - 1)
        found: list[Way] = [[(-1, ONE)], [(-1, ONE)], [(-1, ONE)]]
        for at, part in enumerate(node.parts[:3]):
            named = part.kind == "assign" and part.parts[0].word in AXES
            place = AXES.index(part.parts[0].word) if named else at
            found[place] = [(number, part.parts[1] if named else part)]
        return found

    def around(self, number: int) -> Iterator[int]:
        """Yield a function and those that it is in, as a lambda is, the innermost first."""
        yield number
        while number >= 0:
            if number not in self._outer:
                self._outer[number] = self.function(self._program.functions[number].one.begin)
            number = self._outer[number]
            if number >= 0:
                yield number

    def _holds(self, number: int, path: str) -> bool:
        """Tell whether a function's own name has the ways of a grid or block."""
        ways = any((number, f"{path}.{axis}") in self._assigned for axis in AXES)
        return bool(path) and ((number, path) in self._dims or ways)

    def _passed(self, number: int, name: str, deep: int) -> bool:
        """Tell whether a name has another's ways, as of `auto grid = tall;` or a parameter."""
        every = self._assigned.get((number, name), [])
        tried = [one for one in every if one[1] is not None and one[1].kind in _PASSED]
        ways = (self.ways(place, value, deep - 1)[1:] for place, value in tried)
        return any(one != [[(-1, ONE)]] * 2 for one in ways)

    def _variable(self, number: int, path: str, deep: int) -> list[Way]:
        """Return the ways of a variable by all that is assigned to it and to its members."""
        every = self._assigned.get((number, path), [])
        whole = [
            [None, None, None] if value is None else self.ways(place, value, deep - 1)
            for place, value in every
        ]
        found: list[Way] = []
        for at, axis in enumerate(AXES):
            own = self._assigned.get((number, f"{path}.{axis}"), [])
            # By itself it is one, which is no value where another is given to it.
            ways = [one[at] for one in whole]
            ways = [one for one in ways if not own or one != [(-1, ONE)]]
            ways += [None if value is None else [(place, value)] for place, value in own]
            known = [one for one in ways if one is not None]
            complete = len(known) == len(ways) and bool(every or own)
            found.append(list(itertools.chain(*known)) if complete else None)
        return found

    def _hidden(self, number: int, node: Node) -> bool:
        """Tell whether something may have several ways that are not seen from here.

        As a member that is declared with a type of such, what a function gives back in another way,
        or a name that nothing declares: `auto [grid, block] = shape(n);`.
        """
        if node.kind in {"member", "call"}:
            every = [
                one
                for place in self._program.by_name.get(node.word, ())
                for one in self._program.returned.get(place, ())
            ]
            made = any(one.kind == "call" and one.word in MADE for one in every)
            return node.word in self._named or (node.kind == "call" and made)
        if node.kind != "name":
            return False
        for place in self.around(number):
            variable = self._program.variables.get((place, node.word))
            if variable is not None and variable.whole:
                return False
        return not any(None not in self._reader.ways(at, node) for at in self.around(number))

    def _returned(self, node: Node) -> Node | None:
        """Return what a function makes a grid of, in words of the one that calls it."""
        for place in self._program.by_name.get(node.word, ()):
            function = self._program.functions[place]
            returned = self._program.returned.get(place, [])
            fits = len(function.names) == len(node.parts) and len(returned) == 1
            if fits and returned[0].kind == "call" and returned[0].word in MADE:
                return self._reader.placed(returned[0], function.names, node.parts)
        return None

    def shared(self, number: int, node: Node | None) -> Way:
        """Return what a launch has of shared memory."""
        if node is None:
            return None
        if node.kind == "member" and node.word in _SHARED:
            path = path_of(node)
            every = [
                one
                for name in _SHARED
                for one in self._assigned.get((number, f"{path.rpartition('.')[0]}.{name}"), ())
            ]
            known = [(place, value) for place, value in every if value is not None]
            return known if len(known) == len(every) else None
        return [(number, node)]


def _either(number: int, condition: Node, first: Way, other: Way) -> Way:
    """Return one of two ways, by a condition that is asked in the same function."""
    if first is None or other is None:
        return None
    if first == other:
        return first
    if len(first) == len(other) == 1 and {first[0][0], other[0][0]} <= {number, -1}:
        return [(number, Node("select", "?", (condition, first[0][1], other[0][1])))]
    return [*first, *other]


def path_of(node: Node) -> str:
    """Return a name with its members; nothing of what is none.

    >>> path_of(Node("member", "y", (Node("name", "grid"),)))
    'grid.y'
    """
    words: list[str] = []
    while node.kind == "member":
        words.append(node.word)
        node = node.parts[0]
    if (node.kind, node.word) == ("unary", "&"):
        node = node.parts[0]
    return ".".join([node.word, *reversed(words)]) if node.kind == "name" else ""
