"""Tells whether an original adds up numbers of 32 bits with a sign, as far as its text tells.

What such a sum is beyond 2^31 the language leaves open: where more numbers are larger together, an
original may come to that, and is no measure of a candidate then. Products of the command line's
numbers are looked at elsewhere (`runners.program_products`); here it is sums that no such product
bounds. It is a guess about strangers' text by names alone: it never raises, takes a bounded time,
and takes a sum for an open one rather than not.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from functools import lru_cache

from runners.text import CLOSES, LONGEST, NAME, Text

# Tokens of a factor, of a declaration, and of what is added.
MOST_TOKENS = 60
_SIGNED = frozenset({"int", "short", "char", "int32_t", "i32", "auto", "int2", "int3", "int4"})
# Whole numbers without a sign wrap around; wide ones and floats do not come to an end there.
_DEFINED = frozenset(
    {"unsigned", "uint", "uint32_t", "u32", "size_t", "uint64_t", "int64_t", "long", "u64", "i64"}
    | {"longlong", "ulonglong", "uint2", "uint3", "uint4", "float", "double", "__half", "half"}
    | {"float2", "float3", "float4", "double2", "uint8_t", "uint16_t", "ull", "ll"}
)
# What adds up what it is given, in words that do not tell of which type.
_ADDS = frozenset(
    {"accumulate", "reduce", "inclusive_scan", "exclusive_scan", "partial_sum", "inner_product"}
    | {"transform_reduce", "__reduce_add_sync", "DeviceReduce", "DeviceScan", "BlockReduce"}
    | {"BlockScan", "WarpReduce", "WarpScan", "reduce_by_key", "adjacent_difference", "dp4a"}
    | {"__dp4a", "__dp2a_lo", "__dp2a_hi", "atomicSub", "fetch_add", "template"}
)
_SHUFFLES = "__shfl"
_LOOPS = frozenset({"for", "while", "do"})
_QUALIFIES = frozenset({"const", "volatile", "__restrict__", "restrict", "*", "&", "constexpr"})
_STOPS = frozenset({"", ";", "{", "}", ",", "?", ":", "&&", "||", "<", ">", "<=", ">=", "==", "="})


@lru_cache(maxsize=8)
def open_sums(source: str) -> bool:
    """Tell whether a text may add up whole numbers with a sign in 32 bits, over and over.

    >>> loop = "int main() { %s s = 0; for (int i = 0; i < n; ++i) s += x[i]; }"
    >>> [open_sums(loop % one) for one in ("int", "unsigned", "long long")]
    [True, False, False]
    """
    if not source or len(source) > LONGEST:
        return True
    text = Text(source, macros=True)
    return any(_Sums(text).found())


class _Sums:
    """The sums of a text, and which of its names hold what."""

    def __init__(self, text: Text) -> None:
        self.text = text
        self.signed, self.other = set[str](), set[str]()
        for at in range(text.count):
            self._declared(at)
        self.looped = self._looped()

    def found(self) -> Iterator[bool]:
        """Yield for each sum whether it is an open one."""
        tokens = self.text.tokens
        for at in range(self.text.count):
            word = tokens[at]
            if word in _ADDS or word.startswith(_SHUFFLES):
                yield word != "template" or tokens[at + 1] == "<"
            elif word == "atomicAdd" and tokens[at + 1] == "(":
                yield self._open(self._names(at + 2))
            elif word in {"+=", "-="}:
                yield self._added(at)
            elif word == "=" and self._again(at):
                yield self._open(self._target(at))
            elif word == "+" and self._held(at - 1) and self._held(self._behind(at)):
                yield self._open({*self._target(at), *self._names(at + 1)})

    def _open(self, names: set[str]) -> bool:
        """Tell whether one of several names may hold a number with a sign: or none is known."""
        return bool(names & self.signed) or not names & self.other

    def _added(self, at: int) -> bool:
        """Tell of `+=` whether it is open: of memory, or in a loop, and not by a constant."""
        value = self.text.tokens[at + 1]
        if value[:1].isdigit() and self.text.tokens[at + 2] in {";", ")", ","}:
            return False
        memory = self.text.tokens[at - 1] in {"]", ")"} or self.text.tokens[at - 2] in {".", "->"}
        return (memory or self.looped[at]) and self._open(self._target(at))

    def _again(self, at: int) -> bool:
        """Tell whether what is set is set to itself and more, in a loop: `s = s + x`."""
        name = self.text.tokens[at - 1]
        if not NAME.fullmatch(name) or not self.looped[at]:
            return False
        for place in range(at + 1, min(at + MOST_TOKENS, self.text.count)):
            word = self.text.tokens[place]
            if word in {";", ""}:
                return False
            beside = {self.text.tokens[place - 1], self.text.tokens[place + 1]}
            following = self.text.tokens[place + 2]
            constant = self.text.tokens[place + 1] == "+" and following[:1].isdigit()
            if word == name and "+" in beside and not constant:
                return True
        return False

    def _target(self, at: int) -> set[str]:
        """Return the last name of what is set by a token: `length` of `links[i].length`."""
        place = at - 1
        if self.text.tokens[place] == ")":
            opened = self.text.opened.get(place, place)
            return set(self.text.tokens[max(opened, place - MOST_TOKENS) : place])
        for _ in range(8):
            if self.text.tokens[place] != "]":
                break
            place = max(0, self.text.opened.get(place, place) - 1)
        return {self.text.tokens[place]}

    def _names(self, at: int) -> set[str]:
        """Return the first name of an operand, and its last field."""
        tokens = self.text.tokens
        while tokens[at] in {"&", "(", "*"}:
            at += 1
        found, fields = {tokens[at]}, False
        for place in range(at + 1, min(at + MOST_TOKENS, self.text.count)):
            word = tokens[place]
            if word in _STOPS or word in {"+", ")"}:
                break
            if word in {".", "->"}:
                found, fields = {tokens[place + 1]}, True
            elif NAME.fullmatch(word) and not fields and word in self.signed | self.other:
                found = found if found & (self.signed | self.other) else {word}
        return found

    def _behind(self, at: int) -> int:
        """Return the last token of the operand behind a sign."""
        place = at + 1
        for _ in range(8):
            following = self.text.tokens[place + 1]
            if following in {".", "->"}:
                place += 2
            elif following == "[":
                place = self.text.close(place + 1)
            else:
                break
        return min(place, self.text.count)

    def _held(self, at: int) -> bool:
        """Tell whether an operand that ends at a token is in memory: an element, or a field."""
        tokens = self.text.tokens
        name = bool(NAME.fullmatch(tokens[at])) and tokens[at - 1] in {".", "->"}
        return tokens[at] == "]" or (name and tokens[at] not in {"x", "y", "z"})

    def _declared(self, at: int) -> None:
        tokens = self.text.tokens
        word = tokens[at]
        if word not in _SIGNED and word not in _DEFINED:
            return
        if tokens[at + 1] in _SIGNED | _DEFINED or tokens[at - 1] in _SIGNED | _DEFINED:
            before = {word, tokens[at + 1], tokens[at - 1], tokens[at - 2]}
            kind = self.other if before & _DEFINED else self.signed
            if tokens[at + 1] in _SIGNED | _DEFINED:
                return  # by the last word of it
        else:
            kind = self.other if word in _DEFINED else self.signed
        place, fresh = at + 1, True
        while place < min(at + MOST_TOKENS, self.text.count):
            word = tokens[place]
            if word in {";", "", "{", "}", ")"}:
                break
            if word == ">" and fresh:  # std::vector<int> name
                place += 1
                continue
            if word in CLOSES:
                place = self.text.close(place) + 1
                continue
            if fresh and NAME.fullmatch(word) and word not in _QUALIFIES:
                kind.add(word)
                fresh = False
            elif word == ",":
                following = tokens[place + 1], tokens[place + 2]
                if following[0] in _SIGNED | _DEFINED | _QUALIFIES - {"*", "&"} or (
                    NAME.fullmatch(following[0]) and NAME.fullmatch(following[1])
                ):
                    break
                fresh = True
            place += 1

    def _looped(self) -> list[bool]:
        """Return which tokens are in the body or the head of a loop."""
        text = self.text
        deeper = [0] * (text.count + 2)
        for at in range(text.count):
            if text.tokens[at] not in _LOOPS:
                continue
            head = text.close(at + 1) if text.tokens[at + 1] == "(" else at
            if text.tokens[min(head + 1, text.count)] == "{":
                end = text.close(head + 1)
            else:
                end = self._statement(min(head + 1, text.count))
            deeper[at] += 1
            deeper[max(end, at)] -= 1
        return [depth > 0 for depth in itertools.accumulate(deeper)]

    def _statement(self, at: int) -> int:
        """Return where a statement ends that no bracket holds."""
        for _ in range(MOST_TOKENS):
            word = self.text.tokens[at]
            if word in {";", ""}:
                return at
            if word == "{":
                return self.text.close(at)
            at = self.text.close(at) + 1 if word in CLOSES else at + 1
            at = min(at, self.text.count)
        return self.text.count
