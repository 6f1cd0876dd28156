"""A GPU of a fleet: joins a scheduler of dask.distributed and judges the jobs that it is sent.

The judging is a dispatcher's, as on one host: each candidate runs in a sandboxed process of its own
that can be killed. Needs the extra `fleet`.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import logging
import math
import re
import tempfile
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import CancelledError, Future
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import dask
from distributed import Scheduler, Security, Worker, WorkerPlugin, get_worker
from pydantic import TypeAdapter

from optimizer.errors import OptimlError, RunnerError
from optimizer.model import Status
from runners import wire
from runners.awaited import Awaited
from runners.health import Sick, Unwatched, Watched
from runners.interfaces import Dispatcher, Job
from runners.parcel import Parcel, projects_folder, unpack

PLUGIN = "optiml-bench"
# Of one GPU: a job that is timed, and the next ones, which are compiled meanwhile.
DEPTH = 3
# What a job takes of a worker's `GPU=1`: less than its part, since sums of thirds are not exact.
SHARE = 0.9 / DEPTH
# Answers kept for a question that comes again: its first answer may have been lost on the way.
KEPT = 256
JOIN_SECONDS = 10.0
# Without a sign of a worker for so long, the scheduler forgets it.
WORKER_SECONDS = "60s"
LONGEST_PAUSE = 5.0
MOST_CARD_BYTES = 64 << 10
_DIGEST = re.compile(r"[0-9a-f]{64}|")


@dataclass(frozen=True, slots=True)
class Card:
    """What a GPU is: it travels with every measurement, and only equals are compared.

    `peaks` are measured on that very GPU, `facts` are what the driver says of it. `recorded` says
    where answers come from when they are a recording's.
    """

    gpu: str = ""
    driver: str = ""
    toolkit: str = ""
    optiml: str = ""
    host: str = ""
    profile: bool = False
    peaks: Mapping[str, float] = field(default_factory=dict[str, float])
    facts: Mapping[str, float] = field(default_factory=dict[str, float])
    recorded: str = ""

    @property
    def kind(self) -> tuple[str, str, str, str]:
        """Return what must be equal for two measurements to be comparable."""
        return (self.gpu, self.driver, self.toolkit, self.optiml)

    @property
    def digest(self) -> str:
        """Identify it."""
        return hashlib.sha256(_CARD.dump_json(self)).hexdigest()[:16]

    def as_json(self) -> str:
        """Return it as JSON text."""
        return _CARD.dump_json(self).decode()


_CARD: TypeAdapter[Card] = TypeAdapter(Card)


def card_from_json(text: str) -> Card:
    """Read a card. Raise `RunnerError` if it is none, or says what no GPU is."""
    try:
        card = _CARD.validate_json(text if len(text) <= MOST_CARD_BYTES else "")
    except ValueError as error:
        raise RunnerError(f"a worker describes itself in words not understood: {error}") from error
    # What is compared with a peak that is no number is equal to nothing, or to everything.
    peaks = all(0 < one < math.inf for one in card.peaks.values())
    if not peaks or not all(map(math.isfinite, card.facts.values())):
        raise RunnerError("a worker describes itself in numbers that are none")
    return card


class Bench:
    """One GPU behind its dispatcher. Judges a question once, however often it is asked.

    `watched` looks after the GPU: what was measured while it throttled or lost memory bits is told
    as such and does not count. May be asked from several threads.
    """

    def __init__(
        self,
        dispatcher: Dispatcher,
        card: Card,
        watched: Watched | None = None,
        folder: Path | None = None,
    ) -> None:
        self.card = card
        self.broken = ""
        self._dispatcher, self._watched = dispatcher, watched or Unwatched()
        self._folder = folder
        self._lock = threading.Lock()
        self._answers: OrderedDict[str, Future[dict[str, Any]]] = OrderedDict()
        self._running: dict[str, Awaited] = {}
        # Machine code that other GPUs have judged, by what for; and what for of jobs that are here.
        self._told: OrderedDict[str, set[str]] = OrderedDict()
        self._asked_for: dict[int, Sequence[str]] = {}

    def judge(self, text: str, data: bytes | None) -> str:
        """Answer one question; `data` are the project's files where this GPU may not have them."""
        asked = json.loads(text)
        number = str(asked["id"])
        with self._lock:
            answer = self._answers.get(number)
            first = answer is None
            if answer is None:
                answer = self._answers[number] = Future()
                while len(self._answers) > KEPT:
                    self._answers.popitem(last=False)
        if first:
            try:
                body = self._body(number, asked, data)
            except BaseException as error:  # who asks again must not wait for ever
                with self._lock:
                    self._answers.pop(number, None)
                answer.set_exception(error)
                raise
            answer.set_result(body)
            if "verdict" not in body:
                with self._lock:
                    self._answers.pop(number, None)
        return json.dumps({**answer.result(), "id": number, "nonce": asked["nonce"]})

    def withdraw(self, number: str) -> bool:
        """Let go of a job that has not begun; tell whether that was so."""
        with self._lock:
            running = self._running.get(number)
        return running is not None and running.cancel(0)

    def elsewhere(self, job: Job, code: str) -> bool:
        """Tell whether another GPU is known to have judged machine code for what a job asks."""
        with self._lock:
            known = self._asked_for.get(id(job), ())
            return any(code in self._told.get(one, ()) for one in known)

    def held(self) -> list[str]:
        """Return the jobs that are here now."""
        with self._lock:
            return list(self._running)

    def _body(self, number: str, asked: Mapping[str, Any], data: bytes | None) -> dict[str, Any]:
        try:
            folder = self._unpacked(str(asked["project"]), data)
            if folder is None:
                return {"missing": True}
            job = wire.job_from_json(json.dumps(asked["job"]))
            root = (folder / job.workload.root).resolve()
            if not root.is_relative_to(folder.resolve()):
                raise RunnerError("a project is not among the files that came with it")
            here = replace(job, workload=replace(job.workload, root=str(root)))
            with self._lock:
                self._asked_for[id(here)] = self._learn(asked.get("told", {}))
            try:
                return self._judged(number, here)
            finally:
                with self._lock:
                    del self._asked_for[id(here)]
        except OptimlError as error:
            fault = {
                "type": type(error).__name__, "message": error.message, "remedy": error.remedy
            }  # fmt: skip
            return {"error": fault, "card": self.card.digest}
        except OSError as error:  # a full disk, no processes left: not the candidate's doing
            return {"unfit": f"its host: {error.strerror or error}"[:300], "for_good": False}

    def _learn(self, told: Mapping[str, Sequence[str]]) -> Sequence[str]:
        for judged_for, codes in told.items():
            self._told.setdefault(judged_for, set()).update(map(str, codes))
            self._told.move_to_end(judged_for)
        while len(self._told) > KEPT:
            self._told.popitem(last=False)
        return list(told)

    def _judged(self, number: str, job: Job) -> dict[str, Any]:
        looked = self._watched.begin()
        answers = self._dispatcher.dispatch([job])
        try:
            with self._lock:
                if isinstance(answers, Awaited):
                    self._running[number] = answers
            verdict = answers[0]
        except CancelledError:
            return {"withdrawn": True}
        finally:
            with self._lock:
                self._running.pop(number, None)
        try:
            looked()
        except Sick as sick:
            if sick.for_good:
                self.broken = str(sick)
            return {"unfit": str(sick), "for_good": sick.for_good}
        if verdict.status is Status.NOT_RECORDED and self.elsewhere(job, verdict.machine_code):
            body: dict[str, Any] = {"digest": job.kernel.digest, "twin": verdict.machine_code}
            return body | {"card": self.card.digest}
        return {
            "digest": job.kernel.digest,
            "verdict": wire.verdict_to_dict(verdict),
            "card": self.card.digest,
        }

    def _unpacked(self, digest: str, data: bytes | None) -> Path | None:
        if not _DIGEST.fullmatch(digest):
            raise RunnerError(f"{digest[:80]!r} names no project")
        if self._folder is None:
            self._folder = projects_folder()
        if data is None and not (self._folder / (digest or "empty")).is_dir() and digest:
            return None
        return unpack(Parcel(digest, data or b""), self._folder)


