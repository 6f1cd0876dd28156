"""One database by its URL: SQLite in a file for one process, Postgres for several.

On SQLite a commit is on the disk when it returns (WAL, synchronous FULL), writers of this process
wait in a queue instead of polling the file, and a lock that the system drops when the process dies
keeps a second process out.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy import event
from sqlalchemy.dialects import postgresql, sqlite

from bot.tables import MARKS, METADATA, VERSION
from optimizer.errors import ConfigError

_BUSY_MS = 30_000
_SCHEMA = "schema"
_LOCK_KEY = 0x6F70_746D  # any number that is ours: one creates tables at a time


class Database:
    """Connections to one database. Raise `ConfigError` when the URL or the database is unfit."""

    def __init__(self, url: str) -> None:
        try:
            parsed = sa.make_url(url)
        except sa.exc.ArgumentError as error:
            raise ConfigError("OPTIML_DATABASE is no database URL", _HOW) from error
        if parsed.drivername in {"postgres", "postgresql"}:
            parsed = parsed.set(drivername="postgresql+psycopg")
        if parsed.drivername not in {"sqlite", "postgresql+psycopg"}:
            raise ConfigError(f"{parsed.drivername} is no database we know", _HOW)
        self.url = parsed
        self.is_sqlite = parsed.drivername == "sqlite"
        if self.is_sqlite and parsed.database in {None, "", ":memory:"}:
            raise ConfigError("a database in memory would lose every delivery", _HOW)
        if self.is_sqlite and (parsed.query or str(parsed.database).startswith("file:")):
            # Such as mode=memory, or immutable and nolock, which let a second process in.
            raise ConfigError("a SQLite database takes no options here, only a path", _HOW)
        self._turn: contextlib.AbstractContextManager[Any] = (
            threading.Lock() if self.is_sqlite else contextlib.nullcontext()
        )
        self.engine = _engine(parsed, is_sqlite=self.is_sqlite)

    @contextlib.contextmanager
    def write(self) -> Iterator[sa.Connection]:
        """Begin a transaction that is on the disk when the block ends, or never was."""
        with self._turn, self.engine.begin() as connection:
            yield connection

    @contextlib.contextmanager
    def read(self) -> Iterator[sa.Connection]:
        """Look at one moment's state; on SQLite that waits for no writer."""
        with self.engine.connect() as connection:
            yield connection.execution_options(optiml_reads=True)

    def insert(self, table: sa.Table) -> sqlite.Insert | postgresql.Insert:
        """Return an insert that knows `on_conflict_do_nothing` and `on_conflict_do_update`."""
        return sqlite.insert(table) if self.is_sqlite else postgresql.insert(table)

    def prepare(self) -> None:
        """Create what is missing. Raise `ConfigError` when a newer version wrote the database."""
        try:
            if self.is_sqlite:
                private(Path(str(self.url.database)))
            with self.write() as connection:
                if not self.is_sqlite:
                    lock = sa.text("SELECT pg_advisory_xact_lock(:key)")
                    connection.execute(lock, {"key": _LOCK_KEY})
                METADATA.create_all(connection)
                mine = {"name": _SCHEMA, "value": str(VERSION), "at": time.time()}
                connection.execute(self.insert(MARKS).values(mine).on_conflict_do_nothing())
                select = sa.select(MARKS.c.value).where(MARKS.c.name == _SCHEMA)
                found = connection.execute(select).scalar_one()
        except OSError as error:
            raise ConfigError(f"the database cannot be written: {error}", _HOW) from error
        except sa.exc.DBAPIError as error:
            what = str(error.orig).strip().splitlines()[0]
            raise ConfigError(f"the database cannot be used: {what}", _HOW) from error
        if int(found) > VERSION:
            raise ConfigError(
                f"the database has schema {found}, this version knows {VERSION}",
                "run the newer OptiML, or give it a database of its own",
            )

    def alone(self) -> Lock | None:
        """Hold a SQLite file for this process; None on Postgres, which takes several.

        Raise `ConfigError` when another process holds it.
        """
        if not self.is_sqlite:
            return None
        # By whatever links a file is named, its lock is one.
        return Lock(Path(f"{os.path.realpath(str(self.url.database))}.lock"))

    def close(self) -> None:
        """Give connections back."""
        self.engine.dispose()


class Lock:
    """A file held by one process at a time; death lets go of it."""

    def __init__(self, path: Path) -> None:
        try:
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise ConfigError(f"the database cannot be written: {error}", _HOW) from error
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if not os.path.samestat(os.fstat(self._file), path.stat()):
                raise BlockingIOError  # noqa: TRY301 - somebody took the file away, and waits for it
        except (BlockingIOError, FileNotFoundError) as error:
            os.close(self._file)
            raise ConfigError(
                f"another process serves from {path.with_suffix('')}",
                "end it, or use Postgres, which takes several: OPTIML_DATABASE=postgresql://…",
            ) from error

    def release(self) -> None:
        """Let another process in."""
        os.close(self._file)


def private(path: Path) -> None:
    """Make a file that nobody else reads, unless it is there; SQLite's logs beside it follow."""
    path.touch(mode=0o600, exist_ok=True)


_HOW = "set OPTIML_DATABASE to sqlite:///optiml.db or postgresql://USER:PASSWORD@HOST/NAME"


def _engine(url: sa.URL, *, is_sqlite: bool) -> sa.Engine:
    if not is_sqlite:
        return sa.create_engine(url, pool_size=10, max_overflow=20, pool_pre_ping=True)
    engine = sa.create_engine(url, pool_size=10, max_overflow=40)

    @event.listens_for(engine, "connect")
    def prepare(connection: Any, _record: Any) -> None:
        connection.isolation_level = None  # we begin ourselves, below
        for pragma in (
            "journal_mode=WAL",
            "synchronous=FULL",
            f"busy_timeout={_BUSY_MS}",
            "journal_size_limit=67108864",
        ):
            connection.execute(f"PRAGMA {pragma}")

    @event.listens_for(engine, "begin")
    def begin(connection: sa.Connection) -> None:
        reads = connection.get_execution_options().get("optiml_reads")
        connection.exec_driver_sql("BEGIN" if reads else "BEGIN IMMEDIATE")

    return engine
