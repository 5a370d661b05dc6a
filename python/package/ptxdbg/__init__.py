"""Run and debug NVIDIA PTX kernels without a GPU: bit for bit as the hardware would, with their races found.

>>> result = ptxdbg.run(ptx, grid=4, block=128, args=[x, y, 1000])

runs the kernel on the arrays in place; ``result.findings`` says what is wrong with it.
"""

from __future__ import annotations

import contextlib
import os
import threading

from ._arguments import collect
from ._ptxdbg import Finding, Module, PtxdbgError, Result, Side
from ._ptxdbg import run as _run

__all__ = ["Finding", "FindingsError", "Module", "PtxdbgError", "Result", "Side", "catch", "run"]


class FindingsError(Exception):
    """A kernel has mistakes: raised by runs inside of :func:`catch`."""

    def __init__(self, result):
        self.result = result
        self.findings = [finding for finding in result.findings if finding.severity != "note"]
        super().__init__("\n".join(repr(finding) for finding in self.findings))


_catching = threading.local()


@contextlib.contextmanager
def catch(notes=False):
    """Runs in this block raise :class:`FindingsError` where a kernel has a mistake; with ``notes`` also where it has a note."""
    before = getattr(_catching, "level", None)
    _catching.level = "note" if notes else "warning"
    try:
        yield
    finally:
        _catching.level = before


def _three(extents, what):
    """Three extents of one to three."""
    given = (extents,) if isinstance(extents, int) else tuple(extents)
    if not 1 <= len(given) <= 3:
        raise ValueError(f"{what} has one to three extents, not {len(given)}")
    return [int(extent) for extent in given] + [1] * (3 - len(given))


def _raise_if_caught(result):
    level = getattr(_catching, "level", None)
    if level is not None and any(level == "note" or finding.severity != "note" for finding in result.findings):
        raise FindingsError(result)


def run(ptx, kernel=None, *, grid=1, block=1, args=(), shared=0, cluster=None, cooperative=False, checks="all",
        schedule="in-order", seed=0, step_limit=None, name="kernel.ptx"):
    """Runs a kernel of ``ptx``, a text or a :class:`Module`, and returns what it came to.

    ``args`` are the parameters in order: NumPy arrays, torch CPU tensors and what offers DLPack or an array interface are passed by
    address, and updated in place; views of one array alias as they do on a device. Numbers are converted to the type of the parameter;
    ``bytes`` and ctypes structures are taken as they are. Ctrl-C ends the run.
    """
    module = ptx if isinstance(ptx, Module) else Module(ptx, name)
    full_name, params = module.params(kernel)
    values, ranges, _alive = collect(params, args)
    result = _run(module, full_name, _three(grid, "grid"), _three(block, "block"), values, ranges,
                  cluster=None if cluster is None else _three(cluster, "cluster"), shared=int(shared), cooperative=bool(cooperative),
                  checks=checks, schedule=schedule, seed=seed, step_limit=step_limit)
    _raise_if_caught(result)
    return result


if os.environ.get("PTXDBG_TRITON") == "1":
    from .triton import install as _install

    _install()
