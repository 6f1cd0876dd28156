"""Which device files belong to a GPU, so that a sandbox shows no other. Stdlib only."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

CARDS = Path("/proc/driver/nvidia/gpus")
DEVICES = Path("/dev")


@dataclass(frozen=True, slots=True)
class Card:
    """A GPU as the driver lists it; `minor` is the number of its device file."""

    uuid: str
    minor: int


def cards(folder: Path = CARDS) -> tuple[Card, ...]:
    """Return the GPUs in the order nvidia-smi counts them; none where the driver does not say."""
    found = []
    try:
        places = sorted(folder.iterdir())  # named by bus location
    except OSError:
        return ()
    for place in places:
        try:
            text = (place / "information").read_text()
        except OSError:
            return ()
        uuid = re.search(r"^GPU UUID:\s*(GPU-[0-9a-f-]{36})\s*$", text, re.MULTILINE)
        minor = re.search(r"^Device Minor:\s*(\d+)\s*$", text, re.MULTILINE)
        if uuid is None or minor is None:
            return ()
        found.append(Card(uuid[1], int(minor[1])))
    return tuple(found)


def visible(index: int, outer: str, known: Sequence[Card] | None = None) -> str:
    """Name GPU `index`, counted inside the list `outer`, for CUDA_VISIBLE_DEVICES.

    By its UUID where the driver tells, since numbers change when other GPUs are hidden.
    """
    names = [name.strip() for name in outer.split(",") if name.strip()]
    name = names[index] if index < len(names) else str(index)
    found = cards() if known is None else known
    return found[int(name)].uuid if name.isdigit() and int(name) < len(found) else name


def listed(outer: str, uuids: Sequence[str]) -> list[int]:
    """Return which GPUs CUDA shows as 0, 1, ... inside the list `outer`; all when it is empty.

    >>> listed("2,0", ["GPU-a", "GPU-b", "GPU-c"]), listed("GPU-b", ["GPU-a", "GPU-b"])
    ([2, 0], [1])
    >>> listed("", ["GPU-a", "GPU-b"]), listed("0,7,1", ["GPU-a", "GPU-b"])
    ([0, 1], [0])
    """
    names = [name.strip() for name in outer.split(",") if name.strip()]
    if not names:
        return list(range(len(uuids)))
    found: list[int] = []
    for name in names:
        at = [i for i, uuid in enumerate(uuids) if uuid.startswith(name) or str(i) == name]
        if len(at) != 1:
            break  # CUDA shows none from the first that it does not know
        found += at
    return found


def nodes(shown: str, folder: Path = DEVICES, known: Sequence[Card] | None = None) -> list[str]:
    """Return the device files for a CUDA_VISIBLE_DEVICES; all of them where it names no UUID."""
    every = sorted(str(path) for path in folder.glob("nvidia*"))
    minors = {card.uuid: card.minor for card in (cards() if known is None else known)}
    names = [name.strip() for name in shown.split(",") if name.strip()]
    if not names or not all(name in minors for name in names):
        return every
    wanted = {f"nvidia{minors[name]}" for name in names}
    named = [(Path(path).name, path) for path in every]
    return [path for name, path in named if name in wanted or not re.fullmatch(r"nvidia\d+", name)]
