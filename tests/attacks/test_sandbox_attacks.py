"""Hostile programs in the sandbox, one by one, under every backend that isolates here."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from runners.sandbox import Backend, Finished, Limits, Sandbox
from tests.attacks import probes

COMPILER = shutil.which("g++")
pytestmark = [
    pytest.mark.skipif(COMPILER is None, reason="g++ is not installed"),
    pytest.mark.timeout(120),
]
RECOVERY_SECONDS = 5.0
Build = Callable[[str], Path]


@pytest.fixture(scope="module", params=["bubblewrap", "namespaces", "landlock"])
def box(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    wanted: Backend = request.param
    with Sandbox(trust="stranger", backend=wanted) as sandbox:
        if sandbox.describe().backend != wanted:
            pytest.skip(f"{wanted} does not work here: {sandbox.describe().refused}")
        yield sandbox


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory) -> Build:
    """Compile a program once, whoever runs it."""
    made: dict[str, Path] = {}

    def compiled(text: str) -> Path:
        if text not in made:
            folder = tmp_path_factory.mktemp("attack")
            (folder / "a.cpp").write_text(text)
            command = [str(COMPILER), "-O0", "-w", "-o", str(folder / "a"), str(folder / "a.cpp")]
            subprocess.run(command, check=True, timeout=60)
            made[text] = folder / "a"
        return made[text]

    return compiled


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, object]]:
    """Plant a secret and listen, as a host does that has something to lose."""
    secret = tmp_path_factory.mktemp("private") / "secret"
    secret.write_text("OPTIML_PLANTED")
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        yield {"secret": str(secret), "port": port, "host_pid": os.getpid()}


def attack(box: Sandbox, program: Path, limits: Limits, work: Path | None = None) -> Finished:
    """Run a hostile program, then an honest command that must find its place as before."""
    done = box.run(
        [program],
        readable=[program.parent],
        writable=[work] if work else [],
        cwd=work,
        limits=limits,
    )
    begun = time.monotonic()
    after = box.run(["/bin/echo", "at work"])
    assert after.stdout == b"at work\n"
    assert time.monotonic() - begun < RECOVERY_SECONDS
    return done


@pytest.mark.parametrize("name", probes.QUIET)
def test_an_attack_gets_nowhere(
    box: Sandbox,
    build: Build,
    places: dict[str, object],
    name: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", "OPTIML_PLANTED")
    # Landlock does not rename users: root without capabilities stays root there.
    root = box.describe().backend == "landlock" and os.geteuid() == 0
    program = build(probes.program(probes.QUIET[name][1], **places, inner_root=root))
    done = attack(box, program, Limits(seconds=20, processes=64))
    assert done.code == 0, f"{name}: probe {done.code}, {done.stderr!r}"


def test_what_the_probes_try_succeeds_outside(build: Build, places: dict[str, object]) -> None:
    """Else they would show nothing."""
    open_outside = ("read secrets", "network", "left behind by another")
    for name in open_outside:
        program = build(probes.program(probes.QUIET[name][1], **places))
        subprocess.run([program], check=False, timeout=20)  # leaves its files
        code = subprocess.run([program], check=False, timeout=20).returncode
        assert code == 42, name
    for folder in ("/tmp", "/dev/shm", "/var/tmp"):  # noqa: S108 - where the probe leaves them
        Path(folder, "optiml-left").unlink(missing_ok=True)


def test_a_fork_bomb_meets_its_limit(box: Sandbox, build: Build) -> None:
    program = build(probes.program(probes.FORKS))
    done = attack(box, program, Limits(seconds=10, processes=80))
    assert done.code != 42
    assert _none_runs(str(program))


def test_a_memory_hog_is_ended(box: Sandbox, build: Build) -> None:
    limits = Limits(seconds=20, memory_bytes=64 << 30, resident_bytes=512 << 20)
    done = attack(box, build(probes.program(probes.MEMORY, hog_bytes=1 << 30)), limits)
    assert (done.code, done.limit) == (-9, "memory")


def test_a_disk_hog_is_ended(box: Sandbox, build: Build, tmp_path: Path) -> None:
    limits = Limits(seconds=20, disk_bytes=100 << 20)
    done = attack(box, build(probes.program(probes.DISK)), limits, tmp_path)
    assert (done.code, done.limit) == (-9, "disk")


def test_a_file_over_the_limit_is_not_written(box: Sandbox, build: Build, tmp_path: Path) -> None:
    limits = Limits(seconds=20, file_bytes=4 << 20)
    done = attack(box, build(probes.program(probes.DISK)), limits, tmp_path)
    assert done.code == -25  # SIGXFSZ
    assert max(path.stat().st_size for path in tmp_path.iterdir()) <= 4 << 20


def test_a_flood_of_output_is_cut_and_ended(box: Sandbox, build: Build) -> None:
    limits = Limits(seconds=30, output_bytes=1 << 20)
    done = attack(box, build(probes.program(probes.FLOOD)), limits)
    assert (done.code, done.limit, done.cut) == (-9, "output", True)
    assert len(done.stdout) <= 1 << 20


def test_a_program_that_never_ends_is_ended(box: Sandbox, build: Build) -> None:
    done = attack(box, build("int main() { for (;;) {} }"), Limits(seconds=0.5))
    assert done.timed_out
    assert done.seconds < RECOVERY_SECONDS


def test_a_daemon_does_not_outlive_its_command(box: Sandbox, build: Build) -> None:
    attack(box, build(probes.program(probes.DAEMON)), Limits(seconds=10))
    assert _none_runs("7653")


def test_limits_hold_without_control_groups(build: Build, monkeypatch: pytest.MonkeyPatch) -> None:
    """The keeper looks itself: at memory and at processes."""
    from runners import control_groups

    monkeypatch.setattr(
        control_groups, "find", lambda: control_groups.ControlGroups(reason="none here")
    )
    with Sandbox(trust="stranger", backend="namespaces") as sandbox:
        if sandbox.describe().backend != "namespaces":
            pytest.skip(f"no namespaces here: {sandbox.describe().refused}")
        assert sandbox.describe().groups == ""
        limits = Limits(seconds=20, memory_bytes=64 << 30, resident_bytes=300 << 20)
        hog = attack(sandbox, build(probes.program(probes.MEMORY, hog_bytes=8 << 30)), limits)
        assert (hog.code, hog.limit) == (-9, "memory")
        bomb = attack(sandbox, build(probes.program(probes.FORKS)), Limits(20, processes=60))
        assert (bomb.code, bomb.limit) == (-9, "processes")


def _none_runs(word: str) -> bool:
    """Tell whether no process has that argument, once those that are ending are gone."""
    wanted = word.encode()
    for _ in range(50):
        found = False
        for path in Path("/proc").glob("[0-9]*/cmdline"):
            try:
                found = found or wanted in path.read_bytes().split(b"\0")
            except OSError:
                continue
        if not found:
            return True
        time.sleep(0.05)
    return False
