"""Run a candidate a few times for compute-sanitizer to watch; nothing of it is judged here.

`python -I -m runners.sanitized REQUEST.json`. Every buffer is an allocation of its own with not a
byte to spare, so that memcheck sees the first element past its end, and outputs are left as the
driver gives them, so that initcheck sees who reads them.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from runners import spec
from runners.contents import Combination, Contents
from runners.launchable import EntryLaunchable, KernelLaunchable, Launchable
from runners.spec import JobSpec, Json

RUN_SECONDS = 60.0
APART = 1 << 20


def run(request: Json, folder: Path) -> int:
    """Run the candidate once on each combination; return how many were run."""
    from pycuda import driver

    from runners.device import PlainGpu

    driver.init()
    context = driver.Device(int(request.get("gpu", 0))).retain_primary_context()
    context.push()
    try:
        gpu = PlainGpu()
        job = spec.parse(request["job"])
        launchable = loaded(gpu, job, request["candidate"], folder)
        contents = Contents(job.work)
        for item in request["combinations"]:
            combination = Combination(item["case"], item["family"], int(item["seed"]))
            _once(driver, gpu, job, launchable, contents, combination)
        return len(request["combinations"])
    finally:
        context.pop()


def loaded(
    gpu: Any, job: JobSpec, artifact: Json, folder: Path, *, original: bool = False
) -> Launchable:
    """Load a job's candidate, or its original."""
    source = job.baseline if original else job.kernel
    if artifact["kind"] == "shared":
        return EntryLaunchable(artifact, job.work, source, folder)
    return KernelLaunchable(gpu, artifact, job.work, source.launch or job.work.launch)


def _once(
    driver: Any,
    gpu: Any,
    job: JobSpec,
    launchable: Launchable,
    contents: Contents,
    combination: Combination,
) -> None:
    arrays = contents.of(combination)
    held = {}
    # Memory that is nobody's between the buffers: a neighbour would take what goes too far.
    between = [driver.mem_alloc(APART)]
    for argument in job.work.arguments:
        if argument.type.pointer:
            size = argument.elements(combination.case) * argument.type.size
            held[argument.name] = driver.mem_alloc(max(1, size))
            between.append(driver.mem_alloc(APART))
            if argument.name in arrays:
                gpu.upload(int(held[argument.name]), arrays[argument.name])
    for memory in between:
        memory.free()
    launchable.bind(combination.case, {name: int(memory) for name, memory in held.items()})()
    gpu.synchronize(RUN_SECONDS)


if __name__ == "__main__":
    _path = Path(sys.argv[1])
    sys.stdout.write(f"ran {run(json.loads(_path.read_text()), _path.parent)}\n")
