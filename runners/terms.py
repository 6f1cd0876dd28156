"""Expressions that are computed again and again from the values of a function's arguments.

As C does it: whole numbers are divided towards zero, and what has no value, or one beyond all
interest, is not known. Types are no narrower than any number here, and nothing is below zero only
because it is signed. No combination of them raises.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from runners.text import integer
from runners.trees import FLOAT, WHOLE

Number = int | float
# The value of an argument by its position; None: not known.
Values = Callable[[int], Number | None]
Of = Callable[[Values], Number | None]

# No number of interest is beyond it; nor a remainder's divisor, or a mask, beyond the other.
LARGEST, MOST_MODULUS = 1 << 80, 1 << 16
# Numbers that are taken apart in one expression.
MOST_DIVIDED = 12
_FLOAT = re.compile(r"(?:\d+\.\d*|\.\d+|\d+)(?:[eE][+-]?\d{1,2})?[fFlL]?", re.ASCII)
_SWAPPED = {">": "<", ">=": "<="}
_EITHER = frozenset({"+", "*", "==", "!=", "&", "|", "^", "&&", "||", "min", "max"})
_LEAST = frozenset({"min", "umin", "fmin", "fminf", "llmin", "ullmin"})
_MOST = frozenset({"max", "umax", "fmax", "fmaxf", "llmax", "ullmax"})
# What is given back as it is.
_SAME = frozenset({"__builtin_expect", "forward", "move"})


@dataclass(frozen=True, slots=True)
class Division:
    """A number that is taken apart by another one: a remainder, a quotient, a shift, a mask.

    `by` is what it is taken apart by, in whole parts: 256 of a shift by eight and of a mask of 255.
    """

    name: str  # the number's text in positions
    word: str
    by_name: str
    left: Of
    by: Of
    uses: frozenset[int]  # of the number
    by_uses: frozenset[int]

    @property
    def key(self) -> str:
        """Return what another text's is compared by."""
        return f"({self.name}{self.word}{self.by_name})"


@dataclass(frozen=True, slots=True)
class Term:
    """An expression: `key` is its text in positions, `uses` are these.

    `numbers` are its literals, `moduli` those that remainders are taken by, `divided` what is taken
    apart in it, the innermost first, and `sides` those of `|`, whose bits are all in it.
    """

    of: Of
    key: str
    uses: frozenset[int] = frozenset()
    numbers: frozenset[int] = frozenset()
    moduli: frozenset[int] = frozenset()
    divided: tuple[Division, ...] = ()
    sides: tuple[Term, ...] = ()


def given(at: int) -> Term:
    """Return the argument at a position."""
    return Term(lambda values: values(at), f"{at}:", frozenset({at}))


def literal(word: str) -> Term | None:
    """Return a number as it is written; None for what is none.

    >>> [literal(word).key for word in ("0x10u", "1'000", "2.5e3f", "true")], literal("n")
    (['16', '1000', '2500.0', '1'], None)
    """
    value: Number | None = {"true": 1, "false": 0}.get(word, integer(word))
    plain = word.replace("'", "")
    if value is None and len(plain) < 24 and _FLOAT.fullmatch(plain):
        value = float(plain.rstrip("fFlL"))
    if value is None or abs(value) > LARGEST:
        return None
    numbers = frozenset({value} if isinstance(value, int) and value > 1 else ())
    return Term(lambda _: value, f"{value}", frozenset(), numbers)


def cast(words: str, term: Term) -> Term | None:
    """Return a term as a number of another type; None where that is no plain number's."""
    every = words.split()
    if "*" in every:
        return None
    if any(map(FLOAT.fullmatch, every)):
        return _joined("float", [term], float)
    # What is whole already stays as it is written.
    whole = replace(term, of=partial(_computed, _whole, [term.of]))
    return whole if any(map(WHOLE.fullmatch, every)) else None


def unary(word: str, term: Term) -> Term | None:
    """Return what an operator makes of one term."""
    made = _UNARY.get(word)
    return None if made is None else _joined(word, [term], made)


def binary(word: str, left: Term | None, right: Term | None) -> Term | None:
    """Return what an operator makes of two terms; None where that is not known.

    >>> quotient = binary("/", given(0), literal("4"))
    >>> quotient.key, [quotient.of({0: n}.get) for n in (7, -7, 7.0, None)]
    ('(0:/4)', [1, -1, 1.75, None])
    """
    if left is None or right is None:
        return None
    if word in _SWAPPED:
        return binary(_SWAPPED[word], right, left)
    if word in {"&&", "||"}:
        return replace(_joined(word, [left, right], max), of=_logical(word, left.of, right.of))
    made = _BINARY.get(word)
    if made is None:
        return None
    term = _joined(word, [left, right], made)
    by = {one + (word == "&") for one in right.numbers} if word in {"%", "&"} else set()
    return replace(
        term,
        moduli=term.moduli | {one for one in by if 1 < one <= MOST_MODULUS},
        divided=(*term.divided, *_division(word, left, right))[:MOST_DIVIDED],
        sides=(*(left.sides or (left,)), *(right.sides or (right,))) if word == "|" else (),
    )


def _division(word: str, left: Term, right: Term) -> tuple[Division, ...]:
    """Return what an operator takes apart, if it does: of `(n | m) % 64` both."""
    made = _PARTS.get(word)
    if word == "&" and not left.uses:
        left, right = right, left
    if made is None or not left.uses:
        return ()
    by = partial(_computed, made, [right.of])
    sides = [one for one in left.sides[:MOST_DIVIDED] or (left,) if one.uses]
    return tuple(
        Division(one.key, word, right.key, one.of, by, one.uses, right.uses) for one in sides
    )


