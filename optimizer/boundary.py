"""Layer 1 of verification: a candidate stays within device code, its constants and launch geometry.

The outlines of both texts (`optimizer.outline`: everything that is not device code, its constants
or launch geometry) must be equal token by token; what was taken out of them is looked at by kind.
The test is lexical and one-sided: what is not understood counts as host text and may not change.
It is the first fence of several, not a sandbox.

What a candidate may do
    change bodies of `__global__` and `__device__` functions; add and remove `__device__`
    functions; add const, `__restrict__`, launch bounds, cluster sizes (`__cluster_dims__`), numbers
    as template parameters to a kernel; add a `__global__` function when it is launched in place of
    one with the same parameter types; change launch geometry and locals that only geometry uses;
    add or change macros (and `#undef` them again), numeric constants and `__constant__`,
    `__device__` and `__shared__` variables that no host text mentions; add types and
    enumerations that hold nothing but data and device functions, or templates of such types, under
    names that the original has nowhere, or that device code of the original gives to the very same
    number (`optimizer.same_alias`), and in no class of the original, which gets device functions
    where device code alone uses it (`optimizer.class_members`);
    derive such a type from another of its own, and specialise a template of its own, where every
    header is known (`optimizer.compile_time.met_template`): what stands inside such a type, by any
    name, is found through it alone, and so are operators that are its friends and take it;
    do without types and headers that its device code alone had (`optimizer.gone`), and with or
    without a line for the header that nvcc includes by itself (`optimizer.toolkit`);
    assert what the compiler can check; add constexpr functions that only compute, for tables of
    device code, and such functions for device and host alike (`optimizer.compile_time`).

    add headers of the toolkit for device code, short names for them (`optimizer.toolkit`),
    assembly that only computes, moves, waits and synchronises, with branches inside its own braces
    (`optimizer.inline_ptx`), and the statement that lets a kernel have the shared memory its launch
    asks for.

What it may not
    everything else, so: other `#include`, `#if`, `#undef`, `#line`, pragmas other than unroll and
    nv_diag, host functions, static objects, other types, assembly or attributes that the original
    lacks, however macros would bring them, macros that host text would meet, launch attributes that
    the host sets (clusters, programmatic dependence), and lexical tricks (digraphs, trigraphs,
    continued lines, control characters, letters outside ASCII in names), and reads through the
    read-only path of what the same kernel writes (`optimizer.read_only`), which CUDA forbids and no
    run need show.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise

from optimizer import class_members, geometry_text
from optimizer.compile_time import met, met_template, parts_of, unknown_header
from optimizer.directives import replacement
from optimizer.gone import headers_gone, without_types
from optimizer.guarded_words import beyond_original
from optimizer.lexical_tricks import tricks
from optimizer.outline import Outline, Piece, outline
from optimizer.outline_text import within
from optimizer.outline_words import made_of
from optimizer.read_only import reads_its_own
from optimizer.renumbering import known_inside, note_inside
from optimizer.same_alias import same_alias
from optimizer.source import Source
from optimizer.tokens import balanced
from optimizer.toolkit import OPENED_WITH_CARE, is_ahead, is_device_header

_PRAGMAS = re.compile(r"(unroll|nounroll|nv_diag\w*|nv_diagnostic)$")
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
    before, after = Source(original), Source(candidate)
    if known_inside(original, after, allow_host=allow_host):
        return ()
    found = [*tricks(original, candidate)]
    old = _original(before)
    new = _without_own(outline(after, old), before)
    if not allow_host:
        old = without_types(before, old, after, new)
    found.extend(_directives(old, new, allow_host))
    if old.inactive != new.inactive:
        found.append("changes text that #if turns off")
    found.extend(beyond_original(before, after, old, new, allow_host))
    if not allow_host:
        found.extend(_host(after, old, new))
        found.extend(_named(before, after, old, new))
        found.extend(geometry_text.beyond(before, after, old, new))
    found.extend(_conditionals(before, after))
    if reads_its_own(candidate) and not reads_its_own(original):
        found.append("reads through the read-only path (__ldg) what the same kernel writes")
    if not found:
        note_inside(original, after, old, new, allow_host=allow_host)
    return tuple(dict.fromkeys(found))[:_MOST]


@lru_cache(maxsize=16)
def _original(source: Source) -> Outline:
    """Return the outline of an original, which many candidates are compared with."""
    return outline(source)


def _without_own(listed: Outline, before: Source) -> Outline:
    """Return an outline without `#undef` of macros that a candidate has brought itself."""
    own = {m.name: m.line for m in reversed(listed.macros)}

    def mine(d: Piece) -> bool:
        name = d.tokens[1] if d.name == "undef" and len(d.tokens) == 2 else ""
        known = name in before.words or name.startswith("_")
        return bool(name) and not known and own.get(name, d.line) < d.line

    if not any(map(mine, listed.directives)):
        return listed
    return replace(listed, directives=[d for d in listed.directives if not mine(d)])


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
        a, b = _table(was), _table([p for p in now if not within(p, new.types)])
        lines = {p.name: p.line for p in (*was, *now)}
        for name in sorted(a.keys() | b.keys()):
            if a.get(name) != b.get(name):
                changed[name] = (kind, name not in a, lines[name])
    yield from _another_meaning(before, after, old, new)
    yield from _opened(before, after, old, new)
    fresh = [p for _, was, now in kinds[1:] for p in now if p.name not in _table(was)]
    yield from class_members.added(before, after, [*new.types, *fresh])
    yield from class_members.device_functions(before, after, old, new)
    changed |= {p.name: ("type", True, p.line) for p in new.types}
    changed |= {p.name: ("constexpr function", True, p.line) for p, _ in new.computing}
    host = _words(old) | _words(new)
    device = [p for p in (*new.device, *new.declared) if not within(p, new.types)]
    theirs = {p.name: p for p in (*old.device, *old.declared)}
    met_by_host = host.union(*(m.tokens for m in old.macros))
    heads = {class_members.head_of(p) for p in (*old.device, *old.declared)}
    for p in device:
        if p.name in theirs and class_members.head_of(p) not in heads and p.name in met_by_host:
            yield f"line {p.line}: adds an overload of {p.name}, which host text uses"
    for name in {p.name for p in device} - theirs.keys():
        changed[name] = ("__device__ function", True, _line_of(device, name))
    for name in {k[0] for k in new.kernels} - {k[0] for k in old.kernels}:
        changed[name] = ("kernel", True, _line_of(list(new.kernels.values()), name))
    if not changed:
        return
    constants = [p for p in new.constants if not within(p, new.types)]
    spread = _spread(set(changed), (*old.macros, *old.constants, *new.macros, *constants))
    for name, (kind, added, line) in changed.items():
        verb = "adds" if added else "changes"
        if name in host:
            yield f"line {line}: {verb} {kind} {name}, which host text uses"
        elif kind == "macro":
            yield from _macro(before, after, new, name, line, added)
    for name in sorted((spread - set(changed)) & host):
        yield f"changes what {name} stands for, which host text uses"


def _another_meaning(before: Source, after: Source, old: Outline, new: Outline) -> Iterator[str]:
    """Refuse new types and constexpr functions by names that may mean something else already."""
    for piece in new.types:
        if piece.name in before.code_words and not same_alias(piece, before, after, old, new):
            yield f"line {piece.line}: gives the original's {piece.name} another meaning"
    pasting = any("##" in m.body for m in before.macros)
    for piece in new.types if pasting else ():
        if piece.name not in before.code_words and made_of(piece.name, parts_of(before)):
            yield f"line {piece.line}: adds {piece.name}, a name that macros could put together"
    for piece in new.members:
        if not within(piece, new.types):
            yield f"line {piece.line}: adds {piece.name} to a class that is not all its own"
    for piece, spaces in new.special:
        if how := met_template(piece.name, spaces, before, after):
            yield f"line {piece.line}: says something of template {piece.name}, {how}"
    for piece, spaces in new.computing:
        if how := met(piece.name, spaces, before, after):
            yield f"line {piece.line}: adds constexpr function {piece.name}, {how}"


def _opened(before: Source, after: Source, old: Outline, new: Outline) -> Iterator[str]:
    """Refuse to open a namespace of which host text has a name, by whatever it means it.

    Host text is all that stands in no body of device code, macros, and geometry; macros of headers
    that nobody knows could have such a name, too. What is asked of an object by `.` or of `std` is
    looked up there.
    """
    if not new.opened:
        return
    code = [t for t in before.syntax.code if t.kind != "directive"]
    found = {t.text for m in before.macros for t in replacement(m.body)}
    found |= {word for d in old.directives for word in d.tokens if d.name != "include"}
    found |= {word for p in (*old.geometry, *new.geometry) for word in p.tokens}
    found |= {name for name, _ in old.kernels} | set(old.inactive)
    bodies = iter([*sorted(old.bodies), (len(before.text), len(before.text))])
    low, high = next(bodies)
    for i, t in enumerate(code):
        while t.start >= high:
            low, high = next(bodies)
        if low <= t.start or t.kind != "word":
            continue
        first, last = ("", "", *(c.text for c in code[max(i - 2, 0) : i]))[-2:]
        behind = code[i + 1].text if i + 1 < len(code) else ""
        elsewhere = (last in (".", "->") and behind != "<") or (first, last) == ("std", "::")
        if not elsewhere:
            found.add(t.text)
    for piece in new.opened:
        for name in sorted(OPENED_WITH_CARE[piece.name] & found)[:1]:
            yield f"line {piece.line}: opens {piece.name}, of which host text has the name {name}"
        if header := unknown_header(before, after):
            yield f"line {piece.line}: opens {piece.name}, whose names {header} could have"


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
        if p.name == name and not balanced(p.tokens):
            yield f"line {line}: macro {name} opens or closes brackets it does not pair"


_KEYWORDS = frozenset({
    "if", "else", "for", "while", "do", "return", "int", "float", "double", "char", "void", "const",
    "static", "struct", "class", "template", "typename", "namespace", "using", "sizeof", "bool",
    "unsigned", "long", "short", "auto", "main", "extern", "switch", "case", "break", "continue",
    "true", "false", "defined", "inline", "signed", "volatile", "new", "delete", "this", "public",
    "constexpr", "consteval", "constinit", "noexcept", "enum", "union", "typedef", "operator",
    "decltype", "friend", "virtual", "explicit", "static_cast", "const_cast", "reinterpret_cast",
    "static_assert", "alignas", "goto", "throw", "try", "catch", "private", "protected", "mutable",
})  # fmt: skip


def _directives(old: Outline, new: Outline, allow_host: bool) -> Iterator[str]:
    """Compare preprocessor lines, free pragmas aside, in order."""
    left = headers_gone(old, new, hosted=allow_host)
    a = [d for d in old.directives if not _free(d) and d.tokens not in left]
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
    """Tell whether a line says nothing that counts: how loops unroll, or what is there anyway."""
    if d.name == "pragma":
        return len(d.tokens) > 1 and bool(_PRAGMAS.match(d.tokens[1]))
    return is_ahead(d.tokens)


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
            if one.word != "endif" and not balanced(words):
                yield f"changes {f.name}, in which #if branches split a statement"
                break
