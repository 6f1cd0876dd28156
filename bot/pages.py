"""The page of a job: what it is about, how far it is, what came of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import jinja2
from markdown_it import MarkdownIt
from markupsafe import Markup

from bot import orders
from bot import report as html_report
from bot.job import OVER, Job
from bot.outcome import summarize
from bot.review_job import Records
from bot.terms import Terms

_TEMPLATES = Path(__file__).parent / "templates"


def job(records: Records, terms: Terms, job_id: str) -> str | None:
    """Return a job's page as HTML, None when there is no such job."""
    found = records.store.job(job_id)
    if found is None:
        return None
    results = []
    for place, one in enumerate(records.outcomes.of_job(job_id)):
        name = one.reviewed.change.kernel.name
        trajectory = one.reviewed.trajectory
        words = summarize(trajectory).headline if trajectory else one.reviewed.problem
        results.append((place, name, words, trajectory is not None))
    order = orders.from_json(found.order) if found.order else None
    return _template().render(
        job=found,
        # Our own Markdown, in which texts of others are escaped; HTML in it is shown, not obeyed.
        detail=Markup(_markdown().render(found.detail)),  # noqa: S704
        state=_state(found),
        is_over=found.state in OVER,
        order=order,
        results=results,
        terms=terms,
        created=_when(found.created),
        updated=_when(found.updated),
    )


def state(records: Records, job_id: str) -> Mapping[str, Any] | None:
    """Return a job's state for machines, None when there is no such job."""
    found = records.store.job(job_id)
    return None if found is None else _state(found)


def report(records: Records, job_id: str, place: int) -> str | None:
    """Return the report on one kernel of a job as HTML, None when there is none."""
    kept = records.outcomes.of_job(job_id)
    if not 0 <= place < len(kept):
        return None
    found = kept[place].reviewed.trajectory
    return None if found is None else html_report.render(found)


def _state(found: Job) -> dict[str, Any]:
    progress = json.loads(found.progress) if found.progress else {}
    return {
        "id": found.id,
        "kind": found.kind,
        "state": found.state.value,
        "over": found.state in OVER,
        "ending": found.wish,
        "title": found.title,
        "head": found.head,
        "bench": progress.get("state", ""),
        "detail": progress.get("detail", ""),
        "steps": progress.get("steps", 0),
        "best": progress.get("best"),
        "updated": found.updated,
    }


def _when(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


@cache
def _markdown() -> MarkdownIt:
    return MarkdownIt("commonmark", {"html": False})


@cache
def _template() -> jinja2.Template:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("job.html")


#: A page that is not over loads itself again; no script runs on any of them.
POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'"
)
