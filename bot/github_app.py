"""Who we are to GitHub as an App: signed with its key, then a token for each installation.

Source: docs.github.com, "Generating a JSON Web Token (JWT) for a GitHub App".
"""

from __future__ import annotations

import datetime as dt
import email.utils
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache

import httpx
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key
from github import Auth

from bot.github_errors import Denied, Missing
from bot.github_paths import at
from bot.interfaces import Api
from optimizer.errors import ConfigError

_HOUR = 3600.0
_MARGIN = 120.0  # seconds before its end at which a token is renewed
_EPOCH = "Thu, 01 Jan 1970 00:00:00 GMT"


@dataclass(frozen=True, slots=True)
class App:
    """Who we are: the App's id (or client id) and its private key in PEM."""

    id: str
    key: str = field(repr=False)


@dataclass(slots=True)
class _Token:
    text: str
    ends: float


class AppTokens:
    """Tokens of an App's installations, minted through `api` and renewed before they end.

    `clock` tells the time in seconds; `skew` is how far GitHub's clock is ahead of it. Safe to use
    from several threads.
    """

    def __init__(self, app: App, api: Api, clock: Callable[[], float]) -> None:
        """Raise `ConfigError` for a key that cannot be read."""
        self._sign = _signer(app)
        self._api = api
        self._clock = clock
        self._lock = threading.Lock()
        self._installations: dict[str, tuple[int, float]] = {}  # and until when it is believed
        self._tokens: dict[int, _Token] = {}
        self.skew = 0.0

    def credential(self, repository: str) -> str:
        """Return a token for a repository, for none the App's own signature."""
        if not repository:
            return self._sign(self._clock() + self.skew)
        was_known = repository.lower() in self._installations
        try:
            return self._token_of(self.installation(repository))
        except Denied as error:
            if error.status != 404 or not was_known:
                raise
            # The App was removed there, and may have been installed again under another number.
            self._installations.pop(repository.lower(), None)
            return self._token_of(self.installation(repository))

    def _token_of(self, number: int) -> str:
        with self._lock:
            token = self._tokens.get(number)
            if token is None or token.ends - _MARGIN < self._clock():
                token = self._tokens[number] = self._minted(number)
            return token.text

    def _minted(self, installation: int) -> _Token:
        # Minting twice gives two tokens, which harms nobody: it may be repeated.
        path = f"/app/installations/{installation}/access_tokens"
        try:
            data = self._api.request("POST", path, repeat=True).data
        except Missing as error:
            raise Denied(
                f"installation {installation} is gone", "install the App again", status=404
            ) from error
        ends = dt.datetime.fromisoformat(data["expires_at"]).timestamp()
        return _Token(str(data["token"]), ends - self.skew)

    def renew(self, repository: str, answer: httpx.Response) -> None:
        """Prepare for one more attempt after a 401: forget the token, or set the clock right."""
        if not repository:
            there = email.utils.parsedate_to_datetime(answer.headers.get("date", "") or _EPOCH)
            skew = there.timestamp() - self._clock()
            # A clock that is wrong makes the JWT one of the past or the future.
            self.skew = skew if 30 < abs(skew) < 86_400 else 0.0
            return
        with self._lock:
            self._tokens.pop(self._installations.get(repository.lower(), (0, 0.0))[0], None)

    def installation(self, repository: str) -> int:
        """Return the installation a repository belongs to. Raise `Denied` when there is none.

        GitHub alone is asked, never a webhook's payload, and again after an hour: a repository may
        have moved to another owner who has the App, too.
        """
        known, until = self._installations.get(repository.lower(), (0, 0.0))
        if self._clock() >= until:
            try:
                found = self._api.request("GET", f"{at(repository)}/installation")
            except Missing as error:
                raise Denied(
                    f"the App is not installed on {repository}",
                    "install it there: the App's public page, Install",
                    status=404,
                ) from error
            known = int(found.data["id"])
            self._installations[repository.lower()] = (known, self._clock() + _HOUR)
        return known


@lru_cache(maxsize=2)
def _private_key(text: str) -> RSAPrivateKey:
    """Read a key, which is checked as it is read: that takes a tenth of a second."""
    key = load_pem_private_key(text.encode(), password=None)
    if not isinstance(key, RSAPrivateKey):
        raise TypeError("not an RSA key")
    return key


def _signer(app: App) -> Callable[[float], str]:
    """Return what signs JWTs. Raise `ConfigError` for a key that is none."""
    text = app.key.replace("\\n", "\n")  # as it comes out of many an environment
    try:
        key = _private_key(text)
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        raise ConfigError(
            "the App's private key is not readable",
            "OPTIML_GITHUB_APP_KEY is the .pem file that GitHub gave, or its text",
        ) from error

    signed = Auth.AppAuth.create_jwt_sign(lambda: key, "RS256")  # type: ignore[arg-type,return-value]

    def sign(now: float) -> str:
        # Ten minutes is the most GitHub takes; a minute back for clocks that differ.
        return str(signed({"iat": int(now) - 60, "exp": int(now) + 480, "iss": app.id}))

    return sign
