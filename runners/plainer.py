"""What compute-sanitizer finds in a finalist's machine code is looked for in its PTX as well.

An optimizer may read what the program does not: ptxas joined two loads of eight bytes from shared
memory, the second behind a condition, to one of sixteen ahead of it. No such load faults past the
end of a block's memory, and memcheck calls it invalid. Initcheck calls an exchange a read where
nobody uses what was there. Neither is a fault of who wrote the program.

So where all that memcheck holds against a candidate are invalid reads of shared memory, or
initcheck holds anything against it, the candidate is built as its PTX says (`Building.plainer`:
nothing optimized behind it, exchanges without a reader as stores) and looked at again by that tool,
on all the same combinations. Only what is found there as well is held against it. A build that
cannot be made, that has shared memory of another size, or on which the tool does not come to its
end, excuses nothing.

The tool prints few of its errors. What else there is among the others is found in the plain build,
too: of what the program asks for itself nothing is missing there.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from runners import cubin
from runners.fault import Fault
from runners.sanitizer import Finding
from runners.spec import Json

# With less left nothing is begun.
LEAST_SECONDS = 0.5


class Look(Protocol):
    """Has a tool watch an artifact on what it was first asked about."""

    def __call__(self, artifact: Json, tool: str, seconds: float) -> Finding | None:
        """Return what it says; None where it cannot be asked."""
        ...


class Plainer:
    """A candidate's plain build, made when it is first needed."""

    def __init__(self, candidate: Json, build: Callable[[], Json | None]) -> None:
        self._candidate, self._build = candidate, build
        self._made: list[Json | None] = []

    def excuse(self, found: Finding, look: Look, seconds: float) -> str:
        """Return why what is held against a candidate is no fault of it; empty where it is one."""
        if not asks(found):
            return ""
        end = time.monotonic() + seconds
        plain = self._plain()
        if plain is None or (found.tool == "memcheck" and not _same_room(plain, self._candidate)):
            return ""
        left = end - time.monotonic()
        again = look(plain, found.tool, left) if left >= LEAST_SECONDS else None
        if again is None or again.errors != 0:
            return ""
        many = f"{found.errors} error" + ("" if found.errors == 1 else "s")
        return (
            f"found {many} in its machine code and none where it is built as its PTX says, which "
            f"is not held against it: {found.words[:120]}"
        )

    def _plain(self) -> Json | None:
        if not self._made:
            try:
                self._made.append(self._build())
            except Fault:
                self._made.append(None)
        return self._made[0]


def asks(found: Finding) -> bool:
    """Tell whether what a tool found may be the optimizer's, as far as it was printed."""
    if not found.errors:
        return False
    if found.tool == "memcheck":
        return 0 < found.shared_reads == found.printed
    return found.tool == "initcheck"


def _same_room(one: Json, other: Json) -> bool:
    """Tell whether shared memory ends where it did: what goes past its end does so in both."""
    named = [Path(str(made.get("cubin") or made.get("path") or "")) for made in (one, other)]
    try:
        first, second = (cubin.shared(path.read_bytes()) for path in named)
    except (OSError, cubin.NotCubin):
        return False
    return first == second
