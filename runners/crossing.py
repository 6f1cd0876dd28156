"""Which scalar arguments may be on the other side of one than they are declared.

For a slope below one, what is right may be wrong beyond it: the larger of `x` and `slope * x`. But
of two parts that make one neither is more, unless they are a line's that goes on beyond its ends
(`runners.shares`); what numbers are compared with has its range; what an
index is made of ends within a buffer; and what each step is multiplied by grows without end. This
reads the text as tokens. It is a guess about strangers' text: it never raises, takes a bounded
time, and finds nothing rather than too much.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache

from runners import shares
from runners.text import LONGEST, NAME, Definition, Text, plain_name

# How often names are followed: to what they are passed on as, and to what is made of them.
TURNS = 4
MOST_TOKENS = 60_000
# Tokens of what a call is given: calls within calls are read once for each.
LONGEST_CALL = 2_000
_ONE = re.compile(r"1(?:\.0*)?[fF]?", re.ASCII)
_ORDERS = frozenset({"<", "<=", ">", ">="})
_ENDS = frozenset({";", "{", "}"})
# What makes a whole number of a float, or is one.
_WHOLE = re.compile(
    r"(?:unsigned|signed|u?int|u?long|u?short|u?char|bool|s?size_t|ptrdiff_t|[iu](?:nt)?\d+(?:_t)?)"
    r"|u?int\d+_t"
    r"|__(?:float|double|half|bfloat16)2u?(?:int|ll|short|char)\w*"
    r"|h?(?:floor|ceil|trunc|nearbyint|l{0,2}rint|l{0,2}round)f?",
    re.ASCII,
)
_PRODUCTS = frozenset({"fma", "fmaf", "__fmaf_rn", "__fma_rn", "__hfma", "__hfma2"})


def crossing(
    source: str, symbol: str, scalars: Mapping[str, int]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return which scalars may be beyond one, and which may be within; by their positions.

    >>> text = "void f(float* x, float a, float p) { x[0] = a * x[1] + (1.f - p) * x[2]; }"
    >>> crossing(text, "f", {"a": 1, "p": 2})
    (('a',), ('a',))
    """
    if not scalars or len(source) > LONGEST:
        return (), ()
    beyond, within = [], []
    for name, position in scalars.items():
        grows, falls = _crossing(source, plain_name(symbol), position)
        beyond += [name] * grows
        within += [name] * falls
    return tuple(beyond), tuple(within)


@lru_cache(maxsize=64)
def _crossing(source: str, symbol: str, position: int) -> tuple[bool, bool]:
    text = _text(source)
    names = text.names(symbol, position) if text.count <= MOST_TOKENS else frozenset()
    if not names:
        return False, False
    if any(map(text.shared, text.uses(names))):
        goes_on = shares.smooth(source, symbol, position)
        return goes_on, goes_on
    bounds = any(map(text.compared, text.uses(names)))
    made = text.made(names)
    grows = any(text.whole(at) or text.repeated(at) for at in text.uses(made))
    return not bounds and not grows, True


@lru_cache(maxsize=3)
def _text(source: str) -> _Text:
    return _Text(source, macros=True)


