"""Names in a checkout that attack: nvcc hands its words to a shell, and a shell runs some names.

Whatever a command manages to leave behind must not lead this process elsewhere either.
"""

from __future__ import annotations

import os
import re
import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from runners.artifact import Artifact, ArtifactKind, Failure, Options
from runners.companions import companions
from runners.compiler import Compiler
from runners.fault import Fault
from runners.sandbox import Sandbox
from runners.toolchain import Toolchain, find_toolchain

SM = 90
MARK = "INJECTED"
KERNEL = "__global__ void k(float* x) { x[0] = 1; }\n"
ENTRY = KERNEL + 'extern "C" void entry(float* x) { k<<<1, 1>>>(x); }\n'
PLAIN_WORD = re.compile(r"[A-Za-z0-9_./+=,:@~-]+")
HOST = b"a file of the host's\n"

NAMES = {
    "command substitution": f"a$(touch {MARK})b",
    "backticks": f"a`touch {MARK}`b",
    "the end of quotes": f'a"; touch {MARK}; "b',
    "the end of single quotes": f"a'; touch {MARK}; 'b",
    "escaped quotes": f'a\\";touch {MARK};\\"',
    "a line of its own": f"a\ntouch {MARK}\nb",
    "a pipe and a background": f"a|touch {MARK}&b",
    "a list of folders": f"a,b -o {MARK}",
    "a switch": "-fplugin=x.so",
    "a file of switches": "@switches",
    "what matches": "a*?[b]{c,d}#%!~",
}  # fmt: skip
INNOCENT = "größe und mehr"


def fitting() -> Toolchain | None:
    try:
        found = find_toolchain()
        found.require(SM)
    except Fault:
        return None
    return found


TOOLCHAIN = fitting()
pytestmark = [
    pytest.mark.skipif(TOOLCHAIN is None, reason=f"no nvcc that knows sm_{SM}"),
    pytest.mark.timeout(120),
]


class Watched(Sandbox):
    """A sandbox that notes what lies in the folders that a command may write to once it has run."""

    def __init__(self) -> None:
        super().__init__(trust="stranger")
        self.left: set[str] = set()
        self.lines: list[list[str]] = []

    def run(self, argv: Any, **more: Any) -> Any:
        """Run a command and look at what it left."""
        self.lines.append([str(word) for word in argv])
        done = super().run(argv, **more)
        for folder in more.get("writable") or ():
            self.left |= {one.name for one in folder.rglob("*")}
        return done

    def assert_quiet(self) -> None:
        """Fail where something was run by its name, or could have been."""
        assert not [name for name in self.left if name == MARK], self.left
        for line in self.lines:
            if line[0].endswith("nvcc"):
                assert not [word for word in line if not PLAIN_WORD.fullmatch(word)]


@pytest.fixture
def box() -> Iterator[Watched]:
    with Watched() as sandbox:
        if not sandbox.describe().strong:
            pytest.skip(f"nothing isolates here: {sandbox.describe().refused}")
        yield sandbox


@pytest.fixture
def compiler(box: Watched, tmp_path: Path) -> Compiler:
    assert TOOLCHAIN is not None
    return Compiler(TOOLCHAIN, box, tmp_path / "scratch")


def compiled(
    compiler: Compiler,
    root: Path,
    source: str = KERNEL,
    path: str = "k.cu",
    kind: ArtifactKind = "cubin",
    **options: Any,
) -> Artifact | Failure:
    given = Options(**options)
    return compiler.compile(source, path=path, kind=kind, sm=SM, options=given, root=str(root))


@pytest.mark.parametrize(
    ("name", "kind"), [(name, "cubin") for name in NAMES] + [("backticks", "shared")]
)
def test_the_folder_of_a_source_is_a_folder_and_nothing_else(
    compiler: Compiler, box: Watched, tmp_path: Path, name: str, kind: ArtifactKind
) -> None:
    """It compiles as in any other folder, with the header that lies there."""
    folder = tmp_path / "project" / NAMES[name]
    folder.mkdir(parents=True)
    (folder / "h.h").write_text("#define ONE 1\n")
    source = '#include "h.h"\n' + ENTRY.replace("= 1", "= ONE")
    made = compiled(compiler, tmp_path / "project", source, f"{NAMES[name]}/k.cu", kind)
    box.assert_quiet()
    assert isinstance(made, Artifact), made


