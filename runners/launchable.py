"""A compiled kernel or entry function as something to call with a case and buffer addresses."""

from __future__ import annotations

import contextlib
import ctypes
import re
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from runners import cubin, marks, nearest, seeded
from runners.allocations import Allocations, Holdings
from runners.arena import Parameters, host_arguments
from runners.expressions import ExpressionError, count
from runners.fault import Fault
from runners.gpu import Launcher, LaunchError
from runners.retained import Retained, retained
from runners.spec import Launch, Source, Work

Bound = Callable[[], None]
_Geometry = tuple[tuple[int, int, int], tuple[int, int, int], int]
# Of a multiprocessor (2,048 since Kepler but for some small parts); of a thread's stack at first.
RESIDENT_THREADS, STACK_BYTES = 2048, 1024
# Cases whose geometry and parameters are kept: there are far fewer of them than runs.
MOST_CASES = 256
_LIMITS = ((2**31 - 1, 65535, 65535), (1024, 1024, 64))


class Launchable(Protocol):
    """What is verified and timed.

    `hosted` tells that host code of its own launches it, which may use streams of its own;
    `retained` is what it keeps on the device between launches, where that can be seen; `streams`
    sees what it queues on streams of its own, where there is something that does.
    """

    @property
    def hosted(self) -> bool:
        """Tell whether host code launches it."""
        ...

    @property
    def retained(self) -> Retained | None:
        """Return what it keeps between launches."""
        ...

    @property
    def streams(self) -> Allocations | None:
        """Return what sees its streams."""
        ...

    def begins(self) -> None:
        """Note that what is allocated from now on is this one's."""
        ...

    def failed(self) -> str | None:
        """Return the error that a launch of it left behind, and forget it; None if not known."""
        ...

    def device_bytes(self) -> int | None:
        """Return the device memory it has taken beside its arguments; None if not known."""
        ...

    def holds(self) -> Holdings | None:
        """Return what it has taken and not given back; None if not known."""
        ...

    def bind(self, case: Mapping[str, float], addresses: Mapping[str, int]) -> Bound:
        """Return a function that queues one run. Raise `LaunchError` for bad geometry."""
        ...


def geometry(launch: Launch, case: Mapping[str, float]) -> _Geometry:
    """Return grid, block and dynamic shared bytes; raise `LaunchError` beyond CUDA's limits.

    Limits: CUDA Programming Guide, "Technical specifications per compute capability".
    """
    try:
        sizes = [
            tuple([count(e, case) for e in entries] + [1] * (3 - len(entries)))
            for entries in (launch.grid, launch.block)
        ]
        shared = count(launch.shared, case)
    except ExpressionError as error:
        raise LaunchError(f"launch geometry: {error}") from error
    for what, dimensions, limits in zip(("grid", "block"), sizes, _LIMITS, strict=True):
        for axis, size, limit in zip("xyz", dimensions, limits, strict=False):
            if not 1 <= size <= limit:
                raise LaunchError(f"{what}.{axis} is {size}; it must be 1 to {limit}")
    threads = sizes[1][0] * sizes[1][1] * sizes[1][2]
    if threads > 1024:
        raise LaunchError(f"a block of {threads} threads; the most is 1024")
    (gx, gy, gz), (bx, by, bz) = sizes
    return (gx, gy, gz), (bx, by, bz), shared


def plain_name(symbol: str) -> str:
    """Return a function's name without namespaces and template arguments.

    >>> plain_name("ns::scan<float, 256>")
    'scan'
    """
    return symbol.split("<", 1)[0].rsplit("::", maxsplit=1)[-1].strip()


def mangled(symbols: Mapping[str, str], name: str) -> str:
    """Return the symbol an artifact holds for a function as the workload names it."""
    squeezed = {re.sub(r"\s+", "", known): found for known, found in symbols.items()}
    for wanted in (re.sub(r"\s+", "", name), plain_name(name)):
        if wanted in squeezed:
            return squeezed[wanted]
    raise LaunchError(f"{name} is not among the compiled functions: {', '.join(symbols) or 'none'}")


