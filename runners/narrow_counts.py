"""Counts that a text keeps from call to call in so few bits that they run over while it is used.

A round that is told by 8 or 16 bits is right for as many calls, and wrong from then on. This reads
the text as tokens: variables that stay (static, of a namespace, or members of such) and are counted
up or down, in a narrow type or a bit-field, or narrowed where they are used. It is a guess about
strangers' text: it never raises, takes a bounded time, and may find counts that do no harm.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from runners.text import CLOSES, LONGEST, NAME, ValuedText

# Calls after which a count runs over: with fewer, calls in a row show it. At most 17 bits.
LEAST_PERIOD, MOST_PERIOD = 64, 1 << 17
# Tokens of a statement, an expression and a launch that are looked at; turns in which a count is
# followed from name to name.
MOST_BACK, MOST_FORTH, TURNS = 32, 64, 3
MOST_NAMES = 64
_NARROW = {"char": 8, "int8_t": 8, "uint8_t": 8, "uchar": 8}
_NARROW |= {"short": 16, "int16_t": 16, "uint16_t": 16, "ushort": 16}
_LONG = frozenset({"long", "size_t", "int64_t", "uint64_t", "ptrdiff_t", "uintptr_t"})
_WIDE = _LONG | {"int", "unsigned", "signed", "int32_t", "uint32_t", "uint", "auto"}
_FIXED = frozenset({"const", "constexpr", "typedef", "using", "template", "__constant__", "return"})
_ENDS = frozenset({";", "{", "}"})
_STEPS = frozenset({"++", "--"})
_CHANGES = _STEPS | {"+=", "-="}
_COMPARED = frozenset({"==", "!=", "<", ">", "<=", ">="})
_POWER = re.compile(r"\(*1[uUlL]*<<(\d{1,2})\)*(-1)?\)*", re.ASCII)


@dataclass(frozen=True, slots=True)
class _Variable:
    """A declared name: its bits where these are few, whether it stays, and where it is set."""

    name: str
    bits: int | None
    long: bool
    kept: bool
    value: tuple[int, int]


@lru_cache(maxsize=16)
def periods(source: str) -> tuple[int, ...]:
    """Return after how many calls counts of a text run over, the smallest first; none, mostly.

    >>> periods("void f() { static unsigned short round; --round; k<<<1, 2>>>(round); }")
    (65536,)
    >>> periods("static unsigned n; void f() { g(++n & 0xfff); h(n << 16, (uint8_t)n); }")
    (256, 4096, 65536)
    >>> periods("void f() { static unsigned n; static short best; g(++n, best); }")
    ()
    """
    if len(source) > LONGEST:
        return ()
    found = _Reader(source).periods()
    return tuple(sorted(one for one in found if LEAST_PERIOD <= one <= MOST_PERIOD))


@lru_cache(maxsize=16)
def turns(source: str) -> tuple[int, ...]:
    """Return after how many steps counts may begin anew that a text compares with a number.

    What is set back where it is one number does so after as many steps or one more.

    >>> turns("void f() { static unsigned n; if (++n == 65535) n = 0; }")
    (65535, 65536)
    >>> turns("static int n; void f() { n = n < 999 ? n + 1 : 1; }")
    (999, 1000)
    >>> turns("static int n; void f(int m) { ++n; if (m == 999) g(); }")
    ()
    """
    if len(source) > LONGEST:
        return ()
    found = {bound + more for bound in _Reader(source).bounds() for more in (0, 1)}
    return tuple(sorted(one for one in found if LEAST_PERIOD <= one <= MOST_PERIOD))


class _Reader(ValuedText):
    """A text whose variables are known, and what is counted in them."""

    def __init__(self, source: str) -> None:
        super().__init__(source)
        self._narrow = dict(_NARROW)
        self._around = self._nested()
        self._aliases()
        self._types = {*self._narrow, *_WIDE}
        self._places: dict[str, list[int]] = {}
        for at, word in enumerate(self.tokens[: self.count]):
            if NAME.fullmatch(word):
                self._places.setdefault(word, []).append(at)
        self._staying: dict[int, bool] = {}

    def bounds(self) -> set[int]:
        """Return the numbers that counts are compared with."""
        found: set[int | None] = set()
        counted = {one.name for one in self._variables() if one.kept and self._stepped(one.name)}
        for at in (place for name in sorted(counted)[:MOST_NAMES] for place in self._places[name]):
            behind, before = at + 1, at - 1
            while self._word(behind) in {"++", "--", ")"}:
                behind += 1
            while self._word(before) in {"++", "--", "("}:
                before -= 1
            if self._word(behind) in _COMPARED:
                found.add(self._number(behind + 1))
            if self._word(before) in _COMPARED:
                found.add(self.number(self._word(before - 1)))
        return {one for one in found if one is not None}

    def periods(self) -> set[int]:
        """Return after how many steps each count is what it was."""
        known = list(self._variables())
        counted = {one.name for one in known if one.kept and self._stepped(one.name)}
        if not counted:
            return set()
        narrow = {one.name: one.bits for one in known if one.bits is not None}
        long = {one.name for one in known if one.long}
        found: set[int] = set()
        reached = set(sorted(counted)[:MOST_NAMES])
        for _ in range(TURNS):
            before = len(reached)
            found |= self._passed_on(reached, known)
            if len(reached) == before or before > MOST_NAMES:
                break
        for name in reached:
            bits = narrow.get(name)
            if bits is not None:
                found.add(1 << bits)
            for at in self._places.get(name, ()):
                found |= self._narrowed(at, long=name in long)
        return found

    def _nested(self) -> list[int]:
        """Return of each token the bracket it is in; -1 for none."""
        around, stack = [], list[int]()
        for at in range(self.count):
            if stack and at == self.closed[stack[-1]]:
                stack.pop()
            around.append(stack[-1] if stack else -1)
            if at in self.closed:
                stack.append(at)
        return around

    def _aliases(self) -> None:
        """Learn names that a text gives to narrow types."""
        for at, word in enumerate(self.tokens[: self.count]):
            if word not in {"typedef", "using"}:
                continue
            line = self._statement(at + 1)
            bits = [self._narrow[one] for one in line if one in self._narrow]
            if bits and len(line) < 9 and not {"*", "(", "["} & set(line):
                name = line[-1] if word == "typedef" else line[0]
                self._narrow.setdefault(name, bits[0])

    def _statement(self, at: int) -> list[str]:
        """Return the tokens from one on until its statement ends."""
        end = next((p for p in range(at, at + MOST_FORTH) if self._word(p) in {*_ENDS, ""}), at)
        return self.tokens[at:end]

    def _word(self, at: int) -> str:
        return self.tokens[at] if 0 <= at < self.count else ""

    def _before(self, at: int) -> list[str]:
        """Return the tokens of a statement that stand before one, the nearest first."""
        found: list[str] = []
        for place in range(at - 1, max(-1, at - 1 - MOST_BACK), -1):
            if self.tokens[place] in _ENDS:
                break
            found.append(self.tokens[place])
        return found

    def _variables(self) -> Iterator[_Variable]:
        """Yield what is declared outside of brackets: one of a type that counts."""
        for at, word in enumerate(self.tokens[: self.count]):
            if word not in self._types or self._word(at + 1) in self._types:
                continue
            first = at
            while self._word(first - 1) in self._types:
                first -= 1
            around, words = self._around[at], self._before(first)
            outer = around == -1 or self.tokens[around] == "{"
            if not outer or _FIXED & {*words, self._word(at + 1)}:
                continue
            types = self.tokens[first : at + 1]
            bits = min((self._narrow[one] for one in types if one in self._narrow), default=None)
            start = at + 1
            while self._word(start) == "volatile" or (
                self._word(start) == ">" and any("atomic" in one for one in words)
            ):
                start += 1
            kept = bool({"static", "thread_local"} & set(words)) or self._stays(around)
            yield from self._declared(start, bits, kept=kept, long=bool(_LONG & set(types)))

    def _declared(
        self, at: int, bits: int | None, *, kept: bool, long: bool
    ) -> Iterator[_Variable]:
        """Yield the names of one declaration; what is a pointer or a function is none."""
        limit = min(at + 4 * MOST_FORTH, self.count)
        while at < limit:
            name, behind = self.tokens[at], self.tokens[at + 1]
            end = at
            while end < limit and self.tokens[end] not in {",", ";", "}", ")"}:
                end = self.close(end) + 1 if self.tokens[end] in CLOSES else end + 1
            if NAME.fullmatch(name) and behind in {"=", ";", ",", "{", ":", "["}:
                width = self.number(self.tokens[at + 2]) if behind == ":" else bits
                few = width if width is not None and 0 < width < 32 else None
                yield _Variable(name, few, long, kept, (at + 1, end))
            elif name != "*":
                return
            if self._word(end) != ",":
                return
            at = end + 1

    def _stays(self, around: int) -> bool:
        """Tell whether what is declared within a bracket stays from call to call."""
        if around == -1:
            return True
        if around not in self._staying:
            self._staying[around] = False  # a struct within itself
            words = self._before(around)
            named = {"struct", "class", "union"} & set(words)
            if self._word(around - 1) in {"=", ",", "(", "return"} or ")" in words:
                stays = False
            elif "namespace" in words or ("extern" in words and not named):
                stays = self._stays(self._around[around])
            else:
                stays = bool(named) and self._structure(around, words)
            self._staying[around] = stays
        return self._staying[around]

    def _structure(self, around: int, words: Sequence[str]) -> bool:
        """Tell whether there is a variable that stays of a structure."""
        outside = self._around[around]
        if NAME.fullmatch(self._word(self.close(around) + 1)):
            return "static" in words or self._stays(outside)
        keyword = next(n for n, one in enumerate(words) if one in {"struct", "class", "union"})
        names = [one for one in words[:keyword] if NAME.fullmatch(one)]
        for at in self._places.get(names[-1], ())[:MOST_NAMES] if names else ():
            behind, before = at + 1, self._before(at)
            while self._word(behind) in {"*", "&", ">", ","}:
                behind += 1
            variable = NAME.fullmatch(self._word(behind)) and self._word(behind + 1) != "("
            inner = self._around[at]
            scoped = inner == -1 or (self.tokens[inner] == "{" and self._stays(inner))
            if self._word(at - 1) == "new" or (variable and ("static" in before or scoped)):
                return True
        return False

    def _stepped(self, name: str) -> bool:
        """Tell whether a variable is counted up or down, or made of what it was."""
        for at in self._places.get(name, ()):
            begin = at
            while self._word(begin - 1) in {".", "->"} and NAME.fullmatch(self._word(begin - 2)):
                begin -= 2
            behind = self.close(at + 1) + 1 if self._word(at + 1) == "[" else at + 1
            word, before = self._word(behind), self._word(begin - 1)
            if before in _STEPS or word in _CHANGES:
                return True
            if word == "=" and name in self._value(behind + 1):
                return True
            if word == "." and self._word(behind + 1).startswith("fetch_"):
                return True
            if before == "&" and self._word(begin - 3).startswith("atomic"):
                return True
        return False

    def _value(self, at: int) -> list[str]:
        """Return the tokens of what is assigned."""
        end, limit = at, min(at + MOST_FORTH, self.count)
        while end < limit and self.tokens[end] not in {",", ";", ")", "}", "]"}:
            end = self.close(end) + 1 if self.tokens[end] in CLOSES else end + 1
        return self.tokens[at : min(end, limit)]

    def _passed_on(self, reached: set[str], known: Sequence[_Variable]) -> set[int]:
        """Add the names that get a count's value; return what narrow parameters make of one."""
        for one in known:
            if reached & set(self.tokens[slice(*one.value)][:MOST_FORTH]):
                reached.add(one.name)
        for at in [p for p in range(1, self.count) if self.tokens[p] == "="]:
            if NAME.fullmatch(self.tokens[at - 1]) and reached & set(self._value(at + 1)):
                reached.add(self.tokens[at - 1])
        found: set[int] = set()
        for function in self.definitions():
            parts = self.parts(function.opened, angles=True)
            names = self.parameters(function)
            for at in self._places.get(function.name, ())[:MOST_NAMES]:
                begin = self._called(at)
                given = self.parts(begin) if begin is not None and begin != function.opened else []
                for part, name, argument in zip(parts, names, given, strict=False):
                    if name and reached & set(argument):
                        reached.add(name)
                        bits = [self._narrow[word] for word in part if word in self._narrow]
                        if bits and "*" not in part:
                            found.add(1 << bits[0])
        return found

    def _called(self, at: int) -> int | None:
        """Return where the arguments of a call or a launch begin that a name is followed by."""
        if self._word(at + 1) == "(":
            return at + 1
        if self._word(at + 1) in {"<", "<<<"}:
            for place in range(at + 2, at + MOST_FORTH):
                word = self._word(place)
                if word in _ENDS:
                    break
                if word == "(" and self._word(place - 1) == ">>>":
                    return place
        return None

    def _narrowed(self, at: int, *, long: bool) -> set[int]:
        """Return what is left of a count where it is used: a cast, a mask, a rest, a shift."""
        found: set[int] = set()
        begin, wide = at - 1, long
        for _ in range(8):
            word = self._word(begin)
            types: list[str] = []
            if word == ")" and begin in self.opened:
                types = self.tokens[self.opened[begin] + 1 : begin]
                if not types or not {*types} <= {*self._types, "std", "::"}:
                    break
                begin = self.opened[begin]
            elif word == ">":
                types = [self._word(begin - 1)]
            elif word in self._types:
                types = [word] if self._word(begin + 1) == "(" else []
            elif word not in {"(", "++", "--", ".", "->"} and self._word(begin + 1) not in {
                ".",
                "->",
            }:
                break
            found |= {1 << self._narrow[one] for one in types if one in self._narrow}
            wide = wide or bool(_LONG & {*types})
            begin -= 1
        behind = at + 1
        for _ in range(8):
            if self._word(behind) in {"++", "--", ")"}:
                behind += 1
            elif self._word(behind) in {"+", "-"} and self._number(behind + 1) is not None:
                behind += 2
            else:
                break
        what = self._word(behind)
        start = behind + 2 if self._word(behind + 1) == "=" else behind + 1
        number = self._number(start)
        if number is None:
            return found
        if what in {"&", "&="}:
            found.add(number + 1)
        elif what in {"%", "%="}:
            found.add(number)
        elif what == "<<" and 0 < number < 64:
            left = (64 if wide or number >= 32 else 32) - number
            found.add(1 << left)
        return found

    def _number(self, at: int) -> int | None:
        """Return a number, or one that a power of two is written as."""
        if self._word(at) != "(":
            return self.number(self._word(at))
        power = _POWER.fullmatch("".join(self.tokens[at : min(self.close(at), at + 12) + 1]))
        if power is not None:
            return (1 << int(power[1])) - bool(power[2])
        close = self.close(at)
        return self.number(self.tokens[at + 1]) if close == at + 2 else None
