"""A captured kernel as a workload: its launches are the cases, their contents the inputs.

What links the launches is found out: which scalars are sizes, how long arrays and grids follow
from them. Where everything does, and no array holds whole numbers that may be indices, the usual
odd sizes are tried, too; otherwise each launch keeps its own numbers.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from optimizer.definitions import Parameter
from optimizer.errors import ConfigError
from optimizer.functions import Function
from optimizer.model import (
    Acceptance,
    Argument,
    Build,
    Kernel,
    Kind,
    Role,
    Workload,
)
from optimizer.source import Source
from runners.capture import manifest
from runners.capture.names import demangled, parsed
from runners.capture.shapes import Plan, Slot, numbers, sizes_of
from runners.captured import Place
from runners.cuda_types import CudaType, parse

# What a template's instance may be made of. It is written into the text that is compiled, and the
# name that a capture gives may be anything: no statement, literal or directive.
_INSTANCE = re.compile(r"[\w\s:<>,()*&+\-.\[\]]{1,1024}")


@dataclass(frozen=True, slots=True)
class Found:
    """A kernel with its workload, and what a reader should know of how they were found."""

    kernel: Kernel
    workload: Workload
    notes: tuple[str, ...]


def build(
    capture: manifest.Capture,
    number: int,
    folder: str,
    text: str,
    path: str,
    *,
    root: str,
    build: Build | None = None,
    accept: Acceptance | None = None,
) -> Found:
    """Return kernel `number` of a capture as a workload on its source.

    `folder` and `path` are relative to `root`. Raise `ConfigError` for what cannot be run again.
    """
    kernel = capture.kernels[number]
    said = demangled(kernel.name)
    if "<" in said.instance and not _INSTANCE.fullmatch(said.instance):
        raise ConfigError(
            f"{said.plain} has template arguments that no source can write",
            "describe the kernel as an entry in .optiml.yml",
        )
    function = _function(Source(text), said.plain, len(kernel.launches[0].arguments), path)
    _refuse_state(Source(text), function, path)
    notes: list[str] = []
    types = [
        _type(one, said.types[i] if said.types else None)
        for i, one in enumerate(function.parameters)
    ]
    launches = _alike(kernel.launches, notes)
    slots = _slots(function, types, launches)
    sizes = sizes_of(slots, launches)
    roles = _roles(function, slots)
    if Role.OUTPUT not in roles.values() and Role.INOUT not in roles.values():
        raise ConfigError(
            f"{said.plain} writes through none of its parameters", "there is nothing to compare"
        )
    plan = Plan(slots, launches, sizes, roles)
    notes += plan.notes
    arguments = tuple(
        _argument(plan, slot, Place(folder, number, i).init) for i, slot in enumerate(slots)
    )
    workload = Workload(
        said.plain,
        Kind.KERNEL,
        said.instance,
        arguments,
        plan.cases(),
        launch=plan.launch(),
        build=build or Build(),
        accept=accept or Acceptance(),
        root=root,
    )
    return Found(Kernel(workload.name, text, path, workload.launch), workload, tuple(notes))


def _function(source: Source, name: str, count: int, path: str) -> Function:
    named = [one for one in source.kernels if one.name == name]
    fitting = [one for one in named if len(one.parameters) == count]
    if fitting:
        return fitting[0]
    if named:
        raise ConfigError(
            f"{path} has {name} with {len(named[0].parameters)} parameters, it was launched with"
            f" {count}",
            "capture the program again, built from these sources",
        )
    raise ConfigError(f"{path} has no kernel {name}", "name the file it is in with --source")


def _refuse_state(source: Source, function: Function, path: str) -> None:
    """Raise for what is no argument: constants that the host sets, textures."""
    reached = [function, *source.device_functions]
    used = {use.name for one in reached for use in one.variables.free}
    for name in sorted(used & source.spaces.keys()):
        declared = re.search(rf"__constant__[^;]*?\b{re.escape(name)}\b([^;]*);", source.text)
        if declared and "=" not in declared[1]:
            raise ConfigError(
                f"{path}: {function.name} reads the __constant__ {name}, which the host sets: a"
                " capture does not hold it",
                "give it an initializer, or describe the kernel as an entry in .optiml.yml",
            )
    for one in function.parameters:
        if re.search(r"\bcuda(Texture|Surface)Object_t\b", one.type):
            raise ConfigError(
                f"{function.name} reads {one.name}, a texture or surface: those are not captured",
                "describe the kernel as an entry in .optiml.yml",
            )


def _type(parameter: Parameter, said: str | None) -> CudaType | None:
    """Return a parameter's type, by its symbol if that tells, else by the source."""
    return (parsed(said) if said is not None else None) or parsed(parameter.type)


