"""Types and fields of few bits are counted in texts, and only what a candidate has more of is told."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runners import narrower
from runners.text import LONGEST
from tests.redteam.table import load

CASES = {one.label: one for one in load()}


@pytest.mark.parametrize(
    ("source", "original", "bits"),
    [
        ("__shared__ unsigned short n[64];", "__shared__ int n[64];", (16,)),
        ("uint16_t n; n += 1; x = (uint8_t)y;", "int n;", (16, 8)),
        ("ushort4 four; __half2 two;", "int4 four; float2 two;", (16, 11)),
        ("struct { unsigned n : 12, flag : 1; };", "struct { int n; };", (12, 1)),
        ("#define COUNT short\nCOUNT n;", "int n;", (16,)),
        # As many as before, letters, and what is no field.
        ("short n, m; int k;", "short n; int m, k;", ()),
        ('const char* name = "short"; // short', "", ()),
        ("switch (k) { case 3: f(); default: ; } x = a ? b : 8; int wide : 30;", "", ()),
        ("int n;", "unsigned char n;", ()),
        ("", "short n;", ()),
    ],
)
def test_bits_that_only_the_candidate_has_are_told(
    source: str, original: str, bits: tuple[int, ...]
) -> None:
    assert narrower.bits(source, original) == bits


def test_books_of_halfwords_are() -> None:
    for label, bits in (("orderbook/short_books_in_shared", (16,)), ("orderbook/base", ())):
        assert narrower.bits(CASES[label].source, CASES[label].base.source) == bits


@given(st.text(max_size=200), st.sampled_from(["", "short ", "int n : ", "int n : 9"]))
def test_no_text_is_too_odd(text: str, before: str) -> None:
    assert set(narrower.bits(before + text, text)) <= {*range(1, narrower.MOST_BITS + 1)}


def test_what_is_too_long_is_not_read() -> None:
    assert narrower.bits("short n;" + " " * LONGEST, "") == ()
