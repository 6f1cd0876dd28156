"""The GPU as the worker uses it: memory, launches, events, through PyCUDA's driver interface.

Everything runs in the primary context on the null stream, so that code linked against the CUDA
runtime (an `entry:` function) shares it. What PyCUDA does not wrap is called in libcuda and NVML.
"""

from __future__ import annotations

import atexit
import ctypes
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from runners import near
from runners.fault import Fault
from runners.gpu import DeviceError, HungError, LaunchError, OutOfMemoryError
from runners.heap import keep_freed
from runners.images import helper_image
from runners.nvml import Nvml
from runners.spares import Spares

NON_BLOCKING = 1  # CU_STREAM_NON_BLOCKING
_AT_ONCE = 1 << 30  # PyCUDA takes some sizes as 32-bit numbers
_CAPTURE_RELAXED = 2  # CU_STREAM_CAPTURE_MODE_RELAXED: other threads may go on


class PlainGpu:
    """Memory, launches and events in whatever CUDA context is current."""

    def __init__(self) -> None:
        from pycuda import driver

        self._driver = driver
        self._memory: dict[int, tuple[int, Any]] = {}
        # Tools look at memory from its allocation on: for them all is fresh.
        self._spares: Spares[Any] = Spares(0)
        self._staging: Any = None
        self._last: Any = driver.Event()
        self._stream: Any = None  # the null stream
        attribute = driver.device_attribute.MAX_SHARED_MEMORY_PER_BLOCK_OPTIN
        shared = driver.Context.get_device().get_attribute(attribute)
        self.facts: dict[str, Any] = {"shared_optin_bytes": shared}

    def _guard(self, error: Any) -> DeviceError:
        """Translate a PyCUDA error, in the driver's words."""
        text = str(error).strip()
        if isinstance(error, self._driver.MemoryError):
            return OutOfMemoryError(text)
        refused = ("invalid argument", "invalid resource", "too many resources", "out of resources")
        if any(word in text for word in refused) or "out of memory" in text:
            return LaunchError(text)
        return DeviceError(text)

    def allocate(self, size: int) -> int:
        """Return the address of memory with nothing known in it, aligned to 256 bytes at least."""
        size = max(256, size)
        held = self._spares.take(size)
        if held is None:
            held = self._fresh(size)
        self._memory[int(held)] = (size, held)
        return int(held)

    def _fresh(self, size: int) -> Any:
        try:
            try:
                return self._driver.mem_alloc(size)
            except self._driver.MemoryError:
                for spare in self._spares.clear():
                    spare.free()
                return self._driver.mem_alloc(size)
        except self._driver.Error as error:
            raise self._guard(error) from error

    def free(self, address: int) -> None:
        """Give memory back, to be used again."""
        size, held = self._memory.pop(address, (0, None))
        if held is not None and not self._spares.put(size, held):
            held.free()

    def upload(self, address: int, data: npt.NDArray[Any]) -> None:
        """Copy bytes to the device."""
        if data.nbytes:
            self._driver.memcpy_htod(address, data)

    def download(self, address: int, size: int) -> npt.NDArray[np.uint8]:
        """Copy bytes from the device; the array is the caller's."""
        out = np.empty(size, np.uint8)
        if size:
            try:
                if size >= 1 << 20:
                    self._download_pinned(address, out)
                else:
                    self._driver.memcpy_dtoh(out, address)
            except self._driver.Error as error:
                raise self._guard(error) from error
        return out

    def _download_pinned(self, address: int, out: npt.NDArray[np.uint8]) -> None:
        """Copy through page-locked memory, four times faster than from pageable memory."""
        if self._staging is None:
            self._staging = self._driver.pagelocked_empty(16 << 20, np.uint8)
        for start in range(0, len(out), len(self._staging)):
            part = out[start : start + len(self._staging)]
            self._driver.memcpy_dtoh(self._staging[: len(part)], address + start)
            part[:] = self._staging[: len(part)]

    def fill(self, address: int, value: int, words: int) -> None:
        """Set 32-bit words."""
        for start in range(0, words, _AT_ONCE):
            part = min(_AT_ONCE, words - start)
            self._driver.memset_d32_async(address + 4 * start, value, part)

    def copy(self, to: int, source: int, size: int) -> None:
        """Copy bytes within the device's memory."""
        for start in range(0, size, _AT_ONCE):
            part = min(_AT_ONCE, size - start)
            self._driver.memcpy_dtod_async(to + start, source + start, part)

    def load(self, image: bytes) -> Any:
        """Load a cubin; it is unloaded when the last reference goes."""
        try:
            return self._driver.module_from_buffer(image)
        except self._driver.Error as error:
            raise self._guard(error) from error

    def function(self, module: Any, symbol: str, shared: int = 0) -> Any:
        """Return a kernel of a module, allowed that much dynamic shared memory."""
        try:
            found = module.get_function(symbol)
            if shared > 48 << 10:
                attribute = self._driver.function_attribute.MAX_DYNAMIC_SHARED_SIZE_BYTES
                found.set_attribute(attribute, shared)
        except self._driver.Error as error:
            raise LaunchError(f"{symbol}: {error}") from error
        return found

    def global_address(self, module: Any, symbol: str) -> tuple[int, int]:
        """Return address and size in bytes of a module's global variable."""
        try:
            address, size = module.get_global(symbol)
        except self._driver.Error as error:
            raise LaunchError(f"{symbol}: {error}") from error
        return int(address), int(size)

    def set_global(self, module: Any, symbol: str, data: npt.NDArray[Any]) -> None:
        """Write a module's global variable."""
        self.upload(self.global_address(module, symbol)[0], data)

    def launch(
        self,
        function: Any,
        grid: Sequence[int],
        block: Sequence[int],
        arguments: bytes,
        shared: int = 0,
    ) -> None:
        """Queue a kernel on the null stream, or note it in what is being captured."""
        try:
            function._launch_kernel(  # noqa: SLF001
                tuple(grid), tuple(block), arguments, shared, self._stream
            )
        except self._driver.Error as error:
            raise self._guard(error) from error

    def captured(self, queue: Callable[[], None]) -> Repeated:
        """Return the launches that `queue` makes as a graph: one call queues all, without gaps."""
        library = ctypes.CDLL("libcuda.so.1")
        stream, graph, ready = (
            self._driver.Stream(NON_BLOCKING),
            ctypes.c_void_p(),
            ctypes.c_void_p(),
        )
        handle = ctypes.c_void_p(stream.handle)
        _called(library.cuStreamBeginCapture_v2(handle, _CAPTURE_RELAXED), "cuStreamBeginCapture")
        self._stream = stream
        try:
            queue()
        finally:
            self._stream = None
            code = library.cuStreamEndCapture(handle, ctypes.byref(graph))
        _called(code, "cuStreamEndCapture")
        code = library.cuGraphInstantiateWithFlags(
            ctypes.byref(ready), graph, ctypes.c_ulonglong(0)
        )
        library.cuGraphDestroy(graph)
        _called(code, "cuGraphInstantiate")
        return Repeated(library, ready)

    def event(self) -> Any:
        """Return an event that takes the time."""
        return self._driver.Event()

    def record(self, event: Any) -> None:
        """Record an event on the null stream."""
        event.record()

    def wait(self, event: Any, seconds: float) -> None:
        """Wait for an event; raise `HungError` when its work takes too long."""
        end = time.monotonic() + seconds
        try:
            while not event.query():
                if time.monotonic() > end:
                    raise HungError(f"still running after {seconds:.3g} s")
        except self._driver.Error as error:
            raise self._guard(error) from error

    def elapsed_us(self, start: Any, end: Any) -> float:
        """Return the time between two events that have happened."""
        return float(end.time_since(start)) * 1e3

    def settle(self, seconds: float = 60.0) -> None:
        """Wait for the null stream, and for nothing else."""
        try:
            self._last.record()
        except self._driver.Error as error:
            raise self._guard(error) from error
        self.wait(self._last, seconds)

    def synchronize(self, seconds: float = 60.0) -> float:
        """Wait for the null stream, then for the device; return the µs between the two."""
        self.settle(seconds)
        start = time.perf_counter_ns()
        try:
            self._driver.Context.synchronize()
        except self._driver.Error as error:
            raise self._guard(error) from error
        return (time.perf_counter_ns() - start) / 1e3

    def free_bytes(self) -> int:
        """Return the device memory nobody holds, or that can be given back."""
        return int(self._driver.mem_get_info()[0]) + self._spares.held


