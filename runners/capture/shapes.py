"""What links captured launches: sizes, arrays and grids that follow from scalar arguments."""

from __future__ import annotations

import functools
import itertools
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from optimizer.errors import ConfigError
from optimizer.model import Case, Launch, Role
from runners import captured
from runners.capture import manifest
from runners.cuda_types import CudaType, to_float, values

_TAKEN = frozenset(
    {"weight", "time", captured.LAUNCH, "min", "max", "ceil", "floor", "log2", "abs"}
)
_MOST_FACTORS = 3
# With as many sizes there are 700 products; a capture may name 64, which have 43,000.
_MOST_SIZES = 16
_WORD = re.compile(r"[A-Za-z_]\w*")
_GRAIN, _SLACK = 256, 512  # what allocators round a size up to
_SEGMENT = 2 << 20  # and large ones in PyTorch's pool
# Wider whole numbers may be indices, of which nobody knows what they must be.
_BYTE = 1


@dataclass(frozen=True, slots=True)
class Slot:
    """A parameter over all launches; `type` is what is passed, which may be plain bytes."""

    name: str
    type: CudaType
    given: tuple[manifest.Value | manifest.Pointer, ...]

    @property
    def pointers(self) -> tuple[manifest.Pointer, ...]:
        """Return what it points to, launch by launch; empty for a value."""
        return tuple(one for one in self.given if isinstance(one, manifest.Pointer))


def numbers(kind: CudaType, data: bytes) -> list[int | float]:
    """Return the numbers a value is made of."""
    raw = np.frombuffer(data, np.uint8)
    out: list[int | float] = []
    for one in kind.fields:
        found: Any = values(raw, kind, one)
        wide = to_float(found, one.scalar) if one.scalar.kind == "f" else found
        out += [n.item() for n in wide]
    return out


def _variable(slot: Slot) -> str:
    return f"{slot.name}_" if slot.name in _TAKEN else slot.name


def sizes_of(
    slots: Sequence[Slot], launches: Sequence[manifest.Launch]
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


def _products(sizes: Mapping[str, tuple[int, ...]]) -> Sequence[tuple[str, tuple[int, ...]]]:
    """Return products of sizes with their values, simple ones first; of the first sizes if many."""
    return _multiplied(tuple(itertools.islice(sizes.items(), _MOST_SIZES)))


@functools.lru_cache(maxsize=16)
def _multiplied(
    sizes: tuple[tuple[str, tuple[int, ...]], ...],
) -> Sequence[tuple[str, tuple[int, ...]]]:
    found: list[tuple[str, tuple[int, ...]]] = []
    for count in range(1, min(_MOST_FACTORS, len(sizes)) + 1):
        for some in itertools.combinations(sizes, count):
            rows = zip(*(numbers for _, numbers in some), strict=True)
            found.append(("*".join(name for name, _ in some), tuple(map(math.prod, rows))))
    found += [(f"{name}*{name}", tuple(n * n for n in numbers)) for name, numbers in sizes]
    return found


class Plan:
    """Shapes, geometry and cases that say the same of all launches."""

    def __init__(
        self,
        slots: Sequence[Slot],
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
        exact = {name: shape for name, shape in linked.items() if shape is not None}
        if fixed or not exact:
            said = (
                f"{', '.join(fixed)} may hold indices: whole numbers and"
                if fixed
                else (f"the sizes of {', '.join(linked)} follow from no argument: values vary,")
            )
            self.notes.append(f"{said} sizes stay as captured")
            return {slot.name: self._count(slot) for slot in arrays}
        moving = sorted({word for text in exact.values() for word in _WORD.findall(text)})
        self.variables |= {word: tuple(map(float, self._sizes[word])) for word in moving}
        self.notes.append(f"arrays follow {', '.join(moving)}: other sizes are tried, too")
        return {slot.name: exact.get(slot.name) or self._roomy(slot, moving) for slot in arrays}

    def _roomy(self, slot: Slot, moving: Sequence[str]) -> str:
        """Return the largest product of sizes that lies in an array, and how much more there is.

        Nothing says how long the array is, in a pool for instance. This way it is as long as it
        was in each launch, and longer where the sizes are larger.
        """
        counts = [one.size // slot.type.size for one in slot.pointers]
        within = [
            (products, text)
            for text, products in _products({name: self._sizes[name] for name in moving})
            if all(
                _holds(one, number * slot.type.size)
                for one, number in zip(slot.pointers, products, strict=True)
            )
        ]
        if not within:
            return self._count(slot)
        products, text = max(within)
        rest = [count - number for count, number in zip(counts, products, strict=True)]
        more = self._number(f"more_{slot.name}", rest)
        return text if more == "0" else f"{text}+{more}"

    def _product(self, slot: Slot) -> str | None:
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

    def _count(self, slot: Slot) -> str:
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

    def _vary(self, slot: Slot) -> None:
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

    def value(self, slot: Slot) -> str:
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
