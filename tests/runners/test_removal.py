"""What a stranger made is removed, however it was made, and nothing else is."""

from __future__ import annotations

import contextlib
import os
import shutil
from pathlib import Path

import pytest

from runners.removal import TemporaryFolder, remove

DEEP = 1200  # deeper than Python recurses


def nest(folder: Path, depth: int, name: str = "d") -> None:
    """Make folders in folders, as a program does: no path of it is ever long."""
    at = os.open(folder, os.O_RDONLY)
    for _ in range(depth):
        os.mkdir(name, dir_fd=at)
        below = os.open(name, os.O_RDONLY, dir_fd=at)
        os.close(os.open("file", os.O_CREAT | os.O_WRONLY, dir_fd=below))
        os.close(at)
        at = below
    os.close(at)


@pytest.fixture
def made(tmp_path: Path) -> Path:
    folder = tmp_path / "made"
    folder.mkdir()
    return folder


def test_what_is_deeper_than_python_recurses(made: Path) -> None:
    nest(made, DEEP)
    with contextlib.suppress(RecursionError):  # before Python 3.13
        shutil.rmtree(made, ignore_errors=True)
        made.mkdir()
        nest(made, DEEP)
    remove(made)
    assert not made.exists()


def test_what_is_deeper_than_paths_are_long(made: Path) -> None:
    nest(made, 40, "n" * 240)
    remove(made)
    assert not made.exists()


def test_what_branches_and_has_names_that_are_no_text(made: Path) -> None:
    for one in range(5):
        for other in range(5):
            (made / f"{one}" / f"{other}" / "x").mkdir(parents=True)
            (made / f"{one}" / f"{other}" / "file").write_text("text")
    os.mkdir(os.fsencode(made) + b"/\xff\xfe\n")  # noqa: PTH102 - no text
    remove(made)
    assert not made.exists()


def test_links_are_removed_and_not_followed(made: Path, tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.mkdir(0o755)
    (kept / "file").write_text("text")
    (made / "below").mkdir()
    for link in (made / "link", made / "below" / "link"):
        link.symlink_to(kept)
    remove(made)
    assert not made.exists()
    assert (kept / "file").read_text() == "text"
    assert kept.stat().st_mode & 0o777 == 0o755


def test_a_link_or_file_in_place_of_the_folder(tmp_path: Path) -> None:
    kept, link, file = tmp_path / "kept", tmp_path / "link", tmp_path / "file"
    kept.mkdir()
    (kept / "file").touch()
    link.symlink_to(kept)
    file.touch()
    for path in (link, file, tmp_path / "nothing"):
        remove(path)
        assert not os.path.lexists(path)
    assert (kept / "file").exists()


def _without_privileges(work: Path) -> int:
    """Remove a folder that nobody may look into as a user whom permissions bind; return how it went."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            if os.geteuid() == 0:
                os.setgid(65534)
                os.setuid(65534)
            inner = work / "a" / "b" / "c"
            inner.mkdir(parents=True)
            (inner / "file").touch()
            for folder in (inner, inner.parent, inner.parent.parent):
                folder.chmod(0)
            remove(work / "a")
            code = int((work / "a").exists())
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def test_folders_without_permissions(tmp_path_factory: pytest.TempPathFactory) -> None:
    with TemporaryFolder() as name:
        Path(name).chmod(0o777)
        assert _without_privileges(Path(name)) == 0


def test_what_cannot_be_removed_stays_and_the_rest_goes(
    made: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.unlink

    def unlink(path: str, *, dir_fd: int | None = None) -> None:
        if path == "stays":
            raise PermissionError(1, "not permitted", path)
        real(path, dir_fd=dir_fd)

    nest(made, 3)
    (made / "d" / "stays").touch()
    (made / "e").mkdir()
    monkeypatch.setattr(os, "unlink", unlink)
    remove(made)
    assert [one.name for one in made.rglob("*") if one.is_file()] == ["stays"]
    assert not (made / "e").exists()


def test_a_temporary_folder_goes_with_what_is_deep_in_it(tmp_path: Path) -> None:
    with TemporaryFolder(prefix="of-", dir=tmp_path) as name:
        assert Path(name).parent == tmp_path
        nest(Path(name), DEEP)
    assert not list(tmp_path.iterdir())
