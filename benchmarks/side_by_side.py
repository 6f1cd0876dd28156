"""What processes of one host take from each other: processors, memory, the driver.

    python benchmarks/side_by_side.py [--seconds 0.5] [--out FILE]

Each task is done by one process and by several at once, on a GPU each while there are enough. What
is printed is work done a second by each of them, on average; for `context` and `nvcc`, seconds. A
search on several GPUs cannot be faster than what its workers leave each other.
"""

from __future__ import annotations

import argparse
import json
import mmap
import multiprocessing as mp
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

MEGABYTE = 1 << 20
KERNEL = Path(__file__).parents[1] / "examples" / "softmax" / "softmax.cu"


def often(seconds: float, once: Callable[[], object]) -> float:
    """Return how often something can be done in a second."""
    count, end = 0, time.perf_counter() + seconds
    while time.perf_counter() < end:
        once()
        count += 1
    return count / seconds


def interpreter(_: int, seconds: float) -> float:
    """Thousands of additions in Python."""
    return often(seconds, lambda: sum(range(1000)))


def copies(_: int, seconds: float) -> float:
    """GB/s read and written, 64 MB at a time."""
    import numpy as np

    source, target = (np.ones(64 * MEGABYTE, np.uint8) for _ in range(2))
    return often(seconds, lambda: np.copyto(target, source)) * 128 * MEGABYTE / 1e9


def pages(_: int, seconds: float) -> float:
    """MB/s of memory that is touched for the first time."""

    def once() -> None:
        with mmap.mmap(-1, 16 * MEGABYTE) as fresh:
            for at in range(0, 16 * MEGABYTE, 4096):
                fresh[at] = 1

    return often(seconds, once) * 16


def nvcc(_: int, __: float) -> float:
    """Seconds to compile a small kernel."""
    with tempfile.TemporaryDirectory() as folder:
        begun = time.perf_counter()
        command = ["nvcc", "-cubin", "-arch=sm_90", "-O3", "-o", f"{folder}/x.cubin", str(KERNEL)]
        subprocess.run(command, check=True, capture_output=True)
        return time.perf_counter() - begun


def context(number: int, _: float) -> float:
    """Seconds until a process has a context on its GPU."""
    begun = time.perf_counter()
    made = f"d.init(); d.Device({number} % d.Device.count()).make_context().pop()"
    text = f"from pycuda import driver as d; {made}"
    subprocess.run([sys.executable, "-c", text], check=True)
    return time.perf_counter() - begun


def _on_gpu(number: int, work: Callable[[Any], float]) -> float:
    from pycuda import driver

    driver.init()
    opened = driver.Device(number % driver.Device.count()).make_context()
    try:
        return work(driver)
    finally:
        opened.pop()


def allocations(number: int, seconds: float) -> float:
    """Allocations a second of 16 MB that are given back at once."""
    return _on_gpu(
        number, lambda driver: often(seconds, lambda: driver.mem_alloc(16 * MEGABYTE).free())
    )


def downloads(number: int, seconds: float) -> float:
    """GB/s from the device into pageable memory."""

    def work(driver: Any) -> float:
        import numpy as np

        held, out = driver.mem_alloc(64 * MEGABYTE), np.ones(64 * MEGABYTE, np.uint8)
        count = often(seconds, lambda: driver.memcpy_dtoh(out, held))
        held.free()
        return count * 64 * MEGABYTE / 1e9

    return _on_gpu(number, work)


TASKS: dict[str, tuple[Callable[[int, float], float], tuple[int, ...]]] = {
    "interpreter": (interpreter, (1, 4, 16)),
    "copies": (copies, (1, 4, 16)),
    "pages": (pages, (1, 4, 16)),
    "nvcc": (nvcc, (1, 4, 16)),
    "context": (context, (1, 4)),
    "allocations": (allocations, (1, 4)),
    "downloads": (downloads, (1, 4)),
}


def _worked(task: str, number: int, seconds: float, start: Any, told: Any) -> None:
    start.wait()
    try:
        told.put(TASKS[task][0](number, seconds))
    except Exception as error:  # noqa: BLE001 - a row says so
        told.put(str(error))


def together(task: str, count: int, seconds: float) -> dict[str, object]:
    """Return the row of a task that several processes do at once."""
    told: Any = mp.Queue()
    start = mp.Barrier(count)
    workers = [
        mp.Process(target=_worked, args=(task, number, seconds, start, told))
        for number in range(count)
    ]
    for worker in workers:
        worker.start()
    found = [told.get() for _ in workers]
    for worker in workers:
        worker.join()
    wrong = [one for one in found if isinstance(one, str)]
    if wrong:
        return {"task": task, "processes": count, "error": wrong[0][:200]}
    return {"task": task, "processes": count, "each": round(statistics.mean(found), 3)}


def main() -> int:
    """Print a row for each task and number of processes."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seconds", type=float, default=0.5)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    mp.set_start_method("fork")
    rows = [
        together(task, count, given.seconds)
        for task, (_, counts) in TASKS.items()
        for count in counts
    ]
    for row in rows:
        print(json.dumps(row), flush=True)
    if given.out is not None:
        given.out.write_text(json.dumps({"rows": rows}, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
