"""Compile a source for one GPU: command line, errors, resource usage, symbols, digest.

Stdlib only: the worker imports it. nvcc runs in the sandbox, because a source can make a compiler
read files and run for ever.
"""

from __future__ import annotations

import errno
import hashlib
import json
import re
import shutil
import threading
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from runners import altering, build_advice, cubin, diagnostics, joined, sass
from runners.fault import Fault
from runners.flags import allowed_flags, near
from runners.header_digest import beyond, header_digest, included
from runners.hosttext import host_digest
from runners.sandbox import Finished, Limits, Sandbox
from runners.toolchain import Toolchain

ArtifactKind = Literal["cubin", "shared", "program", "ptx"]
COMPILE_SECONDS = 90.0
LIBRARY_SECONDS = 180.0  # a template library: a small CuTe kernel takes 20 s on a slow core
COMPILE_BYTES = 6 << 30  # of address space; large programs take under 2 GiB
# One file that a compiler writes, and what all its processes hold. An array that is spelled out in
# device code can make them as large as an address space.
WRITTEN_BYTES = 512 << 20
RESIDENT_BYTES = 8 << 30
COMPILE_PROCESSES = 64
MAX_SOURCE_BYTES = 4 << 20
PTX_SUFFIX = ".altered.ptx"  # of what we made from PTX; a project's sources are CUDA C++
# CuTe's names for WGMMA, TMA and what came after: code for sm_90a, not for sm_90 (PTX ISA, wgmma).
_SPECIFIC = re.compile(r"\bSM(90|1[0-9][0-9])_|\b(warpgroup|wgmma)\w*|/sm(90|1[0-9][0-9])_")
# Messages that are about this machine and not about the source, and what to do.
_TOO_MUCH = {
    "memory": "ran out of memory or was killed",
    "processes": "started too many processes",
    "disk": "wrote too much",
    "files": "wrote too many files",
    "output": "printed too much",
}
_OUT_OF_ROOM = r"bad_alloc|out of memory|File size limit|File too large|No space left on device"
# Names that CUDA 13 took out of the runtime, as nvcc misses them, and a header that has them.
_OLDER = re.compile(
    r'identifier "cudaThread\w+" is undefined|'
    r'"cudaDeviceProp" has no member "(?:clockRate|deviceOverlap|kernelExecTimeoutEnabled|'
    r"computeMode|memoryClockRate|maxTexture1DLinear|singleToDoublePrecisionPerfRatio|"
    r'cooperativeMultiDeviceLaunch)"|to "cudaMemLocation"'
)
_OLDER_CUDA = Path(__file__).with_name("older_cuda.h")
_ABSOLUTE = re.compile(r"[<\"]\s*/[^\">\n]*[>\"]")
_FULL = r"No space left on device"
_HOST_TROUBLES = (
    (_FULL, "RunnerError", "the disk is full", "free some disk space"),
    (
        r"(?:gcc|g\+\+|cc1plus)[^\n]*(?:[Nn]o such file or directory$|not found)|find compiler",
        "NoDeviceError",
        "nvcc finds no host compiler",
        "install g++",
    ),
    (
        r"cannot find -l(?:cudart|cudadevrt)",
        "NoDeviceError",
        "the CUDA runtime library is missing",
        "install the CUDA runtime (the wheel nvidia-cuda-runtime) beside nvcc",
    ),
    (
        r"unsupported GNU version",
        "NoDeviceError",
        "this nvcc does not support the machine's g++",
        "install an older g++ or a newer CUDA toolkit",
    ),
)


