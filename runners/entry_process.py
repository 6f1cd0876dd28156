"""The worker's end of the pipe to the process that entry functions run in (`runners.entry_server`).

It believes nothing of what comes back: host code of a candidate is in that process. Sizes, names
and numbers are checked, and outputs are read from ordinary files of the expected size.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import signal
import stat
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from runners import allocations, clocks
from runners.allocations import KINDS, Holdings
from runners.answers import module_command
from runners.bench import ROW_HELD_NS
from runners.beyond import Found
from runners.compare import Answer
from runners.contents import Combination
from runners.cuda_types import Storage
from runners.energy import Mark
from runners.enlarged import largest
from runners.families import DECLARED
from runners.fault import Fault
from runners.gpu import DeviceError, HungError, LaunchError, OutOfMemoryError
from runners.images import own_folder
from runners.nearest import MOST_SITES
from runners.nvml import Unmeasured
from runners.removal import remove
from runners.retained import Retained
from runners.run import Damage, Run
from runners.sandbox import INNER_LIMITS, Child, Sandbox, interpreter_paths, write_all
from runners.session import Burning, Guiding, Marking, Shaken, Timed
from runners.spec import JobSpec, Json
from runners.stage import RANKED, SAMPLED, Findings, Limit, Suspect
from runners.timing import Rule, Samples
from runners.waiting import readable

MOST_PAIRS = 25
# Bytes of the device that a pair may hold when the next one comes into its process.
MOST_HELD = 1 << 30
MOST_US = 1e9
MOST_MARKS = 100_000
# What original and candidate may take together far beyond the declared, and words about it.
BEYOND_SECONDS, MOST_WORDS = 120.0, 500
# What a child may take until it is ready, and what is waited until another one is tried: memory of
# the device that one before held may not be free yet.
START_SECONDS, PAUSES = 60.0, (1.0,)
MOST_OUTPUTS = 16  # whose launches are looked at more closely
_NONSENSE = "the entry function's process answered with something else"
_ERRORS: dict[str, type[DeviceError]] = {
    kind.__name__: kind for kind in (DeviceError, LaunchError, OutOfMemoryError, HungError)
}


class EntryProcess:
    """The child as the worker holds it; started when first needed, replaced when it is lost.

    `sandbox` isolates it, as well as this host can unless it is told to do that or nothing.
    """

    def __init__(self, scratch: Path, gpu: int, sandbox: Sandbox | None = None) -> None:
        self._scratch, self._gpu = scratch, gpu
        self._sandbox = sandbox or Sandbox("own")
        self._child: Child | None = None
        self._folder = scratch
        self._shown: frozenset[Path] = frozenset()
        self._buffer = b""
        self._pairs = 0
        self._loaded: RemoteSession | None = None
        self._own: Path | None = None
        self.fills = True  # whether what fills its memory could be built

    def close(self) -> None:
        """End the child and whatever it started."""
        child, self._child = self._child, None
        self._loaded = None
        if child is not None:
            child.kill()
            remove(self._folder)

    def session(
        self, job: JobSpec, request: Json, *, clocked: bool = False, filled: bool = False
    ) -> RemoteSession:
        """Load a pair in the child. Raises the errors of `runners.gpu` and `Fault`.

        If `clocked`, the candidate gets clocks that can be moved on (`runners.clocks`); if
        `filled`, what it allocates until the next load holds words that nobody means.
        """
        needed = _needed(job, request)
        # What a stranger's code leaves in its process, a thread or a hook, is the next one's trap.
        most = 1 if self._sandbox.trust == "stranger" else MOST_PAIRS
        if self._pairs >= most or not needed <= self._shown or self._forged():
            self.close()
        if self._child is None or self._child.wait(0.0) is not None:
            self._started(needed)
        self._pairs += 1
        pair = {key: request[key] for key in ("job", "candidate", "baseline")}
        if clocked:
            pair["clocks"] = self._clocks()
        if filled:
            pair["filled"] = True
        said = self.ask({"op": "load", **pair}, 60.0)
        with _understood(self):
            given = int(said["clocks"]) > 0 if clocked else False

        def ready(mine: RemoteSession) -> None:
            # Another pair may have taken its place. What was lost with its process stays lost.
            if self._loaded is not None and self._loaded is not mine:
                self.session(job, request, clocked=clocked, filled=filled)
                self._loaded = mine

        self._loaded = RemoteSession(self, job, clocked=given, ready=ready)
        return self._loaded

    def guiding(self, job: JobSpec, request: Json, artifact: Json) -> Guiding:
        """Load a candidate that was built as `runners.nearest` has it, in place of the pair's."""
        return RemoteGuiding(self, self.session(job, {**request, "candidate": artifact}))

    def _clocks(self) -> str:
        """Return the library of clocks; an empty word where none can be built."""
        try:
            return str(clocks.library(self._own or self._folder))
        except (Fault, OSError):
            return ""

    def retire(self) -> None:
        """Have the next pair loaded in another child: what this one holds nobody gives back."""
        self._pairs = MOST_PAIRS

    def _started(self, needed: frozenset[Path]) -> None:
        """Start a child that is ready for a pair. Raise `Fault` where none gets there.

        Nothing of a candidate is in it by then: what is wrong there is nobody's fault but ours, or
        the device's, and says nothing about who comes next.
        """
        words = ""
        for pause in (*PAUSES, 0.0):
            self._start(needed)
            words = self._awaited()
            if not words:
                return
            self.close()
            time.sleep(pause)
        what = f"the process of entry functions does not start: {words}"
        raise Fault("RunnerError", what, "optiml doctor looks at what it needs")

    def _awaited(self) -> str:
        """Wait until the child says that it is ready; return what it says in place of that."""
        child = self._child
        if child is None:
            return "it is gone"
        try:
            line = self._line(child.stdout.fileno(), time.monotonic() + START_SECONDS)
            said = _parse(line) if line else {}
        except HungError:
            return f"it was not ready in {START_SECONDS:.0f} s"
        except (ValueError, TypeError):
            return _NONSENSE
        if said.get("ready") is True:
            return ""
        child.wait(0.5)
        last = child.last_words().strip().splitlines()[-1:]
        return str(said.get("fault") or "".join(last) or "it ended")[:MOST_WORDS]

    def _start(self, needed: frozenset[Path]) -> None:
        self.close()
        self._folder = Path(tempfile.mkdtemp(prefix="entry-", dir=self._scratch))
        self._buffer, self._pairs, self._shown = b"", 0, needed
        # The worker's own compiled kernels lie in its /tmp; without them the child compiles them.
        self._own, self.fills = None, True
        try:
            self._own = own_folder()  # not one that others may write to: what lies there is loaded
            counter = [str(allocations.library(self._own or self._folder))]
        except (Fault, OSError):
            counter, self.fills = [], False  # its allocations are then not known
        shown = [*interpreter_paths(), *needed, *([self._own] if self._own is not None else [])]
        self._child = self._sandbox.spawn(
            module_command("runners.entry_server", str(self._folder), str(self._gpu), *counter),
            readable=shown,
            writable=[self._folder],
            limits=INNER_LIMITS,
            gpu=True,
        )

    def ask(self, request: Json, seconds: float) -> Json:
        """Send a request and wait for its response; a child that dies or hangs is ended."""
        child = self._child
        if child is None:
            raise DeviceError("the entry function's process is gone")
        try:
            write_all(child, json.dumps(request).encode() + b"\n")
            line = self._line(child.stdout.fileno(), time.monotonic() + seconds)
        except BrokenPipeError:
            line = b""
        except HungError:
            self.close()
            raise
        if not line:
            code = child.wait(0.5)
            self.close()
            code = -signal.SIGKILL if code is None else code
            why = f"signal {-code}" if code < 0 else f"exit status {code}"
            raise LaunchError(f"the entry function's process ended with {why}")
        with _understood(self):
            response = _parse(line)
        if "fault" in response:
            # A fault would end the whole run. The oracle has met the same job, data and device in
            # a process of its own before: what only this process complains of is its candidate's.
            raise LaunchError(f"the entry function's process gave up: {response['fault']}"[:1000])
        if "unmeasured" in response and request["op"] in {"burning", "burn", "quench"}:
            raise Unmeasured(str(response["unmeasured"])[:300])
        if "error" in response:
            raise _remote(response, self)
        return response

    def _forged(self) -> bool:
        """Tell whether something was said that nothing was asked for."""
        child = self._child
        waits = child is not None and readable(child.stdout.fileno(), 0.0)
        return bool(self._buffer or waits)

    def _line(self, descriptor: int, deadline: float) -> bytes:
        """Read one line, however long it takes it to arrive in pieces."""
        while b"\n" not in self._buffer:
            left = deadline - time.monotonic()
            if left <= 0 or not readable(descriptor, left):
                raise HungError("the entry function did not return in time")
            piece = os.read(descriptor, 1 << 16)
            if not piece:
                return b""
            self._buffer += piece
            if len(self._buffer) > 1 << 24:
                return b""
        line, _, self._buffer = self._buffer.partition(b"\n")
        return line

    def bytes_of(self, item: Mapping[str, Any]) -> Storage:
        """Read what the child wrote; a name that is no plain file there is refused.

        The file is opened once, without following links, and read from that descriptor: what its
        name means may change while we look.
        """
        trouble = "the entry function's process did not hand over its outputs"
        name, size = Path(str(item["file"])).name, int(item["bytes"])
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        try:
            with os.fdopen(os.open(self._folder / name, flags), "rb") as file:
                state = os.fstat(file.fileno())
                if not stat.S_ISREG(state.st_mode) or state.st_nlink != 1 or state.st_size != size:
                    raise DeviceError(trouble)
                data = np.fromfile(file, np.uint8, size)
        except OSError as error:
            raise DeviceError(trouble) from error
        if data.nbytes != size:
            raise DeviceError(trouble)
        return data


