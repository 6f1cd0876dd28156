"""The whole numbers that a text computes with, written as people write large ones.

`1 << 21`, `1024 * 1024`, `2'000'000LL`, `1e6`, a macro's or a constant's name, or what a quotient
or a size in bytes is compared with: where a way of doing things begins, or room ends. This reads
the text as tokens. It is a guess about strangers' text: it never raises, takes a bounded time, and
may find numbers that mean nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from runners.text import LONGEST, NAME, Text, integer

# Numbers of interest; tokens of an expression, brackets in it, turns in which names are resolved,
# and tokens of all expressions that are read.
LEAST, MOST = 2, 1 << 40
MOST_TOKENS, DEEPEST, TURNS, STEPS = 24, 6, 3, 400_000
# Ways of an array behind the first.
MOST_WAYS = 3
# A float from here on may be a size; smaller ones are what is computed with.
LEAST_FLOAT = 1000
# How many bits a number has that is looked for by its first ones: what comes of the function is
# taken from this many.
_BITS = {"__clz": 32, "__clzll": 64, "__builtin_clz": 32, "__builtin_clzll": 64, "__ffs": 0}
_BITS |= {"log2": 0, "log2f": 0, "__log2f": 0, "ilogb": 0, "ilogbf": 0}
# What a number of more bits than these is shifted by: it may be a word's part, or how a large
# number is told.
LEAST_SHIFT, LONG_SHIFT = 8, 18
# What divides a size before it is compared: a width in bytes, a tile.
MOST_PARTS = 1 << 16
_FLOAT = re.compile(r"(?:\d+\.\d*|\.\d+|\d+)(?:[eE][+-]?\d{1,2})?[fFlL]?", re.ASCII)
_ORDERS = frozenset({"<", "<=", ">", ">=", "==", "!="})
_FIXED = frozenset({"const", "constexpr", "enum"})
_BINARY = {"<<": 1, ">>": 1, "+": 2, "-": 2, "*": 3, "/": 3, "%": 3}
WIDTHS = {
    "char": 1,
    "bool": 1,
    "int8_t": 1,
    "uint8_t": 1,
    "half": 2,
    "__half": 2,
    "__nv_bfloat16": 2,
    "short": 2,
    "int16_t": 2,
    "uint16_t": 2,
    "float": 4,
    "int": 4,
    "unsigned": 4,
    "int32_t": 4,
    "uint32_t": 4,
    "double": 8,
    "long": 8,
    "size_t": 8,
    "int64_t": 8,
    "uint64_t": 8,
    "float2": 8,
    "int2": 8,
    "float4": 16,
    "int4": 16,
    "uint4": 16,
}
_CASTS = frozenset({*WIDTHS, "std", "::", "signed", "const", "ptrdiff_t", "ssize_t", "ull", "uint"})
_OPENS = frozenset({*WIDTHS, "sizeof", "static_cast"})


@dataclass(frozen=True)
class Numbers:
    """What a text names: all of it, and of that what is compared or gives an array its size.

    >>> found = numbers("if ((long long)h * w > 2'000'000LL) f(1 << 21, 1e6, 3 * 5 * 7);")
    >>> sorted(found.every - {3, 5, 15, 21, 35}), sorted(found.compared)
    ([7, 105, 1000000, 2000000, 2097152], [2000000])
    """

    every: frozenset[int]
    compared: frozenset[int]
    named: frozenset[int] = frozenset()  # what macros and constants stand for


_NONE = Numbers(frozenset(), frozenset())


@lru_cache(maxsize=16)
def numbers(source: str) -> Numbers:
    r"""Return the numbers of a text; none of one that is too long.

    >>> text = "#define BIG (1 << 20)\nconstexpr long all = BIG * 4; __shared__ float s[all / 8];"
    >>> sorted(numbers(text).every), sorted(numbers(text).compared)
    ([4, 8, 20, 524288, 1048576, 4194304], [524288])
    """
    if len(source) > LONGEST:
        return _NONE
    return _Reader(source).numbers()


@lru_cache(maxsize=4)
def named(source: str) -> dict[str, int]:
    """Return what names of a text stand for everywhere.

    >>> named("const int wide = 16 / sizeof(float), tile = 32 * wide;")
    {'wide': 4, 'tile': 128}
    """
    return {} if len(source) > LONGEST else dict(_Reader(source).names)


class _Reader(Text):
    """A text whose constant expressions are computed."""

    def __init__(self, source: str) -> None:
        super().__init__(source, macros=True)
        self._left = STEPS
        self.names: dict[str, int] = {}
        self._seen: set[int] = set()
        for _ in range(TURNS):
            before = dict(self.names)
            self._resolve()
            if self.names == before:
                break

    def numbers(self) -> Numbers:
        """Return every number, and those that are compared or sizes of arrays."""
        self._seen, compared = set(self.names.values()), set()
        for at in range(self.count):
            found = self._begins(at)
            if found is None:
                continue
            value, end = found
            self._seen.add(value)
            begin = self._opened(at)
            while end - at < MOST_TOKENS and self.tokens[end] == ")":
                end += 1
            before, behind = self.tokens[begin - 1] if begin else "", self.tokens[end]
            if before in {"<<", ">>"} and LEAST_SHIFT <= value < 40:
                self._seen.add(1 << value)
                compared |= {1 << value} if before == ">>" and value >= LONG_SHIFT else set()
            if before in _ORDERS:
                more = self._divided(begin - 2, value) if before not in {"==", "!="} else set()
                self._seen |= more
                compared |= {value, *more}
            elif behind in _ORDERS:
                compared.add(value)
            elif before == "[" and behind == "]":
                compared |= {value, value * self._inner(end + 1)}
        self._seen |= compared
        fit = frozenset(one for one in self._seen if LEAST <= one <= MOST)
        return Numbers(fit, fit & compared, fit & {*self.names.values()})

    def _begins(self, at: int) -> tuple[int, int] | None:
        """Return the value of a constant expression that begins at a token, and where it ends."""
        word, before = self.tokens[at], self.tokens[at - 1] if at else ""
        known = word[:1].isdigit() or word in self.names or word in _OPENS
        if word == "(":
            known = before not in {")", "]", ">"} and not NAME.fullmatch(before)
        if not known or (before in {".", "->", "::"} and word not in WIDTHS):
            return None
        return self._expression(at, 1, DEEPEST, at + MOST_TOKENS)

    def _opened(self, at: int) -> int:
        """Return where an expression begins, casts and brackets before it included."""
        begin = at
        while begin and at - begin < MOST_TOKENS:
            before = self.tokens[begin - 1]
            if before == ")" and self._cast(self.opened.get(begin - 1, -1)):
                begin = self.opened[begin - 1]
            elif before in {"(", "::"} or (before == "std" and begin < at):
                begin -= 1
            else:
                break
        return begin

    def _divided(self, at: int, value: int) -> set[int]:
        """Return what is compared where its quotient, or its size in bytes, is compared.

        `at` is the token before the comparison.
        """
        while at > 0 and self.tokens[at] == ")" and not self._sizeof(at):
            name = self.tokens[self.opened.get(at, 1) - 1]
            if name in _BITS and 0 < value < 40:
                bits = abs(_BITS[name] - value)
                return {1 << bits, 2 << bits, 1 << bits >> 1}
            at -= 1
        end = at
        at = self._sizeof(at) or at
        found = self._expression(at, 3, DEEPEST, end + 1) if at > 0 else None
        if found is None or found[1] != end + 1 or not 0 < found[0] <= MOST_PARTS:
            return set()
        by, how = found[0], self.tokens[at - 1]
        if how == ">>" and by < 32:
            by, how = 1 << by, "/"
        if how == "/":
            return {value * by, (value + 1) * by}
        return {value // by} if how == "*" else set()

    def _inner(self, at: int) -> int:
        """Return how many elements an array's further ways have; 1 where there are none."""
        elements = 1
        for _ in range(MOST_WAYS):
            found = self._begins(at + 1) if self.tokens[at] == "[" else None
            if found is None or self.tokens[found[1]] != "]":
                break
            elements, at = elements * found[0], found[1] + 1
        return elements

    def _sizeof(self, at: int) -> int:
        """Return where the `sizeof` is that ends at a bracket; 0 if there is none."""
        opened = self.opened.get(at, 0)
        return opened - 1 if opened and self.tokens[opened - 1] == "sizeof" else 0

    def _resolve(self) -> None:
        """Find what names stand for: macros, and what is set once to a constant."""
        values: dict[str, set[int | None]] = {}
        constants: dict[str, int] = {}
        for name, begin, end in self.macros:
            found = self._expression(begin, 1, DEEPEST, begin + MOST_TOKENS)
            whole = found is not None and found[1] == end
            values.setdefault(name, set()).add(found[0] if found is not None and whole else None)
        for at in range(1, self.count):
            opened = self.tokens[at] == "{" and self.tokens[at - 2] in _CASTS
            name = self.tokens[at - 1]
            if not (opened or self.tokens[at] == "=") or not NAME.fullmatch(name):
                continue
            found = self._expression(at + 1, 1, DEEPEST, at + MOST_TOKENS)
            ends = {"}"} if opened else {";", ",", "}", ">"}
            whole = found is not None and self.tokens[found[1]] in ends
            value = found[0] if found is not None and whole else None
            fixed = not _FIXED.isdisjoint(self.tokens[max(0, at - 6) : at - 1])
            if value is not None or not fixed:
                values.setdefault(name, set()).add(value)
            if value is not None and fixed:
                constants[name] = value
        self.names |= constants
        for name, every in values.items():
            (value, *more) = every
            if not more and value is not None and name not in WIDTHS:
                self.names[name] = value

    def _expression(self, at: int, least: int, deep: int, end: int) -> tuple[int, int] | None:
        """Return a constant's value by the ranks of its operators, and where it ends."""
        found = self._operand(at, deep, end)
        while found is not None:
            value, at = found
            self._seen.add(value)
            rank = _BINARY.get(self.tokens[min(at, self.count)], 0)
            if rank < least or at >= end:
                break
            right = self._expression(at + 1, rank + 1, deep, end)
            made = _made(value, self.tokens[at], right[0]) if right is not None else None
            if right is None or made is None:
                break
            self._seen.add(made)
            found = made, right[1]
        return found

    def _operand(self, at: int, deep: int, end: int) -> tuple[int, int] | None:
        self._left -= 1
        if self._left < 0 or deep < 0 or at >= min(end, self.count):
            return None
        word = self.tokens[at]
        if word == "-":
            found = self._operand(at + 1, deep - 1, end)
            return None if found is None else (-found[0], found[1])
        if word == "sizeof" and self.tokens[at + 1] == "(":
            close = self.close(at + 1)
            width = WIDTHS.get(self.tokens[close - 1]) if close - at <= 5 else None
            return None if width is None else (width, close + 1)
        if word in _OPENS and self.tokens[at + 1] in {"<", "("}:
            opened = next((p for p in range(at, at + 8) if self.tokens[p] == "("), -1)
            return self._inside(opened, deep, end) if opened > 0 else None
        if word == "(":
            if self._cast(at):
                return self._operand(self.close(at) + 1, deep - 1, end)
            return self._inside(at, deep, end)
        value = self.names.get(word)
        if value is None and word[:1] != "'":
            value = integer(word)
            value = _whole(word) if value is None else value
        if value is None or self.tokens[at + 1] in {"[", "(", ".", "->", "::"}:
            return None
        return value, at + 1

    def _inside(self, at: int, deep: int, end: int) -> tuple[int, int] | None:
        """Return the value of what a bracket holds, and where that is closed."""
        found = self._expression(at + 1, 1, deep - 1, end)
        whole = found is not None and found[1] == self.close(at) < self.count
        return (found[0], found[1] + 1) if found is not None and whole else None

    def _cast(self, at: int) -> bool:
        """Tell whether a bracket holds a type."""
        close = self.close(at) if at >= 0 else at
        inner = self.tokens[at + 1 : close] if 0 < close - at <= 5 else []
        return bool(inner) and all(word in _CASTS for word in inner)


def _whole(word: str) -> int | None:
    """Return the whole number that a float stands for, if it may be a size.

    >>> _whole("1e6"), _whole("2.5e3f"), _whole("1.5"), _whole("255.0f"), _whole("1e30f")
    (1000000, 2500, None, None, None)
    """
    plain = word.replace("'", "")
    if len(plain) > 24 or not _FLOAT.fullmatch(plain):
        return None
    value = float(plain.rstrip("fFlL"))
    return int(value) if LEAST_FLOAT <= value <= MOST and value.is_integer() else None


def _made(left: int, how: str, right: int) -> int | None:
    """Return what is made of two numbers; None where that is no number of interest."""
    if how in {"<<", ">>"} and not 0 <= right < 64:
        return None
    if how in {"/", "%"} and right == 0:
        return None
    value = {
        "<<": lambda: left << right,
        ">>": lambda: left >> right,
        "+": lambda: left + right,
        "-": lambda: left - right,
        "*": lambda: left * right,
        "/": lambda: left // right,
        "%": lambda: left % right,
    }[how]()
    return value if abs(value) <= 1 << 64 else None
