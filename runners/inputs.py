"""Inputs of a case from a seed: the same seed gives the same bytes in every process."""

from __future__ import annotations

import hashlib
import importlib.util
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from runners import captured
from runners.cuda_types import CudaType, Scalar, Storage, from_float, values
from runners.spec import ALONE, MOVED, Argument, SpecError, Work

Arrays = dict[str, Storage]

# Above this many scalars a random pattern is repeated; the period is prime, so that an index that
# wraps at a power of two still meets other data.
LONGEST_PATTERN = 8_388_593
FREE = ("normal", "uniform")


def stream(seed: int, *words: object) -> np.random.Generator:
    """Return the random numbers that belong to a seed and a purpose."""
    text = "\0".join(str(word) for word in (seed, *words))
    return np.random.default_rng(int.from_bytes(hashlib.sha256(text.encode()).digest()[:16]))


def _random(rng: np.random.Generator, init: str, count: int) -> npt.NDArray[Any]:
    """Draw floats; long arrays repeat a pattern with signs and scales that differ by period."""
    length = min(count, LONGEST_PATTERN)
    if init == "uniform":
        pattern = rng.random(length, dtype=np.float32)
    else:
        pattern = rng.standard_normal(length, dtype=np.float32)
    if count <= length:
        return pattern
    out = np.empty(count, np.float32)
    for number, start in enumerate(range(0, count, length)):
        part = out[start : start + length]
        np.multiply(pattern[: len(part)], np.float32(1 - number % 7 / 16), out=part)
    return out


def _integers(
    rng: np.random.Generator, scalar: Scalar, bounds: str, count: int
) -> npt.NDArray[Any]:
    """Draw whole numbers in [low, high)."""
    try:
        low, high = (int(part) for part in bounds.split(":"))
    except ValueError as error:
        raise SpecError(f"randint:{bounds} needs two whole numbers, randint:LO:HI") from error
    if high <= low:
        raise SpecError(f"randint:{bounds} is an empty range")
    length = min(count, LONGEST_PATTERN)
    drawn = np.resize(rng.integers(low, high, length), count)
    return from_float(drawn, scalar) if scalar.kind == "f" else drawn.astype(scalar.dtype)


def _scalars(rng: np.random.Generator, scalar: Scalar, init: str, count: int) -> npt.NDArray[Any]:
    """Fill one field of a buffer."""
    word, _, rest = init.partition(":")
    if word == "randint":
        return _integers(rng, scalar, rest, count)
    if word == "zeros":
        return np.zeros(count, scalar.dtype)
    if word == "ones":
        return from_float(np.ones(count), scalar)
    if word == "arange":
        return from_float(np.arange(count), scalar)
    if word == "permutation":
        return from_float(rng.permutation(count), scalar)
    if word not in {*FREE, "sorted"}:
        raise SpecError(f"init {init!r} is unknown")
    if scalar.kind == "f":
        drawn = _random(rng, word, count)
    elif scalar.kind == "b":
        drawn = rng.integers(0, 2, count)
    else:
        # Integers with a float's default: small enough that sums and products stay in range.
        drawn = np.resize(rng.integers(0, 100, min(count, LONGEST_PATTERN)), count)
    if word == "sorted":
        drawn = np.sort(drawn)
    return from_float(drawn, scalar)


def interleave(parts: list[npt.NDArray[Any]], kind: CudaType, count: int) -> Storage:
    """Assemble field arrays into the bytes of `count` values; padding is zero."""
    if len(parts) == 1 and kind.size == kind.fields[0].scalar.size * kind.fields[0].lanes:
        return np.ascontiguousarray(parts[0]).view(np.uint8).reshape(-1)
    rows = np.zeros((count, kind.size), np.uint8)
    for field, part in zip(kind.fields, parts, strict=True):
        width = field.scalar.size * field.lanes
        rows[:, field.offset : field.offset + width] = part.view(np.uint8).reshape(count, width)
    return rows.reshape(-1)


def load_function(root: Path, target: str) -> Any:
    """Import FILE:FUNCTION below a project's root; raise `SpecError` when it is not there."""
    file, _, name = target.rpartition(":")
    path = (root / file).resolve()
    if not path.is_relative_to(root.resolve()) or not path.is_file():
        raise SpecError(f"{file!r} is no file inside {root}")
    description = importlib.util.spec_from_file_location(f"workload_{path.stem}", path)
    if description is None or description.loader is None:
        raise SpecError(f"{file!r} is no Python file")
    module = importlib.util.module_from_spec(description)
    description.loader.exec_module(module)
    function = getattr(module, name, None)
    if not callable(function):
        raise SpecError(f"{file!r} has no function {name!r}")
    return function


