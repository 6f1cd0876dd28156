"""Shared arrays beyond what a kernel can declare, seen before compiling."""

from __future__ import annotations

from collections.abc import Iterator

from optimizer.evidence import MicroProfiler
from optimizer.model import Finding, Kernel, Severity
from optimizer.source import Source
from optimizer.variables import Variable

# ptxas refuses more static shared memory, on every GPU; more must be asked for at launch.
MOST_BYTES = 48 * 1024
_BYTES = {
    "char": 1, "signed char": 1, "unsigned char": 1, "bool": 1, "uint8_t": 1, "int8_t": 1,
    "short": 2, "unsigned short": 2, "half": 2, "__half": 2, "__nv_bfloat16": 2,
    "int": 4, "unsigned": 4, "unsigned int": 4, "float": 4, "uint32_t": 4, "int32_t": 4,
    "half2": 4, "__half2": 4, "double": 8, "long long": 8, "unsigned long long": 8, "float2": 8,
    "int2": 8, "float4": 16, "int4": 16, "double2": 16, "uint4": 16,
}  # fmt: skip


def _before(kernel: Kernel) -> Iterator[Finding]:
    source = Source(kernel.source)
    for function in source.kernels:
        # Most have none, which their words tell before anything is worked out of them.
        words = source.syntax.masked.attributes_in(*function.span)
        if not any(word.name == "__shared__" for word in words):
            continue
        if function.broken or function.conditional:
            continue
        total = sum(_bytes(source, variable) for variable in function.shared)
        if total > MOST_BYTES:
            yield Finding(
                "",
                f"{function.name} declares {total} bytes of shared memory; a kernel can declare "
                f"{MOST_BYTES}",
                line=function.line,
                blocking=True,
                severity=Severity.CRITICAL,
                subject=function.name,
                advice="use a smaller tile, or dynamic shared memory with the size raised by "
                "cudaFuncSetAttribute",
                remedies=("tune",),
            )


def _bytes(source: Source, variable: Variable) -> int:
    """Return the bytes of a shared variable, 0 where a part of it is not understood."""
    total = _BYTES.get(variable.element.removeprefix("const "), 0)
    for extent in variable.extents:
        value = source.value(extent) if isinstance(extent, str) and extent else None
        total *= value or 0
    return total


static_shared = MicroProfiler("static-shared", None, before=_before)
