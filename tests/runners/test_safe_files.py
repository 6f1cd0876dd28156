"""What a sandboxed command may leave, and that none of it is followed, waited for or swallowed."""

from __future__ import annotations

import os
import stat
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from runners import safe_files
from runners.safe_files import NotOrdinary

SECRET = b"a file of the host's\n"


@pytest.fixture
def host(tmp_path: Path) -> Path:
    path = tmp_path / "host"
    path.write_bytes(SECRET)
    return path


@pytest.fixture
def left(tmp_path: Path) -> Path:
    folder = tmp_path / "left"
    folder.mkdir()
    return folder


def sparse(path: Path, size: int) -> None:
    with path.open("wb") as file:
        file.truncate(size)


LEFT: dict[str, Callable[[Path, Path], object]] = {
    "a link": lambda path, host: path.symlink_to(host),
    "a link that leads nowhere": lambda path, host: path.symlink_to(host.with_name("none")),
    "a link to a device": lambda path, _: path.symlink_to("/dev/zero"),
    "a link to a process's file": lambda path, _: path.symlink_to("/proc/self/environ"),
    "a second name of another's file": lambda path, host: path.hardlink_to(host),
    "a pipe": lambda path, _: os.mkfifo(path),
    "a folder": lambda path, _: path.mkdir(),
    "a file of terabytes that holds nothing": lambda path, _: sparse(path, 1 << 42),
    "nothing": lambda path, host: None,
}


@pytest.mark.timeout(20)
@pytest.mark.parametrize("name", LEFT)
def test_what_is_no_ordinary_file_is_not_read(left: Path, host: Path, name: str) -> None:
    path = left / "made"
    LEFT[name](path, host)
    begun = time.monotonic()
    with pytest.raises(OSError):
        safe_files.content(path, 1 << 20)
    with pytest.raises(OSError):
        safe_files.text(path, 1 << 20)
    assert not safe_files.is_ordinary(path, 1 << 20)
    assert time.monotonic() - begun < 2


@pytest.mark.parametrize("name", LEFT)
def test_what_is_no_ordinary_file_is_not_moved_to_where_ours_are(
    left: Path, host: Path, name: str
) -> None:
    LEFT[name](left / "made", host)
    ours = left.with_name("ours")
    with pytest.raises(OSError):
        safe_files.received(left / "made", ours, 1 << 20)
    assert not os.path.lexists(ours)
    assert host.read_bytes() == SECRET


@pytest.mark.parametrize("name", LEFT)
def test_nothing_that_was_there_is_written_to(left: Path, host: Path, name: str) -> None:
    path = left / "made"
    LEFT[name](path, host)
    if name != "nothing":
        with pytest.raises(FileExistsError):
            safe_files.written(path, b"ours")
    if name == "a folder":
        with pytest.raises(OSError):
            safe_files.replaced(path, b"ours")
        assert [one.name for one in left.iterdir()] == ["made"]
        return
    safe_files.replaced(path, b"ours")
    assert safe_files.content(path, 10) == b"ours"
    assert not path.is_symlink()
    assert host.read_bytes() == SECRET
    assert not host.with_name("none").exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root makes devices")
def test_a_device_is_not_opened(left: Path) -> None:
    try:
        os.mknod(left / "made", stat.S_IFCHR | 0o600, os.makedev(1, 5))
    except OSError:
        pytest.skip("no devices can be made here")
    with pytest.raises(NotOrdinary, match="no ordinary file"):
        safe_files.content(left / "made", 10)


def test_a_file_is_read_up_to_its_bound_and_says_why_not_beyond(left: Path) -> None:
    (left / "made").write_bytes(b"12345\xff")
    assert safe_files.content(left / "made", 6) == b"12345\xff"
    assert safe_files.text(left / "made", 6) == "12345\N{REPLACEMENT CHARACTER}"
    with pytest.raises(NotOrdinary, match="more than 5 bytes") as caught:
        safe_files.content(left / "made", 5)
    assert str(left / "made") in str(caught.value)


def test_the_folder_itself_may_not_have_become_a_link(tmp_path: Path, left: Path) -> None:
    (left / "made").write_bytes(b"x")
    (tmp_path / "other").symlink_to(left)
    with pytest.raises(OSError):
        safe_files.content(tmp_path / "other" / "made", 10)
    with pytest.raises(OSError):
        safe_files.written(tmp_path / "other" / "new", b"")
    assert not (left / "new").exists()


def test_a_name_that_changes_all_the_time_never_gives_what_it_leads_to(
    left: Path, host: Path
) -> None:
    path, fine, link = left / "made", left / "fine", left / "link"
    done = threading.Event()

    def swap() -> None:
        while not done.is_set():
            fine.write_bytes(b"fine")
            fine.rename(path)
            link.symlink_to(host)
            link.rename(path)

    thread = threading.Thread(target=swap)
    thread.start()
    try:
        until, read = time.monotonic() + 1.0, 0
        while time.monotonic() < until:
            try:
                found = safe_files.content(path, 1 << 10)
            except OSError:
                continue
            read += 1
            assert found in {b"fine", b""}
            safe_files.replaced(left / "ours", b"ours")
    finally:
        done.set()
        thread.join()
    assert host.read_bytes() == SECRET


def test_what_is_received_runs_as_before_but_not_as_somebody_else(left: Path) -> None:
    (left / "made").write_bytes(b"program")
    (left / "made").chmod(0o6777)
    ours = left.with_name("ours")
    safe_files.received(left / "made", ours, 10)
    assert stat.S_IMODE(ours.stat().st_mode) == 0o755
    assert ours.read_bytes() == b"program"
    assert not (left / "made").exists()
    (left / "made").write_bytes(b"another")
    with pytest.raises(FileExistsError):
        safe_files.received(left / "made", ours, 10)
    assert ours.read_bytes() == b"program"


def test_a_folder_set_aside_is_no_longer_where_a_command_knows_it(left: Path) -> None:
    (left / "made").write_bytes(b"x")
    inside = os.open(left, os.O_RDONLY)
    aside = safe_files.set_aside(left)
    left.mkdir()
    os.close(os.open("late", os.O_CREAT | os.O_WRONLY, 0o600, dir_fd=inside))
    os.close(inside)
    assert list(left.iterdir()) == []
    assert {one.name for one in aside.iterdir()} == {"made", "late"}


@pytest.mark.timeout(20)
def test_a_file_of_a_checkout_may_be_a_link_and_is_read_as_far_as_it_goes(
    left: Path, host: Path
) -> None:
    (left / "link").symlink_to(host)
    assert safe_files.beginning(left / "link", 1 << 20) == SECRET
    assert safe_files.beginning(host, 6) == SECRET[:6]
    for name, target in {"zero": "/dev/zero", "log": "/proc/kmsg", "none": "/none"}.items():
        (left / name).symlink_to(target)
        assert safe_files.beginning(left / name, 1 << 20) == b""
    os.mkfifo(left / "pipe")
    for name in ("pipe", ".", "a\0b"):
        assert safe_files.beginning(left / name, 1 << 20) == b""
