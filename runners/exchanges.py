"""Exchanges whose result nobody uses are stores: written as such in PTX, they read nothing.

`atomicExch(flag, 1)` on memory that was not yet set reads nothing that counts, and initcheck takes
it for a read. Only what is certain is changed: the result's name stands nowhere else in the text of
its function, but for where it is declared. An order that the exchange had as an acquire is lost, so
what is made of it is for a tool to watch and for nobody's results.

Instructions: PTX ISA 9.0, "atom", "st" (`.relaxed` and `.release`: sm_70 and later).
"""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise

from runners.ptx_lines import blanked

_SPACES = {"global", "shared", "shared::cta", "shared::cluster"}
_ORDERS = {"relaxed": "relaxed", "acquire": "relaxed", "release": "release", "acq_rel": "release"}
_SCOPES = {"cta", "cluster", "gpu", "sys"}
_TYPES = {"b32", "b64"}  # there is no plain store of 128 bits in one piece
_SINK = "_"
_FUNCTION = re.compile(r"(?<![\w$%])\.(?:entry|func)\b")
_DECLARED = re.compile(r"(?<![\w$%])\.reg\b[^;]*;")
_NAME = re.compile(r"[%$A-Za-z_][\w$]*")
_ATOMIC = re.compile(
    r"(?<![\w.$%])atom(?P<words>(?:\.[\w:]+)+)\s+(?P<to>[%$A-Za-z_][\w$]*)\s*,\s*"
    r"(?P<address>\[[^\]\n;{}]*\])\s*,\s*(?P<value>[^,;{}\s]+)\s*;"
)


def as_stores(ptx: str) -> str:
    """Return PTX in which each exchange whose result is not used is a store; else as it was.

    >>> as_stores("@%p1 atom.global.exch.b32 %r1, [%rd1+4], %r2;")
    '@%p1 st.relaxed.gpu.global.b32 [%rd1+4], %r2;'
    """
    seen = blanked(ptx)
    begins = [0, *(found.start() for found in _FUNCTION.finditer(seen)), len(ptx)]
    parts: list[str] = []
    at = 0
    for begin, end in pairwise(begins):
        used = Counter(_NAME.findall(_DECLARED.sub("", seen[begin:end])))
        for found in _ATOMIC.finditer(seen, begin, end):
            store = _store(found)
            if store and (found["to"] == _SINK or used[found["to"]] == 1):
                parts += [ptx[at : found.start()], store]
                at = found.end()
    return "".join([*parts, ptx[at:]])


def _store(atomic: re.Match[str]) -> str:
    """Return what an exchange stores; empty for anything else, and for words that are not known."""
    words = atomic["words"][1:].split(".")
    kinds = ({"exch"}, _TYPES, _SPACES, set(_ORDERS), _SCOPES)
    if any(all(word not in kind for kind in kinds) for word in words):
        return ""
    named = [[word for word in words if word in kind] for kind in kinds]
    if any(len(one) > 1 for one in named) or not (named[0] and named[1]):
        return ""
    (kind,), space, order, scope = named[1:]
    line = ["st", _ORDERS[(order or ["relaxed"])[0]], *(scope or ["gpu"]), *space, kind]
    return f"{'.'.join(line)} {atomic['address']}, {atomic['value']};"
