"""The worker as a program: garbage in, errors out, one answer a request, no other imports."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from runners import worker as module
from runners.answers import module_command
from runners.fault import Fault
from runners.spec import Json
from runners.worker import Worker, judge_file, main, serve, timed_out
from tests.runners.host_gpu import COMPILER, HostGpu, HostOracle, artifact
from tests.runners.test_judge import SCALE, _job


def _talk(worker: Worker, *lines: str) -> tuple[int, list[Json]]:
    out = io.StringIO()
    status = serve(worker, io.StringIO("".join(f"{line}\n" for line in lines)), out)
    return status, [json.loads(line) for line in out.getvalue().splitlines()]


def _without_device(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Worker:
    def none(self: Worker) -> None:
        raise Fault("NoDeviceError", "no GPU here", "find one")

    monkeypatch.setattr(Worker, "device", none)
    return Worker(0, tmp_path)


def test_every_line_gets_an_answer(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Garbage is refused and the next request is served."""
    worker = _without_device(monkeypatch, tmp_path)
    lines = [
        "not json",
        "[1]",
        "",
        "{}",
        '{"op": "dance", "id": "4"}',
        '{"op": "hello", "id": "5", "nonce": "n"}',
    ]
    status, answers = _talk(worker, *lines)
    assert status == 0
    assert [a["error"]["type"] for a in answers] == ["ConfigError"] * 4 + ["NoDeviceError"]
    assert answers[-1]["id"] == "5"
    assert answers[-1]["nonce"] == "n"


@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60, deadline=None
)
@given(
    st.recursive(
        st.none() | st.booleans() | st.floats(allow_nan=False) | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(
                    [
                        "job",
                        "kernel",
                        "workload",
                        "arguments",
                        "limits",
                        "seconds",
                        "op",
                        "id",
                        "cases",
                        "launch",
                    ]
                ),
                inner,
                max_size=4,
            )
        ),
        max_leaves=12,
    )
)
def test_no_json_stops_the_worker(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, data: Any
) -> None:
    """Whatever JSON comes, the answer is an error and the worker goes on."""
    worker = _without_device(monkeypatch, tmp_path)
    status, answers = _talk(worker, json.dumps(data), '{"op": "hello"}')
    assert status == 0
    assert len(answers) == 2
    assert all("error" in answer for answer in answers)


@pytest.mark.skipif(COMPILER is None, reason="g++ is not installed")
def test_a_request_is_answered_with_its_nonce_and_digest(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The response is bound to job, nonce and candidate, and the project's reader takes it."""
    from runners.judge import Judge
    from runners.wire import response

    judge = Judge(HostGpu(), 0, tmp_path, lambda _text, _job: None)
    judge._oracle = HostOracle(tmp_path, 0, lambda text, _job: artifact(text))
    worker = Worker(0, tmp_path)
    worker._judge = judge
    job = _job(SCALE)
    request = {
        "id": "1",
        "nonce": "abc",
        "job": job,
        "candidate": artifact(SCALE),
        "baseline": artifact(SCALE),
        "limits": {"seconds": 30},
    }
    jobs, results = tmp_path / "jobs.json", tmp_path / "results.json"
    jobs.write_text(json.dumps([request]))
    assert judge_file(worker, jobs, results) == 0
    data = json.loads(results.read_text())
    assert data["version"] == 1
    answer = data["results"][0]
    verdict, stats = response(json.dumps(answer).encode(), "1", "abc", answer["digest"])
    assert verdict.status.value == "correct"
    assert verdict.measurement is not None
    assert stats["runs"] > 10


def test_a_file_that_is_none_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Exit status 2 and a sentence, no traceback."""
    worker = Worker(0, tmp_path)
    for text in ("{", "{}", "[1]"):
        (tmp_path / "jobs.json").write_text(text)
        assert judge_file(worker, tmp_path / "jobs.json", tmp_path / "r.json") == 2
    assert judge_file(worker, tmp_path / "missing.json", tmp_path / "r.json") == 2
    assert "Traceback" not in capsys.readouterr().err
    assert main(["--nonsense"]) == 2


def test_the_watchdog_answers_for_a_candidate_that_hangs(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The verdict is a time-out and the process asks to be replaced."""
    said: list[Json] = []
    ended = threading.Event()

    def leave(status: int) -> None:
        assert status == module.EXIT_LOST
        ended.set()

    class Hung(Worker):
        def answer(self, request: Json) -> tuple[Json, bool]:
            ended.wait(10)
            time.sleep(0.05)
            raise SystemExit

    monkeypatch.setattr(module, "GRACE_SECONDS", 0.05)
    monkeypatch.setattr(module, "ORACLE_SECONDS", 0.0)
    monkeypatch.setattr(os, "_exit", leave)
    monkeypatch.setattr(signal, "alarm", lambda _seconds: None)
    request = {
        "id": "9",
        "nonce": "n",
        "job": _job(SCALE),
        "candidate": None,
        "limits": {"seconds": 0.1},
    }
    with pytest.raises(SystemExit):
        module.guarded(Hung(0, tmp_path), request, said.append)
    assert ended.is_set()
    assert said[0]["verdict"]["status"] == "timed out"
    assert said[0]["retire"]
    assert said[0]["digest"] == timed_out(request, 1.0)["digest"] != ""


def test_a_lost_device_ends_the_process_behind_the_answer(tmp_path: Path) -> None:
    """Exit status 75 tells the dispatcher to start another."""

    class Lost(Worker):
        def answer(self, request: Json) -> tuple[Json, bool]:
            return {"id": request["id"]}, True

    status, answers = _talk(Lost(0, tmp_path), '{"id": "1"}', '{"id": "2"}')
    assert status == module.EXIT_LOST
    assert answers == [{"id": "1"}]


def test_the_worker_stands_alone() -> None:
    """With every module of the worker loaded, nothing of the rest of the project is."""
    names = (
        "worker judge oracle original entry_process entry_server launching building calibrate"
        " program"
    )
    code = (
        f"import importlib, sys\nfor n in {names!r}.split(): importlib.import_module('runners.' + n)\n"
        "bad = [m for m in sys.modules if m.split('.')[0] in ('optimizer', 'bot', 'pydantic', 'pycuda')]\n"
        "print(bad)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_module_runs_isolated_from_the_directory_it_is_started_in(tmp_path: Path) -> None:
    """A hostile checkout with a `runners` of its own is not imported."""
    (tmp_path / "runners").mkdir()
    (tmp_path / "runners" / "worker.py").write_text("print('hostile')")
    done = subprocess.run(
        module_command("runners.worker"), cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "hostile" not in done.stdout
