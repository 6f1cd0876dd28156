"""Entry functions and programs whose device code is changed between nvcc's own steps."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from runners.altering import first, steps
from runners.artifact import Artifact, ArtifactKind
from runners.building import Building
from runners.compiler import Compiler
from runners.sandbox import Sandbox
from runners.seeded import SEED
from runners.shaking import shaken
from runners.toolchain import find_toolchain

HERE = Path(__file__).parents[1] / "redteam" / "cases"
needs_nvcc = pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc is not installed")


@pytest.fixture
def compiler(tmp_path: Path) -> Iterator[Compiler]:
    with Sandbox("own") as sandbox:
        yield Compiler(find_toolchain(), sandbox, tmp_path)


def altered(compiler: Compiler, case: str, kind: ArtifactKind, seed: int) -> Artifact | None:
    base, _, name = case.partition("/")
    text = (HERE / base / f"{name}.cu").read_text()
    symbol = base if kind == "shared" else ""
    return compiler.altered(
        text, lambda ptx: shaken(ptx, seed), path="a.cu", kind=kind, sm=90, symbol=symbol
    )


@needs_nvcc
def test_an_entry_function_gets_delays_under_its_seed(compiler: Compiler) -> None:
    """Its host code is as it was: the function is still there to be called."""
    made = [altered(compiler, "rowscale/block_sums", "shared", seed) for seed in (7, 7, 8)]
    assert all(one is not None for one in made)
    codes = [one.device_code for one in made if one is not None]
    assert codes[0] == codes[1] != codes[2]
    assert made[2] is not None
    assert made[2].symbols["rowscale"]
    data = Path(made[2].cubin).read_bytes()
    assert SEED.encode() in data
    names = subprocess.run(
        ["nm", "-D", made[2].path], check=True, capture_output=True, text=True
    ).stdout
    assert " T rowscale" in names
    assert "__cudaRegisterFatBinary" in names


@needs_nvcc
def test_a_program_gets_delays(compiler: Compiler) -> None:
    made = altered(compiler, "steps/base", "program", 3)
    assert made is not None
    assert SEED.encode() in Path(made.path).read_bytes()
    assert made.kind == "program"


@needs_nvcc
def test_one_source_is_built_under_two_seeds_at_once(tmp_path: Path) -> None:
    """Both are there afterwards: one in the place of the other would be run twice, or neither."""
    text = (HERE / "rowscale" / "block_sums.cu").read_text()
    work = {"kind": "entry", "symbol": "rowscale", "root": str(tmp_path)}
    job = {"workload": work, "kernel": {"path": "a.cu"}}
    building = Building(90, tmp_path)
    try:
        with ThreadPoolExecutor(2) as pool:
            made = list(pool.map(lambda seed: building.shaken_whole(text, job, seed), (7, 39)))
    finally:
        building.close()
    paths = [Path(one["path"]) for one in made if one is not None]
    assert len({one.read_bytes() for one in paths}) == 2


@needs_nvcc
def test_what_does_not_compile_or_has_no_place_for_a_change_is_none(compiler: Compiler) -> None:
    asked = {"path": "a.cu", "kind": "shared", "sm": 90, "symbol": "f"}
    assert compiler.altered("no CUDA", lambda ptx: ptx, **asked) is None  # type: ignore[arg-type]
    nothing = 'extern "C" void f() {}\n'
    assert compiler.altered(nothing, lambda _: None, **asked) is None  # type: ignore[arg-type]
    broken = (
        '__global__ void k(int* p) { *p = 1; }\nextern "C" void f(int* p) { k<<<1, 1>>>(p); }\n'
    )
    assert compiler.altered(broken, lambda _: "no PTX", **asked) is None  # type: ignore[arg-type]


def test_the_plan_is_what_comes_behind_the_ptx() -> None:
    plan = """
#$ _SPACE_= 
#$ PATH=/cuda bin:/bin
#$ CICC_PATH=/cuda/nvvm/bin
#$ INCLUDES="-I/cuda/include"
#$ gcc -E a.cu
#$ "$CICC_PATH/cicc" -arch compute_90 "/k/a.ii" -o "/k/a.ptx"
#$ ptxas "/k/a.ptx" -o "/k/a.cubin"
#$ g++ -o made
"""  # noqa: W291 - as nvcc prints it
    found = steps(plan)
    assert found is not None
    assert found.ptx == "/k/a.ptx"
    assert found.script.splitlines() == [
        "set -e",
        "export PATH='/cuda bin:/bin'",
        "export CICC_PATH=/cuda/nvvm/bin",
        'ptxas "/k/a.ptx" -o "/k/a.cubin"',
        "g++ -o made",
    ]


@pytest.mark.parametrize("plan", ["", "#$ gcc x", '#$ "/b/cicc" x -o "/k/a.ptx"'])
def test_a_plan_that_is_not_understood_is_none(plan: str) -> None:
    assert steps(plan) is None
    two = '#$ "/b/cicc" x -o "/k/a.ptx"\n#$ "/b/cicc" x -o "/k/b.ptx"\n#$ ptxas x\n'
    assert steps(two) is None


def test_paths_with_blanks_are_quoted() -> None:
    assert "'/a b/nvcc' --keep --keep-dir '/k 1' -c" in first(["/a b/nvcc", "-c"], "/k 1")
