"""What a workflow's run shows and hands on: the job summary, outputs, notices.

The log is read by GitHub's runner for commands (`::add-mask::…`), and what we print comes from
strangers: they are switched off while we print.
"""

from __future__ import annotations

import secrets
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from bot import comment
from bot.comment import Door
from bot.interfaces import Reviewed
from bot.markdown import code, fenced, phrase, prose, visible
from bot.outcome import summarize
from optimizer.errors import RunnerError

LIMIT = 1 << 20  # bytes GitHub takes of one step
_NOTHING = "No changed kernel got slower, and none can be made faster."


def summary_of(results: Sequence[Reviewed], door: Door) -> str:
    """Return the comment, then a line for each kernel that it does not tell of."""
    told = comment.compose(results, door).markdown
    parts = [told.replace(comment.MARKER, "").strip()] if told else []
    lines = []
    snippets = []
    for one in results:
        name = f"{code(one.change.kernel.name)} ({code(one.change.kernel.path)})"
        if one.problem:
            lines.append(f"- {name}: {phrase(one.problem)}")
        elif one.trajectory is not None and not one.trajectory.winner:
            lines.append(f"- {prose(summarize(one.trajectory).headline)}")
        if one.change.workload is None and one.change.snippet:
            snippets.append(one.change.snippet)
    parts.append("\n".join(lines))
    if snippets:
        parts.append("Put this into `.optiml.yml` of the base branch to have them reviewed:")
        parts += [fenced(visible(snippet), "yaml") for snippet in snippets[:5]]
    if not results:
        parts.append("No CUDA kernel changed.")
    elif not told and not lines:
        parts.append(_NOTHING)
    return "\n\n".join(part for part in parts if part) + "\n"


def add_summary(file: Path | None, text: str) -> None:
    """Append to the job summary, cut at what GitHub takes; no file, no summary."""
    if file is None:
        return
    data = text.encode()
    if len(data) > LIMIT - 4096:
        data = data[: LIMIT - 4096].decode(errors="ignore").encode() + b"\n\nshortened\n"
    try:
        with file.open("ab") as stream:
            stream.write(data)
    except OSError as error:
        raise RunnerError(f"cannot write the job summary: {error.strerror}") from error


def set_outputs(file: Path | None, values: Mapping[str, str]) -> None:
    """Hand values on to later steps; a delimiter nobody can guess keeps them apart."""
    if file is None:
        return
    mark = f"optiml-{secrets.token_hex(16)}"
    text = "".join(f"{name}<<{mark}\n{value}\n{mark}\n" for name, value in values.items())
    try:
        with file.open("a", encoding="utf-8") as stream:
            stream.write(text)
    except OSError as error:
        raise RunnerError(f"cannot write the outputs: {error.strerror}") from error


@contextmanager
def no_commands() -> Iterator[None]:
    """Keep the runner from obeying what is printed meanwhile."""
    mark = secrets.token_hex(16)
    sys.stdout.write(f"::stop-commands::{mark}\n")
    sys.stdout.flush()
    try:
        yield
    finally:
        sys.stdout.write(f"\n::{mark}::\n")
        sys.stdout.flush()
