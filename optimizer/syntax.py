"""The syntax tree of a CUDA text and the few walks that everything else is made of.

Nodes are `tree_sitter.Node`s of the *masked* text. `node.start_byte` and `end_byte` are character
positions of the original; take text with `Syntax.of(node)`, never with `node.text`.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from dataclasses import field as dataclass_field
from functools import cached_property, lru_cache
from operator import itemgetter
from threading import Lock
from typing import Generic, TypeVar

import tree_sitter_cuda
from tree_sitter import Language, Node, Parser, Tree

from optimizer.masking import OR_EQUAL, Masked, mask
from optimizer.shapes import Shape, Shapes
from optimizer.tokens import Token, code_between, code_tokens, meaningful

_START = itemgetter(1)  # of a token
_LANGUAGE = Language(tree_sitter_cuda.language())
_OR_EQUAL = bytes([OR_EQUAL])

Span = tuple[int, int]
Value = TypeVar("Value")


class Syntax:
    """A text, its mask and its tree. Immutable; everything is made when first asked for."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def masked(self) -> Masked:
        """Return the text as the grammar sees it."""
        return self.shape.masked(self.text)

    @cached_property
    def shape(self) -> Shape:
        """Return what it shares with texts that differ in numbers only."""
        return _shapes(self.text)

    @cached_property
    def parsed(self) -> Parsed:
        """Return the tree with what else was made of it."""
        return _parsed(self.shape.grammar)

    @cached_property
    def tree(self) -> Tree:
        """Return the tree; it must stay alive while its nodes are used.

        Texts of one shape have the same one, and so have texts that differ in comments only.
        """
        return self.parsed.tree

    @property
    def root(self) -> Node:
        """Return the root node."""
        return self.tree.root_node

    def of(self, node: Node | None) -> str:
        """Return the original text of a node; empty for None."""
        return "" if node is None else self.text[node.start_byte : node.end_byte]

    def plain(self, node: Node | None) -> str:
        """Return a node's text without comments and with single blanks, to compare by."""
        if node is None:
            return ""
        text = self.text[node.start_byte : node.end_byte]
        return text if text.isidentifier() else _plain(text)

    @cached_property
    def code(self) -> tuple[Token, ...]:
        """Return the tokens that mean something, directives and text that is off included."""
        return meaningful(self.text)

    def code_in(self, where: Span) -> Sequence[Token]:
        """Return the tokens that mean something in a span, none of which it should cut.

        Of a candidate that is edited long after it was tried only functions are asked for: the file
        around them is not cut for that.
        """
        if "code" not in self.__dict__:
            if where not in self._pieces:
                self._pieces[where] = code_between(self.text, *where)
            return self._pieces[where]
        code = self.code
        first = bisect_left(code, where[0], key=_START)
        found = code[first : bisect_left(code, where[1], first, key=_START)]
        if found and found[0].start == where[0] and found[-1].end == where[1]:
            return found
        cut = code_tokens(self.text[where[0] : where[1]])
        return [Token(t.kind, t.start + where[0], t.end + where[0], t.text) for t in cut]

    @cached_property
    def _pieces(self) -> dict[Span, Sequence[Token]]:
        return {}

    def forget(self) -> None:
        """Let go of tokens, the most of what a text holds; they are cut again when asked for."""
        self.__dict__.pop("code", None)
        self.__dict__.pop("_pieces", None)

    @cached_property
    def _lines(self) -> list[int]:
        starts = [0]
        at = self.text.find("\n")
        while at >= 0:
            starts.append(at + 1)
            at = self.text.find("\n", at + 1)
        return starts

    def line(self, at: Node | int) -> int:
        """Return the line of a node or position, counted from 1."""
        return bisect_right(self._lines, at if isinstance(at, int) else at.start_byte)


@dataclass(slots=True, eq=False)
class Parsed:
    """A tree, and what is shared between texts that have it: see `optimizer.shared_facts`.

    What is shared holds nodes of this very tree.
    """

    tree: Tree
    shared: dict[tuple[object, ...], object] = dataclass_field(default_factory=dict)


def _parse(masked: str) -> Parsed:
    return Parsed(Parser(_LANGUAGE).parse(masked.encode("ascii")))


class _Lately(Generic[Value]):
    """Remembers what was made of the texts last asked for, `most` characters of them."""

    def __init__(self, make: Callable[[str], Value], most: int) -> None:
        self._make = make
        self._most = most
        self._lock = Lock()
        self._found: OrderedDict[str, Value] = OrderedDict()
        self._length = 0

    def __call__(self, text: str) -> Value:
        """Return what is made of a text; of one asked for lately the same object."""
        with self._lock:
            if text in self._found:
                self._found.move_to_end(text)
                return self._found[text]
        found = self._make(text)
        if _SHORTEST_KEPT <= len(text) <= _LONGEST_KEPT:
            with self._lock:
                if text not in self._found:
                    self._found[text] = found
                    self._length += len(text)
                while self._length > self._most:
                    self._length -= len(self._found.popitem(last=False)[0])
        return found


