"""What an H200 said about the kernels of tests/gpu/bottlenecks.cu, as verdicts."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from optimizer.model import Kernel, Resources, Status, Verdict

_TESTS = Path(__file__).parents[2]
SOURCE = (_TESTS / "gpu" / "bottlenecks.cu").read_text()
KERNEL = Kernel("bottlenecks", SOURCE, "bottlenecks.cu")
# Measured copy bandwidth and arithmetic rates of an H200 (GB/s, TFLOP/s), rounded.
PEAKS = {
    "dram_gbs": 4300.0,
    "l2_gbs": 7000.0,
    "fp32_tflops": 60.0,
    "fp64_tflops": 33.0,
    "fp16_tflops": 120.0,
    "tensor_tflops": 790.0,
}


@cache
def recording() -> Mapping[str, Any]:
    data: Mapping[str, Any] = json.loads((_TESTS / "data" / "ncu" / "h200.json").read_text())
    return data


def verdict(
    name: str, changed: Mapping[str, float] | None = None, *, counters: bool = True
) -> Verdict:
    """The verdict of one kernel; `changed` replaces counters, `counters=False` drops them all."""
    known = recording()["kernels"][name]
    values = {**known["counters"], **(changed or {})} if counters else {}
    return Verdict(
        Status.CORRECT,
        counters={f"{name}/{metric}": value for metric, value in values.items()},
        resources={name: Resources(**known["resources"])},
        instructions={f"{name}/{op}": count for op, count in known["instructions"].items()},
        lines={f"{name}:{at}": share for at, share in known["lines"].items()} if counters else {},
    )


def line_of(text: str) -> int:
    """The only line that holds a text."""
    found = [i for i, line in enumerate(SOURCE.splitlines(), 1) if text in line]
    assert len(found) == 1, (text, found)
    return found[0]
