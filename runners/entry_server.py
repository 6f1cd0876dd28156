"""Entry functions run here, in a process of their own: host code of a candidate is in it.

The process has a sandbox within the worker's: it sees the compiled pair, the project and one folder
to write outputs to, but neither the worker's processes nor its expected answers, nonces and
results. It speaks JSON lines with the worker, which `runners.entry_process` is the other end of,
and writes outputs to files. The protocol's descriptor is duplicated away first, so that what an
entry function prints goes nowhere.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import sys
from dataclasses import asdict, astuple
from pathlib import Path
from typing import TextIO

import numpy as np

from runners import spec
from runners.allocations import Allocations
from runners.beyond import Found
from runners.clocks import Clocks
from runners.compare import Answer
from runners.contents import Combination
from runners.cuda_types import Storage
from runners.fault import Fault
from runners.gpu import DeviceError, HungError
from runners.launchable import EntryLaunchable
from runners.nvml import Unmeasured
from runners.run import Run
from runners.session import Benches, Burning, Guiding, LocalSession, Timed
from runners.spec import Json
from runners.stage import Findings, Limit
from runners.timing import Rule


def _write(folder: Path, name: str, data: Storage) -> Json:
    """Put bytes into a file for the worker."""
    path = folder / f"{name}.bytes"
    data.tofile(path)
    return {"file": path.name, "bytes": int(data.nbytes)}


def _keep_pools(gpu: int) -> None:
    """Have memory pools keep what is freed: else each synchronization gives it back for long.

    That would be taken for work that goes on behind the stream.
    """
    with contextlib.suppress(OSError, AttributeError):
        library = ctypes.CDLL("libcuda.so.1")
        pool, device, all_of_it = ctypes.c_void_p(), ctypes.c_int(), ctypes.c_uint64(2**64 - 1)
        if not library.cuDeviceGet(ctypes.byref(device), gpu) and not (
            library.cuDeviceGetDefaultMemPool(ctypes.byref(pool), device)
        ):
            threshold = 4  # CU_MEMPOOL_ATTR_RELEASE_THRESHOLD
            library.cuMemPoolSetAttribute(pool, threshold, ctypes.byref(all_of_it))


class _Server:
    """Answers requests about one loaded pair at a time."""

    def __init__(self, folder: Path, gpu: int, counter: Path | None) -> None:
        from runners.device import CudaGpu

        self._folder = folder
        self._gpu = CudaGpu(gpu)
        _keep_pools(gpu)
        allocations = None
        if counter is not None:
            with contextlib.suppress(OSError, AttributeError):
                allocations = Allocations(counter)
        self._benches = Benches(self._gpu, allocations=allocations)
        self._session: LocalSession | None = None
        self._burning: Burning | None = None
        self._guiding: Guiding | None = None
        self._clocks: Clocks | None = None

    def answer(self, request: Json) -> Json:
        """Do what a request says and return the response."""
        operation = request["op"]
        if operation == "load":
            return self._load(request)
        if self._session is None:
            return {"error": "DeviceError", "message": "nothing is loaded"}
        if operation == "renew" and request["combination"] is None:
            return {"renewed": self._session.renewed()}
        if operation == "move":
            return self._move(float(request["seconds"]))
        item = request["combination"]
        combination = Combination(item["case"], item["family"], int(item["seed"]))
        if operation == "renew":
            return {"renewed": self._session.renewed(combination)}
        if operation == "run":
            run = self._session.run(
                combination,
                nan=bool(request["nan"]),
                beside=bool(request["beside"]),
                seconds=float(request["seconds"]),
            )
            return self._ran(run, "run")
        if operation == "nearest":
            return self._nearest(self._session, combination, float(request["seconds"]))
        if operation in {"row", "moved"}:
            return self._several(self._session, combination, request)
        if operation in {"holdings", "many"}:
            return self._over_and_over(self._session, combination, request)
        if operation == "beyond":
            return asdict(self._beyond(self._session, request))
        if operation == "burn":
            return self._burn(request)
        if operation == "quench":
            return self._found(self._quenched())
        limits = {name: Limit(*pair) for name, pair in request["limits"].items()}
        if operation == "burning":
            self._burning = self._session.burning(combination, limits, float(request["seconds"]))
            return {"ready": True}
        rule = Rule(**request["rule"])
        timed = self._session.time(combination, limits, rule, float(request["seconds"]))
        return self._timed(timed)

    def _over_and_over(
        self, session: LocalSession, combination: Combination, request: Json
    ) -> Json:
        """Call one of the pair many times: what it holds behind each, or how often it was."""
        terms = int(request["calls"]), float(request["seconds"]), float(request["patience"])
        if request["op"] == "many":
            return {"made": session.many(combination, *terms)}
        held = session.holdings(combination, *terms, original=bool(request["original"]))
        return {"held": None if held is None else [astuple(one) for one in held]}

    def _nearest(self, session: LocalSession, combination: Combination, seconds: float) -> Json:
        """Run a candidate that keeps how near its comparisons came to the other outcome."""
        self._guiding = self._guiding or session.guided()
        return {"nearest": self._guiding.run(combination, seconds=seconds).tobytes().hex()}

    def _several(self, session: LocalSession, combination: Combination, request: Json) -> Json:
        """Run the candidate one call behind the other: on other inputs, or on moved buffers."""
        nan, seconds = bool(request["nan"]), float(request["seconds"])
        if request["op"] == "moved":
            names = [str(name) for name in request["names"]]
            runs = session.moved(combination, names, nan=nan, seconds=seconds)
        else:
            row = [Combination(o["case"], o["family"], int(o["seed"])) for o in request["row"]]
            runs = session.row(
                row,
                nan=nan,
                apart=bool(request["apart"]),
                seconds=seconds,
                held_ns=int(request["held_ns"]),
                keeps=bool(request["keeps"]),
                before=int(request["before"]),
                by_turns=bool(request["by_turns"]),
            )
        return {"runs": [self._ran(one, f"row-{number}") for number, one in enumerate(runs)]}

    def _load(self, request: Json) -> Json:
        self._quenched()  # a pair that was given up half way
        self._move(0.0)
        self._benches.fills(on=bool(request.get("filled")))
        job = spec.parse(request["job"])
        pair = request["candidate"], request["baseline"]
        self._session = self._benches.session(job, *pair, self._folder)
        self._guiding = None
        given = self._with_clocks(self._session, str(request.get("clocks") or ""))
        return {"loaded": True, "clocks": given}

    def _move(self, seconds: float) -> Json:
        if self._clocks is not None:
            self._clocks.move(seconds)
        return {"moved": self._clocks is not None}

    def _with_clocks(self, session: LocalSession, path: str) -> int:
        """Give the candidate clocks that can be moved on; return at how many places it asks them.

        Those of a pair that is not to have them are its process's own: nothing of it is touched.
        """
        mine = session.candidate
        if not path or not isinstance(mine, EntryLaunchable):
            return 0
        with contextlib.suppress(OSError, AttributeError):
            self._clocks = self._clocks or Clocks(Path(path))
            return self._clocks.take(mine.library)
        return 0

    def _beyond(self, session: LocalSession, request: Json) -> Found:
        """Run both far beyond the declared: what an index that overflows makes is no rounding."""
        nothing = np.zeros(0, np.uint8)
        answers = {
            a.name: Answer(
                a.name,
                a.type,
                nothing,
                (None,) * len(a.type.fields),
                unordered=bool(request["outputs"][a.name]),
            )
            for a in session.arguments
            if a.name in request["outputs"]
        }
        changed = {str(name): float(value) for name, value in request["changed"].items()}
        return session.beyond(changed, answers, int(request["limit"]))

    def _ran(self, run: Run, name: str) -> Json:
        outputs = {
            argument: _write(self._folder, f"{name}-{number}", data)
            for number, (argument, data) in enumerate(run.outputs.items())
        }
        return {
            "outputs": outputs,
            "damage": asdict(run.damage),
            "late_us": run.late_us,
            "poison": run.poison,
        }

    def _burn(self, request: Json) -> Json:
        if self._burning is None:
            return {"error": "DeviceError", "message": "nothing is ready to run"}
        second = bool(request["second_of_pair"])
        marks = self._burning.burn(
            int(request["which"]), float(request["seconds"]), second_of_pair=second
        )
        return {"marks": marks}

    def _quenched(self) -> Findings:
        burning, self._burning = self._burning, None
        return burning.quench() if burning is not None else Findings()

    def _timed(self, timed: Timed) -> Json:
        return {
            **self._found(timed.findings),
            "samples": asdict(timed.samples),
            "launches": timed.launches,
            "memory_bytes": [timed.memory_bytes, timed.baseline_memory_bytes],
            "temperature_c": timed.temperature_c,
        }

    def _found(self, found: Findings) -> Json:
        suspects = [
            {
                "output": suspect.output,
                "why": suspect.why,
                "shifts": suspect.shifts,
                "got": _write(self._folder, f"got-{number}", suspect.got),
                "want": _write(self._folder, f"want-{number}", suspect.want),
            }
            for number, suspect in enumerate(found.suspects)
        ]
        return {
            "checked": found.checked,
            "damage": asdict(found.damage),
            "largest": found.largest,
            "suspects": suspects,
        }


def serve(folder: Path, gpu: int, lines: TextIO, out: TextIO, counter: Path | None = None) -> None:
    """Say that it is ready; answer until the worker closes its end or the device is lost.

    `counter` is the library that counts allocations, if there is one.
    """
    try:
        server = _Server(folder, gpu, counter)
    except Fault as error:
        out.write(json.dumps({"fault": error.as_json()}) + "\n")
        out.flush()
        return
    out.write(json.dumps({"ready": True}) + "\n")
    out.flush()
    for line in lines:
        lost = False
        try:
            response = server.answer(json.loads(line))
        except Fault as error:
            response = {"fault": error.as_json()}
        except DeviceError as error:
            response = {"error": type(error).__name__, "message": str(error)}
            lost = type(error) in {DeviceError, HungError}
        except Unmeasured as why:
            response = {"unmeasured": str(why)}
        out.write(json.dumps(response) + "\n")
        out.flush()
        if lost:
            os._exit(75)


def main(folder: Path, gpu: int, counter: Path | None = None) -> None:
    """Take standard output for the protocol and give everybody else the void."""
    protocol = os.fdopen(os.dup(1), "w")
    void = os.open(os.devnull, os.O_WRONLY)
    os.dup2(void, 1)
    serve(folder, gpu, sys.stdin, protocol, counter)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3]) if len(sys.argv) > 3 else None)
