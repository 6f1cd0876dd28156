"""Sends jobs to the workers of a fleet and reads what comes back, in an event loop.

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
import time
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError
from dataclasses import replace
from typing import Any

from distributed import Client, Security
from distributed.comm.core import CommClosedError

from optimizer.errors import NoDeviceError, OptimlError, RunnerError
from optimizer.model import Effort, Status, Verdict
from runners import fleet_worker, wire
from runners.dispatch import JOB_SECONDS, LENT_SECONDS
from runners.fleet_link import BROKEN, alike, connect, disconnect, question
from runners.fleet_places import Attempt, Errand, Patience, Place, settle, unlike
from runners.fleet_worker import DEPTH, SHARE, Card, card_from_json
from runners.interfaces import Job
from runners.line import Rank, readiness, rehearsable
from runners.parcel import parcel
from runners.wire import MAX_VERDICT_BYTES

# A job that so many workers were lost with is what they were lost by.
MOST_LOST = 3
# A job that so many GPUs found no fit state for ends the search.
MOST_UNFIT = 6
# A question tells of no more machine code than this: the rest goes with the next.
MOST_TOLD = 256
# A worker that holds jobs for too long rests for 4 to this power times as long as one that is hot.
MOST_STUCK = 4
# Characters of what a worker says that are shown.
MOST_WORDS = 1000
# So long, in seconds, is waited for new workers to say what they are before others are looked at.
INTRODUCTION = 1.0


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
        self.address, self.patience, self._tell = address, patience, say
        self._security, self._refuses = security, unfit
        self.places: dict[str, Place] = {}
        self.waiting: list[Errand] = []
        self.kind: Card | None = None
        self._refused: dict[str, str] = {}
        self._meeting: set[str] = set()
        # Workers that did not say what they are, and when they are asked again.
        self._deaf: dict[str, float] = {}
        self._judged: dict[str, dict[str, Verdict]] = {}
        self._rehearsals = itertools.count(-1, -1)
        self._run = secrets.token_hex(4)
        self._client: Client | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._closing = False
        self._problem: OptimlError | None = None
        self._seen = time.monotonic()

    async def open(self) -> Card:
        """Connect, wait for the first worker, and return its card: the kind of this fleet."""
        deadline = time.monotonic() + self.patience.join
        self._client = await connect(self.address, self._security, deadline)
        while self.kind is None:
            trouble = ""
            try:
                await self._look()
            except Exception as error:  # noqa: BLE001 - whatever another version of dask sends
                trouble = f"the scheduler fails: {error!r:.300}"
                await self._leave()
                self._client = await connect(self.address, self._security, deadline)
            if self.kind is None and time.monotonic() > deadline:
                words = [f"no GPU has joined the scheduler at {self.address}"]
                words += [trouble] if trouble else []
                raise NoDeviceError(
                    "; ".join((*words, *dict.fromkeys(self._refused.values())))[:MOST_WORDS],
                    "start `optiml worker --scheduler ADDRESS` where the GPUs are",
                )
            if self.kind is None:
                await asyncio.sleep(self.patience.look)
        self._start(self._watch())
        return self.kind

    def accept(self, tickets: Sequence[Errand]) -> None:
        """Take jobs into the line."""
        if self._problem is not None:
            for ticket in tickets:
                settle(ticket, self._problem)
            return
        self.waiting += tickets
        self._pump()
        for ticket in tickets:
            if rehearsable(ticket.job):
                self._rehearse(ticket.job)

    def _rehearse(self, job: Job) -> None:
        """Make GPUs that have nothing to do ready for a workload."""
        now, wanted = time.monotonic(), readiness(job)
        screened = replace(job, effort=Effort.SCREEN)
        for place in list(self.places.values()):
            if place.able(now) and not place.running and wanted not in place.ready:
                number = next(self._rehearsals)
                self._send(Errand(screened, number, Rank.REHEARSAL, only=place.address), place)

    async def close(self) -> None:
        """Forget what runs and leave the scheduler."""
        self._closing = True
        self._fail(RunnerError("the search has ended"))
        for task in list(self._tasks):
            task.cancel()
        await self._leave()

    # -- who is there ---------------------------------------------------------------------------

    async def _watch(self) -> None:
        """Look who is there, over and over; connect again when the scheduler has gone."""
        while not self._closing:
            await asyncio.sleep(max(self.patience.look, len(self.places) / 256))
            try:
                await self._look()
                self._examine()
                self._missing()
            except Exception as error:  # noqa: BLE001 - whatever another version of dask sends
                if self._closing:
                    return
                self._say(f"the scheduler at {self.address} does not answer: {error!r:.300}")
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
        await self._leave()
        try:
            deadline = time.monotonic() + self.patience.gone
            self._client = await connect(self.address, self._security, deadline)
        except NoDeviceError as error:
            self._fail(RunnerError(error.message, error.remedy))
            return
        self._say(f"the scheduler at {self.address} answers again")

    async def _leave(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            await disconnect(client)

    async def _look(self) -> None:
        """Take note of workers that came, and of those that are no more."""
        client = self._client
        if client is None or client.status != "running" or client.scheduler is None:
            raise CommClosedError("not connected")
        said = await asyncio.wait_for(client.scheduler.ncores(), self.patience.answer)
        here = set(said)
        if not all(isinstance(address, str) for address in here):
            raise TypeError("it names workers by what is no address")
        for address in [known for known in self.places if known not in here]:
            self._say(f"the worker at {address} is gone; its jobs move")
            self._lose(address)
        for address in self._refused.keys() - here:
            del self._refused[address]
        now = time.monotonic()
        deaf = {address for address, until in self._deaf.items() if until > now}
        fresh = here - self.places.keys() - self._refused.keys() - self._meeting - deaf
        if fresh:
            self._meeting |= fresh
            meeting = self._start(self._meet(client, sorted(fresh)))
            await asyncio.wait([meeting], timeout=INTRODUCTION)

    async def _meet(self, client: Client, addresses: Sequence[str]) -> None:
        """Ask new workers what they are; one that does not say so keeps nobody waiting."""
        asked = [asyncio.ensure_future(self._described(client, one)) for one in addresses]
        try:
            # In the order of their addresses, as far as they answer at once: the first is the kind.
            done, _ = await asyncio.wait(asked, timeout=INTRODUCTION / 2)
            for one in sorted(done, key=lambda task: task.result()[0]):
                self._welcome(*one.result())
            for later in asyncio.as_completed([one for one in asked if one not in done]):
                self._welcome(*await later)
        finally:
            for one in asked:
                one.cancel()
            self._meeting -= set(addresses)

    async def _described(self, client: Client, address: str) -> tuple[str, str | None]:
        """Return a worker's address and its card as text; None where it does not answer."""
        try:
            answers = await asyncio.wait_for(
                client.run(fleet_worker.describe, workers=[address], on_error="return"),
                self.patience.answer,
            )
            text = answers[address]
        except Exception as error:  # noqa: BLE001 - a worker's own, of any class
            if self._client is client:  # else it was the connection
                self._deaf[address] = time.monotonic() + self.patience.rest
                self._say(f"the worker at {address} does not say what it is: {error!r:.300}")
            return address, None
        return address, text if isinstance(text, str) else ""

    def _welcome(self, address: str, text: str | None) -> None:
        if text is None or address in self.places:
            return
        why = ""
        if not text:
            why = f"the worker at {address} is not one of `optiml worker`"
        else:
            why, card = self._looked_over(address, text)
            if not why:
                self.kind = self.kind or card
                self.places[address] = Place(address, card, heard=time.monotonic())
        if why:
            self._refused[address] = why
            self._say(f"left out: {why}")
        self._pump()

    def _looked_over(self, address: str, text: str) -> tuple[str, Card]:
        """Return why a worker is left out, empty when it is not, and its card."""
        try:
            card = card_from_json(text)
        except RunnerError as error:
            return f"{address}: {error.message}"[:500], Card()
        why = self._refuses(card) or unlike(self.kind or card, card)
        return why[:500], card

    # -- sending --------------------------------------------------------------------------------

    def _pump(self) -> None:
        """Send what waits to GPUs that have room, the idlest first."""
        now = time.monotonic()
        self.waiting.sort(key=lambda ticket: ticket.order)
        self.waiting = [ticket for ticket in self.waiting if not ticket.verdict.done()]
        for depth in range(DEPTH):
            able = [
                place
                for place in self.places.values()
                if len(place.running) == depth and place.able(now)
            ]
            for place in able:
                ticket = self._first_for(place)
                if ticket is not None:
                    self.waiting.remove(ticket)
                    self._send(ticket, place)
        if not self.waiting:
            self._share()

    def _first_for(self, place: Place) -> Errand | None:
        """Return what goes to a GPU next: not what it failed at, unless all others did, too."""
        for ticket in self.waiting:
            if place.address not in ticket.avoid or self.places.keys() <= ticket.avoid:
                return ticket
        return None

    def _share(self) -> None:
        """Take a job that waits at a busy GPU back for one that is idle."""
        now = time.monotonic()
        idle = sum(not place.running and place.able(now) for place in self.places.values())
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
        attempt.recalled = True
        number = self._name(attempt.ticket)
        with contextlib.suppress(*BROKEN):
            await asyncio.wait_for(
                self._client.run(
                    fleet_worker.withdraw, number, workers=[place.address], on_error="ignore"
                ),
                self.patience.answer,
            )

    def _name(self, ticket: Errand) -> str:
        return f"{self._run}-{ticket.number}"

    def _send(self, ticket: Errand, place: Place) -> None:
        attempt = Attempt(ticket, secrets.token_hex(16), time.monotonic())
        place.running.append(attempt)
        place.ready.add(readiness(ticket.job))
        attempt.task = self._start(self._attempt(place, attempt))

    async def _attempt(self, place: Place, attempt: Attempt) -> None:
        """Send a ticket to a worker and deal with what comes back."""
        try:
            text, blame = await self._asked(place, attempt), False
        except OptimlError as error:
            self._end(place, attempt)
            settle(attempt.ticket, error)
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
        place.stuck = 0 if text is not None else place.stuck
        if text is None:
            self._move(attempt.ticket, place.address, blame=blame)
        else:
            try:
                self._read(place, attempt, text)
            except Exception as error:  # noqa: BLE001 - whatever it is, the job has to go on
                self._say(f"the answer of {place.address} makes no sense: {error!r:.200}")
                self._move(attempt.ticket, place.address)
        self._pump()

    async def _asked(self, place: Place, attempt: Attempt) -> str:
        """Return a worker's answer to a job."""
        ticket = attempt.ticket
        files = parcel(ticket.job)
        judged_for = alike(ticket.job, files)
        attempt.known = self._judged.setdefault(judged_for, {})
        fresh = (code for code in attempt.known if (judged_for, code) not in place.told)
        told = list(itertools.islice(fresh, MOST_TOLD))
        place.told.update((judged_for, code) for code in told)
        number = self._name(ticket)
        asked = question(number, attempt.nonce, ticket.job, files, {judged_for: told})
        known = not files.digest or files.digest in place.parcels
        text = await self._sent(place, attempt, asked, None if known else files.data)
        if known and files.digest and '"missing"' in text[:200]:
            text = await self._sent(place, attempt, asked, files.data)
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
        if len(text) > MAX_VERDICT_BYTES:
            raise ValueError(f"it has {len(text)} bytes")
        said = json.loads(text)
        if said.get("withdrawn") and attempt.recalled:
            self._back(ticket)
        elif "unfit" in said:
            self._unfit(place, ticket, said)
        elif said.get("card") != place.card.digest:
            self._say(f"the answer of {place.address} is not from the GPU that joined: dropped")
            self._lose(place.address)
            self._move(ticket, place.address)
        elif "twin" in said:
            settle(ticket, self._of_twin(attempt, said))
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
                    settle(ticket, error)
                else:
                    ticket.avoid.add(place.address)
                    self._back(ticket)
            except OptimlError as error:
                settle(ticket, error)
            else:
                self._remember(attempt, verdict)
                settle(ticket, verdict)

    def _of_twin(self, attempt: Attempt, said: dict[str, Any]) -> Verdict:
        """Return the verdict on a candidate whose machine code another GPU has judged."""
        ticket = attempt.ticket
        wanted = (self._name(ticket), attempt.nonce, ticket.job.kernel.digest)
        if (said.get("id"), said.get("nonce"), said.get("digest")) != wanted:
            raise ValueError("it is about another candidate")
        found = attempt.known.get(str(said["twin"]))
        if found is None:
            raise ValueError("nobody has judged that machine code")
        return found

    @staticmethod
    def _remember(attempt: Attempt, verdict: Verdict) -> None:
        """Keep a verdict for candidates of the same machine code, as on one host."""
        ticket = attempt.ticket
        screened = ticket.job.effort is Effort.SCREEN and not ticket.only
        if screened and verdict.status is Status.CORRECT and verdict.machine_code:
            attempt.known[verdict.machine_code] = verdict

    def _unfit(self, place: Place, ticket: Errand, said: dict[str, Any]) -> None:
        why = f"{place.address}: {str(said['unfit'])[:300]}"
        self._say(f"{why}; its measurement does not count")
        place.rests = time.monotonic() + (1e9 if said.get("for_good") else self.patience.rest)
        ticket.unfit.append(why)
        if len(ticket.unfit) >= MOST_UNFIT:
            words = "; ".join(dict.fromkeys(ticket.unfit))
            settle(ticket, RunnerError(f"no GPU was fit to measure on: {words}"))
        else:
            self._back(ticket)

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
                    # Its threads may all be taken: each try is five minutes of somebody's job.
                    place.rests = now + self.patience.rest * 4**place.stuck
                    place.stuck = min(place.stuck + 1, MOST_STUCK)
                    self._drop(place, attempt)
                    self._move(attempt.ticket, place.address)
        self._pump()

    def _longest(self, job: Job, beside: int) -> float:
        most = JOB_SECONDS[job.effort] + LENT_SECONDS.get(job.effort, 0.0)
        return 2 * most * max(1, beside) + self.patience.job

    async def _ping(self, place: Place) -> None:
        client = self._client
        if client is None:
            return
        try:
            await asyncio.wait_for(
                client.run(fleet_worker.held, workers=[place.address]), self.patience.answer
            )
        except Exception:  # noqa: BLE001 - a worker's own, of any class
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

    def _back(self, ticket: Errand) -> None:
        """Put a job back into the line; a rehearsal is not worth it."""
        if ticket.only:
            settle(ticket, Verdict(Status.NOT_RECORDED, log="a rehearsal that did not end"))
        else:
            self.waiting.append(ticket)

    def _move(self, ticket: Errand, address: str, *, blame: bool = True) -> None:
        """Put a job that brought no answer back into the line, unless it kills its workers."""
        ticket.lost += blame
        ticket.avoid.add(address)
        if ticket.lost < MOST_LOST or ticket.only:
            self._back(ticket)
            self._pump()
            return
        words = f"{ticket.lost} workers were lost or hung while they judged this"
        if ticket.job.kernel == ticket.job.baseline or ticket.job.effort is not Effort.SCREEN:
            settle(ticket, RunnerError(words, "look at the workers' logs"))
        else:
            settle(ticket, Verdict(Status.CRASHED, log=words))

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
                settle(attempt.ticket, error)
        for ticket in self.waiting:
            settle(ticket, error)
        self.waiting = []

    def _say(self, words: str) -> None:
        """Tell the user, in one line that is no longer than a line may be: a worker's words."""
        self._tell(" ".join(words.split())[:MOST_WORDS])

    def _start(self, work: Any) -> asyncio.Task[None]:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task
