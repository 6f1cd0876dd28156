"""What hostile candidates try on a GPU, and a table of what came of it.

`python -m tests.gpu.attack_cases OUT.json [--BACKEND] [NAME...]` tries all of them, or those named,
through the whole stack (compiler, sandbox for strangers' code, warm worker) and prints the table; tests/gpu/test_attacks.py asserts
it. After each attack an honest candidate is judged on the same worker: how long that takes to come
back is the recovery time, and its verdict must be as before.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import tempfile
import time
import zlib
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Self
from unittest import mock

from optimizer.model import (
    Acceptance,
    Argument,
    Case,
    Effort,
    Kernel,
    Kind,
    Launch,
    Program,
    Role,
    Status,
    Verdict,
    Workload,
)
from runners import images
from runners.builder import CompilingBuilder
from runners.compiler import Compiler
from runners.dispatch import LocalDispatcher, discover
from runners.interfaces import Job
from runners.profiler import NcuProfiler, in_sandbox
from runners.sandbox import Backend, Isolation, Sandbox
from runners.toolchain import find_toolchain
from tests.attacks import probes

_ARGUMENTS = (
    Argument("x", "const float*", "n"),
    Argument("y", "float*", "n", role=Role.OUTPUT),
    Argument("n", "int", value="n"),
)
_LAUNCH = Launch(("(n+255)/256",), ("256",))

KERNEL = """
extern "C" __global__ void scale(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 3.f * x[i] + 1.f;
}
"""
ENTRY = """
#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
__global__ void work(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 3.f * x[i] + 1.f;
}
void scale(const float* x, float* y, int n) {
    work<<<(n + 255) / 256, 256>>>(x, y, n);
}
"""
PROGRAM = """
#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <vector>
__global__ void work(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 3.f * x[i] + 1.f;
}
int main() {
    const int n = 1 << 20;
    std::vector<float> x(n, 0.5f), y(n);
    float *dx, *dy;
    cudaMalloc(&dx, n * 4);
    cudaMalloc(&dy, n * 4);
    cudaMemcpy(dx, x.data(), n * 4, cudaMemcpyHostToDevice);
    work<<<(n + 255) / 256, 256>>>(dx, dy, n);
    cudaMemcpy(y.data(), dy, n * 4, cudaMemcpyDeviceToHost);
    printf("%g\\n", y[7]);
    return y[7] == 2.5f ? 0 : 1;
}
"""
# What a workload with `edit: host` lets through to the sandbox; elsewhere calls that the original
# lacks are refused before anything runs.
_HOST = Acceptance(edit_host=True)
_WORKLOADS = {
    Kind.KERNEL: Workload(
        "scale", Kind.KERNEL, "scale", _ARGUMENTS, (Case({"n": 1 << 20}),), launch=_LAUNCH
    ),
    Kind.ENTRY: Workload(
        "scale", Kind.ENTRY, "scale", _ARGUMENTS, (Case({"n": 1 << 20}),), accept=_HOST
    ),
    Kind.PROGRAM: Workload("scale", Kind.PROGRAM, program=Program(), accept=_HOST),
}
_HONEST = {Kind.KERNEL: KERNEL, Kind.ENTRY: ENTRY, Kind.PROGRAM: PROGRAM}
_BACKENDS: tuple[Backend, ...] = ("bubblewrap", "namespaces", "landlock")
SECRET = Path(tempfile.gettempdir()) / "optiml-private" / "secret"
# Compilers at once, ahead of what is judged: each has a core to itself on a host with a GPU.
COMPILERS = 8
GOOD = (Status.CORRECT,)
BAD = (Status.CRASHED, Status.TIMED_OUT, Status.WRONG_RESULT, Status.REJECTED)


@dataclass(frozen=True, slots=True)
class Attack:
    """A hostile candidate; `fine` are the verdicts that contain it."""

    name: str
    kind: Kind
    source: str
    fine: tuple[Status, ...]

    @property
    def honest(self) -> str:
        """Return an honest candidate for behind it.

        Its machine code is like no other's, so that no verdict of it is remembered.
        """
        number = zlib.crc32(f"{self.kind.value}: {self.name}".encode()) % 10**6
        extra = f'extern "C" __global__ void extra(float* p) {{ p[0] = {number}.f; }}\n'
        return _HONEST[self.kind] + extra


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of an attack: its verdict, the seconds to it and from it to an honest verdict.

    `recovery` is the time until the worker answers again, `honest` until the honest candidate's
    verdict, which is compiled and measured in it.
    """

    attack: str
    kind: str
    status: str
    contained: bool
    seconds: float
    recovery: float
    honest: str
    honest_seconds: float
    log: str


def places() -> dict[str, object]:
    """Return where the probes look."""
    return {"secret": str(SECRET), "port": 22, "host_pid": os.getpid()}


