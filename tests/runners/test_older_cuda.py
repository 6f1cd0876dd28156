"""Programs written for an older CUDA are built with what CUDA 13 took out of its runtime."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from runners.artifact import Failure
from runners.compiler import Compiler
from runners.fault import Fault
from runners.sandbox import Sandbox
from runners.toolchain import find_toolchain

OLDER = """
__global__ void k(float* x) { x[0] = 1; }
int show(struct cudaDeviceProp p) { return p.clockRate + p.deviceOverlap + p.computeMode; }
int main() {
  cudaDeviceProp p = {0};
  cudaGetDeviceProperties(&p, 0);
  float* x;
  cudaMallocManaged(&x, 4);
  cudaMemPrefetchAsync(x, 4, p.major ? 0 : cudaCpuDeviceId, NULL);
  cudaMemAdvise(x, 4, cudaMemAdviseSetReadMostly, 0);
  k<<<1, 1>>>(x);
  cudaThreadSynchronize();
  return show(p) + cudaThreadExit();
}
"""


def fitting() -> bool:
    try:
        find_toolchain().require(90)
    except Fault:
        return False
    return True


@pytest.fixture
def compiler(tmp_path: Path) -> Iterator[Compiler]:
    with Sandbox() as sandbox:
        yield Compiler(find_toolchain(), sandbox, tmp_path)


@pytest.mark.skipif(not fitting(), reason="no nvcc that knows sm_90")
def test_a_program_that_uses_what_was_taken_out_is_built(compiler: Compiler) -> None:
    """Functions by their newer names, properties by asking for each; here with its PTX altered.

    A worker that delays its warps has not seen it before.
    """
    seen: list[str] = []

    def change(ptx: str) -> str:
        seen.append(ptx)
        return ptx

    made = compiler.altered(OLDER, change, path="a.cu", kind="program", sm=90)
    assert made is not None
    assert "k" in made.symbols
    assert ".entry" in seen[0]


@pytest.mark.skipif(not fitting(), reason="no nvcc that knows sm_90")
def test_a_name_that_no_cuda_has_is_still_missed(compiler: Compiler) -> None:
    """Nothing else is let through on the way."""
    text = OLDER.replace("int main() {", "int main() { cudaThreadSynchronise();")
    made = compiler.compile(text, path="a.cu", kind="cubin", sm=90)
    assert isinstance(made, Failure)
    assert "cudaThreadSynchronise" in made.log
    assert "clockRate" not in made.log
