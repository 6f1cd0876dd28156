"""A source as tokens: its brackets, its function definitions, and the numbers that it names.

For what asks a stranger's C++ or CUDA something and needs no compiler's answer. It never raises,
and looks at each character once, whatever is left open or cut off.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

# Nothing is asked of a longer text.
LONGEST = 1 << 18
# Empty tokens behind the last, so that what looks ahead of one need not ask how many there are.
PADDING = 32
# Tokens of a function's parameters.
MOST_PARAMETERS = 400

NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)
CLOSES = {"(": ")", "[": "]", "{": "}"}
# An operand goes on behind these.
GOES_ON = frozenset({"+", "-", "*", "/", "%", "<<", ">>", "[", "(", ".", "->", "::"})

_TOKEN = re.compile(
    r"""\s+ | //(?:\\\n|[^\n])* | (?P<comment>/\*) | R"(?P<mark>[^()\s\\"]{0,16})\(
    | (?P<directive>\#)
    | (?P<word>(?P<splice>\\\n) | "(?:\\.|[^"\\\n])*"? | '(?:\\.|[^'\\\n])*'? | [A-Za-z_]\w*
    | \.?\d(?:[eEpP][+-]|'(?=\w)|[\w.])*
    | <<<|>>>|==|!=|<=|>=|&&|\|\||<<|>>|->|::|[-+*/%&|^]=|\+\+|--|\S)""",
    re.VERBOSE | re.DOTALL | re.ASCII,
)
_DEFINE = re.compile(r"#\s*define\b", re.ASCII)
_DIRECTIVE = re.compile(r"#(?:\\\n|[^\n])*")
# Within a macro: two names that are made one, or one that is made a literal.
_JOINED = re.compile(r"##|#[ \t]*\w*", re.ASCII)
_CONSTANT = re.compile(
    r"#\s*define\s+(\w+)[ \t]+\(?\s*(-?\s*[\w']+)\s*\)?\s*(?://.*|/\*.*)?", re.ASCII
)
_INTEGER = re.compile(r"(0[xX][0-9a-fA-F]+|0[bB][01]+|[0-9]+)[uUlL]{0,3}", re.ASCII)
_NO_FUNCTIONS = frozenset({"if", "for", "while", "switch", "return", "sizeof", "catch"})


@dataclass(frozen=True)
class Definition:
    """A function's: the tokens where its parameters and its body are opened and closed."""

    name: str
    opened: int
    closed: int
    begin: int
    end: int


@lru_cache(maxsize=16)
def _split(
    source: str, *, macros: bool
) -> tuple[tuple[str, ...], tuple[str, ...], tuple[tuple[str, int, int], ...]]:
    """Return the tokens, directives and macros of a text, which many ask of one after the other."""
    directives: list[str] = []
    named: list[tuple[str, int, int]] = []
    plain: list[str] = []
    bodies: list[list[str]] = []
    into, at = plain, 0
    while at < len(source):
        one = _TOKEN.match(source, at)
        if one is None:  # pragma: no cover - whatever is no space is a word
            break
        begin, at, word = at, one.end(), one["word"]
        if one["comment"]:
            at = _behind(source, "*/", at)
        elif one["mark"] is not None:
            at, word = _behind(source, f'){one["mark"]}"', at), '""'
        elif one["splice"] and macros:
            continue  # A macro's line goes on.
        elif one["directive"] and into is not plain:
            made = _JOINED.match(source, begin)
            if made is not None and made[0] != "##":
                word = '""'
            at = made.end() if made is not None else at
        elif one["directive"]:
            define = _DEFINE.match(source, begin) if macros else None
            line = define or _DIRECTIVE.match(source, begin)
            into = [] if define else plain
            bodies += [into] if define else []
            if line is not None:
                at = line.end()
                directives.append(line[0])
            continue
        if word:
            into.append(word)
        elif "\n" in source[begin:at]:
            into = plain
    for body in bodies:
        if body and NAME.fullmatch(body[0]):
            named.append((body[0], len(plain) + 1, len(plain) + len(body)))
        plain += body
    return tuple(plain), tuple(directives), tuple(named)


class Text:
    """The tokens of a source without its comments and directives, and which brackets are pairs.

    With `macros` the tokens of each macro stand behind all others, as if it were a function: what
    it is replaced by is code, too.

    >>> text = Text("int f(int n) { return n; }  // twice")
    >>> text.tokens[:5], text.count, text.closed[2], text.opened[10]
    (['int', 'f', '(', 'int', 'n'], 11, 5, 6)
    >>> [one.name for one in text.definitions()]
    ['f']
    """

    def __init__(self, source: str, *, macros: bool = False) -> None:
        tokens, directives, bodies = _split(source, macros=macros)
        self.directives = list(directives)
        # Names of macros, and where their bodies begin and end.
        self.macros = list(bodies)
        self.tokens = list(tokens)
        self.count = len(self.tokens)
        self.tokens += [""] * PADDING
        self.closed: dict[int, int] = {}
        self.opened: dict[int, int] = {}
        self._pair()

    def _pair(self) -> None:
        stack: list[int] = []
        for at, word in enumerate(self.tokens):
            if word in CLOSES:
                stack.append(at)
            elif word in {")", "]", "}"} and stack and CLOSES[self.tokens[stack[-1]]] == word:
                begin = stack.pop()
                self.closed[begin], self.opened[at] = at, begin

    def close(self, at: int) -> int:
        """Return where a bracket is closed; the end where it is not."""
        return self.closed.get(at, self.count)

    def definitions(self) -> Iterator[Definition]:
        """Yield the functions that are defined here; one that is not closed goes on to the end."""
        for at, word in enumerate(self.tokens[: self.count]):
            if word != "(" or not at:
                continue
            name, close = self.tokens[at - 1], self.close(at)
            behind = close + 1
            while self.tokens[min(behind, self.count)] in {"const", "noexcept"}:
                behind += 1
            ends = self.tokens[min(behind, self.count)] == "{" and NAME.fullmatch(name)
            if ends and name not in _NO_FUNCTIONS and close - at < MOST_PARAMETERS:
                yield Definition(name, at, close, behind, self.close(behind))

    def parts(self, at: int, *, angles: bool = False) -> list[list[str]]:
        """Split what a bracket holds at its commas, with `angles` not at those between < and >.

        >>> Text("(a, f(b, c))").parts(0)
        [['a'], ['f', '(', 'b', ',', 'c', ')']]
        """
        parts: list[list[str]] = [[]]
        depth, place, close = 0, at + 1, self.close(at)
        while place < close:
            word = self.tokens[place]
            if angles:
                depth = max(0, depth + (word == "<") - (word == ">") - 2 * (word == ">>"))
            if word == "," and not depth:
                parts.append([])
            else:
                behind = self.close(place) if word in CLOSES else place
                parts[-1] += self.tokens[place : behind + 1]
                place = behind
            place += 1
        return parts

    def parameters(self, one: Definition) -> tuple[str, ...]:
        """Return the names of a function's parameters; nothing for one that has none.

        >>> text = Text("void f(const float* x, int, std::pair<int, int> two = {}) {}")
        >>> [text.parameters(one) for one in text.definitions()]
        [('x', '', 'two')]
        """
        return tuple(_last_name(part) for part in self.parts(one.opened, angles=True))


