"""Promise that pointers do not overlap, so that loads may move and use the read-only path."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from optimizer.aliasing import apart
from optimizer.functions import Function
from optimizer.model import Edit, Finding, Kernel
from optimizer.source import Source
from optimizer.variables import Variable

_NAME = "restrict"


def restrict(kernel: Kernel, findings: Sequence[Finding]) -> Iterator[Edit]:
    """Add `__restrict__` to a kernel's pointers where every launch passes different buffers.

    Legal when no pointer that is written can share memory with another one. Types stay, as
    `__restrict__` is not part of a signature.
    """
    del findings
    source = Source(kernel.source)
    for fn in source.kernels:
        if fn.broken or fn.conditional or fn.has_asm:
            continue
        bare = _bare(source, fn)
        if bare is None or not bare:
            continue
        names = ", ".join(f"`{v.name}`" for v in bare)
        yield Edit(
            f"declare the pointers of `{fn.name}` `__restrict__`",
            source.replace(
                (v.name_node.start_byte, v.name_node.start_byte, "__restrict__ ") for v in bare
            ),
            f"rule:{_NAME}",
            f"Launches pass separate buffers for {names} (line {fn.line}); without the promise"
            " each store makes the compiler load again what it already has.",
            _NAME,
            1.03,
        )


def _bare(source: Source, fn: Function) -> list[Variable] | None:
    """Return the pointers without the promise; None when two of them may overlap."""
    pointers = [v for v in fn.variables.all if v.space == "parameter" and v.is_pointer]
    if len(pointers) < 2 or any(v.volatile or "volatile" in v.type for v in pointers):
        return None
    if any(v.depth != 1 or v.is_array for v in pointers):
        return None
    written = {a.root for a in fn.accesses if a.writes}
    written |= {u.name for v in pointers for u in v.uses if u.writes}
    if not written:
        return None
    for i, one in enumerate(pointers):
        for other in pointers[i + 1 :]:
            if {one.name, other.name} & written and not apart(source, fn, one, other):
                return None
    return [v for v in pointers if not v.restrict]
