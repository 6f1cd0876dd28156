"""What GitHub's webhooks say, as values: signature first, then JSON, no I/O.

A payload only tells that something happened and where. What is true now is read from the API by
whoever acts on it, because deliveries come late, twice and out of order. So little is taken from
them, and all of it is checked: the sender is GitHub, the words in it are anybody's.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, NotRequired, TypeVar

from pydantic import Field, StringConstraints, TypeAdapter, ValidationError
from typing_extensions import TypedDict

from optimizer.errors import ConfigError, OptimlError

MAX_BODY_BYTES = 25 << 20  # GitHub sends no more
MAX_COMMENT = 65_536  # characters GitHub takes in a comment
SHORTEST_SECRET = 16
SKIP_LABEL = "optiml:skip"
PULL_ACTIONS = frozenset({"opened", "synchronize", "reopened", "ready_for_review", "labeled"})
_GUID = re.compile(r"[0-9A-Za-z-]{8,64}")
_NAME = re.compile(r"[a-z0-9_]{1,64}")
_SIGNATURE = re.compile(r"sha256=([0-9a-f]{64})")
T = TypeVar("T")


class SignatureError(OptimlError):
    """A delivery that is not signed with our secret."""


class PayloadError(OptimlError):
    """A delivery whose headers or body are not what GitHub sends."""


@dataclass(frozen=True, slots=True)
class PullChanged:
    """A pull request got a new head, was opened, closed, labeled.

    `head` is the commit the payload speaks of, which may be an old one by now.
    """

    repository: str
    number: int
    action: str
    head: str
    sender: str = ""
    kind: Literal["pull"] = "pull"


@dataclass(frozen=True, slots=True)
class CommentWritten:
    """Somebody wrote a new comment on a pull request that may hold a command."""

    repository: str
    number: int
    comment_id: int
    body: str
    author: str
    author_id: int
    kind: Literal["comment"] = "comment"


@dataclass(frozen=True, slots=True)
class CheckClicked:
    """Somebody asked for a check run again, or pressed one of its buttons.

    `order_id` is what the check run was opened for. `button` is empty for "Re-run".
    """

    repository: str
    head: str
    check_id: int
    order_id: str
    button: str
    sender: str
    kind: Literal["check"] = "check"


@dataclass(frozen=True, slots=True)
class RunCompleted:
    """A workflow run ended: somebody may be waiting for it."""

    repository: str
    run_id: int
    kind: Literal["run"] = "run"


@dataclass(frozen=True, slots=True)
class QueueEntered:
    """A merge queue wants to know whether a group of pull requests may be merged."""

    repository: str
    head: str
    ref: str = ""
    kind: Literal["queue"] = "queue"


@dataclass(frozen=True, slots=True)
class AccessLost:
    """The App was removed from repositories, or suspended there."""

    repositories: tuple[str, ...]
    kind: Literal["access"] = "access"


@dataclass(frozen=True, slots=True)
class Ignored:
    """Nothing to do, and why."""

    reason: str
    repository: str = ""
    kind: Literal["ignored"] = "ignored"


Happening = PullChanged | CommentWritten | CheckClicked | RunCompleted | QueueEntered | AccessLost
Event = Happening | Ignored
HAPPENING: TypeAdapter[Happening] = TypeAdapter(Annotated[Happening, Field(discriminator="kind")])


def secrets_of(text: str) -> tuple[bytes, ...]:
    """Return the webhook secrets: one, or an old and a new one with a comma between, to rotate.

    Raise `ConfigError` when there is none, or one too short to be a secret.
    """
    found = tuple(one.strip().encode() for one in text.split(",") if one.strip())
    how = "set OPTIML_WEBHOOK_SECRET to what the App's settings have: `openssl rand -hex 32`"
    if not found:
        raise ConfigError("there is no webhook secret, so anybody could send us deliveries", how)
    if any(len(one) < SHORTEST_SECRET for one in found):
        raise ConfigError(f"a webhook secret is shorter than {SHORTEST_SECRET} characters", how)
    return found


def verify(secrets: Sequence[bytes], body: bytes, signature: str) -> None:
    """Raise `SignatureError` unless the raw bytes are signed with one of the secrets.

    `signature` is the header X-Hub-Signature-256. The comparison takes the same time wherever the
    texts differ, and every secret is tried.
    """
    match = _SIGNATURE.fullmatch(signature)
    given = match[1] if match else ""
    fits = False
    for secret in secrets:
        digest = hmac.new(secret, body, hashlib.sha256).hexdigest()
        fits |= hmac.compare_digest(digest, given)
    if not fits:
        raise SignatureError(
            "the signature does not fit the body",
            "set the same webhook secret in the App's settings and in OPTIML_WEBHOOK_SECRET",
        )


def guid_of(text: str) -> str:
    """Return a delivery's GUID. Raise `PayloadError` when it is none."""
    if not _GUID.fullmatch(text):
        raise PayloadError("X-GitHub-Delivery is no delivery's id")
    return text


