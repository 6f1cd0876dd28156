"""Reviews and the comments on lines in them."""

from __future__ import annotations

import re
from typing import Any

from tests.fake_github.answers import Answer, gone, unfit
from tests.fake_github.asked import Asked, route
from tests.fake_github.comment_routes import LONGEST_BODY, body_of
from tests.fake_github.git_store import GitError
from tests.fake_github.pull_routes import shown_files
from tests.fake_github.state import (
    Pull,
    ReviewComment,
)

_HUNK = re.compile(r"^@@ -\d+(?:,\d+)? \+(\d+)(?:,(\d+))? @@", re.MULTILINE)


def _line_now(one: ReviewComment, pull: Pull) -> int | None:
    """Return where a comment stands, None when its lines changed since."""
    store = pull.repository.store
    try:
        then = store.file(one.commit, one.path).split(b"\n")[one.start - 1 : one.line]
        now = store.file(pull.head, one.path).split(b"\n")[one.start - 1 : one.line]
    except GitError:
        return None
    return one.line if then == now else None


@route("GET", "/repos/{o}/{r}/pulls/{n}/comments", "pull_requests")
def review_comments(asked: Asked) -> Answer:
    one, name = asked.pull, asked.repository.name
    return asked.page(
        [
            asked.shapes.review_comment(name, comment, _line_now(comment, one))
            for comment in asked.state.review_comments.values()
            if comment.number == one.number
        ]
    )


@route("PATCH", "/repos/{o}/{r}/pulls/comments/{n}", "pull_requests", "write")
def edit_review_comment(asked: Asked) -> Answer:
    found = asked.state.review_comments.get(int(asked.parts["n"]))
    if found is None:
        raise gone()
    found.body = body_of(asked)
    one = asked.state.pulls[asked.repository.name.lower(), found.number]
    name = asked.repository.name
    return Answer(200, asked.shapes.review_comment(name, found, _line_now(found, one)))


@route("POST", "/repos/{o}/{r}/pulls/{n}/reviews", "pull_requests", "write")
def review(asked: Asked) -> Answer:
    one, body = asked.pull, asked.body
    commit = body.get("commit_id") or one.head
    if not one.repository.store.is_ancestor(commit, one.head):
        raise unfit("Unprocessable Entity", "Commit is not part of the pull request")
    if body.get("event") == "COMMENT":
        asked.need("body")
    if len(str(body.get("body", ""))) > LONGEST_BODY:
        raise unfit("Unprocessable Entity", "Body is too long")
    store = one.repository.store
    shown = {file["filename"]: file.get("patch", "") for file in shown_files(one)}
    made = [_checked(asked, entry, shown, commit) for entry in body.get("comments") or ()]
    del store
    number = next(asked.state.numbers)
    for entry in made:  # all or none
        entry.review = number
        asked.state.review_comments[entry.id] = entry
    asked.state.reviews.append({"id": number, "pull": one.number, "body": body.get("body", "")})
    return Answer(
        200,
        {"id": number, "user": asked.shapes.user(asked.author), "body": body.get("body", ""),
         "state": "COMMENTED", "commit_id": commit},
    )  # fmt: skip


def _checked(
    asked: Asked, entry: dict[str, Any], shown: dict[str, str], commit: str
) -> ReviewComment:
    path, line = entry["path"], int(entry.get("line") or 0)
    start = int(entry.get("start_line", line))
    if path not in shown:
        raise unfit("Unprocessable Entity", "Path could not be resolved")
    hunks = [
        (int(found[1]), int(found[1]) + int(found[2] if found[2] is not None else 1) - 1)
        for found in _HUNK.finditer(shown[path])
    ]
    if "start_line" in entry and not start < line:
        raise unfit("Unprocessable Entity", "start_line must precede the end line.")
    if not any(first <= line <= last for first, last in hunks):
        raise unfit("Unprocessable Entity", "Line could not be resolved")
    if not any(first <= start <= line <= last for first, last in hunks):
        raise unfit("Unprocessable Entity", "Start line must be part of the same hunk as the line.")
    if not entry.get("body") or len(entry["body"]) > LONGEST_BODY:
        raise unfit("Unprocessable Entity", "Body is missing or too long")
    return ReviewComment(
        next(asked.state.numbers), int(asked.parts["n"]), asked.author, entry["body"], path, line,
        start, commit, 0,
    )  # fmt: skip
