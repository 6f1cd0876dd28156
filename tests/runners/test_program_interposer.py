"""The interposer is built once with the host's compiler, and says so when there is none."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from runners import interposer
from runners.fault import Fault
from tests.runners.program_fakes import interposed


@pytest.mark.skipif(shutil.which("g++") is None, reason="needs a C++ compiler")
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


@pytest.mark.skipif(shutil.which("g++") is None, reason="needs a C++ compiler")
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
