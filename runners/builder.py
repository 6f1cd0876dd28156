"""The compiler as the dispatcher wants it: a kernel and its workload in, an artefact out."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from optimizer.model import Kernel, Kind, Status, Verdict, Workload
from runners.artifact import Artifact, ArtifactKind, Failure, Options
from runners.compiler import Compiler
from runners.cubin import plain_name
from runners.dispatch import Built
from runners.expressions import ExpressionError, count
from runners.fault import Fault
from runners.occupancy import occupancy
from runners.wire import unwrap

_LIBRARY = re.compile(r"^[ \t]*#[ \t]*include[ \t]*[<\"](cute|cutlass)/", re.MULTILINE)
_KINDS: Mapping[Kind, ArtifactKind] = {
    Kind.KERNEL: "cubin",
    Kind.ENTRY: "shared",
    Kind.PROGRAM: "program",
}


class CompilingBuilder:
    """Compiles candidates for one GPU architecture; fulfils `runners.dispatch.Builder`.

    `sm` is the compute capability, 90 for 9.0. `library` is the include folder of a CUTLASS tree,
    shown to the compiler for sources that include from it. Raise the project's errors
    (`ConfigError` for a refused flag, `NoDeviceError` for an unfit compiler, `RunnerError` for a
    full disk).
    """

    def __init__(self, compiler: Compiler, sm: int, library: Path | None = None) -> None:
        self._compiler = compiler
        self._sm = sm
        self._library = library

    def build(self, kernel: Kernel, workload: Workload) -> Built:
        """Return the artefact, or the verdict that there is none; safe to call from threads."""
        launch = kernel.launch or workload.launch
        library = self._library if _LIBRARY.search(kernel.source) else None
        try:
            made = self._compiler.compile(
                kernel.source,
                path=kernel.path,
                kind=_KINDS[workload.kind],
                sm=self._sm,
                symbol=workload.symbol,
                options=Options(
                    workload.build.flags,
                    workload.build.include,
                    workload.accept.allow_fast_math,
                    library,
                    workload.build.sources,
                ),
                root=workload.root,
                launch=repr(launch) if launch else "",
            )
        except Fault as fault:
            unwrap(fault)
        if isinstance(made, Failure):
            status = Status.TIMED_OUT if made.timed_out else Status.DOES_NOT_COMPILE
            verdict = Verdict(status, log=made.log, seconds={"compile": made.seconds})
            return Built(None, verdict, made.seconds)
        made = replace(made, resources=self._with_occupancy(made, kernel, workload))
        return Built(made.as_json(), None, made.seconds, partial(self._listed, made))

    def _listed(self, made: Artifact) -> Mapping[str, int]:
        """Return how often each instruction occurs in machine code; none where nothing tells."""
        try:
            return self._compiler.disassemble(made).instructions
        except Fault as fault:
            unwrap(fault)

    def _with_occupancy(
        self, made: Artifact, kernel: Kernel, workload: Workload
    ) -> dict[str, dict[str, Any]]:
        """Add the theoretical occupancy of a launched kernel, whose block size is known here."""
        launch = kernel.launch or workload.launch
        name = plain_name(made.symbols.get(workload.symbol, ""))
        used = made.resources.get(name)
        if launch is None or used is None or not workload.cases:
            return made.resources
        values = max(workload.cases, key=lambda case: (case.time, case.weight)).values
        try:
            threads = 1
            for dimension in launch.block:
                threads *= count(dimension, values)
            shared = (used["shared_bytes"] or 0) + count(launch.shared, values)
        except ExpressionError:
            return made.resources
        figure = occupancy(self._sm, threads, used["registers"] or 0, shared)
        return {**made.resources, name: {**used, "occupancy": figure}}
