"""C++/CUDA text as tokens: comments, strings, raw strings, directives, continued lines.

Positions count characters of the text. Every character belongs to exactly one token, so joining
the tokens gives the text back. Nothing here raises; what is no C++ token comes as kind `other`.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache, partial
from itertools import accumulate, islice
from operator import itemgetter
from typing import NamedTuple

# The two groups `plain` and `single` are words and marks that nothing else can begin like: found
# first, they spare most of the text a look at all other kinds.
_RAW = r"""(?:u8|[uUL])?R"(?P<_fence>[^()\\\s"]{0,16})\((?:.*?\)(?P=_fence)"|.*\Z)
     |"""
_GROUPS = rf"""
  (?P<space>\s+|\\[ \t]*\r?\n)
 |(?P<plain>[A-KM-QSTV-Za-tv-z_][\w$]*+)
 |(?P<single>[;,(){{}}\[\]?~])
 |(?P<comment>//(?:[^\\\r\n]|\\\r?\n|\\|\r(?!\n))*+|/\*(?:.*?\*/|.*\Z))
 |(?P<string>{_RAW}(?:u8|[uUL])?"(?:[^"\\\n]|\\.)*+"?)
 |(?P<char>(?:u8|[uUL])?'(?:[^'\\\n]|\\.)*+'?)
 |(?P<number>\.?[0-9](?:[eEpP][+-]|'(?=\w)|[\w.])*+)
 |(?P<word>[^\W\d][\w$]*+|\$[\w$]*+)
 |(?P<directive>\#(?:[^\\\r\n/"']|\\\r?\n|\\|\r(?!\n)|/(?![/*])|/\*(?:.*?\*/|.*\Z)
     |"(?:[^"\\\n]|\\.)*+"?|'(?:[^'\\\n]|\\.)*+'?)*+)
 |(?P<mark><<<|>>>|<<=|>>=|<=>|\.\.\.|->\*?|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||::|[-+*/%&|^]=
     |[-+*/%&|^~!=<>?:;,.(){{}}\[\]])
 |(?P<other>.)
"""
_NAMED = re.compile(_GROUPS, re.VERBOSE | re.DOTALL)
# Groups cost more than all the rest. Raw strings, which need theirs, are left to the pattern above.
_TOKEN = re.compile(re.sub(r"\(\?P<\w+>", "(?:", _GROUPS.replace(_RAW, "")), re.VERBOSE | re.DOTALL)


class Token(NamedTuple):
    """A token: kind (space comment string char number word directive mark other) and span."""

    kind: str
    start: int
    end: int
    text: str


def tokens(text: str) -> tuple[Token, ...]:
    """Cut a text into tokens, blanks and comments included.

    >>> [t.text for t in tokens("a<<<g,b>>>(x); // done") if t.kind not in ("space", "comment")]
    ['a', '<<<', 'g', ',', 'b', '>>>', '(', 'x', ')', ';']
    """
    return _short(text) if len(text) < _SHORT else _whole(text)


@lru_cache(maxsize=256)
def _short(text: str) -> tuple[Token, ...]:
    return _cut(text, 0)


@lru_cache(maxsize=32)  # one file is asked for a few times in a row, and kept by its source then
def _whole(text: str) -> tuple[Token, ...]:
    """Cut a file, starting from the most alike of the last: candidates differ in few places."""
    global _last  # noqa: PLW0603  a cache: any value gives the same tokens
    back = text[::-1]
    nearest = max(_last, key=lambda one: _likeness(text, back, one), default=None)
    found = _cut(text, 0) if nearest is None else _spliced(text, nearest[0], nearest[2])
    _last = (*_last[1 - _BASES :], (text, back, found))
    return found


def _likeness(text: str, back: str, other: _Base) -> int:
    """Return how many characters at both ends together two texts have alike."""
    common = min(len(text), len(other[0]))
    alike = _alike(text, other[0], common)
    return alike + _alike(back, other[1], common - alike)


def _cut(text: str, at: int) -> tuple[Token, ...]:
    if 'R"' in text:
        named = ((_KIND[m.lastgroup], *m.span(), m.group()) for m in _NAMED.finditer(text, at))
        return tuple(map(_MAKE, named))
    words = _TOKEN.findall(text, at)
    kinds = map(_kinds.__getitem__, words)
    edges = list(accumulate(map(len, words), initial=at))
    return tuple(map(_MAKE, zip(kinds, edges[:-1], edges[1:], words, strict=True)))


class _Kinds(dict[str, str]):
    """The kinds of words as they were cut: a word's own text tells its kind, what is around not."""

    def __missing__(self, word: str) -> str:
        found = _NAMED.match(word)
        kind = _KIND[found.lastgroup if found is not None else None]
        if len(self) >= _MOST_WORDS:
            self.clear()
        if len(word) < _SHORT:
            self[word] = kind
        return kind


def _spliced(text: str, before: str, known: tuple[Token, ...]) -> tuple[Token, ...]:
    """Cut a text with the help of the tokens of another.

    What a token is depends on the text from its start on, up to its end and a little further
    (`_AHEAD`); so those well within the common beginning stay, and from where a token begins at
    the same place of the common end, all others follow. What lies between is cut together with
    some of the end; a token that reaches beyond that begins nowhere else, so none is met there.
    """
    common = min(len(text), len(before))
    alike = _alike(text, before, common)
    kept = bisect_right(known, max(0, alike - _AHEAD), key=_END)
    at = known[kept - 1].end if kept else 0
    if 'R"' in text:
        return (*known[:kept], *_cut(text, at))
    shift = len(text) - len(before)
    tail = len(text) - _alike(text[::-1], before[::-1], common - alike)
    first = bisect_left(known, tail - shift, key=_START)
    last = bisect_left(known, tail - shift + _LOOK, key=_END)
    if last >= len(known):
        return (*known[:kept], *_cut(text, at))
    stop = known[last].end + shift
    words = _TOKEN.findall(text, at, stop)
    edges = list(accumulate(map(len, words), initial=at))
    begins = {token.start + shift: place for place, token in enumerate(known[first:last], first)}
    for count in range(bisect_left(edges, tail), len(words)):
        place = begins.get(edges[count])
        if place is not None and edges[count] <= stop - _AHEAD:
            break
    else:
        return (*known[:kept], *_cut(text, at))
    middle = zip(map(_kinds.__getitem__, words), edges, edges[1:], words, strict=False)
    rest = known[place:]
    return (
        *known[:kept],
        *map(_MAKE, islice(middle, count)),
        *(rest if shift == 0 else _moved(rest, shift)),
    )


def _moved(known: tuple[Token, ...], shift: int) -> Iterator[Token]:
    kinds, starts, ends, words = zip(*known, strict=True)
    by = shift.__add__
    return map(_MAKE, zip(kinds, map(by, starts), map(by, ends), words, strict=True))


def _alike(one: str, other: str, most: int) -> int:
    """Return how many characters, `most` at most, two texts begin with alike."""
    if one[:most] == other[:most]:
        return most
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


_KIND: dict[str | None, str] = {name: name for name in _NAMED.groupindex}
_KIND |= {"plain": "word", "single": "mark"}
_SHORT = 400
_MOST_WORDS = 20_000
_kinds = _Kinds()
# No token needs to see more behind it: the fence of a raw string has 16 characters.
_AHEAD = 32
# So much of a common end is cut to meet the tokens known of it.
_LOOK = 96
_START, _END = itemgetter(1), itemgetter(2)
_BASES = 16  # files remembered to start from
_Base = tuple[str, str, tuple[Token, ...]]  # a text, the same backwards, its tokens
_last: tuple[_Base, ...] = ()
_MAKE = partial(tuple.__new__, Token)  # Token._make, without its check


def code_tokens(text: str) -> list[Token]:
    """Cut a text into tokens that mean something: no blanks, no comments."""
    return list(_short_code(text)) if len(text) < _SHORT else list(_meaning(tokens(text)))


def code_between(text: str, low: int, high: int) -> list[Token]:
    """Cut what stands between two places into tokens that mean something.

    >>> [t.text for t in code_between("a = b + c; // sum", 4, 10)]
    ['b', '+', 'c', ';']
    """
    return list(_meaning(_cut(text[:high], low)))


@lru_cache(maxsize=4096)
def _short_code(text: str) -> tuple[Token, ...]:
    return tuple(_meaning(_cut(text, 0)))


def _meaning(found: Iterable[Token]) -> Iterator[Token]:
    return (t for t in found if t[0] not in _BLANK)


_BLANK = frozenset({"space", "comment"})


@lru_cache(maxsize=16)  # many ask for those of the file at hand
def meaningful(text: str) -> tuple[Token, ...]:
    """Cut a file into tokens that mean something, as `code_tokens` does."""
    return tuple(_meaning(tokens(text)))


def squeezed(text: str) -> str:
    """Write a piece of code without comments and with single blanks, for comparing and naming.

    >>> squeezed("const   float * /* in */ x")
    'const float * x'
    """
    return text if text.isidentifier() else " ".join(t.text for t in code_tokens(text))


_LEVELS: tuple[tuple[str, ...], ...] = (
    ("||",),
    ("&&",),
    ("|",),
    ("^",),
    ("&",),
    ("==", "!="),
    ("<", ">", "<=", ">="),
    ("<<", ">>"),
    ("+", "-"),
    ("*", "/", "%"),
)
_RANKS = {sign: rank for rank, signs in enumerate(_LEVELS) for sign in signs}
_LIMIT = 1 << 64
_TYPES = frozenset({"int", "unsigned", "long", "short", "size_t", "signed", "char", "const"})


def balanced(words: Sequence[str]) -> bool:
    """Return whether no bracket closes one that was not opened, and none stays open.

    >>> balanced(["f", "(", ")"]), balanced(["(", "]"]), balanced(["{"])
    (True, False, False)
    """
    pairs = {")": "(", "]": "[", "}": "{"}
    stack: list[str] = []
    for word in words:
        if word in ("(", "[", "{"):
            stack.append(word)
        elif word in pairs and (not stack or stack.pop() != pairs[word]):
            return False
    return not stack


@lru_cache(maxsize=1024)
def integer(literal: str) -> int | None:
    """Read an integer literal with its suffix and digit separators, a sign in front allowed.

    >>> integer("0x10u"), integer("1'024"), integer("1.0f"), integer("1e3"), integer("-1")
    (16, 1024, None, None, -1)
    """
    if literal.startswith("-"):
        value = integer(literal[1:])
        return -value if value is not None else None
    digits = literal.replace("'", "").rstrip("uUlLzZ")
    try:
        if len(digits) > 1 and digits[0] == "0" and digits[1] in "01234567":
            return int(digits, 8)
        return int(digits, 0) if digits[:1].isdigit() and len(digits) < 24 else None
    except ValueError:
        return None


def evaluate(text: str, lookup: Callable[[str], int | None] = lambda _: None) -> int | None:
    """Evaluate an integer constant expression; None when a part is not a known integer.

    Division and remainder truncate as in C. `lookup` gives the value of a name, or None.

    >>> evaluate("(BS * 4 + 1) / 2", {"BS": 16}.get)
    32
    """
    if text.isascii() and text.isalnum():  # one literal or name, as most are
        value = integer(text) if text.isdigit() else None
        if value is None and text.isidentifier() and text not in ("true", "false"):
            value = lookup(text)
        if value is not None:
            return value if abs(value) <= _LIMIT else None
    reader = _Evaluator(code_tokens(text), lookup)
    try:
        value = reader.ternary()
    except (_Unknown, RecursionError):
        return None
    return value if reader.done else None


class _Unknown(Exception):  # noqa: N818  a way out of the recursion, not an error
    """The expression is not an integer constant we can see."""


class _Evaluator:
    """Precedence climbing over tokens."""

    def __init__(self, found: list[Token], lookup: Callable[[str], int | None]) -> None:
        self._tokens = found
        self._at = 0
        self._lookup = lookup

    @property
    def done(self) -> bool:
        return self._at >= len(self._tokens)

    def _peek(self) -> str:
        return "" if self.done else self._tokens[self._at].text

    def _take(self, *wanted: str) -> str | None:
        found = self._peek()
        if found and found in wanted:
            self._at += 1
            return found
        return None

    def ternary(self) -> int:
        value = self.binary(0)
        if self._take("?"):
            yes = self.ternary()
            if not self._take(":"):
                raise _Unknown
            no = self.ternary()
            return yes if value else no
        return value

    def binary(self, level: int) -> int:
        left = self.unary()
        while (rank := _RANKS.get(self._peek(), -1)) >= level:
            sign = self._peek()
            self._at += 1
            left = _apply(sign, left, self.binary(rank + 1))
        return left

    def unary(self) -> int:
        if self._take("-"):
            return -self.unary()
        if self._take("+"):
            return self.unary()
        if self._take("!"):
            return int(not self.unary())
        if self._take("~"):
            return ~self.unary()
        return self.primary()

    def primary(self) -> int:
        if self.done:
            raise _Unknown
        token = self._tokens[self._at]
        self._at += 1
        if token.text == "(":
            if self._cast():
                return self.unary()
            value = self.ternary()
            if not self._take(")"):
                raise _Unknown
            return value
        value_or_none: int | None = None
        if token.kind == "number":
            value_or_none = integer(token.text)
        elif token.text in ("true", "false"):
            value_or_none = int(token.text == "true")
        elif token.kind == "word":
            while self._take("::") and not self.done:
                token = self._tokens[self._at]
                self._at += 1
            name = token.text
            if self._take("."):  # a member of a struct: its name as one
                name = f"{name}.{self._peek()}"
                self._at += 1
            if self._peek() not in ("(", "."):
                value_or_none = self._lookup(name)
        if value_or_none is None or abs(value_or_none) > _LIMIT:
            raise _Unknown
        return value_or_none

    def _cast(self) -> bool:
        at = self._at
        while at < len(self._tokens) and self._tokens[at].text in _TYPES:
            at += 1
        if at > self._at and at < len(self._tokens) and self._tokens[at].text == ")":
            self._at = at + 1
            return True
        return False


def _apply(sign: str, left: int, right: int) -> int:
    if sign in ("/", "%"):
        if right == 0:
            raise _Unknown
        quotient = abs(left) // abs(right)
        quotient = quotient if (left < 0) == (right < 0) else -quotient
        return quotient if sign == "/" else left - quotient * right
    if sign in ("<<", ">>"):
        if not 0 <= right < 64:
            raise _Unknown
        return left << right if sign == "<<" else left >> right
    value = _SIMPLE[sign](left, right)
    if abs(value) > _LIMIT:
        raise _Unknown
    return value


_SIMPLE: dict[str, Callable[[int, int], int]] = {
    "||": lambda a, b: int(bool(a) or bool(b)),
    "&&": lambda a, b: int(bool(a) and bool(b)),
    "|": lambda a, b: a | b,
    "^": lambda a, b: a ^ b,
    "&": lambda a, b: a & b,
    "==": lambda a, b: int(a == b),
    "!=": lambda a, b: int(a != b),
    "<": lambda a, b: int(a < b),
    ">": lambda a, b: int(a > b),
    "<=": lambda a, b: int(a <= b),
    ">=": lambda a, b: int(a >= b),
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
}
