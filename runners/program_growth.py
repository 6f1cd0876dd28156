"""How much work a run of a program is, by its report, and what more of it would take.

An argument is a size where more of it is more work: bytes of some buffer, blocks of some kernel,
launches, or much more time in kernels. A mode, a seed or a block's threads are none of that.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from runners.program_report import Report

# A number that is so many times what it was has to bring at least this part of the growth.
SHARE = 4
# Time in kernels is a measure of work from so many µs on, and where the number is this much larger.
LEAST_US, LEAST_TIMES = 100.0, 1.5
# One more of a number that multiplies the work so is the logarithm of a size, or as good as that.
STEEP = 1.4
# Beyond that a size is taken to grow at most as the cube.
MOST_POWER = 4.0
# So much longer a process may take than another one that does the same: seconds, or a part of it.
CHANCE, CHANCE_PART = 0.3, 0.5


@dataclass(frozen=True, slots=True)
class Work:
    """What a run did: bytes of each buffer and copy, blocks of each kernel, launches, and times."""

    seconds: float
    kernel_us: float
    peak_bytes: int
    parts: Mapping[str, float]

    @property
    def bytes(self) -> float:
        """Return the bytes of all buffers together."""
        return self.parts["bytes"]


def of(report: Report, seconds: float) -> Work:
    """Return the work of a run, by its report and how long it was."""
    busy = sum(kernel.total_us for kernel in report.kernels)
    return Work(seconds, busy, report.peak_bytes, _parts(report))


def grows(less: Work, more: Work, times: float) -> bool:
    """Tell whether a number so many times as large is more work, of any kind.

    >>> one, two = (Work(1.0, 0.0, 0, {"bytes": n}) for n in (100.0, 200.0))
    >>> grows(one, two, 2.0), grows(one, one, 2.0)
    (True, False)
    """
    wanted = 1 + (times - 1) / SHARE
    parts = [(less.parts.get(name, 0.0), now) for name, now in more.parts.items()]
    if any(0 < was < now and now >= wanted * was for was, now in parts):
        return True
    busy = times >= LEAST_TIMES and more.kernel_us >= LEAST_US
    return busy and 0 < wanted * less.kernel_us <= more.kernel_us


def repeats(less: Work, more: Work, times: float) -> bool:
    """Tell whether a number so many times as large is more of the same, and nothing larger.

    As many blocks a launch, and as many bytes but for a small part of them.

    >>> one, two, wide = (
    ...     Work(1.0, 0.0, 0, {"bytes": 100.0, "launches": n, "blocks of f": b})
    ...     for n, b in ((4.0, 8.0), (8.0, 16.0), (8.0, 32.0))
    ... )
    >>> repeats(one, two, 2.0), repeats(one, wide, 2.0), repeats(one, one, 2.0)
    (True, False, False)
    """
    wanted = 1 + (times - 1) / SHARE
    again = more.parts.get("launches", 0.0) / max(less.parts.get("launches", 0.0), 1.0)
    wide = any(
        now > 1.01 * again * less.parts.get(name, 0.0)
        for name, now in more.parts.items()
        if name.startswith("blocks of")
    )
    busy = more.kernel_us >= LEAST_US and more.kernel_us >= wanted * less.kernel_us
    if wide or more.bytes >= wanted * less.bytes or times <= 1:
        return False
    return again >= wanted or (times >= LEAST_TIMES and again >= 1 and busy)


def steep(less: Work, more: Work) -> bool:
    """Tell whether one more of a number multiplied the work."""
    parts = [(less.parts.get(name, 0.0), now) for name, now in more.parts.items()]
    parts.append((max(less.kernel_us, LEAST_US), more.kernel_us))
    parts.append((max(less.seconds, 1.0), more.seconds))
    return any(was > 0 and now >= STEEP * was for was, now in parts)


def predicted(less: Work, more: Work, times: float, far: float) -> tuple[float, float]:
    """Return the seconds and the bytes of a number `far` times as large, by one `times` as large.

    What grew goes on as it did; more than the cube or so nothing is taken to grow. On a busy host a
    process takes longer or shorter by chance: that is no growth.

    >>> one, two = (Work(t, 0.0, n, {"bytes": n}) for t, n in ((1.0, 100), (1.7, 200)))
    >>> seconds, size = predicted(one, two, 2.0, 8.0)
    >>> round(seconds, 3), size
    (2.4, 800.0)
    """
    power = _power(less, more, times)
    grown = (far**power - 1) / (times**power - 1)
    seconds = less.seconds + _longer(less, more) * grown
    return seconds, less.peak_bytes + max(more.peak_bytes - less.peak_bytes, 0) * grown


def stepped(less: Work, more: Work, steps: int) -> tuple[float, float]:
    """Return the same of so many steps where one step multiplied the work.

    >>> one, two = (Work(t, 0.0, n, {"bytes": n}) for t, n in ((1.0, 100), (2.0, 200)))
    >>> stepped(one, two, 4)
    (8.5, 1600.0)
    """
    pairs = [(less.bytes, more.bytes)]
    if more.kernel_us >= LEAST_US:
        pairs.append((less.kernel_us, more.kernel_us))
    each = max([STEEP, *(now / was for was, now in pairs if was > 0)])
    grown = (each**steps - 1) / (each - 1)
    size = max(less.peak_bytes, more.peak_bytes / each) * each**steps
    return less.seconds + _longer(less, more) * grown, size


def together(less: Work, more: Work, times: float, far: float) -> tuple[float, float]:
    """Return the seconds and the bytes of several numbers `far` times as large at once.

    By all of them `times` as large: what grew is multiplied as often as it was, each buffer by
    itself, as one that is small may grow with all numbers and one that is large with none.

    >>> one = Work(0.5, 1000.0, 300, {"bytes": 300.0, "buffer 0 of 1": 300.0})
    >>> two = Work(0.516, 16000.0, 600, {"bytes": 600.0, "buffer 0 of 1": 600.0})
    >>> seconds, size = together(one, two, 4.0, 16.0)
    >>> round(seconds, 3), size
    (0.755, 1200.0)
    """
    again = math.log(far / times) / math.log(times)
    busier = max(1.0, more.kernel_us / max(less.kernel_us, 1.0))
    parts = [name for name in more.parts if name.startswith("buffer ")]
    if not all(name in less.parts for name in parts):
        parts = ["bytes"]
    pairs = [(max(less.parts[name], 1.0), max(more.parts[name], 1.0)) for name in parts]
    grown = sum(now * max(1.0, now / was) ** again for was, now in pairs)
    size = more.peak_bytes * grown / max(1.0, sum(now for _, now in pairs))
    host = _host(less, more)
    each = max(times, busier, *(now / was for was, now in pairs))
    host *= (each ** (1 + again) - 1) / (each - 1)
    busy = more.kernel_us * busier**again
    return less.seconds + host + (busy - less.kernel_us) / 1e6, size


def likely(less: Work, others: Sequence[tuple[Work, float]], far: float) -> tuple[float, float]:
    """Return the same, by what each of them is by itself at so many times.

    >>> one, two = (Work(0.5, 1e6 * n, 100 * n, {"bytes": 100.0 * n}) for n in (1, 2))
    >>> likely(one, [(two, 2.0), (two, 2.0)], 4.0)
    (15.5, 1600.0)
    """
    busy, size, host = less.kernel_us, float(less.peak_bytes), less.seconds
    for more, times in others:
        power = math.log(far) / math.log(max(times, LEAST_TIMES))
        if more.kernel_us >= LEAST_US:
            busy *= max(1.0, more.kernel_us / max(less.kernel_us, 1.0)) ** power
        size *= max(1.0, more.peak_bytes / max(less.peak_bytes, 1)) ** power
        host *= (1.0 + _host(less, more) / less.seconds) ** power
    return host + (busy - less.kernel_us) / 1e6, size


def _longer(less: Work, more: Work) -> float:
    """Return how much longer a run is that does more: in kernels, and on the host beyond chance."""
    return max(more.kernel_us - less.kernel_us, 0.0) / 1e6 + _host(less, more)


def _host(less: Work, more: Work) -> float:
    """Return what the host takes longer, beyond what it takes longer or shorter by chance."""
    longer = more.seconds - less.seconds - (more.kernel_us - less.kernel_us) / 1e6
    return max(0.0, longer - max(CHANCE, CHANCE_PART * less.seconds))


def _power(less: Work, more: Work, times: float) -> float:
    """Return with which power of a size its work grows: one at least."""
    pairs = [(less.bytes, more.bytes)]
    if more.kernel_us >= LEAST_US:
        pairs.append((less.kernel_us, more.kernel_us))
    found = [math.log(now / was) / math.log(times) for was, now in pairs if 0 < was < now]
    return min(MOST_POWER, max([1.0, *found]))


def _parts(report: Report) -> dict[str, float]:
    found = {
        "bytes": float(sum(one.size for one in report.allocations)),
        "copied": float(sum(one.size for one in report.records)),
        "launches": float(report.launches),
    }
    for kernel in report.kernels:
        blocks = sum(math.prod(shape.grid) * shape.count for shape in kernel.shapes)
        found[f"blocks of {kernel.symbol}"] = float(blocks)
    # One buffer among many may be all that a number sizes, where there are as many as before.
    for number, one in enumerate(report.allocations):
        found[f"buffer {number} of {len(report.allocations)}"] = float(one.size)
    for number, record in enumerate(report.records):
        found[f"record {number} of {len(report.records)}"] = float(record.size)
    return found
