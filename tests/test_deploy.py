"""What is under deploy/ fits the schemas of those who read it, and what the code needs."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from bot.permissions import EVENTS, NEEDED
from bot.settings import Settings

ROOT = Path(__file__).resolve().parents[1]
DEPLOY = ROOT / "deploy"
KNOWN = {f"OPTIML_{name.upper()}" for name in Settings.__slots__}


def test_the_manifest_asks_for_exactly_what_the_code_needs() -> None:
    manifest = json.loads((DEPLOY / "app-manifest.json").read_text(encoding="utf-8"))
    assert manifest["default_permissions"] == {name: level for name, (level, _) in NEEDED.items()}
    assert tuple(manifest["default_events"]) == EVENTS


def test_the_page_that_registers_the_app_has_the_same_manifest() -> None:
    manifest = json.loads((DEPLOY / "app-manifest.json").read_text(encoding="utf-8"))
    page = (DEPLOY / "new-app.html").read_text(encoding="utf-8")
    for key in ("default_permissions", "default_events"):
        found = re.search(rf"{key}: (.*?),\n", page)
        assert found is not None
        assert json.loads(found[1]) == manifest[key]


@pytest.mark.parametrize(
    "name", ["compose.yaml", "kubernetes.yaml", "fleet.yaml", "example.env", "Containerfile"]
)
def test_every_setting_that_is_named_exists(name: str) -> None:
    named = set(re.findall(r"OPTIML_[A-Z_]+", (DEPLOY / name).read_text(encoding="utf-8")))
    assert named
    assert named <= KNOWN


def test_the_compose_file_fits_the_compose_specification() -> None:
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.compose-spec"]
    done = subprocess.run(
        [*command, str(DEPLOY / "compose.yaml")], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_kubernetes_example_runs_unprivileged_and_selects_its_own_pods() -> None:
    text = (DEPLOY / "kubernetes.yaml").read_text(encoding="utf-8")
    found = {one["kind"]: one for one in yaml.safe_load_all(text)}
    pod = found["Deployment"]["spec"]["template"]
    (container,) = pod["spec"]["containers"]
    assert pod["spec"]["securityContext"]["runAsNonRoot"] is True
    assert container["securityContext"]["readOnlyRootFilesystem"] is True
    labels = pod["metadata"]["labels"]
    assert found["Deployment"]["spec"]["selector"]["matchLabels"] == labels
    assert found["Service"]["spec"]["selector"] == labels
    assert found["PodDisruptionBudget"]["spec"]["selector"]["matchLabels"] == labels
    mounts = {one["name"] for one in container["volumeMounts"]}
    assert mounts == {one["name"] for one in pod["spec"]["volumes"]}
    assert container["ports"][0]["name"] == found["Service"]["spec"]["ports"][0]["targetPort"]


def test_the_fleet_runs_unprivileged_with_keys_and_one_gpu_a_worker() -> None:
    text = (DEPLOY / "fleet.yaml").read_text(encoding="utf-8")
    parts = list(yaml.safe_load_all(text))
    pods = [one["spec"]["template"] for one in parts if one["kind"] == "Deployment"]
    assert len(pods) == 2
    for pod in pods:
        (container,) = pod["spec"]["containers"]
        assert pod["spec"]["securityContext"]["runAsNonRoot"] is True
        assert container["securityContext"]["allowPrivilegeEscalation"] is False
        assert container["envFrom"] == [{"configMapRef": {"name": "optiml-fleet"}}]
        assert "tcp://" not in str(container)
    assert pods[1]["spec"]["containers"][0]["resources"]["limits"]["nvidia.com/gpu"] == 1
    (service,) = [one for one in parts if one["kind"] == "Service"]
    assert service["spec"]["selector"].items() <= pods[0]["metadata"]["labels"].items()
