"""What launch geometry of a candidate's may say: arithmetic over what the original has.

Beside that there are numbers and types that everybody knows, for `w * sizeof(unsigned short)`, and
the candidate's own constants, macros and plain types: these hold nothing that runs. What geometry
calls is in the original's geometry as well, is a conversion, `min` or the like, or is a macro of
the candidate's that is arithmetic itself.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise

from optimizer.compile_time import LIMITS
from optimizer.hidden_calls import TYPES, handed_on, hidden_call, openers_of, parts_of_macro
from optimizer.outline import Outline, Piece, arithmetic, called
from optimizer.outline_text import type_names
from optimizer.outline_words import template_calls
from optimizer.source import Source

_CALLS = frozenset({
    "dim3", "min", "max", "sizeof", "ceil", "ceilf", "floor", "int", "unsigned", "float", "double",
    "size_t", "static_cast", "alignof", "long", "short", "char", "bool", "signed", "uint32_t",
    "int32_t", "uint64_t", "int64_t",
})  # fmt: skip
_DECLARING = frozenset({"=", "auto", "const", "constexpr"})
_KNOWN = TYPES | LIMITS | {"std", "true", "false"}
_OF_STD = frozenset({"min", "max"})  # templates that are called with their types said


def beyond(before: Source, after: Source, old: Outline, new: Outline) -> Iterator[str]:
    """Yield a sentence for each piece of geometry that does more than arithmetic."""
    same = {p.tokens for p in old.geometry}
    types = type_names(after)
    own = {p.name for p in new.macros} - {p.name for p in old.macros}
    calls = frozenset(c for p in old.geometry for c in called(p.tokens)) | _CALLS
    calls |= {p.name for p in new.macros if p.name in own and parts_of_macro(p.tokens)[0]}
    generic = {c for p in old.geometry for c in template_calls(p.tokens) if before.pure_call(c)}
    openers = openers_of((p.name, parts_of_macro(p.tokens)[1]) for p in new.macros)
    known = before.words | {v for _, v in new.locals} | _CALLS | _DECLARING | _KNOWN | _own(new)
    known |= _spaces(after) - before.code_words
    numbers = TYPES | types | {v for _, v in new.locals}
    for p in new.geometry:
        if p.tokens in same:
            continue
        allowed = calls if p.name == "launch" else calls | _DECLARING
        hidden = hidden_call(p.tokens, types, openers)
        hidden = hidden or _template_call(p.tokens, generic, openers)
        if hidden or not arithmetic(p.tokens, allowed, types=types) or _built(p, before, numbers):
            yield f"line {p.line}: launch geometry that is more than arithmetic"
        for before_it, word in pairwise(("", *p.tokens)):
            if before_it == "." and word in ("x", "y", "z"):  # of a dim3
                continue
            if (word[0].isalpha() or word[0] == "_") and word not in known:
                yield f"line {p.line}: launch geometry uses {word}, which the original lacks"
    yield from _macros(old, new, calls, (openers, types, generic))


def _own(new: Outline) -> set[str]:
    """Return a candidate's own names of what holds nothing that runs."""
    return {p.name for p in (*new.constants, *new.macros, *new.types)}


def _spaces(after: Source) -> set[str]:
    """Return the names of namespaces."""
    return {b.text for a, b in pairwise(after.syntax.code) if a.text == "namespace"}


def _built(piece: Piece, before: Source, numbers: Collection[str]) -> bool:
    """Tell whether `Guard{n}` may begin an object of a class of the original's."""
    return any(
        behind == "{" and word.isidentifier() and word in before.code_words and word not in numbers
        for word, behind in pairwise(piece.tokens)
    )


def _macros(
    old: Outline,
    new: Outline,
    calls: frozenset[str],
    names: tuple[frozenset[str], frozenset[str], set[str]],
) -> Iterator[str]:
    """Refuse changed macros that geometry reaches and that are more than arithmetic."""
    openers, types, generic = names
    were, bodies = _table(old.macros), _table(new.macros)
    pending = [w for p in new.geometry for w in p.tokens]
    asked = {c for p in new.geometry for c in called(p.tokens)}
    seen: set[str] = set()
    while pending:
        word = pending.pop()
        if word in seen or word not in bodies:
            continue
        seen.add(word)
        for words in bodies[word]:
            pending.extend(words)
            parameters, body = parts_of_macro(words)
            asked.update(called(body))
            if words in were.get(word, []):
                continue
            begins = openers | handed_on(parameters)
            hidden = hidden_call(body, types, begins) or _template_call(body, generic, begins)
            if hidden or not arithmetic(body, calls, types=types):
                yield f"launch geometry uses macro {word}, which is more than arithmetic"
    for word in sorted(seen & asked):
        # `#define UP setup` makes another call of `UP(n)`.
        if any(w[0] == "=" and w not in were.get(word, []) for w in bodies[word]):
            yield f"launch geometry calls what macro {word} stands for"


def _template_call(words: Sequence[str], known: set[str], openers: frozenset[str]) -> bool:
    """Return whether `f<...>(` occurs that may call anything, or `f<...> M` with such a bracket."""
    found = set(template_calls(words))
    for i, word in enumerate(words):
        named = word in _OF_STD and words[i + 1 : i + 2] == ("<",)
        if named and tuple(words[max(i - 2, 0) : i]) != ("std", "::"):
            return True
        if word in openers and words[i - 1 : i] in ((">",), (">>",)):
            found.update(template_calls((*words[:i], "(")))
    return not found <= known | _OF_STD | {"static_cast"}


def _table(pieces: Sequence[Piece]) -> dict[str, list[tuple[str, ...]]]:
    found: dict[str, list[tuple[str, ...]]] = {}
    for p in pieces:
        found.setdefault(p.name, []).append(p.tokens)
    return found
