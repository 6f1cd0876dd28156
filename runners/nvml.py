"""What NVML tells of one GPU: driver, temperature, and the energy counter. Stdlib only.

The counter is `nvmlDeviceGetTotalEnergyConsumption`: millijoules of the whole board since the
driver was loaded. Reading it needs the device files alone, which a worker's sandbox shows.
"""

from __future__ import annotations

import ctypes
from typing import Any

_NOT_SUPPORTED = 3
_VGPU = 2  # NVML_GPU_VIRTUALIZATION_MODE_VGPU
# nvmlReturn_t, as far as a reading can end with one.
_ERRORS = {
    1: "NVML is not initialized",
    2: "NVML does not know the device",
    _NOT_SUPPORTED: "this GPU or its driver has no energy counter",
    4: "NVML denies it to this user",
    15: "the GPU is lost",
}


class Unmeasured(Exception):  # noqa: N818 - says what a figure is
    """A figure that cannot be had here; its text says why."""


class Nvml:
    """One device of NVML. Where NVML is missing, nothing is known and no counter can be read.

    `library` stands in for libnvidia-ml, for tests.
    """

    def __init__(self, bus_id: str, library: Any = None) -> None:
        self.driver = ""
        self._why = ""
        self._handle = ctypes.c_void_p()
        self._library: Any = None
        if library is None:
            try:
                library = ctypes.CDLL("libnvidia-ml.so.1")
            except OSError as error:
                self._why = f"NVML cannot be loaded: {error}"
                return
        code = library.nvmlInit_v2()
        if code == 0:
            code = library.nvmlDeviceGetHandleByPciBusId_v2(
                bus_id.encode(), ctypes.byref(self._handle)
            )
        if code != 0:
            self._why = f"NVML does not open the GPU: {_words(code)}"
            return
        self._library = library
        name = ctypes.create_string_buffer(96)
        if library.nvmlSystemGetDriverVersion(name, 96) == 0:
            self.driver = name.value.decode(errors="replace")
        self._why = self._shared()

    def temperature(self) -> float | None:
        """Return °C, None where NVML does not tell."""
        value = ctypes.c_uint()
        if self._library is None:
            return None
        if self._library.nvmlDeviceGetTemperature(self._handle, 0, ctypes.byref(value)):
            return None
        return float(value.value)

    def energy_mj(self) -> float:
        """Return the counter in mJ. Raise `Unmeasured` where it is not this GPU's alone or not had.

        It moves in steps, of 20 to 100 ms by GPU and driver.
        """
        if self._library is None or self._why:
            raise Unmeasured(self._why)
        value = ctypes.c_ulonglong()
        try:
            code = self._library.nvmlDeviceGetTotalEnergyConsumption(
                self._handle, ctypes.byref(value)
            )
        except AttributeError as error:
            raise Unmeasured("this driver's NVML has no energy counter") from error
        if code != 0:
            raise Unmeasured(_words(code))
        return float(value.value)

    def _shared(self) -> str:
        """Return why the counter would hold others' energy too; empty when it would not."""
        now, later = ctypes.c_uint(), ctypes.c_uint()
        try:
            mig = self._library.nvmlDeviceGetMigMode(
                self._handle, ctypes.byref(now), ctypes.byref(later)
            )
            if mig == 0 and now.value == 1:
                return "MIG is on: the counter is the whole GPU's, other instances included"
            virtual = self._library.nvmlDeviceGetVirtualizationMode(self._handle, ctypes.byref(now))
            if virtual == 0 and now.value == _VGPU:
                return "this is a virtual GPU: the counter is not its own"
        except AttributeError:
            pass  # a driver before MIG
        return ""


def _words(code: int) -> str:
    return _ERRORS.get(code, f"NVML error {code}")
