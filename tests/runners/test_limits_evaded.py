"""Memory, disk and folders where a limit does not look at first: programs that really try.

Where control groups are found the kernel counts memory; here none are, as in a worker's sandbox.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from runners import control_groups, keeper_look, launcher
from runners import sandbox as module
from runners.entry_process import EntryProcess
from runners.removal import remove
from runners.sandbox import Backend, Finished, Limits, Sandbox

COMPILER = shutil.which("g++")
pytestmark = [
    pytest.mark.skipif(COMPILER is None, reason="g++ is not installed"),
    pytest.mark.timeout(120),
]
MIB = 1 << 20
# Each hoards until it is ended, or says that it was let be. What it hoards is bounded.
PROGRAM = r"""
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <functional>
#include <map>
#include <string>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
static char block[1 << 20];
static int memory() { return syscall(SYS_memfd_create, "m", 0); }
static int file(const char* name) { return open(name, O_CREAT | O_RDWR, 0600); }
static int fill(int fd, int mib) {
    for (int i = 0; i < mib; ++i)
        if (write(fd, block, sizeof block) != sizeof block) exit(3);
    return fd;
}
static char* touched(int mib, int flags, int fd = -1) {
    size_t size = size_t(mib) << 20;
    void* at = mmap(0, size, PROT_READ | PROT_WRITE, flags | (fd < 0 ? MAP_ANONYMOUS : 0), fd, 0);
    if (at == MAP_FAILED) exit(3);
    return (char*)memset(at, 1, size);
}
static void children(int count, std::function<void()> work) {
    for (int i = 0; i < count; ++i)
        if (fork() == 0) { work(); usleep(1500000); _exit(0); }
}
int main(int, char** argv) {
    memset(block, 7, sizeof block);
    std::map<std::string, std::function<void()>> ways{
        // of memory
        {"memfds", [] { fill(memory(), 500); fill(memory(), 500); }},
        {"shared", [] { for (int i = 0; i < 10; ++i) touched(100, MAP_SHARED); }},
        {"both, each below the limit", [] { fill(memory(), 200); touched(200, MAP_SHARED); }},
        {"pages of its own over a memfd", [] {
            int fd = memory();
            ftruncate(fd, 200 << 20);
            children(5, [fd] { touched(200, MAP_PRIVATE, fd); });
        }},
        {"a file in shm", [] { fill(file("/dev/shm/hoard"), 900); }},
        {"unlinked in tmp", [] { int fd = file("/tmp/hoard"); unlink("/tmp/hoard"); fill(fd, 900); }},
        {"a process that hides", [] { prctl(PR_SET_DUMPABLE, 0); fill(memory(), 900); }},
        {"a name that is no text", [] { prctl(PR_SET_NAME, "\xff 1 kB"); touched(900, MAP_PRIVATE); }},
        {"a process without its parent", [] {
            if (fork() == 0) {
                setsid();
                if (fork() == 0) { usleep(200000); touched(900, MAP_PRIVATE); sleep(2); }
                _exit(0);
            }
        }},
        // of disk
        {"unlinked", [] { int fd = file("hoard"); unlink("hoard"); fill(fd, 600); }},
        {"never linked", [] { fill(open(".", O_TMPFILE | O_RDWR, 0600), 600); }},
        {"a long path", [] {
            std::string name(240, 'a');
            for (int i = 0; i < 20; ++i) { mkdir(name.c_str(), 0700); chdir(name.c_str()); }
            fill(file("hoard"), 600);
        }},
        {"a deep path", [] {
            for (int i = 0; i < 1000; ++i) { mkdir("d", 0700); chdir("d"); }
            fill(file("hoard"), 600);
        }},
        {"a folder nobody may read", [] {
            mkdir("d", 0700); int fd = file("d/hoard"); fill(fd, 600); close(fd); chmod("d", 0);
        }},
        {"its own tmp", [] { fill(file((std::string(getenv("TMPDIR")) + "/hoard").c_str()), 600); }},
        // and nobody's hoard
        {"forked", [] { touched(200, MAP_PRIVATE); children(5, [] {}); }},
        {"mapped by many", [] {
            int fd = fill(memory(), 200);
            touched(200, MAP_SHARED, fd);
            children(5, [fd] { touched(200, MAP_SHARED, fd); });
        }},
        {"reserved", [] {
            mmap(0, 20ul << 30, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        }},
        {"small and unlinked", [] { int fd = file("hoard"); unlink("hoard"); fill(fd, 50); }},
        {"nested", [] { for (int i = 0; i < 1500; ++i) { mkdir("d", 0700); chdir("d"); } puts("made"); fflush(stdout); sleep(60); }},
    };
    ways.at(argv[1])();
    sleep(2);
    puts("let be");
}
"""
MEMORY = [
    "memfds", "shared", "both, each below the limit", "pages of its own over a memfd", "a file in shm",
    "unlinked in tmp", "a process that hides", "a name that is no text",
    "a process without its parent",
]  # fmt: skip
DISK = ["unlinked", "never linked", "a long path", "a deep path", "a folder nobody may read"]
FINE = ["forked", "mapped by many", "reserved", "small and unlinked"]


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hoarder")
    (folder / "a.cpp").write_text(PROGRAM)
    command = [str(COMPILER), "-O0", "-w", "-o", str(folder / "a"), str(folder / "a.cpp")]
    subprocess.run(command, check=True, timeout=60)
    return folder / "a"


@pytest.fixture(scope="module", params=["bubblewrap", "namespaces", "landlock"])
def box(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    """A sandbox without control groups, as a worker has it."""
    wanted: Backend = request.param
    patch = pytest.MonkeyPatch()
    none = control_groups.ControlGroups(reason="none here")
    patch.setattr(control_groups, "find", lambda: none)
    with Sandbox("stranger", backend=wanted, inner=True) as sandbox:
        if sandbox.describe().backend != wanted:
            pytest.skip(f"{wanted} does not work here: {sandbox.describe().refused}")
        yield sandbox
    patch.undo()


@pytest.fixture
def work(tmp_path: Path) -> Iterator[Path]:
    """What is left here is too deep for pytest to remove."""
    folder = tmp_path / "work"
    folder.mkdir()
    yield folder
    remove(folder)


def run(box: Sandbox, program: Path, way: str, work: Path) -> Finished:
    return box.run(
        [program, way],
        readable=[program.parent],
        writable=[work],
        cwd=work,
        limits=Limits(
            seconds=30, memory_bytes=64 << 30, resident_bytes=300 * MIB, disk_bytes=100 * MIB
        ),
    )


@pytest.mark.parametrize("way", MEMORY)
def test_memory_counts_wherever_it_is(box: Sandbox, program: Path, work: Path, way: str) -> None:
    if box.describe().backend == "landlock" and way in {"a file in shm", "unlinked in tmp"}:
        pytest.skip("no file system in memory is writable there")
    done = run(box, program, way, work)
    assert (done.code, done.limit, done.stdout) == (-9, "memory", b""), done.stderr


@pytest.mark.parametrize("way", DISK)
def test_disk_counts_wherever_it_is(box: Sandbox, program: Path, work: Path, way: str) -> None:
    done = run(box, program, way, work)
    assert (done.code, done.stdout) == (-9, b""), done.stderr
    assert done.limit == ("files" if "path" in way else "disk")


def test_what_lies_in_the_commands_own_tmp_counts(box: Sandbox, program: Path, work: Path) -> None:
    """Under Landlock it is on the host's disk, in memory elsewhere."""
    done = run(box, program, "its own tmp", work)
    limit = "disk" if box.describe().backend == "landlock" else "memory"
    assert (done.code, done.limit) == (-9, limit), done.stderr


@pytest.mark.parametrize("way", FINE)
def test_what_is_shared_counts_once(box: Sandbox, program: Path, work: Path, way: str) -> None:
    done = run(box, program, way, work)
    assert (done.code, done.limit, done.stdout) == (0, "", b"let be\n"), done.stderr


def test_unlinked_files_count_beside_control_groups(program: Path, work: Path) -> None:
    with Sandbox("stranger") as sandbox:
        if not sandbox.describe().strong:
            pytest.skip(f"no isolation works here: {sandbox.describe().refused}")
        done = run(sandbox, program, "unlinked", work)
    assert (done.code, done.limit) == (-9, "disk")


WORKER = """
import os, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from runners.sandbox import Limits, Sandbox
own = bytearray(os.urandom(1 << 20)) * 60
limits = Limits(seconds=20, memory_bytes=64 << 30, resident_bytes=200 << 20)
with Sandbox("stranger", inner=True) as inner:
    done = inner.run([sys.argv[2], "memfds"], readable=[Path(sys.argv[2]).parent], limits=limits)
    print(done.limit, "and the worker lives")
"""


def test_it_is_not_the_worker_that_ends_when_its_child_hoards(
    program: Path, tmp_path: Path
) -> None:
    here = Path(__file__).resolve().parents[2]
    with Sandbox("stranger") as outer:
        if not outer.describe().strong:
            pytest.skip(f"no isolation works here: {outer.describe().refused}")
        done = outer.run(
            [sys.executable, "-I", "-c", WORKER, str(here), str(program)],
            readable=[*module.interpreter_paths(), here, program.parent],
            writable=[tmp_path],
            profile="worker",
            limits=Limits(seconds=60, resident_bytes=600 * MIB),
        )
    assert done.stdout == b"memory and the worker lives\n", (done.limit, done.stderr)


def test_a_command_goes_before_whoever_started_it(box: Sandbox) -> None:
    done = box.run(["/bin/cat", "/proc/self/oom_score_adj"])
    assert int(done.stdout) == launcher.FIRST_TO_GO > launcher.SECOND_TO_GO


def test_folders_that_a_program_nested_are_gone_with_its_process(
    box: Sandbox, program: Path, tmp_path: Path
) -> None:
    entry = EntryProcess(tmp_path, 0, box)
    entry._folder = tmp_path / "entry"
    entry._folder.mkdir()
    # What looks for depth would end it first: here it is to leave it.
    entry._child = child = box.spawn(
        [program, "nested"],
        readable=[program.parent],
        writable=[entry._folder],
        cwd=entry._folder,
        limits=Limits(disk_bytes=0),
    )
    assert child.stdout.read(5) == b"made\n"
    entry.close()
    assert not list(tmp_path.iterdir())


def _look(tmp_path: Path, watch: dict[str, int], **machine: int) -> keeper_look.Look:
    """Return what looks at a /proc that says of the machine what it is told, in MiB."""
    text = "".join(f"{name}: {mib << 10} kB\n" for name, mib in machine.items())
    (tmp_path / "meminfo").write_text(text)
    proc = os.open(tmp_path, os.O_RDONLY)
    return keeper_look.Look(proc, {"watch": watch, "landlock": False, "nests": False, "tmp": ""})


@pytest.mark.parametrize(("available", "limit"), [(5000, ""), (1000, "memory")])
def test_memory_that_nobody_can_look_at_is_missed_when_there_is_little(
    tmp_path: Path, available: int, limit: str
) -> None:
    """Nothing tells whose it is, so it counts where the machine is in need alone."""
    watch = {"memory_bytes": 300 * MIB}
    look = _look(tmp_path, watch, MemTotal=10_000, MemAvailable=9000, Shmem=100)
    text = (
        f"MemTotal: {10_000 << 10} kB\nMemAvailable: {available << 10} kB\nShmem: {500 << 10} kB\n"
    )
    (tmp_path / "meminfo").write_text(text)
    assert next(filter(None, (look.exceeded() for _ in range(6))), "") == limit


def test_no_more_memory_is_left_to_a_command_than_to_the_worker_around_it(tmp_path: Path) -> None:
    (tmp_path / "meminfo").write_text("")
    proc = os.open(tmp_path, os.O_RDONLY)
    spec = {"watch": {"memory_bytes": 1 << 60}, "landlock": False, "tmp": ""}
    child, worker = (keeper_look.Look(proc, {**spec, "nests": nests}) for nests in (False, True))
    machine = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    assert child._memory < worker._memory < machine


def test_a_look_is_short(tmp_path: Path) -> None:
    """Ten times a second, beside what is measured."""
    processes = [subprocess.Popen(["/bin/sleep", "60"]) for _ in range(8)]
    try:
        proc = os.open("/proc", os.O_RDONLY)
        watch = {"memory_bytes": 32 << 30, "processes": 512, "disk_bytes": 1 << 30, "folders": []}
        spec = {"watch": watch, "landlock": False, "nests": False, "tmp": ""}
        look = keeper_look.Look(proc, json.loads(json.dumps(spec)))
        spent = []
        for _ in range(40):
            look._held_at = 0.0  # with everything that a look may hold
            begun = time.process_time()
            assert look.exceeded() == ""
            spent.append(time.process_time() - begun)
    finally:
        for process in processes:
            process.kill()
            process.wait()
    assert sorted(spent)[20] < 0.02  # a millisecond where nothing else runs
