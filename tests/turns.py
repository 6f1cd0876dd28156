"""Which slow tests run when: all that are quick run always, those that take long take turns.

A test that was seen to need `SLOW` seconds of CPU or more runs in one of `TURNS` turns, and so that
of every file that has any at least one runs in each. Which turn it is follows from the commit, so
that processes that each collect for themselves choose alike, and somebody who runs it again gets
the same (docs/decisions/0016-tests-in-turns.md). Where seconds are not known a test runs.

`python -m tests.turns FOLDER` keeps what a run with `--seconds-to=FOLDER` has measured.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

SLOW, TURNS = 0.15, 6
SECONDS = Path(__file__).parent / "data" / "seconds.json"


def spent() -> float:
    """Return the CPU seconds of this process and of its children that have ended."""
    now = os.times()
    return now.user + now.system + now.children_user + now.children_system


def known(path: Path = SECONDS) -> dict[str, float]:
    """Return the seconds of slow tests by their names."""
    return {str(k): float(v) for k, v in json.loads(path.read_text()).items()}


def turn(word: str) -> int:
    """Return a turn by its number, or by a commit's name.

    >>> turn("2"), turn("8"), turn("b540b319a0")
    (2, 2, 4)
    """
    number = int(word) if word.isdecimal() and len(word) < 7 else int(_digest(word), 16)
    return number % TURNS


def left_out(names: Iterable[str], seconds: Mapping[str, float], number: int) -> frozenset[str]:
    """Return the tests that do not run in a turn.

    Over all turns each test runs; of a file's slow ones at least one runs in every turn.
    """
    slow: dict[str, list[str]] = defaultdict(list)
    for name in names:
        if name in seconds:
            slow[name.partition("::")[0]].append(name)
    found: list[str] = []
    for of_file in slow.values():
        # By a digest: of tests that differ in a parameter alone neighbours are alike.
        ranked = sorted(of_file, key=_digest)
        steps = min(TURNS, len(ranked))
        found += [one for rank, one in enumerate(ranked) if rank % steps != number % steps]
    return frozenset(found)


def _digest(name: str) -> str:
    return hashlib.sha256(name.encode()).hexdigest()


def measured(folder: Path) -> dict[str, float]:
    """Read what the processes of a run have written: seconds and a test's name to a line."""
    lines = [line for file in sorted(folder.iterdir()) for line in file.read_text().splitlines()]
    pairs = (line.partition(" ") for line in lines)
    return {name: round(float(said), 2) for said, _, name in pairs if float(said) >= SLOW}


def main(arguments: Sequence[str], path: Path = SECONDS) -> int:
    """Keep what a run has measured; return the exit status."""
    if len(arguments) != 1 or not Path(arguments[0]).is_dir():
        sys.stdout.write(f"{__doc__}\n")
        return 2
    found = measured(Path(arguments[0]))
    path.write_text(json.dumps(dict(sorted(found.items())), indent=0) + "\n")
    total = sum(found.values())
    sys.stdout.write(f"{len(found)} tests of {SLOW} s or more, {total:.0f} s in all\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
