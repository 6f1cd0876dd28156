"""Which buffers of a launch are apart."""

from __future__ import annotations

import pytest

from optimizer.aliasing import apart
from optimizer.source import Source

KERNEL = "__global__ void k(float *a, float *b) { a[threadIdx.x] = b[0]; }\n"


def separate(arguments: str) -> bool:
    source = Source(
        f"{KERNEL}void run(float *x, float *y, float **v, int n, int t) {{ k<<<1, 32>>>({arguments}); }}\n"
    )
    fn = source.kernels[0]
    one, other = fn.variable("a"), fn.variable("b")
    assert one is not None
    assert other is not None
    return apart(source, fn, one, other)


@pytest.mark.parametrize(
    "arguments",
    ["x, y", "x + n, y", "(float *)x, y + 2 * n", "v[0], v[1]", "v[t], v[1 - t]", "v[t ^ 1], v[t]"],
)
def test_different_buffers_are_apart(arguments: str) -> None:
    assert separate(arguments)


@pytest.mark.parametrize(
    "arguments",
    ["x, x", "x, x + n", "v[0], v[0]", "v[n], v[t]", "v[0] + n, v[1]", "n ? x : y, y", "&x[n], x"],
)
def test_what_may_be_one_buffer_is_not_apart(arguments: str) -> None:
    assert not separate(arguments)
