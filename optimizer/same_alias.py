"""Names of numbers that a candidate declares again, with the meaning that the original gives them.

`typedef unsigned long long u64;` in the body of a kernel may stand at file scope in a candidate,
so that other device functions have the name as well. It is the same meaning only where nothing
else is: host code of the original does not have the name in any way, every definition in both
texts is an alias of the same type text, that text is of keywords alone (another name could be
given another meaning itself), and each other use stands where such a definition reaches it and
declares nothing. The test is lexical and one-sided, as all of the boundary.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from optimizer.directives import replacement
from optimizer.outline import Outline, Piece
from optimizer.outline_words import made_of
from optimizer.source import HEADER_WORDS, Source
from optimizer.syntax import Span
from optimizer.tokens import Token

# What alone may spell the type: words that no declaration can give another meaning.
_KEYWORDS = frozenset({
    "unsigned", "signed", "long", "short", "int", "char", "float", "double", "bool", "__int128",
})  # fmt: skip
# Behind these, a word names something else than a type that is already known.
_NAMING = _KEYWORDS | {
    "struct", "class", "union", "enum", "typename", "namespace", "using", "goto", "concept",
    "operator", "auto", "::", ".", "->", ".*", "->*", "#",
}  # fmt: skip
# What may follow a name that is being declared, although it is a word.
_TRAILING = frozenset({
    "asm", "__asm__", "__asm", "__attribute__", "__declspec", "alignas", "requires", "final",
    "noexcept", "override",
})  # fmt: skip
# Behind these nothing is declared. Not `*`, `&`, `>` and `,`, which a declaration has as well.
_OPERATORS = frozenset({
    "=", "+", "-", "/", "%", "<<", "|", "^", "||", "==", "!=", "<=", ">=", "+=", "-=", "*=", "/=",
    "%=", "|=", "^=", "&=", "<<=", ">>=", "return",
})  # fmt: skip
_BEGINNING = frozenset({";", "{", "}", "[", "?", ":"})  # of a statement or an expression
_ASSIGNING = frozenset({
    "=", "+=", "-=", "*=", "/=", "%=", "|=", "^=", "&=", "<<=", ">>=", "return",
})  # fmt: skip


def same_alias(piece: Piece, before: Source, after: Source, old: Outline, new: Outline) -> bool:
    """Tell whether a type that a candidate adds is what its name means in the original already."""
    name = piece.name
    if any(name in p.tokens for p in new.geometry) or any(name == v for _, v in new.locals):
        return False
    was = _meanings(before, name, set(old.bodies))
    now = _meanings(after, name, None)
    own = _alias(piece.tokens, 0)
    if was is None or now is None or own is None or own[0] != name:
        return False
    return was == now == {own[1]} and _between_namespaces(after, piece.span[0])


def _meanings(
    source: Source, name: str, bodies: Collection[Span] | None
) -> set[tuple[str, ...]] | None:
    """Return the types that the definitions of a name give it; None where it may mean more.

    With `bodies` it may occur in these spans only, those of device code.
    """
    if _hidden(source, name):
        return None
    code = [t for t in source.syntax.code if t.kind != "directive"]
    if bodies is not None and any(
        t.text == name and not any(a <= t.start < b for a, b in bodies) for t in code
    ):
        return None
    words = [t.text for t in code]
    macros = {m.name for m in source.macros}
    found: set[tuple[str, ...]] = set()
    reached = [False]  # for each open brace, whether a definition stands in it or around it
    defined = -1
    for at, word in enumerate(words):
        if word == "{":
            reached.append(reached[-1])
        elif word == "}" and len(reached) > 1:
            reached.pop()
        elif word in ("typedef", "using") and words[at - 1 : at] in ([], [";"], ["{"], ["}"]):
            one = _alias(words, at)
            if one is not None and one[0] == name:
                if not macros.isdisjoint((word, *one[1])):
                    return None
                found.add(one[1])
                reached[-1] = True
                defined = one[2]
        elif word == name and at != defined and not (reached[-1] and _uses(words, at, macros)):
            return None
    return found


def _alias(words: Sequence[str], at: int) -> tuple[str, tuple[str, ...], int] | None:
    """Return name, type and place of the name in an alias of a number; None of anything else.

    >>> _alias("typedef unsigned long long u64 ;".split(), 0)
    ('u64', ('unsigned', 'long', 'long'), 4)
    >>> _alias("using u64 = unsigned long long ;".split(), 0)
    ('u64', ('unsigned', 'long', 'long'), 1)
    """
    plain = words[at] == "typedef"
    first = end = at + (1 if plain else 3)
    while end < len(words) and words[end] in _KEYWORDS:
        end += 1
    named = end if plain else at + 1
    closed = end + 1 if plain else end
    if words[at] not in ("typedef", "using") or end == first or closed >= len(words):
        return None
    if words[closed] != ";" or not (plain or words[at + 2] == "="):
        return None
    name = words[named]
    return (name, tuple(words[first:end]), named) if name.isidentifier() else None


def _hidden(source: Source, name: str) -> bool:
    """Tell whether a name may come from, or go to, where no token of the code shows it."""
    masked = source.syntax.masked
    word = re.compile(rf"(?<![\w$]){re.escape(name)}(?![\w$])")
    if any(word.search(source.text, *at) for at in source.inactive):
        return True
    for t in masked.tokens:
        listed = t.kind == "directive" or t.text.startswith(HEADER_WORDS)
        if listed and word.search(t.text):
            return True
    pasting = any("##" in m.body for m in source.macros)
    return pasting and made_of(name, frozenset(_parts(source)) - {name})


def _parts(source: Source) -> Iterator[str]:
    texts: list[Sequence[Token]] = [source.syntax.code]
    texts += [replacement(m.body) for m in source.macros]
    return (t.text for text in texts for t in text if t.kind in ("word", "number"))


def _uses(words: Sequence[str], at: int, macros: set[str]) -> bool:
    """Tell whether a word is a type that is used here, which declares nothing by that name."""
    first, before = ("", "", *words[max(at - 2, 0) : at])[-2:]
    behind, last = (*words[at + 1 : at + 3], "", "")[:2]
    if before in _NAMING or not macros.isdisjoint((before, behind)):
        return False
    if behind.isidentifier():  # `u64 x`
        return behind not in _TRAILING
    if behind in ("*", "&", "&&") or before in _OPERATORS:
        return True
    if before == "<" or behind in (">", ">>"):  # an argument of a template
        return before in ("<", ",", "const") and behind in (",", ">", ">>", "(", "{")
    if (before, behind) == ("(", ")"):  # `(u64)x`, but neither `int (u64);` nor `DECLARE(u64)`
        if first in macros:
            return False
        operand = last.isidentifier() and last not in macros and last not in _TRAILING
        known = first in _OPERATORS or first in _BEGINNING or first in ("sizeof", "alignof")
        plain = known or operand or last[:1].isdigit() or last in ("~", "!")
        return plain or _in_value(words, at)
    if behind == ")":
        return before == "const"
    if behind not in ("(", "{"):  # `u64(x)`
        return False
    return before in _BEGINNING or (not before.isidentifier() and _in_value(words, at))


def _in_value(words: Sequence[str], at: int) -> bool:
    """Tell whether an assignment, an initializer or a `return` is open here, of which this is part.

    >>> [_in_value(line.split(), 6) for line in ("d = f ( a * u", "int a = 3 , * u")]
    [True, False]
    """
    depth, apart = 0, False
    for i in range(at - 1, 0, -1):
        word = words[i]
        if word in (")", "]"):
            depth += 1
        elif depth and word in ("(", "["):
            depth -= 1
        elif word in (";", "{", "}", "[") or (word == "(" and words[i - 1] in ("]", "requires")):
            return False  # of another statement, or a parameter of a function without a name
        elif word == "(":
            apart = False
        elif word == "," and not depth:
            apart = True  # from a declarator before it, or an argument
        elif word in _ASSIGNING and not depth:
            return not apart
    return False


def _between_namespaces(source: Source, where: int) -> bool:
    """Tell whether all braces open at a place are those of namespaces: no class may get a member.

    Templates of headers ask classes for members that no text of the program mentions.
    """
    opened: list[bool] = []
    last = ["", ""]
    for t in source.syntax.code:
        if t.start >= where:
            break
        if t.text == "{":
            opened.append("namespace" in last)
        elif t.text == "}" and opened:
            opened.pop()
        last = [last[1], t.text]
    return all(opened)