@pytest.mark.parametrize("given", ["flags", "split flags", "include", "project"])
@pytest.mark.parametrize("name", ["backticks", "a list of folders"])
def test_an_include_folder_is_a_folder_and_nothing_else(
    compiler: Compiler, box: Watched, tmp_path: Path, name: str, given: str
) -> None:
    root = tmp_path / (NAMES[name] if given == "project" else "project")
    folder = root / ("inc" if given == "project" else NAMES[name])
    folder.mkdir(parents=True)
    (folder / "h.h").write_text("#define ONE 1\n")
    here = folder.relative_to(root).as_posix()
    given_as: dict[str, dict[str, Any]] = {
        "flags": {"flags": (f"-I{here}",)},
        "split flags": {"flags": ("--include-path", here)},
    }
    options = given_as.get(given, {"include": (here,)})
    source = '#include "h.h"\n' + KERNEL.replace("= 1", "= ONE")
    made = compiled(compiler, root, source, **options)
    box.assert_quiet()
    assert isinstance(made, Artifact), made


@pytest.mark.parametrize(
    ("name", "suffix", "place"),
    [
        ("backticks", ".c", "its name"),
        ("the end of quotes", ".cpp", "its folder"),
        ("a switch", ".cu", "its name"),
        ("a file of switches", ".c", "its folder"),
    ],
)
def test_a_companion_is_a_source_and_nothing_else(
    compiler: Compiler, box: Watched, tmp_path: Path, name: str, suffix: str, place: str
) -> None:
    root = tmp_path / "project"
    named = NAMES[name] + (suffix if place == "its name" else f"/h{suffix}")
    (root / named).parent.mkdir(parents=True)
    (root / named).with_name("own.h").write_text("#define TWO 2\n")
    (root / named).write_text('#include "own.h"\nint helper(int x) { return x + TWO; }\n')
    declared = 'extern "C" int helper(int);' if suffix == ".c" else "int helper(int);"
    source = f"{declared}\n{KERNEL}int main() {{ k<<<1, 1>>>(0); return helper(1); }}\n"
    made = compiled(compiler, root, source, kind="program", sources=(named,))
    box.assert_quiet()
    assert isinstance(made, Artifact), made
    assert os.access(made.path, os.X_OK)


def test_a_companion_that_is_found_by_itself_runs_nothing(
    compiler: Compiler, box: Watched, tmp_path: Path
) -> None:
    root = tmp_path / "project"
    root.mkdir()
    source = (
        f'#include <cstdio>\nextern "C" int helper(int x);\n{KERNEL}'
        "int main() { k<<<1, 1>>>(0); return helper(0); }\n"
    )
    (root / "m.cu").write_text(source)
    name = f"h`touch {MARK}`.c"
    (root / name).write_text("int helper(int x) { return x; }\n")
    found = companions(source, root / "m.cu", {}).apart
    assert found == (root / name,)
    made = compiled(compiler, root, source, "m.cu", "program", sources=(name,))
    box.assert_quiet()
    assert isinstance(made, Artifact), made


def test_a_program_with_its_ptx_changed_runs_nothing_by_name(
    compiler: Compiler, box: Watched, tmp_path: Path
) -> None:
    """Its steps are run by a shell of ours."""
    folder = tmp_path / "project" / NAMES["backticks"]
    folder.mkdir(parents=True)
    made = compiler.altered(
        ENTRY,
        lambda ptx: ptx + "\n",
        path=f"{NAMES['backticks']}/k`touch {MARK}`.cu",
        kind="shared",
        sm=SM,
        root=str(tmp_path / "project"),
    )
    box.assert_quiet()
    assert made is not None


