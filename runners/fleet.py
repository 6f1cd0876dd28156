"""Takes jobs to the GPUs behind a scheduler of dask.distributed. Needs the extra `fleet`.

The scheduler knows who is there and carries questions and answers; which GPU gets which job is
decided here, so that no job waits at a busy GPU while another is idle. A job may be sent twice,
when a worker is lost or does not answer; its first valid answer counts and any other is dropped.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import secrets
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError, Future
from dataclasses import dataclass, field, replace
from typing import Any, Self

import dask
from distributed import Client, Security
from distributed.comm.core import CommClosedError

from optimizer.errors import NoDeviceError, OptimlError, RunnerError
from optimizer.model import Effort, Status, Verdict
from runners import fleet_worker, wire
from runners.awaited import Awaited
from runners.dispatch import JOB_SECONDS
from runners.fleet_worker import DEPTH, QUIET, SHARE, Card, card_from_json
from runners.interfaces import Job
from runners.parcel import Parcel, parcel

# Bandwidth or arithmetic rate below this share of the fleet's first GPU: not the same machine, or
# not in the same state. Three H200 of one host agree to 2 %.
PEAKS_AGREE = 0.85
# A job that so many workers were lost with is what they were lost by.
MOST_LOST = 3
# A job that so many GPUs found no fit state for ends the search.
MOST_UNFIT = 6
_BROKEN = (OSError, CommClosedError, TimeoutError, RuntimeError, ValueError)


@dataclass(frozen=True, slots=True)
class Patience:
    """How long what is waited for, in seconds.

    `join` for the first worker; `look` between looks at who is there; `quiet` until a worker that
    has a job is asked whether it lives, and `answer` for that; `rest` for a GPU that was not fit;
    `gone` for a scheduler that went away. `job` is added to what a job may take itself.
    """

    join: float = 60.0
    look: float = 0.25
    quiet: float = 10.0
    answer: float = 10.0
    rest: float = 30.0
    gone: float = 300.0
    job: float = 240.0


@dataclass(slots=True, eq=False)
class Ticket:
    """A job and what its verdict will be in."""

    job: Job
    number: int
    urgent: bool = True
    lost: int = 0
    unfit: list[str] = field(default_factory=list)
    avoid: set[str] = field(default_factory=set)
    verdict: Future[Verdict] = field(default_factory=Future)


@dataclass(slots=True, eq=False)
class Attempt:
    """A ticket sent to one worker, with the nonce that its answer must carry."""

    ticket: Ticket
    nonce: str
    began: float
    sent: Any = None
    task: asyncio.Task[None] | None = None
    over: bool = False


@dataclass(slots=True, eq=False)
class Place:
    """A worker of the fleet, with what was sent to it; `rests` until a moment of the clock."""

    address: str
    card: Card
    running: list[Attempt] = field(default_factory=list)
    parcels: set[str] = field(default_factory=set)
    rests: float = 0.0
    silent: bool = False
    heard: float = 0.0


class Fleet:
    """The side of a fleet that lives in an event loop. Nothing here is called from elsewhere."""

    def __init__(
        self,
        address: str,
        security: Security | None,
        patience: Patience,
        unfit: Callable[[Card], str],
        say: Callable[[str], None],
    ) -> None:
        self.address, self.patience, self._say = address, patience, say
        self._security, self._refuses = security, unfit
        self.places: dict[str, Place] = {}
        self.waiting: list[Ticket] = []
        self.kind: Card | None = None
        self._refused: dict[str, str] = {}
        self._run = secrets.token_hex(4)
        self._client: Client | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._closing = False
        self._problem: OptimlError | None = None
        self._seen = time.monotonic()

    async def open(self) -> Card:
        """Connect, wait for the first worker, and return its card: the kind of this fleet."""
        deadline = time.monotonic() + self.patience.join
        await self._connect(deadline)
        while self.kind is None:
            await self._look()
            if time.monotonic() > deadline:
                words = [f"no GPU has joined the scheduler at {self.address}"]
                raise NoDeviceError(
                    "; ".join((*words, *dict.fromkeys(self._refused.values()))),
                    "start `optiml worker --scheduler ADDRESS` where the GPUs are",
                )
            if self.kind is None:
                await asyncio.sleep(self.patience.look)
        self._start(self._watch())
        return self.kind

    def accept(self, tickets: Sequence[Ticket]) -> None:
        """Take jobs into the line."""
        if self._problem is not None:
            for ticket in tickets:
                _settle(ticket, self._problem)
            return
        self.waiting += tickets
        self._pump()

    async def close(self) -> None:
        """Forget what runs and leave the scheduler."""
        self._closing = True
        self._fail(RunnerError("the search has ended"))
        for task in list(self._tasks):
            task.cancel()
        await self._disconnect()

    # -- who is there ---------------------------------------------------------------------------

    async def _watch(self) -> None:
        """Look who is there, over and over; connect again when the scheduler has gone."""
        while not self._closing:
            await asyncio.sleep(max(self.patience.look, len(self.places) / 256))
            try:
                await self._look()
                self._examine()
                self._missing()
            except _BROKEN as error:
                if self._closing:
                    return
                self._say(f"the scheduler at {self.address} does not answer: {error}")
                await self._again()

    def _missing(self) -> None:
        """End every job with an error when no GPU has been there for too long."""
        now = time.monotonic()
        if self.places:
            self._seen = now
        elif now - self._seen > self.patience.gone:
            words = f"no GPU has been at {self.address} for {self.patience.gone:.0f} s"
            self._fail(RunnerError(words, "start `optiml worker --scheduler ADDRESS` again"))

    async def _again(self) -> None:
        for address in list(self.places):
            self._lose(address, blame=False)
        await self._disconnect()
        try:
            await self._connect(time.monotonic() + self.patience.gone)
        except NoDeviceError as error:
            self._fail(RunnerError(error.message, error.remedy))
            return
        self._say(f"the scheduler at {self.address} answers again")

    async def _connect(self, deadline: float) -> None:
        pause = 0.1
        while True:
            try:
                client = Client(  # type: ignore[no-untyped-call]
                    self.address, asynchronous=True, set_as_default=False, timeout=5.0,
                    security=self._security, name="optiml",
                )  # fmt: skip
                self._client = await client
            except _BROKEN as error:
                if time.monotonic() > deadline:
                    raise NoDeviceError(
                        f"no scheduler answers at {self.address}: {error}",
                        "start `optiml scheduler`, or correct the address",
                    ) from error
                await asyncio.sleep(pause)
                pause = min(5.0, 2 * pause)
            else:
                return

    async def _disconnect(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            with contextlib.suppress(*_BROKEN, CancelledError):
                closing = client.close(timeout=2)  # type: ignore[no-untyped-call]
                await asyncio.wait_for(closing, 4)

    async def _look(self) -> None:
        """Take note of workers that came, and of those that are no more."""
        client = self._client
        if client is None or client.status != "running" or client.scheduler is None:
            raise CommClosedError("not connected")
        here = set(await asyncio.wait_for(client.scheduler.ncores(), self.patience.answer))
        for address in [known for known in self.places if known not in here]:
            self._say(f"the worker at {address} is gone; its jobs move")
            self._lose(address)
        for address in self._refused.keys() - here:
            del self._refused[address]
        fresh = here - self.places.keys() - self._refused.keys()
        if fresh:
            answers = await asyncio.wait_for(
                client.run(fleet_worker.describe, workers=list(fresh), on_error="return"),
                self.patience.answer,
            )
            for address, text in sorted(answers.items()):
                self._welcome(address, text)
            self._pump()

    def _welcome(self, address: str, text: object) -> None:
        why = ""
        if not isinstance(text, str) or not text:
            why = f"the worker at {address} is not one of `optiml worker`"
        else:
            card = card_from_json(text)
            why = self._refuses(card) or (unlike(self.kind, card) if self.kind else "")
            if not why:
                self.kind = self.kind or card
                self.places[address] = Place(address, card, heard=time.monotonic())
        if why:
            self._refused[address] = why
            self._say(f"left out: {why}")

    # -- sending --------------------------------------------------------------------------------

    def _pump(self) -> None:
        """Send what waits to GPUs that have room, the idlest first."""
        now = time.monotonic()
        self.waiting.sort(key=lambda ticket: (not ticket.urgent, ticket.number))
        self.waiting = [ticket for ticket in self.waiting if not ticket.verdict.done()]
        for depth in range(DEPTH):
            able = [
                place
                for place in self.places.values()
                if len(place.running) == depth and place.rests <= now and not place.silent
            ]
            for place in able:
                ticket = self._first_for(place)
                if ticket is not None:
                    self.waiting.remove(ticket)
                    self._send(ticket, place)
        if not self.waiting:
            self._share()

    def _first_for(self, place: Place) -> Ticket | None:
        """Return what goes to a GPU next: not what it failed at, unless all others did, too."""
        for ticket in self.waiting:
            if place.address not in ticket.avoid or self.places.keys() <= ticket.avoid:
                return ticket
        return None

    def _share(self) -> None:
        """Take a job that waits at a busy GPU back for one that is idle."""
        now = time.monotonic()
        idle = sum(
            not place.running and place.rests <= now and not place.silent
            for place in self.places.values()
        )
        for place in self.places.values():
            if idle <= 0:
                return
            if len(place.running) > 1:
                self._start(self._withdraw(place, place.running[-1]))
                idle -= 1

    async def _withdraw(self, place: Place, attempt: Attempt) -> None:
        """Ask a worker to forget a job; that it was, its own answer says."""
        if self._client is None:
            return
        number = self._name(attempt.ticket)
        with contextlib.suppress(*_BROKEN):
            await asyncio.wait_for(
                self._client.run(
                    fleet_worker.withdraw, number, workers=[place.address], on_error="ignore"
                ),
                self.patience.answer,
            )

    def _name(self, ticket: Ticket) -> str:
        return f"{self._run}-{ticket.number}"

    def _send(self, ticket: Ticket, place: Place) -> None:
        attempt = Attempt(ticket, secrets.token_hex(16), time.monotonic())
        place.running.append(attempt)
        attempt.task = self._start(self._attempt(place, attempt))

    async def _attempt(self, place: Place, attempt: Attempt) -> None:
        """Send a ticket to a worker and deal with what comes back."""
        try:
            text, blame = await self._asked(place, attempt), False
        except OptimlError as error:
            self._end(place, attempt)
            _settle(attempt.ticket, error)
            return
        except (asyncio.CancelledError, CancelledError):
            text, blame = None, False  # the connection was lost, or the job given up on
        except Exception as error:  # noqa: BLE001 - a task's own, of any class
            self._say(f"the worker at {place.address} failed: {error!r:.500}")
            text, blame = None, True
        if attempt.over or self._closing:
            return
        self._end(place, attempt)
        place.heard = time.monotonic()
        if text is None:
            self._move(attempt.ticket, place.address, blame=blame)
        else:
            self._read(place, attempt, text)
        self._pump()

    async def _asked(self, place: Place, attempt: Attempt) -> str:
        """Return a worker's answer to a job."""
        ticket = attempt.ticket
        files = parcel(ticket.job)
        question = _question(self._name(ticket), attempt.nonce, ticket.job, files)
        known = not files.digest or files.digest in place.parcels
        text = await self._sent(place, attempt, question, None if known else files.data)
        if known and files.digest and '"missing"' in text[:200]:
            text = await self._sent(place, attempt, question, files.data)
        place.parcels.add(files.digest)
        return text

    async def _sent(self, place: Place, attempt: Attempt, text: str, data: bytes | None) -> str:
        if self._client is None:
            raise CommClosedError("not connected")
        attempt.sent = self._client.submit(
            fleet_worker.judge, text, data,
            key=f"optiml-{self._name(attempt.ticket)}-{secrets.token_hex(4)}",
            workers=[place.address], allow_other_workers=False,
            resources={"GPU": SHARE}, pure=False, retries=0,
        )  # fmt: skip
        try:
            return str(await attempt.sent)
        finally:
            attempt.sent.release()

    # -- answers --------------------------------------------------------------------------------

    def _read(self, place: Place, attempt: Attempt, text: str) -> None:
        """Take a verdict from an answer, or send the job elsewhere."""
        ticket = attempt.ticket
        said = json.loads(text)
        if said.get("withdrawn"):
            self.waiting.append(ticket)
        elif "unfit" in said:
            self._unfit(place, ticket, said)
        elif said.get("card", place.card.digest) != place.card.digest:
            self._say(f"the answer of {place.address} is not from the GPU that joined: dropped")
            self._lose(place.address)
            self._move(ticket, place.address)
        else:
            try:
                verdict, _ = wire.response(
                    text.encode(), self._name(ticket), attempt.nonce, ticket.job.kernel.digest
                )
            except RunnerError as error:
                # The GPU's trouble, not the candidate's: another may have none.
                self._say(f"{place.address}: {error.message}")
                ticket.lost += 1
                if ticket.lost >= MOST_LOST:
                    _settle(ticket, error)
                else:
                    ticket.avoid.add(place.address)
                    self.waiting.append(ticket)
            except OptimlError as error:
                _settle(ticket, error)
            else:
                _settle(ticket, verdict)

    def _unfit(self, place: Place, ticket: Ticket, said: dict[str, Any]) -> None:
        why = f"{place.address}: {said['unfit']}"
        self._say(f"{why}; its measurement does not count")
        place.rests = time.monotonic() + (1e9 if said.get("for_good") else self.patience.rest)
        ticket.unfit.append(why)
        if len(ticket.unfit) >= MOST_UNFIT:
            words = "; ".join(dict.fromkeys(ticket.unfit))
            _settle(ticket, RunnerError(f"no GPU was fit to measure on: {words}"))
        else:
            self.waiting.append(ticket)

    def _examine(self) -> None:
        """Ask workers that were silent for long whether they live; wake those that have rested."""
        now = time.monotonic()
        for place in list(self.places.values()):
            began = min((attempt.began for attempt in place.running), default=0.0)
            asked = bool(place.running) or place.silent
            if asked and max(began, place.heard) + self.patience.quiet < now:
                place.heard = now
                self._start(self._ping(place))
            for attempt in list(place.running):
                if now - attempt.began > self._longest(attempt.ticket.job, len(place.running)):
                    self._say(f"{place.address} has held a job for too long; it moves")
                    place.rests = now + self.patience.rest
                    self._drop(place, attempt)
                    self._move(attempt.ticket, place.address)
        self._pump()

    def _longest(self, job: Job, beside: int) -> float:
        return (2 * JOB_SECONDS[job.effort]) * max(1, beside) + self.patience.job

    async def _ping(self, place: Place) -> None:
        client = self._client
        if client is None:
            return
        try:
            await asyncio.wait_for(
                client.run(fleet_worker.held, workers=[place.address]), self.patience.answer
            )
        except _BROKEN:
            if place.address in self.places and self._client is client:
                if not place.silent:
                    self._say(f"the worker at {place.address} does not answer; its jobs move")
                place.silent = True
                for attempt in list(place.running):
                    self._drop(place, attempt)
                    self._move(attempt.ticket, place.address)
        else:
            if place.silent:
                self._say(f"the worker at {place.address} answers again")
            place.silent = False
        place.heard = time.monotonic()
        self._pump()

    def _lose(self, address: str, *, blame: bool = True) -> None:
        """Forget a worker and send its jobs elsewhere."""
        place = self.places.pop(address, None)
        if place is None:
            return
        for attempt in list(place.running):
            self._drop(place, attempt)
            self._move(attempt.ticket, address, blame=blame)

    def _move(self, ticket: Ticket, address: str, *, blame: bool = True) -> None:
        """Put a job that brought no answer back into the line, unless it kills its workers."""
        ticket.lost += blame
        ticket.avoid.add(address)
        if ticket.lost < MOST_LOST:
            self.waiting.append(ticket)
            self._pump()
            return
        words = f"{ticket.lost} workers were lost or hung while they judged this"
        if ticket.job.kernel == ticket.job.baseline or ticket.job.effort is not Effort.SCREEN:
            _settle(ticket, RunnerError(words, "look at the workers' logs"))
        else:
            _settle(ticket, Verdict(Status.CRASHED, log=words))

    def _drop(self, place: Place, attempt: Attempt) -> None:
        """Give up on an attempt: whatever it still answers is not read."""
        self._end(place, attempt)
        if attempt.task is not None:
            attempt.task.cancel()

    @staticmethod
    def _end(place: Place, attempt: Attempt) -> None:
        attempt.over = True
        if attempt in place.running:
            place.running.remove(attempt)

    def _fail(self, error: OptimlError) -> None:
        """Let every job end with an error, those that come later, too."""
        self._problem = error
        for place in self.places.values():
            for attempt in list(place.running):
                self._drop(place, attempt)
                _settle(attempt.ticket, error)
        for ticket in self.waiting:
            _settle(ticket, error)
        self.waiting = []

    def _start(self, work: Any) -> asyncio.Task[None]:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task


