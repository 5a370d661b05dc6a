"""The debugger in a terminal: ``python -m ptxdbg`` and the script ``ptxdbg`` are the command, ``Result.debug`` opens it on a run."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from ._ptxdbg import PtxdbgError, command_line_main


def main():
    """Does what the command line says."""
    # Ctrl-C is the debugger's, not Python's.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.exit(command_line_main(["ptxdbg", *sys.argv[1:]], [sys.executable, "-m", "ptxdbg"]))


def debug(result, commands):
    """``Result.debug``."""
    if os.isatty(0) and os.isatty(1):
        _open(result, commands)
        return
    if not commands:
        raise PtxdbgError("debug() needs a terminal: session() takes commands without one, and bundle('run.ptxcap') writes a file that "
                          "'ptxdbg run.ptxcap' opens in a terminal")
    session = result.session()
    for command in commands:
        print(f"(ptxdbg) {command}\n{session.execute(command)}", end="")


def _open(result, commands):
    with tempfile.TemporaryDirectory(prefix="ptxdbg-") as folder:
        path = Path(folder, "run.ptxcap")
        result.bundle(path)
        words = [sys.executable, "-m", "ptxdbg", path]
        for command in commands:
            words += ["-e", command]
        # The package as it was found here; that Triton is to be installed is no matter of the debugger's.
        found = [str(Path(__file__).parent.parent), *filter(None, [os.environ.get("PYTHONPATH")])]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(found)}
        environment.pop("PTXDBG_TRITON", None)
        before = signal.signal(signal.SIGINT, signal.SIG_IGN)
        try:
            subprocess.run(words, env=environment, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL), check=False)
        finally:
            signal.signal(signal.SIGINT, before)