def attacks(**where: object) -> Iterator[Attack]:
    """Return all attacks; the keywords are those of `probes.source`."""
    yield from _device()
    for kind in (Kind.ENTRY, Kind.PROGRAM):
        for name, (_, body) in probes.QUIET.items():
            yield Attack(name, kind, _hosted(kind, body, where), GOOD)
        for name, body, fine in (
            ("fork bomb", probes.FORKS, (*GOOD, *BAD)),
            ("memory hog", probes.MEMORY, BAD),
            ("orphan daemon", probes.DAEMON, GOOD),
            ("output flood", probes.FLOOD, (*GOOD, *BAD)),
            ("signals to all", _SIGNALS, (*GOOD, *BAD)),
            ("never ends", "for (volatile int k = 0;; ++k) {} return 0;", BAD),
            ("leaves early", "exit(0); return 0;", BAD),
            ("forged answers", _FORGED, BAD),
            ("all device memory", _DEVICE_MEMORY, (*GOOD, *BAD)),
        ):
            yield Attack(name, kind, _hosted(kind, body, where), fine)


def _device() -> Iterator[Attack]:
    body = "y[i] = 3.f * x[i] + 1.f;"
    for name, text, fine in (
        ("never ends", f"while (((volatile float*)y)[i] != 1e30f) {body}", BAD),
        ("traps", f"if (i == 77) __trap(); {body}", BAD),
        ("illegal address", "y[(size_t)i << 34] = 1.f;", BAD),
        ("the host's memory", "y[i] = ((float*)0x7ffe00000000)[i];", BAD),
        ("prints without end", f'for (int k = 0; k < 50; ++k) printf("%d\\n", i); {body}', (*GOOD, *BAD)),
        ("a stack beyond all memory", f"volatile char big[480000]; big[i % 480000] = 1; {body}", (*GOOD, *BAD)),
        ("the device heap", f"for (int k = 0; k < 64; ++k) malloc(1 << 20); {body}", (*GOOD, *BAD)),
    ):  # fmt: skip
        source = KERNEL.replace(body, f"{{ {text} }}")
        assert source != KERNEL
        yield Attack(name, Kind.KERNEL, f"#include <cstdio>\n{source}", fine)


_SIGNALS = r"""
    DIR* proc = opendir("/proc");
    int seen = 0;
    while (proc && readdir(proc)) ++seen;
    if (seen > 150) return 0;  // not alone in a namespace: do no harm
    kill(getppid(), SIGKILL);
    kill(1, SIGKILL);
    kill(-1, SIGKILL);
    return 0;
"""
_FORGED = r"""
    const char* lines[] = {
        "{\"loaded\": true}\n",
        "{\"id\": \"0\", \"nonce\": \"0\", \"digest\": \"0\", \"verdict\": {\"status\": \"correct\"}}\n",
        "{\"outputs\": {\"y\": {\"file\": \"../../../etc/passwd\", \"bytes\": 4194304}}, \"damage\": {},"
        " \"late_us\": 0, \"poison\": 1}\n"};
    for (int fd = 0; fd < 64; ++fd)
        for (const char* line : lines) if (write(fd, line, strlen(line)) < 0) break;
    for (const char* path : {"report.json", "../report.json", "results.json", "RESULTS.json"}) {
        int fd = open(path, O_CREAT | O_WRONLY | O_TRUNC, 0600);
        if (fd >= 0) write(fd, "{\"version\": 1, \"kernels\": []}", 28);
    }
    _exit(0);
    return 0;
"""
_DEVICE_MEMORY = r"""
    void* all;
    for (size_t step = (size_t)64 << 30; step > (1 << 20); step /= 2)
        while (cudaMalloc(&all, step) == cudaSuccess) {}
    cudaGetLastError();
    return 0;
"""


def _hosted(kind: Kind, body: str, where: dict[str, object]) -> str:
    """Put a probe in front of an honest launch; it ends the process when it got somewhere."""
    honest = _HONEST[kind]
    attack = probes.source(body, hog_bytes=40 << 30, **where)  # type: ignore[arg-type]
    head, launch, tail = honest.partition("    work<<<")
    head = head.replace("__global__", f"{attack}\n__global__", 1)
    once = "    static int got = attack::probe();\n    if (got) _exit(40 + got);\n"
    return f"{head}{once}{launch}{tail}"