def _from_file(
    argument: Argument, root: Path, case: Mapping[str, float], count: int, seed: int
) -> Storage:
    """Take contents from a .npy file or a Python function `make(seed=..., **case)`."""
    word, _, rest = argument.init.partition(":")
    if word == "file":
        path = (root / rest).resolve()
        if not path.is_relative_to(root.resolve()) or not path.is_file():
            raise SpecError(f"argument {argument.name}: {rest!r} is no file inside {root}")
        data: npt.NDArray[Any] = np.load(path, allow_pickle=False)
    else:
        make = load_function(root, rest)
        variables = {
            k: int(v) if float(v).is_integer() else v for k, v in case.items() if k != MOVED
        }
        data = np.asarray(make(seed=seed, **variables))
    kind = argument.type
    scalar, lanes = kind.scalar, sum(field.lanes for field in kind.fields)
    if scalar is None:
        raw = np.ascontiguousarray(data).view(np.uint8).reshape(-1)
    else:
        flat = np.resize(data.reshape(-1), count * lanes) if word == "file" else data.reshape(-1)
        raw = from_float(flat, scalar).view(np.uint8).reshape(-1)
    if raw.nbytes != count * kind.size:
        raise SpecError(
            f"argument {argument.name}: {argument.init} gave {raw.nbytes} bytes,"
            f" the shape {argument.shape!r} is {count * kind.size}"
        )
    return raw


def generate(work: Work, case: Mapping[str, float], seed: int) -> Arrays:
    """Return the first contents of every pointer argument as bytes, by argument name.

    Outputs are left out: what they hold before a run is poison. The same work, case and seed give
    the same bytes everywhere.
    """
    arrays: Arrays = {}
    # Where a single scalar moves, nothing else does: what is kept for all the rest is then wrong.
    own = sorted((k, v) for k, v in case.items() if k != MOVED or v < ALONE)
    for argument in work.arguments:
        if not argument.type.pointer or argument.role == "output":
            continue
        count = argument.elements(case)
        rng = stream(seed, argument.name, own)
        word = argument.init.partition(":")[0]
        if word == captured.WORD:
            data = captured.contents(work.root, argument.init, case, count, argument.type.size)
        elif word in {"file", "python"}:
            data = _from_file(argument, work.root, case, count, seed)
        else:
            parts = [
                _scalars(rng, field.scalar, argument.init_at(case), count * field.lanes)
                for field in argument.type.fields
            ]
            data = interleave(parts, argument.type, count)
        arrays[argument.name] = data
    return arrays


def fitted(work: Work, arrays: Arrays, case: Mapping[str, float]) -> Arrays:
    """Return arrays none of whose whole numbers is beyond an end that its range has in a case.

    Contents of all kinds are made for the largest declared end, and what is taken from it is less
    than nothing where numbers are larger. What is beyond goes round: a pattern stays one, as far as
    there is room for it.
    """
    out = arrays
    for argument in work.arguments:
        whole = all(field.scalar.kind in "iu" for field in argument.type.fields)
        if not argument.end or argument.name not in arrays or not whole:
            continue
        _, low, end = argument.init_at(case).split(":")
        first, wide, kind = int(low), max(1, int(end) - int(low)), argument.type
        parts = [values(arrays[argument.name], kind, field) for field in kind.fields]
        if any(_beyond(part, first, wide).any() for part in parts):
            fit = [_within(part, first, wide) for part in parts]
            out = {**out, argument.name: interleave(fit, kind, argument.elements(case))}
    return out


def _within(data: npt.NDArray[Any], first: int, wide: int) -> npt.NDArray[Any]:
    """Return numbers of which those beyond so many from the first go round."""
    beyond = _beyond(data, first, wide)
    around = [first + (int(one) - first) % wide for one in data[beyond]]
    out = data.copy()
    out[beyond] = np.asarray(around, data.dtype)
    return out


def _beyond(data: npt.NDArray[Any], first: int, wide: int) -> npt.NDArray[np.bool_]:
    """Return which numbers are none of so many from the first on."""
    info = np.iinfo(data.dtype)
    out: npt.NDArray[np.bool_] = np.zeros(len(data), np.bool_)
    if first + wide <= info.max:
        out |= data >= first + wide
    if first > info.min:
        out |= data < first
    return out


def filled(arrays: Arrays, argument: Argument, numbers: npt.NDArray[Any]) -> npt.NDArray[np.uint8]:
    """Return an array of these numbers, one or as many as it has, in all its fields and lanes."""
    kind = argument.type
    count = len(arrays[argument.name]) // kind.size
    parts = []
    for field in kind.fields:
        data = values(arrays[argument.name], kind, field)
        wide = np.broadcast_to(numbers, (count,)).astype(data.dtype)
        parts.append(np.repeat(wide, field.lanes))
    return interleave(parts, kind, count)


def shuffled(argument: Argument) -> bool:
    """Tell whether captured values may be others: numbers, and bytes, which index nothing large.

    Wider whole numbers may be indices, rows or links of whatever structure, and stay as they are.
    """
    return argument.init.partition(":")[0] == captured.WORD and all(
        one.scalar.kind == "f" or one.scalar.size == 1 for one in argument.type.fields
    )


def rotatable(argument: Argument) -> bool:
    """Tell whether shifting a buffer's contents cyclically gives an input as valid as before.

    True where elements are drawn independently (and for a permutation); not for sorted data or
    for contents from a file, whose order may carry meaning.
    """
    word = argument.init.partition(":")[0]
    return argument.role != "output" and word in {*FREE, "randint", "permutation"}
