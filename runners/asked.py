"""Whether an original's own text asks of floats if they are NaN or infinite.

Of NaN and infinities among inputs little is promised: code that is right for numbers may lose them
on another way than the original does. What asks for them means something by it. This reads the text
as tokens, where the function that is launched and what it names are defined. It is a guess about
strangers' text: it never raises, takes a bounded time, and finds nothing rather than too much.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from runners.text import LONGEST, NAME, PADDING, Text, plain_name

# What may be found.
NAN, INFINITY, ZERO, ROUNDING = "nan", "infinity", "zero", "rounding"
# What `calls` may find: the number of a number and a NaN, exponentials, and logarithms.
CHOICE, EXPONENTIAL, LOGARITHM = "choice", "exponential", "logarithm"
MOST_FUNCTIONS, MOST_TOKENS = 64, 200_000
# Tokens of what stands between a name and what is read into it, and of one operand.
NEAR = 8
LONG = PADDING - NEAR
# isnan, __isnanf, __hisnan2, __builtin_isfinite, IS_NAN; a half and a float have the same names.
_ASKS = re.compile(
    r"_{0,2}(?:builtin_)?h?is_?(?P<what>nan|inf|finite|normal|unordered)(?:_sign|[fl2])?",
    re.ASCII | re.IGNORECASE,
)
# The bits of an infinity: what is above them is NaN.
_BITS = re.compile(r"0x(7f80_?0000|7ff0000000000000|7c00)u?l{0,2}", re.ASCII | re.IGNORECASE)
# Exponents, bits, and whole numbers: std::floor, h2log2, __float2int_rn, __float_as_uint.
_ROUNDS = re.compile(
    r"_{0,2}h?2?(?:log2|exp2|frexp|ldexp|ilogb|logb|scalbl?n|ceil|floor|trunc|l{0,2}rint|l{0,2}round"
    r"|nearbyint)[fl]?"
    r"|__(?:float|double|half|bfloat16|low2half)2u?(?:int|short|char|ll)_r[ndzu]"
    r"|__(?:float_as_u?int|double_as_longlong|(?:half|bfloat16)_as_u?short)",
    re.ASCII,
)
# What gives the number of a number and a NaN, in any order.
_CHOOSES = re.compile(r"f(?:min|max)f?|__h(?:min|max)2?", re.ASCII)
_EXPONENTIALS = re.compile(r"_{0,2}h?2?(?:exp(?:2|10|m1)?|pow|tanh|sinh|cosh|erfc?x?)f?", re.ASCII)
_LOGARITHMS = re.compile(r"_{0,2}h?2?log(?:2|10)?f?", re.ASCII)
# A whole number, as a float or as it is.
_WHOLE = re.compile(r"(?P<number>[1-9]\d{0,4})(?:(?P<float>\.0*)[fF]?|[uUlL]{0,3})", re.ASCII)
MOST_ODD = 2
_NOTHING = re.compile(r"0(?:\.0*)?[fF]?|\.0+[fF]?", re.ASCII)
_EQUALS, _ORDERS = frozenset({"==", "!="}), frozenset({"<", "<=", ">", ">="})
# Before and behind these a comparison's operand is whole.
_BEFORE = frozenset(
    {"(", "&&", "||", "!", "return", "=", "?", ":", ",", ";", "{", "}", "=="}
    | {"+=", "-=", "*=", "/=", "%=", "&=", "|=", "^="}
)
_BEHIND = frozenset({")", "&&", "||", "?", ":", ",", ";", "}"})
_SIZES = frozenset({"fabs", "fabsf", "abs", "__habs", "__habs2"})
# What stands before an element that is read and changes nothing of what it is.
_READS = frozenset(
    {"(", ")", "&", "<", ">", "static_cast", "float", "double", "half", "__half", "__nv_bfloat16"}
    | {"__ldg", "__ldcs", "__ldcg", "__ldca", "__half2float", "__bfloat162float", "const"}
)


def asked(source: str, symbol: str) -> tuple[str, ...]:
    """Return which of `NAN` and `INFINITY` a function's text, and what it names, asks about.

    >>> asked("void f(const float* x) { float v = x[0]; if (isinf(v) || v != v) return; }", "f")
    ('infinity', 'nan')
    >>> asked("void f(float* x) { float m = -INFINITY; m = fmaxf(m, x[0]); }  // isnan", "f")
    ()
    """
    plain = plain_name(symbol)
    return _asked(source, plain) if plain and len(source) <= LONGEST else ()


@lru_cache(maxsize=64)
def _asked(source: str, symbol: str) -> tuple[str, ...]:
    text = _Text(source)
    return tuple(sorted({what for part in text.reached(symbol) for what in text.asks(part)}))


def zeroed(source: str, scalars: Iterable[str]) -> bool:
    """Tell whether a text asks of one of these names, of floats, whether it is zero.

    >>> zeroed("y[i] = beta == 0.f ? v : v + beta * y[i];", ["alpha", "beta"])
    True
    >>> zeroed("if (0 != beta) // and alpha == 0", ["alpha"])
    False
    """
    return len(source) <= LONGEST and _zeroed(source, frozenset(scalars))


@lru_cache(maxsize=64)
def _zeroed(source: str, scalars: frozenset[str]) -> bool:
    tokens = Text(source, macros=True).tokens
    for at in range(1, len(tokens) - 1):
        sides = {tokens[at - 1], tokens[at + 1]}
        if tokens[at] in _EQUALS and sides & scalars and any(map(_NOTHING.fullmatch, sides)):
            return True
    return False


def rounds(source: str, symbol: str) -> bool:
    """Tell whether a function's text, or what it names, asks for exponents, bits or whole numbers.

    >>> rounds("void f(const float* x) { int e = std::ceil(log2f(x[0])); }", "f")
    True
    >>> rounds("void f(const float* x) { int e = x[0]; } void g(float v) { floorf(v); }", "f")
    False
    """
    plain = plain_name(symbol)
    return _names(source, plain, _ROUNDS) if plain and len(source) <= LONGEST else False


@lru_cache(maxsize=128)
def _names(source: str, symbol: str, words: re.Pattern[str]) -> bool:
    """Tell whether a function's text, or what it names, calls what has such a name."""
    text = _Text(source)
    return any(
        text.tokens[at + 1] == "(" and words.fullmatch(text.tokens[at])
        for part in text.reached(symbol)
        for at in range(part.begin, part.end)
    )


