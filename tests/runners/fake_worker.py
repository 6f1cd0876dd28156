"""A worker that speaks the protocol and does what the candidate's source tells it to."""

from __future__ import annotations

import json
import os
import sys
import time

STARTED = time.time()


def answer(request: dict) -> dict | None:  # type: ignore[type-arg]
    if "op" in request:
        return {"id": request["id"], "nonce": request["nonce"], "gpu": "Fake", "sms": 4}
    source = request["job"]["kernel"]["source"]
    head = {"id": request["id"], "nonce": request["nonce"], "digest": _digest(request)}
    if "die" in source:
        sys.stderr.write("CUDA error 700: an illegal memory access\n")
        os._exit(3)
    if "hang" in source:
        time.sleep(600)
    if "flood" in source:
        while True:
            os.write(1, b"x" * 65536)
    if "lie-nonce" in source:
        head["nonce"] = "0" * 32
    if "lie-digest" in source:
        head["digest"] = "0" * 16
    if "lie-json" in source:
        return None
    if "lie-nan" in source:
        head["verdict"] = {"status": "correct", "seconds": {"verify": float("nan")}}
        return head
    if "lie-times" in source:
        case = {"name": "n", "candidate_us": [-1.0], "baseline_us": [2.0], "weight": 1.0}
        measured = {"cases": [case], "device": "Fake"}
        return {**head, "verdict": {"status": "correct", "measurement": measured}}
    if "once" in source and not os.path.exists("once"):  # noqa: PTH110
        open("once", "w").close()  # noqa: PTH123
        os._exit(1)
    if "read-root" in source:
        with open(request["job"]["workload"]["root"] + "/ref.py"):  # noqa: PTH123
            pass
    if "refuse" in source:
        fault = {"type": "BaselineError", "message": "it never worked", "remedy": "mend it"}
        return {"id": head["id"], "nonce": head["nonce"], "error": fault}
    fiftyfold = "fiftyfold" in source
    case = {
        "name": "n=1",
        "candidate_us": [1.0 if fiftyfold else STARTED],
        "baseline_us": [50.0 if fiftyfold else 2.0],
        "weight": 1.0,
    }
    if "retire" in source:  # as after a fault that cost it its context
        head["retire"] = True
    return {
        **head,
        "verdict": {"status": "correct", "measurement": {"cases": [case], "device": "Fake"}},
    }


def _digest(request: dict) -> str:  # type: ignore[type-arg]
    import hashlib

    return hashlib.sha256(request["job"]["kernel"]["source"].encode()).hexdigest()[:16]


if __name__ == "__main__":
    for line in sys.stdin:
        said = json.dumps(answer(json.loads(line)), separators=(",", ":"))
        sys.stdout.write(f"{said}\n{said}\n" if '"ahead' in line else f"{said}\n")
        sys.stdout.flush()
        if '"retire":true' in said:
            time.sleep(0.5)
            os._exit(75)
