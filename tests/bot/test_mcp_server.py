"""A coding agent, played by the SDK's own client over stdio, drives an example's recording."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import pytest

from bot.cli import main as command_line
from optimizer.trajectory import read_trajectory

pytest.importorskip("mcp")

from mcp import Client, StdioServerParameters, stdio_client

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
Ask = Callable[..., Awaitable[Any]]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    shutil.copytree(EXAMPLES / "softmax", folder)
    return folder


def driven(project: Path, talk: Callable[[Ask], Awaitable[None]], *more: str) -> None:
    """Start `optiml mcp` on the project's recording and talk to it."""
    parameters = StdioServerParameters(
        command=sys.executable,
        args=["-I", "-m", "bot", "mcp", str(project), "--replay",
              str(project / "recording.jsonl.gz"), "--out", str(project / "out"), *more],
        cwd=project,
    )  # fmt: skip

    async def session() -> None:
        with (project / "stderr.txt").open("w") as errors:
            async with Client(stdio_client(parameters, errors)) as client:

                async def ask(tool: str, **arguments: object) -> Any:
                    return await client.call_tool(tool, arguments)

                await talk(ask)

    anyio.run(session)


def text(answer: Any) -> str:
    return str(answer.content[0].text)


def test_an_agent_finds_the_recorded_speedup_by_trying_what_the_rules_suggest(
    project: Path,
) -> None:
    async def talk(ask: Ask) -> None:
        listed = text(await ask("workloads"))
        assert "const float* logits[rows*cols] (input)" in listed
        assert "numpy reference ref.py:reference" in listed
        first = text(await ask("baseline", workload="softmax"))
        assert "uncoalesced-access, softmax line 16" in first
        assert "if (x[j] > maxval) {" in first
        offered = text(await ask("suggest", workload="softmax"))
        assert "- 0.1 [warp-per-row]" in offered
        tried = await ask("evaluate", workload="softmax", suggestion="0.1")
        assert not tried.is_error
        assert tried.structured_content["status"] == "correct"
        assert tried.structured_content["speedup"] > 5
        assert "best so far" in text(tried)
        assert "recorded on NVIDIA H200" in text(tried)
        profile = text(await ask("profile", workload="softmax", step=1))
        assert "where warps wait" in profile
        assert "of the roofline" in profile
        table = text(await ask("trajectory", workload="softmax"))
        assert "1 ← 0" in table
        assert "★ best" in table
        one = text(await ask("trajectory", workload="softmax", step=1))
        assert "+++ b/softmax.cu" in one

    driven(project, talk)
    kept = (project / "out/softmax/trajectory.jsonl").read_text().splitlines()
    assert len(kept) == 1 + 2 + 1, "a header, two steps, a footer"


def test_an_agent_inspects_edits_measures_and_reads_what_is_left_to_mend(project: Path) -> None:
    async def rule(ask: Ask) -> None:
        await ask("suggest", workload="softmax")
        await ask("evaluate", workload="softmax", suggestion="0.1")

    driven(project, rule)
    original = (project / "softmax.cu").read_text()
    steps = read_trajectory(project / "out/softmax/trajectory.jsonl").steps
    edited, at = steps[1].kernel.source, steps[1].kernel.launch
    assert at is not None
    launch = {"grid": list(at.grid), "block": list(at.block), "shared": at.shared}
    shutil.rmtree(project / "out")

    async def agent(ask: Ask) -> None:
        seen = await ask("inspect", file="softmax.cu")
        assert "softmax" in text(seen)
        assert seen.is_error or "registers" in text(seen)  # no nvcc, no registers
        before = text(await ask("findings", workload="softmax"))
        assert "uncoalesced-access" in before
        tried = await ask(
            "evaluate", workload="softmax", title="give each row to a warp", predicted=4.0,
            edits=[{"search": original, "replace": edited}], why="lanes read along the row", launch=launch,
        )  # fmt: skip
        assert tried.structured_content["status"] == "correct"
        assert tried.structured_content["speedup"] > 5
        assert tried.structured_content["best_step"] == 1
        after = text(await ask("findings", workload="softmax", step=1))
        assert "uncoalesced-access" not in after
        one = text(await ask("trajectory", workload="softmax", step=1))
        assert "give each row to a warp" in one
        assert "lanes read along the row" in one
        assert "promised 4.00× over step 0, came to 11." in one

    driven(project, agent)
    (step,) = read_trajectory(project / "out/softmax/trajectory.jsonl").steps[1:]
    assert step.edit is not None
    assert step.edit.author == "agent"
    assert step.edit.predicted == 4.0


