"""Takes jobs to the GPUs of this host: compile side by side, run on warm workers, profile last."""

from __future__ import annotations

import json
import math
import secrets
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol, Self

from optimizer.errors import NoDeviceError, RunnerError
from optimizer.model import Effort, Kernel, Kind, Status, Verdict, Workload
from runners import interposer, wire
from runners.counted_outside import counted_too, large
from runners.interfaces import Job
from runners.line import Compiled, Line, Rank, awaited, readiness, rehearsable
from runners.profiler import NcuProfiler, profile_jobs, with_profile, worthwhile
from runners.removal import TemporaryFolder
from runners.sandbox import Sandbox
from runners.seat import START_SECONDS, Gone, Seat, facts_of
from runners.second_look import MOST_LENT

JOB_SECONDS: Mapping[Effort, float] = {
    Effort.SCREEN: 60.0,
    Effort.RACE: 120.0,
    Effort.CONFIRM: 240.0,
    Effort.PROFILE: 120.0,
    Effort.WEIGH: 120.0,
    Effort.ENERGY: 900.0,
}
# Beside these a worker may take for what is asked a second time of a finalist.
LENT_SECONDS: Mapping[Effort, float] = {Effort.CONFIRM: MOST_LENT}
# Compilers at once for each GPU: compiling a kernel takes about as long as judging it, up to 3 x.
COMPILERS = 4
EAGER_COMPILERS = 3
# So long the first candidates of a workload wait for the most promising one to be compiled: judging
# another one takes up to five seconds.
LEAD_SECONDS = 1.5


@dataclass(frozen=True, slots=True)
class Built:
    """What became of a source: an artefact for the worker, or the verdict on why there is none.

    `listing` counts the instructions of its machine code. That takes about as long as compiling it
    did, and nothing waits for it until there is a verdict: `told` is what it will say.
    """

    artifact: Mapping[str, Any] | None
    verdict: Verdict | None
    seconds: float = 0.0
    listing: Callable[[], Mapping[str, int]] | None = None
    told: Future[Mapping[str, int]] | None = None

    @property
    def machine_code(self) -> str:
        """Return the digest of the machine code, empty when there is none."""
        return str(self.artifact.get("machine_code", "")) if self.artifact else ""


class Builder(Protocol):
    """Compiles a candidate for the device of this host."""

    def build(self, kernel: Kernel, workload: Workload) -> Built:
        """Return the artefact or the verdict; cached, and safe to call from many threads."""
        ...


@dataclass(frozen=True, slots=True)
class Gpu:
    """A GPU of this host as the driver names it; `capability` is 90 for sm_90."""

    index: int
    name: str
    uuid: str
    driver: str
    capability: int
    memory_mib: int


def discover(command: str = "nvidia-smi") -> tuple[Gpu, ...]:
    """Return the GPUs of this host. Raise `NoDeviceError` when there is none or no driver."""
    fields = "index,name,uuid,driver_version,compute_cap,memory.total"
    remedy = "run on a GPU host, replay a recording with --replay, or try `optiml inspect`"
    try:
        printed = subprocess.run(
            [command, f"--query-gpu={fields}", "--format=csv,noheader,nounits"],
            capture_output=True, text=True, timeout=30, check=True,
        ).stdout  # fmt: skip
    except FileNotFoundError as error:
        raise NoDeviceError("this machine has no NVIDIA driver", remedy) from error
    except (subprocess.SubprocessError, OSError) as error:
        raise NoDeviceError(f"nvidia-smi does not answer: {error}", remedy) from error
    found = []
    for line in printed.splitlines():
        cells = [cell.strip() for cell in line.split(",")]
        if len(cells) == 6 and cells[0].isdigit():
            major, _, minor = cells[4].partition(".")
            memory = int(cells[5]) if cells[5].isdigit() else 0
            code = int(major) * 10 + int(minor or 0)
            found.append(Gpu(int(cells[0]), cells[1], cells[2], cells[3], code, memory))
    if not found:
        raise NoDeviceError("this machine has no NVIDIA GPU", remedy)
    return tuple(found)