class BenchPlugin(WorkerPlugin):
    """Ties a bench to the worker object that a scheduler knows, of which there may be several."""

    name = PLUGIN

    def __init__(self, bench: Bench) -> None:
        self.bench = bench


def judge(text: str, data: bytes | None) -> str:
    """Answer one question on the worker that this task was sent to."""
    plugin = get_worker().plugins[PLUGIN]
    if not isinstance(plugin, BenchPlugin):
        raise TypeError(PLUGIN)
    return plugin.bench.judge(text, data)


def describe(dask_worker: Any) -> str:
    """Return a worker's card; empty for a worker that has no bench."""
    plugin = dask_worker.plugins.get(PLUGIN)
    return plugin.bench.card.as_json() if plugin is not None else ""


def held(dask_worker: Any) -> list[str]:
    """Return the jobs on a worker: also the sign that it lives."""
    return list(dask_worker.plugins[PLUGIN].bench.held())


def withdraw(number: str, dask_worker: Any) -> bool:
    """Let a worker forget a job that it has not begun."""
    return bool(dask_worker.plugins[PLUGIN].bench.withdraw(number))


# What dask.distributed does by itself and is not wanted beside a GPU that is timed.
QUIET: Mapping[str, object] = {
    "distributed.worker.profile.enabled": False,
    "distributed.diagnostics.nvml": False,
    "distributed.diagnostics.computations.max-history": 1,
    "distributed.admin.tick.interval": "1s",
    "distributed.admin.system-monitor.interval": "10s",
    "distributed.worker.memory.target": False,
    "distributed.worker.memory.spill": False,
    "distributed.worker.memory.pause": False,
    "distributed.worker.memory.terminate": False,
}


