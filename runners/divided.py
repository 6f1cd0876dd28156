"""What a text takes apart: its arguments' remainders and whole parts, and what is asked of them.

`n % 256 == 0 && n > 4096`, `n & (T - 1)`, `tiles / 2 * 2`, and what a launch's own expressions
divide. A way of its own for what is whole has steps of so many parts at a time, and loses the last
ones where these are odd. Names are followed as `runners.conditions` does, and what a template is
given, too. It is a guess about strangers' text: it never raises, takes a bounded time, and may find
what means nothing.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from runners import flow, gates, terms, trees
from runners.conditions import GEOMETRY, MOST_STEPS, WAYS, Condition, Reader
from runners.flow import Program
from runners.spec import Launch
from runners.terms import Division, Term
from runners.text import CLOSES, LONGEST, NAME, Text, plain_name
from runners.trees import Node

# What is found in a text; values of a template's parameters; tokens of its arguments and uses of
# them; tokens beside an operator, and operators that are looked at by themselves.
MOST, MOST_GIVEN, MOST_TEMPLATE, MOST_USES = 96, 3, 32, 64
MOST_BESIDE, MOST_OPERATORS, MOST_EXPRESSIONS, MOST_BETWEEN = 24, 300, 2000, 8
_WORDS = frozenset({"%", "/", "&", ">>"})
# Between these an expression stands, where its brackets tell nothing.
_ENDS = frozenset({";", "{", "}", "(", ")", "[", "]", ",", "?", ":", "=", "&&", "||", "return"})
_ENDS |= frozenset({"<", ">", "<=", ">=", "==", "!=", "<<<", ">>>", "+=", "-=", "*=", "/=", ""})
_SIZE = re.compile(r"\bsizeof\s*\(\s*(\w+)\s*\)", re.ASCII)
_CASTS = frozenset({"static_cast", "reinterpret_cast", "const_cast", "template"})
_TYPES = frozenset({"typename", "class", "template"})
# What every text may name.
_KNOWN = {"warpSize": 32}


@dataclass(frozen=True, slots=True)
class Gate:
    """Numbers that are taken apart together, and the condition in which they are, if in one."""

    divisions: tuple[Division, ...]
    condition: Condition | None = None

    @property
    def key(self) -> tuple[str, ...]:
        """Return what another text's is compared by."""
        if self.condition is not None:
            return self.condition.key
        return tuple(sorted(one.key for one in self.divisions))

    @property
    def uses(self) -> frozenset[int]:
        """Return the positions of all that it depends on."""
        every = [one.uses | one.by_uses for one in self.divisions]
        return frozenset().union(*every, self.condition.uses if self.condition else ())


def gated(source: str, symbol: str, arguments: Sequence[str]) -> tuple[Gate, ...]:
    """Return what a text takes apart, in the order in which it is read; conditions first.

    >>> text = "void f(float* x, int n) { int parts = n / 8; if (n % 256 == 0 && n > 9) g(x); }"
    >>> for one in gated(text, "f", ("x", "n")):
    ...     one.condition is None, [each.key for each in one.divisions]
    (False, ['(1:%256)'])
    (False, ['(1:%256)'])
    (True, ['(1:/8)'])
    (True, ['(1:%256)'])
    """
    if len(source) > LONGEST:
        return ()
    return _gated(source, symbol, tuple(arguments))


@lru_cache(maxsize=8)
def _gated(source: str, symbol: str, arguments: tuple[str, ...]) -> tuple[Gate, ...]:
    text = Text(_SIZE.sub(_width, source))
    if text.count > flow.MOST_TOKENS or not any(one in source for one in _WORDS):
        return ()
    given, source = _given(text, symbol), _plain(text)
    program = flow.program(source)
    if program.too_long:
        return ()
    numbers = {**_KNOWN, **gates.named(source)}
    plain = {name: Node("number", str(value)) for name, value in numbers.items() if value >= 0}
    asked: dict[tuple[str, ...], Gate] = {}
    alone: dict[tuple[str, ...], Gate] = {}
    for one in given:
        named = {**plain, **one}
        try:
            reader = _Reader(source, program, plain_name(symbol), arguments, named)
            for condition in reader.found():
                found = _divisions([condition.term])
                if found and len(asked) < MOST:
                    gate = Gate(found, condition)
                    asked.setdefault(gate.key, gate)
            for division in reader.divisions():
                gate = Gate((division,))
                alone.setdefault(gate.key, gate)
        except RecursionError:
            continue
    return (*asked.values(), *itertools.islice(alone.values(), MOST))


