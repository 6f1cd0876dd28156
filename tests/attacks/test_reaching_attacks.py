"""Reach for what belongs to the same user outside: processes, files, queues, sockets, mounts.

Each attack prints its name when the kernel let it through; what it was aimed at is looked at, too.
Where no namespace hides them (Landlock), the system call filter is all that stands in between.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import platform
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from runners.sandbox import Backend, Finished, Limits, Sandbox, interpreter_paths
from runners.syscall_filter import Profile

COMPILER = shutil.which("g++")
pytestmark = [
    pytest.mark.skipif(COMPILER is None, reason="g++ is not installed"),
    pytest.mark.skipif(platform.machine() not in {"x86_64", "aarch64"}, reason="no filter here"),
    pytest.mark.timeout(120),
]
ROOT = Path(__file__).resolve().parents[2]
BACKENDS: tuple[Backend, ...] = ("bubblewrap", "namespaces", "landlock")
_IPC_CREATE, _IPC_REMOVE = 0o1600, 0
_libc = ctypes.CDLL(None, use_errno=True)

HEAD = r"""
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <linux/fs.h>
#include <mqueue.h>
#include <sched.h>
#include <string>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/xattr.h>
#include <unistd.h>
#include <utime.h>
static void tried(const char* name, long result) {
    if (result >= 0) { printf("%s\n", name); fflush(stdout); }
}
static sockaddr_un at(const std::string& path) {
    sockaddr_un name{};
    name.sun_family = AF_UNIX;
    strncpy(name.sun_path, path.c_str(), sizeof name.sun_path - 1);
    return name;
}
"""
# Arguments: the victim's pid.
PROCESSES = r"""
int main(int, char** argv) {
    int victim = atoi(argv[1]);
    rlimit limit{1, 1};
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(0, &one);
    sched_param none{};
    struct { unsigned size, policy; unsigned long long flags; int nice; unsigned priority;
             unsigned long long runtime, deadline, period; } attributes{48, 0, 0, 7, 0, 0, 0, 0};
    tried("limit of a process", syscall(SYS_prlimit64, victim, RLIMIT_CPU, &limit, nullptr));
    tried("processors of a process", sched_setaffinity(victim, sizeof one, &one));
    tried("scheduler of a process", sched_setscheduler(victim, SCHED_BATCH, &none));
    tried("scheduling of a process", syscall(SYS_sched_setattr, victim, &attributes, 0));
    tried("parameters of a process", sched_setparam(victim, &none));
    tried("priority of a process", setpriority(PRIO_PROCESS, victim, 19));
    if (getpgid(victim) > 1 && getpgid(victim) != getpgid(0))
        tried("priority of a group", setpriority(PRIO_PGRP, getpgid(victim), 19));
    tried("disk priority of a process", syscall(SYS_ioprio_set, 1, victim, (3 << 13) | 7));
    return 0;
}
"""
WATCH = r"""
int main(int, char** argv) {
    struct { unsigned type, size; unsigned long long config, period, sample, read, flags, more[10]; }
        event{1, 128, 0};
    tried("watched", syscall(SYS_perf_event_open, &event, atoi(argv[1]), -1, -1, 8));
    return 0;
}
"""
# Arguments: a file that is hidden, one that is shown.
FILES = r"""
int main(int, char** argv) {
    for (int i = 1; i < 3; ++i) {
        const char* path = argv[i];
        std::string which = i == 1 ? " of a hidden file" : " of a shown file";
        auto on = [&](const char* name, long result) { tried((name + which).c_str(), result); };
        timespec past[2]{{1, 0}, {1, 0}};
        timeval before[2]{{1, 0}, {1, 0}};
        utimbuf old{1, 1};
        on("mode", chmod(path, 0666));
        on("mode at", syscall(SYS_fchmodat, AT_FDCWD, path, 0666));
        on("new mode at", syscall(452, AT_FDCWD, path, 0666, 0));
        on("owner", chown(path, getuid(), getgid()));
        on("owner at", fchownat(AT_FDCWD, path, getuid(), getgid(), AT_SYMLINK_NOFOLLOW));
        on("times at", utimensat(AT_FDCWD, path, past, 0));
        on("times", utimes(path, before));
        on("old times", utime(path, &old));
        on("attribute", setxattr(path, "user.optiml", "x", 1, 0));
        on("no attribute", removexattr(path, "user.kept"));
        char text[64];
        on("attribute read", getxattr(path, "user.kept", text, sizeof text));
        struct { unsigned long long value; unsigned size, flags; } given{(unsigned long long)"x", 1, 0};
        on("new attribute", syscall(463, AT_FDCWD, path, 0, "user.optiml", &given, sizeof given));
        int fd = open(path, O_RDONLY);
        if (fd < 0) continue;
        int flags = 0;
        on("open mode", fchmod(fd, 0666));
        on("open owner", fchown(fd, getuid(), getgid()));
        on("open times", futimens(fd, past));
        on("open attribute", fsetxattr(fd, "user.optiml", "x", 1, 0));
        if (ioctl(fd, FS_IOC_GETFLAGS, &flags) == 0) {
            flags |= FS_NODUMP_FL;
            on("flags", ioctl(fd, FS_IOC_SETFLAGS, &flags));
        }
    }
    std::string folder(argv[1]);
    folder.resize(folder.rfind('/'));
    struct stat found;
    if (stat(folder.c_str(), &found) == 0)
        tried("names in a hidden folder", inotify_add_watch(inotify_init(), folder.c_str(), IN_CREATE));
    return 0;
}
"""
# Arguments: a queue, a segment and a semaphore that exist, the name of a POSIX queue.
QUEUES = r"""
int main(int, char** argv) {
    int queue = atoi(argv[1]), segment = atoi(argv[2]), semaphore = atoi(argv[3]);
    struct { long type; char text[64]; } message{1, "forged"};
    tried("message left", msgsnd(queue, &message, 6, IPC_NOWAIT));
    tried("message taken", msgrcv(queue, &message, 64, 0, IPC_NOWAIT));
    tried("queue removed", msgctl(queue, IPC_RMID, nullptr));
    tried("segment removed", shmctl(segment, IPC_RMID, nullptr));
    sembuf more{0, 1, IPC_NOWAIT};
    tried("semaphore raised", semop(semaphore, &more, 1));
    tried("semaphore raised in time", semtimedop(semaphore, &more, 1, nullptr));
    tried("semaphore removed", semctl(semaphore, 0, IPC_RMID));
    tried("named queue removed", mq_unlink(argv[4]));
    return 0;
}
"""
# Arguments: a folder that is shown, and sockets that listen in it, a stream and a datagram one.
SOCKETS = r"""
int main(int, char** argv) {
    if (chdir(argv[1])) return 1;
    sockaddr_un stream = at(argv[2]), datagram = at(argv[3]);
    int s = socket(AF_UNIX, SOCK_STREAM, 0);
    tried("connected", connect(s, (sockaddr*)&stream, sizeof stream));
    int d = socket(AF_UNIX, SOCK_DGRAM, 0);
    tried("sent", sendto(d, "forged", 6, 0, (sockaddr*)&datagram, sizeof datagram));
    int pair[2] = {-1, -1};
    socketpair(AF_UNIX, SOCK_DGRAM, 0, pair);
    tried("sent by a pair", sendto(pair[0], "forged", 6, 0, (sockaddr*)&datagram, sizeof datagram));
    tried("connected by a pair", connect(pair[0], (sockaddr*)&datagram, sizeof datagram));
    int good[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, good) || write(good[0], "x", 1) != 1) printf("no pairs\n");
    return 0;
}
"""
# Argument: a folder that is shown to be read. What a whole file system suffers from is tried on
# the command's own /tmp, or with arguments that the kernel refuses last.
MOUNTS = r"""
int main(int, char** argv) {
    struct { unsigned long long set, clear, propagation, user; } writable{0, 1, 0, 0};
    int tree = syscall(467, AT_FDCWD, argv[1], 1 | 0x80000, &writable, sizeof writable);
    tried("a mount of its own", tree);
    if (tree >= 0) tried("written", openat(tree, "written", O_CREAT | O_WRONLY, 0600));
    struct { unsigned size, spare; unsigned long long id, param; } root{24, 0, ~0ull, 0};
    unsigned long long found[8];
    tried("mounts listed", syscall(458, &root, found, 8, 0));
    int own = open("/tmp", O_RDONLY);
    errno = 0;
    if (ioctl(own, FIFREEZE, 0) == 0 || errno == EOPNOTSUPP) printf("frozen\n");
    errno = 0;
    if (ioctl(own, FITHAW, 0) == 0 || errno == EINVAL || errno == EOPNOTSUPP) printf("thawed\n");
    if (madvise((void*)1, 4096, 101) == 0 || errno == EINVAL) printf("page taken\n");
    struct { unsigned type, size; unsigned long long config, period, sample, read, flags, more[10]; }
        event{1, 128, 0};
    tried("whole machine watched", syscall(SYS_perf_event_open, &event, -1, 0, -1, 8));
    tried("set-user-id", open("owned", O_CREAT | O_WRONLY, 04755));
    int mine = open("mine", O_CREAT | O_WRONLY, 0755);
    tried("set-user-id afterwards", fchmod(mine, 04755));
    struct { unsigned long long flags, mode, resolve; } how{O_CREAT | O_WRONLY, 04755, 0};
    tried("set-user-id anew", syscall(437, AT_FDCWD, "anew", &how, sizeof how));
    return 0;
}
"""


@pytest.fixture(scope="module", params=BACKENDS)
def box(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    wanted: Backend = request.param
    with Sandbox(trust="stranger", backend=wanted) as sandbox:
        if sandbox.describe().backend != wanted:
            pytest.skip(f"{wanted} does not work here: {sandbox.describe().refused}")
        yield sandbox


@dataclass(frozen=True)
class Places:
    """A folder that is shown, one that is not, one to work in, and the compiled attacks."""

    shown: Path
    hidden: Path
    work: Path

    def program(self, text: str) -> Path:
        """Compile an attack into the folder that is shown."""
        built = self.shown / "attack"
        command = [str(COMPILER), "-w", "-x", "c++", "-", "-o", str(built), "-lrt"]
        subprocess.run(command, input=(HEAD + text).encode(), check=True, timeout=60)
        return built


@pytest.fixture
def places(tmp_path: Path) -> Places:
    made = Places(tmp_path / "shown", tmp_path / "hidden", tmp_path / "work")
    for folder in (made.shown, made.hidden, made.work):
        folder.mkdir()
    return made


def attack(
    box: Sandbox, places: Places, text: str, *arguments: object, profile: Profile = "strict"
) -> list[str]:
    """Return what an attack got through with."""
    done = box.run(
        [places.program(text), *map(str, arguments)],
        readable=[places.shown],
        writable=[places.work],
        cwd=places.work,
        limits=Limits(seconds=20),
        profile=profile,
    )
    assert done.code == 0, done
    return done.stdout.decode().splitlines()


# Without capabilities: with some of root's it would be safe from one that has none.
VICTIM = """
import ctypes, struct, time
assert ctypes.CDLL(None).capset(struct.pack("Ii", 0x20080522, 0), bytes(24)) == 0
print("here", flush=True)
time.sleep(100)
"""


@pytest.fixture
def victim() -> Iterator[int]:
    command = [sys.executable, "-c", VICTIM]
    with subprocess.Popen(command, start_new_session=True, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"here\n"
        yield process.pid
        process.kill()


def _state(pid: int) -> tuple[object, ...]:
    limits = Path(f"/proc/{pid}/limits").read_text()
    nice = os.getpriority(os.PRIO_PROCESS, pid)
    return (limits, os.sched_getaffinity(pid), os.sched_getscheduler(pid), nice)


def test_other_processes_stay_as_they_are(box: Sandbox, places: Places, victim: int) -> None:
    before = _state(victim)
    assert attack(box, places, PROCESSES, victim) == []
    assert _state(victim) == before


def test_a_tool_watches_no_process_outside(box: Sandbox, places: Places, victim: int) -> None:
    assert attack(box, places, WATCH, victim, profile="root tool") == []


def test_a_command_still_limits_and_schedules_itself(box: Sandbox, places: Places) -> None:
    honest = r"""
    int main() {
        rlimit limit;
        cpu_set_t all;
        sched_param none{};
        if (getrlimit(RLIMIT_NOFILE, &limit) || setrlimit(RLIMIT_NOFILE, &limit)) return 1;
        if (sched_getaffinity(0, sizeof all, &all) || sched_setaffinity(0, sizeof all, &all)) return 2;
        if (nice(1) != 1 || sched_setscheduler(0, SCHED_BATCH, &none)) return 3;
        return 0;
    }"""
    assert attack(box, places, honest) == []


def test_files_outside_stay_as_they_are(box: Sandbox, places: Places) -> None:
    files = [places.hidden / "key", places.shown / "source"]
    for file in files:
        file.write_text("text")
        file.chmod(0o600)
        try:
            os.setxattr(file, "user.kept", b"kept")
        except OSError:
            continue  # a file system without them
    before = [(file.stat(), os.listxattr(file)) for file in files]
    found = attack(box, places, FILES, *files)
    if box.describe().backend != "landlock":  # a file that is shown is shown with all of it
        found = [name for name in found if name != "attribute read of a shown file"]
    assert found == []
    for file, (state, names) in zip(files, before, strict=True):
        now = file.stat()
        assert (now.st_mode, now.st_mtime_ns, now.st_ctime_ns) == (
            state.st_mode, state.st_mtime_ns, state.st_ctime_ns,
        )  # fmt: skip
        assert os.listxattr(file) == names


def test_queues_and_memory_that_exist_stay_as_they_are(box: Sandbox, places: Places) -> None:
    class Message(ctypes.Structure):
        _fields_ = (("type", ctypes.c_long), ("text", ctypes.c_char * 32))

    name = f"/optiml-{os.getpid()}".encode()
    posix = ctypes.CDLL("librt.so.1", use_errno=True)
    queue = _libc.msgget(0, _IPC_CREATE)
    segment = _libc.shmget(0, 4096, _IPC_CREATE)
    semaphore = _libc.semget(0, 1, _IPC_CREATE)
    named = posix.mq_open(name, os.O_CREAT | os.O_RDONLY, 0o600, None)
    try:
        secret = Message(1, b"secret")
        assert _libc.msgsnd(queue, ctypes.byref(secret), 6, 0) == 0
        found = attack(box, places, QUEUES, queue, segment, semaphore, name.decode())
        assert found == []
        taken = Message()
        assert _libc.msgrcv(queue, ctypes.byref(taken), 32, 0, 0o4000) == 6
        assert taken.text == b"secret"
        assert _libc.semctl(semaphore, 0, 12) == 0  # GETVAL
    finally:
        assert _libc.msgctl(queue, _IPC_REMOVE, None) == 0
        assert _libc.shmctl(segment, _IPC_REMOVE, None) == 0
        assert _libc.semctl(semaphore, 0, _IPC_REMOVE) == 0
        assert named < 0 or posix.mq_unlink(name) == 0


def test_sockets_in_folders_that_are_shown_are_out_of_reach(box: Sandbox, places: Places) -> None:
    with (
        socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as stream,
        socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as datagram,
    ):
        # By short names: those of sockets are.
        with contextlib.chdir(places.shown):
            stream.bind("s")
            datagram.bind("d")
        stream.listen()
        datagram.setblocking(False)  # noqa: FBT003
        assert attack(box, places, SOCKETS, places.shown, "s", "d") == []
        with pytest.raises(BlockingIOError):
            datagram.recv(10)


@pytest.mark.parametrize("profile", ["strict", "tool", "root tool"])
def test_no_mount_is_made_writable_nothing_frozen_nothing_owned(
    box: Sandbox, places: Places, profile: Profile
) -> None:
    assert attack(box, places, MOUNTS, places.shown, profile=profile) == []
    assert not (places.shown / "written").exists()
    assert not [p for p in places.work.iterdir() if p.stat().st_mode & 0o6000]


def test_a_tool_with_capabilities_still_watches_itself(box: Sandbox, places: Places) -> None:
    """What a profiler needs of them."""
    if os.geteuid() != 0:
        pytest.skip("needs root")
    honest = r"""
    int main() {
        struct { unsigned type, size; unsigned long long config, period, sample, read, flags, more[10]; }
            event{1, 128, 0};
        int own = syscall(SYS_perf_event_open, &event, 0, -1, -1, 8);
        if (own < 0 && errno != ENOENT && errno != ENODEV) perror("own events");
        int size = 0;
        if (ioctl(0, FIONREAD, &size) && errno == EPERM) perror("ordinary ioctl");
        if (socket(AF_UNIX, SOCK_STREAM, 0) < 0 && errno == EPERM) perror("socket");
        return 0;
    }"""
    done = box.run(
        [places.program(honest)], readable=[places.shown], profile="root tool", cwd=places.work,
        writable=[places.work],
    )  # fmt: skip
    assert (done.code, done.stderr) == (0, b"")


@pytest.fixture
def landlock() -> Iterator[Sandbox]:
    with Sandbox(trust="stranger", backend="landlock") as sandbox:
        if sandbox.describe().backend != "landlock":
            pytest.skip(f"no Landlock here: {sandbox.describe().refused}")
        yield sandbox


def _link(box: Sandbox, places: Places, *words: str) -> Finished:
    (places.work / "a.cpp").write_text("int main() { return 7; }\n")
    command = [str(COMPILER), *words, "-o", "made", "a.cpp"]
    return box.run(command, writable=[places.work], cwd=places.work, limits=Limits(seconds=60))


def test_what_is_linked_where_no_mode_may_change_runs(landlock: Sandbox, places: Places) -> None:
    done = _link(landlock, places)
    assert done.code == 0, done.stderr
    made = places.work / "made"
    assert landlock.run([made], readable=[places.work]).code == 7
    assert made.stat().st_mode & 0o7777 == 0o755


def test_only_programs_of_the_folder_itself_become_executable(
    landlock: Sandbox, places: Places
) -> None:
    (places.work / "below").mkdir()
    program = places.hidden / "program"
    shutil.copyfile("/bin/true", program)
    program.chmod(0o600)
    script = (
        f"cat /bin/true > below/program; ln -s {program} link; echo text > text; "
        "cat /bin/true > small; head -c 10 small > cut"
    )
    landlock.run(["/bin/sh", "-c", script], writable=[places.work], cwd=places.work)
    assert program.stat().st_mode & 0o777 == 0o600
    modes = {p.name: p.stat().st_mode & 0o111 for p in places.work.iterdir() if p.is_file()}
    assert modes == {"link": 0, "text": 0, "small": 0o111, "cut": 0}
    assert (places.work / "below" / "program").stat().st_mode & 0o111 == 0


WORKER = """
import os, shutil, sys
sys.path.insert(0, sys.argv[1])
from pathlib import Path
from runners.sandbox import Sandbox
place = Path(sys.argv[2])
shutil.copy("/bin/true", place / "copied")
with Sandbox("stranger", inner=True) as inner:
    source = "int main() { return 7; }"
    made = inner.run(["g++", "-x", "c++", "-", "-o", "linked"], cwd=place, writable=[place], stdin=source.encode())
    ran = inner.run([place / "linked"], readable=[place])
    mode = inner.run(["/bin/sh", "-c", "chmod 600 copied || echo refused"], cwd=place, writable=[place])
    print(inner.describe().backend, made.code, ran.code, mode.stdout, oct((place / "copied").stat().st_mode))
try:
    os.chmod(place / "copied", 0o4755)
except PermissionError:
    print("no set-user-id")
"""  # fmt: skip


def test_the_worker_links_and_copies_programs_under_landlock(
    landlock: Sandbox, places: Places
) -> None:
    done = landlock.run(
        [sys.executable, "-I", "-c", WORKER, str(ROOT), str(places.work)],
        readable=[*interpreter_paths(), ROOT],
        writable=[places.work],
        profile="worker",
        limits=Limits(seconds=60),
    )
    assert done.stdout.decode().splitlines() == [
        r"landlock 0 7 b'refused\n' 0o100755", "no set-user-id",
    ], done.stderr  # fmt: skip