class DaskDispatcher:
    """Judges jobs on the GPUs that have joined a scheduler; a context manager.

    All GPUs used are of one kind: name, driver, toolkit and version of the first that is found.
    Others are left out, as are those that `unfit` has a reason for; `say` is told why. Raise
    `NoDeviceError` when none joins in time.
    """

    def __init__(
        self,
        address: str,
        *,
        security: Security | None = None,
        patience: Patience = Patience(),
        unfit: Callable[[Card], str] = lambda _: "",
        say: Callable[[str], None] = lambda _: None,
    ) -> None:
        fleet_worker.quiet()
        self._numbers = itertools.count()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name="fleet", daemon=True)
        self._thread.start()
        self._fleet = self._call(self._made(address, security, patience, unfit, say))
        try:
            self.card = self._call(self._fleet.open())
        except BaseException:
            self.close()
            raise

    @property
    def width(self) -> int:
        """Return how many candidates are worked on at once: those GPUs' that are there now."""
        count = len(self._fleet.places)
        return count if count == 1 else max(1, 2 * count)

    @property
    def gpus(self) -> int:
        """Return how many GPUs are there now."""
        return len(self._fleet.places)

    def dispatch(self, jobs: Sequence[Job]) -> Sequence[Verdict]:
        """Return one verdict per job, in order, each waited for when it is looked at."""
        tickets = [Ticket(job, next(self._numbers)) for job in jobs]
        self._loop.call_soon_threadsafe(self._fleet.accept, tickets)

        def prefer(place: int, urgent: bool) -> None:
            tickets[place].urgent = urgent

        return Awaited(
            len(tickets),
            lambda place: tickets[place].verdict.result(),
            lambda place: tickets[place].verdict.done(),
            prefer,
        )

    def close(self) -> None:
        """Leave the scheduler; workers stay."""
        if self._loop.is_closed():
            return
        with contextlib.suppress(TimeoutError, *_BROKEN):
            self._call(self._fleet.close(), 10.0)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(5.0)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @staticmethod
    async def _made(*arguments: Any) -> Fleet:
        return Fleet(*arguments)

    def _call(self, work: Any, seconds: float | None = None) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(seconds)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        with dask.config.set(QUIET):
            self._loop.run_forever()
            left = asyncio.all_tasks(self._loop)
            for task in left:
                task.cancel()
            self._loop.run_until_complete(asyncio.wait(left, timeout=2.0) if left else _nothing())
        self._loop.close()


