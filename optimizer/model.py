"""The words of the project, as frozen values that touch no machine."""

from __future__ import annotations

import difflib
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum

from optimizer.dialogue import NOTHING_USED, Usage


def _empty_floats() -> dict[str, float]:
    return {}


def _empty_ints() -> dict[str, int]:
    return {}


def _no_resources() -> dict[str, Resources]:
    return {}


@dataclass(frozen=True, slots=True)
class Launch:
    """Geometry under which our loader launches a `kernel:` workload.

    Each entry is an arithmetic expression over case variables, x first: `grid=("(n+255)/256",)`.
    `shared` is dynamic shared memory in bytes. `tunable` tells that the caller's launch may change.
    """

    grid: tuple[str, ...]
    block: tuple[str, ...]
    shared: str = "0"
    tunable: bool = False


@dataclass(frozen=True, slots=True)
class Kernel:
    """The file under edit and the kernel, entry function or program in it that is optimized.

    `source` is the whole text of the file. `launch` is None when the source launches by itself.
    """

    name: str
    source: str
    path: str = ""
    launch: Launch | None = None

    @property
    def digest(self) -> str:
        """Identify source and launch, so that equal candidates are measured once."""
        text = self.source if self.launch is None else f"{self.source}\0{self.launch}"
        return hashlib.sha256(text.encode()).hexdigest()[:16]


