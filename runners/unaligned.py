"""Run an original and a candidate on buffers that are moved by some elements; nothing is judged.

`python -I -m runners.unaligned REQUEST.json`. What is misaligned for an access ends the CUDA
context, and all that is asked of this process: what was done by then is in its log, a line a run.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np

from runners import spec
from runners.arena import ALIGN
from runners.contents import Combination, Contents
from runners.gpu import DeviceError, HungError, OutOfMemoryError
from runners.inputs import Arrays
from runners.launchable import Launchable
from runners.sanitized import loaded
from runners.spec import JobSpec, Json

RUN_SECONDS = 2.0
LOG = "said.jsonl"
ORIGINAL, CANDIDATE = "original", "candidate"
# What outputs are full of before a run, and all that lies around the buffers.
FULL = 0xFF


def run(request: Json, folder: Path, gpu: Any, log: IO[str]) -> None:
    """Run the original one element on, then the candidate ever nearer to that.

    `moved` are the buffers that do not begin where memory does, `factors` by how many elements
    they are moved, from the farthest to one.
    """
    job = spec.parse(request["job"])
    contents = Contents(job.work)
    asked = [Combination(c["case"], c["family"], int(c["seed"])) for c in request["combinations"]]
    known = [(one, contents.of(one)) for one in asked]
    steps = [(ORIGINAL, 1), *((CANDIDATE, int(factor)) for factor in request["factors"])]
    sides: dict[str, Launchable] = {}
    for who, factor in steps:
        if who not in sides:
            artifact = request["baseline" if who == ORIGINAL else "candidate"]
            sides[who] = loaded(gpu, job, artifact, folder, original=who == ORIGINAL)
        for number, (combination, arrays) in enumerate(known):
            step = {"who": who, "factor": factor, "combination": number}
            _tell(log, {**step, "begins": True})
            moved = dict.fromkeys(request["moved"], factor)
            try:
                held = _once(gpu, job, sides[who], (combination, arrays), moved)
            except (HungError, OutOfMemoryError):
                _tell(log, {"unknown": True})
                return
            except DeviceError as error:
                _tell(log, {**step, "error": str(error)[:200]})
                return
            _tell(log, {**step, "outputs": _kept(folder, held)})
    _tell(log, {"end": True})


def _tell(log: IO[str], what: Json) -> None:
    log.write(json.dumps(what) + "\n")
    log.flush()


def _once(
    gpu: Any,
    job: JobSpec,
    launchable: Launchable,
    contents: tuple[Combination, Arrays],
    moved: dict[str, int],
) -> list[Any]:
    """Run once with some buffers so many elements on; return the outputs in their order."""
    combination, arrays = contents
    addresses, written, bases = {}, [], []
    for argument in job.work.arguments:
        if not argument.type.pointer:
            continue
        size = argument.elements(combination.case) * argument.type.size
        begin = moved.get(argument.name, 0) * argument.type.size
        image = np.full(begin + size + ALIGN, FULL, np.uint8)
        if argument.name in arrays:
            image[begin : begin + size] = arrays[argument.name]
        bases.append(gpu.allocate(len(image)))
        gpu.upload(bases[-1], image)
        addresses[argument.name] = bases[-1] + begin
        if argument.written:
            written.append((addresses[argument.name], size))
    launchable.bind(combination.case, addresses)()
    gpu.synchronize(RUN_SECONDS)
    found = [gpu.download(address, size) for address, size in written]
    for base in bases:
        gpu.free(base)
    return found


def _kept(folder: Path, outputs: Sequence[Any]) -> str:
    """Write outputs down, what is the same only once; return the file's name."""
    data = b"".join(one.tobytes() for one in outputs)
    name = f"{hashlib.sha256(data).hexdigest()[:24]}.bin"
    if not (folder / name).exists():
        (folder / name).write_bytes(data)
    return name


def main(path: Path) -> None:
    """Do what a file asks on its GPU."""
    from pycuda import driver

    from runners.device import PlainGpu

    request = json.loads(path.read_text())
    driver.init()
    context = driver.Device(int(request.get("gpu", 0))).retain_primary_context()
    context.push()
    with (path.parent / LOG).open("w") as log:
        try:
            run(request, path.parent, PlainGpu(), log)
        except Exception:
            _tell(log, {"unknown": True})
            raise


if __name__ == "__main__":
    try:
        main(Path(sys.argv[1]))
    finally:
        if sys.exc_info()[0] is not None:
            traceback.print_exc()
            sys.stderr.flush()
        # A context that is lost cannot be taken down in good order.
        os._exit(0)
