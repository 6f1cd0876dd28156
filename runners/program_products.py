"""Which numbers of a command line a program multiplies in 32 bits, as far as its text tells.

What a product of `int` is beyond 2^31 the language leaves open: what an original makes of it there
is no measure of a candidate. So numbers are not made so large together that it comes to that. It is
a guess about strangers' text, by names alone: it never raises, takes a bounded time, and takes a
product for a narrow one rather than for a wide one.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from functools import lru_cache

from runners.program_variables import variables
from runners.text import CLOSES, LONGEST, MOST_PARAMETERS, NAME, Text, integer

MOST = 2**31 - 1
# Turns in which names are followed, tokens of what is set or multiplied; of a text with more
# functions, or more calls of them all, nothing is known.
TURNS, MOST_TOKENS, MOST_FUNCTIONS, MOST_CALLS = 4, 80, 200, 4000
_LONG = frozenset(
    {"size_t", "ssize_t", "ptrdiff_t", "int64_t", "uint64_t", "uintptr_t", "long", "longlong"}
    | {"ulonglong", "ull", "ll", "u64", "i64", "double", "float", "__half", "half"}
)
_SHORT = frozenset(
    {"int", "unsigned", "uint", "short", "char", "int32_t", "uint32_t", "u32", "i32", "bool"}
    | {"auto"}
)
_TYPES = _LONG | _SHORT | {"const", "signed", "std", "::", "void"}
_ENDS = frozenset({"", ";", "{", "}"})
_ORDERS = frozenset({"<", "<=", ">", ">=", "!="})


@lru_cache(maxsize=16)
def products(source: str, words: tuple[str, ...]) -> Products:
    """Return what a text multiplies of its command line's words; nothing is known of a long one."""
    return Products(source if len(source) <= LONGEST else "", words)


