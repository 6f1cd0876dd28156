"""Numbers worth trying otherwise: block shapes, tiles, unroll factors, items per thread.

`tune` works on any CUDA text. A knob is a set of places that must change together: the literal of
a block extent, the `+ 255` and `/ 256` of its grid, the shared size, a template argument and the
array extents in the kernel that repeat it. Names of constants that say what they are for (tile,
threads, unroll ...) are knobs, too; others may be part of the problem and are left alone. Every
text is checked before it is offered: blocks stay within 1024 threads, static shared arrays within
48 KiB, and `optimizer.boundary` finds nothing to object to.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache

from optimizer.boundary import violations
from optimizer.functions import Function
from optimizer.knobs import (
    MOST_THREADS,
    STATIC_SHARED_BYTES,
    Knob,
    Places,
    alternatives,
    numbers_threads,
    origin,
    pinned,
    repeated,
)
from optimizer.launch_shapes import launch_shapes
from optimizer.launches import Constant, Extent
from optimizer.launches import Launch as LaunchSite
from optimizer.loader_knobs import loader_knobs
from optimizer.model import Edit, Finding, Kernel, Launch
from optimizer.renumbered import Renumbered
from optimizer.source import Source
from optimizer.spans import replace
from optimizer.syntax import Span, field, span, walk
from optimizer.tokens import code_tokens, integer
from optimizer.written_out import WrittenOut

_PURPOSE = re.compile(
    r"tile|block|thread|unroll|items|per_?thread|coarse|factor|chunk|batch|wpt|stage|vec|ilp|rows_per"
    r"|tpb|^b[mnkxy]$|^t[mnxy]$|^bs$|^nt$|outputs_per",
    re.IGNORECASE,
)
KIND = "tune"
Follows = dict[tuple[Span, int], bool]
# More copies of a loop take compiling and bring nothing: that of `spmv` 512 times takes 6.6 s of
# nvcc instead of 0.5 s on an H200's host, and no recorded winner has as many as this.
MOST_UNROLLED = 64
_PROBLEM = re.compile(
    r"radius|bins?$|width|height|warp_?size|blocks$|num_?blocks|n_?blocks|grid|epsilon|seed"
    r"|iterations|steps|log|shift|mask|scale_factor",
    re.IGNORECASE,
)
_SIZES = {"char": 1, "short": 2, "int": 4, "float": 4, "double": 8, "float2": 8, "float4": 16,
          "unsigned int": 4, "long long": 8, "half": 2, "__half": 2, "int4": 16}  # fmt: skip


def tune(kernel: Kernel, findings: Sequence[Finding] = ()) -> Iterable[Edit]:
    """Yield edits that change one number, or numbers that belong together, most likely first.

    Kernels that findings speak of come first. Follows `optimizer.interfaces.RewriteRule`.
    """
    # Between two edits only text is held, no parsed source: hundreds of candidates wait at once.
    seen: set[tuple[str, Launch | None]] = {(kernel.source, kernel.launch)}
    for knob in _ranked(kernel, findings):
        source = Source(kernel.source)
        text = source.replace([(a, b, str(n)) for (a, b), n in knob.places])
        launch = knob.launch or kernel.launch
        fits = (text, launch) not in seen and _holds(source, dict(knob.places))
        del source
        if fits:
            seen.add((text, launch))
            yield _edit(text, knob)
    yield from _launched_otherwise(kernel)


def _ranked(kernel: Kernel, findings: Sequence[Finding]) -> list[Knob]:
    source = Source(kernel.source)
    subjects = {f.subject for f in findings if f.subject}
    shapes = list(_shapes(source))
    shaped = {where for knob in shapes for where, _ in knob.places}
    knobs = [
        *shapes,
        *(k for k in _constants(source) if k.places[0][0] not in shaped),
        *_unrolls(source),
        *loader_knobs(source, kernel),
    ]
    return sorted(knobs, key=lambda k: k.rank - 2 * bool(subjects & k.kernels))


def _launched_otherwise(kernel: Kernel) -> list[Edit]:
    """Return other blocks for kernels whose block may not change where it is written."""
    source = Source(kernel.source)

    def within(name: str) -> bool:
        return any(_permitted(source, [k for k in _shapes(source) if name in k.kernels]))

    shown = WrittenOut(kernel)
    found: list[Edit] = []
    for shape in launch_shapes(shown.kernel, Source(shown.kernel.source), within):
        was, now = "x".join(map(str, shape.before)), "x".join(map(str, shape.after))
        edit = Edit(
            title=f"launch `{shape.kernel}` with blocks of {now} instead of {was} threads",
            source=shape.text,
            author="rule:tune",
            rationale="Another block size changes occupancy, tail effects and cache use.",
            kind=KIND,
        )
        found.append(shown.put_back(edit))
    return found


def _edit(text: str, knob: Knob) -> Edit:
    return Edit(
        title=knob.title,
        source=text,
        author="rule:tune",
        rationale=knob.rationale,
        kind=KIND,
        launch=knob.launch,
    )


def reshaped(
    kernel: Kernel, source: Source, shapes: Callable[[tuple[int, ...]], Sequence[tuple[int, ...]]]
) -> Iterator[tuple[frozenset[str], Edit]]:
    """Yield edits of block shapes alone, with the kernels whose blocks change.

    `shapes` gives the shapes to try for one, likeliest first. What the boundary forbids is left
    out.
    """
    knobs = (*_shapes(source, shapes), *loader_knobs(source, kernel, shapes))
    for knob in _permitted(source, [k for k in knobs if _holds(source, dict(k.places))]):
        text = source.replace([(a, b, str(n)) for (a, b), n in knob.places])
        yield knob.kernels, _edit(text, knob)


def _permitted(source: Source, knobs: Sequence[Knob]) -> Iterator[Knob]:
    """Yield those whose numbers host text lets change where they are written."""
    shell, moved = _shell(source)
    places = [
        frozenset(moved(at) for at, n in knob.places if source.text[slice(*at)] != str(n)) - {None}
        for knob in knobs
    ]
    together = _may_change(shell, frozenset().union(*places))
    for knob, changed in zip(knobs, places, strict=True):
        if together or _may_change(shell, changed):
            yield knob


def _shell(source: Source) -> tuple[str, Callable[[Span], Span | None]]:
    """Return a text without device code, and where places are in it (None: in device code).

    Hundreds of candidates have one shell: what the boundary says of it is asked once.
    """
    bodies: list[Span] = []
    for f in source.functions:  # in order: one within another comes behind it
        low, high = f.body.start_byte + 1, f.body.end_byte - 1
        device = "__device__" in f.qualifiers and "__host__" not in f.qualifiers
        if (f.is_kernel or device) and (bodies[-1][1] if bodies else 0) <= low <= high:
            bodies.append((low, high))

    def moved(at: Span) -> Span | None:
        gone = sum(high - low for low, high in bodies if high <= at[0])
        inside = any(low <= at[0] < high for low, high in bodies)
        return None if inside else (at[0] - gone, at[1] - gone)

    return replace(source.text, [(low, high, "") for low, high in bodies]), moved


@lru_cache(maxsize=64)
def _may_change(text: str, places: frozenset[Span | None]) -> bool:
    """Return whether numbers in some places may change; what they become makes no difference."""
    listed = sorted(at for at in places if at is not None)
    return not violations(text, replace(text, [(a, b, f"1{text[a:b]}") for a, b in listed]))


def _holds(source: Source, places: Places) -> bool:
    """Return whether a text can still be launched with other numbers; the boundary is not asked."""
    if not places:
        return True
    now = Renumbered(source, places)
    if now.sure:
        threads = now.threads()
        shared = [now.shared_bytes(f, _SIZES) for f in source.kernels]
    else:
        after = Source(source.replace([(a, b, str(n)) for (a, b), n in places.items()]))
        threads = tuple(launch.threads for launch in after.launches)
        same = Renumbered(after, {})
        shared = [same.shared_bytes(f, _SIZES) for f in after.kernels]
    for launch, total in zip(source.launches, threads, strict=False):
        if launch.threads is not None and total is None:
            return False
        if total is not None and not 1 <= total <= MOST_THREADS:
            return False
    return all(size <= STATIC_SHARED_BYTES for size in shared)


# -- block shapes of launches in the file --


def _shapes(
    source: Source,
    shapes: Callable[[tuple[int, ...]], Sequence[tuple[int, ...]]] = alternatives,
) -> Iterator[Knob]:
    done: set[tuple[tuple[Span, ...], str]] = set()
    follows: Follows = {}
    for launch in source.launches:
        sizes = _sizes(launch.block)
        if launch.block is None or sizes is None:
            continue
        literals = tuple(e.literal for e in launch.block[: len(sizes)] if e.literal is not None)
        if (literals, launch.kernel) in done or len(literals) != len(sizes):
            continue
        done.add((literals, launch.kernel))
        for rank, shape in enumerate(shapes(sizes)):
            places = _together(source, launch, shape, follows)
            if places is None:
                continue
            names = frozenset(lc.kernel for lc in source.launches if _uses(lc, set(places))) | {
                launch.kernel
            }
            was, now = "x".join(map(str, sizes)), "x".join(map(str, shape))
            yield Knob(
                f"launch `{launch.kernel}` with blocks of {now} instead of {was} threads",
                "Another block size changes occupancy, tail effects and cache use.",
                tuple(places.items()),
                rank + (0.5 if len(sizes) > 1 else 0.0),
                names,
            )


def _uses(launch: LaunchSite, places: set[Span]) -> bool:
    return any(e.literal in places for e in launch.block or ())


def _sizes(block: tuple[Extent, ...] | None) -> tuple[int, ...] | None:
    """Return the extents of a block without ones at its end; None when one is not seen."""
    if block is None or any(e.value is None for e in block):
        return None
    sizes = [e.value or 0 for e in block]
    while len(sizes) > 1 and sizes[-1] == 1:
        sizes.pop()
    total = 1
    for s in sizes:
        total *= s
    return tuple(sizes) if 16 <= total <= MOST_THREADS else None


def _together(
    source: Source, launch: LaunchSite, shape: tuple[int, ...], follows: Follows
) -> Places | None:
    """Return everything that changes with a launch's block, or None when it does not add up."""
    places: Places = {}
    block = launch.block or ()
    for extent, new in zip(block, shape, strict=False):
        if extent.literal is None or places.setdefault(extent.literal, new) != new:
            return None
    if not places:
        return None
    known = dict(places)
    for other in source.launches:
        if not _uses(other, set(known)):
            continue
        more = _coupled(source, other, known, follows)
        if more is None:
            return None
        for where, new in more.items():
            if places.setdefault(where, new) != new:
                return None
    return places


