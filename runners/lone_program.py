"""A file with `main()` that no project file describes: how it is built, read off its text.

A library's header names the library, and a few words of the language name the flag without which
nvcc refuses them. Its makefile is asked for names alone that the text uses and nobody defines.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from optimizer.model import Build, Kernel, Kind, Program, Workload
from optimizer.source import Source
from runners import (
    build_advice,
    companions,
    header_digest,
    header_tree,
    joined,
    makefile_names,
    usual_arguments,
)
from runners.fault import Fault
from runners.flags import near, repository

MOST_HEADERS, MOST_BYTES = 40, 1 << 20
MOST_STEPS = 3  # from folder to folder that headers are followed
MOST_LEVELS = 4  # of folders in which the program of a source is looked for
_INCLUDE = companions.INCLUDE
# The header of a library of the CUDA toolkit, and what links it; all are in `runners.flags`.
_LIBRARIES = {
    "cublas.h": "-lcublas",
    "cublas_v2.h": "-lcublas",
    "cublasLt.h": "-lcublasLt",
    "cublasXt.h": "-lcublas",
    "cufft.h": "-lcufft",
    "cufftXt.h": "-lcufft",
    "curand.h": "-lcurand",
    "cusolverDn.h": "-lcusolver",
    "cusolverSp.h": "-lcusolver",
    "cusolverRf.h": "-lcusolver",
    "cusparse.h": "-lcusparse",
    "cusparse_v2.h": "-lcusparse",
}
_SUFFIXES = (".h", ".hpp", ".hh", ".cuh", ".inl")
_SYSTEM = (Path("/usr/include"), Path("/usr/local/include"), Path("/usr/include/x86_64-linux-gnu"))
_CXX20 = {
    "barrier", "bit", "compare", "concepts", "format", "latch", "numbers", "ranges", "semaphore",
    "source_location", "span",
}  # fmt: skip
_WORDS = (
    # a lambda for the device: [=] __device__ (int i) { ... }
    (re.compile(r"\][ \t]*(?:\([^()]*\)[ \t]*)?(?:__host__\s+)?__device__\b"), "--extended-lambda"),
    # host functions that are constexpr may be called in kernels
    (
        re.compile(r"\bstd::(?:min|max|clamp|numeric_limits|array|pair|tuple|swap|complex)\b"),
        "--expt-relaxed-constexpr",
    ),
    (re.compile(r"^[ \t]*#[ \t]*(?:pragma[ \t]+omp\b|include[ \t]*<omp\.h>)", re.MULTILINE),
     "-Xcompiler=-fopenmp"),
)  # fmt: skip

_ELSEWHERE = (
    "kernels are edited in the file that is named, in headers of its repository that it includes, "
    "and in sources beside it that define what it declares. For others build the program as you "
    "do, take its launches down with `optiml capture -- ./PROGRAM ARGUMENTS`, then "
    "`optiml run --capture optiml-capture`"
)


def build(texts: Sequence[str]) -> Build:
    """Return how a program is built, by the texts of its file and of its own headers.

    >>> build(["#include <cublas_v2.h>"]).flags
    ('-O3', '-std=c++17', '-lcublas')
    """
    flags = list(Build().flags)
    names = {name for text in texts for name in _INCLUDE.findall(text)}
    if names & _CXX20:
        flags = [flag.replace("c++17", "c++20") for flag in flags]
    flags += [flag for words, flag in _WORDS if any(words.search(text) for text in texts)]
    flags += sorted({_LIBRARIES[name] for name in names & _LIBRARIES.keys()})
    return replace(Build(), flags=tuple(flags))


def workload(text: str, path: str, root: Path) -> Workload | None:
    """Return a source with `main()` as a program run without arguments; None if it has no main.

    `path` is its place below `root`. No file is looked at.
    """
    if not Source(text).has_main:
        return None
    program = Program(exit=None)
    stem = Path(path).stem
    return Workload(stem, Kind.PROGRAM, program=program, build=build([text]), root=str(root))


def on_disk(text: str, file: Path, root: Path) -> Workload | None:
    """Return the same for a file below `root`, built as its own headers ask, too.

    It is run with the arguments that its authors run it with (`runners.usual_arguments`).
    """
    found = workload(text, file.relative_to(root).as_posix(), root)
    if found is None or found.program is None:
        return None
    texts = [text, *own_headers(text, file).values()]
    folders = include_folders(texts, file, root)
    for _ in range(MOST_STEPS):
        # Headers of other folders include others: those are looked for in their turn.
        places = [os.path.relpath(root / one, file.parent) for one in folders]
        texts = [text, *own_headers(text, file, places).values()]
        known, folders = folders, include_folders(texts, file, root)
        if known == folders:
            break
    made = build(texts)
    flags = (*made.flags, *makefile_names.needed(file.parent, texts))
    made = replace(made, flags=flags, include=folders)
    words = usual_arguments.usual(text, file)
    runs = (words.words,) if words is not None else found.program.runs
    return replace(found, build=made, program=replace(found.program, runs=runs))


def include_folders(texts: Sequence[str], file: Path, root: Path) -> tuple[str, ...]:
    """Return folders of headers that are not where the compiler looks, relative to `root`.

    A header is looked for by its name where a makefile beside the file says, in the project and in
    the repository around it, as in `#include <helper_cuda.h>` with that in `Common`; the system's
    come with the compiler.
    """
    found: dict[str, None] = {}
    given = [place for place in makefile_names.folders(file.parent) if _within(root, place)]
    names = [
        name
        for name in sorted({name for text in texts for name in _INCLUDE.findall(text)})
        if name.endswith(_SUFFIXES)
        and ".." not in name
        and not any((folder / name).is_file() for folder in (file.parent, *_SYSTEM))
    ]
    shown = {
        name: place
        for name in names
        if (place := next((one for one in given if (one / name).is_file()), None)) is not None
    }
    elsewhere = build_advice.folders_of(set(names) - shown.keys(), root)
    for name in names:
        place = shown.get(name) or elsewhere.get(name)
        if place is not None and place != file.parent:
            found[os.path.relpath(place, root.resolve())] = None
    return tuple(found)


def _within(root: Path, place: Path) -> bool:
    """Tell whether the compiler may be shown a folder."""
    try:
        near(root, os.path.relpath(place, root.resolve()))
    except Fault:
        return False
    return True


def own_headers(text: str, file: Path, folders: Sequence[str] = ()) -> dict[str, str]:
    """Return the headers that a file includes from its own folder and below, by path, with texts.

    And from other folders, relative to its own. Those that cannot be read are left out, and so are
    those outside of the repository or, without one, of the folder around: a stranger's file may
    name any other file of this host.
    """
    found: dict[str, str] = {}
    places = [file.parent, *(file.parent / one for one in folders)]
    around = repository(file.parent.resolve()) or file.parent.resolve().parent
    for path in sorted(header_digest.included(text, places)[0])[:MOST_HEADERS]:
        if around not in Path(path).parents:
            continue
        try:
            with Path(path).open("rb") as header:
                data = header.read(MOST_BYTES)
        except OSError:
            continue
        found[path] = data.decode("utf-8", errors="replace").replace("\r\n", "\n")
    return found


def joinable(text: str, file: Path) -> dict[str, str]:
    """Return the headers with device code that may stand in a program's text, by name, with texts.

    Those that it includes itself. Others may stand in these (`runners.header_tree`).
    """
    own, found = _tree(text, file)
    return {
        one.name: found.standing[one.path].text
        for one in own.includes
        if one.path in found.standing
    }


def _standing(text: str, file: Path) -> set[Path]:
    """Return the headers that stand in a program's text."""
    return set(_tree(text, file)[1].standing)