def _needed(job: JobSpec, request: Json) -> frozenset[Path]:
    """Return the folders a pair is loaded from: of artifacts, and of the project for its data."""
    found = {job.work.root.resolve()}
    for which in ("candidate", "baseline"):
        folder = Path(request[which]["path"]).resolve().parent
        # One folder a compilation lies in one of all: shown once, so that the child can stay.
        found.add(folder.parent if folder.parent.name == "build" else folder)
    return frozenset(found)


def _remote(response: Json, process: EntryProcess) -> DeviceError:
    """Turn a reported error into one of ours; a lost device means a lost process.

    What the child says has failed in the child: the worker's own context is not concerned.
    """
    kind = _ERRORS.get(str(response["error"]), DeviceError)
    message = str(response.get("message", ""))
    if kind in {DeviceError, HungError}:
        process.close()
    return kind(message) if kind is HungError else LaunchError(message)


def _no_number(text: str) -> float:
    raise ValueError(f"{text} is no number")


def _parse(line: bytes) -> Json:
    try:
        found = json.loads(line, parse_constant=_no_number)
    except RecursionError as error:
        raise ValueError("brackets without end") from error
    if not isinstance(found, dict):
        raise TypeError("no answer")
    return found


@contextlib.contextmanager
def _understood(process: EntryProcess) -> Iterator[None]:
    """Take whatever an answer lacks or has of another type for the candidate's crash, not ours.

    Who writes where answers are read may have written more: the next pair gets another child.
    """
    try:
        yield
    except (LookupError, TypeError, ValueError, AttributeError, OverflowError) as error:
        process.close()
        raise LaunchError(_NONSENSE) from error


