"""Whether an original's text may carry something along that fades, as a running mean does.

It goes through a loop, and has some number between zero and one to multiply by at each step. This
is a guess about strangers' text: what is asked of it beside that is right for any.
"""

from __future__ import annotations

import re
from functools import lru_cache

from runners.text import LONGEST, Text

_LOOPS = frozenset({"for", "while", "do"})
_PART = re.compile(r"(0?\.\d+)[fF]?", re.ASCII)
# What is less is added against a division by zero, and fades within a few steps.
LEAST = 1 / 64


@lru_cache(maxsize=64)
def loops(text: str) -> bool:
    """Tell whether a text goes through loops.

    >>> loops("while (i < n) s += x[i++];"), loops("y[i] = x[i]; // for all")
    (True, False)
    """
    return len(text) <= LONGEST and not _LOOPS.isdisjoint(_tokens(text))


@lru_cache(maxsize=64)
def fades(text: str) -> bool:
    """Tell whether it goes through loops and names a number between zero and one.

    >>> fades("for (;;) m = 0.9f * m + x;"), fades("m = 0.9f * x;"), fades("for (;;) m += 1e-5;")
    (True, False, False)
    """
    if not loops(text):
        return False
    found = (one[1] for one in map(_PART.fullmatch, _tokens(text)) if one is not None)
    return any(LEAST < float(number) < 1 for number in found)


def _tokens(text: str) -> list[str]:
    return Text(text, macros=True).tokens
