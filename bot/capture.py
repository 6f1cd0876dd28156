"""`optiml capture`: from a program's real launches to workloads, and what is said about it."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from bot import projects
from optimizer.errors import ConfigError
from optimizer.model import Acceptance, Argument, Build, Kernel, Workload
from optimizer.source import Source
from runners.capture import manifest, record, sources, spool, store
from runners.capture.names import demangled, parsed
from runners.capture.record import Wanted
from runners.capture.shapes import numbers
from runners.capture.workload import Found, build, renamed
from runners.cuda_types import CudaType, parse
from runners.fault import Fault
from runners.wire import unwrap
from runners.workload import PROJECT_FILE, read_project
from runners.workload_yaml import to_yaml

SUMMARY, WORKLOAD = "summary.txt", "workload.yml"
_LONGEST = 60  # characters of a kernel's name in a list
_WAYS: tuple[record.Through, ...] = ("cupti", "preload")


@dataclass(frozen=True, slots=True)
class Order:
    """A capture that is to be made. `source` names the file of every kernel chosen."""

    command: tuple[str, ...]
    wanted: Wanted
    out: Path
    source: Path | None = None
    randomize: bool = False
    force: bool = False
    through: record.Through | None = None


@dataclass(frozen=True, slots=True)
class Done:
    """A capture that was made: the program's exit status, what is in it, what became of it."""

    status: int
    made: store.Made
    found: tuple[Found, ...]
    troubles: tuple[str, ...]

    @property
    def text(self) -> str:
        """Return the summary for people."""
        return "\n".join(_summary(self)) + "\n"


def capture(order: Order, root: Path, cache: Path) -> Done:
    """Run a program, keep its launches, and work out what they are workloads of.

    `root` is the project that sources are looked for in. Raise `ConfigError` when nothing was
    launched that was chosen.
    """
    top = root.resolve()
    if not order.out.resolve().is_relative_to(top):
        raise ConfigError(f"{order.out} is outside of the project {top}", "name a folder inside it")
    paths = [projects.checked(order.source)] if order.source else list(sources.files(top))
    known = sources.kernels(paths)
    wanted = order.wanted
    if not wanted.kernels and not wanted.everything:
        if not known:
            raise ConfigError(f"no kernel is written below {top}", "choose some with --kernel NAME")
        wanted = Wanted(tuple(known), wanted.launches, wanted.skip, wanted.most, wanted.total)
    cupti = record.cupti()
    seen: record.Through = order.through or ("cupti" if cupti else "preload")
    with tempfile.TemporaryDirectory(prefix="optiml-capture-") as scratch:
        try:
            status = record.run(order.command, wanted, Path(scratch), cache, seen, cupti)
        except Fault as fault:
            unwrap(fault)
        processes = spool.processes(Path(scratch))
        _require(processes, wanted, seen, status)
        files: dict[str, Path] = {}
        troubles: list[str] = []
        for process in processes:
            for launch in process.launches:
                try:
                    path = sources.source_of(known, launch.name, len(launch.parameters))
                except ConfigError as error:
                    troubles.append(_words(error))
                    continue
                if path is not None:
                    files[launch.symbol] = path

        def types(symbol: str, name: str) -> Sequence[CudaType | None] | None:
            path = files.get(symbol)
            function = path and Source(projects.text_of(path)).function(demangled(name).plain)
            return [parsed(one.type) for one in function.parameters] if function else None

        made = store.write(
            processes,
            order.out,
            command=order.command,
            through=seen,
            sources={
                symbol: path.resolve().relative_to(top).as_posix()
                for symbol, path in files.items()
                if path.resolve().is_relative_to(top)
            },
            random=order.randomize,
            types=types,
            force=order.force,
        )
    _complete(made)
    found, more = _described(made.capture, order.out, top)
    done = Done(status, made, found, tuple(dict.fromkeys([*troubles, *more])))
    (order.out / SUMMARY).write_text(done.text, encoding="utf-8")
    if found:
        text = to_yaml([(one.kernel.path, one.workload) for one in found])
        (order.out / WORKLOAD).write_text(text, encoding="utf-8")
    return done


