"""Make an argument that is the same number at every launch a constant of the kernel."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from optimizer.functions import Function
from optimizer.model import Edit, Finding, Kernel
from optimizer.source import Source
from optimizer.syntax import contains, span
from optimizer.variables import Variable

_NAME = "specialize"
_INTEGERS = frozenset({
    "int", "unsigned int", "unsigned", "long", "unsigned long", "long long", "short", "size_t",
    "unsigned long long", "int32_t", "uint32_t", "int64_t", "uint64_t",
})  # fmt: skip


def specialize(kernel: Kernel, findings: Sequence[Finding]) -> Iterator[Edit]:
    """Replace an integer parameter by the number that every launch in the file passes for it.

    The compiler can then unroll loops over it and divide by multiplication. The parameter stays,
    so that launches need no change. Only where a whole program shows all its launches.
    """
    del findings
    source = Source(kernel.source)
    if not source.has_main or kernel.launch is not None:
        return
    for fn in source.kernels:
        if fn.broken or fn.conditional or fn.unknown_names or fn.templates:
            continue
        for variable in fn.variables.all:
            number = _number(source, fn, variable)
            if number is None:
                continue
            uses = [u for u in variable.uses if contains(fn.body, u.node)]
            if not any(_matters(fn, variable)):
                continue
            taken = [v.name for v in fn.variables.all]
            name = source.fresh_name(f"k{variable.name[:1].upper()}{variable.name[1:]}", *taken)
            first = fn.body.named_children[0]
            line = f"constexpr {variable.element} {name} = {number};"
            lines = ", ".join(str(lc.line) for lc in source.launches_of(fn.name))
            yield Edit(
                f"make `{variable.name}` of `{fn.name}` the constant {number}",
                source.replace(
                    [source.insert_before(first, line), *((*span(u.node), name) for u in uses)]
                ),
                f"rule:{_NAME}",
                f"Every launch (line {lines}) passes {number} for `{variable.name}`; with the"
                " number known, loops over it unroll and divisions by it become cheap.",
                _NAME,
                1.15,
            )


def _number(source: Source, fn: Function, variable: Variable) -> int | None:
    """Return what every launch passes for a parameter, when that is seen to be one number."""
    if variable.space != "parameter" or not variable.is_scalar or not variable.settled:
        return None
    names = [p.name for p in fn.parameters]
    launches = source.launches_of(fn.name)
    if variable.element not in _INTEGERS or variable.name not in names or not launches:
        return None
    if not source.only_launched(fn.name):
        return None
    at = names.index(variable.name)
    found: set[int | None] = set()
    for launch in launches:
        if at >= len(launch.arguments):
            return None
        found.add(source.value(source.plain(launch.arguments[at])))
    return found.pop() if len(found) == 1 else None


def _matters(fn: Function, variable: Variable) -> Iterator[bool]:
    """Yield for each use whether a loop ends at it or something is divided by it."""
    for use in variable.uses:
        for loop in fn.loops:
            if loop.bound is not None and contains(loop.bound, use.node):
                yield True
        for division in fn.divisions:
            if contains(division, use.node):
                yield True
