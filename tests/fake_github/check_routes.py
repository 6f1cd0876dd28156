"""Check runs."""

from __future__ import annotations

from typing import Any

from tests.fake_github.answers import Answer, gone, unfit
from tests.fake_github.asked import Asked, route
from tests.fake_github.state import (
    CheckRun,
)

LONGEST_SUMMARY = 65_535

_CONCLUSIONS = {
    "action_required", "cancelled", "failure", "neutral", "success", "skipped", "stale", "timed_out"
}  # fmt: skip


def _fill_check(found: CheckRun, body: dict[str, Any]) -> None:
    output = body.get("output")
    if output is not None:
        if "summary" not in output or "title" not in output:
            raise unfit("Invalid request.", "output needs title and summary")
        if any(len(str(output.get(name) or "")) > LONGEST_SUMMARY for name in ("summary", "text")):
            raise unfit("Invalid request.", "output.summary exceeds 65535 characters")
    actions = body.get("actions") or []
    if len(actions) > 3:
        raise unfit("Invalid request.", "No more than 3 actions are allowed")
    for one in actions:
        for name, most in (("label", 20), ("description", 40), ("identifier", 20)):
            if not 0 < len(one.get(name, "")) <= most:
                raise unfit("Invalid request.", f"actions.{name} exceeds {most} characters")
    conclusion, status = body.get("conclusion"), body.get("status", found.status)
    if status == "completed" and conclusion is None and found.conclusion is None:
        raise unfit("Invalid request.", "conclusion is required when status is completed")
    if conclusion is not None and conclusion not in _CONCLUSIONS:
        raise unfit("Invalid request.", "conclusion is not one of the known ones")
    found.status = "completed" if conclusion else status
    found.conclusion = conclusion or found.conclusion
    found.output = output or found.output
    found.actions = actions or found.actions
    found.details_url = body.get("details_url", found.details_url)


@route("GET", "/repos/{o}/{r}/commits/{sha}/check-runs", "checks")
def check_runs(asked: Asked) -> Answer:
    found = [
        asked.shapes.check(one)
        for one in asked.state.checks.values()
        if (one.repository, one.head) == (asked.repository.name, asked.parts["sha"])
        and asked.query.get("check_name") in {None, one.name}
    ]
    page = asked.page(found)
    page.data = {"total_count": len(found), "check_runs": page.data}
    return page


@route("POST", "/repos/{o}/{r}/check-runs", "checks", "write")
def open_check(asked: Asked) -> Answer:
    asked.need("name", "head_sha")
    head = asked.body["head_sha"]
    if not asked.repository.store.has(head, "commit"):
        raise unfit(f"No commit found for SHA: {head}")
    found = CheckRun(
        next(asked.state.numbers), asked.repository.name, head, asked.body["name"], "queued",
        asked.body.get("external_id", ""),
    )  # fmt: skip
    _fill_check(found, asked.body)
    asked.state.checks[found.id] = found
    return Answer(201, asked.shapes.check(found))


@route("PATCH", "/repos/{o}/{r}/check-runs/{n}", "checks", "write")
def update_check(asked: Asked) -> Answer:
    found = asked.state.checks.get(int(asked.parts["n"]))
    if found is None:
        raise gone()
    _fill_check(found, asked.body)
    return Answer(200, asked.shapes.check(found))
