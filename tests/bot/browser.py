"""A headless Chromium, spoken to over a pipe: pages that change, and what they complain about."""

from __future__ import annotations

import contextlib
import json
import os
import select
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

BROWSER = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), ""
)
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-quic",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip


# Chromium reads commands from file 3 and answers on file 4. (Either may be in use when it starts.)
_AS_3_AND_4 = """
import fcntl, os, sys
read, write = (fcntl.fcntl(int(one), fcntl.F_DUPFD, 10) for one in sys.argv[1:3])
os.dup2(read, 3)
os.dup2(write, 4)
os.execv(sys.argv[3], sys.argv[3:])
"""


class Page:
    """One page. `complaints` are errors of scripts and of the browser itself."""

    def __init__(self, down: int, up: int) -> None:
        self.complaints: list[str] = []
        self._down, self._up = down, up
        self._rest, self._number, self._session = b"", 0, ""

    def open(self, address: str) -> None:
        target = self._asked("Target.createTarget", url="about:blank")["targetId"]
        attached = self._asked("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Runtime", "Log", "Page"):
            self._asked(f"{domain}.enable")
        self._asked("Page.navigate", url=address)

    def value(self, script: str) -> Any:
        """Return what a script comes to on the page."""
        found = self._asked("Runtime.evaluate", expression=script, returnByValue=True)
        return found["result"].get("value")

    def until(self, script: str, seconds: float = 30.0) -> Any:
        """Wait for a script to come to something true, and return that."""
        end = time.monotonic() + seconds
        while not (found := self.value(script)):
            text = self.value("document.body && document.body.innerText")
            assert time.monotonic() < end, f"{script} did not come true on:\n{text}"
            time.sleep(0.1)
        return found

    def _asked(self, method: str, **values: Any) -> dict[str, Any]:
        self._number += 1
        asked = {"id": self._number, "method": method, "params": values}
        if self._session:
            asked["sessionId"] = self._session
        os.write(self._down, json.dumps(asked).encode() + b"\0")
        while True:
            said = self._heard()
            if said.get("id") == self._number:
                return dict(said.get("result") or {"result": {}})
            if said.get("method") == "Runtime.exceptionThrown":
                self.complaints.append(str(said["params"]["exceptionDetails"]))
            if said.get("method") == "Log.entryAdded":
                self.complaints.append(str(said["params"]["entry"]["text"]))

    def _heard(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            assert select.select([self._up], [], [], 60)[0], "the browser says nothing"
            part = os.read(self._up, 1 << 16)
            assert part, "the browser is gone"
            self._rest += part
        text, _, self._rest = self._rest.partition(b"\0")
        return dict(json.loads(text))


@contextlib.contextmanager
def page(folder: Path) -> Iterator[Page]:
    """Start a browser with a profile in a folder; yield its one page."""
    (read, down), (up, write) = os.pipe(), os.pipe()
    words = [sys.executable, "-c", _AS_3_AND_4, str(read), str(write), BROWSER, *FLAGS]
    words += ["--remote-debugging-pipe", f"--user-data-dir={folder / 'browser'}", "about:blank"]
    with (folder / "browser.log").open("wb") as log:
        child = subprocess.Popen(words, pass_fds=(read, write), stdout=log, stderr=log)
    os.close(read)
    os.close(write)
    try:
        yield Page(down, up)
    finally:
        child.kill()
        child.wait(20)
        os.close(down)
        os.close(up)
