"""GitHub's own example deliveries, signed by Octokit, in a folder outside the checkout.

Node and npm fetch them once; without either there is a reason to skip.
"""

from __future__ import annotations

import base64
import json
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

PACKAGES = ("@octokit/webhooks-examples@7.6.1", "@octokit/webhooks-methods@6.0.0")
_SIGN = """
import { sign } from "@octokit/webhooks-methods";
import { createRequire } from "node:module";
const events = createRequire(import.meta.url)("@octokit/webhooks-examples");
for (const event of events) {
  for (const example of event.examples) {
    const body = JSON.stringify(example);
    const signature = await sign(process.argv[2], body);
    console.log(JSON.stringify({
      event: event.name, signature, body: Buffer.from(body).toString("base64"),
    }));
  }
}
"""


@dataclass(frozen=True, slots=True)
class Example:
    """A delivery as GitHub sends it."""

    event: str
    body: bytes
    signature: str


def examples(secret: str) -> list[Example] | str:
    """Return the examples, or why there are none."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        return "node and npm are not installed"
    folder = Path.home() / ".cache" / "optiml-tests" / "octokit"
    try:
        if not (folder / "node_modules" / "@octokit" / "webhooks-methods").is_dir():
            folder.mkdir(parents=True, exist_ok=True)
            (folder / "package.json").write_text('{"private": true}', encoding="utf-8")
            install = [npm, "install", "--ignore-scripts", "--no-audit", "--no-fund", *PACKAGES]
            subprocess.run(install, cwd=folder, capture_output=True, check=True, timeout=120)
        (folder / "sign.mjs").write_text(_SIGN, encoding="utf-8")
        done = subprocess.run(
            [node, "sign.mjs", secret], cwd=folder, capture_output=True, check=True, timeout=120
        )
    except (OSError, subprocess.SubprocessError) as error:
        return f"Octokit's packages cannot be had: {type(error).__name__}"
    found = [json.loads(line) for line in done.stdout.splitlines()]
    return [Example(one["event"], base64.b64decode(one["body"]), one["signature"]) for one in found]
