"""The arguments that a program is usually run with, where it takes some and nobody named any.

They are looked for where its authors wrote them down: the makefile's `run`, a script beside it, its
README, an example in its own text. Where there are none, but the program counts its arguments and
reads each as a number, moderate numbers are made up from their names.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from runners import makefile_names
from runners.flags import repository
from runners.safe_files import beginning

SCRIPTS = ("run", "run.sh", "run_all.sh", "test.sh", "benchmark.sh", "bench.sh", "verify.sh")
READMES = ("README.md", "README", "README.txt", "Readme.md", "readme.md", "README.rst")
MOST_BYTES, MOST_LINE, MOST_WORDS, MOST_LENGTH = 1 << 18, 1000, 24, 200
_TAKES = re.compile(r"\bmain\s*\(\s*(?:const\s+)?int\s+\w+\s*,")
_READS = re.compile(r"\bargv\b")
_MAIN = re.compile(r"^[ \t]*(?:extern\s+\"C\"\s+)?(?:int|void|auto)\s+main\s*\(", re.MULTILINE)
_SOURCES = (".cu", ".cpp", ".cc", ".cxx", ".c")
_WORD = re.compile(r"[^\s;&\"'`|>]+")
_RULE = re.compile(r"^([\w.$(){}-]+)[^\n:=]*:(?!=)[^\n]*\n((?:\t[^\n]*\n?)+)", re.MULTILINE)
_RUNS = re.compile(r"run|test|bench|check|exec|verify", re.IGNORECASE)
_REFERS = re.compile(r"\$[({](\w+)[)}]")
_ENDS = re.compile(r"\s(?:\d?>|\||&|;|#|<)|[;|&`]")
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
_FILE = re.compile(r"/|\.[A-Za-z]\w*$")
_RESULT = re.compile(r"out|res|log|\.(?:ppm|png|bmp|pgm)$", re.IGNORECASE)
_COMMENT = re.compile(r"//[^\n]*|/\*.*?(?:\*/|\Z)|\"(?:[^\"\\\n]|\\.)*\"", re.DOTALL)
_COUNTED = re.compile(r"\bargc\s*(!=|<|<=|==)\s*(\d+)")
# Names that programs of other folders have, too.
_COMMON = {
    "main",
    "app",
    "test",
    "demo",
    "program",
    "kernel",
    "bench",
    "benchmark",
    "run",
    "driver",
}
# What an argument is by the name of its variable, and how much of it keeps a GPU busy for a while.
_GUESSES = (
    (re.compile(r"rep|iter|step|times|trial|loop|round|epoch|runs|warm", re.IGNORECASE), "10"),
    (re.compile(r"thread|block|tpb|group", re.IGNORECASE), "256"),
    (re.compile(r"seed|verbose|verif|check|mode|device|dev|gpu|print", re.IGNORECASE), "1"),
    (
        re.compile(
            r"batch|head|channel|^n?dims?$|class|feature|bit|top|^k$|radius|order|degree|window",
            re.IGNORECASE,
        ),
        "8",
    ),
)


@dataclass(frozen=True, slots=True)
class Found:
    """The words of a command line, and where they are from, as said to people."""

    words: tuple[str, ...]
    origin: str


def usual(text: str, file: Path) -> Found | None:
    """Return what a program is usually run with; None where it takes nothing or nothing is found.

    Files that the words name are there, relative to the program's folder. Nothing is looked at that
    lies outside of the repository: whose program it is may be a stranger.
    """
    if not _TAKES.search(text) or not _READS.search(text):
        return None
    folder = file.parent
    places: list[tuple[Path, str, bool]] = [
        (folder / name, f"as {name} does", False) for name in makefile_names.MAKEFILES
    ]
    for place in (folder, folder.parent):
        places += [(place / name, f"as {name} does", False) for name in SCRIPTS]
    places += [
        (place / name, f"as {name} says", True)
        for place in (folder, folder.parent)
        for name in READMES
    ]
    for place, origin, prose in places:
        lines = _read(place) if _is_near(place, folder) else ""
        if lines:
            makefile = place.name in makefile_names.MAKEFILES
            commands = _of_makefile(lines) if makefile else lines.splitlines()
            any_name = makefile and _is_alone(file)
            above = place.parent != folder
            words = _first(commands, file, prose=prose, any_name=any_name, above=above)
            if words:
                return Found(words, origin)
    said = "\n".join(_COMMENT.findall(text)).replace("%s", f"./{file.stem}").replace("\\n", "\n")
    words = _first(said.splitlines(), file, prose=True, any_name=True, above=False)
    if words:
        return Found(words, "as an example in its text says")
    guessed = _guessed(text)
    return Found(guessed, "made up from what it reads") if guessed else None


def _read(place: Path) -> str:
    text = beginning(place, MOST_BYTES).decode(errors="replace").replace("\\\n", " ")
    # Nobody writes a command on a line so long, and looking for one would take long.
    return "\n".join(line for line in text.split("\n") if len(line) <= MOST_LINE)


def _is_near(place: Path, folder: Path) -> bool:
    """Tell whether a place is in the repository of a folder, wherever links in it lead."""
    home = folder.resolve()
    return (repository(home) or home.parent) in place.resolve().parents


def _of_makefile(lines: str) -> Iterator[str]:
    """Yield what targets such as `run` do, variables put in."""
    sets = makefile_names.variables(lines)
    for name, recipe in _RULE.findall(lines):
        if _RUNS.search(name):
            for line in recipe.splitlines():
                yield _REFERS.sub(lambda one: sets.get(one[1], one[0]), line.lstrip("\t@- "))


def _first(
    lines: Sequence[str] | Iterator[str], file: Path, *, prose: bool, any_name: bool, above: bool
) -> tuple[str, ...]:
    """Return the arguments of the first command of a program that could be run here.

    `above` tells that the lines are of the folder above, where a name may be another program's.
    """
    for line in lines:
        if len(line) > MOST_LINE or (line.lstrip().startswith("#") and not prose):
            continue
        for name in _WORD.finditer(line):
            if not _is_program(name[0], file.stem, any_name=any_name):
                continue
            if above and file.stem in _COMMON and file.parent.name not in Path(name[0]).parts:
                continue
            words = _words(line[name.end() :].lstrip('`"'))
            if words and all(_fits(word, file.parent, prose=prose) for word in words):
                return words
    return ()


def _is_program(name: str, stem: str, *, any_name: bool) -> bool:
    own = Path(name).name.removesuffix(".exe").removesuffix(".out")
    if own in {stem, f"{stem}_cuda", f"cuda_{stem}"}:
        return True
    return name.startswith("./") and (any_name or own == "a")


def _is_alone(file: Path) -> bool:
    """Tell whether no other source of a folder has a `main()`."""
    try:
        others = [p for p in file.parent.iterdir() if p.suffix in _SOURCES and p != file]
    except OSError:
        return False
    return len(others) <= 64 and not any(_MAIN.search(_read(place)) for place in others)


def _words(rest: str) -> tuple[str, ...]:
    if "<" in rest:
        return ()  # what it reads from its standard input, or a placeholder
    end = _ENDS.search(rest)
    try:
        words = tuple(shlex.split(rest[: end.start()] if end else rest))
    except ValueError:
        return ()
    fits = len(words) <= MOST_WORDS and all(len(word) <= MOST_LENGTH for word in words)
    return words if fits else ()


def _fits(word: str, folder: Path, *, prose: bool) -> bool:
    """Tell whether a word can be an argument here; in prose, other words follow a command too."""
    if set(word) & set("$<>[]{}()*?"):
        return False
    if _NUMBER.fullmatch(word):
        return True
    if _FILE.search(word) and not word.startswith("-"):
        try:
            there = _is_near(folder / word, folder) and (folder / word).exists()
        except OSError:
            return False
        return there or (not prose and "/" not in word and _RESULT.search(word) is not None)
    return word.startswith("-") or not prose


def _guessed(text: str) -> tuple[str, ...]:
    """Make up numbers for a program that counts its arguments and reads each of them as one."""
    counted = _COUNTED.search(text)
    if counted is None:
        return ()
    count = int(counted[2]) - (0 if counted[1] == "<=" else 1)
    if not 0 < count <= 8 or counted[1] == "==":
        return ()
    found = []
    for number in range(1, count + 1):
        read = re.search(
            rf"(?:(\w{{1,64}})\s*(?:=|\()\s*(?:\([\w ]+\)\s*)?)?(?:std\s*::\s*)?"
            rf"(ato(?:i|l|ll|f)|strtou?ll?|strto[fd]|sto\w+)\s*\(\s*argv\s*\[\s*{number}\s*\]",
            text,
        )
        if read is None:
            return ()
        if read[2] in {"atof", "strtof", "strtod", "stof", "stod"}:
            found.append("0.5")
            continue
        name = read[1] or ""
        found.append(next((value for words, value in _GUESSES if words.search(name)), "1024"))
    return tuple(found)
