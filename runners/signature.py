"""Whether a function's C++ signature fits the arguments a workload gives it."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence

from optimizer.definitions import Parameter
from optimizer.functions import Function
from optimizer.model import Argument, Kind, Role, Workload
from optimizer.source import Source
from runners import cuda_types


def mismatch(workload: Workload, text: str, path: str) -> tuple[str, str] | None:
    """Return what does not fit and what would be right; None when it fits or cannot be told.

    It cannot be told for functions made by macros or included, and for types from elsewhere.
    """
    if workload.kind is Kind.PROGRAM:
        return None if "main" in text else (f"{path} has no main()", "name a kernel or an entry")
    source = Source(text)
    plain = workload.symbol.partition("<")[0].rpartition("::")[2].strip()
    wants_kernel = workload.kind is Kind.KERNEL
    named = [f for f in source.functions if f.name == plain]
    fitting = [f for f in named if f.is_kernel == wants_kernel]
    if not fitting:
        return _absent(source, text, path, plain, named, wants_kernel=wants_kernel)
    troubles = [_trouble(f, workload) for f in fitting]
    if not all(troubles):
        return None
    function = fitting[0]
    signature = ", ".join(f"{p.type} {p.name}".strip() for p in function.parameters)
    return (
        f"{troubles[0]}; {path}:{function.line} has {plain}({signature})",
        "list its arguments under args in the order of the signature",
    )


def _absent(
    source: Source,
    text: str,
    path: str,
    plain: str,
    named: Sequence[Function],
    *,
    wants_kernel: bool,
) -> tuple[str, str] | None:
    if named:
        is_now, should = ("a host function", "entry") if wants_kernel else ("a kernel", "kernel")
        return f"{plain} in {path} is {is_now}", f"write `{should}: {plain}`"
    if re.search(rf"\b{re.escape(plain)}\b", text) and plain:
        return None  # made by a macro, or declared here and defined elsewhere
    functions = source.kernels if wants_kernel else source.host_functions
    names = list(dict.fromkeys(f.name for f in functions if f.name != "main"))
    what = "kernel" if wants_kernel else "host function"
    near = difflib.get_close_matches(plain, names, 1)
    remedy = f"did you mean {near[0]}?" if near else f"it has: {', '.join(names) or 'none'}"
    return f"{path} has no {what} {plain}", remedy


def _trouble(function: Function, workload: Workload) -> str:
    parameters = list(function.parameters)
    given = workload.arguments
    stream = parameters and "Stream_t" in parameters[-1].type
    if workload.kind is Kind.ENTRY and stream and len(parameters) == len(given) + 1:
        parameters.pop()
    if len(parameters) != len(given):
        return f"args has {len(given)} entries, the function takes {len(parameters)}"
    templates = {one.name for one in function.templates}
    for argument, parameter in zip(given, parameters, strict=True):
        trouble = _pair(argument, parameter, templates)
        if trouble:
            return trouble
    return ""


def _pair(argument: Argument, parameter: Parameter, templates: set[str]) -> str:
    declared = cuda_types.parse(argument.type)
    if parameter.reference and not parameter.const:
        return f"parameter {parameter.name} is a reference, which cannot be passed"
    if set(re.findall(r"\w+", parameter.element)) & templates:
        return ""
    known = parameter.depth > 0 or _parsed(parameter.element) is not None
    if known and declared.pointer != parameter.is_pointer:
        kinds = ("a value", "a pointer")
        is_now, there = kinds[declared.pointer], kinds[parameter.is_pointer]
        return f"argument {argument.name} is {is_now}, parameter {parameter.name} {there}"
    element = _parsed(parameter.element)
    if element is not None and element.fields != declared.fields:
        return f"argument {argument.name} is {argument.type!r}, not {parameter.type!r}"
    if parameter.is_pointer and parameter.const and argument.role is not Role.INPUT:
        return f"argument {argument.name} is an {argument.role.value}, but the pointer is const"
    return ""


def _parsed(name: str) -> cuda_types.CudaType | None:
    try:
        return cuda_types.parse(name)
    except cuda_types.TypeNameError:
        return None
