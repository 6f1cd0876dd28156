"""Types that hold nothing but data, or nothing: a candidate may add them for its device code.

`struct Pair { float value; int index; };`, `using Row = float4;` and `typedef float4 Row;`. There
is no object of them, no initializer but numbers and no function but those for the device or a
compiler, which the caller has taken out; so nothing runs because they are there. That no host text
mentions them is for the caller to see to; what stands inside a class can be named through it alone.
A member may be a pointer or a reference, to an array as well (`optimizer.declarators`). So it is
with templates of them, with unions, with enumerations of whole numbers, whose names all are to be
new, and with assertions, which only a compiler sees.

A class may have aliases, assertions, enumerations, constants and classes like it inside, and say
who sees them. A base or a specialised template could be of somebody else, who notices what is
derived from it or said of it: whether it is the candidate's own is for the caller to see to.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from optimizer.declarators import pointer_to_array, reference
from optimizer.outline_words import CALLS, arithmetic, takes_address, template_calls
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
_CLASSES = ("struct", "class", "union")
_ACCESS = ("public", "private", "protected")
_BEGINNINGS = frozenset({
    "true", "false", "nullptr", "INFINITY", "FLT_MAX", "FLT_MIN", "INT_MAX", "INT_MIN",
})  # fmt: skip
_LONGEST = 200  # tokens
_LONGEST_CLASS = 600


@dataclass(frozen=True, slots=True)
class PlainType:
    """A plain type, by its first and last token, or several names that are brought together.

    `template` says that it is a template or belongs to one: `declared` a type that has no body
    here, `special` one that is said for some arguments of its template alone, `alias` another name
    for one; `base` is the class that it is derived from.
    """

    names: tuple[str, ...]
    first: int
    last: int
    template: bool = False
    declared: bool = False
    special: bool = False
    alias: bool = False
    base: str = ""


def plain_types(code: Sequence[Token], macros: Collection[str]) -> Iterator[PlainType]:
    """Yield each plain type that is in no other; one with a macro in it is none."""
    words = [t.text for t in code]
    behind = 0
    for at, word in enumerate(words):
        if at < behind or (at and words[at - 1] not in (";", "}", "{")):
            continue
        found = _begins(words, at, word, macros)
        if found is not None:
            behind = found.last
            yield found


def _begins(words: Sequence[str], at: int, word: str, macros: Collection[str]) -> PlainType | None:
    """Return the plain type that begins here."""
    if word in ("enum", "static_assert"):
        listed = _enumeration(words, at, macros) if word == "enum" else _assertion(words, at)
        return PlainType(listed[0], at, listed[1]) if listed is not None else None
    if word in ("using", "typedef"):
        named = _alias(words, at, macros)
        return PlainType((named[0],), at, named[1], alias=True) if named is not None else None
    if word in _CLASSES:
        return _class(words, at, at, macros)
    start = _behind_template(words, at, macros) if word == "template" else None
    if start is None or start >= len(words):
        return None
    if words[start] == "using" and start > at + 3:
        named = _alias(words, start, macros)
        return PlainType((named[0],), at, named[1], alias=True) if named is not None else None
    return _class(words, at, start, macros) if words[start] in _CLASSES else None


def _alias(words: Sequence[str], at: int, macros: Collection[str]) -> tuple[str, int] | None:
    """Return the name in `using Name = type;` or `typedef type Name;`, and its last token."""
    end = _ending(words, at)
    if end is None:
        return None
    if words[at] == "using":
        name, kind = words[at + 1], words[at + 3 : end]
        plain = words[at + 2 : at + 3] == ["="]
    else:
        name, kind = words[end - 1], words[at + 1 : end]
        plain = end - at > 2
    kind = kind[1:] if kind[:1] == ["typename"] else kind
    named = name.isidentifier() and name not in macros
    return (name, end) if named and plain and _holds_data(kind, macros) else None


def _ending(words: Sequence[str], at: int) -> int | None:
    return next((k for k in range(at, min(len(words), at + _LONGEST)) if words[k] == ";"), None)


def _behind_template(words: Sequence[str], at: int, macros: Collection[str]) -> int | None:
    """Return what stands behind `template <typename T, int N>`; None where more is in it."""
    close = next((k for k in range(at, min(len(words), at + 40)) if words[k] == ">"), None)
    if close is None or words[at + 1 : at + 2] != ["<"]:
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
    end = _ending(words, at)
    if end is None or words[at + 1 : at + 2] != ["("] or words[end - 1] != ")":
        return None
    inside = words[at + 2 : end - 1]
    refused = {"{", "}", "[", "asm", "__asm__", "operator"} & set(inside)
    return None if refused or takes_address(inside) else ((), end)


def _class(words: Sequence[str], at: int, start: int, macros: Collection[str]) -> PlainType | None:
    """Return the class that begins here, behind a template's head where it has one."""
    name = _behind_alignment(words, start + 1)
    named = words[name] if name is not None and name < len(words) else ""
    if name is None or not named.isidentifier() or named in macros or named in _REFUSED:
        return None
    template = start > at
    behind = words[name + 1] if name + 1 < len(words) else ""
    if behind == ";":
        plain = start + 1 == name and words[start] != "union" and (not template or start > at + 3)
        return PlainType((named,), at, name + 1, template, declared=True) if plain else None
    opened: int | None = name + 1
    if behind == "<" and template:
        opened = _arguments(words, name + 1, macros)
    special = behind == "<"
    if (
        opened is None
        or (special and opened == name + 1)
        or (template and start == at + 3) > special
    ):
        return None
    base, opened = _base(words, opened, macros)
    if words[opened : opened + 1] != ["{"] or (base and words[start] == "union"):
        return None
    close = _closing(words, opened)
    parameters = frozenset(words[at + 1 : start])
    if close is None or words[close + 1 : close + 2] != [";"]:
        return None
    if not _Members(words, macros, parameters, named).plain(opened + 1, close):
        return None
    return PlainType((named,), at, close + 1, template, special=special, base=base)


