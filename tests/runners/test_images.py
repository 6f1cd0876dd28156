"""Device code of our own: built once a machine and found by workers whose /tmp is empty."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from runners import allocations, entry_process, images
from runners.fault import Fault

NVCC = """#!/bin/sh
echo x >> {calls}
while [ "$1" != -o ]; do shift; done
echo image > "$2"
"""


@pytest.fixture
def nvcc(tmp_path: Path) -> Path:
    path = tmp_path / "nvcc"
    path.write_text(NVCC.format(calls=tmp_path / "calls"))
    path.chmod(0o755)
    return path


def calls(nvcc: Path) -> int:
    file = nvcc.with_name("calls")
    return len(file.read_text().split()) if file.exists() else 0


def test_what_was_built_for_an_architecture_is_not_built_again(nvcc: Path, tmp_path: Path) -> None:
    folder = tmp_path / "kept"
    assert images.prepared(folder, nvcc, 90) == folder
    assert images.prepared(folder, nvcc, 90) == folder
    assert calls(nvcc) == 1
    images.prepared(folder, nvcc, 90, calibrates=True)
    assert calls(nvcc) == 2
    images.prepared(folder, nvcc, 80)
    assert calls(nvcc) == 3


def test_a_worker_compiles_nothing_that_it_was_given(
    nvcc: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = images.prepared(tmp_path / "kept", nvcc, 90)
    assert folder is not None
    own = tmp_path / "tmp"
    own.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(own))
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    images.take_over(folder)
    assert images.helper_image(90) == b"image\n"
    mine = images.own_folder()
    assert mine is not None
    library = images.scanning(mine)
    assert library.parent == mine
    # Another worker that takes it over leaves alone what this one has mapped.
    before = library.stat()
    images.take_over(folder)
    after = library.stat()
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)


@pytest.mark.parametrize("refused", ["no nvcc", "others may write"])
def test_what_cannot_be_prepared_is_left_to_the_workers(
    nvcc: Path, tmp_path: Path, refused: str
) -> None:
    folder = tmp_path / "kept"
    folder.mkdir()
    if refused == "no nvcc":
        nvcc.unlink()
    else:
        folder.chmod(0o777)
    assert images.prepared(folder, nvcc, 90) is None


def test_a_compiler_that_refuses_is_a_fault_with_its_words(
    nvcc: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nvcc.write_text("#!/bin/sh\necho unsupported >&2\nexit 1\n")
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    own = tmp_path / "tmp"
    own.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(own))
    with pytest.raises(Fault, match="unsupported"):
        images.helper_image(90)


@pytest.mark.parametrize(
    ("mode", "ours"), [(0o700, True), (0o755, True), (0o775, False), (0o707, False)]
)
def test_a_folder_that_others_may_write_to_is_nobodys_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: int, *, ours: bool
) -> None:
    """What lies there is loaded into processes of ours; reading it is no harm."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    folder = images.own_folder()
    assert folder is not None
    folder.chmod(mode)
    assert (images.own_folder() == folder) is ours


def test_a_link_in_its_place_is_not_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    folder = images.own_folder()
    assert folder is not None
    folder.rmdir()
    (tmp_path / "mine").mkdir(mode=0o700)
    folder.symlink_to(tmp_path / "mine")
    assert images.own_folder() is None


def test_an_entry_function_is_not_given_what_others_may_have_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The library that counts its memory is built in the worker's own scratch then."""
    built: list[Path] = []
    shown: list[object] = []

    class Spawning:
        trust = "own"

        def spawn(self, command: object, *, readable: list[Path], **_: object) -> None:
            shown.extend(readable)

    monkeypatch.setattr(allocations, "library", built.append)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    folder = images.own_folder()
    assert folder is not None
    for mode in (0o777, 0o700):
        folder.chmod(mode)
        child = entry_process.EntryProcess(tmp_path, 0, Spawning())  # type: ignore[arg-type]
        child._start(frozenset())
    assert built[0] != folder
    assert built[0].parent == tmp_path
    assert built[1] == folder
    assert shown.count(folder) == 1
