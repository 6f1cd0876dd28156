"""The artifact of a workflow's run, found although listings lag, downloaded within limits."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from bot import bundle
from bot.github_errors import Missing, Refused
from bot.interfaces import Api
from bot.orders import BundleError
from optimizer.errors import RunnerError

NAME = "optiml-bundle"
LAGS = (1.0, 2.0, 5.0, 10.0, 20.0, 30.0, 40.0, 40.0)  # seconds; a listing may lag by minutes


def fetch(
    api: Api,
    repository: str,
    run: int,
    lags: Sequence[float] = LAGS,
    sleep: Callable[[float], None] = time.sleep,
) -> bytes | None:
    """Return the zip of a run's newest bundle, looked for again after each lag; None without one.

    Raise `BundleError` when it is too large or not what was uploaded, `RunnerError` when it is
    gone.
    """
    path = f"/repos/{repository}/actions/runs/{run}/artifacts"
    for lag in (0.0, *lags):
        sleep(lag)
        query: dict[str, str | int] = {"name": NAME, "per_page": 100}
        data = api.request("GET", path, repository=repository, query=query).data
        listed: list[Mapping[str, Any]] = data.get("artifacts") or []
        found = [one for one in listed if one.get("name") == NAME]
        if found:
            return _downloaded(api, repository, max(found, key=lambda one: int(one["id"])))
    return None


def _downloaded(api: Api, repository: str, artifact: Mapping[str, Any]) -> bytes:
    if artifact.get("expired"):
        raise RunnerError("the results were kept too short a time and are gone", "run it again")
    if int(artifact.get("size_in_bytes") or 0) > bundle.LIMITS.archive:
        raise BundleError(f"the artifact is over {bundle.LIMITS.archive >> 20} MiB")
    path = f"/repos/{repository}/actions/artifacts/{artifact['id']}/zip"
    try:
        data = api.download(path, repository=repository, limit=bundle.LIMITS.archive)
    except (Missing, Refused) as error:
        raise RunnerError(f"the results cannot be downloaded: {error.message}") from error
    digest = str(artifact.get("digest") or "")
    if digest.startswith("sha256:") and digest[7:] != hashlib.sha256(data).hexdigest():
        raise BundleError("the artifact's bytes are not those that were uploaded")
    return data