def launched(launch: Launch, variables: Sequence[str]) -> tuple[Gate, ...]:
    """Return what a launch's own expressions take apart; positions are those of the variables.

    >>> launch = Launch(("min(9, n / 256)", "m"), ("64",))
    >>> [one.divisions[0].key for one in launched(launch, ("m", "n"))]
    ['(1:/256)']
    """
    texts = [text.replace("//", "/") for text in (*launch.grid, *launch.block, launch.shared)]
    names = [f"int {name}" for name in variables]
    body = " ".join(f"g({text});" for text in texts if not {*text} & {"{", "}", ";", "*" * 2})
    source = f"void launched({', '.join(names)}) {{ {body} }}"
    return gated(source, "launched", variables)


def _divisions(every: Sequence[Term]) -> tuple[Division, ...]:
    return tuple({one.key: one for term in every for one in term.divided}.values())


class _Reader(Reader):
    """Reads what one program takes apart, with names that are given beside its own.

    A member of something that is called as an argument is taken for that argument.
    """

    def __init__(
        self,
        source: str,
        program: Program,
        symbol: str,
        arguments: tuple[str, ...],
        named: Mapping[str, Node],
    ) -> None:
        super().__init__(source, program, symbol, arguments)
        self.constants = {**named, **self.constants}

    def divisions(self) -> Iterator[Division]:
        """Yield what is taken apart anywhere, each once."""
        known: set[str] = set()
        every = itertools.chain(self._computed(), self._beside())
        self._left = MOST_STEPS
        for number, node in itertools.islice(every, MOST_EXPRESSIONS):
            for self._way in range(WAYS):
                term = self._compiled(number, node)
                found = () if term is None else term.divided
                fresh = [one for one in found if one.key not in known]
                known.update(one.key for one in fresh)
                yield from fresh
                if not fresh:
                    break
            if self._left < 0:
                return

    def _computed(self) -> Iterator[tuple[int, Node]]:
        """Yield what takes something apart in statements."""
        for number, function in enumerate(self.program.functions):
            for one in function.body:
                yield from _taken_apart(number, one.node)

    def _beside(self) -> Iterator[tuple[int, Node]]:
        """Yield what stands beside an operator where a statement is not read: braces, sizes."""
        text = self.program.text
        places = [at for at in range(text.count) if text.tokens[at] in _WORDS][:MOST_OPERATORS]
        inside = [(one.one.begin, one.one.end) for one in self.program.functions]
        for at in places:
            begin, end = at, at + 1
            while text.tokens[begin - 1] not in _ENDS and begin > max(0, at - MOST_BESIDE):
                begin -= 1
                begin = text.opened.get(begin, begin)
            while text.tokens[end] not in _ENDS - {*CLOSES} and end < at + MOST_BESIDE:
                end = text.close(end) + 1 if text.tokens[end] in CLOSES else end + 1
            words = text.tokens[begin:end]
            number = max((n for n, (a, b) in enumerate(inside) if a < at < b), default=-1)
            yield from _taken_apart(number, trees.read(words))

    def _term(self, number: int, node: Node, deep: int) -> Term | None:
        argument = self.arguments.get(node.word) if node.kind == "member" else None
        if argument is not None and (node.parts[0].word, node.word) not in GEOMETRY:
            return terms.given(argument)
        return super()._term(number, node, deep)


def _taken_apart(number: int, node: Node | None) -> Iterator[tuple[int, Node]]:
    if node is None:
        return
    for one in flow.nodes(node):
        if one.kind == "binary" and one.word in _WORDS:
            yield number, one
        elif one.kind == "assign" and one.word[:-1] in _WORDS:
            yield number, Node("binary", one.word[:-1], one.parts)


def _width(one: re.Match[str]) -> str:
    return str(gates.WIDTHS.get(one[1], one[0]))


