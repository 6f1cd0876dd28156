"""Headers with kernels are edited in the file that includes them, and come apart again."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runners import joined

MAIN = '#include <cstdio>\n#include "k.cuh"\nint main() { k<<<1, 1>>>(0); }\n'
HEADER = "__global__ void k(float* x) { x[0] = 1; }"


def test_a_header_stands_in_place_of_its_include_and_comes_apart_again() -> None:
    """Whether it ends in a line feed or not."""
    for header in (HEADER, HEADER + "\n", "", "\n"):
        text = joined.join(MAIN, {"k.cuh": header})
        assert header in text
        assert '\n#include "k.cuh"' not in text
        assert joined.split(text, "src/main.cu") == {"src/main.cu": MAIN, "src/k.cuh": header}


def test_sources_compiled_beside_stand_at_the_end_and_come_apart_again() -> None:
    """Whether the program's text ends in a line feed or not."""
    other = "int helper() { return 1; }\n"
    for main in (MAIN, MAIN.rstrip("\n"), ""):
        for inner in (other, other.rstrip("\n"), ""):
            text = joined.join(main, {"k.cuh": HEADER}, {"a.cu": inner, "b.cpp": other})
            wanted = {"main.cu": main, "a.cu": inner, "b.cpp": other}
            wanted |= {"k.cuh": HEADER} if main else {}
            assert joined.split(text, "main.cu") == wanted


def test_an_edit_changes_the_file_that_it_is_in() -> None:
    """Each with its own text before and after."""
    text = joined.join(MAIN, {"k.cuh": HEADER})
    edited = text.replace("x[0] = 1", "x[0] = 2")
    assert joined.changes(text, edited, "main.cu") == {
        "k.cuh": (HEADER, HEADER.replace("x[0] = 1", "x[0] = 2"))
    }
    both = edited.replace("<<<1, 1>>>", "<<<2, 1>>>")
    assert joined.changes(text, both, "main.cu").keys() == {"k.cuh", "main.cu"}
    assert joined.changes(MAIN, MAIN + "\n", "main.cu") == {"main.cu": (MAIN, MAIN + "\n")}


def test_an_include_that_is_there_twice_or_elsewhere_stays() -> None:
    """What it means depends on what comes before it."""
    for text in (
        '#include "k.cuh"\n#undef A\n#include "k.cuh"\n',
        '#include "k.cuh"',
        "#include <k.cuh>\n",
    ):
        assert joined.join(text, {"k.cuh": HEADER}) == text


def test_marks_that_do_not_fit_leave_the_text_whole() -> None:
    """An edit may have moved one of them."""
    text = joined.join(MAIN, {"k.cuh": HEADER})
    marks = [line for line in text.splitlines(keepends=True) if line.startswith("// joined")]
    for mark in marks:
        broken = text.replace(mark, "")
        assert joined.split(broken, "main.cu") == {"main.cu": broken}
        assert joined.changes(text, broken, "main.cu") == {"main.cu": (text, broken)}


@given(st.text(max_size=200), st.text(max_size=200))
def test_any_text_comes_apart_as_it_was_put_together(main: str, header: str) -> None:
    """Line ends of any kind included."""
    text = f'{main}\n#include "k.cuh"\n'
    if '#include "k.cuh"' in main or "#" in main:
        return
    found = joined.split(joined.join(text, {"k.cuh": header}), "main.cu")
    assert found == {"main.cu": text, "k.cuh": header}


@pytest.mark.parametrize("name", ["../hook", "/etc/profile", "a/../../b", ".git/hooks/pre-commit"])
def test_marks_in_a_strangers_text_name_no_file_outside_its_folder(name: str) -> None:
    """A winner is written back to the files that marks name."""
    forged = f'{MAIN}// joined by optiml: #include "{name}"\nx\n// joined by optiml: end\n'
    assert joined.split(forged, "src/main.cu") == {"src/main.cu": forged}
    assert joined.join(f'#include "{name}"\n', {name: HEADER}) == f'#include "{name}"\n'


@pytest.mark.parametrize(
    "place", ["../run.sh", "/etc/x.h", "../.git/x.h", "../../.bashrc", ".git/x.h"]
)
def test_marks_of_another_folder_name_headers_alone(place: str) -> None:
    """A stranger's text may hold them."""
    mark = f'// joined by optiml: from "{place}" #include "k.cuh"\n'
    forged = f"{MAIN}{mark}x\n// joined by optiml: end\n"
    assert joined.split(forged, "src/main.cu") == {"src/main.cu": forged}
    text = joined.join('#include "k.cuh"\n', {"k.cuh": HEADER}, places={"k.cuh": place})
    assert "from" not in text


def test_headers_of_another_folder_come_apart_under_their_own_paths() -> None:
    """And an include that is hidden, since the header stood before, is there again."""
    inner = joined.join(
        "#include <k.cuh>\nint a;\n", {"k.cuh": HEADER}, places={"k.cuh": "../inc/k.cuh"}
    )
    text = joined.join(
        '#include "a.h"\n#include <k.cuh>\n', {"a.h": inner}, places={"a.h": "lib/a.h"}, again=["k.cuh"]
    )  # fmt: skip
    assert text.count("void k(") == 1
    assert "\n#include <k.cuh>" not in text
    assert joined.split(text, "src/main.cu") == {
        "src/main.cu": '#include "a.h"\n#include <k.cuh>\n',
        "src/lib/a.h": "#include <k.cuh>\nint a;\n",
        "inc/k.cuh": HEADER,
    }
