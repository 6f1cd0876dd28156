"""What this machine has and lacks for optimizing, each with what to do about it."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from bot import asking
from bot.settings import Settings
from optimizer import plugins
from optimizer.errors import ConfigError
from optimizer.synthesis import cutlass
from runners import sanitizer
from runners.fault import Fault
from runners.ncu_trouble import DENIED, MISSING
from runners.profiler import find_ncu
from runners.sandbox import Sandbox
from runners.toolchain import Toolchain, find_toolchain

_LEAST_DISK = 2 << 30  # bytes: nvcc's intermediates of a batch, artefacts and a recording
_FIELDS = "name,driver_version,compute_cap,memory.total,clocks.sm,clocks.max.sm,persistence_mode"


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the doctor. `ok` None stops nothing; `remedy` says what to do."""

    name: str
    ok: bool | None
    words: str
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What the doctor looks at, replaceable in tests. `run` returns status and output."""

    run: Callable[[Sequence[str]], tuple[int, str]]
    which: Callable[[str], str | None]
    read: Callable[[str], str]
    free_bytes: Callable[[Path], int]
    toolchain: Callable[[str | None], Toolchain]
    is_root: bool = False


def examine(settings: Settings, around: Surroundings | None = None) -> list[Finding]:
    """Look at everything a run needs; nothing is changed and no kernel is run."""
    here = around or surroundings()
    return [
        *_software(),
        *_compiler(settings, here),
        *_gpu(here),
        *_profiler(settings, here),
        _sanitizer(here),
        _bindings(),
        *_isolation(settings),
        *_host_memory(here),
        *_disk(here),
        *_tokens(settings),
        _cutlass(settings),
        _agents(),
        *_plugins(),
    ]


def surroundings() -> Surroundings:
    """Return this machine."""
    return Surroundings(
        _run,
        shutil.which,
        _read,
        lambda path: shutil.disk_usage(path).free,
        find_toolchain,
        os.geteuid() == 0,
    )


def _software() -> Iterator[Finding]:
    version = importlib.metadata.version("optiml-bot")
    yield Finding("OptiML", ok=True, words=f"{version}, Python {platform.python_version()}")
    if sys.platform != "linux":
        yield Finding("system", ok=False, words=sys.platform, remedy="GPUs are used on Linux only")


def _compiler(settings: Settings, here: Surroundings) -> Iterator[Finding]:
    try:
        toolchain = here.toolchain(settings.nvcc or None)
    except Fault as fault:
        yield Finding("nvcc", ok=False, words=fault.message, remedy=fault.remedy)
        return
    yield Finding("nvcc", ok=True, words=f"{toolchain.name} at {toolchain.nvcc}")
    if toolchain.nvdisasm is None:
        yield Finding(
            "nvdisasm",
            ok=None,
            words="not found: instructions are not counted, so diagnosis knows less",
            remedy="it comes with the CUDA toolkit (or `pip install nvidia-cuda-nvdisasm`)",
        )
    if here.which("g++") is None and here.which("clang++") is None:
        yield Finding("host compiler", ok=False, words="none", remedy="install g++ for nvcc to use")
    status, text = here.run(["nvidia-smi", "--query-gpu=compute_cap", "--format=csv,noheader"])
    for capability in sorted(set(re.findall(r"\d+\.\d+", text))) if not status else ():
        try:
            toolchain.require(int(capability.replace(".", "")))
        except Fault as fault:
            yield Finding("nvcc and GPU", ok=False, words=fault.message, remedy=fault.remedy)


def _gpu(here: Surroundings) -> Iterator[Finding]:
    command = ["nvidia-smi", f"--query-gpu={_FIELDS}", "--format=csv,noheader,nounits"]
    status, text = here.run(command)
    if status:
        has_driver = bool(here.read("/proc/driver/nvidia/version"))
        yield Finding(
            "GPU",
            ok=False,
            words="nvidia-smi does not answer" if has_driver else "no NVIDIA driver",
            remedy="run on a machine with an NVIDIA GPU; without one `optiml inspect`, "
            "`optiml demo` and `optiml run --replay` work",
        )
        return
    for line in text.strip().splitlines():
        cells = [cell.strip() for cell in line.split(",")]
        if len(cells) != len(_FIELDS.split(",")):
            continue
        name, driver, capability, memory, clock, most, persistence = cells
        words = f"{name}, compute capability {capability}, {memory} MiB, driver {driver}"
        yield Finding("GPU", ok=True, words=words)
        yield Finding(
            "clocks",
            ok=None,
            words=f"{clock} of {most} MHz; not locked by us: original and candidate are timed in "
            "turn, and samples at a lower clock are repeated",
        )
        if persistence.lower() == "disabled":
            yield Finding(
                "persistence mode",
                ok=None,
                words="off: every fresh process waits for the driver",
                remedy="nvidia-smi -pm 1",
            )


def _profiler(settings: Settings, here: Surroundings) -> Iterator[Finding]:
    path = settings.ncu or find_ncu()
    if not path or here.which(path) is None:
        yield Finding(
            "ncu", ok=None, words="not found: diagnosis rests on SASS and times", remedy=MISSING
        )
        return
    status, text = here.run([path, "--version"])
    match = re.search(r"Version (\S+)", text)
    if status or not match:
        yield Finding("ncu", ok=None, words=f"{path} does not run", remedy=_last_line(text))
        return
    yield Finding("ncu", ok=True, words=f"{match[1]} at {path}")
    locked = re.search(r"RmProfilingAdminOnly:\s*1", here.read("/proc/driver/nvidia/params"))
    if locked and not here.is_root:
        yield Finding("ncu permission", ok=None, words="counters are for root only", remedy=DENIED)
    elif locked is not None:
        yield Finding("ncu permission", ok=True, words="counters are for root, and you are root")


def _sanitizer(here: Surroundings) -> Finding:
    """Say whether finalists are looked at for what results do not show."""
    name = "compute-sanitizer"
    named = (name, *(f"{place}/{name}" for place in sanitizer.PLACES))
    path = next((found for one in named if (found := here.which(one))), None)
    if path is None:
        return Finding(
            name,
            ok=None,
            words="not found: accesses out of bounds whose values do not matter are not found",
            remedy="it comes with the CUDA toolkit (its package is called cuda-sanitizer)",
        )
    status, text = here.run([path, "--version"])
    match = re.search(r"Version (\S+)", text)
    if status or not match:
        words = f"{path} does not run"
        return Finding(name, ok=None, words=words, remedy=_last_line(text))
    return Finding(name, ok=True, words=f"{match[1]} at {path}")


def _bindings() -> Finding:
    if importlib.util.find_spec("pycuda") is None:
        return Finding(
            "pycuda",
            ok=False,
            words="not installed",
            remedy="`pip install 'optiml-bot[gpu]'`; it is built on the spot and needs nvcc, the "
            "CUDA headers and a C++ compiler",
        )
    return Finding("pycuda", ok=True, words=importlib.metadata.version("pycuda"))


_BETTER = {
    "bubblewrap": "apt-get install bubblewrap (or dnf, pacman)",
    "namespaces": "allow user namespaces: sysctl kernel.unprivileged_userns_clone=1 and "
    "kernel.apparmor_restrict_unprivileged_userns=0; "
    "in a container --security-opt seccomp=unconfined --security-opt systempaths=unconfined",
    "landlock": "Linux 6.12 or newer with landlock in /sys/kernel/security/lsm",
    "cgroups": "start it under `systemd-run --scope -p Delegate=yes` (--user where not root)",
    "seccomp": "x86_64 and aarch64 have a table of system calls",
}


def _isolation(settings: Settings) -> Iterator[Finding]:
    """Say what a stranger's code could reach here, and what would keep it from that."""
    if settings.sandbox == "off":
        yield Finding(
            "sandbox",
            ok=None,
            words="off: candidates run as you, with your files and network",
            remedy="unset OPTIML_SANDBOX, or set it to strict",
        )
        return
    strict = settings.sandbox == "strict"
    try:
        with Sandbox() as sandbox:
            found = sandbox.describe()
    except Fault as fault:
        yield Finding("sandbox", ok=not strict, words=str(fault))
        return
    gives = [
        words
        for words, has in (
            ("no network", found.network),
            ("files of its own", found.files),
            ("processes of its own", found.processes),
            ("few system calls", found.filter and found.strong),
        )
        if has
    ]
    words = f"{found.backend}: {', '.join(gives) or 'limits only, for your own code'}"
    reasons = "; ".join(f"{name}: {why}" for name, why in found.refused.items())
    mends = [_BETTER[name] for name in ("bubblewrap", "namespaces") if name in found.refused]
    serves = found.strong and found.gpu
    yield Finding(
        "sandbox",
        ok=True if serves else (False if strict else None),
        words=words if serves or not found.strong else f"{words}; not for what uses the GPU",
        remedy="" if serves else f"{reasons}. To mend it: {'; or '.join(mends)}",
    )
    why = found.refused.get("cgroups", "no control groups")
    counted = found.groups or f"looking, ten times a second: {why}"
    yield Finding(
        "limits",
        ok=True if found.groups else None,
        words=f"memory and processes by {counted}",
        remedy="" if found.groups else _BETTER["cgroups"],
    )
    if found.strong and found.leaves:
        yield Finding(
            "sandbox, weaker",
            ok=None,
            words=found.leaves,
            remedy=f"{_BETTER['bubblewrap']}; or {_BETTER['namespaces']}",
        )
    if not serves and not strict:
        yield Finding(
            "strangers' code",
            ok=None,
            words="is refused here (OPTIML_SANDBOX=strict); your own runs without isolation",
            remedy="; or ".join(mends),
        )


