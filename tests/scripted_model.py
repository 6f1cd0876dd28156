"""An OpenAI-compatible server on loopback that answers by a script. No model is behind it.

A script is a function of the request that returns a `Reply`, or a list of replies used in turn. The
server keeps what was asked, with the headers, and the greatest number of questions under way at
once. `python -m tests.scripted_model FOLDER PORT_FILE` serves hand-written edits (see `by_hand`).
"""

from __future__ import annotations

import json
import re
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import uvicorn
from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse

AUTHOR = "hand-written edits, no model"
MAY_LOOK = "You may look into"
CONTEXT = "This model's maximum context length is 4096 tokens. Please reduce the length."


@dataclass(frozen=True, slots=True)
class Reply:
    """What the server does with one request; `text` is the model's answer."""

    text: str = ""
    status: int = 200
    error: str = ""
    code: str = ""
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    delay: float = 0.0
    drop: bool = False
    body: str | None = None
    finish: str = "stop"
    refusal: str | None = None
    usage: bool = True
    cached: int = 0


Asked = dict[str, Any]
Script = Callable[[Asked], Reply] | Sequence[Reply]


class ScriptedModel:
    """What the server answers and what it was asked."""

    def __init__(self, script: Script, name: str = "scripted-model") -> None:
        self.script, self.name = script, name
        self.asked: list[Asked] = []
        self.headers: list[dict[str, str]] = []
        self.most_at_once = self._now = 0
        self._lock = threading.Lock()
        self.over = threading.Event()  # nobody waits for an answer any more

    def reply(self, asked: Asked) -> Reply:
        with self._lock:
            number = len(self.asked)
            self.asked.append(asked)
        if callable(self.script):
            return self.script(asked)
        return self.script[min(number, len(self.script) - 1)]

    @contextmanager
    def counted(self) -> Iterator[None]:
        with self._lock:
            self._now += 1
            self.most_at_once = max(self.most_at_once, self._now)
        try:
            yield
        finally:
            with self._lock:
                self._now -= 1

    @property
    def prompts(self) -> list[str]:
        """Return what the user's messages said, a text for each request."""
        return [said(asked) for asked in self.asked]

    def app(self) -> FastAPI:
        app = FastAPI()

        @app.post("/v1/chat/completions")
        def chat(request: Request, asked: Asked) -> Response:
            self.headers.append(dict(request.headers))
            with self.counted():
                found = self.reply(asked)
                self.over.wait(found.delay)
                return _response(found, asked, self.name)

        return app


def _response(found: Reply, asked: Asked, name: str) -> Response:
    if found.drop:

        def torn() -> Iterator[bytes]:
            yield b'{"id": "x", "choices": ['
            raise ConnectionResetError

        return StreamingResponse(torn(), headers={"content-length": "5000"})
    if found.body is not None:
        return PlainTextResponse(found.body, found.status, dict(found.headers))
    if found.status != 200:
        error = {"message": found.error, "code": found.code or None, "type": "error"}
        return JSONResponse({"error": error}, found.status, dict(found.headers))
    message = {"role": "assistant", "content": found.text, "refusal": found.refusal}
    usage = {
        "prompt_tokens": sum(len(m["content"]) for m in asked["messages"]) // 4,
        "completion_tokens": len(found.text) // 4,
        "total_tokens": 0,
        "prompt_tokens_details": {"cached_tokens": found.cached},
    }
    return JSONResponse(
        {
            "id": "scripted",
            "object": "chat.completion",
            "created": 0,
            "model": name,
            "choices": [{"index": 0, "finish_reason": found.finish, "message": message}],
            "usage": usage if found.usage else None,
        }
    )


@contextmanager
def serving(model: ScriptedModel) -> Iterator[str]:
    """Serve on a loopback port while the block runs; the base URL is given."""
    model.over.clear()
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        port = listening.getsockname()[1]
        config = uvicorn.Config(
            model.app(),
            log_config=None,
            log_level="critical",
            lifespan="off",
            timeout_graceful_shutdown=1,
        )
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, args=([listening],), daemon=True)
        thread.start()
        while not server.started:
            time.sleep(0.005)
        try:
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            model.over.set()
            server.should_exit = server.force_exit = True
            thread.join(5)


