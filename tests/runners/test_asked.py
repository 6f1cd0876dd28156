"""What an original's text asks of floats: whether they are NaN, whether infinite."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from runners.asked import INFINITY, NAN, asked
from runners.text import LONGEST

CASES = Path(__file__).parents[1] / "redteam" / "cases"


def _kernel(body: str, before: str = "") -> str:
    return f"{before}\n__global__ void k(const float* x, float* y, int n) {{ {body} }}"


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("if (isnan(x[0])) return;", {NAN}),
        ("if (std::isnan(m) || __hisnan(h)) return;", {NAN}),
        ("if (v != v) v = 0.f;", {NAN}),
        ("ok = x[2 * i] == x[2 * i] && !done;", {NAN}),
        ("return fpclassify(v) == 3;", {NAN}),
        ("if (!isfinite(m)) return;", {NAN}),
        ("if ((__float_as_uint(v) & 0x7fffffffu) > 0x7f800000u) return;", {NAN}),
        ("if (isfinite(__ldg(&x[i]))) ++many;", {NAN, INFINITY}),
        ("if (isinf(x[i])) return;", {INFINITY}),
        ("float v = static_cast<float>(x[i]); if (isinf(v)) return;", {INFINITY}),
        ("float v = x[i]; if (v == -INFINITY) return;", {INFINITY}),
        ("const float* row = x + n; float v = row[i]; if (isinf(v)) return;", {INFINITY}),
        ("if (fabsf(x[i]) < INFINITY) ++many;", {INFINITY}),
        ("if (INFINITY != x[i]) ++many;", {INFINITY}),
    ],
)
def test_what_asks_is_found(body: str, found: set[str]) -> None:
    """By the functions' names, by comparison with itself, by bits, with an infinity."""
    assert asked(_kernel(body), "k") == tuple(sorted(found))


@pytest.mark.parametrize(
    "body",
    [
        "float m = -INFINITY; m = fmaxf(m, x[0]);",
        "float m = -__int_as_float(0x7f800000), n = NAN;",
        # Whether there is a largest yet.
        "float m = -INFINITY; fade = m == -INFINITY ? 0.f : expf(m - now); if (isinf(m)) return;",
        "__shared__ float s[9]; float* t = s + n; float v = t[i]; if (isinf(v) || isinf(s[0])) return;",
        "// if (isnan(v)) return;",
        "/* v != v */ y[0] = x[0];",
        'printf("isnan(v) v != v");',
        "assert(!isnan(x[0]));",
        # Roundoff, and a tree in an array.
        "while (s + v == v) s *= 2.f; while (v + s != s) break; if (a.v == v) return;",
        "while (label[v] != v) v = label[v]; if (v == v0) return; if (v == v + 1) return;",
        "for (float m = INFINITY; m > x[0]; m = x[0]) if (x[0] < INFINITY) return;",
        "bool isnan = false; y[0] = isnan;",
        "y[0] = isnan_row(x) + v.isnanny(1);",
    ],
)
def test_what_does_not_ask_is_not_found(body: str) -> None:
    """The start of a maximum is none, comments and strings are none."""
    assert asked(_kernel(body), "k") == ()


def test_only_what_the_function_names_is_looked_at() -> None:
    """A check of the results beside it is the host's own."""
    helper = "__device__ bool odd(float v) { return isnan(v); }"
    assert asked(_kernel("if (odd(x[0])) return;", helper), "k") == (NAN,)
    assert asked(_kernel("y[0] = x[0];", helper), "k") == ()
    assert asked(_kernel("SKIP(x[0]);", "#define SKIP(v) \\\n if (v != v) continue\n"), "k") == (
        NAN,
    )
    assert asked(_kernel("y[0] = x[0];", "#define SKIP(v) if (v != v) continue\n"), "k") == ()
    struct = "struct Sum { float operator()(float a) { return isnan(a) ? 0 : a; } };"
    assert asked(_kernel("y[0] = reduce(x, Sum());", struct), "k") == (NAN,)
    host = "int main() { if (isnan(y[0])) return 1; k<<<1, 1>>>(x, y, 3); }"
    assert asked(_kernel("y[0] = x[0];") + host, "k") == ()
    assert asked(_kernel("y[0] = x[0];") + host, "main") == (NAN,)
    entry = 'extern "C" void run(float* x) { space::k<float><<<1, 2>>>(x, x, 3); }'
    assert asked(_kernel("if (isnan(x[0])) return;") + entry, "run") == (NAN,)
    assert asked(_kernel("if (isnan(x[0])) return;"), "space::k<float>") == (NAN,)
    assert asked(_kernel("if (isnan(x[0])) return;"), "") == ()


def test_of_the_red_teams_originals_two_ask() -> None:
    """The mean of what is a number, and halves of which NaN stays one."""
    asks = {
        path.parent.name
        for path in CASES.glob("*/base.cu")
        if asked(path.read_text(), path.read_text().partition("void ")[2].partition("(")[0])
    }
    assert {"nanmean", "pack16"} <= asks
    assert not asks & {"components", "extent", "logsum", "paged", "pool", "softmax", "topk"}


@pytest.mark.parametrize(
    "text",
    [
        "/*" * 130_000,
        'R"(' * 80_000,
        '"' * 260_000,
        "(" * 260_000,
        "x==" * 80_000,
        "f(){" * 60_000,
        "void f(float* v){" + "isinf(" * 40_000,
        "void f(float* v){" + "isinf(v);" * 20_000 + "}",
        "void f(float* v){" + "(" * 60_000 + "v" + ")==v" * 40_000 + "}",
        "#define f isnan(f\n" * 10_000,
        "struct f {" * 26_000,
        "void f(){" + "".join(f"g{n}();" for n in range(9000)) + "}",
        "".join(f"void f(){{g{n}();}}void g{n}(){{f();}}" for n in range(8000)),
        "\\\n#" * 80_000,
        "isnan(v)" * (LONGEST // 8 + 1),
    ],
)
def test_hostile_text_takes_no_time(text: str) -> None:
    """It is a stranger's."""
    begun = time.perf_counter()
    asked(text, "f")
    assert time.perf_counter() - begun < 5
