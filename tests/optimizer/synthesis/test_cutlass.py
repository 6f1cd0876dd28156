"""Search and read in a CUTLASS tree: within it, within bounds, and as data."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from optimizer.errors import ConfigError
from optimizer.synthesis import cutlass
from optimizer.synthesis.answers import Look, read


@pytest.fixture
def tree(tmp_path: Path) -> cutlass.Tree:
    include = tmp_path / "source/include"
    (include / "cute/arch").mkdir(parents=True)
    (include / "cutlass").mkdir()
    (include / "cute/tensor.hpp").write_text("// line 1\nstruct Tensor {};\n" + "x\n" * 300)
    (include / "cute/arch/mma.hpp").write_text("struct SM80_CP_ASYNC_CACHEGLOBAL\n{};\n")
    (include / "cutlass/version.h").write_text(
        "#define CUTLASS_MAJOR 4\n#define CUTLASS_MINOR 2\n#define CUTLASS_PATCH 1\n"
    )
    (tmp_path / "secret.hpp").write_text("the secret Tensor\n")
    (include / "cute/link.hpp").symlink_to(tmp_path / "secret.hpp")
    found = cutlass.find(str(tmp_path / "source"))
    assert found is not None
    return found


def test_a_tree_is_found_by_setting_or_package_and_knows_its_version(
    tree: cutlass.Tree, tmp_path: Path
) -> None:
    assert tree.version == "4.2.1"
    assert cutlass.find(str(tree.include)) is not None, "an include folder will do"
    assert cutlass.find("", [str(tmp_path)]) is None
    package = tmp_path / "site/cutlass_library"
    package.mkdir(parents=True)
    (package / "source").symlink_to(tree.root)
    assert cutlass.find("", [str(tmp_path / "site")]) is not None
    with pytest.raises(ConfigError, match=r"no include/cute/tensor\.hpp"):
        cutlass.find(str(tmp_path))


def test_search_names_files_and_lines_and_nothing_outside_the_tree(tree: cutlass.Tree) -> None:
    found = cutlass.Library(tree).search("Tensor")
    assert "include/cute/tensor.hpp:2: struct Tensor {};" in found
    assert "secret" not in found


def test_read_gives_numbered_lines_in_portions(tree: cutlass.Tree) -> None:
    text = cutlass.Library(tree).read("include/cute/tensor.hpp", 2)
    assert text.splitlines()[0] == "    2 struct Tensor {};"
    assert len(text.splitlines()) == cutlass.LINES_READ + 1
    assert "more lines" in text


@pytest.mark.parametrize(
    "name",
    ["/etc/passwd", "../secret.hpp", "include/../../secret.hpp", "include/cute/link.hpp", "", "\0"],
)
def test_nothing_outside_the_tree_can_be_read(tree: cutlass.Tree, name: str) -> None:
    assert cutlass.Library(tree).read(name) == "there is no such file in the tree"
    assert not tree.has(name)


@given(st.text(max_size=60), st.integers())
@settings(max_examples=60, deadline=None)
def test_whatever_is_asked_is_answered_within_bounds(word: str, line: int) -> None:
    root = Path(__file__).resolve().parent
    library = cutlass.Library(cutlass.Tree(root, root))
    assert len(library.read(word, max(1, line))) <= cutlass.LONGEST_ANSWER
    assert len(library.search(word)) <= cutlass.LONGEST_ANSWER


def test_calls_and_bytes_are_counted(tree: cutlass.Tree) -> None:
    library = cutlass.Library(tree, calls=2)
    library.search("Tensor")
    library.read("include/cute/tensor.hpp")
    assert library.search("Tensor") == "no more looks: write the kernel"
    small = cutlass.Library(tree, size=100)
    assert len(small.read("include/cute/tensor.hpp")) == 100
    assert small.read("include/cute/tensor.hpp") == "no more looks: write the kernel"


def test_what_is_found_stands_behind_a_bar(tree: cutlass.Tree) -> None:
    said = cutlass.Library(tree).look([Look(search="Tensor"), Look(read="include/cute/tensor.hpp")])
    assert all(line.startswith(("search ", "include/", "    | ")) for line in said.splitlines()), (
        said
    )


def test_headers_of_the_tree_and_its_names_in_capitals_are_known(tree: cutlass.Tree) -> None:
    assert tree.has("cute/tensor.hpp")
    assert not tree.has("cute/missing.hpp")
    assert not tree.has("thrust/sort.h")
    assert "SM80_CP_ASYNC_CACHEGLOBAL" in tree.words


@given(st.text(max_size=300))
def test_an_answer_never_raises(text: str) -> None:
    draft = read(text, tunable=True, looking=True)
    assert draft.source or draft.trouble or draft.looks


@pytest.mark.parametrize(
    "look", ['"x"', "[1]", '[{"search": 5, "line": -1}]', '[{"read": "a", "line": true}]', "{}"]
)
def test_wishes_of_a_wrong_shape_are_read_as_far_as_they_go(look: str) -> None:
    text = f'{{"plan": "", "source": null, "look": {look}}}'
    draft = read(text, tunable=False, looking=True)
    assert all(one.line >= 1 for one in draft.looks)
