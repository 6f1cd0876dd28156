"""Powers as products."""

from __future__ import annotations

import pytest

from optimizer.model import Kernel
from optimizer.rules.power_product import power_product

HEAD = "__global__ void k(const float *a, float *o, double *d, int i, int n, float e) { "


def edits(body: str) -> list[str]:
    return [e.source[len(HEAD) : -2] for e in power_product(Kernel("k", f"{HEAD}{body} }}"), [])]


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        ("o[i] = powf(a[i], 2.0f);", "o[i] = (a[i] * a[i]);"),
        ("o[i] = powf(a[i] - e, 2);", "o[i] = ((a[i] - e) * (a[i] - e));"),
        ("o[i] = 1.f / powf(e, 1.5f);", "o[i] = 1.f / (e * sqrtf(e));"),
        ("o[i] = powf(e, -0.5f);", "o[i] = (1.0f / sqrtf(e));"),
        ("d[i] = pow(d[i], 3.0);", "d[i] = (d[i] * d[i] * d[i]);"),
        ("d[i] = pow(d[i], 0.5) + pow(n, 2);", "d[i] = sqrt(d[i]) + ((double)n * (double)n);"),
    ],
)
def test_small_constant_exponents_become_products_and_roots(body: str, wanted: str) -> None:
    assert edits(body) == [wanted]


@pytest.mark.parametrize(
    "body",
    [
        "o[i] = powf(a[i], e);",
        "o[i] = powf(a[i], 2.2f);",
        "o[i] = powf(a[i], 40.f);",
        "o[i] = powf(a[i++], 2.f);",
        "d[i] = pow(n, -2);",
        "o[i] = powf(a[i], 0.0f);",
    ],
)
def test_other_exponents_and_bases_with_effects_are_left_alone(body: str) -> None:
    assert edits(body) == []


def test_a_float_to_a_whole_power_is_a_double_first() -> None:
    """A sum of squares that is compared with 1 counts others when it is rounded."""
    assert edits("if (pow(e, 2) + pow(a[i], 2) <= 1) o[i] = 1;") == [
        "if (((double)e * (double)e) + ((double)a[i] * (double)a[i]) <= 1) o[i] = 1;",
        "if ((e * e) + (a[i] * a[i]) <= 1) o[i] = 1;",
    ]
    assert edits("o[i] = pow(e, -2);") == ["o[i] = (1.0f / (e * e));"]


def test_a_pow_of_the_file_itself_is_not_the_librarys() -> None:
    text = (
        "__device__ float powf(float a, float b) { return a; }\n" + HEAD + "o[i] = powf(e, 2.f); }"
    )
    assert not list(power_product(Kernel("k", text), []))
