"""What is wrong with an original program: each fault is one message that says what to do."""

from __future__ import annotations

import re
import signal
from collections.abc import Sequence
from pathlib import Path

from runners import makefile_names, program_stdout
from runners.fault import Fault
from runners.program_report import MAX_ENTRIES, Report
from runners.program_run import Ran

WANDERS = (
    "make its inputs and its work the same in every run: a fixed seed instead of the clock or the "
    "process id, a fixed number of rounds instead of a time to be over"
)
_ARGUMENTS = (
    "run it with the arguments it needs, `optiml run FILE -- ARGUMENTS`, or put them into "
    ".optiml.yml, `program: {run: [...]}`"
)
_SMALLER = (
    "give smaller arguments, `optiml run FILE -- ARGUMENTS` or `program: {run: [...]}` in "
    ".optiml.yml"
)
_USAGE = re.compile(r"\b(?:usage|arguments?|argc)\b", re.IGNORECASE)
_FILE = re.compile(
    r"\b(?:no such file|(?:can\\?'?t|can ?not|could not|couldn'?t|unable to|failed to|error) "
    r"(?:be )?(?:open|opening|read|reading|load|loading|find|write|writing)|not found|"
    r"read-only file system|permission denied)",
    re.IGNORECASE,
)
_CHECK = re.compile(r"\b(?:fail(?:ed|s|ure)?|mismatch(?:es)?|incorrect|wrong)\b", re.IGNORECASE)
_MEMORY = re.compile(r"\bout of memory\b|MemoryAllocation|bad_alloc", re.IGNORECASE)
_ERROR = re.compile(r"\berrors?\b(?!\W*(?:is|of|=|:)?\s*[-+\d.])|\bexception\b", re.IGNORECASE)
SHELL_STATUSES = 126  # from here on: not to be run, not found, killed
_CUDA = re.compile(r"\bcuda\w* ?error|\bcudaError", re.IGNORECASE)


def named(arguments: Sequence[str]) -> str:
    """Return a program's name in messages."""
    return "the program" + (f" with arguments {' '.join(arguments)}" if arguments else "")


def _with_arguments(root: Path) -> str:
    """Say how a program is given arguments, and with which its makefile runs it."""
    words = makefile_names.arguments(root)
    return _ARGUMENTS + (f"; its makefile runs it with `{words}`" if words else "")


def check(
    run: Ran,
    arguments: Sequence[str],
    expect: tuple[int | None, str | None],
    limit: float,
    root: Path,
) -> Report:
    """Return the report of the original's first run.

    `expect` is the exit status, None for its own, and a text its output must hold; `root` is what
    it ran in a copy of.
    Raises `Fault` (BaselineError) when it does not do that, hangs, or cannot be watched.
    """
    name = named(arguments)
    if run.exit is None:
        text = f"{name} does not end within {limit:.0f} s; each candidate is a run or two of it"
        remedy = f"{_SMALLER}; one that waits for input gets none"
        raise Fault("BaselineError", text, remedy)
    if run.report and run.report.launches and run.report.refused == run.report.launches:
        failure = next(iter(run.report.failures), None)
        text = f"{name} launches no kernel: each launch fails" + (
            f" with {failure.name} ({failure.kernel})" if failure else ""
        )
        remedy = f"{_with_arguments(root)}; what it reads from its standard input is empty here"
        raise Fault("BaselineError", text, remedy)
    if run.exit != (expect[0] or 0) and not (expect[0] is None and _its_own(run)):
        raise _ended(run, arguments, root)
    if expect[1] is not None and expect[1] not in run.stdout:
        text = f'{name} does not print "{expect[1]}": {run.tail}'
        raise Fault("BaselineError", text, "mend the program, or `check: {stdout: ...}`")
    report = run.report
    if report is None:
        text = f"{name} could not be watched: {run.trouble or 'it left no report'}; {run.tail}"
        remedy = "let it end by returning from main() or by exit(), not by _exit() or exec"
        raise Fault("BaselineError", text, remedy)
    failure = next((f for f in report.failures), None)
    if report.broken and failure:
        text = f"{name}: {failure.api} fails with {failure.name} after launching {failure.kernel}"
        raise Fault("BaselineError", text, "mend it first; compute-sanitizer shows where")
    if report.launches == 0 and "graph" not in report.notes:
        text = f"{name} launches no kernel" + (f": {failure.name}" if failure else "")
        remedy = (
            f"{_with_arguments(root)}. Kernels of libraries (cuBLAS, cuFFT) and launches through "
            "the driver API are not seen"
        )
        raise Fault("BaselineError", text, remedy)
    return report


def _its_own(run: Ran) -> bool:
    """Tell whether a status other than 0 is how a program ends whose work went well.

    As one that returns a count, or 1 for true. It has launched kernels, nothing failed, and it
    says nothing of arguments, files or errors.
    """
    report, said = run.report, run.stderr + run.stdout
    return (
        report is not None
        and run.exit is not None
        and 0 < run.exit < SHELL_STATUSES
        and report.launches > 0
        and not report.broken
        and not report.failures
        and report.ended in {"return", "exit"}
        and not any(words.search(said) for words in (_USAGE, _FILE, _CHECK, _MEMORY, _ERROR))
    )