def _coupled(source: Source, launch: LaunchSite, known: Places, follows: Follows) -> Places | None:
    """Return numbers of one launch that repeat the block's, with what they become.

    `follows` keeps by launch and axis whether the grid follows the block: so it does for any shape.
    """
    found: Places = {}
    changes: list[tuple[int, int, int]] = []
    for axis, extent in enumerate(launch.block or ()):
        if extent.literal in known and extent.value is not None:
            changes.append((axis, extent.value, known[extent.literal]))
    host = source.function(launch.function)
    for axis, old, new in changes:
        if launch.grid is not None and axis < len(launch.grid):
            grid = origin(host, launch.grid[axis])
            repeats = repeated(source.text, grid, old, new) if grid is not None else {}
            if any(found.setdefault(at, n) != n for at, n in repeats.items()):
                return None
            at = (launch.span, axis)
            if not repeats and at not in follows:
                follows[at] = _follows(source, host, launch, axis, grid)
            if not (repeats or follows[at]):
                return None
    if len(changes) == 1:
        _, old, new = changes[0]
        if launch.shared_span is not None:
            found.update(repeated(source.text, launch.shared_span, old, new))
        for argument in _template_spans(launch):
            if integer(source.text[argument[0] : argument[1]]) == old:
                found[argument] = new
    function = source.function(launch.kernel)
    if function is None or not function.is_kernel or function.broken:
        return found if function is None else None
    inside = pinned(source, function, launch, changes, known)
    if inside is None:
        return None
    return {**found, **inside}


