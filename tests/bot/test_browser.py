"""A real browser opens the job page and the report: no script error, nothing asked of strangers."""

from __future__ import annotations

import shutil
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import uvicorn

from bot.app import create_app
from tests.bot import house

BROWSER = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), ""
)


@contextmanager
def listening(bot: house.Bot) -> Iterator[str]:
    """Serve the app on a socket, for those who speak HTTP only."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    config = uvicorn.Config(
        create_app(bot.house.entrance), port=port, log_level="warning", lifespan="off"
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    house.until(lambda: server.started)
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join(10)


def seen(address: str, folder: Path) -> tuple[str, str]:
    """Return the page as the browser has it, and what it complained about."""
    command = [
        BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
        "--disable-background-networking", "--disable-component-update", "--disable-sync",
        f"--user-data-dir={folder / 'browser'}", "--enable-logging=stderr", "--v=0",
        "--virtual-time-budget=2000", "--dump-dom", address,
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    said = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    return done.stdout, "\n".join(said)


@pytest.mark.skipif(not BROWSER, reason="no Chromium is installed")
def test_a_browser_shows_the_job_and_its_report_without_complaint(tmp_path: Path) -> None:
    with house.bot(tmp_path) as bot, listening(bot) as address:
        bot.pull()
        (job,) = bot.settled()
        time.sleep(0.1)
        page, complaints = seen(f"{address}/jobs/{job.id}", tmp_path)
        assert "owner/project" in page
        assert f"{job.id}/report/0" in page
        assert not complaints
        report, complaints = seen(f"{address}/jobs/{job.id}/report/0", tmp_path)
        assert "transpose" in report
        assert "<svg" in report
        assert not complaints, complaints