def quiet() -> None:
    """Have dask.distributed say what went wrong, and not each coming and going."""
    logging.getLogger("distributed").setLevel(logging.ERROR)


async def serve(
    address: str,
    bench: Bench,
    *,
    security: Security | None = None,
    host: str | None = None,
    name: str | None = None,
    say: Callable[[str], None] = lambda _: None,
) -> None:
    """Judge what a scheduler sends, joining it again whenever it was gone; ends by cancellation.

    Also ends, with `NoDeviceError`, when the GPU is no longer fit to measure anything.
    """
    quiet()
    pause, folder = 0.2, tempfile.mkdtemp(prefix="optiml-fleet-")
    with dask.config.set(QUIET):
        while not bench.broken:
            worker = Worker(
                address, nthreads=DEPTH, resources={"GPU": 1.0}, memory_limit=0, host=host,
                security=security, plugins=(BenchPlugin(bench),), name=name,
                dashboard=False,
                dashboard_address="127.0.0.1:0",
                local_directory=folder, death_timeout=JOIN_SECONDS,
            )  # fmt: skip
            try:
                await worker
                say(f"{bench.card.gpu} joined {address} as {worker.address}")
                pause = 0.2
                await _until_gone(worker, bench)
            except (OSError, TimeoutError, RuntimeError) as error:
                say(f"no scheduler answers at {address}, trying again: {error}")
            finally:
                with contextlib.suppress(OSError, TimeoutError):
                    await asyncio.wait_for(worker.close(nanny=False), JOIN_SECONDS)
            await asyncio.sleep(pause)
            pause = min(LONGEST_PAUSE, 2 * pause)
    raise RunnerError(
        f"this GPU is no longer fit to measure: {bench.broken}", "see `nvidia-smi -q`"
    )


async def _until_gone(worker: Worker, bench: Bench) -> None:
    gone = asyncio.ensure_future(worker.finished())  # type: ignore[no-untyped-call]
    while not bench.broken:
        done, _ = await asyncio.wait([gone], timeout=0.5)
        if done:
            return
    gone.cancel()


async def schedule(
    host: str,
    port: int,
    *,
    security: Security | None = None,
    say: Callable[[str], None] = lambda _: None,
) -> None:
    """Bring workers and searches together until cancelled. Raise `RunnerError` for a taken port."""
    quiet()
    with dask.config.set({**QUIET, "distributed.scheduler.worker-ttl": WORKER_SECONDS}):
        try:
            async with Scheduler(
                host=host,
                port=port,
                security=security,
                dashboard=False,
                dashboard_address="127.0.0.1:0",
            ) as scheduler:
                say(f"scheduler at {scheduler.address}")
                await scheduler.finished()
        except OSError as error:
            raise RunnerError(f"cannot listen at {host}:{port}: {error}") from error
