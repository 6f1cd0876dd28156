"""Repositories and their pull requests."""

from __future__ import annotations

import base64
from typing import Any

from tests.fake_github.answers import Answer, gone, unfit
from tests.fake_github.asked import Asked, route
from tests.fake_github.git_store import GitError
from tests.fake_github.state import (
    Pull,
)

_RIGHTS = ("none", "read", "triage", "write", "maintain", "admin")


@route("GET", "/repos/{o}/{r}", "metadata")
def repository(asked: Asked) -> Answer:
    return Answer(200, asked.shapes.repository(asked.repository))


@route("GET", "/repos/{o}/{r}/contents/{path}", "contents")
def contents(asked: Asked) -> Answer:
    here, path = asked.repository, asked.parts["path"]
    tip = here.tip(here.default_branch)
    found = here.store.entries(tip).get(path) if tip is not None else None
    if found is None:
        raise gone()
    raw = here.store.blob(found[1])
    place = f"{asked.shapes.url}/repos/{here.name}/contents/{path}"
    return Answer(
        200,
        {"type": "file", "name": path.rpartition("/")[2], "path": path, "sha": found[1],
         "size": len(raw), "encoding": "base64", "url": place,
         "content": base64.encodebytes(raw).decode(), "html_url": place, "git_url": place,
         "download_url": place, "_links": {"git": place, "html": place, "self": place}},
    )  # fmt: skip


@route("GET", "/repos/{o}/{r}/collaborators/{login}/permission", "metadata")
def permission(asked: Asked) -> Answer:
    found = asked.state.users.get(asked.parts["login"].lower())
    if found is None:
        raise gone()
    right = asked.repository.rights.get(found.login.lower(), "none")
    legacy = {"maintain": "write", "triage": "read"}.get(right, right)
    rank = _RIGHTS.index(right)
    names = {"pull": 1, "triage": 2, "push": 3, "maintain": 4, "admin": 5}
    rights = {name: rank >= least for name, least in names.items()}
    return Answer(
        200,
        {"permission": legacy, "role_name": right,
         "user": {**asked.shapes.user(found), "permissions": rights}},
    )  # fmt: skip


@route("GET", "/repos/{o}/{r}/pulls", "pull_requests")
def pulls(asked: Asked) -> Answer:
    name = asked.repository.name.lower()
    wanted = asked.query.get("state", "open")
    found = [one for (place, _), one in asked.state.pulls.items() if place == name]
    shown = [asked.shapes.pull(one) for one in found if wanted in {one.state, "all"}]
    label = asked.query.get("head")
    return asked.page([one for one in shown if label in {None, one["head"]["label"]}])


@route("POST", "/repos/{o}/{r}/pulls", "pull_requests", "write")
def open_pull(asked: Asked) -> Answer:
    asked.need("title", "head", "base")
    here, body = asked.repository, asked.body
    if here.tip(body["head"]) is None or here.tip(body["base"]) is None:
        raise unfit(
            "Validation Failed", {"resource": "PullRequest", "field": "head", "code": "invalid"}
        )
    for (place, _), one in asked.state.pulls.items():
        same = (place, one.head_ref, one.state) == (here.name.lower(), body["head"], "open")
        if same and one.base_ref == body["base"]:
            words = f"A pull request already exists for {one.head_ref}."
            raise unfit(
                "Validation Failed", {"resource": "PullRequest", "code": "custom", "message": words}
            )
    number = next(asked.state.pull_numbers)
    base = here.tip(body["base"])
    assert base is not None
    made = Pull(number, here, here, body["head"], body["base"], base, body["title"], asked.author,
                body.get("body") or "")  # fmt: skip
    asked.state.pulls[here.name.lower(), number] = made
    return Answer(201, asked.shapes.pull(made))


@route("GET", "/repos/{o}/{r}/pulls/{n}", "pull_requests")
def pull(asked: Asked) -> Answer:
    return Answer(200, asked.shapes.pull(asked.pull))


def shown_files(one: Pull) -> list[dict[str, Any]]:
    """Return a pull request's files, without patches where those are too large to show."""
    store = one.repository.store
    files = store.changed(store.merge_base(one.base, one.head), one.head)[:3000]
    for file in files:
        if file["changes"] > 3000:
            file.pop("patch", None)
    return files


@route("GET", "/repos/{o}/{r}/pulls/{n}/files", "pull_requests")
def files(asked: Asked) -> Answer:
    one = asked.pull
    name = asked.repository.name
    return asked.page([asked.shapes.file(name, one.head, file) for file in shown_files(one)])


@route("GET", "/repos/{o}/{r}/commits/{sha}/pulls", "pull_requests")
def pulls_of_commit(asked: Asked) -> Answer:
    name = asked.repository.name.lower()
    found = [
        asked.shapes.pull(one)
        for (place, _), one in asked.state.pulls.items()
        # Those of forks are not found this way.
        if place == name and one.source is one.repository and one.head == asked.parts["sha"]
    ]
    return asked.page(found)


@route("GET", "/repos/{o}/{r}/compare/{basehead}", "contents")
def compare(asked: Asked) -> Answer:
    base, _, head = asked.parts["basehead"].partition("...")
    store = asked.repository.store
    try:
        fork = store.merge_base(base, head)
    except GitError as error:
        raise gone() from error
    return Answer(200, {"merge_base_commit": {"sha": fork}, "status": "ahead"})
