"""Launches with another grid."""

from __future__ import annotations

import pytest

from optimizer.geometry import regrid, times
from optimizer.model import Kernel
from optimizer.source import Source

KERNELS = "__global__ void a(int n) {}\n__global__ void b(int n) {}\n"
OWN = "void run(int n) {\n  dim3 g(n, 4);\n  a<<<g, 32>>>(n);\n  a<<<g, 32>>>(n);\n}\n"


def doubled(host: str) -> str:
    source = Source(KERNELS + host)
    found = regrid(Kernel("a", source.text), source, source.kernels[0], {"x": times(2)})
    assert found is not None
    return source.replace(found.edits).removeprefix(KERNELS)


def test_a_variable_of_one_kernels_launches_is_changed_where_it_is_defined() -> None:
    assert doubled(OWN) == OWN.replace("g(n, 4)", "g(n * 2, 4)")


@pytest.mark.parametrize(
    "use",
    [
        "b<<<g, 32>>>(n);",
        "b<<<dim3(g.x, (g.y + 3) / 4), 32>>>(n);",
        'printf("%d", g.x);',
        "int m = g.x;",
    ],
)
def test_a_variable_that_others_see_stays(use: str) -> None:
    host = OWN.replace("  a<<<g", f"  {use}\n  a<<<g", 1)
    assert doubled(host) == host.replace("a<<<g, ", "a<<<dim3(g.x * 2, g.y), ")


def test_an_axis_that_is_set_on_its_own_is_changed_there() -> None:
    host = OWN.replace("dim3 g(n, 4);", "dim3 g;\n  g.x = n;\n  g.y = 4;")
    assert "g.x = n * 2;" in doubled(host)
