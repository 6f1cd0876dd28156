"""From a program's launches to verdicts on its kernels, without a GPU."""

from __future__ import annotations

import dataclasses
import json
import shlex
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

import runners.capture
from bot import capture
from bot.capture import Order
from optimizer.errors import ConfigError
from optimizer.model import Role
from runners import captured, spec
from runners.capture import manifest, record
from runners.capture.record import Wanted
from runners.fault import Fault
from runners.interfaces import Job
from runners.judge import Judge
from runners.wire import job_to_dict
from runners.workload import read_project
from tests.runners.capture import program
from tests.runners.capture.program import Program
from tests.runners.host_gpu import COMPILER, HostGpu, HostOracle, artifact

pytestmark = pytest.mark.skipif(COMPILER is None, reason="g++ is not installed")


@pytest.fixture(scope="module")
def parts() -> Program:
    return program.shared()


@pytest.fixture(scope="module")
def cache() -> Path:
    return program.library_cache()


@pytest.fixture
def project(tmp_path: Path, parts: Program, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copy(program.KERNELS, tmp_path / "kernels.cu")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LD_LIBRARY_PATH", str(parts.folder))
    monkeypatch.setattr(record, "cupti", lambda: parts.cupti)
    return tmp_path


WAYS = [("cupti", "linked"), ("cupti", "asked"), ("preload", "linked"), ("preload", "asked")]


@pytest.mark.parametrize(("through", "how"), WAYS)
def test_launches_are_captured_however_the_program_reaches_the_driver(
    project: Path, parts: Program, cache: Path, through: record.Through, how: str
) -> None:
    order = Order(parts.command(how), Wanted(()), project / "cap", through=through)
    done = capture.capture(order, project, cache)
    assert not done.troubles
    kernels = {one.workload.name: one for one in done.found}
    assert set(kernels) == {"saxpy", "count", "gather"}


def test_words_that_are_no_text_are_kept_as_what_can_be_read(
    project: Path, parts: Program, cache: Path
) -> None:
    """The launches had been lost behind a whole run of the program."""
    command = (*parts.command("linked"), "0", "\udcff.bin")
    done = capture.capture(Order(command, Wanted(()), project / "cap"), project, cache)
    assert done.made.capture.command[-1] == "\ufffd.bin"


@pytest.fixture
def made(project: Path, parts: Program, cache: Path) -> capture.Done:
    return capture.capture(
        Order(parts.command("linked"), Wanted(()), project / "cap"), project, cache
    )


@pytest.fixture
def judge(tmp_path: Path) -> Iterator[Judge]:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    found = Judge(HostGpu(), 0, scratch, lambda _text, _job: None)
    found._oracle = HostOracle(scratch, 0, lambda text, _job: artifact(text))
    yield found
    found.close()


def verdict(
    judge: Judge, project: Path, name: str, edit: tuple[str, str] = ("", "")
) -> dict[str, object]:
    """Judge a captured kernel against an edited version of itself."""
    found = capture.workloads(project / "cap", name, None)
    one = found[0]
    text = one.kernel.source.replace(*edit) if edit[0] else one.kernel.source
    assert text != one.kernel.source or not edit[0]
    candidate = dataclasses.replace(one.kernel, source=text)
    job = job_to_dict(Job(candidate, one.kernel, one.workload, seed=3))
    request = {"job": job, "candidate": artifact(text), "baseline": artifact(one.kernel.source)}
    told, _, _ = judge.verdict(request, spec.parse(job), 60.0)
    return told


@pytest.mark.parametrize("name", ["saxpy", "count", "gather"])
def test_the_original_does_again_what_it_did_in_its_program(
    made: capture.Done, project: Path, judge: Judge, name: str
) -> None:
    told = verdict(judge, project, name)
    assert told["status"] == "correct", told["log"]


WRONG = {
    "does nothing": ("saxpy", ("if (i < n) y[i] = a * x[i] + y[i];", "")),
    "forgets what was there": ("saxpy", ("a * x[i] + y[i]", "a * x[i]")),
    "knows the captured length": ("saxpy", ("if (i < n) y", "if (i < n - n % 2) y")),
    "knows the captured range": ("saxpy", ("a * x[i] +", "a * (x[i] > 495.f ? 495.f : x[i]) +")),
    "knows the captured order": (
        "gather",
        ("to[i] = from[at[i]]", "to[i] = 0.5f * (n - 1 - i) - 7"),
    ),
    "skips a bin": ("count", ("atomicAdd", "if (keys[i] != 3) atomicAdd")),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_candidate_is_refused(
    made: capture.Done, project: Path, judge: Judge, name: str
) -> None:
    kernel, edit = WRONG[name]
    assert verdict(judge, project, kernel, edit)["status"] == "wrong result"


def test_expected_outputs_are_what_the_program_wrote(
    made: capture.Done, project: Path, judge: Judge
) -> None:
    """Run again, a launch that does not give what it gave in the program is no baseline."""
    folder = project / "cap"
    told = manifest.read(folder)
    number = next(i for i, one in enumerate(told.kernels) if "gather" in one.name)
    # As if the program had written what was there before: other chunks, all of them sound.
    data = json.loads((folder / captured.FILE).read_text())
    argument = data["kernels"][number]["launches"][0]["arguments"][2]
    argument["after"] = argument["before"]
    (folder / captured.FILE).write_text(json.dumps(data))
    with pytest.raises(Fault, match="other values of to than in its program"):
        verdict(judge, project, "gather")


def test_random_values_keep_indices_valid_and_promise_no_output(
    project: Path, parts: Program, cache: Path, judge: Judge
) -> None:
    order = Order(parts.command("linked"), Wanted(("gather",)), project / "cap", randomize=True)
    done = capture.capture(order, project, cache)
    assert "random" in done.text
    (one,) = done.found
    work = spec.parse(job_to_dict(Job(one.kernel, one.kernel, one.workload))).work
    at, case = work.arguments[1], work.cases[0].values
    held = captured.contents(project, at.init, case, 1000, 4).view(np.int32)
    assert held.min() >= 0
    assert held.max() < 1000
    assert not np.array_equal(held, np.arange(999, -1, -1))
    assert captured.expected(project, work.arguments[2].init, case, 4000) is None
    assert verdict(judge, project, "gather")["status"] == "correct"


def test_what_cannot_be_captured_is_said_by_name(made: capture.Done) -> None:
    for words in (
        "count: cooperative launch",
        "count: launch in thread block clusters",
        "count: launched into a graph that is being made",
        "graph launches: the kernels inside a graph are not seen",
    ):
        assert words in made.text
    assert (made.made.folder / "summary.txt").read_text() == made.text


def test_every_kind_of_memory_is_named_with_what_changed(made: capture.Done) -> None:
    told = {one.name.partition("(")[0]: one for one in made.made.capture.kernels}
    saxpy = told["saxpy"].launches
    assert [one.ordinal for one in saxpy] == [0, 4, 5]
    assert [one.repeated for one in saxpy] == [False, True, False]
    assert [one.count for one in saxpy] == [5, 5, 1]
    pointers = [one for one in told["gather"].launches[0].arguments if one.kind == "pointer"]
    assert [one.memory for one in pointers] == ["device", "device", "managed"]
    assert [one.offset for one in pointers] == [0, 32768, 0]
    keys, bins = [one for one in told["count"].launches[0].arguments if one.kind == "pointer"]
    assert keys.changed is None
    assert bins.changed is not None
    assert [one.memory for one in saxpy[0].arguments if one.kind == "pointer"] == ["device", "pool"]


def test_a_workload_follows_from_the_launches(made: capture.Done) -> None:
    workloads = {one.workload.name: one.workload for one in made.found}
    saxpy = workloads["saxpy"]
    assert [one.shape for one in saxpy.arguments] == [None, None, "n", "n"]
    assert [one.role for one in saxpy.arguments[2:]] == [Role.INPUT, Role.INOUT]
    assert saxpy.launch is not None
    assert saxpy.launch.grid == ("(n+255)/256",)
    assert [dict(one.values) for one in saxpy.cases] == [
        {"n": 1000, "launch": 0},
        {"n": 1000, "launch": 1},
        {"n": 500, "launch": 2},
    ]
    assert [one.time for one in saxpy.cases] == [True, False, True]
    gather = workloads["gather"]
    assert gather.arguments[2].role is Role.OUTPUT
    # An array of indices: no other sizes, no other values.
    assert [one.shape for one in gather.arguments[:3]] == ["1000", "8192", "1000"]
    assert (
        spec.parse(
            job_to_dict(Job(made.found[0].kernel, made.found[0].kernel, gather))
        ).work.variables
        == frozenset()
    )


def test_a_capture_is_a_project_file_too(made: capture.Done, project: Path) -> None:
    shutil.copy(project / "cap" / "workload.yml", project / ".optiml.yml")
    read = {one.name: one for _, one in read_project(project / ".optiml.yml").workloads}
    for one in made.found:
        assert read[one.workload.name].arguments == one.workload.arguments
        assert read[one.workload.name].launch == one.workload.launch


@pytest.mark.parametrize(
    ("wanted", "command", "words"),
    [
        (Wanted(("nothing",)), "linked", "the program launched count, gather, saxpy"),
        (Wanted(("saxpy",), skip=100), "linked", "none of 6 launches of saxpy was kept"),
        (Wanted(("saxpy",), total=1000), "linked", "is full"),
        (Wanted(("saxpy",)), "missing", "there is no program"),
        (Wanted(("saxpy",)), "other", "no launch of a kernel was seen"),
    ],
)
def test_nothing_captured_is_one_message(
    project: Path, parts: Program, cache: Path, wanted: Wanted, command: str, words: str
) -> None:
    commands = {"missing": ("./nowhere",), "other": ("/bin/true",)}
    order = Order(commands.get(command) or parts.command(command), wanted, project / "cap")
    with pytest.raises(ConfigError) as caught:
        capture.capture(order, project, cache)
    assert words in f"{caught.value.message} {caught.value.remedy}"


def test_a_program_without_gpu_gets_its_environment_and_status(
    project: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GREETING", "hello 'there'")
    script = f'printf %s "$GREETING $0 $1" > {project}/said; exit 7'
    order = Order(("/bin/sh", "-c", script, "a b", "c;d"), Wanted(("saxpy",)), project / "cap")
    with pytest.raises(ConfigError, match="status 7"):
        capture.capture(order, project, cache)
    assert (project / "said").read_text() == "hello 'there' a b c;d"


def test_a_folder_with_something_else_is_left_alone(
    project: Path, parts: Program, cache: Path
) -> None:
    (project / "mine").mkdir()
    (project / "mine" / "thesis.tex").write_text("all of it")
    order = Order(parts.command("linked"), Wanted(("saxpy",)), project / "mine", force=True)
    with pytest.raises(ConfigError, match="holds something else"):
        capture.capture(order, project, cache)
    assert (project / "mine" / "thesis.tex").read_text() == "all of it"
    outside = dataclasses.replace(order, out=project.parent / "elsewhere")
    with pytest.raises(ConfigError, match="outside"):
        capture.capture(outside, project, cache)


def test_an_earlier_capture_is_replaced_only_on_request(
    made: capture.Done, project: Path, parts: Program, cache: Path
) -> None:
    order = Order(parts.command("linked"), Wanted(("gather",)), project / "cap")
    with pytest.raises(ConfigError, match="--force"):
        capture.capture(order, project, cache)
    again = capture.capture(dataclasses.replace(order, force=True), project, cache)
    assert [one.workload.name for one in again.found] == ["gather"]


def test_launches_that_are_not_captured_cost_next_to_nothing(
    project: Path, parts: Program, cache: Path
) -> None:
    """A table look-up and a count; generous here, where the machine is shared."""
    library = runners.capture.library(cache)
    for more in ({}, {"LD_PRELOAD": str(library)}):
        config = project / "config"
        (project / "spool").mkdir(exist_ok=True)
        config.write_text(f"folder {project / 'spool'}\nkernel other\n")
        env = {"LD_LIBRARY_PATH": str(parts.folder), "OPTIML_CAPTURE": str(config), **more}
        done = subprocess.run(
            [*parts.command("linked", 1), "200000"],
            env=env,
            capture_output=True,
            text=True,
            check=True,
        )
        assert float(done.stdout.split()[1]) < 5.0


def test_the_command_line_captures_and_runs_on_what_it_captured(
    cli: Callable[..., int],
    parts: Program,
    cache: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """Up to the GPU, which there is none of here."""
    monkeypatch.setenv("LD_LIBRARY_PATH", str(parts.folder))
    monkeypatch.setenv("OPTIML_CACHE", str(cache))
    monkeypatch.setattr(record, "cupti", lambda: None)
    shutil.copy(program.KERNELS, Path.cwd() / "kernels.cu")
    assert cli("capture", "--launches", "2", "--", *parts.command("asked")) == 0
    said = capfd.readouterr().out
    assert "saxpy in kernels.cu: 2 of 6 launches" in said
    assert "seen in front of the driver" in said
    assert "optiml run --capture optiml-capture" in said
    assert cli("run", "--capture", "optiml-capture", "--kernel", "gather") == 4
    assert cli("run", "--capture", "optiml-capture", "--kernel", "other") == 2
    assert "it holds: " in capfd.readouterr().err
    for arguments, words in (
        (("--limit", "much"), "no size"),
        (("--through", "mirrors"), "cupti or preload"),
        (("--out", "../elsewhere"), "outside"),
    ):
        assert cli("capture", *arguments, "--", "./app") == 2
        assert words in capfd.readouterr().err


def test_a_library_of_the_users_stays_preloaded(
    project: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LD_PRELOAD", "")
    script = f'printf %s "$LD_PRELOAD" > {project}/said'
    for mine in ("", "/nonexistent/mine.so"):
        monkeypatch.setenv("LD_PRELOAD", mine)
        order = Order(
            ("/bin/sh", "-c", script), Wanted(("saxpy",)), project / "cap", through="preload"
        )
        with pytest.raises(ConfigError):
            capture.capture(order, project, cache)
        first, _, rest = (project / "said").read_text().partition(":")
        assert Path(first).name.startswith("optiml-capture-")
        assert rest == mine


def test_the_library_is_built_once_and_shows_nothing_but_what_it_stands_for(cache: Path) -> None:
    built = runners.capture.library(cache)
    stamp = built.stat().st_mtime_ns
    assert runners.capture.library(cache) == built
    assert built.stat().st_mtime_ns == stamp
    listed = subprocess.run(
        ["nm", "-D", "--defined-only", str(built)], capture_output=True, text=True, check=True
    )
    names = {line.split()[-1] for line in listed.stdout.splitlines()}
    assert names >= {"InitializeInjection", "cuLaunchKernel", "cuGetProcAddress_v2", "dlsym"}
    assert all(name.startswith(("cu", "Init", "dlsym")) for name in names)


@pytest.mark.parametrize("through", ["cupti", "preload"])
def test_a_script_that_becomes_the_program_is_captured_too(
    project: Path, parts: Program, cache: Path, through: record.Through
) -> None:
    script = shlex.join(["exec", *parts.command("asked")])
    order = Order(("/bin/sh", "-c", script), Wanted(("gather",)), project / "cap", through=through)
    assert [one.workload.name for one in capture.capture(order, project, cache).found] == ["gather"]


def test_real_data_are_for_their_owner_and_for_no_commit(made: capture.Done) -> None:
    folder = made.made.folder
    assert folder.stat().st_mode & 0o077 == 0
    assert (folder / ".gitignore").read_text() == "*\n"
