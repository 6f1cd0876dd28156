"""Whether an original adds up in 32 bits with a sign."""

from __future__ import annotations

from pathlib import Path

import pytest

from runners.program_sums import open_sums
from tests.redteam import table

BODY = "__global__ void f(const %s* x, %s* y, int n) { int i = threadIdx.x; %s }"


@pytest.mark.parametrize(
    "code",
    [
        "%s s = 0; for (int k = 0; k < n; ++k) s += x[k];",
        "%s s = 0; for (int k = 0; k < n; ++k) { if (k) s = s + x[k]; }",
        "y[i] += x[i]; %s t;",
        "%s t; y[i] = x[i] + x[i + 1];",
        "%s t; atomicAdd(&y[0], x[i]);",
        "%s t; atomicAdd(y, x[i]);",
    ],
)
def test_a_sum_with_a_sign_is_open_and_others_are_not(code: str) -> None:
    for kind, open_ in (("int", True), ("unsigned", False), ("long long", False), ("float", False)):
        assert open_sums(BODY % (kind, kind, code % kind)) is open_, (kind, code)


@pytest.mark.parametrize(
    "code",
    [
        "std::accumulate(a, b, 0);",
        "s = __reduce_add_sync(0xffffffffu, s);",
        "unsigned s; s = __shfl_down_sync(0xffffffffu, s, 16);",
        "template <typename T> void g(T* x) { x[0] += x[1]; }",
        "for (;;) total += x[i];",
        "struct Link { int length; }; void g(Link* a) { a[0].length = a[1].length + a[2].length; }",
    ],
)
def test_what_is_not_known_is_open(code: str) -> None:
    assert open_sums(BODY % ("unsigned", "unsigned", code))


@pytest.mark.parametrize(
    "code",
    [
        "for (int k = 0; k < n; k += 32) y[k] = x[k];",
        "int gap = n - i; if (gap < 0) gap += n;",
        "int to = i + n < 5 ? i + n : i;",
        "struct Link { unsigned length; }; void g(Link* a) { a[0].length = a[1].length + a[2].length; }",
    ],
)
def test_what_comes_to_no_end_is_none(code: str) -> None:
    assert not open_sums(BODY % ("unsigned", "unsigned", code))


def test_programs_as_people_write_them() -> None:
    known = {
        name: open_sums((Path(table.HERE) / "cases" / name / "base.cu").read_text())
        for name in ("traffic", "unravel", "crowd", "mazewalk")
    }
    assert not any(known.values())


@pytest.mark.parametrize(
    "text", ["", "(" * 40_000, "for (" * 20_000, "int a[" * 9_000, "x" * 300_000]
)
def test_any_text_has_an_answer(text: str) -> None:
    assert isinstance(open_sums(text), bool)
