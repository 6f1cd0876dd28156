"""Plain updates of global memory in PTX: a load, and a store to where it came from.

Two blocks that update one place lose what one of them did, in some runs. One block may well own the
place, so this says nothing against a candidate: it is run more often where its original has none.
"""

from __future__ import annotations

import re

_BODY = re.compile(r"^\s*(?:\.\w+\s+)*\.(?:entry|func)\b")
_LOAD = re.compile(
    r"^\s*(?:@!?%\w+\s+)?ld\.(?!global\.nc)(?:\w+(?:::\w+)?\.)*?global\.[^\[]*"
    r"\[(?P<at>%\w+(?:\+-?\d+)?)\]"
)
_STORE = re.compile(
    r"^\s*(?:@!?%\w+\s+)?st\.(?:\w+(?:::\w+)?\.)*?global\.[^\[]*\[(?P<at>%\w+(?:\+-?\d+)?)\]"
)


def more(mine: str, theirs: str) -> bool:
    """Tell whether a candidate's PTX has plain updates, and its original's none."""
    return updates(mine) > 0 and updates(theirs) == 0


def updates(ptx: str) -> int:
    r"""Return how many addresses are loaded from and then stored to.

    >>> updates("ld.global.u32 %r1, [%rd1];\nadd.s32 %r2, %r1, 1;\nst.global.u32 [%rd1], %r2;")
    1
    >>> updates("ld.global.u32 %r1, [%rd1];\nst.global.u32 [%rd1+4], %r1;")
    0
    """
    body, loaded, found = 0, set[str](), set[tuple[int, str]]()
    for number, line in enumerate(ptx.splitlines()):
        if _BODY.match(line):
            body, loaded = number, set()
        if (load := _LOAD.match(line)) is not None:
            loaded.add(load["at"])
        elif (store := _STORE.match(line)) is not None and store["at"] in loaded:
            found.add((body, store["at"]))
    return len(found)