def _tree(text: str, file: Path) -> tuple[header_tree.Text, header_tree.Tree]:
    places = _places(file, [text])
    own = header_tree.read(places.home / file.name, text, places)
    return own, header_tree.tree([own], places, lambda place: _within(places.home, place))


def _places(file: Path, texts: Sequence[str], more: Sequence[Path] = ()) -> header_tree.Places:
    """Return where the headers of a program's texts are looked for."""
    home = file.parent.resolve()
    folders = (home / one for one in include_folders(texts, file, file.parent))
    every = tuple(dict.fromkeys(one.resolve() for one in (*more, *folders)))
    return header_tree.Places(home, every, repository(home) or home.parent)


def compiled_beside(text: str, file: Path) -> dict[str, str]:
    """Return sources beside a program that define what it only declares, by name, with texts.

    Those that stand in its text. Empty where two of them define the same: then a makefile chooses.
    """
    return dict(beside(text, file).joined)


def beside(text: str, file: Path) -> companions.Companions:
    """Return the sources that a program is built of besides its own file."""
    headers = own_headers(text, file)
    folders = include_folders([text, *headers.values()], file, file.parent)
    return companions.companions(text, file, own_headers(text, file, folders))


def users(file: Path) -> tuple[Path, ...]:
    """Return programs that a file is a part of, in its folder and those above in its repository."""
    found = []
    for folder in folders_up(file.parent):
        here = sorted(p for p in folder.iterdir() if p.suffix in companions.COMPILED)
        for path in here[:MOST_HEADERS]:
            text = None if path == file else companions.exact(path)
            if text is None or not Source(text).has_main:
                continue
            if file in _standing(text, path) or file in _files(beside(text, path), path):
                found.append(path)
    return tuple(found)


