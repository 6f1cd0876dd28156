"""Workflows, action and runner hook that others copy: what they must hold, and must not."""

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from bot import artifacts
from bot.action_inputs import MODES, read
from bot.workflow import WORKFLOW, run_name

ROOT = Path(__file__).resolve().parents[2]
OFFERED = sorted((ROOT / "examples" / "workflows").glob("*.yml"))
ACTION = yaml.safe_load((ROOT / "action.yml").read_text())
HOOK = ROOT / "deploy" / "runner-hook" / "job-started.sh"
ALLOWED = "octo/kernels/.github/workflows/optiml-gpu.yml@refs/heads/main"


def workflow(file: Path) -> dict[Any, Any]:
    found: dict[Any, Any] = yaml.safe_load(file.read_text())
    return found


def jobs_with_our_action() -> list[tuple[str, dict[str, Any], dict[str, Any]]]:
    return [
        (file.name, job, step["with"])
        for file in OFFERED
        for job in workflow(file)["jobs"].values()
        for step in job["steps"]
        if step.get("uses", "").startswith("OWNER/optiml@")
    ]


def test_no_expression_stands_in_a_command() -> None:
    steps = list(ACTION["runs"]["steps"])
    for file in OFFERED:
        for job in workflow(file)["jobs"].values():
            steps += job["steps"]
    commands = [step["run"] for step in steps if "run" in step]
    assert commands
    assert not [command for command in commands if "${{" in command]


def test_python_is_started_isolated_wherever_it_is_started() -> None:
    text = (ROOT / "scripts" / "install-action").read_text()
    text += "\n".join(step.get("run", "") for step in ACTION["runs"]["steps"])
    started = re.findall(r'"\$(?:python|venv/bin/python|PYTHON|1|name|INPUT_PYTHON)"? ?(\S*)', text)
    started += re.findall(r'/bin/python" (\S+)', text)
    flags = [flag for flag in started if flag.startswith("-")]
    assert len(flags) >= 4
    assert set(flags) == {"-I"}


def test_every_input_reaches_the_program_and_no_other_does() -> None:
    (step,) = [one for one in ACTION["runs"]["steps"] if one.get("id") == "run"]
    passed = {name for name in step["env"] if name.startswith("INPUT_")} - {"INPUT_OUT"}
    offered = {f"INPUT_{name.upper().replace('-', '_')}" for name in ACTION["inputs"]}
    assert passed == offered - {"INPUT_PYTHON", "INPUT_UPLOAD"}
    given = {name: name.lower() for name in passed} | {"INPUT_MODE": "publish"}
    seen = repr(read(given)) + read(given).token
    assert not [name for name in passed - {"INPUT_MODE"} if name.lower() not in seen]


def test_only_modes_that_exist_are_asked_for() -> None:
    modes = {asked["mode"] for _, _, asked in jobs_with_our_action()}
    assert modes == set(MODES)


def test_a_gpu_job_reads_only_and_gets_no_token() -> None:
    for name, job, asked in jobs_with_our_action():
        if asked["mode"] == "optimize":
            assert job["permissions"] == {"contents": "read"}, name
            assert "github-token" not in asked, name
            (checkout,) = [
                step for step in job["steps"] if step["uses"].startswith("actions/checkout@")
            ]
            assert checkout["with"]["persist-credentials"] is False
            assert checkout["with"]["fetch-depth"] == 0


def test_a_job_with_a_token_checks_nothing_out() -> None:
    for name, job, asked in jobs_with_our_action():
        if asked["mode"] != "optimize":
            assert len(job["steps"]) == 1, name
            assert job["runs-on"] == "ubuntu-24.04", name


def test_a_runner_that_lives_on_is_reached_by_dispatch_alone() -> None:
    for file in OFFERED:
        text, found = file.read_text(), workflow(file)
        triggers = set(found[True])  # YAML takes the key `on` for a truth
        if any("labels" in str(job["runs-on"]) for job in found["jobs"].values()):
            assert triggers == {"workflow_dispatch"}, file.name
        assert "pull_request_target" not in text
        assert "secrets." not in text


def test_names_are_those_the_bench_looks_for() -> None:
    gpu = workflow(ROOT / "examples" / "workflows" / WORKFLOW)
    assert gpu["run-name"].startswith(run_name("${{ fromJSON(inputs.order).id }}"))
    assert len(gpu[True]["workflow_dispatch"]["inputs"]) <= 10  # Enterprise Server takes no more
    assert {"order", "labels", "publish"} == set(gpu[True]["workflow_dispatch"]["inputs"])
    uploaded = [one["with"] for one in ACTION["runs"]["steps"] if "upload" in one.get("uses", "")]
    assert uploaded[0]["name"] == artifacts.NAME


def test_every_action_used_is_pinned_to_a_commit() -> None:
    for file in (ROOT / "action.yml", *OFFERED):
        for used in re.findall(r"uses: (\S+)", file.read_text()):
            assert re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", used), (file.name, used)


@pytest.mark.parametrize(
    ("event", "ref", "is_taken"),
    [
        ("workflow_dispatch", ALLOWED, True),
        ("pull_request", ALLOWED, False),
        ("pull_request_target", ALLOWED, False),
        ("issue_comment", ALLOWED, False),
        ("push", ALLOWED, False),
        ("", ALLOWED, False),
        ("workflow_dispatch", ALLOWED.replace("main", "feature"), False),
        ("workflow_dispatch", ALLOWED.replace("optiml-gpu", "evil"), False),
        ("workflow_dispatch", ALLOWED + "x", False),
        ("workflow_dispatch", "*", False),
        ("workflow_dispatch", "", False),
    ],
)
def test_the_runner_hook_takes_the_listed_workflow_and_refuses_all_else(
    tmp_path: Path, event: str, ref: str, is_taken: bool
) -> None:
    hook = Path(shutil.copy(HOOK, tmp_path))
    (tmp_path / "allowed-workflows").write_text(f"# ours\n\n  {ALLOWED}  # main only\n")
    done = subprocess.run(
        [hook],
        env={"PATH": "/usr/bin:/bin", "GITHUB_EVENT_NAME": event, "GITHUB_WORKFLOW_REF": ref},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode == 0) is is_taken, done.stderr
    assert ("refuses the job" in done.stderr) is not is_taken


def test_the_runner_hook_without_its_list_refuses(tmp_path: Path) -> None:
    hook = Path(shutil.copy(HOOK, tmp_path))
    given = {"PATH": "/usr/bin:/bin", "GITHUB_EVENT_NAME": "workflow_dispatch"}
    done = subprocess.run([hook], env=given, capture_output=True, check=False)
    assert done.returncode == 1


def test_the_installer_takes_a_python_that_has_us_and_refuses_one_that_has_not(
    tmp_path: Path,
) -> None:
    import sys

    said = tmp_path / "outputs"
    script = ROOT / "scripts" / "install-action"
    given = {
        "PATH": "/usr/bin:/bin", "GITHUB_ACTION_PATH": str(ROOT), "GITHUB_OUTPUT": str(said),
        "RUNNER_TEMP": str(tmp_path), "INPUT_MODE": "publish",
    }  # fmt: skip
    good = subprocess.run(
        [script], env=given | {"INPUT_PYTHON": sys.executable}, check=False, capture_output=True
    )
    assert good.returncode == 0, good.stderr
    assert said.read_text() == f"python={sys.executable}\n"
    bad = subprocess.run(
        [script], env=given | {"INPUT_PYTHON": "/bin/false"}, check=False, capture_output=True
    )
    assert bad.returncode == 2
