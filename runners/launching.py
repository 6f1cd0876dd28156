"""Launch a candidate for a profiler to watch: real inputs, a context of its own, no timing."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from runners import arena, inputs, spec
from runners.answers import Build
from runners.cuda_types import Storage
from runners.fault import Fault
from runners.gpu import DeviceError
from runners.launchable import EntryLaunchable, KernelLaunchable, Launchable
from runners.spec import Json


def launch(request: Json, number: int, scratch: Path, build: Build) -> None:
    """Run the candidate of a request a few times on its first timed case.

    Each request gets a CUDA context of its own: the profiler's report tells candidates apart by
    context. Raises `Fault` when the candidate does not run.
    """
    from pycuda import driver

    driver.init()
    context = driver.Device(number).make_context()
    try:
        _in_context(request, scratch, build)
    except (DeviceError, driver.Error, OSError) as error:
        raise Fault("RunnerError", f"the candidate does not run: {error}") from error
    finally:
        context.detach()


def _in_context(request: Json, scratch: Path, build: Build) -> None:
    from runners.device import PlainGpu

    job = spec.parse(request["job"])
    artifact = request.get("candidate") or build(job.kernel.source, request["job"])
    if artifact is None:
        raise Fault("RunnerError", "the candidate does not compile")
    gpu = PlainGpu()
    case = next((c for c in job.work.cases if c.timed), job.work.cases[0])
    launchable: Launchable
    if artifact["kind"] == "shared":
        launchable = EntryLaunchable(artifact, job.work, job.kernel, _folder(scratch))
    else:
        geometry = job.kernel.launch or job.work.launch
        launchable = KernelLaunchable(gpu, artifact, job.work, geometry)
    contents = inputs.generate(job.work, case.values, job.seed)
    layout = arena.plan(job.work, case.values, 4096)
    base = gpu.allocate(layout.stride)
    gpu.fill(base, 0xFFFFFFFF, layout.stride // 4)
    bound = launchable.bind(case.values, layout.addresses(base))
    for _ in range(int(request.get("times", 2))):
        for buffer in layout.buffers:
            data: Storage = contents.get(buffer.name, np.empty(0, np.uint8))
            gpu.upload(base + buffer.offset, data)
        bound()
        gpu.synchronize()


def _folder(scratch: Path) -> Path:
    folder = scratch / "launch"
    folder.mkdir(exist_ok=True)
    return folder
