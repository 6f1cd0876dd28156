"""CUDA text made digestible for a C++ grammar, position for position.

tree-sitter-cuda trips on much of what real programs hold: `__cluster_dims__`, `__align__`,
device lambdas, directives in the middle of a statement, macro calls without a semicolon. `mask`
gives a text of the same length in ASCII in which such things are blanks; a character position in
it is a byte position in the tree and a position in the original. What was blanked is listed.

* Attributes (`__global__`, `__shared__`, `__launch_bounds__(256)`, `__restrict__` ...) become
  `Attribute`s, found by position. Macros that stand only for such words are seen through.
* Comments and directives vanish. `#define`s become `Macro`s. Of `#if` groups one branch stays: the
  first whose condition is true under what this file defines for a device of compute capability
  9.0; the others are blank and listed as `inactive`.
* `dim3 block(BS, BS)` in a function is written `dim3 block{BS, BS}`, and so is `vector<T> a(n)`:
  both could be function declarations.
* Macros of other files that stand alone, in front of declarations, or between strings are blanks.
* `i < n && a > (b)` loses the brackets around `b`, else it could be the call of a template; and
  the sign of `i < n && a > -1` becomes a digit of the number.
* `CHECK(call)` as a statement gets a semicolon in place of the blank behind it.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from optimizer.chevrons import apart, brackets
from optimizer.directives import Directive, Macro, Preprocessor
from optimizer.tokens import Token, code_tokens, tokens

ATTRIBUTES = frozenset({
    "__global__", "__device__", "__host__", "__shared__", "__constant__", "__managed__",
    "__launch_bounds__", "__maxnreg__", "__cluster_dims__", "__block_size__", "__grid_constant__",
    "__forceinline__", "__noinline__", "__inline__", "__inline", "__forceinline",
    "__restrict__", "__restrict", "restrict", "__align__", "alignas", "__attribute__",
    "__declspec", "__nv_pure__", "__device_builtin__", "__builtin_align__", "__extension__",
    "__nv_tex_surf_handler__", "_Pragma", "__pragma", "__volatile__",
})  # fmt: skip
_QUALIFIERS = ATTRIBUTES | {"static", "inline", "extern", "const", "constexpr", "volatile"}
_NAME = re.compile(r"[^\W\d][\w$]*")


@dataclass(frozen=True, slots=True)
class Attribute:
    """A CUDA word that was blanked. `arguments` is the span between its parentheses, or None.

    `name` is the word itself even when a macro stood for it.
    """

    name: str
    start: int
    end: int
    arguments: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Masked:
    """The masked text and what was taken out, all in order of position."""

    text: str
    original: str
    attributes: tuple[Attribute, ...]
    directives: tuple[Directive, ...]
    macros: tuple[Macro, ...]
    inactive: tuple[tuple[int, int], ...]
    comments: tuple[tuple[int, int], ...]
    _starts: tuple[int, ...] = field(default=(), repr=False)

    @property
    def tokens(self) -> tuple[Token, ...]:
        """Return the tokens of the original; kept for the texts last looked at only."""
        return tokens(self.original)

    def attributes_in(self, start: int, end: int) -> Iterator[Attribute]:
        """Yield the blanked words that begin in a span."""
        for i in range(bisect_left(self._starts, start), len(self.attributes)):
            if self.attributes[i].start >= end:
                return
            yield self.attributes[i]


class _Mask:
    def __init__(self, text: str) -> None:
        self.original = text
        self.tokens = tokens(text)
        ascii_text = text if text.isascii() else re.sub(r"[^\x00-\x7f]", "x", text)
        self.chars = bytearray(ascii_text.replace("\0", " ").replace("\f", " "), "ascii")
        self.attributes: list[Attribute] = []
        self.preprocessor = Preprocessor(text)
        self.inactive: list[tuple[int, int]] = []
        self.comments: list[tuple[int, int]] = []
        self.pairs: dict[int, int] = {}

    def blank(self, start: int, end: int) -> None:
        part = self.chars[start:end]
        keep = b"\r\n"
        self.chars[start:end] = (
            bytes(c if c in keep else 32 for c in part) if b"\n" in part else b" " * (end - start)
        )

    def run(self) -> Masked:
        code: list[Token] = []
        active = True
        for token in self.tokens:
            kind, start, end, text = token
            if kind == "directive":
                self.preprocessor.read(token)
                self.blank(start, end)
                active = self.preprocessor.active
            elif not active:
                self._off(token)
            elif kind == "space":
                if "\\" in text:
                    self.blank(start, end)
            elif kind == "comment":
                self.comments.append((start, end))
                self.blank(start, end)
            else:
                code.append(token)
        self._words(code)
        text = self.chars.decode("ascii")
        return Masked(
            text,
            self.original,
            tuple(self.attributes),
            tuple(self.preprocessor.lines),
            tuple(self.preprocessor.all),
            tuple(self.inactive),
            tuple(self.comments),
            tuple(a.start for a in self.attributes),
        )

    def _off(self, token: Token) -> None:
        self.blank(token.start, token.end)
        if self.inactive and self.inactive[-1][1] == token.start:
            self.inactive[-1] = (self.inactive[-1][0], token.end)
        else:
            self.inactive.append((token.start, token.end))

    # -- words -----------------------------------------------------------------------------------

    def _words(self, code: list[Token]) -> None:
        self.pairs = pairs(code)
        self._launches(code)
        standing = self._attribute_macros()
        at = 0
        size = len(code)
        blocks: list[bool] = []
        while at < size:
            kind, _, _, text = token = code[at]
            if kind == "word":
                # Capitals come before the underscore, other letters behind it.
                if (
                    text[0] <= "_"
                    and _SHOUTED.fullmatch(text)
                    and self._foreign(code, at, bool(blocks and blocks[-1]))
                ):
                    at = self._past(code, at)
                    continue
                if text in ATTRIBUTES:
                    at = self._attribute(code, at)
                    continue
                if text in standing:
                    self._stand(token, standing[text])
                elif text == "dim3":
                    self._dim3(code, at)
                elif at + 1 < size and code[at + 1][3] == "(":
                    if blocks and blocks[-1] and _declares(code, at):
                        self._braced(code, at)
                    self._statement_macro(code, at)
            elif text == "{":
                blocks.append(self._opens_block(code, at, blocks))
            elif text == "}" and blocks:
                blocks.pop()
            elif text in _GREATER and at + 2 < size:
                self._greater(code, at)
            at += 1

    def _launches(self, code: list[Token]) -> None:
        """Write the brackets of launches without blanks in them."""
        if not apart(self.original):
            return
        for at, bracket in brackets(code).items():
            low, high = code[at].start, code[at + bracket.count - 1].end
            blanks = high - low - len(bracket.mark)
            if "\n" in self.original[low:high]:
                continue
            text = bracket.mark.rjust(blanks + 3) if bracket.mark == "<<<" else bracket.mark
            self.chars[low:high] = text.ljust(high - low).encode("ascii")

    def _attribute(self, code: list[Token], at: int) -> int:
        token = code[at]
        end = token.end
        arguments: tuple[int, int] | None = None
        after = at + 1
        if after < len(code) and code[after].text == "(" and token.text in _TAKING:
            close = self.pairs.get(after)
            if close is not None:
                arguments = (code[after].end, code[close].start)
                end = code[close].end
                after = close + 1
        self.attributes.append(Attribute(token.text, token.start, end, arguments))
        self.blank(token.start, end)
        return after

    def _attribute_macros(self) -> Mapping[str, tuple[list[str], str]]:
        """Return object-like macros made of qualifiers and at most one plain type word."""
        found: dict[str, tuple[list[str], str]] = {}
        for name, macro in self.preprocessor.macros.items():
            if macro.parameters is not None or not macro.body:
                continue
            body = [t.text for t in code_tokens(macro.body)]
            hidden = [w for w in body if w in ATTRIBUTES]
            plain = [w for w in body if w not in ATTRIBUTES]
            if any(not _NAME.fullmatch(w) for w in plain):
                continue
            if hidden and sum(w not in _QUALIFIERS for w in plain) <= 1:
                found[name] = (hidden, " ".join(plain))
        return found

    def _stand(self, token: Token, macro: tuple[list[str], str]) -> None:
        hidden, plain = macro
        for word in hidden:
            self.attributes.append(Attribute(word, token.start, token.end))
        width = token.end - token.start
        if len(plain) > width:
            plain = plain.split()[-1]
        if len(plain) <= width:
            self.chars[token.start : token.end] = plain.ljust(width).encode("ascii", "replace")

    def _dim3(self, code: list[Token], at: int) -> None:
        """Write `dim3 a(x, y), b(z)` with braces."""
        self._braced(code, at + 1)

    @staticmethod
    def _opens_block(code: list[Token], at: int, blocks: list[bool]) -> bool:
        """Return whether a brace opens a function body or a block in one."""
        i = at - 1
        while i >= 0 and code[i].text not in (";", "{", "}", ")"):
            if code[i].text in ("struct", "class", "union", "enum", "namespace"):
                return False
            i -= 1
        return bool(blocks and blocks[-1]) or (i >= 0 and code[i].text == ")")

    def _braced(self, code: list[Token], at: int) -> None:
        """Write the initializers of the declarators from `at` on with braces."""
        while at + 1 < len(code) and code[at].kind == "word" and code[at + 1].text == "(":
            close = self.pairs.get(at + 1)
            if close is None or close == at + 2 or close + 1 >= len(code):
                return
            if code[close + 1].text not in (";", ","):
                return
            self.chars[code[at + 1].start] = ord("{")
            self.chars[code[close].start] = ord("}")
            at = close + 2

    def _past(self, code: list[Token], at: int) -> int:
        """Return the index behind a name and its arguments, if they were blanked with it."""
        close = self.pairs.get(at + 1) if at + 1 < len(code) else None
        gone = close is not None and self.chars[code[close].start] == ord(" ")
        return close + 1 if close is not None and gone else at + 1

    def _foreign(self, code: list[Token], at: int, in_block: bool) -> bool:
        """Blank a macro of somewhere else that would upset the grammar; return whether it was.

        A name on a line of its own (`NAMESPACE_BEGIN`), in front of a declaration (`API int f()`),
        behind the star of a pointer, a call at file scope without semicolon
        (`DEFINE_KERNEL(add, +=)`), a piece of a string (`"%" PRIu64`).
        """
        token = code[at]
        before = code[at - 1] if at else None
        after = code[at + 1] if at + 1 < len(code) else None
        if (before is not None and before.kind == "string") or (
            after is not None and after.kind == "string"
        ):
            if len(token.text) > 2 and (after is None or after.text not in ("(", "::")):
                self.blank(token.start, token.end)
                self.chars[token.start : token.start + 2] = b'""'
                return True
            return False
        pointed = before is not None and before.text == "*"
        if pointed and after is not None and after.kind == "word" and after.text not in _INFIX:
            self.blank(token.start, token.end)  # `float * API_RESTRICT p` is no product
            return True
        gone = before is not None and self.chars[before.start] == ord(" ")
        if before is not None and not gone and before.text not in (";", "}", "{", ">"):
            return False
        if (
            token.text in self.preprocessor.macros
            and self.preprocessor.macros[token.text].parameters is None
        ):
            return False
        if after is not None and after.text == "(":
            return not in_block and self._call_at_file_scope(code, at)
        alone = (before is None or "\n" in self.original[before.end : token.start]) and (
            after is None or "\n" in self.original[token.end : after.start]
        )
        plain = after is None or after.kind == "word" or after.text in ("}", "{")
        third = code[at + 2].text if at + 2 < len(code) else ""
        following = third.isidentifier() or third in ("*", "&", "<", "::")
        declares = after is not None and after.kind == "word" and following and not in_block
        if after is not None and after.text in ("const", "volatile"):
            return False
        if (alone and plain and third != "(") or declares:
            self.blank(token.start, token.end)
            return True
        return False

    def _call_at_file_scope(self, code: list[Token], at: int) -> bool:
        close = self.pairs.get(at + 1)
        if close is None:
            return False
        after = code[close + 1] if close + 1 < len(code) else None
        if after is not None and after.kind != "word" and after.text not in ("}", "["):
            return False
        if after is not None and "\n" not in self.original[code[close].end : after.start]:
            return False
        self.blank(code[at].start, code[close].end)
        return True

    def _greater(self, code: list[Token], at: int) -> None:
        """Keep `b > c` and `b >= c` behind `a < n &&` from ending the arguments of a template."""
        if code[at].text == ">=" and self._joined(code, at):
            self.chars[code[at].start + 1] = OR_EQUAL
        if code[at + 1].text == "(":
            self._comparison(code, at)
        elif code[at + 1].text == "-":
            self._negative(code, at)

    def _comparison(self, code: list[Token], at: int) -> None:
        """Take the brackets off `b` in `i < n && a > (b)`, which could be a template's call."""
        close = self.pairs.get(at + 1)
        if close is None or close + 1 >= len(code) or code[close + 1].text not in _LOOSER:
            return
        if any(t.text in _NOT_TIGHTER for t in code[at + 2 : close]):
            return
        if self._joined(code, at):
            self.chars[code[at + 1].start] = ord(" ")
            self.chars[code[close].start] = ord(" ")

    def _negative(self, code: list[Token], at: int) -> None:
        """Write `-1` in `i < n && a > -1` as one number, or `a >` could end a template's name."""
        sign, number = code[at + 1], code[at + 2]
        if number.kind == "number" and sign.end == number.start and self._joined(code, at):
            self.chars[sign.start] = ord("0")

    def _joined(self, code: list[Token], at: int) -> bool:
        """Return whether `<` stands before a `>`, with `&&` or `||` between them."""
        joined = False
        for i in range(at - 1, max(at - 60, -1), -1):
            text = code[i].text
            if text in (";", "{", "}", "=") or (text == "(" and self.pairs.get(i, -1) > at):
                return False
            joined = joined or text in ("&&", "||")
            if text == "<":
                return joined
        return False

    def _statement_macro(self, code: list[Token], at: int) -> None:
        """Give `CHECK(call)` where a statement begins its semicolon."""
        token = code[at]
        if at > 0 and code[at - 1].text not in (";", "{", "}", ")"):
            return
        known = token.text in self.preprocessor.macros
        if not (known or (token.text.isupper() and len(token.text) > 2)):
            return
        close = self.pairs.get(at + 1)
        if close is None or close + 1 >= len(code):
            return
        end, following = code[close].end, code[close + 1]
        if following.kind != "word" and following.text != "}":
            return
        if end < following.start and following.text not in _INFIX:
            self.chars[end] = ord(";")


