"""Where the search memory is kept: a file, or an address of the user's own; never both.

A memory at an address is for several machines that learn from each other. It is read and written
whole (GET and PUT), and what comes from there is read as what anybody may have written. Nothing
that goes wrong with it stops a search.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol
from urllib.parse import urlsplit

import httpx

from bot.loopback import is_loopback
from bot.settings import Settings
from optimizer.errors import ConfigError
from optimizer.memory import MOST_LESSONS, Lesson, SearchMemory, remember, written

# 10,000 lessons take 1.5 MB.
MOST_BYTES = 4 << 20
CONNECT_SECONDS, READ_SECONDS, WHOLE_SECONDS = 3.0, 5.0, 15.0
# Two searches that end at once: the later one reads again and adds to what the earlier one wrote.
ATTEMPTS = 3


class MemoryStore(Protocol):
    """Keeps lessons across runs."""

    def load(self, gpu: str, today: float) -> SearchMemory:
        """Return what was learned; its notes say what could not be read."""
        ...

    def add(self, found: Iterable[Lesson]) -> None:
        """Keep more lessons. Raise `ConfigError` when that is not possible."""
        ...

    def clear(self) -> None:
        """Forget everything. Raise `ConfigError` when that is not possible."""
        ...


def store_of(settings: Settings) -> MemoryStore | None:
    """Return where the settings keep the memory; None when it is switched off.

    Raise `ConfigError` for an address that is none.
    """
    if settings.memory != "on":
        return None
    if settings.memory_url:
        return UrlMemory(settings.memory_url, settings.memory_token)
    return FileMemory(settings.cache_folder / "memory.jsonl")


@dataclass(frozen=True, slots=True)
class FileMemory:
    """A memory in a file."""

    path: Path

    def load(self, gpu: str, today: float) -> SearchMemory:
        """Return what was learned; a file that is not there is an empty memory."""
        return SearchMemory.load(self.path, gpu, today)

    def add(self, found: Iterable[Lesson]) -> None:
        """Append lessons."""
        remember(self.path, found)

    def clear(self) -> None:
        """Delete the file."""
        try:
            self.path.unlink(missing_ok=True)
        except OSError as error:
            raise ConfigError(f"search memory {self.path}: {error.strerror}") from error


class _AddressError(Exception):
    """The address does not give or take a memory."""


@dataclass(slots=True)
class UrlMemory:
    """A memory at an address: `https`, or `http` on this machine. Redirects are not followed.

    What was read is kept for the life of this object: a run over many kernels asks once.
    """

    url: str
    token: str = field(default="", repr=False)
    _text: str | None = None
    _trouble: str = ""
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        """Refuse an address that would show a token or the lessons to others."""
        parts = urlsplit(self.url)
        if parts.username or parts.password:
            raise ConfigError(
                "the memory's address holds a password", "put the token into OPTIML_MEMORY_TOKEN"
            )
        local = parts.scheme == "http" and is_loopback(parts.hostname or "")
        if not parts.hostname or (parts.scheme != "https" and not local):
            raise ConfigError(
                f"{self.where} is no address for a memory", "write it as https://HOST/PATH"
            )

    @property
    def where(self) -> str:
        """Return the address without what may be secret in it."""
        parts = urlsplit(self.url)
        return f"{parts.scheme}://{parts.hostname or ''}{parts.path}"

    def load(self, gpu: str, today: float) -> SearchMemory:
        """Return what was learned; an empty memory with a note when it cannot be had."""
        with self._lock:
            if self._text is None:
                try:
                    self._text, _ = self._get()
                except _AddressError as error:
                    self._text, self._trouble = "", str(error)
            if self._trouble:
                note = f"search memory {self.where}: {self._trouble}; searching without"
                return SearchMemory((), gpu, today, (note,))
            return SearchMemory.read(self._text, self.where, gpu, today)

    def add(self, found: Iterable[Lesson]) -> None:
        """Add lessons to what is there now, the oldest making room."""
        new = list(found)
        if not new:
            return
        self._put_over(lambda old: [*SearchMemory.read(old, self.where).lessons, *new])

    def clear(self) -> None:
        """Write an empty memory."""
        self._put_over(lambda _: [])

    def _put_over(self, change: _Change) -> None:
        with self._lock:
            try:
                for attempt in range(ATTEMPTS):
                    old, version = self._get()
                    text = written(change(old)[-MOST_LESSONS:])
                    if self._put(text, version):
                        self._text, self._trouble = text, ""
                        return
                    time.sleep(0.2 * (attempt + 1))
            except _AddressError as error:
                raise ConfigError(
                    f"search memory {self.where}: {error}", "OPTIML_MEMORY=off goes without"
                ) from error
        raise ConfigError(f"search memory {self.where}: others keep writing it")

    def _get(self) -> tuple[str, dict[str, str]]:
        """Return the text, and the headers under which a PUT replaces exactly that."""
        deadline = time.monotonic() + WHOLE_SECONDS
        data = bytearray()
        try:
            with self._open() as client, client.stream("GET", self.url) as answer:
                if answer.status_code in (404, 410):
                    return "", {"If-None-Match": "*"}
                if answer.status_code != 200:
                    raise _AddressError(f"GET gave HTTP {answer.status_code}")
                for part in answer.iter_bytes():
                    data += part
                    if len(data) > MOST_BYTES:
                        raise _AddressError(f"larger than {MOST_BYTES >> 20} MiB")
                    if time.monotonic() > deadline:
                        raise _AddressError("it does not come to an end")
                tag = answer.headers.get("etag", "")
        except (httpx.HTTPError, httpx.InvalidURL, OSError) as error:
            raise _AddressError(type(error).__name__) from error
        return data.decode(errors="replace"), {"If-Match": tag} if tag else {}

    def _put(self, text: str, version: dict[str, str]) -> bool:
        headers = {"content-type": "application/x-ndjson", **version}
        try:
            with self._open() as client:
                answer = client.put(self.url, content=text.encode(), headers=headers)
        except (httpx.HTTPError, httpx.InvalidURL, OSError) as error:
            raise _AddressError(type(error).__name__) from error
        if answer.status_code in (409, 412):
            return False
        if answer.status_code not in (200, 201, 204):
            raise _AddressError(f"PUT gave HTTP {answer.status_code}")
        return True

    def _open(self) -> httpx.Client:
        headers = {"accept-encoding": "identity"}  # what is counted is what is sent
        if self.token:
            headers["authorization"] = f"Bearer {self.token}"
        limits = httpx.Timeout(READ_SECONDS, connect=CONNECT_SECONDS)
        return httpx.Client(headers=headers, timeout=limits, follow_redirects=False)


class _Change(Protocol):
    def __call__(self, old: str, /) -> list[Lesson]: ...
