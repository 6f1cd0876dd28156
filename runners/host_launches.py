"""The launches of host code, each with its grid, block and shared memory as terms.

`go<<<dim3(1, (n + 255) / 256), 256>>>(...)`, a `dim3` that is declared before, `grid.y = ...`, a
`cudaLaunchConfig_t`, `cudaLaunchKernel`: what stands there is followed through local names,
parameters of functions and macros (`runners.conditions`) to the arguments of the function that is
called. What asks for such a launch (`if`) is, too. It is a guess about strangers' text: it never
raises, takes a bounded time, and tells where what it knows may not be all.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from runners import flow, plain_dims, terms, trees
from runners.conditions import Reader
from runners.dims import AXES, LEVELS, MEMBERS, ONE, Dims, Way
from runners.flow import Program
from runners.guarded import guards
from runners.launch_limits import SHARED_BYTES
from runners.plain_dims import CONFIG
from runners.shared_rooms import Rooms
from runners.terms import Term, Values
from runners.text import LONGEST, NAME, plain_name
from runners.trees import Node

# Launches of a text, values that one way of a grid may have, and tokens of a launch.
MOST, MOST_WAYS, MOST_TOKENS = 32, 6, 160
# What a grid has room for but in x, and a block.
GRID, BLOCK, THREADS = 65535, (1024, 1024, 64), 1024
_LAUNCHES = {
    "cudaLaunchKernel": (1, 2, 4),
    "cudaLaunchCooperativeKernel": (1, 2, 4),
    CONFIG: (0, 1, 2),
}
_LEAST = frozenset({"min", "umin", "fmin", "fminf"})


@dataclass(frozen=True, slots=True)
class Measure:
    """One way of a grid or block, its threads or its shared bytes, and how much there may be.

    `every` are the values that it may have, `known` tells whether there is no other.
    """

    what: str
    most: int
    every: tuple[Term, ...]
    known: bool

    def beyond(self, values: Values) -> str:
        """Say what is more than there may be; nothing where it is not, or not known."""
        known = [one.of(values) for one in self.every]
        value = next((int(v) for v in known if v is not None and v >= self.most + 1), 0)
        if not value:
            return ""
        if self.what == "shared":
            unasked = f", where its host code never asks for more than {self.most:,}"
            return f"{value:,} bytes of shared memory a block{unasked * (self.most < SHARED_BYTES)}"
        if self.what == "threads":
            return f"a block of {value} threads; the most is {self.most}"
        return f"{self.what} is {value}; it must be 1 to {self.most}"

    @property
    def sure(self) -> bool:
        """Tell whether it has this value and no other."""
        return self.known and len(self.every) == 1


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a launch fails; `sure` where all that is asked before it is known, too."""

    why: str
    what: str
    sure: bool


@dataclass(frozen=True, slots=True)
class HostLaunch:
    """A launch of host code. `asked`: what is, before it, by each value that names may have."""

    measures: tuple[Measure, ...]
    asked: tuple[tuple[tuple[Term | None, ...], bool], ...]
    whole: bool

    @property
    def key(self) -> tuple[object, ...]:
        """Return what another text's is compared by."""
        measures = [
            (one.what, one.most, one.known, *(o.key for o in one.every)) for one in self.measures
        ]
        asked = [(wanted, *(o and o.key for o in every)) for every, wanted in self.asked]
        return (*measures, *asked)

    def fails(self, values: Values) -> Failure | None:
        """Return why it fails; None where it does not, is not come to, or nobody knows."""
        told = [(one, why) for one in self.measures if (why := one.beyond(values))]
        come = self._come_to(values) if told else False
        if come is False:
            return None
        one, why = max(told, key=lambda pair: pair[0].sure)
        return Failure(why, one.what, one.sure and bool(come))

    def knows(self, what: str) -> bool:
        """Tell whether all values are known that a way may have."""
        return all(one.known for one in self.measures if one.what == what)

    def _come_to(self, values: Values) -> bool | None:
        """Tell whether it is come to; None where that is not known."""
        sure = self.whole
        for every, wanted in self.asked:
            known = [None if one is None else one.of(values) for one in every]
            holds = {None if one is None else bool(one) == wanted for one in known}
            if holds == {False}:
                return False
            sure = sure and holds == {True}
        return True if sure else None


