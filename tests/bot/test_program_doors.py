"""A program without a project file is the same to `optiml run`, a checkout, and GitHub's API."""

from __future__ import annotations

import dataclasses
import subprocess
from pathlib import Path

import pytest

from bot import changed_files, comment, projects
from bot.changes import is_source
from bot.checkout import Checkout
from bot.interfaces import Change, Report, Reviewed
from bot.orders import asks_for
from bot.replica import Replica
from bot.suggestion import Hunk
from optimizer.model import Edit, Step
from runners import joined
from tests.bot import synthetic
from tests.bot import world as worlds
from tests.bot.world import NAME, World, pull_of
from tests.fake_github.clicks import commit_suggestions
from tests.fake_github.state import Pull

KERNEL = "__global__ void {name}(float* x) {{\n    x[threadIdx.x] += {value};\n}}\n"
CALL = "k<<<1, 32>>>(nullptr);"
LONE = KERNEL.format(name="k", value="1.0") + f"int main() {{ {CALL} }}\n"
HEADER = "#pragma once\n" + KERNEL.format(name="k", value="1.0")
WITH_HEADER = f'#include "deep/kernels.cuh"\nint main() {{ {CALL} }}\n'
BESIDE = (
    '#include "../shared/half.h"\n'
    + KERNEL.format(name="k", value="HALF")
    + (f"void go() {{ {CALL} }}\n")
)
WITH_BESIDE = "#include <deep.h>\nvoid go();\nint main() { go(); }\n"
YAML = """\
version: 1
kernels:
  - {name: run, file: app/main.cu, program: {run: ["8"]}}
"""


def faster(text: str) -> str:
    return text.replace("+= ", "+= 2.0 * ")


CASES = {
    "a header": (
        {"app/main.cu": WITH_HEADER, "app/deep/kernels.cuh": HEADER},
        {"app/deep/kernels.cuh": faster(HEADER)},
        "includes app/deep/kernels.cuh",
    ),
    "a header of another folder": (
        {
            "app/main.cu": WITH_HEADER.replace("deep/", "../include/"),
            "include/kernels.cuh": HEADER,
        },
        {"include/kernels.cuh": faster(HEADER)},
        "includes include/kernels.cuh",
    ),
    "a header of another folder, through one that is found by its name": (
        {
            "app/main.cu": WITH_HEADER.replace("deep/kernels.cuh", "all.h"),
            "include/all.h": '#pragma once\n#include "deep/kernels.cuh"\n',
            "include/deep/kernels.cuh": HEADER,
        },
        {"include/deep/kernels.cuh": faster(HEADER)},
        "includes include/deep/kernels.cuh",
    ),
    "a source beside it": (
        {
            "app/main.cu": WITH_BESIDE,
            "app/kernels.cu": BESIDE,
            "app/host.cpp": "int unused() { return 1; }\n",
            "shared/half.h": "#define HALF 0.5f\n",
            "elsewhere/deep.h": "",
        },
        {"app/kernels.cu": faster(BESIDE)},
        "is built with app/kernels.cu",
    ),
    "a lone file in a folder": (
        {"app/main.cu": LONE, "other/main.cu": LONE.replace("k<<<", " k<<<")},
        {"app/main.cu": faster(LONE)},
        "changed",
    ),
    "a header of a source beside it": (
        {
            "app/main.cu": WITH_BESIDE,
            "app/kernels.cu": '#include "deep/kernels.cuh"\nvoid go() { k<<<1, 32>>>(nullptr); }\n',
            "app/deep/kernels.cuh": HEADER,
        },
        {"app/deep/kernels.cuh": faster(HEADER)},
        "is built with app/kernels.cu",
    ),
    "a source beside a main() in C++": (
        {
            "app/main.cu": worlds.BEFORE,
            "app/app.cpp": 'extern "C" void go();\nint main() { go(); }\n',
            "app/kernels.cu": KERNEL.format(name="k", value="1.0")
            + 'extern "C" void go() { k<<<1, 32>>>(nullptr); }\n',
            "app/host/more.c": "int more(void) { return 1; }\n",
        },
        {"app/kernels.cu": faster(KERNEL.format(name="k", value="1.0"))
         + 'extern "C" void go() { k<<<1, 32>>>(nullptr); }\n'},
        "is built with app/kernels.cu",
    ),
    "a source in a folder below, with a makefile": (
        {
            "app/main.cu": "void go();\nint main() { go(); }\n",
            "app/Makefile": "all:\n\tnvcc -DWIDTH=32 -o main main.cu src/kernels.cu\n",
            "app/src/kernels.cu": KERNEL.format(name="k", value="1.0")
            + "void go() { k<<<1, WIDTH>>>(nullptr); }\n",
        },
        {"app/src/kernels.cu": faster(KERNEL.format(name="k", value="1.0"))
         + "void go() { k<<<1, WIDTH>>>(nullptr); }\n"},
        "is built with app/src/kernels.cu",
    ),
    "a header of a described program": (
        {".optiml.yml": YAML, "app/main.cu": WITH_HEADER, "app/deep/kernels.cuh": HEADER},
        {"app/deep/kernels.cuh": faster(HEADER)},
        "includes app/deep/kernels.cuh",
    ),
    "a source beside a described program": (
        {".optiml.yml": YAML, "app/main.cu": WITH_BESIDE, "app/kernels.cu": LONE.split("int")[0]
         + "void go() {}\n"},
        {"app/kernels.cu": faster(LONE.split("int")[0]) + "void go() {}\n"},
        "is built with app/kernels.cu",
    ),
}  # fmt: skip


