"""What a program prints, with the numbers masked that vary between runs of the original."""

from __future__ import annotations

import re
from collections.abc import Sequence

NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?|\bnan\b|\binf\b)")
# A line about speed holds numbers of the clock, also where two runs happen to agree.
SPEED = re.compile(
    r"\b(?:[nmuµ]?s|m?secs?|seconds?|milliseconds?|microseconds?|time[sd]?|timing|elapsed|"
    r"[GMTk]i?B/s|[GMT]?flops?|[GMT]FLOP/s|bandwidth|throughput|speed-?up|fps|hz|duration|"
    r"latency|faster|slower|perf(?:ormance)?)\b|\d(?:[nmuµ]s|s)\b|FLOPS|/s\b",
    re.IGNORECASE,
)
POINTER = re.compile(r"0x[0-9a-fA-F]+")
MAX_LINES = 20_000
# A printed checksum or error may move in its last digits with the order of a sum.
PRINTED_RTOL = 1e-3
TINY = 1e-3


def difference(originals: Sequence[str], candidate: str) -> str:
    r"""Say what a candidate prints otherwise than every run of the original; empty when nothing.

    Lines that differ between the originals in more than numbers are not compared.

    >>> difference(["sum 6\ntook 3.1 ms", "sum 6\ntook 2.9 ms"], "sum 6\ntook 1.0 ms")
    ''
    >>> difference(["sum 6", "sum 6"], "sum 7")
    'prints "sum 7" instead of "sum 6"'
    """
    wanted = [text.splitlines()[:MAX_LINES] for text in originals]
    got = candidate.splitlines()[:MAX_LINES]
    if any(len(lines) != len(wanted[0]) for lines in wanted):
        return ""
    if len(got) != len(wanted[0]):
        return f"prints {len(got)} lines instead of {len(wanted[0])}"
    for number, line in enumerate(got):
        versions = [lines[number] for lines in wanted]
        if not _same(versions, line):
            return f'prints "{line.strip()[:80]}" instead of "{versions[0].strip()[:80]}"'
    return ""


def _same(versions: Sequence[str], line: str) -> bool:
    if line in versions:
        return True
    versions = [POINTER.sub("0", v) for v in versions]
    line = POINTER.sub("0", line)
    shapes = {_shape(v) for v in versions}
    if len(shapes) > 1:
        return True
    if _shape(line) not in shapes:
        return False
    if SPEED.search(line):
        return True
    found = NUMBER.findall(line)
    columns = zip(*(NUMBER.findall(v) for v in versions), strict=True)
    return all(
        len(set(column)) > 1 or _close(column[0], number)
        for column, number in zip(columns, found, strict=True)
    )


def _shape(line: str) -> str:
    return " ".join(NUMBER.sub("#", line).split())


def _close(want: str, got: str) -> bool:
    if want == got:
        return True
    if not set(want + got) & set(".eE"):
        return False
    one, two = float(want), float(got)
    return (
        abs(one - two) <= PRINTED_RTOL * max(abs(one), abs(two)) or max(abs(one), abs(two)) < TINY
    )
