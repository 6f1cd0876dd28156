"""GitHub's own example deliveries, Octokit's signer and schemas, in a folder outside the checkout.

Node and npm fetch them once; without either there is a reason to skip.
"""

from __future__ import annotations

import base64
import copy
import json
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema_rs

PACKAGES = (
    "@octokit/webhooks-examples@7.6.1",
    "@octokit/webhooks-methods@6.0.0",
    "@octokit/webhooks-schemas@7.6.1",
)
_FOLDER = Path.home() / ".cache" / "optiml-tests" / "octokit"
_PROGRAMS = {
    "examples.mjs": """
import { createRequire } from "node:module";
const events = createRequire(import.meta.url)("@octokit/webhooks-examples");
for (const event of events) {
  for (const example of event.examples) {
    console.log(JSON.stringify({ event: event.name, body: JSON.stringify(example) }));
  }
}
""",
    "sign.mjs": """
import { readFileSync } from "node:fs";
import { sign } from "@octokit/webhooks-methods";
for (const line of readFileSync(0, "utf8").split("\\n").filter(Boolean)) {
  const body = Buffer.from(line, "base64").toString("utf8");
  console.log(await sign(process.argv[2], body));
}
""",
}


@dataclass(frozen=True, slots=True)
class Example:
    """A delivery as GitHub sends it."""

    event: str
    body: bytes
    signature: str


@cache
def missing() -> str:
    """Return why Octokit's packages cannot be had, nothing when they are there."""
    if shutil.which("node") is None or (npm := shutil.which("npm")) is None:
        return "node and npm are not installed"
    mark = _FOLDER / "installed"
    try:
        if not mark.is_file() or mark.read_text() != " ".join(PACKAGES):
            _FOLDER.mkdir(parents=True, exist_ok=True)
            (_FOLDER / "package.json").write_text('{"private": true}', encoding="utf-8")
            install = [npm, "install", "--ignore-scripts", "--no-audit", "--no-fund", *PACKAGES]
            subprocess.run(install, cwd=_FOLDER, capture_output=True, check=True, timeout=120)
            mark.write_text(" ".join(PACKAGES))
        for name, text in _PROGRAMS.items():
            (_FOLDER / name).write_text(text, encoding="utf-8")
    except (OSError, subprocess.SubprocessError) as error:
        return f"Octokit's packages cannot be had: {type(error).__name__}"
    return ""


def examples() -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield every official example as event and payload."""
    for line in _run("examples.mjs").splitlines():
        found = json.loads(line)
        yield found["event"], json.loads(found["body"])


def signed(secret: str, payloads: Sequence[tuple[str, dict[str, Any]]]) -> list[Example]:
    """Return payloads as deliveries with the signatures that Octokit's signer gives them."""
    bodies = [json.dumps(payload).encode() for _, payload in payloads]
    lines = "\n".join(base64.b64encode(body).decode() for body in bodies)
    signatures = _run("sign.mjs", secret, text=lines).split()
    return [
        Example(event, body, signature)
        for (event, _), body, signature in zip(payloads, bodies, signatures, strict=True)
    ]


def synthesised() -> list[tuple[str, dict[str, Any]]]:
    """Return what the examples lack: a fork's pull request, and a command on a pull request.

    Both are made of an example, and fit Octokit's schemas.
    """
    every = list(examples())

    def example(event: str, action: str) -> dict[str, Any]:
        found = (one for name, one in every if name == event and one["action"] == action)
        return copy.deepcopy(next(one for one in found if is_valid(event, one)))

    fork = example("pull_request", "opened")
    stranger = {**fork["pull_request"]["user"], "login": "stranger", "id": 4242}
    head = fork["pull_request"]["head"]
    head.update(label=f"stranger:{head['ref']}", user=stranger)
    head["repo"].update(id=8, full_name="stranger/Hello-World", owner=stranger, fork=True)
    fork["pull_request"].update(user=stranger, author_association="FIRST_TIME_CONTRIBUTOR")
    fork["sender"] = stranger
    command = example("issue_comment", "created")
    place = f"{command['repository']['url']}/pulls/{command['issue']['number']}"
    command["issue"]["pull_request"] = {
        "url": place, "html_url": place, "diff_url": place, "patch_url": place, "merged_at": None
    }  # fmt: skip
    command["comment"]["body"] = "/optiml optimize"
    made = [("pull_request", fork), ("issue_comment", command)]
    for event, payload in made:
        validate(event, payload)
    return made


def is_valid(event: str, payload: dict[str, Any]) -> bool:
    """Tell whether a payload fits: the oldest examples do not, they lack what was added since."""
    try:
        validate(event, payload)
    except jsonschema_rs.ValidationError:
        return False
    return True


def validate(event: str, payload: dict[str, Any]) -> None:
    """Hold a payload against Octokit's schema. Raise `jsonschema_rs.ValidationError`."""
    whole = _schema()
    part = {"$ref": f"#/definitions/{event}${payload['action']}"}
    jsonschema_rs.Draft7Validator({**whole, "oneOf": [part]}).validate(payload)


@cache
def _schema() -> dict[str, Any]:
    file = _FOLDER / "node_modules" / "@octokit" / "webhooks-schemas" / "schema.json"
    found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return found


def _run(program: str, *words: str, text: str = "") -> str:
    done = subprocess.run(
        ["node", program, *words],
        cwd=_FOLDER, input=text, capture_output=True, text=True, check=True, timeout=120,
    )  # fmt: skip
    return done.stdout