def test_a_source_that_a_name_would_run_overwrites_no_file_of_the_host(
    compiler: Compiler, tmp_path: Path
) -> None:
    """Its folder's name ran it as a script, which left a link where we write machine code."""
    host = tmp_path / "host"
    host.write_bytes(HOST)
    source = f"#if 0\nln -s {host} k.device.cubin\n#endif\n{ENTRY}"
    folder = tmp_path / "project" / "a`sh k.cu`b"
    folder.mkdir(parents=True)
    made = compiled(compiler, tmp_path / "project", source, f"{folder.name}/k.cu", "shared")
    assert host.read_bytes() == HOST
    assert isinstance(made, Artifact), made


def test_spaces_and_letters_of_any_language_are_no_attack(
    compiler: Compiler, tmp_path: Path
) -> None:
    """Headers beside and above are found, and messages have the names that their author knows."""
    root = tmp_path / INNOCENT
    (root / "mein kern").mkdir(parents=True)
    (root / "oben.h").write_text("#define ONE 1\n")
    (root / "mein kern" / "hier.h").write_text('#include "../oben.h"\n')
    source = '#include "hier.h"\n#include "../oben.h"\n' + KERNEL.replace("= 1", "= ONE")
    made = compiled(compiler, root, source, "mein kern/kern ü.cu")
    assert isinstance(made, Artifact), made
    (root / "mein kern" / "hier.h").write_text("#error here it is\n")
    bad = compiled(compiler, root, source, "mein kern/kern ü.cu")
    assert isinstance(bad, Failure)
    assert "here it is" in bad.log
    assert "named" not in bad.log


def test_temporary_files_are_not_put_where_a_shell_would_run_the_name(
    box: Watched, tmp_path: Path
) -> None:
    assert TOOLCHAIN is not None
    bad = tmp_path / NAMES["backticks"]
    bad.mkdir()
    (tmp_path / "link").symlink_to(bad)
    for scratch in (bad / "scratch", tmp_path / "link" / "scratch"):
        with pytest.raises(Fault, match=f"touch {MARK}") as caught:
            compiled(Compiler(TOOLCHAIN, box, scratch), tmp_path)
        assert "TMPDIR" in caught.value.remedy
    assert not box.lines


def test_a_toolkit_whose_name_a_shell_would_run_is_not_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool = tmp_path / f"cuda`touch {MARK}`" / "bin" / "nvcc"
    tool.parent.mkdir(parents=True)
    tool.write_text("#!/bin/sh\necho release 13.0, V13.0.1\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tool.parent}:/usr/bin:/bin")
    for named in (str(tool), None):
        with pytest.raises(Fault, match=f"touch {MARK}") as caught:
            find_toolchain(named)
        assert "OPTIML_NVCC" in caught.value.remedy


# A compiler that was taken over: what it may leave in place of, and beside, what it should make.
LEAVES: dict[str, str] = {
    "a link to a file of the host": 'ln -s "{host}" "$made"',
    "a second name of a file of the host": 'ln "{host}" "$made"',
    "a link to a file that never ends": 'ln -s /dev/zero "$made"',
    "a pipe": 'mkfifo "$made"',
    "a folder": 'mkdir "$made"',
    "a file of terabytes that holds nothing": 'truncate -s 4T "$made" || truncate -s 1G "$made"',
    "links to the host beside it": (
        'cp /bin/true "$made"; for at in k.device.cubin k.so.device.cubin made.device.cubin; do'
        ' ln -s "{host}" "$at"; done'
    ),
    "folders that nobody may open": 'mkdir -p deep/er; chmod 0 deep/er deep; mkfifo "$made"',
}
TAKES = 'while [ $# -gt 0 ]; do [ "$1" = -o ] && made=$2; shift; done; '