def calls(source: str, symbol: str) -> tuple[str, ...]:
    """Return which of the kinds of function above a text, or what it names, calls.

    >>> calls("void f(const float* x) { m = fmaxf(m, x[0]); s += __expf(x[0] - m); }", "f")
    ('choice', 'exponential')
    >>> calls("void f(const float* x) { m = m > x[0] ? m : std::log(x[0]); }", "f")
    ('logarithm',)
    """
    plain = plain_name(symbol)
    if not plain or len(source) > LONGEST:
        return ()
    kinds = ((CHOICE, _CHOOSES), (EXPONENTIAL, _EXPONENTIALS), (LOGARITHM, _LOGARITHMS))
    return tuple(kind for kind, words in kinds if _names(source, plain, words))


def odd_numbers(source: str) -> tuple[int, ...]:
    """Return odd numbers of which a text names multiples by powers of two, those of floats first.

    >>> odd_numbers("y = max(-448, x / 127.f) * 0.5f + 64;")
    (127, 7)
    """
    tokens = Text(source, macros=True).tokens if len(source) <= LONGEST else []
    found = [one for one in map(_WHOLE.fullmatch, tokens) if one is not None]
    found.sort(key=lambda one: (one["float"] is None, -int(one["number"])))
    every = (int(one["number"]) for one in found)
    odd = (number // (number & -number) for number in every)
    return tuple(dict.fromkeys(number for number in odd if number > 1))[:MOST_ODD]


class _Part:
    """Where a function's or a macro's body is, and the names of what it is given and reads."""

    def __init__(self, begin: int, end: int, given: Iterable[str] = ()) -> None:
        self.begin, self.end, self.given = begin, end, set(given)
        self.read: set[str] | None = None


class _Text(Text):
    """A source with its macros, and what is defined in it."""

    def __init__(self, source: str) -> None:
        super().__init__(source, macros=True)
        # Whatever a literal says, it is no float.
        self.tokens = ['""' if word[:1] in {'"', "'"} else word for word in self.tokens]
        self._parts: dict[str, list[_Part]] = {}
        for name, part in (*self._macros(), *self._classes(), *self._functions()):
            self._parts.setdefault(name, []).append(part)

    def _macros(self) -> Iterator[tuple[str, _Part]]:
        for name, begin, end in self.macros:
            yield name, _Part(begin, end)

    def _classes(self) -> Iterator[tuple[str, _Part]]:
        for at in range(self.count):
            name = self.tokens[at + 1]
            if self.tokens[at] in {"struct", "class"} and NAME.fullmatch(name):
                ahead = range(at + 2, at + NEAR)
                body = next((p for p in ahead if self.tokens[p] in {"{", ";", "(", ")"}), at)
                if self.tokens[body] == "{" and body in self.closed:
                    yield name, _Part(body, self.closed[body])

    def _functions(self) -> Iterator[tuple[str, _Part]]:
        for one in self.definitions():
            if one.begin in self.closed:
                given = filter(NAME.fullmatch, self.tokens[one.opened : one.closed])
                yield one.name, _Part(one.begin, one.end, given)

    def reached(self, symbol: str) -> Iterator[_Part]:
        """Yield the bodies of a function and of what is named there."""
        waiting, known, left = [symbol], {symbol}, MOST_TOKENS
        for count, name in enumerate(waiting):
            for part in self._parts.get(name, ()):
                left -= part.end - part.begin
                if left < 0 or count >= MOST_FUNCTIONS:
                    return
                yield part
                named = {*self.tokens[part.begin : part.end]} & self._parts.keys()
                waiting += sorted(named - known)
                known |= named

    def asks(self, part: _Part) -> Iterator[str]:
        """Yield what a body asks of floats."""
        at = part.begin
        while at < part.end:
            word, behind = self.tokens[at], self.tokens[at + 1]
            if word == "assert" and behind == "(":
                # What fails there is nothing that is meant to be given.
                at = self.closed.get(at + 1, at)
            elif behind == "(" and word == "fpclassify":
                yield NAN
            elif behind == "(" and (one := _ASKS.fullmatch(word)):
                yield from self._called(one["what"].lower(), at + 1, part)
            elif word in _EQUALS | _ORDERS:
                yield from self._compared(at, part)
            at += 1

    def _called(self, what: str, opened: int, part: _Part) -> Iterator[str]:
        if what != "inf":
            yield NAN
        close = min(self.closed.get(opened, opened), opened + LONG)
        if what in {"inf", "finite"} and self._given(self.tokens[opened + 1 : close], part):
            yield INFINITY

    def _compared(self, at: int, part: _Part) -> Iterator[str]:
        """Yield what one comparison asks: a float that is not itself, that is infinite."""
        left, right = self._left(at), self._right(at)
        whole = (
            self.tokens[at - len(left) - 1] in _BEFORE
            and self.tokens[at + len(right) + 1] in _BEHIND
        )
        same = bool(left) and left == right and NAME.fullmatch(left[0])
        if self.tokens[at] in _EQUALS and same and whole:
            yield NAN
        if any(_BITS.fullmatch(self.tokens[side]) for side in (at - 1, at + 1)):
            yield NAN
        signs = {"-", "+"}
        for one, other in ((left, right), (right, left)):
            signed = other[:1] and other[0] in signs
            if [*other[bool(signed) :]] == ["INFINITY"]:
                sized = bool(one) and one[0] in _SIZES
                # An order with an infinity holds of all numbers, but of a size it asks for it.
                known = self.tokens[at] in _EQUALS or sized
                if known and self._given(one[2:-1] if sized else one, part):
                    yield INFINITY

    def _left(self, at: int) -> Sequence[str]:
        """Return the operand that ends before a token: a name, what it is given, an element."""
        begin = at
        while at - begin < LONG and begin > 0:
            before = self.tokens[begin - 1]
            if before in {")", "]"} and begin - 1 in self.opened:
                begin = self.opened[begin - 1]
                continue
            if NAME.fullmatch(before) and before != "return":
                begin -= 1
                if self.tokens[begin - 1] in {".", "->", "::"}:
                    begin -= 1
                    continue
            break
        if begin and self.tokens[begin - 1] in {"-", "+"} and self.tokens[begin] == "INFINITY":
            begin -= 1
        return self.tokens[begin:at] if at - begin <= LONG else ()

    def _right(self, at: int) -> Sequence[str]:
        """Return the operand that begins behind a token."""
        end = at + 1 + (self.tokens[at + 1] in {"-", "+"})
        while end - at < LONG:
            if NAME.fullmatch(self.tokens[end]):
                end += 1
            if self.tokens[end] in {"(", "["} and end in self.closed:
                end = self.closed[end] + 1
            elif self.tokens[end] in {".", "->", "::"}:
                end += 1
            else:
                break
        return self.tokens[at + 1 : end] if end - at <= LONG else ()

    def _given(self, operand: Sequence[str], part: _Part) -> bool:
        """Tell whether an operand is an element that the function is given, or was read from one.

        What is asked of a running maximum is whether there is one yet.
        """
        read = self._read(part)
        if self._element(operand, part):
            return True
        if len(operand) != 1 or not NAME.fullmatch(operand[0]):
            return False
        return operand[0] in read

    def _read(self, part: _Part) -> set[str]:
        """Return the names of what a body reads of the arrays that it is given, once and for all.

        A pointer that begins at such an array is one.
        """
        if part.read is None:
            read: set[str] = set()
            for at in range(part.begin + 2, part.end):
                if self.tokens[at] != "=":
                    continue
                behind = self.tokens[at + 1 : at + 1 + NEAR]
                first = next((word for word in behind if word not in _READS), "")
                if self.tokens[at - 2] in {"*", "__restrict__"} and first in part.given:
                    part.given |= {self.tokens[at - 1]}
                elif self._element(behind, part):
                    read.add(self.tokens[at - 1])
            part.read = read
        return part.read

    def _element(self, tokens: Sequence[str], part: _Part) -> bool:
        """Tell whether tokens begin with an element of an array that the function is given."""
        for at, word in enumerate(tokens[:NEAR]):
            if word in part.given and word not in _READS:
                return list(tokens[at + 1 : at + 2]) == ["["]
            if word not in _READS:
                return False
        return False