def _host_memory(here: Surroundings) -> Iterator[Finding]:
    """Say whether device code may reach the worker's own memory."""
    if here.read("/sys/module/nvidia_uvm/parameters/uvm_disable_hmm").strip() in {"N", "0"}:
        yield Finding(
            "host memory",
            ok=None,
            words="HMM is on: where kernel and GPU support it, device code can address the memory "
            "of the process that launches it",
            remedy="for strangers' code `options nvidia_uvm uvm_disable_hmm=1` in /etc/modprobe.d",
        )


def _disk(here: Surroundings) -> Iterator[Finding]:
    for name, path in (("disk", Path.cwd()), ("temporary disk", Path(tempfile.gettempdir()))):
        free = here.free_bytes(path)
        yield Finding(
            name,
            ok=True if free >= _LEAST_DISK else None,
            words=f"{free / 1e9:.1f} GB free at {path}",
            remedy="" if free >= _LEAST_DISK else "free some: 2 GB is comfortable",
        )


def _tokens(settings: Settings) -> Iterator[Finding]:
    if asking.is_set(settings):
        name, _ = asking.described(settings, asking.recorded(settings))
        yield Finding("language model", ok=True, words=name or "not asked by the policy `rules`")
    else:
        missing = "a key, but OPTIML_MODEL names no model" if settings.api_key else "none named"
        yield Finding(
            "language model",
            ok=False if settings.policy == "llm" else None,
            words=f"{missing}: rules propose, which needs none",
            remedy=asking.NO_MODEL if settings.policy == "llm" or settings.api_key else "",
        )
    has_token = bool(settings.github_token)
    words = "token set" if has_token else "no token: `review` prints instead of posting"
    yield Finding("GitHub", ok=True if has_token else None, words=words)