def _ended(run: Ran, arguments: Sequence[str], root: Path) -> Fault:
    """Say how it ended, and the likeliest way out first."""
    assert run.exit is not None  # noqa: S101 - the caller has looked
    said = run.stderr + run.stdout
    if run.exit < 0:
        text = f"{named(arguments)} is killed by signal {-run.exit} ({_signal(-run.exit)})"
        remedy = "mend it first; cuda-gdb or compute-sanitizer show where"
        if not arguments:
            remedy = f"if it reads arguments, {_with_arguments(root)}; else {remedy}"
    else:
        text = f"{named(arguments)} exits with {run.exit}"
        status = f"if {run.exit} is its success, set `program: {{check: {{exit: {run.exit}}}}}`"
        if _FILE.search(said):
            remedy = (
                f"it is run in a copy of {root}: name files relative to that folder, or put "
                "an .optiml.yml into the folder that they are relative to"
            )
        elif _USAGE.search(said):
            remedy = _with_arguments(root)
        elif _MEMORY.search(said):
            remedy = f"it needs more memory than is free: {_SMALLER}"
        elif _CUDA.search(said):
            remedy = "mend it first; compute-sanitizer shows where"
        elif _CHECK.search(said):
            remedy = f"its own check fails before anything is edited: mend it first; {status}"
        else:
            remedy = (
                f"{_with_arguments(root)}; {status} in .optiml.yml, which `optiml init FILE` begins"
            )
    return Fault("BaselineError", f"{text}: {run.tail or 'it prints nothing'}", remedy)


def _signal(number: int) -> str:
    try:
        return signal.strsignal(number) or "unknown"
    except ValueError:
        return "unknown"


def same_work(one: Ran, two: Ran) -> bool:
    """Tell whether two runs did the same things: exit, copies and buffers."""
    if one.report is None or two.report is None or one.exit != two.exit or two.report.broken:
        return False
    return _shapes(one.report) == _shapes(two.report)


def same_words(one: Ran, two: Ran, besides: frozenset[int] | None = frozenset()) -> bool:
    """Tell whether two runs printed the same, numbers aside.

    `besides` are lines that are not looked at; None leaves all of them out.
    """
    if besides is None:
        return True
    other = program_stdout.unlike(one.stdout, two.stdout)
    return other is not None and other <= besides


def wandering(pairs: Sequence[tuple[Ran, Ran]]) -> frozenset[int] | None:
    """Return the lines whose words change between runs that should be the same.

    None when not even the number of lines is the same.
    """
    found: set[int] = set()
    for one, two in pairs:
        other = program_stdout.unlike(one.stdout, two.stdout)
        if other is None:
            return None
        found |= other
    return frozenset(found)


def said_of(lines: frozenset[int] | None, run: Ran) -> list[str]:
    """Say which lines of the output are not compared."""
    if lines is None:
        return ["prints another number of lines in every run: what it prints is not compared"]
    if not lines:
        return []
    first = run.stdout.splitlines()[min(lines)].strip()[:80]
    more = f" and {len(lines) - 1} more" if len(lines) > 1 else ""
    where = f'line {min(lines) + 1} ("{first}"){more}'
    return [f"{where} of its output is another in every run and is not compared"]


def varies(one: Ran, two: Ran) -> Fault:
    """Say what two runs of the original under the same conditions do not have in common."""
    return Fault("BaselineError", f"the original is not deterministic: {_other(one, two)}", WANDERS)


def _other(one: Ran, two: Ran) -> str:
    if two.exit is None:
        return f"it ends in {one.seconds:.1f} s in one run and hangs in the next"
    if two.exit != one.exit:
        return f"it exits with {one.exit} in one run and {two.exit} in the next: {two.tail}"
    if one.report is None or two.report is None or two.report.broken:
        failures = two.report.failures if two.report else ()
        why = f"{failures[0].api}: {failures[0].name}" if failures else two.trouble or two.tail
        return f"it works in one run and fails in the next: {why}"
    first, second = _shapes(one.report), _shapes(two.report)
    if len(first) != len(second):
        return (
            f"it makes {len(first)} copies to the host and buffers in one run and "
            f"{len(second)} in the next"
        )
    number = next(n for n, pair in enumerate(zip(first, second, strict=True)) if len({*pair}) > 1)
    (what, size), (other, bytes_) = first[number], second[number]
    return (
        f"number {number + 1} of its copies and buffers is a {what} of {size} bytes in one run "
        f"and a {other} of {bytes_} in the next"
    )


def unseen(report: Report) -> list[str]:
    """Say how much of what a run copied and held was not kept to be compared."""
    if not report.unrecorded:
        return []
    beyond = f"beyond the first {MAX_ENTRIES}, or beyond 2 GiB"
    return [f"{report.unrecorded} copies and buffers {beyond}, are not compared"]


def _shapes(report: Report) -> list[tuple[str, int]]:
    return [(record.kind, record.size) for record in report.records]
