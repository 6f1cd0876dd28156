"""What this GPU can do at most, measured: the roof of the roofline."""

from __future__ import annotations

import struct
from typing import Any

from runners.gpu import Gpu
from runners.images import calibration_image

_BLOCK = 256
_REPEATS = 5
# Operations a thread does in one step of the loop: eight chains of a multiply and an add (of
# pairs for halves); a warp's four 16x16x16 products shared among its threads.
_UNITS = {"fp32": 16, "fp64": 16, "fp16": 32, "tensor": 4 * 2 * 16**3 // 32}


def peaks(gpu: Gpu) -> dict[str, float]:
    """Return DRAM and L2 rates in GB/s and arithmetic peaks in TFLOP/s, in about two seconds.

    `tensor_tflops` is half in, float out, through the warp-level interface: on Hopper the
    warp-group one reaches about half as much again.
    """
    module = gpu.load(calibration_image(int(gpu.facts["sm"])))
    sms, l2 = int(gpu.facts["sms"]), int(gpu.facts["l2_bytes"]) or 4 << 20
    size = min(1 << 30, gpu.free_bytes() // 8) // 4096 * 4096
    source, target = gpu.allocate(size), gpu.allocate(size)
    gpu.fill(source, 0x3F8CCCCD, size // 4)
    gpu.fill(target, 0, size // 4)

    def fastest_us(name: str, blocks: int, arguments: bytes) -> float:
        function = gpu.function(module, name)
        start, end = gpu.event(), gpu.event()
        times = []
        for _ in range(_REPEATS):
            gpu.record(start)
            gpu.launch(function, (blocks, 1, 1), (_BLOCK, 1, 1), arguments)
            gpu.record(end)
            gpu.wait(end, 20.0)
            times.append(gpu.elapsed_us(start, end))
        return min(times)

    words = size // 16
    found: dict[str, Any] = {}
    us = fastest_us("copy", sms * 16, struct.pack("<QQQ", target, source, words))
    found["dram_gbs"] = 2 * size / us / 1e3
    # A third of L2: on parts with two partitions a line may live in both.
    inner, times = l2 // 3 // 4096 * 256, 40
    arguments = struct.pack("<QQI4xQ", source, inner, times, target)
    us = fastest_us("reread", sms * 8, arguments)
    found["l2_gbs"] = inner * 16 * times / us / 1e3
    steps = 4096
    for unit, operations in _UNITS.items():
        count = steps // 16 if unit == "fp64" else steps
        us = fastest_us(unit, sms * 8, struct.pack("<QI", target, count))
        found[f"{unit}_tflops"] = operations * count * sms * 8 * _BLOCK / us / 1e6
    gpu.free(source)
    gpu.free(target)
    return {name: round(float(value), 3) for name, value in found.items()}
