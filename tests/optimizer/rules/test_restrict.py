"""Promises about pointers."""

from __future__ import annotations

import pytest

from optimizer.model import Kernel
from optimizer.rules.restrict import restrict

KERNEL = "__global__ void k(float *x, const float* y, int *o, int n) { int i = threadIdx.x; if (i < n) o[i] = x[i] + y[i]; if (i < n) o[i + n] = x[i]; }\n"


def edits(text: str) -> list[str]:
    return [e.source for e in restrict(Kernel("k", text), [])]


def test_pointers_get_the_promise_and_those_only_read_become_const() -> None:
    (text,) = edits(KERNEL)
    assert (
        "(const float *__restrict__ x, const float*__restrict__ y, int *__restrict__ o, int n)"
        in text
    )


def test_launches_with_different_buffers_allow_it() -> None:
    assert edits(KERNEL + "void run(float *a, float *b, int *c) { k<<<1, 32>>>(a, b, c, 9); }\n")


def test_one_buffer_read_twice_is_no_conflict() -> None:
    assert edits(KERNEL + "void run(float *a, int *c) { k<<<1, 32>>>(a, a, c, 9); }\n")


@pytest.mark.parametrize(
    "text",
    [
        KERNEL.replace("int *o", "float *o")
        + "void run(float *a, float *b) { k<<<1, 32>>>(a, b, a, 9); }\n",
        KERNEL.replace("int *o", "float *o")
        + "void run(float *a, float *b) { k<<<1, 32>>>(a, b, a + 1, 9); }\n",
        KERNEL.replace("float *x", "float *__restrict__ x")
        .replace("float* y", "float* __restrict__ y")
        .replace("int *o", "int *__restrict__ o"),
        "__global__ void k(float *x, int n) { x[0] = n; }\n",
    ],
)
def test_overlaps_and_promises_that_stand_already_are_left_alone(text: str) -> None:
    assert edits(text) == []


def test_a_pointer_that_is_written_does_not_become_const() -> None:
    (text,) = edits(KERNEL.replace("o[i] = x[i]", "x[i] = 1.f; o[i] = x[i]"))
    assert "(float *__restrict__ x," in text


@pytest.mark.parametrize(
    ("body", "proposed"),
    [
        ("o[i] = x[i] + y[i];", False),
        ("float s = 0.f; for (int k = 0; k < n; k++) s += x[k] * y[k]; o[i] = s;", False),
        ("for (int k = i; k < n; k += 32) o[k] = x[k] + y[k];", True),
        ("o[i] = x[i]; o[i] += y[i];", True),
        ("__shared__ float t[32]; t[i] = x[i]; o[i] = t[31 - i] + y[i];", False),
    ],
)
def test_it_is_proposed_where_a_load_may_come_after_a_store(body: str, proposed: bool) -> None:
    text = f"__global__ void k(float *x, float *y, float *o, int n) {{ int i = threadIdx.x; {body} }}\n"
    assert bool(edits(text)) == proposed
