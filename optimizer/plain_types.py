"""Types that hold nothing but data, or nothing: a candidate may add them for its device code.

`struct Pair { float value; int index; };`, `using Row = float4;` and `typedef float4 Row;`. There
is no function in them, no initializer, no base and no object of them, so that nothing runs because
they are there; that no host text mentions them is for the caller to see to.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

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
_LONGEST = 200  # tokens


def plain_types(code: Sequence[Token], macros: Collection[str]) -> Iterator[tuple[str, int, int]]:
    """Yield name, first and last token of each plain type; one with a macro in it is none."""
    words = [t.text for t in code]
    for at, word in enumerate(words):
        if word not in ("struct", "using", "typedef"):
            continue
        if at and words[at - 1] not in (";", "}", "{"):
            continue
        end = next((k for k in range(at, min(len(words), at + _LONGEST)) if words[k] == ";"), None)
        if word == "struct":
            found = _struct(words, at)
        elif end is None:
            found = None
        elif word == "using":
            plain = words[at + 2 : at + 3] == ["="] and _holds_data(words[at + 3 : end], macros)
            found = (words[at + 1], at, end) if plain else None
        else:
            plain = end - at > 2 and _holds_data(words[at + 1 : end], macros)
            found = (words[end - 1], at, end) if plain and words[end - 1].isidentifier() else None
        if found is None or found[0] in macros or not found[0].isidentifier():
            continue
        members = _members(words, found) if word == "struct" else ()
        if not members or _holds_data(members, macros):
            yield found


def _struct(words: Sequence[str], at: int) -> tuple[str, int, int] | None:
    """Return name, first and last token of `struct __align__(8) Name { ... };`."""
    name = at + 1
    if words[name : name + 2] in (["__align__", "("], ["alignas", "("]):
        if words[name + 3 : name + 4] != [")"] or not words[name + 2].isdigit():
            return None
        name += 4
    if words[name + 1 : name + 2] != ["{"]:
        return None
    close = next(
        (k for k in range(name + 2, min(len(words), name + _LONGEST)) if words[k] in "{}"), None
    )
    if close is None or words[close : close + 2] != ["}", ";"]:
        return None
    return words[name], at, close + 1


def _members(words: Sequence[str], found: tuple[str, int, int]) -> Sequence[str]:
    first = words.index("{", found[1])
    return words[first + 1 : found[2] - 1]


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
