"""Which originals have a twin in double precision."""

from __future__ import annotations

import pytest

from runners.promote import promoted
from tests.redteam.table import load

BASES = {one.base.name: one.base.source for one in load()}


@pytest.mark.parametrize("name", ["scattermax", "peak"])
def test_what_exchanges_floats_in_memory_as_words_has_none(name: str) -> None:
    """Half a double would be exchanged, which is next to nothing and looks like no change."""
    assert promoted(BASES[name]) is None


@pytest.mark.parametrize(
    "cast",
    [
        "(unsigned int*)(y + i)",
        "(const volatile int *)y",
        "reinterpret_cast<unsigned*>(&y[i])",
        "reinterpret_cast< const uint32_t * >(y)",
    ],
)
def test_any_form_of_such_a_cast_is_seen(cast: str) -> None:
    text = f"__global__ void f(float* y, int i) {{ *{cast} = __float_as_uint(2.f); }}"
    assert promoted(text) is None
    assert promoted(text.replace("__float_as_uint(2.f)", "7")) is not None
    assert promoted(text.replace(cast, "(float*)y")) is not None


def test_bits_of_values_alone_leave_it() -> None:
    assert promoted(BASES["level"]) is not None