def _samples(said: Json) -> Samples:
    """Read times that came out of the child: pairs of finite numbers above zero."""
    late = said.pop("late_us")
    samples = Samples(**said, late_us=([float(x) for x in late[0]], [float(x) for x in late[1]]))
    samples.candidate_us = [float(x) for x in samples.candidate_us]
    samples.baseline_us = [float(x) for x in samples.baseline_us]
    both = (samples.candidate_us, samples.baseline_us)
    if len(both[0]) != len(both[1]) or not all(0 < t < MOST_US for times in both for t in times):
        raise ValueError("times that are none")
    return samples


def _findings(process: EntryProcess, said: Json) -> Findings:
    """Read what the checks in the child saw; the outputs it picked are compared here."""
    suspects = [
        Suspect(
            str(item["output"]),
            process.bytes_of(item["got"]),
            process.bytes_of(item["want"]),
            str(item["why"]),
            tuple((str(name), int(by)) for name, by in item["shifts"]),
        )
        for item in said["suspects"][: MOST_OUTPUTS * (RANKED + SAMPLED)]
    ]
    return Findings(
        int(said["checked"]), Damage(**said["damage"]), float(said["largest"]), suspects
    )


def _item(combination: Combination) -> Json:
    return {
        "case": dict(combination.case),
        "family": combination.family,
        "seed": combination.seed,
    }


