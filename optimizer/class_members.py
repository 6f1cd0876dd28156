"""Members that a candidate adds to a class of the original: host code may find them there.

`using is_transparent = int;` in a comparator changes which functions a set of the library has;
`extent`, `value_type` and the like are asked for by templates of headers, where no text of the
program names them. A class of the candidate's own is met by no host text.

Device functions are found so, too: whether a class has one by a name or an operator can be asked,
and some headers call what they find for host and device alike. So a class that host text has in
any way gets none that it had not; one that device code alone uses may. The same holds outside of
classes for operators and functions that headers look for by the types of their arguments.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from optimizer.compile_time import LOOKED_FOR, parts_of
from optimizer.outline_text import Outline, Piece, within
from optimizer.outline_words import made_of
from optimizer.source import HEADER_WORDS, Source
from optimizer.tokens import Token, code_tokens

_CLASSES = frozenset({"struct", "class", "union"})
_ALIGNING = frozenset({"alignas", "__align__"})
_DEFINING = _CLASSES | {"enum"}
_NAMING = _DEFINING | {"typename"}
_HEADS_END = frozenset({";", "{", ":", "<", ")"})
_ENDS = frozenset({";", "{", "}"})
_NO_NAME = ""  # of a class that has none, and of which host text may have objects all the same
_WITH_OBJECTS = frozenset({"static", "friend", "virtual", "inline"})
# What may change in the head of a function that stays the same to everybody.
_LOOSE = frozenset({
    "inline", "__inline__", "__forceinline__", "__noinline__", "__restrict__", "__restrict",
})  # fmt: skip


def added(before: Source, after: Source, pieces: Sequence[Piece]) -> Iterator[str]:
    """Yield a sentence for each added piece that stands in a class whose name the original has."""
    if not pieces or _CLASSES.isdisjoint(before.code_words):
        return
    around = _around(after, pieces)
    for piece in pieces:
        known = frozenset[str]().union(*around[piece.span[0]]) & {*before.code_words, _NO_NAME}
        if known:
            name = min(known) or "one without a name"
            yield f"line {piece.line}: adds {piece.name} to {name}, a class of the original"


def device_functions(before: Source, after: Source, old: Outline, new: Outline) -> Iterator[str]:
    """Yield a sentence for each device function that host text may find by what belongs to it."""
    if {*_DEFINING, "using", "typedef"}.isdisjoint(before.code_words):
        return
    inside = [*new.device, *new.kernels.values()]
    pieces = [
        p for p in new.device
        if not within(p, new.types) and not within(p, inside)
    ]  # fmt: skip
    listed = (*old.device, *old.declared)
    was = _around(before, listed)
    known = {(_flat(was[p.span[0]]), head_of(p)) for p in listed}
    around = _around(after, pieces)
    fresh = [p for p in pieces if (_flat(around[p.span[0]]), head_of(p)) not in known]
    if not fresh:
        return
    reached = _reached(before, old)
    for piece in fresh:
        classes = frozenset[str]().union(*around[piece.span[0]])
        met = classes & {*reached, _NO_NAME}
        if met:
            name = min(met) or "one without a name"
            yield f"line {piece.line}: adds {piece.name} to {name}, a class that host text uses"
        elif not classes and (piece.name in LOOKED_FOR or piece.name.startswith("operator")):
            met = _taken(piece) & (reached & _types(before))
            if met or (reached & _types(before) and _takes_any(piece)):
                name = min(met) if met else "any type"
                yield f"line {piece.line}: adds {piece.name} for {name}, which host text may find"


def _around(source: Source, pieces: Iterable[Piece]) -> dict[int, tuple[frozenset[str], ...]]:
    """Return what the classes around pieces may be called, by where these begin."""
    wanted = {piece.span[0] for piece in pieces}
    found: dict[int, tuple[frozenset[str], ...]] = dict.fromkeys(wanted, ())
    stack: list[frozenset[str]] = []
    head: list[str] = []
    for token in source.syntax.code if wanted else ():
        if token.kind == "directive":
            continue
        if token.start in wanted:
            found[token.start] = tuple(names for names in stack if names)
        if token.text == "{":
            stack.append(class_names(head))
        elif token.text == "}" and stack:
            stack.pop()
        head = [] if token.text in _ENDS else [*head, token.text]
    return found


def class_names(head: Sequence[str]) -> frozenset[str]:
    """Return what a class may be called that begins behind these words; nothing of anything else.

    >>> sorted(class_names("template < class T > struct alignas ( 16 ) Less : Base".split()))
    ['Less']
    >>> class_names("void f ( struct Less * x )".split()), class_names(["namespace", "a"])
    (frozenset(), frozenset())
    >>> class_names("typedef struct".split())
    frozenset({''})
    """
    depth, found, within_head = 0, set[str](), False
    for word in head:
        if word in ("(", "<", "["):
            if within_head and word == "<":
                break
            depth += 1
        elif word in (")", ">", "]"):
            depth -= 1
        elif depth:
            continue
        elif word in _CLASSES:
            within_head = True
        elif within_head and word == ":":
            break
        elif within_head and word.isidentifier() and word not in _ALIGNING:
            found.add(word)
    return frozenset(found or {_NO_NAME}) if within_head else frozenset()


def _flat(around: Sequence[frozenset[str]]) -> frozenset[str]:
    return frozenset[str]().union(*around)


def head_of(piece: Piece) -> tuple[str, ...]:
    """Return what a function is declared with, without what makes no other function of it."""
    end = next(
        (i for i, (a, b) in enumerate(pairwise(piece.tokens)) if b == "{" or (a, b) == (")", ":")),
        None,
    )
    words = piece.tokens if end is None else piece.tokens[: end + 1]
    return tuple(word for word in words if word not in _LOOSE)


def _taken(piece: Piece) -> frozenset[str]:
    head = head_of(piece)
    return frozenset(head[head.index("(") :]) if "(" in head else frozenset(head)


def _takes_any(piece: Piece) -> bool:
    """Tell whether a function is a template of types, which may be of the host's."""
    return piece.tokens[:1] == ("template",) and not {"typename", "class"}.isdisjoint(
        head_of(piece)
    )


