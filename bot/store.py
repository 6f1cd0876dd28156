"""Deliveries and jobs, durable: what was accepted is done once, whatever dies in between.

A delivery and its job are written in one transaction before anybody is told. A job belongs to one
replica at a time; whoever's heartbeat stops loses its jobs to another.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from bot.database import Database
from bot.job import (
    ACTIVE,
    OVER,
    REVIEW,
    Intake,
    Job,
    JobState,
    Receipt,
    Turn,
    delivery_row,
    job_from,
    job_row,
    row_of,
)
from bot.tables import DELIVERIES, JOBS, REPLICAS

_DETAIL = 20_000  # characters of what is said of a job
_WISH = 300


class Store:
    """Deliveries, jobs and replicas in a database that `Database.prepare` has prepared."""

    def __init__(self, database: Database) -> None:
        self.database = database

    # -- deliveries --------------------------------------------------------------------------------

    def accept(self, batch: Sequence[Intake]) -> list[Receipt]:
        """Write deliveries and their jobs in one transaction; tell of each what became of it."""
        try:
            return self._accept(batch)
        except sa.exc.IntegrityError:  # another replica was given the same one just now
            return self._accept(batch)

    def _accept(self, batch: Sequence[Intake]) -> list[Receipt]:
        now = time.time()
        receipts: list[Receipt] = []
        deliveries: list[dict[str, Any]] = []
        jobs: list[dict[str, Any]] = []
        with self.database.write() as connection:
            known = _known(connection, [one.guid for one in batch])
            for one in batch:
                if one.guid in known:
                    receipts.append(_again(connection, one.guid, known[one.guid], now))
                    continue
                job = job_row(one.happening, now) if one.happening else None
                if job is not None:
                    jobs.append(job)
                known[one.guid] = job["id"] if job else ""
                deliveries.append(delivery_row(one, known[one.guid], now))
                receipts.append(Receipt.NEW if job else Receipt.IGNORED)
            if deliveries:
                connection.execute(sa.insert(DELIVERIES), deliveries)
            if jobs:
                connection.execute(sa.insert(JOBS), jobs)
        return receipts

    def forget(self, deliveries_before: float, jobs_before: float, limit: int = 500) -> list[Job]:
        """Drop old deliveries, and some of the old jobs that are over; return those jobs."""
        done = (JOBS.c.updated < jobs_before, JOBS.c.state.in_(OVER), JOBS.c.check_open.is_(False))
        with self.database.write() as connection:
            old = sa.delete(DELIVERIES).where(DELIVERIES.c.received < deliveries_before)
            connection.execute(old)
            select = sa.select(JOBS).where(*done).order_by(JOBS.c.seq).limit(limit)
            gone = [job_from(row) for row in connection.execute(select).mappings()]
            connection.execute(sa.delete(JOBS).where(JOBS.c.id.in_([one.id for one in gone])))
        return gone

    # -- jobs --------------------------------------------------------------------------------------

    def job(self, job_id: str) -> Job | None:
        """Return a job by its id."""
        found = self._jobs(JOBS.c.id == job_id)
        return found[0] if found else None

    def add_review(self, job_id: str, pull: tuple[str, int], actor: str, intent: str) -> None:
        """Ask for a review; the same id again asks for nothing new."""
        row = row_of(REVIEW, pull[0], pull[1], actor, intent, time.time()) | {"id": job_id}
        with self.database.write() as connection:
            connection.execute(self.database.insert(JOBS).values(row).on_conflict_do_nothing())

    def claim(self, owner: str, kinds: Sequence[str], limit: int) -> list[Job]:
        """Take waiting jobs, oldest first; nobody else gets the same ones."""
        if limit <= 0:
            return []
        waiting = (
            sa.select(JOBS.c.id)
            .where(JOBS.c.state == JobState.WAITING, JOBS.c.kind.in_(kinds))
            .order_by(JOBS.c.seq)
            .limit(limit)
            .with_for_update(skip_locked=True)  # SQLite has one writer and leaves it out
        )
        return self._take(waiting, owner)

    def take_over(self, owner: str, alive_since: float, limit: int) -> list[Job]:
        """Take running jobs of replicas whose heartbeat stopped before a time."""
        alive = sa.select(REPLICAS.c.id).where(REPLICAS.c.beat >= alive_since)
        orphans = (
            sa.select(JOBS.c.id)
            .where(JOBS.c.state == JobState.RUNNING, JOBS.c.owner.not_in(alive))
            .where(JOBS.c.owner != owner)
            .order_by(JOBS.c.seq)
            .limit(limit)
            .with_for_update(skip_locked=True)
        )
        return self._take(orphans, owner)

    def _take(self, wanted: sa.Select[tuple[str]], owner: str) -> list[Job]:
        with self.database.write() as connection:
            ids = connection.execute(wanted).scalars().all()
            if not ids:
                return []
            connection.execute(
                sa.update(JOBS)
                .where(JOBS.c.id.in_(ids))
                .values(
                    state=JobState.RUNNING,
                    owner=owner,
                    updated=time.time(),
                )
            )
            rows = connection.execute(
                sa.select(JOBS).where(JOBS.c.id.in_(ids)).order_by(JOBS.c.seq)
            )
            return [job_from(row) for row in rows.mappings()]

    def begin_review(self, job_id: str, head: str, *, explicit: bool) -> Turn:
        """Give a review its turn: the newest head wins, and older runs are told to end.

        A job reads its head after its delivery came, so the job with the highest number has the
        newest head, in whatever order deliveries came. `explicit` is what somebody asked for; what
        only follows from an event yields to a review of the same head.
        """
        with self.database.write() as connection:
            # All reviews of the pull request are locked, so that two replicas take turns here.
            rows = connection.execute(
                sa.select(JOBS.c.id, JOBS.c.seq, JOBS.c.head, JOBS.c.wish, JOBS.c.state)
                .where(*_same_pull(job_id), JOBS.c.state.in_((*ACTIVE, JobState.DONE)))
                .order_by(JOBS.c.seq)
                .with_for_update()
            ).all()
            mine = next(row for row in rows if row.id == job_id)
            others = [row for row in rows if row.id != job_id and row.head and not row.wish]
            running = [row for row in others if row.state == JobState.RUNNING]
            if not explicit and others and others[-1].head == head:
                return Turn(goes=False, words=f"{head[:7]} is reviewed already", is_twin=True)
            newer = [row for row in running if row.seq > mine.seq]
            if newer:
                return Turn(goes=False, words=f"superseded by a review of {newer[-1].head[:7]}")
            why = f"superseded by {'a new request for ' if explicit else ''}{head[:7]}"
            _wish(connection, JOBS.c.id.in_([row.id for row in running]), why)
            connection.execute(sa.update(JOBS).where(JOBS.c.id == job_id).values(head=head))
        return Turn(goes=True)

    def own(self, job_id: str, owner: str) -> None:
        """Say which replica carries a running job out."""
        running = sa.and_(JOBS.c.id == job_id, JOBS.c.state == JobState.RUNNING)
        self._update(running, {"owner": owner})

    def wish(self, job_id: str) -> tuple[str, float]:
        """Return why a job is to end (empty: go on), and when it was last to ask its bench."""
        with self.database.read() as connection:
            select = sa.select(JOBS.c.wish, JOBS.c.nudged).where(JOBS.c.id == job_id)
            row = connection.execute(select).first()
            return (row[0], row[1]) if row else ("", 0.0)

    def again(self, job_id: str, most: int) -> bool:
        """Have a running job wait for another attempt; tell whether it has one left."""
        fits = sa.and_(JOBS.c.id == job_id, JOBS.c.state == JobState.RUNNING, JOBS.c.attempt < most)
        with self.database.write() as connection:
            fresh = {"state": JobState.WAITING, "owner": "", "attempt": JOBS.c.attempt + 1}
            values = {**fresh, "updated": time.time()}
            return connection.execute(sa.update(JOBS).where(fits).values(values)).rowcount == 1

    def end_reviews(self, repository: str, number: int | None, why: str) -> list[str]:
        """Ask active reviews of a pull request, or of a repository, to end; return their ids."""
        asked = [JOBS.c.repository == repository, JOBS.c.kind == REVIEW, JOBS.c.state.in_(ACTIVE)]
        if number is not None:
            asked.append(JOBS.c.number == number)
        with self.database.write() as connection:
            ids = (
                connection.execute(sa.select(JOBS.c.id).where(*asked, JOBS.c.wish == ""))
                .scalars()
                .all()
            )
            _wish(connection, JOBS.c.id.in_(ids), why)
        return list(ids)

    def nudge(self, repository: str) -> None:
        """Have running reviews of a repository ask their bench now."""
        self._update(
            sa.and_(
                JOBS.c.repository == repository,
                JOBS.c.kind == REVIEW,
                JOBS.c.state == JobState.RUNNING,
            ),
            {"nudged": time.time()},
        )

    def note(self, job_id: str, **columns: Any) -> None:
        """Write down facts of a job: order, handle, check_id, check_open, progress."""
        self._update(JOBS.c.id == job_id, columns)

    def finish(self, job_id: str, state: JobState, title: str, detail: str = "") -> None:
        """End a job; one that is over stays as it is."""
        clean = (title.replace("\x00", ""), detail.replace("\x00", ""))
        values = {"state": state, "title": clean[0][:300], "detail": clean[1][:_DETAIL]}
        self._update(sa.and_(JOBS.c.id == job_id, JOBS.c.state.in_(ACTIVE)), values)

    def reviews(self, repository: str, number: int, limit: int = 5) -> list[Job]:
        """Return the latest reviews of a pull request, newest first."""
        where = (JOBS.c.repository == repository, JOBS.c.number == number, JOBS.c.kind == REVIEW)
        return self._jobs(*where, newest=limit)

    def of_check(self, repository: str, check_id: int) -> Job | None:
        """Return the review that a check run belongs to."""
        found = self._jobs(JOBS.c.repository == repository, JOBS.c.check_id == check_id)
        return found[-1] if found else None

    def known(self, guids: Sequence[str]) -> frozenset[str]:
        """Return which deliveries were written down."""
        with self.database.read() as connection:
            return frozenset(_known(connection, guids))

    def unclosed(self) -> list[Job]:
        """Return jobs that are over and whose check run could not be completed yet."""
        return self._jobs(JOBS.c.state.in_(OVER), JOBS.c.check_open.is_(True))

    def owned(self, owner: str) -> list[Job]:
        """Return the running jobs of a replica."""
        return self._jobs(JOBS.c.state == JobState.RUNNING, JOBS.c.owner == owner)

    def counts(self) -> Mapping[tuple[str, str], int]:
        """Count jobs by kind and state."""
        with self.database.read() as connection:
            rows = connection.execute(
                sa.select(JOBS.c.kind, JOBS.c.state, sa.func.count()).group_by(
                    JOBS.c.kind, JOBS.c.state
                )
            )
            return {(kind, state): number for kind, state, number in rows}

    def asked_by(self, actor: str, since: float) -> int:
        """Count what somebody has asked for since a time."""
        with self.database.read() as connection:
            select = sa.select(sa.func.count()).where(
                JOBS.c.actor == actor,
                JOBS.c.created >= since,
                JOBS.c.kind.in_(("comment", "check")),
            )
            return int(connection.execute(select).scalar_one())

    def _jobs(self, *where: sa.ColumnElement[bool], newest: int | None = None) -> list[Job]:
        select = sa.select(JOBS).where(*where)
        select = (
            select.order_by(JOBS.c.seq)
            if newest is None
            else select.order_by(JOBS.c.seq.desc()).limit(newest)
        )
        with self.database.read() as connection:
            return [job_from(row) for row in connection.execute(select).mappings()]

    def _update(self, where: sa.ColumnElement[bool], values: Mapping[str, Any]) -> None:
        with self.database.write() as connection:
            connection.execute(
                sa.update(JOBS).where(where).values({**values, "updated": time.time()})
            )


def _same_pull(job_id: str) -> tuple[sa.ColumnElement[bool], ...]:
    me = sa.select(JOBS.c.repository, JOBS.c.number).where(JOBS.c.id == job_id).subquery()
    return (
        JOBS.c.repository == sa.select(me.c.repository).scalar_subquery(),
        JOBS.c.number == sa.select(me.c.number).scalar_subquery(),
        JOBS.c.kind == REVIEW,
    )


def _known(connection: sa.Connection, guids: Sequence[str]) -> dict[str, str]:
    select = sa.select(DELIVERIES.c.guid, DELIVERIES.c.job).where(DELIVERIES.c.guid.in_(guids))
    return {row.guid: row.job for row in connection.execute(select)}


def _again(connection: sa.Connection, guid: str, job_id: str, now: float) -> Receipt:
    """Have a failed job run again; anything else of a known delivery is done or being done."""
    seen = sa.update(DELIVERIES).where(DELIVERIES.c.guid == guid)
    connection.execute(seen.values(times=DELIVERIES.c.times + 1))
    if not job_id:
        return Receipt.IGNORED
    failed = sa.update(JOBS).where(JOBS.c.id == job_id, JOBS.c.state == JobState.FAILED)
    fresh = {
        "state": JobState.WAITING,
        "owner": "",
        "wish": "",
        "head": "",
        "ending": "",
        "updated": now,
        "attempt": JOBS.c.attempt + 1,
    }
    restarted = connection.execute(failed.values(fresh)).rowcount
    return Receipt.AGAIN if restarted else Receipt.KNOWN


def _wish(connection: sa.Connection, which: sa.ColumnElement[bool], why: str) -> None:
    connection.execute(
        sa.update(JOBS)
        .where(which, JOBS.c.state.in_(ACTIVE), JOBS.c.wish == "")
        .values(wish=why[:_WISH], updated=time.time())
    )
