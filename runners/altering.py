"""nvcc's own steps, so that PTX can be changed between two of them.

An entry function and a program are host and device code in one file. `nvcc --keep` leaves what each
step made, `nvcc --dryrun` prints the steps: everything behind the one that writes the PTX is done
once more, with other PTX in its place.

CUDA Compiler Driver NVCC 13.0, "Keeping Intermediate Phase Files", "--dryrun".
"""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass

PLAN = "steps.txt"
_SETTING = re.compile(r"^(PATH|LD_LIBRARY_PATH|CICC_PATH)=(.*)$")
_ANY_SETTING = re.compile(r"^[A-Za-z_]\w*=")
_WRITES = re.compile(r'/cicc"? .* -o "(?P<ptx>[^"]+\.ptx)"\s*$')


@dataclass(frozen=True, slots=True)
class Steps:
    """Where the PTX is, and a shell script of what is to be done once it is changed."""

    ptx: str
    script: str


def first(command: list[str], folder: str) -> str:
    """Return a shell script that compiles, keeps everything in a folder and writes the plan there.

    `command` begins with nvcc and ends with its output and input.
    """
    kept = [command[0], "--keep", "--keep-dir", folder, *command[1:]]
    planned = [kept[0], "--dryrun", *kept[1:]]
    plan = shlex.quote(f"{folder}/{PLAN}")
    return f"set -e\n{shlex.join(kept)}\n{shlex.join(planned)} 2> {plan}\n"


def steps(plan: str) -> Steps | None:
    r"""Read the plan; None where it is not as expected: several architectures, another compiler.

    >>> steps('#$ PATH=/b\n#$ "$CICC_PATH/cicc" x -o "/k/a.ptx"\n#$ ptxas "/k/a.ptx"').script
    'set -e\nexport PATH=/b\nptxas "/k/a.ptx"\n'
    """
    settings: list[str] = []
    behind: list[str] = []
    ptx: list[str] = []
    for line in plan.splitlines():
        if not line.startswith("#$ "):
            continue
        words = line[3:].strip()
        setting = _SETTING.match(words)
        if setting is not None:
            settings.append(f"export {setting[1]}={shlex.quote(setting[2])}")
            continue
        if _ANY_SETTING.match(words):
            continue
        writes = _WRITES.search(words)
        if writes is not None:
            ptx.append(writes["ptx"])
        elif ptx:
            behind.append(words)
    if len(ptx) != 1 or not behind:
        return None
    return Steps(ptx[0], "\n".join(["set -e", *settings, *behind]) + "\n")
