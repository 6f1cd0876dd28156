"""The builder turns kernels of a workload into artefacts for the worker, or into verdicts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from optimizer.errors import ConfigError, NoDeviceError
from optimizer.model import (
    Argument,
    Build,
    Case,
    Kernel,
    Kind,
    Launch,
    Role,
    Status,
    Workload,
)
from runners.builder import CompilingBuilder
from runners.compiler import Compiler
from runners.fault import Fault
from runners.sandbox import Sandbox
from runners.toolchain import Toolchain, find_toolchain

SOURCE = """__global__ void scale(float* x, int n) {
  __shared__ float s[256];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  s[threadIdx.x] = i < n ? x[i] : 0.f;
  __syncthreads();
  if (i < n) x[i] = s[255 - threadIdx.x];
}
"""
WORKLOAD = Workload(
    "scale",
    Kind.KERNEL,
    "scale",
    (Argument("x", "float*", "n", role=Role.INOUT), Argument("n", "int", value="n")),
    (Case({"n": 1000}),),
    launch=Launch(("(n+255)/256",), ("256",)),
)
KERNEL = Kernel("scale", SOURCE, "k.cu", WORKLOAD.launch)


def fitting() -> Toolchain | None:
    try:
        found = find_toolchain()
        found.require(90)
    except Fault:
        return None
    return found


needs_nvcc = pytest.mark.skipif(fitting() is None, reason="no nvcc that knows sm_90")


@pytest.fixture(scope="module")
def builder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CompilingBuilder]:
    toolchain = fitting()
    assert toolchain is not None
    with Sandbox() as sandbox:
        yield CompilingBuilder(Compiler(toolchain, sandbox, tmp_path_factory.mktemp("build")), 90)


@pytest.fixture
def workload(tmp_path: Path) -> Workload:
    return replace(WORKLOAD, root=str(tmp_path))


@needs_nvcc
def test_an_artifact_has_all_the_wire_asks_for(
    builder: CompilingBuilder, workload: Workload
) -> None:
    built = builder.build(KERNEL, workload)
    assert built.verdict is None
    assert built.artifact is not None
    assert {"path", "kind", "symbols", "resources", "instructions", "machine_code", "log"} <= set(
        built.artifact
    )
    assert built.machine_code
    assert built.seconds > 0


@needs_nvcc
def test_occupancy_follows_from_the_launch(builder: CompilingBuilder, workload: Workload) -> None:
    full = builder.build(KERNEL, workload).artifact
    launch = Launch(("(n+255)/256",), ("256",), str(100 << 10))
    crowded = builder.build(replace(KERNEL, launch=launch), workload).artifact
    assert full is not None
    assert crowded is not None
    assert full["resources"]["scale"]["occupancy"] == 1.0
    assert crowded["resources"]["scale"]["occupancy"] == 0.25


@needs_nvcc
def test_another_launch_is_other_machine_code(
    builder: CompilingBuilder, workload: Workload
) -> None:
    other = replace(KERNEL, launch=Launch(("(n+127)/128",), ("128",)))
    assert (
        builder.build(KERNEL, workload).machine_code != builder.build(other, workload).machine_code
    )


@needs_nvcc
def test_a_candidate_that_does_not_compile_is_a_verdict(
    builder: CompilingBuilder, workload: Workload
) -> None:
    built = builder.build(replace(KERNEL, source=SOURCE.replace("256", "M")), workload)
    assert built.artifact is None
    assert built.verdict is not None
    assert built.verdict.status is Status.DOES_NOT_COMPILE
    assert built.verdict.log.startswith("k.cu:2: error:")


@needs_nvcc
def test_a_refused_flag_is_a_config_error(builder: CompilingBuilder, workload: Workload) -> None:
    with pytest.raises(ConfigError, match="-G"):
        builder.build(KERNEL, replace(workload, build=Build(("-G",))))


def test_an_unfit_compiler_is_no_device(workload: Workload, tmp_path: Path) -> None:
    with Sandbox() as sandbox:
        compiler = Compiler(Toolchain(Path("/nvcc"), (11, 0)), sandbox, tmp_path)
        with pytest.raises(NoDeviceError, match="install CUDA ≥ 11"):
            CompilingBuilder(compiler, 90).build(KERNEL, workload)
