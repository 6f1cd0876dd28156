"""What verification and timing need of a device, and how it fails."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt


class DeviceError(Exception):
    """A launch or a synchronize failed; the context may be unusable from here on."""


class LaunchError(DeviceError):
    """The driver refused the launch itself; the context is still good."""


class OutOfMemoryError(DeviceError):
    """The device has not got the memory; the context is still good."""


class HungError(DeviceError):
    """Work on the device did not end within its time."""


class Launcher(Protocol):
    """What loads and launches compiled kernels."""

    facts: dict[str, Any]

    def upload(self, address: int, data: npt.NDArray[Any]) -> None:
        """Copy bytes to the device."""
        ...

    def download(self, address: int, size: int) -> npt.NDArray[np.uint8]:
        """Copy bytes from the device."""
        ...

    def load(self, image: bytes) -> Any:
        """Load a cubin; it is unloaded when the last reference goes."""
        ...

    def function(self, module: Any, symbol: str, shared: int = 0) -> Any:
        """Return a kernel of a module, allowed that much dynamic shared memory."""
        ...

    def global_address(self, module: Any, symbol: str) -> tuple[int, int]:
        """Return address and size in bytes of a module's global variable."""
        ...

    def set_global(self, module: Any, symbol: str, data: npt.NDArray[Any]) -> None:
        """Write a module's global variable."""
        ...

    def launch(
        self,
        function: Any,
        grid: Sequence[int],
        block: Sequence[int],
        arguments: bytes,
        shared: int = 0,
    ) -> None:
        """Queue a kernel with its packed arguments."""
        ...

    def free_bytes(self) -> int:
        """Return the device memory nobody holds."""
        ...


class Repeated(Protocol):
    """Launches that are queued on the null stream as often as it is called."""

    def __call__(self) -> None:
        """Queue them all."""
        ...

    def close(self) -> None:
        """Let them go."""
        ...


class Gpu(Launcher, Protocol):
    """One device. Addresses are plain integers; work is queued on the null stream in order."""

    def allocate(self, size: int) -> int:
        """Return the address of fresh memory, aligned to 256 bytes at least."""
        ...

    def free(self, address: int) -> None:
        """Give memory back."""
        ...

    def fill(self, address: int, value: int, words: int) -> None:
        """Set 32-bit words."""
        ...

    def copy(self, to: int, source: int, size: int) -> None:
        """Copy bytes within the device's memory."""
        ...

    def helper(
        self, name: str, grid: Sequence[int], block: int, arguments: bytes, shared: int = 0
    ) -> None:
        """Queue one of the worker's own kernels."""
        ...

    def beside(self, duration_ns: int, blocks: int) -> None:
        """Occupy some multiprocessors from another stream, to shuffle the order of blocks."""
        ...

    def captured(self, queue: Callable[[], None]) -> Repeated:
        """Return the launches that `queue` makes, to be queued again as one, without gaps.

        Raises `DeviceError` where that cannot be had; nothing is lost then.
        """
        ...

    def event(self) -> Any:
        """Return an event that takes the time."""
        ...

    def record(self, event: Any) -> None:
        """Queue an event."""
        ...

    def wait(self, event: Any, seconds: float) -> None:
        """Wait for an event; raise `HungError` when its work takes too long."""
        ...

    def elapsed_us(self, start: Any, end: Any) -> float:
        """Return the time between two events that have happened."""
        ...

    def settle(self, seconds: float = 60.0) -> None:
        """Wait for the null stream within a limit, and for nothing else."""
        ...

    def synchronize(self, seconds: float = 60.0) -> float:
        """Wait for the null stream within a limit, then for the whole device.

        Return for how many µs the device went on after the null stream was done.
        """
        ...

    def reset_cache(self) -> None:
        """Turn lines that were marked persisting in L2 back into ordinary ones."""
        ...

    def temperature(self) -> float | None:
        """Return °C, None when nothing tells."""
        ...
