"""A device whose kernels run on a core of the host, block by block (`runtime.cpp`).

It has guard bands, poison and errors as `runners.gpu` wants them; its times are made up, and equal
for all launches: nothing about speed can be learnt from it.
"""

from __future__ import annotations

import ctypes
import functools
import json
import mmap
import re
import shutil
import struct
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy.typing as npt

from runners import cubin, seeded
from runners.gpu import DeviceError, HungError, LaunchError, OutOfMemoryError
from runners.spec import Json
from tests.emulation import library
from tests.runners.host_gpu import UNASKED, HostGpu

# Behind the bytes of a cubin stands where its emulation is.
MARK = b"\nemulated as: "
LAUNCH_SECONDS, LAUNCH_US = 20.0, 100.0
MARGIN = 4 << 20
MOST_BYTES = 12 << 30
REGISTERS, REGISTER_UNIT = 65536, 8


def marked(image: bytes, text: str, symbol: str, **more: Any) -> bytes:
    """Return a cubin's bytes with the place of its emulation behind; raise `NotEmulatedError`."""
    kept = dict(cubin.variables(image))
    where = {"library": str(library.library(text, symbol)), "variables": kept, **more}
    return image + MARK + json.dumps(where).encode()


def artifact(text: str, symbol: str, folder: Path, **more: Any) -> Json:
    """Return what a compiler would hand over, emulated alone. Raise `NotEmulatedError`."""
    with tempfile.NamedTemporaryFile(dir=folder, suffix=".emulated", delete=False) as file:
        file.write(marked(b"", text, symbol, **more))
    return {
        "path": file.name,
        "kind": "cubin",
        "symbols": {symbol: symbol},
        "machine_code": str(hash(text)),
    }


def plain(symbol: str) -> str:
    """Return a variable's own name.

    >>> plain("_ZL5count"), plain("_ZN3abc5countE"), plain("count")
    ('count', 'count', 'count')
    """
    rest, last = symbol, ""
    rest = rest.removeprefix("_ZN").removeprefix("_ZL").removeprefix("_Z")
    while rest and rest[0].isdigit():
        digits = re.match(r"\d+", rest)
        assert digits is not None
        end = len(digits[0]) + int(digits[0])
        last, rest = rest[len(digits[0]) : end], rest[end:]
    return last or symbol


@functools.cache
def places(path: Path) -> dict[str, tuple[int, int]]:
    """Return where a shared object has its symbols, and their sizes: the local ones, too."""
    data = path.read_bytes()
    offset, count = struct.unpack_from("<Q", data, 40)[0], struct.unpack_from("<H", data, 60)[0]
    rows = [struct.unpack_from("<IIQQQQIIQQ", data, offset + 64 * n) for n in range(count)]
    found: dict[str, tuple[int, int]] = {}
    for row in rows:
        if row[1] != 2:  # the symbol table
            continue
        names = rows[row[6]][4]
        for at in range(row[4], row[4] + row[5], 24):
            name, _, _, section, value, size = struct.unpack_from("<IBBHQQ", data, at)
            if section:
                end = data.index(b"\0", names + name)
                found[data[names + name : end].decode()] = (value, size)
    return found


class Module:
    """A kernel with variables of its own."""

    def __init__(self, where: Json) -> None:
        library.runtime()
        with tempfile.NamedTemporaryFile(suffix=".so", delete=False) as file:
            file.close()
            # Loaded twice under one name it would have its variables once.
            shutil.copyfile(where["library"], file.name)
        try:
            self.code = ctypes.CDLL(file.name)
        finally:
            Path(file.name).unlink()
        self.entry = self.code.emu_entry
        self._places = places(Path(where["library"]))
        anchor = ctypes.c_size_t.in_dll(self.code, "emu_anchor_at")
        anchor.value = self._places["_ZL10emu_anchor"][0]
        self.registers = int(where.get("registers") or 0)
        self.shaken = bool(where.get("shaken"))
        self.seed = 0
        self.allowed = UNASKED
        self._variables: Json = where.get("variables") or {}
        start = int(ctypes.cast(self.entry, ctypes.c_void_p).value or 0)
        self._base = start - self._places["emu_entry"][0]

    def variable(self, symbol: str) -> tuple[int, int]:
        """Return address and size of a variable; raise `LaunchError` without it."""
        size = int(self._variables.get(symbol) or 0)
        ending = re.sub(r"^.*?(\d+)(?=\D)", "", symbol) if symbol.startswith("_Z") else symbol
        for name in (symbol, plain(symbol), ending):
            if name in self._places and 0 < size <= self._places[name][1]:
                return self._base + self._places[name][0], size
        raise LaunchError(symbol)