async def _nothing() -> None:
    """Do nothing."""


def unlike(first: Card, other: Card) -> str:
    """Return why a GPU's measurements cannot be compared with the first's; empty when they can.

    >>> unlike(Card("H200", "580"), Card("A100", "580"))
    'a GPU of another kind (A100) beside H200'
    >>> unlike(Card(peaks={"dram_gbs": 4000.0}), Card(peaks={"dram_gbs": 3000.0}))
    'its dram_gbs is 3000, the others have 4000: it is shared, throttled or faulty'
    """
    if other.gpu != first.gpu:
        return f"a GPU of another kind ({other.gpu}) beside {first.gpu}"
    for what, mine, its in zip(
        ("driver", "CUDA toolkit", "optiml"), first.kind[1:], other.kind[1:], strict=True
    ):
        if mine != its:
            return f"{other.gpu} on {other.host} has {what} {its}, the others {mine}"
    for name, peak in first.peaks.items():
        seen = other.peaks.get(name, peak)
        if seen < PEAKS_AGREE * peak:
            return (
                f"its {name} is {seen:g}, the others have {peak:g}: "
                "it is shared, throttled or faulty"
            )
    return ""


def _question(number: str, nonce: str, job: Job, files: Parcel) -> str:
    portable = replace(job, workload=replace(job.workload, root="."))
    data = {
        "id": number,
        "nonce": nonce,
        "project": files.digest,
        "job": wire.job_to_dict(portable),
    }
    return json.dumps(data, allow_nan=False, separators=(",", ":"))


def _settle(ticket: Ticket, outcome: Verdict | OptimlError) -> None:
    """Give a job its one outcome; what comes later is dropped."""
    if ticket.verdict.done():
        return
    if isinstance(outcome, Verdict):
        ticket.verdict.set_result(outcome)
    else:
        ticket.verdict.set_exception(outcome)