def said(asked: Asked) -> str:
    """Return what the user's messages of a request say."""
    return "\n".join(m["content"] for m in asked["messages"] if m["role"] == "user")


def last(asked: Asked) -> str:
    """Return what was said last."""
    return str(asked["messages"][-1]["content"])


def file_in(prompt: str) -> str:
    """Return the file as a prompt shows it."""
    shown = prompt.split("# The file, as NUMBER|LINE\n", 1)[1]
    lines = []
    for line in shown.splitlines():
        match = re.match(r"(\d+)\|", line)
        if match is None:
            break
        lines.append(line[match.end() :])
    return "\n".join(lines)


def advice_in(prompt: str) -> str:
    """Return the one sentence that is this sibling's own."""
    return prompt.rsplit("Propose one edit of the file above. ", 1)[1].split("\n", maxsplit=1)[0]


def edit(
    blocks: Sequence[tuple[str, str]],
    title: str = "an edit",
    kind: str = "idea",
    predicted: float = 1.5,
    **more: object,
) -> Reply:
    """Answer with an edit in JSON."""
    return Reply(
        json.dumps(
            {
                "rationale": "because of the finding",
                "title": title,
                "kind": kind,
                "predicted": predicted,
                "blocks": [{"search": old, "replace": new} for old, new in blocks],
                "launch": None,
                **more,
            }
        )
    )


def by_hand(folder: Path) -> Callable[[Asked], Reply]:
    """Answer with edits a person wrote: `edits.json` lists them for one original file.

    Each entry has title, kind, rationale, predicted, and `file`: the whole text to come to, which
    is answered as blocks over whatever version is shown. An edit is given once; when it comes back
    with the compiler's words, `repaired` is answered. One with `looks`, a list for each round, is
    given where CUTLASS may be looked into, after those. Who asks for more hears that there is none.
    """
    entries = json.loads((folder / "edits.json").read_text(encoding="utf-8"))
    left = list(entries)
    lock = threading.Lock()

    def begun(asked: Asked) -> dict[str, Any] | None:
        ours = [entry for entry in left if "looks" in entry and MAY_LOOK in said(asked)]
        ours += [entry for entry in left if "looks" not in entry]
        if ours:
            left.remove(ours[0])
        return ours[0] if ours else None

    def entry_for(asked: Asked) -> tuple[dict[str, Any] | None, str]:
        spoken = [m["content"] for m in asked["messages"] if m["role"] == "assistant"]
        before = [words for words in spoken if '"title"' in words]
        if before:
            again = next((e for e in entries if json.dumps(e["title"]) in before[-1]), None)
            return again, "repaired"
        looks = [json.loads(words)["look"] for words in spoken if words.startswith('{"look"')]
        if looks:
            return next((e for e in entries if e.get("looks", [0])[0] == looks[0]), None), "file"
        with lock:
            return begun(asked), "file"

    def answer(asked: Asked) -> Reply:
        if "# The file, as NUMBER|LINE" not in said(asked):
            return Reply("A person wrote edits, and no opinions.")
        offered = re.search(r"reports of the profiler's tools: ([\w, -]+)\.", last(asked))
        if offered is not None:
            return Reply(json.dumps({"reports": offered[1].split(", ")[:2]}))
        entry, which = entry_for(asked)
        if entry is None or which not in entry:
            return Reply("A person wrote these edits, and has no further one.")
        wishes = entry.get("looks", [])[
            sum('"look"' in m["content"][:8] for m in asked["messages"]) :
        ]
        if wishes and which == "file":
            return Reply(json.dumps({"look": wishes[0], "blocks": []}))
        now = file_in(said(asked))
        text = (folder / entry[which]).read_text(encoding="utf-8").rstrip("\n")
        return edit(
            [(now.rstrip("\n"), text)],
            entry["title"],
            entry["kind"],
            entry["predicted"],
            rationale=f"{AUTHOR}: {entry['rationale']}",
            launch=entry.get("launch"),
        )

    return answer


if __name__ == "__main__":
    scripted = ScriptedModel(by_hand(Path(sys.argv[1])), AUTHOR)
    with serving(scripted) as address:
        Path(sys.argv[2]).write_text(address, encoding="utf-8")
        threading.Event().wait()
