"""Compiler output becomes errors at lines of the edited source."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runners.diagnostics import Diagnostic, parse, render


@pytest.mark.parametrize(
    ("printed", "expected"),
    [
        (
            'k.cu(3): error: identifier "y" is undefined',
            Diagnostic('identifier "y" is undefined', "k.cu", 3),
        ),
        ("/a/b/k.cu(12): error #20-D: no", Diagnostic("no", "k.cu", 12)),
        (
            'k.cu(1): catastrophic error: cannot open source file "x.h"',
            Diagnostic('cannot open source file "x.h"', "k.cu", 1),
        ),
        (
            "k.cu:1:10: fatal error: nope.h: No such file",
            Diagnostic("nope.h: No such file", "k.cu", 1, 10),
        ),
        ("k.cu:7: error: bad", Diagnostic("bad", "k.cu", 7)),
        (
            "ptxas error   : Entry function 'k' uses too much shared data",
            Diagnostic("Entry function 'k' uses too much shared data"),
        ),
        ("ptxas /tmp/x.ptx, line 23; error   : Unknown symbol", Diagnostic("Unknown symbol")),
        (
            "nvcc fatal   : Unsupported gpu architecture 'sm_20'",
            Diagnostic("Unsupported gpu architecture 'sm_20'"),
        ),
        (
            "x.o: in function `main': k.cu:(.text+0x5): undefined reference to `f()'",
            Diagnostic("undefined reference to `f()'"),
        ),
        (
            "nvcc error   : 'cicc' died due to signal 11 (Invalid memory reference)",
            Diagnostic("'cicc' died due to signal 11 (Invalid memory reference)"),
        ),
    ],
)
def test_each_tools_format_is_read(printed: str, expected: Diagnostic) -> None:
    assert parse(printed) == (expected,)


def test_warnings_and_notes_are_left_out_and_repeats_are_said_once() -> None:
    printed = (
        "k.cu(2): warning #550-D: unused\n"
        + "k.cu(3): error: x\n" * 3
        + "ptxas info : Used 3 registers"
    )
    assert parse(printed) == (Diagnostic("x", "k.cu", 3),)


def test_the_log_quotes_the_line_of_the_edited_source() -> None:
    log = render(parse("k.cu(2): error: oops"), "int a;\nint b = y;\n", "k.cu", "")
    assert log == "k.cu:2: error: oops\n     2 | int b = y;"


def test_an_error_in_a_header_is_not_illustrated_with_the_source() -> None:
    assert render(parse("h.cuh(1): error: oops"), "int a;\n", "k.cu", "") == "h.cuh:1: error: oops"


def test_many_errors_are_cut_short() -> None:
    printed = "\n".join(f"k.cu({n}): error: e{n}" for n in range(1, 50))
    assert render(parse(printed), "", "k.cu", printed).endswith("and 41 more errors")


def test_unknown_output_is_quoted_from_its_end() -> None:
    assert render((), "", "k.cu", "x" * 5000 + "the end").endswith("the end")
    assert render((), "", "k.cu", "") == "the compiler failed without a word"


@given(st.text())
def test_any_output_gives_a_short_log(printed: str) -> None:
    assert 0 < len(render(parse(printed), printed, "k.cu", printed)) <= 6000