class KernelLaunchable:
    """A `__global__` function of a cubin under a launch geometry."""

    hosted = False
    streams = None

    def __init__(
        self,
        gpu: Launcher,
        artifact: Mapping[str, Any],
        work: Work,
        launch: Launch | None,
        *,
        promoted: bool = False,
    ) -> None:
        if launch is None:
            raise Fault("ConfigError", f"{work.name} is a kernel and needs a launch geometry")
        self._gpu, self._work, self._launch, self._promoted = gpu, work, launch, promoted
        image = Path(str(artifact["path"])).read_bytes()
        self._module = gpu.load(image)
        self.retained = retained(gpu, self._module, image)
        self._bytes = cubin.loaded_bytes(image) + local_bytes(artifact, gpu.facts)
        self._symbol = mangled(artifact.get("symbols") or {}, work.symbol)
        self._function: Any = None
        self._allowed = 0
        self._cases: dict[tuple[tuple[str, float], ...], tuple[_Geometry, Parameters]] = {}

    def begins(self) -> None:
        """Nothing: a kernel allocates nothing that is seen."""

    def failed(self) -> str:
        """Nothing: a launch that fails raises."""
        return ""

    def device_bytes(self) -> int:
        """Return what code, variables and thread-local memory take."""
        return self._bytes

    def holds(self) -> None:
        """Nothing: what device code allocates is not seen."""

    def shake(self, seed: int) -> None:
        """Set the seed of the delays that are compiled in (`runners.shaking`); zero for none."""
        self._gpu.set_global(self._module, seeded.SEED, np.array([seed], np.uint32))

    def ran(self) -> Sequence[int]:
        """Return a byte for each block that is marked (`runners.marks`): whether it has run."""
        address, size = self._gpu.global_address(self._module, marks.NAME)
        return [int(one) for one in self._gpu.download(address, size)]

    def nearest(self) -> npt.NDArray[np.uint32]:
        """Return two words for each comparison that is kept (`runners.nearest`), and forget them.

        The least distance where it was false, and where it was true.
        """
        address, size = self._gpu.global_address(self._module, nearest.NAME)
        found = np.frombuffer(bytes(self._gpu.download(address, size)), np.uint32)
        self._gpu.upload(address, np.full(len(found), nearest.NEVER, np.uint32))
        return found.reshape(-1, 2)

    def bind(self, case: Mapping[str, float], addresses: Mapping[str, int]) -> Bound:
        """Return a launch with its geometry and packed arguments worked out."""
        (grid, block, shared), parameters = self._of(case)
        shared *= 2 if self._promoted else 1
        most = int(self._gpu.facts.get("shared_optin_bytes", 48 << 10))
        if shared > most:
            raise LaunchError(f"{shared} bytes of shared memory; the most is {most}")
        # What a kernel is allowed belongs to its module, and the last word counts: a smaller one
        # would have launches fail that are bound already.
        if self._function is None or shared > self._allowed:
            self._function = self._gpu.function(self._module, self._symbol, shared)
            self._allowed = shared
        function, gpu = self._function, self._gpu
        arguments = parameters.at(addresses)
        return lambda: gpu.launch(function, grid, block, arguments, shared)

    def _of(self, case: Mapping[str, float]) -> tuple[_Geometry, Parameters]:
        """Return what a launch of a case takes, wherever its buffers lie."""
        key = tuple(case.items())
        found = self._cases.get(key)
        if found is None:
            if len(self._cases) >= MOST_CASES:
                self._cases.clear()
            made = geometry(self._launch, case)
            found = self._cases[key] = made, Parameters(self._work, case, promoted=self._promoted)
        return found


