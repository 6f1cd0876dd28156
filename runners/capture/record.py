"""A program run under the injected library, its output its own."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from optimizer.errors import ConfigError
from runners import capture
from runners.program_run import libraries

Through = Literal["cupti", "preload"]
_INJECTED = 'CUDA_INJECTION64_PATH="$1" OPTIML_CAPTURE="$2"'
_PRELOADED = 'LD_PRELOAD="$1${LD_PRELOAD:+:$LD_PRELOAD}" OPTIML_CAPTURE="$2"'


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is taken down: kernels by name or symbol, `launches` of each, `skip` first ones not.

    `most` bytes are kept of one allocation and `total` in all; `everything` is every kernel.
    """

    kernels: tuple[str, ...]
    launches: int = 4
    skip: int = 0
    most: int = 1 << 30
    total: int = 4 << 30
    everything: bool = False

    def lines(self, spool: Path, cupti: Path | None) -> list[str]:
        """Return the library's configuration file."""
        return [
            f"folder {spool}",
            f"launches {self.launches}",
            f"skip {self.skip}",
            f"most {self.most}",
            f"total {self.total}",
            f"all {int(self.everything)}",
            *(f"kernel {name}" for name in self.kernels),
            *([f"cupti {cupti}"] if cupti else []),
        ]


def cupti() -> Path | None:
    """Return the newest CUPTI library of this host; None when there is none."""
    places = [Path(place) for place in libraries()]
    places += [place.parent / "extras" / "CUPTI" / "lib64" for place in places]
    found = [one for place in places for one in place.glob("libcupti.so.*")]
    versions = [(re.findall(r"\d+", one.name), one) for one in found]
    ranked = sorted(([int(n) for n in numbers], str(one)) for numbers, one in versions)
    return Path(ranked[-1][1]) if ranked else None


def run(
    command: Sequence[str],
    wanted: Wanted,
    spool: Path,
    cache: Path,
    through: Through,
    found: Path | None,
) -> int:
    """Run a program to its end; return its exit status. `spool` is an empty folder.

    Raise `ConfigError` when the program is not there, `Fault` when the library does not build.
    """
    if not command:
        raise ConfigError("there is no program to run", "optiml capture -- ./app ARGUMENTS")
    if shutil.which(command[0]) is None:
        raise ConfigError(f"there is no program {command[0]}", "name it as your shell would")
    library = capture.library(cache)
    if through == "preload" and re.search(r"[\s:]", str(library)):
        raise ConfigError(
            f"{library.parent} has a space or colon in its name, at which LD_PRELOAD is cut",
            "set OPTIML_CACHE to a folder without, or use --through cupti",
        )
    config = spool / "capture.txt"
    lines = wanted.lines(spool, found)
    if any("\n" in line for line in lines):
        raise ConfigError("a name holds a line end")
    config.write_text("\n".join(lines) + "\n", encoding="utf-8", errors="surrogateescape")
    # A shell hands its whole environment on and adds to it, a preloaded library of the user's kept.
    setting = _PRELOADED if through == "preload" else _INJECTED
    script = f"{setting} exec {shlex.join(command)}"
    process = subprocess.Popen(["/bin/sh", "-c", script, "sh", str(library), str(config)])
    while True:
        try:
            return process.wait()
        except KeyboardInterrupt:
            continue  # the program was interrupted, too: what it leaves is what there is
