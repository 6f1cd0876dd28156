"""Compile a source for one GPU: command line, errors, resource usage, symbols, digest.

Stdlib only: the worker imports it. nvcc runs in the sandbox, because a source can make a compiler
read files and run for ever.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from runners import altering, cubin, sass
from runners.artifact import Artifact, ArtifactKind, Failure, Options
from runners.compile_failures import failure_of, unwritable
from runners.compile_order import PTX_SUFFIX, Beside, Order, file_name, is_linked, mode
from runners.fault import Fault
from runners.flags import allowed_flags, near
from runners.header_digest import beyond, header_digest, included
from runners.hosttext import host_digest
from runners.sandbox import Finished, Limits, Sandbox
from runners.symbol_names import symbols_of
from runners.toolchain import Toolchain

COMPILE_SECONDS = 90.0
LIBRARY_SECONDS = 180.0  # a template library: a small CuTe kernel takes 20 s on a slow core
COMPILE_BYTES = 6 << 30  # of address space; large programs take under 2 GiB
MAX_SOURCE_BYTES = 4 << 20
# Names that CUDA 13 took out of the runtime, as nvcc misses them, and a header that has them.
_OLDER = re.compile(
    r'identifier "cudaThread\w+" is undefined|'
    r'"cudaDeviceProp" has no member "(?:clockRate|deviceOverlap|kernelExecTimeoutEnabled|'
    r"computeMode|memoryClockRate|maxTexture1DLinear|singleToDoublePrecisionPerfRatio|"
    r'cooperativeMultiDeviceLaunch)"|to "cudaMemLocation"'
)
_OLDER_CUDA = Path(__file__).with_name("older_cuda.h")
_ABSOLUTE = re.compile(r"[<\"]\s*/[^\">\n]*[>\"]")


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
        variant: str = "",
    ) -> Artifact | None:
        """Compile a whole file with its PTX changed on the way (`runners.altering`).

        None where it cannot be done: `change` finds nothing to change, or what it made does not
        compile. `variant` names the change: two of one source may be compiled at once, and both
        are there afterwards.
        """
        order = self._order(source, path, kind, sm, symbol, options, root)
        found = self._altered(order, change, variant)
        if isinstance(found, Failure):
            again = self._as_older(order, found)
            found = self._altered(again, change, variant) if again is not None else None
        return None if isinstance(found, Failure) else found

    def _altered(
        self, order: Order, change: Callable[[str], str | None], variant: str
    ) -> Artifact | Failure | None:
        source, kind = order.source, order.kind
        folder = self._scratch / "altered" / (f"{order.key}-{variant}" if variant else order.key)
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        file, made = folder / order.name, folder / f"made{'.so' if kind == 'shared' else ''}"
        file.write_text(source, "utf-8", errors="surrogateescape", newline="")
        command = [self.toolchain.nvcc, *mode(order), *order.options, *self.toolchain.flags]
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
    ) -> Order:
        self.toolchain.require(sm)
        top = Path(root).resolve()
        given = options or Options()
        linked = kind in {"shared", "program"}
        switches = allowed_flags(given.flags, top, fast_math=given.fast_math, libraries=linked)
        folders = [(top / path).parent, *(near(top, folder) for folder in given.include)]
        switches += [f"-I{folder}" for folder in dict.fromkeys(folders) if folder.is_dir()]
        if given.library is not None:
            switches += ["-isystem", str(given.library), "--expt-relaxed-constexpr"]
        name, headers = file_name(path), header_digest(source, folders)
        beyond = self._beyond(source, folders, top)
        places = [near(top, one) for one in given.sources] if kind == "program" else []
        beside = tuple(self._beside(one, folders, top) for one in places)
        if (top, name) in self._older:
            switches += ["-include", str(_OLDER_CUDA)]
        line = tuple(switches)
        return Order(
            source, name, kind, sm, symbol, line, top, headers, given.library, beyond, beside
        )

    def _beside(self, file: Path, folders: Sequence[Path], top: Path) -> Beside:
        """Return a source of the project that is compiled as it is."""
        try:
            text = file.read_bytes().decode(errors="surrogateescape")
        except OSError as error:
            message = f"cannot read {file}: {error.strerror}"
            raise Fault("ConfigError", message, "it is to be linked to the program") from error
        around = [file.parent, *folders]
        words = json.dumps([str(file), text, header_digest(text, around)])
        digest = hashlib.sha256(words.encode(errors="surrogatepass")).hexdigest()[:24]
        return Beside(file, self._beyond(text, around, top), digest)

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

    def _compile(self, order: Order) -> Artifact | Failure:
        if len(order.source) > MAX_SOURCE_BYTES:
            return Failure(f"a source of {len(order.source)} characters is too large")
        instance = "<" in order.symbol and not order.name.endswith(PTX_SUFFIX)
        made = self._once(order, _anchor(order.symbol) if instance else "")
        older = self._as_older(order, made) if isinstance(made, Failure) else None
        if older is not None:
            return self._compile(older)
        if isinstance(made, Artifact) and not is_linked(order) and _missing(order, made):
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

    def _as_older(self, order: Order, failure: Failure) -> Order | None:
        """Return the order for a source written for an older CUDA; None if that is not its trouble.

        What it is about is said by the compiler once: every candidate made of it is one, too.
        """
        if _OLDER.search(failure.log) is None or "-include" in order.options:
            return None
        self._older.add((order.root, order.name))
        return replace(order, options=(*order.options, "-include", str(_OLDER_CUDA)))

    def _objects(self, order: Order) -> list[Path] | Failure:
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

    def _object(self, order: Order, one: Beside, target: Path) -> Failure | None:
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise unwritable(target.parent, error) from error
        part = target.with_suffix(".part.o")
        command: list[str | Path] = [self.toolchain.nvcc, "-c", *mode(order), *order.options]
        command += [*self.toolchain.flags, "-o", part, one.file]
        shown = [_OLDER_CUDA, order.root, one.file, *order.beyond, *one.beyond]
        done = self._run(command, target.parent, readable=shown)
        printed = (done.stderr + b"\n" + done.stdout).decode(errors="replace")
        if done.code != 0 or part.is_symlink() or not part.is_file():
            return failure_of(order, done, printed, shutil.disk_usage(self._scratch).free)
        part.replace(target)
        return None

    def _once(self, order: Order, appended: str) -> Artifact | Failure:
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
            raise unwritable(folder, error) from error
        command: list[str | Path] = [self.toolchain.nvcc, *mode(order), *order.options]
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
            return failure_of(order, done, printed, shutil.disk_usage(self._scratch).free)
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
                    raise unwritable(self._links, error) from error
        return ["-L", str(self._links)]

    def _artifact(self, order: Order, made: Path, printed: str, seconds: float) -> Artifact:
        data = made.read_bytes()
        code = data
        if order.kind != "cubin":
            parts = [part for part in cubin.carve(data) if cubin.read(part).kernels]
            code = parts[0] if parts else b""
        alone = made if order.kind == "cubin" else made.with_suffix(".device.cubin")
        if order.kind != "cubin" and code:
            alone.write_bytes(code)
        parsed = cubin.read(code) if code else cubin.Cubin((), ())
        symbols = symbols_of(order.kind, order.symbol, parsed.kernels, data, self._demangled)
        digest = parsed.digest()
        used = sass.resources(printed)
        path = str(alone) if code else ""
        return Artifact(str(made), order.kind, symbols, used, "", path, digest, seconds=seconds)

    def _demangled(self, symbols: Sequence[str]) -> list[str]:
        try:
            return self._run(["c++filt", *symbols], Path("/")).stdout.decode().splitlines()
        except Fault:
            return []

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


def _anchor(symbol: str) -> str:
    """Return host code that makes the compiler keep a kernel or instantiate its template."""
    return f"\nvoid optiml_anchor() {{ (void)&{symbol}; }}\n"


def _missing(order: Order, made: Artifact) -> bool:
    if order.kind == "ptx":
        return ".entry" not in Path(made.path).read_text(errors="replace")
    return bool(order.symbol) and order.kind != "program" and order.symbol not in made.symbols


def _digest(made: Artifact, source: str, launch: str) -> str:
    host = "" if made.kind == "cubin" else host_digest(source)
    return hashlib.sha256(f"{made.device_code}\0{host}\0{launch}".encode()).hexdigest()[:32]
