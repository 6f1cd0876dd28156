"""A fleet without GPUs: a scheduler and workers in processes of their own, on loopback.

As a program it is one worker: `python fleet_fakes.py ADDRESS NAME LOG [GPU]`. What it does with a
candidate, the candidate's source says.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, Self

from distributed import Scheduler, Worker

from optimizer.errors import BaselineError
from optimizer.model import CaseTimes, Kernel, Kind, Measurement, Status, Verdict, Workload
from runners.fleet_worker import DEPTH, Bench, BenchPlugin, Card, serve
from runners.health import Sick
from runners.interfaces import Dispatcher, Job

BASE = Kernel("k", "base", "k.cu")
CARD = Card("Fake H200", "580", "13.0", "1", "here", peaks={"dram_gbs": 4000.0})


def job(source: str, root: str = ".", kind: Kind = Kind.KERNEL) -> Job:
    return Job(Kernel("k", source, "k.cu"), BASE, Workload("w", kind, "k", root=root))


class Obedient:
    """Judges as the source says: `slow SECONDS` sleeps, `bad` is the baseline's fault, `poison`
    ends the process."""

    def __init__(self, name: str, log: Path | None = None) -> None:
        self._name, self._log = name, log
        self.judged: list[str] = []
        self._one = threading.Lock()

    def dispatch(self, jobs: Sequence[Job]) -> Sequence[Verdict]:
        return [self._judge(one) for one in jobs]

    def _judge(self, job: Job) -> Verdict:
        source = job.kernel.source
        with self._one:
            self.judged.append(source)
            self._note("begin", source)
            words = source.split()
            if "slow" in words:
                time.sleep(float(words[words.index("slow") + 1]))
            if "poison" in words:
                os.kill(os.getpid(), signal.SIGKILL)
            if "bad" in words:
                raise BaselineError("it never worked", "mend it")
            if "header" in words:
                source += Path(job.workload.root, "k.h").read_text()
            self._note("end", job.kernel.source)
        times = CaseTimes("n=1", (1.0,), (2.0,))
        measured = Measurement((times,), CARD.gpu, notes=(self._name,))
        return Verdict(Status.CORRECT, measured, log=source)

    def _note(self, what: str, source: str) -> None:
        if self._log is not None:
            with self._log.open("a") as file:
                file.write(json.dumps([self._name, what, source]) + "\n")


class Feverish:
    """Watches a GPU that is sick as often as it is told, in words that are given."""

    def __init__(self, words: str, times: int, *, for_good: bool = False) -> None:
        self._words, self._left, self._for_good = words, times, for_good

    def begin(self) -> Callable[[], None]:
        def end() -> None:
            self._left -= 1
            if self._left >= 0:
                raise Sick(self._words, for_good=self._for_good)

        return end


async def joined(address: str, bench: Bench, security: Any = None) -> Worker:
    """Return a worker of this process that has joined a scheduler."""
    made: Worker = await Worker(
        address, nthreads=DEPTH, resources={"GPU": 1.0}, memory_limit=0,
        host="127.0.0.1", plugins=(BenchPlugin(bench),), dashboard=False,
        dashboard_address="127.0.0.1:0", security=security,
        local_directory=tempfile.gettempdir(),
    )  # fmt: skip
    return made


class Here:
    """A scheduler and workers in one thread of this process: many of them cost little.

    `guests` are called before the scheduler of any goes away.
    """

    guests: ClassVar[list[Callable[[], None]]] = []

    def __init__(self, benches: Sequence[Bench], security: Any = None) -> None:
        self._benches, self._security = list(benches), security
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self.workers: list[Worker] = []
        self.address = self._call(self._open())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        while self.guests:
            self.guests.pop()()
        self._call(self._close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()

    def join(self, bench: Bench) -> None:
        self._call(self._join(bench))

    def _call(self, work: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(60)

    async def _open(self) -> str:
        self._scheduler = await Scheduler(
            host="127.0.0.1",
            port=0,
            dashboard=False,
            dashboard_address="127.0.0.1:0",
            security=self._security,
        )
        for bench in self._benches:
            await self._join(bench)
        return str(self._scheduler.address)

    async def _join(self, bench: Bench) -> None:
        self.workers.append(await joined(self._scheduler.address, bench, self._security))

    async def _close(self) -> None:
        for worker in self.workers:
            await worker.close(nanny=False)
        await self._scheduler.close()


class Elsewhere:
    """A worker in a thread of its own: one that hangs holds nobody else up."""

    def __init__(self, address: str, bench: Bench) -> None:
        self._address, self._bench = address, bench
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        self._worker = asyncio.run_coroutine_threadsafe(self._join(), self._loop).result(60)
        return self

    def __exit__(self, *_: object) -> None:
        closing = self._worker.close(nanny=False)
        asyncio.run_coroutine_threadsafe(closing, self._loop).result(60)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()

    async def _join(self) -> Worker:
        return await joined(self._address, self._bench)


class Cluster:
    """A scheduler and workers in processes of their own, to be killed, stopped and restarted."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._port = folder, 0
        self.log = folder / "log.jsonl"
        self._running: dict[str, subprocess.Popen[str]] = {}

    @property
    def address(self) -> str:
        return f"tcp://127.0.0.1:{self._port}"

    def schedule(self) -> None:
        command = [sys.executable, "-m", "bot", "scheduler", "--port", str(self._port)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        self._running["scheduler"] = process
        assert process.stdout is not None
        line = process.stdout.readline()
        assert "scheduler at" in line, line
        self._port = int(line.rsplit(":", 1)[1])

    def join(self, name: str, gpu: str = CARD.gpu) -> None:
        command = [sys.executable, __file__, self.address, name, str(self.log), gpu]
        self._running[name] = subprocess.Popen(command, text=True, cwd=self._folder)

    def signal(self, name: str, number: signal.Signals) -> None:
        self._running[name].send_signal(number)
        if number is signal.SIGKILL:
            self._running.pop(name).wait(10)

    def events(self) -> list[list[str]]:
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        return [json.loads(line) for line in lines]

    def wait_for(self, *event: str, seconds: float = 20.0) -> None:
        deadline = time.monotonic() + seconds
        while not any(all(part in seen for part in event) for seen in self.events()):
            assert time.monotonic() < deadline, (event, self.events())
            time.sleep(0.02)

    def close(self) -> None:
        for process in self._running.values():
            process.send_signal(signal.SIGCONT)
            process.kill()
        for process in self._running.values():
            process.wait(10)
            if process.stdout is not None:
                process.stdout.close()


@contextlib.contextmanager
def cluster(folder: Path, names: Sequence[str]) -> Iterator[Cluster]:
    made = Cluster(folder)
    try:
        made.schedule()
        for name in names:
            made.join(name)
        yield made
    finally:
        made.close()


def bench(name: str, dispatcher: Dispatcher | None = None, **changes: Any) -> Bench:
    card = replace(CARD, host=name, **changes)
    return Bench(dispatcher or Obedient(name), card, None, Path(tempfile.mkdtemp()))


def main(address: str, name: str, log: str, gpu: str) -> None:
    asyncio.run(serve(address, bench(name, Obedient(name, Path(log)), gpu=gpu), host="127.0.0.1"))


if __name__ == "__main__":
    main(*sys.argv[1:])