def test_what_the_recording_lacks_is_said_and_never_guessed(project: Path) -> None:
    async def talk(ask: Ask) -> None:
        edits = [{"search": "sum += y[j];", "replace": "sum += 2 * y[j];"}]
        answer = await ask("evaluate", workload="softmax", edits=edits, title="double it")
        assert not answer.is_error
        assert answer.structured_content["status"] == "not recorded"
        assert answer.structured_content["speedup"] is None

    driven(project, talk)


def test_an_edit_outside_the_boundary_is_a_result_that_names_the_line(project: Path) -> None:
    async def talk(ask: Ask) -> None:
        edits = [{"search": "#include <math.h>", "replace": "#include <math.h>\n#include <cstdio>"}]
        answer = await ask("evaluate", workload="softmax", edits=edits)
        assert not answer.is_error
        assert answer.structured_content["status"] == "rejected"
        assert "#include <cstdio>" in text(answer)
        assert answer.structured_content["evaluations_left"] == 79, "it cost nothing"

    driven(project, talk)


def test_a_search_text_that_does_not_fit_is_answered_with_what_to_do(project: Path) -> None:
    async def talk(ask: Ask) -> None:
        twice = [{"search": "y[j] =", "replace": "y[j] +="}]
        answer = await ask("evaluate", workload="softmax", edits=twice)
        assert answer.is_error
        assert "occurs 2 times; repeat more lines around it" in text(answer)
        blanks = [{"search": "    float sum=0.0f;\n", "replace": ""}]
        answer = await ask("evaluate", workload="softmax", edits=blanks)
        assert "the nearest line is `float sum = 0.0f;`" in text(answer)

    driven(project, talk)


def test_only_sources_of_the_project_can_be_read(project: Path) -> None:
    (project.parent / "secret.cu").write_text("// the secret\n__global__ void k() {}\n")
    (project / "link.cu").symlink_to(project.parent / "secret.cu")

    async def talk(ask: Ask) -> None:
        for name in ("/etc/passwd", "../secret.cu", "link.cu", "softmax.py"):
            answer = await ask("inspect", file=name)
            assert answer.is_error, name
            assert "secret" not in text(answer).replace("secret.cu", "")

    driven(project, talk)


def test_the_file_on_disk_is_the_candidate_when_nothing_is_given(project: Path) -> None:
    async def talk(ask: Ask) -> None:
        await ask("baseline", workload="softmax")
        unchanged = await ask("evaluate", workload="softmax")
        assert "unchanged" in text(unchanged)
        file = project / "softmax.cu"
        file.write_text(file.read_text().replace("__global__", "#include <cstdio>\n__global__", 1))
        answer = await ask("evaluate", workload="softmax")
        assert answer.structured_content["status"] == "rejected"

    driven(project, talk)


def test_what_a_candidate_is_measured_against_cannot_be_changed_on_the_way(project: Path) -> None:
    async def talk(ask: Ask) -> None:
        await ask("baseline", workload="softmax")
        reference = project / "ref.py"
        reference.write_text(reference.read_text() + "\n# easier now\n")
        answer = await ask("evaluate", workload="softmax", suggestion="0.1")
        assert answer.is_error
        assert "ref.py changed since this session began" in text(answer)

    driven(project, talk)


