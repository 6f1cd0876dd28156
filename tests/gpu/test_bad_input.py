"""`optiml run` on a GPU with input nobody can optimize: one clear message, the right exit code."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import textwrap
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.redteam.run import device

pytestmark = [pytest.mark.gpu, pytest.mark.timeout(120)]

BAD_INPUT, BROKEN_BASELINE = 2, 3
ROOT = Path(__file__).resolve().parent.parent.parent

KERNEL = """\
__global__ void scale(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        y[i] = 2.0f * x[i];
    }
}
"""
PROJECT = """\
version: 1
kernels:
  - name: scale
    file: scale.cu
    kernel: scale
    launch: {grid: ["(n+255)/256"], block: [256]}
    args:
      - {name: x, type: "const float*", shape: "n", init: normal}
      - {name: "y", type: "float*", shape: "n", role: output}
      - {name: n, type: int, value: "n"}
    cases: [{n: 100000}]
"""
REFERENCE = "    reference: ref.py:reference\n"
PROGRAM = """\
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <unistd.h>
__global__ void fill(float* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = i * 0.5f;
}
int main() {
    float* x;
    cudaMalloc(&x, 4096 * sizeof(float));
    fill<<<16, 256>>>(x, 4096);
    BODY
    return 0;
}
"""


@dataclass(frozen=True, slots=True)
class Case:
    """One broken project: what its files hold, and what the user should read."""

    name: str
    exit: int
    said: tuple[str, ...]
    kernel: str = KERNEL
    project: str = PROJECT
    reference: str = ""


def _in_kernel(statement: str) -> str:
    return KERNEL.replace("y[i] = 2.0f * x[i];", statement)


CASES = (
    Case("syntax error", BROKEN_BASELINE, ("scale.cu:4", "expected"), _in_kernel("y[i] = 2.0f *;")),
    Case(
        "unknown name", BROKEN_BASELINE, ("scale.cu:4", "fastest"), _in_kernel("y[i]=fastest(1);")
    ),
    Case("missing kernel", BAD_INPUT, ("scale",), KERNEL.replace("scale", "scala")),
    Case("signature", BAD_INPUT, ("argument x", "const double"), KERNEL.replace("float", "double")),
    Case(
        "illegal address",
        BROKEN_BASELINE,
        ("illegal memory access",),
        _in_kernel("y[i + (1LL << 40)] = x[i];"),
    ),
    Case(
        "never ends",
        BROKEN_BASELINE,
        ("still running",),
        _in_kernel("while (*(volatile const float*)x < 1e30f) { } y[i] = 0.0f;"),
    ),
    Case(
        "is not deterministic",
        BROKEN_BASELINE,
        ("differs between runs of the original",),
        _in_kernel("y[i] = x[i] + float(clock64() & 1023);"),
    ),
    Case(
        "fails its reference",
        BROKEN_BASELINE,
        ("reference",),
        project=PROJECT + REFERENCE,
        reference="def reference(x, n):\n    return {'y': 3.0 * x}\n",
    ),
)


@pytest.fixture(scope="module", autouse=True)
def _needs_a_gpu() -> None:
    facts = device()
    if "error" in facts:
        pytest.skip(f"no GPU: {facts['error']['message']}")


# A GPU that others compute on is refused, and nothing is timed here: it may run beside other tests
# where it does not see them.
ALONE = """#!/bin/sh
case "$*" in *query-compute-apps*) exit 0 ;; esac
exec {real} "$@"
"""


def _deaf(folder: Path) -> str:
    """Put an nvidia-smi on the path that knows of no other process; return the path."""
    real, outer = shutil.which("nvidia-smi"), os.environ.get("PATH", "")  # noqa: TID251
    if real is None:
        return outer
    place = folder / "bin"
    place.mkdir(exist_ok=True)
    stub = place / "nvidia-smi"
    stub.write_text(ALONE.format(real=real))
    stub.chmod(0o755)
    return os.pathsep.join([str(place), outer])


def _run(folder: Path, file: str) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-m", "bot", "run", file, "--budget", "30s", "--evaluations", "8"]
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])  # noqa: TID251
    return subprocess.run(
        [*line, "--out", "out"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": path, "COLUMNS": "200", "PATH": _deaf(folder)},  # noqa: TID251
        capture_output=True,
        text=True,
        check=False,
        timeout=110,
    )


def _marked(case: Case) -> object:
    """Mark those that leave the GPU to others."""
    marks = [] if case.name == "never ends" else [pytest.mark.beside]
    return pytest.param(case, id=case.name, marks=marks)


@pytest.mark.parametrize("case", [_marked(case) for case in CASES])
def test_a_broken_project_gets_one_message_and_its_exit_code(case: Case, tmp_path: Path) -> None:
    """The message names what is wrong and there is no traceback."""
    (tmp_path / "scale.cu").write_text(case.kernel)
    (tmp_path / ".optiml.yml").write_text(case.project)
    if case.reference:
        (tmp_path / "ref.py").write_text(case.reference)
    done = _run(tmp_path, "scale.cu")
    said = done.stdout + done.stderr
    assert "Traceback" not in said, said
    assert done.returncode == case.exit, said
    for words in case.said:
        assert words in said, said


@pytest.mark.beside
@pytest.mark.parametrize(
    ("body", "words"),
    [
        # A status of its own is how a program may end whose work went well, unless it says otherwise.
        ('puts("error: no input"); return 3;', "exits with 3"),
        ("abort();", "signal 6"),
        # One that is long without the GPU is judged by what it has done until then.
        (
            "for (;; usleep(1000)) { fill<<<16, 256>>>(x, 4096); cudaDeviceSynchronize(); }",
            "smaller arguments",
        ),
    ],
)
def test_a_broken_program_gets_one_message(body: str, words: str, tmp_path: Path) -> None:
    """Whole programs that fail, abort or hang by themselves are no baseline."""
    (tmp_path / "fill.cu").write_text(textwrap.dedent(PROGRAM).replace("BODY", body))
    done = _run(tmp_path, "fill.cu")
    said = done.stdout + done.stderr
    assert "Traceback" not in said, said
    assert done.returncode == BROKEN_BASELINE, said
    assert words in said.lower(), said
