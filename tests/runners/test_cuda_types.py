"""C types of arguments: sizes, alignment, members, and conversions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from runners.cuda_types import (
    SCALARS,
    TypeNameError,
    from_float,
    parse,
    promote,
    to_float,
    values,
)


@pytest.mark.parametrize(
    ("text", "size", "align", "pointer"),
    [
        ("float", 4, 4, False),
        ("const float * __restrict__", 4, 4, True),
        ("unsigned long long", 8, 8, False),
        ("uint8_t*", 1, 1, True),
        ("float3*", 12, 4, True),
        ("double4", 32, 16, False),
        ("half2*", 4, 4, True),
        ("bool", 1, 1, False),
        ("size_t", 8, 8, False),
        ("struct{float x, y; char tag; double z;}*", 24, 8, True),
        ("struct { int n[3]; }", 12, 4, False),
    ],
)
def test_types_have_the_layout_of_c(text: str, size: int, align: int, pointer: bool) -> None:
    """Sizes and alignment are those nvcc uses."""
    kind = parse(text)
    assert (kind.size, kind.align, kind.pointer) == (size, align, pointer)


@pytest.mark.parametrize("text", ["float**", "std::vector<int>", "", "struct{}", "flaot", "void*"])
def test_other_types_are_refused(text: str) -> None:
    """What cannot be generated or compared is named in the error."""
    with pytest.raises(TypeNameError):
        parse(text)


def test_a_member_is_read_at_its_offset() -> None:
    """Fields of a struct come out as arrays of their own."""
    kind = parse("struct{float x; int tag;}*")
    data = np.array([(1.5, 7), (2.5, 9)], [("x", "f4"), ("t", "i4")]).view(np.uint8).reshape(-1)
    assert values(data, kind, kind.fields[0]).tolist() == [1.5, 2.5]
    assert values(data, kind, kind.fields[1]).tolist() == [7, 9]


def test_promotion_turns_floats_into_doubles_only() -> None:
    """Halves and integers keep their type in the double-precision run."""
    assert promote(parse("float2*")).size == 16
    assert promote(parse("half*")).size == 2
    assert promote(parse("int")).size == 4


@given(st.floats(width=32, allow_nan=False, allow_infinity=False))
def test_bfloat16_rounds_to_nearest(value: float) -> None:
    """Rounding to bfloat16 errs by at most half a spacing."""
    scalar = SCALARS["bfloat16"]
    back = float(to_float(from_float(np.array([value]), scalar), scalar)[0])
    if abs(value) < 3.3e38:
        assert abs(back - value) <= 2.0**-8 * abs(value) + 1e-38
