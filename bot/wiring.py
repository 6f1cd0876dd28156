"""Where everything is put together, by plain constructor calls from one `Settings`."""

from __future__ import annotations

import datetime as dt
import functools
import importlib.metadata
import json
import platform
import sys
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Thread
from types import TracebackType
from typing import Self

from bot import asking, memory_store
from bot.settings import Settings, surroundings
from optimizer import bottleneck, plugins, student
from optimizer.budget import Budget, SearchSettings, Strategy, window_for
from optimizer.diagnosis import Diagnosis
from optimizer.dialogue import NOTHING_USED, Usage
from optimizer.errors import NoDeviceError
from optimizer.memory import SearchMemory
from optimizer.model import Environment, Kernel, Objective, Trajectory, Verdict, Workload
from optimizer.policies.mixed import MixedPolicy
from optimizer.policies.rules import RulePolicy
from optimizer.synthesis import cutlass
from optimizer.synthesis.fence import fence
from optimizer.tools import Tools
from optimizer.tuning import tune
from optimizer.written_out import header_macros
from runners import gpu_nodes, images
from runners.builder import CompilingBuilder
from runners.compiler import Compiler
from runners.dispatch import Gpu, LocalDispatcher, discover
from runners.evaluator import DispatchedEvaluator
from runners.fault import Fault
from runners.interfaces import Dispatcher, Job
from runners.profiler import NcuProfiler, in_sandbox
from runners.removal import TemporaryFolder
from runners.replay import RecordingDispatcher, RecordingHeader, ReplayDispatcher
from runners.sandbox import Sandbox
from runners.seat import visible_device
from runners.toolchain import Toolchain, find_toolchain
from runners.wire import unwrap

_EPOCH = dt.date(1970, 1, 1)
# What reading counters takes about, before it is known: a session of Nsight Compute on an H200.
PROFILE_SECONDS = 4.0
_PEAKS_FORMAT = 1


@dataclass(frozen=True, slots=True)
class Source:
    """Where verdicts come from, from how many GPUs, and whether counters can be had there."""

    dispatcher: Dispatcher
    environment: Environment
    profile: bool = True
    width: int | Callable[[], int] = 1
    gpus: int = 1


