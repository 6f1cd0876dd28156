"""Words that reach beyond device code: a candidate may use no more of them than its original."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise

from optimizer import inline_ptx
from optimizer.affine import INTEGERS
from optimizer.directives import replacement
from optimizer.masking import closing
from optimizer.outline import Outline, Piece
from optimizer.outline_text import within
from optimizer.outline_words import made_of
from optimizer.source import Source
from optimizer.tokens import Token, balanced

_GUARDED = (
    "__host__", "__managed__", "__attribute__", "__declspec", "_Pragma", "__pragma", "asm",
    "__asm__", "__asm", "virtual", "__block_size__", "friend", "import",
    "module", "export", "constructor", "thread_local", "__thread", "typeid", "operator",
    "gnu", "__gnu__", "clang", "ifunc", "init_array",
)  # fmt: skip
# Of these the ones that reach nothing which host code that may change does not have anyway: what is
# shared with it, operators, and classes' own ways. What runs before `main`, sees which thread calls
# (`thread_local`), moves pages outside of what is timed (`__managed__`), changes what a launch
# counts in (`__block_size__`), or is no C++ that we read (assembly, modules, attributes, pragmas)
# stays refused.
_HOSTED = frozenset({"__host__", "operator", "virtual", "friend", "typeid"})
_UNPASTED = frozenset({*_GUARDED, "static", "extern", "__global__"})
# Attributes in double brackets that only tell the compiler what it may assume.
_HARMLESS = frozenset({
    "maybe_unused", "nodiscard", "likely", "unlikely", "fallthrough", "noreturn", "assume",
})  # fmt: skip
_SHOUTED = frozenset({
    "INFINITY", "NAN", "NULL", "FLT_MAX", "FLT_MIN", "FLT_EPSILON", "DBL_MAX", "DBL_MIN",
    "DBL_EPSILON", "INT_MAX", "INT_MIN", "UINT_MAX", "LLONG_MAX", "CUDART_INF_F", "CUDART_NAN_F",
    "M_PI", "M_PI_F", "CUDART_PI_F", "CHAR_BIT", "ULLONG_MAX", "SHRT_MAX", "HUGE_VALF",
    "HUGE_VAL", "SHRT_MIN", "USHRT_MAX", "SCHAR_MAX", "SCHAR_MIN", "UCHAR_MAX", "CHAR_MAX",
    "CHAR_MIN", "LONG_MAX", "LONG_MIN", "ULONG_MAX", "LLONG_MIN", "SIZE_MAX", "FLT_DIG", "DBL_DIG",
    "FLT_MANT_DIG", "DBL_MANT_DIG", "FLT_TRUE_MIN", "DBL_TRUE_MIN", "M_E", "M_LOG2E", "M_LOG10E",
    "M_LN2", "M_LN10", "M_PI_2", "M_PI_4", "M_1_PI", "M_2_PI", "M_2_SQRTPI", "M_SQRT2",
    "M_SQRT1_2", "__VA_ARGS__",
})  # fmt: skip
# Numbers of CUDA's own headers and of the C standard's.
_NUMBERS = re.compile(r"CUDART_[A-Z0-9_]+|U?INT(?:_FAST|_LEAST|)(?:8|16|32|64)_(?:MAX|MIN)")
_ARITHMETIC = frozenset({"+", "-", "*", "/", "+=", "-=", "*=", "/=", "(", "<", ">", "=="})
_UNWRITTEN = frozenset({"new", "delete", "co_await", "&", ","})
_COUNTS = INTEGERS | {"bool"}
_NAMING = ("typename", "class", "struct", "using", "enum", "typedef")


def beyond_original(
    before: Source, after: Source, old: Outline, new: Outline, allow_host: bool
) -> Iterator[str]:
    """Refuse more of the words that reach beyond device code than the original had."""
    was, now = _counts(before), _counts(after)
    for word in _GUARDED:
        if allow_host and word in _HOSTED:
            continue
        more = _arithmetic(new) - _arithmetic(old) if word == "operator" else 0
        if word == "friend":
            more = sum(_own_friend(p, new) for p in new.device)
        if word in inline_ptx.WORDS:
            more = sum(1 for s in (_plain_assembly(new) - _plain_assembly(old)).elements()
                       if s.startswith(f"{word} "))  # fmt: skip
        if word == "__host__":
            more = sum(p.tokens.count(word) for p, _ in new.computing)
            more += sum(p.tokens.count(word) for p in new.members if within(p, new.types))
        if now[word] > was[word] + max(0, more):
            yield f"uses {word} where the original does not"
    for name in (_attributes(after) - _attributes(before)).keys() - _HARMLESS:
        yield f"uses attribute [[{name}]] where the original does not"
    for word in _pasted(after) - _pasted(before):
        yield f"puts {word} together from parts"
    if any(_loose_uses(after) - _loose_uses(before)):
        yield "changes inline assembly"
    added = _assembly(after) - _assembly(before)
    if any(not statement.startswith(tuple(_plain_assembly(new))) for statement in added):
        yield "changes inline assembly"
    if not allow_host:
        yield from _device(before, after, old, new)
        for p in old.macros:
            if not balanced(p.tokens) and now[p.name] != was[p.name]:
                yield f"uses macro {p.name}, which opens or closes brackets, otherwise than before"


@lru_cache(maxsize=8)
def _counts(source: Source) -> Counter[str]:
    found = Counter(t.text for t in source.syntax.masked.tokens if t.kind == "word")
    for m in source.macros:
        found.update(t.text for t in replacement(m.body) if t.kind == "word")
    return found


@lru_cache(maxsize=8)  # of the original, again and again
def _attributes(source: Source) -> Counter[str]:
    """Count what stands first in double brackets, which begin nothing but attributes.

    A section, an alias or a constructor named there reaches into the host's object file, even on a
    device variable: the host has a shadow of it.
    """
    found: Counter[str] = Counter()
    for code in (source.syntax.code, *(replacement(m.body) for m in source.macros)):
        for at, (one, two) in enumerate(pairwise(code)):
            if one.text == "[" == two.text:
                first = [t.text for t in code[at + 2 : at + 3]]
                after = [t.text for t in code[at + 3 : at + 4]]
                plain = first and after in (["]"], ["("])
                found[first[0] if plain else " ".join([*first, *after])] += 1
    return found


def _arithmetic(listed: Outline) -> int:
    """Count operators that device code defines for types: a host that met one would not compile.

    In a type of the candidate's own, which no host text has, they are any but those that are
    called without being written where they are.
    """
    found = 0
    for piece in (*listed.device, *listed.members):
        head = piece.tokens[: piece.tokens.index("(") + 1]
        own = within(piece, listed.types)
        for one, two in pairwise(head):
            kept = two not in _UNWRITTEN and not two.startswith('"')
            found += one == "operator" and (two in _ARITHMETIC or (own and kept))
    return found


def _own_friend(piece: Piece, listed: Outline) -> bool:
    """Tell whether an operator that a type of the candidate's own has takes that type.

    Only such a one is found by its arguments alone, and declared nowhere else.
    """
    words = piece.tokens
    if words[:1] != ("friend",) or "operator" not in words or words[-1] != "}":
        return False
    at = words.index("operator")
    behind = at + 2 if words[at + 1] != "(" else at + 3
    parameters = words[behind : words.index("{")]
    if words[at + 1] not in _ARITHMETIC or words[behind : behind + 1] != ("(",):
        return False
    around = [t for t in listed.types if within(piece, [t])]
    plain = [w for w in parameters if w != "const"]
    # A type, not what a parameter is called.
    named = {b for a, b, c in zip(plain, plain[1:], plain[2:], strict=False)
             if a in ("(", ",") and c != "::" and parameters.count("(") == 1}  # fmt: skip
    return any(t.name in named for t in around)


def _assembly(source: Source) -> Counter[str]:
    """Return every asm statement as written, up to its semicolon, with the macros that it uses."""
    found: Counter[str] = Counter()
    if "asm" not in source.text:
        return found
    code = source.syntax.code
    for i, t in enumerate(code):
        if t.text in ("asm", "__asm__", "__asm"):
            end = next((k for k in range(i, len(code)) if code[k].text == ";"), len(code))
            words = [c.text for c in code[i:end]]
            found[" ".join([*words, *_meanings(source, words)])] += 1
    return found


@lru_cache(maxsize=8)
def _pasted(source: Source) -> frozenset[str]:
    """Return the guarded words that `##` could make of words in macros and their arguments."""
    if not any("##" in m.body for m in source.macros):
        return frozenset()
    taking = {m.name for m in source.macros if m.parameters is not None}
    texts: list[Sequence[Token]] = [replacement(m.body) for m in source.macros]
    texts += _uses(source.syntax.code, taking)
    parts = frozenset(t.text for text in texts for t in text if t.kind in ("word", "number"))
    return frozenset(word for word in _UNPASTED if made_of(word, parts - _UNPASTED))


@lru_cache(maxsize=8)
def _loose_uses(source: Source) -> Counter[str]:
    """Count the uses of macros that hold assembly of which their arguments are a part."""
    found: Counter[str] = Counter()
    if "asm" not in source.text:
        return found
    bodies = [(m.name, [t.text for t in replacement(m.body)]) for m in source.macros]
    loose = {
        name for name, body in bodies if not all(map(inline_ptx.plain, inline_ptx.statements(body)))
    }
    while more := {n for n, body in bodies if not loose.isdisjoint(body)} - loose:
        loose |= more
    if not loose:
        return found
    for code in (source.syntax.code, *(replacement(m.body) for m in source.macros)):
        found.update(" ".join(t.text for t in use) for use in _uses(code, loose))
    return found


def _uses(code: Sequence[Token], names: set[str]) -> Iterator[Sequence[Token]]:
    """Yield what stands where macros of these names are used, with what is in brackets behind."""
    for at, token in enumerate(code):
        if token.text in names:
            behind = code[at + 1].text if at + 1 < len(code) else ""
            close = closing(code, at + 1) if behind == "(" else at
            yield code[at : len(code) if close is None else close + 1]


def _plain_assembly(listed: Outline) -> Counter[str]:
    """Return the asm statements of device code and its macros that only compute or move."""
    pieces = (*listed.device, *listed.kernels.values(), *listed.macros)
    return Counter(
        " ".join(words)
        for piece in pieces
        if not inline_ptx.WORDS.isdisjoint(piece.tokens)
        for words in inline_ptx.statements(piece.tokens)
        if inline_ptx.plain(words)
    )


def _meanings(source: Source, words: Sequence[str]) -> Iterator[str]:
    """Yield what the macros among words stand for, those that they use included."""
    pending = list(words)
    seen: set[str] = set()
    while pending:
        word = pending.pop()
        for m in source.macros if word not in seen else ():
            if m.name == word:
                yield f"{m.name}={m.body}"
                pending.extend(t.text for t in replacement(m.body) if t.kind == "word")
        seen.add(word)


def _pieces(listed: Outline) -> tuple[Piece, ...]:
    """Return all that device code is made of."""
    every = (listed.device, listed.kernels.values(), listed.macros, listed.constants, listed.types)
    return tuple(piece for some in every for piece in some)


def _device(before: Source, after: Source, old: Outline, new: Outline) -> Iterator[str]:
    """Look at words inside device code."""
    for piece in (*new.device, *new.kernels.values()):
        yield from _static(piece, old)
    # A directive that is none, as `#define A#B`, has words that no token of the source is.
    known = before.words.union(*(piece.tokens for piece in _pieces(old)))
    defined = None
    for piece in _pieces(new):
        for word in piece.tokens:
            if not word.isupper() or len(word) < 2 or word in known or word in _SHOUTED:
                continue
            if _NUMBERS.fullmatch(word):
                continue
            defined = _defined(after) if defined is None else defined
            if word.isidentifier() and word not in defined:
                yield f"line {piece.line}: uses {word}, a macro of unknown meaning"


def _static(piece: Piece, old: Outline) -> Iterator[str]:
    """Refuse static objects and extern declarations inside new device code."""
    words = piece.tokens
    if "static" not in words and "extern" not in words:
        return
    if any(words == p.tokens for p in (*old.device, *old.kernels.values())):
        return
    start = words.index("{") if "{" in words else 0
    was = Counter(w for p in (*old.device, *old.kernels.values()) for w in p.tokens)
    for a, b in pairwise(words[start:]):
        if (
            a == "static"
            and b not in ("const", "constexpr", "__shared__")
            and (was["static"] < Counter(words)["static"])
        ):
            yield f"line {piece.line}: {piece.name} has a static object"
        if a == "extern" and b != "__shared__":
            yield f"line {piece.line}: {piece.name} declares something extern"


def _defined(source: Source) -> set[str]:
    names = {m.name for m in source.macros} | {c.name for c in source.constants}
    for m in source.macros:
        names.update(m.parameters or ())
    for f in source.functions:
        names.add(f.name)
        names.update(t.name for t in f.templates)
        if f.is_kernel or "__device__" in f.qualifiers:
            names.update(v.name for v in f.variables.all)
    return names | set(source.spaces) | set(_aliases(source))


def _aliases(source: Source) -> Iterator[str]:
    """Yield names of template parameters and types, which are often a capital letter."""
    if not any(word in source.text for word in _NAMING):
        return
    words = [t.text for t in source.syntax.code]
    for at, (one, two) in enumerate(pairwise(words)):
        if one == "enum":
            opened = next((k for k in range(at, min(len(words), at + 6)) if words[k] == "{"), None)
            closed = words.index("}", opened) if opened and "}" in words[opened:] else None
            yield from words[opened:closed] if closed else ()
        elif one == "typedef":
            yield words[words.index(";", at) - 1] if ";" in words[at:] else two
        elif one in _COUNTS and words[at + 2 : at + 3] in ([","], [">"], ["="]):
            yield two  # a number that a template takes
        elif one == "__align__":
            yield from words[at + 4 : at + 5]
        elif one in _NAMING:
            yield two
