"""What helps when a file does not build by itself: a header's folder, a library, another way in.

Stdlib only.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

from runners.flags import SHARED, repository

MOST_FOLDERS = 3000
_HEADER = re.compile(
    r"fatal error: ([\w./+-]+): No such file|cannot open source file \"([\w./+-]+)\""
)
_UNDEFINED = re.compile(r"undefined reference to [`'\"]([^`'\"\n]+)['`\"]")
# Headers that come with nvcc: there may be copies in a repository, which are not meant.
_BUILT_IN = re.compile(
    r"(?:thrust|cub|cuda|nv|crt|cooperative_groups)/|"
    r"(?:cuda(?:_runtime(?:_api)?|_fp\d+|_bf16|_pipeline\w*|_awbarrier\w*|_profiler_api|"
    r"_\w+_interop|_device_runtime_api|_occupancy|_surface_types|_texture_types|Profiler|GL|EGL)?|"
    r"cuComplex|cooperative_groups|device_\w+|driver_\w+|vector_(?:types|functions)|texture_\w+|"
    r"surface_\w+|math_(?:functions|constants)|sm_\d+_\w+|mma|builtin_types|channel_descriptor|"
    r"common_functions|host_(?:config|defines)|library_types)\.(?:h|hpp)$"
)
_TOOLKIT = re.compile(
    r"(?:cublas|curand|cufft|cusparse|cusolver|cudnn|npp|nvrtc|nvjpeg|nccl|nvtx|nvToolsExt)"
)
_LIBRARIES = ("cublasLt", "cublas", "curand", "cufft", "cusparse", "cusolver")
_SKIPPED = {"node_modules", "__pycache__", "optiml-out"}
_CAPTURE = (
    "build it as you do, take its launches down with `optiml capture -- ./PROGRAM ARGUMENTS`, "
    "then `optiml run --capture optiml-capture`"
)
_FLAGS = {
    "separate compilation mode|cudadevrt": "kernels that launch kernels need -rdc=true, which is "
    "not supported here",
    "extended.lambda": "set `build: {flags: [--extended-lambda]}` in .optiml.yml",
    "expt-relaxed-constexpr": "set `build: {flags: [--expt-relaxed-constexpr]}` in .optiml.yml",
    r'texture is not a template|identifier "cuda(?:Unb|B)indTexture': "CUDA 12 took texture "
    "references out of the language: use texture objects (cudaCreateTextureObject), or put an "
    "older nvcc first in PATH",
    r'identifier "__(?:shfl\w*|ballot|any|all)" is undefined': "since Volta these want the mask of "
    "lanes that take part, as __shfl_down_sync(0xffffffff, ...)",
}


def advice(printed: str, root: Path, *, several: bool = False) -> str:
    """Return what to do about what a compiler or linker printed; empty when it does not tell.

    `root` is the project's folder; a header is looked for in it, and in the repository around it.
    `several` tells that the text is that of several files (`runners.joined`).
    """
    if several and re.search(r"already been (?:defined|declared)|redefinition of", printed):
        return f"its files cannot be built as one text; {_CAPTURE}"
    found = _HEADER.search(printed)
    if found is not None:
        return _header(found[1] or found[2], root)
    for pattern, text in _FLAGS.items():
        if re.search(pattern, printed):
            return text
    names = _UNDEFINED.findall(printed)
    if not names:
        return ""
    for library in _LIBRARIES:
        if any(name.startswith(library) for name in names):
            return f"link it: `build: {{flags: [-l{library}]}}` in .optiml.yml"
    if any(re.match(r"cu[A-Z]\w+$", name) for name in names):
        return f"the driver API is not linked to programs; {_CAPTURE}"
    return (
        f"{names[0]} is in another file or library; a program is built of its file, sources in its "
        "folder or beside its headers that define what it declares, each in one of them, and "
        f"libraries of the CUDA toolkit. Else {_CAPTURE}"
    )


def _header(name: str, root: Path) -> str:
    """Say where a header is, if it is anywhere in the project or its repository."""
    top = root.resolve()
    while name.startswith(("./", "../")):
        name = name.partition("/")[2]
    for folder in _around(top):
        place = _having(folder, name)
        if place is None:
            continue
        inside = place.relative_to(folder).as_posix()
        if folder == top:
            return (
                f"{name} is in {inside}: set `build: {{include: [{inside}]}}` in .optiml.yml, "
                "which `optiml init` begins"
            )
        return (
            f"{name} is in {place}: put .optiml.yml, which `optiml init` begins, into {folder}, "
            f"with `build: {{include: [{inside}]}}`"
        )
    if _TOOLKIT.match(name) or _BUILT_IN.match(name):
        return f"{name} is of a library of NVIDIA's that is not installed beside nvcc: install it"
    return (
        f"{name} is nowhere in {top}: copy it there and name its folder, "
        f"`build: {{include: [...]}}`, in .optiml.yml. Where it is of another library, {_CAPTURE}"
    )


def folders_of(names: Iterable[str], root: Path) -> dict[str, Path]:
    """Return the folders below which headers are, in the project or else in its repository.

    Those of the compiler's own, and those that are nowhere, are left out.
    """
    wanted = {name for name in names if not _BUILT_IN.match(name)}
    found: dict[str, Path] = {}
    for top in _around(root.resolve()) if wanted else ():
        found |= _holding(top, wanted - found.keys())
        if wanted <= found.keys():
            break
    return found


def _around(top: Path) -> Iterator[Path]:
    """Yield the project's folder and, where it is a part of a repository, those up to that one's.

    Of two headers of one name the nearer one is meant. Without a repository, as unpacked, those
    beside it that are named for what is shared.
    """
    yield top
    around = repository(top)
    if around is None:
        yield from (place for name in SHARED if (place := top.parent / name).is_dir())
    elif around != top:
        for folder in top.parents:
            yield folder
            if folder == around:
                break


def _having(folder: Path, name: str) -> Path | None:
    """Return the first folder, from this one down, below which a header's name is a file."""
    return _holding(folder, {name}).get(name)


def _holding(folder: Path, names: Collection[str]) -> dict[str, Path]:
    """Return the first folder below which each header's name is a file: one walk for all."""
    left = {name: name.partition("/") for name in names}
    found: dict[str, Path] = {}
    for seen, (place, folders, files) in enumerate(os.walk(folder)):
        if seen >= MOST_FOLDERS or not left:
            break
        here = {*files, *folders, ".", ".."}
        folders[:] = sorted(f for f in folders if not f.startswith(".") and f not in _SKIPPED)
        near = [name for name, (first, *_) in left.items() if first in here]
        for name in near:
            if (Path(place) / name).is_file():
                found[name] = Path(place)
                del left[name]
    return found
