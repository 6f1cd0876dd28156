"""Rows of shared arrays that are no multiple of the banks."""

from __future__ import annotations

import pytest

from optimizer.interfaces import RewriteRule
from optimizer.model import Edit, Kernel
from optimizer.rules.pad_shared import pad_shared
from optimizer.testing import RewriteRuleContract


def kernel(declaration: str, read: str = "s[threadIdx.x][threadIdx.y]", more: str = "") -> Kernel:
    return Kernel(
        "k",
        "#define T 32\n__global__ void k(const float *x, float *y, int n) {\n"
        f"  __shared__ {declaration};\n  int tx = threadIdx.x, ty = threadIdx.y;\n"
        f"  s[ty][tx] = x[ty * n + tx];\n  __syncthreads();\n{more}  y[tx] = {read};\n}}\n",
        "k.cu",
    )


BASIC = kernel("float s[32][32]")


def edits(given: Kernel) -> list[Edit]:
    return list(pad_shared(given, []))


class TestPadShared(RewriteRuleContract):
    applies_to = (BASIC,)

    @pytest.fixture
    def rule(self) -> RewriteRule:
        return pad_shared


@pytest.mark.parametrize(
    ("declaration", "read", "wanted"),
    [
        ("float s[32][32]", "s[threadIdx.x][threadIdx.y]", "float s[32][32 + 1];"),
        ("float s[T][T]", "s[tx][ty]", "float s[T][T + 1];"),
        ("double s[16][16]", "s[tx][3]", "double s[16][16 + 1];"),
        ("int s[64][T*2]", "s[tx + 1][ty]", "int s[64][T*2 + 1];"),
    ],
)
def test_a_column_read_by_a_warp_gets_rows_of_odd_length(
    declaration: str, read: str, wanted: str
) -> None:
    (edit,) = edits(kernel(declaration, read))
    assert wanted in edit.source


@pytest.mark.parametrize(
    "given",
    [
        kernel("float s[32][33]"),
        kernel("float s[32][32]", "s[ty][tx]"),
        kernel("float s[32][32]", more="  float *p = s[0];\n"),
        kernel("float s[32][32]", "((float4 *)s[tx])[0].x"),
        kernel("float s[96][128]"),
        kernel("char s[32][32]"),
    ],
)
def test_it_declines_where_nothing_collides_or_the_layout_is_used(given: Kernel) -> None:
    assert not edits(given)
