"""A source's identity holds what it includes, and nothing else."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from runners.header_digest import header_digest


@pytest.fixture
def folders(tmp_path: Path) -> list[Path]:
    for name in ("src", "inc"):
        (tmp_path / name).mkdir()
    (tmp_path / "src" / "a.h").write_text('#include "b.h"\n')
    (tmp_path / "src" / "b.h").write_text("#define B 1\n")
    (tmp_path / "inc" / "c.h").write_text("#define C 1\n")
    (tmp_path / "inc" / "unused.h").write_text("#define U 1\n")
    return [tmp_path / "src", tmp_path / "inc"]


@pytest.mark.parametrize(
    ("text", "changed", "matters"),
    [
        ('#include "a.h"\n', "src/b.h", True),
        ("  #  include <c.h>\n", "inc/c.h", True),
        ('#include "c.h"\n', "inc/c.h", True),
        ('#include "a.h"\n', "inc/unused.h", False),
        ("#define X <c.h>\n#include X\n", "inc/unused.h", True),
        ('asm(".incbin \\"c.h\\"");\n', "inc/c.h", True),
        ("int x;\n", "inc/c.h", False),
    ],
)  # fmt: skip
def test_a_file_counts_when_it_is_included(
    folders: list[Path], text: str, changed: str, *, matters: bool
) -> None:
    before = header_digest(text, folders)
    (folders[0].parent / changed).write_text("#define OTHER 22222\n")
    assert (header_digest(text, folders) != before) == matters


def test_nothing_included_is_nothing(folders: list[Path]) -> None:
    assert header_digest("#include <cstdio>\nint x;\n", folders) == ""


def test_headers_that_include_each_other_end(folders: list[Path]) -> None:
    (folders[0] / "b.h").write_text('#include "a.h"\n#include "k.cu"\n')
    assert header_digest('#include "a.h"\n', folders)


def test_a_device_is_never_read(folders: list[Path]) -> None:
    (folders[0] / "zero.h").symlink_to("/dev/zero")
    os.mkfifo(folders[0] / "pipe.h")
    assert (
        header_digest('#include "zero.h"\n#include "pipe.h"\n#include "/dev/zero"\n', folders) == ""
    )


@given(st.text(max_size=300))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
def test_any_text_has_a_digest(folders: list[Path], text: str) -> None:
    assert isinstance(header_digest(f'#include "{text}"\n#include {text}', folders), str)
