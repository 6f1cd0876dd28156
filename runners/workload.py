"""`.optiml.yml` to workloads; any mistake is one error with file, line and remedy."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from optimizer.errors import ConfigError
from optimizer.model import (
    Acceptance,
    Argument,
    Build,
    Case,
    Kernel,
    Kind,
    Launch,
    Program,
    Role,
    Tolerance,
    Workload,
)
from runners import cuda_types, flags, lone_program, marked_yaml
from runners.expressions import ExpressionError, count, evaluate, is_number, names
from runners.fault import Fault
from runners.marked_yaml import Marked, Path_
from runners.project_file import (
    SECTIONS,
    AcceptSection,
    ArgumentSection,
    BuildSection,
    KernelSection,
    ProjectSection,
)
from runners.signature import mismatch

PROJECT_FILE = ".optiml.yml"
MAX_SOURCE_BYTES = 4 << 20
MAX_ARRAY_BYTES = 1 << 40
_RESERVED = {"weight", "time"}


@dataclass(frozen=True, slots=True)
class ProjectConfig:
    """What a project file says about the search itself; None where it says nothing."""

    minutes: float | None = None
    evaluations: int | None = None
    usd: float | None = None
    policy: str | None = None
    objective: str | None = None

    def given(self) -> dict[str, object]:
        """Return what is given, by the names the settings have."""
        found = {name: getattr(self, name) for name in self.__slots__}
        return {name: value for name, value in found.items() if value is not None}


@dataclass(frozen=True, slots=True)
class Project:
    """A project file: each workload with its source's path relative to `root`."""

    root: Path
    workloads: tuple[tuple[str, Workload], ...]
    config: ProjectConfig = ProjectConfig()

    def kernels(self) -> tuple[tuple[Kernel, Workload], ...]:
        """Return each workload with its kernel as the files have it now."""
        return tuple(
            (kernel_of(workload, _read(self.root / path), path), workload)
            for path, workload in self.workloads
        )


def read_project(path: Path) -> Project:
    """Read a project file and check it against the sources beside it.

    Raise `ConfigError` for the first mistake: file, line, what was found, what would be right.
    """
    project = parse_project(_read(path), path.parent.resolve(), str(path))
    marked = marked_yaml.load(_read(path), str(path))
    for index, (file, workload) in enumerate(project.workloads):
        at: Path_ = ("kernels", index)
        source = _inside(project.root, file, marked, (*at, "file"), "file")
        _check_files(project.root, workload, marked, at)
        trouble = mismatch(workload, _read(source), file)
        if trouble is not None:
            way = workload.kind.value
            where = "args" if "argument" in trouble[0] or "args" in trouble[0] else way
            raise marked.error((*at, where), *trouble)
    return project


def parse_project(text: str, root: Path, name: str = PROJECT_FILE) -> Project:
    """Read a project file's text without looking at other files. Raise `ConfigError`."""
    marked = marked_yaml.load(text, name)
    if not isinstance(marked.value, dict):
        raise marked.error((), "the file must hold keys such as version and kernels")
    try:
        found = ProjectSection.model_validate(marked.value)
    except ValidationError as error:
        raise _explain(error, marked) from error
    workloads: list[tuple[str, Workload]] = []
    taken: dict[str, int] = {}
    for index, section in enumerate(found.kernels):
        at: Path_ = ("kernels", index)
        if section.name in taken:
            line = marked.line(("kernels", taken[section.name]))
            raise marked.error((*at, "name"), f"{section.name} is also the name on line {line}")
        taken[section.name] = index
        workloads.append((section.file, _Reader(marked, at, root).workload(section, found)))
    budget = found.budget
    config = ProjectConfig(
        budget.minutes, budget.evaluations, budget.usd, found.policy, found.objective
    )
    return Project(root, tuple(workloads), config)


