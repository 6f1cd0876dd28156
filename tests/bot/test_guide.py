"""The fifteen-minute guide of docs/github-app.md, as far as loopback goes: its own words are run.

What a person does on GitHub's pages (registering the App, installing it) the fake has done; the
GPU runner is a process here that replays a recording. All else is the guide's: its commands, the
program `optiml serve` with a database of its own, `optiml doctor --github`.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import httpx
import pytest

from bot.permissions import EVENTS
from tests.bot.test_scenario import KERNEL, NAME, ROOT, SECRET, Scenario
from tests.fake_github import server

GUIDE = (ROOT / "docs" / "github-app.md").read_text()
CODE = "0123abcd"


def optiml(*words: str) -> list[str]:
    return [sys.executable, "-I", "-m", "bot", *words]


def secrets_by_the_guide(fake: server.FakeGithub, folder: Path) -> dict[str, str]:
    """Run the guide's command that turns a code into the App's secrets."""
    found = re.search(r"```sh\n(.*?conversions.*?)```", GUIDE, re.DOTALL)
    assert found
    command = found[1].replace("https://api.github.com", fake.public).replace("CODE", CODE)
    fake.hooks["manifest"] = {
        "id": int(fake.app_id), "pem": server.KEY, "webhook_secret": SECRET.decode()
    }  # fmt: skip
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", command],
        cwd=folder, capture_output=True, text=True, check=True, timeout=60,
    )  # fmt: skip
    assert (folder / "app.pem").stat().st_mode & 0o077 == 0
    assert (folder / "app.pem").read_text() == server.KEY
    return dict(line.split("=", 1) for line in done.stdout.splitlines())


@contextlib.contextmanager
def serving(environment: Mapping[str, str], folder: Path) -> Iterator[tuple[httpx.Client, str]]:
    """Run `optiml serve`; it has to end by itself when asked to."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with (folder / "serve.log").open("wb") as log:
        child = subprocess.Popen(
            optiml("serve", "--port", str(port)),
            cwd=folder,
            env=environment,
            stdout=log,
            stderr=log,
        )
    address = f"http://127.0.0.1:{port}"
    try:
        with httpx.Client(base_url=address, timeout=30) as client:
            yield client, address
        child.send_signal(signal.SIGTERM)
        assert child.wait(30) == 0
    finally:
        child.kill()
        child.wait()


@pytest.mark.timeout(240)
def test_the_fifteen_minute_guide_leads_to_a_comment(tmp_path: Path) -> None:
    with server.FakeGithub(tmp_path / "github") as fake:
        folder = tmp_path / "server"
        folder.mkdir()
        environment = {
            "PATH": os.environ["PATH"],  # noqa: TID251 - git has to be found
            "HOME": str(folder),
            "OPTIML_CACHE": str(folder / "cache"),
            "OPTIML_GITHUB_URL": fake.public,
            "OPTIML_GITHUB_APP_KEY": "app.pem",
            "OPTIML_SERVER_URL": "https://optiml.example.org",
            **secrets_by_the_guide(fake, folder),
        }
        refused = subprocess.run(
            optiml("serve"),
            cwd=folder,
            env={**environment, "OPTIML_WEBHOOK_SECRET": ""},
            capture_output=True, text=True, check=False, timeout=60,
        )  # fmt: skip
        assert refused.returncode == 2
        assert "no webhook secret" in refused.stderr

        with serving(environment, folder) as (client, _):
            scenario = Scenario(tmp_path, fake, client)
            one = scenario.repository()
            fake.hooks["events"] = list(EVENTS)
            fake.hooks["config"] = {
                "url": "https://optiml.example.org/webhook", "content_type": "json",
                "insecure_ssl": "0", "secret": "********",
            }  # fmt: skip
            told = subprocess.run(
                optiml("doctor", "--github", "--repository", NAME),
                cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=60,
            )  # fmt: skip
            assert told.returncode == 0, told.stdout + told.stderr

            def is_up() -> bool:
                with contextlib.suppress(httpx.HTTPError):
                    return client.get("/health").status_code == 200
                return False

            scenario.until(is_up, "the server answers")
            scenario.opened(one)
            scenario.until(lambda: bool(scenario.bundles), "the GPU job is over")
            (run,) = fake.state.runs.values()
            scenario.until(lambda: run.status == "completed", "the run is over")
            completed = {"action": "completed", "workflow_run": {"id": run.id}}
            scenario.send("workflow_run", completed | scenario.where("maintainer"))
            scenario.until(lambda: bool(fake.comments(one)), "comment posted")
            (check,) = fake.state.checks.values()
            scenario.until(lambda: check.status == "completed", "check run completed")
            assert f"`{KERNEL}`" in fake.comments(one)[0].body
            page = re.search(r"https://optiml\.example\.org(/jobs/[0-9a-f]{32})", check.details_url)
            assert page
            assert "/report/0" in client.get(page[1]).text
            for thread in scenario.threads:
                thread.join()
