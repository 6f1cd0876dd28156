"""What can be said of a CUDA file without running it: kernels, launches, resources, findings."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from bot import wording
from bot.markdown import visible
from bot.settings import Settings
from optimizer.diagnosis import diagnose
from optimizer.functions import Function
from optimizer.launches import Launch
from optimizer.model import Finding, Kernel, Resources, Status, Verdict
from optimizer.source import Source
from runners import lone_program
from runners.artifact import Artifact, Failure, Options
from runners.compiler import Compiler
from runners.fault import Fault
from runners.occupancy import occupancy
from runners.sandbox import Sandbox
from runners.toolchain import find_toolchain

_ANY_BLOCK = 256  # threads, where no launch says how many


@dataclass(frozen=True, slots=True)
class Compiled:
    """What the compiler said; `problem` tells why it said nothing. `sm` is 90 for sm_90."""

    resources: Mapping[str, Resources] = field(default_factory=dict[str, Resources])
    instructions: Mapping[str, int] = field(default_factory=dict[str, int])
    sm: int = 0
    compiler: str = ""
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Inspection:
    """Everything known of one file."""

    path: Path
    source: Source
    compiled: Compiled
    findings: tuple[Finding, ...]


def inspect(path: Path, text: str, settings: Settings, sm: int, root: Path) -> Inspection:
    """Read and, where nvcc is there, compile a file for compute capability `sm` (90 for 9.0)."""
    source = Source(text)
    compiled = _compiled(path, source, settings, sm, root)
    verdict = Verdict(
        Status.CORRECT, resources=compiled.resources, instructions=compiled.instructions
    )
    findings = diagnose(Kernel(path.stem, text, path.name), verdict, {})
    return Inspection(path, source, compiled, findings)


def _compiled(path: Path, source: Source, settings: Settings, sm: int, root: Path) -> Compiled:
    try:
        toolchain = find_toolchain(settings.nvcc or None)
        with tempfile.TemporaryDirectory(prefix="optiml-inspect-") as scratch, Sandbox() as sandbox:
            compiler = Compiler(toolchain, sandbox, Path(scratch))
            made = compiler.compile(
                source.text,
                path=path.relative_to(root).as_posix(),
                kind="cubin",
                sm=sm,
                options=Options(_flags(path, source)),
                root=str(root),
            )
            if isinstance(made, Artifact):
                made = compiler.disassemble(made)
    except Fault as fault:
        words = f"{fault.message}: {fault.remedy}" if fault.remedy else fault.message
        return Compiled(sm=sm, problem=words)
    if isinstance(made, Failure):
        return Compiled(sm=sm, compiler=toolchain.name, problem=f"does not compile:\n{made.log}")
    threads = {kernel.name: _threads(source, kernel.name) for kernel in source.kernels}
    resources = {
        name: Resources(
            used.get("registers") or 0,
            used.get("shared_bytes") or 0,
            used.get("stack_bytes") or 0,
            used.get("spill_bytes") or 0,
            occupancy(
                sm,
                threads.get(name) or _ANY_BLOCK,
                used.get("registers") or 0,
                used.get("shared_bytes") or 0,
            ),
        )
        for name, used in made.resources.items()
    }
    return Compiled(resources, made.instructions, sm, toolchain.name)


def _flags(path: Path, source: Source) -> tuple[str, ...]:
    headers = lone_program.own_headers(source.text, path)
    return lone_program.build([source.text, *headers.values()]).flags


def _threads(source: Source, kernel: str) -> int | None:
    known = [launch.threads for launch in source.launches_of(kernel) if launch.threads]
    return max(known, default=None)


def show(console: Console, seen: Inspection) -> None:
    """Print an inspection."""
    source = seen.source
    kind = "a file of kernels" if source.kernels else "a source"
    kind = "a program" if source.has_main else kind
    kernels = wording.count(len(source.kernels), "kernel")
    launches = wording.count(len(source.launches), "launch", "launches")
    title = f"{seen.path}: {kind}, {kernels}, {launches}"
    console.print(Text(visible(title), style="bold"), soft_wrap=True)
    if source.errors:
        lines = ", ".join(str(source.line(start)) for start, _ in source.errors[:5])
        words = f"not understood near line {lines}: rules leave that alone"
        console.print(Text(words, style="yellow"))
    if source.kernels:
        console.print(_kernels(seen))
    elsewhere = [
        Path(path).name
        for path, text in lone_program.own_headers(source.text, seen.path).items()
        if Source(text).kernels
    ]
    if elsewhere:
        words = f"more kernels are in {', '.join(elsewhere)}"
        console.print(Text(visible(words), style="yellow"), soft_wrap=True)
    for launch in source.launches:
        console.print(Text(visible(f"line {launch.line}: {_said(source, launch)}"), style="dim"))
    if seen.compiled.problem:
        console.print(Text(visible(seen.compiled.problem), style="yellow"), soft_wrap=True)
    elif seen.compiled.compiler:
        words = f"compiled by {seen.compiled.compiler} for sm_{seen.compiled.sm}"
        console.print(Text(words, style="dim"))
    _show_findings(console, seen)


def _kernels(seen: Inspection) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("kernel")
    for name in ("line", "loops", "block", "registers", "shared", "spills", "occupancy"):
        table.add_column(name, justify="right")
    for kernel in seen.source.kernels:
        used = seen.compiled.resources.get(kernel.name)
        threads = _threads(seen.source, kernel.name)
        share = f"{used.occupancy:.0%}" if used and used.occupancy is not None else "–"
        if used and threads is None and share != "–":
            share += f" at {_ANY_BLOCK}"
        table.add_row(
            Text(_named(kernel)),
            str(kernel.line),
            str(len(kernel.loops)),
            str(threads or "–"),
            str(used.registers) if used else "–",
            f"{used.shared_bytes:,} B" if used else "–",
            f"{used.spill_bytes:,} B" if used else "–",
            share,
        )
    return table


def _show_findings(console: Console, seen: Inspection) -> None:
    if not seen.findings:
        console.print("no static findings; the counters of a run say more")
        return
    style = {"critical": "bold red", "warning": "yellow", "info": "cyan"}
    for one in seen.findings:
        where = f"{one.subject}:{one.line}" if one.line else one.subject
        head = Text(f"{one.severity.value:8}", style=style[one.severity.value])
        console.print(head.append(f" {one.detector}", style="bold"), Text(where, style="dim"))
        console.print(Text(visible(f"         {one.message}")), soft_wrap=True)
        if one.advice:
            console.print(Text(visible(f"         → {one.advice}"), style="dim"), soft_wrap=True)


def _named(kernel: Function) -> str:
    return f"{kernel.name}<…>" if kernel.templates else kernel.name


def _said(source: Source, launch: Launch) -> str:
    low, high = launch.span
    return " ".join(source.text[low:high].split())[:160]


def as_json(seen: Inspection) -> dict[str, object]:
    """Return an inspection for machines."""
    source = seen.source
    of: Callable[[str], Resources | None] = seen.compiled.resources.get
    return {
        "file": str(seen.path),
        "program": source.has_main,
        "compiler": seen.compiled.compiler or None,
        "sm": seen.compiled.sm,
        "problem": seen.compiled.problem or None,
        "kernels": [
            {
                "name": kernel.name,
                "line": kernel.line,
                "arguments": [{"name": p.name, "type": p.type} for p in kernel.parameters],
                "block": _threads(source, kernel.name),
                "resources": _resources(of(kernel.name)),
            }
            for kernel in source.kernels
        ],
        "launches": [
            {"kernel": one.kernel, "line": one.line, "in": one.function, "text": _said(source, one)}
            for one in source.launches
        ],
        "findings": [
            {
                "detector": one.detector,
                "severity": one.severity.value,
                "kernel": one.subject,
                "line": one.line,
                "message": one.message,
                "advice": one.advice,
                "remedies": list(one.remedies),
                "expected": one.expected,
                "confidence": one.confidence,
            }
            for one in seen.findings
        ],
    }


def _resources(used: Resources | None) -> dict[str, object] | None:
    if used is None:
        return None
    return {
        "registers": used.registers,
        "shared_bytes": used.shared_bytes,
        "stack_bytes": used.stack_bytes,
        "spill_bytes": used.spill_bytes,
        "occupancy": used.occupancy,
    }
