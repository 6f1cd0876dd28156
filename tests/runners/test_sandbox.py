"""A sandboxed command sees little, gets little, and ends whole."""

from __future__ import annotations

import contextlib
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from runners import launcher
from runners import sandbox as module
from runners.fault import Fault
from runners.sandbox import Backend, Limits, Sandbox, Trust


@pytest.fixture(scope="module", params=["bubblewrap", "namespaces", "landlock", "processes"])
def box(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    wanted: Backend = request.param
    with Sandbox(backend=wanted) as sandbox:
        if sandbox.describe().backend != wanted:
            pytest.skip(f"{wanted} does not work here: {sandbox.describe().refused}")
        yield sandbox


@pytest.fixture(scope="module")
def isolated() -> Iterator[Sandbox]:
    with Sandbox(trust="stranger") as sandbox:
        if not sandbox.describe().strong:
            pytest.skip(f"no isolation works here: {sandbox.describe().refused}")
        yield sandbox


def shell(script: str) -> list[str]:
    return ["/bin/sh", "-c", script]


def test_output_input_and_exit_code_come_back(box: Sandbox) -> None:
    done = box.run(shell("cat; echo err >&2; exit 3"), stdin=b"in")
    assert (done.code, done.stdout, done.stderr) == (3, b"in", b"err\n")


def test_what_is_preloaded_is_for_the_command_alone(box: Sandbox, tmp_path: Path) -> None:
    """What starts it would load it, too, and speak in the command's place when it ends."""
    if shutil.which("g++") is None:
        pytest.skip("g++ is not installed")
    library, told = tmp_path / "told.so", tmp_path / "told"
    text = '#include <cstdio>\n__attribute__((destructor)) static void end() { FILE *f = fopen("%s", "a"); fputs("ended\\n", f); fclose(f); }'
    command = ["g++", "-shared", "-fPIC", "-x", "c++", "-", "-o", str(library)]
    subprocess.run(command, input=(text % told).encode(), check=True)
    done = box.run(["/bin/echo"], environment={"LD_PRELOAD": str(library)}, writable=[tmp_path])
    assert (done.code, told.read_text()) == (0, "ended\n")


def test_a_signal_is_a_negative_code(box: Sandbox) -> None:
    assert box.run(shell("kill -SEGV $$")).code == -11


def test_the_wall_clock_limit_ends_it(box: Sandbox) -> None:
    done = box.run(["/bin/sleep", "60"], limits=Limits(seconds=0.2))
    assert done.timed_out
    assert done.code == -9
    assert done.seconds < 5


@pytest.mark.parametrize("script", ["sleep 7654 & sleep 7654", "setsid sleep 7654 & exit 0"])
def test_nothing_it_started_outlives_it(box: Sandbox, script: str) -> None:
    box.run(shell(script), limits=Limits(seconds=0.3))
    time.sleep(0.05)
    assert not [pid for pid in Path("/proc").glob("[0-9]*/cmdline") if b"7654" in _bytes(pid)]


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def test_output_over_the_limit_is_cut_and_a_flood_ends_the_command(box: Sandbox) -> None:
    done = box.run(shell("yes"), limits=Limits(seconds=30, output_bytes=1000))
    assert done.cut
    assert len(done.stdout) == 1000
    assert done.seconds < 20


def test_the_environment_is_not_passed_on(box: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", "secret")
    done = box.run(["/usr/bin/env"], environment={"ASKED_FOR": "1"})
    assert b"secret" not in done.stdout
    assert b"ASKED_FOR=1" in done.stdout


def test_address_space_is_limited_unless_a_gpu_is_used(box: Sandbox) -> None:
    limits = Limits(memory_bytes=512 << 20)
    script = "import mmap; mmap.mmap(-1, 1 << 30)"
    python = [sys.executable, "-I", "-c", script]
    paths = module.interpreter_paths()
    assert box.run(python, limits=limits, readable=paths).code != 0
    assert box.run(python, limits=limits, readable=paths, gpu=True).code == 0


def only_landlock(trust: Trust) -> Sandbox:
    sandbox = Sandbox(trust, backend="landlock")
    if sandbox.describe().backend != "landlock":
        sandbox.close()
        pytest.skip(f"Landlock does not work here: {sandbox.describe().refused}")
    return sandbox


def test_under_landlock_a_strangers_code_gets_no_gpu_and_the_reason_is_said() -> None:
    """CUDA does not start there (error 304, seen on an H200): whoever waits should know why."""
    with only_landlock("stranger") as sandbox:
        assert sandbox.run(["/bin/true"]).code == 0
        with pytest.raises(Fault, match="CUDA does not start under Landlock") as refused:
            sandbox.run(["/bin/true"], gpu=True)
        assert refused.value.kind == "SandboxError"
        assert "install bubblewrap" in refused.value.remedy


def test_where_landlock_alone_works_ones_own_code_uses_a_gpu_without(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("kept from it")
    with only_landlock("own") as sandbox:
        line = ["/bin/cat", str(tmp_path / "file")]
        assert sandbox.run(line).code != 0
        assert sandbox.run(line, gpu=True).stdout == b"kept from it"


def test_only_the_paths_it_was_given_are_there(isolated: Sandbox, tmp_path: Path) -> None:
    seen, hidden, scratch = (tmp_path / name for name in ("seen", "hidden", "scratch"))
    for folder in (seen, hidden, scratch):
        folder.mkdir()
        (folder / "f").write_text("text")
    script = f"cat {seen}/f; cat {hidden}/f; echo x > {seen}/f; echo y > {scratch}/f; true"
    done = isolated.run(shell(script), readable=[seen], writable=[scratch])
    assert done.stdout == b"text"
    assert (seen / "f").read_text() == "text"
    assert (scratch / "f").read_text() == "y\n"


def test_a_link_leads_nowhere_but_to_what_was_given(isolated: Sandbox, tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "f").write_text("text")
    (tmp_path / "link").symlink_to("real")
    (tmp_path / "real" / "out").symlink_to("/root")
    done = isolated.run(
        shell(f"cat {tmp_path}/link/f; ls {tmp_path}/link/out/"), readable=[tmp_path / "link"]
    )
    assert done.stdout == b"text"


def test_neither_network_nor_other_processes_nor_capabilities_are_there(isolated: Sandbox) -> None:
    script = "cat /proc/net/dev | tail -n +3 | cut -d: -f1; ls /proc | grep -c '^[0-9]'; grep CapEff /proc/self/status"
    interfaces, processes, capabilities = isolated.run(shell(script)).stdout.split(b"\n")[:3]
    assert interfaces.strip() == b"lo"
    assert int(processes) < 8
    assert int(capabilities.split()[1], 16) == 0


def test_each_command_has_a_tmp_of_its_own(isolated: Sandbox) -> None:
    assert isolated.run(shell("echo x > /tmp/left; ls /tmp")).stdout == b"left\n"
    assert isolated.run(shell("ls /tmp")).stdout == b""


def test_devices_of_the_gpu_are_hidden_unless_asked_for(isolated: Sandbox) -> None:
    assert b"nvidia" not in isolated.run(shell("ls /dev")).stdout


def test_a_strangers_code_does_not_run_where_nothing_isolates() -> None:
    sandbox = Sandbox(trust="stranger", backend="processes")
    with sandbox, pytest.raises(Fault, match="nothing isolates") as caught:
        sandbox.run(["/bin/true"])
    assert caught.value.kind == "SandboxError"
    assert "bubblewrap" in caught.value.remedy


def test_a_missing_program_or_folder_is_named(box: Sandbox) -> None:
    with pytest.raises(Fault, match="no program /no/such"):
        box.run(["/no/such"])
    if box.describe().backend != "bubblewrap":
        with pytest.raises(Fault, match="/no/folder"):
            box.run(["/bin/true"], cwd=Path("/no/folder"))


def test_a_child_answers_over_its_pipes_and_is_killed_whole(box: Sandbox) -> None:
    child = box.spawn(shell("echo warned >&2; sleep 7655 & while read x; do echo got $x; done"))
    child.stdin.write(b"1\n")
    assert child.stdout.read(100) == b"got 1\n"
    assert child.wait(0.01) is None
    assert "warned" in child.last_words()
    child.kill()
    assert child.wait() == -9
    assert not [p for p in Path("/proc").glob("[0-9]*/cmdline") if b"7655" in _bytes(p)]


def test_a_child_that_ends_by_itself_is_seen_to(box: Sandbox) -> None:
    child = box.spawn(shell("exit 5"))
    assert child.stdout.read(10) == b""
    assert child.wait(5) == 5
    child.kill()


def test_closing_the_sandbox_ends_its_children() -> None:
    sandbox = Sandbox()
    child = sandbox.spawn(["/bin/sleep", "7656"])
    sandbox.close()
    child.kill()
    assert not [p for p in Path("/proc").glob("[0-9]*/cmdline") if b"7656" in _bytes(p)]


def _descriptors() -> set[str]:
    """What this process holds open, by number and what it is: what other tests left may close now."""
    seen = set()
    for link in Path("/proc/self/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):  # the listing's own
            seen.add(f"{link.name} {link.readlink()}")
    return seen


def test_threads_may_run_commands_at_once_and_no_descriptor_leaks(box: Sandbox) -> None:
    def work() -> None:
        done.extend(box.run(shell("echo $$")).code for _ in range(5))

    done: list[int] = []
    box.run(["/bin/true"])
    before = _descriptors()
    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert done == [0] * 20
    assert not _descriptors() - before


def test_a_launcher_that_died_is_replaced() -> None:
    with Sandbox() as sandbox:
        assert sandbox.run(["/bin/true"]).code == 0
        assert sandbox._launcher is not None
        sandbox._launcher.kill()
        sandbox._launcher.wait()
        with pytest.raises(Fault, match="cannot start"):
            sandbox.run(["/bin/true"])
        assert sandbox.run(["/bin/true"]).code == 0


def test_what_proc_tells_of_the_machine_is_empty() -> None:
    """A runner's owner who is root may read it, whatever their name is inside."""
    with Sandbox(trust="stranger", backend="namespaces") as sandbox:
        if sandbox.describe().backend != "namespaces":
            pytest.skip(f"namespaces do not work here: {sandbox.describe().refused}")
        files = " ".join(name for name in launcher.HIDDEN_FILES if Path(name).exists())
        done = sandbox.run(shell(f"for f in {files}; do head -c 64 $f; done"))
    assert done.stdout == b""


INNER = """
import sys
sys.path.insert(0, sys.argv[1])
from runners.sandbox import Sandbox
with Sandbox("stranger", inner=True) as inner:
    done = inner.run(["/bin/sh", "-c", "cat /proc/1/environ; ls " + sys.argv[2] + "; unshare -U true; echo seen"])
    print(inner.describe().backend, done.stdout, done.stderr.count(b"\\n"))
"""  # fmt: skip


def test_a_worker_isolates_what_it_starts_from_itself(isolated: Sandbox, tmp_path: Path) -> None:
    (tmp_path / "answers").write_text("of the worker's")
    here = Path(__file__).resolve().parents[2]
    done = isolated.run(
        [sys.executable, "-I", "-c", INNER, str(here), str(tmp_path)],
        readable=[*module.interpreter_paths(), here],
        writable=[tmp_path],
        profile="worker",
    )
    assert b"seen" in done.stdout, done.stderr
    assert b"answers" not in done.stdout
    assert done.stdout.split()[0] in {b"bubblewrap", b"namespaces", b"landlock"}


def test_a_command_may_not_isolate_anything_itself(isolated: Sandbox) -> None:
    done = isolated.run(shell("unshare -U true || unshare -m true || echo refused"))
    assert done.stdout == b"refused\n"
