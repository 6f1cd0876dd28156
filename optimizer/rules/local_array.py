"""Keep a thread's small array in shared memory where its elements are picked at run time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod

from optimizer.accesses import Access
from optimizer.functions import Function
from optimizer.geometry import block_extents
from optimizer.model import Edit, Finding, Kernel
from optimizer.source import Source
from optimizer.spans import Replacement
from optimizer.syntax import contains, span
from optimizer.variables import Variable

_NAME = "local-array"
_BYTES = {
    "char": 1, "unsigned char": 1, "signed char": 1, "bool": 1, "short": 2, "unsigned short": 2,
    "int": 4, "unsigned int": 4, "unsigned": 4, "float": 4, "double": 8, "long long": 8,
    "unsigned long long": 8, "int32_t": 4, "uint32_t": 4, "uint8_t": 1, "int8_t": 1, "float2": 8,
}  # fmt: skip
# Several blocks must still fit: a multiprocessor has 228 KiB, a block may have 48 KiB unasked.
_MOST_BYTES = 32 << 10
_MOST_TRIPS = 32  # loops of so many iterations are unrolled, and their arrays are registers


def local_array(kernel: Kernel, findings: Sequence[Finding]) -> Iterator[Edit]:
    """Move an array that is indexed by data from local memory to a column of shared memory.

    The compiler keeps such an array in memory behind the caches, since registers have no index.
    `a[i]` becomes `a[i][thread]`: each thread has a column of its own, so that no barrier is needed
    and banks do not clash. Legal where blocks are of one known size and the array is only indexed.
    """
    del findings
    source = Source(kernel.source)
    for fn in source.kernels:
        if fn.broken or fn.conditional or fn.unknown_names or fn.has_goto:
            continue
        block = block_extents(kernel, source, fn)
        if block is None or any(v.extents == ("",) for v in fn.shared):
            continue
        threads = prod(block)
        for variable in fn.local_arrays:
            extent = _extent(source, fn, variable)
            if extent is None or extent * threads * _BYTES[variable.element] > _MOST_BYTES:
                continue
            yield Edit(
                f"keep `{variable.name}` of `{fn.name}` in shared memory",
                source.replace(sorted(_moved(source, fn, variable, block))),
                f"rule:{_NAME}",
                f"Line {source.line(variable.name_node)}: the array is indexed by what is known at"
                " run time only, so that it lies in local memory; shared memory is nearer.",
                _NAME,
                1.3,
            )


def _extent(source: Source, fn: Function, variable: Variable) -> int | None:
    """Return the length of an array that is worth moving and may be moved."""
    if variable.is_pointer or len(variable.extents) != 1 or variable.element not in _BYTES:
        return None
    if variable.volatile or len(variable.declaration.children_by_field_name("declarator")) != 1:
        return None
    if not source.in_block(variable.declaration) or "static" in variable.type.split():
        return None
    own = [a for a in fn.accesses if a.variable is variable]
    used = [u for u in variable.uses if u.role != "declare"]
    if any(u.role not in ("load", "store", "modify") for u in used) or len(used) != len(own):
        return None
    if any(len(a.indices) != 1 or a.cast for a in own) or not any(_picked(source, a) for a in own):
        return None
    init = variable.init
    if init is not None and not all(source.of(n) in _ZEROS for n in init.named_children):
        return None
    extent = source.value(variable.extents[0])
    return extent if extent is not None and 1 < extent <= 256 else None


_ZEROS = ("0", "0.0", "0.f", "0.0f", "0.")


def _picked(source: Source, access: Access) -> bool:
    """Return whether an element is known at run time only, however loops are unrolled."""
    if access.index is None:
        return True
    counted = {lp.name for lp in access.loops if lp.trips is not None and lp.trips <= _MOST_TRIPS}
    return any(source.constant(name) is None for name in access.index.symbols - counted)


def _moved(
    source: Source, fn: Function, variable: Variable, block: tuple[int, int, int]
) -> Iterator[Replacement]:
    thread = "threadIdx.x"
    lines: list[str] = []
    taken = [v.name for v in fn.variables.all]
    if block[1:] != (1, 1):
        number = "threadIdx.y * blockDim.x + threadIdx.x"
        if block[2] != 1:
            number = "(threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x"
        thread = source.fresh_name("thread", *taken)
        lines.append(f"const int {thread} = {number};")
    extent = variable.extents[0].strip()
    name = variable.name
    lines.append(f"__shared__ {variable.element} {name}[{extent}][{prod(block)}];")
    if variable.init is not None:
        at = source.fresh_name("k", *taken)
        lines.append(f"for (int {at} = 0; {at} < {extent}; {at}++) {name}[{at}][{thread}] = 0;")
    margin = source.indent(variable.declaration)
    yield (*span(variable.declaration), f"\n{margin}".join(lines))
    for access in fn.accesses:
        if access.variable is variable and not contains(variable.declaration, access.node):
            yield (access.node.end_byte, access.node.end_byte, f"[{thread}]")
