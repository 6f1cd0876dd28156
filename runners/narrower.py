"""In how few bits a text keeps whole numbers that its original keeps in more.

`unsigned short bids[64]` instead of `int`, `half`, `char4`, a bit-field: right as long as what is
counted there is small. It looks at words alone, and is a guess about strangers' text: it never
raises, and many such words do no harm (an image is of bytes).
"""

from __future__ import annotations

from collections import Counter

from runners.text import LONGEST, NAME, Text

# What a field has at most, of which a size may come to be more than it holds.
MOST_BITS = 24
_SCALARS = {"char": 8, "int8_t": 8, "uint8_t": 8, "short": 16, "int16_t": 16, "uint16_t": 16}
# What is beyond the last whole number that is followed by the next one.
_FLOATS = {"half": 11, "__half": 11, "half2": 11, "__half2": 11}
_FLOATS |= {"__nv_bfloat16": 8, "__nv_bfloat162": 8, "nv_bfloat16": 8, "nv_bfloat162": 8}
_LANES = {
    f"{sign}{name}{lanes}": _SCALARS[name]
    for name in ("char", "short")
    for sign in ("", "u")
    for lanes in ("", "1", "2", "3", "4")
}
NARROW = {**_SCALARS, **_FLOATS, **_LANES}


def bits(source: str, original: str) -> tuple[int, ...]:
    """Return the bits of types and fields that a text has more of than its original, most first.

    >>> bits("__shared__ unsigned short bids[64]; char* name;", "int bids[64]; short fee;")
    ()
    >>> bits("unsigned short bids[64], asks[64]; struct { unsigned n : 12; };", "int bids[64];")
    (16, 12)
    """
    if not source or max(len(source), len(original)) > LONGEST:
        return ()
    more = _counted(source) - _counted(original)
    return tuple(sorted(more, reverse=True))


def _counted(source: str) -> Counter[int]:
    """Return how often a text has types and fields of so many bits."""
    text = Text(source, macros=True)
    found: Counter[int] = Counter()
    for at, word in enumerate(text.tokens[: text.count]):
        following = text.tokens[at + 1]
        # Letters are pointed to.
        if word in NARROW and not (word == "char" and following == "*"):
            found[NARROW[word]] += 1
        elif word == ":" and at > 1 and text.tokens[at + 2] in {";", ","}:
            before, typed = text.tokens[at - 1], text.tokens[at - 2]
            field = NAME.fullmatch(before) and (typed == "," or NAME.fullmatch(typed))
            width = int(following) if following.isdecimal() and len(following) < 4 else 0
            if field and 0 < width <= MOST_BITS:
                found[width] += 1
    return found
