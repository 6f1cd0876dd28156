"""The words of `.optiml.yml` as pydantic models: strict, and nothing beyond them."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

NAMED_INITS = ("normal", "uniform", "zeros", "ones", "arange", "permutation", "sorted")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


def _number(value: object) -> object:
    """Take `1e-5` as the number it is: YAML 1.1 reads it as text for want of a dot."""
    if isinstance(value, str) and _NUMBER.fullmatch(value.strip()):
        return float(value)
    return value


def _expression(value: object) -> object:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return format(value, ".17g") if isinstance(value, float) else str(value)
    return value


def _listed(value: object) -> object:
    return value if isinstance(value, list) else [value]


def _words(value: object) -> object:
    """Take command-line arguments: numbers become text as they would be typed."""
    if not isinstance(value, list):
        return value
    return [_words(part) if isinstance(part, list) else _expression(part) for part in value]


def _runs(value: object) -> object:
    """Take one run's arguments, or a list of runs."""
    words = _words(value)
    if isinstance(words, list) and not any(isinstance(part, list) for part in words):
        return [words]
    return words


def _init(value: object) -> object:
    """Bring `randint: [0, 9]`, `file: x.npy`, `python: gen.py:make` into one line of text.

    The end of a range may be an expression over a case's variables: places below `n`.
    """
    if not isinstance(value, dict):
        if isinstance(value, str) and value not in NAMED_INITS:
            raise ValueError(_init_help(value))
        return value
    if len(value) != 1:
        raise ValueError(_init_help(value))
    (word, given), *_ = value.items()
    ends = given if isinstance(given, list) else []
    if word == "randint" and len(ends) == 2 and type(ends[0]) is int:
        low, end = ends
        if type(end) is int and low >= end:
            raise ValueError(f"randint is from {low} to below {end}, which is empty")
        if type(end) is int or (isinstance(end, str) and end.strip() and ":" not in end):
            return f"randint:{low}:{end}"
    if word == "file" and isinstance(given, str) and given.endswith(".npy"):
        return f"file:{given}"
    if word == "python" and isinstance(given, str) and re.fullmatch(r"[^:]+\.py:\w+", given):
        return f"python:{given}"
    if word == "capture" and isinstance(given, str) and re.fullmatch(r"[^:]+:\d+:\d+", given):
        return f"capture:{given}"
    raise ValueError(_init_help(value))


def _init_help(value: object) -> str:
    return (
        f"{value!r} is no init; use {', '.join(NAMED_INITS)}, {{randint: [0, 9]}} or [0, n], "
        "{file: data.npy}, {python: gen.py:make} or {capture: FOLDER:KERNEL:ARGUMENT}"
    )


Text = str | int | float  # how an expression or a word may stand in YAML
Number = Annotated[float, BeforeValidator(_number, json_schema_input_type=float | str)]
Expression = Annotated[
    str,
    BeforeValidator(_expression, json_schema_input_type=Text),
    Field(min_length=1, max_length=400),
]
Dimensions = Annotated[
    list[Expression],
    BeforeValidator(_listed, json_schema_input_type=Text | list[Text]),
    Field(min_length=1, max_length=3),
]
Init = Annotated[str, BeforeValidator(_init, json_schema_input_type=str | dict[str, Any])]
Runs = Annotated[
    list[list[str]],
    BeforeValidator(_runs, json_schema_input_type=list[Text] | list[list[Text]]),
    Field(min_length=1),
]
Name = Annotated[str, Field(min_length=1, max_length=200)]
Identifier = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$", max_length=200)]


class Section(BaseModel):
    """A mapping with known keys."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class BuildSection(Section):
    """Compiler flags and include folders."""

    flags: list[str] = ["-O3", "-std=c++17"]
    include: list[str] = []


class BudgetSection(Section):
    """What one kernel's search may spend."""

    minutes: Number | None = Field(None, gt=0)
    evaluations: int | None = Field(None, ge=1)
    usd: Number | None = Field(None, ge=0)


