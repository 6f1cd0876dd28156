"""The interposer is built once with the host's compiler, and says so when there is none."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from runners import interposer
from runners.fault import Fault
from tests import once
from tests.runners.program_fakes import FAKE, fake_runtime, interposed

needs_compiler = pytest.mark.skipif(shutil.which("g++") is None, reason="needs a C++ compiler")


@needs_compiler
def test_it_is_built_once_for_each_version_of_its_sources() -> None:
    built = interposed()
    stamp = built.stat().st_mtime_ns
    assert interposer.library(built.parent) == built
    assert built.stat().st_mtime_ns == stamp
    assert list(built.parent.iterdir()) == [built]


def test_without_a_compiler_the_reader_is_told_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(Fault, match=r"C\+\+ compiler") as caught:
        interposer.library(tmp_path / "cache")
    assert "g++" in caught.value.remedy


@needs_compiler
def test_a_worker_finds_the_library_of_the_users_cache_in_its_own_home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is built once for all runs, and copied for each; without a compiler nothing is said yet."""
    user, worker, sources = (tmp_path / name for name in ("user", "worker", "sources"))
    sources.mkdir()
    (sources / "small.cpp").write_text("int small() { return 1; }\n")
    monkeypatch.setattr(interposer, "SOURCES", sources)  # the real ones take ten seconds
    monkeypatch.setenv("HOME", str(user))
    interposer.prepared(worker)
    (built,) = (user / ".cache" / "optiml").glob("*.so")
    copied = worker / ".cache" / "optiml" / built.name
    assert copied.read_bytes() == built.read_bytes()
    assert interposer.library(worker / ".cache" / "optiml") == copied
    monkeypatch.setenv("HOME", str(tmp_path / "other"))
    monkeypatch.setattr("runners.native.COMPILERS", ())
    interposer.prepared(tmp_path / "third")
    assert not list((tmp_path / "third").rglob("*.so"))


@pytest.fixture(scope="module")
def hostile() -> Path:
    """Return a program that is hard to watch, beside the runtime that it is linked to."""

    def make(folder: Path) -> None:
        fake_runtime(folder)
        common = ["g++", "-std=c++17", "-fPIC", str(FAKE / "hostile.cpp")]
        linked = [str(folder / "libcudart.so.13"), "-lpthread", "-o", str(folder / "hostile")]
        subprocess.run([*common, *linked], check=True)

    text = "".join((FAKE / name).read_text() for name in ("hostile.cpp", "cudart.cpp"))
    return once.built("hostile", text, make) / "hostile"


def watched(
    hostile: Path, way: str, folder: Path, *config: str
) -> tuple[int, str, dict[str, Any] | None]:
    """Run the program under the interposer; return its status, what it said, and the report."""
    probe, report = folder / "probe", folder / "report"
    probe.write_text("\n".join([f"report {report}", "poison random", "record 1", *config]) + "\n")
    wanted = {"OPTIML_PROBE": str(probe), "LD_PRELOAD": str(interposed())}
    done = subprocess.run(
        [str(hostile), way],
        env={"LD_LIBRARY_PATH": str(hostile.parent), **wanted},
        cwd=folder, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    told = json.loads(report.read_text()) if report.exists() else None
    return done.returncode, done.stdout, told


@needs_compiler
@pytest.mark.parametrize(
    ("way", "status", "ended"),
    [
        ("threads", 0, "return"),
        ("fork", 0, "return"),
        ("resets", 0, "return"),
        ("_exit", 0, "exit"),
        ("quick_exit", 0, "exit"),
        ("abort", -signal.SIGABRT, "abort"),
    ],
)
def test_a_program_that_is_hard_to_watch_ends_as_without_us_and_is_reported(
    hostile: Path, tmp_path: Path, way: str, status: int, ended: str
) -> None:
    """Children of a process whose threads were in the runtime had hung; `_exit` had told nothing."""
    code, _, told = watched(hostile, way, tmp_path, "fresh kept")
    assert code == status
    assert told is not None
    assert told["ended"] == ended
    assert told["kernels"][0]["name"] == "add"


@needs_compiler
def test_what_the_runtime_refuses_is_refused_with_us_and_nothing_is_read(
    hostile: Path, tmp_path: Path
) -> None:
    """A size that overflows with its guards, copies from nothing: one was granted, one crashed."""
    code, said, told = watched(hostile, "sizes", tmp_path)
    assert (code, said) == (0, "done\n")
    assert told is not None
    assert told["inputs"] == 1  # the one copy that was made


@needs_compiler
def test_a_slab_of_a_volume_is_recorded_where_it_lies(hostile: Path, tmp_path: Path) -> None:
    code, said, told = watched(hostile, "slab", tmp_path)
    assert (code, said.split()[0]) == (0, "22")
    assert told is not None
    copied = next(one for one in told["records"] if one["kind"] == "copy")
    assert (copied["offset"], copied["bytes"]) == (256, 256)
    held = (tmp_path / "report.data").read_bytes()[copied["at"] :]
    assert int.from_bytes(held[:4], "little") == 22


@needs_compiler
def test_bytes_that_a_full_disk_did_not_take_are_not_looked_for_in_it(
    hostile: Path, tmp_path: Path
) -> None:
    """Later ones had been read from where the first had not been written."""
    (tmp_path / "probe").write_text(f"report {tmp_path / 'report'}\nrecord 1\n")
    # A file that may not grow is refused as one on a full disk is.
    limited = 'trap "" XFSZ; ulimit -f 1024; LD_PRELOAD="$1" exec "$2" many'
    subprocess.run(
        ["/bin/bash", "-c", limited, "bash", str(interposed()), str(hostile)],
        env={"LD_LIBRARY_PATH": str(hostile.parent), "OPTIML_PROBE": str(tmp_path / "probe")},
        cwd=tmp_path, check=True, timeout=60,
    )  # fmt: skip
    told = json.loads((tmp_path / "report").read_text())
    size = (tmp_path / "report.data").stat().st_size
    assert 0 < size <= 1 << 20
    assert told["records"][-1]["at"] == -1
    assert all(one["at"] + one["length"] <= size for one in told["records"] if one["at"] >= 0)