def parse(name: str, body: bytes, app_id: int | None = None) -> Event:
    """Read a delivery whose signature fits. Raise `PayloadError` for what GitHub would not send.

    `name` is the header X-GitHub-Event. `app_id` is our own: what it wrote itself is ignored.
    """
    if not _NAME.fullmatch(name):
        raise PayloadError("X-GitHub-Event is no event's name")
    reader = _READERS.get(name)
    if reader is None:
        return Ignored(f"{name} is not listened to")
    return reader(body, app_id)


# -- the parts of payloads that are read -----------------------------------------------------------

_Repository = Annotated[
    str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]{0,99}/[A-Za-z0-9._-]{1,100}$")
]
_Sha = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{40}(?:[0-9a-f]{24})?$")]
_Id = Annotated[int, Field(ge=0, lt=1 << 53)]
_Number = Annotated[int, Field(gt=0, lt=1 << 53)]
_Login = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_.\[\]-]{1,100}$")]
_Action = Annotated[str, StringConstraints(pattern=r"^[a-z_]{1,64}$")]


class _Place(TypedDict):
    full_name: _Repository


class _User(TypedDict):
    login: _Login
    id: _Id
    type: NotRequired[str]


class _Commit(TypedDict):
    sha: _Sha


class _App(TypedDict):
    id: _Id


class _Pull(TypedDict):
    number: _Number
    head: _Commit


class _Label(TypedDict):
    name: str


class _PullPayload(TypedDict):
    action: _Action
    label: NotRequired[_Label | None]
    pull_request: _Pull
    repository: _Place
    sender: _User


class _Issue(TypedDict):
    number: _Number
    pull_request: NotRequired[dict[str, Any] | None]


class _Comment(TypedDict):
    id: _Number
    user: _User | None
    body: str | None
    performed_via_github_app: NotRequired[_App | None]


class _CommentPayload(TypedDict):
    action: _Action
    issue: _Issue
    comment: _Comment
    repository: _Place


class _Check(TypedDict):
    id: _Number
    head_sha: _Sha
    external_id: NotRequired[str | None]
    app: NotRequired[_App | None]


class _Button(TypedDict):
    identifier: Annotated[str, StringConstraints(max_length=100)]


class _CheckPayload(TypedDict):
    action: _Action
    check_run: _Check
    requested_action: NotRequired[_Button | None]
    repository: _Place
    sender: _User


class _Run(TypedDict):
    id: _Number


class _RunPayload(TypedDict):
    action: _Action
    workflow_run: _Run
    repository: _Place


class _Group(TypedDict):
    head_sha: _Sha
    head_ref: NotRequired[str]


class _QueuePayload(TypedDict):
    action: _Action
    merge_group: _Group
    repository: _Place


class _AccessPayload(TypedDict):
    action: _Action
    repositories: NotRequired[list[_Place] | None]
    repositories_removed: NotRequired[list[_Place]]


def _reading(shape: type[T]) -> Callable[[bytes], T]:
    adapter: TypeAdapter[T] = TypeAdapter(shape)

    def read(body: bytes) -> T:
        try:
            return adapter.validate_json(body)
        except ValidationError as error:
            found = error.errors(include_url=False, include_input=False, include_context=False)[0]
            where = ".".join(map(str, found["loc"])) or "the body"
            raise PayloadError(f"{where}: {found['msg']}") from error

    return read


