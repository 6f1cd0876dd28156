"""What every output must be, found out in a process that no candidate ever runs in.

`python -I -m runners.answering REQUEST.json` (or `--wait GPU`, where the name of the file comes on
stdin, when the GPU has been opened) runs the original on every combination of case, input
family and seed, several times, with its version in double precision and the numpy reference
beside it, and writes answers to files. The worker reads the files, and starts the process again
behind a combination that killed it: what the original cannot do is not asked of a candidate.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from pathlib import Path

import numpy as np

from runners import capacities, wider
from runners.compare import Answer, Budget, dense
from runners.contents import Combination, pool
from runners.cuda_types import Storage
from runners.fault import Fault
from runners.gathered import Gathered
from runners.gpu import DeviceError, Gpu, LaunchError, OutOfMemoryError
from runners.original import Original
from runners.spec import BaselineFailure, Json, Work

TWIN_SECONDS = 150.0  # what a compiler may take, and some
# Combinations whose answers are being worked out while the device goes on: so many, fewer of the
# pool's threads than there are, and what was gathered of them holds so many bytes.
AHEAD, AHEAD_BYTES = 6, 3 << 29
# Bytes of an answer from which on it stays in its file.
LEAST_MAPPED = 1 << 18


def read(folder: Path, work: Work, described: Json) -> dict[str, Answer]:
    """Return a combination's answers from what the process wrote."""
    types = {a.name: a.type for a in work.arguments}
    found: dict[str, Answer] = {}
    for output in described["outputs"]:
        stem = folder / str(output["stem"])
        size = int(output["elements"]) * types[output["name"]].size
        want = _wanted(Path(f"{stem}.want"), size)
        left = None
        if output["untouched"]:
            bits = np.unpackbits(np.fromfile(f"{stem}.left", np.uint8))
            left = bits[: int(output["elements"])].astype(bool)
        odd = None
        if output.get("odd"):
            bits = np.unpackbits(np.fromfile(f"{stem}.odd", np.uint8))
            odd = bits[: int(output["odd"])].astype(bool)
        budgets = tuple(
            None if b is None else Budget(**{**b, "noise": dense(b["noise"])})
            for b in output["budgets"]
        )
        found[output["name"]] = Answer(
            output["name"],
            types[output["name"]],
            want,
            budgets,
            left,
            bool(output["unordered"]),
            bool(output["lenient"]),
            bool(output["spreads"]),
            odd,
            tuple(output.get("joined") or ()),
            bool(output.get("infinite")),
            bool(output.get("empty")),
            output.get("rounding"),
        )
    return found


def _wanted(path: Path, size: int) -> Storage:
    """Return the bytes of a file that nobody may change; of a large one as they are needed.

    Each file that is mapped holds a descriptor, and a process may have no more than 1024.
    """
    if size > LEAST_MAPPED:
        return np.memmap(path, np.uint8, "r")
    want: Storage = np.fromfile(path, np.uint8) if size else np.empty(0, np.uint8)
    want.flags.writeable = False
    return want