def _declares(code: list[Token], at: int) -> bool:
    """Return whether the name at `at` is declared with `(values)`: `vector<float> a(n)`."""
    inside = code[at + 2].text if at + 2 < len(code) else ")"
    if (
        code[at].text in _NO_TYPES | _TYPE_WORDS
        or inside == ")"
        or (inside in _TYPE_WORDS and code[min(at + 3, len(code) - 1)].text != "(")
    ):
        return False
    i = at - 1
    if i >= 0 and code[i].text == ">":
        depth = 0
        while i >= 0 and code[i].text not in (";", "{", "}", "(", ")", "&&", "||", "="):
            depth += {">": 1, ">>": 2, ">>>": 3}.get(code[i].text, 0) - (code[i].text == "<")
            if depth <= 0:
                break
            i -= 1
        else:
            return False
        i -= 1
    if i < 0 or code[i].kind != "word" or code[i].text in _NO_TYPES:
        return False
    while i >= 2 and code[i - 1].text == "::" and code[i - 2].kind == "word":
        i -= 2
    i -= 1
    while i >= 0 and code[i].text in _TYPE_WORDS:
        i -= 1
    return i < 0 or code[i].text in (";", "{", "}")


# In the place of the `=` of a `>=` that would be read as `> =`: blank to the grammar, and found in
# no mask else. `optimizer.syntax.operator` reads it.
OR_EQUAL = ord("\f")
_SHOUTED = re.compile(r"[A-Z_][A-Z0-9_]*[A-Z][A-Z0-9_]*|PRI[a-zA-Z0-9]+|SCN[a-zA-Z0-9]+")
_LOOSER = frozenset({")", ";", "&&", "||", "?", ":", ",", "]"})
_NOT_TIGHTER = frozenset({
    "<", ">", "<=", ">=", "==", "!=", "&&", "||", "&", "|", "^", "?", ":", "=", ",", "<<", ">>",
})  # fmt: skip
_TYPE_WORDS = frozenset({
    "const", "static", "constexpr", "unsigned", "signed", "long", "short", "int", "float", "double",
    "char", "bool", "auto", "void", "volatile", "struct", "class",
})  # fmt: skip
_NO_TYPES = frozenset({
    "return", "else", "new", "delete", "throw", "case", "goto", "do", "and", "or", "not", "sizeof",
    "typename", "asm", "__asm__", "__asm", "co_return", "co_yield", "co_await", "operator", "void",
    "default", "if", "while",
})  # fmt: skip
_TAKING = frozenset({
    "__launch_bounds__", "__maxnreg__", "__cluster_dims__", "__block_size__", "__align__",
    "alignas", "__attribute__", "__declspec", "__builtin_align__", "_Pragma", "__pragma",
})  # fmt: skip