def _plain(text: Text) -> str:
    """Return a text without what templates are given, and with lambdas as functions.

    >>> _plain(Text("auto g = [&](int n) -> int { return n / 4; }; f<float, 2><<<1, 2>>>(n);"))
    'auto g ( int n ) { return n / 4 ; } ; f <<< 1 , 2 >>> ( n ) ;'
    """
    words, found, at = text.tokens, list[str](), 0
    while at < text.count:
        close = text.close(at + 1) if words[at : at + 2] == ["=", "["] else 0
        if close and words[close + 1] == "(" and text.close(close + 1) < text.count:
            behind = text.close(close + 1) + 1
            found += words[close + 1 : behind]
            near = range(behind, min(behind + MOST_BETWEEN, text.count))
            at = next((place for place in near if words[place] == "{"), behind)
            continue
        found.append(words[at])
        at += 1
        behind = _behind(text, at) if words[at] == "<" and NAME.fullmatch(words[at - 1]) else 0
        if behind and words[behind] in {"(", "<<<"} and words[at - 1] not in _CASTS:
            at = behind
    return "\n".join([*text.directives, " ".join(found)])


def _behind(text: Text, at: int) -> int:
    """Return where what stands between < and > ends; zero where it is nothing that is given."""
    parts = _arguments(text, at)
    return at + 1 + sum(map(len, parts)) + len(parts) if parts else 0


def _given(text: Text, symbol: str) -> list[dict[str, Node]]:
    """Return what templates' parameters stand for: a few of all that they are given."""
    named = _templates(text)
    found: dict[str, dict[str, Node]] = {}
    for one in (text, Text(f"{symbol}();")):
        places = (at for at in range(one.count) if one.tokens[at] in named)
        for at in itertools.islice(places, MOST_USES):
            given = _arguments(one, at + 1) if one.tokens[at + 1] == "<" else []
            for name, words in zip(named[one.tokens[at]], given, strict=False):
                node = trees.read(words)
                if node is not None and name and words != [name]:
                    found.setdefault(name, {}).setdefault(" ".join(words), node)
    for names in named.values():
        for name, words in names.items():
            node = trees.read(words)
            if node is not None and name:
                found.setdefault(name, {}).setdefault(" ".join(words), node)
    most = min(MOST_GIVEN, max(map(len, found.values()), default=1))
    every = {name: list(nodes.values()) for name, nodes in found.items()}
    return [{k: nodes[min(n, len(nodes) - 1)] for k, nodes in every.items()} for n in range(most)]


def _templates(text: Text) -> dict[str, dict[str, list[str]]]:
    """Return the parameters of each template, and what they are if nothing is given."""
    found: dict[str, dict[str, list[str]]] = {}
    for at in range(text.count):
        if text.tokens[at] != "template" or text.tokens[at + 1] != "<":
            continue
        parts = _arguments(text, at + 1)
        name = _templated(text, _behind(text, at + 1))
        if not name:
            continue
        named: dict[str, list[str]] = {}
        for place, part in enumerate(parts):
            words, value = part, list[str]()
            if "=" in part:
                words, value = part[: part.index("=")], part[part.index("=") + 1 :]
            number = words and words[0] not in _TYPES and NAME.fullmatch(words[-1])
            named[words[-1] if number else f" {place}"] = value if number else []
        found[name] = named
    return found


def _templated(text: Text, at: int) -> str:
    """Return the name of the function or structure that begins behind a template's parameters."""
    for place in range(at, min(at + MOST_TEMPLATE, text.count)):
        word = text.tokens[place]
        if word in {"struct", "class"}:
            return text.tokens[place + 1]
        if word in {"{", ";"}:
            break
        behind = text.tokens[place + 1] == "("
        if behind and NAME.fullmatch(word) and word not in {"__launch_bounds__", "__align__"}:
            return word
    return ""


def _arguments(text: Text, at: int) -> list[list[str]]:
    """Return what stands between < and > at a token, split at its commas; nothing if it is open."""
    parts: list[list[str]] = [[]]
    depth, place, end = 1, at + 1, min(at + 1 + MOST_TEMPLATE, text.count)
    while place < end:
        word = text.tokens[place]
        depth += (word == "<") - (word == ">") - 2 * (word == ">>")
        if depth <= 0:
            return parts if parts != [[]] else []
        if word in {";", "{", "}", ")", ""}:
            break
        if word == "," and depth == 1:
            parts.append([])
        else:
            behind = text.close(place) if word in CLOSES else place
            parts[-1] += text.tokens[place : min(behind, end) + 1]
            place = behind
        place += 1
    return []