def _behind_alignment(words: Sequence[str], at: int) -> int | None:
    """Return what stands behind `__align__(8)`, if it is there; None where more is in it."""
    if words[at : at + 2] not in (["__align__", "("], ["alignas", "("]):
        return at
    if words[at + 3 : at + 4] != [")"] or not words[at + 2].isdigit():
        return None
    return at + 4


def _arguments(words: Sequence[str], at: int, macros: Collection[str]) -> int | None:
    """Return what stands behind `<float, 4>`; None where more than types and numbers is in it."""
    depth = 0
    for k in range(at, min(len(words), at + 40)):
        depth += {"<": 1, ">": -1, ">>": -2}.get(words[k], 0)
        if words[k] in (";", "{", "(") or depth < 0:
            return None
        if depth == 0:
            inside = [w for w in words[at + 1 : k] if w not in (">>", "-", "true", "false")]
            return k + 1 if not inside or _holds_data(inside, macros) else None
    return None


def _base(words: Sequence[str], at: int, macros: Collection[str]) -> tuple[str, int]:
    """Return the one base in `: public Base<T>`, and what stands behind it."""
    if words[at : at + 1] != [":"]:
        return "", at
    name = at + 1 + (words[at + 1 : at + 2] == ["public"])
    named = words[name] if name < len(words) else ""
    if not named.isidentifier() or named in macros or named in _REFUSED:
        return "", at
    behind = name + 1
    if words[behind : behind + 1] == ["<"]:
        behind = _arguments(words, behind, macros) or at
    return named, behind


def _closing(words: Sequence[str], at: int) -> int | None:
    depth = 0
    for k in range(at, min(len(words), at + _LONGEST_CLASS)):
        depth += (words[k] == "{") - (words[k] == "}")
        if depth == 0:
            return k
    return None