class Role(StrEnum):
    """What a kernel does with an argument."""

    INPUT = "input"
    OUTPUT = "output"
    INOUT = "inout"


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument of a kernel or entry function.

    `type` is the C type (`const float*`, `int`). `shape` counts elements for pointers as an
    expression over case variables; `value` is the expression of a scalar. `init` is one of
    normal, uniform, zeros, ones, arange, permutation, sorted, or `randint:LO:HI` (HI is left out,
    and may be an expression as well), `file:PATH`, `python:FILE:FUNCTION`.
    """

    name: str
    type: str
    shape: str | None = None
    value: str | None = None
    init: str = "normal"
    role: Role = Role.INPUT


@dataclass(frozen=True, slots=True)
class Case:
    """One set of case variables. An untimed case is checked but not timed."""

    values: Mapping[str, float]
    weight: float = 1.0
    time: bool = True

    @property
    def name(self) -> str:
        """Return a short label: `n=4096`.

        >>> Case({"n": 4096.0, "m": 2}).name
        'n=4096 m=2'
        """
        return " ".join(f"{k}={v:g}" for k, v in self.values.items()) or "default"


@dataclass(frozen=True, slots=True)
class Tolerance:
    """How far an output may be from the reference: |got - want| <= atol + rtol * |want|."""

    rtol: float = 1e-5
    atol: float = 1e-6


@dataclass(frozen=True, slots=True)
class Build:
    """Compiler flags (allow-listed) and include directories, relative to the project's root.

    `sources` are files that are compiled as they are and linked to a program, relative to it, too.
    """

    flags: tuple[str, ...] = ("-O3", "-std=c++17")
    include: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Program:
    """How a whole program is run and what it must do besides computing the same buffers.

    `runs` holds one tuple of command-line arguments per run. `stdout` must occur in the output.
    `exit` is the status it ends with; None where nobody has said, which is 0 or else the one that
    every run of the original ends with after work that went well.
    """

    runs: tuple[tuple[str, ...], ...] = ((),)
    exit: int | None = 0
    stdout: str | None = None


class Kind(StrEnum):
    """How a workload reaches the device."""

    KERNEL = "kernel"
    ENTRY = "entry"
    PROGRAM = "program"


@dataclass(frozen=True, slots=True)
class Acceptance:
    """What a candidate needs to be offered."""

    min_speedup: float = 1.03
    confidence: float = 0.99
    max_registers: int = 255
    allow_fast_math: bool = False
    edit_host: bool = False
    max_memory_growth: float | None = None


@dataclass(frozen=True, slots=True)
class Workload:
    """What a kernel is run on: how it is reached, arguments, cases, and how equal is enough.

    `symbol` is the `__global__` function (`scan<float, 256>` for an instance) or host entry
    function; empty for a program. `root` is the directory that include paths and files are
    relative to. `reference` is `FILE:FUNCTION` of a numpy function, or None for the original.
    """

    name: str
    kind: Kind
    symbol: str = ""
    arguments: tuple[Argument, ...] = ()
    cases: tuple[Case, ...] = (Case({}),)
    tolerance: Tolerance = Tolerance()
    launch: Launch | None = None
    program: Program | None = None
    build: Build = Build()
    accept: Acceptance = Acceptance()
    reference: str | None = None
    root: str = "."
    warm: bool = False


@dataclass(frozen=True, slots=True)
class Edit:
    """A proposed new source, who proposed it and why. Diffs are rendered from it, never parsed.

    `predicted` is the speedup of the whole workload the author expects (1.5 = a half faster).
    `kind` groups edits that differ only in their numbers (`vectorize`), for priors and memory.
    `exchange` identifies the question a model answered with it, in the run's `exchanges.jsonl`,
    `usage` what that took.
    """

    title: str
    source: str
    author: str
    rationale: str = ""
    kind: str = ""
    predicted: float | None = None
    launch: Launch | None = None
    exchange: str = ""
    usage: Usage | None = None

    def apply(self, kernel: Kernel) -> Kernel:
        """Return the kernel as this edit would have it."""
        return Kernel(kernel.name, self.source, kernel.path, self.launch or kernel.launch)

    def diff(self, before: Kernel) -> str:
        """Show the edit as a unified diff against the kernel it was proposed for."""
        old, new = before.source.splitlines(), self.source.splitlines()
        path = before.path or before.name
        return "\n".join(difflib.unified_diff(old, new, f"a/{path}", f"b/{path}", lineterm=""))


@dataclass(frozen=True, slots=True)
class Proposal:
    """An edit and how promising its policy thinks it is, from 0 to 1."""

    edit: Edit
    prior: float = 1.0


class Objective(StrEnum):
    """What a search is for."""

    TIME = "time"
    ENERGY = "energy"  # least energy, no slower than the original
    TIME_THEN_ENERGY = "time-then-energy"  # least energy among what is as fast as the fastest


class Effort(StrEnum):
    """How much is spent on a verdict."""

    SCREEN = "screen"  # compile, verify, time a few blocks
    RACE = "race"  # the full stop rule, for the top candidates
    PROFILE = "profile"  # counters, in launches of their own
    CONFIRM = "confirm"  # a fresh process, fresh seeds, more families, full stop rule
    WEIGH = "weigh"  # screened, and its energy read for a few seconds, to order candidates
    ENERGY = "energy"  # screened, and its energy read as long as a claim needs


@dataclass(frozen=True, slots=True)
class CaseTimes:
    """Paired times of one case in µs; entry i of both belong to the same ABBA block."""

    name: str
    candidate_us: tuple[float, ...]
    baseline_us: tuple[float, ...]
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class CaseEnergy:
    """Energy of one case in mJ a launch (a run, of a program), the whole GPU's while it ran.

    Entry i of all four is from pair i, whose two arms ran for seconds one behind the other. The
    times are those of a launch in these arms, back to back.
    """

    name: str
    candidate_mj: tuple[float, ...]
    baseline_mj: tuple[float, ...]
    candidate_us: tuple[float, ...] = ()
    baseline_us: tuple[float, ...] = ()
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Energy:
    """Paired energy of a candidate and the baseline, read from the driver's counter.

    There are no cases where it was asked for and could not be measured; `unavailable` says why.
    `idle_w` is the power of the GPU with nothing to do, which is not taken off. The counter moves
    every `step_ms`; `arm_seconds` of each arm were read, at `celsius` from the first to the second.
    """

    cases: tuple[CaseEnergy, ...] = ()
    unavailable: str = ""
    idle_w: float | None = None
    step_ms: float | None = None
    arm_seconds: float = 0.0
    celsius: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Measurement:
    """Paired times of a candidate and the baseline on one device.

    `kernels` maps each `__global__` function to its share (0..1) of the candidate's device time.
    `aa` marks a comparison of the baseline with itself. `clock_mhz` is the SM clock seen.
    `energy` is None where it was not asked for. `peak_memory_bytes` is device memory that the
    candidate takes at most, `baseline_memory_bytes` the original, both seen in the same way.
    """

    cases: tuple[CaseTimes, ...]
    device: str
    kernels: Mapping[str, float] = field(default_factory=_empty_floats)
    clock_mhz: float | None = None
    energy: Energy | None = None
    peak_memory_bytes: int | None = None
    baseline_memory_bytes: int | None = None
    temperature_c: float | None = None
    dropped: int = 0
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Resources:
    """What the compiler gave a kernel, per thread and block; `occupancy` is theoretical, 0..1."""

    registers: int = 0
    shared_bytes: int = 0
    stack_bytes: int = 0
    spill_bytes: int = 0
    occupancy: float | None = None


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was verified: which layer, on what, and the largest error seen."""

    layer: str
    what: str
    passed: bool
    error: float | None = None
    bound: float | None = None


