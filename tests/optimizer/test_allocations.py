"""How many elements an array has."""

from __future__ import annotations

import pytest

from optimizer.allocations import allocated
from optimizer.source import Source

KERNEL = "#define N 32\n__global__ void k(float *a, int n) { a[n] = 0; }\n"


def elements(host: str) -> int | None:
    source = Source(f"{KERNEL}int main() {{ float *d; int n = 3; {host} }}\n")
    fn = source.kernels[0]
    variable = fn.variable("a")
    assert variable is not None
    return allocated(source, fn, variable)


@pytest.mark.parametrize(
    ("host", "wanted"),
    [
        ("cudaMalloc(&d, N * sizeof(float)); k<<<1, 1>>>(d, n);", 32),
        ("cudaMallocManaged((void **)&d, sizeof(int) * (N + 1)); k<<<1, 1>>>(d, n);", 33),
        ("cudaMalloc(&d, n * sizeof(float)); k<<<1, 1>>>(d, n);", None),
        ('cudaMalloc(&d, atoi("3") * sizeof(float)); k<<<1, 1>>>(d, n);', None),
        ("cudaMalloc(&d, 64); cudaMalloc(&d, 128); k<<<1, 1>>>(d, n);", None),
        ("cudaMalloc(&d, 64); k<<<1, 1>>>(d + 1, n);", None),
        ("cudaMalloc(&d, 65); k<<<1, 1>>>(d, n);", None),
        ("k<<<1, 1>>>(d, n);", None),
        ("cudaMalloc(&d, 64);", None),
    ],
)
def test_the_size_is_told_only_where_all_allocations_and_launches_agree(
    host: str, wanted: int | None
) -> None:
    assert elements(host) == wanted
