"""What a program prints, with what belongs to the clock masked.

That is: numbers that vary between runs of the original, numbers and units on a line about speed,
and the columns below a heading about speed. What belongs to a launch (whole numbers on a line about
blocks or threads) and to rounding (an error's size) may change, too.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?|\bnan\b|\binf\b)")
# A line about speed holds numbers of the clock, also where two runs happen to agree.
SPEED = re.compile(
    r"\b(?:[nmuµ]?s|m?secs?|seconds?|milliseconds?|microseconds?|[a-z_]*time[sd]?|timing|elapsed|"
    r"[GMTk]i?B/s|[GMT]?flops?|[GMT]FLOP/s|[GMT]bps|bandwidth|throughput|speed-?up|fps|hz|duration|"
    r"latency|faster|slower|perf(?:ormance)?|cycles|ticks)\b|\d(?:[nmuµ]s|s)\b|FLOPS|/s\b",
    re.IGNORECASE,
)
# What a program picks by size: 812 us and 1.2 ms, MB/s and GB/s.
UNIT = re.compile(
    r"(?<![A-Za-z])(?:[nmuµ]?s|[mu]?secs?|(?:milli|micro|nano)?seconds?|[kKMGT]?i?B/s|[KMGT]bps|"
    r"[kKMGT]?flops?(?:/s)?)(?![A-Za-z])",
    re.IGNORECASE,
)
# Launches belong to the edit: "196 blocks of 256 threads" may become 98 of 512.
LAUNCH = re.compile(
    r"\b\w*?(?:block|thread|grid|warp|tile)|\boccupancy\b|\bregisters?\b", re.IGNORECASE
)
# How far a result is from a reference moves with the order of a sum, within its own size.
ERROR = re.compile(
    r"\b\w*?(?:err(?:or)?s?|diff(?:erence)?s?)\b|\bdeviation\b|\bresidual\b|\br?mse\b",
    re.IGNORECASE,
)
FURTHER = 4.0
_BARS = re.compile(r"\s*[|,;\t]\s*|\s{2,}")
_SPACES = re.compile(r"\s+")
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
    heading = ""
    for number, line in enumerate(got):
        versions = [lines[number] for lines in wanted]
        if NUMBER.search(versions[0]) is None:
            heading = versions[0] if SPEED.search(versions[0]) else heading
        masked = [_below(heading, v) if heading else v for v in (*versions, line)]
        if not _same(masked[:-1], masked[-1]):
            return f'prints "{line.strip()[:80]}" instead of "{versions[0].strip()[:80]}"'
    return ""


def unlike(one: str, two: str) -> frozenset[int] | None:
    r"""Return which lines, from 0, two outputs have otherwise in more than numbers and units.

    None when they have not as many lines.

    >>> unlike("a 1\nb\ntook 2 ms", "a 2\nc\ntook 900 us")
    frozenset({1})
    """
    left, right = one.splitlines()[:MAX_LINES], two.splitlines()[:MAX_LINES]
    if len(left) != len(right):
        return None
    pairs = enumerate(zip(left, right, strict=True))
    return frozenset(n for n, (a, b) in pairs if a != b and _words(a) != _words(b))


def _words(line: str) -> str:
    shape = _shape(POINTER.sub("0", line))
    return UNIT.sub("unit", shape) if SPEED.search(line) else shape


def _below(heading: str, line: str) -> str:
    """Mask what stands in a row of a table below what its heading says is about speed.

    Of a row whose columns cannot be told, of numbers alone, those that are not whole.

    >>> _below("rows  time (ms)  sum", "64  0.25  8.5")
    '64 * 8.5'
    """
    wordy = re.search(r"[A-Za-z]", NUMBER.sub("", line)) is not None or not NUMBER.search(line)
    for cut in (_BARS, _SPACES):
        heads, cells = (cut.split(text.strip(" |,;\t")) for text in (heading, line))
        speeds = [SPEED.search(head) is not None for head in heads]
        # "Elapsed time" is no row of headings for the "checksum 5" that comes some lines later.
        if len(heads) == len(cells) > 1 and not (wordy and all(speeds)):
            pairs = zip(speeds, cells, strict=True)
            return " ".join("*" if speed else cell for speed, cell in pairs)
    if wordy:
        return line
    return NUMBER.sub(lambda found: found[0] if found[0].isdigit() else "*", line)


def _same(versions: Sequence[str], line: str) -> bool:
    if line in versions:
        return True
    versions = [POINTER.sub("0", v) for v in versions]
    line = POINTER.sub("0", line)
    shapes = {_words(v) for v in versions}
    if len(shapes) > 1:
        return True
    if _words(line) not in shapes:
        return False
    if SPEED.search(line):
        return True
    found = NUMBER.findall(line)
    columns = zip(*(NUMBER.findall(v) for v in versions), strict=True)
    launch, error = LAUNCH.search(line) is not None, ERROR.search(line) is not None
    return all(
        len(set(column)) > 1
        or _close(column[0], number)
        or (launch and column[0].isdigit() and number.isdigit())
        or (error and _no_further(column[0], number))
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


def _no_further(want: str, got: str) -> bool:
    """Tell whether an error, which is no whole number, stays within a small factor."""
    if not set(want) & set(".eE") or not set(got) & set(".eE0"):
        return False
    return abs(float(got)) <= FURTHER * abs(float(want))