def test_wrong_names_and_arguments_are_answered_and_the_server_lives_on(project: Path) -> None:
    async def talk(ask: Ask) -> None:
        assert "there are: softmax" in text(await ask("evaluate", workload="sofmax"))
        assert (await ask("evaluate", work="softmax")).is_error
        assert "steps go from 0" in text(await ask("profile", workload="softmax", step=7))
        assert not (await ask("baseline", workload="softmax")).is_error

    driven(project, talk)


def test_only_the_protocol_reaches_stdout(project: Path) -> None:
    hello = {
        "jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": {"protocolVersion": "2025-06-18", "capabilities": {},
                   "clientInfo": {"name": "test", "version": "0"}},
    }  # fmt: skip
    call = {
        "jsonrpc": "2.0", "id": 2, "method": "tools/call",
        "params": {"name": "inspect", "arguments": {"file": "softmax.cu"}},
    }  # fmt: skip
    started = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    process = subprocess.Popen(
        [sys.executable, "-I", "-m", "bot", "mcp", str(project), "--replay",
         str(project / "recording.jsonl.gz")],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        cwd=project,
    )  # fmt: skip
    assert process.stdin
    assert process.stdout
    with process:
        for message in (hello, started, call):
            process.stdin.write(json.dumps(message) + "\n")
        process.stdin.flush()
        lines = [process.stdout.readline() for _ in range(2)]
        process.stdin.close()
        lines += process.stdout.readlines()
    assert {json.loads(line)["jsonrpc"] for line in lines} == {"2.0"}
    assert process.returncode == 0


def test_a_folder_without_a_project_file_is_refused_before_the_protocol_begins(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command_line(["mcp", str(tmp_path)]) == 2
    said = capsys.readouterr()
    assert "has no .optiml.yml" in said.err
    assert not said.out


def test_help_names_the_tools(capsys: pytest.CaptureFixture[str]) -> None:
    assert command_line(["mcp", "--help"]) == 0
    said = capsys.readouterr().out
    assert "evaluate" in said
    assert "--replay" in said


def test_machines_are_taken_when_asked_for_and_given_back_when_idle(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from bot.mcp_desk import Lease
    from bot.settings import Settings
    from bot.wiring import Workshop
    from tests.bot import scripted

    taken: list[Workshop] = []
    given_back: list[object] = []

    def take() -> Workshop:
        taken.append(Workshop(Settings(cache=str(tmp_path)), source=scripted.source()))
        return taken[-1]

    monkeypatch.setattr(Workshop, "__exit__", lambda self, *_: given_back.append(self))
    lease = Lease(take)
    assert not taken, "nothing is taken before it is needed"
    lease.dispatch([])
    lease.dispatch([])
    assert len(taken) == 1
    lease.give_back(idle=60.0)
    assert not given_back, "it was used a moment ago"
    lease.give_back()
    assert given_back == taken
    lease.dispatch([])
    assert len(taken) == 2


def test_long_calls_report_progress_and_take_turns(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from bot import mcp_desk, mcp_server
    from bot.settings import Settings
    from optimizer.errors import RunnerError

    at_once: list[int] = []
    running = [0]

    def slow(*_: object) -> object:
        running[0] += 1
        at_once.append(running[0])
        time.sleep(0.3)
        running[0] -= 1
        raise RunnerError("the machine is on fire", "put it out")

    monkeypatch.setattr(mcp_server, "HEARTBEAT_SECONDS", 0.05)
    monkeypatch.setattr("bot.inspect.inspect", slow)
    desk = mcp_desk.Desk(mcp_desk.Place(project, (), Settings()))
    heard: list[str | None] = []

    async def session() -> None:
        async def progress(progress: float, total: float | None, message: str | None) -> None:
            heard.append(message)

        async with Client(mcp_server.build(desk)) as client:

            async def ask() -> None:
                answer = await client.call_tool(
                    "inspect", {"file": "softmax.cu"}, progress_callback=progress
                )
                assert answer.is_error
                assert "the machine is on fire" in text(answer)

            async with anyio.create_task_group() as tasks:
                tasks.start_soon(ask)
                tasks.start_soon(ask)

    anyio.run(session)
    assert at_once == [1, 1], "one call works at a time"
    assert "working" in heard