class _Members:
    """What stands in the braces of a class: looked at one behind the other."""

    def __init__(
        self, words: Sequence[str], macros: Collection[str], parameters: frozenset[str], name: str
    ) -> None:
        self.words, self.macros, self.parameters, self.name = words, macros, parameters, name

    def plain(self, at: int, close: int) -> bool:
        """Tell whether all of them declare data, or name what only a compiler needs."""
        while at < close:
            behind = self._behind(at)
            if behind is None or behind > close:
                return False
            at = behind
        return True

    def _behind(self, at: int) -> int | None:
        """Return what stands behind the member that begins here; None of anything else."""
        words, word = self.words, self.words[at]
        if word in _ACCESS and words[at + 1] == ":":
            return at + 2
        if word in ("static_assert", "enum"):
            known = (
                _enumeration(words, at, self.macros) if word == "enum" else _assertion(words, at)
            )
            return known[1] + 1 if known is not None else None
        if word in ("using", "typedef"):
            named = _alias(words, at, self.macros)
            return named[1] + 1 if named is not None else None
        if word in _CLASSES:
            return self._nested(at)
        end = _ending(words, at)
        if end is None:
            return None
        text = words[at:end]
        if not text:  # a lone semicolon
            return end + 1
        plain = self._constant(text) if "constexpr" in text else self._data(text)
        return end + 1 if plain or self._defaulted(text) else None

    def _nested(self, at: int) -> int | None:
        """Return what stands behind a class in a class, with members that are of it."""
        opened = _behind_alignment(self.words, at + 1)
        if opened is None:
            return None
        name = self.words[opened]
        if name != "{":
            if not name.isidentifier() or name in {*_REFUSED, *self.macros}:
                return None
            opened += 1
        close = _closing(self.words, opened) if self.words[opened] == "{" else None
        end = _ending(self.words, close) if close is not None else None
        if close is None or end is None:
            return None
        inner = _Members(self.words, self.macros, self.parameters, name)
        of_it = end == close + 1 or self._data(self.words[close + 1 : end])
        return end + 1 if of_it and inner.plain(opened + 1, close) else None

    def _constant(self, text: Sequence[str]) -> bool:
        """Tell whether this is `static constexpr int N = 2 * M`, by names and numbers alone."""
        if "=" not in text or "static" not in text:
            return False
        equal = list(text).index("=")
        kind = [w for w in text[:equal] if w not in ("static", "constexpr", "inline", "const")]
        value = list(text[equal + 1 :])
        calls = CALLS | (self.parameters & set(kind))
        return (
            len(kind) > 1
            and {"<", "*", "::", ","}.isdisjoint(kind)
            and _holds_data(kind, self.macros)
            and arithmetic(value, calls)
            and {"{", ";"}.isdisjoint(value)
            and set(template_calls(value)) <= {"static_cast"}
            and not takes_address(value)
            and set(value).isdisjoint(self.macros)
        )

    def _data(self, text: Sequence[str]) -> bool:
        """Tell whether this declares data, without the numbers that it begins with."""
        start = _behind_alignment(text, 0)
        kept: list[str] = []
        at = start if start is not None else len(text)
        while at < len(text):
            skipped = _initializer((*text, ";"), at, self.macros) or self._bits(text, at)
            skipped = skipped or self._length(text, at) or reference(text, at)
            if not skipped and (inner := pointer_to_array(text, at)):
                kept.append(text[at + inner - 2])
                skipped = inner
            if not skipped:
                kept.append(text[at])
            at += skipped or 1
        # A member's own name has no scope: `Base::x;` declares what a base has, not data.
        return kept[-2:-1] != ["::"] and _holds_data(kept, self.macros)

    @staticmethod
    def _bits(text: Sequence[str], at: int) -> int:
        """Return how many words `: 8` takes here; 0 of anything else."""
        behind = text[at + 2] if at + 2 < len(text) else ";"
        number = text[at + 1] if at + 1 < len(text) else ""
        return 2 if text[at] == ":" and number.isdigit() and behind in (",", ";", "=", "{") else 0

    def _length(self, text: Sequence[str], at: int) -> int:
        """Return how many words `[N * 2 + 1]` takes here; 0 of anything else."""
        if text[at] != "[" or at == 0 or "]" not in text[at:]:
            return 0
        close = list(text).index("]", at)
        inside = text[at + 1 : close]
        before = text[at - 1]
        named = before.isidentifier() or before in ("]", ")")  # of a name in brackets of its own
        plain = inside and named and arithmetic(inside, CALLS)
        if not plain or {"{", "[", ";"} & set(inside) or not {*inside}.isdisjoint(self.macros):
            return 0
        calls = set(template_calls(inside)) <= {"static_cast"} and not takes_address(inside)
        return close + 1 - at if calls else 0

    def _defaulted(self, text: Sequence[str]) -> bool:
        """Tell whether this is `__device__ Name() = default`, as it is without being written."""
        kept = list(text[1:] if text[0] in ("__device__", "constexpr") else text)
        return kept == [self.name, "(", ")", "=", "default"]


def _initializer(words: Sequence[str], at: int, macros: Collection[str]) -> int:
    """Return how many words `= 1.f`, `= -1`, `{}` or `{0}` take here; 0 of anything else."""
    opened = words[at] == "{"
    if not opened and words[at] != "=":
        return 0
    end = at + 1
    end += words[end : end + 1] in (["-"], ("-",))
    number = words[end] if end < len(words) else ""
    if number in macros:
        return 0
    if number[:1].isdigit() or number[:1] == "." or number in _BEGINNINGS:
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