@dataclass(frozen=True, slots=True)
class Options:
    """A project's compiler flags and include folders; `fast_math` tells that it allows that.

    `library` is a folder of headers outside the project that the user, never a project, named.
    `sources` are files of the project that are linked to a program as they are.
    """

    flags: tuple[str, ...] = ("-O3", "-std=c++17")
    include: tuple[str, ...] = ()
    fast_math: bool = False
    library: Path | None = None
    sources: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Artifact:
    """What came out of the compiler; `as_json` is its form on the wire.

    `symbols` maps names as written in source to mangled ones. `cubin` is the device code by
    itself. `machine_code` identifies device code, host text and launch.
    """

    path: str
    kind: ArtifactKind
    symbols: dict[str, str]
    resources: dict[str, dict[str, int | None]]
    machine_code: str
    cubin: str
    device_code: str
    instructions: dict[str, int] = field(default_factory=dict)
    log: str = ""
    seconds: float = 0.0

    def as_json(self) -> dict[str, Any]:
        """Return the artifact as JSON values."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a source did not compile, in lines of the source, and whether time ran out."""

    log: str
    errors: tuple[diagnostics.Diagnostic, ...] = ()
    timed_out: bool = False
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class _Beside:
    """A source that is compiled as it is, headers of its own outside of the project, its digest."""

    file: Path
    beyond: tuple[Path, ...]
    digest: str


@dataclass(frozen=True, slots=True)
class _Order:
    """One source to compile and everything that decides what comes out."""

    source: str
    name: str
    kind: ArtifactKind
    sm: int
    symbol: str
    options: tuple[str, ...]
    root: Path
    headers: str
    library: Path | None = None
    beyond: tuple[Path, ...] = ()
    beside: tuple[_Beside, ...] = ()

    @property
    def arch(self) -> str:
        """Return `90`, or `90a` where instructions are used that only that very chip has."""
        special = self.library is not None and self.sm >= 90 and _SPECIFIC.search(self.source)
        return f"{self.sm}a" if special else str(self.sm)

    @property
    def key(self) -> str:
        parts = [self.source, self.name, self.kind, self.arch, self.symbol, self.options]
        text = json.dumps([*parts, self.headers, *(one.digest for one in self.beside)])
        return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:24]


