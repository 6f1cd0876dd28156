"""Layer 1 of verification: a candidate stays within device code, its constants and launch geometry.

The outlines of both texts (`optimizer.outline`: everything that is not device code, its constants
or launch geometry) must be equal token by token; what was taken out of them is looked at by kind.
The test is lexical and one-sided: what is not understood counts as host text and may not change.
It is the first fence of several, not a sandbox.

What a candidate may do
    change bodies of `__global__` and `__device__` functions; add and remove `__device__`
    functions; add const, `__restrict__`, launch bounds to a kernel; add a `__global__` function
    when it is launched in place of one with the same parameter types; change launch geometry and
    locals that only geometry uses; add or change macros, numeric constants and
    `__constant__`/`__device__`/`__shared__` variables that no host text mentions; add types that
    hold nothing but data under names that the original has nowhere.

    add headers of the toolkit for device code, short names for them (`optimizer.toolkit`),
    assembly that only computes or moves (`optimizer.inline_ptx`), and the statement that lets a
    kernel have the shared memory its launch asks for.

What it may not
    everything else, so: other `#include`, `#if`, `#undef`, `#line`, pragmas other than unroll and
    nv_diag, host functions, static objects, other types, assembly or attributes that the original
    lacks, macros that host text would meet, and lexical tricks (digraphs, trigraphs, continued
    lines, control characters, letters outside ASCII in names).
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise

from optimizer import inline_ptx
from optimizer.outline import Outline, Piece, arithmetic, called, outline
from optimizer.source import Source
from optimizer.tokens import Token, code_tokens, tokens
from optimizer.toolkit import is_device_header

_PRAGMAS = re.compile(r"(unroll|nounroll|nv_diag\w*|nv_diagnostic)$")
_GUARDED = (
    "__host__", "__managed__", "__attribute__", "__declspec", "_Pragma", "__pragma", "asm",
    "__asm__", "__asm", "virtual", "__cluster_dims__", "__block_size__", "friend", "import",
    "module", "export", "constructor", "thread_local", "__thread", "typeid", "operator",
    "gnu", "__gnu__", "clang", "ifunc", "init_array",
)  # fmt: skip
# Attributes in double brackets that only tell the compiler what it may assume.
_HARMLESS = frozenset({
    "maybe_unused", "nodiscard", "likely", "unlikely", "fallthrough", "noreturn", "assume",
})  # fmt: skip
_GEOMETRY_CALLS = frozenset({
    "dim3", "min", "max", "sizeof", "ceil", "ceilf", "floor", "int", "unsigned", "float", "double",
    "size_t", "static_cast",
})  # fmt: skip
_DECLARING = frozenset({"=", "auto", "const", "constexpr"})
_SHOUTED = frozenset({
    "INFINITY", "NAN", "NULL", "FLT_MAX", "FLT_MIN", "FLT_EPSILON", "DBL_MAX", "DBL_MIN",
    "DBL_EPSILON", "INT_MAX", "INT_MIN", "UINT_MAX", "LLONG_MAX", "CUDART_INF_F", "CUDART_NAN_F",
    "M_PI", "M_PI_F", "CUDART_PI_F", "CHAR_BIT", "ULLONG_MAX", "SHRT_MAX", "HUGE_VALF",
    "HUGE_VAL", "SHRT_MIN", "USHRT_MAX", "SCHAR_MAX", "SCHAR_MIN", "UCHAR_MAX", "CHAR_MAX",
    "CHAR_MIN", "LONG_MAX", "LONG_MIN", "ULONG_MAX", "LLONG_MIN", "SIZE_MAX", "FLT_DIG", "DBL_DIG",
    "FLT_MANT_DIG", "DBL_MANT_DIG", "FLT_TRUE_MIN", "DBL_TRUE_MIN", "M_E", "M_LOG2E", "M_LOG10E",
    "M_LN2", "M_LN10", "M_PI_2", "M_PI_4", "M_1_PI", "M_2_PI", "M_2_SQRTPI", "M_SQRT2",
    "M_SQRT1_2",
})  # fmt: skip
# Numbers of CUDA's own headers and of the C standard's.
_NUMBERS = re.compile(r"CUDART_[A-Z0-9_]+|U?INT(?:_FAST|_LEAST|)(?:8|16|32|64)_(?:MAX|MIN)")
_DIGRAPH = re.compile(r"<%|%>|<:|:>|%:")
_TRIGRAPH = re.compile(r"\?\?[=/'()!<>-]")
_CONTINUED = re.compile(r"(\S?)[ \t]*\\[ \t]*\r?\n\s*(\S?)")
_FOREIGN = re.compile(r"[^\x00-\x7f]")
_UNUSUAL = re.compile(r"\r(?!\n)|[^\r\n\t -~]")
_CONTROLLING = frozenset({"Cc", "Cf", "Zl", "Zp", "Cs", "Co"})
_MOST = 12


@lru_cache(maxsize=256)  # the search asks before it spends a job, the evaluator for itself
def violations(original: str, candidate: str, *, allow_host: bool = False) -> tuple[str, ...]:
    """Return what a candidate changes beyond its boundary, a sentence each; empty when inside.

    With `allow_host` (`edit: host`) statements, functions and geometry of the host may change,
    too; most includes, pragmas, assembly, attributes and lexical tricks are refused all the same.
    Never raises.
    """
    if original == candidate:
        return ()
    found = [*_tricks(original, candidate)]
    before, after = Source(original), Source(candidate)
    old = _original(before)
    new = outline(after, old)
    found.extend(_directives(old, new, allow_host))
    if old.inactive != new.inactive:
        found.append("changes text that #if turns off")
    found.extend(_guarded(before, after, old, new, allow_host))
    if not allow_host:
        found.extend(_host(after, old, new))
        found.extend(_named(before, after, old, new))
        found.extend(_geometry(before, old, new))
    found.extend(_conditionals(before, after))
    return tuple(dict.fromkeys(found))[:_MOST]


@lru_cache(maxsize=16)
def _original(source: Source) -> Outline:
    """Return the outline of an original, which many candidates are compared with."""
    return outline(source)


# -- the host's text --


def _host(after: Source, old: Outline, new: Outline) -> Iterator[str]:
    """Compare what has to stay."""
    if old.tokens != new.tokens:
        at = next(
            (i for i, (a, b) in enumerate(zip(old.tokens, new.tokens, strict=False)) if a != b),
            min(len(old.tokens), len(new.tokens)),
        )
        line = after.line(new.starts[min(at, len(new.starts) - 1)]) if new.starts else 1
        was = " ".join(old.tokens[at : at + 6]) or "nothing"
        now = " ".join(new.tokens[at : at + 6]) or "nothing"
        yield f"line {line}: changes text outside device code: `{now}` for `{was}`"
    for name, types in old.kernels:
        if (name, types) not in new.kernels:
            yield f"removes kernel {name} or changes its parameters"
    for (name, types), piece in new.kernels.items():
        if (name, types) in old.kernels:
            continue
        if name not in new.launched:
            yield f"line {piece.line}: adds kernel {name}, which nothing launches"


def _words(listed: Outline) -> set[str]:
    """Return the words that host text and preprocessor conditions hold."""
    found = {t for t in listed.tokens if t[:1].isalpha() or t[:1] in "_$"}
    found = {t for t in found if not t.startswith(("KERNEL(", "HEAD("))}
    for d in listed.directives:
        if d.name not in ("pragma", "include"):
            found.update(d.tokens[1:])
    found.update(w for w in listed.inactive if w[:1].isalpha() or w[:1] == "_")
    return found


def _table(pieces: Sequence[Piece]) -> dict[str, list[tuple[str, ...]]]:
    found: dict[str, list[tuple[str, ...]]] = {}
    for p in pieces:
        found.setdefault(p.name, []).append(p.tokens)
    return found


def _named(before: Source, after: Source, old: Outline, new: Outline) -> Iterator[str]:
    """Refuse changed or new names that host text would meet."""
    kinds = (
        ("macro", old.macros, new.macros),
        ("constant", old.constants, new.constants),
        ("variable", old.variables, new.variables),
    )
    changed: dict[str, tuple[str, bool, int]] = {}
    for kind, was, now in kinds:
        a, b = _table(was), _table(now)
        lines = {p.name: p.line for p in (*was, *now)}
        for name in sorted(a.keys() | b.keys()):
            if a.get(name) != b.get(name):
                changed[name] = (kind, name not in a, lines[name])
    for piece in new.types:
        changed[piece.name] = ("type", True, piece.line)
        if piece.name in before.words:
            yield f"line {piece.line}: gives the original's {piece.name} another meaning"
    for name in {p.name for p in new.device} - {p.name for p in old.device}:
        changed[name] = ("__device__ function", True, _line_of(new.device, name))
    for name in {k[0] for k in new.kernels} - {k[0] for k in old.kernels}:
        changed[name] = ("kernel", True, _line_of(list(new.kernels.values()), name))
    if not changed:
        return
    host = _words(old) | _words(new)
    spread = _spread(set(changed), (*old.macros, *old.constants, *new.macros, *new.constants))
    for name, (kind, added, line) in changed.items():
        verb = "adds" if added else "changes"
        if name in host:
            yield f"line {line}: {verb} {kind} {name}, which host text uses"
        elif kind == "macro":
            yield from _macro(before, after, new, name, line, added)
    for name in sorted((spread - set(changed)) & host):
        yield f"changes what {name} stands for, which host text uses"


def _line_of(pieces: Sequence[Piece], name: str) -> int:
    return next((p.line for p in pieces if p.name == name), 1)


def _spread(changed: set[str], pieces: Sequence[Piece]) -> set[str]:
    """Return the names whose definitions mention a changed name, through any number of steps."""
    found = set(changed)
    while True:
        more = {p.name for p in pieces if p.name not in found and found & set(p.tokens)}
        if not more:
            return found
        found |= more


def _macro(
    before: Source, after: Source, new: Outline, name: str, line: int, added: bool
) -> Iterator[str]:
    """Look at a macro that differs and that no host text of this file meets."""
    if name.startswith("_") or name in _KEYWORDS:
        yield f"line {line}: defines the reserved name {name}"
    del before
    for m in after.macros:
        if m.name != name:
            continue
        later = [d for d in after.syntax.masked.directives if d.start > m.end]
        if any(d.word == "include" and (added or '"' in d.rest) for d in later):
            yield f"line {line}: defines {name} before an #include, which may meet it"
    for p in new.macros:
        if p.name == name and not _balanced(p.tokens):
            yield f"line {line}: macro {name} opens or closes brackets it does not pair"


_KEYWORDS = frozenset({
    "if", "else", "for", "while", "do", "return", "int", "float", "double", "char", "void", "const",
    "static", "struct", "class", "template", "typename", "namespace", "using", "sizeof", "bool",
    "unsigned", "long", "short", "auto", "main", "extern", "switch", "case", "break", "continue",
    "true", "false", "defined", "inline", "signed", "volatile", "new", "delete", "this", "public",
})  # fmt: skip


def _balanced(words: Sequence[str]) -> bool:
    pairs = {")": "(", "]": "[", "}": "{"}
    stack: list[str] = []
    for word in words:
        if word in ("(", "[", "{"):
            stack.append(word)
        elif word in pairs and (not stack or stack.pop() != pairs[word]):
            return False
    return not stack


# -- launch geometry --


def _geometry(before: Source, old: Outline, new: Outline) -> Iterator[str]:
    """Refuse geometry that does more than arithmetic."""
    same = {p.tokens for p in old.geometry}
    calls = frozenset(c for p in old.geometry for c in called(p.tokens)) | _GEOMETRY_CALLS
    known = before.words | {v for _, v in new.locals} | {p.name for p in new.constants}
    known |= {p.name for p in new.macros} | _GEOMETRY_CALLS | _DECLARING | {"std"}
    for p in new.geometry:
        if p.tokens in same:
            continue
        allowed = calls if p.name == "launch" else calls | _DECLARING
        if not arithmetic(p.tokens, allowed) or _template_call(p.tokens):
            yield f"line {p.line}: launch geometry that is more than arithmetic"
        for before_it, word in pairwise(("", *p.tokens)):
            if before_it == "." and word in ("x", "y", "z"):  # of a dim3
                continue
            if (word[0].isalpha() or word[0] == "_") and word not in known:
                yield f"line {p.line}: launch geometry uses {word}, which the original lacks"
    yield from _geometry_macros(old, new, calls)


def _geometry_macros(old: Outline, new: Outline, calls: frozenset[str]) -> Iterator[str]:
    """Refuse changed macros that geometry reaches and that are more than arithmetic."""
    were = _table(old.macros)
    bodies = _table(new.macros)
    pending = [w for p in new.geometry for w in p.tokens]
    seen: set[str] = set()
    while pending:
        word = pending.pop()
        if word in seen or word not in bodies:
            continue
        seen.add(word)
        for words in bodies[word]:
            pending.extend(words)
            body = words[words.index("=") + 1 :]
            if words not in were.get(word, []) and not arithmetic(body, calls):
                yield f"launch geometry uses macro {word}, which is more than arithmetic"


def _template_call(words: Sequence[str]) -> bool:
    """Return whether `f<...>(` occurs, which may call anything."""
    return any(
        a in (">", ">>") and b == "(" and "static_cast" not in words for a, b in pairwise(words)
    )


# -- words that need a reason --


def _guarded(
    before: Source, after: Source, old: Outline, new: Outline, allow_host: bool
) -> Iterator[str]:
    """Refuse more of the words that reach beyond device code than the original had."""
    was, now = _counts(before), _counts(after)
    for word in _GUARDED:
        if word == "operator" and allow_host:
            continue
        more = _arithmetic(new) - _arithmetic(old) if word == "operator" else 0
        if word in inline_ptx.WORDS:
            more = sum(1 for s in (_plain_assembly(new) - _plain_assembly(old)).elements()
                       if s.startswith(f"{word} "))  # fmt: skip
        if now[word] > was[word] + max(0, more):
            yield f"uses {word} where the original does not"
    for name in (_attributes(after) - _attributes(before)).keys() - _HARMLESS:
        yield f"uses attribute [[{name}]] where the original does not"
    added = _assembly(after) - _assembly(before)
    if any(not statement.startswith(tuple(_plain_assembly(new))) for statement in added):
        yield "changes inline assembly"
    if not allow_host:
        yield from _device(before, after, old, new)
        for p in old.macros:
            if not _balanced(p.tokens) and now[p.name] != was[p.name]:
                yield f"uses macro {p.name}, which opens or closes brackets, otherwise than before"


def _arithmetic(listed: Outline) -> int:
    """Count operators that device code defines for types: a host that met one would not compile."""
    return sum(
        one == "operator" and two in _ARITHMETIC
        for piece in listed.device
        for one, two in pairwise(piece.tokens[: piece.tokens.index("(") + 1])
    )


_ARITHMETIC = frozenset({"+", "-", "*", "/", "+=", "-=", "*=", "/=", "(", "<", ">", "=="})


def _device(before: Source, after: Source, old: Outline, new: Outline) -> Iterator[str]:
    """Look at words inside device code."""
    for piece in (*new.device, *new.kernels.values()):
        yield from _static(piece, old)
    known, defined = before.words, None
    for piece in (*new.device, *new.kernels.values(), *new.macros, *new.constants):
        for word in piece.tokens:
            if not word.isupper() or len(word) < 2 or word in known or word in _SHOUTED:
                continue
            if _NUMBERS.fullmatch(word):
                continue
            defined = _defined(after) if defined is None else defined
            if word.isidentifier() and word not in defined:
                yield f"line {piece.line}: uses {word}, a macro of unknown meaning"


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
        elif one == "__align__":
            yield from words[at + 4 : at + 5]
        elif one in _NAMING:
            yield two


_NAMING = ("typename", "class", "struct", "using", "enum", "typedef")


@lru_cache(maxsize=8)
def _counts(source: Source) -> Counter[str]:
    found = Counter(t.text for t in source.syntax.masked.tokens if t.kind == "word")
    for m in source.macros:
        found.update(t.text for t in tokens(m.body) if t.kind == "word")
    return found


@lru_cache(maxsize=8)  # of the original, again and again
def _attributes(source: Source) -> Counter[str]:
    """Count what stands first in double brackets, which begin nothing but attributes.

    A section, an alias or a constructor named there reaches into the host's object file, even on a
    device variable: the host has a shadow of it.
    """
    found: Counter[str] = Counter()
    for code in (source.syntax.code, *(code_tokens(m.body) for m in source.macros)):
        for at, (one, two) in enumerate(pairwise(code)):
            if one.text == "[" == two.text:
                first = [t.text for t in code[at + 2 : at + 3]]
                after = [t.text for t in code[at + 3 : at + 4]]
                plain = first and after in (["]"], ["("])
                found[first[0] if plain else " ".join([*first, *after])] += 1
    return found


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
                pending.extend(t.text for t in tokens(m.body) if t.kind == "word")
        seen.add(word)


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


def _directives(old: Outline, new: Outline, allow_host: bool) -> Iterator[str]:
    """Compare preprocessor lines, free pragmas aside, in order."""
    a = [d for d in old.directives if not _free(d)]
    kept = {d.tokens for d in a}
    b = [d for d in new.directives if not _free(d) and not _device_header(d, kept, allow_host)]
    if [d.tokens for d in a] == [d.tokens for d in b]:
        return
    extra = Counter(d.tokens for d in b) - Counter(d.tokens for d in a)
    for d in b:
        if d.tokens in extra:
            yield f"line {d.line}: adds #{' '.join(d.tokens)}"
    gone = Counter(d.tokens for d in a) - Counter(d.tokens for d in b)
    for words in gone:
        yield f"removes #{' '.join(words)}"
    if not extra and not gone:
        yield "moves preprocessor lines"


def _device_header(d: Piece, kept: set[tuple[str, ...]], allow_host: bool) -> bool:
    """Tell whether this line brings in a header for device code that the original had not."""
    new = d.name == "include" and d.tokens not in kept
    return new and is_device_header(d.tokens, hosted=allow_host)


def _free(d: Piece) -> bool:
    return d.name == "pragma" and len(d.tokens) > 1 and bool(_PRAGMAS.match(d.tokens[1]))


def _conditionals(before: Source, after: Source) -> Iterator[str]:
    """Refuse branches of `#if` in changed device code whose brackets do not pair."""
    for f in after.functions:
        if not f.conditional or not (f.is_kernel or "__device__" in f.qualifiers):
            continue
        text = after.text[f.span[0] : f.span[1]]
        if text in before.text:
            continue
        marks = [
            d
            for d in after.syntax.masked.directives
            if f.span[0] <= d.start < f.span[1] and d.word.startswith(("if", "el", "endif"))
        ]
        for one, two in pairwise(marks):
            words = [
                t.text
                for t in after.syntax.masked.tokens
                if one.end <= t.start < two.start and t.kind == "mark"
            ]
            if one.word != "endif" and not _balanced(words):
                yield f"changes {f.name}, in which #if branches split a statement"
                break


# -- tricks --


def _tricks(original: str, candidate: str) -> Iterator[str]:
    """Refuse text that compilers may read otherwise than we do."""
    # Blanks in the place of comments and strings bring no marks together: none before, none after.
    if _DIGRAPH.search(candidate) and (
        len(_DIGRAPH.findall(_code(candidate))) > len(_DIGRAPH.findall(_code(original)))
    ):
        yield "uses digraphs"
    if len(_TRIGRAPH.findall(candidate)) > len(_TRIGRAPH.findall(original)):
        yield "uses trigraphs"
    if _continued(candidate) - _continued(original):
        yield "continues lines with a backslash outside macros"
    if _odd(candidate) - _odd(original):
        yield "has control characters that the original lacks"
    if not candidate.isascii() and (
        set(_FOREIGN.findall(_code(candidate))) - set(_FOREIGN.findall(_code(original)))
    ):
        yield "has letters outside ASCII in code"
    if 'R"' in candidate:
        raw = [t.text for t in tokens(candidate) if t.kind == "directive" and 'R"' in t.text]
        if any(text not in original for text in raw):
            yield "has a raw string in a preprocessor line"


@lru_cache(maxsize=8)  # of the original, again and again
def _code(text: str) -> str:
    return "".join(" " if t.kind in ("comment", "string", "char") else t.text for t in tokens(text))


@lru_cache(maxsize=8)
def _continued(text: str) -> Counter[tuple[str, str]]:
    """Count what stands around each backslash that joins lines, macros aside."""
    if "\\" not in text:
        return Counter()
    found = tokens(text)
    return Counter(
        around
        for i, t in enumerate(found)
        if "\\" in t.text and (around := _joined(found, i, t)) is not None
    )


def _joined(found: Sequence[Token], i: int, t: Token) -> tuple[str, str] | None:
    """Return what stands around a token that joins lines, None for one that does not."""
    if t.kind not in ("space", "comment", "string", "char", "other"):
        return None
    if t.kind in ("string", "char") and "\\\n" not in t.text.replace("\r", ""):
        return None
    if t.kind == "comment" and (t.text.startswith("/*") or not _CONTINUED.search(t.text)):
        return None
    # Blanks around it, and whether there are any, make no difference.
    before = next((o.text for o in reversed(found[:i]) if o.kind != "space"), "")
    behind = next((o.text for o in found[i + 1 :] if o.kind != "space"), "")
    return (before if t.kind == "space" else t.text), behind


@lru_cache(maxsize=8)
def _odd(text: str) -> Counter[str]:
    """Count control, format and separator characters, lone carriage returns included."""
    return Counter(
        c for c in _UNUSUAL.findall(text) if c == "\r" or unicodedata.category(c) in _CONTROLLING
    )
