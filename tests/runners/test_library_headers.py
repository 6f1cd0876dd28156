"""Sources that include CuTe are compiled with the user's CUTLASS headers, and no others are."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from optimizer.model import Argument, Case, Kernel, Kind, Launch, Role, Status, Workload
from optimizer.synthesis import cutlass
from optimizer.synthesis.task import Task
from runners.builder import CompilingBuilder
from runners.compiler import Compiler
from runners.fault import Fault
from runners.sandbox import Sandbox
from runners.toolchain import Toolchain, find_toolchain

# The fence assembles for sm_90a only.
FAKE = """#pragma once
namespace cute {
__device__ inline float twice(float x) { return 2 * x; }
__device__ inline void warpgroup_arrive() { asm volatile("wgmma.fence.sync.aligned;"); }
}
"""
SOURCE = """#include <cute/tensor.hpp>
__global__ void scale(float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = cute::twice(x[i]);
}
"""
GEMM = Path(__file__).resolve().parents[1] / "data/synthesis/gemm"
TREE = cutlass.find("", sys.path)


def fitting() -> Toolchain | None:
    try:
        found = find_toolchain()
        found.require(90)
    except Fault:
        return None
    return found


pytestmark = pytest.mark.skipif(fitting() is None, reason="no nvcc that knows sm_90")


@pytest.fixture
def workload(tmp_path: Path) -> Workload:
    arguments = (Argument("x", "float*", "n", role=Role.INOUT), Argument("n", "int", value="n"))
    launch = Launch(("(n+255)/256",), ("256",))
    (tmp_path / "project").mkdir()
    return Workload(
        "scale", Kind.KERNEL, "scale", arguments, (Case({"n": 100}),), launch=launch,
        root=str(tmp_path / "project"),
    )  # fmt: skip


@pytest.fixture
def library(tmp_path: Path) -> Path:
    header = tmp_path / "elsewhere/include/cute/tensor.hpp"
    header.parent.mkdir(parents=True)
    header.write_text(FAKE)
    return header.parents[1]


@pytest.fixture
def compiler(tmp_path: Path) -> Iterator[Compiler]:
    toolchain = fitting()
    assert toolchain is not None
    with Sandbox() as sandbox:
        yield Compiler(toolchain, sandbox, tmp_path / "scratch")


def built(compiler: Compiler, library: Path | None, source: str, workload: Workload) -> Status:
    kernel = Kernel("scale", source, "k.cu", workload.launch)
    found = CompilingBuilder(compiler, 90, library).build(kernel, workload)
    return Status.CORRECT if found.verdict is None else found.verdict.status


def test_headers_outside_the_project_are_found_only_where_the_user_named_them(
    compiler: Compiler, library: Path, workload: Workload
) -> None:
    assert built(compiler, library, SOURCE, workload) is Status.CORRECT
    assert built(compiler, None, SOURCE, workload) is Status.DOES_NOT_COMPILE


def test_warpgroup_instructions_are_compiled_for_the_very_chip(
    compiler: Compiler, library: Path, workload: Workload
) -> None:
    fenced = SOURCE.replace("  if (i", "  cute::warpgroup_arrive();\n  if (i")
    assert built(compiler, library, fenced, workload) is Status.CORRECT
    # The same instruction without a name that tells is compiled for sm_90, which has it not.
    (library / "cute/other.hpp").write_text(FAKE.replace("warpgroup_arrive", "hidden"))
    hidden = fenced.replace("warpgroup_arrive", "hidden").replace("cute/tensor", "cute/other")
    assert built(compiler, library, hidden, workload) is Status.DOES_NOT_COMPILE


@pytest.mark.skipif(TREE is None, reason="no CUTLASS: pip install --no-deps nvidia-cutlass")
@pytest.mark.parametrize(("file", "arch"), [("critic.1.cu", "sm_90"), ("cute.1.cu", "sm_90a")])
def test_a_cute_kernel_stays_inside_the_frame_and_compiles(
    compiler: Compiler, workload: Workload, file: str, arch: str
) -> None:
    assert TREE is not None
    arguments = (
        Argument("a", "const half*", "m*k"), Argument("b", "const half*", "n*k"),
        Argument("c", "float*", "m*n", role=Role.OUTPUT), Argument("m", "int", value="m"),
        Argument("n", "int", value="n"), Argument("k", "int", value="k"),
    )  # fmt: skip
    one = replace(
        workload, symbol="gemm_tn", arguments=arguments, cases=(Case({"m": 9, "n": 9, "k": 9}),),
        launch=Launch(("(n+63)/64", "(m+63)/64"), ("128",)),
    )  # fmt: skip
    task = Task("c = a b^T", one, "gemm.cu", more_headers=TREE.has, known_words=TREE.words)
    source = (GEMM / file).read_text()
    assert not task.outside(source)
    found = CompilingBuilder(compiler, 90, TREE.include).build(task.kernel(source), one)
    assert found.verdict is None, found.verdict
    assert found.artifact is not None
    written = re.findall(rb"sm_90a?\b", Path(str(found.artifact["cubin"])).read_bytes())
    assert {name.decode() for name in written} == {arch}