class _Notes:
    """Lines of JSON in a file, written by several threads."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()

    def say(self, what: Json) -> None:
        """Write one line and make sure that it survives this process."""
        with self._lock, self._path.open("a") as lines:
            lines.write(json.dumps(what) + "\n")

    def fault(self, key: str, error: Fault) -> None:
        """Write why a combination has no answers."""
        self.say({"key": key, "status": "no", **error.as_json()})


def answer_all(
    request: Json,
    open_device: Callable[[int], Gpu],
    leave: Callable[[int], int] = lambda status: status,
) -> int:
    """Answer every combination of a request; a line of JSON for each, in a file, as it is had.

    `leave` ends the process while all that was loaded is still there: to let go of a kernel that
    hangs would be to wait for it.
    """
    notes = _Notes(Path(request["folder"]) / "answers.jsonl")
    try:
        gpu = open_device(int(request.get("gpu", 0)))
        original = Original({**request, "promoted": _compiled(request)}, gpu)
    except Fault as error:
        notes.say({"key": "", "status": "error", **error.as_json()})
        return 1
    except DeviceError as error:
        failure = BaselineFailure(f"the original cannot be launched: {error}")
        notes.say({"key": "", "status": "error", **failure.as_json()})
        return 1
    asked = [
        Combination(item["case"], item["family"], int(item["seed"]))
        for item in request["combinations"]
    ]
    pending: dict[Future[None], int] = {}
    watch = capacities.Watch()
    for item in request.get("took", ()):
        watch.took(Combination(item["case"], item["family"], 0), float(item["seconds"]))
    status = 0
    for number, combination in enumerate(asked):
        for later in asked[number + 1 : number + 2]:
            original.contents.expect(later)
        if wider.wider(combination.family) is not None:
            _settle(pending, 0, 0)  # what narrower ranges come to tells whether it is asked at all
        notes.say({"key": combination.key, "status": "begun"})
        if objection := watch.objection(combination):
            if objection != capacities.LONGER:
                watch.failed(combination)
            notes.say({"key": combination.key, "status": "no", "message": objection})
            continue
        try:
            gathered = original.gather(combination)
        except (LaunchError, OutOfMemoryError) as error:
            watch.failed(combination)
            notes.say({"key": combination.key, "status": "no", "message": str(error)})
            continue
        except Fault as error:
            watch.failed(combination)
            notes.fault(combination.key, error)
            continue
        except DeviceError as error:
            notes.say({"key": combination.key, "status": "crash", "message": str(error)})
            status = 1
            break
        # A fresh world takes as long for a thousand elements as for one: of longer ones it says
        # nothing, and multiplied by their square it would be too much for all but the shortest.
        watch.took(combination, gathered.took or gathered.seconds)
        notes.say({"key": combination.key, "status": "ran"})
        pending[pool().submit(_digest, original, gathered, notes, watch)] = gathered.nbytes
        _settle(pending, AHEAD, AHEAD_BYTES)
    _settle(pending, 0, 0)
    return leave(status)


def _compiled(request: Json) -> Json | None:
    """Return the original in double precision, which is compiled while the device is opened."""
    path = Path(request["promoted"])
    deadline = time.monotonic() + TWIN_SECONDS
    while not path.is_file() and time.monotonic() < deadline:
        time.sleep(0.005)
    found: Json | None = json.loads(path.read_text()) if path.is_file() else None
    return found


def _digest(original: Original, gathered: Gathered, notes: _Notes, watch: capacities.Watch) -> None:
    try:
        notes.say(original.digest(gathered))
    except Fault as error:
        if wider.wider(gathered.combination.family) is not None:
            watch.failed(gathered.combination)
        notes.fault(gathered.combination.key, error)


def _settle(pending: dict[Future[None], int], most: int, most_bytes: int) -> None:
    """Wait until no more are pending, one however large it is; an error of ours comes up here."""
    while len(pending) > most or (len(pending) > 1 and sum(pending.values()) > most_bytes):
        for done in wait(pending, return_when=FIRST_COMPLETED).done:
            del pending[done]
            done.result()


def _leave(status: int) -> int:
    """End the process, and nothing else: taking a context with a hung kernel down waits for it."""
    sys.stderr.flush()
    os._exit(status)


def main(arguments: Sequence[str]) -> int:
    """Answer a request file on the GPU, one whose name comes on stdin behind `--wait GPU`."""
    from runners.device import CudaGpu

    if arguments[0] != "--wait":
        return answer_all(json.loads(Path(arguments[0]).read_text()), CudaGpu, _leave)
    gpu = CudaGpu(int(arguments[1]))
    named = sys.stdin.readline().strip()
    if not named:
        return 0
    return answer_all(json.loads(Path(named).read_text()), lambda _: gpu, _leave)


if __name__ == "__main__":
    _leave(main(sys.argv[1:]))
