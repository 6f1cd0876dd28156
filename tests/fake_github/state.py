"""What the fake GitHub remembers."""

from __future__ import annotations

import datetime as dt
import itertools
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tests.fake_github.git_store import GitStore

ALL = {
    "actions": "write",
    "checks": "write",
    "contents": "write",
    "issues": "write",
    "metadata": "read",
    "pull_requests": "write",
}


@dataclass
class User:
    id: int
    login: str
    kind: str = "User"


@dataclass
class Repository:
    """`prefix` is where its branches live in the store that it shares with its forks."""

    id: int
    name: str
    store: GitStore
    prefix: str = "refs/heads/"
    default_branch: str = "main"
    rights: dict[str, str] = field(default_factory=dict)
    installation: int | None = None
    protected: set[str] = field(default_factory=set)

    def tip(self, ref: str) -> str | None:
        return self.store.tip(self.prefix + ref)


@dataclass
class Pull:
    number: int
    repository: Repository
    source: Repository | None
    head_ref: str
    base_ref: str
    base: str
    title: str
    author: User
    body: str = ""
    labels: list[str] = field(default_factory=list)
    draft: bool = False
    state: str = "open"
    locked: bool = False
    is_editable: bool = False

    @property
    def head(self) -> str:
        assert self.source is not None
        found = self.source.tip(self.head_ref)
        assert found is not None
        return found


@dataclass
class Comment:
    id: int
    number: int
    author: User
    body: str
    created: float
    edits: int = 0
    reactions: list[tuple[int, str]] = field(default_factory=list)


@dataclass
class ReviewComment:
    id: int
    number: int
    author: User
    body: str
    path: str
    line: int
    start: int
    commit: str
    review: int


@dataclass
class CheckRun:
    id: int
    repository: str
    head: str
    name: str
    status: str
    external_id: str = ""
    conclusion: str | None = None
    output: dict[str, Any] = field(default_factory=dict)
    actions: list[dict[str, str]] = field(default_factory=list)
    details_url: str = ""


@dataclass
class Run:
    id: int
    repository: str
    workflow: str
    ref: str
    inputs: dict[str, str]
    title: str
    created: float
    status: str = "queued"
    conclusion: str | None = None
    started: float = 0.0
    updated: float = 0.0


@dataclass
class Artifact:
    id: int
    run: int
    name: str
    data: bytes
    lag: int = 0


@dataclass
class Token:
    """`user` wrote what is written with it; `repository` is None for all of an installation."""

    text: str
    user: User
    permissions: dict[str, str]
    ends: float
    installation: int | None = None
    repository: str | None = None


@dataclass
class Delivery:
    id: int
    guid: str
    event: str
    status: int
    at: float
    redelivered: int = 0


@dataclass
class State:
    """Everything, and a clock that tests can put forward."""

    clock: Callable[[], float]
    ahead: float = 0.0
    users: dict[str, User] = field(default_factory=dict)
    repositories: dict[str, Repository] = field(default_factory=dict)
    pulls: dict[tuple[str, int], Pull] = field(default_factory=dict)
    comments: dict[int, Comment] = field(default_factory=dict)
    comment_places: dict[int, str] = field(default_factory=dict)
    review_comments: dict[int, ReviewComment] = field(default_factory=dict)
    reviews: list[dict[str, Any]] = field(default_factory=list)
    checks: dict[int, CheckRun] = field(default_factory=dict)
    runs: dict[int, Run] = field(default_factory=dict)
    artifacts: dict[int, Artifact] = field(default_factory=dict)
    tokens: dict[str, Token] = field(default_factory=dict)
    deliveries: list[Delivery] = field(default_factory=list)
    downloads: dict[str, tuple[bytes, float]] = field(default_factory=dict)
    permissions: dict[int, dict[str, str]] = field(default_factory=dict)
    writes: list[float] = field(default_factory=list)
    numbers: Any = field(default_factory=lambda: itertools.count(1001))
    pull_numbers: Any = field(default_factory=lambda: itertools.count(7))

    def now(self) -> float:
        return self.clock() + self.ahead

    def stamp(self, at: float | None = None) -> str:
        when = dt.datetime.fromtimestamp(self.now() if at is None else at, dt.UTC)
        return when.strftime("%Y-%m-%dT%H:%M:%SZ")

    def user(self, login: str, kind: str = "User") -> User:
        found = self.users.get(login.lower())
        if found is None:
            found = self.users[login.lower()] = User(next(self.numbers), login, kind)
        return found

    def mint(self, user: User, permissions: dict[str, str], **values: Any) -> Token:
        # Their length is not fixed, so that nobody relies on it.
        text = "ghs_" + secrets.token_hex(18 + secrets.randbelow(40))
        found = Token(text, user, permissions, self.now() + 3600, **values)
        self.tokens[text] = found
        return found
