"""Who may what, and what it has cost: approvals, dismissals, budgets, the kill switch."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass

import sqlalchemy as sa

from bot.database import Database
from bot.tables import APPROVALS, DISMISSALS, SPENDING, SWITCHES

EVERYWHERE = "*"
DAY = 86_400.0


@dataclass(frozen=True, slots=True)
class Allowance:
    """GPU minutes within a day; 0 means no limit."""

    user: float = 240.0
    pull: float = 240.0
    repository: float = 1440.0


@dataclass(frozen=True, slots=True)
class Spender:
    """Whose minutes are counted: a user, on a pull request, in a repository."""

    repository: str
    number: int | None
    actor: str


class Ledger:
    """Decisions of people and GPU minutes, in a database that is prepared."""

    def __init__(self, database: Database) -> None:
        self.database = database

    # -- forks -------------------------------------------------------------------------------------

    def approve(self, repository: str, number: int, sha: str, actor: str) -> None:
        """Let one commit of a fork run; an approval of another commit of it ends."""
        row = {"repository": repository, "number": number, "sha": sha, "actor": actor}
        row["at"] = time.time()
        insert = self.database.insert(APPROVALS).values(row)
        with self.database.write() as connection:
            connection.execute(
                insert.on_conflict_do_update(index_elements=["repository", "number"], set_=row)
            )

    def is_approved(self, repository: str, number: int, sha: str) -> bool:
        """Tell whether a commit may run. One for another commit is revoked: the branch moved on."""
        mine = (APPROVALS.c.repository == repository, APPROVALS.c.number == number)
        with self.database.write() as connection:
            connection.execute(sa.delete(APPROVALS).where(*mine, APPROVALS.c.sha != sha))
            found = connection.execute(sa.select(APPROVALS.c.sha).where(*mine)).scalar()
        return found == sha

    # -- dismissals --------------------------------------------------------------------------------

    def dismiss(self, repository: str, fingerprint: str, actor: str) -> None:
        """Never offer a change again in a repository."""
        row = {"repository": repository, "fingerprint": fingerprint, "actor": actor}
        insert = self.database.insert(DISMISSALS).values({**row, "at": time.time()})
        with self.database.write() as connection:
            connection.execute(insert.on_conflict_do_nothing())

    def dismissed(self, repository: str) -> frozenset[str]:
        """Return the fingerprints of changes that are not to be offered."""
        select = sa.select(DISMISSALS.c.fingerprint).where(DISMISSALS.c.repository == repository)
        with self.database.read() as connection:
            return frozenset(connection.execute(select).scalars())

    # -- budgets -----------------------------------------------------------------------------------

    def book(self, job: str, spender: Spender, minutes: float, allowance: Allowance) -> str:
        """Book GPU minutes of a job, or say whose allowance they would exceed. Once per job."""
        since = time.time() - DAY
        total = sa.func.coalesce(sa.func.sum(SPENDING.c.minutes), 0.0)
        here = (SPENDING.c.repository == spender.repository, SPENDING.c.at >= since)
        scopes = [
            ("this repository", allowance.repository, here),
            ("this pull request", allowance.pull, (*here, SPENDING.c.number == spender.number)),
            (
                f"{spender.actor}",
                allowance.user,
                (SPENDING.c.actor == spender.actor, SPENDING.c.at >= since),
            ),
        ]
        with self.database.write() as connection:
            mine = sa.select(SPENDING.c.job).where(SPENDING.c.job == job)
            if connection.execute(mine).scalar() is not None:
                return ""
            for name, limit, where in scopes:
                if limit <= 0 or (name == spender.actor and not spender.actor):
                    continue
                spent = float(connection.execute(sa.select(total).where(*where)).scalar_one())
                if spent + minutes > limit:
                    return (
                        f"{name} has used {spent:.0f} of {limit:.0f} GPU minutes of the last day, "
                        f"and this asks for {minutes:.0f}"
                    )
            row = {
                "job": job,
                "repository": spender.repository,
                "number": spender.number,
                "actor": spender.actor,
                "minutes": minutes,
                "at": time.time(),
            }
            connection.execute(self.database.insert(SPENDING).values(row).on_conflict_do_nothing())
        return ""

    def settle(self, job: str, minutes: float) -> None:
        """Correct what was booked to what it took."""
        spent = sa.update(SPENDING).where(SPENDING.c.job == job)
        with self.database.write() as connection:
            connection.execute(spent.values(minutes=max(minutes, 0.0)))

    # -- the kill switch ---------------------------------------------------------------------------

    def pause(self, scope: str, reason: str) -> None:
        """Stop everything (`*`) or a repository: nothing new begins, what runs ends."""
        row = {"scope": scope, "reason": reason[:300], "at": time.time()}
        insert = self.database.insert(SWITCHES).values(row)
        with self.database.write() as connection:
            connection.execute(insert.on_conflict_do_update(index_elements=["scope"], set_=row))

    def resume(self, scope: str) -> bool:
        """Let it run again; tell whether it had been stopped."""
        with self.database.write() as connection:
            gone = connection.execute(sa.delete(SWITCHES).where(SWITCHES.c.scope == scope))
            return gone.rowcount > 0

    def paused(self, repository: str) -> str:
        """Return why nothing runs for a repository; empty when it may."""
        select = sa.select(SWITCHES.c.reason).where(SWITCHES.c.scope.in_((EVERYWHERE, repository)))
        with self.database.read() as connection:
            found = connection.execute(select).scalar()
        return "" if found is None else found or "no reason given"

    def switches(self) -> Mapping[str, str]:
        """Return what is stopped, and why."""
        with self.database.read() as connection:
            rows = connection.execute(sa.select(SWITCHES.c.scope, SWITCHES.c.reason))
            return {row.scope: row.reason for row in rows}

    def forget(self, before: float) -> None:
        """Drop bookings older than a time."""
        with self.database.write() as connection:
            connection.execute(sa.delete(SPENDING).where(SPENDING.c.at < before))
