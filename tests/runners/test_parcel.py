"""A project's files travel by value: what is needed, the same bytes each time, nothing outside."""

from __future__ import annotations

import hashlib
import io
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from optimizer.errors import ConfigError, RunnerError
from optimizer.model import Argument, Build, Kernel, Kind, Workload
from runners import parcel
from runners.flags import near
from runners.header_digest import beyond, included
from runners.interfaces import Job
from runners.parcel import Parcel, unpack


def job(root: Path, source: str = "", kind: Kind = Kind.KERNEL, **changes: object) -> Job:
    kernel = Kernel("k", source, "src/k.cu")
    workload = replace(Workload("w", kind, "k", root=str(root)), **changes)  # type: ignore[arg-type]
    return Job(kernel, kernel, workload)


def names(found: Parcel) -> list[str]:
    with zipfile.ZipFile(io.BytesIO(found.data)) as packed:
        return packed.namelist()


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    (root / "src").mkdir(parents=True)
    (root / ".git").mkdir()
    (root / ".git" / "config").write_text("secret")
    (root / "src" / "a.h").write_text('#include "b.h"\n')
    (root / "src" / "b.h").write_text("")
    (root / "src" / "unused.h").write_text("")
    (root / "ref.py").write_text("import shapes\n")
    (root / "shapes.py").write_text("")
    (root / "table.txt").write_text("1 2")
    (tmp_path / "outside.h").write_text("")
    return root


def test_a_kernel_alone_needs_no_files(project: Path) -> None:
    assert parcel.parcel(job(project)) == Parcel("", b"")


def test_sent_is_what_is_included_and_named_and_nothing_else(project: Path) -> None:
    argument = Argument("x", "float*", init="file:table.txt")
    source = '#include "a.h"\n#include "../../outside.h"\n'
    asked = job(project, source, reference="ref.py:f", arguments=(argument,))
    found = names(parcel.parcel(asked))
    assert found == ["ref.py", "shapes.py", "src/a.h", "src/b.h", "table.txt"]


def test_headers_and_sources_of_the_repository_around_a_project_travel_with_it(
    tmp_path: Path,
) -> None:
    repository, root = tmp_path / "repository", tmp_path / "repository" / "samples" / "add"
    for folder in (".git", "common/more", "lib", "samples/add/src"):
        (repository / folder).mkdir(parents=True)
    (repository / "common" / "check.h").write_text('#include "more/deep.h"\n')
    (repository / "common" / "more" / "deep.h").write_text("")
    (repository / "common" / "secret.txt").write_text("")
    (repository / "lib" / "rest.cpp").write_text('#include "rest.hpp"\n')
    (repository / "lib" / "rest.hpp").write_text("")
    (repository / "lib" / "named.h").write_text("")
    (root / "src" / "k.cu").write_text("")
    source = '#include "../../../common/check.h"\n#include <named.h>\n'
    build = Build(include=("../../lib",), sources=("../../lib/rest.cpp",))
    sent = parcel.parcel(job(root, source, Kind.PROGRAM, build=build))
    wanted = ["common/check.h", "common/more/deep.h", "lib/named.h", "lib/rest.cpp", "lib/rest.hpp"]
    assert sorted(names(sent)) == [".git", *wanted, "samples/add/src/k.cu"]
    assert sent.root == "samples/add"
    there = unpack(sent, tmp_path / "there") / sent.root
    folders = [there / "src", near(there, "../../lib")]
    found = beyond(included(source, folders)[0], there)
    assert [path.name for path in found] == ["check.h", "deep.h", "named.h"]


def test_of_a_program_the_whole_folder_is_sent_but_nothing_hidden(project: Path) -> None:
    found = names(parcel.parcel(job(project, kind=Kind.PROGRAM)))
    assert "table.txt" in found
    assert "src/unused.h" in found
    assert not any("git" in name for name in found)


def test_the_same_files_are_the_same_bytes_anywhere(project: Path, tmp_path: Path) -> None:
    first = parcel.parcel(job(project, kind=Kind.PROGRAM))
    moved = project.rename(tmp_path / "moved")
    (moved / "ref.py").touch()
    assert parcel.parcel(job(moved, kind=Kind.PROGRAM)) == first


def test_it_is_unpacked_once_and_found_again(project: Path, tmp_path: Path) -> None:
    sent = parcel.parcel(job(project, '#include "a.h"\n'))
    folder = unpack(sent, tmp_path / "there")
    assert (folder / "src" / "b.h").is_file()
    (folder / "mark").touch()
    assert (unpack(Parcel(sent.digest, b""), tmp_path / "there") / "mark").exists()


def test_damaged_files_are_refused(project: Path, tmp_path: Path) -> None:
    sent = parcel.parcel(job(project, '#include "a.h"\n'))
    with pytest.raises(RunnerError, match="damaged"):
        unpack(Parcel(sent.digest, sent.data[:-1]), tmp_path / "there")


def test_a_project_that_is_too_large_is_an_error_that_names_the_largest_file(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parcel, "MOST_BYTES", 1000)
    (project / "weights.bin").write_bytes(bytes(2000))
    with pytest.raises(ConfigError, match=r"weights\.bin"):
        parcel.parcel(job(project, kind=Kind.PROGRAM))


def test_a_link_that_leads_to_what_is_nobodys_business_is_not_sent(
    project: Path, tmp_path: Path
) -> None:
    """A stranger's checkout may hold links: to a key of this host, or to the token of its clone."""
    (tmp_path / "key").write_text("secret")
    (project / ".hidden").write_text("secret")
    for name, target in (
        ("key.txt", tmp_path / "key"),
        ("token.txt", Path(".git/config")),
        ("hidden.txt", Path(".hidden")),
        ("environment.txt", Path("/proc/self/environ")),
        ("around.txt", Path("../project/../key")),
        ("folder", tmp_path),
        ("src/own.h", Path("a.h")),
    ):
        (project / name).symlink_to(target)
    asked = job(project, '#include "../.git/config"\n#include "../token.txt"\n', Kind.PROGRAM)
    found = names(parcel.parcel(asked))
    assert "src/own.h" in found
    assert {"src/a.h", "table.txt"} <= set(found)
    links = {"key.txt", "token.txt", "hidden.txt", "environment.txt", "around.txt"}
    assert not links & set(found)
    assert not any("git" in name or name.startswith("folder") for name in found)
    data = parcel.parcel(asked).data
    with zipfile.ZipFile(io.BytesIO(data)) as packed:
        assert not any(b"secret" in packed.read(name) for name in packed.namelist())


def test_nothing_is_left_of_files_that_could_not_be_unpacked(tmp_path: Path) -> None:
    data = b"no zip file"
    with pytest.raises(RunnerError, match="cannot be unpacked"):
        unpack(Parcel(hashlib.sha256(data).hexdigest(), data), tmp_path / "there")
    assert not list((tmp_path / "there").iterdir())