def launches(source: str, symbol: str, arguments: Sequence[str]) -> tuple[HostLaunch, ...]:
    """Return the launches of a text, in terms of the arguments of a function of it.

    >>> text = "void f(float* x, int n) { dim3 grid(1, (n + 255) / 256); go<<<grid, 256>>>(x, n); }"
    >>> (one,) = launches(text, "f", ("x", "n"))
    >>> [one.fails({1: n}.get) for n in (65535 * 256, 65535 * 256 + 1)]
    [None, Failure(why='grid.y is 65536; it must be 1 to 65535', what='grid.y', sure=True)]
    """
    if len(source) > LONGEST:
        return ()
    return _launches(source, plain_name(symbol), tuple(arguments))


@lru_cache(maxsize=16)
def _launches(source: str, symbol: str, arguments: tuple[str, ...]) -> tuple[HostLaunch, ...]:
    text = plain_dims.plain(source)
    if (
        "<<<" not in text
        and not any(f"{one} (" in text for one in _LAUNCHES)
        and (f". {MEMBERS[0]}" not in text and f"-> {MEMBERS[0]}" not in text)
    ):
        return ()
    program = flow.program(text)
    if program.too_long:
        return ()
    try:
        return tuple(_Finder(text, program, symbol, arguments).found())
    except RecursionError:
        return ()


