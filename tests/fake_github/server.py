"""The fake GitHub as a server on loopback, with faults to be put in its way."""

from __future__ import annotations

import json
import re
import secrets
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Self
from urllib.parse import parse_qsl, unquote, urlsplit

import jwt
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from tests.fake_github.answers import Answer, Refusal, Shapes, gone
from tests.fake_github.asked import Asked
from tests.fake_github.git_store import GitStore
from tests.fake_github.prism import Validator, send
from tests.fake_github.routes import ROUTES
from tests.fake_github.state import ALL, Artifact, Comment, Pull, Repository, Run, State, Token

_SHOWN = "x-fake-status"
_LEVELS = {"read": 1, "write": 2, "admin": 3}
_APP = "4711"
DROP = 0  # a status that means: no answer at all


@dataclass
class Fault:
    """What goes wrong: `status` DROP closes the connection, `after` does the request first."""

    method: str
    path: re.Pattern[str]
    status: int
    times: int
    after: bool
    headers: dict[str, str]
    message: str


@dataclass(frozen=True)
class Call:
    """A request that came in, and what was answered."""

    method: str
    path: str
    status: int
    body: Mapping[str, Any] = field(default_factory=dict)


def _key() -> tuple[str, Any]:
    private = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    text = private.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.TraditionalOpenSSL,
        serialization.NoEncryption(),
    ).decode()
    return text, private.public_key()


KEY, _PUBLIC = _key()
OTHER_KEY, _ = _key()


# Downloads: Prism would follow GitHub's redirection itself, our token with it.
_AROUND = re.compile(r"/storage/|/repos/[^/]+/[^/]+/actions/artifacts/\d+/zip\Z")


