"""What a makefile defines is taken where a text does not compile without."""

from __future__ import annotations

from pathlib import Path

import pytest

from optimizer.model import Kernel
from runners import flags, lone_program, makefile_names

MAKEFILE = """\
BS ?= 16
# CFLAGS += -DOLD=3
ifeq ($(DEBUG),yes)
  CFLAGS += -DDEBUG
endif
CFLAGS := -O3 -Xcompiler -Wall -DBLOCK=$(BS) -DTYPE=float -D SIZE=1024 -DWHEN=$(shell date) \\
  -DLOCAL=1 -DGIVEN=2
main: main.cu
\tnvcc $(CFLAGS) main.cu -o main
"""


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("__global__ void k(TYPE* x) { x[BLOCK] = 1; }", ("-DBLOCK=16", "-DTYPE=float")),
        ("int a[SIZE]; int b = OLD + WHEN;", ("-DSIZE=1024",)),
        ('#ifdef DEBUG\nint a;\n#endif\n// DEBUG and BLOCK\nconst char* s = "BLOCK";', ()),
        ("#ifndef BLOCK\n#define BLOCK 8\n#endif\nint a[BLOCK];", ()),
        ("int LOCAL = 3; void GIVEN(int a) { LOCAL = a; }", ()),
        ("int BLOCKS = 4;", ()),
    ],
)
def test_only_names_that_the_text_uses_and_defines_nowhere_count(
    tmp_path: Path, text: str, found: tuple[str, ...]
) -> None:
    """What is only asked for chooses another program."""
    (tmp_path / "Makefile").write_text(MAKEFILE)
    assert makefile_names.needed(tmp_path, [text]) == found
    assert len(flags.allowed_flags(found, tmp_path)) == len(found)


def test_a_program_is_built_with_what_its_makefile_defines(tmp_path: Path) -> None:
    """Also where the name is in a source beside it."""
    (tmp_path / "Makefile").write_text(MAKEFILE)
    (tmp_path / "run.cu").write_text("int run() { return BLOCK; }\n")
    file = tmp_path / "main.cu"
    text = "int run();\n__global__ void k(TYPE* x) {}\nint main() { return run(); }\n"
    work = lone_program.on_disk(text, file, tmp_path)
    assert work is not None
    assert "-DTYPE=float" in work.build.flags
    kernel = Kernel("main", text, "main.cu")
    _, work = lone_program.with_headers(kernel, work, file)
    assert [one for one in work.build.flags if one.startswith("-D")] == [
        "-DTYPE=float",
        "-DBLOCK=16",
    ]


def test_of_headers_of_one_name_the_makefiles_is_meant_or_else_the_nearest(tmp_path: Path) -> None:
    """Suites have a `reference.h` in many folders."""
    (tmp_path / ".git").mkdir()
    for name in ("suite/alpha", "suite/beta-omp", "suite/beta", "other"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "reference.h").touch()
    file = tmp_path / "suite" / "beta" / "main.cu"
    (file.parent / "reference.h").unlink()
    text = '#include "reference.h"\nint main() { return 0; }\n'
    nearest = lone_program.include_folders([text], file, file.parent)
    assert nearest == ("../alpha",)
    (file.parent / "Makefile").write_text("V = omp\nCFLAGS = -I../beta-$(V) -I/etc -I../nowhere\n")
    assert lone_program.include_folders([text], file, file.parent) == ("../beta-omp",)
    (file.parent / "Makefile").write_text("CFLAGS = -I../../../../..\n")
    assert lone_program.include_folders([text], file, file.parent) == ("../alpha",)


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ("run: $(program)\n\t$(LAUNCHER) ./$(program) 4096 -n $(BS)\n", "4096 -n 16"),
        ("run:\n\ttime ./main -s 256 ../../data/in.txt\n", "-s 256 ../../data/in.txt"),
        ("run: main\n\t./main\n", ""),
        ("run: main\n\t./main $(shell nproc) > out.txt\n", ""),
        ("clean:\n\trm ./main all\n", ""),
    ],
)
def test_the_arguments_that_a_makefile_runs_its_program_with(
    tmp_path: Path, rule: str, words: str
) -> None:
    """They are what a program wants that is refused without any."""
    (tmp_path / "Makefile").write_text(MAKEFILE + rule)
    assert makefile_names.arguments(tmp_path) == words


def test_without_a_makefile_nothing_is_defined(tmp_path: Path) -> None:
    assert makefile_names.needed(tmp_path, ["int a[BLOCK];"]) == ()
