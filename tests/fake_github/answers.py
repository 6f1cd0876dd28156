"""Answers, refusals, and the shapes of things as GitHub's API shows them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from tests.fake_github.state import (
    CheckRun,
    Comment,
    Pull,
    Repository,
    ReviewComment,
    Run,
    State,
    User,
)


@dataclass
class Answer:
    status: int
    data: Any = None
    headers: dict[str, str] = field(default_factory=dict)
    raw: bytes | None = None


class Refusal(Exception):  # noqa: N818 - it is an answer
    """An error of GitHub's, as it words them."""

    def __init__(
        self, status: int, message: str, errors: list[Any] | None = None, **headers: str
    ) -> None:
        super().__init__(message)
        data: dict[str, Any] = {
            "message": message,
            "documentation_url": "https://docs.github.com/rest",
            "status": str(status),
        }
        if errors is not None:
            data["errors"] = errors
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        self.answer = Answer(status, data, named)


def gone() -> Refusal:
    return Refusal(404, "Not Found")


def unfit(message: str, *errors: Any) -> Refusal:
    return Refusal(422, message, list(errors) or None)


class Shapes:
    """Writes state as GitHub's JSON; `url` is the API's address and `site` that of its pages."""

    def __init__(self, state: State, url: str, site: str) -> None:
        self.state, self.url, self.site = state, url, site

    def user(self, user: User) -> dict[str, Any]:
        return {
            "login": user.login,
            "id": user.id,
            "type": user.kind,
            "url": f"{self.url}/users/{quote(user.login)}",
            "html_url": f"{self.site}/{quote(user.login)}",
        }

    def repository(self, one: Repository) -> dict[str, Any]:
        owner, _, name = one.name.partition("/")
        return {
            "id": one.id,
            "name": name,
            "full_name": one.name,
            "owner": self.user(self.state.user(owner, "Organization")),
            "default_branch": one.default_branch,
            "url": f"{self.url}/repos/{one.name}",
            "html_url": f"{self.site}/{one.name}",
        }

    def pull(self, one: Pull) -> dict[str, Any]:
        source = one.source
        owner = (source or one.repository).name.partition("/")[0]
        return {
            "id": one.number + 9000,
            "number": one.number,
            "state": one.state,
            "locked": one.locked,
            "title": one.title,
            "body": one.body,
            "draft": one.draft,
            "user": self.user(one.author),
            "labels": [{"id": 1, "name": name, "color": "ededed"} for name in one.labels],
            "maintainer_can_modify": one.is_editable,
            "head": {
                "label": f"{owner}:{one.head_ref}",
                "ref": one.head_ref,
                "sha": one.head,
                "repo": None if source is None else self.repository(source),
                "user": self.user(self.state.user(owner)),
            },
            "base": {
                "label": f"{one.repository.name.partition('/')[0]}:{one.base_ref}",
                "ref": one.base_ref,
                "sha": one.base,
                "repo": self.repository(one.repository),
                "user": self.user(self.state.user(one.repository.name.partition("/")[0])),
            },
            "url": f"{self.url}/repos/{one.repository.name}/pulls/{one.number}",
            "html_url": f"{self.site}/{one.repository.name}/pull/{one.number}",
        }

    def file(self, repository: str, head: str, one: dict[str, Any]) -> dict[str, Any]:
        path = one["filename"]
        return {
            **one,
            "blob_url": f"{self.site}/{repository}/blob/{head}/{path}",
            "raw_url": f"{self.site}/{repository}/raw/{head}/{path}",
            "contents_url": f"{self.url}/repos/{repository}/contents/{path}?ref={head}",
        }

    def comment(self, repository: str, one: Comment) -> dict[str, Any]:
        stamp = self.state.stamp(one.created)
        return {
            "id": one.id,
            "body": one.body,
            "user": self.user(one.author),
            "created_at": stamp,
            "updated_at": stamp,
            "url": f"{self.url}/repos/{repository}/issues/comments/{one.id}",
            "html_url": f"{self.site}/{repository}/pull/{one.number}#issuecomment-{one.id}",
        }

    def review_comment(
        self, repository: str, one: ReviewComment, line: int | None
    ) -> dict[str, Any]:
        page = f"{self.site}/{repository}/pull/{one.number}"
        return {
            "id": one.id,
            "pull_request_review_id": one.review,
            "body": one.body,
            "user": self.user(one.author),
            "path": one.path,
            "commit_id": one.commit,
            "original_commit_id": one.commit,
            "line": line,
            "original_line": one.line,
            "start_line": one.start if line is not None and one.start != one.line else None,
            "side": "RIGHT",
            "url": f"{self.url}/repos/{repository}/pulls/comments/{one.id}",
            "html_url": f"{page}#discussion_r{one.id}",
        }

    def check(self, one: CheckRun) -> dict[str, Any]:
        stamp = self.state.stamp()
        return {
            "id": one.id,
            "name": one.name,
            "head_sha": one.head,
            "external_id": one.external_id,
            "status": one.status,
            "conclusion": one.conclusion,
            "started_at": stamp,
            "completed_at": stamp if one.status == "completed" else None,
            "details_url": one.details_url or None,
            "output": {
                "title": one.output.get("title"),
                "summary": one.output.get("summary"),
                "text": one.output.get("text"),
                "annotations_count": 0,
                "annotations_url": f"{self.url}/repos/{one.repository}/check-runs/{one.id}/a",
            },
            "url": f"{self.url}/repos/{one.repository}/check-runs/{one.id}",
            "html_url": f"{self.site}/{one.repository}/runs/{one.id}",
            "pull_requests": [],
        }

    def run(self, one: Run) -> dict[str, Any]:
        return {
            "id": one.id,
            "name": "OptiML",
            "display_title": one.title,
            "event": "workflow_dispatch",
            "status": one.status,
            "conclusion": one.conclusion,
            "head_branch": one.ref,
            "created_at": self.state.stamp(one.created),
            "run_started_at": self.state.stamp(one.started or one.created),
            "updated_at": self.state.stamp(one.updated or one.created),
            "url": f"{self.url}/repos/{one.repository}/actions/runs/{one.id}",
            "html_url": f"{self.site}/{one.repository}/actions/runs/{one.id}",
        }
