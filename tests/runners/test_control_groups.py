"""Where control groups can be made, in either version, is found without leaving anything."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

import pytest

from runners import keeper_groups
from runners.control_groups import ControlGroups, find


def host(tmp_path: Path, cgroup: str, mountinfo: str) -> tuple[Path, Path]:
    """Return a /proc/self and a root with these contents."""
    proc, root = tmp_path / "proc", tmp_path / "root"
    proc.mkdir()
    root.mkdir()
    (proc / "cgroup").write_text(cgroup)
    (proc / "mountinfo").write_text(mountinfo)
    return proc, root


def group(
    folder: Path, *, control: str = "", offered: str = "memory pids", procs: str = ""
) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "cgroup.controllers").write_text(offered)
    (folder / "cgroup.subtree_control").write_text(control)
    (folder / "cgroup.procs").write_text(procs)
    return folder


V2 = "29 23 0:26 / /sys/fs/cgroup rw shared:4 - cgroup2 cgroup2 rw,nsdelegate\n"
V1 = (
    "30 25 0:27 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
    "31 25 0:28 / /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids\n"
    "32 25 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n"
)


def test_version_1_has_a_folder_for_each_controller(tmp_path: Path) -> None:
    proc, root = host(tmp_path, "4:memory:/job\n8:pids:/\n1:cpu:/\n", V1)
    (root / "sys/fs/cgroup/memory/job").mkdir(parents=True)
    (root / "sys/fs/cgroup/pids").mkdir(parents=True)
    found = find(proc, root)
    assert found.name == "cgroup v1"
    asked = {item["parent"]: dict(item["values"]) for item in found.ask(1000, 20)}
    memory, pids = root / "sys/fs/cgroup/memory/job", root / "sys/fs/cgroup/pids"
    assert asked[str(memory)]["memory.limit_in_bytes"] == 1000
    assert asked[str(pids)] == {"pids.max": 20}


def test_version_1_without_a_controller_leaves_it_to_the_keeper(tmp_path: Path) -> None:
    proc, root = host(tmp_path, "8:pids:/\n", V1)
    (root / "sys/fs/cgroup/pids").mkdir(parents=True)
    assert list(find(proc, root).folders) == ["pids"]


def test_version_2_takes_the_nearest_folder_that_gives_both(tmp_path: Path) -> None:
    proc, root = host(tmp_path, "0::/user.slice/session.scope\n", V2)
    top = root / "sys/fs/cgroup"
    group(top, control="cpu memory pids")
    slice_ = group(top / "user.slice", control="memory pids")
    group(slice_ / "session.scope", procs="1 2 3")
    found = find(proc, root)
    assert found.version == 2
    assert set(found.folders.values()) == {str(slice_)}
    ((asked),) = found.ask(1000, 20)
    assert dict(asked["values"]) == {"memory.max": 1000, "memory.swap.max": 0, "pids.max": 20}


def test_a_delegated_cgroup_is_divided_when_it_holds_nobody_else(tmp_path: Path) -> None:
    proc, root = host(tmp_path, "0::/service\n", V2)
    group(root / "sys/fs/cgroup")
    own = group(root / "sys/fs/cgroup/service", procs=f"{os.getpid()}\n")
    (own / "optiml-main").mkdir()
    find(proc, root)  # these are ordinary files: the kernel would answer "memory pids" now
    assert (own / "cgroup.subtree_control").read_text() == "+memory +pids"
    assert (own / "optiml-main" / "cgroup.procs").read_text() == str(os.getpid())


def test_a_cgroup_with_processes_of_others_is_left_alone(tmp_path: Path) -> None:
    proc, root = host(tmp_path, "0::/session\n", V2)
    group(root / "sys/fs/cgroup")
    own = group(root / "sys/fs/cgroup/session", procs=f"{os.getpid()}\n1\n")
    found = find(proc, root)
    assert not found.folders
    assert "Delegate=yes" in found.reason
    assert not (own / "optiml-main").exists()


@pytest.mark.parametrize("mountinfo", ["", "29 23 0:26 / /proc rw - proc proc rw\n"])
def test_a_host_without_control_groups_says_so(tmp_path: Path, mountinfo: str) -> None:
    proc, root = host(tmp_path, "", mountinfo)
    assert "no cgroup file system" in find(proc, root).reason
    assert find(tmp_path / "nothing", root).reason
    assert ControlGroups().ask(1, 1) == []


def test_two_commands_of_one_pid_get_groups_of_their_own() -> None:
    assert keeper_groups.Groups([])._name != keeper_groups.Groups([])._name


def test_what_a_killed_keeper_left_is_removed_and_nothing_else(tmp_path: Path) -> None:
    left, young, kept, busy = (tmp_path / f"{keeper_groups.GROUP_NAME}{n}" for n in range(4))
    main = tmp_path / "optiml-main"
    for folder in (left, young, kept, busy, main):
        folder.mkdir()
    (busy / "inner").mkdir()
    for folder in (left, kept, busy, main):
        os.utime(folder, (0, 0))
    parent, keeper = os.open(tmp_path, os.O_RDONLY), os.open(kept, os.O_RDONLY)
    fcntl.flock(keeper, fcntl.LOCK_SH)
    try:
        keeper_groups._remove_abandoned(parent)
    finally:
        os.close(keeper)
        os.close(parent)
    assert set(tmp_path.iterdir()) == {young, kept, busy, main}
