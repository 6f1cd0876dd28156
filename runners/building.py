"""Compile what the dispatcher did not: jobs read from a file, and the oracle's own variants."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from runners import exchanges, lone_loads, marks, nearest, shaking, strong_accesses
from runners.artifact import Artifact, ArtifactKind, Failure, Options
from runners.compile_order import PTX_SUFFIX, file_name
from runners.compiler import Compiler
from runners.sandbox import Sandbox
from runners.spec import Json
from runners.toolchain import find_toolchain

_KINDS: dict[str, ArtifactKind] = {"kernel": "cubin", "entry": "shared", "program": "program"}
# For ptxas, behind the project's own flags: of several levels it takes the last one.
_AS_IT_SAYS = ("-Xptxas=-O0",)


class Building:
    """Compiles in the worker's own process, for one GPU architecture."""

    def __init__(self, sm: int, scratch: Path) -> None:
        self._sm = sm
        # The worker itself runs inside a sandbox where the code is a stranger's.
        self._sandbox = Sandbox("own", inner=True)
        self._compiler = Compiler(find_toolchain(), self._sandbox, scratch)

    def close(self) -> None:
        """End what runs the compiler."""
        self._sandbox.close()

    def compiled(self, text: str, job: Json, *, listed: bool = False) -> Json:
        """Return the artifact of a source under a job's build settings.

        Without `path` in it, it did not compile, and `log` says why. `listed` has its instructions
        counted, which takes as long again. Raises `Fault` when this machine cannot compile at all.
        """
        made = self._compile(text, job, _KINDS[str(job["workload"]["kind"])])
        if isinstance(made, Failure):
            return {"log": made.log}
        return (self._compiler.disassemble(made) if listed else made).as_json()

    def device_code(self, text: str, job: Json) -> str | None:
        """Return a source's PTX; None where it does not compile."""
        made = self._compile(text, job, "ptx")
        return None if isinstance(made, Failure) else Path(made.path).read_text()

    def shaken(self, text: str, job: Json) -> Json | None:
        """Return a kernel's artifact with delays in it, `runners.shaking`; None without places."""
        if str(job["workload"]["kind"]) != "kernel":
            return None
        return self._changed(text, job, shaking.shaken, "shaken")

    def shaken_whole(self, text: str, job: Json, seed: int) -> Json | None:
        """Return the artifact of an entry function or program with delays under one seed.

        None where there is no place for any.
        """
        if self._sm < shaking.LEAST_SM:
            return None
        work = job["workload"]
        made = self._compiler.altered(
            text,
            lambda ptx: shaking.shaken(ptx, seed),
            path=str(job["kernel"].get("path") or "kernel.cu"),
            kind=_KINDS[str(work["kind"])],
            sm=self._sm,
            symbol=str(work.get("symbol") or ""),
            options=_options(work),
            root=str(work.get("root") or "."),
            variant=f"{seed:x}",
        )
        return None if made is None else made.as_json()

    def plainer(self, text: str, job: Json) -> Json | None:
        """Return the artifact of a kernel or entry function that does what its PTX says.

        Nothing is optimized behind the PTX, in which exchanges that nobody reads are stores; for
        tools that watch machine code (`runners.plainer`). None where it cannot be made.
        """
        return self._changed(text, job, exchanges.as_stores, "plain", _AS_IT_SAYS)

    def for_races(self, text: str, job: Json, which: str) -> Json | None:
        """Return the artifact of a kernel or entry function that racecheck understands better.

        With atomics for its strong loads or its stores (`runners.strong_accesses`), or with loads
        that nothing joins (`runners.lone_loads`). None without any, or where it cannot be made.
        """
        if which == lone_loads.ALONE:
            return self._changed(text, job, lone_loads.as_volatile, which)
        return self._changed(text, job, lambda ptx: strong_accesses.as_atomics(ptx, which), which)

    def marked(self, text: str, job: Json) -> Json | None:
        """Return a kernel's artifact that marks which of its blocks run, and the `lines` of each.

        Of `runners.marks`. None where nothing tells them.
        """
        if str(job["workload"]["kind"]) != "kernel":
            return None
        name = file_name(str(job["kernel"].get("path") or "kernel.cu"))
        lines: list[list[int]] = []

        def change(ptx: str) -> str | None:
            found = marks.marked(ptx, name)
            lines.extend(sorted(block) for block in (found.lines if found else ()))
            return found.ptx if found else None

        made = self._changed(text, job, change, "marked", read=("-lineinfo",))
        return None if made is None else {**made, "lines": lines}

    def watched(self, text: str, job: Json) -> Json | None:
        """Return an artifact that keeps how near comparisons came to the other outcome.

        Of `runners.nearest`. None without any, and for a program.
        """
        kind = str(job["workload"]["kind"])
        if kind == "program":
            return None

        def change(ptx: str) -> str | None:
            found = nearest.watched(ptx)
            return found.ptx if found else None

        whole = text + nearest.HOSTED if kind == "entry" else text
        return self._changed(whole, job, change, "watched")

    def _changed(
        self,
        text: str,
        job: Json,
        change: Callable[[str], str | None],
        variant: str,
        flags: tuple[str, ...] = (),
        read: tuple[str, ...] = (),
    ) -> Json | None:
        """Return the artifact of a kernel or entry function whose PTX was changed.

        `flags` are those that the changed PTX is compiled with, `read` those that a kernel's is
        made with.
        """
        work = job["workload"]
        if self._sm < shaking.LEAST_SM:
            return None
        if str(work["kind"]) == "kernel":
            made = self._compile(text, job, "ptx", flags=read)
            if isinstance(made, Failure):
                return None
            changed = change(Path(made.path).read_text())
            if changed is None:
                return None
            again = self._compile(changed, job, "cubin", PTX_SUFFIX, flags)
            return None if isinstance(again, Failure) else again.as_json()
        whole = self._compiler.altered(
            text,
            change,
            path=str(job["kernel"].get("path") or "kernel.cu"),
            kind=_KINDS[str(work["kind"])],
            sm=self._sm,
            symbol=str(work.get("symbol") or ""),
            options=_options(work, flags),
            root=str(work.get("root") or "."),
            variant=variant,
        )
        return None if whole is None else whole.as_json()

    def _compile(
        self,
        text: str,
        job: Json,
        kind: ArtifactKind,
        suffix: str = "",
        flags: tuple[str, ...] = (),
    ) -> Artifact | Failure:
        work = job["workload"]
        path = Path(str(job["kernel"].get("path") or "kernel.cu"))
        return self._compiler.compile(
            text,
            path=str(path.with_suffix(suffix) if suffix else path),
            kind=kind,
            sm=self._sm,
            symbol=str(work.get("symbol") or ""),
            options=_options(work, flags),
            root=str(work.get("root") or "."),
            launch=str(job["kernel"].get("launch") or ""),
        )


def _options(work: Json, more: tuple[str, ...] = ()) -> Options:
    build = work.get("build") or {}
    fast = bool((work.get("accept") or {}).get("allow_fast_math", False))
    words = (tuple(build.get(name) or ()) for name in ("flags", "include", "sources"))
    flags, include, sources = words
    return Options((*flags, *more), include, fast, sources=sources)
