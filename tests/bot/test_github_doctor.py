"""What `optiml doctor --github` says of an App that lacks something."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from bot import github_doctor
from bot.github_errors import Denied, Missing
from bot.interfaces import Reply
from bot.permissions import EVENTS, NEEDED
from bot.settings import Settings

GRANTED = {name: level for name, (level, _) in NEEDED.items()}
WHOLE: Mapping[str, Any] = {
    "/app": {"slug": "optiml", "permissions": GRANTED, "events": list(EVENTS)},
    "/app/hook/config": {
        "url": "https://optiml.test/webhook",
        "content_type": "json",
        "insecure_ssl": "0",
        "secret": "********",
    },
    "/app/hook/deliveries": [{"status_code": 202, "status": "OK"}],
    "/app/installations": [{"id": 1, "account": {"login": "octo"}, "permissions": GRANTED}],
    "/repos/o/r/contents/.optiml.yml": {},
    "/repos/o/r/contents/.github/workflows/optiml-gpu.yml": {},
}


class Answers:
    """An `Api` that knows some answers."""

    def __init__(self, known: Mapping[str, Any]) -> None:
        self.known = known

    def request(
        self,
        method: str,
        path: str,
        *,
        repository: str = "",
        body: Mapping[str, Any] | None = None,
        query: Mapping[str, str | int] | None = None,
        repeat: bool | None = None,
    ) -> Reply:
        found = self.known.get(path)
        if isinstance(found, Exception):
            raise found
        if found is None:
            raise Missing("there is no such thing")
        return Reply(200, found)

    def download(self, path: str, *, repository: str, limit: int) -> bytes:
        raise Missing(path)


def said(tmp_path: Path, changes: Mapping[str, Any], **values: Any) -> dict[str, bool | None]:
    given: dict[str, Any] = {
        "webhook_secret": "0123456789abcdef",
        "database": f"sqlite:///{tmp_path / 'db'}",
        "server_url": "https://optiml.test",
    }
    settings = Settings(**(given | values))
    found = github_doctor.examine(settings, Answers({**WHOLE, **changes}), "o/r")
    assert all(one.remedy for one in found if one.ok is False), found
    return {one.name: one.ok for one in found}


def test_an_app_that_lacks_nothing_is_all_right(tmp_path: Path) -> None:
    assert all(said(tmp_path, {}).values())


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"/app": {"permissions": {**GRANTED, "checks": "read"}}}, "permission checks"),
        ({"/app": {"permissions": GRANTED, "events": ["pull_request"]}}, "events"),
        ({"/app": Denied("the key is another App's", "take this one's")}, "App"),
        ({"/app/hook/config": {"url": "https://other.test/webhook", "secret": "*"}}, "webhook"),
        ({"/app/hook/config": {"url": "https://optiml.test/webhook"}}, "webhook"),
        ({"/app/installations": []}, "installations"),
        (
            {"/app/installations": [{"account": {"login": "octo"}, "permissions": {}}]},
            "installation octo",
        ),
        (
            {"/repos/o/r/contents/.github/workflows/optiml-gpu.yml": None},
            ".github/workflows/optiml-gpu.yml",
        ),
    ],
)
def test_what_is_missing_is_named_with_what_to_do(
    tmp_path: Path, changes: Mapping[str, Any], name: str
) -> None:
    assert said(tmp_path, changes)[name] is False


def test_a_missing_secret_and_a_bad_database_are_named(tmp_path: Path) -> None:
    found = said(tmp_path, {}, webhook_secret="short", database="mysql://x")
    assert found["webhook secret"] is False
    assert found["database"] is False
