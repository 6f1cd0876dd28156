"""Which originals have a twin in double precision."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from runners.promote import MIXING, mixing, promoted
from tests.redteam.table import load

BASES = {one.base.name: one.base.source for one in load()}


@pytest.mark.parametrize("name", ["scattermax", "peak"])
def test_what_exchanges_floats_in_memory_as_words_has_none(name: str) -> None:
    """Half a double would be exchanged, which is next to nothing and looks like no change."""
    assert promoted(BASES[name]) is None


@pytest.mark.parametrize(
    "cast",
    [
        "(unsigned int*)(y + i)",
        "(const volatile int *)y",
        "reinterpret_cast<unsigned*>(&y[i])",
        "reinterpret_cast< const uint32_t * >(y)",
    ],
)
def test_any_form_of_such_a_cast_is_seen(cast: str) -> None:
    text = f"__global__ void f(float* y, int i) {{ *{cast} = __float_as_uint(2.f); }}"
    assert promoted(text) is None
    assert promoted(text.replace("__float_as_uint(2.f)", "7")) is not None
    assert promoted(text.replace(cast, "(float*)y")) is not None


def test_bits_of_values_alone_leave_it() -> None:
    assert promoted(BASES["level"]) is not None


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc is not installed here")
@pytest.mark.parametrize(
    "expression",
    [
        "fmaf(y[0], __half2float(h[0]), 1)",
        "fmaxf(__half2float(h[0]), y[0]) + fmaxf(y[1], 0)",
        "hypotf(__half2float(h[0]), y[0]) + atan2f(y[0], __half2float(h[1]))",
    ],
)
def test_functions_of_doubles_take_what_halves_become(tmp_path: Path, expression: str) -> None:
    """Halves become floats in the twin, too: without the switch it does not compile."""
    file = tmp_path / "twin.cu"
    text = f"#include <cuda_fp16.h>\n__global__ void f(const half* h, float* y) {{ y[2] = {expression}; }}"
    file.write_text(promoted(text) or "")
    line = ["nvcc", "-arch=sm_90", "-ptx", "-o", "/dev/null", str(file)]
    done = [
        subprocess.run([*line, *more], capture_output=True, timeout=120, check=False).returncode
        for more in ([], [MIXING], [MIXING, MIXING])
    ]
    assert done[0] != 0
    assert done[1:] == [0, 0]


def test_the_switch_is_added_to_a_project_s_own() -> None:
    build = {"flags": ["-O2"], "include": ["a"]}
    job = {"workload": {"symbol": "f", "build": build}, "seed": 1}
    made = mixing(job)
    assert made["workload"]["build"] == {"flags": ["-O2", MIXING], "include": ["a"]}
    assert (made["workload"]["symbol"], made["seed"]) == ("f", 1)
    assert build["flags"] == ["-O2"]
    assert mixing({"workload": {}})["workload"]["build"]["flags"] == [MIXING]