def _sizes(said: Any) -> tuple[int | None, int | None]:
    """Read what candidate and original took; none is below zero."""
    mine, theirs = (None if size is None else int(size) for size in said)
    if min(mine or 0, theirs or 0) < 0:
        raise ValueError("memory that is none")
    return mine, theirs


class RemoteBurning:
    """A pair in the child that runs back to back."""

    def __init__(
        self, process: EntryProcess, combination: Combination, seconds: float, *, in_place: bool
    ) -> None:
        self.in_place = in_place
        self._process, self._item, self._seconds = process, _item(combination), seconds

    def burn(self, which: int, seconds: float, *, second_of_pair: bool) -> list[Mark]:
        """Run one back to back; when how many launches had ended is what the child says."""
        asked = {"which": which, "seconds": seconds, "second_of_pair": second_of_pair}
        begun = time.monotonic()
        said = self._ask("burn", asked, 5 * seconds + 4 * self._seconds + 12.0)
        with _understood(self._process):
            marks = [(float(at), int(count)) for at, count in said["marks"][:MOST_MARKS]]
            rising = all(a[0] <= b[0] and a[1] <= b[1] for a, b in itertools.pairwise(marks))
            if not rising or not begun <= marks[0][0] <= marks[-1][0] <= time.monotonic():
                raise ValueError("marks that are none")
        return marks

    def quench(self) -> Findings:
        """Give device memory back; return what the checks in the child saw."""
        said = self._ask("quench", {}, self._seconds + 12.0)
        with _understood(self._process):
            return _findings(self._process, said)

    def _ask(self, operation: str, asked: Json, seconds: float) -> Json:
        return self._process.ask({"op": operation, "combination": self._item, **asked}, seconds)


class RemoteGuiding:
    """A candidate in the child that keeps how near its comparisons came to the other outcome.

    As the child says: it leads to contents that are then run as any others.
    """

    def __init__(self, process: EntryProcess, session: RemoteSession) -> None:
        self._process, self._session = process, session

    def run(self, combination: Combination, *, seconds: float) -> npt.NDArray[np.uint32]:
        """Run it once; return the least distances in it, two words for each comparison."""
        said = self._session.nearest(combination, seconds)
        with _understood(self._process):
            words = np.frombuffer(bytes.fromhex(said["nearest"]), np.uint32)
            if len(words) != 2 * MOST_SITES:
                raise ValueError("distances that are none")
            return words.reshape(-1, 2)


