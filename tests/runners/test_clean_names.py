"""What may stand on nvcc's command line, and by which names the rest gets there."""

from __future__ import annotations

import shlex
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runners.clean_names import (
    CleanNames,
    clean,
    is_clean,
    require,
    require_ours,
    require_tool,
    source_name,
)
from runners.fault import Fault

BAD = [
    "/a b", "/a`b`", "/a$(b)", "/a;b", "/a&b", "/a|b", "/a*", "/a?", "/a#b", "/a%b", '/a"b', "/a'b",
    "/a\\b", "/a\nb", "/a,b", "/a:b", "/ä", "/a\x00b", "/a!b", "/a{b}", "/a(b)", "/a<b", "/a\udcffb",
    "a", "-I", "@a", "~a", "",
]  # fmt: skip


@pytest.mark.parametrize("path", BAD)
def test_what_is_no_plain_full_path_is_not_clean(path: str) -> None:
    assert not is_clean(path)


@pytest.mark.parametrize(
    "word", ["", "@file", "~", "a b", "a`b`", "-DX=$(id)", "-Iä", "a\nb", "\n"]
)
def test_a_word_that_could_be_another_thing_is_refused_by_name(word: str) -> None:
    with pytest.raises(Fault) as caught:
        require(["-O3", Path("/fine"), word])
    assert repr(word) in caught.value.message
    assert "rename" in caught.value.remedy


@given(st.text(max_size=20))
def test_whatever_is_let_through_is_one_word_of_a_shell(word: str) -> None:
    try:
        require([word])
    except Fault:
        return
    assert shlex.split(word) == [word]
    assert word[0] not in "@~"


@given(st.text(max_size=30))
def test_any_name_becomes_one_that_can_be_given(name: str) -> None:
    for made in (clean(name, "kernel"), source_name(Path("x") / name)):
        require([made, f"/folder/{made}"])
        assert "/" not in made
        assert made[0] not in "-."


def test_a_copy_of_a_source_stays_in_its_language() -> None:
    assert source_name(Path("/p/hé`x`.cpp")) == "h__x_.cpp"
    assert source_name(Path("/p/-.c")) == "source.c"


def test_a_link_stands_for_a_folder_and_leads_to_what_is_beside_it(tmp_path: Path) -> None:
    odd = tmp_path / "my `kernels` ü"
    odd.mkdir()
    (odd / "in").write_text("in")
    (tmp_path / "above").write_text("above")
    names = CleanNames(tmp_path / "named")
    link = names.of(odd)
    assert is_clean(link)
    assert names.of(odd) == link
    assert (link / "in").read_text() == "in"
    read = subprocess.run(["cat", f"{link}/../above"], capture_output=True, text=True, check=True)
    assert read.stdout == "above"
    assert names.of(tmp_path) == tmp_path
    assert names.shown([f"-I{link}"]) == [link.parent]
    assert names.shown(["-O3", "-I/other"]) == []
    assert names.plain(f"{link}/in:3: error") == f"{odd}/in:3: error"
    assert CleanNames(tmp_path / "named").of(odd) == link


def test_folders_of_ones_own_say_what_to_do(tmp_path: Path) -> None:
    """Letters of any language and spaces in a toolkit's name are the owner's and run nothing."""
    require_ours(tmp_path, "it", "move it")
    require_tool(tmp_path / "größe und mehr")
    for name in ("größe", "a b", "a`b`"):
        with pytest.raises(Fault, match="it '/") as caught:
            require_ours(tmp_path / name, "it", "move it")
        assert caught.value.remedy == "move it"
    (tmp_path / "fine").symlink_to(tmp_path / "a$(b)")
    for place in (tmp_path / "a$(b)", tmp_path / "fine"):
        with pytest.raises(Fault, match="toolkit"):
            require_tool(place)
