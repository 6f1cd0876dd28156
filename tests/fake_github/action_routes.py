"""Workflows, their runs and artifacts."""

from __future__ import annotations

import hashlib
import secrets
from typing import Any

from tests.fake_github.answers import Answer, Refusal, gone, unfit
from tests.fake_github.asked import Asked, route
from tests.fake_github.state import (
    Artifact,
    Run,
)


@route("GET", "/repos/{o}/{r}/actions/workflows/{w}", "actions")
def workflow(asked: Asked) -> Answer:
    here, name = asked.repository, asked.parts["w"]
    tip = here.tip(here.default_branch)
    path = f".github/workflows/{name}"
    if tip is None or path not in here.store.entries(tip):
        raise gone()
    return Answer(200, {"id": 1, "name": name, "path": path, "state": "active"})


@route("GET", "/repos/{o}/{r}/actions/workflows/{w}/runs", "actions")
def runs(asked: Asked) -> Answer:
    found = [
        asked.shapes.run(one)
        for one in sorted(asked.state.runs.values(), key=lambda run: -run.id)
        if (one.repository, one.workflow) == (asked.repository.name, asked.parts["w"])
    ]
    page = asked.page(found)
    page.data = {"total_count": len(found), "workflow_runs": page.data}
    return page


@route("POST", "/repos/{o}/{r}/actions/workflows/{w}/dispatches", "actions", "write")
def dispatch(asked: Asked) -> Answer:
    asked.need("ref")
    here, name = asked.repository, asked.parts["w"]
    tip = here.tip(asked.body["ref"])
    if tip is None:
        raise unfit(f"No ref found for: {asked.body['ref']}")
    if f".github/workflows/{name}" not in here.store.entries(tip):
        raise gone()
    inputs = asked.body.get("inputs") or {}
    if len(inputs) > 25 or sum(map(len, inputs.values())) > 65_535:
        raise unfit("inputs are too large")
    number = next(asked.state.numbers)
    title = asked.hooks.get("run_name", lambda _: "OptiML")(inputs)
    made = Run(number, here.name, name, asked.body["ref"], inputs, title, asked.state.now())
    asked.state.runs[number] = made
    start = asked.hooks.get("on_dispatch")
    if start is not None:
        start(made)
    if not asked.body.get("return_run_details"):
        return Answer(204)
    shown = asked.shapes.run(made)
    return Answer(
        200,
        {"workflow_run_id": number, "run_url": shown["url"], "html_url": shown["html_url"]},
    )


def _run(asked: Asked) -> Run:
    found = asked.state.runs.get(int(asked.parts["n"]))
    if found is None:
        raise gone()
    return found


@route("GET", "/repos/{o}/{r}/actions/runs/{n}", "actions")
def run(asked: Asked) -> Answer:
    return Answer(200, asked.shapes.run(_run(asked)))


@route("POST", "/repos/{o}/{r}/actions/runs/{n}/cancel", "actions", "write")
def cancel(asked: Asked) -> Answer:
    found = _run(asked)
    if found.status == "completed":
        raise Refusal(409, "Cannot cancel a workflow run that is completed.")
    found.status, found.conclusion, found.updated = "completed", "cancelled", asked.state.now()
    return Answer(202, {})


@route("GET", "/repos/{o}/{r}/actions/runs/{n}/artifacts", "actions")
def artifacts(asked: Asked) -> Answer:
    found = []
    for one in asked.state.artifacts.values():
        if one.run != int(asked.parts["n"]) or asked.query.get("name") not in {None, one.name}:
            continue
        one.lag -= 1
        if one.lag < 0:
            found.append(_artifact(asked, one))
    return Answer(200, {"total_count": len(found), "artifacts": found})


def _artifact(asked: Asked, one: Artifact) -> dict[str, Any]:
    path = f"{asked.shapes.url}/repos/{asked.repository.name}/actions/artifacts/{one.id}"
    stamp = asked.state.stamp()
    return {
        "id": one.id, "name": one.name, "size_in_bytes": len(one.data), "expired": False,
        "digest": f"sha256:{hashlib.sha256(one.data).hexdigest()}", "url": path,
        "archive_download_url": f"{path}/zip", "created_at": stamp, "updated_at": stamp,
        "expires_at": stamp,
    }  # fmt: skip


@route("GET", "/repos/{o}/{r}/actions/artifacts/{n}/zip", "actions")
def download(asked: Asked) -> Answer:
    found = asked.state.artifacts.get(int(asked.parts["n"]))
    if found is None:
        raise gone()
    ticket = secrets.token_hex(8)
    asked.state.downloads[ticket] = (found.data, asked.state.now() + 60)
    place = f"{asked.hooks['storage']}/storage/{ticket}"
    return Answer(302, headers={"location": place})
