"""Judges kernels on a GPU, beside untrusted code and without the rest of the project.

`python -I -m runners.worker JOBS.json RESULTS.json` reads requests and writes responses;
`python -I -m runners.worker --serve [--gpu N]` speaks JSON lines, one request at a time;
`python -I -m runners.worker --launch REQUEST.json` launches candidates for a profiler to watch.
`--strangers` refuses to run host code of candidates where nothing isolates it; `--images FOLDER`
names device code of our own that was built before.

It ends with exit status 75 after a candidate that cost it its CUDA context: start another.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TextIO

from runners import spec
from runners.fault import Fault
from runners.removal import TemporaryFolder
from runners.sandbox import Sandbox
from runners.spec import Json

EXIT_LOST = 75
MOST_LINE = 64 << 20
GRACE_SECONDS = 15.0
ORACLE_SECONDS = 300.0


class Worker:
    """One GPU's worker. The device is opened when the first request needs it.

    Host code of candidates, in entry functions and programs, is isolated from this process; where
    that is not possible `strangers` refuses to run it.
    """

    def __init__(self, gpu: int, scratch: Path, *, strangers: bool = False) -> None:
        self._number, self._scratch = gpu, scratch
        self._sandbox = Sandbox("stranger" if strangers else "own", inner=True)
        self._gpu: Any = None
        self._judge: Any = None
        self._building: Any = None
        self._founding = threading.Lock()
        self._profiles: dict[str, Any] = {}
        self._recent: Any = None
        self._opened: Any = None
        self.begin: Callable[[], None] = lambda: None
        self.more: Callable[[float], None] = lambda _seconds: None

    def close(self) -> None:
        """End what was started."""
        if self._judge is not None:
            self._judge.close()
        if self._opened is not None:
            self._opened.close()
        self._sandbox.close()

    def device(self) -> Any:
        """Return the opened device; raise `Fault` when there is none."""
        if self._gpu is None:
            from runners.device import CudaGpu

            self._gpu = CudaGpu(self._number)
        return self._gpu

    def warm_up(self) -> None:
        """Open the device ahead of the first request, which reports it if that fails."""
        with contextlib.suppress(Fault):
            self.device()

    def answer(self, request: Json) -> tuple[Json, bool]:
        """Return the response to a request, and whether this process has to end behind it."""
        head = _named(request)
        try:
            return self._operate(head, request)
        except Fault as fault:
            return {**head, "error": fault.as_json()}, False

    def _operate(self, head: Json, request: Json) -> tuple[Json, bool]:
        operation = request.get("op", "judge")
        if operation == "judge":
            return self._judged(head, request)
        if operation == "hello":
            if request.get("kernels") and self._judge is None and self._opened is None:
                from runners.answers import Opened

                self._opened = Opened(self._number)  # while this process opens the GPU, too
            return {**head, **self.device().facts}, False
        if operation == "calibrate":
            from runners.calibrate import peaks

            return {**head, **peaks(self.device())}, False
        if operation == "launch":
            from runners.launching import launch

            launch(request, self._number, self._scratch, self._build)
            return {**head, "launched": True}, False
        raise Fault("ConfigError", f"unknown operation {operation!r}")

    def _judged(self, head: Json, request: Json) -> tuple[Json, bool]:
        job = spec.parse(request.get("job") or {})
        seconds = float((request.get("limits") or {}).get("seconds", 120.0))
        head["digest"] = job.kernel.digest
        request = {**request}
        for which, source in (("baseline", job.baseline), ("candidate", job.kernel)):
            if request.get(which) is None:
                built = self._compiled(request["job"], source.source, listed=True)
                if "path" not in built and which == "candidate":
                    return {**head, "verdict": _does_not_compile(built), "stats": {}}, False
                if "path" not in built:
                    raise Fault(
                        "BaselineError",
                        f"the unedited kernel does not compile: {built.get('log', '')[-2000:]}",
                        "mend the kernel or its build flags",
                    )
                request[which] = built
        outside = _outside(request, job.work.kind)
        if outside:
            return {**head, "verdict": _rejected(outside), "stats": {}}, False
        if job.work.kind == "program":
            return self._program(head, request), False
        if self._judge is None:
            from runners.judge import Judge

            self._judge = Judge(
                self.device(),
                self._number,
                self._scratch,
                self._build,
                self._sandbox,
                self._shaken,
                self.device().meter,
                self._device_code,
                self._shaken_whole,
                self._plainer,
                self._for_races,
                self._marked,
                self._watched,
            )
            if self._opened is not None:
                self._judge.ask_first(self._opened)
        verdict, stats, lost = self._judge.verdict(request, job, seconds, self.begin, self.more)
        return {**head, "verdict": verdict, "stats": stats, "retire": lost}, lost

    def _program(self, head: Json, request: Json) -> Json:
        """Hand a whole program to the room that runs programs."""
        from runners import program, program_recent, program_run

        self._recent = self._recent or program_recent.Recent()
        context = {
            "device": self._number,
            "gpu": self.device().facts["gpu"],
            "profiles": self._profiles,
            "recent": self._recent,
            "meter": self.device().meter,
            "build": self._build,
            "device_code": self._device_code,
            "shaken": self._shaken_whole,
            "execute": program_run.sandboxed(self._sandbox),
            "watch": program_run.sandboxed(self._sandbox, profile="tool"),
            "more": self.more,
        }
        return {**head, "verdict": program.evaluate(request, context), "stats": {}}

    def _compiled(self, job: Json, text: str, *, listed: bool = False) -> Json:
        """Compile a source the dispatcher did not; the log alone comes back when it does not."""
        built: Json = self._builder().compiled(text, job, listed=listed)
        return built

    def _builder(self) -> Any:
        with self._founding:  # a confirmation compiles from several threads
            if self._building is None:
                from runners.building import Building

                self._building = Building(int(self.device().facts["sm"]), self._scratch)
            return self._building

    def _shaken(self, text: str, job: Json) -> Json | None:
        """Compile a kernel with delays in it."""
        built: Json | None = self._builder().shaken(text, job)
        return built

    def _shaken_whole(self, text: str, job: Json, seed: int) -> Json | None:
        """Compile an entry function or program with delays in it."""
        built: Json | None = self._builder().shaken_whole(text, job, seed)
        return built

    def _plainer(self, text: str, job: Json) -> Json | None:
        """Compile a kernel or entry function so that it does what its PTX says."""
        built: Json | None = self._builder().plainer(text, job)
        return built

    def _for_races(self, text: str, job: Json, which: str) -> Json | None:
        """Compile a kernel or entry function as racecheck understands it better."""
        built: Json | None = self._builder().for_races(text, job, which)
        return built

    def _marked(self, text: str, job: Json) -> Json | None:
        """Compile a kernel so that it marks which of its blocks run."""
        built: Json | None = self._builder().marked(text, job)
        return built

    def _watched(self, text: str, job: Json) -> Json | None:
        """Compile a kernel so that it keeps how near its comparisons came to the other outcome."""
        built: Json | None = self._builder().watched(text, job)
        return built

    def _device_code(self, text: str, job: Json) -> str | None:
        """Compile a source to PTX."""
        ptx: str | None = self._builder().device_code(text, job)
        return ptx

    def _build(self, text: str, job: Json) -> Json | None:
        """Compile a variant of our own making; None when it does not compile."""
        built = self._compiled(job, text)
        return built if "path" in built else None


def _does_not_compile(built: Json) -> Json:
    return {"status": "does not compile", "log": str(built.get("log", ""))[-20000:]}


def _outside(request: Json, kind: str) -> tuple[str, ...]:
    """Tell what a candidate's host code does beyond its original's, where it may not change."""
    accept = request["job"]["workload"].get("accept") or {}
    if kind == "kernel" or accept.get("edit_host"):
        return ()
    from runners.linkage import beyond

    try:
        data = [
            Path(str(request[which]["path"])).read_bytes() for which in ("candidate", "baseline")
        ]
    except OSError as error:
        raise Fault("RunnerError", f"an artifact cannot be read: {error}") from error
    return beyond(data[0], data[1])


def _rejected(reasons: tuple[str, ...]) -> Json:
    check = {"layer": "symbols", "what": "; ".join(reasons)[:2000], "passed": False}
    check |= {"error": None, "bound": None}
    return {"status": "rejected", "log": "\n".join(reasons)[:8000], "checks": [check]}


def _named(request: Json) -> Json:
    """Return what an answer is matched with; a NaN could not be said again."""
    named = {key: request.get(key) for key in ("id", "nonce")}
    return {key: one if isinstance(one, str | int) else None for key, one in named.items()}


def timed_out(request: Json, seconds: float) -> Json:
    """Return the response for a candidate that did not end in time."""
    head = _named(request)
    try:
        digest = spec.parse(request["job"]).kernel.digest
    except (Fault, KeyError):
        digest = ""
    log = f"no verdict after {seconds:.0f} s"
    verdict = {"status": "timed out", "log": log}
    return {**head, "digest": digest, "verdict": verdict, "stats": {}, "retire": True}


class Watchdog:
    """Answers in a worker's place when it does not, and ends the process.

    A kernel that never ends cannot be stopped from inside its process. `set` starts or restarts
    the time; a call into the driver may block with the interpreter's lock held, where no thread
    can bark, so an alarm whose default action ends the process stands behind the thread.
    """

    def __init__(self, bark: Callable[[float], None]) -> None:
        self._bark = bark
        self._timer: threading.Timer | None = None
        self._ends = self._seconds = 0.0

    def set(self, seconds: float) -> None:
        """Bark that many seconds from now, and some grace, unless set again or stopped."""
        self._seconds = seconds
        self._start(seconds)

    def lend(self, seconds: float) -> None:
        """Bark so many seconds later than it would, or earlier where they are negative."""
        self._seconds += seconds
        self._start(max(0.0, self._ends - time.monotonic() + seconds))

    def _start(self, seconds: float) -> None:
        self.stop()
        self._ends = time.monotonic() + seconds
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(int(seconds + 2 * GRACE_SECONDS) + 1)
        timer = threading.Timer(seconds + GRACE_SECONDS, self._bark, (self._seconds,))
        timer.daemon = True
        self._timer = timer
        timer.start()

    def stop(self) -> None:
        """Let the process live."""
        signal.alarm(0)
        if self._timer is not None:
            self._timer.cancel()


def guarded(worker: Worker, request: Json, say: Callable[[Json], None]) -> bool:
    """Answer under a watchdog; return whether the process has to end.

    The time that the oracle takes, once a workload, comes out of no candidate's limit.
    """
    limits = request.get("limits")
    limit = limits.get("seconds", 120.0) if isinstance(limits, dict) else 120.0
    done = threading.Lock()

    def bark(seconds: float) -> None:
        if done.acquire(blocking=False):
            say(timed_out(request, seconds))
            os._exit(EXIT_LOST)

    watchdog = Watchdog(bark)
    seconds = float(limit) if isinstance(limit, int | float) and 0 < limit < 86400 else 120.0
    watchdog.set(seconds + ORACLE_SECONDS)
    worker.begin = lambda: watchdog.set(seconds)
    worker.more = watchdog.lend
    try:
        response, lost = worker.answer(request)
    finally:
        watchdog.stop()
    if not done.acquire(blocking=False):
        threading.Event().wait()  # the watchdog is ending the process
    say(response)
    return lost


def serve(worker: Worker, lines: TextIO, out: TextIO) -> int:
    """Answer JSON lines until the other side closes; return the exit status."""

    def say(response: Json) -> None:
        out.write(json.dumps(response, allow_nan=False, separators=(",", ":")) + "\n")
        out.flush()

    while line := lines.readline(MOST_LINE):
        if not line.strip():
            continue
        try:
            request = json.loads(line)
        except (ValueError, RecursionError) as error:
            request = error
        if not isinstance(request, dict):
            say({"error": Fault("ConfigError", "a request is a JSON object a line").as_json()})
            continue
        if guarded(worker, request, say):
            return EXIT_LOST
    return 0


def judge_file(worker: Worker, jobs: Path, results: Path) -> int:
    """Answer the requests of a file; results are complete up to the last one answered."""
    try:
        data = json.loads(jobs.read_text())
    except OSError as error:
        sys.stderr.write(f"{jobs}: {error.strerror}\n")
        return 2
    except ValueError as error:
        sys.stderr.write(f"{jobs}: {error}\n")
        return 2
    requests = data.get("jobs") if isinstance(data, dict) else data
    if not isinstance(requests, list) or not all(isinstance(r, dict) for r in requests):
        sys.stderr.write(f"{jobs}: a list of requests was expected\n")
        return 2
    answered: list[Json] = []

    def say(response: Json) -> None:
        answered.append(response)
        fresh = results.with_name(f".{results.name}.{os.getpid()}")
        fresh.write_text(json.dumps({"version": 1, "results": answered}, allow_nan=False))
        fresh.replace(results)

    for number, request in enumerate(requests):
        if guarded(worker, request, say) and number + 1 < len(requests):
            # The context is gone: the remaining requests go to a process of their own.
            return _rest(requests[number + 1 :], say)
    return 0


def _rest(requests: list[Json], say: Callable[[Json], None]) -> int:
    import subprocess

    from runners.answers import module_command

    with tempfile.TemporaryDirectory(prefix="optiml-") as folder:
        jobs, results = Path(folder) / "jobs.json", Path(folder) / "results.json"
        jobs.write_text(json.dumps(requests))
        command = module_command("runners.worker", str(jobs), str(results))
        status = subprocess.run(command, check=False).returncode
        if results.is_file():
            for response in json.loads(results.read_text())["results"]:
                say(response)
    return status


def main(arguments: list[str]) -> int:
    """Run as a program; see the module's text for its forms."""
    gpu = 0
    if "--gpu" in arguments:
        at = arguments.index("--gpu")
        gpu = int(arguments[at + 1])
        del arguments[at : at + 2]
    if "--images" in arguments:
        from runners import images

        at = arguments.index("--images")
        images.take_over(Path(arguments[at + 1]))
        del arguments[at : at + 2]
    strangers = "--strangers" in arguments
    arguments = [argument for argument in arguments if argument != "--strangers"]
    with TemporaryFolder(prefix="optiml-worker-") as name:
        worker = Worker(gpu, Path(name), strangers=strangers)
        try:
            if arguments == ["--serve"]:
                protocol = os.fdopen(os.dup(1), "w")
                os.dup2(2, 1)  # stray prints must not end up among the answers
                if not select.select([sys.stdin], [], [], 0)[0]:  # else it is about to be opened
                    worker.warm_up()
                return serve(worker, sys.stdin, protocol)
            if len(arguments) == 2 and arguments[0] == "--launch":
                return _launch(worker, Path(arguments[1]))
            if len(arguments) == 2:
                return judge_file(worker, *(Path(argument) for argument in arguments))
            sys.stderr.write(f"{__doc__}\n")
            return 2
        finally:
            worker.close()


def _launch(worker: Worker, path: Path) -> int:
    """Launch the candidates of a request file, one or several."""
    data = json.loads(path.read_text())
    requests = data.get("requests", [data])
    for request in requests:
        response, _ = worker.answer({**request, "op": "launch"})
        if "error" in response:
            sys.stderr.write(f"{response['error']['message']}\n")
    return 0


if __name__ == "__main__":
    status = main(sys.argv[1:])
    sys.stdout.flush()
    # After a sticky error, tearing the context down can block: leave at once.
    os._exit(status) if status == EXIT_LOST else sys.exit(status)
