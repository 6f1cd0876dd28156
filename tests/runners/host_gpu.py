"""A device made of host memory: kernels are compiled by g++ and run thread after thread.

It lets the whole worker run where there is no GPU, its own device code included.
"""

from __future__ import annotations

import atexit
import ctypes
import functools
import hashlib
import json
import math
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import numpy as np
import numpy.typing as npt

from runners.answering import answer_all
from runners.answers import Oracle
from runners.gpu import LaunchError
from runners.images import HELPERS
from runners.spec import Json
from tests import once

SHIM = Path(__file__).with_name("host_gpu.h")
P = ParamSpec("P")
T = TypeVar("T")
COMPILER = shutil.which("g++")
# Bytes of shared memory that a launch has without being allowed them.
UNASKED = 48 << 10
# Bytes of answers that are remembered of one question.
MOST_REMEMBERED = 16 << 20


def _address(function: Any) -> int:
    return int(ctypes.cast(function, ctypes.c_void_p).value or 0)


@functools.cache
def host_library(text: str, effort: str = "-O1") -> str:
    """Compile CUDA text for the host; return the path of the shared object."""
    names = re.findall(r"__global__\s+void\s+(\w+)", text)
    body = text.replace("extern __shared__ u32 shared_words[];", "static u32 shared_words[65536];")
    calls = "\n".join(
        f'extern "C" void host_{n}(const char* a, const unsigned* g, const unsigned* b)'
        f" {{ launch(&{n}, a, g, b); }}"
        for n in names
    )
    shim = SHIM.read_text()
    command = [str(COMPILER), "-std=c++17", effort, "-ffp-contract=off", "-w", "-fPIC"]

    def compiled(*words: str | Path) -> None:
        subprocess.run([*command, *map(str, words)], check=True, capture_output=True)

    def head(folder: Path) -> None:
        header = folder / SHIM.name
        header.write_text(shim)
        compiled("-x", "c++-header", header)

    def make(folder: Path) -> None:
        # The library's headers take longer than the kernel.
        header = once.built("\0".join(command), shim, head) / SHIM.name
        source = folder / "k.cpp"
        source.write_text(f"{body}\n{calls}\n")
        compiled("-shared", "-include", header, "-o", folder / "k.so", source)

    kind = "\0".join([*command, "-shared"])
    return str(once.built(kind, f"{shim}\n{body}\n{calls}\n", make) / "k.so")


def artifact(text: str) -> Json:
    """Return what a compiler would hand over for a kernel's text."""
    names = re.findall(r"__global__\s+void\s+(\w+)", text)
    return {
        "path": host_library(text),
        "kind": "cubin",
        "symbols": {n: n for n in names},
        "machine_code": str(hash(text)),
    }