class AcceptSection(Section):
    """What a candidate needs to be offered; what is left out keeps its default."""

    min_speedup: Number = Field(1.03, ge=1, le=100)
    confidence: Number = Field(0.99, ge=0.5, lt=1)
    max_registers: int = Field(255, ge=1, le=255)
    allow_fast_math: bool = False
    max_memory_growth: Number | None = Field(None, ge=0)


class LaunchSection(Section):
    """Geometry of a `kernel:` workload, x first."""

    grid: Dimensions
    block: Dimensions
    shared: Expression = "0"
    tunable: bool = False


class ArgumentSection(Section):
    """One argument, in the order of the signature."""

    name: Identifier
    type: Name
    shape: Expression | None = None
    value: Expression | None = None
    init: Init = "normal"
    role: Literal["input", "output", "inout"] = "input"


class ToleranceSection(Section):
    """How far an output may be from the reference."""

    rtol: Number = Field(1e-5, ge=0, le=1)
    atol: Number = Field(1e-6, ge=0)


class CheckSection(Section):
    """What a whole program must do besides computing the same."""

    exit: int = Field(0, ge=0, le=255)
    stdout: str | None = None


class ProgramSection(Section):
    """How a whole program is run: one list of arguments, or a list of such lists."""

    run: Runs = [[]]
    check: CheckSection = CheckSection()


class KernelSection(Section):
    """One workload; exactly one of kernel, entry and program says how the device is reached."""

    name: Name
    file: Name
    kernel: Name | None = None
    entry: Name | None = None
    program: ProgramSection | None = None
    launch: LaunchSection | None = None
    args: list[ArgumentSection] = Field([], max_length=64)
    cases: list[dict[str, Any]] = Field([], max_length=64)
    tolerance: ToleranceSection = ToleranceSection()
    reference: Annotated[str, Field(pattern=r"^[^:]+\.py:\w+$")] | None = None
    build: BuildSection | None = None
    accept: AcceptSection | None = None
    edit: Literal["device", "host"] = "device"
    warm: bool = False

    @model_validator(mode="after")
    def _one_way(self) -> KernelSection:
        ways = [key for key in ("kernel", "entry", "program") if getattr(self, key) is not None]
        if len(ways) != 1:
            found = " and ".join(ways) or "none of them"
            raise ValueError(f"give exactly one of kernel, entry, program; there is {found}")
        way = ways[0]
        if way == "kernel" and self.launch is None:
            raise ValueError(
                f"kernel {self.kernel} needs a launch, as `launch: {{grid: [...], block: [256]}}`"
            )
        if way != "kernel" and self.launch is not None:
            raise ValueError(f"an {way} launches its kernels itself: remove launch")
        if way == "program" and (self.args or self.cases or self.reference):
            raise ValueError("a program takes no args, cases or reference: give program.run")
        if way != "program" and not self.args:
            raise ValueError("args is missing: list the arguments in the order of the signature")
        return self


class ProjectSection(Section):
    """The whole file."""

    version: Literal[1]
    build: BuildSection = BuildSection()
    budget: BudgetSection = BudgetSection()
    accept: AcceptSection = AcceptSection()
    policy: Literal["rules", "llm", "mixed"] | None = None
    objective: Literal["time", "energy", "time-then-energy"] | None = None
    kernels: list[KernelSection] = Field(min_length=1, max_length=500)


SECTIONS: dict[str, type[Section]] = {
    "": ProjectSection,
    "build": BuildSection,
    "budget": BudgetSection,
    "accept": AcceptSection,
    "kernels": KernelSection,
    "launch": LaunchSection,
    "args": ArgumentSection,
    "tolerance": ToleranceSection,
    "program": ProgramSection,
    "check": CheckSection,
}


def schema() -> dict[str, Any]:
    """Return the JSON schema of `.optiml.yml`, for editors."""
    return ProjectSection.model_json_schema()
