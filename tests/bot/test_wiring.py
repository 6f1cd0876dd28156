"""How the GPU of this host is opened."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from bot import wiring
from bot.settings import Settings
from bot.wiring import Workshop
from optimizer.model import Kernel, Kind, Workload
from runners import images, seat
from runners.dispatch import Gpu, LocalDispatcher
from runners.interfaces import Job
from runners.toolchain import Toolchain

FAKE_WORKER = Path(__file__).parents[1] / "runners" / "fake_worker.py"
COMMAND = (sys.executable, str(FAKE_WORKER))


def test_what_is_judged_first_is_begun_while_the_gpu_is_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is compiled, and the first worker may read its folder: none is started anew for that."""
    begun: list[str] = []
    started: list[int] = []
    start = seat.Seat._start

    class Noted(LocalDispatcher):
        def __init__(self, builder: Any, devices: Sequence[int], **given: Any) -> None:
            assert given["images"] == tmp_path / "device"
            readable = [*given.pop("readable"), FAKE_WORKER.parent]
            super().__init__(
                builder, devices, command=COMMAND, locked=False, readable=readable, **given
            )

        def expect(self, jobs: Sequence[Job]) -> bool:
            begun.extend(job.kernel.source for job in jobs)
            assert not started, "it compiles beside the worker's start"
            return True

    def counted(self: seat.Seat) -> Any:
        started.append(self.index)
        return start(self)

    gpu = Gpu(0, "Fake", "GPU-0", "580.1", 90, 80_000)
    monkeypatch.setattr(wiring, "LocalDispatcher", Noted)
    monkeypatch.setattr(wiring, "present", lambda: (gpu,))
    monkeypatch.setattr(wiring, "find_toolchain", lambda _: Toolchain(Path("/nvcc"), (13, 0)))
    monkeypatch.setattr(images, "prepared", lambda folder, *_, **__: folder)
    monkeypatch.setattr(seat.Seat, "_start", counted)
    project = tmp_path / "project"
    project.mkdir()
    first = (Kernel("k", "source"), Workload("w", Kind.KERNEL, "k", root=str(project)))
    (tmp_path / "device").mkdir()
    settings = Settings(cache=str(tmp_path), memory="off", policy="rules")
    with Workshop(settings, first=first) as workshop:
        assert workshop.environment.gpu == "Fake"
        assert begun == ["source"]
        dispatcher = workshop.dispatcher
        assert isinstance(dispatcher, LocalDispatcher)
        (one,) = dispatcher._seats
        one.admit(project)
        one.tell("hello")
    assert started == [0]
