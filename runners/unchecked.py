"""What a confirmation did not check of a finalist, though it is asked of every one of its kind.

What helps the checks may not compile, or not load, and there may be no time to ask an original: a
verdict that says nothing of it would pass for one that has looked.
"""

from __future__ import annotations

from runners.checks import Report
from runners.spec import JobSpec

_DELAYED, _ROWS = "delayed warps", "calls in a row"
UNREAD = (
    "not looked at for clocks and the like, nor for wider accesses: its device code, or its "
    "original's, could not be compiled to PTX"
)
UNDELAYED = "not run with its warps delayed: it was not to be had so, or its original fails then"
_CUT = "all that is asked of each"
SELDOM_DELAYED = (
    "run with its warps delayed less often than others: there was no time, or a run failed so that "
    "says nothing of it"
)
_UNQUEUED = (
    "not run in calls one behind the other: none is small enough, or its original is not right so"
)


def cut(report: Report, *, early: bool) -> None:
    """Keep in mind that runs under delays ended, if they did before what is asked of each."""
    if early:
        report.add(_DELAYED, _CUT, passed=True, error=None, bound=None)


def notes(report: Report, job: JobSpec, *, read: bool, rows: bool) -> list[str]:
    """Return notes on what is missing among the checks of a finalist.

    `read` tells whether there is PTX of both sides, `rows` whether the candidate may keep anything
    from call to call.
    """
    if job.kernel == job.baseline:
        return []
    layers = {layer for layer, _ in report.checks}
    missing = (
        (UNREAD, not read),
        (UNDELAYED, _DELAYED not in layers),
        (SELDOM_DELAYED, (_DELAYED, _CUT) in report.checks),
        (_UNQUEUED, rows and _ROWS not in layers),
    )
    return [words for words, true in missing if true]
