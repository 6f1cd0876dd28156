"""What GitHub's API refuses, and what to do about it.

* OptimlError
  + GithubError          GitHub did not do what was asked; `status` is its answer's
    - Unreachable        no answer, or a 5xx: try again later
    - RateLimited        too many requests: try again after `retry_after` seconds
    - Denied             the token lacks a permission, or is not valid
    - Missing            there is no such thing, or it may not be seen
    - Stale              the branch or the pull request has moved on
    - Refused            the request does not fit; a mistake of ours
"""

from __future__ import annotations

from optimizer.errors import OptimlError


class GithubError(OptimlError):
    """GitHub did not do what was asked. `status` is None when there was no answer."""

    def __init__(
        self,
        message: str,
        remedy: str = "",
        *,
        status: int | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message, remedy)
        self.status = status
        self.retry_after = retry_after


class Unreachable(GithubError):  # noqa: N818 - a state of GitHub, said as one
    """No answer or a 5xx. A write may or may not have been done."""


class RateLimited(GithubError):  # noqa: N818
    """Too many requests; `retry_after` says when to come back, in seconds."""


class Denied(GithubError):  # noqa: N818
    """The token is not valid or lacks a permission; the remedy names it."""


class Missing(GithubError):  # noqa: N818
    """There is no such thing, or the token may not see it."""


class Stale(GithubError):  # noqa: N818
    """Somebody pushed in the meantime: what was asked rests on an older state."""


class Refused(GithubError):  # noqa: N818
    """The request does not fit."""
