"""What SECURITY.md promises in figures is what the code does."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from runners import compiler
from runners.compiler import Compiler
from runners.profiler import SESSION_SECONDS
from runners.sandbox import Limits, Sandbox
from runners.toolchain import Toolchain

TEXT = Path(__file__, "../../../SECURITY.md").resolve().read_text(encoding="utf-8")


def limits(part: str) -> str:
    """Return the last cell of the row about a part."""
    (row,) = re.findall(rf"^\| {re.escape(part)} \|.*$", TEXT, re.MULTILINE)
    return str(row).rstrip(" |").rpartition("|")[2].strip()


def given(monkeypatch: pytest.MonkeyPatch, seconds: float) -> Limits:
    """Return the limits that a compilation gets."""
    seen: list[Limits] = []

    def run(_self: Sandbox, _argv: Any, **more: Any) -> Any:
        seen.append(more["limits"])

    monkeypatch.setattr(Sandbox, "run", run)
    with Sandbox() as box:
        one = Compiler(Toolchain(Path("/nvcc"), (13, 0)), box, Path("/nowhere"))
        one._run(["nvcc"], Path("/"), seconds=seconds)
    return seen[0]


def test_the_limits_of_a_compilation(monkeypatch: pytest.MonkeyPatch) -> None:
    said = limits("nvcc on any source")
    found = re.fullmatch(
        r"(\d+) s \((\d+) s with CUTLASS\), (\d+) GiB, of addresses (\d+) GiB a process, "
        r"(\d+) processes, (\d+) MiB a file",
        said,
    )
    assert found is not None, said
    seconds, library, resident, addresses, processes, file = map(int, found.groups())
    assert seconds == compiler.COMPILE_SECONDS
    assert library == compiler.LIBRARY_SECONDS
    got = given(monkeypatch, compiler.COMPILE_SECONDS)
    assert got.seconds == seconds
    assert got.resident_bytes == resident << 30
    assert got.memory_bytes == addresses << 30
    assert got.processes == processes
    assert got.file_bytes == file << 20
    assert file << 20 == compiler.COMPILE_FILE_BYTES


def test_the_time_of_a_session_with_counters() -> None:
    assert limits("anything under `ncu`") == f"{SESSION_SECONDS:.0f} s and the same"


def test_what_is_linked_is_there() -> None:
    root = Path(__file__, "../../..").resolve()
    for link in re.findall(r"\]\((?!http|#)([^)#]+)", TEXT):
        assert (root / link).exists(), link