class Repeated:
    """Launches that were captured once and are queued on the null stream as often as wanted."""

    def __init__(self, library: Any, ready: ctypes.c_void_p) -> None:
        self._library, self._ready = library, ready

    def __call__(self) -> None:
        """Queue them all."""
        _called(self._library.cuGraphLaunch(self._ready, None), "cuGraphLaunch")

    def close(self) -> None:
        """Let them go."""
        self._library.cuGraphExecDestroy(self._ready)


def _called(code: int, what: str) -> None:
    if code != 0:
        raise DeviceError(f"{what} fails with error {code}")


class CudaGpu(PlainGpu):
    """One CUDA device in this process. Raises `Fault` NoDeviceError when there is none."""

    def __init__(self, number: int = 0) -> None:
        try:
            from pycuda import driver
        except ImportError as error:
            raise Fault(
                "NoDeviceError",
                f"PyCUDA or the NVIDIA driver cannot be loaded: {error}",
                "install the driver and `optiml-bot[gpu]`, or replay a recording",
            ) from error
        try:
            driver.init()
            if number >= driver.Device.count():
                raise Fault("NoDeviceError", f"there is no GPU number {number} here")
            device = driver.Device(number)
            self._context = device.retain_primary_context()
            self._context.push()
            atexit.register(self._context.pop)
        except driver.Error as error:
            raise Fault("NoDeviceError", f"no usable GPU: {error}", "see `nvidia-smi`") from error
        super().__init__()
        self._spares = Spares(int(device.total_memory()))
        keep_freed()  # whoever has a device compares what it gives back
        near.ready()
        self._device = device
        self._beside: Any = None
        self._libcuda = ctypes.CDLL("libcuda.so.1")
        self.meter = Nvml(device.pci_bus_id())
        self.facts |= self._read_facts()
        self._functions: dict[tuple[str, int], Any] = {}
        self._helpers = self.load(helper_image(int(self.facts["sm"])))

    def _read_facts(self) -> dict[str, Any]:
        """Collect what a report says of the device."""
        attribute = self._driver.device_attribute
        read = self._device.get_attribute
        major, minor = self._device.compute_capability()
        version = self._driver.get_driver_version()
        return {
            "gpu": self._device.name(),
            "driver": self.meter.driver or f"CUDA {version // 1000}.{version % 1000 // 10}",
            "sm": major * 10 + minor,
            "sms": read(attribute.MULTIPROCESSOR_COUNT),
            "l2_bytes": read(attribute.L2_CACHE_SIZE),
            "memory_bytes": self._device.total_memory(),
            "clock_mhz": read(attribute.CLOCK_RATE) / 1000,
            "memory_clock_mhz": read(attribute.MEMORY_CLOCK_RATE) / 1000,
            "memory_bus_bits": read(attribute.GLOBAL_MEMORY_BUS_WIDTH),
            "shared_optin_bytes": read(attribute.MAX_SHARED_MEMORY_PER_BLOCK_OPTIN),
            "bus_id": self._device.pci_bus_id(),
            "temperature_c": self.meter.temperature(),
        }

    def helper(
        self, name: str, grid: Sequence[int], block: int, arguments: bytes, shared: int = 0
    ) -> None:
        """Queue one of the worker's own kernels."""
        key = (name, shared)
        if key not in self._functions:
            self._functions[key] = self.function(self._helpers, f"optiml_{name}", shared)
        full = (*grid, 1, 1, 1)[:3]
        self.launch(self._functions[key], full, (block, 1, 1), arguments, shared)

    def beside(self, duration_ns: int, blocks: int) -> None:
        """Occupy some multiprocessors from another stream, to shuffle the order of blocks."""
        if self._beside is None:
            self._beside = (self._driver.Stream(NON_BLOCKING), self.allocate(16))
        stream, seen = self._beside
        arguments = np.array([duration_ns, seen], np.uint64).tobytes()
        gate = self._helpers.get_function("optiml_gate")
        gate._launch_kernel((blocks, 1, 1), (1024, 1, 1), arguments, 0, stream)  # noqa: SLF001

    def reset_cache(self) -> None:
        """Turn lines that were marked persisting in L2 back into ordinary ones."""
        self._libcuda.cuCtxResetPersistingL2Cache()

    def temperature(self) -> float | None:
        """Return the GPU's temperature in °C, None when NVML does not tell."""
        return self.meter.temperature()