def _alike(launches: Sequence[manifest.Launch], notes: list[str]) -> list[manifest.Launch]:
    """Keep the launches whose parameters are of the first one's kinds."""

    def kinds(launch: manifest.Launch) -> list[str]:
        return [
            f"{one.kind} {one.place} {len(one.hex) if isinstance(one, manifest.Value) else 8}"
            for one in launch.arguments
        ]

    kept = [one for one in launches if kinds(one) == kinds(launches[0])]
    if len(kept) < len(launches):
        notes.append(
            f"{len(launches) - len(kept)} launches are left out: they have a null pointer where"
            " the first one has an array, or the other way round"
        )
    return kept


def _slots(
    function: Function, types: Sequence[CudaType | None], launches: Sequence[manifest.Launch]
) -> list[Slot]:
    """Pair parameters with what they were given; raise for what cannot be passed again."""
    found: list[Slot] = []
    end = 0
    for i, (parameter, kind) in enumerate(zip(function.parameters, types, strict=True)):
        given = tuple(launch.arguments[i] for launch in launches)
        first = given[0]
        name = parameter.name or f"p{i}"
        if isinstance(first, manifest.Pointer):
            if kind is None or not kind.pointer:
                raise ConfigError(
                    f"{name} is a {parameter.type}: an array of those cannot be described",
                    "describe the kernel as an entry in .optiml.yml",
                )
            passed, size, align = kind, 8, 8
        else:
            passed = _passed(name, kind, first)
            size, align = passed.size, passed.align
        end = -(-end // align) * align
        if end != first.place:
            raise ConfigError(
                f"{name} lies at byte {first.place} of the parameters, not at {end}: a parameter"
                " before it has a layout that cannot be described"
            )
        end += size
        found.append(Slot(name, passed, given))
    return found


def _passed(name: str, kind: CudaType | None, value: manifest.Value) -> CudaType:
    """Return the type a value is passed as; what has no type of ours is passed as its bits."""
    size = len(value.data)
    if kind is not None and kind.pointer:
        if any(value.data):
            raise ConfigError(
                f"{name} points to memory that CUDA does not know: it was not captured",
                "use cudaMalloc, cudaMallocManaged or cudaHostAlloc for it",
            )
        return parse("uint64")  # no address is eight bytes of zero
    if kind is not None and kind.size == size and _finite(kind, value.data):
        return kind
    width = next(w for w in (8, 4, 2, 1) if size % w == 0 and value.place % w == 0)
    return parse(f"struct{{uint{8 * width} bits[{size // width}];}}")


def _finite(kind: CudaType, data: bytes) -> bool:
    return all(np.isfinite(n) for n in numbers(kind, data))


def _roles(function: Function, slots: Sequence[Slot]) -> dict[str, Role]:
    """Return what the kernel does with each array.

    An output is one of which nothing is ever read and whose address goes nowhere else; of what is
    both, or not understood, the contents before the launch count.
    """
    found: dict[str, Role] = {}
    for parameter, slot in zip(function.parameters, slots, strict=True):
        if not slot.pointers:
            continue
        if slot.type.const:
            found[slot.name] = Role.INPUT
            continue
        kinds = {one.kind for one in function.accesses if one.root == parameter.name}
        variable = function.variable(parameter.name)
        uses = {use.role for use in variable.uses} if variable is not None else {"unknown"}
        seen = not function.broken and not function.conditional and uses <= {"load", "store"}
        changed = any(one.changed for one in slot.pointers)
        if seen and kinds == {"write"}:
            found[slot.name] = Role.OUTPUT
        elif seen and kinds == {"read"} and not changed:
            found[slot.name] = Role.INPUT
        else:
            found[slot.name] = Role.INOUT
    return found


def _argument(plan: Plan, slot: Slot, init: str) -> Argument:
    text = slot.type.text
    if not slot.pointers:
        return Argument(slot.name, text, value=plan.value(slot))
    return Argument(
        slot.name, text, shape=plan.shapes[slot.name], init=init, role=plan.roles[slot.name]
    )


def renamed(found: Sequence[Found]) -> list[Found]:
    """Return workloads under names that differ: instances of one template are numbered."""
    taken: dict[str, int] = {}
    out: list[Found] = []
    for one in found:
        count = taken[one.workload.name] = taken.get(one.workload.name, 0) + 1
        name = one.workload.name if count == 1 else f"{one.workload.name}-{count}"
        out.append(
            Found(replace(one.kernel, name=name), replace(one.workload, name=name), one.notes)
        )
    return out
