"""CUTLASS as a model may see it: search and read, within bounds, in its source tree alone.

The tree is the user's (a setting) or the `nvidia-cutlass` package's. What a model reads there are
headers under a BSD licence; nothing else of the machine is within reach.
"""

from __future__ import annotations

import functools
import re
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from optimizer.errors import ConfigError

if TYPE_CHECKING:
    from optimizer.synthesis.answers import Look

PACKAGE = "cutlass_library/source"
# What one synthesis may look up: a few files' worth, a fraction of a prompt each.
MOST_CALLS = 24
MOST_BYTES = 96 << 10
LONGEST_ANSWER = 6_000
LINES_READ = 120
HITS = 24
LARGEST_FILE = 1 << 20
MOST_FILES = 6_000
_SUFFIXES = (".hpp", ".h", ".cuh", ".cu", ".inl", ".md")
_HEADER = re.compile(r"(cute|cutlass)/[\w/.-]+\.(hpp|h|inl)")
_SHOUTED = re.compile(r"^\s*(?:struct|namespace)\s+([A-Z][A-Z0-9_:]{2,})(?![a-z])", re.MULTILINE)
_VERSION = re.compile(r"#define CUTLASS_(MAJOR|MINOR|PATCH)\s+(\d+)")
# Macros of CuTe that stand for a pragma or nothing inside a function, and enumerators.
_MACROS = frozenset({
    "CUTE_UNROLL", "CUTE_NO_UNROLL", "CUTE_STATIC_ASSERT", "CUTE_STATIC_ASSERT_V", "MN",
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class Tree:
    """A CUTLASS source tree: `root` with `include/cute` below, or an include folder itself."""

    root: Path
    include: Path

    @property
    def version(self) -> str:
        """Return `4.2.0`; empty where the tree does not say."""
        try:
            text = (self.include / "cutlass/version.h").read_text("utf-8", errors="replace")
        except OSError:
            return ""
        found = dict(_VERSION.findall(text))
        return ".".join(found[part] for part in ("MAJOR", "MINOR", "PATCH") if part in found)

    def has(self, name: str) -> bool:
        """Tell whether a header may be included: one of CuTe's or CUTLASS's that is there."""
        if not _HEADER.fullmatch(name) or ".." in name:
            return False
        return _inside(self.include, name) is not None

    @property
    def words(self) -> frozenset[str]:
        """Return names in capitals that CuTe defines, which a boundary takes for macros."""
        return _words(self.include)


def find(setting: str = "", search: Sequence[str] = ()) -> Tree | None:
    """Return the tree a setting names, else that of the package; None when there is none.

    `search` holds the folders of installed packages. Raise `ConfigError` for a setting that names
    no such tree.
    """
    if setting:
        found = _tree(Path(setting).expanduser())
        if found is None:
            raise ConfigError(
                f"{setting} is no CUTLASS source tree: there is no include/cute/tensor.hpp",
                "name the folder of a CUTLASS checkout, or `pip install --no-deps nvidia-cutlass`",
            )
        return found
    for folder in search:
        found = _tree(Path(folder) / PACKAGE)
        if found is not None:
            return found
    return None


class Library:
    """Search and read for one synthesis, counted: past the bounds every answer is a short no."""

    def __init__(self, tree: Tree, calls: int = MOST_CALLS, size: int = MOST_BYTES) -> None:
        self.tree = tree
        self._calls, self._bytes = calls, size
        self._lock = threading.Lock()

    def describe(self) -> str:
        """Say what can be asked, for a prompt."""
        return (
            f"You may look into CUTLASS {self.tree.version} before you write. Instead of a source, "
            'answer {"plan": "...", "source": null, "look": [{"search": "a name", "read": null, '
            '"line": null}, {"search": null, "read": "include/cute/tensor.hpp", "line": 1}], ...}. '
            f"At most {MOST_CALLS} looks. Headers below cute/ and cutlass/ may be included."
        )

    def look(self, looks: Sequence[Look]) -> str:
        """Answer a model's wishes; what comes from files stands behind a bar."""
        parts = []
        for one in looks:
            if one.search:
                parts += [f"search {one.search!r}:", *_barred(self.search(one.search))]
            if one.read:
                name = " ".join(one.read.split())  # a model's words; on their line they stay
                parts += [
                    f"{name} from line {one.line}:",
                    *_barred(self.read(one.read, one.line)),
                ]
        return "\n".join(parts)

    def search(self, word: str) -> str:
        """Return lines that hold a word, as `path:line: text`; the text is taken as it is."""
        if not self._paid(0):
            return "no more looks: write the kernel"
        if len(word.strip()) < 3:
            return "a word of at least three letters is needed"
        found: list[str] = []
        for path in _files(self.tree.root):
            text = _text(path)
            if word not in text:
                continue
            name = path.relative_to(self.tree.root).as_posix()
            for number, line in enumerate(text.splitlines(), 1):
                if word in line:
                    found.append(f"{name}:{number}: {line.strip()[:160]}")
                    if len(found) >= HITS:
                        return self._bounded("\n".join(found))
        return self._bounded("\n".join(found) or "nothing")

    def read(self, name: str, line: int = 1) -> str:
        """Return part of a file of the tree, from a line on, with line numbers."""
        if not self._paid(0):
            return "no more looks: write the kernel"
        path = _inside(self.tree.root, name) or _inside(self.tree.include, name)
        if path is None:
            return "there is no such file in the tree"
        lines = _text(path).splitlines()
        shown = lines[line - 1 : line - 1 + LINES_READ]
        text = "\n".join(f"{line + n:5} {one[:200]}" for n, one in enumerate(shown))
        left = len(lines) - (line - 1 + len(shown))
        return self._bounded(text + (f"\n({left} more lines)" if left > 0 else ""))

    def _bounded(self, text: str) -> str:
        text = text[:LONGEST_ANSWER]
        with self._lock:
            if len(text) > self._bytes:
                text = text[: self._bytes]
            self._bytes -= len(text)
        return text

    def _paid(self, size: int) -> bool:
        with self._lock:
            if self._calls <= 0 or self._bytes <= size:
                return False
            self._calls -= 1
            return True


def _tree(folder: Path) -> Tree | None:
    for root, include in ((folder, folder / "include"), (folder, folder)):
        if (include / "cute/tensor.hpp").is_file():
            return Tree(root.resolve(), include.resolve())
    return None


def _inside(root: Path, name: str) -> Path | None:
    """Return a source file below a folder, links followed; None for anything else."""
    try:
        path = (root / name).resolve()
        fits = path.is_relative_to(root) and path.suffix in _SUFFIXES and path.is_file()
        return path if fits and path.stat().st_size <= LARGEST_FILE else None
    except (OSError, ValueError):
        return None


def _files(root: Path) -> Iterator[Path]:
    """Yield the sources of a tree: CuTe first, where what is wanted most often is."""
    seen = 0
    for part in ("include/cute", "cute", "examples/cute", "include/cutlass", "cutlass", "examples"):
        folder = root / part
        if not folder.is_dir() or (part == "examples" and not folder.is_dir()):
            continue
        for path in sorted(folder.rglob("*")):
            if path.suffix in _SUFFIXES and _inside(root, str(path.relative_to(root))) is not None:
                seen += 1
                if seen > MOST_FILES:
                    return
                yield path


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8", errors="replace")
    except OSError:
        return ""


def _barred(text: str) -> list[str]:
    return [f"    | {line}" for line in text.splitlines()]


@functools.lru_cache(maxsize=4)
def _words(include: Path) -> frozenset[str]:
    found = set(_MACROS)
    for folder in ("cute/arch", "cute/atom", "cute/algorithm"):
        for path in sorted((include / folder).glob("*.hpp")):
            for name in _SHOUTED.findall(_text(path)):
                found.update(part for part in name.split("::") if part)
    return frozenset(found)
