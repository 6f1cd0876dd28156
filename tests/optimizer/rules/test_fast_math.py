"""Intrinsics instead of library calls."""

from __future__ import annotations

import pytest

from optimizer.model import Kernel
from optimizer.rules.fast_math import fast_math


def texts(body: str) -> list[str]:
    text = f"__global__ void k(const float *a, float *o, double *d, int i, int m) {{ {body} }}"
    return [edit.source for edit in fast_math(Kernel("k", text), [])]


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        ("o[i] = expf(-a[i]);", "o[i] = __expf(-a[i]);"),
        ("o[i] = exp(a[i]);", "o[i] = __expf(a[i]);"),
        ("o[i] = a[i] / (o[i] + 2.f);", "o[i] = __fdividef(a[i], (o[i] + 2.f));"),
        ("o[i] = a[i] / o[i] / a[m];", "o[i] = __fdividef(a[i] / o[i], a[m]);"),
        ("o[i] = 1.0f / sqrtf(a[i]);", "o[i] = rsqrtf(a[i]);"),
        ("o[i] = 1 / a[i];", "o[i] = __fdividef(1, a[i]);"),
        ("o[i] = powf(a[i], o[i]);", "o[i] = __powf(a[i], o[i]);"),
    ],
)
def test_float_functions_and_divisions_become_intrinsics(body: str, wanted: str) -> None:
    assert wanted in texts(body)[0]


def test_calls_and_divisions_are_also_offered_apart() -> None:
    assert len(texts("o[i] = expf(a[i]) / o[i];")) == 3


@pytest.mark.parametrize(
    "body",
    [
        "d[i] = exp(d[i]);",
        "d[i] = d[i] / d[m];",
        "o[i] = i / m;",
        "o[i] = a[i] / 3.0f;",
        "if (isnan(a[i])) o[i] = expf(a[i]);",
    ],
)
def test_doubles_integers_constants_and_nan_tests_are_left_alone(body: str) -> None:
    assert texts(body) == []
