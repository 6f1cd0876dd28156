"""A file of which spans are taken out or put as marks, its tokens, and what was taken."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from dataclasses import field as dataclass_field
from functools import cached_property

from optimizer.chevrons import apart, brackets, joined
from optimizer.hidden_calls import TYPES, hidden_call
from optimizer.masking import ATTRIBUTES, pairs
from optimizer.outline_words import CALLS, CLOSING, OPENING, called, template_calls
from optimizer.source import Source
from optimizer.syntax import Span, field, walk
from optimizer.tokens import Token

_BRACKETS = OPENING | CLOSING
_SCOPE_HEADS = frozenset({"namespace", "extern", "class", "struct", "union", "inline"})


@dataclass(frozen=True, slots=True)
class Piece:
    """Something taken out: its tokens, and the line and span where it stands."""

    name: str
    tokens: tuple[str, ...]
    line: int
    span: Span = dataclass_field(default=(0, 0), compare=False)


def within(piece: Piece, types: Sequence[Piece]) -> bool:
    """Tell whether something stands in one of these types."""
    low, high = piece.span
    return any(t.span[0] < low and high < t.span[1] for t in types)


def type_names(source: Source) -> frozenset[str]:
    """Return what is another name of a type in all of a file: aliases outside of bodies, macros."""
    known = source.aliases
    if not known:
        return frozenset()
    bodies: dict[str, set[str]] = {}
    for m in source.macros:
        bodies.setdefault(m.name, set()).update(m.body.split() or [""])
    found = {name for name in known.keys() & bodies.keys() if bodies[name] <= TYPES}
    inner = ("compound_statement", "field_declaration_list")
    kinds = ("type_definition", "alias_declaration")
    for node in walk(source.syntax.root, *kinds, into=lambda n: n.type not in inner):
        name = field(node, "name" if node.type == "alias_declaration" else "declarator")
        if name is not None and source.of(name) in known and source.of(name) not in bodies:
            found.add(source.of(name))
    return frozenset(found)


@dataclass(slots=True)
class Outline:
    """What is left of a file (`tokens`, and where each begins), and what was taken out.

    `bodies` are the spans of the bodies of device functions that were, `declared` device functions
    that have none, `computing` functions that a compiler runs, each with the names of the
    namespaces around it. `special` are those of `types` that say something of a template without
    being one: specialisations, and declarations. `opened` are namespaces that a candidate uses the
    names of without theirs, `members` functions of its classes that host code may call, too.
    """

    tokens: list[str] = dataclass_field(default_factory=list)
    starts: list[int] = dataclass_field(default_factory=list)
    device: list[Piece] = dataclass_field(default_factory=list)
    declared: list[Piece] = dataclass_field(default_factory=list)
    kernels: dict[tuple[str, str], Piece] = dataclass_field(default_factory=dict)
    variables: list[Piece] = dataclass_field(default_factory=list)
    constants: list[Piece] = dataclass_field(default_factory=list)
    macros: list[Piece] = dataclass_field(default_factory=list)
    types: list[Piece] = dataclass_field(default_factory=list)
    special: list[tuple[Piece, tuple[str, ...]]] = dataclass_field(default_factory=list)
    computing: list[tuple[Piece, tuple[str, ...]]] = dataclass_field(default_factory=list)
    members: list[Piece] = dataclass_field(default_factory=list)
    opened: list[Piece] = dataclass_field(default_factory=list)
    directives: list[Piece] = dataclass_field(default_factory=list)
    geometry: list[Piece] = dataclass_field(default_factory=list)
    inactive: list[str] = dataclass_field(default_factory=list)
    launched: set[str] = dataclass_field(default_factory=set)
    locals: set[tuple[str, str]] = dataclass_field(default_factory=set)
    bodies: list[Span] = dataclass_field(default_factory=list)


class Marked:
    """The tokens of a file and what is taken out of it; for a candidate's, with the original's.

    `live` are the tokens that no `#if` turns off, `index` their numbers by position, `pairs` the
    closing bracket of each opening one.
    """

    def __init__(self, source: Source, original: Outline | None) -> None:
        self.source = source
        self.text = source.text
        self.original = original
        self.dead = source.syntax.masked.inactive
        code = [t for t in source.syntax.code if t.kind != "directive"]
        self.code = joined(code, brackets(code)) if apart(self.text) else code
        self.live = self._live() if self.dead else self.code
        self.pairs = pairs(self.live)
        self.index = {t.start: i for i, t in enumerate(self.live)}
        self.marks: list[tuple[int, int, tuple[str, ...]]] = []
        self.found = Outline()

    def _live(self) -> list[Token]:
        """Return the tokens that no `#if` turns off."""
        dead = iter(self.dead)
        low, high = next(dead, (len(self.text) + 1,) * 2)
        found: list[Token] = []
        for t in self.code:
            while t.start >= high:
                low, high = next(dead, (len(self.text) + 1,) * 2)
            if not low <= t.start < high:
                found.append(t)
        return found

    def piece(self, name: str, where: Span) -> Piece:
        """Return what stands in a span, to be listed."""
        texts = tuple(t.text for t in self.source.syntax.code_in(where))
        return Piece(name, texts, self.source.line(where[0]), where)

    def take(self, where: Span, *put: str) -> None:
        """Take a span out and put marks in its place."""
        self.marks.append((where[0], where[1], put))

    def taken(self, at: int) -> bool:
        """Tell whether what stands at a position is taken out already."""
        return any(a <= at < b for a, b, _ in self.marks)

    def computes(self, words: Sequence[str], own: Collection[str] = ()) -> bool:
        """Return whether words call only what computes a value, and `own`, declared by them."""
        if hidden_call(words, self.types) or any(map(self._does, template_calls(words))):
            return False
        return all(n in CALLS or n in own or self.source.pure_call(n) for n in called(words))

    @cached_property
    def types(self) -> frozenset[str]:
        """Return the names of types that stand for numbers in all of the file."""
        return type_names(self.source)

    def _does(self, name: str) -> bool:
        """Tell whether a template of the file may do more than compute."""
        known = any(f.name == name for f in self.source.functions)
        return known and not self.source.pure_call(name)

    def sound(self, where: Span, body: Span) -> bool:
        """Return whether tokens agree that this is one definition at namespace or class level."""
        first = self.index.get(where[0])
        brace = self.index.get(body[0])
        if first is None or brace is None or self.live[brace].text != "{":
            return False
        close = self.pairs.get(brace)
        if close is None or self.live[close].end != body[1]:
            return False
        if first > 0 and self.live[first - 1].text not in (";", "}", "{", ":", ")"):
            return False
        begun = self.live[first].text
        if not (begun.isidentifier() or begun.startswith(("[", "::"))):
            return False  # a sign that the parser took for a part of it, as `~` before a name
        if any(token.text == ";" for token in self.live[first:brace]):
            return False  # and all that stands before such a sign
        return self._only_destructors(first, brace) and self.at_scope(first)

    def _only_destructors(self, first: int, brace: int) -> bool:
        """Return whether each `~` of a head, outside of its parameters, is of a destructor."""
        depth = 0
        for at in range(first, brace):
            word = self.live[at].text
            depth += (word == "(") - (word == ")")
            named = self.live[at + 1].text.isidentifier()
            if word == "~" and not depth and not (named and self.live[at + 2].text == "("):
                return False
        return True

    def at_scope(self, at: int) -> bool:
        """Return whether every bracket open before a token opens a namespace, class or linkage."""
        opener = self._openers[at]
        while opener >= 0:
            if self.live[opener].text != "{" or not self._scope_head(opener):
                return False
            opener = self._openers[opener]
        return True

    def spaces(self, at: int) -> tuple[str, ...] | None:
        """Return the names of the namespaces around a token; None where anything else is."""
        scope = self.scope(at)
        return tuple(name for name in scope if name) if scope is not None else None

    def scope(self, at: int) -> tuple[str, ...] | None:
        """Return the same with an empty name for each namespace that has none."""
        found: list[str] = []
        opener = self._openers[at]
        while opener >= 0:
            i = opener - 1
            while i >= 0 and self.live[i].text not in (";", "}", "{"):
                i -= 1
            head = [t.text for t in self.live[i + 1 : opener]]
            if self.live[opener].text != "{" or head[:1] != ["namespace"] or len(head) > 2:
                return None
            found.append(head[1] if len(head) > 1 else "")
            opener = self._openers[opener]
        return tuple(found)

    @cached_property
    def _openers(self) -> list[int]:
        """Return for each token the index of the innermost bracket open before it, or -1."""
        found: list[int] = []
        stack = [-1]
        brackets = [(i, t[3]) for i, t in enumerate(self.live) if t[3] in _BRACKETS]
        for i, text in brackets:
            found += [stack[-1]] * (i - len(found))
            if text in CLOSING and len(stack) > 1:
                stack.pop()
            found.append(stack[-1])
            if text in OPENING:
                stack.append(i)
        return found + [stack[-1]] * (len(self.live) - len(found))

    def _scope_head(self, brace: int) -> bool:
        i = brace - 1
        while i >= 0 and self.live[i].text not in (";", "}", "{"):
            i -= 1
        head = [t.text for t in self.live[i + 1 : brace]]
        if "(" in head and head[:1] != ["template"] and not set(head) & ATTRIBUTES:
            return False
        while head[:1] == ["template"]:
            head = head[1:]
            head = head[head.index(">") + 1 :] if ">" in head else []
        return bool(head) and head[0] in _SCOPE_HEADS and ")" not in head[-1:]

    def emit(self) -> None:
        """Write down what is left: the tokens that nothing took, and the marks."""
        marks = sorted(self.marks, key=lambda m: (m[0], -m[1]))
        out = self.found
        words, starts = out.tokens, out.starts
        dead = {t.start for t in self.code} - self.index.keys() if self.dead else frozenset()
        i, reach = 0, 0
        following = marks[0][0] if marks else len(self.text) + 1
        for _, start, _, text in self.code:
            while following <= start:
                if following >= reach:
                    words.extend(marks[i][2])
                    starts.extend([following] * len(marks[i][2]))
                    reach = marks[i][1]
                i += 1
                following = marks[i][0] if i < len(marks) else len(self.text) + 1
            if start in dead:
                out.inactive.append(text)
            elif start >= reach:
                words.append(text)
                starts.append(start)
