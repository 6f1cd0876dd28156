"""Run a candidate a few times for compute-sanitizer to watch; nothing of it is judged here.

`python -I -m runners.sanitized REQUEST.json`. Every buffer is an allocation of its own with not a
byte to spare, so that memcheck sees the first element past its end, and outputs are left as the
driver gives them, so that initcheck sees who reads them. Behind each combination a line says that
it has ended: a tool that did not come to all of them has not found them right.

Host code is called on a small case, on a large one and on the small one again before anything else:
what it recorded for the first with a room that it made anew for the second is memory given back.
Between the two, holes where memory is free are filled: else a larger room may begin where the
smaller one did, and what uses the old address finds memory again. Ahead of that come calls that
are large in one size each, and then in both (`runners.each_extent`), if there are such. Sizes that
grow by little (`runners.growing`) have nothing ahead of them: they need a process with no room yet.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from runners import each_extent, growing, spec
from runners.contents import Combination, Contents
from runners.expressions import ExpressionError, count
from runners.launchable import EntryLaunchable, KernelLaunchable, Launchable
from runners.spec import JobSpec, Json, Work

RUN_SECONDS = 60.0
APART = 1 << 20
# What is allocated where memory is free, the largest first, so many of each size.
LARGEST_PLUG, LEAST_PLUG, PLUGS = 1 << 20, 1 << 9, 4


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
        asked = [
            Combination(item["case"], item["family"], int(item["seed"]))
            for item in request["combinations"]
        ]
        seconds = float(request.get("seconds", RUN_SECONDS))
        calls = _Calls(driver, gpu, job, launchable, contents, seconds)
        if launchable.hosted:
            first(calls, job.work, asked)
        for number, combination in enumerate(asked):
            if launches(job, combination):
                calls.call(combination, calls.buffers(combination))
            if "mark" in request:  # on a line of its own, whatever device code has printed before
                sys.stdout.write(f"\n{request['mark']}{number}\n")
                sys.stdout.flush()
        return len(asked)
    finally:
        context.pop()


def first(calls: _Calls, work: Work, asked: Sequence[Combination]) -> None:
    """Call host code on what goes ahead of all that is asked, unless that is in an order."""
    if not growing.in_order(work, asked):
        calls.apart(asked)
        calls.grown(asked)


def launches(job: JobSpec, combination: Combination) -> bool:
    """Tell whether a kernel has any blocks; a driver refuses to launch none."""
    launch = job.kernel.launch or job.work.launch
    if job.work.kind != "kernel" or launch is None:
        return True
    try:
        return all(count(entry, combination.case) for entry in launch.grid)
    except ExpressionError:
        return True


def loaded(
    gpu: Any, job: JobSpec, artifact: Json, folder: Path, *, original: bool = False
) -> Launchable:
    """Load a job's candidate, or its original."""
    source = job.baseline if original else job.kernel
    if artifact["kind"] == "shared":
        return EntryLaunchable(artifact, job.work, source, folder)
    return KernelLaunchable(gpu, artifact, job.work, source.launch or job.work.launch)


class _Calls:
    """Calls a candidate, each combination on buffers of its own."""

    def __init__(
        self,
        driver: Any,
        gpu: Any,
        job: JobSpec,
        launchable: Launchable,
        contents: Contents,
        seconds: float = RUN_SECONDS,
    ) -> None:
        self._driver, self._gpu, self._work = driver, gpu, job.work
        self._launchable, self._contents, self._seconds = launchable, contents, seconds

    def buffers(self, combination: Combination) -> dict[str, Any]:
        """Allocate what a combination needs; it is freed when the last reference goes."""
        held = {}
        # Memory that is nobody's between the buffers: a neighbour would take what goes too far.
        between = [self._driver.mem_alloc(APART)]
        for argument in self._work.arguments:
            if argument.type.pointer:
                size = argument.elements(combination.case) * argument.type.size
                held[argument.name] = self._driver.mem_alloc(max(1, size))
                between.append(self._driver.mem_alloc(APART))
        for memory in between:
            memory.free()
        return held

    def call(self, combination: Combination, held: Mapping[str, Any]) -> None:
        """Call it once, with its inputs uploaded anew, and wait for it."""
        for name, data in self._contents.of(combination).items():
            if name in held:
                self._gpu.upload(int(held[name]), data)
        addresses = {name: int(memory) for name, memory in held.items()}
        self._launchable.bind(combination.case, addresses)()
        self._gpu.synchronize(self._seconds)

    def apart(self, asked: Sequence[Combination]) -> None:
        """Call it on what is long and narrow, short and wide, and then both, if all is asked."""
        for combination in each_extent.among(self._work, asked):
            self.call(combination, self.buffers(combination))

    def grown(self, asked: Sequence[Combination]) -> None:
        """Call it on the smallest, the largest, and the smallest again, on the same buffers."""
        weigh = self._work.elements
        ordered = sorted(asked, key=lambda one: weigh(one.case))
        if not ordered or weigh(ordered[0].case) == weigh(ordered[-1].case):
            return
        small, large = ((one, self.buffers(one)) for one in (ordered[0], ordered[-1]))
        self.call(*small)
        # A larger room would be made where the smaller one was, and hold its addresses again.
        plugs = [
            self._driver.mem_alloc(LARGEST_PLUG >> halved)
            for halved in range((LARGEST_PLUG // LEAST_PLUG).bit_length())
            for _ in range(PLUGS)
        ]
        self.call(*large)
        self.call(*small)
        for memory in plugs:
            memory.free()


if __name__ == "__main__":
    _path = Path(sys.argv[1])
    sys.stdout.write(f"ran {run(json.loads(_path.read_text()), _path.parent)}\n")
