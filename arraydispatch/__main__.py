"""The command ``arraydispatch``, also as ``python -m arraydispatch``."""

from __future__ import annotations

import sys


def main() -> int:
    """Run the command line; Ctrl-C while it starts is said in a word, and in the script it is the script's."""
    try:
        from . import cli

        return cli.main()
    except KeyboardInterrupt:
        print("arraydispatch: interrupted", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
