"""Whether a text takes whole numbers for sets: asks for single bits of them, or how many are set.

A guess about strangers' text: it never raises, and looks at each token once.
"""

from __future__ import annotations

import re
from functools import lru_cache

from runners.text import LONGEST, Text

# How many bits are set, the first and the last one, and all of them the other way round.
_COUNTS = re.compile(
    r"__(?:popc|clz|ffs|brev)(?:ll)?|__fns|__builtin_(?:popcount|clz|ctz|ffs)\w*"
    r"|popcount|count[lr]_(?:zero|one)|has_single_bit",
    re.ASCII,
)
_ONE = re.compile(r"(?:0[xX]0*)?1[uUlL]{0,3}", re.ASCII)
_NUMBER = re.compile(r"\d[\w']*", re.ASCII)
# Tokens of what is shifted, by how much, and what is before an operand.
NEAR = 8
_ENDS = frozenset({"(", "[", "{", "}", ";", ",", "=", "?", ":", "&&", "||"})


def taken(source: str) -> bool:
    """Tell whether a text counts or asks for single bits.

    >>> taken("n += (board >> square) & 1;"), taken("if (free & (uint64_t(1) << at))")
    (True, True)
    >>> taken("return card[x / 32] >> x % 32 & 1;"), taken("b = word >> (k + 1) & 1u;")
    (True, True)
    >>> taken("n = __popcll(a & ~b);"), taken("h ^= h >> 13; n = 1 << 20; if (n & 1)")
    (True, False)
    """
    return len(source) <= LONGEST and _taken(source)


@lru_cache(maxsize=64)
def _taken(source: str) -> bool:
    text = Text(source, macros=True)
    for at in range(1, text.count):
        word, before, behind = text.tokens[at], text.tokens[at - 1], text.tokens[at + 1]
        if behind == "(" and _COUNTS.fullmatch(word):
            return True
        if word == "<<" and not _NUMBER.fullmatch(behind):
            one = text.tokens[at - 2] if before == ")" and at > 1 else before
            if _ONE.fullmatch(one):
                return True
        if word == "&" and _ONE.fullmatch(behind) and _shifted(text, at):
            return True
    return False


def _shifted(text: Text, at: int) -> bool:
    """Tell whether the operand before a token is shifted to the right."""
    for place in range(at - 1, max(-1, at - 1 - NEAR), -1):
        word = text.tokens[place]
        if word == ">>":
            return True
        if word in {")", "]"}:
            # Within brackets that end here, or before them.
            begin = text.opened.get(place, place)
            return ">>" in text.tokens[max(0, begin - 2) : place]
        if word in _ENDS:
            return False
    return False