class EntryLaunchable:
    """A host function of a shared object, called in this process on the null stream."""

    hosted = True
    retained = None

    def __init__(
        self,
        artifact: Mapping[str, Any],
        work: Work,
        source: Source,
        scratch: Path,
        *,
        promoted: bool = False,
        allocations: Allocations | None = None,
        facts: Mapping[str, Any] | None = None,
    ) -> None:
        self._allocations = self.streams = allocations
        self._owner = allocations.owner() if allocations else 0
        code = Path(str(artifact.get("cubin") or ""))
        image = code.read_bytes() if code.is_file() else b""
        self._bytes = cubin.loaded_bytes(image) + local_bytes(artifact, facts or {})
        # A file of its own: the loader gives one handle for one file, and candidate and
        # baseline must not share static data when they are the same.
        path = scratch / f"{len(list(scratch.iterdir()))}.so"
        shutil.copyfile(str(artifact["path"]), path)
        _runtime()
        try:
            self._library = ctypes.CDLL(str(path), mode=ctypes.RTLD_LOCAL)
        except OSError as error:
            raise LaunchError(f"the shared object does not load: {error}") from error
        symbol = mangled(artifact.get("symbols") or {}, work.symbol)
        try:
            self._function = self._library[symbol]
        except AttributeError as error:
            raise LaunchError(f"{symbol} is not in the shared object") from error
        self._function.restype = None
        self._stream = takes_stream(symbol, work.symbol, source.source)
        self._work, self._promoted = work, promoted

    def begins(self) -> None:
        """Note that what is allocated from now on is this one's."""
        if self._allocations is not None:
            self._allocations.begins(self._owner)

    @property
    def library(self) -> ctypes.CDLL:
        """Return the shared object as it is loaded."""
        return self._library

    def failed(self) -> str | None:
        """Return the runtime's last error, and forget it: host code may not have looked at it."""
        try:
            last = self._library["cudaGetLastError"]
        except AttributeError:
            return None  # a runtime of its own
        code = int(last())
        return f"error {code}" if code else ""

    def nearest(self) -> npt.NDArray[np.uint32]:
        """Return two words for each comparison that is kept, and forget them, as kernels do.

        Raises `LaunchError` where the shared object was not built for that (`runners.nearest`).
        """
        words = np.zeros(2 * nearest.MOST_SITES, np.uint32)
        try:
            tells = self._library[nearest.TELLS]
        except AttributeError as error:
            raise LaunchError(f"{nearest.TELLS} is not in the shared object") from error
        code = int(tells(words.ctypes.data_as(ctypes.c_void_p)))
        if code:
            raise LaunchError(f"{nearest.NAME} was not read: error {code}")
        return words.reshape(-1, 2)

    def device_bytes(self) -> int | None:
        """Return what its code and its allocations have taken at most; None if not counted."""
        if self._allocations is None:
            return None
        return self._bytes + self._allocations.most(self._owner)

    def holds(self) -> Holdings | None:
        """Return what it has taken through the runtime and not given back; None if not counted."""
        return None if self._allocations is None else self._allocations.holds(self._owner)

    def bind(self, case: Mapping[str, float], addresses: Mapping[str, int]) -> Bound:
        """Return a call with its arguments converted."""
        values = host_arguments(self._work, case, addresses, promoted=self._promoted)
        if self._stream:
            values.append(ctypes.c_void_p(0))
        function = self._function
        return lambda: function(*values)


def local_bytes(artifact: Mapping[str, Any], facts: Mapping[str, Any]) -> int:
    """Return by how much a context's store of thread-local memory grows for its largest kernel.

    A context begins with 1 KiB of stack for every thread the GPU can hold
    (`cudaLimitStackSize`) and grows for a kernel that needs more.
    """
    stacks = [int(r.get("stack_bytes") or 0) for r in (artifact.get("resources") or {}).values()]
    threads = RESIDENT_THREADS * int(facts.get("sms") or 0)
    return max(0, max(stacks, default=0) - STACK_BYTES) * threads


def takes_stream(symbol: str, name: str, source: str) -> bool:
    """Tell whether an entry function ends in a stream: by its mangled name, else by its text.

    >>> takes_stream("_Z3addPfiP11CUstream_st", "add", "")
    True
    """
    if symbol.startswith("_Z"):
        return symbol.endswith("P11CUstream_st")
    head = re.search(rf"\b{re.escape(plain_name(name))}\s*\(([^)]*)\)\s*\{{", source)
    return bool(head and re.search(r"cudaStream_t\s*\w*\s*$", head[1].strip()))


def _runtime() -> None:
    """Load the CUDA runtime where the shared object's own search path does not find it."""
    folders = [Path("/usr/local/cuda/lib64")]
    nvcc = shutil.which("nvcc")
    if nvcc:
        root = Path(nvcc).resolve().parent.parent
        folders += [root / "lib64", root / "lib"]
    for folder in folders:
        for library in sorted(folder.glob("libcudart.so.*"), reverse=True):
            with contextlib.suppress(OSError):
                ctypes.CDLL(str(library), mode=ctypes.RTLD_GLOBAL)
                return
