"""Start the command line: `python -I -m bot`."""

from __future__ import annotations

import signal
import sys

from bot import cli


def main() -> int:
    """Run the command line; being terminated ends a run as Ctrl-C does, with the best so far."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    return cli.main()


if __name__ == "__main__":
    sys.exit(main())