# A search comes back to a candidate hundreds of candidates later, to edit it. What was worked out
# of its tree is long forgotten by then; tree (35 bytes a character) and mask (2) need not be: masks
# of 2,000 candidates of 4,000 characters are kept, so that the last ones cost what the first did.
_MOST_TREES = 2_000_000
_MOST_MASKS = 8_000_000
_LONGEST_KEPT = 200_000
_SHORTEST_KEPT = 400  # shorter ones are macros written out, kept by who wrote them
_shapes = Shapes(lambda text: mask(text), _MOST_MASKS)  # noqa: PLW0108  found when called
# Many texts have one mask: comments and attributes (`__launch_bounds__(256)`) are blanks in it.
_parsed = _Lately(_parse, _MOST_TREES)


@lru_cache(maxsize=4096)  # the same expressions, in candidate after candidate
def _plain(text: str) -> str:
    return "".join(_glued([t.text for t in code_tokens(text)]))


def _glued(words: list[str]) -> Iterator[str]:
    last = ""
    for word in words:
        if (
            last
            and (last[-1].isalnum() or last[-1] == "_")
            and (word[0].isalnum() or word[0] == "_")
        ):
            yield " "
        yield word
        last = word


def span(node: Node) -> Span:
    """Return where a node begins and ends, in characters of the original."""
    return (node.start_byte, node.end_byte)


def walk(node: Node, *types: str, into: Callable[[Node], bool] | None = None) -> Iterator[Node]:
    """Yield a node and what is in it in order of position, named nodes only.

    With `types` only those are yielded (but all is entered). `into` tells whether to enter a node.
    """
    # With a cursor: a node asked for its children keeps them, and a list of them, for its life.
    cursor = node.walk()
    found: Node | None = node
    while found is not None:
        if found.is_named or found is node:
            if not types or found.type in types:
                yield found
            if (into is None or into(found)) and cursor.goto_first_child():
                found = cursor.node
                continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return
        found = cursor.node


class _FieldIds(dict[str, int]):
    """The grammar's numbers of field names: asked by number, a node answers twice as fast."""

    def __missing__(self, name: str) -> int:
        self[name] = _LANGUAGE.field_id_for_name(name) or _NO_FIELD
        return self[name]


_NO_FIELD = 0xFFFF
_FIELDS = _FieldIds()
_OPERATOR = _FIELDS["operator"]


def field(node: Node | None, *names: str) -> Node | None:
    """Follow field names down from a node; None where one is missing.

    >>> root = Syntax("int x = 3;").root
    >>> str(field(root.named_children[0], "declarator", "value").type)
    'number_literal'
    """
    for name in names:
        if node is None:
            return None
        node = node.child_by_field_id(_FIELDS[name])
    return node


def stripped(node: Node | None) -> Node | None:
    """Return what stands inside parentheses (and a condition clause)."""
    while node is not None and node.type in ("parenthesized_expression", "condition_clause"):
        node = field(node, "value") or (node.named_children[0] if node.named_children else None)
    return node


def ancestors(node: Node, until: Node | None = None) -> Iterator[Node]:
    """Yield the parents of a node, nearest first, up to and without `until`."""
    at = node.parent
    while at is not None and at != until:
        yield at
        at = at.parent


def operator(node: Node) -> str:
    """Return the sign of a binary, unary, update or assignment expression: `+=`."""
    sign = node.child_by_field_id(_OPERATOR)
    if sign is None:
        return ""
    if sign.type == ">":
        written = node.text  # of the mask, the only place that asks it
        at = sign.end_byte - node.start_byte
        return ">=" if written is not None and written[at : at + 1] == _OR_EQUAL else ">"
    return sign.type


STATEMENTS = frozenset({
    "expression_statement", "declaration", "if_statement", "for_statement", "while_statement",
    "do_statement", "return_statement", "break_statement", "continue_statement",
    "goto_statement", "switch_statement", "compound_statement", "labeled_statement",
    "for_range_loop", "case_statement", "try_statement", "alias_declaration", "type_definition",
})  # fmt: skip


def statement(node: Node) -> Node | None:
    """Return the statement a node belongs to: the nearest that stands by itself."""
    at: Node | None = node
    while at is not None:
        parent = at.parent
        if at.type in STATEMENTS and parent is not None and parent.type != "for_statement":
            return at
        if (
            at.type in STATEMENTS
            and parent is not None
            and parent.child_by_field_name("body") == at
        ):
            return at
        at = parent
    return None


def contains(outer: Node | Span, inner: Node | Span) -> bool:
    """Return whether the second lies within the first."""
    a = outer if isinstance(outer, tuple) else span(outer)
    b = inner if isinstance(inner, tuple) else span(inner)
    return a[0] <= b[0] and b[1] <= a[1]
