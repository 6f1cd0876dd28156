"""What tokens may say that only compute: the arithmetic of launch geometry and constants."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise

from optimizer.affine import INTEGERS
from optimizer.hidden_calls import hidden_call

_SIGNS = frozenset({
    "+", "-", "*", "/", "%", "(", ")", ",", "<", ">", "<=", ">=", "==", "!=", "&&", "||", "!",
    "?", ":", "::", ".", "&", "|", "^", "~", "<<", ">>", "[", "]", "{", "}", "->",
})  # fmt: skip
CALLS = frozenset({
    "dim3", "min", "max", "sizeof", "ceil", "ceilf", "floor", "int", "unsigned", "float", "double",
    "size_t", "uint3", "long", "static_cast", "int64_t", "uint32_t", "log2", "sqrt", "alignof",
    "short", "char", "bool", "signed", "uint64_t", "int32_t",
})  # fmt: skip
NEVER = frozenset({
    "new", "delete", "throw", "asm", "__asm__", "__asm", "operator", "goto", "return", "typeid",
    "co_await", "decltype", "auto", "mutable", "__builtin_trap", "static", "extern",
})  # fmt: skip
OPENING = frozenset("{([")
CLOSING = frozenset("})]")


def arithmetic(
    words: Sequence[str], calls: frozenset[str], loose: bool = False, types: Collection[str] = ()
) -> bool:
    """Return whether tokens are an expression that can only compute.

    Numbers, names, operators, and calls of `calls` (which may also hold signs that are allowed).
    With `loose` any plain call is let through, to be compared with the original's later. `types`
    are names of the file's own for types of numbers.
    """
    if hidden_call(words, types):
        return False
    before = ""
    own = declared(words)
    for i, word in enumerate(words):
        following = words[i + 1] if i + 1 < len(words) else ""
        if word[0].isalpha() or word[0] == "_" or word[0] == "$":
            if word in NEVER and word not in calls:
                return False
            known = word in calls or before == "dim3" or (before == "," and word in own)
            if following == "(" and not known and not loose:
                return False
        elif not (word[0].isdigit() or (word[0] == "." and word[1:2].isdigit())):
            if word not in _SIGNS and word not in calls and word != ";":
                return False
            if word == "[" and not (before[:1].isalpha() or before[:1] == "_" or before == "]"):
                return False
            if word == "{" and not (before[:1].isalpha() or before in ("=", ">")):
                return False
        before = word
    return True


def takes_address(words: Sequence[str]) -> bool:
    """Return whether `&` may take an address: of a template's static object it brings one about.

    >>> takes_address("a & b".split()), takes_address("& Made < int > :: one != 0".split())
    (False, True)
    >>> takes_address("( bool ) & a".split()), takes_address("f ( a ) & b".split())
    (True, False)
    """
    opened: list[int] = []
    cast, before = False, ""
    for i, word in enumerate(words):
        operand = before[:1].isalnum() or before[:1] == "_" or before in (")", "]", "}")
        if word == "bitand" or (word in ("&", "&&") and (not operand or (before == ")" and cast))):
            return True
        if word == "(":
            opened.append(i)
        elif word == ")" and opened:
            at = opened.pop()
            called = at > 0 and words[at - 1].isidentifier()
            inside = words[at + 1 : i]
            cast = not called and all(
                w.isidentifier() or w in ("::", "*", "<", ">") for w in inside
            )
        before = word
    return False


def called(words: Sequence[str]) -> Counter[str]:
    """Count the names in front of an opening parenthesis."""
    return Counter(a for a, b in pairwise(words) if b == "(" and a.isidentifier())


def declared(words: Sequence[str]) -> frozenset[str]:
    """Return the names that `dim3 a(1), b(2);` declares, with their arguments in brackets.

    >>> sorted(declared("dim3 a ( f ( 1 ) , 2 ) , b ( 2 ) ;".split()))
    ['a', 'b']
    """
    found: set[str] = set()
    depth = 0
    if "dim3" not in words[:2]:
        return frozenset()
    for one, two in pairwise(words):
        depth += (one in OPENING) - (one in CLOSING)
        if depth == 0 and one in ("dim3", ",") and two.isidentifier():
            found.add(two)
    return frozenset(found)


def numbers_first(words: Sequence[str]) -> int:
    """Return the length of `template <int ROWS, bool ODD = true>`; 0 where a type is among them."""
    if list(words[:2]) != ["template", "<"] or ">" not in words:
        return 0
    close = words.index(">")
    found: list[list[str]] = [[]]
    for word in words[2:close]:
        if word == ",":
            found.append([])
        else:
            found[-1].append(word)
    for one in found:
        if len(one) < 2 or one[0] == "=":
            return 0
        *kind, name = one[: one.index("=")] if "=" in one else one
        default = one[one.index("=") + 1 :] if "=" in one else ["0"]
        plain = kind and set(kind) <= INTEGERS | {"bool"} and name.isidentifier()
        if not plain or len(default) != 1 or not default[0].isalnum():
            return 0
    return close + 1


def made_of(word: str, parts: frozenset[str]) -> bool:
    """Tell whether parts one behind the other give a word."""
    ends = {0}
    for end in range(1, len(word) + 1):
        if any(word[start:end] in parts for start in ends):
            ends.add(end)
    return len(word) in ends


def template_calls(words: Sequence[str]) -> list[str]:
    """Return the names in front of `<...>(`; what is compared there and no name may be among them.

    >>> template_calls("static_cast < int > ( f < 3 , g < 4 > ( ) > ( 2 ) )".split())
    ['static_cast', 'g', 'f']
    >>> template_calls("f < ( 2 > 1 ) > ( 3 ) + g < int { 3 } > ( 2 ) + ( a > ( b ) )".split())
    ['f', 'g']
    """
    opener = {close: at for at, close in _paired(words)}
    found: list[str] = []
    for i, (one, two) in enumerate(pairwise(words)):
        if one not in (">", ">>") or two != "(":
            continue
        depth, at = 0, i
        while at >= 0 and words[at] not in OPENING and words[at] not in (";", "="):
            at = opener.get(at, at)
            depth += {">": 1, ">>": 2, "<": -1}.get(words[at], 0)
            if depth <= 0:
                break
            at -= 1
        if depth <= 0 and at > 0:
            found.append(words[at - 1])
    return found


def _paired(words: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield where brackets open and close."""
    opened: list[int] = []
    for i, word in enumerate(words):
        if word in OPENING:
            opened.append(i)
        elif word in CLOSING and opened:
            yield opened.pop(), i
