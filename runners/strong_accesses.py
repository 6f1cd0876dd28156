"""Two relaxed accesses to shared memory do not race: where racecheck finds one it is asked again.

By the memory model (PTX ISA 9.0, "Memory Consistency Model") two accesses race only if one of them
is weak or their scopes leave the other thread out. `cuda::atomic_ref` loads and stores, relaxed or
stronger, are not weak; racecheck knows that of atomics that read and write, and cannot tell a
relaxed load from a plain one.

Names in what it prints are whatever a source calls its functions, so they decide nothing. Where it
blames a candidate whose PTX has such loads and stores, they are written as atomics that do the
same (a load as a compare-and-swap of zero by zero, a store as an exchange, both of which the
hardware has for shared memory without a load ahead), and racecheck looks again, on all the same
combinations. It finds no race of an atomic with anything, not with a plain access either (2025.3 on
an H200: `tests/gpu/test_plainer.py`), so it looks at two builds: in one all strong loads are
atomics and the stores as they were, so that a plain load still races with a strong store; in the
other it is the stores. Only where both have no race was every one of them between a strong load and
a strong store. Two strong stores of one word race in the first build: such a candidate is not
excused.

Plain accesses stay as they are, and so do volatile ones: they are strong, too, but most of them are
meant to order the threads of a warp, which they do not. What waits for relaxed words is run with
delayed warps anyway.

Instructions: PTX ISA 9.0, "ld", "st", "atom" (orders and scopes: sm_70 and later).
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable

from runners.fault import Fault
from runners.plainer import LEAST_SECONDS, Look
from runners.ptx_lines import blanked
from runners.sanitizer import Finding
from runners.spec import Json

TOOL = "racecheck"
LOADS, STORES = "loads", "stores"
_OPERAND = r"[^,;{}\[\]\s]+"
_ACCESS = re.compile(
    r"(?<![\w.$%])(?P<what>ld|st)\.(?P<order>relaxed|acquire|release)"
    r"\.(?P<scope>cta|cluster|gpu|sys)(?:\.(?P<space>shared(?:::cta)?))?"
    r"\.[busf](?P<bits>32|64)\s+"
    rf"(?:(?P<to>{_OPERAND})\s*,\s*)?(?P<address>\[[^\]\n;{{}}]*\])"
    rf"(?:\s*,\s*(?P<value>{_OPERAND}))?\s*;"
)


def as_atomics(ptx: str, which: str) -> str | None:
    """Return PTX in which strong loads, or stores, of words are atomics; None where it has none.

    Of shared memory, and of generic addresses, which may be there.

    >>> as_atomics("@%p1 ld.relaxed.cta.b64 %rd2,[%rd1+8];", LOADS)
    '@%p1 atom.relaxed.cta.cas.b64 %rd2, [%rd1+8], 0, 0;'
    >>> as_atomics("ld.relaxed.cta.b64 %rd2,[%rd1+8]; ld.shared.u32 %r1, [%r2];", STORES) is None
    True
    """
    seen = blanked(ptx)
    parts: list[str] = []
    at = 0
    for found in _ACCESS.finditer(seen):
        written = _atomic(found) if (found["what"] == "ld") == (which == LOADS) else ""
        if written:
            parts += [ptx[at : found.start()], written]
            at = found.end()
    return "".join([*parts, ptx[at:]]) if parts else None


def _atomic(access: re.Match[str]) -> str:
    """Return the atomic that does what an access does; empty for what is none as it stands."""
    loads = access["what"] == "ld"
    if (access["to"] is not None, access["value"] is not None) != (loads, not loads):
        return ""
    if access["order"] == ("release" if loads else "acquire"):
        return ""
    space = [access["space"]] if access["space"] else []
    how = "cas" if loads else "exch"
    word = ".".join(["atom", access["order"], access["scope"], *space, how, f"b{access['bits']}"])
    if loads:
        return f"{word} {access['to']}, {access['address']}, 0, 0;"
    return f"{word} _, {access['address']}, {access['value']};"


def asks(found: Finding) -> bool:
    """Tell whether what a tool found may be between accesses that do not race."""
    return bool(found.errors) and found.tool == TOOL


def excuse(found: Finding, build: Callable[[str], Json | None], look: Look, seconds: float) -> str:
    """Return why a race that is held against a candidate is none; empty where it may be one.

    `build` makes the candidate with atomics for its strong loads or stores; None where it has none.
    """
    if not asks(found):
        return ""
    end = time.monotonic() + seconds
    for which in (LOADS, STORES):
        try:
            made = build(which)
        except Fault:
            return ""
        left = end - time.monotonic()
        again = look(made, found.tool, left) if made is not None and left >= LEAST_SECONDS else None
        if again is None or again.errors != 0:
            return ""
    many = f"{found.errors} error" + ("" if found.errors == 1 else "s")
    return (
        f"found {many}, and none where its relaxed loads, or stores, are atomics, which is "
        f"not held against it: {found.words[:120]}"
    )
