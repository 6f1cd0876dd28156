"""Preprocessor lines: macros, and which branch of `#if` is on, as far as one file tells."""

from __future__ import annotations

import re
from dataclasses import dataclass

from optimizer.tokens import Token, code_tokens, evaluate

_PREDEFINED: dict[str, int] = {
    "__CUDACC__": 1, "__NVCC__": 1, "__CUDA_ARCH__": 900, "__cplusplus": 201703,
    "__CUDACC_VER_MAJOR__": 13, "__CUDACC_VER_MINOR__": 0, "CUDART_VERSION": 13000,
    "CUDA_VERSION": 13000, "__linux__": 1, "__GNUC__": 12, "__x86_64__": 1, "__CHAR_BIT__": 8,
}  # fmt: skip
_DIRECTIVE = re.compile(r"#(?:[ \t]|\\\r?\n|/\*.*?\*/)*(\w*)", re.DOTALL)
_NAME = re.compile(r"[^\W\d][\w$]*")


@dataclass(frozen=True, slots=True)
class Macro:
    """A `#define` in force. `parameters` is None for an object-like one. Spans are of the text.

    `value` is the integer it stands for, when that can be seen. `active` is False in a branch of
    `#if` that was blanked. `body_span` covers the replacement text, without comments behind it.
    """

    name: str
    body: str
    start: int
    end: int
    body_span: tuple[int, int]
    parameters: tuple[str, ...] | None = None
    value: int | None = None
    active: bool = True


def replacement(body: str) -> list[Token]:
    """Return the tokens of a macro's replacement text, where `#` begins no line of its own.

    >>> [t.text for t in replacement('int q##x = f(#x);')]
    ['int', 'q', '##', 'x', '=', 'f', '(', '#', 'x', ')', ';']
    """
    rest = code_tokens(body)
    if "#" not in body:
        return rest
    found: list[Token] = []
    while rest:
        token = rest.pop(0)
        if token.kind != "directive":
            found.append(token)
            continue
        at = token.start + (2 if token.text.startswith("##") else 1)
        found.append(Token("mark", token.start, at, body[token.start : at]))
        behind = code_tokens(body[at:])
        rest = [Token(t.kind, t.start + at, t.end + at, t.text) for t in behind]
    return found


@dataclass(frozen=True, slots=True)
class Directive:
    """One preprocessor line: its word (`if`, `pragma` ...), what follows, and where."""

    word: str
    rest: str
    start: int
    end: int
    active: bool = True


@dataclass(frozen=True, slots=True)
class _Group:
    active: bool
    taken: bool


class Preprocessor:
    """Reads the preprocessor lines of a text in order.

    `lines` and `all` collect what was read, `macros` those in force. Names that neither the file
    nor nvcc defines count as undefined.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._groups: list[_Group] = []
        self.lines: list[Directive] = []
        self.macros: dict[str, Macro] = {}
        self.all: list[Macro] = []

    @property
    def active(self) -> bool:
        """Return whether text at this place is compiled."""
        return all(g.active for g in self._groups)

    def read(self, token: Token) -> None:
        """Take in the next preprocessor line."""
        match = _DIRECTIVE.match(token.text)
        word = match.group(1) if match else ""
        at = match.end() if match else len(token.text)
        rest = token.text[at:]
        was_active = self.active
        if word in ("if", "ifdef", "ifndef"):
            taken = was_active and self._condition(word, rest)
            self._groups.append(_Group(taken, taken))
        elif word in ("elif", "elifdef", "elifndef", "else") and self._groups:
            group = self._groups.pop()
            outer = self.active
            word_if = {"elif": "if", "elifdef": "ifdef", "elifndef": "ifndef"}.get(word)
            taken = (
                outer and not group.taken and (word_if is None or self._condition(word_if, rest))
            )
            self._groups.append(_Group(taken, group.taken or taken))
        elif word == "endif" and self._groups:
            self._groups.pop()
        elif word == "define":
            self._define(rest, token.start, token.start + at, was_active)
        elif word == "undef" and was_active:
            self.macros.pop(rest.strip(), None)
        self.lines.append(Directive(word, rest.strip(), token.start, token.end, was_active))

    def _define(self, rest: str, start: int, at: int, active: bool) -> None:
        found = code_tokens(rest)
        if not found or found[0].kind != "word":
            return
        name = found[0].text
        parameters: tuple[str, ...] | None = None
        body = found[1:]
        if body and body[0].text == "(" and body[0].start == found[0].end:
            close = next((i for i, t in enumerate(body) if t.text == ")"), len(body) - 1)
            parameters = tuple(t.text for t in body[1:close] if t.text != ",")
            body = body[close + 1 :]
        span = (at + body[0].start, at + body[-1].end) if body else (at + len(rest),) * 2
        text = self._text[span[0] : span[1]]
        value = evaluate(text, self.value) if parameters is None and body else None
        macro = Macro(name, text, start, at + len(rest), span, parameters, value, active)
        self.all.append(macro)
        if active:
            self.macros[name] = macro

    def value(self, name: str) -> int | None:
        """Return the number a macro stands for here, or None."""
        macro = self.macros.get(name)
        return macro.value if macro is not None else None

    def _condition(self, word: str, rest: str) -> bool:
        if word == "if":
            return bool(evaluate(self._defined(rest), self._known))
        name = _NAME.match(rest.strip())
        known = name is not None and self._is_defined(name.group())
        return known == (word == "ifdef")

    def _defined(self, rest: str) -> str:
        def truth(match: re.Match[str]) -> str:
            return "1" if self._is_defined(match.group(1)) else "0"

        return re.sub(r"\bdefined\s*\(?\s*([^\W\d]\w*)\s*\)?", truth, rest)

    def _is_defined(self, name: str) -> bool:
        return name in self.macros or name in _PREDEFINED

    def _known(self, name: str) -> int:
        if name in self.macros:
            return self.macros[name].value or 0
        return _PREDEFINED.get(name, 0)
