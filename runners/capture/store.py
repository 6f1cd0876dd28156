"""From what the injected library wrote to a capture: complete launches, and the rest by name.

Of every allocation that a pointer falls into the part from the pointer on is kept: up to where the
next pointer of the launch begins, if that looks like another array of the same allocation.
"""

from __future__ import annotations

import datetime as dt
import errno
import hashlib
import itertools
import math
import os
import secrets
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import numpy as np

from optimizer.errors import ConfigError
from runners import captured
from runners.capture import manifest
from runners.capture.chunks import Chunks
from runners.capture.names import demangled, parsed
from runners.capture.randomize import randomized
from runners.capture.spool import Parameter, Process, Taken
from runners.captured import Bytes
from runners.cuda_types import CudaType
from runners.removal import remove

# What allocators round to: arrays in one allocation begin at multiples of it.
GRAIN = 256
_OURS = {captured.FILE, "chunks", "summary.txt", "workload.yml", ".gitignore"}

Types = Sequence[CudaType | None] | None
TypesOf = Callable[[str, str], Types]


@dataclass(frozen=True, slots=True)
class Made:
    """A capture that was written, and how many bytes its files have."""

    capture: manifest.Capture
    folder: Path
    stored: int
    given: int


@dataclass(slots=True)
class _Kernel:
    symbol: str
    name: str
    seen: int = 0
    signatures: set[tuple[Path, int]] = field(default_factory=set)
    launches: list[manifest.Launch] = field(default_factory=list)


class _Unusable(Exception):  # noqa: N818 - said in the capture, not raised to a caller
    """A launch cannot be kept, and why."""


def write(
    processes: Sequence[Process],
    folder: Path,
    *,
    command: Sequence[str],
    through: Literal["cupti", "preload"],
    sources: Mapping[str, str],
    random: bool = False,
    types: TypesOf = lambda _symbol, _name: None,
    force: bool = False,
) -> Made:
    """Write a capture into a folder that does not exist yet, or is an earlier capture.

    `sources` are paths by symbol; `types` tells parameters' types by symbol and demangled name
    where the symbol does not. Raise `ConfigError` when the folder holds something else.
    """
    _clear(folder, force=force)
    # What a program computes on is nobody else's, and no commit takes it along unasked.
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    (folder / ".gitignore").write_text("*\n", encoding="utf-8")
    writer = _Writer(Chunks(folder), types if random else None)
    kernels: dict[str, _Kernel] = {}
    left: Counter[tuple[str, str]] = Counter()
    others: Counter[str] = Counter()
    for process in processes:
        for launch in process.launches:
            place = kernels.setdefault(launch.symbol, _Kernel(launch.symbol, launch.name))
            try:
                place.launches.append(writer.launch(process, launch, place))
            except _Unusable as why:
                left[launch.symbol, f"launch {launch.ordinal}: {why}"] += 1
        for one in process.summary.kernels:
            if one.symbol in kernels:
                kernels[one.symbol].seen += one.launches
            elif one.launches:
                others[one.name] += one.launches
        for refused in process.summary.refused:
            left[refused.kernel, refused.why] += refused.count
    made = manifest.Capture(
        version=1,
        date=dt.datetime.now(dt.UTC).date().isoformat(),
        command=[_text(word) for word in command[:512]],
        through=through,
        randomized=random,
        kernels=[
            manifest.CapturedKernel(
                symbol=one.symbol,
                name=one.name,
                source=sources.get(one.symbol),
                seen=one.seen,
                launches=one.launches,
            )
            for one in kernels.values()
            if one.launches
        ],
        left_out=[
            manifest.LeftOut(kernel=kernel, why=why, count=count)
            for (kernel, why), count in sorted(left.items())
        ][:4096],
        others=[manifest.Seen(name=n[:4096], launches=c) for n, c in others.most_common(65536)],
        notes=sorted({note for process in processes for note in process.summary.notes}),
    )
    (folder / captured.FILE).write_text(made.to_json(), encoding="utf-8")
    return Made(made, folder, writer.chunks.stored, writer.chunks.given)


def _text(word: str) -> str:
    """Return a word of a command line as text: a name of a file may be any bytes."""
    return word.encode(errors="surrogateescape").decode(errors="replace")[:4096]


def _clear(folder: Path, *, force: bool) -> None:
    if not folder.exists() or (folder.is_dir() and not any(folder.iterdir())):
        return
    if not folder.is_dir() or {one.name for one in folder.iterdir()} - _OURS:
        raise ConfigError(f"{folder} holds something else", "name another folder with --out")
    if not force:
        raise ConfigError(f"{folder} holds a capture", "--force replaces it, or name another --out")
    clear(folder)


