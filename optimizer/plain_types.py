"""Types that hold nothing but data, or nothing: a candidate may add them for its device code.

`struct Pair { float value; int index; };`, `using Row = float4;` and `typedef float4 Row;`. There
is no function in them, no initializer but numbers, no base and no object of them, so that nothing
runs because they are there; that no host text mentions them is for the caller to see to. So it is
with templates of them, with unions, with enumerations of whole numbers, whose names all are to be
new, and with assertions, which only a compiler sees.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise

from optimizer.tokens import Token

_SIGNS = frozenset({";", ",", "[", "]", "*", "<", ">", "::"})
_REFUSED = frozenset({
    "static", "inline", "extern", "thread_local", "virtual", "friend", "operator", "using",
    "typedef", "template", "typename", "public", "private", "protected", "mutable", "volatile",
    "decltype", "auto", "class", "struct", "union", "enum", "namespace", "asm", "goto", "new",
    "delete", "explicit", "constexpr", "consteval", "concept", "requires", "alignas",
})  # fmt: skip
_RESERVED = frozenset({
    "__half", "__half2", "__nv_bfloat16", "__nv_bfloat162", "__restrict__", "__int128",
})  # fmt: skip
_COUNTING = frozenset({",", "=", "+", "-", "*", "/", "%", "<<", "|", "(", ")", ":"})
_LONGEST = 200  # tokens


def plain_types(
    code: Sequence[Token], macros: Collection[str]
) -> Iterator[tuple[tuple[str, ...], int, int]]:
    """Yield names, first and last token of each plain type; one with a macro in it is none."""
    words = [t.text for t in code]
    for at, word in enumerate(words):
        if at and words[at - 1] not in (";", "}", "{"):
            continue
        if word in ("enum", "static_assert"):
            listed = _enumeration(words, at, macros) if word == "enum" else _assertion(words, at)
            if listed is not None:
                yield listed[0], at, listed[1]
            continue
        start = _behind_template(words, at, macros) if word == "template" else at
        if start is None:
            continue
        one = _type(words, start, macros)
        if one is not None and (word != "template" or words[start] in ("struct", "using")):
            yield (one[0],), at, one[2]


def _type(words: Sequence[str], at: int, macros: Collection[str]) -> tuple[str, int, int] | None:
    """Return name, first and last token of the plain type that begins here."""
    word = words[at] if at < len(words) else ""
    end = next((k for k in range(at, min(len(words), at + _LONGEST)) if words[k] == ";"), None)
    if word in ("struct", "union"):
        found = _struct(words, at)
    elif word not in ("using", "typedef") or end is None:
        found = None
    elif word == "using":
        plain = words[at + 2 : at + 3] == ["="] and _holds_data(words[at + 3 : end], macros)
        found = (words[at + 1], at, end) if plain else None
    else:
        plain = end - at > 2 and _holds_data(words[at + 1 : end], macros)
        found = (words[end - 1], at, end) if plain and words[end - 1].isidentifier() else None
    if found is None or found[0] in macros or not found[0].isidentifier():
        return None
    members = _members(words, found) if word in ("struct", "union") else ()
    return found if not members or _holds_data(members, macros) else None


def _behind_template(words: Sequence[str], at: int, macros: Collection[str]) -> int | None:
    """Return what stands behind `template <typename T, int N>`; None where more is in it."""
    close = next((k for k in range(at, min(len(words), at + 40)) if words[k] == ">"), None)
    if close is None or words[at + 1 : at + 2] != ["<"] or close == at + 2:
        return None
    inside = words[at + 2 : close]
    refused = _REFUSED - {"typename", "class"}
    plain = all(
        (w.isidentifier() and w not in refused and w not in macros) or w in (",", "=", "...")
        or w.isdigit() for w in inside
    )  # fmt: skip
    return close + 1 if plain else None


def _enumeration(
    words: Sequence[str], at: int, macros: Collection[str]
) -> tuple[tuple[str, ...], int] | None:
    """Return the names in `enum [class] [Name] [: int] { A = 2, B };`, and its last token."""
    opened = next((k for k in range(at, min(len(words), at + 8)) if words[k] == "{"), None)
    close = next((k for k in range(at, min(len(words), at + _LONGEST)) if words[k] == "}"), None)
    if opened is None or close is None or words[close : close + 2] != ["}", ";"]:
        return None
    head = [w for w in words[at + 1 : opened] if w not in ("class", "struct")]
    body = words[opened + 1 : close]
    calls = any(a.isidentifier() and b == "(" for a, b in pairwise(body))
    plain = all(w.isidentifier() or w[0].isdigit() or w in _COUNTING for w in (*body, *head))
    known = {*head, *body} & {*_REFUSED, *macros}
    if calls or not plain or known or not body or any(w.startswith("__") for w in (*head, *body)):
        return None
    names = [w for before, w in pairwise(("{", *body)) if before in ("{", ",") and w.isidentifier()]
    named = head[:1] if head and head[0] != ":" else []
    return ((*named, *names), close + 1) if names else None


def _assertion(words: Sequence[str], at: int) -> tuple[tuple[str, ...], int] | None:
    """Return the last token of `static_assert(...);`, in which nothing is defined."""
    end = next((k for k in range(at, min(len(words), at + _LONGEST)) if words[k] == ";"), None)
    if end is None or words[at + 1 : at + 2] != ["("] or words[end - 1] != ")":
        return None
    inside = words[at + 2 : end - 1]
    return None if {"{", "}", "[", "asm", "__asm__", "operator"} & set(inside) else ((), end)


def _struct(words: Sequence[str], at: int) -> tuple[str, int, int] | None:
    """Return name, first and last token of `struct __align__(8) Name { ... };`."""
    name = at + 1
    if words[name : name + 2] in (["__align__", "("], ["alignas", "("]):
        if words[name + 3 : name + 4] != [")"] or not words[name + 2].isdigit():
            return None
        name += 4
    if words[name + 1 : name + 2] != ["{"]:
        return None
    close = name + 2
    while close < min(len(words), name + _LONGEST) and words[close] != "}":
        step = _initializer(words, close) if words[close] == "{" else 1
        if not step:
            return None
        close += step
    if words[close : close + 2] != ["}", ";"]:
        return None
    return words[name], at, close + 1


def _members(words: Sequence[str], found: tuple[str, int, int]) -> Sequence[str]:
    """Return what the members are declared with, without the numbers they begin with."""
    at = words.index("{", found[1]) + 1
    kept: list[str] = []
    while at < found[2] - 1:
        skipped = _initializer(words, at)
        if not skipped:
            kept.append(words[at])
        at += skipped or 1
    return kept


def _initializer(words: Sequence[str], at: int) -> int:
    """Return how many words `= 1.f`, `= -1`, `{}` or `{0}` take here; 0 of anything else."""
    opened = words[at] == "{"
    if not opened and words[at] != "=":
        return 0
    end = at + 1
    end += words[end : end + 1] == ["-"]
    number = words[end] if end < len(words) else ""
    if number[:1].isdigit() or number[:1] == "." or number in ("true", "false"):
        end += 1
    elif not opened or end > at + 1:
        return 0
    after = words[end] if end < len(words) else ""
    if opened:
        return end + 1 - at if after == "}" else 0
    return end - at if after in (",", ";") else 0


def _holds_data(words: Sequence[str], macros: Collection[str]) -> bool:
    """Return whether these words can only declare data, or name a type of it."""
    for word in words:
        if word[0].isalpha() or word[0] == "_":
            if word in _REFUSED or word in macros:
                return False
            if word.startswith("__") and word not in _RESERVED:
                return False
        elif not word.isdigit() and word not in _SIGNS:
            return False
    return bool(words)
