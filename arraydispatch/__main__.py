"""The command ``arraydispatch``, also as ``python -m arraydispatch``."""

from __future__ import annotations

import atexit
import gc
import os
import sys
import threading

SPIN = "17"
"""OpenBLAS's threads look for work for so long after a call, 2^17 cycles or some 40 microseconds, before they sleep: by themselves they do for
2^26, in which the processors that they run on are wanted for the blocks that come next. Beside PyTorch's threads, which look for work
themselves, an exponential of 262,144 numbers and a product of them take 8 ms so, 1.3 ms with 2^20, and 0.4 with 2^17. It reads the variable
when it is loaded."""


def main() -> int:
    """Run the command line; Ctrl-C while it starts is said in a word, and in the script it is the script's.

    Either way the process then dies of it, as Python's own do.
    """
    os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", SPIN)
    gc.disable()  # until the program begins: a start makes nothing but what stays (see `runner.run`)
    try:
        from .launcher.commands import cli

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