_pull_payload = _reading(_PullPayload)
_comment_payload = _reading(_CommentPayload)
_check_payload = _reading(_CheckPayload)
_run_payload = _reading(_RunPayload)
_queue_payload = _reading(_QueuePayload)
_access_payload = _reading(_AccessPayload)


def _pull(body: bytes, _: int | None) -> Event:
    found = _pull_payload(body)
    action, where = found["action"], found["repository"]["full_name"]
    if action not in PULL_ACTIONS and action != "closed":
        return Ignored(f"pull_request.{action} changes nothing for us", where)
    label = found.get("label")
    if action == "labeled" and (label is None or label["name"] != SKIP_LABEL):
        return Ignored("the label is not for us", where)
    pull = found["pull_request"]
    return PullChanged(where, pull["number"], action, pull["head"]["sha"], found["sender"]["login"])


def _comment(body: bytes, app_id: int | None) -> Event:
    found = _comment_payload(body)
    where, comment = found["repository"]["full_name"], found["comment"]
    author, through = comment["user"], comment.get("performed_via_github_app")
    reason = ""
    if found["action"] != "created":
        reason = "only a new comment is a command; an edited one is old"
    elif not found["issue"].get("pull_request"):
        reason = "the comment is on an issue"
    elif author is None:
        reason = "the comment's author is gone"
    elif author.get("type") == "Bot" or (through and through["id"] == app_id):
        reason = "a bot wrote the comment"
    text = (comment["body"] or "").replace("\x00", "")[:MAX_COMMENT]
    if not reason and "/optiml" not in text.lower():
        reason = "the comment holds no command"
    if reason or author is None:
        return Ignored(reason, where)
    return CommentWritten(
        where, found["issue"]["number"], comment["id"], text, author["login"], author["id"]
    )


def _check(body: bytes, app_id: int | None) -> Event:
    found = _check_payload(body)
    where, check = found["repository"]["full_name"], found["check_run"]
    if found["action"] not in {"rerequested", "requested_action"}:
        return Ignored(f"check_run.{found['action']} asks for nothing", where)
    owner = check.get("app")
    if app_id is not None and owner is not None and owner["id"] != app_id:
        return Ignored("the check run is another App's", where)
    button = found.get("requested_action") or {"identifier": ""}
    order = re.sub(r"[^0-9a-f]", "", check.get("external_id") or "")[:32]
    return CheckClicked(
        where,
        check["head_sha"],
        check["id"],
        order,
        re.sub(r"[^A-Za-z0-9:_.-]", "", button["identifier"])[:40],
        found["sender"]["login"],
    )


def _run(body: bytes, _: int | None) -> Event:
    found = _run_payload(body)
    where = found["repository"]["full_name"]
    if found["action"] != "completed":
        return Ignored(f"workflow_run.{found['action']} ends nothing", where)
    return RunCompleted(where, found["workflow_run"]["id"])


def _queue(body: bytes, _: int | None) -> Event:
    found = _queue_payload(body)
    where = found["repository"]["full_name"]
    if found["action"] != "checks_requested":
        return Ignored(f"merge_group.{found['action']} asks for nothing", where)
    group = found["merge_group"]
    return QueueEntered(where, group["head_sha"], group.get("head_ref", "")[:500])


def _access(body: bytes, _: int | None) -> Event:
    found = _access_payload(body)
    lost: list[_Place] = []
    if found["action"] in {"deleted", "suspend"}:
        lost = found.get("repositories") or []
    elif found["action"] == "removed":
        lost = found.get("repositories_removed", [])
    if not lost:
        return Ignored(f"the installation was changed ({found['action']}), no repository lost")
    return AccessLost(tuple(one["full_name"] for one in lost))


_READERS: Mapping[str, Callable[[bytes, int | None], Event]] = {
    "pull_request": _pull,
    "issue_comment": _comment,
    "check_run": _check,
    "workflow_run": _run,
    "merge_group": _queue,
    "installation": _access,
    "installation_repositories": _access,
    "ping": lambda _body, _app: Ignored("pong"),
}
