"""How a candidate's run of a program fails, in the words of a verdict."""

from __future__ import annotations

from typing import Any

from runners.program_profile import Profile
from runners.program_report import Report
from runners.program_run import Ran


class Failed(Exception):  # noqa: N818 - a candidate's failure, not an error
    """A candidate did not get through; becomes the verdict."""

    def __init__(self, status: str, log: str) -> None:
        super().__init__(log)
        self.status = status
        self.log = log


def check(layer: str, what: str, passed: bool, error: float | None = None) -> dict[str, Any]:
    """Return one check of a verdict; `error` is in units of its bound."""
    finite = error if error is not None and error < float("inf") else None
    bound = 1.0 if error is not None else None
    return {"layer": layer, "what": what, "passed": passed, "error": finite, "bound": bound}


def guard(text: str) -> str:
    """Say in words what the interposer noted of a guard band: side, allocation, size, place."""
    side, number, size, at = text.split()
    where = "before" if side == "front" else "behind"
    return f"writes {where} allocation {number} of {size} bytes (at byte {at} from its edge)"


def alive(run: Ran, original: Profile, limit: float, *, host: bool = False) -> None:
    """Raise `Failed` unless the run ended as it should and launched what it should.

    It ends as the original does; one that is ended behind its last launch ends with 0. Where its
    `host` code may change, which kernels there are is a candidate's own: one may do the work of
    two. It launches some where the original does with arguments that were declared.
    """
    if run.exit is None:
        raise Failed("timed out", f"{original.name}: still running after {limit:.0f} s")
    report = run.report
    if report is None:
        text = run.trouble or f"ended with status {run.exit} and left no report"
        raise Failed("crashed", f"{original.name}: {text} {run.tail}")
    new = [f for f in report.failures if (f.api, f.name) not in original.failures]
    if new:
        text = f"{new[0].api} fails with {new[0].name} after launching {new[0].kernel or 'nothing'}"
        raise Failed("crashed", f"{original.name}: {text}")
    if run.exit != (0 if report.ended in {"stop", "idle"} else original.exit) or report.broken:
        # It ended of its own will and says no: its self-check is one more check.
        ended = report.ended in {"return", "exit"} and run.exit >= 0 and not report.broken
        kind = "wrong result" if ended else "crashed"
        raise Failed(kind, f"{original.name}: exits with {run.exit}: {run.tail}")
    gone = _gone(report, original, host=host)
    if gone:
        raise Failed("rejected", f"{original.name}: no longer launches {gone}")


def _gone(report: Report, original: Profile, *, host: bool) -> str:
    """Say which kernels a run has to launch and does not; empty where there are none."""
    names = {k.name for k in report.kernels}
    gone = original.kernels - names
    nothing = report.launches == 0 and original.launches > 0
    if host:
        return ", ".join(sorted(gone)) if nothing else ""
    if nothing or (gone and names <= original.kernels):
        return ", ".join(sorted(gone)) or "anything"
    return ""