class EmulatedGpu(HostGpu):
    """Implements `runners.gpu.Gpu`; every launch takes the same made-up time, but `by_clock`."""

    def __init__(self, *, by_clock: bool = False) -> None:
        super().__init__(by_clock=by_clock)
        self.facts |= {
            "gpu": "emulated, no device",
            "sms": 132,
            "sm": 90,
            "memory_bytes": 64 << 30,
            "shared_optin_bytes": 232448,
        }
        self._held: dict[int, tuple[Any, int]] = {}
        self._number = 0

    def allocate(self, size: int) -> int:
        if sum(held for _, held in self._held.values()) + size > MOST_BYTES:
            raise OutOfMemoryError(f"{size} bytes are not to be had")
        room = (size + 4095) // 4096 * 4096
        block = mmap.mmap(-1, room + 2 * MARGIN, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        start = ctypes.addressof(ctypes.c_char.from_buffer(block))
        _protected(start, MARGIN)
        _protected(start + MARGIN + room, MARGIN)
        address = start + MARGIN
        ctypes.memset(address, 0xA5, room)
        self._held[address] = (block, size)
        return address

    def free(self, address: int) -> None:
        self._held.pop(address, None)

    def load(self, image: bytes) -> Module:
        at = image.rfind(MARK)
        if at < 0:
            raise LaunchError("no emulation of this image")
        return Module(json.loads(image[at + len(MARK) :]))

    def function(self, module: Module, symbol: str, shared: int = 0) -> Module:
        del symbol
        if shared > int(self.facts["shared_optin_bytes"]):
            raise LaunchError("cuFuncSetAttribute failed: invalid argument")
        if shared > UNASKED:
            module.allowed = shared
        return module

    def global_address(self, module: Module, symbol: str) -> tuple[int, int]:
        return module.variable(symbol)

    def set_global(self, module: Module, symbol: str, data: npt.NDArray[Any]) -> None:
        if symbol != seeded.SEED:
            raise LaunchError(symbol)
        module.seed = int(data[0])

    def launch(
        self,
        function: Module,
        grid: Sequence[int],
        block: Sequence[int],
        arguments: bytes,
        shared: int = 0,
    ) -> None:
        if self._capturing is not None:
            self._capturing.append(lambda: self.launch(function, grid, block, arguments, shared))
            return
        threads = block[0] * block[1] * block[2]
        warps = -(-threads // 32)
        each = -(-function.registers // REGISTER_UNIT) * REGISTER_UNIT
        if shared > function.allowed:
            raise LaunchError("cuLaunchKernel failed: invalid argument")
        if each * 32 * warps > REGISTERS:
            raise LaunchError("cuLaunchKernel failed: too many resources requested for launch")
        self._number += 1
        self._ran_us += LAUNCH_US
        # Threads begin in either order, and shared memory holds NaN or numbers.
        poison = 0 if self._number % 2 else (self._number * 0x9E3779B1 | 1) & 0x7FFFFFFF
        status = function.entry(
            ctypes.c_char_p(arguments),
            (ctypes.c_uint * 3)(*grid),
            (ctypes.c_uint * 3)(*block),
            ctypes.c_size_t(shared),
            ctypes.c_uint(function.seed if function.shaken else 0),
            ctypes.c_uint(poison),
            ctypes.c_double(LAUNCH_SECONDS),
        )
        if status:
            words = library.runtime().emu_words().decode()
            raise (HungError if status == 2 else DeviceError)(f"emulated: {words}")


@functools.cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _protected(address: int, size: int) -> None:
    _libc().mprotect(ctypes.c_void_p(address), ctypes.c_size_t(size), ctypes.c_int(0))
