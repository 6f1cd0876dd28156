"""Launches that no GPU accepts, seen before compiling."""

from __future__ import annotations

from collections.abc import Iterator

from optimizer.evidence import MicroProfiler
from optimizer.model import Finding, Kernel, Severity
from optimizer.source import Source

# CUDA programming guide, technical specifications, all compute capabilities from 3.0 on.
MOST_THREADS = 1024
MOST_Z = 64


def _before(kernel: Kernel) -> Iterator[Finding]:
    for launch in Source(kernel.source).launches:
        threads = launch.threads
        deep = launch.block is not None and len(launch.block) > 2 and (launch.block[2].value or 0)
        if threads is not None and threads > MOST_THREADS:
            what = f"{launch.kernel} is launched with {threads} threads a block"
            yield _blocking(launch.kernel, what, MOST_THREADS, launch.line)
        elif deep and deep > MOST_Z:
            what = f"{launch.kernel} is launched with {deep} threads along z"
            yield _blocking(launch.kernel, what, MOST_Z, launch.line)


def _blocking(subject: str, what: str, most: int, line: int) -> Finding:
    return Finding(
        "",
        f"{what}; at most {most} are possible",
        line=line,
        blocking=True,
        severity=Severity.CRITICAL,
        subject=subject,
        advice="choose a smaller block",
        remedies=("block-size",),
    )


impossible_launch = MicroProfiler("impossible-launch", None, before=_before)