class _Free:
    """The seats that nobody uses now."""

    def __init__(self, seats: Sequence[Seat]) -> None:
        self._seats = list(seats)
        self._changed = threading.Condition()

    def take(self, wanted: Seat | None = None) -> Seat:
        """Wait for a seat, or for a certain one, and take it."""
        with self._changed:
            self._changed.wait_for(lambda: wanted in self._seats if wanted else self._seats)
            seat = wanted or self._seats[-1]
            self._seats.remove(seat)
            return seat

    def take_other(self, wanted: Callable[[Seat], bool]) -> Seat | None:
        """Take a seat that is free now and wanted, if there is one."""
        with self._changed:
            seat = next((seat for seat in self._seats if wanted(seat)), None)
            if seat is not None:
                self._seats.remove(seat)
            return seat

    def put(self, seat: Seat) -> None:
        """Give a seat back."""
        with self._changed:
            self._seats.append(seat)
            self._changed.notify_all()


class LocalDispatcher:
    """Judges jobs on the GPUs of this host; a context manager.

    `builder` compiles; `devices` are the GPUs to use, all of one kind. Siblings are compiled on
    all cores while earlier ones run. Machine code that was judged before is not run again. A job
    whose worker dies without a word is tried once more on a fresh one before it counts as the
    candidate's crash.
    """

    def __init__(  # noqa: PLR0913 - a host has many parts
        self,
        builder: Builder,
        devices: Sequence[int] = (0,),
        *,
        sandbox: Sandbox | None = None,
        profiler: NcuProfiler | None = None,
        scratch: Path | None = None,
        command: Sequence[str] | None = None,
        compilers: int | None = None,
        locked: bool = True,
        readable: Sequence[Path] = (),
        images: Path | None = None,
    ) -> None:
        self._builder = builder
        self._sandbox = sandbox or Sandbox()
        self._own_sandbox = sandbox is None
        self._profiler = profiler
        self._command = list(command) if command else None
        self._folder = TemporaryFolder(prefix="optiml-run-", dir=scratch)
        self.scratch = Path(self._folder.name)
        self._judged: dict[tuple[str, ...], Verdict] = {}
        # Which kernels take how much of its time, by machine code.
        self._shares: dict[str, Mapping[str, float]] = {}
        # Tells whether a job's machine code has its verdict elsewhere: it is not run here then.
        self.elsewhere: Callable[[Job, str], bool] = lambda _job, _code: False
        # Which GPUs have begun to judge for which workload: set before its first job there.
        self._ready: set[tuple[int, str, str]] = set()
        # For which workloads candidates have come already.
        self._begun: set[tuple[str, str]] = set()
        # Whether there will be answers to work out, which whole programs need none of.
        self._kernels = False
        # What is asked for does not queue behind what is expected only.
        eager = EAGER_COMPILERS * max(1, len(devices))
        self._eager = ThreadPoolExecutor(eager, thread_name_prefix="compile ahead")
        self._lock = threading.Lock()
        self._interposer: Future[None] | None = None
        self._seats: list[Seat] = []
        try:
            for index in devices:
                seat = Seat(
                    index, self._sandbox, self.scratch,
                    readable=readable, command=self._command, locked=locked, images=images,
                )  # fmt: skip
                self._seats.append(seat)
        except BaseException:
            self.close()
            raise
        self._free = _Free(self._seats)
        count = compilers or COMPILERS * max(1, len(self._seats))
        self._compilers = ThreadPoolExecutor(count, thread_name_prefix="compile")
        self._listers = ThreadPoolExecutor(count, thread_name_prefix="list")
        self._line = Line(_key)
        for seat in self._seats:
            name = f"gpu {seat.index}"
            threading.Thread(target=self._serve, name=name, daemon=True).start()

    @property
    def width(self) -> int:
        """Return how many candidates are worked on at once: of several GPUs, two each.

        While one is timed, the next is compiled.
        """
        return len(self._seats) if len(self._seats) <= 1 else 2 * len(self._seats)

    def dispatch(self, jobs: Sequence[Job]) -> Sequence[Verdict]:
        """Return one verdict per job, in order; of several, the first as soon as it is in."""
        self._prepare(jobs)
        built = [self._compilers.submit(self._wanted, job) for job in jobs]
        if jobs and all(job.effort is Effort.PROFILE for job in jobs):
            return self._profile(jobs, [b.result() for b in built])
        leads = [self._lead_seconds(jobs), *[0.0] * len(jobs)]
        tickets = [
            self._line.join(job, one, lead_seconds=lead)
            for job, one, lead in zip(jobs, built, leads, strict=False)
        ]
        for job, one in zip(jobs, built, strict=True):
            if rehearsable(job):
                screened = replace(job, effort=Effort.SCREEN)
                for _ in self._seats[1:]:
                    self._line.join(screened, one, Rank.REHEARSAL)
        return awaited(tickets, cancels=True)

    def expect(self, jobs: Sequence[Job]) -> bool:
        """Compile jobs that are not asked for yet, beside those that are."""
        self._prepare(jobs)
        self._kernels = self._kernels or any(j.workload.kind is not Kind.PROGRAM for j in jobs)
        for job in jobs:
            self._eager.submit(self._both, job)
        return True

    def facts(self) -> dict[str, Any]:
        """Return what the worker says of one device; open the others meanwhile.

        A GPU that no process had open takes about 2 s longer over its first job: with nothing
        asked of it before, the search's first candidates would pay for it.
        """
        first, *others = self._seats[::-1]  # the first one is the next to be taken
        with ThreadPoolExecutor(len(self._seats), thread_name_prefix="open") as pool:
            for seat in others:
                pool.submit(self._hello, seat)  # what is wrong with it, its first job says
            return self._hello(first)

    def _hello(self, seat: Seat) -> dict[str, Any]:
        self._free.take(seat)
        try:
            return seat.tell("hello", kernels=True) if self._kernels else seat.tell("hello")
        finally:
            self._free.put(seat)

    def calibrate(self) -> dict[str, float]:
        """Return the measured peaks of the first device (GB/s and TFLOP/s)."""
        seat = self._free.take()
        try:
            answer = seat.tell("calibrate", 2 * START_SECONDS)
            peaks = answer.get("peaks")
            return facts_of(peaks if isinstance(peaks, dict) else answer)
        finally:
            self._free.put(seat)

    def close(self) -> None:
        """End workers, free the GPUs, remove the scratch directory."""
        if hasattr(self, "_line"):
            self._line.close()
            self._compilers.shutdown(wait=False, cancel_futures=True)
            self._eager.shutdown(wait=False, cancel_futures=True)
            self._listers.shutdown(wait=False, cancel_futures=True)
        for seat in self._seats:
            seat.close()
        if self._own_sandbox:
            self._sandbox.close()
        self._folder.cleanup()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # -- one job ---------------------------------------------------------------------------------

    def _prepare(self, jobs: Sequence[Job]) -> None:
        """Build what whole programs are watched with while the first of them is compiled."""
        if self._interposer is None and any(job.workload.kind is Kind.PROGRAM for job in jobs):
            pool = ThreadPoolExecutor(1, thread_name_prefix="interposer")
            self._interposer = pool.submit(interposer.prepared, self.scratch)
            pool.shutdown(wait=False)

    def _lead_seconds(self, jobs: Sequence[Job]) -> float:
        """Return how long others wait for the first of these to be compiled.

        The first that is seen to be faster is what somebody in front of a screen waits for. On one
        GPU, and once a workload: later, a GPU with nothing to do costs more than order gains.
        """
        if len(self._seats) > 1 or not jobs or jobs[0].kernel == jobs[0].baseline:
            return 0.0
        ready = readiness(jobs[0])
        known = ready in self._begun
        self._begun.add(ready)
        return 0.0 if known else LEAD_SECONDS

    def _wanted(self, job: Job) -> tuple[Built, Built]:
        """Compile what will be judged, and begin to list it."""
        candidate, baseline = self._both(job)
        if candidate.listing is not None and job.effort is not Effort.PROFILE:
            candidate = replace(candidate, told=self._listers.submit(candidate.listing))
        return candidate, baseline

    def _both(self, job: Job) -> tuple[Built, Built]:
        candidate = self._builder.build(job.kernel, job.workload)
        if self._interposer is not None:
            self._interposer.result()
        if candidate.verdict is not None or job.kernel == job.baseline:
            return candidate, candidate
        return candidate, self._builder.build(job.baseline, job.workload)

    def _serve(self) -> None:
        """Judge one job after the other: one thread a GPU, until the line is closed."""
        while (ticket := self._line.next()) is not None:
            if not ticket.verdict.set_running_or_notify_cancel():
                self._line.done(ticket)
                continue
            try:
                _settle(ticket, self._outcome(ticket))
            except BaseException as error:  # noqa: BLE001 - raised where the verdict is looked at
                ticket.verdict.set_exception(error)
            finally:
                self._line.done(ticket)

    def _outcome(self, ticket: Compiled) -> Verdict:
        candidate, baseline = ticket.built.result()
        if ticket.rank is Rank.REHEARSAL:
            return self._rehearsed(ticket.job, candidate, baseline)
        return self._judge(ticket.job, candidate, baseline)

    def _rehearsed(self, job: Job, candidate: Built, baseline: Built) -> Verdict:
        """Make a GPU that nobody uses ready for a workload; what it measures counts for nothing."""
        ready = readiness(job)
        seat = None
        if candidate.artifact is not None and baseline.artifact is not None:
            seat = self._free.take_other(lambda seat: (seat.index, *ready) not in self._ready)
        if seat is None:
            return Verdict(Status.NOT_RECORDED, log="no GPU had to be made ready")
        return self._run(job, candidate, baseline, seat)

    def _judge(self, job: Job, candidate: Built, baseline: Built) -> Verdict:
        verdict = self._unrun(candidate, baseline)
        if verdict is None:
            key = _key(job, candidate)
            with self._lock:
                verdict = self._judged.get(key)
            if verdict is None and self.elsewhere(job, candidate.machine_code):
                words = "judged elsewhere"
                return Verdict(Status.NOT_RECORDED, machine_code=candidate.machine_code, log=words)
            if verdict is None:
                verdict = self._run(job, candidate, baseline)
                with self._lock:
                    self._judged[key] = verdict
                    if verdict.measurement is not None:
                        self._shares[candidate.machine_code] = verdict.measurement.kernels
        return verdict

    @staticmethod
    def _unrun(candidate: Built, baseline: Built) -> Verdict | None:
        if candidate.verdict is not None:
            return candidate.verdict
        if baseline.verdict is not None:
            log = baseline.verdict.log[:2000]
            raise RunnerError(f"the baseline does not compile beside its candidates:\n{log}")
        return None

    def _run(
        self, job: Job, candidate: Built, baseline: Built, seat: Seat | None = None
    ) -> Verdict:
        seat = seat or self._free.take()
        try:
            self._ready.add((seat.index, *readiness(job)))
            seat.admit(Path(job.workload.root).resolve())
            if job.effort is Effort.CONFIRM:
                seat.alone()
                # Whatever runs of a program is a process of its own: its worker has held nothing
                # of a candidate, and knows what the original's first runs taught.
                if job.workload.kind is not Kind.PROGRAM:
                    seat.renew()
            try:
                verdict = self._ask(seat, job, candidate, baseline)
            except Gone as gone:
                if gone.timed_out:
                    return _failed(Status.TIMED_OUT, candidate, gone)
                try:  # was it the candidate, or a worker that an earlier one had harmed?
                    verdict = self._ask(seat, job, candidate, baseline)
                except Gone as again:
                    status = Status.TIMED_OUT if again.timed_out else Status.CRASHED
                    return _failed(status, candidate, again)
                except wire.ForgedResponse as forged:
                    seat.renew()
                    return _refused(candidate, forged)
            except wire.ForgedResponse as forged:
                seat.renew()  # whatever wrote that was not our worker alone
                return _refused(candidate, forged)
            # Not beside the first candidate: processes that open a GPU hold up those that use it.
            if job.kernel != job.baseline:
                seat.warm()
            if job.effort is Effort.CONFIRM and self._profiler is not None and large(verdict):
                request = self._asked("0", "profile", job, candidate, baseline)
                verdict = counted_too(verdict, request, self._profiler, self._worker_command())
            return replace(
                verdict,
                machine_code=verdict.machine_code or candidate.machine_code,
                seconds={"compile": candidate.seconds, **verdict.seconds},
            )
        finally:
            self._free.put(seat)

    @staticmethod
    def _ask(seat: Seat, job: Job, candidate: Built, baseline: Built) -> Verdict:
        number, nonce = secrets.token_hex(6), secrets.token_hex(16)
        seconds = JOB_SECONDS[job.effort]
        artifacts = (candidate.artifact, baseline.artifact)
        line = wire.request(number, nonce, job, artifacts, seconds)
        lent = LENT_SECONDS.get(job.effort, 0.0)
        answer = seat.ask(line, seconds + lent + START_SECONDS / 3)
        verdict, _ = wire.response(answer, number, nonce, job.kernel.digest)
        return verdict

    # -- profiles --------------------------------------------------------------------------------

    def _profile(
        self, jobs: Sequence[Job], built: Sequence[tuple[Built, Built]]
    ) -> Sequence[Verdict]:
        verdicts = [
            candidate.verdict or Verdict(Status.CORRECT, machine_code=candidate.machine_code)
            for candidate, _ in built
        ]
        able = [i for i, (candidate, _) in enumerate(built) if candidate.artifact is not None]
        if self._profiler is None or not able:
            return verdicts
        requests = [self._asked(str(i), "profile", jobs[i], *built[i]) for i in able]
        seat = self._free.take(self._seats[0])  # the one that the profiler was made for
        known = [worthwhile(self._shares.get(built[i][0].machine_code, {})) for i in able]
        within = min((jobs[i].within for i in able if jobs[i].within), default=math.inf)
        try:
            profiles = profile_jobs(
                self._profiler, requests, self._worker_command(), kernels=known, seconds=within
            )
        finally:
            self._free.put(seat)
        for i, profile in zip(able, profiles, strict=True):
            verdicts[i] = with_profile(verdicts[i], profile)
        return verdicts

    def _worker_command(self) -> list[str]:
        return self._command[:-1] if self._command else [sys.executable, "-I", "-m", _WORKER]

    @staticmethod
    def _asked(
        number: str, nonce: str, job: Job, candidate: Built, baseline: Built
    ) -> dict[str, Any]:
        """Return what a profiled worker is asked, as it will read it."""
        artifacts = (candidate.artifact, baseline.artifact)
        line = wire.request(number, nonce, job, artifacts, JOB_SECONDS[Effort.PROFILE])
        return dict(json.loads(line))


