"""Theoretical occupancy agrees with the occupancy calculator."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runners.occupancy import occupancy


@pytest.mark.parametrize(
    ("sm", "threads", "registers", "shared", "expected"),
    [
        (90, 256, 32, 0, 1.0),
        (90, 256, 40, 0, 0.75),  # 12 warps a partition fit 16384 registers of 1280
        (90, 256, 255, 0, 0.125),
        (90, 1024, 64, 0, 0.5),
        (90, 1024, 65, 0, 0.0),
        (90, 32, 16, 0, 0.5),  # 32 blocks of one warp
        (90, 128, 16, 48 << 10, 0.25),  # 4 blocks of 49 KiB in 228
        (80, 256, 32, 0, 1.0),
        (75, 1024, 32, 0, 1.0),
        (86, 1024, 32, 0, 2 / 3),
        (89, 64, 32, 0, 1.0),
    ],
)
def test_known_configurations(
    sm: int, threads: int, registers: int, shared: int, expected: float
) -> None:
    assert occupancy(sm, threads, registers, shared) == pytest.approx(expected)


def test_an_unknown_gpu_or_an_empty_block_has_none() -> None:
    assert occupancy(999, 256, 32, 0) is None
    assert occupancy(90, 0, 32, 0) is None


@given(
    st.sampled_from([70, 75, 80, 86, 89, 90, 100, 120]),
    st.integers(1, 1024),
    st.integers(0, 255),
    st.integers(0, 1 << 18),
)
def test_it_is_a_share_and_never_grows_with_what_a_block_takes(
    sm: int, threads: int, registers: int, shared: int
) -> None:
    found = occupancy(sm, threads, registers, shared)
    more = occupancy(sm, threads, registers + 8, shared + 4096)
    assert found is not None
    assert more is not None
    assert 0 <= more <= found <= 1
