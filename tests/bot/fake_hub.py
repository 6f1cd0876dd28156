"""A GitHub and a GPU bench in one SQLite file, which outlive the process that uses them.

They keep every write, so that a test can count what was done twice or left open.
"""

from __future__ import annotations

import contextlib
import json
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from bot.github_errors import Denied, Missing, Stale
from bot.interfaces import Change, Closing, Delivery, Forge, Pull, PullState, Report, Reviewed
from bot.orders import BenchState, Order, Progress
from optimizer.errors import RunnerError
from tests.bot import ordered

SCHEMA = """
CREATE TABLE IF NOT EXISTS pulls (repository TEXT, number INTEGER, state TEXT,
    PRIMARY KEY (repository, number));
CREATE TABLE IF NOT EXISTS checks (id INTEGER PRIMARY KEY, repository TEXT, head TEXT, order_id TEXT,
    status TEXT, conclusion TEXT, title TEXT, summary TEXT, closed INTEGER DEFAULT 0);
CREATE TABLE IF NOT EXISTS comments (id INTEGER PRIMARY KEY, repository TEXT, number INTEGER,
    key TEXT, body TEXT, edits INTEGER DEFAULT 0);
CREATE TABLE IF NOT EXISTS commits (id INTEGER PRIMARY KEY, repository TEXT, number INTEGER,
    ident TEXT, head TEXT, squash INTEGER, by TEXT);
CREATE TABLE IF NOT EXISTS reactions (id INTEGER PRIMARY KEY, comment INTEGER, content TEXT);
CREATE TABLE IF NOT EXISTS permissions (login TEXT PRIMARY KEY, permission TEXT);
CREATE TABLE IF NOT EXISTS deliveries (id INTEGER PRIMARY KEY, guid TEXT, again INTEGER DEFAULT 0);
CREATE TABLE IF NOT EXISTS orders (id TEXT PRIMARY KEY, head TEXT, done REAL, ended TEXT DEFAULT '',
    starts INTEGER DEFAULT 1);
"""


class World:
    """The file. `trouble` is called before every call with its name, and may raise."""

    def __init__(self, path: Path, trouble: Callable[[str], None] = lambda _: None) -> None:
        self.path, self.trouble = path, trouble
        with self.open() as db:
            db.execute("PRAGMA journal_mode=WAL")
            db.executescript(SCHEMA)

    @contextlib.contextmanager
    def open(self) -> Iterator[sqlite3.Connection]:
        with contextlib.closing(sqlite3.connect(self.path, timeout=30)) as db:
            db.row_factory = sqlite3.Row
            db.execute("PRAGMA synchronous=NORMAL")
            db.isolation_level = "IMMEDIATE"
            with db:
                yield db

    def rows(self, query: str, *values: object) -> list[sqlite3.Row]:
        with self.open() as db:
            return db.execute(query, values).fetchall()

    def set_pull(self, repository: str, state: PullState) -> None:
        text = json.dumps({name: getattr(state, name) for name in PullState.__slots__})
        with self.open() as db:
            db.execute(
                "INSERT OR REPLACE INTO pulls VALUES (?, ?, ?)", (repository, state.number, text)
            )

    def allow(self, login: str, permission: str) -> None:
        with self.open() as db:
            db.execute("INSERT OR REPLACE INTO permissions VALUES (?, ?)", (login, permission))