def clear(folder: Path) -> None:
    """Remove an earlier capture's files."""
    for name in _OURS:
        remove(folder / name)
        if os.path.lexists(folder / name):
            raise OSError(errno.ENOTEMPTY, os.strerror(errno.ENOTEMPTY), str(folder / name))


class _Writer:
    """Turns launches into what `capture.json` says of them."""

    def __init__(self, chunks: Chunks, types: TypesOf | None) -> None:
        self.chunks = chunks
        self._types = types
        self._secret = secrets.randbits(128)

    def launch(self, process: Process, launch: Taken, kernel: _Kernel) -> manifest.Launch:
        """Return a launch whose contents are kept. Raises `_Unusable`."""
        if len(launch.parameters) > manifest.MOST_ARGUMENTS:
            raise _Unusable(f"it has more than {manifest.MOST_ARGUMENTS} parameters")
        regions = []
        for number, region in enumerate(launch.regions):
            if region.trouble or not region.before or not region.after:
                raise _Unusable(f"allocation {number} of {region.bytes} bytes: {region.trouble}")
            regions.append(
                tuple(_mapped(process.blob(name)) for name in (region.before, region.after))
            )
        kinds = self._kinds(launch)
        arguments = [
            self._argument(launch, number, one, regions, kinds)
            for number, one in enumerate(launch.parameters)
        ]
        key = (process.folder, launch.signature)
        repeated = key in kernel.signatures
        kernel.signatures.add(key)
        return manifest.Launch(
            ordinal=launch.ordinal,
            count=process.count(launch),
            repeated=repeated,
            grid=launch.grid,
            block=launch.block,
            shared=launch.shared,
            arguments=arguments,
        )

    def _kinds(self, launch: Taken) -> Types:
        if self._types is None:
            return None
        said = demangled(launch.name).types
        found = (
            [parsed(one) for one in said]
            if said is not None
            else self._types(launch.symbol, launch.name)
        )
        if found is None or len(found) != len(launch.parameters):
            raise _Unusable("its parameters' types are not known, so their values are not replaced")
        return found

    def _argument(
        self,
        launch: Taken,
        number: int,
        one: Parameter,
        regions: Sequence[tuple[Bytes, ...]],
        kinds: Types,
    ) -> manifest.Value | manifest.Pointer:
        if not one.pointers:
            return manifest.Value(place=one.offset, hex=one.bytes)
        if len(one.bytes) != 16 or one.pointers[0][0] != 0:
            raise _Unusable(f"parameter {number} is a structure that holds device addresses")
        _, which, offset = one.pointers[0]
        region = launch.regions[which]
        before, after = regions[which]
        end = _end(launch, which, offset, len(before))
        before, after = before[offset:end], after[offset:end]
        if kinds is not None:
            kind = kinds[number]
            if kind is None or not kind.pointer:
                raise _Unusable(f"parameter {number} is of a type that is not known")
            same = hashlib.blake2b(np.ascontiguousarray(before).data, digest_size=8).digest()
            rng = np.random.default_rng([self._secret, int.from_bytes(same)])
            used = _used(launch, len(before) // kind.size) * kind.size
            other = np.zeros(len(before), np.uint8)
            other[:used] = randomized(before[:used], kind, rng)
            kept = self.chunks.put(other)
            then = None
        else:
            kept = self.chunks.put(before)
            then = self.chunks.put(after)
        different = np.flatnonzero(before != after)
        changed = [int(different[0]), int(different[-1]) + 1] if len(different) else None
        return manifest.Pointer(
            place=one.offset,
            memory=region.memory,
            allocation=which,
            offset=offset,
            whole=max(region.bytes, end),
            size=end - offset,
            before=kept,
            after=then,
            changed=changed,
        )


def _end(launch: Taken, which: int, offset: int, size: int) -> int:
    """Return where the array at an offset of an allocation ends, as far as can be told."""
    others = sorted(
        place
        for parameter in launch.parameters
        for _, region, place in parameter.pointers
        if region == which and place > offset
    )
    if offset % GRAIN == 0:
        for place in others:
            if place % GRAIN == 0:
                return place
    return size


def _used(launch: Taken, count: int) -> int:
    """Return how many elements of an array are likely to be used: the largest product of sizes.

    What lies behind them in a pool is no value of the array, and of no distribution.
    """
    sizes = [
        int.from_bytes(bytes.fromhex(one.bytes), "little")
        for one in launch.parameters
        if not one.pointers and len(one.bytes) in {8, 16}
    ]
    sizes = [size for size in sizes if 1 < size <= count]
    products = {
        math.prod(some)
        for most in (1, 2, 3)
        for some in itertools.combinations_with_replacement(sizes[:12], most)
    }
    return max((n for n in products if n <= count), default=count)


def _mapped(path: Path) -> Bytes:
    try:
        return np.memmap(path, np.uint8, "r")
    except (OSError, ValueError) as error:
        raise _Unusable(f"contents are missing: {error}") from error