def folders_up(folder: Path) -> tuple[Path, ...]:
    """Return a folder and those above it, nearest first, as far as its repository goes."""
    top = repository(folder)
    near = (folder, *folder.parents)[:MOST_LEVELS]
    return tuple(one for one in near if one == folder or (top and one.is_relative_to(top)))


def _files(found: companions.Companions, file: Path) -> set[Path]:
    """Return the files that a program is built of besides its own."""
    lead = {found.lead[0]} if found.lead else set()
    return {file.parent / name for name in found.joined} | {*found.apart} | lead


def with_headers(kernel: Kernel, workload: Workload, file: Path) -> tuple[Kernel, Workload]:
    """Return a program with kernels of its headers, and sources beside it, in its own text.

    Sources that cannot stand there are compiled as they are. The kernel's path is that of another
    file where the program's own is one of those.
    """
    found = beside(kernel.source, file)
    lead, text = found.lead or (file, kernel.source)
    root = Path(workload.root)
    others = [text, *found.joined.values()]
    shown = [root / one for one in workload.build.include]
    places = _places(lead, others, shown)
    names = [lead.name, *found.joined]
    parts = zip(names, others, strict=True)
    files = [header_tree.read(places.home / name, one, places) for name, one in parts]
    stands = header_tree.tree(files, places, lambda place: _within(root, place))
    if not stands.standing and not found.joined and not found.apart:
        return kernel, workload
    own, *rest = [stands.written(one, places.home) for one in files]
    joint = joined.join(own, {}, dict(zip(found.joined, rest, strict=True)))
    folders = [os.path.relpath(place, root.resolve()) for place in stands.folders]
    more = [*others, *(one for path in found.apart if (one := companions.exact(path)))]
    folders += include_folders(more[1:], lead, root)
    include = tuple(dict.fromkeys([*workload.build.include, *folders]))
    wanted = (f for f in build(more).flags if f not in workload.build.flags)
    flags = (*workload.build.flags, *(f for f in wanted if not f.startswith(("-O", "-std"))))
    defined = makefile_names.needed(file.parent, [joint, *more[len(others) :]])
    flags += tuple(one for one in defined if one not in flags)
    sources = tuple(os.path.relpath(path, root) for path in found.apart)
    build_ = replace(workload.build, include=include, flags=flags, sources=sources)
    place = os.path.relpath(lead, root) if found.lead else kernel.path
    return replace(kernel, source=joint, path=place), replace(workload, build=build_)


def others(kernel: Kernel, workload: Workload, file: Path) -> dict[str, str]:
    """Return the files that a program is built of and that are not edited, by path, with texts."""
    found = own_headers(kernel.source, file)
    for name in workload.build.sources:
        path = Path(workload.root) / name
        found[str(path)] = companions.exact(path) or ""
    return found


def nothing_to_edit(kernel: Kernel, headers: Mapping[str, str]) -> tuple[str, str] | None:
    """Say why a program's file holds nothing that an edit could make faster, and what to do.

    None when it defines a `__global__` function. `headers` are what it is built of besides.
    """
    if Source(kernel.source).kernels:
        return None
    why = f"{kernel.path} has a main() and no __global__ function, so there is nothing to edit"
    elsewhere = [Path(path).name for path, text in headers.items() if Source(text).kernels]
    if elsewhere:
        why += f"; the kernels are in {', '.join(elsewhere)}"
    return why, _ELSEWHERE
