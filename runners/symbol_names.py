"""Mangled symbols of compiled code under the names that sources give them."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from runners import cubin
from runners.artifact import ArtifactKind


def symbols_of(
    kind: ArtifactKind,
    asked: str,
    kernels: Sequence[str],
    data: bytes,
    demangle: Callable[[Sequence[str]], Sequence[str]],
) -> dict[str, str]:
    """Map names as written to mangled symbols; what the workload asks for comes as asked.

    `data` is the whole file, `demangle` what writes symbols as `scan<float, 256>(float *)`; it
    returns fewer where it cannot.
    """
    functions = list(kernels)
    if kind == "shared":  # an entry function is called by its exported name
        functions = [s for s in cubin.exports(data) if s not in kernels] or functions
    found: dict[str, str] = {}
    for symbol in functions:
        found.setdefault(cubin.plain_name(symbol), symbol)
        found[cubin.source_name(symbol)] = symbol
    if [cubin.plain_name(symbol) for symbol in functions].count(asked) > 1:
        del found[asked]  # an overload or template: which one is for the workload to say
    if asked and asked not in found:
        match = _match(asked, functions, demangle)
        if match is not None:
            found[asked] = match
    return found


def _match(
    asked: str, functions: Sequence[str], demangle: Callable[[Sequence[str]], Sequence[str]]
) -> str | None:
    """Find a template instance or qualified name among mangled symbols."""
    wanted = _squeezed(asked)
    for symbol in functions:
        if _squeezed(cubin.source_name(symbol)) in {wanted, wanted.removeprefix("::")}:
            return symbol
    plain = re.sub(r"<.*", "", asked, flags=re.DOTALL).rpartition("::")[2].strip()
    same = [symbol for symbol in functions if cubin.plain_name(symbol) == plain]
    if len(same) <= 1:
        return same[0] if same and ("<" in asked or "::" in asked) else None
    for symbol, name in zip(same, demangle(same), strict=False):
        if f"{wanted}(" in _squeezed(name):
            return symbol
    return None


def _squeezed(name: str) -> str:
    """Write a name in one way: `scan<float,256>`, `unsigned` for `unsigned int`."""
    name = re.sub(r"\bunsigned int\b", "unsigned", name)
    name = re.sub(r"(?<=\d)[uUlL]+\b", "", name)
    return re.sub(r"\s+", "", name)
