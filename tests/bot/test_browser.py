"""A real browser opens the job page and the report: no script error, nothing asked of strangers."""

from __future__ import annotations

import json
import socket
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import uvicorn

from bot.app import create_app
from tests.bot import browser, house

needs_browser = pytest.mark.skipif(not browser.BROWSER, reason="no Chromium is installed")


@contextmanager
def listening(bot: house.Bot) -> Iterator[str]:
    """Serve the app on a socket, for those who speak HTTP only."""
    config = uvicorn.Config(create_app(bot.house.entrance), log_level="warning", lifespan="off")
    server = uvicorn.Server(config)
    with socket.socket() as ours:
        ours.bind(("127.0.0.1", 0))
        thread = threading.Thread(target=server.run, args=([ours],), daemon=True)
        thread.start()
        house.until(lambda: server.started)
        try:
            yield f"http://127.0.0.1:{ours.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join(10)


def seen(address: str, folder: Path) -> tuple[str, str]:
    """Return the page as the browser has it, and what it complained about."""
    command = [
        browser.BROWSER, *browser.FLAGS, f"--user-data-dir={folder / 'browser'}",
        "--enable-logging=stderr", "--v=0", "--virtual-time-budget=2000", "--dump-dom", address,
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    said = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    return done.stdout, "\n".join(said)


@needs_browser
def test_a_browser_shows_the_job_and_its_report_without_complaint(tmp_path: Path) -> None:
    with house.bot(tmp_path) as bot, listening(bot) as address:
        bot.pull()
        (job,) = bot.settled()
        house.until(lambda: f"{job.id}/report/0" in bot.client.get(f"/jobs/{job.id}").text)
        page, complaints = seen(f"{address}/jobs/{job.id}", tmp_path)
        assert "owner/project" in page
        assert f"{job.id}/report/0" in page
        assert not complaints
        report, complaints = seen(f"{address}/jobs/{job.id}/report/0", tmp_path)
        assert "transpose" in report
        assert "<svg" in report
        assert not complaints, complaints


@needs_browser
def test_the_page_of_a_job_follows_it_without_being_loaded_again(tmp_path: Path) -> None:
    with (
        house.bot(tmp_path, seconds=3600.0) as bot,
        listening(bot) as address,
        browser.page(tmp_path) as page,
    ):
        bot.pull()
        house.until(lambda: bool(bot.world.rows("SELECT * FROM orders")))
        (job,) = bot.reviews()
        page.open(f"{address}/jobs/{job.id}")
        candidates = "document.querySelector('dd[data-live=candidates]').innerText"
        page.until(f"{candidates} == '7, the best 1.25× as fast'")
        page.value("window.isTheSame = true")
        words = "<b>on</b> gpu-2"
        progress = {"state": "running", "url": "", "detail": words, "steps": 31, "best": 2.5}
        # The bench says the same as before, so the job's row stays as it is written here.
        bot.store.note(job.id, progress=json.dumps(progress))
        page.until(f"{candidates} == '31, the best 2.50× as fast'")
        assert page.value("document.querySelector('dd[data-live=bench]').innerHTML") == (
            "running: &lt;b&gt;on&lt;/b&gt; gpu-2"
        )
        assert page.value("window.isTheSame") is True
        assert page.value("document.querySelector('.state').innerText") == "running"
        with bot.world.open() as db:
            db.execute("UPDATE orders SET done = 0")
        page.until(f"document.body.innerHTML.includes('{job.id}/report/0')")
        assert page.value("document.querySelector('.state').innerText") == "done"
        assert page.value("document.querySelectorAll('script').length") == 0
        assert page.complaints == []