class Workshop:
    """Machines and tools for runs, from settings. A context manager: it ends what it started.

    With `replay` no GPU is touched; with `record` verdicts are written down for a later replay.
    `source` gives verdicts from anywhere else, such as a scheduler's queue. Edits may include
    headers of CUTLASS, where it is found, unless `includes` is off. `first` is what will be judged
    first: it is compiled while GPUs are opened. Raise `NoDeviceError` when there is nothing to give
    verdicts.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        replay: Path | None = None,
        record: Path | None = None,
        source: Source | None = None,
        command: str = "",
        say: Callable[[str], None] = lambda _: None,
        includes: bool = True,
        first: tuple[Kernel, Workload] | None = None,
    ) -> None:
        check(settings)
        self.settings = settings
        self.cutlass = cutlass_of(settings)
        self._includable = self.cutlass if includes else None
        self.memory = memory_store.store_of(settings)
        self._stack = ExitStack()
        self._answers = asking.recorded(settings)
        self._notes: list[str] = []
        self._rules = plugins.rules(self._notes)
        self._first = first
        try:
            found = replayed(replay) if replay is not None else source or self._machines(say)
            self.window = window_of(settings, found)
            self._source = found if record is None else self._recorded(found, record)
        except BaseException:
            self._stack.close()
            raise
        model, answers = asking.described(settings, self._answers)
        self.environment = replace(
            self._source.environment,
            command=command,
            window=self.window,
            policy=settings.policy,
            model=model,
            answers=answers,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stack.close()

    @property
    def dispatcher(self) -> Dispatcher:
        """Return what gives verdicts, for those who ask without a search."""
        return self._source.dispatcher

    @property
    def source(self) -> Source:
        """Return where verdicts come from."""
        return self._source

    @property
    def budget(self) -> Budget:
        """Return what one kernel's search may spend."""
        return Budget(self.settings.evaluations, self.settings.minutes, self.settings.usd)

    @property
    def search_settings(self) -> SearchSettings:
        """Return the constants of the search."""
        return SearchSettings(
            strategy=Strategy(self.settings.strategy),
            seed=self.settings.seed,
            window=self.window,
            objective=Objective(self.settings.objective),
        )

    def settings_of(self, earlier: Trajectory | None) -> SearchSettings:
        """Return the constants of a search that may take up an earlier one.

        That goes on with the window it began with, whatever GPUs are there now, unless the settings
        name one.
        """
        if earlier is None or self.settings.window != "auto":
            return self.search_settings
        return replace(self.search_settings, window=earlier.environment.window)

    def tools(
        self,
        kernel: Kernel,
        workload: Workload,
        folder: Path | None = None,
        spent: Usage = NOTHING_USED,
    ) -> Tools:
        """Return fresh tools to judge candidates of one kernel on one workload.

        What a model is asked and answers is written to `folder`; `spent` is what it took in an
        earlier part of the same search.
        """
        peaks = self.environment.peaks

        def headroom(verdict: Verdict) -> float | None:
            return bottleneck.headroom(verdict, peaks)

        device = self.settings.device if self.settings.device != "all" else "cuda:0"
        boundary = fence(self._includable)
        tools = Tools(
            policy=RulePolicy(
                self._rules,
                workload.accept,
                self._memory(),
                self._notes,
                header_macros(kernel, Path(workload.root), workload.build.include),
            ),
            evaluator=DispatchedEvaluator(
                self._source.dispatcher, kernel, device, self.settings.seed, boundary
            ),
            detectors=(Diagnosis(peaks),),
            tune=tune,
            boundary=boundary,
            headroom=headroom,
            profile=self._source.profile,
            profile_seconds=0.0 if self.environment.recorded else PROFILE_SECONDS,
            width=self._source.width,
        )
        return self._with_model(tools, workload, folder, spent)

    def _memory(self) -> SearchMemory | None:
        """Return what earlier searches learned, which no recording is replayed with."""
        if self.memory is None or self.environment.recorded:
            return None
        found = self.memory.load(self.environment.gpu, today())
        self._notes += [note for note in found.notes if note not in self._notes]
        return found

    def _with_model(
        self, tools: Tools, workload: Workload, folder: Path | None, spent: Usage
    ) -> Tools:
        """Let a model propose, too, where there is one; `mixed` without is what `rules` is."""
        settings = self.settings
        if settings.policy == "rules":
            return tools
        if not asking.is_set(settings):
            return replace(tools, policy=MixedPolicy(tools.policy))
        asked = asking.asking(
            settings,
            workload,
            self.environment,
            answers=self._answers,
            memory=self._memory(),
            folder=folder,
            spent=spent,
            tree=self._includable,
        )
        self._stack.callback(asked.close)
        mixed = settings.policy == "mixed"
        return replace(
            tools,
            policy=MixedPolicy(tools.policy, asked.policy) if mixed else asked.policy,
            judge=asked.judge,
            used=lambda: asked.purse.spent,
            broke=lambda: bool(asked.purse.refused),
            done=asked.close,
        )

    def _recorded(self, source: Source, path: Path) -> Source:
        seen = source.environment
        header = RecordingHeader(
            seen.gpu, seen.driver, seen.toolkit, seen.date, seen.optiml, seen.facts, seen.peaks,
            self.window,
        )  # fmt: skip
        recorder = RecordingDispatcher(source.dispatcher, path, header)
        return replace(source, dispatcher=self._stack.enter_context(recorder))

    def _machines(self, say: Callable[[str], None]) -> Source:
        """Return the GPUs behind the scheduler of the settings, or those of this host."""
        if self.settings.scheduler:
            from bot import fleet_door

            return fleet_door.source_of(self.settings, say, self._stack)
        return self._local(say)

    def _local(self, say: Callable[[str], None]) -> Source:
        sandbox = self._stack.enter_context(confined(self.settings))
        with ThreadPoolExecutor(2) as beside:
            finding = beside.submit(find_toolchain, self.settings.nvcc or None)
            probing = beside.submit(sandbox.describe)
            gpus = chosen(present(), self.settings.device)
            try:
                toolchain = finding.result()
                toolchain.require(gpus[0].capability)
                known = self._known_peaks(gpus[0])
                imaging = beside.submit(
                    images.prepared,
                    self.settings.cache_folder / "device",
                    toolchain.nvcc,
                    gpus[0].capability,
                    calibrates=not known,
                )
                probing.result()
            except Fault as fault:
                unwrap(fault)
        scratch = Path(self._stack.enter_context(TemporaryFolder(prefix="optiml-build-")))
        library = self.cutlass.include if self.cutlass else None
        compiler = Compiler(toolchain, sandbox, scratch)
        builder = CompilingBuilder(compiler, gpus[0].capability, library)
        readable = [scratch, *toolchain.folders]
        device = visible_device(gpus[0].index)
        run = in_sandbox(sandbox, *map(str, readable), device=device)
        if self._first is not None:  # else its first job would start the worker anew
            readable.append(Path(self._first[1].root).resolve())
        profiler = NcuProfiler(self.settings.ncu or None, run=run)
        dispatcher = LocalDispatcher(
            builder,
            [gpu.index for gpu in gpus],
            sandbox=sandbox,
            profiler=profiler if profiler.path else None,
            readable=readable,
            images=imaging.result(),
        )
        self._stack.callback(dispatcher.close)
        if self._first is not None:
            kernel, workload = self._first
            dispatcher.expect([Job(kernel, kernel, workload)])
        Thread(target=student.warm).start()
        environment = self._surroundings(gpus[0], toolchain, dispatcher, say)
        return Source(dispatcher, environment, bool(profiler.path), dispatcher.width, len(gpus))

    def _surroundings(
        self,
        gpu: Gpu,
        toolchain: Toolchain,
        dispatcher: LocalDispatcher,
        say: Callable[[str], None],
    ) -> Environment:
        facts = dispatcher.facts()
        return Environment(
            gpu=gpu.name,
            driver=gpu.driver,
            toolkit=".".join(map(str, toolchain.version)),
            host=f"{platform.system()} {platform.release()} {platform.machine()}",
            optiml=importlib.metadata.version("optiml-bot"),
            date=dt.datetime.now(dt.UTC).date().isoformat(),
            peaks=self._peaks(gpu, dispatcher, say),
            facts={
                name: float(value)
                for name, value in facts.items()
                if isinstance(value, int | float) and not isinstance(value, bool)
            },
        )

    def _peaks(
        self, gpu: Gpu, dispatcher: LocalDispatcher, say: Callable[[str], None]
    ) -> Mapping[str, float]:
        """Return the device's measured peaks, from an earlier run where there was one."""
        known = self._known_peaks(gpu)
        if known:
            return known
        file = self._peaks_file(gpu)
        say(f"measuring the peaks of {gpu.name}, once for this machine")
        peaks = dispatcher.calibrate()
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            text = json.dumps({"format": _PEAKS_FORMAT, "gpu": gpu.name, "peaks": peaks}, indent=1)
            file.write_text(text + "\n", encoding="utf-8")
        except OSError as error:
            say(f"the peaks could not be kept in {file.parent}: {error.strerror}")
        return peaks

    def _peaks_file(self, gpu: Gpu) -> Path:
        return self.settings.cache_folder / f"peaks-{gpu.uuid}-{gpu.driver}.json"

    def _known_peaks(self, gpu: Gpu) -> Mapping[str, float]:
        try:
            known = json.loads(self._peaks_file(gpu).read_text(encoding="utf-8"))
            if known.get("format") == _PEAKS_FORMAT:
                return {str(name): float(value) for name, value in known["peaks"].items()}
        except (OSError, ValueError, KeyError, AttributeError, TypeError):
            pass  # not measured yet, or not by this version
        return {}