def _follows(
    source: Source, host: Function | None, launch: LaunchSite, axis: int, grid: Span | None
) -> bool:
    """Return whether the grid takes the block's extent into account, or need not.

    It need not when threads of the kernel stride through their work.
    """
    function = source.function(launch.kernel)
    if function is not None and function.is_kernel and not numbers_threads(function):
        return True
    names = {launch.block_variable, *(launch.block or ())[axis].defined} - {""}
    if grid is None or host is None:
        return grid is None
    pending = [t.text for t in code_tokens(source.text[grid[0] : grid[1]])]
    seen: set[str] = set()
    while pending:
        word = pending.pop()
        if word in names:
            return True
        if word in seen:
            continue
        seen.add(word)
        for v in host.variables.all:
            if v.name == word and v.init is not None:
                pending.extend(t.text for t in code_tokens(source.of(v.init)))
        constant = source.constant_of(word)
        if constant is not None:
            start, end = constant.value_span
            pending.extend(t.text for t in code_tokens(source.text[start:end]))
    return False


def _template_spans(launch: LaunchSite) -> Iterator[Span]:
    callee = field(launch.node, "function")
    for node in walk(callee, "template_argument_list") if callee is not None else ():
        for child in node.named_children:
            yield span(child)


# -- constants and pragmas --