class _Text(Text):
    """A source in which uses of names are looked at."""

    def __init__(self, source: str, *, macros: bool = False) -> None:
        super().__init__(source, macros=macros)
        self._functions: dict[str, list[Definition]] = {}
        heads: set[int] = set()
        for one in self.definitions():
            self._functions.setdefault(one.name, []).append(one)
            heads.update(range(one.opened, one.closed))
        subscripts: set[int] = set()
        for begin, end in self.closed.items():
            if self.tokens[begin] == "[" and end - begin < MOST_TOKENS:
                subscripts.update(range(begin, end))
        self._heads, self._subscripts = heads, subscripts

    def names(self, symbol: str, position: int) -> frozenset[str]:
        """Return the names of a function's argument, there and where it is passed on."""
        found = {
            name for one in self._functions.get(symbol, ()) if (name := self._at(one, position))
        }
        for _ in range(TURNS):
            more = {name for at in self.uses(frozenset(found)) for name in self._alias(at)}
            more |= set(self._passed(frozenset(found)))
            if more <= found:
                break
            found |= more
        return frozenset(found)

    def _at(self, one: Definition, position: int) -> str:
        names = self.parameters(one)
        return names[position] if position < len(names) else ""

    def uses(self, names: frozenset[str]) -> list[int]:
        """Return where names stand, but for those where they are declared as parameters."""
        every = enumerate(self.tokens[: self.count])
        return [at for at, word in every if word in names and at not in self._heads]

    def _alias(self, at: int) -> Iterator[str]:
        if self.tokens[at - 1] == "=" and self.tokens[at + 1] == ";":
            yield from filter(NAME.fullmatch, self.tokens[at - 2 : at - 1])

    def _passed(self, names: frozenset[str]) -> Iterator[str]:
        """Yield the parameters that are given something with one of these names in it."""
        for at, word in enumerate(self.tokens[: self.count]):
            if word not in self._functions:
                continue
            opened = at + 1
            if self.tokens[opened] == "<<<":
                ahead = range(opened, min(opened + 120, self.count))
                opened = next((p + 1 for p in ahead if self.tokens[p] == ">>>"), at)
            if self.tokens[opened] != "(" or opened in self._heads:
                continue
            if self.close(opened) - opened > LONGEST_CALL:
                continue
            for position, part in enumerate(self.parts(opened)):
                if not names.isdisjoint(part):
                    for one in self._functions[word]:
                        yield from filter(None, [self._at(one, position)])

    def shared(self, at: int) -> bool:
        """Tell whether it is taken from one, or one from it."""
        before, behind = self.tokens[max(0, at - 3) : at], self.tokens[at + 1 : at + 3]
        if behind[0] == "-" and _ONE.fullmatch(behind[1]):
            return True
        if before[-1:] == ["-"] and before[-3:-2] and before[-2] in _PRODUCTS | {"("}:
            return before[-3] in _PRODUCTS  # x less a part of x
        if before[-1:] not in (["-"], [","]):
            return False
        return any(_ONE.fullmatch(word) for word in before[-2:-1]) or (
            before[-2:-1] == [")"] and bool(_ONE.fullmatch(before[0]))
        )

    def compared(self, at: int) -> bool:
        """Tell whether numbers are compared with it."""
        return not _ORDERS.isdisjoint((self.tokens[at - 1], self.tokens[at + 1]))

    def _statement(self, at: int) -> range:
        begin = end = at
        while begin > 0 and self.tokens[begin - 1] not in _ENDS:
            begin -= 1
        while end < self.count and self.tokens[end] not in _ENDS:
            end += 1
        return range(begin, end)

    def _assigned(self, at: int) -> int:
        """Return where the statement of a token assigns to a plain name; zero where it does not."""
        for place in self._statement(at):
            if place >= at:
                break
            if self.tokens[place] in {"=", "+=", "-=", "*=", "/="}:
                return place if NAME.fullmatch(self.tokens[place - 1]) else 0
        return 0

    def made(self, names: frozenset[str]) -> frozenset[str]:
        """Return these names, and those of variables that are made of them."""
        found = names
        for _ in range(TURNS):
            places = filter(None, map(self._assigned, self.uses(found)))
            more = found | {self.tokens[place - 1] for place in places}
            if more == found:
                break
            found = more
        return found

    def whole(self, at: int) -> bool:
        """Tell whether an index, or any whole number, is made in its statement."""
        words = (p for p in self._statement(at) if p not in self._subscripts)
        return at in self._subscripts or any(_WHOLE.fullmatch(self.tokens[p]) for p in words)

    def repeated(self, at: int) -> bool:
        """Tell whether a variable is made of itself and of this."""
        place = self._assigned(at)
        if not place:
            return False
        name, statement = self.tokens[place - 1], self._statement(at)
        again = name in self.tokens[place + 1 : statement.stop]
        return self.tokens[place] in {"*=", "/="} or (self.tokens[place] == "=" and again)
