"""What a candidate's text names and its original's does not: where its own ends are to be sought.

512 threads that take a road's cars in rounds are right for up to 512 of them; a reciprocal of 32
bits, or two numbers in one word, for products that are no larger. Numbers of the command line are
tried beyond such ends first. It is a guess about strangers' text: it never raises, and a number
that means something else costs no more than a run.
"""

from __future__ import annotations

from functools import lru_cache

from runners.named import numbers
from runners.text import LONGEST, Text, integer

# Behind an end by a part of it, so that no single word or warp is all that is behind.
PART = 4
# A shift that takes one half of a word, and what tells of the high half of a product.
WORD = 32
_HIGH = frozenset({"__umulhi", "__mulhi", "mulhi", "umulhi", "mul_hi"})


def beyond(source: str, original: str, least: int, most: int) -> tuple[int, ...]:
    """Return numbers behind those that a text alone names, from `least` on, the largest first.

    None of them is larger than `most`.

    >>> beyond("constexpr int THREADS = 512; int few[96];", "int few[96];", 400, 6400)
    (641,)
    >>> beyond("constexpr int THREADS = 512;", "constexpr int THREADS = 512;", 400, 6400)
    ()
    """
    if not source or not original or max(len(source), len(original)) > LONGEST:
        return ()
    own = numbers(source) - numbers(original)
    found = {one + one // PART | 1 for one in own if one >= max(least, 1)}
    return tuple(sorted((one for one in found if one <= most), reverse=True))


def words(source: str, original: str) -> bool:
    """Tell whether a text takes words of 64 bits apart, or puts them together, more often.

    >>> words("road = (unsigned)(g * inverse >> 32);", "road = g / cars;")
    True
    >>> words("road = g / cars;", "road = g / cars;")
    False
    """
    if not source or not original or max(len(source), len(original)) > LONGEST:
        return False
    return _halves(source) > _halves(original)


@lru_cache(maxsize=8)
def _halves(source: str) -> int:
    """Return how often a text has the half of a word."""
    text = Text(source, macros=True)
    found = 0
    for at, word in enumerate(text.tokens[: text.count]):
        shift = word in {"<<", ">>", "<<=", ">>="} and integer(text.tokens[at + 1]) == WORD
        value = integer(word)
        found += shift or word in _HIGH or value == 1 << WORD
    return found
