"""Quotients of whole numbers that are compared as floats: a limit, said where products decided."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from runners import float_quotients, limit

CASES = Path(__file__).parents[1] / "redteam" / "cases" / "kinship"
needs_nvcc = pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc is not installed here")

PRODUCTS = """.visible .entry theirs(
mul.wide.s32 %rd1, %r1, %r2;
mul.wide.s32 %rd2, %r3, %r4;
setp.lt.s64 %p1, %rd1, %rd2;
"""
QUOTIENT = """.visible .entry mine(
cvt.rn.f32.s32 %f1, %r1;
cvt.rn.f32.u32 %f2, %r2;
div.rn.f32 %f3, %f1, %f2;
"""


@pytest.mark.parametrize(
    "decides",
    [
        "setp.gt.f32 %p1, %f3, %f9;",
        "setp.gt.f32 %p1, %f3, 0f3F000000;",
        "max.f32 %f4, %f3, %f9;",
        "mov.b32 %r5, %f3; atom.global.max.s32 %r6, [%rd4], %r5;",
        "mov.b32 %r5, %f3; mov.b64 %rd5, {%r7, %r5}; red.global.max.u64 [%rd4], %rd5;",
        "rcp.approx.ftz.f32 %f4, %f2; mul.f32 %f5, %f1, %f4; setp.lt.f32 %p1, %f5, %f9;",
        "st.shared.f32 [%r9], %f3;\n.visible .entry b(\nld.f32 %f1, [%rd2]; set.lt.f32.f32 %f4, %f1, %f2;",
    ],
)
def test_a_quotient_that_decides_is_said(decides: str) -> None:
    (note,) = float_quotients.notes(QUOTIENT + decides, PRODUCTS)
    ((words,), others) = limit.apart([note])
    assert words.startswith(float_quotients.DECIDE)
    assert others == ()


@pytest.mark.parametrize(
    "else_",
    [
        "st.global.f32 [%rd1], %f3;",
        "setp.gt.f32 %p1, %f8, %f9;",
        "setp.gt.f32 %p1, %f3, 0f00000000;",
        "setp.eq.f32 %p1, %f3, 0f7F800000;",
        "min.f32 %f4, %f3, 0f3F800000;",
        "cvt.rzi.s32.f32 %r5, %f3; setp.lt.s32 %p1, %r5, %r6;",
        "ld.param.f32 %f8, [p]; st.global.f32 [%rd1], %f3; setp.lt.f32 %p1, %f8, %f9;",
    ],
)
def test_a_quotient_that_decides_nothing_is_not(else_: str) -> None:
    """Written as a result, kept in a range, or made whole: then whole numbers decide."""
    assert float_quotients.notes(QUOTIENT + else_, PRODUCTS) == []


@pytest.mark.parametrize(
    "made",
    [
        QUOTIENT.replace("f32", "f64").replace("%f", "%fd"),
        "ld.global.f32 %f1, [%rd1]; cvt.rn.f32.s32 %f2, %r2; div.rn.f32 %f3, %f1, %f2;\n",
    ],
)
def test_doubles_and_means_of_floats_are_none(made: str) -> None:
    decides = "setp.gt.f64 %p1, %fd3, %fd9;" if "f64" in made else "setp.gt.f32 %p1, %f3, %f9;"
    assert float_quotients.notes(made + decides, PRODUCTS) == []


@pytest.mark.parametrize(
    "theirs",
    [
        "",
        PRODUCTS + "setp.lt.f32 %p2, %f1, %f2;",
        PRODUCTS + "setp.lt.f64 %p2, %fd1, %fd2;",
        PRODUCTS.replace("setp.lt.s64 %p1, %rd1, %rd2", "setp.lt.s64 %p1, %rd1, %rd9"),
        "mul.f32 %f1, %f2, %f3;\nmul.f32 %f4, %f5, %f6;\nsetp.lt.f32 %p1, %f1, %f4;",
    ],
)
def test_nothing_is_said_where_the_original_does_not_decide_by_products(theirs: str) -> None:
    assert float_quotients.notes(QUOTIENT + "setp.gt.f32 %p1, %f3, %f9;", theirs) == []


@needs_nvcc
def test_the_red_teams_relatives_are_told_apart(tmp_path: Path) -> None:
    """By the score that is stored for all, which another kernel reads; doubles are exact here."""
    codes = {}
    for name in ("base", "by_score", "by_ratio"):
        target = tmp_path / f"{name}.ptx"
        command = ["nvcc", "-ptx", "-std=c++17", "-arch=sm_90", "-o", str(target)]
        subprocess.run([*command, str(CASES / f"{name}.cu")], check=True, capture_output=True)
        codes[name] = target.read_text()
    said = {name: bool(float_quotients.notes(code, codes["base"])) for name, code in codes.items()}
    assert said == {"base": False, "by_score": True, "by_ratio": False}
