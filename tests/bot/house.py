"""A whole webhook app over a fake GitHub, spoken to over HTTP without a socket."""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import itertools
import json
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from starlette.testclient import TestClient

from bot.app import create_app
from bot.interfaces import Hub, PullState
from bot.job import Job
from bot.jobs import Pace
from bot.orders import Bench
from bot.patience import Patience
from bot.serve import House, opened
from bot.terms import Terms
from tests.bot import ordered
from tests.bot.fake_hub import FakeBench, FakeHub, World

SECRET = b"0123456789abcdef0123456789abcdef"
REPOSITORY = "owner/project"
QUICK = Pace(look=0.02, beat=0.2, lease=1.0, sweep=0.2)
_GUIDS = itertools.count(1)


class Bot:
    """The app, with what a test does to it and sees of it."""

    def __init__(self, world: World, house: House, client: TestClient) -> None:
        self.world, self.house, self.client = world, house, client
        self.store = house.entrance.records.store

    def send(self, event: str, payload: Mapping[str, Any], guid: str = "", secret: bytes = SECRET):  # type: ignore[no-untyped-def]  # noqa: ANN201
        body = json.dumps(payload).encode()
        return self.client.post(
            "/webhook", content=body, headers=headers(event, body, guid, secret)
        )

    def pull(self, action: str = "opened", head: str = ordered.HEAD, guid: str = "", **state: Any):  # type: ignore[no-untyped-def]  # noqa: ANN201
        """Have a pull request change on GitHub, and tell the app."""
        if "closed" in action:
            state["state"] = "closed"
        self.world.set_pull(REPOSITORY, pull_state(head, **state))
        return self.send("pull_request", pull_payload(action, head), guid)

    def comment(self, body: str, author: str = "maintainer", guid: str = ""):  # type: ignore[no-untyped-def]  # noqa: ANN201
        return self.send("issue_comment", comment_payload(body, author), guid)

    def settled(self, seconds: float = 60.0) -> list[Job]:
        """Wait until there is nothing left to do; return all jobs."""
        until(lambda: not any(job.state in {"waiting", "running"} for job in self.jobs()), seconds)
        return self.jobs()

    def jobs(self) -> list[Job]:
        return self.store._jobs()

    def reviews(self) -> list[Job]:
        return [job for job in self.jobs() if job.kind == "review"]

    def checks(self) -> list[Any]:
        return self.world.rows("SELECT * FROM checks ORDER BY id")

    def replies(self) -> list[str]:
        rows = self.world.rows("SELECT body FROM comments WHERE key != 'report' ORDER BY id")
        return [row["body"] for row in rows]

    def reports(self) -> list[Any]:
        return self.world.rows("SELECT * FROM comments WHERE key = 'report'")


@contextlib.contextmanager
def bot(
    folder: Path,
    *,
    seconds: float = 0.0,
    terms: Terms | None = None,
    url: str = "",
    trouble: Callable[[str], None] = lambda _: None,
    hub: Callable[[World], Hub] = FakeHub,
    bench: Callable[[World], Bench] | None = None,
    patience: Patience | None = None,
) -> Iterator[Bot]:
    world = World(folder / "github.db", trouble)
    world.allow("maintainer", "write")
    world.allow("triager", "triage")
    house = opened(
        url or f"sqlite:///{folder / 'optiml.db'}",
        [SECRET],
        hub(world),
        bench(world) if bench else FakeBench(world, seconds),
        terms=terms or Terms(poll_seconds=0.05, page="https://optiml.test"),
        pace=QUICK,
        patience=patience or Patience(2.0, 0.02),
        app_id=99,
    )
    try:
        with TestClient(create_app(house.entrance)) as client:
            yield Bot(world, house, client)
    finally:
        house.close()


def until(holds: Callable[[], bool], seconds: float = 60.0) -> None:
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.02)


def headers(event: str, body: bytes, guid: str = "", secret: bytes = SECRET) -> dict[str, str]:
    return {
        "content-type": "application/json",
        "x-github-event": event,
        "x-github-delivery": guid or f"00000000-0000-0000-0000-{next(_GUIDS):012d}",
        "x-hub-signature-256": "sha256=" + hmac.new(secret, body, hashlib.sha256).hexdigest(),
    }


def pull_state(head: str = ordered.HEAD, number: int = 7, **state: Any) -> PullState:
    return PullState(number, head, ordered.BASE, "main", **state)


def pull_payload(action: str, head: str = ordered.HEAD, number: int = 7) -> dict[str, Any]:
    return {
        "action": action,
        "number": number,
        "pull_request": {"number": number, "head": {"sha": head}},
        "repository": {"full_name": REPOSITORY},
        "sender": {"login": "contributor", "id": 5},
        **({"label": {"name": "optiml:skip"}} if action == "labeled" else {}),
    }


def comment_payload(body: str, author: str = "maintainer", number: int = 7) -> dict[str, Any]:
    return {
        "action": "created",
        "issue": {"number": number, "pull_request": {"url": "x"}},
        "comment": {"id": 1000, "user": {"login": author, "id": 6, "type": "User"}, "body": body},
        "repository": {"full_name": REPOSITORY},
    }
