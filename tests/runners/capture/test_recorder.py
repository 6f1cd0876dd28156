"""The library in a program: what is hard to capture is captured, or left out, and never harmed."""

from __future__ import annotations

import json
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from optimizer.errors import ConfigError
from runners import capture
from runners.capture import record, spool
from runners.capture.record import Wanted
from runners.capture.spool import Process
from tests.runners.capture import program
from tests.runners.host_gpu import COMPILER

pytestmark = pytest.mark.skipif(COMPILER is None, reason="g++ is not installed")
SAXPY, COUNT = "_Z5saxpyifPKfPf", "_Z5countPKiPii"
ALL = Wanted((), launches=16, everything=True)


@pytest.fixture
def seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LD_LIBRARY_PATH", str(program.shared().folder))
    (tmp_path / "spool").mkdir()
    monkeypatch.setenv("SPOOL", str(tmp_path / "spool"))
    return tmp_path / "spool"


def command(way: str) -> list[str]:
    folder = program.shared().folder
    return [str(folder / "hostile"), way, str(folder / "single"), str(folder / "other")]


def run(
    way: str, seen: Path, through: record.Through = "preload", wanted: Wanted = ALL
) -> tuple[int, tuple[Process, ...]]:
    cupti = program.shared().cupti
    cache = program.library_cache()
    status = record.run(command(way), wanted, seen, cache, through, cupti)
    return status, spool.processes(seen) if seen.exists() else ()


def test_a_cache_that_cannot_be_named_to_the_loader_is_said(seen: Path) -> None:
    """It had looked as if the program launched nothing."""
    cache = seen.parent / "my cache"
    cache.mkdir()
    built = capture.library(program.library_cache())
    (cache / built.name).write_bytes(built.read_bytes())
    with pytest.raises(ConfigError, match="LD_PRELOAD"):
        record.run(command("none"), ALL, seen, cache, "preload", None)
    cupti = program.shared().cupti
    assert record.run(command("none"), ALL, seen, cache, "cupti", cupti) == 0
    assert spool.processes(seen)


WAYS: tuple[record.Through, ...] = ("preload", "cupti")


@pytest.mark.parametrize("through", WAYS)
def test_kernels_of_one_name_and_other_parameters_are_told_apart(
    seen: Path, through: record.Through
) -> None:
    """What the first of them takes had been read of the second: beyond what was passed to it."""
    status, (one,) = run("twins", seen, through)
    assert status == 0
    assert [len(launch.parameters) for launch in one.launches] == [4, 1, 4]


@pytest.mark.parametrize("through", WAYS)
def test_a_handle_that_is_given_to_another_kernel_is_that_kernels(
    seen: Path, through: record.Through
) -> None:
    status, (one,) = run("reuse", seen, through)
    assert status == 0
    assert [launch.symbol for launch in one.launches] == [SAXPY, COUNT]
    assert {kernel.symbol: kernel.launches for kernel in one.summary.kernels} == {
        SAXPY: 1,
        COUNT: 1,
    }


def test_children_are_processes_of_their_own(seen: Path) -> None:
    """Their launches had been lines of the parent's, with its numbers."""
    status, found = run("fork", seen)
    assert status == 0
    assert sorted([one.ordinal for one in each.launches] for each in found) == [[0, 1]] * 3
    assert [each.summary.kernels[0].launches for each in found] == [2, 2, 2]


def test_launches_of_several_threads_are_all_counted(seen: Path) -> None:
    status, (one,) = run("threads", seen)
    assert status == 0
    assert len(one.launches) == ALL.launches
    (kernel,) = one.summary.kernels
    assert kernel.launches == sum(count for _, count in kernel.signatures) == 800


def test_nothing_is_written_to_a_file_that_the_program_opened_by_our_number(seen: Path) -> None:
    """A daemon closes what it has not opened. Lines of a capture had gone to its own file."""
    status, (one,) = run("closes", seen)
    assert status == 0
    assert (seen.parent / "own").read_bytes() == b""
    assert len(one.launches) == 2


@pytest.mark.parametrize("through", WAYS)
def test_a_program_goes_on_when_the_captures_folder_is_gone(
    seen: Path, through: record.Through
) -> None:
    assert run("vanishes", seen, through) == (0, ())


@pytest.mark.parametrize(("way", "status"), [("_exit", 0), ("quick_exit", 0), ("abort", -6)])
def test_a_program_that_ends_without_a_word_has_told_what_it_launched(
    seen: Path, way: str, status: int
) -> None:
    """Though none of it was chosen: it had seemed to have launched nothing."""
    wanted = replace(ALL, kernels=("other",), everything=False)
    code, (one,) = run(way, seen, wanted=wanted)
    assert code == status
    assert not one.launches
    assert [kernel.name for kernel in one.summary.kernels] == [
        "saxpy(int, float, float const*, float*)"
    ]


def test_what_a_full_disk_did_not_take_is_left_out_and_the_rest_is_whole(seen: Path) -> None:
    """Half a line, or half a summary, had made the whole capture unreadable."""
    folder, library = program.shared().folder, capture.library(program.library_cache())
    config = seen / "capture.txt"
    config.write_text("\n".join(ALL.lines(seen, None)) + "\n")
    # A file that may not grow is refused as one on a full disk is: blobs have 4 kB, lines 0.7 kB.
    limited = 'trap "" XFSZ; ulimit -f 4; LD_PRELOAD="$1" exec "${@:2}"'
    subprocess.run(
        ["/bin/bash", "-c", limited, "bash", str(library), *command("many")],
        env={"OPTIML_CAPTURE": str(config), "LD_LIBRARY_PATH": str(folder)},
        check=True, timeout=60,
    )  # fmt: skip
    (one,) = spool.processes(seen)
    assert 0 < len(one.launches) < 6
    assert (one.folder / "launches.jsonl").read_bytes().endswith(b"\n")
    assert one.summary.kernels[0].launches >= len(one.launches)
    assert not list(one.folder.glob("*.new"))
    assert "no room" in json.dumps([refused.why for refused in one.summary.refused])