class Compiler:
    """Compiles sources into a scratch directory; the same source is compiled once.

    May be used from several threads. Raise `Fault` when the compiler is unfit for the GPU, a flag
    is refused, or this machine is in the way (full disk, no host compiler).
    """

    def __init__(self, toolchain: Toolchain, sandbox: Sandbox, scratch: Path) -> None:
        self.toolchain = toolchain
        self._sandbox = sandbox
        self._scratch = scratch
        self._links = scratch / "lib"
        self._lock = threading.Lock()
        self._running: dict[str, threading.Lock] = {}
        self._done: dict[str, Artifact | Failure] = {}
        self._listed: dict[str, dict[str, int]] = {}
        self._older: set[tuple[Path, str]] = set()

    def compile(
        self,
        source: str,
        *,
        path: str,
        kind: ArtifactKind,
        sm: int,
        symbol: str = "",
        options: Options | None = None,
        root: str = ".",
        launch: str = "",
    ) -> Artifact | Failure:
        """Compile a source that stands for the file `path` of the project at `root`.

        `sm` is the compute capability, 90 for 9.0. `symbol` is the kernel of a cubin (a template
        instance is instantiated) or the entry function of a shared object; it must be there.
        `launch` is text that belongs to the identity of the machine code.
        """
        order = self._order(source, path, kind, sm, symbol, options, root)
        with self._lock:
            turn = self._running.setdefault(order.key, threading.Lock())
        with turn:
            done = self._done.get(order.key)
            if done is None:
                done = self._done[order.key] = self._compile(order)
        if isinstance(done, Failure):
            return done
        return replace(done, machine_code=_digest(done, source, launch))

    def altered(
        self,
        source: str,
        change: Callable[[str], str | None],
        *,
        path: str,
        kind: ArtifactKind,
        sm: int,
        symbol: str = "",
        options: Options | None = None,
        root: str = ".",
    ) -> Artifact | None:
        """Compile a whole file with its PTX changed on the way (`runners.altering`).

        None where it cannot be done: `change` finds nothing to change, or what it made does not
        compile.
        """
        order = self._order(source, path, kind, sm, symbol, options, root)
        found = self._altered(order, change)
        if isinstance(found, Failure):
            again = self._as_older(order, found)
            found = self._altered(again, change) if again is not None else None
        return None if isinstance(found, Failure) else found

    def _altered(
        self, order: _Order, change: Callable[[str], str | None]
    ) -> Artifact | Failure | None:
        source, kind = order.source, order.kind
        folder = self._scratch / "altered" / order.key
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        file, made = folder / order.name, folder / f"made{'.so' if kind == 'shared' else ''}"
        file.write_text(source, "utf-8", errors="surrogateescape", newline="")
        command = [self.toolchain.nvcc, *_mode(order), *order.options, *self.toolchain.flags]
        objects = self._objects(order)
        if isinstance(objects, Failure):
            return None
        command += [*self._runtime(), *objects, "-o", made, file]
        shown = [_OLDER_CUDA, order.root, *order.beyond]
        shown += [self._links] if self._links.is_dir() else []
        shown += [one.parent for one in objects]
        script = altering.first([str(word) for word in command], str(folder))
        done = self._run(["/bin/sh", "-c", script], folder, readable=shown)
        plan = folder / altering.PLAN
        if done.code != 0:
            return Failure((done.stderr + b"\n" + done.stdout).decode(errors="replace"))
        if plan.is_symlink() or not plan.is_file():
            return None
        rest = altering.steps(plan.read_text(errors="replace"))
        ptx = None if rest is None else folder / Path(rest.ptx).name
        if rest is None or ptx is None or ptx.is_symlink() or not ptx.is_file():
            return None
        changed = change(ptx.read_text(errors="replace"))
        if changed is None:
            return None
        ptx.write_text(changed)
        made.unlink(missing_ok=True)
        done = self._run(["/bin/sh", "-c", rest.script], folder, readable=shown)
        if done.code != 0 or made.is_symlink() or not made.is_file():
            return None
        return self._artifact(order, made, "", done.seconds)

    def _order(
        self,
        source: str,
        path: str,
        kind: ArtifactKind,
        sm: int,
        symbol: str,
        options: Options | None,
        root: str,
    ) -> _Order:
        self.toolchain.require(sm)
        top = Path(root).resolve()
        given = options or Options()
        linked = kind in {"shared", "program"}
        switches = allowed_flags(given.flags, top, fast_math=given.fast_math, libraries=linked)
        folders = [(top / path).parent, *(near(top, folder) for folder in given.include)]
        switches += [f"-I{folder}" for folder in dict.fromkeys(folders) if folder.is_dir()]
        if given.library is not None:
            switches += ["-isystem", str(given.library), "--expt-relaxed-constexpr"]
        name, headers = _file_name(path), header_digest(source, folders)
        beyond = self._beyond(source, folders, top)
        places = [near(top, one) for one in given.sources] if kind == "program" else []
        beside = tuple(self._beside(one, folders, top) for one in places)
        if (top, name) in self._older:
            switches += ["-include", str(_OLDER_CUDA)]
        line = tuple(switches)
        return _Order(
            source, name, kind, sm, symbol, line, top, headers, given.library, beyond, beside
        )

    def _beside(self, file: Path, folders: Sequence[Path], top: Path) -> _Beside:
        """Return a source of the project that is compiled as it is."""
        try:
            text = file.read_bytes().decode(errors="surrogateescape")
        except OSError as error:
            message = f"cannot read {file}: {error.strerror}"
            raise Fault("ConfigError", message, "it is to be linked to the program") from error
        around = [file.parent, *folders]
        words = json.dumps([str(file), text, header_digest(text, around)])
        digest = hashlib.sha256(words.encode(errors="surrogatepass")).hexdigest()[:24]
        return _Beside(file, self._beyond(text, around, top), digest)

    def _beyond(self, source: str, folders: Sequence[Path], top: Path) -> tuple[Path, ...]:
        """Return headers outside of the project that one's own source includes.

        As in `#include "../common/check.h"`: by a relative path, in the repository or, without
        one, beside the project. A stranger's source sees its project alone.
        """
        if self._sandbox.trust != "own":
            return ()
        named = included(_ABSOLUTE.sub('""', source), folders)[0]
        return beyond(named, top)

    def disassemble(self, artifact: Artifact) -> Artifact:
        """Return the artifact with its opcodes counted; as it is where nvdisasm is missing."""
        tool = self.toolchain.nvdisasm
        if tool is None or not artifact.cubin:
            return artifact
        counted = self._listed.get(artifact.device_code)
        if counted is None:
            done = self._run([tool, "-c", artifact.cubin], Path(artifact.cubin).parent)
            counted = sass.histogram(done.stdout.decode(errors="replace"))
            self._listed[artifact.device_code] = counted
        return replace(artifact, instructions=counted)

    def _compile(self, order: _Order) -> Artifact | Failure:
        if len(order.source) > MAX_SOURCE_BYTES:
            return Failure(f"a source of {len(order.source)} characters is too large")
        instance = "<" in order.symbol and not order.name.endswith(PTX_SUFFIX)
        made = self._once(order, _anchor(order.symbol) if instance else "")
        older = self._as_older(order, made) if isinstance(made, Failure) else None
        if older is not None:
            return self._compile(older)
        if isinstance(made, Artifact) and not _linked(order) and _missing(order, made):
            # Nothing in the file uses the kernel, so an internal one was dropped: use it.
            again = self._once(
                replace(order, options=(*order.options, "-w")), _anchor(order.symbol)
            )
            made = again if isinstance(again, Artifact) else made
        if isinstance(made, Artifact) and _missing(order, made):
            what = "kernel" if order.kind == "cubin" else "function"
            known = ", ".join(sorted(made.symbols)) or "none"
            return Failure(f"there is no {what} {order.symbol} in the compiled code, only: {known}")
        return made

    def _as_older(self, order: _Order, failure: Failure) -> _Order | None:
        """Return the order for a source written for an older CUDA; None if that is not its trouble.

        What it is about is said by the compiler once: every candidate made of it is one, too.
        """
        if _OLDER.search(failure.log) is None or "-include" in order.options:
            return None
        self._older.add((order.root, order.name))
        return replace(order, options=(*order.options, "-include", str(_OLDER_CUDA)))

    def _objects(self, order: _Order) -> list[Path] | Failure:
        """Return what is linked to a program besides its text; each is compiled once."""
        made: list[Path] = []
        for one in order.beside:
            words = json.dumps([one.digest, order.arch, order.options])
            folder = self._scratch / "objects" / hashlib.sha256(words.encode()).hexdigest()[:24]
            with self._lock:
                turn = self._running.setdefault(str(folder), threading.Lock())
            with turn:
                target = folder / f"{one.file.stem}.o"
                if not target.is_file():
                    failed = self._object(order, one, target)
                    if failed is not None:
                        return failed
            made.append(target)
        return made

    def _object(self, order: _Order, one: _Beside, target: Path) -> Failure | None:
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise _unwritable(target.parent, error) from error
        part = target.with_suffix(".part.o")
        command: list[str | Path] = [self.toolchain.nvcc, "-c", *_mode(order), *order.options]
        command += [*self.toolchain.flags, "-o", part, one.file]
        shown = [_OLDER_CUDA, order.root, one.file, *order.beyond, *one.beyond]
        done = self._run(command, target.parent, readable=shown)
        printed = (done.stderr + b"\n" + done.stdout).decode(errors="replace")
        if done.code != 0 or part.is_symlink() or not part.is_file():
            return _failure(order, done, printed, shutil.disk_usage(self._scratch).free)
        part.replace(target)
        return None

    def _once(self, order: _Order, appended: str) -> Artifact | Failure:
        objects = self._objects(order)
        if isinstance(objects, Failure):
            return objects
        folder = self._scratch / "build" / (order.key + ("-used" if appended else ""))
        suffix = {"cubin": ".cubin", "shared": ".so", "program": "", "ptx": ".ptx"}[order.kind]
        made = folder / (Path(order.name).stem + suffix)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            text = order.source + appended
            (folder / order.name).write_text(text, "utf-8", errors="surrogateescape", newline="")
        except OSError as error:
            raise _unwritable(folder, error) from error
        command: list[str | Path] = [self.toolchain.nvcc, *_mode(order), *order.options]
        command += [*self.toolchain.flags, *self._runtime(), "-o", made, folder / order.name]
        command += objects
        shown = [_OLDER_CUDA, order.root, *order.beyond]
        shown += [self._links] if self._links.is_dir() else []
        shown += [one.parent for one in objects]
        shown += [order.library] if order.library is not None else []
        seconds = COMPILE_SECONDS if order.library is None else LIBRARY_SECONDS
        done = self._run(command, folder, readable=shown, seconds=seconds)
        printed = (done.stderr + b"\n" + done.stdout).decode(errors="replace")
        if done.code != 0 or made.is_symlink() or not made.is_file():
            return _failure(order, done, printed, shutil.disk_usage(self._scratch).free)
        return self._artifact(order, made, printed, done.seconds)

    def _runtime(self) -> list[str]:
        """Return what lets the linker find libcudart where only libcudart.so.N is, as in wheels."""
        folder = self.toolchain.libraries
        if folder is None or (folder / "libcudart.so").exists():
            return []
        link = self._links / "libcudart.so"
        with self._lock:
            if not link.is_symlink():
                try:
                    self._links.mkdir(parents=True, exist_ok=True)
                    link.symlink_to(max(folder.glob("libcudart.so.*")))
                except OSError as error:
                    raise _unwritable(self._links, error) from error
        return ["-L", str(self._links)]

    def _artifact(self, order: _Order, made: Path, printed: str, seconds: float) -> Artifact:
        data = made.read_bytes()
        code = data
        if order.kind != "cubin":
            parts = [part for part in cubin.carve(data) if cubin.read(part).kernels]
            code = parts[0] if parts else b""
        alone = made if order.kind == "cubin" else made.with_suffix(".device.cubin")
        if order.kind != "cubin" and code:
            alone.write_bytes(code)
        parsed = cubin.read(code) if code else cubin.Cubin((), ())
        symbols = self._symbols(order, parsed.kernels, data)
        digest = parsed.digest()
        used = sass.resources(printed)
        path = str(alone) if code else ""
        return Artifact(str(made), order.kind, symbols, used, "", path, digest, seconds=seconds)

    def _symbols(self, order: _Order, kernels: Sequence[str], data: bytes) -> dict[str, str]:
        """Map names as written to mangled symbols; what the workload asks for comes as asked."""
        functions = list(kernels)
        if order.kind == "shared":  # an entry function is called by its exported name
            functions = [s for s in cubin.exports(data) if s not in kernels] or functions
        found: dict[str, str] = {}
        for symbol in functions:
            found.setdefault(cubin.plain_name(symbol), symbol)
            found[cubin.source_name(symbol)] = symbol
        asked = order.symbol
        if [cubin.plain_name(symbol) for symbol in functions].count(asked) > 1:
            del found[asked]  # an overload or template: which one is for the workload to say
        if asked and asked not in found:
            match = self._match(asked, functions)
            if match is not None:
                found[asked] = match
        return found

    def _match(self, asked: str, functions: Sequence[str]) -> str | None:
        """Find a template instance or qualified name among mangled symbols."""
        wanted = _squeeze(asked)
        for symbol in functions:
            if _squeeze(cubin.source_name(symbol)) in {wanted, wanted.removeprefix("::")}:
                return symbol
        plain = re.sub(r"<.*", "", asked, flags=re.DOTALL).rpartition("::")[2].strip()
        same = [symbol for symbol in functions if cubin.plain_name(symbol) == plain]
        if len(same) <= 1:
            return same[0] if same and ("<" in asked or "::" in asked) else None
        try:
            named = self._run(["c++filt", *same], Path("/")).stdout.decode().splitlines()
        except Fault:
            return None
        for symbol, name in zip(same, named, strict=False):
            if f"{wanted}(" in _squeeze(name):
                return symbol
        return None

    def _run(
        self,
        command: Sequence[str | Path],
        cwd: Path,
        readable: Sequence[Path] = (),
        seconds: float = COMPILE_SECONDS,
    ) -> Finished:
        return self._sandbox.run(
            command,
            cwd=cwd,
            readable=(*self.toolchain.folders, *readable),
            writable=() if cwd == Path("/") else (cwd,),
            limits=Limits(seconds, output_bytes=8 << 20, memory_bytes=COMPILE_BYTES),
        )


