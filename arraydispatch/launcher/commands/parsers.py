"""Parsers of the options of ``arraydispatch run`` and of the notebook's magic."""

from __future__ import annotations

import argparse
import os
import sys
from typing import NoReturn

from ...backends import loader
from ...common.errors import did_you_mean
from ...runtime.execution_policy import ACCELERATOR_FROM, CPU_FROM
from ..options import PRECISIONS
from . import UsageError

_USAGE = """\
arraydispatch run [options] [--] SCRIPT [ARGS...]
       arraydispatch run [options] -m MODULE [ARGS...]"""
_EPILOG = """\
Everything after the script (or - for standard input, or a folder with a __main__.py) belongs to the script.
Without --backend the environment variable ARRAYDISPATCH_BACKEND decides, else a library that sees an accelerator here.
Without an accelerator NumPy computes, with fused execution. The report says which was chosen and why.
Exit code: the script's own, or 2 if the command line is wrong. ARRAYDISPATCH_TRACEBACK=full keeps this program's own
frames in a script's traceback."""
_CELL_USAGE = """\
%%arraydispatch [options]       all later cells
       %%arraydispatch off             end it
       %%%%arraydispatch [options]      this cell alone"""
_CELL_EPILOG = """\
Without --backend the environment variable ARRAYDISPATCH_BACKEND decides, else the libraries and devices found here."""


def _elements(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"must be a non-negative integer, got {text!r}")
    return int(text)


def _threads(text: str) -> int:
    if not text.isdecimal() or not int(text):
        raise argparse.ArgumentTypeError(f"must be a positive integer, got {text!r}")
    return int(text)


class _Formatter(argparse.RawDescriptionHelpFormatter):
    """Help formatter that finds the terminal's width without :mod:`shutil`, whose import loads every archive format."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=_columns() - 2)


def _columns() -> int:
    """Return the width of the terminal, as :func:`shutil.get_terminal_size` does."""
    given = os.environ.get("COLUMNS", "")
    if given.isdecimal() and int(given):
        return int(given)
    try:
        return os.get_terminal_size(sys.__stdout__.fileno()).columns or 80  # type: ignore[union-attr]
    except (AttributeError, ValueError, OSError):
        return 80


class Parser(argparse.ArgumentParser):
    """Parser that reports errors as one sentence with the remedy."""

    def exit(self, status: int = 0, message: str | None = None) -> NoReturn:
        """End the process."""
        sys.stdout.flush()  # write the help; its reader may have closed the pipe
        super().exit(status, message)

    def error(self, message: str) -> NoReturn:
        """Raise :class:`UsageError`."""
        what, _, words = message.partition("unrecognized arguments: ")
        if words and not what:
            message += did_you_mean(words.split()[0].partition("=")[0], self._option_string_actions)
        raise UsageError(f"{message}; see: {self.prog} --help")


def run_parser() -> argparse.ArgumentParser:
    """Return the parser of the options of ``arraydispatch run``, without the script and its arguments."""
    parser = _options(
        prog="arraydispatch run", usage=_USAGE, epilog=_EPILOG,
        description="Run an unchanged NumPy script on an array library.",
    )  # fmt: skip
    parser.add_argument(
        "--trace", metavar="FILE", help="write each call with its time to FILE.json, in Chrome's trace-event format"
    )
    parser.add_argument("--compare", action="store_true",
        help="run the program with plain Python first, discard its output, and say how many times as fast this run is")  # fmt: skip
    parser.add_argument("--simulated", action="store_true",
        help="for a trial, simulate the devices of --mesh on a CPU")  # fmt: skip
    parser.add_argument("--processes", metavar="N",
        help="run the script in N processes on this machine, which share a mesh of their devices; auto: this process is one of those "
             "that torchrun, mpirun or srun started")  # fmt: skip
    parser.add_argument("--all-ranks", action="store_true",
        help="with --processes: every process prints and writes files, not only the first")  # fmt: skip
    parser.add_argument("-m", dest="module", metavar="MODULE", help="run a module, as python -m does")
    return parser


def cell_parser() -> argparse.ArgumentParser:
    """Return the parser of the notebook magic's options: those of ``arraydispatch run`` that make sense for a cell."""
    return _options(
        prog="%arraydispatch", usage=_CELL_USAGE, epilog=_CELL_EPILOG,
        description="Run the NumPy code of notebook cells on an array library.",
    )  # fmt: skip


def _options(**about: str) -> argparse.ArgumentParser:
    parser = Parser(allow_abbrev=False, formatter_class=_Formatter, **about)  # type: ignore[arg-type]
    add = parser.add_argument
    add("--backend", metavar="B", help=f"one of: {', '.join(loader.KNOWN)}")
    add("--device", metavar="D", help="a device of the backend, such as cpu or cuda:0 (see: arraydispatch info)")
    add("--mesh", metavar="M",
        help="split large arrays over several devices: auto (all devices), a number of devices, or a mesh such as 2x4; "
             "execution is then compiled if --execution is not given")  # fmt: skip
    add("--precision", metavar="P", type=str.lower, choices=PRECISIONS,
        help="bits of fresh floating results: 64, 32, 16, bf16, or none (NumPy's rules)")  # fmt: skip
    add("--execution", metavar="E",
        help="fused: on a CPU, NumPy runs calls on large arrays as blocks, in several threads (the default without a named library or an "
             "accelerator); compiled: the library's compiler runs recorded calls as programs (the default with a library, on a CPU only if its "
             "compiler is fast, and not with --device, --precision, --min-size or --verify); eager: the library itself runs each "
             "call. By default, NumPy may run a call on the library's memory where that is faster")  # fmt: skip
    add("--min-size", metavar="N", type=_elements, default=None,
        help="NumPy computes on arrays of fewer than N elements, in the host's memory; 0: the library computes on all arrays "
             f"(default {CPU_FROM}; {ACCELERATOR_FROM} on an accelerator or a mesh)")  # fmt: skip
    add("--exact", action="store_true",
        help="on a CPU, make the library's compiled programs round each product and each sum as NumPy does (fused execution always does)")  # fmt: skip
    add("--include", metavar="PATH_OR_PACKAGE", action="append", default=[],
        help="more user code: a file, a folder, a glob or an installed package (repeatable)")  # fmt: skip
    add("--on-fallback", metavar="POLICY", choices=("warn", "error", "silent"), default="warn",
        help="what happens if numeric work has to run on the host: warn (once a line), error, or silent; strings, dates, "
        "objects, files and pandas' own work do not count")  # fmt: skip
    add("--rng", metavar="WHERE", choices=("numpy", "device"), default="numpy",
        help="random numbers: numpy's own bits, or the library's generator on the device")  # fmt: skip
    add("--threads", metavar="N", type=_threads, default=None,
        help="threads of one operation on the CPU (default: one for each available processor)")  # fmt: skip
    add("--report", metavar="FILE", nargs="?", const="", default=None,
        help="print the long report, or write it to FILE.html, FILE.json or FILE.csv")  # fmt: skip
    add("--verify", action="store_true", help="run each call on NumPy too and name the lines whose results differ")
    return parser
