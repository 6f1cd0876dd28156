"""A first `.optiml.yml` from the sources alone: everything that can be inferred, guesses marked."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from optimizer.accesses import Access
from optimizer.errors import ConfigError
from optimizer.functions import Function
from optimizer.model import Build
from optimizer.source import Source
from runners import cuda_types, lone_program

_GUESS = "  # guess: check it"
_INTEGER = re.compile(r"\b(int|long|short|size_t|unsigned|u?int(8|16|32|64)_t)\b")
_SKIPPED = frozenset({".git", ".venv", "node_modules", "build", "third_party", "external"})
_LARGEST = 4 << 20
# Sizes by how many of them may multiply to an array, so that it has some tens of megabytes: a GPU
# is busy; then an odd neighbour, and one below a warp that is checked and not timed.
_SIZES: Mapping[int, tuple[int, int, int]] = {
    1: (1 << 24, 1_000_003, 31),
    2: (4096, 1021, 7),
    3: (256, 127, 7),
}
# Parameters that are small wherever they occur, by their usual names.
_SMALL = (
    (re.compile(r"stride|dilation|step|iter", re.IGNORECASE), 1),
    (re.compile(r"pad|radius|halo", re.IGNORECASE), 1),
    (re.compile(r"ksize|kernel|filter|window", re.IGNORECASE), 3),
    (re.compile(r"batch|channel|heads?$|bins?$", re.IGNORECASE), 8),
)


@dataclass(frozen=True, slots=True)
class Declared:
    """One entry of the list `kernels`, as YAML lines without indentation."""

    name: str
    lines: tuple[str, ...]


def project(root: Path, files: Sequence[Path] = ()) -> str:
    """Return an `.optiml.yml` for the kernels below a folder; empty when there are none."""
    return of_texts(
        (_place(file, root), file.read_text(encoding="utf-8", errors="replace"))
        for file in files or sorted(_cuda_files(root))
    )


def _place(file: Path, root: Path) -> str:
    for one, top in ((file, root), (file.resolve(), root.resolve())):
        if one.is_relative_to(top):
            return one.relative_to(top).as_posix()
    raise ConfigError(f"{file} is not below {root}", "start `optiml init` in a folder above it")


def of_texts(files: Iterable[tuple[str, str]]) -> str:
    """Return an `.optiml.yml` for files given as path and text; empty when nothing fits."""
    found: list[Declared] = []
    skipped: list[str] = []
    for path, text in files:
        for declared in _declared(Source(text), path, skipped):
            found.append(_renamed(declared, {one.name for one in found}))
    if not found:
        return ""
    head = ["version: 1", *(f"# {line}" for line in skipped), "kernels:"]
    body = [
        f"  {'- ' if number == 0 else '  '}{line}"
        for declared in found
        for number, line in enumerate(declared.lines)
    ]
    return "\n".join([*head, *body]) + "\n"


def _cuda_files(root: Path) -> Iterator[Path]:
    for file in root.rglob("*.cu"):
        skipped = _SKIPPED & set(file.relative_to(root).parts)
        if not skipped and file.is_file() and file.stat().st_size <= _LARGEST:
            yield file


def _renamed(declared: Declared, taken: set[str]) -> Declared:
    name, number = declared.name, 2
    while name in taken:
        name, number = f"{declared.name}-{number}", number + 1
    return Declared(name, (f"name: {name}", *declared.lines[1:]))


def _declared(source: Source, path: str, skipped: list[str]) -> Iterator[Declared]:
    quoted = json.dumps(path)
    if source.has_main:
        stem = Path(path).stem
        checks = ["check: {exit: 0}" + ("  # add stdout: WORD when it prints its own verdict")]
        lines = [f"name: {_plain(stem)}", f"file: {quoted}", "program:"]
        lines += ["  run: []  # its command-line arguments", f"  {checks[0]}"]
        if not source.kernels and not source.includes:  # its headers may hold some
            skipped.append(f"{path} was left out: it has a main() and no kernel of its own")
            return
        build = lone_program.build([source.text])
        if build != Build():
            lines.append(f"build: {{flags: {json.dumps(build.flags)}}}")
        yield Declared(_plain(stem), tuple(lines))
        return
    covered: set[str] = set()
    for function in source.host_functions:
        launched = {one.kernel for one in source.launches if one.function == function.name}
        if launched and not function.templates and _describable(function):
            covered |= launched
            yield _entry(source, function, quoted)
    for kernel in source.kernels:
        if kernel.name in covered:
            continue
        if kernel.broken or not _describable(kernel):
            skipped.append(f"{path}: {kernel.name} was left out: its arguments are not plain")
        else:
            yield _kernel(source, kernel, quoted)


def _describable(function: Function) -> bool:
    for parameter in function.parameters:
        if parameter.reference or parameter.depth > 1:
            return False
        if parameter.type == "cudaStream_t":
            continue
        try:
            cuda_types.parse(parameter.element)
        except cuda_types.TypeNameError:
            return False
    return any(parameter.is_pointer for parameter in function.parameters)


def _entry(source: Source, function: Function, quoted: str) -> Declared:
    sizes = {p.name for p in function.parameters if _is_size(p.type, p.depth)}
    shapes: dict[str, str] = {}
    roles: dict[str, str] = {}
    for launch in source.launches:
        kernel = source.function(launch.kernel)
        if launch.function != function.name or kernel is None or not kernel.is_kernel:
            continue
        outer = {
            inner.name: source.plain(node)
            for inner, node in zip(kernel.parameters, launch.arguments, strict=False)
        }
        inner_shapes, inner_roles = _shapes(source, kernel), _roles(kernel)
        for name, given in outer.items():
            shape = _translated(inner_shapes.get(name, ""), outer)
            if shape and all(one in sizes or one.isdigit() for one in shape.split("*")):
                shapes.setdefault(given, shape)
            if name in inner_roles:
                roles.setdefault(given, inner_roles[name])
    start, end = function.text_span()
    if "cudaMemset" in source.text[start:end]:
        roles = dict.fromkeys(roles, "output")  # it clears what its kernels add to
    lines = [f"name: {_plain(function.name)}", f"file: {quoted}", f"entry: {function.name}"]
    lines += _arguments(function, shapes, roles)
    return Declared(_plain(function.name), (*lines, *_cases(function)))


def _kernel(source: Source, kernel: Function, quoted: str) -> Declared:
    shapes = _shapes(source, kernel)
    sizes = [p.name for p in kernel.parameters if _is_size(p.type, p.depth)]
    lines = [f"name: {_plain(kernel.name)}", f"file: {quoted}"]
    symbol = kernel.name
    if kernel.templates:
        values = ["float" if one.is_type else "256" for one in kernel.templates]
        symbol = f"{kernel.name}<{', '.join(values)}>"
    lines.append(f"kernel: {json.dumps(symbol)}{_GUESS if kernel.templates else ''}")
    axes = sorted({one.axis for one in kernel.thread_ids})
    known = {axis: _bound(source, kernel, axis) for axis in axes or ["x"]}
    everything = "*".join(sizes) or "1"
    bounds = {axis: bound if bound in sizes else everything for axis, bound in known.items()}
    if len(bounds) > 1:
        grid = [f'"({bounds.get(axis, "1")}+15)/16"' for axis in "xy"]
        block = "[16, 16]"
    else:
        grid, block = [f'"({next(iter(bounds.values()))}+255)/256"'], "[256]"
    lines.append(f"launch: {{grid: [{', '.join(grid)}], block: {block}, shared: 0}}{_GUESS}")
    lines += _arguments(kernel, shapes, _roles(kernel))
    return Declared(_plain(kernel.name), (*lines, *_cases(kernel)))


def _arguments(
    function: Function, shapes: Mapping[str, str], roles: Mapping[str, str]
) -> Iterator[str]:
    sizes = [p.name for p in function.parameters if _is_size(p.type, p.depth)]
    yield "args:"
    for parameter in function.parameters:
        kind = json.dumps(" ".join(parameter.type.replace(" *", "*").split()))
        if parameter.type == "cudaStream_t":
            continue
        if not parameter.is_pointer:
            value = parameter.name if parameter.name in sizes else "1"
            mark = "" if parameter.name in sizes else _GUESS
            yield f'  - {{name: {parameter.name}, type: {kind}, value: "{value}"}}{mark}'
            continue
        shape = shapes.get(parameter.name) or "*".join(sizes) or "n"
        role = "" if parameter.const else f", role: {roles.get(parameter.name, 'output')}"
        yield f'  - {{name: {parameter.name}, type: {kind}, shape: "{shape}"{role}}}{_GUESS}'


def _cases(function: Function) -> Iterator[str]:
    sizes = [p.name for p in function.parameters if _is_size(p.type, p.depth)] or ["n"]
    free = sum(_small(name) is None for name in sizes)
    large, odd, small = _SIZES[min(max(free, 1) + (free < len(sizes)), 3)]
    yield f"cases:{_GUESS.replace('check it', 'sizes that matter to you')}"
    for size, rest in ((large, ", weight: 2"), (odd, ""), (small, ", time: false")):
        given = ", ".join(f"{name}: {_small(name) or size}" for name in sizes)
        yield f"  - {{{given}{rest}}}"


def _small(name: str) -> int | None:
    return next((size for pattern, size in _SMALL if pattern.search(name)), None)


def _is_size(kind: str, depth: int) -> bool:
    return depth == 0 and bool(_INTEGER.search(kind))


def _roles(kernel: Function) -> dict[str, str]:
    """Return inout for arrays that are read before they are written, output for the others."""
    read: dict[str, list[Access]] = {}
    written: dict[str, Access] = {}
    found: dict[str, str] = {}
    for access in kernel.accesses:
        if access.kind == "read":
            read.setdefault(access.root, []).append(access)
        elif access.kind == "write":
            written.setdefault(access.root, access)
        elif access.kind != "unknown":
            found[access.root] = "inout"
    for root, first in written.items():
        before = any(
            one.line < first.line or one.statement == first.statement for one in read.get(root, [])
        )
        found.setdefault(root, "inout" if before else "output")
    return found


def _shapes(source: Source, kernel: Function) -> dict[str, str]:
    """Guess an array's elements from its largest index: strides times the bounds of what moves."""
    names = [p.name for p in kernel.parameters if _is_size(p.type, p.depth)]
    found: dict[str, tuple[str, ...]] = {}
    for access in kernel.accesses:
        if access.space not in ("global", "unknown") or access.index is None:
            continue
        bounds = {loop.name: source.plain(loop.bound) for loop in access.loops if loop.bound}
        for monomial in access.index.terms:
            factors = [atom for atom in monomial if atom in names]
            for atom in monomial:
                thing, _, axis = atom.partition(".")
                by_thread = thing in ("blockIdx", "threadIdx")
                bound = _bound(source, kernel, axis) if by_thread else bounds.get(atom)
                if bound and (bound in names or bound.isdigit()):
                    factors.append(bound)
                elif by_thread:  # how far it goes is not seen: as far as the sizes allow
                    factors += [name for name in names if name not in factors]
            if len(factors) > len(found.get(access.root, ())):
                found[access.root] = tuple(factors)
    return {
        root: "*".join(sorted(factors, key=lambda one: names.index(one) if one in names else 99))
        for root, factors in found.items()
    }


def _bound(source: Source, kernel: Function, axis: str) -> str | None:
    """Return what a guard compares the thread's number along an axis with."""
    ids = {one.variable.name for one in kernel.thread_ids if one.axis == axis}
    for guard in kernel.guards:
        for name, relation, node in guard.bounds or ():
            if name in ids and relation in ("<", "<="):
                return source.plain(node)
    return None


def _translated(shape: str, outer: Mapping[str, str]) -> str:
    return "*".join(outer.get(name, name) for name in shape.split("*"))


def _plain(name: str) -> str:
    return re.sub(r"[^\w.-]+", "-", name) or "kernel"