def _mode(order: _Order) -> list[str]:
    lines = ["-lineinfo", "-Xptxas", "-v"]
    if order.kind == "cubin":
        return ["-cubin", f"-arch=sm_{order.arch}", *lines]
    if order.kind == "ptx":
        return ["-ptx", f"-arch=sm_{order.arch}"]
    # Uncompressed and without PTX, so that the device code can be read out of the result.
    one = ["-gencode", f"arch=compute_{order.arch},code=sm_{order.arch}", "-no-compress"]
    shared = ["-shared", "-Xcompiler", "-fPIC"] if order.kind == "shared" else []
    return [*shared, "-cudart=shared", *one, *lines]


def _anchor(symbol: str) -> str:
    """Return host code that makes the compiler keep a kernel or instantiate its template."""
    return f"\nvoid optiml_anchor() {{ (void)&{symbol}; }}\n"


def _linked(order: _Order) -> bool:
    return order.kind in {"shared", "program"}


def _missing(order: _Order, made: Artifact) -> bool:
    if order.kind == "ptx":
        return ".entry" not in Path(made.path).read_text(errors="replace")
    return bool(order.symbol) and order.kind != "program" and order.symbol not in made.symbols


def _digest(made: Artifact, source: str, launch: str) -> str:
    host = "" if made.kind == "cubin" else host_digest(source)
    return hashlib.sha256(f"{made.device_code}\0{host}\0{launch}".encode()).hexdigest()[:32]


