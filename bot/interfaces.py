"""What a review asks of the place where the code lives, and the values that pass between them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from bot.suggestion import Hunk, Suggestion
from optimizer.model import Kernel, Trajectory, Verdict, Workload


@dataclass(frozen=True, slots=True)
class Pull:
    """The change under review: from where it branched (`base`) to its last commit (`head`)."""

    base: str
    head: str
    repository: str = ""
    number: int | None = None


@dataclass(frozen=True, slots=True)
class Change:
    """A kernel that a change touches.

    `before` is the kernel as the base has it, None when it is new, and `after` as the change has
    it: the same text as `kernel`, with headers written in where those are what changed. `hunks`
    are the lines of the file that the diff shows, `beside` those of other files that stand in its
    text (`runners.joined`), by path. `reason` says how it is touched: `changed`,
    `includes scale.cuh` or `is built with scale.cu`. `workload` is None when the base branch's
    `.optiml.yml` has none; `snippet` then offers one.
    """

    kernel: Kernel
    workload: Workload | None
    before: Kernel | None = None
    after: Kernel | None = None
    hunks: tuple[Hunk, ...] = ()
    reason: str = "changed"
    snippet: str = ""
    beside: Mapping[str, tuple[Hunk, ...]] = field(default_factory=dict[str, tuple[Hunk, ...]])

    def lines_of(self, path: str) -> tuple[Hunk, ...]:
        """Return the lines that the diff shows of one of the files."""
        return self.hunks if path == self.kernel.path else self.beside.get(path, ())


@dataclass(frozen=True, slots=True)
class Reviewed:
    """What came of one changed kernel.

    `against_base` is the verdict on the change itself, timed with the base as its baseline.
    `problem` says why there is no trajectory or no comparison; empty when all went well.
    """

    change: Change
    trajectory: Trajectory | None = None
    against_base: Verdict | None = None
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Report:
    """What is to be published: nothing when `markdown` is None.

    `results` are kept so that a forge can commit the measured sources.
    """

    markdown: str | None
    suggestions: tuple[Suggestion, ...] = ()
    results: tuple[Reviewed, ...] = field(default=())


class Forge(Protocol):
    """GitHub, a local checkout, or a fake of either."""

    def changed_kernels(self, pull: Pull) -> Sequence[Change]:
        """Return the kernels a change touches, with workloads of the base branch."""
        ...

    def publish(self, pull: Pull, report: Report) -> None:
        """Write the one comment and its suggestions, or update them."""
        ...


# -- what the service and the benches ask of GitHub ------------------------------------------------


@dataclass(frozen=True, slots=True)
class Reply:
    """A successful answer of GitHub's API: status, JSON body (None when empty), headers.

    Header names are in lower case.
    """

    status: int
    data: Any = None
    headers: Mapping[str, str] = field(default_factory=dict[str, str])


class Api(Protocol):
    """GitHub's REST API with our identity, tokens renewed and limits honoured.

    `repository` ("owner/name") chooses whose installation token is used; without it the request
    is the App's own. `path` starts with a slash, as in GitHub's documentation. Both methods raise
    the errors of `bot.github_errors`.
    """

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
        """Send a request and return the answer.

        `repeat` tells that sending it twice does what sending it once does, so that it may be
        repeated after a 5xx or a time-out; by default that is so for reads only.
        """
        ...

    def download(self, path: str, *, repository: str, limit: int) -> bytes:
        """Return what a path redirects to, without our token there. Refuse beyond `limit` bytes."""
        ...


@dataclass(frozen=True, slots=True)
class PullState:
    """A pull request as GitHub has it now. `state` is open or closed; `fork` may be somebody's.

    `author_id` is the numeric id of who opened it. `head_repository` is empty when the fork is
    gone; `is_editable` tells that maintainers may push to the fork's branch.
    """

    number: int
    head: str
    base: str
    base_ref: str
    draft: bool = False
    fork: bool = False
    labels: tuple[str, ...] = ()
    state: str = "open"
    author_id: int = 0
    author: str = ""
    head_ref: str = ""
    head_repository: str = ""
    is_editable: bool = False


@dataclass(frozen=True, slots=True)
class Button:
    """A button on a check run; clicking it sends `identifier` back in `requested_action`.

    GitHub takes three, with 20, 40 and 20 characters.
    """

    label: str
    description: str
    identifier: str


@dataclass(frozen=True, slots=True)
class Closing:
    """How a check run ends: success, neutral, failure, cancelled, skipped, timed_out, with words.

    `bot.checks` makes one of a report.
    """

    conclusion: str
    title: str
    summary: str
    actions: tuple[Button, ...] = ()


@dataclass(frozen=True, slots=True)
class Delivery:
    """A webhook delivery that failed. `at` is when GitHub sent it, seconds since 1970."""

    id: int
    guid: str
    event: str
    at: float


class Hub(Protocol):
    """What the service asks of GitHub. Everything is read from the API, nothing from payloads.

    Every write can be repeated: it finds what an earlier attempt left. All methods raise the
    errors of `bot.github_errors`; `Unreachable` and `RateLimited` mean to try again later.
    """

    def pull(self, repository: str, number: int) -> PullState:
        """Return the pull request's state now."""
        ...

    def pulls_of(self, repository: str, sha: str) -> tuple[int, ...]:
        """Return open pull requests whose head is a commit, those of forks too."""
        ...

    def permission(self, repository: str, login: str) -> str:
        """Return admin, maintain, write, triage, read or none."""
        ...

    def react(self, repository: str, comment_id: int, content: str) -> None:
        """React to a comment of a pull request: `eyes`, `+1`, `confused`, `rocket`."""
        ...

    def reply(self, repository: str, number: int, markdown: str, key: str) -> None:
        """Write a comment once for each `key` (a delivery's id); later calls edit it."""
        ...

    def comment_url(self, repository: str, number: int) -> str:
        """Return the address of our comment on a pull request; empty when there is none."""
        ...

    def open_check(
        self,
        repository: str,
        head: str,
        order_id: str,
        text: str,
        *,
        url: str = "",
        is_new: bool = False,
    ) -> int:
        """Create the check run of an order in progress, or return the one it has.

        `text` is its summary; `url` is where its details are (the job page). `is_new` tells that
        this was never tried before for the order, so that it need not be looked for.
        """
        ...

    def update_check(self, repository: str, check_id: int, text: str) -> None:
        """Replace the summary of a check run in progress."""
        ...

    def close_check(self, repository: str, check_id: int, closing: Closing) -> None:
        """Complete a check run."""
        ...

    def forge(self, repository: str, number: int) -> Forge:
        """Return the forge of a pull request: its changed kernels and its comment."""
        ...

    def apply(
        self,
        repository: str,
        number: int,
        reviewed: Reviewed,
        *,
        head: str,
        squash: bool = False,
        by: str = "",
    ) -> str:
        """Commit a measured winner to the pull request's branch and return the commit's URL.

        `head` is the commit that was measured; raise `Stale` when the file differs there now.
        `by` is the login of who asked and becomes co-author. Where the branch takes no push, a
        stacked pull request is opened and its URL returned. Repeating it commits nothing twice.
        """
        ...

    def deliveries(self, since: float) -> tuple[Delivery, ...]:
        """Return webhook deliveries since a time (seconds since 1970) whose last attempt failed."""
        ...

    def redeliver(self, delivery_id: int) -> None:
        """Ask GitHub to send a delivery again; it keeps its GUID."""
        ...
