"""A program that takes arguments is run with those that its authors run it with."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from bot import projects
from runners import makefile_names
from runners.usual_arguments import usual

MAIN = """\
int main(int argc, char* argv[]) {
    if (argc != 3) { printf("Usage: %s <number of elements> <repeat>\\n", argv[0]); return 1; }
    const int n = atoi(argv[1]);
    const int repeat = atoi(argv[2]);
}
"""
READS = "int main(int argc, char** argv) { parse(argc, argv); }\n"
HEC = """\
# a comment: ./main 1 1
program = main
LAUNCHER =
all: $(program)
$(program): main.o Makefile
\tnvcc -O3 -o $@ main.o
clean:
\trm -rf ./$(program) main.o
run: $(program)
\t$(LAUNCHER) ./$(program) 4096 10
"""

LAYOUTS: dict[str, tuple[dict[str, str], str, str]] = {
    "a makefile's run": ({"Makefile": HEC, "main.cu": MAIN}, "4096 10", "Makefile"),
    "variables of a makefile": (
        {
            "makefile": "EXE := fdtd.exe\nN=512\ntest: $(EXE)\n\t@./$(EXE) $(N) 3 > out.txt\n",
            "fdtd.cu": READS,
        },
        "512 3",
        "makefile",
    ),
    "a script, the first line whose files are here": (
        {"app/run": "./lu -f ../data/m.txt\n./lu -s 16", "app/lu.cu": READS},
        "-s 16",
        "run",
    ),
    "a script in the folder above": (
        {"run.sh": "#!/bin/bash\n# cuda/lud -i a.dat\ncuda/lud_cuda -s 256 -v\n",
         "cuda/lud.cu": READS},
        "-s 256 -v",
        "run.sh",
    ),
    "a program of a usual name, by its folder": (
        {"README.md": "    ./other/main 1 2\n    ./sort/main 3 4\n", "sort/main.cu": READS},
        "3 4",
        "README.md",
    ),
    "files that are here and one that it writes": (
        {"hot/run": "./hot 512 ../data/t_512 out.txt\n", "data/t_512": "", "hot/hot.cu": READS},
        "512 ../data/t_512 out.txt",
        "run",
    ),
    "a README": (
        {"README.md": "Use ./sim to see.\n```\n$ nvcc sim.cu -o sim\n$ ./sim 1000 --fast\n```\n",
         "sim.cu": READS},
        "1000 --fast",
        "README.md",
    ),
    "an example in a comment": (
        {"scan.cu": f"// Example: ./a.out 2048 7\n{READS}"},
        "2048 7",
        "example",
    ),
    "an example in its usage": (
        {"k.cu": READS.replace("parse(", 'puts("usage: k N M\\n e.g. ./k 64 32\\n"); parse(')},
        "64 32",
        "example",
    ),
    "numbers by their names": ({"main.cu": MAIN}, "1024 10", "made up"),
    "numbers of other kinds": (
        {"main.cpp": "int main(int argc, char **argv)\n{\n  if (argc < 4) usage();\n"
         "  size_t w = std::stoul(argv[1]); float eps = atof(argv[2]);\n"
         "  unsigned threads(strtol(argv[3], 0, 10));\n}\n"},
        "1024 0.5 256",
        "made up",
    ),
}  # fmt: skip


def laid(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return next(root / name for name, text in files.items() if "int main" in text)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_arguments_are_taken_from_where_they_are_written_down(tmp_path: Path, layout: str) -> None:
    """Whatever says it first: makefile, script, README, text."""
    files, words, origin = LAYOUTS[layout]
    file = laid(tmp_path, files)
    found = usual(file.read_text(), file)
    assert found is not None
    assert " ".join(found.words) == words
    assert origin in found.origin


@pytest.mark.parametrize(
    "files",
    [
        {"main.cu": "int main() { return 0; }\n", "Makefile": HEC},
        {"main.cu": "int main(int, char**) { return 0; }\n", "Makefile": HEC},
        {"main.cu": "int main(int argc, char** argv) { if (argc > 1) n = atoi(argv[1]); }\n"},
        {"main.cu": MAIN.replace("atoi(argv[2])", "parse(argv[2])")},
        {"main.cu": READS, "run": "./other 1 2\n./main < in.txt\n./main missing/in.txt\n"},
        {"main.cu": READS, "README.md": "Run `./main <n> <m>` or ./main to see it work.\n"},
        {"main.cu": READS, "run.sh": "./main $SIZE\n./main `date`\n./main 'a\n"},
        {"main.cu": READS, "README.md": "\0\xff./main"},
        {"sort/main.cu": READS, "run.sh": "cd other && ./main 1 2\n"},
    ],
)
def test_where_nothing_is_known_a_program_is_run_without_arguments(
    tmp_path: Path, files: dict[str, str]
) -> None:
    """As it takes none, or nobody says which."""
    file = laid(tmp_path, files)
    assert usual(file.read_text(), file) is None


def test_a_makefile_of_several_programs_is_asked_for_the_one_that_is_run(tmp_path: Path) -> None:
    """By its name."""
    rule = "run: a b\n\t./first 1 2\n\t./second 3 4\n"
    for name in ("first", "second", "third"):
        laid(tmp_path, {f"{name}.cu": READS, "Makefile": rule})
    for name, words in {"first": ("1", "2"), "second": ("3", "4"), "third": ()}.items():
        found = usual(READS, tmp_path / f"{name}.cu")
        assert (found.words if found else ()) == words


def test_a_program_is_run_with_them_unless_the_user_says_otherwise(tmp_path: Path) -> None:
    """What is named on the command line is all there is."""
    kernel = "__global__ void k(float* x) { x[threadIdx.x] = 1; }\n"
    file = laid(tmp_path, {"main.cu": kernel + MAIN, "Makefile": HEC})
    declared = projects.of_file(file, headers=True)
    ((_, work),) = declared.kernels
    assert work.program is not None
    assert work.program.runs == (("4096", "10"),)
    assert declared.remarks == ("main.cu is run with 4096 10, as Makefile does",)
    other = projects.of_file(file, None, ("7", "1"), headers=True)
    ((_, work),) = other.kernels
    assert work.program is not None
    assert work.program.runs == (("7", "1"),)
    assert other.remarks == ()
    assert makefile_names.arguments(tmp_path) == "4096 10"


def test_nothing_outside_of_the_repository_is_looked_at(tmp_path: Path) -> None:
    """Neither read, through a link too, nor asked whether it is there."""
    root = tmp_path / "repository"
    for place in (root / ".git", root / "link"):
        place.mkdir(parents=True)
    (tmp_path / "README.md").write_text("./main 1 2\n")
    (tmp_path / "data.bin").write_text("")
    for folder in (root, root / "link"):
        (folder / "main.cu").write_text(READS)
        assert usual(READS, folder / "main.cu") is None
        (folder / "run.sh").symlink_to(tmp_path / "README.md")
        assert usual(READS, folder / "main.cu") is None
        (folder / "run.sh").unlink()
        (folder / "run.sh").write_text(f"./main {tmp_path}/data.bin\n./main ../data.bin\n")
        assert usual(READS, folder / "main.cu") is None
        (folder / "run.sh").unlink()
    (root / "README.md").write_text("./main 3 4\n")
    found = usual(READS, root / "main.cu")
    assert found is not None
    assert found.words == ("3", "4")


@pytest.mark.parametrize(
    "text",
    ["a" * 250_000, "./main " * 30_000, "run: a\n\t" + "./main " * 30_000, "/* " * 80_000],
)
@pytest.mark.parametrize("name", ["Makefile", "run.sh", "main.cu"])
def test_text_that_is_made_to_be_slow_is_read_fast(tmp_path: Path, name: str, text: str) -> None:
    """Patterns are tried on lines that a person could have written."""
    program = READS + text if name == "main.cu" else READS
    (tmp_path / name).write_text(text)
    begun = time.process_time()
    assert usual(program, tmp_path / "main.cu") is None
    assert time.process_time() - begun < 10