def _failure(order: _Order, done: Finished, printed: str, free_bytes: int) -> Failure:
    for pattern, kind, message, remedy in _HOST_TROUBLES:
        if pattern == _FULL and free_bytes > WRITTEN_BYTES:
            continue  # the sandbox's own small /tmp was filled, by what is compiled
        if re.search(pattern, printed, re.MULTILINE):
            raise Fault(kind, message, remedy)  # type: ignore[arg-type]
    if done.timed_out:
        log = f"the compiler did not finish in {done.seconds:.0f} s"
        return Failure(log, timed_out=True, seconds=done.seconds)
    if done.limit in _TOO_MUCH:
        return Failure(f"the compiler {_TOO_MUCH[done.limit]}", seconds=done.seconds)
    found = diagnostics.parse(printed)
    log = diagnostics.render(found, order.source, order.name, printed)
    several = joined.has_several(order.source)
    helps = build_advice.advice(printed, order.root, several=several)
    log += f"\nwhat helps: {helps}" if helps else ""
    if done.code < 0 or re.search(_OUT_OF_ROOM, printed):
        log = f"the compiler ran out of memory or was killed\n{log}"
    return Failure(log, found, seconds=done.seconds)


def _unwritable(folder: Path, error: OSError) -> Fault:
    if error.errno in {errno.ENOSPC, errno.EDQUOT}:
        return Fault("RunnerError", f"no space left in {folder}", "free some disk space")
    return Fault("RunnerError", f"cannot write to {folder}: {error.strerror}")


def _file_name(path: str) -> str:
    stem = re.sub(r"[^\w.+-]", "_", Path(path or "kernel.cu").name).lstrip("-.") or "kernel"
    return stem if stem.endswith((".cu", PTX_SUFFIX)) else f"{stem}.cu"


def _squeeze(name: str) -> str:
    """Write a name in one way: `scan<float,256>`, `unsigned` for `unsigned int`."""
    name = re.sub(r"\bunsigned int\b", "unsigned", name)
    name = re.sub(r"(?<=\d)[uUlL]+\b", "", name)
    return re.sub(r"\s+", "", name)
