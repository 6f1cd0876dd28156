"""An energy counter that follows the real clock, and libraries that stand in for libnvidia-ml."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable
from typing import Any

from runners.nvml import Unmeasured


class FakeMeter:
    """Counts `watts()` in steps of `step` seconds; a reading after `last` ones is refused."""

    def __init__(
        self, watts: float = 100.0, step: float = 0.005, last: int | None = None, why: str = ""
    ) -> None:
        self.watts, self.step, self.last, self.why = watts, step, last, why
        self.begun = self.at = time.monotonic()
        self.joules = 0.0
        self.readings = 0
        self.celsius: list[float] = []

    def draw(self, watts: float) -> None:
        """Draw another power from now on."""
        self._count()
        self.watts = watts

    def _count(self) -> None:
        now = time.monotonic()
        self.joules += self.watts * (now - self.at)
        self.at = now

    def energy_mj(self) -> float:
        self.readings += 1
        if self.why or (self.last is not None and self.readings > self.last):
            raise Unmeasured(self.why or "the GPU is lost")
        now = time.monotonic()
        late = (now - self.begun) % self.step  # since the counter moved last
        return 1e3 * (self.joules + self.watts * max(0.0, now - late - self.at))

    def temperature(self) -> float | None:
        return self.celsius.pop(0) if self.celsius else 40.0


class FakeNvml:
    """libnvidia-ml with one GPU. `codes` are what its functions return, 0 unless named."""

    def __init__(self, energy: int = 123_456, mig: int = 0, virtual: int = 0, **codes: int) -> None:
        self.energy, self.mig, self.virtual, self.codes = energy, mig, virtual, codes
        self.missing: set[str] = set()

    def __getattr__(self, name: str) -> Callable[..., int]:
        if name.startswith("__") or name in self.__dict__.get("missing", ()):
            raise AttributeError(name)

        def call(*arguments: Any) -> int:
            code = self.codes.get(name, 0)
            if code == 0:
                self._answer(name, arguments)
            return code

        return call

    def _answer(self, name: str, arguments: tuple[Any, ...]) -> None:
        if name == "nvmlSystemGetDriverVersion":
            arguments[0].value = b"580.1"
        elif name == "nvmlDeviceGetTotalEnergyConsumption":
            _set(arguments[1], ctypes.c_ulonglong, self.energy)
        elif name == "nvmlDeviceGetTemperature":
            _set(arguments[2], ctypes.c_uint, 41)
        elif name == "nvmlDeviceGetMigMode":
            _set(arguments[1], ctypes.c_uint, self.mig)
        elif name == "nvmlDeviceGetVirtualizationMode":
            _set(arguments[1], ctypes.c_uint, self.virtual)


def _set(reference: Any, kind: Any, value: int) -> None:
    ctypes.cast(reference, ctypes.POINTER(kind))[0] = kind(value)
