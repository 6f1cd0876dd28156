"""From a file named on the command line to what is optimized, by the project file around it."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from bot import init
from bot.checkout import Reading
from optimizer.errors import ConfigError
from optimizer.model import Kernel, Workload
from optimizer.source import Source
from runners import companions, lone_program, usual_arguments
from runners.workload import PROJECT_FILE, program_workload, read_project, recoding

FILE = PROJECT_FILE
_SUFFIXES = (".cu", ".cuh")


@dataclass(frozen=True, slots=True)
class Declared:
    """Kernels of one file with their workloads, and the settings its project gives.

    `remarks` say what was found out that nobody said.
    """

    kernels: tuple[tuple[Kernel, Workload], ...]
    settings: Mapping[str, object] = field(default_factory=dict[str, object])
    remarks: tuple[str, ...] = ()


def of_file(
    file: Path, name: str | None = None, arguments: Sequence[str] = (), *, headers: bool = False
) -> Declared:
    """Return what is to be optimized in a file: its entries of `.optiml.yml`, or the program it is.

    `name` picks one entry. `arguments` are what a program is run with instead of what its entry
    says. With `headers`, kernels in a program's own headers stand in its text
    (`runners.joined`). Raise `ConfigError` when nothing says how the file is run.
    """
    path = checked(file)
    project = _project_file(path)
    if project is not None:
        found = read_project(project)
        inside = path.relative_to(found.root.resolve()).as_posix()
        here = [one for one in found.kernels() if one[0].path == inside]
        chosen = [one for one in here if name in (None, one[1].name, one[1].symbol)]
        if chosen:
            run = ((kernel, _with(workload, arguments, file)) for kernel, workload in chosen)
            return Declared(
                tuple(
                    lone_program.with_headers(kernel, workload, path)
                    if headers and workload.program is not None
                    else (kernel, workload)
                    for kernel, workload in run
                ),
                found.config.given(),
            )
        if here:
            known = ", ".join(workload.name for _, workload in here)
            raise ConfigError(f"{project} has no kernel {name!r} for {file}", f"it has: {known}")
    program = program_workload(path, _start(path, arguments))
    if program is None:
        text = Source(text_of(path))
        if not text.kernels and not text.launches:
            raise ConfigError(
                f"{file} has no main(), and neither defines nor launches a kernel",
                "name the source that does",
            )
        where = f"{project} does not mention {file}" if project else f"no {FILE} describes {file}"
        remedy = f"`optiml init {file}` writes a first {FILE} from what it finds"
        if users := lone_program.users(path):
            whole = os.path.normpath(file.parent / os.path.relpath(users[0], path.parent))
            remedy = f"`optiml run {whole}` runs the program it is part of; or "
            remedy += f"`optiml init {file}` writes a first {FILE}"
        raise ConfigError(f"{where}, and it has no main()", remedy)
    if name is not None:
        raise ConfigError(
            f"{file} is run as a program, which has no kernel {name!r} to pick",
            f"leave --kernel out, or describe the kernel in {FILE}",
        )
    kernel, workload = lone_program.with_headers(*program, path) if headers else program
    trouble = lone_program.nothing_to_edit(kernel, lone_program.others(kernel, workload, path))
    if trouble is not None:
        raise ConfigError(*trouble)
    remarks = () if arguments else _remarks(program[0], path)
    return Declared(((kernel, _with(workload, arguments, file)),), remarks=remarks)


def _remarks(kernel: Kernel, path: Path) -> tuple[str, ...]:
    """Say with which arguments a program is run that nobody named."""
    found = usual_arguments.usual(kernel.source, path)
    if found is None:
        return ()
    return (f"{path.name} is run with {shlex.join(found.words)}, {found.origin}",)


def _start(path: Path, arguments: Sequence[str]) -> Path | None:
    """Return where a program starts if not in its own folder: where its arguments name files.

    `optiml run src/main.cu -- data/in.txt` means the file that the shell would complete.
    """
    here = Path.cwd()
    named = [one for one in arguments if not one.startswith(("/", "-")) and (here / one).exists()]
    if path.is_relative_to(here) and any(not (path.parent / one).exists() for one in named):
        return here
    return None


def _with(workload: Workload, arguments: Sequence[str], file: Path) -> Workload:
    """Return a program's workload with the arguments of the command line, if there are any."""
    if not arguments:
        return workload
    other = next((one for one in arguments if one.endswith(_SUFFIXES) and Path(one).is_file()), "")
    if other:
        raise ConfigError(f"{file} and {other} are two files", "name one after the other")
    if workload.program is None:
        raise ConfigError(
            f"{file} is not run as a program, which could take {' '.join(arguments)}",
            f"{workload.name} gets its arguments from {FILE}; leave out what follows the file",
        )
    return replace(workload, program=replace(workload.program, runs=(tuple(arguments),)))


