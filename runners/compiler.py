"""Compile a source for one GPU: command line, errors, resource usage, symbols, digest.

Stdlib only: the worker imports it. nvcc runs in the sandbox, because a source can make a compiler
read files and run for ever.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import tempfile
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from runners import altering, cubin, safe_files, sass
from runners.artifact import Artifact, ArtifactKind, Failure, Options
from runners.clean_names import CleanNames, is_clean, require, require_ours, source_name
from runners.compile_failures import failure_of, unwritable
from runners.compile_order import PTX_SUFFIX, Beside, Order, file_name, is_linked, mode
from runners.fault import Fault
from runners.flags import allowed_flags, near
from runners.header_digest import beyond, header_digest, included
from runners.hosttext import host_digest
from runners.removal import remove
from runners.sandbox import Finished, Limits, Sandbox, clean_environment
from runners.symbol_names import symbols_of
from runners.toolchain import Toolchain

COMPILE_SECONDS = 90.0
LIBRARY_SECONDS = 180.0  # a template library: a small CuTe kernel takes 20 s on a slow core
COMPILE_BYTES = 6 << 30  # of address space; large programs take under 2 GiB
COMPILE_RESIDENT_BYTES = 8 << 30  # of memory, for all that one compilation starts
COMPILE_FILE_BYTES = 512 << 20
COMPILE_PROCESSES = 512  # before Linux 5.14 a user's other ones count, too
MAX_SOURCE_BYTES = 4 << 20
MOST_PLAN_BYTES, MOST_PTX_BYTES = 8 << 20, 256 << 20
# Names that CUDA 13 took out of the runtime, as nvcc misses them, and a header that has them.
_OLDER = re.compile(
    r'identifier "cudaThread\w+" is undefined|'
    r'"cudaDeviceProp" has no member "(?:clockRate|deviceOverlap|kernelExecTimeoutEnabled|'
    r"computeMode|memoryClockRate|maxTexture1DLinear|singleToDoublePrecisionPerfRatio|"
    r'cooperativeMultiDeviceLaunch)"|to "cudaMemLocation"'
)
_OLDER_CUDA = Path(__file__).with_name("older_cuda.h")
_ABSOLUTE = re.compile(r"[<\"]\s*/[^\">\n]*[>\"]")
_SYMBOL = re.compile(r"[\w$.]+", re.ASCII)
# Where a sandbox shows programs and libraries of the system's (`runners.sandbox_request`).
_SYSTEM = tuple(Path(place) for place in ("/usr", "/bin", "/sbin", "/lib", "/lib64"))
_NOTHING = Failure(f"the compiler made no ordinary file of at most {COMPILE_FILE_BYTES >> 20} MiB")


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
        self._names = CleanNames(scratch / "named")
        self._lock = threading.Lock()
        self._running: dict[str, threading.Lock] = {}
        self._done: dict[str, Artifact | Failure] = {}
        self._listed: dict[str, dict[str, int]] = {}
        self._older: set[tuple[Path, str]] = set()
        self._linked: set[Path] = set()
        self._built: dict[Path, Artifact | Failure] = {}

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
                done = self._compile(order)
                if not _late(done):
                    self._done[order.key] = done
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
        file, made = folder / order.name, folder / f"made{'.so' if kind == 'shared' else ''}"
        self._emptied(folder)
        safe_files.written(file, source.encode(errors="surrogateescape"))
        objects = self._objects(order)
        if isinstance(objects, Failure):
            return None
        command: list[str | Path] = [self.toolchain.nvcc, *_own(mode(order), order.options)]
        command += [*self.toolchain.flags, *_own(self._runtime(), objects, ["-o", made, file])]
        shown = [_OLDER_CUDA, order.root, *order.beyond, *self._names.shown(order.options)]
        shown += [self._links] if self._links.is_dir() else []
        shown += [one.parent for one in objects]
        script = altering.first([str(word) for word in command], str(folder))
        done = self._run(["/bin/sh", "-c", script], folder, readable=shown)
        if done.code != 0:
            return Failure((done.stderr + b"\n" + done.stdout).decode(errors="replace"))
        try:
            rest = altering.steps(safe_files.text(folder / altering.PLAN, MOST_PLAN_BYTES))
            if rest is None:
                return None
            ptx = folder / Path(rest.ptx).name
            changed = change(safe_files.text(ptx, MOST_PTX_BYTES))
            if changed is None:
                return None
            safe_files.replaced(ptx, changed.encode())
            made.unlink(missing_ok=True)
        except OSError:
            return None
        done = self._run(["/bin/sh", "-c", rest.script], folder, readable=shown)
        if done.code != 0 or not self._received(folder, made.name):
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
        self._require_place()
        top = Path(root).resolve()
        given = options or Options()
        linked = kind in {"shared", "program"}
        switches = allowed_flags(given.flags, top, fast_math=given.fast_math, libraries=linked)
        folders = [(top / path).parent, *(near(top, folder) for folder in given.include)]
        switches += [f"-I{folder}" for folder in dict.fromkeys(folders) if folder.is_dir()]
        switches = [self._named(one) for one in switches]
        if given.library is not None:
            library = self._name(given.library)
            switches += ["-isystem", str(library), "--expt-relaxed-constexpr"]
        name, headers = file_name(path), header_digest(source, folders)
        beyond = self._beyond(source, folders, top)
        places = [near(top, one) for one in given.sources] if kind == "program" else []
        beside = tuple(self._beside(one, folders, top) for one in places)
        if (top, name) in self._older:
            switches += ["-include", str(self._name(_OLDER_CUDA))]
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
        return Beside(file, self._beyond(text, around, top), digest, text)

    def _require_place(self) -> None:
        """Raise `Fault` where nvcc's own files would have names that a shell takes apart."""
        remedy = "set TMPDIR to a folder whose name has letters, digits and . _ + - only"
        require_ours(self._scratch, "the folder for what is compiled,", remedy)
        if self._sandbox.describe().backend == "landlock":  # its /tmp is a folder in that
            require_ours(Path(tempfile.gettempdir()), "the folder for temporary files,", remedy)

    def _named(self, switch: str) -> str:
        """Return a switch with its folder, if it names one, by a name that a shell lets be."""
        if not switch.startswith("-I"):
            return switch
        return f"-I{self._name(Path(switch[2:]))}"

    def _name(self, path: Path) -> Path:
        try:
            return self._names.of(path)
        except OSError as error:
            raise unwritable(self._scratch, error) from error

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
            code = Path(artifact.cubin)
            done = self._run([tool, "-c", code], Path("/"), readable=[code.parent])
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
        return replace(order, options=(*order.options, "-include", str(self._name(_OLDER_CUDA))))

    def _objects(self, order: Order) -> list[Path] | Failure:
        """Return what is linked to a program besides its text; each is compiled once."""
        made: list[Path] = []
        for one in order.beside:
            words = json.dumps([one.digest, order.arch, order.options])
            folder = self._scratch / "objects" / hashlib.sha256(words.encode()).hexdigest()[:24]
            target = folder / f"{Path(source_name(one.file)).stem}.o"
            with self._lock:
                turn = self._running.setdefault(str(folder), threading.Lock())
            with turn:
                if folder not in self._linked:
                    failed = self._object(order, one, target)
                    if failed is not None:
                        return failed
                    self._linked.add(folder)
            made.append(target)
        return made

    def _object(self, order: Order, one: Beside, target: Path) -> Failure | None:
        folder, source, own = target.parent, one.file, list[str]()
        self._emptied(folder)
        if not is_clean(source):
            # nvcc hands on the real name of what it compiles, so that a link would not do.
            source = folder / source_name(source)
            own = [f"-I{self._name(one.file.parent)}"]
            self._written(source, one.text)
        command: list[str | Path] = [self.toolchain.nvcc, "-c"]
        command += [*_own(mode(order), own, order.options), *self.toolchain.flags]
        command += _own(["-o", target, source])
        shown = [_OLDER_CUDA, order.root, one.file, *order.beyond, *one.beyond]
        shown += self._names.shown(command)
        done = self._run(command, folder, readable=shown)
        if done.code != 0:
            self._emptied(folder)
            printed = self._printed(done)
            return failure_of(order, done, printed, shutil.disk_usage(self._scratch).free)
        return None if self._received(folder, target.name) else _NOTHING

    def _once(self, order: Order, appended: str) -> Artifact | Failure:
        folder = self._scratch / "build" / (order.key + ("-used" if appended else ""))
        with self._lock:
            turn = self._running.setdefault(str(folder), threading.Lock())
        with turn:  # two orders may come to be one: a source that is found to be of an older CUDA
            if folder not in self._built:
                made = self._build(order, appended, folder)
                if _late(made):
                    return made
                self._built[folder] = made
            return self._built[folder]

    def _build(self, order: Order, appended: str, folder: Path) -> Artifact | Failure:
        objects = self._objects(order)
        if isinstance(objects, Failure):
            return objects
        suffix = {"cubin": ".cubin", "shared": ".so", "program": "", "ptx": ".ptx"}[order.kind]
        made = folder / (Path(order.name).stem + suffix)
        self._emptied(folder)
        self._written(folder / order.name, order.source + appended)
        command: list[str | Path] = [self.toolchain.nvcc, *_own(mode(order), order.options)]
        command += [*self.toolchain.flags]
        command += _own(self._runtime(), ["-o", made, folder / order.name], objects)
        shown = [_OLDER_CUDA, order.root, *order.beyond, *self._names.shown(order.options)]
        shown += [self._links] if self._links.is_dir() else []
        shown += [one.parent for one in objects]
        shown += [order.library] if order.library is not None else []
        seconds = COMPILE_SECONDS if order.library is None else LIBRARY_SECONDS
        done = self._run(command, folder, readable=shown, seconds=seconds)
        printed = self._printed(done)
        if done.code != 0:
            remove(folder)
            return failure_of(order, done, printed, shutil.disk_usage(self._scratch).free)
        if not self._received(folder, made.name):
            return _NOTHING
        return self._artifact(order, made, printed, done.seconds)

    def _printed(self, done: Finished) -> str:
        return self._names.plain((done.stderr + b"\n" + done.stdout).decode(errors="replace"))

    def _emptied(self, folder: Path) -> None:
        """Make a folder anew, whatever a command left there."""
        try:
            folder.parent.mkdir(parents=True, exist_ok=True)
            if os.path.lexists(folder):
                remove(safe_files.set_aside(folder))
            folder.mkdir()
        except OSError as error:
            raise unwritable(folder, error) from error

    def _written(self, path: Path, text: str) -> None:
        try:
            safe_files.written(path, text.encode(errors="surrogateescape"))
        except OSError as error:
            raise unwritable(path.parent, error) from error

    def _received(self, folder: Path, name: str) -> bool:
        """Keep one file of a folder that a command wrote to, in a new one of the same name.

        Nothing of the command's is beside it then, and none writes there: it is read many times,
        and written to beside it. False where there is no ordinary file of that name.
        """
        try:
            left = safe_files.set_aside(folder)
            folder.mkdir()
        except OSError as error:
            raise unwritable(folder, error) from error
        try:
            safe_files.received(left / name, folder / name, COMPILE_FILE_BYTES)
        except OSError:
            return False
        finally:
            remove(left)
        return True

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

    def _artifact(
        self, order: Order, made: Path, printed: str, seconds: float
    ) -> Artifact | Failure:
        data = made.read_bytes()
        code = data
        try:
            if order.kind != "cubin":
                parts = [part for part in cubin.carve(data) if cubin.read(part).kernels]
                code = parts[0] if parts else b""
            parsed = cubin.read(code) if code else cubin.Cubin((), ())
        except cubin.NotCubin as error:
            return Failure(f"what the compiler made is no machine code: {error}", seconds=seconds)
        alone = made if order.kind == "cubin" else made.with_suffix(".device.cubin")
        if order.kind != "cubin" and code:
            safe_files.written(alone, code)
        symbols = symbols_of(order.kind, order.symbol, parsed.kernels, data, self._demangled)
        digest = parsed.digest()
        used = sass.resources(printed)
        path = str(alone) if code else ""
        return Artifact(str(made), order.kind, symbols, used, "", path, digest, seconds=seconds)

    def _demangled(self, symbols: Sequence[str]) -> list[str]:
        # By its input: among its arguments a name could be a switch or another file's.
        plain = [one if _SYMBOL.fullmatch(one) else "_" for one in symbols]
        try:
            done = self._run(["c++filt"], Path("/"), stdin="\n".join([*plain, ""]).encode())
        except Fault:
            return []
        return done.stdout.decode(errors="replace").splitlines()

    def _run(
        self,
        command: Sequence[str | Path],
        cwd: Path,
        readable: Sequence[Path] = (),
        seconds: float = COMPILE_SECONDS,
        stdin: bytes = b"",
    ) -> Finished:
        return self._sandbox.run(
            command,
            cwd=cwd,
            readable=(*self.toolchain.folders, *readable),
            writable=() if cwd == Path("/") else (cwd,),
            environment=self._environment(),
            limits=Limits(
                seconds,
                output_bytes=8 << 20,
                memory_bytes=COMPILE_BYTES,
                resident_bytes=COMPILE_RESIDENT_BYTES,
                file_bytes=COMPILE_FILE_BYTES,
                processes=COMPILE_PROCESSES,
            ),
            stdin=stdin,
        )

    def _environment(self) -> dict[str, str]:
        """Return search paths without the folders that a command does not see.

        They would tell who runs this and what is installed. Where nothing is hidden all are used.
        """
        if not self._sandbox.describe().files:
            return {}
        seen = (*_SYSTEM, *self.toolchain.folders)
        found: dict[str, str] = {}
        for name in ("PATH", "LD_LIBRARY_PATH"):
            places = map(os.path.normpath, clean_environment().get(name, "").split(":"))
            kept = (one for one in places if any(Path(one).is_relative_to(top) for top in seen))
            found[name] = ":".join(kept)
        found["PATH"] = found["PATH"] or "/usr/bin:/bin"
        return found


def _late(made: Artifact | Failure) -> bool:
    """Tell whether time was over: on a machine that is less busy it may be made, and is tried."""
    return isinstance(made, Failure) and made.timed_out


def _own(*words: Sequence[str | Path]) -> list[str | Path]:
    """Return words for nvcc that a project had a part in. Raise `Fault` for one that is unfit."""
    found = [word for several in words for word in several]
    require(found)
    return found


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
