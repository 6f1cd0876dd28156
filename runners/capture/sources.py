"""Which file of a project a kernel is written in, by its name."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from optimizer.errors import ConfigError
from optimizer.source import Source
from runners.capture import manifest
from runners.capture.names import demangled

_SKIPPED = frozenset({".git", ".venv", "node_modules", "build", "third_party", "external"})
_SUFFIXES = (".cu", ".cuh")
_LARGEST = 4 << 20
_MOST_FILES = 20_000


@dataclass(frozen=True, slots=True)
class Written:
    """A kernel as a file has it: how many parameters it takes."""

    path: Path
    parameters: int


def files(root: Path) -> Iterator[Path]:
    """Yield the CUDA sources below a folder, nearest first."""
    found = [
        path
        for suffix in _SUFFIXES
        for path in root.rglob(f"*{suffix}")
        if not _SKIPPED & set(path.relative_to(root).parts)
    ]
    for path in sorted(found, key=lambda p: (len(p.parts), p))[:_MOST_FILES]:
        if path.is_file() and path.stat().st_size <= _LARGEST:
            yield path


def kernels(paths: Sequence[Path]) -> dict[str, list[Written]]:
    """Return the kernels of files by their plain names."""
    found: dict[str, list[Written]] = {}
    for path in paths:
        text = path.read_bytes().decode(errors="replace")
        if "__global__" not in text:
            continue
        for one in Source(text).kernels:
            found.setdefault(one.name, []).append(Written(path, len(one.parameters)))
    return found


def source_of(known: Mapping[str, Sequence[Written]], name: str, count: int) -> Path | None:
    """Return the file a kernel is in, by its demangled name and number of parameters.

    None when it is in none. Raise `ConfigError` when it could be in several.
    """
    plain = demangled(name).plain
    places = known.get(plain, ())
    fitting = list(dict.fromkeys(one.path for one in places if one.parameters == count))
    if len(fitting) > 1:
        sources = [path for path in fitting if path.suffix == ".cu"]
        if len(sources) != 1:
            listed = ", ".join(str(path) for path in fitting[:6])
            raise ConfigError(
                f"{plain} is written in several files: {listed}", "pick with --source"
            )
        return sources[0]
    if fitting:
        return fitting[0]
    return places[0].path if places else None


def chosen(capture: manifest.Capture, name: str | None) -> list[int]:
    """Return the numbers of a capture's kernels that a name means; all without one."""
    squeezed = re.sub(r"\s+", "", name or "")
    found = []
    for number, one in enumerate(capture.kernels):
        said = demangled(one.name)
        names = {one.symbol, said.plain, re.sub(r"\s+", "", said.instance)}
        if name is None or squeezed in names:
            found.append(number)
    if not found:
        known = ", ".join(demangled(one.name).instance for one in capture.kernels) or "none"
        wanted = f"no kernel {name!r}" if name else "no kernel"
        raise ConfigError(f"the capture holds {wanted}", f"it holds: {known}")
    return found
