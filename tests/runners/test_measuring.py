"""What a time may not be below."""

from __future__ import annotations

import pytest

from runners.measuring import compulsory_us


def test_the_floor_counts_what_the_cache_keeps() -> None:
    """An H200 writes 4.8 TB/s to DRAM; what stays in L2 is several times faster."""
    facts = {"memory_clock_mhz": 3201, "memory_bus_bits": 6016, "l2_bytes": 60 << 20}
    assert compulsory_us(1 << 30, facts) == pytest.approx((1 << 30) / 4.8e6, rel=0.06)
    assert compulsory_us(1 << 20, facts) < 0.05
    assert compulsory_us(1 << 30, {"l2_bytes": 1}) == 0.0