def opened(world: World, case: str) -> Pull:
    before, after, _ = CASES[case]
    gone = dict.fromkeys((worlds.PATH, ".optiml.yml"))
    world.base = world.fake.commit(world.repository, "main", {**gone, **before})
    return world.change("feature", dict(after))


def cloned(world: World, one: Pull, folder: Path) -> Path:
    store = str(world.repository.store.folder)
    subprocess.run(["git", "clone", "-q", "--no-checkout", store, str(folder)], check=True)
    subprocess.run(["git", "checkout", "-q", "--detach", one.head], cwd=folder, check=True)
    return folder


@pytest.mark.parametrize("case", CASES)
def test_command_line_checkout_and_github_see_one_program(
    world: World, tmp_path: Path, case: str
) -> None:
    """The same text, built and run alike; only the paths are as seen from where each stands."""
    _, after, reason = CASES[case]
    one = opened(world, case)
    (told,) = world.hub().forge(NAME, one.number).changed_kernels(pull_of(one))
    folder = cloned(world, one, tmp_path / "clone")
    name = "app.cpp" if (folder / "app/app.cpp").exists() else "main.cu"
    ((kernel, workload),) = projects.of_file(folder / "app" / name, headers=True).kernels
    with Checkout(folder, one.base, projects.READING, lambda _: None) as checkout:
        (seen,) = checkout.changed_kernels(checkout.pull)
    assert seen.reason == told.reason == reason
    assert seen.kernel == told.kernel
    path = kernel.path if kernel.path.startswith("app/") else f"app/{kernel.path}"
    assert joined.split(kernel.source, path).keys() >= {path, *after}
    assert seen.kernel.path == path
    assert seen.kernel.source == kernel.source
    assert seen.workload == workload
    assert told.workload is not None
    assert dataclasses.replace(told.workload, root=workload.root) == workload
    assert "+= 2.0 * " in kernel.source
    assert ("-DWIDTH=32" in workload.build.flags) == (case.endswith("makefile"))
    assert (seen.hunks, seen.beside) == (told.hunks, told.beside)
    assert {path for path in (*seen.beside, path) if seen.lines_of(path)} == set(after)
    assert seen.before is not None
    assert seen.after is not None
    assert seen.before.source == seen.after.source.replace("+= 2.0 * ", "+= ")


def test_a_change_of_host_code_alone_is_about_no_kernel(world: World) -> None:
    before = {"app/main.cu": "int main() { return 0; }\n", "app/x.cu": "int f() { return 1; }\n"}
    world.base = world.fake.commit(world.repository, "main", dict(before))
    one = world.change("feature", {name: f"{text}//\n" for name, text in before.items()})
    found = world.hub().forge(NAME, one.number).changed_kernels(pull_of(one))
    assert {(change.kernel.path, change.workload) for change in found} == {
        ("app/main.cu", None), ("app/x.cu", None)
    }  # fmt: skip


def searched(change: Change, *, blurred: bool = False) -> Reviewed:
    """Return a result whose last edits are in what the program is built of."""
    assert change.workload is not None
    found = synthetic.trajectory(0)
    texts = [change.kernel.source]
    for number in range(1, len(found.steps)):
        texts.append(texts[-1].replace("x[threadIdx.x] +=", f"x[threadIdx.x] += {number}.0f *", 1))
    if blurred:
        texts[-1] = texts[-1].replace("joined by optiml", "joined by whom")

    def moved(step: Step) -> Step:
        kernel = dataclasses.replace(change.kernel, source=texts[step.number])
        edit: Edit | None = step.edit and dataclasses.replace(step.edit, source=kernel.source)
        return dataclasses.replace(step, kernel=kernel, edit=edit)

    steps = tuple(map(moved, found.steps))
    return Reviewed(change, dataclasses.replace(found, workload=change.workload, steps=steps))