_INFIX = frozenset({"and", "or", "xor", "bitand", "bitor", "not_eq"})
_GREATER = frozenset({">", ">="})
_PAIRS = {"(": ")", "[": "]", "{": "}"}
_BRACKETS = frozenset("()[]{}")


def closing(code: Sequence[Token], at: int) -> int | None:
    """Return the index of the token that closes the bracket at `at`, or None."""
    opened, closed = code[at].text, _PAIRS.get(code[at].text)
    depth = 0
    for i in range(at, len(code)):
        text = code[i].text
        if text == opened:
            depth += 1
        elif text == closed:
            depth -= 1
            if depth == 0:
                return i
    return None


def pairs(code: Sequence[Token]) -> dict[int, int]:
    """Return for each opening bracket the token that closes it, each kind by itself."""
    found: dict[int, int] = {}
    stacks: dict[str, list[int]] = {")": [], "]": [], "}": []}
    for i, (_, _, _, text) in enumerate(code):
        if text in _BRACKETS:
            closed = _PAIRS.get(text)
            if closed is not None:
                stacks[closed].append(i)
            elif stacks[text]:
                found[stacks[text].pop()] = i
    return found


def mask(text: str) -> Masked:
    """Return the text as a C++ grammar can read it, and what was taken out of it.

    >>> m = mask("__global__ void k(float* __restrict__ p) {}")
    >>> m.text
    '           void k(float*              p) {}'
    >>> [a.name for a in m.attributes]
    ['__global__', '__restrict__']
    """
    return _Mask(text).run()
