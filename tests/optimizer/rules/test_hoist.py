"""Invariant loads and divisors."""

from __future__ import annotations

import pytest

from optimizer.model import Kernel
from optimizer.rules.hoist import hoist

HEAD = (
    "struct P { float x, m; };\n"
    "__global__ void k(const float *a, float *o, const P *p, double *d, int n, float s, double h) {\n"
)
IDS = "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"


def edits(body: str) -> list[str]:
    text = HEAD + IDS + body + "}\n"
    return [e.source for e in hoist(Kernel("k", text), [])]


def test_a_load_that_a_store_hides_from_the_compiler_moves_before_the_loop() -> None:
    (text,) = edits("  for (int j = 0; j < n; j++) {\n    o[j * n + i] = a[i] * a[j];\n  }\n")
    assert "const float a_i = a[i];\n  for (int j" in text
    assert "o[j * n + i] = a_i * a[j];" in text


def test_members_of_structs_are_loaded_with_their_type() -> None:
    (text,) = edits("  for (int j = 0; j < n; j++) o[j] += p[i].x * p[j].m;\n")
    assert "const float p_x = p[i].x;" in text


def test_divisions_by_a_parameter_in_a_loop_become_products() -> None:
    (text,) = edits("  float t = 0;\n  for (int j = 0; j < n; j++) t += a[j] / s;\n  o[i] = t;\n")
    assert "\n  const float inv_s = 1.0f / s;\n" in text
    assert "t += a[j] * inv_s;" in text


def test_a_divisor_used_twice_is_inverted_once() -> None:
    (text,) = edits("  d[i] = d[i] / (2.0 * h) + d[i + n] / (2.0 * h);\n")
    assert "const double inv_h = 1.0 / (2.0 * h);" in text
    assert "d[i] = d[i] * inv_h + d[i + n] * inv_h;" in text


def test_what_a_loop_divides_by_is_inverted_before_it() -> None:
    (text,) = edits(
        "  float sum = 0;\n  for (int j = 0; j < n; j++) sum += a[j];\n"
        "  for (int j = 0; j < n; j++) {\n    o[j] = __expf(a[j]) / sum;\n    o[j + n] /= sum;\n  }\n"
    )
    assert "  const float inv_sum = 1.0f / sum;\n  for (int j = 0; j < n; j++) {\n" in text
    assert "o[j] = __expf(a[j]) * inv_sum;\n    o[j + n] *= inv_sum;" in text
    assert not [e for e in hoist(Kernel("k", text), []) if e.title.startswith("divide")]


def test_a_divisor_is_inverted_in_front_of_the_outermost_loop_that_keeps_it() -> None:
    (text,) = edits(
        "  for (int q = 0; q < n; q++) {\n    float w = a[q] + 1;\n"
        "    for (int j = 0; j < n; j++)\n      for (int m = 0; m < n; m++) d[j] += a[m] / w;\n  }\n"
    )
    assert "    const float inv_w = 1.0f / w;\n    for (int j = 0; j < n; j++)" in text


@pytest.mark.parametrize(
    "body",
    [
        "  for (int j = 0; j < n; j++) o[i] += o[i] * a[j];\n",  # written itself
        "  for (int j = 0; j < n; j++) { if (j > i) o[j] = a[i]; }\n",  # not always loaded
        "  for (int j = 0; j < n; j++) { o[j] = a[i]; i++; }\n",  # address moves
        "  for (int j = 0; j < n; j++) { o[j] = a[i]; __syncthreads(); }\n",
        "  for (int j = 0; j < n; j++) d[j] = o[j] / n;\n",  # the store is double, o is not aliased
        "  o[i] = a[i] / s;\n",  # once only
        "  for (int j = 0; j < n; j++) o[j] = j / n;\n",  # integer division
        "  float t = s; for (int j = 0; j < n; j++) { t += 1; d[j] = a[j] / t; }\n",  # changes
        "  for (int j = 0; j < n; j++) { float t = a[j]; d[j] = s / t; }\n",  # another in each
    ],
)
def test_what_changes_or_may_not_happen_stays(body: str) -> None:
    assert not [e for e in edits(body) if "inv_n" not in e]


def test_the_result_comes_to_rest() -> None:
    (text,) = edits("  for (int j = 0; j < n; j++) {\n    o[j * n + i] = a[i] * a[j];\n  }\n")
    assert not list(hoist(Kernel("k", text), []))


def test_a_call_with_the_same_arguments_is_made_once_before_the_outermost_loop() -> None:
    (text,) = edits(
        "  for (int j = 0; j < n; j++) {\n    float v = 0;\n"
        "    for (int m = 0; m < n; m++) v += a[m] * cosf(j * s) * powf(s, (float)n);\n"
        "    o[j] = v + powf(s, (float)n) + sqrtf(2.0f);\n  }\n"
    )
    assert "  const auto powf_s = powf(s, (float)n);\n  for (int j" in text
    assert "    const auto cosf_j = cosf(j * s);\n    for (int m" in text
    assert "v += a[m] * cosf_j * powf_s;" in text
    assert "o[j] = v + powf_s + sqrtf(2.0f);" in text
    assert not list(hoist(Kernel("k", text), []))


@pytest.mark.parametrize(
    "body",
    [
        "  for (int j = 0; j < n; j++) d[j] = a[j] > 0 ? pow(h, 3.0) : 0;\n",
        "  for (int j = 0; j < n; j++) { if (d[j] > h) break; d[j] = exp(h); }\n",
        "  for (int j = 0; j < n; j++) { h += 1; d[j] = exp(h); }\n",
        "  for (int j = 0; j < n; j++) { double x = d[j]; d[j] = exp(x); }\n",
        "  for (int j = 0; j < n; j++) d[j] = fabs(h);\n",
        "  for (int j = 0; j < n; j++) d[j] = exp(d[0]);\n",
    ],
)
def test_calls_that_change_or_are_seldom_made_stay(body: str) -> None:
    assert edits(body) == []
