"""Which arrays an original takes infinities from: as terms of what it compares and exponentiates.

A masked score is minus infinity, the energy of particles that overlap is infinite: a smallest, a
largest and a sum of exponentials leave such elements out by themselves, and an original may be
right on whole stretches of them without a word about it. A candidate that scales a sum anew when a
larger one comes takes an infinity from an infinity there, or gives up a part that has none else.

But a sum by parts of numbers (tensor cores, Kahan), a product with a mask or with the zeros behind
a row's end, a window's sum carried on and a difference of squares make NaN of infinities where
another order makes none, and are right all the same. So all that is made of an array's elements has
to be a sum with others, a multiple by scalars, the lesser or larger of two, a comparison, or an
exponential; what comes of an exponential or a comparison may go anywhere. A difference of two such
numbers may be NaN, so that it may be exponentiated, and neither compared nor chosen. And the
original has to have a use for infinities: to ask for them, to compare or choose and take
exponentials, or to do nothing but compare and choose.

Where it asks for them (`isinf(least)`, `most == -INFINITY`), what it makes of them is its contract.
Where it does not, little is promised, as of infinities elsewhere: a sum that is scaled anew as
elements come is right for numbers, and NaN where a thread's first are all masked. Such a NaN is let
pass there, and another number is not. Nor are rows of nothing else given: what it begins with, a
NaN that is not larger than zero, and an empty sum are then three answers.

Statements are followed in the order of the text, twice, calls from their arguments. It is a guess
about strangers' text: it never raises, takes a bounded time, and finds nothing rather than much.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from runners import flow
from runners.flow import CONVERSIONS, FUSED, LOADS, SHUFFLES, Program, base
from runners.text import LONGEST, plain_name
from runners.trees import FLOAT, WHOLE, Node, Statement

MOST_LOOKS, MOST_CALLS = 100_000, 8
# What an expression is: nothing of what is loaded; of other arrays; what an exponential or a
# comparison made; an element or a sum of some; a difference of such, which may be NaN.
_PLAIN, _OTHER, _FAINT, _TERM, _GAP = range(5)
_EXPONENTIALS = re.compile(r"_{0,2}h?2?(?:std_)?exp(?:2|10)?f?", re.ASCII)
_ENDS = re.compile(r"_{0,2}h?f?(?:min|max)f?(?:imum|imumf)?(?:_nan)?", re.ASCII)
_ASKS = re.compile(r"_{0,2}(?:builtin_)?h?is_?(?P<what>nan|inf|finite)(?:_sign|[fl])?", re.ASCII)
_SUMS = frozenset({"__fadd_rn", "__fsub_rn", "__dadd_rn", "__dsub_rn", "__hadd", "__hsub"})
_SIZES = frozenset({"fabs", "fabsf", "abs", "__habs"})
_VECTORS = re.compile(r"make_(?:float|double)[234]", re.ASCII)
_INFINITE = frozenset({"INFINITY", "HUGE_VALF", "HUGE_VAL", "CUDART_INF_F"})
# An infinity by name or by its bits, of a float or a double.
_BEGINS = re.compile(
    r"INFINITY|HUGE_VALF?|CUDART_INF(?:_F)?|infinity|0x(?:7f8|ff8)0{5}[uU]?",
    re.ASCII | re.IGNORECASE,
)

# The largest number of a type; numbers, and from where on one may stand for what is beyond all.
_LIMIT = re.compile(r"\w*(?:MAX|MIN|LOWEST|BIG|HUGE)\w*|numeric_limits", re.ASCII)
_NUMBER = re.compile(r"(0[xX]['\w]+|(?:\d[\d']*\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)[fFuUlL]*", re.ASCII)
LARGE = 1e5

_Names = dict[str, int]


class _NoTermError(Exception):
    """Something is made of a number that another way may make NaN of, or nothing is known of it."""


@dataclass(frozen=True, slots=True)
class Found:
    """The arrays, by their positions, and whether an original asks for infinities."""

    positions: tuple[int, ...] = ()
    asks: bool = False


def infinite(source: str, symbol: str, positions: Iterable[int]) -> Found:
    r"""Return which of a function's arrays may hold infinities of one sign, together.

    >>> text = "void f(const float* x, float* y, int n) { float m = -1e30f, s = 0;" \
    ...     " for (int i = 0; i < n; ++i) m = fmaxf(m, x[i]);" \
    ...     " for (int i = 0; i < n; ++i) s += expf(x[i] - m); y[0] = s; }"
    >>> infinite(text, "f", [0]), infinite(text.replace("- m", "* m"), "f", [0]).positions
    (Found(positions=(0,), asks=False), ())
    """
    if len(source) > LONGEST:
        return Found()
    return _infinite(source, plain_name(symbol), tuple(positions))


def chosen(source: str, symbol: str, positions: Iterable[int]) -> tuple[int, ...]:
    r"""Return the arrays that are only compared and chosen from, by what begins at an infinity.

    Or at an element, which is infinite where all are: by a text that names no other large number.

    >>> text = "void f(const float* x, float* y, int n) { float m = -INFINITY;" \
    ...     " for (int i = 0; i < n; ++i) m = fmaxf(m, x[i]); y[0] = m; }"
    >>> chosen(text, "f", [0]), chosen(text.replace("INFINITY", "1e30f"), "f", [0])
    ((0,), ())
    >>> chosen(text.replace("-INFINITY", "x[0]"), "f", [0])
    (0,)
    """
    if len(source) > LONGEST:
        return ()
    tokens = flow.program(source).text.tokens
    if not any(map(_BEGINS.fullmatch, tokens)) and any(map(_large, tokens)):
        return ()
    return _kept(source, plain_name(symbol), tuple(positions), "only_compares")


def summed(source: str, symbol: str, positions: Iterable[int]) -> tuple[int, ...]:
    r"""Return the arrays of which only sums, differences and multiples by scalars are made.

    >>> text = "void f(const float* x, float* y, int n) { float s = 0;" \
    ...     " for (int i = 1; i < n; ++i) s += fabsf(x[i] - x[0]); y[0] = s; }"
    >>> summed(text, "f", [0]), summed(text.replace("x[0])", "x[0]) * x[i]"), "f", [0])
    ((0,), ())
    """
    if len(source) > LONGEST:
        return ()
    return _kept(source, plain_name(symbol), tuple(positions), "only_adds")


def _large(word: str) -> bool:
    """Tell whether a token names a number that is beyond all others, or may stand for that.

    >>> [_large(one) for one in ("FLT_MAX", "1e30f", "0x7f7fffff", "1000000", "4.75f", "64", "x")]
    [True, True, True, True, False, False, False]
    """
    if _LIMIT.fullmatch(word):
        return True
    number = _NUMBER.fullmatch(word)
    if number is None:
        return False
    hexadecimal = word[:2] in {"0x", "0X"}
    return hexadecimal or not float(number[1].replace("'", "")) < LARGE


@lru_cache(maxsize=128)
def _kept(source: str, symbol: str, positions: tuple[int, ...], fits: str) -> tuple[int, ...]:
    """Return the arrays that fit, together as far as that goes: by a property of a question."""
    program = flow.program(source)
    entries = program.by_name.get(symbol, ())
    kept: tuple[int, ...] = ()
    if len(entries) != 1 or program.too_long:
        return kept
    for one in positions:
        question = _answered(program, entries[0], (*kept, one))
        if question is not None and getattr(question, fits):
            kept = (*kept, one)
    return kept


@lru_cache(maxsize=64)
def _infinite(source: str, symbol: str, positions: tuple[int, ...]) -> Found:
    program = flow.program(source)
    entries = program.by_name.get(symbol, ())
    if len(entries) != 1 or program.too_long or not positions:
        return Found()
    alone = [one for one in positions if _question(program, entries[0], (one,)) is not None]
    # Those that may be infinite each, and together as far as that goes.
    kept: tuple[int, ...] = ()
    asks = False
    for one in alone:
        question = _question(program, entries[0], (*kept, one))
        if question is not None:
            kept, asks = (*kept, one), question.asks
    return Found(kept, asks)


def _question(program: Program, entry: int, positions: Sequence[int]) -> _Question | None:
    question = _answered(program, entry, positions)
    return question if question is not None and question.used else None


def _answered(program: Program, entry: int, positions: Sequence[int]) -> _Question | None:
    question = _Question(program)
    try:
        question.answer(entry, positions)
    except (RecursionError, _NoTermError):
        return None
    return question


class _Question:
    """What a program makes of some arrays: what it asks, exponentiates, compares, adds."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.asks = self.exponentiates = self.compares = self.adds = False
        self._known: dict[tuple[int, tuple[int, ...]], tuple[int, _Names]] = {}
        self._open: list[int] = []
        self._looks = 0

    @property
    def used(self) -> bool:
        """Tell whether there is a use for infinities."""
        return self.asks or (self.compares and (self.exponentiates or not self.adds))

    @property
    def only_compares(self) -> bool:
        """Tell whether elements are compared and chosen, and nothing is made of them."""
        return self.compares and not self.exponentiates and not self.adds

    @property
    def only_adds(self) -> bool:
        """Tell whether elements are added up, and neither compared nor exponentiated."""
        return self.adds and not self.exponentiates and not self.compares

    def answer(self, entry: int, positions: Sequence[int]) -> None:
        """Follow the arrays through the function that is launched; raise where they spread."""
        function = self.program.functions[entry]
        given = []
        for at, words in enumerate(function.types):
            pointer = "*" in words or "[" in words
            given.append(_TERM if at in positions else _OTHER if pointer else _PLAIN)
        if function.calls or len(given) != len(function.names):
            raise _NoTermError
        self._function(entry, tuple(given))

    def _function(self, place: int, given: tuple[int, ...]) -> tuple[int, _Names]:
        """Return what a function returns, and what its parameters are behind it."""
        key = (place, given)
        if key in self._known:
            return self._known[key]
        if place in self._open or len(self._open) >= MOST_CALLS:
            raise _NoTermError
        self._open.append(place)
        function = self.program.functions[place]
        names: _Names = dict(zip(function.names, given, strict=True))
        returned = _PLAIN
        for _ in range(2):
            for one in function.body:
                returned = max(returned, self._statement(place, one, names))
        self._open.pop()
        self._known[key] = (returned, names)
        return returned, names

    def _statement(self, place: int, one: Statement, names: _Names) -> int:
        """Follow one statement; return what it returns."""
        if one.node is None:
            if any(names.get(name, _PLAIN) >= _TERM for name in one.names):
                raise _NoTermError
            return _PLAIN
        if one.role == "declared":
            self._declared(place, one, names)
            return _PLAIN
        value = self.of(place, one.node, names)
        if one.role == "loop" and value >= _FAINT:
            raise _NoTermError  # Who knows how long it goes on.
        return value if one.role == "return" else _PLAIN

    def _declared(self, place: int, one: Statement, names: _Names) -> None:
        node = one.node
        if node is None or node.kind != "assign":
            if node is not None and base(node):
                names[base(node)] = _PLAIN
            return
        target, value = node.parts
        found = self.of(place, value, names)
        points = "*" in one.type or "&" in one.type
        if found >= _TERM and not points and any(map(WHOLE.fullmatch, one.type)):
            raise _NoTermError
        names[base(target)] = found

    def of(self, place: int, node: Node, names: _Names) -> int:
        """Return what an expression is; raise for what is no term."""
        self._looks += 1
        if self._looks > MOST_LOOKS:
            raise _NoTermError
        if node.kind in {"number", "string"}:
            return _PLAIN
        if node.kind == "name":
            return names.get(node.word, _PLAIN)
        if node.kind == "assign":
            return self._assign(place, node, names)
        parts = [self.of(place, part, names) for part in node.parts]
        if any(self.of(place, part, names) >= _TERM for part in node.more):
            raise _NoTermError
        if node.kind == "call":
            return self._call(place, node, parts, names)
        if max(parts, default=_PLAIN) < _TERM:
            return max(parts, default=_PLAIN)
        if node.kind in {"order", "binary"}:
            return self._binary(place, node, parts)
        if node.kind == "cast" or node.word in {"!", "~"}:
            return self._cast(node, parts[0])
        if node.kind == "index":
            if parts[1] >= _TERM:
                raise _NoTermError
            return parts[0]
        if node.kind == "select":
            return max(parts[1:])
        # A pointer, a member, or the same with another sign: of two such a sum may be NaN.
        return _GAP if (node.kind, node.word) == ("unary", "-") else parts[0]

    def _assign(self, place: int, node: Node, names: _Names) -> int:
        target, value = node.parts
        found = self.of(place, value, names)
        if target.kind != "name":
            self.of(place, target, names)
        name = base(target)
        before = names.get(name, _PLAIN)
        if node.word != "=":
            pair = Node("binary", node.word[:-1], node.parts)
            found = (
                self._binary(place, pair, [before, found])
                if max(before, found) >= _TERM
                else (max(before, found))
            )
        if not name:
            if found >= _TERM:
                raise _NoTermError
            return found
        # What is written anew is that from there on: one array holds a largest, and then sums. A
        # number in some of its places changes nothing of the others.
        anew = node.word == "=" and found > _PLAIN
        anew &= not any(base(one) == name for one in flow.nodes(value))
        variable = self.program.variables.get((place, name))
        whole = variable is not None and variable.whole and not variable.pointer
        if whole and found >= _TERM:
            raise _NoTermError
        names[name] = found if anew else max(before, found)
        return found

    def _binary(self, place: int, node: Node, parts: list[int]) -> int:
        left, right = parts
        most, least = max(parts), min(parts)
        word = node.word
        if word in {"+", "-"}:
            if self._points(place, node.parts[0]) or self._points(place, node.parts[1]):
                return most
            self.adds = True
            return _GAP if word == "-" and right >= _TERM else most
        if word in {"*", "/"} and most >= _TERM:
            if least > _PLAIN or (word == "/" and right >= _TERM):
                raise _NoTermError
            return most
        if word in {"==", "!="} and any(map(_is_infinity, node.parts)):
            self.asks = True
            return _FAINT
        if word in {"&&", "||"}:
            return _FAINT
        if node.kind == "order" or word in {"==", "!="}:
            # NaN is not itself, and that is all that may be asked of a difference.
            if most == _GAP and left != right:
                raise _NoTermError
            self.compares = True
            return _FAINT
        raise _NoTermError

    def _points(self, place: int, node: Node) -> bool:
        name = node.word if node.kind == "name" else ""
        variable = self.program.variables.get((place, name))
        return variable is not None and variable.pointer

    def _cast(self, node: Node, value: int) -> int:
        if node.word == "!":
            return _FAINT
        words = node.word.split()
        whole = any(map(WHOLE.fullmatch, words))
        if whole or not any(map(FLOAT.fullmatch, words)):
            raise _NoTermError
        return value

    def _call(self, place: int, node: Node, parts: list[int], names: _Names) -> int:
        fit = [
            number
            for number in self.program.by_name.get(node.word, ())
            if len(self.program.functions[number].names) == len(parts)
        ]
        if fit:
            return max(self._called(number, node, parts, names) for number in fit)
        most = max(parts, default=_PLAIN)
        if node.word.startswith("atomicAdd") and len(parts) == 2:
            name = base(node.parts[0])
            names[name] = max(names.get(name, _PLAIN), parts[1])
            return most
        return self._known_call(place, node, parts) if most >= _TERM else most

    def _called(self, number: int, node: Node, parts: list[int], names: _Names) -> int:
        """Follow a function that the text defines, and what it leaves in what it is given."""
        returned, behind = self._function(number, tuple(parts))
        function = self.program.functions[number]
        given = zip(function.names, function.types, node.parts, strict=False)
        for name, words, part in given:
            own = base(part)
            if own and {"*", "&", "["} & {*words}:
                names[own] = behind.get(name, _PLAIN)
        return returned

    def _known_call(self, place: int, node: Node, parts: list[int]) -> int:
        """Return what a function that the text does not define makes of terms."""
        word, many, most = node.word, len(parts), max(parts)
        if word in CONVERSIONS | LOADS | _SIZES and many == 1:
            return most
        if _VECTORS.fullmatch(word):
            return most
        if _EXPONENTIALS.fullmatch(word) and many == 1:
            self.exponentiates = True
            return _FAINT
        if _ENDS.fullmatch(word) and many == 2:
            if most == _GAP:
                raise _NoTermError
            self.compares = True
            return most
        if (one := _ASKS.fullmatch(word)) and many == 1:
            self.asks |= one["what"] != "nan"
            return _FAINT
        if word in _SUMS and many == 2:
            sign = "-" if "sub" in word else "+"
            return self._binary(place, Node("binary", sign, node.parts), parts)
        if word in FUSED and many == 3:
            product = Node("binary", "*", node.parts[:2])
            first = max(parts[:2])
            if first >= _TERM:
                first = self._binary(place, product, parts[:2])
            return self._binary(
                place,
                Node("binary", "+", (product, node.parts[2])),
                [
                    first,
                    parts[2],
                ],
            )
        if SHUFFLES.fullmatch(word) and most == parts[1] and many > 2:
            return parts[1]
        raise _NoTermError


def _is_infinity(node: Node) -> bool:
    if node.kind == "unary" and node.word in {"-", "+"}:
        node = node.parts[0]
    return node.kind == "name" and node.word in _INFINITE
