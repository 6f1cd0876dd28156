"""A captured kernel as a workload: its launches are the cases, their contents the inputs.

What links the launches is found out: which scalars are sizes, how long arrays and grids follow
from them. Where everything does, and no array holds whole numbers that may be indices, the usual
odd sizes are tried, too; otherwise each launch keeps its own numbers.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from optimizer.definitions import Parameter
from optimizer.errors import ConfigError
from optimizer.functions import Function
from optimizer.model import (
    Acceptance,
    Argument,
    Build,
    Case,
    Kernel,
    Kind,
    Launch,
    Role,
    Workload,
)
from optimizer.source import Source
from runners import captured
from runners.capture import manifest
from runners.capture.names import demangled, parsed
from runners.captured import Place
from runners.cuda_types import CudaType, parse, to_float, values

_TAKEN = frozenset(
    {"weight", "time", captured.LAUNCH, "min", "max", "ceil", "floor", "log2", "abs"}
)
_MOST_FACTORS = 3
_GRAIN, _SLACK = 256, 512  # what allocators round a size up to
_SEGMENT = 2 << 20  # and large ones in PyTorch's pool
# Wider whole numbers may be indices, of which nobody knows what they must be.
_BYTE = 1


@dataclass(frozen=True, slots=True)
class Found:
    """A kernel with its workload, and what a reader should know of how they were found."""

    kernel: Kernel
    workload: Workload
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Slot:
    """A parameter over all launches; `type` is what is passed, which may be plain bytes."""

    name: str
    type: CudaType
    given: tuple[manifest.Value | manifest.Pointer, ...]

    @property
    def pointers(self) -> tuple[manifest.Pointer, ...]:
        """Return what it points to, launch by launch; empty for a value."""
        return tuple(one for one in self.given if isinstance(one, manifest.Pointer))


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
    function = _function(Source(text), said.plain, len(kernel.launches[0].arguments), path)
    _refuse_state(Source(text), function, path)
    notes: list[str] = []
    types = [
        _type(one, said.types[i] if said.types else None)
        for i, one in enumerate(function.parameters)
    ]
    launches = _alike(kernel.launches, notes)
    slots = _slots(function, types, launches)
    sizes = _sizes(slots, launches)
    roles = _roles(function, slots)
    if Role.OUTPUT not in roles.values() and Role.INOUT not in roles.values():
        raise ConfigError(
            f"{said.plain} writes through none of its parameters", "there is nothing to compare"
        )
    plan = _Plan(slots, launches, sizes, roles)
    notes += plan.notes
    arguments = tuple(
        _argument(plan, i, slot, Place(folder, number, i).init) for i, slot in enumerate(slots)
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
) -> list[_Slot]:
    """Pair parameters with what they were given; raise for what cannot be passed again."""
    found: list[_Slot] = []
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
        found.append(_Slot(name, passed, given))
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


def numbers(kind: CudaType, data: bytes) -> list[int | float]:
    """Return the numbers a value is made of."""
    raw = np.frombuffer(data, np.uint8)
    out: list[int | float] = []
    for one in kind.fields:
        found: Any = values(raw, kind, one)
        wide = to_float(found, one.scalar) if one.scalar.kind == "f" else found
        out += [n.item() for n in wide]
    return out


def _finite(kind: CudaType, data: bytes) -> bool:
    return all(np.isfinite(n) for n in numbers(kind, data))


def _variable(slot: _Slot) -> str:
    return f"{slot.name}_" if slot.name in _TAKEN else slot.name


def _sizes(
    slots: Sequence[_Slot], launches: Sequence[manifest.Launch]
) -> dict[str, tuple[int, ...]]:
    """Return the whole numbers above zero that are passed by value, launch by launch."""
    found: dict[str, tuple[int, ...]] = {}
    for slot in slots:
        only = slot.type.scalar
        plain = only is not None and slot.type.fields[0].lanes == 1 and only.kind in "iu"
        if slot.pointers or not plain:
            continue
        given = [
            int(numbers(slot.type, one.data)[0])
            for one in slot.given
            if isinstance(one, manifest.Value)
        ]
        if all(0 < n < 2**31 for n in given) and len(given) == len(launches):
            found[_variable(slot)] = tuple(given)
    return found


def _products(sizes: Mapping[str, tuple[int, ...]]) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Yield products of sizes with their values, simple ones first."""
    for count in range(1, min(_MOST_FACTORS, len(sizes)) + 1):
        for names in itertools.combinations(sizes, count):
            rows = zip(*(sizes[name] for name in names), strict=True)
            yield "*".join(names), tuple(int(np.prod(row, dtype=object)) for row in rows)
    for name, numbers in sizes.items():
        yield f"{name}*{name}", tuple(n * n for n in numbers)


