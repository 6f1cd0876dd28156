"""A review as a durable job: a line of steps, each of which can be done again.

A step reads what earlier ones wrote down, does its part, and writes that down. When a process dies
the step it was in is repeated elsewhere: an order keeps its id, and by it the check run, the GPU
job and the comment are found again instead of being made twice. `conclude` is always reached.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import structlog
from pydantic import TypeAdapter

from bot import ending, orders
from bot.commands import COMMAND, Optimize
from bot.comment import compose
from bot.dismissals import without
from bot.ending import End
from bot.github_errors import GithubError, Missing, Stale
from bot.interfaces import Change, Forge, Hub, Pull, PullState, Reviewed
from bot.job import OVER, Job, JobState
from bot.ledger import Ledger, Spender
from bot.markdown import code, prose
from bot.orders import Bench, BenchState, Order, Progress, asks_for
from bot.outcomes import Outcomes
from bot.patience import DATABASE_AWAY, TRANSIENT, Patience
from bot.store import Store
from bot.terms import Terms
from bot.vouching import vouched
from optimizer.errors import OptimlError

T = TypeVar("T")
_LOG = structlog.get_logger("optiml")
_PROGRESS: TypeAdapter[Progress] = TypeAdapter(Progress)
_TOLD_EVERY = 30.0  # seconds between two updates of a check run
_GONE_AFTER = 3600.0
_SOON = 120.0  # a bench is asked more often for so many seconds
_NAMES = 10
_STARTING = "starting"  # a handle that is not known yet, while there may be something to cancel


@dataclass(frozen=True, slots=True)
class Records:
    """What the service remembers."""

    store: Store
    ledger: Ledger
    outcomes: Outcomes


@dataclass(slots=True)
class _Seen:
    """What was read of a pull request once for one order."""

    forge: Forge
    changes: tuple[Change, ...]


class ReviewJob:
    """Carries reviews out with a hub, a bench and what is remembered."""

    def __init__(
        self, hub: Hub, bench: Bench, records: Records, terms: Terms, patience: Patience
    ) -> None:
        self._hub, self._bench, self._terms, self._patience = hub, bench, terms, patience
        self._store, self._ledger = records.store, records.ledger
        self._outcomes = records.outcomes
        self._seen: dict[str, _Seen] = {}
        self.steps: Mapping[str, Callable[[Job], End | None]] = {
            "look": self.look,
            "open": self.open,
            "detect": self.detect,
            "begin": self.begin,
            "wait": self.wait,
            "collect": self.collect,
            "publish": self.publish,
        }

    def step(self, name: str, job_id: str) -> End | None:
        """Do one step of a job; an end means that the steps between it and the last are left out.

        Raise `Stopped` when this process ends and a database's error when that is away: the step
        can be done again. Everything else that goes wrong is an end.
        """
        job = self._job(job_id)
        if job.wish:
            return _cancelled(job.wish)
        try:
            return self.steps[name](job)
        except DATABASE_AWAY:
            raise
        except Stale as error:
            return _cancelled(error.message)
        except Exception as error:  # noqa: BLE001 - told on the check run, which must not stay open
            return ending.failed(error)

    # -- the steps ---------------------------------------------------------------------------------

    def look(self, job: Job) -> End | None:
        """Read what is true now, and decide whether there is something to review."""
        if job.order and orders.from_json(job.order).id == order_id(job):
            return None  # decided before this process took the job over
        number = job.number or 0
        wanted = _wanted(job)
        try:
            state = self._ask(lambda: self._hub.pull(job.repository, number))
        except Missing:
            return End(JobState.CANCELLED, "The pull request is gone")
        refused = self._refused(job, state, explicit=wanted is not None)
        if refused is not None:
            return refused
        order = self._order(job, state, wanted or Optimize())
        # A push ends older reviews whether or not a new one is affordable; who asks for another
        # one of the same head and cannot have it should not lose the one that runs.
        denied = self._booked(job, order) if wanted is not None else None
        if denied is not None:
            return denied
        turn = self._store.begin_review(job.id, state.head, explicit=wanted is not None)
        if not turn.goes:
            self._ledger.settle(order.id, 0.0)
            return End(JobState.CANCELLED, f"Not begun: {turn.words}")
        denied = self._booked(job, order)
        if denied is not None:
            return denied
        self._store.note(
            job.id,
            order=orders.to_json(order),
            handle="",
            check_id=None,
            check_open=False,
            progress=_written(Progress(BenchState.QUEUED)),
        )
        return None

    def _booked(self, job: Job, order: Order) -> End | None:
        """Book a review's minutes once, or say whose allowance they exceed."""
        spender = Spender(job.repository, job.number or 0, job.actor)
        over = self._ledger.book(order.id, spender, order.minutes, self._terms.allowance)
        if not over:
            return None
        words = f"The budget is used up: {prose(over)}. It is counted over 24 hours."
        return End(JobState.CANCELLED, "The budget is used up", words, "neutral", order.head, words)

    def open(self, job: Job) -> End | None:
        """Open the check run."""
        order = orders.from_json(job.order)
        # Noted before it is done: whatever happens now, somebody looks for it and closes it.
        self._store.note(job.id, check_open=True)
        tries = itertools.count()
        check = self._ask(
            lambda: self._opened(
                job,
                order.head,
                "Looking at the change.",
                is_new=not job.check_open and next(tries) == 0,
            )
        )
        self._store.note(job.id, check_id=check)
        return None

    def detect(self, job: Job) -> End | None:
        """See which kernels changed; without one, or without a workload, no GPU is asked for."""
        order = orders.from_json(job.order)
        seen = self._look_at(order)
        if not seen.changes:
            words = "No CUDA kernel changed, so there is nothing to review."
            say = words if order.kernels else ""
            return End(JobState.DONE, "No CUDA kernel changed", words, "neutral", say=say)
        asked = [one for one in seen.changes if asks_for(order.kernels, one)]
        if not asked:
            names = ", ".join(code(one.kernel.name) for one in seen.changes[:_NAMES])
            words = f"No changed kernel is called {code(order.kernels[0])}. Changed: {names}."
            return End(JobState.DONE, "No such kernel changed", words, "neutral", say=words)
        if any(one.workload for one in asked):
            return None
        problem = "the base branch has no workload for it"
        results = [Reviewed(one, problem=problem) for one in asked]
        self._ask(lambda: seen.forge.publish(_pull(order), compose(results)))
        names = ", ".join(code(one.kernel.name) for one in asked[:_NAMES])
        words = (
            f"`.optiml.yml` on the base branch describes none of {names}, so they cannot be "
            "checked or timed."
        )
        return End(JobState.DONE, "No workload is described", words, "neutral", say=words)

    def begin(self, job: Job) -> End | None:
        """Order the review at the bench."""
        order = orders.from_json(job.order)
        if job.handle in {"", _STARTING}:
            self._store.note(job.id, handle=_STARTING)
            tries = itertools.count()
            handle = self._ask(
                lambda: self._bench.start(order, is_new=not job.handle and next(tries) == 0)
            )
            self._store.note(job.id, handle=handle)
        return None

    def wait(self, job: Job) -> End | None:
        """Wait until the bench is done, telling how far it is. Asks on through every outage."""
        began = time.time()
        told = began
        asked, shown = 0.0, ""
        while True:
            wish, nudged = self._store.wish(job.id)
            if wish:
                return _cancelled(wish)
            now = time.time()
            often = self._terms.poll_seconds * (1 if now - began < _SOON else 3)
            if now - asked < often and nudged <= asked:
                self._patience.sleep(min(1.0, self._terms.poll_seconds))
                continue
            asked = now
            try:
                progress = self._ask(lambda: self._bench.poll(job.handle), job.id)
            except TRANSIENT:
                if now - job.created > self._terms.hours * 3600:
                    raise
                continue
            if _written(progress) != shown:
                shown = _written(progress)
                self._store.note(job.id, progress=shown)
                if now - told >= _TOLD_EVERY and not progress.state.over:
                    told = now
                    self._tell(job, progress)
            if progress.state is BenchState.CANCELLED:
                return End(JobState.CANCELLED, "The GPU job was cancelled")
            if progress.state.over:
                return None
            if now - job.created > self._terms.hours * 3600:
                words = f"The GPU job did not end within {self._terms.hours:g} hours."
                return End(JobState.FAILED, "Timed out", words, "timed_out", say=words)

    def collect(self, job: Job) -> End | None:
        """Fetch the results, hold them against what GitHub has, and keep them."""
        order = orders.from_json(job.order)
        fetched = self._ask(lambda: self._bench.fetch(job.handle, order))
        results = vouched(fetched, self._look_at(order).changes)
        self._outcomes.keep(job.id, (job.repository, job.number, order.head), results)
        return None

    def publish(self, job: Job) -> End | None:
        """Write the comment, unless the pull request has moved on meanwhile."""
        order = orders.from_json(job.order)
        state = self._ask(lambda: self._hub.pull(job.repository, job.number or 0))
        if state.state != "open":
            return _cancelled("the pull request was closed")
        if state.head != order.head:
            return _cancelled(f"superseded by {state.head[:7]}")
        results = self._results(job)
        forge = self._look_at(order).forge
        self._ask(lambda: forge.publish(_pull(order), compose(results)))
        return End(JobState.DONE, "")

    def conclude(self, job_id: str, end: End) -> None:
        """Close the check run, answer whoever asked, and end the job."""
        job = self._job(job_id)
        order = orders.from_json(job.order) if job.order else None
        if order is not None and order.id != order_id(job):
            order = None  # of an attempt that is over
        if order is not None:
            self._seen.pop(order.id, None)
        self._store.note(job_id, ending=ending.to_json(end))
        if order is not None and job.handle and end.state is not JobState.DONE:
            self._try(lambda: self._stop_bench(job.handle, order), "cancel")
        if order is not None:
            minutes = (time.time() - job.created) / 60 if job.handle else 0.0
            self._ledger.settle(order.id, min(minutes, order.minutes * 10))
        if end.say and _wanted(job) is not None:
            self._try(lambda: self._say(job, end.say), "answer")
        if job.check_open or end.head:
            if not job.check_open:
                self._store.note(job_id, check_open=True)
            self._try(lambda: self.close(job_id), "close")
        title = end.title or ending.closing(end, self._results(job)).title
        self._store.finish(job_id, end.state, title, end.detail)

    def close(self, job_id: str) -> None:
        """Complete a job's check run, which may have been opened by a process that died."""
        job = self._job(job_id)
        if not job.ending:
            end = End(JobState.FAILED, "The review was lost", "Ask for it again.")
        else:
            end = ending.from_json(job.ending)
        head = orders.from_json(job.order).head if job.order else end.head
        if not head:
            self._store.note(job_id, check_open=False)
            return
        try:
            check = job.check_id
            if check is None:
                check = self._opened(job, head, "")
            results = self._results(job)
            comment = ""
            if results and end.state is JobState.DONE:
                comment = self._hub.comment_url(job.repository, job.number or 0)
            closing = ending.closing(end, results, self._terms.page_of(job.id), comment)
            self._hub.close_check(job.repository, check, closing)
        except Missing:
            # GitHub may not see for a while what it made; after an hour it is gone, or we are.
            if job.state not in OVER or time.time() - job.updated < _GONE_AFTER:
                raise
            _LOG.info("check is gone", job=job_id)
        self._store.note(job_id, check_open=False)

    # -- parts of them -----------------------------------------------------------------------------

    def _job(self, job_id: str) -> Job:
        job = self._store.job(job_id)
        if job is None:
            raise OptimlError("a job is gone from the database while it runs")
        return job

    def _ask(self, question: Callable[[], T], job_id: str = "") -> T:
        urgent = (lambda: bool(self._store.wish(job_id)[0])) if job_id else (lambda: False)
        return self._patience.ask(question, urgent=urgent)

    def _try(self, act: Callable[[], None], what: str) -> None:
        """Do what others can make up for: a failure here must not keep a job from ending."""
        try:
            self._patience.ask(act)
        except OptimlError as error:
            _LOG.warning("not done", what=what, why=error.message)

    def _refused(self, job: Job, state: PullState, *, explicit: bool) -> End | None:
        """Say why a pull request is not reviewed now; None when it is."""
        if state.state != "open":
            return End(JobState.CANCELLED, "The pull request is closed", say="It is closed.")
        paused = self._ledger.paused(job.repository)
        if paused:
            words = f"OptiML is switched off here: {prose(paused)}."
            return End(JobState.CANCELLED, "Switched off", words, "neutral", state.head, words)
        if self._terms.skip_label in state.labels:
            words = f"The label `{self._terms.skip_label}` is set; remove it to have a review."
            return End(
                JobState.CANCELLED, "Skipped by its label", words, "skipped", state.head, words
            )
        if state.draft and not explicit and not self._terms.drafts:
            return End(JobState.CANCELLED, "Drafts are reviewed when asked for")
        number = job.number or 0
        if state.fork and not self._ledger.is_approved(job.repository, number, state.head):
            words = (
                "Code of a fork runs on the GPU once somebody with write access has looked at it: "
                f"`/optiml approve {state.head}`. A new push needs a new approval."
            )
            return End(
                JobState.CANCELLED, "Waiting for approval", words, "neutral", state.head, words
            )
        return None

    def _order(self, job: Job, state: PullState, wanted: Optimize) -> Order:
        return Order(
            repository=job.repository,
            number=job.number,
            base=state.base,
            head=state.head,
            id=order_id(job),
            kernels=(wanted.target,) if wanted.target else (),
            minutes=wanted.minutes or self._terms.minutes,
            evaluations=self._terms.evaluations,
            min_speedup=wanted.min_speedup,
            objective=wanted.objective or self._terms.objective,
            policy=self._terms.policy,
            seed=self._terms.seed,
        )

    def _opened(self, job: Job, head: str, text: str, *, is_new: bool = False) -> int:
        page = self._terms.page_of(job.id)
        return self._hub.open_check(
            job.repository, head, order_id(job), text, url=page, is_new=is_new
        )

    def _look_at(self, order: Order) -> _Seen:
        seen = self._seen.get(order.id)
        if seen is None:
            forge = self._hub.forge(order.repository, order.number or 0)
            changes = self._ask(lambda: forge.changed_kernels(_pull(order)))
            seen = self._seen[order.id] = _Seen(forge, tuple(changes))
        return seen

    def _results(self, job: Job) -> tuple[Reviewed, ...]:
        kept: Sequence[Reviewed] = [one.reviewed for one in self._outcomes.of_job(job.id)]
        return without(kept, self._ledger.dismissed(job.repository))

    def _tell(self, job: Job, progress: Progress) -> None:
        if job.check_id is None:
            return
        words = f"{progress.state.value.capitalize()}. {prose(progress.detail[:200])}"
        if progress.steps:
            words += f" {progress.steps} candidates so far."
        try:
            self._hub.update_check(job.repository, job.check_id, words)
        except GithubError as error:  # the next one will do
            _LOG.info("progress not told", job=job.id, why=error.message)

    def _stop_bench(self, handle: str, order: Order) -> None:
        if handle == _STARTING:  # starting it again finds it, if it was started
            handle = self._bench.start(order)
        self._bench.cancel(handle)

    def _say(self, job: Job, words: str) -> None:
        self._hub.reply(job.repository, job.number or 0, words, job.id)


def order_id(job: Job) -> str:
    """Return the id of a job's order: the same for each attempt, whoever makes it."""
    return hashlib.sha256(f"{job.id}:{job.attempt}".encode()).hexdigest()[:32]


def _wanted(job: Job) -> Optimize | None:
    """Return what somebody asked for by command or button; None when an event began the job."""
    if "verb" not in json.loads(job.intent):
        return None
    found = COMMAND.validate_json(job.intent)
    return found if isinstance(found, Optimize) else Optimize()


def _pull(order: Order) -> Pull:
    return Pull(order.base, order.head, order.repository, order.number)


def _cancelled(why: str) -> End:
    return End(JobState.CANCELLED, f"Cancelled: {why}")


def _written(progress: Progress) -> str:
    return _PROGRESS.dump_json(progress).decode()
