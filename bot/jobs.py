"""Durable jobs: each is a DBOS workflow whose finished steps are not done again.

DBOS goes on with what its own executor left, and nobody's else. So every process is an executor of
its own, beats its heart in the database, and takes over the jobs of those whose heart stopped,
itself before a restart included: one way for a crash, an update and a lost machine.
"""

from __future__ import annotations

import contextlib
import secrets
import socket
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import structlog
from dbos import DBOS, DBOSConfig, SetWorkflowID

# The serializer that writes JSON: what is kept must not be able to run code when it is read.
from dbos._serialization import DBOSPortableJSONSerializer

from bot import ending
from bot.database import Database, private
from bot.ending import End
from bot.interfaces import Hub
from bot.job import REVIEW, Job, JobState
from bot.metrics import Metrics
from bot.patience import DATABASE_AWAY, Patience, Stopped
from bot.replicas import Replicas
from bot.review_job import Records, ReviewJob
from bot.service import Service
from optimizer.errors import OptimlError

#: Workflows that another version began are gone on with as long as this stays the same. A change
#: of the steps' order needs another one.
STEPS_VERSION = "optiml-steps-1"
EVENTS = ("comment", "check", "pull", "run", "queue", "access")
_LOG = structlog.get_logger("optiml")
_EVENT = "event"
_DAY = 86_400.0
_ATTEMPTS = 3  # of a job that ended without saying how
_OFTEN = 60.0  # seconds for which a check run that does not close is tried again at every beat
_ENTER_WITHIN = 60.0  # seconds from being handed to DBOS to running


@dataclass(frozen=True, slots=True)
class Pace:
    """How much one replica does at once, and how often it looks; times in seconds.

    A replica whose heart did not beat for `lease` is dead to the others.
    """

    reviews: int = 16
    events: int = 4
    look: float = 1.0
    beat: float = 5.0
    lease: float = 30.0
    sweep: float = 300.0
    keep_days: float = 30.0


@dataclass(frozen=True, slots=True)
class Crew:
    """Who does the work, and what is remembered of it."""

    hub: Hub
    service: Service
    review: ReviewJob
    records: Records
    metrics: Metrics


