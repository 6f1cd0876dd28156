"""What an answer of GitHub's says: how it failed, when to come back, where the next page is.

Source: docs.github.com, "Rate limits for the REST API" and "Using pagination in the REST API".
"""

from __future__ import annotations

import email.utils
import json
import re
from urllib.parse import parse_qs, urlsplit

import httpx

from bot.github_errors import (
    Denied,
    GithubError,
    Missing,
    RateLimited,
    Refused,
    Stale,
    Unreachable,
)

SECONDARY_WAIT = 60.0  # seconds, what GitHub asks for when it gives no figure


def read(answer: httpx.Response, limit: int, path: str) -> bytes:
    """Return the body of an answer that comes in parts. Raise `Refused` beyond `limit` bytes."""
    declared = answer.headers.get("content-length", "")
    if declared.isdigit() and int(declared) > limit:
        raise _too_large(path, limit)
    parts, size = [], 0
    for part in answer.iter_bytes():
        size += len(part)
        if size > limit:
            raise _too_large(path, limit)
        parts.append(part)
    return b"".join(parts)


def limited(content: bytes, limit: int, path: str) -> bytes:
    """Return what was read. Raise `Refused` beyond `limit` bytes."""
    if len(content) > limit:
        raise _too_large(path, limit)
    return content


def _too_large(path: str, limit: int) -> Refused:
    return Refused(f"{path} is larger than {limit / (1 << 20):.0f} MiB and was not read")


def next_page(link: str) -> dict[str, str]:
    """Return the query of the next page from a Link header, nothing when there is none."""
    for part in link.split(","):
        match = re.match(r'\s*<([^>]*)>\s*;.*rel="next"', part)
        if match:
            return {name: values[0] for name, values in parse_qs(urlsplit(match[1]).query).items()}
    return {}


def seconds_until(text: str, now: float) -> float:
    """Return how many seconds a Retry-After header means, which is a number of them or a date."""
    if text.isdigit():
        return float(text)
    try:
        return max(1.0, email.utils.parsedate_to_datetime(text).timestamp() - now)
    except ValueError:
        return SECONDARY_WAIT


def no_answer(method: str, path: str, error: Exception) -> Unreachable:
    """Return the error of a request that got no answer."""
    what = type(error).__name__
    return Unreachable(f"GitHub did not answer {method} {path}: {what}", "it is tried again later")


def rate_limited(method: str, path: str, status: int, wait: float) -> RateLimited:
    """Return the error of a request that would have to wait for too long, in seconds."""
    return RateLimited(
        f"GitHub takes no more requests for now ({method} {path})",
        f"it is tried again in {wait:.0f} s",
        status=status,
        retry_after=wait,
    )


def error_of(method: str, path: str, answer: httpx.Response) -> GithubError:
    """Return the error that an answer's status means."""
    status, words = answer.status_code, _words(answer)
    what = f"GitHub refused {method} {path} with {status}: {words}"
    if status == 401:
        return Denied(what, "the token or the App's key is not valid (any more)", status=status)
    if status == 403:
        needed = answer.headers.get("x-accepted-github-permissions", "")
        remedy = f"give it the permission {needed.replace('=', ': ')}" if needed else ""
        return Denied(what, remedy, status=status)
    if status in {404, 410, 451}:
        return Missing(what, "it is not there, or the token may not see it", status=status)
    if status == 409 or (status == 422 and "fast forward" in words.lower()):
        return Stale(what, "somebody pushed in the meantime", status=status)
    if status >= 500:
        return Unreachable(what, "it is tried again later", status=status)
    return Refused(what, status=status)


def _words(answer: httpx.Response) -> str:
    """Return what GitHub says of an error, in one line."""
    try:
        data = json.loads(answer.content)
        parts = [str(data.get("message") or answer.reason_phrase)]
        for one in data.get("errors") or ():
            if isinstance(one, dict):
                said = one.get("message") or " ".join(
                    str(one[name]) for name in ("resource", "field", "code") if one.get(name)
                )
                parts.append(str(said))
            else:
                parts.append(str(one))
    except (ValueError, AttributeError, TypeError):
        return str(answer.reason_phrase)
    return " ".join("; ".join(parts).split())[:500]