def program_workload(path: Path, root: Path | None = None) -> tuple[Kernel, Workload] | None:
    """Return a file with `main()` as a program run without arguments; None if it has no main."""
    text = _read(path)
    top = (root or path.parent).resolve()
    file = path.resolve()
    workload = lone_program.on_disk(text, file, top)
    place = file.relative_to(top).as_posix()
    return None if workload is None else (kernel_of(workload, text, place), workload)


def kernel_of(workload: Workload, text: str, path: str) -> Kernel:
    """Return the kernel a workload is about, from its file's text."""
    return Kernel(workload.name, text, path, workload.launch)


class _Reader:
    """Turns one checked section into a workload; errors name the line of what is wrong."""

    def __init__(self, marked: Marked, at: Path_, root: Path) -> None:
        self._marked = marked
        self._at = at
        self._root = root

    def workload(self, section: KernelSection, project: ProjectSection) -> Workload:
        kind = Kind.KERNEL if section.kernel else Kind.ENTRY if section.entry else Kind.PROGRAM
        launch = section.launch and Launch(
            tuple(section.launch.grid),
            tuple(section.launch.block),
            section.launch.shared,
            section.launch.tunable,
        )
        cases = self._cases(section)
        accept = self._accept(section, project.accept)
        workload = Workload(
            section.name,
            kind,
            section.kernel or section.entry or "",
            tuple(self._argument(i, one) for i, one in enumerate(section.args)),
            cases,
            Tolerance(section.tolerance.rtol, section.tolerance.atol),
            launch or None,
            None if section.program is None else self._program(section),
            self._build(section, project, accept),
            accept,
            section.reference,
            str(self._root),
            section.warm,
        )
        self._check_expressions(workload)
        return workload

    def _error(self, path: Path_, message: str, remedy: str = "") -> ConfigError:
        return self._marked.error((*self._at, *path), message, remedy)

    def _accept(self, section: KernelSection, common: AcceptSection) -> Acceptance:
        """Merge a kernel's own acceptance over the project's."""
        values = common.model_dump()
        if section.accept is not None:
            values |= section.accept.model_dump(exclude_unset=True)
        return Acceptance(**values, edit_host=section.edit == "host")

    def _build(self, section: KernelSection, project: ProjectSection, accept: Acceptance) -> Build:
        own = section.build is not None
        found: BuildSection = section.build or project.build
        where: Path_ = (*self._at, "build") if own else ("build",)
        try:
            flags.allowed_flags(found.flags, self._root, fast_math=accept.allow_fast_math)
            for folder in found.include:
                flags.inside(self._root, folder)
        except (Fault, ValueError) as error:
            remedy = error.remedy if isinstance(error, Fault) else ""
            raise self._marked.error(where, str(error), remedy) from error
        return Build(tuple(found.flags), tuple(found.include))

    @staticmethod
    def _program(section: KernelSection) -> Program:
        assert section.program is not None  # noqa: S101 - the caller asked
        check = section.program.check
        runs = tuple(tuple(words) for words in section.program.run)
        return Program(runs, check.exit, check.stdout)

    def _argument(self, index: int, given: ArgumentSection) -> Argument:
        at: Path_ = ("args", index)
        try:
            kind = cuda_types.parse(given.type)
        except cuda_types.TypeNameError as error:
            raise self._error((*at, "type"), str(error)) from error
        if kind.pointer and (given.shape is None or given.value is not None):
            raise self._error(
                at, f"{given.name} is a pointer", 'give it a shape, as `shape: "n"`, and no value'
            )
        if not kind.pointer and (given.value is None or given.shape is not None):
            raise self._error(
                at, f"{given.name} is a value", 'give it a value, as `value: "n"`, and no shape'
            )
        if kind.const and kind.pointer and given.role != "input":
            raise self._error((*at, "role"), f"{given.name} is const and cannot be an {given.role}")
        if not kind.pointer and given.role != "input":
            raise self._error((*at, "role"), f"{given.name} is a value and cannot be an output")
        role = Role(given.role)
        return Argument(given.name, given.type, given.shape, given.value, given.init, role)

    def _cases(self, section: KernelSection) -> tuple[Case, ...]:
        found: list[Case] = []
        for index, given in enumerate(section.cases):
            at: Path_ = ("cases", index)
            weight, timed = given.get("weight", 1.0), given.get("time", True)
            if not _is_number(weight) or not 0 < weight <= 1e6:
                raise self._error((*at, "weight"), f"weight is {weight!r}, not a number above zero")
            if not isinstance(timed, bool):
                raise self._error((*at, "time"), f"time is {timed!r}, not true or false")
            values = {name: value for name, value in given.items() if name not in _RESERVED}
            for name, value in values.items():
                plain = name.isascii() and name.isidentifier()
                if not plain or not _is_number(value) or not abs(value) <= 2**62:
                    raise self._error((*at, name), f"{name}: {value!r} is no number for a variable")
            known = found[0].values if found else values
            if values.keys() != known.keys():
                odd = ", ".join(sorted(values.keys() ^ known.keys()))
                raise self._error(at, f"cases differ in their variables: {odd}")
            found.append(Case(values, float(weight), timed))
        if found and not any(case.time for case in found):
            raise self._error(("cases",), "no case is timed", "leave time: false out of one")
        return tuple(found) or (Case({}),)

    def _check_expressions(self, workload: Workload) -> None:
        """Evaluate every expression for every case, so that a bad one fails here and not later."""
        outputs = [a for a in workload.arguments if a.role is not Role.INPUT]
        if workload.arguments and not outputs:
            raise self._error(("args",), "no argument is an output", "mark one with role: output")
        taken = [a.name for a in workload.arguments]
        for name in taken:
            if taken.count(name) > 1:
                raise self._error(("args",), f"{name} is the name of two arguments")
        for case in workload.cases:
            for index, argument in enumerate(workload.arguments):
                self._check_argument(argument, ("args", index), case)
            if workload.launch is not None:
                self._check_launch(workload.launch, case)

    def _check_argument(self, argument: Argument, at: Path_, case: Case) -> None:
        if argument.shape is not None:
            number = self._value(argument.shape, (*at, "shape"), case, size=True)
            if number * cuda_types.parse(argument.type).size > MAX_ARRAY_BYTES:
                message = f"{argument.name} has {number:g} elements for {case.name}"
                raise self._error((*at, "shape"), message, "no GPU holds that")
            word, _, bounds = argument.init.partition(":")
            low, _, end = bounds.partition(":")
            if word != "randint" or is_number(end):
                return
            if self._value(end, (*at, "init"), case, size=True) <= int(low):
                message = f"randint is from {low} to below {end}, which is empty for {case.name}"
                raise self._error((*at, "init"), message)
        elif argument.value is not None:
            text = argument.value.strip()
            parts = text[1:-1].split(",") if text.startswith("{") else [text]
            for part in parts:
                self._value(part.strip(), (*at, "value"), case)

    def _check_launch(self, launch: Launch, case: Case) -> None:
        threads = 1.0
        for key, texts in (("grid", launch.grid), ("block", launch.block)):
            for axis, text in enumerate(texts):
                at: Path_ = ("launch", key, axis)
                number = self._value(text, at, case, size=True)
                if number < 1:
                    raise self._error(at, f"{text!r} gives {number:g} for {case.name}; at least 1")
                threads *= number if key == "block" else 1
        if threads > 1024:
            message = f"a block of {threads:g} threads for {case.name}"
            raise self._error(("launch", "block"), message, "the most is 1024")
        self._value(launch.shared, ("launch", "shared"), case, size=True)

    def _value(self, text: str, at: Path_, case: Case, *, size: bool = False) -> float:
        try:
            unknown = names(text) - case.values.keys()
            if unknown:
                word = min(unknown)
                near = difflib.get_close_matches(word, case.values, 1)
                known = ", ".join(case.values) or "none: add cases"
                meant = f"did you mean {near[0]}?" if near else f"the variables are {known}"
                raise self._error(at, f"{text!r} names {word}, which no case has", meant)
            return count(text, case.values) if size else evaluate(text, case.values)
        except ExpressionError as error:
            remedy = "arithmetic over the case variables: + - * / // % ** min max ceil log2"
            raise self._error(at, f"{error} ({case.name})", remedy) from error