def checked(file: Path) -> Path:
    """Return a CUDA file's full path. Raise `ConfigError` when it is none."""
    if not file.exists():
        raise ConfigError(f"there is no file {file}", _sources_near(file.parent))
    if file.is_dir():
        raise ConfigError(f"{file} is a folder", _programs_of(file))
    if not file.is_file() or file.suffix not in (*_SUFFIXES, *companions.MAINS):
        raise ConfigError(f"{file} is not a CUDA source", "name a .cu file")
    return file.resolve()


def _sources_near(folder: Path) -> str:
    """Say which CUDA sources a folder holds, or those folders in it."""
    found = sorted(folder.glob("*.cu")) or sorted(folder.glob("*/*.cu"))
    named = ", ".join(str(one) for one in found[:5])
    return f"here are: {named}" if named else "name a .cu file; none is here"


def _programs_of(folder: Path) -> str:
    """Say which programs a folder holds, or else which sources."""
    sources = sorted(p for p in folder.iterdir() if p.suffix in companions.COMPILED)
    texts = ((path, companions.exact(path)) for path in sources[: companions.MOST_FILES])
    found = [path for path, text in texts if text is not None and Source(text).has_main]
    if found:
        return f"name one of its programs: {', '.join(map(str, found))}"
    return _sources_near(folder)


def text_of(file: Path) -> str:
    """Return a source as it is, line ends included. Raise `ConfigError` when it is not text."""
    try:
        with file.open(encoding="utf-8", newline="") as stream:
            return stream.read()
    except UnicodeDecodeError as error:
        message = f"{file} is not UTF-8 (byte {error.start})"
        raise ConfigError(message, recoding(file)) from error
    except OSError as error:
        raise ConfigError(f"{file}: {error.strerror}") from error


def root_of(path: Path) -> Path:
    """Return the folder that a file's paths are relative to: its project's, else its own."""
    project = _project_file(path)
    return project.parent if project is not None else path.parent


def _project_file(path: Path) -> Path | None:
    """Return the nearest project file above a source, not beyond its repository."""
    for folder in path.parents:
        if (folder / FILE).is_file():
            return folder / FILE
        if (folder / ".git").exists():
            return None
    return None


def _kernels(path: Path) -> Sequence[tuple[Kernel, Workload]]:
    return read_project(path).kernels()


def _snippet(file: Path, root: Path) -> str:
    return init.project(root, [file])


READING = Reading(_kernels, program_workload, _snippet)


def noting(given: list[Mapping[str, object]]) -> Reading:
    """Return a reading that also notes what settings the projects it reads give."""

    def kernels(path: Path) -> Sequence[tuple[Kernel, Workload]]:
        found = read_project(path)
        given.append(found.config.given())
        return found.kernels()

    return replace(READING, project=kernels)


def joined(given: Sequence[Mapping[str, object]]) -> dict[str, object]:
    """Return settings for several projects at once: the least of a figure, the first of a word.

    >>> joined([{"minutes": 5.0, "policy": "rules"}, {"minutes": 2.0, "policy": "mixed"}])
    {'minutes': 2.0, 'policy': 'rules'}
    """
    found: dict[str, object] = {}
    for one in given:
        for name, value in one.items():
            known = found.get(name)
            if isinstance(known, int | float) and isinstance(value, int | float):
                found[name] = min(known, value)
            elif known is None and value is not None:
                found[name] = value
    return found