class Status(StrEnum):
    """How far a candidate came."""

    REJECTED = "rejected"
    DOES_NOT_COMPILE = "does not compile"
    CRASHED = "crashed"
    TIMED_OUT = "timed out"
    WRONG_RESULT = "wrong result"
    NOT_RECORDED = "not recorded"
    CORRECT = "correct"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What running a candidate told us. Its own failure is a verdict, not an error.

    `resources` and `instructions` are by `__global__` function; `instructions` counts SASS
    opcodes with their width suffix, joined as `KERNEL/LDG.E.128`. `counters` holds ncu metrics by
    ncu's own names, joined the same way (`KERNEL/dram__bytes.sum`). `machine_code` identifies the
    SASS of the whole file plus launch and host text: equal machine code behaves alike.
    `seconds` says where the time went: compile, verify, time, profile.
    `lines` holds ncu source counters by line: `{"KERNEL:42/stall": 0.31}`.
    """

    status: Status
    measurement: Measurement | None = None
    counters: Mapping[str, float] = field(default_factory=_empty_floats)
    resources: Mapping[str, Resources] = field(default_factory=_no_resources)
    instructions: Mapping[str, int] = field(default_factory=_empty_ints)
    lines: Mapping[str, float] = field(default_factory=_empty_floats)
    machine_code: str = ""
    checks: tuple[Check, ...] = ()
    seconds: Mapping[str, float] = field(default_factory=_empty_floats)
    log: str = ""


class Severity(StrEnum):
    """How much of the time a finding costs."""

    INFO = "info"
    WARNING = "warning"
    CRITICAL = "critical"


@dataclass(frozen=True, slots=True)
class Finding:
    """Something a detector saw in a kernel. A blocking one keeps a candidate from the GPU.

    `subject` names the `__global__` function. `counters` are the numbers it rests on. `advice`
    says what to do, in words; `remedies` names edit kinds that address it, best first.
    `expected` is the speedup of that kernel if it is mended. `confidence` is 0..1.
    """

    detector: str
    message: str
    line: int | None = None
    blocking: bool = False
    severity: Severity = Severity.INFO
    subject: str = ""
    counters: Mapping[str, float] = field(default_factory=_empty_floats)
    advice: str = ""
    remedies: tuple[str, ...] = ()
    expected: float | None = None
    confidence: float = 1.0


@dataclass(frozen=True, slots=True)
class Step:
    """One candidate of the search: the edit, its verdict and what it was worth.

    `judge` is the judge's score from 0 to 1 with `judge_reason`; None before there is one.
    `judge_author` says who judged, `judge_effect` what that added to the reward. `usd` is what was
    spent on a model since the step before.
    `same_as` is the number of an earlier step with equal machine code.
    """

    number: int
    parent: int | None
    edit: Edit | None
    kernel: Kernel
    verdict: Verdict
    reward: float = 0.0
    findings: tuple[Finding, ...] = ()
    prior: float = 1.0
    judge: float | None = None
    judge_reason: str = ""
    judge_author: str = ""
    judge_effect: float = 0.0
    same_as: int | None = None
    at_seconds: float = 0.0
    usd: float = 0.0


@dataclass(frozen=True, slots=True)
class Environment:
    """Where and how a trajectory came to be; what is needed to make it again.

    `model` names the language model that was asked and where, `answers` the recording its answers
    came from when none was asked. `window` is how many candidates were under evaluation at any
    time, 0 where they went by batches.
    """

    gpu: str = ""
    driver: str = ""
    toolkit: str = ""
    host: str = ""
    optiml: str = ""
    date: str = ""
    commit: str = ""
    command: str = ""
    policy: str = "rules"
    strategy: str = "mcts"
    seed: int = 0
    objective: str = "time"
    window: int = 0
    budget: Mapping[str, float] = field(default_factory=_empty_floats)
    peaks: Mapping[str, float] = field(default_factory=_empty_floats)
    facts: Mapping[str, float] = field(default_factory=_empty_floats)
    recorded: str = ""
    model: str = ""
    answers: str = ""


@dataclass(frozen=True, slots=True)
class Trajectory:
    """The whole search in order; the first step is the unedited kernel.

    `winner` is the number of the step that is offered, None when nothing held; `confirmation` is
    its verdict in a fresh process, the figure that is reported. `aa` is the baseline against
    itself. `stopped` says which rule ended the search. `spent` is what a model took in all, more
    than the steps hold where answers led to no candidate.
    """

    workload: Workload
    environment: Environment
    steps: tuple[Step, ...]
    winner: int | None = None
    confirmation: Verdict | None = None
    aa: Measurement | None = None
    stopped: str = ""
    notes: tuple[str, ...] = ()
    spent: Usage = NOTHING_USED

    @property
    def baseline(self) -> Step:
        """Return the step that measured the unedited kernel."""
        return self.steps[0]

    @property
    def best(self) -> Step:
        """Return the step that is offered; the baseline when nothing held."""
        return self.steps[self.winner or 0]

    @property
    def spending(self) -> Usage:
        """Return what a model took in all; what the steps tell of it when the run was cut short."""
        if self.spent != NOTHING_USED:
            return self.spent
        usages = (step.edit.usage for step in self.steps if step.edit and step.edit.usage)
        return replace(sum(usages, NOTHING_USED), usd=sum(step.usd for step in self.steps))

    def path(self, number: int) -> tuple[Step, ...]:
        """Return the steps from the baseline to a step, both included."""
        found: list[Step] = []
        at: int | None = number
        while at is not None:
            found.append(self.steps[at])
            at = self.steps[at].parent
        return tuple(reversed(found))
