"""Double literals in float code."""

from __future__ import annotations

import pytest

from optimizer.model import Kernel
from optimizer.rules.float_literals import float_literals


def only(text: str) -> str:
    (edit,) = float_literals(Kernel("k", text), [])
    return edit.source


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("o[i] = 0.5 * a[i];", "o[i] = 0.5f * a[i];"),
        ("o[i] = a[i] > 1e-3 ? 1. : a[i];", "o[i] = a[i] > 1e-3f ? 1.f : a[i];"),
        ("o[i] = exp(-0.5 * a[i]);", "o[i] = exp(-0.5f * a[i]);"),
        ("o[i] = pow(a[i], 2.0);", "o[i] = pow(a[i], 2.0f);"),
        ("o[i] = pow(a[i], 3);", "o[i] = powf(a[i], 3);"),
        ("o[i] = 1 / (a[i] + EPS);", "o[i] = 1 / (a[i] + (float)EPS);"),
        ("real r = 0.5; o[i] = r * i;", "real r = 0.5f; o[i] = r * i;"),
        ("o[i] = sqrt(p[i].x) * M_PI;", "o[i] = sqrt(p[i].x) * (float)M_PI;"),
        ("o[i] /= 3.0; /* thirds: 3.0 */", "o[i] /= 3.0f; /* thirds: 3.0 */"),
    ],
)
def test_a_float_expression_gets_float_constants_and_functions(line: str, wanted: str) -> None:
    head = (
        "#define EPS 1e-9\ntypedef float real;\nstruct P { real x; };\n"
        "__global__ void k(const float *a, float *o, P *p, int i) { "
    )
    assert only(head + line + " }") == head + wanted + " }"


@pytest.mark.parametrize(
    "body",
    [
        "double s = 0.5 * a[i]; o[i] = s;",
        "d[i] = d[i] * 2.0;",
        "double x = pow(10.0, -9.0); o[i] = x * a[i];",
        "o[i] = (double)a[i] * 0.1;",
        "real r = 0.5; o[i] = r;",
        "o[i] = q[i].x * 0.5;",
        "o[i] = a[i] * 0.5f;",
        "o[i] = exp(a[i]);  // the overload for float",
        "T r = 0.5; o[i] = r;",
    ],
)
def test_double_or_unknown_types_are_left_alone(body: str) -> None:
    head = "typedef double real; struct Q { double x; };\n"
    kernel = f"template <typename T> __global__ void k(const float *a, float *o, double *d, Q *q, int i) {{ {body} }}"
    assert list(float_literals(Kernel("k", head + kernel), [])) == []


def test_host_code_keeps_its_doubles() -> None:
    text = "double h(double x) { return x * 0.5; }\n__host__ __device__ float g(float x) { return x * 0.5; }"
    assert list(float_literals(Kernel("k", text), [])) == []


def test_the_result_comes_to_rest() -> None:
    text = "__global__ void k(float *a) { a[threadIdx.x] = exp(a[threadIdx.x] * 2.0) * M_PI; }"
    assert list(float_literals(Kernel("k", only(text)), [])) == []
