"""Members that a candidate adds to a class of the original: host code may find them there.

`using is_transparent = int;` in a comparator changes which functions a set of the library has;
`extent`, `value_type` and the like are asked for by templates of headers, where no text of the
program names them. A class of the candidate's own is met by no host text.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from optimizer.outline_text import Piece
from optimizer.source import Source

_CLASSES = frozenset({"struct", "class", "union"})
_ENDS = frozenset({";", "{", "}"})


def added(before: Source, after: Source, pieces: Sequence[Piece]) -> Iterator[str]:
    """Yield a sentence for each added piece that stands in a class whose name the original has."""
    if not pieces or _CLASSES.isdisjoint(before.code_words):
        return
    wanted = {piece.span[0]: piece for piece in pieces}
    stack: list[frozenset[str]] = []
    head: list[str] = []
    for token in after.syntax.code:
        if token.kind == "directive":
            continue
        piece = wanted.pop(token.start, None)
        known = frozenset[str]().union(*stack) & before.code_words if piece is not None else ()
        if piece is not None and known:
            yield f"line {piece.line}: adds {piece.name} to {min(known)}, a class of the original"
        if token.text == "{":
            stack.append(class_names(head))
        elif token.text == "}" and stack:
            stack.pop()
        head = [] if token.text in _ENDS else [*head, token.text]


def class_names(head: Sequence[str]) -> frozenset[str]:
    """Return what a class may be called that begins behind these words; nothing of anything else.

    >>> sorted(class_names("template < class T > struct alignas ( 16 ) Less : Base".split()))
    ['Less', 'alignas']
    >>> class_names("void f ( struct Less * x )".split()), class_names(["namespace", "a"])
    (frozenset(), frozenset())
    """
    depth, found, within = 0, set[str](), False
    for word in head:
        if word in ("(", "<", "["):
            if within and word == "<":
                break
            depth += 1
        elif word in (")", ">", "]"):
            depth -= 1
        elif depth:
            continue
        elif word in _CLASSES:
            within = True
        elif within and word == ":":
            break
        elif within and word.isidentifier():
            found.add(word)
    return frozenset(found)
