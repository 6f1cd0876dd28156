"""A job and a delivery as values, and as rows of the tables."""

from __future__ import annotations

import dataclasses
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import sqlalchemy as sa

from bot.events import HAPPENING, CommentWritten, Happening, PullChanged

REVIEW = "review"


class JobState(StrEnum):
    """How far a job is."""

    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


ACTIVE = (JobState.WAITING, JobState.RUNNING)
OVER = (JobState.DONE, JobState.FAILED, JobState.CANCELLED)


class Receipt(StrEnum):
    """What became of a delivery."""

    NEW = "new"
    KNOWN = "known"  # it came before, and is done or being done
    AGAIN = "again"  # it came before and failed: it runs again
    IGNORED = "ignored"


@dataclass(frozen=True, slots=True)
class Intake:
    """A delivery to be written down; without a happening, `words` say why nothing is done."""

    guid: str
    event: str
    happening: Happening | None
    words: str = ""
    repository: str = ""


@dataclass(frozen=True, slots=True)
class Job:
    """Something to do. `seq` orders jobs by when they came; `wish` says why it is to end, if it is.

    `intent` is the happening or the command as JSON, `order` and `progress` those of `bot.orders`,
    `ending` an `End` once it is known. `attempt` counts how often it was begun anew.
    """

    seq: int
    id: str
    kind: str
    repository: str
    number: int | None
    actor: str
    intent: str
    state: JobState
    owner: str
    attempt: int
    wish: str
    nudged: float
    head: str
    order: str
    handle: str
    check_id: int | None
    check_open: bool
    progress: str
    title: str
    detail: str
    ending: str
    created: float
    updated: float


@dataclass(frozen=True, slots=True)
class Turn:
    """Whether a review may begin; `words` say why not. `is_twin` means it is being done already."""

    goes: bool
    words: str = ""
    is_twin: bool = False


def delivery_row(one: Intake, job_id: str, now: float) -> dict[str, Any]:
    """Return a delivery as a row; `job_id` is empty when there is nothing to do."""
    return {
        "guid": one.guid,
        "event": one.event,
        "repository": one.repository or getattr(one.happening, "repository", ""),
        "job": job_id,
        "words": one.words[:200],
        "received": now,
        "times": 1,
    }


def job_row(happening: Happening, now: float) -> dict[str, Any]:
    """Return the job that follows from a happening, as a row."""
    actor = ""
    if isinstance(happening, CommentWritten):
        actor = happening.author
    elif isinstance(happening, PullChanged) or happening.kind == "check":
        actor = happening.sender
    return row_of(
        REVIEW if _asks_for_review(happening) else happening.kind,
        getattr(happening, "repository", ""),
        getattr(happening, "number", None),
        actor,
        HAPPENING.dump_json(happening).decode(),
        now,
    )


def _asks_for_review(happening: Happening) -> bool:
    ends = {"closed", "labeled"}  # of labels only optiml:skip is told
    return isinstance(happening, PullChanged) and happening.action not in ends


def row_of(
    kind: str, repository: str, number: int | None, actor: str, intent: str, now: float
) -> dict[str, Any]:
    """Return a new job as a row, with an id of its own."""
    return {
        "id": uuid.uuid4().hex,
        "kind": kind,
        "repository": repository,
        "number": number,
        "actor": actor,
        "intent": intent,
        "state": JobState.WAITING,
        "owner": "",
        "attempt": 0,
        "wish": "",
        "nudged": 0.0,
        "head": "",
        "order": "",
        "handle": "",
        "check_id": None,
        "check_open": False,
        "progress": "",
        "title": "",
        "detail": "",
        "ending": "",
        "created": now,
        "updated": now,
    }


_FIELDS = tuple(field.name for field in dataclasses.fields(Job))


def job_from(row: Mapping[str, Any] | sa.RowMapping) -> Job:
    """Read a row."""
    values = {name: row[name] for name in _FIELDS}
    return Job(**{**values, "state": JobState(values["state"])})