class ValuedText(Text):
    r"""A text and the whole numbers that its names stand for: macros, constants, enumerators.

    >>> ValuedText("#define A 0x10\nenum { B = 3, C }; const int d = A;").constants
    {'A': 16, 'B': 3, 'C': 4, 'd': 16}
    """

    def __init__(self, source: str) -> None:
        super().__init__(source)
        self.constants: dict[str, int] = {}
        for directive in self.directives:
            self._define(directive)
        for at, word in enumerate(self.tokens[: self.count]):
            if word in {"const", "constexpr"}:
                self._constant(at)
            elif word == "enum":
                self._enumerated(at)

    def _define(self, directive: str) -> None:
        one = _CONSTANT.fullmatch(directive[:200].strip())
        value = None if one is None else integer(one[2].replace(" ", ""))
        if one is not None and value is not None:
            self.constants[one[1]] = value

    def _constant(self, at: int) -> None:
        for place in range(at + 2, min(at + 9, self.count)):
            if self.tokens[place] in {";", "(", "{", ")"}:
                break
            found = self.operand(place + 1) if self.tokens[place] == "=" else None
            if found is not None and self.tokens[found[1]] in {";", ","}:
                self.constants[self.tokens[place - 1]] = found[0]

    def _enumerated(self, at: int) -> None:
        start = next((p for p in range(at, at + 7) if self.tokens[p : p + 1] == ["{"]), None)
        if start is None:
            return
        value, place = 0, start + 1
        while place < self.close(start) and NAME.fullmatch(self.tokens[place]):
            name = self.tokens[place]
            place += 1
            if self.tokens[place] == "=":
                given = self.operand(place + 1)
                if given is None:
                    return
                value, place = given
            self.constants[name] = value
            value += 1
            if self.tokens[place] != ",":
                return
            place += 1

    def operand(self, at: int) -> tuple[int, int] | None:
        """Return the constant that begins at a token, and where it ends; None if there is none."""
        for _ in range(3):
            if self.tokens[at] != "(":
                break
            close = self.close(at)
            if close == at + 2 and self.tokens[close + 1 : close + 2] in ([")"], [";"], [":"]):
                value = self.number(self.tokens[at + 1])
                return None if value is None else (value, close + 1)
            if close - at > 6 or close >= self.count:
                return None
            at = close + 1
        negative = self.tokens[at] == "-"
        at += negative
        for _ in range(4):
            if self.tokens[at + 1] != "::":
                break
            at += 2
        value = self.number(self.tokens[at])
        if value is None or self.tokens[at + 1] in GOES_ON:
            return None
        return (-value if negative else value), at + 1

    def number(self, word: str) -> int | None:
        """Return the whole number that a token stands for."""
        value = integer(word)
        return self.constants.get(word) if value is None else value


def integer(word: str) -> int | None:
    """Return a whole number or a letter that a token stands for.

    >>> integer("0x1Full"), integer("1'000"), integer("'n'"), integer("-3"), integer("1.5f")
    (31, 1000, 110, -3, None)
    """
    if len(word) == 3 and word[0] == word[2] == "'":
        return ord(word[1])
    sign = -1 if word.startswith("-") else 1
    one = _INTEGER.fullmatch(word.lstrip("-").replace("'", "")) if len(word) < 24 else None
    if one is None:
        return None
    digits = one[1]
    octal = len(digits) > 1 and digits.isdigit() and digits[0] == "0"
    try:
        return sign * (int(digits, 8) if octal else int(digits, 0))
    except ValueError:
        return None


def plain_name(symbol: str) -> str:
    """Return a function's own name, without its namespaces and what a template is given.

    >>> plain_name("space::inner<32>")
    'inner'
    """
    return symbol.partition("<")[0].rpartition("::")[2].strip()


def _behind(source: str, what: str, at: int) -> int:
    found = source.find(what, at)
    return len(source) if found < 0 else found + len(what)


def _last_name(parameter: Sequence[str]) -> str:
    """Return a parameter's name; nothing where it has none."""
    known = list(parameter)
    for mark in ("=", "["):
        known = known[: known.index(mark)] if mark in known else known
    return known[-1] if len(known) > 1 and NAME.fullmatch(known[-1]) else ""