class RemoteSession:
    """A pair loaded in the child.

    `ready` has it loaded again where another pair has taken its place: it is one process for all.
    """

    def __init__(
        self,
        process: EntryProcess,
        job: JobSpec,
        *,
        clocked: bool = False,
        ready: Callable[[RemoteSession], None] = lambda _session: None,
    ) -> None:
        self._process, self._job = process, job
        self.clocked, self._ready = clocked, ready

    def move(self, seconds: float) -> None:
        """Have the candidate's clocks be so far ahead, if it is `clocked`, as the child says."""
        self._ready(self)
        self._process.ask({"op": "move", "seconds": seconds}, 30.0)

    def run(self, combination: Combination, *, nan: bool, beside: bool, seconds: float) -> Run:
        """Run the candidate once; outputs come back through files."""
        asked = {"nan": nan, "beside": beside, "seconds": seconds}
        said = self._ask("run", combination, asked, seconds)
        with _understood(self._process):
            return self._run(said, combination)

    def row(
        self,
        combinations: Sequence[Combination],
        *,
        nan: bool,
        apart: bool,
        seconds: float,
        held_ns: int = ROW_HELD_NS,
        keeps: bool = False,
        before: int = 1,
        by_turns: bool = False,
    ) -> list[Run]:
        """Run the candidate on one combination behind the other; outputs come through files."""
        asked = {"nan": nan, "apart": apart, "seconds": seconds, "held_ns": held_ns, "keeps": keeps}
        asked |= {"before": before, "by_turns": by_turns}
        row = [_item(combination) for combination in combinations]
        said = self._ask("row", combinations[0], {**asked, "row": row}, 2 * seconds)
        with _understood(self._process):
            return [
                self._run(one, combination)
                for one, combination in zip(said["runs"], combinations, strict=True)
            ]

    def moved(
        self, combination: Combination, names: Sequence[str], *, nan: bool, seconds: float
    ) -> list[Run]:
        """Run the candidate with one buffer elsewhere at a time; outputs come through files."""
        asked = {"names": list(names), "nan": nan, "seconds": seconds}
        said = self._ask("moved", combination, asked, 2 * seconds)
        with _understood(self._process):
            runs = [self._run(one, combination) for one in said["runs"]]
            if len(runs) != 2 * len(names) + 1:
                raise ValueError("not as many runs as were asked for")
            return runs

    def nearest(self, combination: Combination, seconds: float) -> Json:
        """Run a candidate of `RemoteGuiding` once; return what the child says."""
        return self._ask("nearest", combination, {"seconds": seconds}, seconds)

    def holdings(
        self,
        combination: Combination,
        calls: int,
        seconds: float,
        patience: float,
        *,
        original: bool = False,
    ) -> list[Holdings] | None:
        """Call candidate or original over and over; what it holds is what the child says."""
        asked = {"calls": calls, "seconds": seconds, "patience": patience, "original": original}
        said = self._ask("holdings", combination, asked, seconds + patience)
        with _understood(self._process):
            held = said["held"]
            if held is None:
                return None
            rows = [[int(number) for number in row] for row in held[:calls]]
            if any(len(row) != len(KINDS) or min(row) < 0 for row in rows):
                raise ValueError("things that are none")
            if rows and rows[-1][0] > MOST_HELD and not original:
                self._process.retire()
            return [Holdings(*row) for row in rows]

    def many(self, combination: Combination, calls: int, seconds: float, patience: float) -> int:
        """Call the candidate over and over in the child; how often is what the child says."""
        asked = {"calls": calls, "seconds": seconds, "patience": patience}
        said = self._ask("many", combination, asked, seconds + patience)
        with _understood(self._process):
            made = int(said["made"])
            if not 0 <= made <= calls:
                raise ValueError("calls that are none")
            return made

    def _run(self, said: Json, combination: Combination) -> Run:
        """Read one run; whatever it lacks is for the caller to understand."""
        outputs: dict[str, Storage] = {}
        for argument in (a for a in self._job.work.arguments if a.written):
            data = self._process.bytes_of(said["outputs"][argument.name])
            if data.nbytes != argument.elements(combination.case) * argument.type.size:
                raise LaunchError(f"{argument.name} came back with {data.nbytes} bytes")
            outputs[argument.name] = data
        damage = Damage(**said["damage"])
        return Run(outputs, damage, float(said["late_us"]), int(said["poison"]))

    def time(
        self, combination: Combination, limits: Mapping[str, Limit], rule: Rule, seconds: float
    ) -> Timed:
        """Time the pair in the child; the outputs it picked are compared here."""
        asked = {
            "limits": {name: [limit.scaled, limit.floor] for name, limit in limits.items()},
            "rule": asdict(rule),
            "seconds": seconds,
        }
        said = self._ask("time", combination, asked, seconds + 12.0 + 8 * rule.seconds)
        with _understood(self._process):
            found = _findings(self._process, said)
            heat = said["temperature_c"]
            return Timed(
                _samples(said["samples"]),
                found,
                int(said["launches"]),
                *_sizes(said["memory_bytes"]),
                None if heat is None else float(heat),
            )

    def burning(
        self, combination: Combination, limits: Mapping[str, Limit], seconds: float
    ) -> Burning:
        """Make the pair ready in the child. Whoever reads a meter does so in this process."""
        asked = {
            "limits": {name: [limit.scaled, limit.floor] for name, limit in limits.items()},
            "seconds": seconds,
        }
        self._ask("burning", combination, asked, 4 * seconds + 12.0)
        # What a refill takes is taken off: whether there is one is not for the child to say.
        in_place = any(a.type.pointer and a.role == "inout" for a in self._job.work.arguments)
        return RemoteBurning(self._process, combination, seconds, in_place=in_place)

    def _ask(self, operation: str, combination: Combination, asked: Json, seconds: float) -> Json:
        item = _item(combination)
        self._ready(self)
        # Beside the run itself: inputs are made, and outputs written to files.
        return self._process.ask({"op": operation, "combination": item, **asked}, seconds + 8.0)

    def shaken(self, artifact: Json, *, original: bool = False) -> Shaken | None:
        """Nothing: host code launches the kernels that are compiled into it."""
        del artifact, original
        return None

    def marking(self, artifact: Json) -> Marking | None:
        """Nothing, for the same reason."""
        del artifact
        return None

    def guiding(self, artifact: Json) -> Guiding | None:
        """Nothing: it takes the place of the candidate (`EntryProcess.guiding`)."""
        del artifact
        return None

    @property
    def retained(self) -> Retained | None:
        """Nothing: it lies in modules that the CUDA runtime loads."""
        return None

    def beyond(
        self, changed: Mapping[str, float], answers: Mapping[str, Answer], limit: int
    ) -> Found:
        """Run both in the child on a case with more elements; it is told no answers.

        What comes of it is what the child says. An original that took its device down has ended it.
        """
        outputs = {name: answer.unordered for name, answer in answers.items()}
        asked = {"changed": dict(changed), "limit": limit, "outputs": outputs}
        base = Combination(largest(self._job.work).values, DECLARED, self._job.seed)
        said = self._ask("beyond", base, asked, BEYOND_SECONDS)
        with _understood(self._process):
            wrong, unknown, lost = (said[key] for key in ("wrong", "unknown", "lost"))
            limit_words = said.get("limit", "")
            if not all(isinstance(words, str) for words in (wrong, unknown, limit_words)):
                raise TypeError("no words")
            if lost:
                self._process.close()
            words = limit_words[:MOST_WORDS]
            return Found(wrong[:MOST_WORDS], unknown[:MOST_WORDS], limit=words)

    def renewed(self, only: Combination | None = None) -> int:
        """Return how many inputs in the child were spoilt; they are uploaded anew when needed."""
        asked = {"op": "renew", "combination": None if only is None else _item(only)}
        self._ready(self)
        said = self._process.ask(asked, 30.0)
        with _understood(self._process):
            return int(said["renewed"])

    def close(self) -> None:
        """Nothing: the next load replaces this pair."""
