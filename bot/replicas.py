"""Who is alive, and small facts that all replicas share."""

from __future__ import annotations

import time

import sqlalchemy as sa

from bot.database import Database
from bot.tables import MARKS, REPLICAS


class Replicas:
    """Heartbeats, and turns at what one replica does for all."""

    def __init__(self, database: Database) -> None:
        self.database = database

    def beat(self, replica: str) -> None:
        """Say that a replica is alive."""
        row = {"id": replica, "beat": time.time()}
        insert = self.database.insert(REPLICAS).values(row)
        with self.database.write() as connection:
            connection.execute(
                insert.on_conflict_do_update(index_elements=["id"], set_={"beat": row["beat"]})
            )

    def leave(self, replica: str, dead_since: float = 0.0) -> None:
        """Say that a replica ends, so that its jobs are taken at once; drop those long dead."""
        with self.database.write() as connection:
            gone = sa.or_(REPLICAS.c.id == replica, REPLICAS.c.beat < dead_since)
            connection.execute(sa.delete(REPLICAS).where(gone))

    def mark(self, name: str) -> tuple[str, float]:
        """Return a small fact and when it was written; empty and 0 when there is none."""
        with self.database.read() as connection:
            row = connection.execute(
                sa.select(MARKS.c.value, MARKS.c.at).where(MARKS.c.name == name)
            ).first()
            return (row[0], row[1]) if row else ("", 0.0)

    def set_mark(self, name: str, value: str, at: float) -> None:
        """Write a small fact down."""
        insert = self.database.insert(MARKS).values({"name": name, "value": value, "at": at})
        with self.database.write() as connection:
            connection.execute(
                insert.on_conflict_do_update(
                    index_elements=["name"], set_={"value": value, "at": at}
                )
            )

    def turn_of(self, name: str, every: float) -> bool:
        """Tell whether what is done every so many seconds is due; one replica hears yes."""
        now = time.time()
        first = {"name": name, "value": "", "at": 0.0}
        with self.database.write() as connection:
            connection.execute(self.database.insert(MARKS).values(first).on_conflict_do_nothing())
            due = sa.update(MARKS).where(MARKS.c.name == name, MARKS.c.at <= now - every)
            return connection.execute(due.values(at=now)).rowcount == 1