def _explain(error: ValidationError, marked: Marked) -> ConfigError:
    """Say the first mistake in the project file's own words.

    A misspelt key is also a missing one; the line that is there tells more.
    """
    found = min(
        error.errors(include_url=False),
        key=lambda e: (e["type"] == "missing", marked.line(_path(e["loc"]))),
    )
    path = _path(found["loc"])
    key = str(path[-1]) if path else ""
    if found["type"] == "extra_forbidden":
        sections = [part for part in path[:-1] if isinstance(part, str)]
        known = list(SECTIONS[sections[-1] if sections else ""].model_fields)
        near = difflib.get_close_matches(key, known, 1, 0.5)
        remedy = f"did you mean {near[0]}?" if near else f"known keys: {', '.join(known)}"
        return marked.error(path, f"unknown key {key}", remedy)
    if found["type"] == "missing":
        meant = "add `version: 1`" if key == "version" else f"add {key}"
        return marked.error(path, f"{key} is missing", meant)
    message = found["msg"].removeprefix("Value error, ")
    if found["type"] == "value_error":
        return marked.error(path, message)
    place = ".".join(str(part) for part in path if isinstance(part, str))
    value = repr(found.get("input"))
    shown = value if len(value) <= 80 else f"{value[:77]}..."
    return marked.error(path, f"{place} is {shown}", message)


