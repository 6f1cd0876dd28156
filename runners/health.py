"""Is a GPU fit to measure on? Throttling and memory errors while a job ran make its times void.

Read through NVML, which needs no context and takes microseconds. Stdlib only. Where NVML does not
tell, a GPU counts as fit.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

# nvmlClocksEventReason*: slowed down by the hardware, by heat, or by the power supply. The power
# cap (4) is not among them: a kernel that meets it meets it in any run, beside its baseline.
REASONS = {
    0x08: "the hardware slows it down",
    0x20: "it is too hot",
    0x40: "it is too hot",
    0x80: "the power supply slows it down",
}
_UNCORRECTED, _VOLATILE = 1, 0  # NVML_MEMORY_ERROR_TYPE_UNCORRECTED, NVML_VOLATILE_ECC
_LOST = 15  # NVML_ERROR_GPU_IS_LOST


class Sick(Exception):  # noqa: N818 - says what the GPU is
    """Why what was measured does not count; `for_good` when a rest will not help."""

    def __init__(self, words: str, *, for_good: bool = False) -> None:
        super().__init__(words)
        self.for_good = for_good


class Watched(Protocol):
    """Looks after a GPU while it works."""

    def begin(self) -> Callable[[], None]:
        """Start watching; what is returned ends it and raises `Sick` if something happened."""
        ...


class Unwatched:
    """Looks after nothing, as where there is no GPU."""

    def begin(self) -> Callable[[], None]:
        """Return what never complains."""
        return lambda: None


@dataclass(frozen=True, slots=True)
class Seen:
    """What NVML told at one moment; None where it does not tell."""

    reasons: int | None
    uncorrected: int | None
    lost: bool = False


class NvmlWatch:
    """Looks after the GPU of a UUID. `library` stands in for libnvidia-ml, for tests."""

    def __init__(self, uuid: str, library: Any = None) -> None:
        self._library: Any = None
        self._handle = ctypes.c_void_p()
        try:
            found = library or ctypes.CDLL("libnvidia-ml.so.1")
            opened = found.nvmlInit_v2() == 0
            by_uuid = found.nvmlDeviceGetHandleByUUID
            if opened and by_uuid(uuid.encode(), ctypes.byref(self._handle)) == 0:
                self._library = found
        except (OSError, AttributeError):
            pass  # no driver here, or one that is too old to be asked

    def begin(self) -> Callable[[], None]:
        """Remember how the GPU is; the end compares."""
        before = self.look()

        def end() -> None:
            after = self.look()
            if after.lost:
                raise Sick("the driver has lost the GPU", for_good=True)
            if (after.uncorrected or 0) > (before.uncorrected or 0):
                count = (after.uncorrected or 0) - (before.uncorrected or 0)
                raise Sick(f"its memory had {count} uncorrectable errors (ECC)", for_good=True)
            words = {text for bit, text in REASONS.items() if (after.reasons or 0) & bit}
            if words:
                raise Sick(f"the GPU is throttled: {', '.join(sorted(words))}")

        return end

    def look(self) -> Seen:
        """Return how the GPU is now."""
        if self._library is None:
            return Seen(None, None)
        reasons, errors = ctypes.c_ulonglong(), ctypes.c_ulonglong()
        slow = self._call("nvmlDeviceGetCurrentClocksThrottleReasons", ctypes.byref(reasons))
        faulty = self._call(
            "nvmlDeviceGetTotalEccErrors", _UNCORRECTED, _VOLATILE, ctypes.byref(errors)
        )
        return Seen(
            None if slow else int(reasons.value),
            None if faulty else int(errors.value),
            lost=_LOST in {slow, faulty},
        )

    def _call(self, name: str, *arguments: object) -> int:
        try:
            return int(getattr(self._library, name)(self._handle, *arguments))
        except AttributeError:
            return -1
