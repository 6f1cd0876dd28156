"""Jobs that wait for a GPU, and in which order they go: the same on one host and in a fleet."""

from __future__ import annotations

import itertools
import math
import threading
import time
from collections.abc import Callable, Collection, Iterable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from enum import IntEnum
from typing import TYPE_CHECKING

from optimizer.model import Kind, Verdict
from runners.awaited import Awaited
from runners.interfaces import Job

if TYPE_CHECKING:
    from runners.dispatch import Built


class Rank(IntEnum):
    """Who goes first: what was chosen, what was only foreseen, what makes a GPU ready."""

    CHOSEN = 0
    FORESEEN = 1
    REHEARSAL = 2


@dataclass(slots=True, eq=False)
class Ticket:
    """A job's place in the line, and what its verdict will be in."""

    job: Job
    number: int
    rank: Rank = Rank.CHOSEN
    verdict: Future[Verdict] = field(default_factory=Future)

    @property
    def order(self) -> tuple[int, int]:
        """Return what the line is sorted by."""
        return (self.rank, self.number)


def awaited(
    tickets: Sequence[Ticket], changed: Callable[[], None] = lambda: None, *, cancels: bool = False
) -> Awaited:
    """Return the verdicts of tickets; `changed` is told when one goes before or behind others."""

    def prefer(place: int, urgent: bool) -> None:
        tickets[place].rank = Rank.CHOSEN if urgent else Rank.FORESEEN
        changed()

    return Awaited(
        len(tickets),
        lambda place: tickets[place].verdict.result(),
        lambda place: tickets[place].verdict.done(),
        prefer,
        lambda place: cancels and tickets[place].verdict.cancel(),
    )


def rehearsable(job: Job) -> bool:
    """Tell whether a job is one that GPUs with nothing to do had better run, too.

    The first job of a workload costs each GPU what all later ones are spared: a context, inputs,
    and what the original answers to them (3 to 4 s on an H200, six to seven evaluations). While the
    unedited kernel is judged the others are idle. Whole programs hold each other up in the driver,
    so theirs is judged alone.
    """
    return job.kernel == job.baseline and job.workload.kind is not Kind.PROGRAM


def readiness(job: Job) -> tuple[str, str]:
    """Identify what a GPU is made ready for by its first job."""
    return (job.baseline.digest, repr(job.workload))


@dataclass(slots=True, eq=False)
class Compiled(Ticket):
    """A ticket of a job that is compiled while it waits: the candidate, and its baseline.

    Until `leads`, in monotonic seconds, no later one goes before it though that is compiled.
    """

    leads: float = 0.0
    built: Future[tuple[Built, Built]] = field(default_factory=Future)
    key_of: Callable[[Job, Built], tuple[str, ...]] = field(default=lambda job, _: (str(job),))

    @property
    def key(self) -> tuple[str, ...]:
        """Identify what would be judged; only known once it is compiled."""
        unlike = self.rank is Rank.REHEARSAL or self.built.cancelled()
        if unlike or self.built.exception() is not None:
            return (str(self.number),)
        return self.key_of(self.job, self.built.result()[0])


def first(
    waiting: Collection[Compiled], running: Collection[tuple[str, ...]], now: float = math.inf
) -> Compiled | None:
    """Return what a free GPU takes: the first that is compiled and runs on no other GPU now."""
    able = [one for one in waiting if one.built.done() and one.key not in running]
    found = min(able, key=lambda ticket: ticket.order, default=None)
    if found is not None and any(one.order < found.order for one in leading(waiting, now)):
        return None
    return found


def leading(waiting: Iterable[Compiled], now: float) -> list[Compiled]:
    """Return those that are not compiled yet, and that others wait for."""
    return [one for one in waiting if one.leads > now and not one.built.done()]


class Line:
    """Jobs that wait for the GPUs of a host. Safe to use from many threads."""

    def __init__(self, key_of: Callable[[Job, Built], tuple[str, ...]]) -> None:
        self._key_of = key_of
        self._waiting: list[Compiled] = []
        self._running: set[tuple[str, ...]] = set()
        self._changed = threading.Condition()
        self._count = itertools.count()
        self._closed = False

    def join(
        self,
        job: Job,
        built: Future[tuple[Built, Built]],
        rank: Rank = Rank.CHOSEN,
        lead_seconds: float = 0.0,
    ) -> Compiled:
        """Return the place in the line of a job that is being compiled.

        Those behind it wait `lead_seconds` for it to be, at most.
        """
        leads = time.monotonic() + lead_seconds if lead_seconds else 0.0
        number = next(self._count)
        ticket = Compiled(job, number, rank, leads=leads, built=built, key_of=self._key_of)
        with self._changed:
            self._waiting.append(ticket)
        built.add_done_callback(lambda _: self.tell())
        return ticket

    def next(self) -> Compiled | None:
        """Wait for the next job and take it; None once the line is closed."""
        with self._changed:
            while not self._closed:
                now = time.monotonic()
                ticket = first(self._waiting, self._running, now)
                if ticket is not None:
                    self._waiting.remove(ticket)
                    self._running.add(ticket.key)
                    return ticket
                leads = [one.leads - now for one in leading(self._waiting, now)]
                self._changed.wait(min(leads, default=None))
            return None

    def done(self, ticket: Compiled) -> None:
        """Let those go on that waited for a job's verdict."""
        with self._changed:
            self._running.discard(ticket.key)
            self._changed.notify_all()

    def close(self) -> None:
        """Let nobody wait any longer."""
        with self._changed:
            self._closed = True
            for ticket in self._waiting:
                ticket.verdict.cancel()
            self._changed.notify_all()

    def tell(self) -> None:
        """Have a GPU that waits look again: a job was compiled, or is wanted now."""
        with self._changed:
            self._changed.notify()