def _require(
    processes: Sequence[spool.Process], wanted: Wanted, through: record.Through, status: int
) -> None:
    if any(process.launches for process in processes):
        return
    seen = {kernel.name for process in processes for kernel in process.summary.kernels}
    refused = [
        f"{demangled(one.kernel).plain or 'the program'}: {one.why}"
        for process in processes
        for one in process.summary.refused
    ]
    notes = [note for process in processes for note in process.summary.notes]
    ended = f" (it ended with status {status})" if status else ""
    if not seen:
        other = "preload" if through == "cupti" else "cupti"
        said = f": {'; '.join(notes)}" if notes else ""
        raise ConfigError(f"no launch of a kernel was seen{ended}{said}", f"try --through {other}")
    about = [why for why in refused if not why.startswith("the program: ")]
    if about:
        raise ConfigError(f"no launch could be captured{ended}: {'; '.join(about[:6])}")
    there = [k for process in processes for k in process.summary.kernels if k.chosen]
    if there:
        counts = ", ".join(f"{k.launches} launches of {demangled(k.name).plain}" for k in there[:6])
        raise ConfigError(f"none of {counts} was kept{ended}", "lower --skip")
    names = sorted(demangled(name).instance for name in seen)
    shown = ", ".join(names[:12]) + (", ..." if len(names) > 12 else "")
    asked = ", ".join(wanted.kernels[:6]) or "any kernel"
    more = f"; {'; '.join(refused[:3])}" if refused else ""
    raise ConfigError(
        f"no launch of {asked} was seen{ended}", f"the program launched {shown}{more}"
    )


def _complete(made: store.Made) -> None:
    """Raise when not one launch could be kept, and leave nothing behind."""
    if made.capture.kernels:
        return
    store.clear(made.folder)
    said = "; ".join(
        f"{demangled(left.kernel).instance}: {left.why}" for left in made.capture.left_out[:6]
    )
    raise ConfigError(f"no launch could be kept: {said}", "raise --limit, or see docs/capture.md")


def _described(
    capture: manifest.Capture, folder: Path, root: Path
) -> tuple[tuple[Found, ...], list[str]]:
    found: list[Found] = []
    troubles: list[str] = []
    for number, one in enumerate(capture.kernels):
        try:
            found.append(_one(capture, number, folder, root, None))
        except ConfigError as error:
            troubles.append(f"{demangled(one.name).instance}: {_words(error)}")
    return tuple(renamed(found)), troubles


def _words(error: ConfigError) -> str:
    return f"{error.message} ({error.remedy})" if error.remedy else error.message


def workloads(folder: Path, kernel: str | None, source: Path | None) -> tuple[Found, ...]:
    """Return what a capture's kernels are workloads of. Raise `ConfigError` for the first not."""
    capture = manifest.read(folder)
    root = root_of(source or folder)
    numbers = sources.chosen(capture, kernel)
    return tuple(renamed([_one(capture, n, folder, root, source) for n in numbers]))


def root_of(place: Path) -> Path:
    """Return the project around a file or folder: up to its project file, its repository, or here.

    Contents are read below it, and sources.
    """
    path = place.resolve()
    here = Path.cwd().resolve()
    for folder in [path, *path.parents]:
        if (folder / PROJECT_FILE).is_file() or (folder / ".git").exists():
            return folder
        if folder == here:
            return here
    return path.parent


def _one(
    capture: manifest.Capture, number: int, folder: Path, root: Path, source: Path | None
) -> Found:
    one = capture.kernels[number]
    if source is None and one.source is None:
        raise ConfigError(
            "its source was not found in the project", "name it with --source FILE.cu"
        )
    path = projects.checked(source or root / str(one.source))
    if not path.is_relative_to(root) or not folder.resolve().is_relative_to(root):
        raise ConfigError(f"{path} and {folder} are not both inside {root}")
    build_, accept = _choices(path, root)
    return build(
        capture,
        number,
        folder.resolve().relative_to(root).as_posix(),
        projects.text_of(path),
        path.relative_to(root).as_posix(),
        root=str(root),
        build=build_,
        accept=accept,
    )


def _choices(path: Path, root: Path) -> tuple[Build, Acceptance]:
    """Return how the project's own workloads are built and accepted: those of the file, or any."""
    project = root / PROJECT_FILE
    if not project.is_file():
        return Build(), Acceptance()
    entries = read_project(project).workloads
    inside = path.relative_to(root).as_posix()
    chosen = next((one for file, one in entries if file == inside), entries[0][1])
    return chosen.build, chosen.accept