_WORKER = "runners.worker"


def _settle(ticket: Compiled, verdict: Verdict) -> None:
    """Tell a verdict when its instructions are counted; the GPU goes on meanwhile."""
    told = ticket.built.result()[0].told
    if told is None or verdict.status is Status.NOT_RECORDED:
        ticket.verdict.set_result(verdict)
        return

    def tell(counted: Future[Mapping[str, int]]) -> None:
        try:
            ticket.verdict.set_result(replace(verdict, instructions=dict(counted.result())))
        except BaseException as error:  # noqa: BLE001 - raised where the verdict is looked at
            ticket.verdict.set_exception(error)

    told.add_done_callback(tell)


def _key(job: Job, built: Built) -> tuple[str, ...]:
    code = built.machine_code or job.kernel.digest
    launch = str(job.kernel.launch)
    return (code, launch, job.baseline.digest, job.effort.value, str(job.seed), repr(job.workload))


def _refused(built: Built, forged: wire.ForgedResponse) -> Verdict:
    return Verdict(
        Status.REJECTED,
        machine_code=built.machine_code,
        seconds={"compile": built.seconds},
        log=f"the answer was refused: {forged.message}"[:4000],
    )


def _failed(status: Status, built: Built, gone: Gone) -> Verdict:
    return Verdict(
        status,
        machine_code=built.machine_code,
        seconds={"compile": built.seconds},
        log=gone.words[-4000:],
    )
