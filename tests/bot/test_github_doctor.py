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
from tests.bot.world import NAME, World

GRANTED = {name: level for name, (level, _) in NEEDED.items()}
WHOLE: Mapping[str, Any] = {
    "/app": {"slug": "optiml", "permissions": GRANTED, "events": list(EVENTS)},
    "/app/hook/config": {
        "url": "https://optiml.test/webhook",
        "content_type": "json",
        "insecure_ssl": "0",
        "secret": "********",
    },
    "/meta": {},
    "/app/hook/deliveries": [{"status_code": 202, "status": "OK"}],
    "/app/installations": [{"id": 1, "account": {"login": "octo"}, "permissions": GRANTED}],
    "/repos/o/r/contents/.optiml.yml": {},
    "/repos/o/r/contents/.github%2Fworkflows%2Foptiml-gpu.yml": {},
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
            {"/repos/o/r/contents/.github%2Fworkflows%2Foptiml-gpu.yml": None},
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


def told(tmp_path: Path, world: World) -> dict[str, tuple[bool | None, str]]:
    settings = Settings(webhook_secret="0123456789abcdef", database=f"sqlite:///{tmp_path / 'db'}")
    found = github_doctor.examine(settings, world.session(), NAME)
    return {one.name: (one.ok, one.words) for one in found}


def test_an_app_on_a_server_is_examined_over_http(tmp_path: Path, world: World) -> None:
    world.fake.hooks["config"] = {
        "url": "https://optiml.test/webhook", "content_type": "json", "secret": "********"
    }  # fmt: skip
    world.fake.hooks["events"] = list(EVENTS)
    found = told(tmp_path, world)
    workflow = ".github/workflows/optiml-gpu.yml"
    assert found["GitHub"] == (True, "github.com")
    assert found[".optiml.yml"] == (True, f"{NAME} has it")
    assert found[workflow] == (False, f"{NAME} has no {workflow}")
    assert all(ok for name, (ok, _) in found.items() if name != workflow)
    world.fake.commit(world.repository, "main", {workflow: "on: workflow_dispatch"})
    assert world.repository.installation is not None
    world.fake.state.permissions[world.repository.installation]["checks"] = "read"
    world.fake.hooks["meta"] = {"installed_version": "3.17.2"}
    world.deliver(1, "00000000-0000-4000-8000-000000000001", 502, world.fake.state.now())
    found = told(tmp_path, world)
    assert found[workflow][0] is True
    assert found["permission checks"][0] is False
    assert found["installation octo"][0] is False
    assert "Enterprise Server 3.17.2" in found["GitHub"][1]
    assert "1 of the last 1 failed" in found["deliveries"][1]
