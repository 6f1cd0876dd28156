"""An original that never ends: its process ends without letting go of what it hung on."""

from __future__ import annotations

import gc
import io
import json
import os
import shutil
import sys
import weakref
from pathlib import Path
from typing import Any

import pytest

from runners import answering, device
from runners.gpu import HungError, LaunchError
from tests.runners.host_gpu import HostGpu, artifact
from tests.runners.test_judge import SCALE, _job

pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="needs a C++ compiler")


class _Module:
    """A driver unloads one when the last reference goes, and waits for its kernels first."""


class _Function:
    def __init__(self, module: _Module) -> None:
        self.module = module


class _Hangs(HostGpu):
    """A device on which a kernel does not end."""

    loaded: weakref.ref[_Module]

    def __init__(self, _number: int = 0) -> None:
        super().__init__()
        self._hung = False

    def load(self, _image: bytes) -> Any:
        module = _Module()
        _Hangs.loaded = weakref.ref(module)
        return module

    def function(self, module: Any, _symbol: str, _shared: int = 0) -> Any:
        return _Function(module)

    def global_address(self, _module: Any, symbol: str) -> tuple[int, int]:
        raise LaunchError(symbol)

    def launch(self, *_: Any) -> None:
        self._hung = True

    def synchronize(self, seconds: float = 60.0) -> float:
        if self._hung:
            raise HungError(f"still running after {seconds:.3g} s")
        return 0.0


@pytest.mark.parametrize("waits", [False, True])
def test_what_hangs_is_held_until_the_process_is_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, waits: bool
) -> None:
    """Its message was there after 20 s, and read when the time for all answers was over."""
    wanted = [{"case": {"n": float(n)}, "family": "declared", "seed": 5} for n in (7, 9)]
    request: dict[str, Any] = {
        "job": _job(SCALE, SCALE),
        "baseline": artifact(SCALE),
        "folder": str(tmp_path),
    }
    request |= {"promoted": str(tmp_path / "none.json"), "combinations": wanted}
    (tmp_path / "none.json").write_text("null")
    (tmp_path / "request.json").write_text(json.dumps(request))
    held: list[bool] = []

    def leave(status: int) -> None:
        gc.collect()
        held.append(_Hangs.loaded() is not None)
        raise SystemExit(status)

    monkeypatch.setattr(device, "CudaGpu", _Hangs)
    monkeypatch.setattr(os, "_exit", leave)
    named = str(tmp_path / "request.json")
    monkeypatch.setattr(sys, "stdin", io.StringIO(f"{named}\n"))
    with pytest.raises(SystemExit) as ended:
        answering.main(["--wait", "0"] if waits else [named])
    assert ended.value.code == 1
    assert held == [True]
    lines = [json.loads(line) for line in (tmp_path / "answers.jsonl").read_text().splitlines()]
    assert [one["status"] for one in lines] == ["begun", "crash"]
    assert lines[-1]["message"] == "still running after 20 s"