def select(condition: Term, first: Term, other: Term) -> Term:
    """Return one of two terms, by a condition."""
    asked, yes, no = condition.of, first.of, other.of

    def of(values: Values) -> Number | None:
        known = asked(values)
        return None if known is None else (yes if known else no)(values)

    return replace(_joined("?", [condition, first, other], max), of=of)


def called(name: str, terms: Sequence[Term]) -> Term | None:
    """Return what a known function makes of terms; None of one that is not known."""
    if name in _SAME and terms:
        return terms[0]
    if len(terms) == 2 and name in _LEAST | _MOST:
        return _joined("min", terms, min) if name in _LEAST else _joined("max", terms, max)
    made = _FUNCTIONS.get(name) if len(terms) == 1 else None
    return None if made is None else _joined(name, terms, made)


def _computed(made: Callable[..., Number], parts: Sequence[Of], values: Values) -> Number | None:
    """Return what is made of values; None where one is not known, or the result is no number."""
    known = []
    for part in parts:
        value = part(values)
        if value is None:
            return None
        known.append(value)
    try:
        found = made(*known)
        return found if abs(found) <= LARGEST else None
    except (ArithmeticError, ValueError, TypeError):
        return None


def _joined(word: str, parts: Sequence[Term], made: Callable[..., Number]) -> Term:
    keys = [part.key for part in parts]
    keys = sorted(keys) if word in _EITHER else keys
    key = f"({keys[0]}{word}{keys[1]})" if len(keys) == 2 else f"{word}({','.join(keys)})"
    return Term(
        partial(_computed, made, [part.of for part in parts]),
        key,
        frozenset().union(*(part.uses for part in parts)),
        frozenset().union(*(part.numbers for part in parts)),
        frozenset().union(*(part.moduli for part in parts)),
        tuple({one.key: one for part in parts for one in part.divided}.values())[:MOST_DIVIDED],
    )


def _logical(word: str, left: Of, right: Of) -> Of:
    stops = word == "||"

    def of(values: Values) -> Number | None:
        known = left(values)
        if known is not None and bool(known) == stops:
            return int(stops)
        other = right(values)
        if other is not None and bool(other) == stops:
            return int(stops)
        return None if known is None or other is None else int(not stops)

    return of


def _whole(value: Number) -> int:
    return int(value)


def _quotient(left: Number, right: Number) -> Number:
    if isinstance(left, float) or isinstance(right, float):
        return left / right
    found = abs(left) // abs(right)
    return found if (left < 0) == (right < 0) else -found


def _rest(left: Number, right: Number) -> Number:
    return left - right * _quotient(left, right)


def _places(right: Number) -> int:
    if not 0 <= right < 64:
        raise ValueError
    return int(right)


def _leading(bits: int, value: Number) -> int:
    return bits - int(value).bit_length() if value >= 0 else 0


def _first(value: Number) -> int:
    return (int(value) & -int(value)).bit_length()


def _ones(value: Number) -> int:
    return (int(value) % (1 << 64)).bit_count()


def _masked(mask: Number) -> int:
    """Return the least number of which a mask's bits are no part, or what its lowest bit counts."""
    bits = int(mask)
    return bits + 1 if bits > 0 and not bits & (bits + 1) else bits & -bits


# What a number is taken apart by, of an operator's right side.
_PARTS: dict[str, Callable[[Number], Number]] = {
    "%": lambda one: one,
    "/": lambda one: one,
    ">>": lambda one: 1 << _places(one),
    "&": _masked,
}
_UNARY: dict[str, Callable[[Number], Number]] = {
    "-": lambda one: -one,
    "+": lambda one: +one,
    "!": lambda one: not one,
    "~": lambda one: ~int(one),
}
_BINARY: dict[str, Callable[[Number, Number], Number]] = {
    "+": lambda one, other: one + other,
    "-": lambda one, other: one - other,
    "*": lambda one, other: one * other,
    "/": _quotient,
    "%": _rest,
    "<<": lambda one, other: int(one) << _places(other),
    ">>": lambda one, other: int(one) >> _places(other),
    "&": lambda one, other: int(one) & int(other),
    "|": lambda one, other: int(one) | int(other),
    "^": lambda one, other: int(one) ^ int(other),
    "<": lambda one, other: one < other,
    "<=": lambda one, other: one <= other,
    "==": lambda one, other: one == other,
    "!=": lambda one, other: one != other,
}
_FUNCTIONS: dict[str, Callable[[Number], Number]] = {
    **dict.fromkeys(("abs", "fabs", "fabsf", "llabs", "labs"), abs),
    **dict.fromkeys(("sqrt", "sqrtf", "__fsqrt_rn"), math.sqrt),
    **dict.fromkeys(("log2", "log2f", "__log2f"), math.log2),
    **dict.fromkeys(("ceil", "ceilf"), math.ceil),
    **dict.fromkeys(("floor", "floorf", "trunc", "truncf"), math.floor),
    **dict.fromkeys(("__popc", "__popcll", "__builtin_popcount", "popcount"), _ones),
    **dict.fromkeys(("__clz", "__builtin_clz"), partial(_leading, 32)),
    **dict.fromkeys(("__clzll", "__builtin_clzll"), partial(_leading, 64)),
    **dict.fromkeys(("__ffs", "__ffsll"), _first),
}
