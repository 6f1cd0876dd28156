"""What reviews found, kept so that it can be applied, explained and shown later."""

from __future__ import annotations

import time
import zlib
from collections.abc import Sequence
from dataclasses import dataclass

import sqlalchemy as sa
from pydantic import TypeAdapter

from bot.comment import identity
from bot.database import Database
from bot.interfaces import Reviewed
from bot.outcome import summarize
from bot.tables import OUTCOMES
from optimizer.errors import RunnerError

MAX_BYTES = 64 << 20  # of one kernel's result, unpacked
_REVIEWED: TypeAdapter[Reviewed] = TypeAdapter(Reviewed)


@dataclass(frozen=True, slots=True)
class Kept:
    """One kernel's result, with the job and the commit it belongs to."""

    job: str
    head: str
    ident: str
    reviewed: Reviewed


class Outcomes:
    """Results of reviews, packed, in a database that is prepared."""

    def __init__(self, database: Database) -> None:
        self.database = database

    def keep(
        self, job: str, pull: tuple[str, int | None, str], results: Sequence[Reviewed]
    ) -> None:
        """Write a job's results; `pull` is repository, number, head. Again replaces them."""
        repository, number, head = pull
        rows = [
            {
                "job": job,
                "place": place,
                "repository": repository,
                "number": number,
                "head": head,
                "ident": ident_of(one),
                "packed": zlib.compress(_REVIEWED.dump_json(one), 6),
                "created": time.time(),
            }
            for place, one in enumerate(results)
        ]
        with self.database.write() as connection:
            connection.execute(sa.delete(OUTCOMES).where(OUTCOMES.c.job == job))
            if rows:
                connection.execute(sa.insert(OUTCOMES), rows)

    def of_job(self, job: str) -> tuple[Kept, ...]:
        """Return a job's results in the order of its review."""
        return self._read(OUTCOMES.c.job == job, newest=False)

    def find(self, repository: str, number: int, ident: str) -> Kept | None:
        """Return the latest result with an ID on a pull request."""
        found = self._read(
            OUTCOMES.c.repository == repository,
            OUTCOMES.c.number == number,
            OUTCOMES.c.ident == ident,
            newest=True,
        )
        return found[0] if found else None

    def idents(self, repository: str, number: int) -> tuple[str, ...]:
        """Return the IDs of a pull request's results, newest first, for who mistyped one."""
        select = (
            sa.select(OUTCOMES.c.ident)
            .where(OUTCOMES.c.repository == repository, OUTCOMES.c.number == number)
            .where(OUTCOMES.c.ident != "")
            .order_by(OUTCOMES.c.created.desc())
            .limit(10)
        )
        with self.database.read() as connection:
            return tuple(dict.fromkeys(connection.execute(select).scalars()))

    def forget(self, before: float) -> None:
        """Drop results older than a time."""
        with self.database.write() as connection:
            connection.execute(sa.delete(OUTCOMES).where(OUTCOMES.c.created < before))

    def _read(self, *where: sa.ColumnElement[bool], newest: bool) -> tuple[Kept, ...]:
        order = OUTCOMES.c.created.desc() if newest else OUTCOMES.c.place
        select = sa.select(OUTCOMES).where(*where).order_by(order)
        with self.database.read() as connection:
            rows = connection.execute(select.limit(1) if newest else select).mappings().all()
        return tuple(
            Kept(row["job"], row["head"], row["ident"], _unpacked(row["packed"])) for row in rows
        )


def ident_of(reviewed: Reviewed) -> str:
    """Return the ID by which a result is applied; empty when nothing faster was found."""
    if reviewed.trajectory is None or summarize(reviewed.trajectory).ratio is None:
        return ""
    return identity(reviewed.trajectory)


def _unpacked(packed: bytes) -> Reviewed:
    unpacker = zlib.decompressobj()
    text = unpacker.decompress(packed, MAX_BYTES)
    if unpacker.unconsumed_tail:
        raise RunnerError("a kept result is larger than any review makes", "review again")
    return _REVIEWED.validate_json(text)