@pytest.mark.parametrize(
    ("case", "path"),
    [
        ("a header", "app/deep/kernels.cuh"),
        ("a header of another folder", "include/kernels.cuh"),
    ],
)
def test_a_winner_in_a_header_is_suggested_on_the_headers_lines(
    world: World, case: str, path: str
) -> None:
    one = opened(world, case)
    forge = world.hub().forge(NAME, one.number)
    result = searched(*forge.changed_kernels(pull_of(one)))
    assert result.trajectory is not None
    forge.publish(pull_of(one), Report(None, (), (result,)))
    (written,) = world.fake.comments(one)
    assert f"on the changed lines of `{path}`" in written.body
    clicked = commit_suggestions(world.fake, one)
    best = result.trajectory.best.kernel
    measured = joined.split(best.source, best.path)[path]
    assert world.repository.store.file(clicked, path).decode() == measured
    assert (
        world.repository.store.file(clicked, "app/main.cu").decode()
        == CASES[case][0]["app/main.cu"]
    )


@pytest.mark.parametrize("squash", [True, False])
def test_a_winner_beside_its_program_is_committed_where_it_stands(
    world: World, *, squash: bool
) -> None:
    one = opened(world, "a source beside it")
    head, hub = one.head, world.hub()
    (change,) = hub.forge(NAME, one.number).changed_kernels(pull_of(one))
    result = searched(change)
    url = hub.apply(NAME, one.number, result, head=head, squash=squash)
    assert result.trajectory is not None
    best = result.trajectory.best.kernel
    store = world.repository.store
    for path, text in joined.split(best.source, best.path).items():
        assert store.file(one.head, path).decode() == text
    changed = store.git("diff", "--name-only", head, one.head).decode().split()
    assert changed == ["app/kernels.cu"]
    assert hub.apply(NAME, one.number, result, head=head, squash=squash) == url, "once"


def test_an_edit_that_blurs_its_files_is_shown_and_not_offered(world: World) -> None:
    """A model may take away the marks by which files are told apart."""
    one = opened(world, "a header")
    hub = world.hub()
    (change,) = hub.forge(NAME, one.number).changed_kernels(pull_of(one))
    result = searched(change, blurred=True)
    said = comment.compose([result])
    assert said.suggestions == ()
    assert "<summary>Diff" in (said.markdown or "")
    from bot.github_errors import Refused

    with pytest.raises(Refused, match="told apart"):
        hub.apply(NAME, one.number, result, head=one.head)


def test_marks_that_a_stranger_wrote_part_no_files(world: World) -> None:
    """Nothing is offered for a file that is not what the marks say."""
    text = (
        LONE
        + '// joined by optiml: compiled beside "victim.cu"\n'
        + KERNEL.format(name="evil", value="3.0")
        + "// joined by optiml: end\n"
    )
    world.base = world.fake.commit(
        world.repository, "main", {worlds.PATH: None, ".optiml.yml": None, "app/victim.cu": LONE}
    )
    one = world.change("feature", {"app/main.cu": text})
    (change,) = world.hub().forge(NAME, one.number).changed_kernels(pull_of(one))
    assert change.workload is None


def test_a_program_is_asked_for_by_any_of_its_files() -> None:
    found = synthetic.trajectory(0)
    kernel = dataclasses.replace(found.baseline.kernel, path="app/main.cu")
    change = Change(kernel, found.workload, beside={"app/deep/kernels.cuh": (Hunk(1, 2),)})
    for name in ("app/deep/kernels.cuh", "app/deep/", "app", "app/main.cu"):
        assert asks_for([name], change)
    assert not asks_for(["other"], change)


def test_a_patch_of_a_program_is_about_its_files() -> None:
    before = dataclasses.replace(
        synthetic.trajectory(0).baseline.kernel,
        source=joined.join(WITH_HEADER, {"deep/kernels.cuh": HEADER}),
        path="app/main.cu",
    )
    after = dataclasses.replace(before, source=faster(before.source))
    patch = changed_files.patch(before, after)
    assert patch.startswith("--- a/app/deep/kernels.cuh\n+++ b/app/deep/kernels.cuh\n")
    assert changed_files.counts(before, after) == (1, 1)


def test_a_replica_keeps_to_its_folder_and_reads_what_it_needs() -> None:
    texts = {
        "app/main.cu": WITH_HEADER,
        "app/deep/kernels.cuh": HEADER,
        "app/data.bin": "x",
        "../outside.h": "x",
        "/etc/outside.h": "x",
        ".git/config.h": "x",
        "a\0b.h": "x",
        f"app/{'n' * 300}.h": "x",
    }
    asked: list[str] = []

    def read(path: str) -> str | None:
        asked.append(path)
        return texts.get(path)

    with Replica(lambda: list(texts), read) as replica:
        file = replica.program("app/main.cu")
        root = replica.root
        assert file.read_text() == WITH_HEADER
        assert (root / "app/data.bin").read_text() == ""
        below = [path for path in root.rglob("*") if path.is_file()]
        names = {path.relative_to(root).as_posix() for path in below}
        assert names == {"app/main.cu", "app/deep/kernels.cuh", "app/data.bin"}
        assert all(is_source(path) for path in asked)
    assert not root.exists()