class _Finder:
    """Finds the launches of one program."""

    def __init__(
        self, source: str, program: Program, symbol: str, arguments: tuple[str, ...]
    ) -> None:
        self._program, self._text = program, program.text
        self._reader = Reader(source, program, symbol, arguments)
        self._dims = Dims(program, self._reader)
        self._rooms = Rooms(program, self._reader)
        self._entries = {number for number, _ in self._reader.entries}

    def found(self) -> Iterator[HostLaunch]:
        """Yield the launches, in the order in which they stand there."""
        made = 0
        for at, word in enumerate(self._text.tokens[: self._text.count]):
            number = -1
            parts: list[Node | None] | None = None
            if word == "<<<":
                number, parts = self._dims.function(at), self._chevrons(at)
            elif word in _LAUNCHES and self._text.tokens[at + 1] == "(":
                number, parts = self._dims.function(at), self._called(at)
            elif word == MEMBERS[0] and self._text.tokens[at - 1] in {".", "->"}:
                number, parts = self._dims.function(at), self._set(at)
            if parts is not None:
                made += 1
                yield self._launch(at, number, parts)
            if made == MOST:
                return

    # Where launches are.

    def _chevrons(self, at: int) -> list[Node | None]:
        """Return what stands between <<< and >>>: grid, block and shared memory."""
        parts: list[list[str]] = [[]]
        place = at + 1
        while place < min(at + MOST_TOKENS, self._text.count):
            word = self._text.tokens[place]
            if word == ">>>":
                break
            if word == ",":
                parts.append([])
            else:
                behind = self._text.closed.get(place, place)
                parts[-1] += self._text.tokens[place : behind + 1]
                place = behind
            place += 1
        return [trees.read(part) for part in parts[:3]]

    def _called(self, at: int) -> list[Node | None]:
        """Return grid, block and shared memory of what is launched by a call."""
        every = self._text.parts(at + 1)
        found: list[Node | None] = []
        for name, place in zip(MEMBERS, _LAUNCHES[self._text.tokens[at]], strict=True):
            named = [part[2:] for part in every if part[:2] == [name, "="]]
            mixed = any(part[1:2] == ["="] for part in every)
            plain = every[place : place + 1] if not mixed else []
            (part,) = (named or plain or [["1"]])[:1]
            found.append(trees.read(part) if part else ONE)
        # Without one it is empty, and filled member by member.
        return [ONE if one is not None and one.word == "0" else one for one in found]

    def _set(self, at: int) -> list[Node | None] | None:
        """Return the members of what describes a launch, where its grid is set."""
        tokens = self._text.tokens
        name, behind = tokens[at - 2], tokens[at + 1]
        one_way = behind == "." and tokens[at + 2] in AXES and tokens[at + 3] == "="
        if not NAME.fullmatch(name) or not (behind == "=" or one_way):
            return None
        base = Node("name", name)
        return [Node("member", one, (base,)) for one in MEMBERS]

    # What they are.

    def _launch(self, at: int, number: int, parts: Sequence[Node | None]) -> HostLaunch:
        grid, block, shared = (*parts, *[ONE] * 3)[:3]
        if len(parts) < 3:
            shared = Node("number", "0")
        ways = self._dims.ways(number, grid)
        measures = [
            self._measure(f"grid.{axis}", GRID, way)
            for axis, way in zip(AXES[1:], ways[1:], strict=True)
        ]
        threads = [
            self._measure(f"block.{axis}", most, way)
            for axis, most, way in zip(AXES, BLOCK, self._dims.ways(number, block), strict=True)
        ]
        measures += [*threads, _product(threads)]
        room = self._dims.shared(number, shared)
        measures.append(self._measure("shared", SHARED_BYTES, room))
        most = self._rooms.most(at)
        if most is not None:
            less = self._measure("shared", most, room)
            measures.append(replace(less, known=less.known and self._rooms.sure))
        asked, whole = self._asked(number, at, LEVELS)
        kept = tuple(one for one in measures if not one.known or any(o.uses for o in one.every))
        return HostLaunch(kept, asked, whole)

    def _measure(self, what: str, most: int, way: Way) -> Measure:
        """Return a way with all the values that it may have."""
        if way is None:
            return Measure(what, most, (), known=False)
        found: dict[str, Term] = {}
        known = len(way) <= MOST_WAYS
        for number, node in way[:MOST_WAYS]:
            # What a lambda has from where it is may be known there.
            tried = [(place, self._reader.ways(place, node)) for place in self._dims.around(number)]
            place, every = next((one for one in tried if None not in one[1]), tried[0])
            for term in every:
                if term is not None:
                    found.setdefault(term.key, term)
                else:
                    known = known and self._bounded(place, node, most, LEVELS)
        return Measure(what, most, tuple(found.values()), known)

    def _bounded(self, number: int, node: Node, most: int, deep: int) -> bool:
        """Tell whether a value is no more than a constant that there may be, as by a `min`."""
        if deep <= 0:
            return False
        if node.kind == "call" and node.word in _LEAST and len(node.parts) == 2:
            return any(self._bounded(number, part, most, deep - 1) for part in node.parts)
        if node.kind == "cast":
            return self._bounded(number, node.parts[0], most, deep - 1)
        if node.kind == "select":
            return all(self._bounded(number, part, most, deep - 1) for part in node.parts[1:])
        every = self._reader.ways(number, node)
        constant = [one.of(_nothing) for one in every if one is not None and not one.uses]
        if len(constant) == len(every):
            return all(one is not None and one <= most for one in constant)
        variable = self._program.variables.get((number, node.word)) if node.kind == "name" else None
        if variable is None or variable.spoilt or not 0 < len(variable.assigned) <= MOST_WAYS:
            return False
        return all(self._bounded(at, one, most, deep - 1) for at, one in variable.assigned)

    def _asked(
        self, number: int, at: int, deep: int
    ) -> tuple[tuple[tuple[tuple[Term | None, ...], bool], ...], bool]:
        """Return what is asked before a token, and whether that is all."""
        if number < 0 or deep <= 0:
            return (), False
        function = self._program.functions[number]
        told = guards(self._text, function.one, at)
        found = []
        for begin, end, wanted in told.asked:
            node = trees.read(self._text.tokens[begin:end])
            every = [None] if node is None else self._reader.ways(number, node)
            found.append((tuple(every), wanted))
        if number in self._entries:
            return tuple(found), told.whole
        calls = list(itertools.islice(self._calls(function.one.name), 2))
        if len(calls) != 1:
            return tuple(found), False
        above, whole = self._asked(*calls[0], deep - 1)
        return (*found, *above), told.whole and whole

    def _calls(self, name: str) -> Iterator[tuple[int, int]]:
        """Yield where a function is called: in which other one, and at which token."""
        opened = {function.one.opened for function in self._program.functions}
        for at, word in enumerate(self._text.tokens[: self._text.count]):
            if word == name and at + 1 not in opened and self._text.tokens[at + 1] in {"(", "<"}:
                yield self._dims.function(at), at


def _product(threads: Sequence[Measure]) -> Measure:
    """Return how many threads a block has."""
    found: dict[str, Term] = {}
    known = all(one.known for one in threads)
    for first, second, third in itertools.product(*(one.every for one in threads)):
        term = terms.binary("*", terms.binary("*", first, second), third)
        if term is not None and len(found) < MOST_WAYS:
            found.setdefault(term.key, term)
    return Measure("threads", THREADS, tuple(found.values()), known)


def _nothing(_at: int) -> None:
    return None