class Jobs:
    """Takes jobs from the database and has them carried out, until `close`.

    DBOS knows one instance in a process, so there can be one of these at a time.
    """

    def __init__(self, database: Database, crew: Crew, pace: Pace, patience: Patience) -> None:
        self.replica = f"{socket.gethostname()[:60]}-{secrets.token_hex(6)}"
        self._database, self._crew, self._pace, self._patience = database, crew, pace, patience
        self._store, self._replicas = crew.records.store, Replicas(database)
        self._active: dict[str, tuple[str, float]] = {}  # job → kind, 0 or when DBOS was handed it
        self._lock = threading.Lock()
        self._woken = threading.Event()
        self._threads: list[threading.Thread] = []
        self._is_pressed: Callable[[], bool] = lambda: False
        self._beaten = 0.0
        self._began = time.time()
        self._workflows: dict[str, Callable[[str], None]] = {}

    def open(self) -> None:
        """Begin to carry jobs out."""
        url = _workflows_url(self._database)
        config: DBOSConfig = {
            "name": "optiml",
            "system_database_url": url,
            "executor_id": self.replica,
            "application_version": STEPS_VERSION,
            "log_level": "ERROR",
            "serializer": DBOSPortableJSONSerializer(),
            "use_listen_notify": False,
            # Nothing is waited for there: it is how long the end waits for who looks.
            "notification_listener_polling_interval_sec": 0.1,
            "enable_otlp": False,
        }
        DBOS(config=config)

        # DBOS knows functions by a name of their own, not methods.
        def carry(job_id: str) -> None:
            self._carried(job_id)

        def handle(job_id: str) -> None:
            self._handled(job_id)

        for name, work in ((REVIEW, carry), (_EVENT, handle)):
            durable = DBOS.workflow(name=f"optiml_{name}", max_recovery_attempts=None)(work)
            self._workflows[name] = durable
        DBOS.launch()
        self._replicas.beat(self.replica)
        for title, chores in (("keeper", self._keep), ("housekeeper", self._clean)):
            thread = threading.Thread(target=chores, name=f"optiml-{title}", daemon=True)
            thread.start()
            self._threads.append(thread)

    def wake(self) -> None:
        """Say that there is something to do."""
        self._woken.set()

    def yield_to(self, is_pressed: Callable[[], bool]) -> None:
        """Begin less while something tells that there is more pressing work, but never nothing."""
        self._is_pressed = is_pressed

    def close(self) -> None:
        """Stop. Jobs under way are left for whoever takes them over."""
        self._patience.stop.set()
        self._woken.set()
        for thread in self._threads:
            thread.join(timeout=10)
        deadline = time.monotonic() + 5
        while self._busy() and time.monotonic() < deadline:
            time.sleep(0.02)
        with contextlib.suppress(*DATABASE_AWAY):
            self._replicas.leave(self.replica)
        DBOS.destroy(destroy_registry=True)

    @property
    def is_alive(self) -> bool:
        """Tell whether jobs are taken: the keeper runs and reaches the database."""
        fresh = time.time() - max(self._beaten, self._began) < self._pace.lease
        return fresh and all(thread.is_alive() for thread in self._threads)

    # -- workflows ---------------------------------------------------------------------------------

    def _carried(self, job_id: str) -> None:
        with self._entered(job_id, REVIEW):
            text = ""
            for name in self._crew.review.steps:
                text = DBOS.run_step({"name": name}, self._step, name, job_id)
                if text:
                    break
            DBOS.run_step({"name": "conclude"}, self._conclude, job_id, text)

    def _handled(self, job_id: str) -> None:
        with self._entered(job_id, _EVENT):
            DBOS.run_step({"name": "handle"}, self._event, job_id)

    def _step(self, name: str, job_id: str) -> str:
        end = self._patience.ask(lambda: self._crew.review.step(name, job_id))
        return ending.to_json(end) if end is not None else ""

    def _conclude(self, job_id: str, text: str) -> None:
        end = ending.from_json(text) if text else End(JobState.FAILED, "It ended without a result")
        self._patience.ask(lambda: self._crew.review.conclude(job_id, end))
        self._count(job_id)

    def _event(self, job_id: str) -> None:
        def act() -> None:
            end = self._crew.service.handle(job_id)
            self._store.finish(job_id, end.state, end.title, end.detail)

        self._patience.ask(act)
        self._count(job_id)
        self._woken.set()  # a command may have asked for a review

    @contextlib.contextmanager
    def _entered(self, job_id: str, kind: str) -> Iterator[None]:
        with self._lock:
            self._active[job_id] = (kind, 0.0)
        try:
            with structlog.contextvars.bound_contextvars(job=job_id):
                self._patience.ask(lambda: self._store.own(job_id, self.replica))
                yield
        except Stopped:
            raise
        except Exception:
            _LOG.exception("a workflow failed", job=job_id)
            raise
        finally:
            with self._lock:
                self._active.pop(job_id, None)
            self._woken.set()

    def _count(self, job_id: str) -> None:
        job = self._store.job(job_id)
        if job is None:
            return
        kind = job.kind if job.kind in {REVIEW, *EVENTS} else "other"
        self._crew.metrics.ended.labels(kind, job.state.value).inc()
        self._crew.metrics.took.labels(kind).observe(time.time() - job.created)
        _LOG.info("ended", job=job.id, kind=kind, state=job.state.value, title=job.title)

    # -- taking jobs -------------------------------------------------------------------------------

    def _keep(self) -> None:
        while not self._patience.stop.is_set():
            try:
                self._look()
            except Exception:  # noqa: BLE001 - whatever it is, jobs have to be taken again
                _LOG.exception("jobs could not be taken; trying again")
                self._patience.stop.wait(self._pace.look)
            if self._is_pressed():
                self._patience.stop.wait(self._pace.look)
            self._woken.wait(self._pace.look)
            self._woken.clear()

    def _look(self) -> None:
        now = time.time()
        if now - self._beaten >= self._pace.beat:
            self._replicas.beat(self.replica)
            self._beaten = now
            # A SQLite file is held by one process: whoever else is written there is dead.
            since = now + _DAY if self._database.is_sqlite else now - self._pace.lease
            self._take_over(since)
            self._find_lost()
        most = 1 if self._is_pressed() else self._pace.reviews + self._pace.events
        self._claim(EVENTS, min(most, self._pace.events - self._busy(_EVENT)))
        self._claim((REVIEW,), min(most, self._pace.reviews - self._busy(REVIEW)))

    def _claim(self, kinds: tuple[str, ...], free: int) -> None:
        for job in self._store.claim(self.replica, kinds, free):
            self._begin(job)

    def _take_over(self, alive_since: float) -> None:
        for job in self._store.take_over(self.replica, alive_since, self._pace.reviews):
            _LOG.info("taken over", job=job.id)
            self._crew.metrics.taken_over.inc()
            self._go_on(job)

    def _find_lost(self) -> None:
        """Go on with jobs that are ours in the database and that nobody here is doing."""
        now = time.time()
        owned = {job.id: job for job in self._store.owned(self.replica)}
        with self._lock:
            for job_id, (_, handed) in list(self._active.items()):
                if handed and (now - handed > _ENTER_WITHIN or job_id not in owned):
                    del self._active[job_id]
            lost = [job for job in owned.values() if job.id not in self._active]
        for job in lost:
            current = self._store.job(job.id)
            if current is not None and current.state is JobState.RUNNING:
                self._go_on(current)

    def _begin(self, job: Job) -> None:
        kind = REVIEW if job.kind == REVIEW else _EVENT
        with self._lock:
            self._active[job.id] = (kind, time.time())
        with SetWorkflowID(_workflow_id(job)):
            DBOS.start_workflow(self._workflows[kind], job.id)

    def _go_on(self, job: Job) -> None:
        """Have a job's workflow go on where it was, whoever began it."""
        status = DBOS.get_workflow_status(_workflow_id(job))
        if status is None:
            self._begin(job)
        elif status.status in {"PENDING", "ENQUEUED", "DELAYED"}:
            kind = REVIEW if job.kind == REVIEW else _EVENT
            with self._lock:
                self._active[job.id] = (kind, time.time())
            DBOS.resume_workflow(_workflow_id(job))
        elif not self._store.again(job.id, _ATTEMPTS):
            words = "It failed too often; the service's log says why."
            end = End(JobState.FAILED, "The job could not be carried out", words)
            self._store.note(job.id, ending=ending.to_json(end))
            self._store.finish(job.id, end.state, end.title, end.detail)

    def _busy(self, kind: str = "") -> int:
        with self._lock:
            return sum(1 for one, _ in self._active.values() if not kind or one == kind)

    # -- keeping house -----------------------------------------------------------------------------

    def _clean(self) -> None:
        while not self._patience.stop.is_set():
            for chore in (self._stop_paused, self._close_checks, self._sweep, self._forget):
                try:
                    chore()
                except Stopped:
                    return
                except Exception:  # noqa: BLE001 - one chore must not keep others from being done
                    _LOG.exception("a chore failed; trying again", chore=chore.__name__)
            self._patience.stop.wait(self._pace.beat)

    def _stop_paused(self) -> None:
        """End what runs where the kill switch was thrown."""
        if not self._crew.records.ledger.switches():
            return
        for job in self._store.owned(self.replica):
            why = self._crew.records.ledger.paused(job.repository) if job.kind == REVIEW else ""
            if why and not job.wish:
                self._store.end_reviews(job.repository, None, f"OptiML was switched off: {why}")

    def _close_checks(self) -> None:
        """Complete check runs that could not be completed when their job ended."""
        if not self._replicas.turn_of("checks", self._pace.beat):
            return
        for job in self._store.unclosed():
            age = time.time() - job.updated
            if age > _OFTEN and age % _OFTEN > 2 * self._pace.beat:
                continue  # once a minute is enough for what has failed for long
            try:
                self._crew.review.close(job.id)
            except OptimlError as error:
                _LOG.warning("a check run is still open", job=job.id, why=error.message)

    def _sweep(self) -> None:
        """Ask GitHub for deliveries that never reached us; it does not send them again itself."""
        if not self._replicas.turn_of("sweep", self._pace.sweep):
            return
        now = time.time()
        text, _ = self._replicas.mark("swept")
        since = max(float(text or 0.0), now - 3 * _DAY)
        try:
            failed = self._crew.hub.deliveries(since)
            known = self._store.known([one.guid for one in failed])
            for one in failed:
                if one.guid not in known:
                    self._crew.hub.redeliver(one.id)
        except OptimlError as error:
            _LOG.warning("deliveries not swept", why=error.message)
            return
        # Overlaps: one that is being sent now may fail only later.
        self._replicas.set_mark("swept", str(now - 2 * self._pace.sweep), now)

    def _forget(self) -> None:
        """Drop what is old, so that the database does not grow without end."""
        if not self._replicas.turn_of("forget", 600.0):
            return
        before = time.time() - self._pace.keep_days * _DAY
        # GitHub can be asked for a delivery again for three days, on its own servers for seven.
        gone = self._store.forget(time.time() - 8 * _DAY, before)
        if gone:
            DBOS.delete_workflows([_workflow_id(job) for job in gone])
        self._crew.records.outcomes.forget(before)
        self._crew.records.ledger.forget(time.time() - 2 * _DAY)
        self._replicas.leave("", time.time() - _DAY)


def _workflow_id(job: Job) -> str:
    return f"{job.id}-{job.attempt}"


def _workflows_url(database: Database) -> str:
    """Return where DBOS keeps its steps: on SQLite a file beside ours, which has another writer."""
    if not database.is_sqlite:
        plain = database.url.set(drivername="postgresql")
        return plain.render_as_string(hide_password=False)
    name = f"{database.url.database}-steps"
    private(Path(name))
    with contextlib.closing(sqlite3.connect(name)) as connection:
        connection.execute("PRAGMA journal_mode=WAL")  # stays so for every later connection
    return f"sqlite:///{name}"