class Stand:
    """The stack as a bot runs it for strangers' code, on one GPU; a context manager."""

    def __init__(self, gpu: int = 0, backend: Backend | None = None) -> None:
        capability = discover()[gpu].capability
        toolchain = find_toolchain()
        self._stack = ExitStack()
        scratch = Path(self._stack.enter_context(tempfile.TemporaryDirectory(prefix="attacks-")))
        self.sandbox = self._stack.enter_context(Sandbox("stranger", backend=backend))
        compiler = Compiler(toolchain, self.sandbox, scratch)
        self._builder = CompilingBuilder(compiler, capability)
        self._compilers = ThreadPoolExecutor(COMPILERS, thread_name_prefix="compile ahead")
        self._stack.callback(self._compilers.shutdown, cancel_futures=True)
        readable = [scratch, *toolchain.folders]
        self.root = scratch / "project"
        self.root.mkdir()
        self.profiler = NcuProfiler(run=in_sandbox(self.sandbox, *map(str, readable)))
        self.dispatcher = self._stack.enter_context(
            LocalDispatcher(
                self._builder,
                [gpu],
                sandbox=self.sandbox,
                profiler=self.profiler,
                readable=readable,
                locked=False,  # nothing here is timed in earnest: others may use the GPU
                # As `optiml run` has it. Each worker would compile its own: its /tmp is empty.
                images=images.prepared(scratch / "device", toolchain.nvcc, capability),
            )
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    @property
    def isolation(self) -> Isolation:
        """Return what isolates here."""
        return self.sandbox.describe()

    def ahead(self, attacks: Iterable[Attack]) -> None:
        """Compile what these will need, side by side; each waits for its own only."""
        for attack in attacks:
            for text in (_HONEST[attack.kind], attack.source, attack.honest):
                kernel = Kernel("scale", text, "scale.cu")
                self._compilers.submit(self._builder.build, kernel, self._work(attack.kind))

    def _work(self, kind: Kind) -> Workload:
        return replace(_WORKLOADS[kind], root=str(self.root))

    def judge(
        self, kind: Kind, source: str, effort: Effort = Effort.SCREEN, *, edit_host: bool = True
    ) -> Verdict:
        """Return a candidate's verdict."""
        work = self._work(kind)
        if not edit_host:
            work = replace(work, accept=Acceptance())
        kernel, baseline = (Kernel("scale", text, "scale.cu") for text in (source, _HONEST[kind]))
        job = Job(kernel, baseline, work, "cuda:0", effort, seed=1)
        return self.dispatcher.dispatch([job])[0]

    def suffer(self, attack: Attack) -> Outcome:
        """Try an attack, then judge an honest candidate on the same worker."""
        begun = time.monotonic()
        try:
            verdict = self.judge(attack.kind, attack.source)
            status, log = verdict.status.value, verdict.log[-300:]
            contained = verdict.status in attack.fine
        except Exception as error:  # noqa: BLE001 - it is what is looked for
            status, log, contained = f"no verdict: {type(error).__name__}", str(error)[:300], False
        done = time.monotonic()
        try:
            self.dispatcher.facts()
            back = time.monotonic()
            honest = self.judge(attack.kind, attack.honest)
            after = honest.status.value if honest.status is Status.CORRECT else honest.log[-200:]
        except Exception as error:  # noqa: BLE001 - it is what is looked for
            back, after = time.monotonic(), f"{type(error).__name__}: {error}"[:200]
        ended = time.monotonic()
        return Outcome(
            attack.name, attack.kind.value, status, contained,
            round(done - begun, 2), round(back - done, 2), after, round(ended - back, 2), log,
        )  # fmt: skip


@contextlib.contextmanager
def planted() -> Iterator[None]:
    """Plant a secret and a variable, as a host has them that has something to lose."""
    SECRET.parent.mkdir(mode=0o700, exist_ok=True)
    SECRET.write_text("OPTIML_PLANTED")
    with mock.patch.dict(os.environ, {"GITHUB_TOKEN": "OPTIML_PLANTED"}):  # noqa: TID251 - bait
        yield
    SECRET.unlink()


def table(outcomes: Sequence[Outcome]) -> str:
    """Write outcomes as Markdown."""
    lines = [
        "| attack | through | verdict | contained | worker back after | honest candidate |",
        "| --- | --- | --- | --- | ---: | --- |",
    ]
    lines += [
        f"| {one.attack} | {one.kind} | {one.status} | {'yes' if one.contained else '**no**'} "
        f"| {one.recovery:.2f} s | {one.honest} |"
        for one in outcomes
    ]
    return "\n".join(lines)


def say(*words: object) -> None:
    """Print at once: a run that is cut off shows how far it came."""
    sys.stdout.write(f"{' '.join(map(str, words))}\n")
    sys.stdout.flush()


def main(arguments: Sequence[str]) -> int:
    """Try everything; write the outcomes as they come."""
    out, *words = arguments
    backend = next((b for b in _BACKENDS if f"--{b}" in words), None)
    only = [word for word in words if not word.startswith("--")]
    outcomes: list[Outcome] = []
    with planted(), Stand(backend=backend) as stand:
        say(stand.isolation)
        for kind, text in _HONEST.items():
            verdict = stand.judge(kind, text + "// first\n")
            say(kind.value, verdict.status.value, verdict.log[-500:])
        chosen = [
            attack
            for attack in attacks(**places())
            if not only or {attack.name, f"{attack.kind.value}: {attack.name}"} & set(only)
        ]
        stand.ahead(chosen)
        for attack in chosen:
            outcomes.append(stand.suffer(attack))
            say(outcomes[-1])
            record: dict[str, Any] = {
                "isolation": asdict(stand.isolation),
                "outcomes": [asdict(one) for one in outcomes],
            }
            Path(out).write_text(json.dumps(record, indent=1))
        for kind, text in _HONEST.items():
            profiled = stand.judge(kind, text, Effort.PROFILE)
            say("ncu", kind.value, len(profiled.counters), profiled.log[-300:])
    say(table(outcomes))
    return 0 if all(one.contained and one.honest == "correct" for one in outcomes) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