def _types(source: Source) -> frozenset[str]:
    """Return the names that a file may give to classes, enumerations and other types."""
    words = [t.text for t in source.syntax.code]
    found: set[str] = set()
    for at, word in enumerate(words):
        if word in _DEFINING and words[at + 2 : at + 3] not in ([","], [">"], ["="]):
            named = next((k for k in range(at, len(words)) if words[k] in _HEADS_END), len(words))
            found.update(w for w in words[at + 1 : named] if w.isidentifier())
        elif word == "using":
            found.update(words[at + 1 : at + 2])
        elif word == "typedef":
            end = next((k for k in range(at, len(words)) if words[k] == ";"), len(words))
            found.update(w for w in words[at + 1 : end] if w.isidentifier())
    return frozenset(found - _ALIGNING - _NAMING)


def _reached(before: Source, old: Outline) -> frozenset[str]:
    """Return every word that host text of the original has, or that belongs to what it has.

    A class's words belong to its name, a device function's, variable's and macro's to its own.
    All else is host text, heads of kernels as well.
    """
    code = [t for t in before.syntax.code if t.kind != "directive"]
    last = max(
        (d.start for d in before.syntax.masked.directives if d.word == "include"), default=-1
    )
    belongs: dict[str, set[str]] = {}
    for piece in (*old.device, *old.declared, *old.variables, *old.constants, *old.macros):
        belongs.setdefault(piece.name, set()).update(piece.tokens)
    reached = {name for name, _ in old.kernels} | set(old.inactive)
    reached |= {w for d in old.directives if d.name != "include" for w in d.tokens}
    hidden = [
        *old.bodies,
        *(p.span for p in (*old.device, *old.declared, *old.variables, *old.constants)),
    ]
    reached |= _sorted_out(code, hidden, last, belongs)
    for t in before.syntax.masked.tokens:
        if t.text.startswith(HEADER_WORDS):
            reached |= {word.text for word in code_tokens(t.text[1:])}
    if any("##" in m.body for m in before.macros):
        parts = parts_of(before)
        reached |= {name for name in belongs if made_of(name, parts - {name})}
    pending = list(reached)
    while pending:
        more = belongs.pop(pending.pop(), set()) - reached
        reached |= more
        pending += more
    return frozenset(reached)


def _sorted_out(
    code: Sequence[Token], hidden: Sequence[tuple[int, int]], last: int,
    belongs: dict[str, set[str]],
) -> set[str]:  # fmt: skip
    """Return the words of no class, and put those of classes to their names.

    A class with an object behind it, or in front of a header that may use it, is of the host's.
    """
    reached: set[str] = set()
    ends = iter([*sorted(hidden), (code[-1].end + 1,) * 2 if code else (0, 0)])
    low, high = next(ends)
    stack: list[frozenset[str]] = []
    head: list[str] = []
    for at, token in enumerate(code):
        while token.start >= high:
            low, high = next(ends, (code[-1].end + 1,) * 2)
        shown = not low <= token.start < high
        text = token.text
        if text == "{":
            names = _class(head)
            stack.append(names)
            if token.start < last or _NO_NAME in names:
                reached |= names
            for name in names:
                belongs.setdefault(name, set()).update(head)
        elif text == "}" and stack:
            names = stack.pop()
            behind = code[at + 1].text if at + 1 < len(code) else ""
            if names and behind != ";":
                reached |= names
        head = [] if text in _ENDS else [*head, text]
        if not shown or token.kind != "word":
            continue
        owners = next((names for names in reversed(stack) if names), None)
        if owners is not None:
            for name in owners:
                belongs.setdefault(name, set()).add(text)
            if text in _WITH_OBJECTS:
                reached |= owners
        elif not _heads_class(code, at):
            reached.add(text)
    return reached


def _class(head: Sequence[str]) -> frozenset[str]:
    """Return the names of a class that begins behind these words, if it is no function that does.

    >>> sorted(_class("struct Item make ( )".split())), sorted(_class("class Item : Base".split()))
    ([], ['Item'])
    """
    called = any(b == "(" and a not in ("alignas", "__align__") for a, b in pairwise(head))
    return frozenset() if called else class_names(head)


def _heads_class(code: Sequence[Token], at: int) -> bool:
    """Tell whether a word stands in the head of a class that is defined here."""
    low = at
    while low > 0 and code[low - 1].text not in _ENDS:
        low -= 1
    high = at
    while high < len(code) and code[high].text not in _ENDS:
        high += 1
    opened = high < len(code) and code[high].text == "{"
    return opened and bool(_class([t.text for t in code[low:high]]))
