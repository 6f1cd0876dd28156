"""Requests to GitHub as an App or with a token: renewed, paced, repeated only where that is safe.

Sources: docs.github.com, "Rate limits for the REST API", "Best practices for using the REST API".
"""

from __future__ import annotations

import json
import random
import ssl
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Self
from urllib.parse import quote, urljoin, urlsplit

import httpx

from bot.github_answers import (
    SECONDARY_WAIT,
    error_of,
    limited,
    next_page,
    no_answer,
    rate_limited,
    read,
    seconds_until,
)
from bot.github_app import App, AppTokens
from bot.github_errors import Denied, GithubError, Missing, Refused, Unreachable
from bot.interfaces import Reply
from bot.settings import Settings
from optimizer.errors import ConfigError

PUBLIC = "https://api.github.com"
VERSION = "2022-11-28"
_ATTEMPTS = 4  # of a read, or of a write that may be repeated
_PAGE = 100
_LONGEST_NAME = 256  # characters of a file's path; a key is longer however it is written
_LARGEST = 128 << 20  # bytes of one answer: GitHub's blobs end at 100 MB, base64 in JSON
_WRITES, _WINDOW = 75, 60.0  # GitHub takes 80 content-creating requests a minute
_LONGEST_WAIT = 20.0  # seconds a call waits for a rate limit before it gives up
_READS = frozenset({"GET", "HEAD"})
_MOVED = frozenset({301, 302, 307, 308})


