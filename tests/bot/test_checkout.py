"""A local checkout is reviewed with the base branch's workloads, headers included."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import git
import pytest

from bot.checkout import Checkout, Reading
from bot.headers import included, inlined
from bot.interfaces import Report
from optimizer.errors import ConfigError
from optimizer.model import Kernel, Kind, Workload

KERNEL = '#include "scale.cuh"\n__global__ void k(float* x) { x[threadIdx.x] *= SCALE; }\n'
OTHER = "__global__ void other(float* x) { x[0] = 1; }\n"


def read(path: Path) -> Sequence[tuple[Kernel, Workload]]:
    """Read lines `NAME FILE` instead of YAML; the real reader has tests of its own."""
    found = []
    for line in path.read_text().splitlines():
        name, file = line.split()
        source = (path.parent / file).read_text()
        found.append(
            (Kernel(name, source, file), Workload(name, Kind.KERNEL, name, root=str(path.parent)))
        )
    return found


READING = Reading(read, lambda _file, _root: None, lambda file, _root: f"snippet for {file.name}")


@pytest.fixture
def repo(tmp_path: Path) -> Iterator[git.Repo]:
    made = git.Repo.init(tmp_path / "repo", initial_branch="main")
    root = Path(made.working_dir)
    (root / "src").mkdir()
    (root / ".optiml.yml").write_text("k src/k.cu\nother src/other.cu\n")
    (root / "src/k.cu").write_text(KERNEL)
    (root / "src/other.cu").write_text(OTHER)
    (root / "src/scale.cuh").write_text("#pragma once\n#define SCALE 2.0f\n")
    (root / "ref.py").write_text("base\n")
    with made.config_writer() as config:
        config.set_value("user", "name", "Test")
        config.set_value("user", "email", "test@example.invalid")
    made.git.add("-A")
    made.index.commit("base")
    made.git.checkout("-b", "feature")
    yield made
    made.close()


def test_only_the_kernel_of_the_changed_file_is_reviewed(repo: git.Repo) -> None:
    (Path(repo.working_dir) / "src/other.cu").write_text(OTHER.replace("= 1", "= 2"))
    with Checkout(Path(repo.working_dir), "main", READING, lambda _: None) as forge:
        (change,) = forge.changed_kernels(forge.pull)
        assert forge.pull.head.endswith("-dirty")
    assert change.kernel.path == "src/other.cu"
    assert change.before is not None
    assert "= 1" in change.before.source
    assert "= 2" in change.kernel.source
    assert [(hunk.first, hunk.last) for hunk in change.hunks] == [(1, 1)]


def test_a_changed_header_reopens_every_kernel_that_includes_it(repo: git.Repo) -> None:
    (Path(repo.working_dir) / "src/scale.cuh").write_text("#pragma once\n#define SCALE 3.0f\n")
    repo.git.commit("-am", "change a header")
    with Checkout(Path(repo.working_dir), "main", READING, lambda _: None) as forge:
        (change,) = forge.changed_kernels(forge.pull)
    assert change.reason == "includes src/scale.cuh"
    assert change.hunks == ()
    assert change.before is not None
    assert change.after is not None
    assert "SCALE 2.0f" in change.before.source
    assert "SCALE 3.0f" in change.after.source
    assert '#include "scale.cuh"' in change.kernel.source


def test_workloads_and_references_come_from_the_base_and_never_from_the_change(
    repo: git.Repo,
) -> None:
    root = Path(repo.working_dir)
    (root / ".optiml.yml").write_text("evil src/k.cu\n")
    (root / "ref.py").write_text("head\n")
    (root / "src/k.cu").write_text(KERNEL.replace("*=", "+="))
    with Checkout(root, "main", READING, lambda _: None) as forge:
        (change,) = forge.changed_kernels(forge.pull)
        assert change.workload is not None
        trusted = Path(change.workload.root)
        assert (trusted / "ref.py").read_text() == "base\n"
        assert "+=" in (trusted / "src/k.cu").read_text()
    assert change.kernel.name == "k"
    assert not trusted.exists()


def test_a_kernel_without_a_workload_is_told_of_with_a_snippet(repo: git.Repo) -> None:
    (Path(repo.working_dir) / "src/new.cu").write_text(OTHER)
    with Checkout(Path(repo.working_dir), "main", READING, lambda _: None) as forge:
        (change,) = forge.changed_kernels(forge.pull)
    assert change.workload is None
    assert change.snippet == "snippet for new.cu"
    assert change.hunks[0].last == 1


def test_a_missing_base_or_repository_is_said_in_one_sentence(
    repo: git.Repo, tmp_path: Path
) -> None:
    with pytest.raises(ConfigError, match="no base 'release'"):
        Checkout(Path(repo.working_dir), "release", READING, lambda _: None)
    with pytest.raises(ConfigError, match="no git repository"):
        Checkout(tmp_path, "main", READING, lambda _: None)


def test_a_base_that_looks_like_an_option_is_no_option(repo: git.Repo) -> None:
    with pytest.raises(ConfigError):
        Checkout(Path(repo.working_dir), "--output=/tmp/x", READING, lambda _: None)


def test_a_link_out_of_the_checkout_is_not_followed(repo: git.Repo, tmp_path: Path) -> None:
    (tmp_path / "secret.cu").write_text(OTHER)
    (Path(repo.working_dir) / "src/link.cu").symlink_to(tmp_path / "secret.cu")
    with Checkout(Path(repo.working_dir), "main", READING, lambda _: None) as forge:
        assert not forge.changed_kernels(forge.pull)


def test_a_link_into_git_is_not_followed(repo: git.Repo) -> None:
    root = Path(repo.working_dir)
    (root / ".git/credentials.cu").write_text(OTHER)
    (root / "src/link.cu").symlink_to("../.git/credentials.cu")
    with Checkout(root, "main", READING, lambda _: None) as forge:
        assert forge.read("src/link.cu") is None
        assert not forge.changed_kernels(forge.pull)


def test_a_file_whose_name_is_a_pattern_is_that_file(repo: git.Repo) -> None:
    root = Path(repo.working_dir)
    names = ("*.cu", ":(exclude)none.cu", ":!x.cu")
    for name in names:
        (root / name).write_text(OTHER)
    repo.git(literal_pathspecs=True).add("--", *names)
    (root / "src/also.cu").write_text("int also;\n")
    repo.git.add("src/also.cu")
    with Checkout(root, "main", READING, lambda _: None) as forge:
        for name in names:
            patch = forge.patch(name)
            assert patch.count("diff --git") == 1
            assert "int also" not in patch


def test_a_file_of_the_base_that_became_a_folder_is_said(repo: git.Repo) -> None:
    root = Path(repo.working_dir)
    (root / "ref.py").unlink()
    (root / "ref.py").mkdir()
    (root / "ref.py/k.cu").write_text(OTHER)
    (root / "src/k.cu").write_text(KERNEL + "// changed\n")
    with (
        Checkout(root, "main", READING, lambda _: None) as forge,
        pytest.raises(ConfigError, match="do not fit beside"),
    ):
        forge.changed_kernels(forge.pull)


def test_a_huge_file_beside_the_sources_is_not_read(
    repo: git.Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = Path(repo.working_dir)
    (root / "src/k.cu").write_text(KERNEL + "// changed\n")
    with (root / "ref.py").open("wb") as file:
        file.truncate(1 << 33)  # takes no room: it is all holes
    (root / "weights.bin").symlink_to("/dev/zero")

    def read_bytes(path: Path) -> bytes:
        assert path.stat().st_size < 1 << 20
        with path.open("rb") as file:
            return file.read(1 << 20)

    monkeypatch.setattr(Path, "read_bytes", read_bytes)
    with Checkout(root, "main", READING, lambda _: None) as forge:
        (change,) = forge.changed_kernels(forge.pull)
        assert change.workload is not None
        assert (Path(change.workload.root) / "ref.py").read_text() == "base\n"


def test_a_report_is_handed_on(repo: git.Repo) -> None:
    said: list[Report] = []
    with Checkout(Path(repo.working_dir), "main", READING, said.append) as forge:
        forge.publish(forge.pull, Report("text"))
    assert said == [Report("text")]


def test_headers_are_found_through_headers_and_written_in_once() -> None:
    files = {"a/x.cuh": '#pragma once\n#include "y.cuh"\nX\n', "a/y.cuh": '#include "x.cuh"\nY\n'}
    source = '#include "x.cuh"\n#include "x.cuh"\n#include <cuda.h>\nK\n'
    assert included("a/k.cu", source, files.get) == {"a/x.cuh", "a/y.cuh"}
    assert inlined("a/k.cu", source, files.get).split() == ["Y", "X", "#include", "<cuda.h>", "K"]


def test_headers_that_include_each_other_for_ever_end() -> None:
    files = {"x.cuh": '#include "x.cuh"\nX\n'}
    assert inlined("k.cu", '#include "x.cuh"\n', files.get).count("X") < 100
