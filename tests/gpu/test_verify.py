"""`optiml verify` on a GPU: a right version and wrong ones of an example, judged in one go."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.redteam.run import device

# The command times nothing while this process has the GPU open.
BEFORE_ALL = True
pytestmark = [pytest.mark.gpu, pytest.mark.timeout(180)]

ROOT = Path(__file__).resolve().parents[2]
NOT_VERIFIED = 5
SUM = """        y[j] = expf(x[j] - maxval);
        sum += y[j];
"""
# Each version: what of the example's text is replaced, and by what.
VERSIONS = {
    # Multiplies by one quotient in place of a division for each element.
    "right.cu": (
        ("const float* logits, float* probs", "const float* __restrict__ logits, float* probs"),
        ("for (int j = 0; j < cols; j++) {\n        y[j] = y[j] / sum;",
         "float scale = 1.0f / sum;\n    for (int j = 0; j < cols; j++) {\n        y[j] *= scale;"),
    ),
    # Leaves the terms of long rows beyond a multiple of 32 out of the sum.
    "wrong.cu": ((SUM, SUM.replace("sum +=", "if (j < 1024 || j < cols / 32 * 32) sum +=")),),
    "outside.cu": (("#include <math.h>", "#include <math.h>\n#include <cstdio>"),),
    "broken.cu": (("float sum = 0.0f", "float sum = nothing"),),
}  # fmt: skip


@pytest.fixture(autouse=True)
def _needs_a_gpu() -> None:
    facts = device()
    if "error" in facts:
        pytest.skip(f"no GPU: {facts['error']['message']}")


def test_a_right_version_is_verified_and_wrong_ones_are_refused(tmp_path: Path) -> None:
    """The wrong one is right for every case that the example declares."""
    shutil.copytree(ROOT / "examples" / "softmax", tmp_path / "project")
    original = (tmp_path / "project" / "softmax.cu").read_text()
    for name, edits in VERSIONS.items():
        text = original
        for old, new in edits:
            assert old in text
            text = text.replace(old, new, 1)
        (tmp_path / name).write_text(text)
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])  # noqa: TID251
    done = subprocess.run(
        [sys.executable, "-m", "bot", "verify", "project/softmax.cu", *VERSIONS, "--json"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": path},  # noqa: TID251
        capture_output=True,
        text=True,
        check=False,
        timeout=170,
    )
    assert done.returncode == NOT_VERIFIED, done.stdout + done.stderr
    (result,) = json.loads(done.stdout)["results"]
    found = {one["file"]: one for one in result["candidates"]}
    states = {name: one["state"] for name, one in found.items()}
    assert states == {"right.cu": "verified", **dict.fromkeys(list(VERSIONS)[1:], "refused")}, found
    speedup = found["right.cu"]["speedup"]
    assert speedup["low"] <= speedup["value"] <= speedup["high"]
    assert found["wrong.cu"]["status"] == "wrong result"
    assert found["outside.cu"]["layer"] == "edit boundary"
    assert found["broken.cu"]["layer"] == "compiler"
    assert "nothing" in found["broken.cu"]["log"]