class HostGpu:
    """Implements `runners.gpu.Gpu`, events in a time of its own unless `by_clock`.

    A launch takes the microseconds that its threads come to, always the same: by the clock of a
    machine that others use, the same pair would be timed until the limit, and few tests ask how
    long g++'s code takes.
    """

    def __init__(self, *, by_clock: bool = False) -> None:
        self._by_clock = by_clock
        self.facts: dict[str, Any] = {
            "gpu": "host",
            "sms": 2,
            "l2_bytes": 1 << 16,
            "memory_bytes": 1 << 32,
            "shared_optin_bytes": 1 << 16,
            "sm": 0,
            "bus_id": "host",
        }
        self.memory: dict[int, Any] = {}
        self.launches: list[str] = []
        self._capturing: list[Callable[[], None]] | None = None
        self._ran_us = 0.0
        self._allowed: dict[int, int] = {}
        self._helpers = ctypes.CDLL(host_library(HELPERS.read_text(), "-O3"))

    def allocate(self, size: int) -> int:
        block = np.full(size + 512, 0xA5, np.uint8)
        address = (block.ctypes.data + 255) // 256 * 256
        self.memory[address] = block
        return int(address)

    def free(self, address: int) -> None:
        self.memory.pop(address, None)

    def upload(self, address: int, data: npt.NDArray[Any]) -> None:
        flat = np.ascontiguousarray(data)
        ctypes.memmove(address, flat.ctypes.data, flat.nbytes)

    def download(self, address: int, size: int) -> npt.NDArray[np.uint8]:
        out = np.empty(size, np.uint8)
        ctypes.memmove(out.ctypes.data, address, size)
        return out

    def fill(self, address: int, value: int, words: int) -> None:
        self.upload(address, np.full(words, value, np.uint32))

    def copy(self, to: int, source: int, size: int) -> None:
        ctypes.memmove(to, source, size)

    def load(self, image: bytes) -> Any:
        with tempfile.NamedTemporaryFile(suffix=".so", delete=False) as file:
            file.write(image)
        return ctypes.CDLL(file.name)

    def function(self, module: Any, symbol: str, shared: int = 0) -> Any:
        try:
            found = module[f"host_{symbol}"]
        except AttributeError as error:
            raise LaunchError(f"{symbol} not found") from error
        if shared > UNASKED:
            # As a driver does: what is said last counts, for whoever has the function.
            self._allowed[_address(found)] = shared
        return found

    def launch(
        self,
        function: Any,
        grid: Sequence[int],
        block: Sequence[int],
        arguments: bytes,
        shared: int = 0,
    ) -> None:
        if self._capturing is not None:
            self._capturing.append(lambda: self.launch(function, grid, block, arguments, shared))
            return
        if shared > self._allowed.get(_address(function), UNASKED):
            raise LaunchError("cuLaunchKernel failed: invalid argument")
        self.launches.append("kernel")
        self._ran_us += 10.0 + 0.005 * math.prod(grid) * math.prod(block)
        g, b = (ctypes.c_uint * 3)(*grid), (ctypes.c_uint * 3)(*block)
        function(ctypes.c_char_p(arguments), g, b)

    def helper(
        self, name: str, grid: Sequence[int], block: int, arguments: bytes, shared: int = 0
    ) -> None:
        if self._capturing is not None:
            self._capturing.append(lambda: self.helper(name, grid, block, arguments, shared))
            return
        if name == "gate":
            duration, seen = np.frombuffer(arguments, np.uint64)
            self.upload(int(seen), np.array([int(duration) * 2, int(duration)], np.uint64))
            return
        if name in {"dirty", "sweep"}:
            return
        # Threads that go over the same slab by turns find none of it in the cache: few of them do.
        full = (min(grid[0], 2), *grid[1:], 1, 1)[:3]
        self.launches.append(name)
        g, b = (ctypes.c_uint * 3)(*full), (ctypes.c_uint * 3)(2, 1, 1)
        self._helpers[f"host_optiml_{name}"](ctypes.c_char_p(arguments), g, b)

    def beside(self, duration_ns: int, blocks: int) -> None:
        pass

    def captured(self, queue: Callable[[], None]) -> HostGraph:
        """Return what `queue` launches, each with the arguments that it has now."""
        held: list[Callable[[], None]] = []
        self._capturing = held
        try:
            queue()
        finally:
            self._capturing = None
        return HostGraph(held)

    def event(self) -> Any:
        return [0.0]

    def record(self, event: Any) -> None:
        event[0] = time.perf_counter() * 1e6 if self._by_clock else self._ran_us

    def wait(self, event: Any, seconds: float) -> None:
        pass

    def elapsed_us(self, start: Any, end: Any) -> float:
        return float(end[0] - start[0])

    def settle(self, seconds: float = 60.0) -> None:
        pass

    def global_address(self, module: Any, symbol: str) -> tuple[int, int]:
        try:
            size = ctypes.c_uint.in_dll(module, f"{symbol}_bytes").value
        except ValueError:
            size = 4
        try:
            return ctypes.addressof(ctypes.c_uint.in_dll(module, symbol)), size
        except ValueError as error:
            raise LaunchError(symbol) from error

    def set_global(self, module: Any, symbol: str, data: npt.NDArray[Any]) -> None:
        self.upload(self.global_address(module, symbol)[0], data)

    def synchronize(self, seconds: float = 60.0) -> float:
        return 0.0

    def reset_cache(self) -> None:
        pass

    def free_bytes(self) -> int:
        return 1 << 26

    def temperature(self) -> float | None:
        return None


class HostGraph:
    """Launches to be made again, as they were when they were captured."""

    def __init__(self, launches: Sequence[Callable[[], None]]) -> None:
        self._launches = launches

    def __call__(self) -> None:
        for launch in self._launches:
            launch()

    def close(self) -> None:
        pass


class HostOracle(Oracle):
    """Answers in this process instead of one of its own, and in one thread.

    Others gain nothing where no device works meanwhile, and take the interpreter from each other.
    What it was asked before about the same original it answers as it did then, if it `remembers`:
    only where a test changes nothing of how an original is run and its results are described.
    """

    remembers = False

    def _device(self, _number: int) -> HostGpu:
        return HostGpu(by_clock=True)  # what would take long here is not asked

    def _process(self, asked: Path, seconds: float) -> str:
        from runners import contents

        request = json.loads(asked.read_text())
        known = _remembered() / _question(request) if self.remembers else None
        folder = Path(request["folder"])
        if known is not None and known.is_dir():
            shutil.copytree(known, folder, dirs_exist_ok=True)
            return ""
        before = {*folder.iterdir()}
        held, contents._POOL[:] = [*contents._POOL], [_AtOnce()]
        try:
            answer_all(request, self._device)
        finally:
            contents._POOL[:] = held
        made = [one for one in {*folder.iterdir()} - before if one.name != "promoted.json"]
        if known is not None and sum(file.stat().st_size for file in made) <= MOST_REMEMBERED:
            known.mkdir(parents=True)
            for file in made:
                shutil.copy(file, known)
        return ""


def _question(request: Json) -> str:
    """Name all that an original's answers depend on."""
    job = {k: v for k, v in request["job"].items() if k != "kernel"}
    told = [request["order_decides"], request["faithful"]]
    asked = [job, request["baseline"], request["combinations"], *told]
    return hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()


@functools.cache
def _remembered() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="optiml-remembered-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


class _AtOnce(ThreadPoolExecutor):
    """Does at once what it is given."""

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        done: Future[T] = Future()
        try:
            done.set_result(fn(*args, **kwargs))
        except Exception as error:  # noqa: BLE001 - it is raised where the result is asked for
            done.set_exception(error)
        return done