class FakeHub:
    """GitHub as the service sees it; every write finds what an earlier attempt left."""

    def __init__(self, world: World, changes: Sequence[Change] | None = None) -> None:
        self.world = world
        self.changes = (ordered.change_at_head(),) if changes is None else tuple(changes)

    def pull(self, repository: str, number: int) -> PullState:
        self.world.trouble("pull")
        found = self.world.rows(
            "SELECT state FROM pulls WHERE repository = ? AND number = ?", repository, number
        )
        if not found:
            raise Missing("there is no such pull request")
        values = json.loads(found[0]["state"])
        return PullState(**{**values, "labels": tuple(values["labels"])})

    def pulls_of(self, repository: str, sha: str) -> tuple[int, ...]:
        self.world.trouble("pulls_of")
        rows = self.world.rows("SELECT * FROM pulls WHERE repository = ?", repository)
        return tuple(
            row["number"]
            for row in rows
            if json.loads(row["state"])["head"] == sha
            and json.loads(row["state"])["state"] == "open"
        )

    def permission(self, repository: str, login: str) -> str:
        self.world.trouble("permission")
        rows = self.world.rows("SELECT permission FROM permissions WHERE login = ?", login)
        return str(rows[0][0]) if rows else "none"

    def react(self, repository: str, comment_id: int, content: str) -> None:
        self.world.trouble("react")
        with self.world.open() as db:
            there = db.execute(
                "SELECT 1 FROM reactions WHERE comment = ? AND content = ?", (comment_id, content)
            ).fetchone()
            if not there:
                db.execute(
                    "INSERT INTO reactions (comment, content) VALUES (?, ?)", (comment_id, content)
                )

    def reply(self, repository: str, number: int, markdown: str, key: str) -> None:
        self.world.trouble("reply")
        self._write(repository, number, markdown, key)
        self.world.trouble("reply done")

    def open_check(
        self,
        repository: str,
        head: str,
        order_id: str,
        text: str,
        *,
        url: str = "",
        is_new: bool = False,
    ) -> int:
        self.world.trouble("open_check")
        with self.world.open() as db:
            row = db.execute(
                "SELECT id FROM checks WHERE repository = ? AND order_id = ?",
                (repository, order_id),
            ).fetchone()
            if row and not is_new:  # who is wrong about it makes a second one
                return int(row["id"])
            done = db.execute(
                "INSERT INTO checks (repository, head, order_id, status, summary)"
                " VALUES (?, ?, ?, 'in_progress', ?)",
                (repository, head, order_id, text),
            )
            found = int(done.lastrowid or 0)
        self.world.trouble("open_check done")
        return found

    def update_check(self, repository: str, check_id: int, text: str) -> None:
        self.world.trouble("update_check")
        with self.world.open() as db:
            db.execute("UPDATE checks SET summary = ? WHERE id = ?", (text, check_id))

    def close_check(self, repository: str, check_id: int, closing: Closing) -> None:
        self.world.trouble("close_check")
        with self.world.open() as db:
            db.execute(
                "UPDATE checks SET status = 'completed', conclusion = ?, title = ?, summary = ?,"
                " closed = closed + 1 WHERE id = ?",
                (closing.conclusion, closing.title, closing.summary, check_id),
            )
        self.world.trouble("close_check done")

    def forge(self, repository: str, number: int) -> Forge:
        return FakeForge(self, repository, number)

    def comment_url(self, repository: str, number: int) -> str:
        rows = self.world.rows(
            "SELECT id FROM comments WHERE repository = ? AND number = ? AND key = 'report'",
            repository,
            number,
        )
        return f"https://github.test/{repository}/pull/{number}#{rows[0]['id']}" if rows else ""

    def apply(
        self,
        repository: str,
        number: int,
        reviewed: Reviewed,
        *,
        head: str,
        squash: bool = False,
        by: str = "",
    ) -> str:
        self.world.trouble("apply")
        if reviewed.trajectory is None or not reviewed.trajectory.winner:
            raise Denied("there is nothing to commit")
        if self.pull(repository, number).head != head:
            raise Stale("the branch has moved on", "ask for a new review")
        ident = reviewed.trajectory.best.kernel.digest[:8]
        with self.world.open() as db:
            row = db.execute(
                "SELECT id FROM commits WHERE repository = ? AND number = ? AND ident = ?",
                (repository, number, ident),
            ).fetchone()
            if row is None:
                db.execute(
                    "INSERT INTO commits (repository, number, ident, head, squash, by)"
                    " VALUES (?, ?, ?, ?, ?, ?)",
                    (repository, number, ident, head, int(squash), by),
                )
        self.world.trouble("apply done")
        return f"https://github.test/{repository}/commit/{ident}"

    def deliveries(self, since: float) -> tuple[Delivery, ...]:
        self.world.trouble("deliveries")
        rows = self.world.rows("SELECT * FROM deliveries WHERE again = 0")
        return tuple(Delivery(row["id"], row["guid"], "pull_request", time.time()) for row in rows)

    def redeliver(self, delivery_id: int) -> None:
        self.world.trouble("redeliver")
        with self.world.open() as db:
            db.execute("UPDATE deliveries SET again = again + 1 WHERE id = ?", (delivery_id,))

    def _write(self, repository: str, number: int, body: str, key: str) -> None:
        with self.world.open() as db:
            row = db.execute(
                "SELECT id FROM comments WHERE repository = ? AND number = ? AND key = ?",
                (repository, number, key),
            ).fetchone()
            if row:
                db.execute(
                    "UPDATE comments SET body = ?, edits = edits + 1 WHERE id = ?",
                    (body, row["id"]),
                )
            else:
                db.execute(
                    "INSERT INTO comments (repository, number, key, body) VALUES (?, ?, ?, ?)",
                    (repository, number, key, body),
                )


class FakeForge:
    def __init__(self, hub: FakeHub, repository: str, number: int) -> None:
        self.hub, self.repository, self.number = hub, repository, number

    def changed_kernels(self, pull: Pull) -> Sequence[Change]:
        self.hub.world.trouble("changed_kernels")
        return self.hub.changes

    def publish(self, pull: Pull, report: Report) -> None:
        self.hub.world.trouble("publish")
        if report.markdown is not None:
            self.hub._write(self.repository, self.number, report.markdown, "report")
        self.hub.world.trouble("publish done")


class FakeBench:
    """Carries an order out by waiting. `fails` says that the machinery does."""

    def __init__(self, world: World, seconds: float = 0.0, *, fails: bool = False) -> None:
        self.world, self.seconds, self.fails = world, seconds, fails
        self.results: tuple[Reviewed, ...] = (ordered.reviewed(),)

    def start(self, order: Order, *, is_new: bool = False) -> str:
        self.world.trouble("start")
        with self.world.open() as db:
            db.execute(
                "INSERT INTO orders (id, head, done) VALUES (?, ?, ?)"
                " ON CONFLICT (id) DO UPDATE SET starts = starts + 1",
                (order.id, order.head, time.time() + self.seconds),
            )
        self.world.trouble("start done")
        return f"run {order.id}"

    def poll(self, handle: str) -> Progress:
        self.world.trouble("poll")
        (row,) = self.world.rows("SELECT * FROM orders WHERE id = ?", handle.removeprefix("run "))
        if row["ended"]:
            return Progress(BenchState.CANCELLED)
        if time.time() < row["done"]:
            return Progress(BenchState.RUNNING, "https://runs.test/1", "on gpu-1", 7, 1.25)
        return Progress(BenchState.FAILED if self.fails else BenchState.DONE)

    def fetch(self, handle: str, order: Order) -> Sequence[Reviewed]:
        self.world.trouble("fetch")
        if self.fails:
            raise RunnerError("no runner with a GPU took the job", "is one online?")
        return self.results

    def cancel(self, handle: str) -> None:
        self.world.trouble("cancel")
        with self.world.open() as db:
            db.execute(
                "UPDATE orders SET ended = 'cancelled' WHERE id = ? AND done > ?",
                (handle.removeprefix("run "), time.time()),
            )
