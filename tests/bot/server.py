"""The webhook app over a fake GitHub in a process of its own, to be killed.

python -m tests.bot.server FOLDER PORT [SECONDS [DATABASE]]
"""

from __future__ import annotations

import sys
from pathlib import Path

from bot.jobs import Pace
from bot.patience import Patience
from bot.serve import opened, run
from bot.terms import Terms
from tests.bot.fake_hub import FakeBench, FakeHub, World
from tests.bot.house import SECRET


def main(folder: Path, port: int, seconds: float = 0.0, url: str = "") -> None:
    world = World(folder / "github.db")
    house = opened(
        url or f"sqlite:///{folder / 'optiml.db'}",
        [SECRET],
        FakeHub(world),
        FakeBench(world, seconds),
        terms=Terms(poll_seconds=0.1, commands_an_hour=100_000),
        pace=Pace(look=0.2, beat=0.5, lease=2.0),
        patience=Patience(60.0, 0.1),
    )
    run(house, "127.0.0.1", port)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), float((sys.argv[3:] or ["0"])[0]), *sys.argv[4:])
