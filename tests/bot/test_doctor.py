"""The doctor names each thing that is missing and what to do about it."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from bot import doctor, settings
from bot.doctor import Finding, Surroundings, examine
from bot.settings import Settings
from runners.fault import Fault
from runners.sandbox import Isolation, Sandbox
from runners.toolchain import Toolchain

SMI = "NVIDIA H200, 580.1, 9.0, 143771, 1980, 1980, Disabled\n"


def machine(
    *,
    gpu: bool = True,
    nvcc: tuple[int, int] | None = (13, 0),
    free: int = 10**11,
    admin_only: bool = False,
    root: bool = False,
) -> Surroundings:
    def run(command: Sequence[str]) -> tuple[int, str]:
        if command[0] == "nvidia-smi":
            if not gpu:
                return 127, "not found"
            return 0, "9.0\n" if "compute_cap" in command[1] and "name" not in command[1] else SMI
        return 0, "NVIDIA (R) Nsight Compute\nVersion 2025.3.0 (build)"

    def toolchain(named: str | None) -> Toolchain:
        if nvcc is None:
            raise Fault("NoDeviceError", "there is no CUDA compiler (nvcc)", "install the toolkit")
        return Toolchain(Path(named or "/usr/bin/nvcc"), nvcc)

    params = f"RmProfilingAdminOnly: {int(admin_only)}\n" if gpu else ""
    return Surroundings(
        run, lambda name: f"/usr/bin/{name}", lambda _: params, lambda _: free, toolchain, root
    )


def by_name(around: Surroundings, settings: Settings | None = None) -> dict[str, Finding]:
    return {one.name: one for one in examine(settings or Settings(ncu="/opt/ncu"), around)}


def test_a_machine_with_everything_has_nothing_that_stops_it() -> None:
    found = by_name(machine())
    assert found["GPU"].words.startswith("NVIDIA H200, compute capability 9.0")
    assert found["nvcc"].ok
    assert found["ncu"].ok
    assert found["compute-sanitizer"].ok
    assert {one.name for one in found.values() if one.ok is False} <= {"pycuda"}


def test_without_a_gpu_it_says_what_works_all_the_same() -> None:
    found = by_name(machine(gpu=False))["GPU"]
    assert found.ok is False
    assert "optiml demo" in found.remedy


def test_without_a_compiler_it_says_how_to_get_one() -> None:
    found = by_name(machine(nvcc=None))["nvcc"]
    assert found.ok is False
    assert found.remedy


def test_a_compiler_too_old_for_the_gpu_is_found_before_a_run() -> None:
    found = by_name(machine(nvcc=(11, 0)))["nvcc and GPU"]
    assert found.ok is False
    assert "CUDA" in found.remedy


@pytest.mark.parametrize(("root", "ok"), [(False, None), (True, True)])
def test_denied_counters_come_with_the_driver_option(root: bool, ok: bool | None) -> None:
    found = by_name(machine(admin_only=True, root=root))["ncu permission"]
    assert found.ok is ok
    assert root or "NVreg_RestrictProfilingToAdminUsers=0" in found.remedy


def test_a_missing_sanitizer_is_named_with_what_brings_it() -> None:
    """What is offered then was not looked at for some faults."""
    where = {"compute-sanitizer": None, "/opt/cuda/bin/compute-sanitizer": "/opt/cuda/bin/it"}
    around = replace(machine(), which=where.get)
    assert by_name(around)["compute-sanitizer"].words.endswith("at /opt/cuda/bin/it")
    missing = by_name(replace(machine(), which=lambda _: None))["compute-sanitizer"]
    assert missing.ok is None
    assert "out of bounds" in missing.words
    assert "cuda-sanitizer" in missing.remedy
    silent = replace(machine(), run=lambda _: (1, "no such device\n"))
    assert by_name(silent)["compute-sanitizer"].remedy == "no such device"


def test_a_nearly_full_disk_is_told() -> None:
    found = by_name(machine(free=10**8))["disk"]
    assert found.ok is None
    assert found.remedy


def test_a_policy_that_needs_a_key_misses_it() -> None:
    assert by_name(machine())["language model"].ok is None
    assert by_name(machine(), Settings(policy="llm"))["language model"].ok is False


def test_no_line_shows_a_secret() -> None:
    found = by_name(machine(), Settings(api_key="sk-secret", github_token="ghs_secret"))
    assert not [one for one in found.values() if "secret" in one.words + one.remedy]


def test_cutlass_headers_are_named_or_how_to_get_them(tmp_path: Path) -> None:
    header = tmp_path / "include/cute/tensor.hpp"
    header.parent.mkdir(parents=True)
    header.write_text("")
    named = by_name(machine(), Settings(ncu="/opt/ncu", cutlass=str(tmp_path)))["CUTLASS"]
    assert named.ok
    assert str(tmp_path) in named.words
    wrong = by_name(machine(), Settings(ncu="/opt/ncu", cutlass=str(tmp_path / "no")))["CUTLASS"]
    assert wrong.ok is False
    off = by_name(machine(), Settings(ncu="/opt/ncu", cutlass="off"))["CUTLASS"]
    assert off.words == "switched off"


def isolation(
    monkeypatch: pytest.MonkeyPatch, found: Isolation, sandbox: str = "auto"
) -> dict[str, doctor.Finding]:
    monkeypatch.setattr(Sandbox, "describe", lambda _self: found)
    lines = doctor._isolation(settings.load({"sandbox": sandbox}))
    return {line.name: line for line in lines}


def test_full_isolation_needs_nothing_done(monkeypatch: pytest.MonkeyPatch) -> None:
    found = Isolation("bubblewrap", True, True, True, {}, True, "cgroup v2")  # noqa: FBT003
    lines = isolation(monkeypatch, found)
    assert [line.ok for line in lines.values()] == [True, True]
    assert "few system calls" in lines["sandbox"].words
    assert "cgroup v2" in lines["limits"].words


def test_a_host_without_isolation_is_told_why_and_what_mends_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    refused = {"bubblewrap": "not installed", "namespaces": "EPERM", "cgroups": "read-only"}
    found = Isolation("processes", False, False, False, refused)  # noqa: FBT003
    lines = isolation(monkeypatch, found)
    assert lines["sandbox"].ok is None
    assert "not installed" in lines["sandbox"].remedy
    assert "unprivileged_userns_clone" in lines["sandbox"].remedy
    assert "Delegate=yes" in lines["limits"].remedy
    assert "refused" in lines["strangers' code"].words
    assert isolation(monkeypatch, found, "strict")["sandbox"].ok is False


def test_landlock_alone_is_said_to_be_less(monkeypatch: pytest.MonkeyPatch) -> None:
    found = Isolation("landlock", True, True, True, {}, True, "cgroup v1")  # noqa: FBT003
    lines = isolation(monkeypatch, found)
    assert "visible" in lines["sandbox, weaker"].words
    assert lines["sandbox"].ok is None
    assert "not for what uses the GPU" in lines["sandbox"].words
    assert "refused" in lines["strangers' code"].words
    assert isolation(monkeypatch, found, "strict")["sandbox"].ok is False


def test_a_sandbox_that_is_off_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    found = Isolation("bubblewrap", True, True, True)  # noqa: FBT003
    lines = isolation(monkeypatch, found, "off")
    assert list(lines) == ["sandbox"]
    assert "with your files" in lines["sandbox"].words


@pytest.mark.parametrize(("state", "lines"), [("N\n", 1), ("0", 1), ("Y\n", 0), ("", 0)])
def test_host_memory_within_reach_of_device_code_is_said(state: str, lines: int) -> None:
    around = replace(machine(), read=lambda _path: state)
    found = list(doctor._host_memory(around))
    assert len(found) == lines
    assert all("uvm_disable_hmm=1" in line.remedy for line in found)
