"""Calls that no name right in front of a bracket tells of: `(setup)(n)`, `table[0](n)`, `setup M`.

The last is one where a macro M begins with a bracket. Casts look alike, so what stands in brackets
in front of others has to be known for a type.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

_KEYWORDS = frozenset({
    "int", "unsigned", "signed", "long", "short", "char", "bool", "float", "double",
})  # fmt: skip
_WIDTHS = ("8", "16", "32", "64")
_VECTORS = ("char", "uchar", "short", "ushort", "int", "uint", "long", "ulong", "longlong",
            "ulonglong", "float", "double")  # fmt: skip
# Names of numbers and small vectors of them, of the language and of CUDA.
TYPES = frozenset({
    *_KEYWORDS, *(f"{sign}int{width}_t" for sign in ("", "u") for width in _WIDTHS),
    "size_t", "ssize_t", "ptrdiff_t", "intptr_t", "uintptr_t", "uint", "ushort", "uchar", "ulong",
    *(f"{kind}{count}" for kind in _VECTORS for count in "1234"), "dim3",
    "half", "half2", "__half", "__half2", "nv_bfloat16", "nv_bfloat162", "__nv_bfloat16",
    "__nv_bfloat162", "__nv_fp8_e4m3", "__nv_fp8_e5m2", "__int128",
})  # fmt: skip
_OF_TYPES = frozenset({"const", "::", "std"})
# Words in front of what is no argument of theirs.
_BEFORE = frozenset({"sizeof", "alignof", "const", "constexpr", "static", "auto"})
_VARIADIC = "__VA_ARGS__"


def hidden_call(
    words: Sequence[str], types: Collection[str] = (), openers: Collection[str] = ()
) -> bool:
    """Tell whether words may call what stands behind no name, or a name in front of a macro.

    `types` are names of types beside those that everybody knows; `openers` may begin with a
    bracket. What calls `name(...)` and `name<...>(...)` say is for others to look at.

    >>> [hidden_call(each.split()) for each in ("( int ) ( n )", "( n + 1 ) * ( m )")]
    [False, False]
    >>> [hidden_call(each.split()) for each in ("( setup ) ( n )", "at [ 0 ] ( n )", "T { } ( n )")]
    [True, True, True]
    >>> hidden_call("setup M".split(), (), {"M"}), hidden_call("( size_t ) M".split(), (), {"M"})
    (True, False)
    """
    opened: list[int] = []
    cast = False  # what was closed last is a type in brackets
    for i, word in enumerate(words):
        before = words[i - 1] if i else ""
        if word == "(" or word in openers:
            if before in ("]", "}") or (before == ")" and not cast):
                return True
            plain = before.isidentifier() and before not in _BEFORE and before not in TYPES
            if word != "(" and plain and before not in types:
                return True
        if word == "(":
            opened.append(i)
        elif word == ")" and opened:
            at = opened.pop()
            inside = words[at + 1 : i]
            named = bool(inside) and all(w in TYPES or w in _OF_TYPES or w in types for w in inside)
            cast = named and not (at and words[at - 1].isidentifier())
    return False


def openers_of(macros: Iterable[tuple[str, Sequence[str]]]) -> frozenset[str]:
    """Return the macros, of (name, replacement), that may begin with a bracket.

    >>> sorted(openers_of([("A", ["(", "3", ")"]), ("B", ["A"]), ("C", ["3"]), ("D", [])]))
    ['A', 'B', 'D']
    """
    first: dict[str, set[str]] = {}
    for name, body in macros:
        first.setdefault(name, set()).add(body[0] if body else "(")
    found: set[str] = set()
    while more := {n for n, begins in first.items() if n not in found and begins & {"(", *found}}:
        found |= more
    return frozenset(found)


def parts_of_macro(tokens: Sequence[str]) -> tuple[tuple[str, ...] | None, Sequence[str]]:
    """Return a listed macro's parameters, None of one that takes none, and its replacement.

    >>> parts_of_macro(("(", "a", "b", ")", "=", "a", "+", "b"))
    (('a', 'b'), ('a', '+', 'b'))
    """
    equal = list(tokens).index("=")
    parameters = tuple(tokens[1 : equal - 1]) if equal else None
    return parameters, tokens[equal + 1 :]


def handed_on(parameters: Iterable[str] | None) -> frozenset[str]:
    """Return what in a macro's replacement may begin with a bracket, for being an argument."""
    return frozenset({*(parameters or ()), _VARIADIC})
