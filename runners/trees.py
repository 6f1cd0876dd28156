"""Statements of a C++ or CUDA text as trees of operators, as far as these can be read.

For what asks which operands stand beside a name. It is no compiler: what it cannot read (lambdas,
initialisers in braces, assembly) is given back unread, with the names that stand in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from runners.text import CLOSES, NAME, Definition, Text

# A longer statement is not read, nor one whose brackets are deeper.
MOST_TOKENS, MOST_DEPTH = 400, 40
# Tokens of a template's arguments before a call.
MOST_TEMPLATE = 12

_BINARY = {
    "||": 1,
    "&&": 2,
    "|": 3,
    "^": 4,
    "&": 5,
    "==": 6,
    "!=": 6,
    "<": 7,
    "<=": 7,
    ">": 7,
    ">=": 7,
    "<<": 8,
    ">>": 8,
    "+": 9,
    "-": 9,
    "*": 10,
    "/": 10,
    "%": 10,
}
_ASSIGNS = frozenset({"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^="})
_UNARY = frozenset({"-", "+", "!", "~", "*", "&", "++", "--"})
_NUMBER = re.compile(r"\.?\d.*", re.ASCII)
_CASTS = frozenset({"static_cast", "reinterpret_cast", "const_cast"})
WHOLE = re.compile(
    r"u?int\w*|unsigned|signed|short|long|char\d?|bool|s?size_t|ptrdiff_t|u?(?:long|short|char)\d?",
    re.ASCII,
)
FLOAT = re.compile(r"float\d?|double\d?|(?:__)?half2?|(?:__)?nv_bfloat162?", re.ASCII)
_QUALIFIERS = frozenset(
    {"const", "constexpr", "volatile", "static", "extern", "__shared__", "__restrict__", "register"}
)
_OPENS, _SHUTS = frozenset({*CLOSES, "<<<"}), frozenset({*CLOSES.values(), ">>>"})
_SKIPPED = frozenset({"{", "}", ";", "else", "do", "break", "continue", "try"})
_HEADS = frozenset({"if", "while", "switch"})
_UNREAD = frozenset(
    {"asm", "__asm__", "using", "typedef", "struct", "class", "enum", "template", "goto", "new"}
)


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """An operator with its operands, a name or a number.

    `kind`: name, number, string, unary, binary, order, select, assign, call, index, member or cast.
    Of a call `more` holds what stands between <<< and >>>.
    """

    kind: str
    word: str
    parts: tuple[Node, ...] = ()
    more: tuple[Node, ...] = ()


@dataclass(frozen=True, slots=True)
class Statement:
    """What is computed at once; `node` is None where it is not read, `names` are all in it.

    `role`: plain, loop (a loop's condition), return, or declared, with the tokens of its type.
    """

    role: str
    node: Node | None
    names: frozenset[str]
    type: tuple[str, ...] = ()


class _UnreadableError(Exception):
    """Tokens are no expression that is known here."""


def read(tokens: Sequence[str]) -> Node | None:
    """Return the tree of an expression; None where it is not read.

    >>> read(["a", "<", "b", "+", "1"]).kind, read(["[", "&", "]"])
    ('order', None)
    """
    if not 0 < len(tokens) <= MOST_TOKENS:
        return None
    try:
        return _Reader(tokens).whole()
    except _UnreadableError:
        return None


class _Reader:
    def __init__(self, tokens: Sequence[str]) -> None:
        self.tokens = [*tokens, "", "", ""]
        self.count = len(tokens)
        self.at = 0
        self.depth = 0

    def whole(self) -> Node:
        node = self.expression()
        if self.at != self.count:
            raise _UnreadableError
        return node

    def _take(self, word: str) -> None:
        if self.tokens[self.at] != word:
            raise _UnreadableError
        self.at += 1

    def expression(self) -> Node:
        self.depth += 1
        if self.depth > MOST_DEPTH:
            raise _UnreadableError
        node = self._choice()
        self.depth -= 1
        return node

    def _choice(self) -> Node:
        left = self._binary(1)
        word = self.tokens[self.at]
        if word == "?":
            self.at += 1
            first = self.expression()
            self._take(":")
            return Node("select", "?", (left, first, self.expression()))
        if word in _ASSIGNS:
            self.at += 1
            return Node("assign", word, (left, self.expression()))
        return left

    def _binary(self, least: int) -> Node:
        left = self._unary()
        while (level := _BINARY.get(word := self.tokens[self.at], 0)) >= least:
            self.at += 1
            kind = "order" if level == 7 else "binary"
            left = Node(kind, word, (left, self._binary(level + 1)))
        return left

    def _unary(self) -> Node:
        word = self.tokens[self.at]
        self.depth += 1
        if self.depth > MOST_DEPTH:
            raise _UnreadableError
        try:
            if word in _UNARY:
                self.at += 1
                return Node("unary", word, (self._unary(),))
            if word == "(" and (close := self._cast()):
                kind = " ".join(self.tokens[self.at + 1 : close])
                self.at = close + 1
                return Node("cast", kind, (self._unary(),))
            return self._postfix(self._primary())
        finally:
            self.depth -= 1

    def _cast(self) -> int:
        """Return where a bracket with a type in it is closed; zero where it holds no type."""
        close = self.at + 1
        while self.tokens[close] not in {")", "", "("}:
            close += 1
        inside, behind = self.tokens[self.at + 1 : close], self.tokens[close + 1]
        words = [word for word in inside if word not in {"*", "&", "const", "::", "std"}]
        typed = bool(words) and all(map(is_type, words))
        pointer = inside[-1:] == ["*"] and len(words) == 1 and bool(NAME.fullmatch(words[0]))
        operand = NAME.match(behind) or _NUMBER.match(behind) or behind in {"(", "-", "*", "&", "~"}
        return close if self.tokens[close] == ")" and (typed or pointer) and operand else 0

    def _primary(self) -> Node:
        word = self.tokens[self.at]
        if word == "(":
            self.at += 1
            node = self.expression()
            self._take(")")
            return node
        if _NUMBER.fullmatch(word) or word in {"true", "false", "nullptr"} or word[:1] == "'":
            self.at += 1
            return Node("number", word)
        if word[:1] == '"':
            while self.tokens[self.at][:1] == '"':
                self.at += 1
            return Node("string", word)
        if not NAME.fullmatch(word) or word in _UNREAD:
            raise _UnreadableError
        if word == "sizeof":
            return self._size()
        return self._name()

    def _size(self) -> Node:
        self.at += 1
        depth = 0
        while self.at < self.count:
            depth += (self.tokens[self.at] == "(") - (self.tokens[self.at] == ")")
            self.at += 1
            if not depth:
                return Node("number", "sizeof")
        raise _UnreadableError

    def _name(self) -> Node:
        word = self.tokens[self.at]
        self.at += 1
        while self.tokens[self.at] == "::" and NAME.fullmatch(self.tokens[self.at + 1]):
            word = self.tokens[self.at + 1]
            self.at += 2
        close = self._template()
        if close and word in _CASTS:
            kind = " ".join(self.tokens[self.at + 1 : close])
            self.at = close + 1
            self._take("(")
            node = self.expression()
            self._take(")")
            return Node("cast", kind, (node,))
        if close:
            self.at = close + 1
        return Node("name", word)

    def _template(self) -> int:
        """Return where a template's arguments before a call end; zero if there are none."""
        if self.tokens[self.at] != "<":
            return 0
        for place in range(self.at + 1, min(self.at + MOST_TEMPLATE, self.count)):
            word = self.tokens[place]
            if word == ">":
                return place if self.tokens[place + 1] in {"(", "<<<"} else 0
            if not (NAME.fullmatch(word) or _NUMBER.fullmatch(word) or word in {",", "::", "*"}):
                return 0
        return 0

    def _postfix(self, node: Node) -> Node:
        while True:
            word = self.tokens[self.at]
            if word == "[":
                self.at += 1
                node = Node("index", "[", (node, self.expression()))
                self._take("]")
            elif word in {".", "->"} and NAME.fullmatch(self.tokens[self.at + 1]):
                node = Node("member", self.tokens[self.at + 1], (node,))
                self.at += 2
            elif word in {"++", "--"}:
                self.at += 1
                node = Node("unary", word, (node,))
            elif word in {"(", "<<<"}:
                node = self._call(node)
            else:
                return node

    def _call(self, node: Node) -> Node:
        more: tuple[Node, ...] = ()
        if self.tokens[self.at] == "<<<":
            more = self._list(">>>")
            if self.tokens[self.at] != "(":
                raise _UnreadableError
        parts = self._list(")")
        if node.kind != "name":
            return Node("call", "", (*parts, node), more)
        typed = len(parts) == 1 and is_type(node.word)
        return Node("cast" if typed else "call", node.word, parts, more)

    def _list(self, end: str) -> tuple[Node, ...]:
        self.at += 1
        found: list[Node] = []
        while self.tokens[self.at] != end:
            if found:
                self._take(",")
            found.append(self.expression())
        self.at += 1
        return tuple(found)


def is_type(word: str) -> bool:
    """Tell whether a word is the name of a number's type."""
    return bool(WHOLE.fullmatch(word) or FLOAT.fullmatch(word))


def statements(text: Text, one: Definition) -> Iterator[Statement]:
    """Yield what a function's body computes, read or not."""
    at, end = one.begin + 1, min(one.end, text.count)
    while at < end:
        word = text.tokens[at]
        if word in _SKIPPED:
            at += 1
        elif word in {"case", "default"}:
            at = _behind(text, at, end, {":", ";"})
        elif word in _HEADS or word == "for":
            opened = at + 1 + (text.tokens[at + 1] == "constexpr")
            close = min(text.close(opened), end) if text.tokens[opened] == "(" else opened
            yield from _head(text.tokens[opened + 1 : close], word)
            at = close + 1
        else:
            stop = _stop(text, at, end)
            yield from _plain(text.tokens[at:stop], whole=text.tokens[stop] == ";")
            at = stop + 1


def _behind(text: Text, at: int, end: int, marks: set[str]) -> int:
    while at < end and text.tokens[at] not in marks:
        at += 1
    return at + 1


def _stop(text: Text, at: int, end: int) -> int:
    """Return where a statement ends: at the next semicolon or brace outside of its brackets."""
    while at < end and text.tokens[at] not in {";", "{", "}"}:
        at = text.close(at) + 1 if text.tokens[at] in {"(", "["} else at + 1
    return min(at, end)


def _head(tokens: list[str], word: str) -> Iterator[Statement]:
    """Yield what stands in the brackets of an if, a switch or a loop."""
    parts = _split(tokens, ";")
    for number, part in enumerate(parts):
        loop = word == "while" or (word == "for" and (number == 1 or len(parts) != 3))
        if loop:
            node = read(part)
            yield Statement("loop", node, _names(part))
        elif part:
            yield from _plain(part, whole=True)


def _split(tokens: Sequence[str], mark: str) -> list[list[str]]:
    """Split tokens at a mark outside of all brackets."""
    parts: list[list[str]] = [[]]
    depth = 0
    for word in tokens:
        depth += (word in _OPENS) - (word in _SHUTS)
        if word == mark and depth == 0:
            parts.append([])
        else:
            parts[-1].append(word)
    return parts


def _plain(tokens: list[str], *, whole: bool) -> Iterator[Statement]:
    if not tokens:
        return
    if not whole or tokens[0] in _UNREAD:
        yield Statement("plain", None, _names(tokens))
        return
    if tokens[0] == "return":
        if tokens[1:]:
            yield Statement("return", read(tokens[1:]), _names(tokens[1:]))
        return
    begin = _declared(tokens)
    kind = tuple(tokens[:begin])
    for part in _split(tokens[begin:], ","):
        own = kind
        while begin and part[:1] in (["*"], ["&"]):
            own, part = (*own, part[0]), part[1:]  # noqa: PLW2901 - what belongs to the type
        if begin and part[1:2] == ["("] and part[-1:] == [")"]:
            part = [part[0], "=", *part[1:]]  # noqa: PLW2901 - an initialiser in brackets
        yield Statement("declared" if begin else "plain", read(part), _names(part), own)


def _declared(tokens: Sequence[str]) -> int:
    """Return where in a declaration its first name stands; zero in what is none.

    >>> _declared(["const", "float", "*", "p", "=", "x", ";"]), _declared(["p", "=", "x"])
    (3, 0)
    """
    at = 0
    while at < len(tokens) and tokens[at] in _QUALIFIERS:
        at += 1
    typed = at
    while at < len(tokens) and (NAME.fullmatch(tokens[at]) or tokens[at] == "::"):
        at += 1
    last = at
    if tokens[at : at + 1] == ["<"]:
        close = next((p for p, word in enumerate(tokens[: at + MOST_TEMPLATE]) if word == ">"), at)
        last = at = close + 1 if close > at else at
    while at < len(tokens) and tokens[at] in {"*", "&", "const", "__restrict__", "__restrict"}:
        at += 1
    if at > last and typed < last:
        named = tokens[at : at + 1] and NAME.fullmatch(tokens[at])
        ends = tokens[at + 1 : at + 2] in ([], ["="], ["["], [","], ["("])
        plain = is_type(tokens[typed]) or tokens[typed] == "auto" or typed > 0
        return at if named and ends and (plain or tokens[at + 1 : at + 2] == ["="]) else 0
    if last > typed and tokens[last - 1] == ">" and tokens[at : at + 1]:
        return at if NAME.fullmatch(tokens[at]) else 0
    return at - 1 if at - typed > 1 and tokens[at - 2] != "::" else 0


def _names(tokens: Sequence[str]) -> frozenset[str]:
    return frozenset(word for word in tokens if NAME.fullmatch(word))
