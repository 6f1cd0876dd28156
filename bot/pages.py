"""The page of a job: what it is about, how far it is, what came of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
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


@dataclass(frozen=True, slots=True)
class Page:
    """HTML, and what a browser may do with it."""

    text: str
    policy: str


def job(records: Records, terms: Terms, job_id: str) -> Page | None:
    """Return a job's page, None when there is no such job."""
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
    is_over = found.state in OVER
    text = _template().render(
        job=found,
        # Our own Markdown, in which texts of others are escaped; HTML in it is shown, not obeyed.
        detail=Markup(_markdown().render(found.detail)),  # noqa: S704
        shown=_shown(found, _progress(found)),
        is_over=is_over,
        order=order,
        results=results,
        terms=terms,
        created=_when(found.created),
    )
    return Page(text, _POLICY if is_over else _LIVE_POLICY)


def script() -> str:
    """Return what keeps the page of a job that goes on up to date."""
    return (_TEMPLATES / "job.js").read_text(encoding="utf-8")


def state(records: Records, job_id: str) -> Mapping[str, Any] | None:
    """Return a job's state for machines, None when there is no such job."""
    found = records.store.job(job_id)
    return None if found is None else _state(found)


def report(records: Records, job_id: str, place: int) -> Page | None:
    """Return the report on one kernel of a job, None when there is none."""
    kept = records.outcomes.of_job(job_id)
    if not 0 <= place < len(kept):
        return None
    found = kept[place].reviewed.trajectory
    return None if found is None else Page(html_report.render(found), _POLICY)


def _state(found: Job) -> dict[str, Any]:
    progress = _progress(found)
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
        "shown": _shown(found, progress),
    }


def _progress(found: Job) -> Mapping[str, Any]:
    return json.loads(found.progress) if found.progress else {}


def _shown(found: Job, progress: Mapping[str, Any]) -> dict[str, str]:
    """Return what changes on a page while its job goes on, in words."""
    bench, detail = progress.get("state", ""), progress.get("detail", "")
    steps, best = progress.get("steps", 0), progress.get("best")
    candidates = f"{steps}" + (f", the best {best:.2f}× as fast" if best else "")
    return {
        "state": found.state.value,
        "title": found.title or (f"ending: {found.wish}" if found.wish else ""),
        "bench": f"{bench}: {detail}" if bench and detail else bench,
        "candidates": candidates if steps else "",
        "updated": _when(found.updated),
    }


def _when(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


@cache
def _markdown() -> MarkdownIt:
    return MarkdownIt("commonmark", {"html": False})


@cache
def _template() -> jinja2.Template:
    return html_report.environment().get_template("job.html")


_NOTHING = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
# No script runs on a page, but for our own file on that of a job that goes on.
_POLICY = _NOTHING + "style-src 'unsafe-inline'; img-src data:"
_LIVE_POLICY = _POLICY + "; script-src 'self'; connect-src 'self'"
