"""The command ``arraydispatch``, also as ``python -m arraydispatch``."""

from __future__ import annotations

import atexit
import sys
import threading


def main() -> int:
    """Run the command line; Ctrl-C while it starts is said in a word, and in the script it is the script's.

    Either way the process then dies of it, as Python's own do.
    """
    try:
        from . import cli

        return cli.main()
    except KeyboardInterrupt as interrupt:
        if type(interrupt) is KeyboardInterrupt:
            print("arraydispatch: interrupted", file=sys.stderr)
        # Python dies of the signal only if it compiles nothing after it has seen the exception: so the end comes first.
        threading._shutdown()  # type: ignore[attr-defined]  # wait for the program's threads
        atexit._run_exitfuncs()
        sys.excepthook = lambda *_: None
        raise KeyboardInterrupt from None  # itself: Python looks for no subclass


if __name__ == "__main__":
    sys.exit(main())