def _cutlass(settings: Settings) -> Finding:
    if settings.cutlass == "off":
        return Finding("CUTLASS", ok=None, words="switched off")
    try:
        tree = cutlass.find(settings.cutlass, sys.path)
    except ConfigError as error:
        return Finding("CUTLASS", ok=False, words=error.message, remedy=error.remedy)
    if tree is None:
        return Finding(
            "CUTLASS",
            ok=None,
            words="no headers: no model writes CuTe",
            remedy="`pip install --no-deps nvidia-cutlass`, or name a checkout with OPTIML_CUTLASS",
        )
    return Finding("CUTLASS", ok=True, words=f"{tree.version or 'headers'} at {tree.include}")


def _agents() -> Finding:
    if importlib.util.find_spec("mcp") is None:
        return Finding(
            "coding agents",
            ok=None,
            words="the Model Context Protocol's SDK is not installed",
            remedy="`pip install 'optiml-bot[mcp]'` for `optiml mcp`",
        )
    return Finding("coding agents", ok=True, words=f"mcp {importlib.metadata.version('mcp')}")


def _plugins() -> Iterator[Finding]:
    notes: list[str] = []
    try:
        rules, detectors = plugins.rules(notes), plugins.detectors(notes)
    except ConfigError as error:
        yield Finding("plugins", ok=False, words=error.message, remedy=error.remedy)
        return
    words = f"{len(rules)} rewrite rules, {len(detectors)} detectors"
    yield Finding("plugins", ok=bool(rules), words=words)
    for note in notes:
        yield Finding("plugins", ok=None, words=note)


def _run(command: Sequence[str]) -> tuple[int, str]:
    try:
        done = subprocess.run(
            list(command), capture_output=True, text=True, timeout=20, check=False, errors="replace"
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return 127, str(error)
    return done.returncode, done.stdout + done.stderr


def _read(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _last_line(text: str) -> str:
    return (text.strip().splitlines() or ["it printed nothing"])[-1][:200]
