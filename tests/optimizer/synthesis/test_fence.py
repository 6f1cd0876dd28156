"""The edit boundary with a CUTLASS tree: its headers may be included, and nothing else is eased."""

from __future__ import annotations

from pathlib import Path

import pytest

from optimizer.boundary import violations
from optimizer.synthesis import cutlass
from optimizer.synthesis.fence import Boundary, fence, uses

ORIGINAL = """#include <cuda_fp16.h>
#define TILE 16
#include "mine.h"

__global__ void k(float* x, int n)
{
    if (threadIdx.x < n) x[threadIdx.x] = TILE;
}

void go(float* x, int n) { k<<<1, n>>>(x, n); }
"""
CUTE = "#include <cute/tensor.hpp>\n"
FIRST = '#include "mine.h"\n'


@pytest.fixture
def within(tmp_path: Path) -> Boundary:
    include = tmp_path / "tree/include"
    (include / "cute/atom").mkdir(parents=True)
    (include / "cutlass").mkdir()
    for name in ("cute/tensor.hpp", "cutlass/half.h"):
        (include / name).write_text("struct A {};\n")
    (include / "cute/atom/mma.hpp").write_text("struct SM80_16x8x16_F32F16F16F32_TN\n{};\n")
    (tmp_path / "evil.hpp").write_text("")
    (include / "cute/link.hpp").symlink_to(tmp_path / "evil.hpp")
    tree = cutlass.find(str(tmp_path / "tree"))
    assert tree is not None
    return fence(tree)


def placed(line: str, before: str = "", behind: str = "") -> str:
    """Return the original with a line put before or behind a text."""
    at = before or behind or FIRST
    assert ORIGINAL.count(at) == 1
    return ORIGINAL.replace(at, f"{line}{at}" if before else f"{at}{line}")


@pytest.mark.parametrize(
    "candidate",
    [
        placed(CUTE),
        placed(CUTE, before="#include <cuda"),
        placed("# include <cutlass/half.h>\n" + CUTE),
        placed(CUTE).replace("= TILE", "= cute::SM80_16x8x16_F32F16F16F32_TN::size"),
        placed(CUTE).replace("    if", "    using namespace cute;\n    if"),
    ],
)
def test_headers_of_the_tree_may_be_included_above_the_code(
    within: Boundary, candidate: str
) -> None:
    assert uses(candidate)
    assert within(ORIGINAL, candidate) == ()
    assert violations(ORIGINAL, candidate), "without a tree nothing may be included"
    assert fence(None)(ORIGINAL, candidate) == violations(ORIGINAL, candidate)


@pytest.mark.parametrize(
    "line",
    [
        "#include <cute/missing.hpp>\n",
        "#include <cute/link.hpp>\n",
        "#include <cute/../../../evil.hpp>\n",
        '#include "cute/tensor.hpp"\n',
        "#include <thrust/sort.h>\n",
        "#include </etc/passwd>\n",
        "#include <cute/tensor.hpp> \\\n\n",
        f"#if 1\n{CUTE}#endif\n",
        "#define cute evil\n" + CUTE,
        CUTE + "using namespace cute;\n",
        CUTE + "int host = 1;\n",
        CUTE + "#include <fstream>\n",
        "#undef TILE\n" + CUTE,
        "".join(f"{CUTE}" for _ in range(9)),
    ],
)
def test_nothing_else_comes_in_with_them(within: Boundary, line: str) -> None:
    assert within(ORIGINAL, placed(line))


def test_inside_of_functions_and_behind_them_nothing_is_included(within: Boundary) -> None:
    assert within(ORIGINAL, placed(CUTE, before="    if (threadIdx.x"))
    assert within(ORIGINAL, ORIGINAL + CUTE)


def test_host_text_is_held_to_the_boundary_as_ever(within: Boundary) -> None:
    candidate = placed(CUTE).replace("k<<<1, n>>>", "k<<<1, system(0)>>>")
    assert within(ORIGINAL, candidate)
    assert within(ORIGINAL, placed(CUTE).replace('#include "mine.h"\n', ""))


def test_without_such_headers_it_is_the_boundary_itself(within: Boundary) -> None:
    for candidate in (
        ORIGINAL,
        ORIGINAL.replace("TILE 16", "TILE 32"),
        ORIGINAL.replace("= TILE", "= SM80_16x8x16_F32F16F16F32_TN"),
        ORIGINAL.replace("void go", "static void go"),
    ):
        assert within(ORIGINAL, candidate) == violations(ORIGINAL, candidate)
        host = violations(ORIGINAL, candidate, allow_host=True)
        assert within(ORIGINAL, candidate, allow_host=True) == host


def test_an_original_that_includes_them_keeps_them(within: Boundary) -> None:
    original = placed(CUTE)
    assert within(original, original) == ()
    assert within(original, original.replace("= TILE", "= TILE + 1")) == ()
    assert within(original, original.replace(CUTE, ""))
    assert within(original, original.replace(CUTE, CUTE + "#include <cutlass/half.h>\n")) == ()


def test_line_ends_of_windows_are_no_hindrance(within: Boundary) -> None:
    windows = ORIGINAL.replace("\n", "\r\n")
    assert within(windows, placed(CUTE).replace("\n", "\r\n")) == ()


def test_a_file_without_any_directive_can_include_one(within: Boundary) -> None:
    bare = "__global__ void k(float* x)\n{\n    x[0] = 1;\n}\n"
    assert within(bare, CUTE + bare) == ()
    assert within(bare, bare + CUTE)
