"""An OpenAI-compatible server that gives answers a person wrote, for `optiml synth`.

`python tests/hand_written.py FOLDER PORT_FILE [LOG]` answers the n-th question of a line of thought
with `FOLDER/THOUGHT.n.cu`, `THOUGHT.look.json` first where there is one. Every answer says that no
model gave it.
"""

from __future__ import annotations

import json
import re
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

AUTHOR = "hand-written answers, no model"


class HandWritten:
    """Answers from a folder, and what was asked."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.asked: list[dict[str, Any]] = []
        self._lock = threading.Lock()

    def answer(self, request: dict[str, Any]) -> str:
        with self._lock:
            self.asked.append(request)
        messages = request["messages"]
        said = "\n".join(str(m["content"]) for m in messages if m["role"] == "user")
        match = re.search(r"Your line of thought, ([\w-]+):", said)
        if match is None:
            return "I only write kernels."
        thought = match[1]
        number = 1 + sum(m["role"] == "assistant" for m in messages)
        look = self.folder / f"{thought}.look.json"
        if look.is_file():
            if number == 1:
                looks = json.loads(look.read_text())
                empty = {"source": None, "grid": None, "block": None, "shared": None}
                return json.dumps({"plan": "look first", **empty, "look": looks})
            number -= 1
        file = self.folder / f"{thought}.{number}.cu"
        if not file.is_file():
            return "I have nothing more to say."
        launch = {"grid": None, "block": None, "shared": None}
        beside = self.folder / f"{thought}.launch.json"
        if beside.is_file():
            launch = json.loads(beside.read_text())
        source = file.read_text()
        plan = next((line[3:] for line in source.splitlines() if line.startswith("// ")), "")
        return json.dumps({"plan": f"{AUTHOR}: {plan}", "source": source, **launch})


@contextmanager
def serving(answers: HandWritten) -> Iterator[str]:
    """Serve on a loopback port while the block runs; the base URL is given."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            size = int(self.headers.get("content-length", "0"))
            request = json.loads(self.rfile.read(size))
            text = answers.answer(request)
            tokens = {"prompt_tokens": size // 4, "completion_tokens": len(text) // 4}
            body = json.dumps({
                "id": "hand", "object": "chat.completion", "created": 0, "model": AUTHOR,
                "choices": [{"index": 0, "finish_reason": "stop",
                             "message": {"role": "assistant", "content": text}}],
                "usage": {**tokens, "total_tokens": sum(tokens.values())},
            }).encode()  # fmt: skip
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            del format, args

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def main(folder: str, port_file: str, log: str = "") -> None:
    answers = HandWritten(Path(folder))
    with serving(answers) as url:
        Path(port_file).write_text(url)
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            pass
        finally:
            if log:
                Path(log).write_text(json.dumps(answers.asked, indent=1))


if __name__ == "__main__":
    main(*sys.argv[1:])
