"""Which compiler flags a project may set. Everything not listed is refused. Stdlib only."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from runners.fault import Fault

MOST_PARENTS = 8
SHARED = ("common", "Common", "include", "inc", "util", "utils", "shared", "src")
_NAME = r"[A-Za-z_]\w*"
_VALUE = r"[\w.+\-]*"
_ALLOWED = tuple(
    re.compile(pattern, re.ASCII)
    for pattern in (
        r"-O[0-3]",
        r"--?std=(c\+\+(11|14|17|20|23))",
        rf"-D{_NAME}(={_VALUE})?",
        rf"-U{_NAME}",
        r"--?(expt-)?relaxed-constexpr|--?expt-relaxed-constexpr",
        r"--?(expt-)?extended-lambda",
        r"--?maxrregcount=\d{1,3}",
        r"--?(generate-line-info|lineinfo)",
        r"--?(fmad|ftz|prec-div|prec-sqrt|extra-device-vectorization)(=(true|false))?",
        r"--?default-stream=(legacy|per-thread|null)",
        r"--?(restrict|w|disable-warnings|Werror=cross-execution-space-call)",
        r"--?diag[-_]suppress[=\d,]+",
        r"-m64",
        r"-Xptxas=(-O[0-3]|-v|-warn-spills|-dlcm=(ca|cg|cs|cv)|-dscm=(wb|cg|cs|wt))",
        r"-Xptxas=--allow-expensive-optimizations=(true|false)",
        r"-Xcompiler=(-O[0-3]|-Wall|-Wextra|-fPIC|-fopenmp|-pthread|-march=native|-ffast-math)",
    )
)
_FAST = re.compile(r"--?(use[_-]fast[_-]math)")
_LIBRARY = re.compile(r"-l(cublas|cublasLt|curand|cufft|cusparse|cusolver|cudart|m|pthread|gomp)")
_ALIASES = {
    "--ptxas-options": "-Xptxas", "-ptxas-options": "-Xptxas",
    "--compiler-options": "-Xcompiler", "-compiler-options": "-Xcompiler",
    "--maxrregcount": "-maxrregcount", "--std": "-std", "--include-path": "-I",
    "--define-macro": "-D", "--undefine-macro": "-U", "--library": "-l", "--optimize": "-O",
    "--diag-suppress": "-diag-suppress",
}  # fmt: skip
_WITH_VALUE = {
    "-Xptxas", "-Xcompiler", "-maxrregcount", "-std", "-I", "-D", "-U", "-l", "-O",
    "-diag-suppress",
}  # fmt: skip
_WHY = (
    (
        r"--?(arch|gpu-arch|gencode|generate-code|code|gpu-code)",
        "leave the architecture out: the device decides it",
    ),
    (r"--?(rdc|relocatable-device-code|dc|dw|dlink)", "separate device linking is not supported"),
    (r"-G|--?device-debug", "debug code is not worth timing: remove it"),
    (
        r"-ccbin|--compiler-bindir|@|-optf|--options-file|-Xlinker|-Xarchive",
        "it could run another program: remove it",
    ),
    (r"-L|--library-path", "only libraries of the CUDA toolkit are linked: remove it"),
)


def allowed_flags(
    flags: Sequence[str], root: Path, *, fast_math: bool = False, libraries: bool = True
) -> list[str]:
    """Return the flags in nvcc's short form. Raise `Fault` naming the first that is refused.

    `-I` must stay inside `root`. Fast math needs the project's leave, because it changes results.
    """
    found: list[str] = []
    for flag in _joined(flags):
        if flag.startswith("-I"):
            found.append(f"-I{inside(root, flag[2:])}")
        elif _FAST.fullmatch(flag) or flag == "-Xcompiler=-ffast-math":
            if not fast_math:
                remedy = "set accept.allow_fast_math: true if less exact results are welcome"
                raise Fault("ConfigError", f"the flag {flag} changes results", remedy)
            found.append(flag)
        elif _LIBRARY.fullmatch(flag):
            found += [flag] if libraries else []
        elif any(pattern.fullmatch(flag) for pattern in _ALLOWED):
            found.append(flag)
        else:
            why = (text for pattern, text in _WHY if re.match(f"({pattern})", flag))
            remedy = next(why, "remove it from build.flags; docs/settings lists those allowed")
            raise Fault("ConfigError", f"the compiler flag {flag} is not allowed", remedy)
    return found


def inside(root: Path, folder: str) -> Path:
    """Return a folder of the project as a path. Raise `Fault` if it leads out of the project."""
    top = root.resolve()
    found = _resolved(top, folder)
    if found != top and top not in found.parents:
        message = f"the include path {folder} leads out of the project"
        raise Fault("ConfigError", message, "copy what is needed into the project")
    return found


def near(root: Path, folder: str) -> Path:
    """Return an include folder of the project, or of the repository that the project is a part of.

    The latter is for folders that were found to hold a header; what a project file names must be
    `inside`. Without a repository it is what lies beside the project and is named for what is
    shared. Raise `Fault` if it leads out of both.
    """
    top = root.resolve()
    found = _resolved(top, folder)
    around = repository(top)
    allowed = [top.parent / name for name in SHARED] if around is None else [around]
    if any(found == one or one in found.parents for one in allowed):
        return found
    return inside(root, folder)


def _resolved(top: Path, folder: str) -> Path:
    try:
        return (top / folder).resolve()
    except (ValueError, OSError, RuntimeError) as error:  # a NUL, links in a ring
        message = f"the path {folder!r} is none: {error}"
        raise Fault("ConfigError", message, "name a folder of the project") from error


def repository(root: Path) -> Path | None:
    """Return the folder of the repository around a project; None where there is none nearby."""
    return next((p for p in (root, *root.parents[:MOST_PARENTS]) if (p / ".git").exists()), None)


def _joined(flags: Sequence[str]) -> list[str]:
    """Bring each flag and its value together: `-D N=1` to `-DN=1`, `-Xptxas -v` to `-Xptxas=-v`.

    A list as in `-Xptxas -O3,-v` becomes one flag for each.
    """
    found: list[str] = []
    rest = [flag.strip() for flag in flags]
    while rest:
        flag = rest.pop(0)
        name, equals, value = flag.partition("=")
        name = _ALIASES.get(name, name)
        if name in _WITH_VALUE and not equals and rest:
            value, equals = rest.pop(0), "="
        if name in {"-Xptxas", "-Xcompiler"} and equals:
            found += [f"{name}={part}" for part in value.split(",")]
        elif name in {"-I", "-D", "-U", "-l", "-O"} and equals:
            found.append(f"{name}{value}")
        elif name in {"-maxrregcount", "-std", "-diag-suppress"} and equals:
            found.append(f"{name}={value}")
        else:
            found.append(flag)
    return found