@pytest.fixture
def taken_over(box: Watched, tmp_path: Path) -> Callable[[str], Compiler]:
    def made(script: str) -> Compiler:
        tool = tmp_path / "toolkit" / "bin" / "nvcc"
        tool.parent.mkdir(parents=True)
        says = "Cuda compilation tools, release 13.0, V13.0.1"
        tool.write_text(
            f'#!/bin/sh\ncase "$*" in *--version*) echo "{says}"; exit;; "--dryrun -E "*) exit;; esac\n{TAKES}{script}\n'
        )
        tool.chmod(0o755)
        toolchain = replace(find_toolchain(str(tool)), folders=(tool.parent.parent,))
        return Compiler(toolchain, box, tmp_path / "scratch")

    return made


@pytest.mark.parametrize("kind", ["cubin", "shared", "ptx"])
@pytest.mark.parametrize("name", LEAVES)
def test_what_a_compiler_leaves_leads_nowhere(
    taken_over: Callable[[str], Compiler],
    tmp_path: Path,
    name: str,
    kind: ArtifactKind,
) -> None:
    host = tmp_path / "host"
    host.write_bytes(HOST)
    mode = host.stat().st_mode
    compiler = taken_over(LEAVES[name].replace("{host}", str(host)))
    begun = time.monotonic()
    made = compiled(compiler, tmp_path, ENTRY, kind=kind)
    assert time.monotonic() - begun < 10
    assert host.read_bytes() == HOST
    assert host.stat().st_mode == mode
    if name != "links to the host beside it":
        assert isinstance(made, Failure)
    if isinstance(made, Artifact):
        assert {one.name for one in Path(made.path).parent.iterdir()} == {Path(made.path).name}
    left = [one for one in (tmp_path / "scratch").rglob("*") if one.is_symlink() or one.is_fifo()]
    assert left == []


def test_an_object_that_a_compiler_leaves_leads_nowhere(
    taken_over: Callable[[str], Compiler], tmp_path: Path
) -> None:
    host = tmp_path / "host"
    host.write_bytes(HOST)
    (tmp_path / "h.c").write_text("int helper(int x) { return x; }\n")
    compiler = taken_over(f'ln -s {host} "$made"; ln -s {host} h.o; ln -s {host} h.part.o')
    for _ in range(2):  # nothing that is left there is taken for done
        made = compiled(compiler, tmp_path, ENTRY, kind="program", sources=("h.c",))
        assert isinstance(made, Failure)
    assert host.read_bytes() == HOST


def test_steps_and_ptx_that_a_compiler_leaves_lead_nowhere(
    taken_over: Callable[[str], Compiler], tmp_path: Path
) -> None:
    """We write PTX where it wrote some, and read what it says its steps are."""
    host = tmp_path / "host"
    host.write_bytes(HOST)
    plan = '#$ "$CICC_PATH/cicc" x -o "a.ptx"\\n#$ ptxas a.ptx\\n'
    for script in (
        f"ln -s {host} a.ptx; printf '{plan}' >&2; cp /bin/true \"$made\"",
        f'rm -f steps.txt; ln -s {host} steps.txt; cp /bin/true "$made"',
        f"mkfifo a.ptx; printf '{plan}' >&2; cp /bin/true \"$made\"",
    ):
        shutil.rmtree(tmp_path / "toolkit", ignore_errors=True)
        compiler = taken_over(script)
        seen: list[str] = []

        def change(ptx: str, seen: list[str] = seen) -> str:
            seen.append(ptx)
            return "changed"

        made = compiler.altered(
            ENTRY, change, path="k.cu", kind="shared", sm=SM, root=str(tmp_path)
        )
        assert made is None
        assert seen == []
        assert host.read_bytes() == HOST


def test_the_hosts_own_folders_are_not_told_to_a_compiler(
    taken_over: Callable[[str], Compiler], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    private = tmp_path / "a-private-folder"
    private.mkdir()
    compiler = taken_over("env >&2; exit 1")
    monkeypatch.setenv(
        "PATH", f"{private}:/usr/../{private}:{compiler.toolchain.nvcc.parent}:/usr/bin:/bin"
    )
    monkeypatch.setenv("LD_LIBRARY_PATH", str(private))
    made = compiled(compiler, tmp_path)
    assert isinstance(made, Failure)
    assert "toolkit/bin:/usr/bin:/bin" in made.log
    assert "a-private-folder" not in made.log
