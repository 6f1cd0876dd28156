"""A GPU that throttles or loses bits is told from a fit one, by what NVML says."""

from __future__ import annotations

import ctypes
from typing import Any

import pytest

from runners.health import NvmlWatch, Sick, Unwatched


class FakeNvml:
    """Answers as NVML would: reasons for throttling and errors, in turn."""

    def __init__(self, looks: list[tuple[int, int]], code: int = 0) -> None:
        self._looks, self._code = iter(looks), code
        self._now = (0, 0)
        self.opened = b""

    def nvmlInit_v2(self) -> int:  # noqa: N802 - NVML's name
        return 0

    def nvmlDeviceGetHandleByUUID(self, uuid: bytes, _: Any) -> int:  # noqa: N802
        self.opened = uuid
        return 0

    def nvmlDeviceGetCurrentClocksThrottleReasons(self, _: Any, out: Any) -> int:  # noqa: N802
        self._now = next(self._looks, self._now)
        ctypes.cast(out, ctypes.POINTER(ctypes.c_ulonglong))[0] = self._now[0]
        return self._code

    def nvmlDeviceGetTotalEccErrors(self, _: Any, kind: int, counter: int, out: Any) -> int:  # noqa: N802
        assert (kind, counter) == (1, 0), "uncorrected, since the driver was loaded"
        ctypes.cast(out, ctypes.POINTER(ctypes.c_ulonglong))[0] = self._now[1]
        return self._code


def end_of(library: FakeNvml) -> None:
    NvmlWatch("GPU-1", library).begin()()


@pytest.mark.parametrize("reasons", [0, 1, 2, 4])
def test_idle_user_clocks_and_the_power_cap_are_no_fault(reasons: int) -> None:
    library = FakeNvml([(0, 3), (reasons, 3)])
    end_of(library)
    assert library.opened == b"GPU-1"


@pytest.mark.parametrize(("reasons", "words"), [(0x40, "too hot"), (0x80 | 1, "power supply")])
def test_a_throttled_gpu_is_sick_for_a_while(reasons: int, words: str) -> None:
    with pytest.raises(Sick, match=words) as raised:
        end_of(FakeNvml([(0, 0), (reasons, 0)]))
    assert not raised.value.for_good


def test_new_uncorrectable_errors_are_for_good_and_old_ones_are_not_counted() -> None:
    with pytest.raises(Sick, match="2 uncorrectable errors") as raised:
        end_of(FakeNvml([(0, 1), (0, 3)]))
    assert raised.value.for_good


def test_a_gpu_that_the_driver_lost_is_sick_for_good() -> None:
    with pytest.raises(Sick, match="lost") as raised:
        end_of(FakeNvml([(0, 0), (0, 0)], code=15))
    assert raised.value.for_good


def test_where_nvml_does_not_tell_a_gpu_counts_as_fit() -> None:
    end_of(FakeNvml([(0x40, 0), (0x40, 9)], code=3))
    NvmlWatch("GPU-1", object()).begin()()
    Unwatched().begin()()