def _roles(function: Function, slots: Sequence[_Slot]) -> dict[str, Role]:
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


class _Plan:
    """Shapes, geometry and cases that say the same of all launches."""

    def __init__(
        self,
        slots: Sequence[_Slot],
        launches: Sequence[manifest.Launch],
        sizes: Mapping[str, tuple[int, ...]],
        roles: Mapping[str, Role],
    ) -> None:
        self._slots, self._launches, self._sizes = slots, launches, sizes
        self.roles = roles
        self.variables: dict[str, tuple[float, ...]] = {}
        self.notes: list[str] = []
        self.shapes = self._shapes()
        for slot in slots:
            if not slot.pointers:
                self._vary(slot)

    def _shapes(self) -> dict[str, str]:
        """Return each array's elements: as a product of sizes if all of them are, else numbers."""
        arrays = [slot for slot in self._slots if slot.pointers]
        linked = {slot.name: self._product(slot) for slot in arrays}
        fixed = [
            slot.name
            for slot in arrays
            if self.roles[slot.name] is not Role.OUTPUT and not _free(slot.type)
        ]
        loose = [name for name, shape in linked.items() if shape is None]
        if not fixed and not loose:
            shapes = {name: shape for name, shape in linked.items() if shape is not None}
            for text in shapes.values():
                for word in re.findall(r"[A-Za-z_]\w*", text):
                    self.variables[word] = tuple(map(float, self._sizes[word]))
            self.notes.append(f"arrays follow {', '.join(sorted(self.variables))}: other sizes are")
            self.notes[-1] += " tried, too"
            return shapes
        if fixed:
            self.notes.append(
                f"{', '.join(fixed)} may hold indices: whole numbers and sizes stay as captured"
            )
        else:
            self.notes.append(
                f"the sizes of {', '.join(loose)} follow from no argument: sizes stay as captured"
            )
        return {slot.name: self._count(slot) for slot in arrays}

    def _product(self, slot: _Slot) -> str | None:
        """Return a product of sizes that is the array's in the largest launch, rounding up aside.

        Others may use a part of it.
        """
        for factor in (1, 2, 3, 4):
            for text, products in _products(self._sizes):
                wanted = [factor * number * slot.type.size for number in products]
                most = max(wanted)
                if all(
                    _holds(one, size) and (size < most or _fits(one, size))
                    for one, size in zip(slot.pointers, wanted, strict=True)
                ):
                    return text if factor == 1 else f"{factor}*{text}"
        return None

    def _count(self, slot: _Slot) -> str:
        counts = [one.size // slot.type.size for one in slot.pointers]
        if min(counts) < 1:
            raise ConfigError(f"{slot.name} points to less than one {slot.type.text}")
        return self._number(f"elements_{slot.name}", counts)

    def _number(self, name: str, numbers: Sequence[int]) -> str:
        """Return a number as it is, or a case variable where launches differ in it."""
        if len(set(numbers)) == 1:
            return str(numbers[0])
        self.variables[name] = tuple(map(float, numbers))
        return name

    def _vary(self, slot: _Slot) -> None:
        """Make a scalar a case variable where launches differ in it."""
        first = slot.given[0]
        if all(one == first for one in slot.given) or _variable(slot) in self.variables:
            return
        if len(slot.type.fields) > 1 or slot.type.fields[0].lanes > 1:
            raise ConfigError(
                f"{slot.name} is a structure in which launches differ",
                "capture with --launches 1",
            )
        found = [
            numbers(slot.type, one.data)[0] for one in slot.given if isinstance(one, manifest.Value)
        ]
        if any(float(n) != n or abs(n) > 2**62 for n in found):
            raise ConfigError(
                f"{slot.name} has too many digits to differ between cases", "use --launches 1"
            )
        self.variables[_variable(slot)] = tuple(map(float, found))

    def value(self, slot: _Slot) -> str:
        """Return a scalar's expression."""
        name = _variable(slot)
        if name in self.variables:
            return name
        assert isinstance(slot.given[0], manifest.Value)  # noqa: S101 - no pointer, by its type
        words = [
            repr(n) if isinstance(n, float) else str(int(n))
            for n in numbers(slot.type, slot.given[0].data)
        ]
        return words[0] if len(words) == 1 else f"{{{', '.join(words)}}}"

    def launch(self) -> Launch:
        """Return the geometry; a grid that follows the sizes is written so."""
        block = [
            self._number(f"block_{axis}", [one.block[i] for one in self._launches])
            for i, axis in enumerate("xyz")
        ]
        threads = self._launches[0].block
        grid = [
            self._grid(axis, [one.grid[i] for one in self._launches], threads[i])
            for i, axis in enumerate("xyz")
        ]
        shared = self._number("shared_bytes", [one.shared for one in self._launches])
        # The launch in the program's own text may change along with the kernel.
        return Launch(_shortened(grid), _shortened(block), shared, tunable=True)

    def _grid(self, axis: str, numbers: Sequence[int], threads: int) -> str:
        moving = {n: v for n, v in self._sizes.items() if n in self.variables}
        if max(numbers) > 1 or len(set(numbers)) > 1:
            for step in (threads, 1, *(k * threads for k in (2, 4, 8, 16)), 32, 64, 128, 256):
                for text, values_ in _products(moving):
                    if all(-(-v // step) == n for v, n in zip(values_, numbers, strict=True)):
                        return text if step == 1 else f"({text}+{step - 1})/{step}"
        return self._number(f"grid_{axis}", numbers)

    def cases(self) -> tuple[Case, ...]:
        """Return a case a launch. Of those that differ in their contents alone one is timed."""
        self.launch()
        total = sum(one.count for one in self._launches if not one.repeated) or 1
        return tuple(
            Case(
                {name: numbers[i] for name, numbers in self.variables.items()}
                | {captured.LAUNCH: float(i)},
                1.0 if one.repeated else max(1e-3, one.count / total),
                not one.repeated,
            )
            for i, one in enumerate(self._launches)
        )


def _free(kind: CudaType) -> bool:
    """Tell whether an array's values can be others without leading anywhere else."""
    return all(one.scalar.kind == "f" or one.scalar.size == _BYTE for one in kind.fields)


def _holds(one: manifest.Pointer, size: int) -> bool:
    """Tell whether an array of that size lies in it, with all that was changed."""
    return size <= one.size and not (one.changed and one.changed[1] > size)


def _fits(one: manifest.Pointer, size: int) -> bool:
    """Tell whether an array of that size is what an allocator would have made of this.

    Or whether just that part of it was written.
    """
    if one.size == size or (one.changed and size - one.changed[1] < min(64, size // 8)):
        return True
    if one.size % _GRAIN:
        return False  # nobody rounded it
    return one.size - size < _SLACK or one.size == -(-size // _SEGMENT) * _SEGMENT


def _shortened(texts: Sequence[str]) -> tuple[str, ...]:
    """Leave out what is one in y and z."""
    kept = list(texts)
    while len(kept) > 1 and kept[-1] == "1":
        kept.pop()
    return tuple(kept)


def _argument(plan: _Plan, number: int, slot: _Slot, init: str) -> Argument:
    del number
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