def window_of(settings: Settings, source: Source) -> int:
    """Return how many candidates a search has under evaluation at any time; 0 is by batches.

    It decides the tree. So it follows the GPUs that are there when the search begins, and no later
    change of them; a recording is searched as it was made.
    """
    if settings.window != "auto":
        return int(settings.window)
    if source.environment.recorded:
        return source.environment.window
    return window_for(source.gpus, settings.evaluations)


def check(settings: Settings) -> None:
    """Raise `ConfigError` for what this version does not offer."""
    asking.check(settings)


def replayed(path: Path) -> Source:
    """Return verdicts from a recording, marked as such wherever they are shown."""
    dispatcher = ReplayDispatcher(path)
    header = dispatcher.header
    environment = Environment(
        gpu=header.gpu,
        driver=header.driver,
        toolkit=header.toolkit,
        optiml=header.optiml,
        date=header.date,
        peaks=header.peaks,
        facts=header.facts,
        window=header.window,
        recorded=header.words,
    )
    return Source(dispatcher, environment)


def present() -> tuple[Gpu, ...]:
    """Return the GPUs of this host. Raise `NoDeviceError`, saying what works without, in a line."""
    try:
        found = discover()
    except NoDeviceError as error:
        raise NoDeviceError(
            f"{error.message}; without a GPU there are `optiml inspect FILE.cu`, `optiml demo` and "
            "--replay RECORDING"
        ) from error
    # The driver's tool lists all; CUDA counts those that CUDA_VISIBLE_DEVICES leaves.
    shown = gpu_nodes.listed(
        surroundings().get("CUDA_VISIBLE_DEVICES", ""), [gpu.uuid for gpu in found]
    )
    return tuple(replace(found[at], index=index) for index, at in enumerate(shown))


def chosen(gpus: tuple[Gpu, ...], device: str) -> tuple[Gpu, ...]:
    """Return the GPUs a device name means: `cuda:N`, or `all` of the first one's kind."""
    if device == "all":
        return tuple(gpu for gpu in gpus if gpu.name == gpus[0].name)
    number = device.removeprefix("cuda:")
    found = [gpu for gpu in gpus if str(gpu.index) == number]
    if not found:
        here = ", ".join(f"cuda:{gpu.index} ({gpu.name})" for gpu in gpus)
        raise NoDeviceError(f"there is no device {device!r}", f"this host has {here}, or `all`")
    return (found[0],)


def cutlass_of(settings: Settings) -> cutlass.Tree | None:
    """Return the CUTLASS headers of the setting or the installed package; None for neither."""
    return None if settings.cutlass == "off" else cutlass.find(settings.cutlass, sys.path)


def confined(settings: Settings) -> Sandbox:
    """Return the sandbox the settings ask for.

    The command line runs its user's own code: `auto` takes the best isolation there is, `strict`
    refuses to go without.
    """
    if settings.sandbox == "off":
        return Sandbox("own", backend="processes")
    return Sandbox("stranger" if settings.sandbox == "strict" else "own")


@functools.cache
def today() -> float:
    """Return the day as days since 1970, for the search memory."""
    return float((dt.datetime.now(dt.UTC).date() - _EPOCH).days)