def size(text: str) -> int:
    """Read a size in bytes: `500M`, `4G`, or a bare number.

    >>> size("4G"), size("1000")
    (4294967296, 1000)
    """
    match = re.fullmatch(r"\s*(\d{1,15}(?:\.\d+)?)\s*([kMGT]?)i?B?\s*", text)
    if not match or not float(match[1]):
        raise ConfigError(f"{text!r} is no size", "write it as 500M or 4G")
    return int(float(match[1]) * 1024 ** ("", "k", "M", "G", "T").index(match[2]))


def through(word: str | None) -> record.Through | None:
    """Read how launches are seen; None leaves it open."""
    if word is None:
        return None
    for one in _WAYS:
        if word == one:
            return one
    raise ConfigError(f"{word!r} is no way to see launches", "use cupti or preload")


def pairs(found: Sequence[Found]) -> tuple[tuple[Kernel, Workload], ...]:
    """Return kernels with their workloads, as a run takes them."""
    return tuple((one.kernel, one.workload) for one in found)


def _size(count: int) -> str:
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= size:
            return f"{count / size:.3g} {unit}"
    return f"{count} bytes"


def _summary(done: Done) -> Iterator[str]:
    made = done.made.capture
    count = sum(len(kernel.launches) for kernel in made.kernels)
    yield (
        f"{count} launches of {len(made.kernels)} kernels, {_size(done.made.given)} of contents in"
        f" {_size(done.made.stored)} ({_THROUGH[made.through]})"
    )
    if made.randomized:
        yield "values are random ones of the same distribution; whole numbers stay in their range"
    if done.status:
        yield f"the program ended with status {done.status}"
    by_symbol = {(one.workload.symbol, one.kernel.path): one for one in done.found}
    for kernel in made.kernels:
        said = demangled(kernel.name)
        yield ""
        where = f" in {kernel.source}" if kernel.source else ""
        yield f"{said.instance}{where}: {len(kernel.launches)} of {kernel.seen} launches"
        one = by_symbol.get((said.instance, kernel.source or ""))
        arguments = one.workload.arguments if one else ()
        for launch in kernel.launches:
            yield from _launch(launch, arguments)
        for note in one.notes if one else ():
            yield f"  {note}"
    if made.left_out or done.troubles:
        yield ""
        yield "left out:"
        for left in made.left_out:
            name = demangled(_demangled(made, left.kernel)).instance or "the program"
            yield f"  {name}: {left.why}" + (f" ({left.count} times)" if left.count > 1 else "")
        yield from (f"  {trouble}" for trouble in done.troubles)
    if made.others:
        total = sum(one.launches for one in made.others)
        named = ", ".join(f"{_short(one.name)} ({one.launches})" for one in made.others[:8])
        more = ", ..." if len(made.others) > 8 else ""
        yield ""
        yield f"not chosen: {total} launches of {len(made.others)} kernels: {named}{more}"
    yield from (f"note: {note}" for note in made.notes)


_THROUGH = {"cupti": "seen through CUPTI", "preload": "seen in front of the driver"}


def _short(name: str) -> str:
    """Return a kernel's instance, without template arguments that fill a screen."""
    said = demangled(name)
    return said.instance if len(said.instance) <= _LONGEST else f"{said.plain}<...>"


def _demangled(made: manifest.Capture, symbol: str) -> str:
    return next((one.name for one in made.kernels if one.symbol == symbol), symbol)


def _launch(launch: manifest.Launch, arguments: Sequence[Argument]) -> Iterator[str]:
    geometry = " x ".join(
        "(" + ", ".join(str(n) for n in sizes) + ")" for sizes in (launch.grid, launch.block)
    )
    alike = "contents differ" if launch.repeated else f"{launch.count} alike"
    shared = f", {launch.shared} bytes shared" if launch.shared else ""
    yield f"  launch {launch.ordinal}: {geometry}{shared}, {alike}"
    for number, given in enumerate(launch.arguments):
        known = arguments[number] if number < len(arguments) else None
        name = known.name if known else f"argument {number}"
        if isinstance(given, manifest.Value):
            yield f"    {name}: {_value(given, known)}"
            continue
        part = "" if given.size == given.whole else f" of {_size(given.whole)}"
        changed = (
            f", bytes {given.changed[0]} to {given.changed[1]} changed"
            if given.changed
            else ", unchanged"
        )
        yield f"    {name}: {given.memory} memory, {_size(given.size)}{part}{changed}"


def _value(given: manifest.Value, known: Argument | None) -> str:
    if known is None or known.type.startswith("struct"):
        return f"{len(given.data)} bytes by value"
    return ", ".join(f"{n:.9g}" for n in numbers(parse(known.type), given.data))