@dataclass(frozen=True, slots=True)
class Patience:
    """How time passes for a session; tests put their own clock here."""

    clock: Callable[[], float] = time.time
    sleep: Callable[[float], None] = time.sleep
    jitter: Callable[[], float] = random.random
    timeout: float = 20.0
    longest_wait: float = _LONGEST_WAIT


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What this GitHub can do. `version` is that of GitHub Enterprise Server, else empty."""

    version: str = ""
    dispatch_inputs: int = 25
    run_details: bool = True

    @property
    def is_server(self) -> bool:
        """Tell whether this is a GitHub Enterprise Server."""
        return bool(self.version)


REAL = Patience()


class GithubSession:
    """An `Api`. Safe to use from several threads; a context manager, for it holds connections."""

    def __init__(
        self,
        url: str = PUBLIC,
        *,
        app: App | None = None,
        token: str = "",
        patience: Patience = REAL,
    ) -> None:
        """Speak to GitHub at `url` as an App, or with a token. Raise `ConfigError` for neither."""
        if (app is None) == (not token):
            raise ConfigError(
                "there is no way to sign in to GitHub",
                "set OPTIML_GITHUB_APP_ID and OPTIML_GITHUB_APP_KEY for an App, or GITHUB_TOKEN",
            )
        self.url = url.rstrip("/")
        if urlsplit(self.url).scheme not in {"http", "https"}:
            raise ConfigError(f"{url!r} is no address of an API", f"it is {PUBLIC} by default")
        self.app = app
        self._token = token
        self._patience = patience
        self._tokens = None if app is None else AppTokens(app, self, self._now)
        self._client = httpx.Client(
            timeout=patience.timeout,
            verify=_trusted(),
            headers={
                "Accept": "application/vnd.github+json",
                "X-GitHub-Api-Version": VERSION,
                "User-Agent": "optiml-bot",
            },
        )
        self._pacing = threading.Lock()
        self._writes: deque[float] = deque(maxlen=_WRITES)
        self._capabilities: Capabilities | None = None
        self._author: int | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    # -- what callers use --------------------------------------------------------------------------

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
        """Send a request and return the answer; see `bot.interfaces.Api`."""
        may_repeat = method in _READS if repeat is None else repeat
        answer = self._sent(method, path, repository, may_repeat, body, query)
        data = None
        if answer.content:
            try:
                data = json.loads(answer.content)
            except ValueError as error:
                raise Unreachable(
                    f"GitHub answered {method} {path} with something that is not JSON",
                    "a proxy may have answered in its place",
                    status=answer.status_code,
                ) from error
        return Reply(answer.status_code, data, {k.lower(): v for k, v in answer.headers.items()})

    def pages(
        self,
        path: str,
        *,
        repository: str = "",
        query: Mapping[str, str | int] | None = None,
        key: str = "",
        limit: int = 30,
    ) -> Iterator[Any]:
        """Yield the entries of a list, page after page; `key` names it where it is wrapped.

        At most `limit` pages of 100 entries are read.
        """
        asked: dict[str, str | int] = {**(query or {}), "per_page": _PAGE}
        for _ in range(limit):
            reply = self.request("GET", path, repository=repository, query=asked)
            yield from reply.data[key] if key else reply.data
            following = next_page(reply.headers.get("link", ""))
            if not following:
                return
            asked |= following

    def download(self, path: str, *, repository: str, limit: int) -> bytes:
        """Return what a path redirects to; see `bot.interfaces.Api`.

        The redirection lives a minute and goes to a storage that must not see our token.
        """
        trouble: GithubError | None = None
        for attempt in range(_ATTEMPTS):
            self._wait_before(attempt)
            answer = self._sent("GET", path, repository, True, None, None, stop_at_redirect=True)  # noqa: FBT003
            if answer.status_code not in _MOVED:
                return limited(answer.content, limit, path)
            place = urljoin(self.url + path, answer.headers.get("location", ""))
            if urlsplit(place).scheme not in {"https", urlsplit(self.url).scheme}:
                raise Refused(f"GitHub sends {path} to {urlsplit(place).scheme!r}, not to HTTPS")
            try:
                return self._fetched(place, limit, path)
            except Unreachable as error:
                trouble = error
        raise trouble or Unreachable(f"{path} could not be downloaded")

    @property
    def capabilities(self) -> Capabilities:
        """Return what this GitHub can do, asked once; github.com is known without asking."""
        if self._capabilities is None:
            if self.url == PUBLIC:
                self._capabilities = Capabilities()
            else:
                data = self.request("GET", "/meta", repository="").data or {}
                version = str(data.get("installed_version") or "")
                self._capabilities = (
                    Capabilities(version, 10, run_details=False) if version else Capabilities()
                )
        return self._capabilities

    def author(self, repository: str) -> int:
        """Return the numeric id under which our comments appear, asked once.

        `repository` is any that we may read.
        """
        if self._author is None:
            self._author = self._asked_author(repository)
        return self._author

    def token_for(self, repository: str) -> str:
        """Return a token that reads and writes a repository, good for some minutes at least.

        Never to be handed to anything that runs a pull request's code.
        """
        return self._credential(repository)

    # -- one request, repeated where that is safe --------------------------------------------------

    def _sent(
        self,
        method: str,
        path: str,
        repository: str,
        may_repeat: bool,
        body: Mapping[str, Any] | None,
        query: Mapping[str, str | int] | None,
        *,
        stop_at_redirect: bool = False,
    ) -> httpx.Response:
        renewed = False
        place = self.url + path
        attempt = moves = 0
        while True:
            self._pace(method)
            try:
                answer = self._once(method, place, self._credential(repository), body, query)
            except (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout) as error:
                attempt += 1  # nothing was sent, so any request may be repeated
                if attempt >= _ATTEMPTS:
                    raise no_answer(method, path, error) from error
                self._wait_before(attempt)
                continue
            except httpx.TransportError as error:
                attempt += 1
                if not may_repeat or attempt >= _ATTEMPTS:
                    raise no_answer(method, path, error) from error
                self._wait_before(attempt)
                continue
            status = answer.status_code
            if status < 300 or status == 304:
                return answer
            if status in _MOVED:
                if stop_at_redirect:
                    return answer
                place, moves = self._moved(answer, place, moves), moves + 1
                query = None
                continue
            if status == 401 and not renewed and self._tokens is not None:
                renewed = True  # 401 means that nothing was done: mint once more and repeat
                self._tokens.renew(repository, answer)
                continue
            wait = self._limit(answer)
            if wait is not None:
                attempt += 1
                if wait > self._patience.longest_wait or attempt >= _ATTEMPTS:
                    raise rate_limited(method, path, status, wait)
                self._patience.sleep(wait)
                continue
            if status >= 500 and may_repeat and attempt + 1 < _ATTEMPTS:
                attempt += 1
                self._wait_before(attempt)
                continue
            raise error_of(method, path, answer)

    def _once(
        self,
        method: str,
        place: str,
        credential: str,
        body: Mapping[str, Any] | None,
        query: Mapping[str, str | int] | None,
    ) -> httpx.Response:
        headers = {"Authorization": f"Bearer {credential}"} if credential else {}
        request = self._client.build_request(
            method, place, params=query, json=body, headers=headers
        )
        answer = self._client.send(request, stream=True)
        try:
            content = read(answer, _LARGEST, place)
        finally:
            answer.close()
        kept = [
            (name, value)
            for name, value in answer.headers.multi_items()
            if name.lower() not in {"content-encoding", "content-length", "transfer-encoding"}
        ]
        return httpx.Response(answer.status_code, headers=kept, content=content, request=request)

    def _fetched(self, place: str, limit: int, path: str) -> bytes:
        request = self._client.build_request("GET", place)
        try:
            answer = self._client.send(request, stream=True, follow_redirects=False)
            try:
                if answer.status_code != 200:
                    raise Unreachable(
                        f"the download of {path} failed with status {answer.status_code}",
                        status=answer.status_code,
                    )
                return read(answer, limit, path)
            finally:
                answer.close()
        except httpx.TransportError as error:
            raise no_answer("GET", path, error) from error

    def _moved(self, answer: httpx.Response, place: str, moves: int) -> str:
        """Return where a renamed repository is; the token goes to GitHub's own address only."""
        target = urljoin(place, answer.headers.get("location", ""))
        ours, theirs = urlsplit(self.url), urlsplit(target)
        if moves >= 3 or (ours.scheme, ours.netloc) != (theirs.scheme, theirs.netloc):
            raise Refused(
                f"GitHub redirects {urlsplit(place).path} elsewhere", status=answer.status_code
            )
        return str(target)

    def _credential(self, repository: str) -> str:
        return self._token if self._tokens is None else self._tokens.credential(repository)

    def _asked_author(self, repository: str) -> int:
        """Ask for our own id: an App's bot user, else the token's user, else the Actions bot."""
        if self.app is not None:
            slug = str(self.request("GET", "/app").data["slug"])
            return self._user(f"{slug}[bot]", repository)
        try:
            return int(self.request("GET", "/user").data["id"])
        except (Denied, Missing):
            # A workflow's own token has no user; what it writes is the Actions bot's.
            return self._user("github-actions[bot]", repository)

    def _user(self, login: str, repository: str) -> int:
        reply = self.request("GET", f"/users/{quote(login, safe='')}", repository=repository)
        return int(reply.data["id"])

    # -- limits ------------------------------------------------------------------------------------

    def _pace(self, method: str) -> None:
        if method in _READS:
            return
        with self._pacing:
            now = self._patience.clock()
            full = len(self._writes) == _WRITES
            wait = self._writes[0] + _WINDOW - now if full else 0.0
            self._writes.append(max(now, now + wait))
        if wait > 0:
            self._patience.sleep(wait)

    def _limit(self, answer: httpx.Response) -> float | None:
        """Return how long to wait when an answer is a rate limit, None when it is not one."""
        if answer.status_code not in {403, 429}:
            return None
        after = answer.headers.get("retry-after", "")
        if after:
            return seconds_until(after, self._patience.clock())
        if answer.headers.get("x-ratelimit-remaining") == "0":
            reset = answer.headers.get("x-ratelimit-reset", "")
            now = self._now() + (0.0 if self._tokens is None else self._tokens.skew)
            return max(1.0, float(reset) - now) if reset.isdigit() else SECONDARY_WAIT
        if answer.status_code == 429 or "secondary rate limit" in answer.text[:2000].lower():
            return SECONDARY_WAIT
        return None

    def _now(self) -> float:
        return self._patience.clock()

    def _wait_before(self, attempt: int) -> None:
        if attempt:
            self._patience.sleep(0.5 * 2 ** (attempt - 1) * (1 + self._patience.jitter()))


def session_of(settings: Settings) -> GithubSession:
    """Return a session as the settings have it: the App where one is set, else the token.

    Raise `ConfigError` when there is neither, or the key cannot be read.
    """
    if not settings.github_app_id:
        return GithubSession(settings.github_url, token=settings.github_token)
    key = settings.github_app_key
    if key and "-----BEGIN" not in key:
        try:
            key = Path(key).read_text(encoding="utf-8")
        except (OSError, ValueError) as error:
            # It may be the key itself in some other form, which no log must hold.
            where = f"from {key}" if len(key) < _LONGEST_NAME else "from what is set as its file"
            raise ConfigError(
                f"the App's private key cannot be read {where}",
                "OPTIML_GITHUB_APP_KEY is the .pem file that GitHub gave, or its text",
            ) from (error if len(key) < _LONGEST_NAME else None)
    return GithubSession(settings.github_url, app=App(settings.github_app_id, key))


@lru_cache(maxsize=1)
def _trusted() -> ssl.SSLContext:
    """Return what certificates are checked with; reading those takes longer than a request."""
    return httpx.create_ssl_context()