class Products(Text):
    """A text, which of a command line's numbers its names come from, and what it multiplies.

    >>> text = "int main(int c, char** v) { int n = atoi(v[1]), m = atoi(v[2]); f(%s); }"
    >>> narrow, wide = (products(text % one, ("9", "9")) for one in ("n * m", "(size_t)n * m"))
    >>> [one.defined({0: 1 << 16, 1: 1 << 16}, {0: 9, 1: 9}) for one in (narrow, wide)]
    [False, True]
    """

    def __init__(self, source: str, words: tuple[str, ...]) -> None:
        super().__init__(source, macros=True)
        self._from: dict[str, frozenset[int]] = {}
        every = list(self.definitions())
        self._functions = [(one, self.parameters(one)) for one in every[:MOST_FUNCTIONS]]
        self._calls_of: dict[str, list[int]] = {one.name: [] for one in every}
        for at in range(self.count):
            if self.tokens[at] in self._calls_of:
                self._calls_of[self.tokens[at]].append(at)
        calls = sum(len(self._calls_of[one.name]) for one in every)
        many = len(every) > MOST_FUNCTIONS or calls > MOST_CALLS
        for at in range(0 if many else len(words)):
            for name in variables(source, words, at):
                self._from[name] = self._from.get(name, frozenset()) | {at}
        self._read = frozenset(self._from)
        self.known = frozenset().union(*self._from.values())
        self._long = self._declared(_LONG) - self._declared(_SHORT)
        for _ in range(TURNS if self._read else 0):
            before = dict(self._from)
            self._follow()
            if self._from == before:
                break
        self._factors = {one for one in self._multiplied() if one[1]}

    def defined(self, numbers: Mapping[int, int], declared: Mapping[int, int]) -> bool:
        """Tell whether no narrow product passes 31 bits where words are such numbers.

        But for what passes them with the declared ones. Where nothing is known of one that is
        changed, no two that are changed may together.
        """
        for one in self._factors:
            if _size(one, declared) <= MOST < _size(one, numbers):
                return False
        changed = {word: number for word, number in numbers.items() if declared.get(word) != number}
        return all(
            {word, other} <= self.known or changed[word] * changed[other] <= MOST
            for word, other in itertools.combinations(changed, 2)
        )

    def _declared(self, types: frozenset[str]) -> frozenset[str]:
        """Return the names that are declared to be of some types, or to hold or yield such."""
        found: set[str] = set()
        for at in range(self.count):
            if self.tokens[at] not in types:
                continue
            if types is _SHORT and "long" in self.tokens[max(0, at - 1) : at + 3]:
                continue  # unsigned long, long int
            place, fresh = at + 1, True
            while place < min(at + MOST_TOKENS, self.count):
                word = self.tokens[place]
                if word in _ENDS or word == ")":
                    break
                if word in CLOSES:
                    place = self.close(place) + 1
                    continue
                if fresh and NAME.fullmatch(word) and word not in _TYPES:
                    following = self.tokens[place + 1]
                    if NAME.fullmatch(following) and following not in _TYPES:
                        break
                    found.add(word)
                    fresh = False
                if word == "," and NAME.fullmatch(self.tokens[place + 1]):
                    if self.tokens[place + 1] in _TYPES or NAME.fullmatch(self.tokens[place + 2]):
                        break  # another parameter
                    fresh = True
                elif word == ",":
                    fresh = True
                place += 1
        return frozenset(found)

    def _follow(self) -> None:
        """Hand on where names come from: to what is set, bounded by them, or passed them."""
        for at in range(self.count):
            word, name = self.tokens[at], self.tokens[at - 1] if at else ""
            if word in {"=", "+=", "*=", *_ORDERS} and NAME.fullmatch(name):
                self._add(name, self._within(at + 1))
            if word in _ORDERS and self.tokens[at + 2] in {")", "&&", "||", ";"}:
                self._add(self.tokens[at + 1], self._from.get(name, frozenset()))
        for one, names in self._functions:
            for at in self._calls(one.name):
                for name, part in zip(names, self.parts(at), strict=False):
                    if name and at != one.opened:
                        self._add(name, self._of(part))

    def _calls(self, name: str) -> Iterator[int]:
        """Yield where the arguments of calls and launches begin that are not too many."""
        for at in self._calls_of[name]:
            for place in range(at + 1, min(at + MOST_TOKENS, self.count)):
                word = self.tokens[place]
                if word == "(" and (place == at + 1 or self.tokens[place - 1] in {">>>", ">"}):
                    if self.close(place) - place < MOST_PARAMETERS:
                        yield place
                    break
                if word in _ENDS:
                    break

    def _add(self, name: str, more: frozenset[int]) -> None:
        if more and name not in self._read | _TYPES and NAME.fullmatch(name):
            self._from[name] = self._from.get(name, frozenset()) | more

    def _within(self, at: int) -> frozenset[int]:
        """Return what an expression comes from that begins at a token."""
        found: list[str] = []
        place = at
        while place < min(at + MOST_TOKENS, self.count):
            word = self.tokens[place]
            if word in _ENDS or word in {")", "]", ",", "&&", "||"}:
                break
            end = self.close(place) if word in CLOSES else place
            found += self.tokens[place : min(end + 1, place + MOST_TOKENS)]
            place = end + 1
        return self._of(found)

    def _of(self, tokens: list[str]) -> frozenset[int]:
        # A rest is less than what it is the rest of a division by.
        if "%" in tokens:
            tokens = tokens[tokens.index("%") :]
        if len(tokens) == 3 and tokens[1] == "/":
            # `g / cars` is a road where g comes from roads and cars.
            whole, part = (self._from.get(word, frozenset[int]()) for word in tokens[::2])
            return whole - part or whole
        return frozenset().union(*(self._from.get(word, frozenset()) for word in tokens))

    def _multiplied(self) -> Iterator[tuple[int, tuple[frozenset[int], ...]]]:
        """Yield narrow products: their constants, and where each other factor comes from."""
        for at in range(1, self.count):
            if self.tokens[at] != "*" or not self._binary(at):
                continue
            begin = self._operand_before(at)
            if begin >= 1 and self.tokens[begin - 1] == "*" and self._binary(begin - 1):
                continue  # a later factor
            constant, factors, hashed = 1, list[frozenset[int]](), False
            operand, place = (begin, at), at
            while True:
                part = self.tokens[operand[0] : min(operand[1], operand[0] + MOST_TOKENS)]
                if self._is_wide(part):
                    break
                number = integer(part[0]) if len(part) == 1 else None
                constant *= max(number or 1, 1)
                hashed |= number is not None and "u" in part[0].lower()
                factors += [] if number is not None else [self._of(part)]
                if self.tokens[place] != "*":
                    break
                operand = place + 1, self._operand_behind(place)
                place = operand[1]
            told = tuple(one for one in factors if one)
            # One number by a constant without a sign is a hash, and is meant to wrap around.
            if len(factors) + (constant > 1) > 1 and told and not (hashed and len(factors) == 1):
                yield constant, tuple(sorted(told, key=sorted))

    def _binary(self, at: int) -> bool:
        before, behind = self.tokens[at - 1], self.tokens[at + 1]
        ends = before in {")", "]"} or before[:1].isdigit()
        ends = ends or (NAME.fullmatch(before) is not None and before not in _TYPES)
        if before == ")" and self._cast(self.opened.get(at - 1, at)):
            return False
        return ends and (behind == "(" or behind[:1].isdigit() or bool(NAME.fullmatch(behind)))

    def _cast(self, opened: int) -> bool:
        inner = self.tokens[opened + 1 : min(self.close(opened), opened + 8)]
        return bool(inner) and len(inner) < 6 and all(one in {*_TYPES, "*"} for one in inner)

    def _operand_before(self, at: int) -> int:
        """Return where the factor begins that ends before a token, its cast included."""
        place = at - 1
        for _ in range(6):
            if self.tokens[place] in {")", "]"}:
                place = self.opened.get(place, place)
                before = self.tokens[place - 1] if place else ""
                if not (NAME.fullmatch(before) or before in {"]", ")", ">"}):
                    break
                place -= 1
            elif place > 1 and self.tokens[place - 1] in {".", "->", "::"}:
                place -= 2
            else:
                break
        opened = self.opened.get(place - 1, -1) if place else -1
        return opened if opened >= 0 and self._cast(opened) else max(place, 0)

    def _operand_behind(self, at: int) -> int:
        """Return where the factor ends that begins behind a token."""
        place = at + 1
        for _ in range(8):
            word = self.tokens[place]
            if word in CLOSES:
                cast = self._cast(place)
                place = self.close(place) + 1
                if cast or self.tokens[place] in {"[", "(", ".", "->"}:
                    continue
                break
            place += 1
            if self.tokens[place] not in {"[", "(", ".", "->", "::"} and word not in {
                ".",
                "->",
                "::",
            }:
                break
        return min(place, self.count)

    def _is_wide(self, part: list[str]) -> bool:
        if not part or "sizeof" in part or not _LONG.isdisjoint(part):
            return True
        if len(part) == 1 and part[0][:1].isdigit():
            return "." in part[0] or part[0].lower().endswith(("ll", "l", "f"))
        return any(word in self._long for word in part[: 1 + (part[0] == "(")])


def _size(product: tuple[int, tuple[frozenset[int], ...]], numbers: Mapping[int, int]) -> int:
    """Return how large a product is where words are such numbers."""
    constant, factors = product
    each = (max(numbers.get(word, 1), 1) for factor in factors for word in factor)
    return constant * math.prod(each)