def _path(location: tuple[int | str, ...]) -> Path_:
    return tuple(location)


def _check_files(root: Path, workload: Workload, marked: Marked, at: Path_) -> None:
    if workload.reference is not None:
        file, _, function = workload.reference.rpartition(":")
        path = _inside(root, file, marked, (*at, "reference"), "reference")
        if f"def {function}" not in _read(path):
            raise marked.error((*at, "reference"), f"{file} has no function {function}")
    for index, argument in enumerate(workload.arguments):
        word, _, rest = argument.init.partition(":")
        if word == "capture":
            file = f"{rest.split(':')[0]}/capture.json"
            _inside(root, file, marked, (*at, "args", index, "init"), "init")
        if word in {"file", "python"}:
            file = rest.rpartition(":")[0] if word == "python" else rest
            _inside(root, file, marked, (*at, "args", index, "init"), "init")


def _inside(root: Path, file: str, marked: Marked, at: Path_, what: str) -> Path:
    try:
        path = (root / file).resolve()
        is_file = path.is_file()
    except (ValueError, OSError) as error:
        raise marked.error(at, f"{what}: {file!r} is no path") from error
    if not path.is_relative_to(root.resolve()):
        raise marked.error(at, f"{what}: {file} leads out of the project")
    if not is_file:
        suffix = Path(file).suffix
        near = difflib.get_close_matches(
            file,
            [p.relative_to(root).as_posix() for p in sorted(root.rglob(f"*{suffix}"))[:2000]],
            1,
        )
        raise marked.error(
            at, f"{what}: there is no file {file}", f"did you mean {near[0]}?" if near else ""
        )
    return path


def recoding(path: Path) -> str:
    """Say how a source in another encoding becomes one that can be edited and written back."""
    return f"`iconv -f latin1 -t utf-8 {path} -o UTF8.cu` makes one that is (-f gbk for Chinese)"


def _read(path: Path) -> str:
    try:
        if path.stat().st_size > MAX_SOURCE_BYTES:
            raise ConfigError(f"{path} is larger than {MAX_SOURCE_BYTES >> 20} MiB")
        return path.read_bytes().decode()
    except UnicodeDecodeError as error:
        message = f"{path} is not UTF-8 (byte {error.start})"
        raise ConfigError(message, recoding(path)) from error
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}") from error


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