class FakeGithub:
    """A context manager. With a `validator`, every request and answer goes through it."""

    validator: Validator | None = None  # of the test session, set by its conftest.py

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.state = State(time.time)
        self.calls: list[Call] = []
        self.faults: list[Fault] = []
        self.hooks: dict[str, Any] = {}
        self.remaining = 5000
        self.complete: Callable[[str, str, int, Any], Any] | None = None
        self._lock = threading.RLock()
        self._name = ""
        fake = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            wbufsize = -1
            disable_nagle_algorithm = True

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002
                pass

            def _go(self) -> None:
                fake._serve(self)

            do_GET = do_POST = do_PATCH = do_PUT = do_DELETE = _go  # noqa: N815

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = False  # closing waits for them: clients close first
        self.address = f"http://127.0.0.1:{self._server.server_address[1]}"
        self.public = self.address
        self.hooks["storage"] = self.address
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
        )

    def __enter__(self) -> Self:
        if self.validator is not None:
            self._name = self.validator.add(self)
            self.complete = self.complete or self.validator.complete
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
        if self.validator is not None:
            self.validator.remove(self._name)

    # -- what tests set up -------------------------------------------------------------------------

    @property
    def app_id(self) -> str:
        return _APP

    def repository(self, name: str, *, installed: bool = True, **rights: str) -> Repository:
        """Make a repository; `rights` are of users by login."""
        number = next(self.state.numbers)
        made = Repository(number, name, GitStore(self.folder / f"{number}.git"))
        made.rights = {login.lower(): right for login, right in rights.items()}
        for login in rights:
            self.state.user(login)
        self.state.user("optiml[bot]", "Bot")
        self.state.user("github-actions[bot]", "Bot")
        if installed:
            made.installation = next(self.state.numbers)
            self.state.permissions[made.installation] = dict(ALL)
        self.state.repositories[name.lower()] = made
        return made

    def fork(self, original: Repository, owner: str) -> Repository:
        """Make a fork that shares the original's objects."""
        name = f"{owner}/{original.name.partition('/')[2]}"
        made = Repository(
            next(self.state.numbers), name, original.store, f"refs/forks/{owner}/",
            rights={owner.lower(): "admin"},
        )  # fmt: skip
        self.state.user(owner)
        self.state.repositories[name.lower()] = made
        return made

    def commit(
        self,
        repository: Repository,
        branch: str,
        files: dict[str, str | bytes | None],
        *,
        start: str = "",
        message: str = "change",
    ) -> str:
        """Commit files to a branch, which begins at the commit `start` when it is new."""
        parent = repository.tip(branch) or start or None
        return repository.store.write_files(repository.prefix + branch, files, message, parent)

    def pull(
        self,
        repository: Repository,
        branch: str,
        *,
        source: Repository | None = None,
        base: str = "main",
        author: str = "dev",
        **values: Any,
    ) -> Pull:
        number = next(self.state.pull_numbers)
        tip = repository.tip(base)
        assert tip is not None
        made = Pull(
            number, repository, source or repository, branch, base, tip, f"Change {branch}",
            self.state.user(author), **values,
        )  # fmt: skip
        self.state.pulls[repository.name.lower(), number] = made
        return made

    def say(self, pull: Pull, login: str, body: str) -> Comment:
        """Let somebody write a comment."""
        number = next(self.state.numbers)
        made = Comment(number, pull.number, self.state.user(login), body, self.state.now())
        self.state.comments[number] = made
        self.state.comment_places[number] = pull.repository.name.lower()
        return made

    def workflow_token(self, repository: Repository, permissions: dict[str, str]) -> str:
        user = self.state.user("github-actions[bot]", "Bot")
        held = {"metadata": "read", **permissions}
        return self.state.mint(user, held, repository=repository.name.lower()).text

    def personal_token(self, login: str) -> str:
        return self.state.mint(self.state.user(login), dict(ALL)).text

    def finish(self, run: Run, conclusion: str, bundle: bytes | None = None, lag: int = 0) -> None:
        """End a run, with an artifact that shows up `lag` listings later."""
        if bundle is not None:
            number = next(self.state.numbers)
            self.state.artifacts[number] = Artifact(number, run.id, "optiml-bundle", bundle, lag)
        run.status, run.conclusion, run.updated = "completed", conclusion, self.state.now()

    def fail(
        self,
        method: str,
        path: str,
        status: int,
        *,
        times: int = 1,
        after: bool = False,
        message: str = "Server Error",
        **headers: str,
    ) -> None:
        """Let requests fail whose path matches a pattern; `after` does what they ask all the same."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        self.faults.append(Fault(method, re.compile(path), status, times, after, named, message))

    # -- what it holds -----------------------------------------------------------------------------

    def comments(self, pull: Pull, login: str = "optiml[bot]") -> list[Comment]:
        """Return what somebody wrote on a pull request."""
        author = self.state.user(login)
        name = pull.repository.name.lower()
        return [
            one
            for one in self.state.comments.values()
            if one.number == pull.number
            and one.author is author
            and self.state.comment_places[one.id] == name
        ]

    def count(self, method: str = "", path: str = "") -> int:
        """Count the requests answered so far, storage aside."""
        return sum(
            method in {"", one.method} and re.search(path, one.path) is not None
            for one in self.calls
            if not one.path.startswith("/storage/")
        )

    # -- serving -----------------------------------------------------------------------------------

    def _serve(self, handler: BaseHTTPRequestHandler) -> None:
        """Take a request: put a fault in its way, have it validated, or just do it."""
        size = int(handler.headers.get("content-length") or 0)
        raw = handler.rfile.read(size) if size else b""
        named = {name.lower(): value for name, value in handler.headers.items()}
        method, target = handler.command, handler.path
        path = target.partition("?")[0]
        with self._lock:
            fault = self._fault(method, unquote(path))
            if fault is not None and not fault.after:
                self._keep(method, path, fault.status, raw)
        if fault is not None and not fault.after:
            self._break(handler, fault)
            return
        shown = fault.status if fault is not None else None
        if self.validator is None or _AROUND.match(path):
            status, headers, content = self.perform(method, target, named, raw, shown)
        else:
            if shown is not None:
                named[_SHOWN] = str(shown)
            asked = (self._name, method, target, named, raw)
            status, headers, content = self.validator.ask(*asked)
        if fault is not None:
            self._break(handler, fault)
        else:
            send(handler, status, headers, content)

    def perform(
        self,
        method: str,
        target: str,
        headers: Mapping[str, str],
        raw: bytes,
        shown: int | None = None,
    ) -> tuple[int, dict[str, str], bytes]:
        """Do what a request asks; return status, headers and content of the answer.

        `shown`, or a header of the validator's, is the status that the client will see instead.
        """
        parts = urlsplit(target)
        with self._lock:
            answer = self._answered(method, parts.path, dict(parse_qsl(parts.query)), raw, headers)
            seen = shown if shown is not None else int(headers.get(_SHOWN, answer.status))
            self._keep(method, parts.path, seen, raw)
        return answer.status, *_written(answer)

    def _keep(self, method: str, path: str, status: int, raw: bytes) -> None:
        body = json.loads(raw) if raw[:1] == b"{" else {}
        self.calls.append(Call(method, unquote(path), status, body))

    @staticmethod
    def _break(handler: BaseHTTPRequestHandler, fault: Fault) -> None:
        if fault.status == DROP:
            handler.close_connection = True
            handler.connection.shutdown(2)
            return
        answer = Answer(fault.status, {"message": fault.message}, dict(fault.headers))
        send(handler, answer.status, *_written(answer))

    def _fault(self, method: str, path: str) -> Fault | None:
        for one in self.faults:
            if one.times > 0 and one.method in {"", method} and one.path.search(path):
                one.times -= 1
                return one
        return None

    def _answered(
        self,
        method: str,
        path: str,
        query: dict[str, str],
        raw: bytes,
        headers: Mapping[str, str],
    ) -> Answer:
        if path.startswith("/storage/"):
            return self._stored(path, headers)
        try:
            for known, pattern, permission, level, work in ROUTES:
                match = pattern.match(path) if known == method else None
                if match is None:
                    continue
                places = {name: unquote(value) for name, value in match.groupdict().items()}
                token = self._allowed(path, headers, permission, level, places)
                self._limits(method)
                asked = Asked(
                    method, path, query, json.loads(raw) if raw else {}, token, self.state,
                    Shapes(self.state, self.public, self.public), self.hooks, places,
                )  # fmt: skip
                answer = work(asked)
                break
            else:
                raise gone()
        except Refusal as refusal:
            answer = refusal.answer
        answer.headers.setdefault("x-ratelimit-remaining", str(self.remaining))
        answer.headers.setdefault("x-ratelimit-reset", str(int(self.state.now()) + 1800))
        if self.complete is not None and answer.raw is None:
            answer.data = self.complete(method, path, answer.status, answer.data)
        return answer

    def _allowed(
        self,
        path: str,
        headers: Mapping[str, str],
        permission: str,
        level: str,
        places: dict[str, str],
    ) -> Token | None:
        if permission == "-":
            return None
        text = headers.get("authorization", "").removeprefix("Bearer ")
        if not permission:
            self._check_jwt(text)
            return None
        token = self.state.tokens.get(text)
        if token is None or token.ends <= self.state.now():
            raise Refusal(401, "Bad credentials")
        if permission == "any":
            return token
        name = f"{places.get('o', '')}/{places.get('r', '')}".lower()
        found = self.state.repositories.get(name)
        if found is None:
            raise gone()
        if token.installation is not None and token.installation != found.installation:
            raise gone()
        if token.repository is not None and token.repository != name:
            raise gone()
        accepted = {permission}
        if "issues" in accepted and "/issues/" in path:
            accepted.add("pull_requests")  # for comments on pull requests either is enough
        held = max(_LEVELS.get(token.permissions.get(one, ""), 0) for one in accepted)
        if held < _LEVELS[level]:
            needed = "; ".join(f"{one}={level}" for one in sorted(accepted))
            raise Refusal(
                403,
                "Resource not accessible by integration",
                x_accepted_github_permissions=needed,
            )
        return token

    def _check_jwt(self, text: str) -> None:
        try:
            claims = jwt.decode(
                text,
                _PUBLIC,
                algorithms=["RS256"],
                options={"verify_exp": False, "verify_iat": False},
            )
        except jwt.PyJWTError as error:
            raise Refusal(401, "A JSON web token could not be decoded") from error
        now = self.state.now()
        if str(claims.get("iss")) != _APP:
            raise Refusal(401, "Integration not found")
        if claims["iat"] > now + 5:
            raise Refusal(401, "'Issued at' claim ('iat') must be an Integer in the past")
        if claims["exp"] > now + 605 or claims["exp"] <= now:
            raise Refusal(401, "'Expiration time' claim ('exp') is too far in the future")

    def _limits(self, method: str) -> None:
        if self.remaining <= 0:
            raise Refusal(
                403,
                "API rate limit exceeded",
                x_ratelimit_remaining="0",
                x_ratelimit_reset=str(int(self.state.now()) + 1800),
            )
        self.remaining -= 1
        if method == "GET":
            return
        now = self.state.now()
        self.state.writes = [one for one in self.state.writes if one > now - 60]
        if len(self.state.writes) >= 80:
            raise Refusal(403, "You have exceeded a secondary rate limit", retry_after="60")
        self.state.writes.append(now)

    def _stored(self, path: str, headers: Mapping[str, str]) -> Answer:
        data, ends = self.state.downloads.get(path.rpartition("/")[2], (b"", 0.0))
        if "authorization" in headers:
            return Answer(400, raw=b"InvalidAuthenticationInfo")
        if ends < self.state.now():
            return Answer(403, raw=b"AuthenticationFailed")
        return Answer(200, raw=data, headers={"content-type": "application/zip"})


def _written(answer: Answer) -> tuple[dict[str, str], bytes]:
    """Return the headers and the content of an answer."""
    if answer.raw is not None:
        content = answer.raw
    else:
        content = b"" if answer.data is None else json.dumps(answer.data).encode()
    kind = "application/json; charset=utf-8" if content else "text/html; charset=utf-8"
    answer.headers.setdefault("content-type", kind)
    answer.headers.setdefault("x-github-request-id", secrets.token_hex(8))
    return answer.headers, content