def _constants(source: Source) -> Iterator[Knob]:
    """Yield other values for constants that are named after a purpose and used on the device."""
    users = _users(source)
    for constant in source.constants:
        if not _tunable(source, constant) or constant.name not in users:
            continue
        value = constant.value or 0
        for rank, new in enumerate(_neighbours(value)):
            yield Knob(
                f"set `{constant.name}` to {new} instead of {value}",
                "Trades parallelism, reuse and registers against each other.",
                (((constant.value_span), new),),
                rank + 1.5,
                frozenset(users[constant.name]),
            )


def _tunable(source: Source, constant: Constant) -> bool:
    name, value = constant.name, constant.value
    if value is None or not 1 <= value <= MOST_THREADS or constant.kind == "local":
        return False
    written = source.text[constant.value_span[0] : constant.value_span[1]].strip("() ")
    if integer(written) is None or source.constant_of(name) is None:
        return False
    return bool(_PURPOSE.search(name)) and not _PROBLEM.search(name)


def _users(source: Source) -> dict[str, set[str]]:
    """Return the kernels that mention each name, through macros and device functions."""
    bodies = {m.name: {t.text for t in code_tokens(m.body)} for m in source.macros}
    found: dict[str, set[str]] = {}
    for f in source.functions:
        if not (f.is_kernel or "__device__" in f.qualifiers):
            continue
        pending = [t.text for t in source.syntax.code_in(f.span) if t.kind == "word"]
        seen: set[str] = set()
        while pending:
            name = pending.pop()
            if name not in seen:
                seen.add(name)
                found.setdefault(name, set()).add(f.name)
                pending.extend(bodies.get(name, ()))
    return found


def _neighbours(value: int) -> list[int]:
    """Return double and half, then further powers of two around a number."""
    listed = [value * 2, value // 2, value * 4, value // 4]
    if value & (value - 1):
        power = 1 << value.bit_length()
        listed = [power, power // 2, *listed[:2]]
    return [n for n in dict.fromkeys(listed) if 1 <= n <= MOST_THREADS and n != value]


def _unrolls(source: Source) -> Iterator[Knob]:
    """Yield other factors for `#pragma unroll N`."""
    for f in source.functions:
        if not (f.is_kernel or "__device__" in f.qualifiers):
            continue
        for loop in f.loops:
            text = source.text[slice(*loop.pragma)] if loop.pragma is not None else ""
            match = re.search(r"unroll\s*\(?\s*(\d+)", text)
            if loop.pragma is None or match is None:
                continue
            at = source.text.index(match.group(1), loop.pragma[0] + len("#pragma unroll"))
            value = int(match.group(1))
            for rank, new in enumerate(_neighbours(value)[:4]):
                if loop.trips is not None and new > loop.trips:
                    continue
                if value < new > MOST_UNROLLED:
                    continue
                yield Knob(
                    f"unroll the loop at line {loop.line} of `{f.name}` {new} times"
                    f" instead of {value}"
                    if new > 1
                    else f"do not unroll the loop at line {loop.line} of `{f.name}`",
                    "Trades instruction overhead against registers and code size.",
                    (((at, at + len(match.group(1))), new),),
                    rank + 3,
                    frozenset({f.name}),
                )
